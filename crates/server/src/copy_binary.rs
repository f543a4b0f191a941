//! PostgreSQL's binary form of COPY: a head, rows as in messages, an end.

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, SchemaRef};
use bytes::{BufMut, Bytes, BytesMut};
use freestone::{Error, Parameter, Result, Styles};

use crate::arrays;
use crate::kinds::Oid;
use crate::messages::LONGEST;
use crate::output::{Format, Lines, sendable};
use crate::parameters;

/// What it begins with, flags and an empty extension.
const HEAD: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// The part of it that is always the same.
const SIGNATURE: usize = 11;

/// Rows that come, as lines of the text format.
pub(crate) struct Incoming {
    kinds: Vec<Oid>,
    bytes: BytesMut,
    begun: bool,
    ended: bool,
}

impl Incoming {
    /// Rows of columns of these types.
    pub(crate) fn new(kinds: &[Field]) -> Self {
        Self {
            kinds: kinds.iter().map(Oid::of_field).collect(),
            bytes: BytesMut::new(),
            begun: false,
            ended: false,
        }
    }

    /// Takes the next bytes, wherever they begin and end; the rows that they complete.
    ///
    /// # Errors
    /// `22P04` for what is no row, `53200` for one that is too long, those of values.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        self.bytes.extend_from_slice(bytes);
        let mut lines = Vec::new();
        if !self.begun && !self.head()? {
            self.bounded()?;
            return Ok(lines);
        }
        while !self.ended {
            match self.row(&mut lines)? {
                Some(length) => drop(self.bytes.split_to(length)),
                None => break,
            }
        }
        self.bounded()?;
        Ok(lines)
    }

    /// Refuses rows without an end.
    ///
    /// # Errors
    /// `22P04`.
    pub(crate) fn finish(&self) -> Result<()> {
        let left = self.bytes.len();
        match self.ended || (self.begun && left == 0) {
            true => Ok(()),
            false => Err(wrong("unexpected end of the rows")),
        }
    }

    /// Refuses to wait for the end of what is too long.
    fn bounded(&self) -> Result<()> {
        match self.bytes.len() <= LONGEST {
            true => Ok(()),
            false => {
                let message = format!("a row of more than {LONGEST} bytes");
                Err(Error::new("53200", message))
            }
        }
    }

    /// Reads the head; whether it is there.
    fn head(&mut self) -> Result<bool> {
        let known = self.bytes.len().min(SIGNATURE);
        if self.bytes[..known] != HEAD[..known] {
            return Err(wrong("COPY file signature not recognized"));
        }
        let Some(four) = self.bytes.get(SIGNATURE + 4..SIGNATURE + 8) else {
            return Ok(false);
        };
        let extension = u32::from_be_bytes(four.try_into().unwrap_or_default()) as usize;
        let length = HEAD.len().saturating_add(extension);
        if self.bytes.len() < length {
            return Ok(false);
        }
        drop(self.bytes.split_to(length));
        self.begun = true;
        Ok(true)
    }

    /// Adds the next row to the lines; its length, or `None` if it is not all there.
    fn row(&mut self, lines: &mut Vec<u8>) -> Result<Option<usize>> {
        let Some(two) = self.bytes.get(..2) else {
            return Ok(None);
        };
        let count = i16::from_be_bytes(two.try_into().unwrap_or_default());
        if count == -1 {
            self.ended = true;
            return Ok(None);
        }
        if usize::try_from(count).ok() != Some(self.kinds.len()) {
            let message = format!("row field count is {count}, expected {}", self.kinds.len());
            return Err(wrong(&message));
        }
        let (mut place, mut line) = (2, Vec::new());
        for (number, kind) in self.kinds.iter().enumerate() {
            if number > 0 {
                line.push(b'\t');
            }
            let Some(four) = self.bytes.get(place..place + 4) else {
                return Ok(None);
            };
            place += 4;
            let length = i32::from_be_bytes(four.try_into().unwrap_or_default());
            let Ok(length) = usize::try_from(length) else {
                line.extend_from_slice(b"\\N");
                continue;
            };
            let Some(bytes) = self.bytes.get(place..place.saturating_add(length)) else {
                return Ok(None);
            };
            place += length;
            match parameters::binary(bytes, *kind)? {
                Some(value) => put(&value, &mut line),
                None => {
                    let message = format!(
                        "the bytes of column {} are no value of its type",
                        number + 1
                    );
                    return Err(Error::new("22P03", message));
                }
            }
        }
        line.push(b'\n');
        lines.append(&mut line);
        Ok(Some(place))
    }
}

/// The number of fields that says that no row follows.
const END: [u8; 2] = (-1_i16).to_be_bytes();

/// A value as the text format has it.
fn put(value: &Parameter, line: &mut Vec<u8>) {
    let Some(text) = arrays::shown(value) else {
        return line.extend_from_slice(b"\\N");
    };
    for byte in text.bytes() {
        let letter = match byte {
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            b'\\' => b'\\',
            _ => {
                line.push(byte);
                continue;
            }
        };
        line.extend_from_slice(&[b'\\', letter]);
    }
}

/// What rows that go begin with.
pub(crate) fn head() -> Bytes {
    Bytes::from_static(HEAD)
}

/// What they end with.
pub(crate) fn end() -> Bytes {
    Bytes::from_static(&END)
}

/// Rows that go, each by itself.
///
/// # Errors
/// Those of a cast.
pub(crate) fn rows(batch: &RecordBatch, schema: &SchemaRef) -> Result<Vec<Bytes>> {
    let columns = sendable(batch, schema)?;
    let formats = vec![Format::Binary; columns.len()];
    let lines = Lines::new(&columns, schema, &formats, &Styles::default());
    let rows = (0..batch.num_rows()).map(|row| {
        let mut message = BytesMut::new();
        lines.write(row, &mut message);
        // A row of a message, without its kind and its length.
        let mut tuple = BytesMut::with_capacity(message.len());
        tuple.put_slice(message.get(5..).unwrap_or_default());
        tuple.freeze()
    });
    Ok(rows.collect())
}

fn wrong(message: &str) -> Error {
    Error::new("22P04", message)
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::DataType;

    use super::*;

    fn fields<const N: usize>(kinds: [DataType; N]) -> [Field; N] {
        kinds.map(|kind| Field::new("", kind, true))
    }

    fn rows() -> Vec<u8> {
        let mut bytes = HEAD.to_vec();
        for (number, text) in [(1_i32, Some("a\tb")), (-2, None)] {
            bytes.extend_from_slice(&2_i16.to_be_bytes());
            bytes.extend_from_slice(&4_i32.to_be_bytes());
            bytes.extend_from_slice(&number.to_be_bytes());
            let length = text.map_or(-1, |text| text.len() as i32);
            bytes.extend_from_slice(&length.to_be_bytes());
            bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
        }
        bytes.extend_from_slice(&end());
        bytes
    }

    #[test]
    fn rows_are_read_wherever_they_are_cut() {
        let kinds = fields([DataType::Int32, DataType::Utf8View]);
        let bytes = rows();
        for step in [1, 2, 3, 7, 1000] {
            let mut incoming = Incoming::new(&kinds);
            let mut lines = Vec::new();
            for part in bytes.chunks(step) {
                lines.extend(incoming.push(part).unwrap());
            }
            incoming.finish().unwrap();
            assert_eq!(String::from_utf8(lines).unwrap(), "1\ta\\tb\n-2\t\\N\n");
        }
    }

    /// Whatever is sent is rows or refused.
    #[test]
    fn bytes_that_are_wrong_do_no_harm() {
        let kinds = fields([DataType::Int32, DataType::Utf8View]);
        let bytes = rows();
        for at in 0..bytes.len() {
            for wrong in 0..=u8::MAX {
                let mut bytes = bytes.clone();
                bytes[at] = wrong;
                let mut incoming = Incoming::new(&kinds);
                let (first, second) = bytes.split_at(at);
                if incoming
                    .push(first)
                    .and_then(|_| incoming.push(second))
                    .is_ok()
                {
                    let _ = incoming.finish();
                }
            }
        }
    }

    #[test]
    fn what_is_no_row_is_refused() {
        let fails = |kinds: &[Field], bytes: &[u8]| {
            let mut incoming = Incoming::new(kinds);
            let pushed = incoming.push(bytes).map(|_| ());
            pushed
                .and_then(|()| incoming.finish())
                .unwrap_err()
                .sqlstate
        };
        let kinds = fields([DataType::Int32, DataType::Utf8View]);
        let bytes = rows();
        assert_eq!(fails(&kinds, b"1\tb\n"), "22P04");
        assert_eq!(fails(&kinds[..1], &bytes), "22P04");
        assert_eq!(
            fails(&fields([DataType::Int64, DataType::Utf8View]), &bytes),
            "22P03"
        );
        assert_eq!(fails(&kinds, &bytes[..30]), "22P04");
        // A field that never ends.
        let mut endless = bytes[..HEAD.len() + 2].to_vec();
        endless.extend_from_slice(&i32::MAX.to_be_bytes());
        endless.resize(HEAD.len() + LONGEST + 1, 0);
        assert_eq!(fails(&kinds, &endless), "53200");
    }
}

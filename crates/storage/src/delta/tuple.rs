//! Tuples of the delta and of the log: one row, as bytes.
//!
//! | bytes | field |
//! |---|---|
//! | ⌈columns / 8⌉ | presence: bit *c* is set if column *c* is not NULL |
//! | for each column, in order | the stored value, zeros for NULL; where values vary, the end of the value (4), counted from the tuple's beginning |
//! | the rest | values that vary, in column order |
//!
//! Example: (7 SMALLINT, NULL INTEGER, 'ab' TEXT) is `05`, `07 00`, `00 00 00 00`,
//! `0d 00 00 00`, `61 62`.

use super::keys::Stored;
use super::repeated::repeated;
use crate::codec::{ArrayForm, Dense, DenseData, Views, fixed_to_arrow, stored_value};
use crate::error::{Error, Result};
use crate::schema::{ColumnType, Physical, TableSchema, Value};
use arrow_array::ArrayRef;
use arrow_buffer::{Buffer, NullBuffer};
use std::ops::Range;

/// Where the columns of a table lie in its tuples.
#[derive(Clone, Debug)]
pub struct TupleShape {
    columns: Vec<Place>,
    /// Bytes before the values that vary.
    fixed: usize,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    kind: ColumnType,
    physical: Physical,
    offset: usize,
    /// Bytes of a value; `None` where an end stands for it.
    width: Option<usize>,
    nullable: bool,
}

impl TupleShape {
    /// The shape of a table's tuples.
    pub fn of(schema: &TableSchema) -> TupleShape {
        let mut offset = schema.columns.len().div_ceil(8);
        let columns = schema.columns.iter().map(|column| {
            let physical = column.kind.physical();
            let place = Place {
                kind: column.kind,
                physical,
                offset,
                width: physical.width(),
                nullable: column.nullable,
            };
            offset += place.width.unwrap_or(4);
            place
        });
        let columns = columns.collect();
        TupleShape {
            columns,
            fixed: offset,
        }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Appends the tuple of one row of `columns`.
    ///
    /// # Errors
    /// 54000 for a row of over 2 GiB.
    pub fn encode(&self, columns: &[Dense], row: usize, out: &mut Vec<u8>) -> Result<()> {
        self.write(out, |column| {
            let dense = &columns[column];
            if dense.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                return None;
            }
            Some(match &dense.data {
                DenseData::Fixed { width, bytes } => &bytes[row * width..(row + 1) * width],
                DenseData::Variable { ends, bytes } => {
                    let start = row.checked_sub(1).map_or(0, |before| ends[before] as usize);
                    &bytes[start..ends[row] as usize]
                }
            })
        })
    }

    /// Appends the tuple of values in their stored forms; `None` is NULL.
    ///
    /// # Errors
    /// As [`TupleShape::encode`].
    pub fn encode_stored(&self, values: &[Option<Stored<'_>>], out: &mut Vec<u8>) -> Result<()> {
        let vary = values.iter().zip(&self.columns);
        let vary = vary.filter(|(_, place)| place.width.is_none());
        let vary = vary.map(|(value, _)| value.as_ref().map_or(0, |bytes| bytes.len()));
        out.reserve(self.fixed + vary.sum::<usize>());
        self.write(out, |column| values[column].as_deref())
    }

    fn write<'a>(
        &self,
        out: &mut Vec<u8>,
        value: impl Fn(usize) -> Option<&'a [u8]>,
    ) -> Result<()> {
        let start = out.len();
        out.resize(start + self.fixed, 0);
        for (number, place) in self.columns.iter().enumerate() {
            let found = value(number);
            if found.is_some() {
                out[start + number / 8] |= 1 << (number % 8);
            }
            let at = start + place.offset;
            match place.width {
                Some(width) => {
                    if let Some(bytes) = found {
                        out[at..at + width].copy_from_slice(bytes);
                    }
                }
                None => {
                    out.extend_from_slice(found.unwrap_or_default());
                    let end = i32::try_from(out.len() - start).map_err(|_| {
                        Error::invalid("54000", "a row takes more than 2 GiB".to_string())
                    })?;
                    out[at..at + 4].copy_from_slice(&end.to_le_bytes());
                }
            }
        }
        Ok(())
    }

    /// Checks a tuple that comes from a file.
    ///
    /// # Errors
    /// `Corrupt` for wrong lengths or ends, or text that is not UTF-8.
    pub fn check(&self, tuple: &[u8]) -> Result<()> {
        let mut start = self.fixed;
        if tuple.len() < start {
            return Err(Error::corrupt(format!(
                "a tuple of {} bytes; at least {start} were expected",
                tuple.len()
            )));
        }
        for place in self.columns.iter().filter(|place| place.width.is_none()) {
            let end = end_at(tuple, place.offset);
            if end < start || end > tuple.len() {
                let reason = format!("a value at {start}..{end} in a tuple of {}", tuple.len());
                return Err(Error::corrupt(reason));
            }
            let text = place.physical == Physical::Bytes { text: true };
            if text && std::str::from_utf8(&tuple[start..end]).is_err() {
                return Err(Error::corrupt("text in a tuple is not UTF-8"));
            }
            start = end;
        }
        if start == tuple.len() {
            Ok(())
        } else {
            Err(Error::corrupt("bytes after the last value of a tuple"))
        }
    }

    /// The stored form of a column's value; `None` if it is NULL.
    pub fn stored<'a>(&self, tuple: &'a [u8], column: usize) -> Option<&'a [u8]> {
        if tuple[column / 8] >> (column % 8) & 1 == 0 {
            return None;
        }
        Some(&tuple[self.place_of(tuple, column)])
    }

    /// A column's value; `None` if it is NULL.
    pub fn value(&self, tuple: &[u8], column: usize) -> Option<Value> {
        let bytes = self.stored(tuple, column)?;
        Some(stored_value(bytes, self.columns[column].physical))
    }

    fn place_of(&self, tuple: &[u8], column: usize) -> Range<usize> {
        let place = &self.columns[column];
        if let Some(width) = place.width {
            return place.offset..place.offset + width;
        }
        self.start_of(column)(tuple)..end_at(tuple, place.offset)
    }

    /// Where the value of a column that varies begins in a tuple: after the one before.
    fn start_of(&self, column: usize) -> impl Fn(&[u8]) -> usize + use<> {
        let mut before = self.columns[..column].iter();
        let before = before.rfind(|place| place.width.is_none());
        let (before, fixed) = (before.map(|place| place.offset), self.fixed);
        move |tuple| before.map_or(fixed, |offset| end_at(tuple, offset))
    }

    /// A column of some tuples as an array.
    ///
    /// # Errors
    /// `Corrupt` for values that cannot be of the column's type.
    pub fn column<'a>(
        &self,
        tuples: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
        column: usize,
        form: ArrayForm,
    ) -> Result<ArrayRef> {
        let place = &self.columns[column];
        let count = tuples.len();
        let is_present = |tuple: &[u8]| tuple[column / 8] >> (column % 8) & 1 == 1;
        let whole = !place.nullable || tuples.clone().all(is_present);
        let nulls = (!whole).then(|| tuples.clone().map(is_present).collect::<Vec<bool>>());
        let nulls = nulls.map(NullBuffer::from);
        let offset = place.offset;
        let bytes = match (place.physical, place.width) {
            (Physical::Bytes { text }, _) => {
                let start = self.start_of(column);
                let value = |tuple: &'a [u8]| &tuple[start(tuple)..end_at(tuple, offset)];
                if text && form == ArrayForm::Compact {
                    let texts = tuples.clone().map(value);
                    if let Some(array) = repeated(texts, nulls.clone())? {
                        return Ok(array);
                    }
                }
                let all = tuples.clone().map(|tuple| value(tuple).len()).sum();
                let (mut bytes, mut places) = (Vec::with_capacity(all), Vec::with_capacity(count));
                for tuple in tuples {
                    let start = bytes.len();
                    bytes.extend_from_slice(value(tuple));
                    places.push(start..bytes.len());
                }
                let views = Views::new(Buffer::from_vec(bytes), places.into_iter(), text)?;
                return Ok(views.slice(0..count, nulls));
            }
            (_, Some(1)) => fixed::<1>(tuples, offset),
            (_, Some(2)) => fixed::<2>(tuples, offset),
            (_, Some(4)) => fixed::<4>(tuples, offset),
            (_, Some(8)) => fixed::<8>(tuples, offset),
            _ => fixed::<16>(tuples, offset),
        };
        fixed_to_arrow(
            &form.kind(&place.kind),
            count,
            Buffer::from_vec(bytes),
            nulls,
        )
    }
}

/// The `N` bytes that each tuple has at `offset`.
fn fixed<'a, const N: usize>(
    tuples: impl ExactSizeIterator<Item = &'a [u8]>,
    offset: usize,
) -> Vec<u8> {
    let value = |tuple: &[u8]| *tuple[offset..].first_chunk().unwrap_or(&[0; N]);
    let values: Vec<[u8; N]> = tuples.map(value).collect();
    values.into_flattened()
}

/// An end offset; tuples were checked or made here.
fn end_at(tuple: &[u8], offset: usize) -> usize {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&tuple[offset..offset + 4]);
    u32::from_le_bytes(bytes) as usize
}

//! Splitting CSV text into records and fields.
//!
//! Written here because COPY must tell `""` (an empty string) from nothing (NULL),
//! which CSV libraries do not report. The rules are PostgreSQL's: quotes may open
//! and close anywhere in a field, a quote inside is escaped by the escape character
//! (by default another quote), lines end with LF or CR LF, and a quoted field may
//! span lines.

use std::io::{BufRead, BufReader, Read};

use crate::error::{Error, Result};

/// Bytes read from a file at once.
const READ_BYTES: usize = 1 << 18;

/// Longest record, so that a lost quote does not swallow a file of any size.
const RECORD_BYTES: usize = 1 << 28;

/// One record: its fields, and where it began.
#[derive(Debug, Default)]
pub(crate) struct Record {
    bytes: Vec<u8>,
    /// End of each field in `bytes`, and whether any of it was quoted.
    fields: Vec<(usize, bool)>,
    /// Line on which the record starts, from 1.
    pub(crate) line: u64,
}

impl Record {
    /// Number of fields.
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    /// A field's bytes, and whether it was quoted.
    pub(crate) fn get(&self, index: usize) -> Option<(&[u8], bool)> {
        let (end, quoted) = *self.fields.get(index)?;
        let start = match index {
            0 => 0,
            _ => self.fields.get(index - 1)?.0,
        };
        Some((self.bytes.get(start..end)?, quoted))
    }
}

/// Reads records one after another.
pub(crate) struct Records<R> {
    input: BufReader<R>,
    delimiter: u8,
    quote: u8,
    escape: u8,
    /// Line on which the next byte stands.
    line: u64,
}

impl<R: Read> Records<R> {
    pub(crate) fn new(input: R, delimiter: u8, quote: u8, escape: u8) -> Self {
        Self {
            input: BufReader::with_capacity(READ_BYTES, input),
            delimiter,
            quote,
            escape,
            line: 1,
        }
    }

    /// Reads the next record; false at the end of the file.
    ///
    /// # Errors
    /// `22P04` for a quote that is never closed, `58030` of the disk.
    pub(crate) fn next(&mut self, record: &mut Record) -> Result<bool> {
        record.bytes.clear();
        record.fields.clear();
        record.line = self.line;
        let mut quoted = false;
        let mut inside = false;
        // An escape or quote inside quotes whose meaning the next byte decides.
        let mut pending: Option<u8> = None;
        let mut any = false;
        loop {
            let buffer = self
                .input
                .fill_buf()
                .map_err(|error| Error::new("58030", error.to_string()))?;
            if buffer.is_empty() {
                if inside && pending != Some(self.quote) {
                    return Err(Error::new("22P04", "unterminated CSV quoted field"));
                }
                if any {
                    end_line(record, quoted);
                }
                return Ok(any);
            }
            any = true;
            let mut used = 0;
            let mut done = false;
            for &byte in buffer {
                used += 1;
                if byte == b'\n' {
                    self.line += 1;
                }
                if let Some(held) = pending.take() {
                    if byte == self.quote || (byte == self.escape && held == self.escape) {
                        record.bytes.push(byte);
                        continue;
                    }
                    if held == self.quote {
                        inside = false;
                    } else {
                        record.bytes.push(held);
                    }
                }
                if inside {
                    if byte == self.escape || byte == self.quote {
                        // With an escape of its own, a quote closes at once.
                        if byte == self.quote && self.quote != self.escape {
                            inside = false;
                        } else {
                            pending = Some(byte);
                        }
                    } else {
                        record.bytes.push(byte);
                    }
                } else if byte == self.delimiter {
                    record.fields.push((record.bytes.len(), quoted));
                    quoted = false;
                } else if byte == b'\n' {
                    end_line(record, quoted);
                    done = true;
                    break;
                } else if byte == self.quote {
                    inside = true;
                    quoted = true;
                } else {
                    record.bytes.push(byte);
                }
            }
            self.input.consume(used);
            if done {
                return Ok(true);
            }
            // A field without a byte takes memory, too.
            let fields = record.fields.len() * size_of::<(usize, bool)>();
            if record.bytes.len() + fields > RECORD_BYTES {
                return Err(Error::new("54000", "the record is longer than 256 MiB")
                    .with_hint("look for a quote that is never closed"));
            }
        }
    }
}

/// Ends the last field; a CR before the LF belongs to the line end.
fn end_line(record: &mut Record, quoted: bool) {
    let start = record.fields.last().map_or(0, |(end, _)| *end);
    if record.bytes.len() > start && record.bytes.last() == Some(&b'\r') {
        record.bytes.pop();
    }
    record.fields.push((record.bytes.len(), quoted));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, quote: u8, escape: u8) -> Vec<(u64, Vec<(String, bool)>)> {
        let mut records = Records::new(text.as_bytes(), b',', quote, escape);
        let mut record = Record::default();
        let mut all = Vec::new();
        while records.next(&mut record).unwrap() {
            let fields = (0..record.len())
                .map(|index| {
                    let (bytes, quoted) = record.get(index).unwrap();
                    (String::from_utf8_lossy(bytes).into_owned(), quoted)
                })
                .collect();
            all.push((record.line, fields));
        }
        all
    }

    fn plain(text: &str) -> (String, bool) {
        (text.to_owned(), false)
    }

    fn quoted(text: &str) -> (String, bool) {
        (text.to_owned(), true)
    }

    #[test]
    fn quotes_lines_and_ends() {
        let all = read("a,\"\",\r\n\"x\n\"\"y\"\"\",2,3", b'"', b'"');
        assert_eq!(
            all,
            [
                (1, vec![plain("a"), quoted(""), plain("")]),
                (2, vec![quoted("x\n\"y\""), plain("2"), plain("3")]),
            ]
        );
        assert_eq!(read("a\n\nb\n", b'"', b'"').len(), 3);
        assert_eq!(read("", b'"', b'"').len(), 0);
    }

    #[test]
    fn an_escape_of_its_own() {
        let all = read("'it\\'s','a\\b'", b'\'', b'\\');
        assert_eq!(all, [(1, vec![quoted("it's"), quoted("a\\b")])]);
    }

    #[test]
    fn an_open_quote_is_an_error() {
        let mut records = Records::new("a,\"b".as_bytes(), b',', b'"', b'"');
        let error = records.next(&mut Record::default()).unwrap_err();
        assert_eq!(error.sqlstate, "22P04");
    }
}

//! PostgreSQL's text format of COPY: a line for each row, `\\` before what means something.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;

use arrow::array::RecordBatch;
use arrow::datatypes::DataType;
use tempfile::NamedTempFile;

use super::stream::Lines;
use crate::error::{Error, Result};
use crate::values::{Cells, Styles};

/// Longest line of the text format, in bytes: it is in memory until its end has come.
const LINE_BYTES: usize = 64 << 20;

/// Bytes of a file that are read at once.
const CHUNK: usize = 1 << 20;

/// How rows of the text format are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextFormat {
    /// Between columns.
    pub(crate) delimiter: u8,
    /// The text that stands for NULL.
    pub(crate) null: String,
}

impl Default for TextFormat {
    fn default() -> Self {
        Self {
            delimiter: b'\t',
            null: "\\N".to_owned(),
        }
    }
}

/// Text on its way to CSV, in pieces that begin and end anywhere.
#[derive(Default)]
pub(super) struct Converted {
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    /// Whether the end was marked.
    ended: bool,
}

impl Converted {
    /// Takes the next bytes.
    ///
    /// # Errors
    /// `54000` for a line that is too long, `58030` of the output.
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        format: &TextFormat,
        output: &mut impl Write,
    ) -> Result<()> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.lengthen(&rest[..end])?;
            rest = &rest[end + 1..];
            let slashes = self.line.iter().rev().take_while(|byte| **byte == b'\\');
            if slashes.count() % 2 == 1 {
                // The end of the line is part of a value.
                self.line.push(b'\n');
                continue;
            }
            if !self.ended {
                self.ended = self.line == b"\\.";
                if !self.ended {
                    let line = as_csv(&self.line, format.delimiter, &format.null);
                    output.write_all(&line).map_err(|error| disk(&error))?;
                }
            }
            self.line.clear();
        }
        self.lengthen(rest)
    }

    /// Takes the last line, which may lack its line feed.
    ///
    /// # Errors
    /// As [`Converted::push`].
    pub(super) fn finish(&mut self, format: &TextFormat, output: &mut impl Write) -> Result<()> {
        match self.line.is_empty() {
            true => Ok(()),
            false => self.push(b"\n", format, output),
        }
    }

    /// Adds to the line whose end has not come.
    fn lengthen(&mut self, bytes: &[u8]) -> Result<()> {
        if self.line.len() + bytes.len() > LINE_BYTES {
            let message = format!("a line of COPY is longer than {} MiB", LINE_BYTES >> 20);
            return Err(Error::new("54000", message).with_hint(
                "lines of the text format end with a line feed; is it another format?",
            ));
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }
}

/// A file of CSV with the rows of a file of the text format; it goes with its owner.
///
/// # Errors
/// `58P01`, `42501` and `58030` of the disk; `54000` for a line that is too long.
pub(super) fn spooled(path: &Path, format: &TextFormat) -> Result<NamedTempFile> {
    let mut input = File::open(path).map_err(|error| Error::file("open file", path, &error))?;
    let spool = NamedTempFile::new().map_err(|error| disk(&error))?;
    let mut output = BufWriter::new(spool);
    let mut converted = Converted::default();
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = input.read(&mut chunk);
        match read.map_err(|error| Error::file("read file", path, &error))? {
            0 => break,
            length => converted.push(&chunk[..length], format, &mut output)?,
        }
    }
    converted.finish(format, &mut output)?;
    output.into_inner().map_err(|error| disk(error.error()))
}

/// The error of a file that keeps rows for a while.
pub(super) fn disk(error: &std::io::Error) -> Error {
    Error::new("58030", format!("cannot keep the rows of COPY: {error}"))
}

/// Rows in PostgreSQL's text format.
pub(super) fn lines(batch: &RecordBatch, styles: &Styles, format: &TextFormat, found: &mut Lines) {
    let columns: Vec<(Cells<'_>, bool)> = batch
        .columns()
        .iter()
        .map(|array| {
            (
                Cells::styled(array, styles),
                *array.data_type() == DataType::Boolean,
            )
        })
        .collect();
    let mut text = String::new();
    let out = &mut found.bytes;
    for row in 0..batch.num_rows() {
        for (number, (cells, boolean)) in columns.iter().enumerate() {
            if number > 0 {
                out.push(format.delimiter);
            }
            if cells.is_null(row) {
                out.extend_from_slice(format.null.as_bytes());
                continue;
            }
            text.clear();
            cells.write(row, &mut text);
            let bytes = match boolean {
                true => &text.as_bytes()[..1],
                false => text.as_bytes(),
            };
            for byte in bytes {
                let letter = match byte {
                    b'\n' => b'n',
                    b'\r' => b'r',
                    b'\t' => b't',
                    byte if *byte == b'\\' || *byte == format.delimiter => *byte,
                    _ => {
                        out.push(*byte);
                        continue;
                    }
                };
                out.extend_from_slice(&[b'\\', letter]);
            }
        }
        out.push(b'\n');
        found.ends.push(out.len());
    }
}

/// A line of the text format as one of CSV: every value quoted, NULL not.
pub(super) fn as_csv(line: &[u8], delimiter: u8, null: &str) -> Vec<u8> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut out = Vec::with_capacity(line.len() + 16);
    let (mut start, mut place, mut first) = (0, 0, true);
    loop {
        if place < line.len() && line[place] == b'\\' {
            place += 2;
            continue;
        }
        if place < line.len() && line[place] != delimiter {
            place += 1;
            continue;
        }
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        let field = &line[start..place.min(line.len())];
        if field != null.as_bytes() {
            out.push(b'"');
            unescaped(field, &mut out);
            out.push(b'"');
        }
        if place >= line.len() {
            out.push(b'\n');
            return out;
        }
        place += 1;
        start = place;
    }
}

/// What a field of the text format means, with quotes doubled.
fn unescaped(field: &[u8], out: &mut Vec<u8>) {
    let mut bytes = field.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let meant = match byte {
            b'\\' => match bytes.next() {
                Some(b'b') => 8,
                Some(b'f') => 12,
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b't') => b'\t',
                Some(b'v') => 11,
                Some(b'x') => coded(&mut bytes, 16, 2, 0),
                Some(digit @ b'0'..=b'7') => coded(&mut bytes, 8, 2, u32::from(digit - b'0')),
                Some(other) => other,
                None => b'\\',
            },
            byte => byte,
        };
        if meant == b'"' {
            out.push(b'"');
        }
        out.push(meant);
    }
}

/// A byte by up to `most` further digits.
fn coded(
    bytes: &mut std::iter::Peekable<impl Iterator<Item = u8>>,
    base: u32,
    most: usize,
    start: u32,
) -> u8 {
    let mut value = start;
    for _ in 0..most {
        let digit = bytes
            .peek()
            .and_then(|byte| char::from(*byte).to_digit(base));
        let Some(digit) = digit else {
            break;
        };
        value = value * base + digit;
        bytes.next();
    }
    // As PostgreSQL does with \777.
    (value & 0xff) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(line: &str) -> String {
        String::from_utf8(as_csv(line.as_bytes(), b'\t', "\\N")).unwrap()
    }

    #[test]
    fn text_becomes_csv() {
        assert_eq!(csv("1\ta b\t\\N\t"), "\"1\",\"a b\",,\"\"\n");
        assert_eq!(csv(""), "\"\"\n");
        assert_eq!(
            csv("say \"hi\"\\tnow\\\\\\\tend"),
            "\"say \"\"hi\"\"\tnow\\\tend\"\n"
        );
        assert_eq!(csv("\\x41\\101\\q\\"), "\"AAq\\\"\n");
    }
}

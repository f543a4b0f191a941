//! PostgreSQL's text format of COPY: a line for each row, `\\` before what means something.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::DataType;

use super::stream::Lines;
use crate::values::{Cells, Styles};

/// Rows in PostgreSQL's text format.
pub(super) fn lines(
    batch: &RecordBatch,
    styles: &Styles,
    (delimiter, null): (u8, &str),
    found: &mut Lines,
) {
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
                out.push(delimiter);
            }
            if cells.is_null(row) {
                out.extend_from_slice(null.as_bytes());
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
                    byte if *byte == b'\\' || *byte == delimiter => *byte,
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

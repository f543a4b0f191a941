//! Reading values from opened tuples.

use super::store::RowStore;
use crate::codec::fields::Rows;
use crate::codec::{CodeTest, Codebook, fixed_to_arrow, symbols_to_arrow};
use crate::error::{Error, Result};
use crate::layout::TupleStore;
use crate::layout::book::{Book, Form};
use crate::predicate::Leaf;
use arrow_array::ArrayRef;
use arrow_buffer::{BooleanBuffer, Buffer, MutableBuffer, NullBuffer};
use std::ops::Range;

/// Bits of a column's codes.
fn code_width(book: &Book) -> u8 {
    if let Form::Code(width) = book.form() {
        width
    } else {
        0
    }
}

impl TupleStore for RowStore {
    fn read(&self, column: usize, rows: &Rows<'_>) -> Result<ArrayRef> {
        let nulls = self.nulls(column, rows);
        let book = &self.books[column];
        match (book.form(), &self.views[column]) {
            (Form::Variable, Some(views)) => Ok(match rows {
                Rows::Range(rows) => views.slice(rows.clone(), nulls),
                Rows::Positions(positions) => views.take(positions, nulls),
            }),
            (Form::Fixed(width), _) => fixed_to_arrow(
                &book.kind,
                rows.count(),
                self.fixed(column, width, rows),
                nulls,
            ),
            (Form::Variable, None) => {
                let Codebook::Symbols(table) = &book.codebook else {
                    return Err(Error::corrupt("coded bytes without symbols"));
                };
                let values = rows.iter().map(|row| self.bytes(row as usize, column));
                symbols_to_arrow(table, values, book.is_text(), nulls)
                    .map_err(|error| self.in_values(error))
            }
            _ => {
                let width = code_width(book);
                book.decode(rows, nulls, &|rows, out| {
                    self.codes(column, width, rows, out)
                })
            }
        }
    }

    fn translate(&self, column: usize, leaf: &Leaf) -> Result<Option<CodeTest>> {
        self.books[column].translate(leaf)
    }

    fn ranks(&self, column: usize) -> Result<Option<Vec<i64>>> {
        let book = &self.books[column];
        let Form::Code(width) = book.form() else {
            return Ok(None);
        };
        Ok(book.ranks(self.rows, &|rows, out| self.codes(column, width, rows, out)))
    }

    fn test(&self, column: usize, test: &CodeTest, rows: Range<usize>) -> Result<BooleanBuffer> {
        let book = &self.books[column];
        let width = code_width(book);
        let passing = book.test(test, rows.clone(), &|rows, out| {
            self.codes(column, width, rows, out)
        });
        Ok(match self.nulls(column, &Rows::Range(rows)) {
            Some(nulls) => &passing & nulls.inner(),
            None => passing,
        })
    }
}

impl RowStore {
    fn nulls(&self, column: usize, rows: &Rows<'_>) -> Option<NullBuffer> {
        let rows = rows.iter();
        let count = rows.len();
        let mut all = true;
        let bits: Vec<bool> = rows
            .map(|row| {
                let byte = self.tuples[self.at(row as usize) + column / 8];
                let present = byte >> (column % 8) & 1 == 1;
                all &= present;
                present
            })
            .collect();
        (!all && count > 0).then(|| NullBuffer::from(bits))
    }

    /// Appends the codes of a column in some rows.
    fn codes(&self, column: usize, width: u8, rows: &Rows<'_>, out: &mut Vec<u64>) {
        let offset = self.shape.offsets[column];
        let mask = if width == 0 {
            0
        } else {
            u64::MAX >> (64 - width)
        };
        let tuples = self.tuples.as_slice();
        out.extend(rows.iter().map(|row| {
            let at = self.at(row as usize) + offset / 8;
            let word = match tuples.get(at..at + 8) {
                Some(bytes) => {
                    let mut word = [0; 8];
                    word.copy_from_slice(bytes);
                    u64::from_le_bytes(word)
                }
                None => tuples[at.min(tuples.len())..]
                    .iter()
                    .rev()
                    .fold(0, |word, byte| word << 8 | u64::from(*byte)),
            };
            word >> (offset % 8) & mask
        }));
    }

    fn fixed(&self, column: usize, width: usize, rows: &Rows<'_>) -> Buffer {
        let mut bytes = MutableBuffer::new(rows.count() * width);
        let offset = self.shape.offsets[column] / 8;
        for row in rows.iter() {
            let at = self.at(row as usize) + offset;
            bytes.extend_from_slice(&self.tuples[at..at + width]);
        }
        bytes.into()
    }
}

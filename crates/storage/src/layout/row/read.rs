//! Reading values from opened tuples.

use super::store::RowStore;
use crate::codec::bits::Target;
use crate::codec::code_source::CodeSource;
use crate::codec::fields::Rows;
use crate::codec::{
    ArrayForm, CodeTest, Codebook, fixed_to_arrow, prefetch, stored_value, symbols_to_arrow,
};
use crate::error::{Error, Result};
use crate::layout::TupleStore;
use crate::layout::book::{Book, Form};
use crate::layout::coded_text::decoded;
use crate::predicate::Leaf;
use crate::schema::Value;
use arrow_array::ArrayRef;
use arrow_buffer::{BooleanBuffer, Buffer, MutableBuffer, NullBuffer};
use std::ops::Range;

/// Where a column's codes lie in a tuple.
#[derive(Clone, Copy)]
struct Field {
    /// Bits before it.
    offset: usize,
    /// As many ones as it has bits.
    mask: u64,
}

/// Bits of a column's codes.
fn code_width(book: &Book) -> u8 {
    if let Form::Code(width) = book.form() {
        width
    } else {
        0
    }
}

impl TupleStore for RowStore {
    fn read_as(&self, column: usize, rows: &Rows<'_>, form: ArrayForm) -> Result<ArrayRef> {
        let nulls = self.nulls(column, rows);
        let book = &self.books[column];
        match (book.form(), &self.views[column]) {
            (Form::Variable, Some(views)) => Ok(match rows {
                Rows::Range(rows) => views.slice(rows.clone(), nulls),
                Rows::Positions(positions) => views.take(positions, nulls),
            }),
            (Form::Fixed(width), _) => fixed_to_arrow(
                &form.kind(&book.kind),
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
            _ => book.decode(rows, nulls, &self.codes(column), form),
        }
    }

    fn prefetch(&self, _columns: &[usize], row: u32) {
        prefetch(&self.tuples, self.at(row as usize));
    }

    fn value(&self, column: usize, row: u32) -> Result<Option<Value>> {
        let (at, book) = (self.at(row as usize), &self.books[column]);
        if self.tuples[at + column / 8] >> (column % 8) & 1 == 0 {
            return Ok(None);
        }
        let value = match (book.form(), &book.codebook) {
            (Form::Fixed(width), _) => {
                let at = at + self.shape.offsets[column] / 8;
                stored_value(&self.tuples[at..at + width], book.kind.physical())
            }
            (Form::Variable, Codebook::Symbols(table)) => {
                let coded = self.bytes(row as usize, column);
                let bytes = decoded(table, coded, book.is_text());
                Value::Bytes(bytes.map_err(|error| self.in_values(error))?)
            }
            (Form::Variable, _) => Value::Bytes(self.bytes(row as usize, column).to_vec()),
            (Form::Code(_) | Form::Nothing, _) => {
                let codes = self.codes(column);
                book.value(row, || self.code(row, codes.field), &codes)?
            }
        };
        Ok(Some(value))
    }

    fn translate(&self, column: usize, leaf: &Leaf) -> Result<Option<CodeTest>> {
        self.books[column].translate(leaf)
    }

    fn ranks(&self, column: usize) -> Result<Option<Vec<i64>>> {
        Ok(self.books[column].ranks(self.rows, &self.codes(column)))
    }

    fn test(&self, column: usize, test: &CodeTest, rows: Range<usize>) -> Result<BooleanBuffer> {
        let passing = self.books[column].test(test, rows.clone(), &self.codes(column));
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

    fn field(&self, column: usize) -> Field {
        let width = code_width(&self.books[column]);
        Field {
            offset: self.shape.offsets[column],
            mask: if width == 0 {
                0
            } else {
                u64::MAX >> (64 - width)
            },
        }
    }

    /// The code of a column in one row.
    #[inline]
    fn code(&self, row: u32, field: Field) -> u64 {
        let tuples = self.tuples.as_slice();
        let at = self.at(row as usize) + field.offset / 8;
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
        word >> (field.offset % 8) & field.mask
    }

    fn codes(&self, column: usize) -> TupleCodes<'_> {
        let field = self.field(column);
        TupleCodes { store: self, field }
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

/// The codes of a column in all tuples.
struct TupleCodes<'a> {
    store: &'a RowStore,
    field: Field,
}

impl CodeSource for TupleCodes<'_> {
    fn read<D: Target>(&self, rows: &Rows<'_>, base: i64, out: &mut Vec<D>) {
        let code = |row| D::from_code(base, self.store.code(row, self.field));
        match rows {
            // In range: a block has at most 2^20 rows.
            Rows::Range(rows) => out.extend((rows.start as u32..rows.end as u32).map(code)),
            Rows::Positions(positions) => out.extend(positions.iter().copied().map(code)),
        }
    }
}

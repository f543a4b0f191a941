//! Reading values from opened tuples.

use super::store::RowStore;
use crate::codec::bits::{Level, Mask, Strided, Target};
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
                book.value(row, || codes.code(row), &codes)?
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
        if self.full.get(column) == Some(&true) {
            return None;
        }
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

    fn codes(&self, column: usize) -> TupleCodes<'_> {
        let width = code_width(&self.books[column]);
        let field = |stride, offset| Strided::new(&self.tuples, stride, offset, width);
        let offset = self.shape.offsets[column];
        match self.begins() {
            None => TupleCodes::Dense(field(self.shape.width, offset)),
            // The tuples begin at any byte.
            Some(begins) => TupleCodes::Slotted(begins, offset / 8, field(1, offset % 8)),
        }
    }

    fn fixed(&self, column: usize, width: usize, rows: &Rows<'_>) -> Buffer {
        match width {
            1 => self.fixed_of::<1>(column, rows),
            2 => self.fixed_of::<2>(column, rows),
            4 => self.fixed_of::<4>(column, rows),
            8 => self.fixed_of::<8>(column, rows),
            _ => self.fixed_of::<16>(column, rows),
        }
    }

    fn fixed_of<const N: usize>(&self, column: usize, rows: &Rows<'_>) -> Buffer {
        let mut values = MutableBuffer::from_len_zeroed(N * rows.count());
        let (places, _) = values.as_slice_mut().as_chunks_mut::<N>();
        let offset = self.shape.offsets[column] / 8;
        let fields = self.tuples.get(offset..).unwrap_or_default();
        let at = |begin: usize| fields.get(begin..).and_then(<[u8]>::first_chunk::<N>);
        let width = self.shape.width;
        match (self.begins(), rows) {
            (None, Rows::Range(rows)) => {
                let fields = fields.get(rows.start * width..).unwrap_or_default();
                put(places, fields.chunks(width).map(<[u8]>::first_chunk::<N>));
            }
            (None, Rows::Positions(rows)) => {
                put(places, rows.iter().map(|row| at(*row as usize * width)));
            }
            (Some(begins), rows) => {
                put(
                    places,
                    rows.iter().map(|row| at(begins[row as usize] as usize)),
                );
            }
        }
        values.into()
    }
}

/// Fills places with the values that are there.
fn put<'a, const N: usize>(
    places: &mut [[u8; N]],
    values: impl Iterator<Item = Option<&'a [u8; N]>>,
) {
    for (place, value) in places.iter_mut().zip(values) {
        *place = value.copied().unwrap_or([0; N]);
    }
}

/// The codes of a column in all tuples.
enum TupleCodes<'a> {
    Dense(Strided<'a>),
    /// Where tuples begin, bytes before the byte in which the field begins, and the
    /// field in tuples of one byte.
    Slotted(&'a [u32], usize, Strided<'a>),
}

impl TupleCodes<'_> {
    #[inline]
    fn code(&self, row: u32) -> u64 {
        match self {
            TupleCodes::Dense(field) => field.code(row as usize),
            TupleCodes::Slotted(begins, byte, field) => {
                field.code(begins[row as usize] as usize + byte)
            }
        }
    }
}

impl CodeSource for TupleCodes<'_> {
    fn read<D: Target>(&self, rows: &Rows<'_>, base: i64, out: &mut Vec<D>) {
        match (self, rows) {
            (TupleCodes::Dense(field), Rows::Range(rows)) => {
                field.read(Level::best(), rows.clone(), base, out)
            }
            (TupleCodes::Dense(field), Rows::Positions(rows)) => field.take(rows, base, out),
            (TupleCodes::Slotted(..), rows) => {
                let codes = rows.iter().map(|row| self.code(row));
                out.extend(codes.map(|code| D::from_code(base, code)));
            }
        }
    }

    fn in_range(&self, rows: Range<usize>, (low, high): (u64, u64), mask: &mut Mask) {
        match self {
            TupleCodes::Dense(field) => field.in_range(Level::best(), rows, low, high, mask),
            TupleCodes::Slotted(..) => self.read_and_compare(rows, (low, high), mask),
        }
    }
}

//! Row layout: dense tuples without slots (H1).
//!
//! Every tuple has the same width: presence bits (one a column, 1 = present),
//! then each column in declaration order. A column in codes takes its code's
//! bits, one after the other without alignment; a stored value begins at a
//! whole byte; a variable one is the end offset of its bytes in the heap, four
//! bytes. A variable value begins where the one before it in the block ends, so
//! a tuple of two texts costs eight bytes beside the text itself.
//!
//! ```text
//! (1, 'ab', NULL), (2, 'c', 'd') with one INTEGER (FOR, 1 bit) and two TEXT columns
//! tuples: 011 0 2 2 | 111 1 3 4      heap: abcd
//! ```

use super::book::{self, Book, BookSections, Form, field_codes, form_of, open_books};
use super::{SectionData, TupleStore};
use crate::codec::fields::{FieldCodes, Rows};
use crate::codec::{
    CodeTest, Codebook, Codes, DenseData, Encoded, Views, fixed_to_arrow, symbols_to_arrow,
};
use crate::error::{Error, Result};
use crate::format::{Codec, SectionKind};
use crate::predicate::Leaf;
use crate::schema::TableSchema;
use arrow_array::ArrayRef;
use arrow_buffer::{BooleanBuffer, Buffer, MutableBuffer, NullBuffer};
use std::ops::Range;

/// Bytes of an end offset.
const END_BYTES: usize = 4;
/// Codes wider than this begin at a whole byte, so that one load of eight bytes holds any.
const LOOSE_BITS: u8 = 56;

/// Where each column lies in a tuple.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shape {
    /// In bits.
    offsets: Vec<usize>,
    /// In bytes.
    width: usize,
}

impl Shape {
    fn new(forms: &[Form]) -> Shape {
        let mut at = 8 * forms.len().div_ceil(8);
        let mut offsets = Vec::with_capacity(forms.len());
        for form in forms {
            let (bits, whole) = match form {
                Form::Nothing => (0, false),
                Form::Code(bits) => (usize::from(*bits), *bits > LOOSE_BITS),
                Form::Fixed(bytes) => (8 * bytes, true),
                Form::Variable => (8 * END_BYTES, true),
            };
            if whole {
                at = at.next_multiple_of(8);
            }
            offsets.push(at);
            at += bits;
        }
        Shape {
            offsets,
            width: at.div_ceil(8),
        }
    }
}

/// Lays out `columns` as tuples and a heap.
pub(super) fn build(columns: &[Encoded]) -> Result<Vec<SectionData>> {
    let rows = columns.first().map_or(0, |column| column.rows);
    let codes: Vec<Option<FieldCodes>> = columns
        .iter()
        .map(|column| field_codes(column, true))
        .collect();
    let forms: Vec<Form> = columns
        .iter()
        .zip(&codes)
        .map(|(column, codes)| form_of(column, codes.as_ref()))
        .collect();
    let shape = Shape::new(&forms);
    let mut tuples = MutableBuffer::from_len_zeroed(rows * shape.width);
    let mut heap: Vec<u8> = Vec::new();
    for (row, tuple) in tuples
        .as_slice_mut()
        .chunks_exact_mut(shape.width)
        .enumerate()
    {
        for (number, (column, offset)) in columns.iter().zip(&shape.offsets).enumerate() {
            if column
                .nulls
                .as_ref()
                .is_none_or(|nulls| nulls.is_valid(row))
            {
                tuple[number / 8] |= 1 << (number % 8);
            }
            match (&column.codes, &codes[number]) {
                (Codes::Integers(_), Some(codes)) => put_code(tuple, *offset, codes.codes[row]),
                (Codes::Stored(DenseData::Fixed { width, bytes }), _) => {
                    tuple[offset / 8..offset / 8 + width]
                        .copy_from_slice(&bytes[row * width..(row + 1) * width]);
                }
                (Codes::Stored(DenseData::Variable { ends, bytes }), _) => {
                    let start = if row == 0 { 0 } else { ends[row - 1] as usize };
                    heap.extend_from_slice(&bytes[start..ends[row] as usize]);
                    let end = i32::try_from(heap.len()).map_err(|_| {
                        Error::invalid("54000", "more than 2 GiB of variable values in one block")
                            .with_hint("Choose a smaller block_bytes.")
                    })?;
                    tuple[offset / 8..offset / 8 + END_BYTES].copy_from_slice(&end.to_le_bytes());
                }
                _ => {}
            }
        }
    }
    let section = |kind, bytes| SectionData {
        kind,
        codec: Codec::Plain,
        column: None,
        unit_rows: 0,
        bytes,
    };
    let mut sections = vec![
        section(SectionKind::Tuples, tuples.into()),
        section(SectionKind::Heap, Buffer::from_vec(heap)),
    ];
    for (number, (column, codes)) in columns.iter().zip(&codes).enumerate() {
        sections.extend(book::sections(number, column, codes.as_ref()));
    }
    Ok(sections)
}

fn in_heap(error: Error) -> Error {
    error.at("", None, Some(SectionKind::Heap.name()))
}

/// Sets a code's bits, which are zero so far.
fn put_code(tuple: &mut [u8], offset: usize, code: u64) {
    let bytes = (code << (offset % 8)).to_le_bytes();
    tuple[offset / 8..]
        .iter_mut()
        .zip(bytes)
        .for_each(|(to, from)| *to |= from);
}

/// The tuples of one block, opened.
#[derive(Debug)]
pub struct RowStore {
    shape: Shape,
    books: Vec<Book>,
    rows: usize,
    tuples: Buffer,
    heap: Buffer,
    /// Columns of varying length, in order.
    variable: Vec<usize>,
    /// Per column; only those whose bytes are values.
    views: Vec<Option<Views>>,
}

impl RowStore {
    /// Checks tuples, heap and codebooks against each other.
    ///
    /// # Errors
    /// `Corrupt` if lengths, offsets or text are wrong.
    pub fn open(
        schema: &TableSchema,
        rows: usize,
        tuples: Buffer,
        heap: Buffer,
        sections: &[BookSections],
    ) -> Result<RowStore> {
        let books = open_books(schema, rows, sections)?;
        let forms: Vec<Form> = books.iter().map(Book::form).collect();
        let shape = Shape::new(&forms);
        if rows.checked_mul(shape.width) != Some(tuples.len()) {
            return Err(Error::corrupt(format!(
                "{} bytes for {rows} tuples of {} bytes",
                tuples.len(),
                shape.width
            )));
        }
        let variable: Vec<usize> = (0..forms.len())
            .filter(|number| forms[*number] == Form::Variable)
            .collect();
        let mut store = RowStore {
            shape,
            books,
            rows,
            tuples,
            heap,
            variable,
            views: Vec::new(),
        };
        store.views = store.open_views()?;
        Ok(store)
    }

    /// Checks that end offsets ascend within the heap, and makes views of plain values.
    fn open_views(&self) -> Result<Vec<Option<Views>>> {
        let mut places: Vec<Vec<Range<usize>>> = self
            .variable
            .iter()
            .map(|_| Vec::with_capacity(self.rows))
            .collect();
        let mut start = 0;
        for row in 0..self.rows {
            for (places, number) in places.iter_mut().zip(&self.variable) {
                let end = self.end(row, *number);
                if end < start || end > self.heap.len() {
                    let reason = format!(
                        "row {row} ends at {end} after {start} in a heap of {} bytes",
                        self.heap.len()
                    );
                    return Err(Error::corrupt(reason));
                }
                if matches!(self.books[*number].codebook, Codebook::Plain) {
                    places.push(start..end);
                }
                start = end;
            }
        }
        let mut views: Vec<Option<Views>> = self.books.iter().map(|_| None).collect();
        for (places, number) in places.into_iter().zip(&self.variable) {
            let book = &self.books[*number];
            if matches!(book.codebook, Codebook::Plain) {
                let values =
                    Views::new(self.heap.clone(), places.into_iter(), book.is_plain_text());
                views[*number] = Some(values.map_err(in_heap)?);
            }
        }
        Ok(views)
    }

    fn end(&self, row: usize, column: usize) -> usize {
        let at = row * self.shape.width + self.shape.offsets[column] / 8;
        let mut bytes = [0; END_BYTES];
        bytes.copy_from_slice(&self.tuples[at..at + END_BYTES]);
        u32::from_le_bytes(bytes) as usize
    }

    /// The bytes of a variable value: from the end of the one before it.
    fn bytes(&self, row: usize, column: usize) -> &[u8] {
        let before = self
            .variable
            .iter()
            .rposition(|number| *number < column)
            .map(|place| self.variable[place]);
        let start = match (before, row.checked_sub(1), self.variable.last()) {
            (Some(before), ..) => self.end(row, before),
            (None, Some(row), Some(last)) => self.end(row, *last),
            _ => 0,
        };
        &self.heap[start..self.end(row, column)]
    }

    fn present(&self, row: usize, column: usize) -> bool {
        self.tuples[row * self.shape.width + column / 8] >> (column % 8) & 1 == 1
    }

    fn nulls(&self, column: usize, rows: &Rows<'_>) -> Option<NullBuffer> {
        let rows = rows.iter();
        let count = rows.len();
        let mut all = true;
        let bits: Vec<bool> = rows
            .map(|row| {
                let present = self.present(row as usize, column);
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
            let at = row as usize * self.shape.width + offset / 8;
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
            let at = row as usize * self.shape.width + offset;
            bytes.extend_from_slice(&self.tuples[at..at + width]);
        }
        bytes.into()
    }

    /// Bytes of memory beyond the sections.
    pub fn memory(&self) -> usize {
        let views = self
            .views
            .iter()
            .flatten()
            .map(Views::memory)
            .sum::<usize>();
        views + self.books.iter().map(Book::memory).sum::<usize>()
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
                symbols_to_arrow(table, values, book.is_text(), nulls).map_err(in_heap)
            }
            (form, _) => {
                let width = if let Form::Code(width) = form {
                    width
                } else {
                    0
                };
                book.decode(rows, nulls, &|rows, out| {
                    self.codes(column, width, rows, out)
                })
            }
        }
    }

    fn translate(&self, column: usize, leaf: &Leaf) -> Result<Option<CodeTest>> {
        self.books[column].translate(leaf)
    }

    fn test(&self, column: usize, test: &CodeTest, rows: Range<usize>) -> Result<BooleanBuffer> {
        let book = &self.books[column];
        let width = if let Form::Code(width) = book.form() {
            width
        } else {
            0
        };
        let passing = book.test(test, rows.clone(), &|rows, out| {
            self.codes(column, width, rows, out)
        });
        Ok(match self.nulls(column, &Rows::Range(rows)) {
            Some(nulls) => &passing & nulls.inner(),
            None => passing,
        })
    }
}

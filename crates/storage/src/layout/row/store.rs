//! Reading values from opened tuples, dense or on slotted pages.

use super::shape::Shape;
use super::slotted::{offset_bytes, records};
use crate::codec::fields::Rows;
use crate::codec::{CodeTest, Codebook, Views, fixed_to_arrow, symbols_to_arrow};
use crate::error::{Error, Result};
use crate::layout::TupleStore;
use crate::layout::book::{Book, BookSections, Form, open_books};
use crate::layout::pages::read_directory;
use crate::predicate::Leaf;
use crate::schema::TableSchema;
use arrow_array::ArrayRef;
use arrow_buffer::{BooleanBuffer, Buffer, MutableBuffer, NullBuffer};
use std::ops::Range;

/// The tuples of one block, opened.
#[derive(Debug)]
pub struct RowStore {
    shape: Shape,
    books: Vec<Book>,
    rows: usize,
    /// The fixed parts, wherever they begin.
    tuples: Buffer,
    begins: Begins,
    /// What holds the variable values: the heap, or the pages.
    values: Buffer,
    /// Columns of varying length, in order.
    variable: Vec<usize>,
    /// Per column; only those whose bytes are values.
    views: Vec<Option<Views>>,
}

/// Where tuples begin.
#[derive(Debug)]
enum Begins {
    /// One after the other; a variable value begins where the one before it in
    /// the block ends.
    Dense,
    /// At these offsets; the first variable value of a record follows its fixed
    /// part, and ends are counted from the record's beginning.
    Slotted(Vec<u32>),
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
        let shape = Shape::dense(&forms);
        if rows.checked_mul(shape.width) != Some(tuples.len()) {
            return Err(Error::corrupt(format!(
                "{} bytes for {rows} tuples of {} bytes",
                tuples.len(),
                shape.width
            )));
        }
        let mut store = RowStore {
            shape,
            variable: variable(&books),
            books,
            rows,
            tuples,
            begins: Begins::Dense,
            values: heap,
            views: Vec::new(),
        };
        store.views = store.open_views(|_| 0..store.values.len())?;
        Ok(store)
    }

    /// Checks pages, slots, records and codebooks against each other.
    ///
    /// # Errors
    /// `Corrupt` if the directory is no partition of pages and rows, or headers,
    /// slots, offsets or text are wrong.
    pub fn open_slotted(
        schema: &TableSchema,
        rows: usize,
        page_bytes: u32,
        pages: Buffer,
        directory: &[u8],
        sections: &[BookSections],
    ) -> Result<RowStore> {
        let entries = read_directory(directory, rows, page_bytes, pages.len())?;
        let books = open_books(schema, rows, sections)?;
        let forms: Vec<Form> = books.iter().map(Book::form).collect();
        let shape = Shape::slotted(&forms, offset_bytes(&pages, &entries)?);
        let records = records(&pages, &entries, &shape)?;
        let begins = records.iter().map(|record| record.start).collect();
        let mut store = RowStore {
            shape,
            variable: variable(&books),
            books,
            rows,
            tuples: pages.clone(),
            begins: Begins::Slotted(begins),
            values: pages,
            views: Vec::new(),
        };
        let width = store.shape.width;
        store.views = store.open_views(|row| {
            let record = &records[row];
            record.start as usize + width..record.end as usize
        })?;
        Ok(store)
    }

    /// Checks that the ends of each row's values ascend within `room`, and makes
    /// views of plain values.
    fn open_views(&self, room: impl Fn(usize) -> Range<usize>) -> Result<Vec<Option<Views>>> {
        let mut places: Vec<Vec<Range<usize>>> = self
            .variable
            .iter()
            .map(|_| Vec::with_capacity(self.rows))
            .collect();
        let mut start = 0;
        for row in 0..self.rows {
            let room = room(row);
            // Records may lie in any order; dense values follow each other.
            if matches!(self.begins, Begins::Slotted(_)) {
                start = room.start;
            }
            for (places, number) in places.iter_mut().zip(&self.variable) {
                let end = self.end(row, *number);
                if end < start || end > room.end {
                    let reason =
                        format!("row {row} ends at {end} after {start}, in a place for {room:?}");
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
                views[*number] = Some(Views::new(
                    self.values.clone(),
                    places.into_iter(),
                    book.is_plain_text(),
                )?);
            }
        }
        Ok(views)
    }

    /// Where a tuple begins.
    #[inline]
    fn at(&self, row: usize) -> usize {
        match &self.begins {
            Begins::Dense => row * self.shape.width,
            Begins::Slotted(begins) => begins[row] as usize,
        }
    }

    /// Where a variable value ends in `values`.
    fn end(&self, row: usize, column: usize) -> usize {
        let at = self.at(row);
        let end = self.shape.end(&self.tuples, at, column);
        match &self.begins {
            Begins::Dense => end,
            Begins::Slotted(_) => at + end,
        }
    }

    /// The bytes of a variable value: from the end of the one before it.
    fn bytes(&self, row: usize, column: usize) -> &[u8] {
        let before = self.variable.iter().rposition(|number| *number < column);
        let before = before.map(|place| self.variable[place]);
        let start = match (before, &self.begins, row.checked_sub(1)) {
            (Some(before), ..) => self.end(row, before),
            (None, Begins::Slotted(_), _) => self.at(row) + self.shape.width,
            (None, Begins::Dense, Some(row)) => {
                self.variable.last().map_or(0, |last| self.end(row, *last))
            }
            (None, Begins::Dense, None) => 0,
        };
        &self.values[start..self.end(row, column)]
    }

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

    /// Bytes of memory beyond the sections.
    pub fn memory(&self) -> usize {
        let views = self.views.iter().flatten().map(Views::memory);
        let begins = match &self.begins {
            Begins::Dense => 0,
            Begins::Slotted(begins) => 4 * begins.len(),
        };
        begins + views.sum::<usize>() + self.books.iter().map(Book::memory).sum::<usize>()
    }
}

/// The columns of varying length.
fn variable(books: &[Book]) -> Vec<usize> {
    let columns = books.iter().enumerate();
    columns
        .filter(|(_, book)| book.form() == Form::Variable)
        .map(|(number, _)| number)
        .collect()
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

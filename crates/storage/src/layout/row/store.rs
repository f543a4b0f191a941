//! Opening tuples, dense or on slotted pages: what must hold before they are read.

use super::shape::Shape;
use super::slotted::{offset_bytes, records};
use crate::codec::{Codebook, Views};
use crate::error::{Error, Result};
use crate::format::SectionKind;
use crate::layout::book::{Book, BookSections, Form, open_books};
use crate::layout::pages::read_directory;
use crate::schema::TableSchema;
use arrow_buffer::Buffer;
use std::ops::Range;

/// The tuples of one block, opened.
#[derive(Debug)]
pub struct RowStore {
    pub(super) shape: Shape,
    pub(super) books: Vec<Book>,
    pub(super) rows: usize,
    /// The fixed parts, wherever they begin.
    pub(super) tuples: Buffer,
    begins: Begins,
    /// What holds the variable values: the heap, or the pages.
    values: Buffer,
    /// Columns of varying length, in order.
    variable: Vec<usize>,
    /// Per column; only those whose bytes are values.
    pub(super) views: Vec<Option<Views>>,
    /// Which columns are known to have no NULLs; none if that is not known.
    pub(super) full: Vec<bool>,
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
    /// Names the section that holds variable values.
    pub(super) fn in_values(&self, error: Error) -> Error {
        let kind = match self.begins {
            Begins::Dense => SectionKind::Heap,
            Begins::Slotted(_) => SectionKind::SlottedPages,
        };
        error.at("", None, Some(kind.name()))
    }

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
            full: Vec::new(),
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
            full: Vec::new(),
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
                let text = book.is_plain_text();
                let values = Views::new(self.values.clone(), places.into_iter(), text);
                views[*number] = Some(values.map_err(|error| self.in_values(error))?);
            }
        }
        Ok(views)
    }

    /// The same tuples, of which is known which columns have no NULLs.
    #[must_use]
    pub fn with_full(self, full: Vec<bool>) -> RowStore {
        RowStore { full, ..self }
    }

    /// Where tuples begin, if they are not next to each other.
    pub(super) fn begins(&self) -> Option<&[u32]> {
        match &self.begins {
            Begins::Dense => None,
            Begins::Slotted(begins) => Some(begins),
        }
    }

    /// Where a tuple begins.
    #[inline]
    pub(super) fn at(&self, row: usize) -> usize {
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
    pub(super) fn bytes(&self, row: usize, column: usize) -> &[u8] {
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

//! Opening pages: what must hold before values are read from them.
//!
//! [`PaxStore::open`] checks directory and page headers; what lies inside the
//! minipages of a column (presence bits, end offsets, UTF-8) is checked when the
//! column is first read, so that a scan of two columns touches two minipages of
//! every page. After those checks nothing here can index out of bounds.

use super::check::{check_end, check_present, read_header};
use super::code_bytes;
use super::page::{ends, is_present};
use crate::codec::{Views, prefetch};
use crate::error::Result;
use crate::format::SectionKind;
use crate::layout::book::{Book, BookSections, Form, open_books};
use crate::layout::pages::{on_page, read_directory};
use crate::schema::TableSchema;
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer};
use std::ops::Range;
use std::sync::OnceLock;

/// The pages of one block, opened.
#[derive(Debug)]
pub struct PaxStore {
    pub(super) pages: Buffer,
    /// Row that each page begins with, and the number of rows.
    pub(super) firsts: Vec<u32>,
    pub(super) columns: Vec<Column>,
    /// Where minipages lie in `pages`: those of one page next to each other, so
    /// that a row finds all its columns in one or two cache lines.
    places: Vec<Place>,
}

/// One column on all pages.
#[derive(Debug)]
pub(super) struct Column {
    pub book: Book,
    /// Bytes of a value or code; `None` when they vary.
    pub width: Option<usize>,
    /// Its number among the columns.
    number: usize,
    contents: OnceLock<Contents>,
}

/// Where a minipage lies and how it is to be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub begin: u32,
    pub end: u32,
    pub nullable: bool,
    pub wide_ends: bool,
}

/// What the first read of a column finds out.
#[derive(Debug)]
pub(super) struct Contents {
    /// Which rows are present; `None` when all are.
    pub nulls: Option<NullBuffer>,
    /// Values of varying length.
    pub views: Option<Views>,
}

impl Column {
    /// What is known of it, if it was read before.
    pub fn contents(&self) -> Option<&Contents> {
        self.contents.get()
    }
}

impl PaxStore {
    /// Checks the directory and every page header.
    ///
    /// # Errors
    /// `Corrupt` if the directory is no partition of pages and rows, or a header
    /// contradicts it, the schema, or the size of its page.
    pub fn open(
        schema: &TableSchema,
        rows: usize,
        page_bytes: u32,
        pages: Buffer,
        directory: Buffer,
        sections: &[BookSections],
    ) -> Result<PaxStore> {
        let entries = read_directory(&directory, rows, page_bytes, pages.len())
            .map_err(|error| error.at("", None, Some(SectionKind::PageDirectory.name())))?;
        let books = open_books(schema, rows, sections)?.into_iter().enumerate();
        let columns: Vec<Column> = books
            .map(|(number, book)| Column {
                width: match book.form() {
                    Form::Nothing => Some(1),
                    Form::Code(bits) => Some(code_bytes(bits)),
                    Form::Fixed(width) => Some(width),
                    Form::Variable => None,
                },
                book,
                number,
                contents: OnceLock::new(),
            })
            .collect();
        let mut places = Vec::with_capacity(entries.len() * columns.len());
        for (number, page) in entries.iter().enumerate() {
            let bytes = &pages[page.bytes.clone()];
            read_header(bytes, page, &columns, &mut places)
                .map_err(|error| on_page(error, number))?;
        }
        let mut firsts: Vec<u32> = entries.iter().map(|page| page.first).collect();
        // In range: the directory is for `rows` rows, each beginning in a u32.
        firsts.push(rows as u32);
        Ok(PaxStore {
            pages,
            firsts,
            columns,
            places,
        })
    }

    /// Checks the minipages of all columns.
    ///
    /// # Errors
    /// `Corrupt` if presence bits, end offsets or text are wrong.
    pub fn check(&self) -> Result<()> {
        (0..self.columns.len()).try_for_each(|column| self.contents(column).map(drop))
    }

    /// Bytes of memory beyond the sections, once all columns have been read.
    pub fn memory(&self) -> usize {
        let rows = self.row_count();
        let column = |column: &Column| {
            let varying = column.width.is_none();
            column.book.memory() + rows / 8 + if varying { 16 * rows } else { 0 }
        };
        let places = size_of::<Place>() * self.places.len();
        places + 4 * self.firsts.len() + self.columns.iter().map(column).sum::<usize>()
    }

    /// The rows of a page.
    pub(super) fn rows(&self, page: usize) -> Range<usize> {
        self.firsts[page] as usize..self.firsts[page + 1] as usize
    }

    /// Where the minipage of a column lies, and how it is to be read.
    fn place(&self, column: &Column, page: usize) -> Place {
        self.places[page * self.columns.len() + column.number]
    }

    /// The places of a column's minipages, page by page.
    fn places(&self, column: &Column) -> impl Iterator<Item = Place> + '_ {
        let places = self.places.iter().skip(column.number);
        places.step_by(self.columns.len().max(1)).copied()
    }

    /// The minipage of a column on a page.
    pub(super) fn minipage(&self, column: &Column, page: usize) -> &[u8] {
        let place = self.place(column, page);
        &self.pages[place.begin as usize..place.end as usize]
    }

    /// Begins to fetch a minipage that will be read soon, if there is one.
    pub(super) fn fetch(&self, column: &Column, page: usize) {
        if page + 1 < self.firsts.len() {
            let minipage = self.minipage(column, page);
            for line in (0..minipage.len()).step_by(64) {
                prefetch(minipage, line);
            }
        }
    }

    /// What is known of a column; its minipages are checked the first time.
    pub(super) fn contents(&self, column: usize) -> Result<&Contents> {
        let column = &self.columns[column];
        if let Some(contents) = column.contents.get() {
            return Ok(contents);
        }
        let contents = match column.width {
            None => self.variable(column, column.book.is_plain_text()),
            Some(width) => self.fixed(column, width),
        };
        let contents = contents.map_err(|error| error.at("", None, Some("pages")))?;
        Ok(column.contents.get_or_init(|| contents))
    }

    /// Reads presence bits and checks that the present values fit.
    fn fixed(&self, column: &Column, width: usize) -> Result<Contents> {
        let mut presence = Presence::new(self, column);
        let pages = self.places(column).enumerate();
        for (page, _) in pages.filter(|(_, place)| place.nullable) {
            let (minipage, rows) = (self.minipage(column, page), self.rows(page));
            let mut values = 0;
            for row in rows.clone() {
                let is_present = is_present(minipage, row - rows.start);
                values += usize::from(is_present);
                presence.set(row, is_present);
            }
            check_present(minipage, values, width, rows.len())
                .map_err(|error| on_page(error, page))?;
        }
        Ok(Contents {
            nulls: presence.finish(),
            views: None,
        })
    }

    /// Reads end offsets and checks them and the values.
    fn variable(&self, column: &Column, text: bool) -> Result<Contents> {
        let mut presence = Presence::new(self, column);
        let mut places = Vec::with_capacity(self.row_count());
        for (page, place) in self.places(column).enumerate() {
            let (rows, end_bytes) = (self.rows(page), if place.wide_ends { 4 } else { 2 });
            let minipage = self.minipage(column, page);
            let (begin, most) = (
                place.begin as usize,
                minipage.len() - rows.len() * end_bytes,
            );
            let mut start = 0;
            for (row, (end, null)) in rows.clone().zip(ends(minipage, rows.len(), end_bytes)) {
                check_end(start, (end, null), most, place.nullable)
                    .map_err(|error| on_page(error, page))?;
                places.push(begin + start..begin + end);
                if place.nullable {
                    presence.set(row, !null);
                }
                start = end;
            }
        }
        let views = Views::new(self.pages.clone(), places.into_iter(), text)?;
        Ok(Contents {
            nulls: presence.finish(),
            views: Some(views),
        })
    }

    fn row_count(&self) -> usize {
        self.firsts.last().map_or(0, |rows| *rows as usize)
    }
}

/// Which rows of a column are present; costs nothing where no page has a nullable minipage.
struct Presence(Option<BooleanBufferBuilder>);

impl Presence {
    fn new(store: &PaxStore, column: &Column) -> Presence {
        let nullable = store.places(column).any(|place| place.nullable);
        Presence(nullable.then(|| {
            let mut bits = BooleanBufferBuilder::new(store.row_count());
            bits.append_n(store.row_count(), true);
            bits
        }))
    }

    fn set(&mut self, row: usize, present: bool) {
        if let Some(bits) = &mut self.0 {
            bits.set_bit(row, present);
        }
    }

    fn finish(self) -> Option<NullBuffer> {
        let nulls = NullBuffer::new(self.0?.finish());
        Some(nulls).filter(|nulls| nulls.null_count() > 0)
    }
}

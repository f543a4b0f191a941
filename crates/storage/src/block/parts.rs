//! Opening the parts of a block that hold values.

use super::{Block, Opened, Part};
use crate::error::{Error, Result};
use crate::format::{Codec, SectionKind, ZONE_ROWS};
use crate::layout::{BookSections, PaxStore, RowStore, Stripe, StripeSections};
use crate::schema::Layout;
use arrow_buffer::Buffer;
use std::sync::Arc;

impl Block {
    /// The part that holds `column`, opened.
    pub(super) fn part(&self, column: usize) -> Result<Part> {
        let whole = self.info.layout != Layout::Column;
        let number =
            u16::try_from(column).map_err(|_| Error::corrupt(format!("no column {column}")))?;
        let key = (self.info.id, if whole { u16::MAX } else { number });
        if let Some(part) = self.cache.get(key) {
            return Ok(part);
        }
        let opened = self.opened()?;
        let (part, bytes) = self.open_part(opened, number)?;
        self.cache.put(key, part.clone(), bytes);
        Ok(part)
    }

    fn open_part(&self, opened: &Opened, column: u16) -> Result<(Part, u64)> {
        match self.info.layout {
            Layout::Row => self.open_rows(opened),
            Layout::Pax => self.open_pages(opened),
            Layout::Column => self.open_stripe(opened, column),
        }
    }

    fn open_rows(&self, opened: &Opened) -> Result<(Part, u64)> {
        let tuples = self.section(opened, SectionKind::Tuples, None)?;
        let heap = self.section(opened, SectionKind::Heap, None)?;
        let bytes = tuples.len() + heap.len();
        let books = self.books(opened)?;
        let store = RowStore::open(&self.schema, self.info.rows as usize, tuples, heap, &books)
            .map_err(self.blame(Some(SectionKind::Tuples.name())))?;
        let memory = store.memory();
        Ok((Part::Tuples(Arc::new(store)), (bytes + memory) as u64))
    }

    fn open_pages(&self, opened: &Opened) -> Result<(Part, u64)> {
        let store = self.page_store(opened)?;
        let (memory, bytes) = (store.memory(), self.info.bytes);
        Ok((Part::Tuples(Arc::new(store)), bytes + memory as u64))
    }

    fn page_store(&self, opened: &Opened) -> Result<PaxStore> {
        let pages = self.section(opened, SectionKind::Pages, None)?;
        let directory = self.section(opened, SectionKind::PageDirectory, None)?;
        let (rows, page_bytes) = (self.info.rows as usize, opened.header.page_bytes);
        let books = self.books(opened)?;
        PaxStore::open(&self.schema, rows, page_bytes, pages, directory, &books)
            .map_err(self.blame(Some(SectionKind::Pages.name())))
    }

    fn optional(&self, opened: &Opened, kind: SectionKind, column: u16) -> Result<Option<Buffer>> {
        let section = self.find(opened, kind, Some(column));
        section
            .map(|section| self.read_section(opened, section))
            .transpose()
    }

    /// The codec of a column: that of the first of its sections that has one.
    pub(super) fn codec(&self, opened: &Opened, column: u16) -> Codec {
        let kinds = [
            SectionKind::Codebook,
            SectionKind::Fields,
            SectionKind::Values,
            SectionKind::Bytes,
        ];
        let found = kinds
            .into_iter()
            .find_map(|kind| self.find(opened, kind, Some(column)));
        found.map_or(Codec::Plain, |section| section.codec)
    }

    /// What explains the fields of each column.
    fn books(&self, opened: &Opened) -> Result<Vec<BookSections>> {
        let columns = 0..self.schema.columns.len() as u16;
        columns
            .map(|column| {
                Ok(BookSections {
                    codec: self.codec(opened, column),
                    codebook: self.optional(opened, SectionKind::Codebook, column)?,
                    fields: self.optional(opened, SectionKind::Fields, column)?,
                })
            })
            .collect()
    }

    fn open_stripe(&self, opened: &Opened, column: u16) -> Result<(Part, u64)> {
        let definition = self.schema.columns.get(usize::from(column));
        let definition = definition.ok_or_else(|| Error::corrupt(format!("no column {column}")))?;
        let optional = |kind| self.optional(opened, kind, column);
        let sections = StripeSections {
            validity: optional(SectionKind::Validity)?,
            codebook: optional(SectionKind::Codebook)?,
            values: optional(SectionKind::Values)?,
            ends: optional(SectionKind::Ends)?,
            bytes: optional(SectionKind::Bytes)?,
        };
        let bytes = sections.bytes_in_all();
        let (rows, codec) = (self.info.rows as usize, self.codec(opened, column));
        let stripe = Stripe::open(definition.kind, rows, codec, sections)
            .map_err(|error| self.blame(None)(error.of_column(&definition.name)))?;
        let memory = stripe.memory();
        Ok((Part::Stripe(Arc::new(stripe)), (bytes + memory) as u64))
    }

    /// Reads and checks everything, past the cache.
    ///
    /// # Errors
    /// `Corrupt` naming the section, or `Io`.
    pub fn verify(&self) -> Result<()> {
        let opened = self.open().map_err(self.blame(Some("header")))?;
        for section in &opened.sections {
            self.read_section(&opened, section)?;
        }
        self.sketches()?;
        for column in 0..self.schema.columns.len() {
            self.fine_zones(column)?;
        }
        let columns = if self.info.layout == Layout::Column {
            self.schema.columns.len()
        } else {
            1
        };
        for column in 0..columns as u16 {
            self.open_part(&opened, column)?;
        }
        if self.info.layout == Layout::Pax {
            self.page_store(&opened)?
                .check()
                .map_err(self.blame(Some("pages")))?;
        }
        // Codes and coded text are checked where they are decoded.
        for column in 0..self.schema.columns.len() {
            for start in (0..self.info.rows as usize).step_by(ZONE_ROWS) {
                self.read(
                    column,
                    start..(self.info.rows as usize).min(start + ZONE_ROWS),
                )?;
            }
        }
        Ok(())
    }
}

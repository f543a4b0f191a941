//! Opening the parts of a block that hold values.

use super::{Block, Opened, Part};
use crate::error::{Error, Result};
use crate::format::SectionKind;
use crate::layout::{PaxStore, RowStore, Stripe, StripeSections};
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
        let store = RowStore::open(&self.schema, self.info.rows as usize, tuples, heap)
            .map_err(self.blame(Some(SectionKind::Tuples.name())))?;
        let memory = store.memory();
        Ok((Part::Rows(Arc::new(store)), (bytes + memory) as u64))
    }

    fn open_pages(&self, opened: &Opened) -> Result<(Part, u64)> {
        let pages = self.section(opened, SectionKind::Pages, None)?;
        let directory = self.section(opened, SectionKind::PageDirectory, None)?;
        let bytes = pages.len() + directory.len();
        let (rows, page_bytes) = (self.info.rows as usize, opened.header.page_bytes);
        let store = PaxStore::open(&self.schema, rows, page_bytes, pages, directory)
            .map_err(self.blame(Some(SectionKind::Pages.name())))?;
        let memory = store.memory();
        Ok((Part::Pages(Arc::new(store)), (bytes + memory) as u64))
    }

    fn open_stripe(&self, opened: &Opened, column: u16) -> Result<(Part, u64)> {
        let definition = self.schema.columns.get(usize::from(column));
        let definition = definition.ok_or_else(|| Error::corrupt(format!("no column {column}")))?;
        let optional = |kind| match self.find(opened, kind, Some(column)) {
            Some(section) => self.read_section(opened, section).map(Some),
            None => Ok(None),
        };
        let variable = definition.kind.physical().width().is_none();
        let kind = if variable {
            SectionKind::Ends
        } else {
            SectionKind::Values
        };
        let sections = StripeSections {
            validity: optional(SectionKind::Validity)?,
            values: self.section(opened, kind, Some(column))?,
            bytes: optional(SectionKind::Bytes)?,
        };
        let others = [&sections.validity, &sections.bytes];
        let bytes = others.into_iter().flatten().map(Buffer::len).sum::<usize>();
        let bytes = bytes + sections.values.len();
        let place = format!("{} of {}", kind.name(), definition.name);
        let stripe = Stripe::open(definition.kind, self.info.rows as usize, sections)
            .map_err(self.blame(Some(&place)))?;
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
            if let (Part::Pages(store), _) = self.open_part(&opened, column)? {
                store.check().map_err(self.blame(Some("pages")))?;
            }
        }
        Ok(())
    }
}

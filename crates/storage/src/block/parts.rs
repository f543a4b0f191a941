//! Opening the parts of a block that hold values.

use super::build::{assemble, index_section};
use super::cache::{PartKey, PartName};
use super::index_part::{BlockIndex, IndexSource};
use super::{Block, BlockBytes, FoundColumn, Opened, Part};
use crate::codec::fields::Rows;
use crate::codec::{ArrayForm, Dense};
use crate::error::{Error, Result};
use crate::format::{Codec, Header, Section, SectionKind, ZONE_ROWS};
use crate::ids::BlockId;
use crate::layout::{
    BookSections, InvertedColumn, PaxStore, Relation, RowStore, SectionData, Stripe, StripeSections,
};
use crate::schema::{IndexDefinition, Layout, TableSchema};
use arrow_buffer::Buffer;
use std::sync::Arc;

impl Block {
    /// The part that holds `column`, opened.
    pub(super) fn part(&self, column: usize) -> Result<Part> {
        let number =
            u16::try_from(column).map_err(|_| Error::corrupt(format!("no column {column}")))?;
        let key = self.part_key(number);
        if let Some(part) = self.cache.get(key) {
            return Ok(part);
        }
        let opened = self.opened()?;
        let (part, bytes) = self.open_part(opened, number)?;
        self.cache.put(key, part.clone(), bytes);
        Ok(part)
    }

    /// The part that holds a column.
    pub(super) fn part_key(&self, column: u16) -> PartKey {
        let name = match self.info.layout.keeps_tuples() {
            true => PartName::Tuples,
            false => PartName::Column(column),
        };
        (self.info.id, name)
    }

    /// The index sub-block of `definition`, if this block has one.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub fn index(&self, definition: &IndexDefinition) -> Result<Option<Arc<BlockIndex>>> {
        if self.is_stale(definition) {
            return Ok(None);
        }
        let key = (self.info.id, PartName::Index(definition.number));
        if let Some(Part::Index(index)) = self.cache.get(key) {
            return Ok(Some(index));
        }
        let opened = self.opened()?;
        let mut sections = opened.sections.iter();
        let mine = |section: &&Section| {
            section.kind == SectionKind::Index && section.unit_rows == definition.number
        };
        let Some(section) = sections.find(mine) else {
            return Ok(None);
        };
        let bytes = self.read_section(opened, section)?;
        let index = BlockIndex::open(definition, &bytes, self.info.rows as u32)
            .map_err(self.blame(Some(&format!("index {}", definition.name))))?;
        let index = Arc::new(index);
        let memory = (bytes.len() + index.memory()) as u64;
        self.cache.put(key, Part::Index(index.clone()), memory);
        Ok(Some(index))
    }

    /// The bytes of this block as block `id` with an index more, over columns of `table`.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub fn with_index(
        &self,
        id: BlockId,
        table: &TableSchema,
        definition: &IndexDefinition,
    ) -> Result<BlockBytes> {
        let opened = self.opened()?;
        let mut sections = Vec::with_capacity(opened.sections.len() + 1);
        for section in &opened.sections {
            sections.push(SectionData {
                kind: section.kind,
                codec: section.codec,
                column: section.column,
                unit_rows: section.unit_rows,
                bytes: self.read_section(opened, section)?,
            });
        }
        let rows = 0..self.info.rows as usize;
        let dense = |column: &usize| {
            Dense::from_arrow(&self.read(*column, rows.clone())?, &table.columns[*column])
        };
        let columns = definition
            .columns
            .iter()
            .map(dense)
            .collect::<Result<Vec<Dense>>>()?;
        let codes = match definition.columns.as_slice() {
            [column] => self.ranks(*column)?,
            _ => None,
        };
        let source = IndexSource {
            columns: columns.iter().collect(),
            codes: codes.as_deref(),
        };
        sections.push(index_section(definition, table, &source));
        let header = Header {
            id,
            sections: sections.len() as u32,
            ..opened.header.clone()
        };
        Ok(assemble(header, sections))
    }

    /// The codes of a column that has a dictionary.
    fn ranks(&self, column: usize) -> Result<Option<Vec<i64>>> {
        let FoundColumn::Own(column) = self.find_column(column)? else {
            return Ok(None);
        };
        if let Some((block, place)) = self.overlay(column) {
            return block.ranks(place);
        }
        match self.part(column)? {
            Part::Stripe(stripe) => Ok(stripe.ranks()),
            Part::Tuples(store) => store.ranks(column).map_err(self.blame(None)),
            Part::Index(_) => Ok(None),
        }
    }

    fn open_part(&self, opened: &Opened, column: u16) -> Result<(Part, u64)> {
        match self.info.layout {
            Layout::Row => self.open_rows(opened),
            Layout::Pax => self.open_pages(opened),
            Layout::Column | Layout::Dsm | Layout::Inverted => self.open_column(opened, column),
        }
    }

    fn open_rows(&self, opened: &Opened) -> Result<(Part, u64)> {
        if self.find(opened, SectionKind::SlottedPages, None).is_some() {
            return self.open_slotted(opened);
        }
        let tuples = self.section(opened, SectionKind::Tuples, None)?;
        let heap = self.section(opened, SectionKind::Heap, None)?;
        let bytes = tuples.len() + heap.len();
        let books = self.books(opened)?;
        let store = RowStore::open(&self.schema, self.info.rows as usize, tuples, heap, &books)
            .map_err(self.blame(Some(SectionKind::Tuples.name())))?;
        let memory = store.memory();
        let store = store.with_full(full(opened));
        Ok((Part::Tuples(Arc::new(store)), (bytes + memory) as u64))
    }

    fn open_slotted(&self, opened: &Opened) -> Result<(Part, u64)> {
        let pages = self.section(opened, SectionKind::SlottedPages, None)?;
        let directory = self.section(opened, SectionKind::PageDirectory, None)?;
        let (rows, page_bytes) = (self.info.rows as usize, opened.header.page_bytes);
        let bytes = pages.len() + directory.len();
        let books = self.books(opened)?;
        let store =
            RowStore::open_slotted(&self.schema, rows, page_bytes, pages, &directory, &books)
                .map_err(self.blame(Some(SectionKind::SlottedPages.name())))?;
        let memory = store.memory();
        let store = store.with_full(full(opened));
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

    /// The sections of one column, found in one pass: there may be thousands.
    fn column_sections(&self, opened: &Opened, column: u16) -> Result<StripeSections> {
        let mut sections = StripeSections::default();
        let own = |section: &&Section| section.column == Some(column);
        for section in opened.sections.iter().filter(own) {
            if let Some(slot) = sections.slot(section.kind)
                && slot.is_none()
            {
                *slot = Some(self.read_section(opened, section)?);
            }
        }
        Ok(sections)
    }

    /// Opens a column that is stored apart from the others.
    fn open_column(&self, opened: &Opened, column: u16) -> Result<(Part, u64)> {
        let definition = self.schema.columns.get(usize::from(column));
        let definition = definition.ok_or_else(|| Error::corrupt(format!("no column {column}")))?;
        let sections = self.column_sections(opened, column)?;
        let (rows, codec) = (self.info.rows as usize, self.codec(opened, column));
        let bytes = sections.bytes_in_all();
        let blame = |error: Error| self.blame(None)(error.of_column(&definition.name));
        let (part, memory) = match self.info.layout {
            Layout::Dsm => {
                let relation = Relation::open(definition, rows, codec, sections).map_err(blame)?;
                let memory = relation.memory();
                (Part::Tuples(Arc::new(relation)), memory)
            }
            Layout::Inverted => {
                let column =
                    InvertedColumn::open(definition, rows, codec, sections).map_err(blame)?;
                let memory = column.memory();
                (Part::Tuples(Arc::new(column)), memory)
            }
            _ => {
                let stripe = Stripe::open(definition.kind, rows, codec, sections).map_err(blame)?;
                let memory = stripe.memory();
                (Part::Stripe(Arc::new(stripe)), memory)
            }
        };
        Ok((part, (bytes + memory) as u64))
    }

    /// Reads and checks everything, past the cache.
    ///
    /// # Errors
    /// `Corrupt` naming the section, or `Io`.
    pub fn verify(&self) -> Result<()> {
        let opened = self.open_file().and_then(|file| self.open(file));
        let opened = opened.map_err(self.blame(Some("header")))?;
        for section in &opened.sections {
            self.read_section(&opened, section)?;
        }
        self.own_sketches()?;
        for column in 0..self.schema.columns.len() {
            self.own_fine_zones(column)?;
        }
        let columns = if self.info.layout.keeps_tuples() {
            1
        } else {
            self.schema.columns.len()
        };
        for column in 0..columns as u16 {
            self.open_part(&opened, column)?;
        }
        if self.info.layout == Layout::Pax {
            self.page_store(&opened)?
                .check()
                .map_err(self.blame(Some("pages")))?;
        }
        for definition in &self.schema.indexes {
            self.index(definition)?;
        }
        for overlay in self.overlays() {
            overlay.verify()?;
        }
        // Codes and coded text are checked where they are decoded.
        for column in 0..self.schema.columns.len() {
            for start in (0..self.info.rows as usize).step_by(ZONE_ROWS) {
                let rows = start..(self.info.rows as usize).min(start + ZONE_ROWS);
                self.read_own(column, &Rows::Range(rows), ArrayForm::Sql)?;
            }
        }
        Ok(())
    }
}

/// Which columns have no NULLs.
fn full(opened: &Opened) -> Vec<bool> {
    opened.zones.iter().map(|zone| zone.nulls == 0).collect()
}

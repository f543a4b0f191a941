//! Blocks: immutable, self-contained, checksummed units of rows (Q1).
//!
//! A [`Block`] is a handle: it knows from the manifest how many rows to expect
//! and reads header, directory and zone maps at first use; values are read part
//! by part through the [`Cache`]. Every section's checksum is verified when the
//! section is read, and every error names file, block and section.

mod build;
mod cache;
mod conditions;
mod describe;
mod heat;
mod index_part;
mod order;
mod overlay;
mod parts;
mod places;
mod read;
mod sketch;
mod statistics;
mod zones;

pub use build::{BlockBytes, build};
pub use cache::{Cache, Part};
pub use conditions::Conditions;
pub use describe::{ByteRange, ColumnFacts};
pub use index_part::{BlockIndex, Found};
pub use order::{RUN_MAX, SortedValues};
pub use overlay::OverlayInfo;
pub use places::{Places, SharedPlaces, to_hex};
pub use sketch::Sketch;

use overlay::Overlay;
use places::Found as FoundColumn;

use crate::delta::Deletes;
use crate::error::{Error, Result};
use crate::format::{HEADER_BYTES, Header, Reader, SECTION_BYTES, Section, SectionKind, checksum};
use crate::ids::BlockId;
use crate::io::{Files, ReadFile};
use crate::predicate::Zone;
use crate::schema::{Layout, TableSchema};
use arrow_buffer::Buffer;
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

/// Bytes read at first: enough for header and directory of most blocks.
const FIRST_READ: u64 = 8 << 10;

/// What the manifest knows of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockInfo {
    /// The block's number.
    pub id: BlockId,
    /// Its rows.
    pub rows: u64,
    /// Bytes of its file.
    pub bytes: u64,
    /// How its tuples lie.
    pub layout: Layout,
    /// Which of the table's former columns it has; `None`: today's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// Columns that were written anew since, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlays: Vec<OverlayInfo>,
}

/// The file that holds a block.
pub fn file_name(id: BlockId) -> String {
    format!("blocks/{}.block", id.0)
}

/// A block of a table.
#[derive(Debug)]
pub struct Block {
    info: BlockInfo,
    /// The columns that the block was written with.
    schema: Arc<TableSchema>,
    /// Where today's columns are among them, if they are others.
    places: SharedPlaces,
    files: Arc<dyn Files>,
    cache: Arc<Cache>,
    /// Shared by all handles of the same rows.
    deletes: Arc<Deletes>,
    /// How often single rows were asked for; shared like `deletes`.
    heat: Arc<AtomicU64>,
    /// Shared by all handles of the same file: while it lives, the file is needed.
    needed: Arc<()>,
    overlays: Vec<Overlay>,
    opened: OnceLock<Opened>,
}

#[derive(Debug)]
struct Opened {
    file: Arc<dyn ReadFile>,
    header: Header,
    sections: Vec<Section>,
    zones: Vec<Zone>,
    fine: Vec<OnceLock<Arc<Vec<Zone>>>>,
    /// Bytes of each column's own sections of values.
    column_bytes: Vec<u64>,
    /// Bytes of the sections that columns share.
    shared_bytes: u64,
    /// Bytes of the values in stored form.
    raw_bytes: OnceLock<u64>,
}

impl Block {
    /// A handle; nothing is read yet.
    pub fn new(
        info: BlockInfo,
        schema: Arc<TableSchema>,
        places: SharedPlaces,
        files: Arc<dyn Files>,
        cache: Arc<Cache>,
    ) -> Block {
        Block {
            info,
            schema,
            places,
            files,
            cache,
            deletes: Arc::default(),
            heat: Arc::default(),
            needed: Arc::default(),
            overlays: Vec::new(),
            opened: OnceLock::new(),
        }
    }

    /// Another handle of the same file and rows as `other`.
    #[must_use]
    pub fn beside(self, other: &Block) -> Block {
        Block {
            deletes: other.deletes.clone(),
            heat: other.heat.clone(),
            needed: other.needed.clone(),
            ..self
        }
    }

    /// Lives as long as any handle of this file.
    pub fn needed(&self) -> &Arc<()> {
        &self.needed
    }

    /// Rows that were deleted since the block was written.
    pub fn deletes(&self) -> &Arc<Deletes> {
        &self.deletes
    }

    /// The same block for a table with other columns.
    pub fn moved(&self, version: Option<u32>, places: SharedPlaces) -> Block {
        let info = BlockInfo {
            version,
            ..self.info.clone()
        };
        let (files, cache) = (self.files.clone(), self.cache.clone());
        Block {
            overlays: self.overlays.clone(),
            ..Block::new(info, self.schema.clone(), places, files, cache).beside(self)
        }
    }

    /// The same rows in another file.
    pub fn renumbered(&self, id: BlockId, bytes: u64) -> Block {
        let info = BlockInfo {
            id,
            bytes,
            ..self.info.clone()
        };
        let (schema, places) = (self.schema.clone(), self.places.clone());
        let (files, cache) = (self.files.clone(), self.cache.clone());
        Block {
            deletes: self.deletes.clone(),
            heat: self.heat.clone(),
            overlays: self.overlays.clone(),
            ..Block::new(info, schema, places, files, cache)
        }
    }

    /// The columns that the block was written with.
    pub fn own_schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }

    /// Where a column of the table is found.
    fn find_column(&self, column: usize) -> Result<FoundColumn> {
        match &self.places {
            None => Ok(FoundColumn::Own(column)),
            Some(places) => places.find(column).cloned().map_err(self.blame(None)),
        }
    }

    /// What the manifest knows.
    pub fn info(&self) -> &BlockInfo {
        &self.info
    }

    /// The block's number.
    pub fn id(&self) -> BlockId {
        self.info.id
    }

    /// Rows in the block.
    pub fn rows(&self) -> u64 {
        self.info.rows
    }

    /// Bytes of the file and of its overlays.
    pub fn bytes(&self) -> u64 {
        let overlays = self.info.overlays.iter().map(|overlay| overlay.bytes);
        self.info.bytes + overlays.sum::<u64>()
    }

    /// How the tuples lie.
    pub fn layout(&self) -> Layout {
        self.info.layout
    }

    /// The file, as shown to people.
    pub fn file(&self) -> String {
        self.files.show(&file_name(self.info.id))
    }

    /// Places an error in this block; the file's name is made only for an error.
    fn blame<'a>(&'a self, section: Option<&str>) -> impl Fn(Error) -> Error + use<'a> {
        let section = section.map(str::to_string);
        move |error| error.at(&self.file(), Some(self.info.id.0), section.as_deref())
    }

    fn opened(&self) -> Result<&Opened> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let opened = self.open().map_err(self.blame(Some("header")))?;
        Ok(self.opened.get_or_init(|| opened))
    }

    fn open(&self) -> Result<Opened> {
        let file = self.files.open(&file_name(self.info.id))?;
        if file.len() != self.info.bytes {
            let (expected, found) = (self.info.bytes, file.len());
            return Err(Error::corrupt(format!(
                "the file has {found} bytes, {expected} were written"
            )));
        }
        let head = file.read(0, FIRST_READ.min(file.len()) as usize)?;
        let header = Header::decode(head.as_slice())?;
        let expected = (
            self.info.id,
            self.info.rows,
            self.info.layout,
            self.schema.columns.len(),
        );
        let found = (
            header.id,
            u64::from(header.rows),
            header.layout,
            usize::from(header.columns),
        );
        if expected != found || header.file_bytes != file.len() {
            return Err(Error::corrupt(format!(
                "the header says block {} with {} rows, {}, {} columns; expected block {} with {} rows, {}, {} columns",
                found.0, found.1, found.2, found.3, expected.0, expected.1, expected.2, expected.3
            )));
        }
        let sections = self
            .directory(&file, &head, &header)
            .map_err(|e| e.at("", None, Some("section directory")))?;
        let mut opened = Opened {
            file,
            header,
            sections,
            zones: Vec::new(),
            fine: Vec::new(),
            column_bytes: Vec::new(),
            shared_bytes: 0,
            raw_bytes: OnceLock::new(),
        };
        opened.count_bytes(self.schema.columns.len());
        let bytes = self.section(&opened, SectionKind::BlockZones, None)?;
        let mut reader = Reader::new(bytes.as_slice());
        for column in &self.schema.columns {
            let zone = zones::decode(&mut reader, column.kind.physical(), self.info.rows as usize);
            opened
                .zones
                .push(zone.map_err(|e| e.at("", None, Some(SectionKind::BlockZones.name())))?);
        }
        opened.fine = self
            .schema
            .columns
            .iter()
            .map(|_| OnceLock::new())
            .collect();
        Ok(opened)
    }

    fn directory(
        &self,
        file: &Arc<dyn ReadFile>,
        head: &Buffer,
        header: &Header,
    ) -> Result<Vec<Section>> {
        let len = (header.sections as usize).checked_mul(SECTION_BYTES);
        let len = len.filter(|len| (HEADER_BYTES + len) as u64 <= file.len());
        let len = len.ok_or_else(|| {
            Error::corrupt(format!(
                "{} sections in a file of {} bytes",
                header.sections,
                file.len()
            ))
        })?;
        let bytes = if HEADER_BYTES + len <= head.len() {
            head.slice_with_length(HEADER_BYTES, len)
        } else {
            file.read(HEADER_BYTES as u64, len)?
        };
        if checksum(bytes.as_slice()) != header.directory_checksum {
            return Err(Error::corrupt("checksum mismatch"));
        }
        let mut reader = Reader::new(bytes.as_slice());
        (0..header.sections)
            .map(|_| Section::decode(&mut reader, header.columns, header.file_bytes))
            .collect()
    }

    fn find<'a>(
        &self,
        opened: &'a Opened,
        kind: SectionKind,
        column: Option<u16>,
    ) -> Option<&'a Section> {
        opened
            .sections
            .iter()
            .find(|section| section.kind == kind && section.column == column)
    }

    /// Reads and verifies one section.
    fn section(&self, opened: &Opened, kind: SectionKind, column: Option<u16>) -> Result<Buffer> {
        let found = self.find(opened, kind, column);
        let missing = || Error::corrupt(format!("section {} is missing", kind.name()));
        let section = found
            .ok_or_else(missing)
            .map_err(self.blame(Some("section directory")))?;
        self.read_section(opened, section)
    }

    fn read_section(&self, opened: &Opened, section: &Section) -> Result<Buffer> {
        let name = section.name(&self.schema.columns);
        let read = || {
            let len = usize::try_from(section.len)
                .map_err(|_| Error::corrupt("too long for this machine"))?;
            let bytes = opened.file.read(section.offset, len)?;
            if checksum(bytes.as_slice()) == section.checksum {
                Ok(bytes)
            } else {
                Err(Error::corrupt("checksum mismatch"))
            }
        };
        read().map_err(self.blame(Some(&name)))
    }
}

impl Opened {
    /// Counts the bytes of values, by column and of all columns together.
    fn count_bytes(&mut self, columns: usize) {
        self.column_bytes = vec![0; columns];
        let statistics = [
            SectionKind::BlockZones,
            SectionKind::Zones,
            SectionKind::Sketches,
            SectionKind::Sizes,
            SectionKind::Index,
        ];
        let sections = self.sections.iter();
        for section in sections.filter(|section| !statistics.contains(&section.kind)) {
            match section.column {
                None => self.shared_bytes += section.len,
                Some(column) => self.column_bytes[usize::from(column)] += section.len,
            }
        }
    }
}

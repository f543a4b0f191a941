//! Blocks: immutable, self-contained, checksummed units of rows (Q1).
//!
//! A [`Block`] is a handle: it knows from the manifest how many rows to expect
//! and reads header, directory and zone maps at first use; values are read part
//! by part through the [`Cache`]. Every section's checksum is verified when the
//! section is read, and every error names file, block and section.

mod ahead;
mod build;
mod cache;
mod describe;
mod heat;
mod index_part;
mod open;
mod order;
mod overlay;
mod parts;
mod places;
mod positions;
mod read;
mod sketch;
mod statistics;
mod zones;

pub(crate) use ahead::{Ahead, Window};
pub use build::{BlockBytes, build};
pub use cache::{Cache, Part};
pub use describe::{ByteRange, ColumnFacts};
pub use index_part::{BlockIndex, Found};
pub use order::{RUN_MAX, SortedValues};
pub use overlay::OverlayInfo;
pub use places::{Places, SharedPlaces, to_hex};
pub(crate) use positions::ascending;
pub use sketch::Sketch;

use overlay::Overlay;
use places::Found as FoundColumn;

use crate::delta::Deletes;
use crate::error::{Error, Result};
use crate::format::{Header, Section};
use crate::ids::BlockId;
use crate::io::{Files, PrefetchFile};
use crate::predicate::Zone;
use crate::schema::{Layout, TableSchema};
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

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
    /// The file, if it was opened ahead.
    file: OnceLock<Arc<PrefetchFile>>,
    opened: OnceLock<Opened>,
}

#[derive(Debug)]
struct Opened {
    file: Arc<PrefetchFile>,
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
            file: OnceLock::new(),
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
}

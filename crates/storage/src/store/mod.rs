//! A database on disk or in memory: opening, snapshots, atomic changes.
//!
//! ```text
//! FORMAT           "freestone 1"
//! LOCK             process id of the writer
//! manifest/N       see `manifest`
//! blocks/N.block   see `format`
//! ```
//!
//! Blocks are written and synced before the manifest that names them, and
//! removed after a manifest without them is durable, so at every moment the
//! newest manifest names only whole blocks. Files that no manifest names are
//! left by crashes; the next writer removes them.

mod catalog;
mod columns;
mod edit;
mod indexes;
mod open;
mod verify;
mod writer;

pub use catalog::{Catalog, DEFAULT_SCHEMA, SchemaEntry, View};
pub use edit::CatalogEdit;
pub use open::OpenMode;
pub use verify::VerifyReport;
pub use writer::{BlockWriter, NewBlock};

use crate::block::{Block, Cache, file_name};
use crate::error::{Error, Result};
use crate::ids::BlockId;
use crate::io::{Files, Lock};
use crate::manifest;
use crate::schema::{TableOptions, TableSchema};
use parking_lot::{Mutex, RwLock};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// Memory for opened blocks unless [`Store::set_cache_bytes`] says otherwise:
/// half of the machine's, or 4 GiB where that cannot be learnt.
fn default_cache_bytes() -> u64 {
    let total = std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix("MemTotal:"))?;
            line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
        });
    total.map_or(4 << 30, |kibibytes| kibibytes / 2 * 1024)
}

/// Where the blocks of a database are.
#[derive(Debug)]
pub struct Place {
    pub(crate) files: Arc<dyn Files>,
    pub(crate) cache: Arc<Cache>,
    next_block: AtomicU64,
}

impl Place {
    fn next_block(&self) -> BlockId {
        BlockId(self.next_block.fetch_add(1, Ordering::Relaxed))
    }

    /// Removes a block file that no table needs; what fails is left for the next writer.
    fn discard(&self, id: BlockId) {
        self.cache.forget(id);
        let _ = self.files.remove(&file_name(id));
    }
}

/// An open database.
#[derive(Debug)]
pub struct Store {
    place: Arc<Place>,
    snapshot: RwLock<Arc<Catalog>>,
    /// Held while publishing; keeps blocks that left the catalog until no snapshot reads them.
    retired: Mutex<Vec<(BlockId, Weak<Block>)>>,
    path: Option<PathBuf>,
    writable: bool,
    notes: Vec<String>,
    _lock: Option<Lock>,
}

impl Store {
    /// The database as it is now; later changes do not show in it.
    pub fn snapshot(&self) -> Arc<Catalog> {
        self.snapshot.read().clone()
    }

    /// Its directory.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// What opening it had to put up with, for people to read.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Changes how much memory opened blocks may take.
    pub fn set_cache_bytes(&self, bytes: u64) {
        self.place.cache.set_limit(bytes);
    }

    /// Bytes of memory that opened blocks take now.
    pub fn cache_bytes(&self) -> u64 {
        self.place.cache.bytes()
    }

    /// A writer of blocks for a table with these columns and options.
    ///
    /// # Errors
    /// 25006 if the database is open read-only.
    pub fn writer(&self, schema: &Arc<TableSchema>, options: &TableOptions) -> Result<BlockWriter> {
        self.must_be_writable()?;
        Ok(BlockWriter::new(
            self.place.clone(),
            schema.clone(),
            options.clone(),
        ))
    }

    fn must_be_writable(&self) -> Result<()> {
        if self.writable {
            return Ok(());
        }
        Err(Error::invalid("25006", "the database is open read-only")
            .with_hint("Open it without the read-only option."))
    }

    /// Applies `edit` and publishes the result: all of it, durably, or nothing.
    ///
    /// # Errors
    /// Those of `edit`; 25006 if read-only; `Full` or `Io`.
    pub fn commit<T>(&self, edit: impl FnOnce(&mut CatalogEdit) -> Result<T>) -> Result<T> {
        self.must_be_writable()?;
        let mut retired = self.retired.lock();
        let before = self.snapshot();
        let mut draft = CatalogEdit::new((*before).clone());
        let answer = edit(&mut draft)?;
        if !draft.changed {
            return Ok(answer);
        }
        let CatalogEdit {
            mut catalog, added, ..
        } = draft;
        catalog.version += 1;
        let named: HashSet<BlockId> = ids_of(&catalog);
        let (used, unused): (Vec<NewBlock>, Vec<NewBlock>) = added
            .into_iter()
            .partition(|block| named.contains(&block.handle().id()));
        drop(unused);
        if !used.is_empty() {
            self.place.files.sync_directory("blocks")?;
        }
        // From here on the manifest may be durable even if we hear of an error,
        // so the blocks stay; if it is not, the next writer removes them.
        used.into_iter().for_each(NewBlock::keep);
        let next_block = self.place.next_block.load(Ordering::Relaxed);
        manifest::publish(self.place.files.as_ref(), &catalog.to_manifest(next_block))?;
        for (_, table) in before.all_tables() {
            let gone = table
                .blocks()
                .iter()
                .filter(|block| !named.contains(&block.id()));
            retired.extend(gone.map(|block| (block.id(), Arc::downgrade(block))));
        }
        *self.snapshot.write() = Arc::new(catalog);
        let version = before.version() + 1;
        drop(before);
        // The commit stands; tidying up may fail and be done by the next one.
        let _ = manifest::prune(self.place.files.as_ref(), version);
        self.discard_retired(&mut retired);
        Ok(answer)
    }

    fn discard_retired(&self, retired: &mut Vec<(BlockId, Weak<Block>)>) {
        retired.retain(|(id, block)| {
            let read = block.strong_count() > 0;
            if !read {
                self.place.discard(*id);
            }
            read
        });
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // Snapshots that outlive the store keep their blocks; the next writer removes those.
        let mut retired = std::mem::take(&mut *self.retired.lock());
        self.discard_retired(&mut retired);
    }
}

fn ids_of(catalog: &Catalog) -> HashSet<BlockId> {
    catalog
        .all_tables()
        .flat_map(|(_, table)| table.blocks().iter().map(|block| block.id()))
        .collect()
}

#[cfg(test)]
mod tests;

//! A database on disk or in memory: opening, snapshots, atomic changes.
//!
//! ```text
//! FORMAT             "freestone 2", or 3 with further directories
//! DIRECTORIES        further directories with blocks, see `io`
//! LOCK               process id of the writer
//! manifest/N         see `manifest`
//! wal/N.log          see `wal`
//! wal/N.checkpoint   see `checkpoint`
//! blocks/N.block     see `format`
//! ```
//!
//! Blocks are written and synced before the commit that names them is in the
//! log, and removed after a commit without them is durable, so manifest and log
//! together name only whole blocks. Files that they do not name are left by
//! crashes; the next writer removes them.

mod beside;
mod carry;
mod catalog;
mod check;
mod checkpoint;
mod columns;
mod commit;
mod declare;
mod edit;
mod follow;
mod functions;
mod indexes;
mod keys;
mod locks;
mod log;
mod merge;
mod mover;
mod open;
mod overlay;
mod owners;
mod pending;
mod recover;
mod references;
mod referred;
mod relaxed;
mod report;
mod rows;
mod salvage;
mod secured;
mod sequences;
mod settle;
mod show;
mod snapshot;
mod transaction;
mod types;
mod verify;
mod views;
mod writer;

pub use crate::manifest::DEFAULT_SCHEMA;
pub use catalog::{Catalog, Definitions, SchemaEntry, View};
pub use edit::CatalogEdit;
pub use locks::LockMode;
pub use locks::Waiting;
pub use mover::policy;
pub use mover::{MoverHold, MoverStatus, TableMoves, Tally};
pub use open::OpenMode;
pub use overlay::NewColumns;
pub use report::{LostBlock, LostTransactions, SalvageReport};
pub use rows::{RowLock, Stopped};
pub use sequences::Sequence;
pub use snapshot::Snapshot;
pub use transaction::{Savepoint, Transaction};
pub use verify::VerifyReport;
pub use writer::{BlockWriter, NewBlock};

use self::commit::{Latest, Shown};
use self::follow::Following;
use self::locks::RowLocks;
use self::mover::Mover;
use self::relaxed::Flusher;
use self::snapshot::Active;
use crate::block::{Block, Cache, file_name};
use crate::error::{Error, Result};
use crate::ids::BlockId;
use crate::io::{Files, Lock, ReadOptions};
use crate::manifest::Manifest;
use crate::schema::{TableOptions, TableSchema};
use crate::wal::Wal;
use parking_lot::{Mutex, MutexGuard, RwLock};
use std::collections::HashSet;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

/// How often a commit lets others run before it queues for the newest state, and how
/// often it looks before it does so: whoever has the state and runs is done by then.
const PATIENCE: usize = 16;
const LOOKS: usize = 100;

/// Bytes of memory of this machine, asked once; 8 GiB where that cannot be learnt.
pub fn machine_memory() -> usize {
    static BYTES: LazyLock<usize> = LazyLock::new(|| {
        let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let mut lines = text.lines();
        let total = lines.find_map(|line| line.strip_prefix("MemTotal:"));
        let kibibytes = total.and_then(|total| total.trim().strip_suffix(" kB"));
        let kibibytes = kibibytes.and_then(|kibibytes| kibibytes.parse::<usize>().ok());
        kibibytes.map_or(8 << 30, |kibibytes| kibibytes * 1024)
    });
    *BYTES
}

/// Where the blocks of a database are.
#[derive(Debug)]
pub struct Place {
    pub(crate) files: Arc<dyn Files>,
    pub(crate) cache: Arc<Cache>,
    next_block: AtomicU64,
}

impl Place {
    /// The files of the database that a manifest is of.
    fn new(files: Arc<dyn Files>, manifest: &Manifest) -> Result<Place> {
        let used = block_files(files.as_ref())?.into_iter().max();
        let next = used.map_or(0, |newest| newest + 1);
        Ok(Place {
            files,
            cache: Arc::new(Cache::new(machine_memory() as u64 / 2)),
            next_block: AtomicU64::new(manifest.next_block.max(next)),
        })
    }

    fn next_block(&self) -> BlockId {
        BlockId(self.next_block.fetch_add(1, Ordering::Relaxed))
    }

    /// The number that the next block will have.
    fn next_number(&self) -> u64 {
        self.next_block.load(Ordering::Relaxed)
    }

    /// Numbers below `next` are taken.
    fn at_least(&self, next: u64) {
        self.next_block.fetch_max(next, Ordering::Relaxed);
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
    engine: Arc<Engine>,
    path: Option<PathBuf>,
    notes: Vec<String>,
    _lock: Option<Lock>,
}

/// What a [`Store`] and its tuple mover share. The mover ends before its store
/// does, so that whoever drops a store can open the database again at once.
#[derive(Debug)]
pub struct Engine {
    place: Arc<Place>,
    /// What snapshots see.
    shown: RwLock<Shown>,
    /// What commits are made on.
    latest: Mutex<Latest>,
    active: Arc<Active>,
    locks: RowLocks,
    /// None for a database that is not on disk.
    wal: Option<Wal>,
    next_table: Arc<AtomicU64>,
    /// Number of the next transaction.
    transactions: AtomicU64,
    /// How many bytes of memory deltas may take.
    delta_memory: AtomicU64,
    /// Number of the newest manifest.
    published: AtomicU64,
    /// The segment that the newest manifest goes on with, if it has a checkpoint;
    /// held by the one who writes one.
    checkpointed: Mutex<Option<u64>>,
    /// Bytes of the last checkpoint's record; 0 before the first.
    checkpoint_bytes: AtomicU64,
    mover: Mover,
    flusher: Flusher,
    /// What lets go of earlier states that are kept for speed.
    release: OnceLock<Release>,
    writable: bool,
    /// None for a store that writes its own log, or stays as it is.
    following: Option<Mutex<Following>>,
}

/// Called with the database as it is now.
struct Release(Box<dyn Fn(&Snapshot) + Send + Sync>);

impl std::fmt::Debug for Release {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Release")
    }
}

impl Deref for Store {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}

impl Store {
    /// Its directory.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// All directories that its files lie in; none of a database in memory.
    pub fn directories(&self) -> Vec<PathBuf> {
        self.place.files.roots()
    }

    /// What opening it had to put up with, for people to read.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Changes how much memory opened blocks may take.
    pub fn set_cache_bytes(&self, bytes: u64) {
        self.place.cache.set_limit(bytes);
    }

    /// How blocks are read that are not in memory.
    pub fn read_options(&self) -> ReadOptions {
        self.place.cache.prefetcher().options()
    }

    /// Changes how blocks are read that are not in memory, for scans that begin later.
    ///
    /// # Errors
    /// 22023 naming the option that is out of its bounds.
    pub fn set_read_options(&self, options: ReadOptions) -> Result<()> {
        self.place.cache.prefetcher().set_options(options)
    }

    /// What reads ahead of scans here: `io_uring` where the system allows it, else
    /// `threads`.
    pub fn read_method(&self) -> &'static str {
        self.place.cache.prefetcher().method()
    }

    /// Changes how much memory the deltas of all tables may take together. Beyond
    /// that rows are written as blocks.
    pub fn set_delta_bytes(&self, bytes: u64) {
        self.delta_memory.store(bytes, Ordering::Relaxed);
    }

    /// Sets what is called, once, when files that no table needs wait for readers: it
    /// is given the database as it is now, and lets go of what it keeps of earlier
    /// states.
    pub fn on_waiting_files(&self, release: impl Fn(&Snapshot) + Send + Sync + 'static) {
        let _ = self.release.set(Release(Box::new(release)));
    }

    /// Bytes of memory that the deltas of all tables take now.
    pub fn delta_bytes(&self) -> u64 {
        let shown = self.shown.read().catalog.clone();
        let tables = shown.all_tables();
        tables.map(|(_, table)| table.delta().bytes() as u64).sum()
    }

    /// Bytes of memory that opened blocks take now.
    pub fn cache_bytes(&self) -> u64 {
        self.place.cache.bytes()
    }
}

impl Engine {
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

    /// The newest state, behind its lock. Others are let run a few times before the
    /// caller queues: whoever has it needs microseconds, and a queue costs everybody in
    /// it a wake-up, also those that come after.
    fn latest_soon(&self) -> MutexGuard<'_, Latest> {
        for _ in 0..PATIENCE {
            for _ in 0..LOOKS {
                if let Some(latest) = self.latest.try_lock() {
                    return latest;
                }
                std::hint::spin_loop();
            }
            std::thread::yield_now();
        }
        self.latest.lock()
    }

    fn must_be_writable(&self) -> Result<()> {
        if self.writable {
            // A log that failed once takes nothing more.
            return self.wal.as_ref().map_or(Ok(()), Wal::check);
        }
        Err(Error::invalid("25006", "the database is open read-only")
            .with_hint("Open it without the read-only option."))
    }

    /// Removes the files of retired blocks that no snapshot reads; whether some
    /// are left, which the mover looks at again.
    fn discard_retired(&self) -> bool {
        let mut free = Vec::new();
        let left = {
            let retired = &mut self.latest.lock().retired;
            retired.retain(|(id, block)| {
                let read = block.strong_count() > 0;
                if !read {
                    free.push(*id);
                }
                read
            });
            !retired.is_empty()
        };
        free.iter().for_each(|id| self.place.discard(*id));
        self.mover.cleared(&free, left);
        left
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.mover.stop();
        self.flush_all();
        self.return_numbers();
        // What this leaves undone the log does, when the database is opened again.
        if self.wal.as_ref().is_some_and(|wal| wal.bytes() > 0) {
            let _ = self.checkpoint();
        }
        // Snapshots that outlive the store keep their blocks; the next writer removes those.
        self.discard_retired();
    }
}

/// Numbers of the block files that are there.
fn block_files(files: &dyn Files) -> Result<Vec<u64>> {
    let names = files.list("blocks")?;
    Ok(names
        .iter()
        .filter_map(|name| name.strip_suffix(".block")?.parse().ok())
        .collect())
}

/// The blocks of all tables, and their overlays.
fn ids_of(catalog: &Catalog) -> HashSet<BlockId> {
    files_of(catalog).map(|block| block.id()).collect()
}

/// All that has a file of its own.
fn files_of(catalog: &Catalog) -> impl Iterator<Item = &Arc<Block>> {
    let blocks = catalog.all_tables().flat_map(|(_, table)| table.blocks());
    blocks.flat_map(|block| std::iter::once(block).chain(block.overlays()))
}

#[cfg(test)]
mod tests;

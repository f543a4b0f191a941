//! Rows that are set aside while memory is short: partitions by the hash of a key, each
//! a list of pages in PAX form in one temporary file (P6).

mod page;

use crate::memory::Space;
use crate::vector::{Batch, concat};
use crate::{Error, Result};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Partitions that rows are parted into at once.
pub(crate) const PARTS: usize = 32;
/// A partition is parted again so often at most.
pub(crate) const LEVELS: u32 = 5;
/// Rows that are worked on however little memory there is.
pub(crate) const LEAST: usize = 1024;
/// Rows of a partition are written when they take so many bytes.
const PAGE_BYTES: usize = 1 << 15;

/// The partition of a key; every level looks at other bits of its hash.
pub(crate) fn part_of(hash: u64, level: u32) -> usize {
    (hash >> (59 - 5 * level.min(LEVELS))) as usize % PARTS
}

/// Positions of the rows of each partition.
pub(crate) fn parted(hashes: impl Iterator<Item = u64>, level: u32) -> Vec<Vec<u32>> {
    let mut parts = vec![Vec::new(); PARTS];
    for (row, hash) in hashes.enumerate() {
        parts[part_of(hash, level)].push(row as u32);
    }
    parts
}

/// A file of pages.
#[derive(Debug)]
pub(crate) struct SpillFile {
    file: File,
    end: AtomicU64,
}

/// Where some rows lie.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    file: Arc<SpillFile>,
    start: u64,
    len: usize,
    rows: usize,
}

impl SpillFile {
    pub fn new(file: File) -> SpillFile {
        SpillFile {
            file,
            end: AtomicU64::new(0),
        }
    }

    /// Appends a page.
    pub fn write(self: &Arc<Self>, batch: &Batch) -> Result<Page> {
        let bytes = page::encode(batch)?;
        let start = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.write_all_at(&bytes, start)?;
        Ok(Page {
            file: self.clone(),
            start,
            len: bytes.len(),
            rows: batch.rows,
        })
    }
}

impl Page {
    /// The rows.
    pub fn read(&self) -> Result<Batch> {
        let mut bytes = vec![0; self.len];
        self.file.file.read_exact_at(&mut bytes, self.start)?;
        page::decode(&bytes).ok_or_else(|| Error::internal("a page that does not hold its rows"))?
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes in the file, about as many as in memory.
    pub fn bytes(&self) -> usize {
        self.len
    }
}

/// Collects the rows of one partition and writes them in pages of usual size.
#[derive(Debug, Default)]
pub(crate) struct PartWriter {
    pages: Vec<Page>,
    waiting: Vec<Batch>,
    bytes: usize,
}

impl PartWriter {
    pub fn push(&mut self, batch: Batch, space: &Space) -> Result<()> {
        if batch.rows == 0 {
            return Ok(());
        }
        self.bytes += batch.bytes();
        self.waiting.push(batch);
        if self.bytes >= PAGE_BYTES {
            self.flush(space)?;
        }
        Ok(())
    }

    fn flush(&mut self, space: &Space) -> Result<()> {
        if let Some(all) = joined(&self.waiting)? {
            self.pages.push(space.set_aside(&all)?);
        }
        self.waiting.clear();
        self.bytes = 0;
        Ok(())
    }

    /// All pages.
    pub fn finish(mut self, space: &Space) -> Result<Vec<Page>> {
        self.flush(space)?;
        Ok(self.pages)
    }
}

/// Some batches as one.
fn joined(batches: &[Batch]) -> Result<Option<Batch>> {
    let Some(first) = batches.first() else {
        return Ok(None);
    };
    let columns = (0..first.columns.len()).map(|column| {
        let parts: Vec<_> = batches.iter().map(|batch| &batch.columns[column]).collect();
        concat(&parts)
    });
    Ok(Some(Batch {
        columns: columns.collect::<Result<_>>()?,
        rows: batches.iter().map(|batch| batch.rows).sum(),
    }))
}

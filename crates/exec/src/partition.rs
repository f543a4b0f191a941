//! Hash partitions: rows are split by the hash of a key, and each partition spills to pages of
//! its own.

use crate::Result;
use crate::memory::Space;
use crate::spill::Page;
use crate::vector::{Batch, concat};

/// Partitions that rows are parted into at once.
pub(crate) const PARTS: usize = 32;
/// A partition is parted again so often at most.
pub(crate) const LEVELS: u32 = 5;
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

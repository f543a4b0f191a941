//! What a scan counts.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of one scan, summed over its workers.
#[derive(Debug, Default)]
pub struct ScanMetrics {
    /// Blocks of the table.
    pub blocks_total: AtomicU64,
    /// Blocks ruled out by zone maps.
    pub blocks_pruned: AtomicU64,
    /// Of those pruned: by Bloom filters.
    pub blocks_pruned_by_bloom: AtomicU64,
    /// Blocks read.
    pub blocks_read: AtomicU64,
    /// Of those read: not all that the scan needs of them was in memory.
    pub blocks_cold: AtomicU64,
    /// Of those read: by sorted search alone.
    pub blocks_searched: AtomicU64,
    /// Of those read: by an index alone.
    pub blocks_by_index: AtomicU64,
    /// Of those read: by sorted search and an index.
    pub blocks_by_both: AtomicU64,
    /// Zones of 8,192 rows ruled out within blocks that were read.
    pub zones_pruned: AtomicU64,
    /// Rows on which the predicate was evaluated or that were returned unseen.
    pub rows_scanned: AtomicU64,
    /// Rows in no block that the predicate was evaluated on.
    pub rows_in_delta: AtomicU64,
    /// Rows of which it is known whether they meet the predicate, looked at or not,
    pub rows_decided: AtomicU64,
    /// and those of them that do, whatever joins and limits above make of them.
    pub rows_passed: AtomicU64,
    /// Rows returned.
    pub rows_returned: AtomicU64,
    /// Bytes of the sections that the scan used, cached or not.
    pub bytes_read: AtomicU64,
    /// Bytes that were asked for before the scan came to them.
    pub bytes_ahead: AtomicU64,
}

impl ScanMetrics {
    /// Blocks done, pruned ones included: for progress bars.
    pub fn blocks_done(&self) -> u64 {
        self.blocks_pruned.load(Ordering::Relaxed) + self.blocks_read.load(Ordering::Relaxed)
    }

    /// Counts rows of which it is known now how many meet the predicate.
    pub(super) fn decided(&self, rows: usize, passed: usize) {
        let count = |counter: &AtomicU64, rows| counter.fetch_add(rows as u64, Ordering::Relaxed);
        count(&self.rows_decided, rows);
        count(&self.rows_passed, passed);
    }
}

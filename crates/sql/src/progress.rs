//! How far the running statement is, and what its scans have read.
//!
//! Loads know their size up front and count it off with
//! [`Progress::add_total`] and [`Progress::add_done`]. Queries register every
//! scan; their share is the blocks already taken from the queues.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use freestone_storage::{Scan, ScanMetrics};
use parking_lot::Mutex;

/// Progress of one session's current statement. All methods may be called from
/// any thread.
#[derive(Default)]
pub struct Progress {
    total: AtomicU64,
    done: AtomicU64,
    scans: Mutex<Vec<Arc<Scan>>>,
}

/// What the scans of a statement did, summed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanCounts {
    /// Blocks of the scanned tables.
    pub blocks_total: u64,
    /// Blocks left out because of their zone maps.
    pub blocks_pruned: u64,
    /// Of those left out: by Bloom filters.
    pub blocks_pruned_by_bloom: u64,
    /// Blocks read.
    pub blocks_read: u64,
    /// Of those read: by sorted search.
    pub blocks_searched: u64,
    /// Of those read: by an index.
    pub blocks_by_index: u64,
    /// Of those read: by sorted search and an index.
    pub blocks_by_both: u64,
    /// Zones of 8,192 rows left out inside blocks that were read.
    pub zones_pruned: u64,
    /// Rows looked at.
    pub rows_scanned: u64,
    /// Rows handed to the query.
    pub rows_returned: u64,
    /// Bytes of blocks read.
    pub bytes_read: u64,
}

impl ScanCounts {
    pub(crate) fn of(metrics: &ScanMetrics) -> Self {
        Self {
            blocks_total: metrics.blocks_total.load(Relaxed),
            blocks_pruned: metrics.blocks_pruned.load(Relaxed),
            blocks_pruned_by_bloom: metrics.blocks_pruned_by_bloom.load(Relaxed),
            blocks_read: metrics.blocks_read.load(Relaxed),
            blocks_searched: metrics.blocks_searched.load(Relaxed),
            blocks_by_index: metrics.blocks_by_index.load(Relaxed),
            blocks_by_both: metrics.blocks_by_both.load(Relaxed),
            zones_pruned: metrics.zones_pruned.load(Relaxed),
            rows_scanned: metrics.rows_scanned.load(Relaxed),
            rows_returned: metrics.rows_returned.load(Relaxed),
            bytes_read: metrics.bytes_read.load(Relaxed),
        }
    }

    fn add(self, other: Self) -> Self {
        Self {
            blocks_total: self.blocks_total + other.blocks_total,
            blocks_pruned: self.blocks_pruned + other.blocks_pruned,
            blocks_pruned_by_bloom: self.blocks_pruned_by_bloom + other.blocks_pruned_by_bloom,
            blocks_read: self.blocks_read + other.blocks_read,
            blocks_searched: self.blocks_searched + other.blocks_searched,
            blocks_by_index: self.blocks_by_index + other.blocks_by_index,
            blocks_by_both: self.blocks_by_both + other.blocks_by_both,
            zones_pruned: self.zones_pruned + other.zones_pruned,
            rows_scanned: self.rows_scanned + other.rows_scanned,
            rows_returned: self.rows_returned + other.rows_returned,
            bytes_read: self.bytes_read + other.bytes_read,
        }
    }

    /// Name and value of each count, in the order shown by EXPLAIN ANALYZE.
    pub fn entries(&self) -> [(&'static str, u64); 11] {
        [
            ("blocks_total", self.blocks_total),
            ("blocks_pruned", self.blocks_pruned),
            ("blocks_pruned_by_bloom", self.blocks_pruned_by_bloom),
            ("blocks_read", self.blocks_read),
            ("blocks_searched", self.blocks_searched),
            ("blocks_by_index", self.blocks_by_index),
            ("blocks_by_both", self.blocks_by_both),
            ("zones_pruned", self.zones_pruned),
            ("rows_scanned", self.rows_scanned),
            ("rows_returned", self.rows_returned),
            ("bytes_read", self.bytes_read),
        ]
    }
}

impl Progress {
    /// Share of the work done, 0.0 to 1.0, or `None` while nothing is known.
    pub fn fraction(&self) -> Option<f64> {
        let total = self.total.load(Relaxed);
        if total > 0 {
            return Some((self.done.load(Relaxed) as f64 / total as f64).min(1.0));
        }
        let counts = self.scans();
        if counts.blocks_total == 0 {
            return None;
        }
        let taken = counts.blocks_pruned + counts.blocks_read;
        Some((taken as f64 / counts.blocks_total as f64).min(1.0))
    }

    /// Announces work, in any unit the caller likes (bytes, usually).
    pub fn add_total(&self, units: u64) {
        self.total.fetch_add(units, Relaxed);
    }

    /// Reports work done, in the unit of [`Progress::add_total`].
    pub fn add_done(&self, units: u64) {
        self.done.fetch_add(units, Relaxed);
    }

    /// Units reported so far.
    pub(crate) fn done(&self) -> u64 {
        self.done.load(Relaxed)
    }

    /// Forgets everything; called when a statement starts.
    pub fn reset(&self) {
        self.total.store(0, Relaxed);
        self.done.store(0, Relaxed);
        self.scans.lock().clear();
    }

    /// What the scans of the current (or last) statement have read so far.
    pub fn scans(&self) -> ScanCounts {
        self.scans
            .lock()
            .iter()
            .map(|scan| ScanCounts::of(scan.metrics()))
            .fold(ScanCounts::default(), ScanCounts::add)
    }

    pub(crate) fn watch(&self, scan: &Arc<Scan>) {
        self.scans.lock().push(Arc::clone(scan));
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Progress")
            .field("fraction", &self.fraction())
            .finish_non_exhaustive()
    }
}

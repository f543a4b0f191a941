//! Physical designs of a table, and what the table is under one of them.

use super::usage::Usage;
use crate::selection::Used;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// How a table is stored. Two are the same if their statements would be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Design {
    /// Layout of its blocks, by the name that `CREATE TABLE` knows.
    pub layout: String,
    /// Column that blocks are sorted on.
    pub sort_by: Option<String>,
    /// Ranges of a column whose rows share no block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_by: Option<Partition>,
    /// Codecs of its columns: `auto` or `none`.
    pub codec: String,
    /// Indexes besides those of its keys.
    pub indexes: Vec<Index>,
    /// Bytes of a block.
    #[serde(default = "usual_block")]
    pub block_bytes: u64,
}

/// Ranges of the values of a column, with about as many rows each.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Partition {
    /// The column.
    pub column: String,
    /// How many ranges it has.
    pub ranges: u16,
}

/// Bytes of a block of tables that do not say.
pub const BLOCK_BYTES: u64 = 16 << 20;
/// Sizes that blocks may have.
const BLOCK_SIZES: std::ops::RangeInclusive<u64> = 1 << 20..=256 << 20;
/// Most rows of a block.
const BLOCK_ROWS: f64 = (1 << 20) as f64;
/// Blocks that a table keeps at least: threads share a table block by block.
const BLOCKS: f64 = 16.0;

fn usual_block() -> u64 {
    BLOCK_BYTES
}

/// An index over one column.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Index {
    /// Its kind, by the name that `CREATE INDEX` knows.
    pub kind: String,
    /// The column.
    pub column: String,
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "layout {}", self.layout)?;
        if self.codec != "auto" {
            write!(f, ", codec {}", self.codec)?;
        }
        if let Some(column) = &self.sort_by {
            write!(f, ", sorted by {column}")?;
        }
        if let Some(partition) = &self.partition_by {
            write!(f, ", {} ranges of {}", partition.ranges, partition.column)?;
        }
        if self.block_bytes != BLOCK_BYTES {
            write!(f, ", blocks of {} KiB", self.block_bytes >> 10)?;
        }
        for index in &self.indexes {
            write!(f, ", index ({}) on {}", index.kind, index.column)?;
        }
        Ok(())
    }
}

/// What a table is, or would be, under a design: learnt from its blocks, or from some
/// rows that were written so to see.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// The design.
    pub design: Design,
    /// Rows of the table.
    pub rows: f64,
    /// Its blocks.
    pub blocks: f64,
    /// Its columns by name.
    pub columns: BTreeMap<String, Used>,
    /// Bytes of a row in its blocks, indexes included.
    pub row_bytes: f64,
    /// Seconds to write a row into a block.
    pub write_seconds: f64,
    /// Seconds to fetch all columns of a row whose place is known.
    pub fetch_seconds: f64,
    /// Whether rows lie in the order in which they do now.
    pub in_order: bool,
    /// What some usages took on the rows that were written to see.
    pub tried: Option<Tried>,
    /// Of a table whose blocks lie in several layouts: the share of the rows that have each,
    /// and what the whole table would be in it.
    pub mixture: Vec<(f64, Stored)>,
}

/// Usages that were run on a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// Rows of the trial, in one block.
    pub rows: f64,
    /// What each took.
    pub usages: Vec<TriedUsage>,
}

/// What a usage took on a trial, by one thread.
#[derive(Clone, Debug, PartialEq)]
pub struct TriedUsage {
    /// The usage.
    pub usage: Usage,
    /// Seconds of one run.
    pub seconds: f64,
    /// Seconds to fetch the columns that it reads of one row whose place is known.
    pub fetch_seconds: f64,
}

impl Stored {
    /// Bytes of all its blocks.
    pub fn bytes(&self) -> f64 {
        self.rows * self.row_bytes
    }

    /// The same in blocks of another size; none for one that cannot be, of which there
    /// would be too few, or as many as now.
    pub fn resized(&self, block_bytes: u64) -> Option<Stored> {
        if !BLOCK_SIZES.contains(&block_bytes) {
            return None;
        }
        let bytes = self.blocks * self.design.block_bytes as f64;
        let least = BLOCKS.max(self.rows / BLOCK_ROWS);
        let blocks = (bytes / block_bytes as f64).ceil();
        let is_other = blocks >= least && blocks != self.blocks;
        is_other.then(|| Stored {
            design: Design {
                block_bytes,
                ..self.design.clone()
            },
            blocks,
            ..self.clone()
        })
    }

    /// The same cut at the bounds of ranges: no block has rows of two.
    pub fn partitioned(&self, partition: &Partition) -> Stored {
        Stored {
            design: Design {
                partition_by: Some(partition.clone()),
                ..self.design.clone()
            },
            blocks: self.blocks.max(f64::from(partition.ranges)),
            in_order: false,
            ..self.clone()
        }
    }

    /// Of two trials of one design the quicker times: whatever else ran made the others.
    pub fn keep_quickest(&mut self, other: &Stored) {
        self.write_seconds = self.write_seconds.min(other.write_seconds);
        self.fetch_seconds = self.fetch_seconds.min(other.fetch_seconds);
        let (Some(mine), Some(theirs)) = (&mut self.tried, &other.tried) else {
            return;
        };
        for (one, two) in mine.usages.iter_mut().zip(&theirs.usages) {
            one.seconds = one.seconds.min(two.seconds);
            one.fetch_seconds = one.fetch_seconds.min(two.fetch_seconds);
        }
    }

    /// What a usage took when it was tried.
    pub(super) fn tried(&self, usage: &Usage) -> Option<&TriedUsage> {
        let usages = &self.tried.as_ref()?.usages;
        usages.iter().find(|tried| tried.usage == *usage)
    }

    /// Bytes of a tuple, of all columns.
    pub(super) fn tuple_bytes(&self) -> f64 {
        self.columns.values().map(|used| used.stored).sum()
    }
}

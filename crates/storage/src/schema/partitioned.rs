//! Partitioned tables and their partitions.
//!
//! A partitioned table has columns and constraints, a partition key, and no rows of its own.
//! Each of its partitions is a table with blocks, indexes and options as any other has; its
//! definition names the parent and says which rows it holds, as values of the parent's key. A
//! partition may be partitioned itself. These are not the ranges of blocks of `partition_by`,
//! which divide the rows inside of one table.
//!
//! ```text
//! sales        PARTITION BY RANGE (day)                   no rows
//! ├ sales_25   FOR VALUES FROM ('2025-01-01') TO ('2026-01-01')
//! └ sales_rest DEFAULT                                    all other rows
//! ```
//!
//! Expressions and values are SQL texts: this crate keeps them and does not compute them.

use super::TableSchema;
use crate::ids::TableId;
use serde::{Deserialize, Serialize};

/// How values of a key choose a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartitionStrategy {
    /// A partition has a range of values.
    Range,
    /// A partition has a list of values.
    List,
    /// A partition has a remainder of the key's hash.
    Hash,
}

/// The key by which a table is partitioned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionKey {
    /// How it chooses partitions.
    pub strategy: PartitionStrategy,
    /// Columns and expressions over columns, as SQL.
    pub parts: Vec<String>,
}

/// A value at the end of a range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoundValue {
    /// Below all values: MINVALUE.
    Min,
    /// Above all values: MAXVALUE.
    Max,
    /// A value as text.
    Value(String),
}

/// The rows that a partition holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartitionBound {
    /// Keys from one on, up to another that is no part of it.
    Range {
        /// The first key.
        from: Vec<BoundValue>,
        /// The key behind the last.
        to: Vec<BoundValue>,
    },
    /// Keys of a list; NULL among them.
    List(Vec<Option<String>>),
    /// Keys whose hash leaves a remainder.
    Hash {
        /// The divisor.
        modulus: u64,
        /// The remainder.
        remainder: u64,
    },
    /// Keys of no other partition.
    Default,
}

/// The parent and the bound of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionOf {
    /// The partitioned table.
    pub parent: TableId,
    /// The rows that it holds.
    pub bound: PartitionBound,
    /// Counts the times that other partitions took rows from what it holds, so that a writer
    /// notices.
    #[serde(default, skip_serializing_if = "super::is_zero_version")]
    pub version: u64,
}

impl TableSchema {
    /// Whether it takes part in a partitioned table, as the whole or as a partition.
    pub fn is_in_partitions(&self) -> bool {
        self.partitioned.is_some() || self.partition.is_some()
    }
}

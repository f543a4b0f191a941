//! Window functions (Leis et al., "Efficient Processing of Window Functions in Analytical SQL
//! Queries", 2015): rows are sorted by partition and order at once, and the calls of all
//! clauses that one order serves are computed of that.
//!
//! | rows | way |
//! |---|---|
//! | in memory | one sort; pieces of whole partitions are computed side by side |
//! | more than memory | spilled by the hash of the partition; each part is sorted alone |
//! | a partition larger than memory | sorted on disk, and computed as rows come (`stream`) |
//!
//! A call is computed for a piece as a whole. Ends of frames only move forward, so that two
//! pointers find them. Sums of integers and decimals are differences of running sums, and so
//! exact; least and greatest values of frames that move on are the front of a queue; whatever
//! else a frame holds is looked up in a tree of segments (`tree`).

mod aggregate;
mod collect;
mod compute;
mod frames;
mod levels;
mod source;
mod stream;
#[cfg(test)]
mod tests;
mod tree;
mod values;

pub(crate) use collect::Collector;
pub(crate) use source::{Own, Windows};

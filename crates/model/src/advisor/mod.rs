//! The advisor's search: which design of a table would cost its workload least (H8, H9).
//!
//! ```text
//! queries ─ usages ─ workload ┐
//! rows written so to see ─ stored ┴─ price of each usage ─ total ─ search
//! ```
//!
//! All of it computes with numbers alone: what a table is under a design is told by
//! whoever has the table.

mod blocks;
mod choices;
mod design;
mod price;
mod search;
#[cfg(test)]
mod tests;
mod usage;
mod workload;

pub use blocks::{AUTO, BlockUse, block_designs, mixture};
pub use design::{BLOCK_BYTES, Design, Index, Partition, Stored, Tried, TriedUsage};
pub use price::{Price, Total, price, total};
pub use search::{Candidate, Gain, QUERIES, gains, missing, search};
pub use usage::{Run, Runs, Test, Tested, Usage};
pub use workload::{Change, ColumnUse, HALF_LIFE, USAGES, Workload};

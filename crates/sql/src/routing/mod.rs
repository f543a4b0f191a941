//! Rows of partitioned tables: which partition each is of.
//!
//! Each row that is written to a partitioned table goes to one of its leaves.
//!
//! ```text
//! rows of sales ─ Router ─┬─ (day) in ['2025-01-01', '2026-01-01') ─▶ sales_25
//!                         └─ nothing else holds it ─────────────────▶ sales_rest
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `key` | values of a partition key, and bounds as values of its types |
//! | `hash` | PostgreSQL's hash of a key |
//! | `divisions` | the bounds of all partitions of a table, and the one that holds a key |
//! | `router` | rows to leaves, and whether a row may be in a leaf |

mod divisions;
mod hash;
mod key;
mod router;

pub(crate) use divisions::Divisions;
pub(crate) use hash::is_hashed;
pub(crate) use key::Key;
pub(crate) use router::{Leaf, Membership, Router};

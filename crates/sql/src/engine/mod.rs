//! Plans of the bulk engine, and their place in DataFusion's plans.
//!
//! `converted` has a plan while it is built, with estimates; `expression` turns expressions into
//! ours, `aggregate`, `join`, `sort` and `window` build operators; `sampled` says how many rows
//! conditions leave, `order` decides in which order tables are joined, and `tree` makes the plan
//! of that. `early` aggregates below joins. `node` puts a plan into one of DataFusion's as a leaf,
//! and runs it; `yielding` lets other statements run.
//!
//! The module does not know which plans there are to build: `lower` builds them of bound
//! statements, and `planner` of parts of DataFusion's plans.

mod aggregate;
mod converted;
mod early;
mod explain;
mod expression;
mod join;
mod node;
mod order;
mod pass;
mod ranges;
mod sampled;
mod sort;
mod tree;
mod window;
mod yielding;

pub(crate) use aggregate::{aggregated, grouped, of_cluster};
pub(crate) use converted::{Converted, filtered, projected, table};
pub(crate) use early::{Early, added_up, early, partial};
pub(crate) use explain::{INDENT, explained};
pub(crate) use expression::{Columns, Found, Scope};
pub(crate) use join::{Cluster, PAIRS, RELATIONS, joined, key_kind};
pub(crate) use node::{PipelineNode, error_of, pipelines, planned, stream};
pub(crate) use order::ordered;
pub(crate) use pass::{Pass, over};
pub(crate) use sort::{cut, united};
pub(crate) use window::windowed;
pub(crate) use yielding::{Yield, stream as yielding, watching};

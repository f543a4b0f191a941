//! Plans of the bulk engine while they are made, and how they are run.
//!
//! `converted` has a plan while it is built, with estimates; `expression` turns expressions into
//! programs, `aggregate`, `join`, `sort` and `window` build operators; `sampled` says how many rows
//! conditions leave, `order` decides in which order tables are joined, and `tree` makes the plan
//! of that. `early` aggregates below joins. `node` has plans that are ready and runs them; `yielding`
//! lets other statements run.
//!
//! The module does not know which plans there are to build: `lower` builds them of bound
//! statements.

mod aggregate;
mod converted;
mod early;
mod explain;
mod expression;
mod join;
mod node;
mod order;
mod ranges;
mod sampled;
mod sort;
mod tree;
mod window;
mod yielding;

pub(crate) use aggregate::{Simple, aggregated, grouped, of_cluster};
pub(crate) use converted::{Converted, filtered, projected, table};
pub(crate) use early::{Early, added_up, early, partial};
pub(crate) use explain::explained;
pub(crate) use expression::{Found, Scope};
pub(crate) use join::{Cluster, RELATIONS, joined, key_kind};
pub(crate) use node::{Pipelines, RunContext, whole};
pub(crate) use order::ordered;
pub(crate) use sort::{cut, united};
pub(crate) use window::windowed;
pub(crate) use yielding::watching;

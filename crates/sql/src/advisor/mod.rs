//! The advisor: what queries ask of tables, how long they will take, and which design
//! would suit a table better.
//!
//! ```text
//! plan ─ uses ─┬─ predict ─ EXPLAIN, ledger
//!              └─ watch ─ record ─ workload ┐
//! table ─ trial (some rows in each design) ─┼─ search ─ advice ─ PILOT, APPLY, UNDO
//!                        heat of its blocks ─┴─ automatic ─ wishes ─ tuple mover
//! ```
//!
//! Prices and the search are in `freestone-model`, which knows no tables.

mod advice;
mod automatic;
mod changes;
mod compared;
mod exchange;
mod foreign;
mod operators;
mod pilot;
mod predict;
mod present;
mod record;
mod report;
mod searched;
mod statements;
mod timing;
mod trial;
mod trials;
mod uses;
mod watch;

pub(crate) use automatic::{Keeper, follow};
pub use operators::operator_costs;
pub(crate) use record::{Known, Record};
pub(crate) use report::{advice, ledger, workload};
pub(crate) use statements::{columns, run};
pub(crate) use watch::{Foreseen, Watched, Watching};

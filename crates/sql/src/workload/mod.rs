//! The workload: what queries ask of tables, how long they will take, and what designs of tables
//! were found to take.
//!
//! ```text
//! plan ─ uses ─┬─ predict ─ EXPLAIN, ledger
//!              └─ watch ─ record ─ workload ┐
//! table ─ trial (some rows in each design) ─┼─ search ─ advice ─ PILOT, APPLY, UNDO
//!                        heat of its blocks ─┴─ automatic ─ wishes ─ tuple mover
//! ```
//!
//! The search, and the statements that act on advice, are in [`advisor`](crate::advisor).

mod advice;
mod automatic;
mod changes;
mod clock;
mod foreign;
mod predict;
mod present;
mod record;
mod tables;
mod timing;
mod trial;
mod trials;
mod uses;
mod watch;

pub(crate) use advice::{Advice, Change, described};
pub(crate) use automatic::{Keeper, follow};
pub(crate) use changes::options_in;
pub(crate) use present::{design_of, shown};
pub(crate) use record::{Known, Record};
pub(crate) use tables::{advice, ledger, rounded, workload};
pub(crate) use trial::{Rows, blocks_of};
pub(crate) use uses::uses;
pub(crate) use watch::{Foreseen, Watched, Watching};

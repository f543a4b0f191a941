//! The advisor's statements: ADVISE, PILOT, APPLY and UNDO.
//!
//! What queries ask of tables and which design would suit them better is in
//! [`workload`](crate::workload); prices and the search are in `freestone-model`, which knows no
//! tables.

mod compared;
mod exchange;
mod operators;
mod pilot;
mod report;
mod searched;
mod statements;

pub use operators::operator_costs;
pub(crate) use statements::columns;

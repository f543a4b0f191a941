//! The advisor's statements: ADVISE, PILOT, APPLY and UNDO.
//!
//! The module [`workload`](crate::workload) has what queries ask of tables, and advice; prices and the
//! search are in `freestone-model`, which knows no tables.

mod compared;
mod exchange;
mod operators;
mod pilot;
mod report;
mod searched;
mod statements;

pub use operators::operator_costs;
pub(crate) use statements::columns;

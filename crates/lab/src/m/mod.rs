//! M: the MonetDB team's note on column stores beside PostgreSQL (2014).
//!
//! TPC-H over Freestone's columns and rows, and over PostgreSQL if it is installed.

mod cold;
mod m2;
mod systems;

use crate::experiment::Experiment;

/// The experiments of the document.
pub const EXPERIMENTS: &[&Experiment] = &[&m2::EXPERIMENT];

/// Where PostgreSQL's programs are, or why it cannot be used.
pub(crate) use freestone_postgres::usable as postgres;

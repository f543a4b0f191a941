//! M: the MonetDB team's note on column stores beside PostgreSQL (2014).
//!
//! TPC-H over Freestone's columns and rows, and over PostgreSQL if it is installed.

mod cold;
mod installed;
mod m2;
mod postgres;
mod systems;

use crate::experiment::Experiment;

/// The experiments of the document.
pub const EXPERIMENTS: &[&Experiment] = &[&m2::EXPERIMENT];

/// Where PostgreSQL's programs are, or why it cannot be used.
pub(crate) use installed::usable as postgres;

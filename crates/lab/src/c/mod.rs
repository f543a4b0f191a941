//! C: a column store with explicit record ids, and what its performance depends on
//! (Nowosielski, Kowalski and Kulczycki).
//!
//! Freestone's layout `dsm` has a relation of record ids and values for each column, absent
//! values take no space, and columns come and go freely (C1). The document's own program is
//! measured beside it.

mod cp;
mod ct1;
mod ct2;
mod ct3;
mod family;
mod replica;
mod run;
mod study;
mod workload;

pub use run::{Look, Measured, Report, codb};
pub use workload::{Entropy, EntrySize, Workload};

use crate::experiment::Experiment;

/// The experiments of the document, in its order.
pub const EXPERIMENTS: &[&Experiment] = &[
    &ct1::EXPERIMENT,
    &ct2::EXPERIMENT,
    &ct3::EXPERIMENT,
    &cp::EXPERIMENT,
];

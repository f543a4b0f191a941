//! C: a column store with explicit record ids, and what its performance depends on
//! (Nowosielski, Kowalski and Kulczycki).
//!
//! The store is Freestone's layout `dsm`, where each column is a relation of record ids and
//! values, absent values take no space, and columns come and go freely (C1).

mod cp;
mod ct1;
mod ct2;
mod ct3;
mod family;
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

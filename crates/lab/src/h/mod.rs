//! H: Harizopoulos, Liang, Abadi and Madden, Performance Tradeoffs in Read-Optimized
//! Databases (VLDB 2006).
//!
//! CPU time is measured with Freestone's scanners over blocks in memory; disks are
//! simulated, as fast beside this machine's processor as the document's beside theirs.

mod claims;
mod disks;
mod h10;
mod h11;
mod h2;
mod h6;
mod h7;
mod h8;
mod h9;
mod ht1;
mod machine;
mod random;
mod setup;
mod stored;
mod sweep;
mod tables;

use crate::experiment::Experiment;

/// The experiments of H, in the order of its figures.
pub const EXPERIMENTS: &[&Experiment] = &[
    &h2::EXPERIMENT,
    &ht1::EXPERIMENT,
    &h6::EXPERIMENT,
    &h7::EXPERIMENT,
    &h8::EXPERIMENT,
    &h9::EXPERIMENT,
    &h10::EXPERIMENT,
    &h11::EXPERIMENT,
];

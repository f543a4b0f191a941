//! Chasseur and Patel, "Design and Evaluation of Storage Organizations for
//! Read-Optimized Main Memory Databases" (VLDB 2013): the document Q.
//!
//! [`tables`] makes the tables, [`organisation`] stores them, [`query`] and [`output`]
//! select from them, [`replica`] does both as the paper's own program does, [`race`]
//! measures; the figures are a file each.

mod alone;
mod clock;
mod fig1;
mod fig10;
mod fig12;
mod fig14;
mod fig15;
mod fig2;
mod fig3;
mod fig4;
mod fig6;
mod fig8;
mod figure;
mod index_build;
mod load;
mod ordering;
mod organisation;
mod output;
mod query;
mod race;
mod replica;
mod sweep;
mod tables;

use crate::experiment::Experiment;

/// Its experiments, in the order of the figures.
pub const EXPERIMENTS: &[&Experiment] = &[
    &fig1::EXPERIMENT,
    &fig2::EXPERIMENT,
    &fig3::EXPERIMENT,
    &fig4::EXPERIMENT,
    &fig6::EXPERIMENT,
    &fig8::EXPERIMENT,
    &fig10::EXPERIMENT,
    &fig12::EXPERIMENT,
    &fig14::EXPERIMENT,
    &fig15::STRINGS,
    &fig15::WIDE,
    &load::EXPERIMENT,
    &index_build::EXPERIMENT,
    &ordering::EXPERIMENT,
];

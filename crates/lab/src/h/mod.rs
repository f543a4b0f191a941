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
mod h2_claims;
mod h6;
mod h7;
mod h8;
mod h9;
mod ht1;
mod replica;
mod setup;
mod stored;
mod sweep;
mod system;
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
    &system::EXPERIMENT,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Outcome, Verdict};
    use crate::setting::{Scale, Setting};

    /// Runs an experiment with hardly any tuples.
    fn tiny(experiment: &Experiment) -> Outcome {
        let setting = Setting {
            scale: Scale::Quick,
            seed: 1,
            scratch: std::env::temp_dir(),
            threads: 1,
            memory: 1 << 20,
            sql: None,
        };
        assert!((experiment.need)(&setting).memory < 2 << 20);
        (experiment.run)(&setting).unwrap()
    }

    /// What disks decide does not depend on how long this machine computes.
    #[test]
    fn prefetching_and_competition_are_as_in_the_paper() {
        for experiment in [&h10::EXPERIMENT, &h11::EXPERIMENT] {
            let outcome = tiny(experiment);
            for claim in outcome.claims.iter().take(2) {
                assert_eq!(claim.verdict, Verdict::Holds, "{claim:?}");
            }
            for plot in &outcome.plots {
                assert!(plot.series.iter().all(|series| series.points.len() == 7));
            }
        }
    }

    #[test]
    fn tables_have_a_cell_for_each_column() {
        for experiment in [&h2::EXPERIMENT, &ht1::EXPERIMENT, &system::EXPERIMENT] {
            let outcome = tiny(experiment);
            for table in &outcome.tables {
                let columns = table.columns.len();
                assert!(
                    table.rows.iter().all(|row| row.len() == columns),
                    "{table:?}"
                );
            }
        }
    }
}

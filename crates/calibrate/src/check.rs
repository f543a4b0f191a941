//! How far off the model is, on selections that nothing was fitted on.

use crate::drawn::measured;
use crate::{Random, Result};
use freestone_model::{Costs, Machine, Spread};
use std::path::Path;

/// A selection, as predicted and as measured.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Selections of the same number ask the same of the same rows.
    pub query: usize,
    /// What was selected.
    pub what: String,
    /// Layout and scanner.
    pub layout: String,
    /// Whether blocks came from disk.
    pub cold: bool,
    /// Seconds that the model gives.
    pub predicted: f64,
    /// Seconds that it took, the least of some runs.
    pub measured: f64,
}

/// How far off predictions are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Half of the predictions are off by no more, as a share of what was measured.
    pub median: f64,
    /// Nine of ten are.
    pub ninth: f64,
    /// Pairs of layouts for one query that differ by more than a fifth.
    pub pairs: usize,
    /// Those of them of which the faster one was named.
    pub named: usize,
}

impl Errors {
    /// Errors of selections.
    pub fn of(checked: &[Checked]) -> Errors {
        let Spread { median, ninth } = Spread::of(checked.iter().map(Checked::error));
        let (mut pairs, mut named) = (0, 0);
        for (number, one) in checked.iter().enumerate() {
            let others = checked[number + 1..].iter();
            for other in others.filter(|other| other.query == one.query && other.cold == one.cold) {
                let ratio = one.measured / other.measured;
                if !(1.0 / 1.2..=1.2).contains(&ratio) {
                    pairs += 1;
                    let predicted = one.predicted / other.predicted;
                    named += usize::from((predicted > 1.0) == (ratio > 1.0));
                }
            }
        }
        Errors {
            median,
            ninth,
            pairs,
            named,
        }
    }
}

impl Checked {
    /// How far off the prediction is, as a share of what was measured.
    pub fn error(&self) -> f64 {
        (self.predicted / self.measured - 1.0).abs()
    }
}

/// Draws queries, runs each on every layout, from memory and from the files of a
/// table in `directory`; `each` sees them one by one.
///
/// # Errors
/// Those of making and reading tables.
pub fn check(
    machine: &Machine,
    costs: &Costs,
    queries: usize,
    seed: u64,
    directory: &Path,
    each: &mut dyn FnMut(&Checked),
) -> Result<Vec<Checked>> {
    let mut random = Random::new(seed);
    let mut all = Vec::new();
    for query in 0..queries {
        for measured in measured(&mut random, directory)? {
            let (hot, more) = measured.predicted(machine, costs);
            let checked = Checked {
                query,
                predicted: hot + more,
                what: measured.what,
                layout: measured.selection.layout,
                cold: measured.cold,
                measured: measured.seconds,
            };
            each(&checked);
            all.push(checked);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(query: usize, layout: &str, predicted: f64, measured: f64) -> Checked {
        Checked {
            query,
            what: String::new(),
            layout: layout.to_owned(),
            cold: false,
            predicted,
            measured,
        }
    }

    /// Errors of 10 to 100 %; of query 0 rows are rightly named the slower, of query 1
    /// wrongly, those of query 2 are too close to count.
    #[test]
    fn errors_are_shares_of_what_was_measured() {
        let all = [
            checked(0, "row", 2.2, 2.0),
            checked(0, "column", 0.8, 1.0),
            checked(1, "row", 1.4, 2.0),
            checked(1, "column", 1.5, 1.0),
            checked(2, "row", 1.4, 1.0),
            checked(2, "column", 2.2, 1.1),
        ];
        let errors = Errors::of(&all);
        assert!((errors.median - 0.3).abs() < 1e-9, "{errors:?}");
        assert!((errors.ninth - 1.0).abs() < 1e-9, "{errors:?}");
        assert_eq!((errors.pairs, errors.named), (2, 1));
        assert_eq!(Errors::of(&[]).pairs, 0);
    }
}

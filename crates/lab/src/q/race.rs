//! Measuring organisations against each other: in turns, so that what disturbs the
//! machine disturbs all of them.

use super::organisation::{Organisation, Stored};
use super::output::{Answer, Output};
use super::query::{Access, Query, run};
use super::tables::{Generator, TableKind};
use crate::error::{Error, Result};
use crate::outcome::{Point, Series};
use crate::setting::Setting;

/// A table and a way to find rows in it.
#[derive(Clone, Debug)]
pub struct Contender<'a> {
    /// What the legend calls it.
    pub name: String,
    /// The table.
    pub stored: &'a Stored,
    /// How rows are found.
    pub access: Access,
}

impl<'a> Contender<'a> {
    /// Of these three.
    pub fn new(name: &str, stored: &'a Stored, access: Access) -> Contender<'a> {
        Contender {
            name: name.into(),
            stored,
            access,
        }
    }
}

/// What all races of an experiment share.
#[derive(Debug)]
pub struct Lab {
    /// Seed of tables and projections.
    pub seed: u64,
    /// Rows of a table, unless an experiment says otherwise.
    pub rows: u64,
    /// The table.
    pub kind: TableKind,
    /// Threads of a query.
    pub threads: usize,
    /// Turns: each is a sample.
    pub turns: usize,
    outputs: Vec<Output>,
}

/// Most runs of a sample: the quickest of them counts.
const RUNS: usize = 5;
/// Seconds after which a sample has no further runs, from the second on.
const ENOUGH: f64 = 0.03;

impl Lab {
    /// For an experiment that keeps `tables` tables at once. The number of rows is the
    /// paper's where memory allows it.
    pub fn new(setting: &Setting, kind: TableKind, tables: u64) -> Lab {
        let full = full_rows(setting, kind, tables);
        // Files of one block for each thread, of the most rows that a block has.
        let quick = (2_u64 << 20) * 40 / kind.row_bytes() as u64;
        Lab {
            seed: setting.seed,
            rows: setting.by_scale(quick.min(full), full),
            kind,
            threads: setting.threads.max(1),
            turns: setting.repetitions(),
            outputs: Vec::new(),
        }
    }

    /// The generator of its table.
    pub fn generator(&self) -> Generator {
        Generator {
            kind: self.kind,
            seed: self.seed,
        }
    }

    /// Its table, organised.
    ///
    /// # Errors
    /// Those of writing blocks.
    pub fn load(&self, organisation: &Organisation) -> Result<Stored> {
        Stored::load(self.generator(), self.rows, organisation, self.threads)
    }

    /// Rows of a block of so many bytes of raw tuples.
    pub fn rows_of(&self, bytes: usize) -> usize {
        bytes / self.kind.row_bytes()
    }

    /// Runs one query by each contender, in turns; seconds of each, turn by turn.
    ///
    /// # Errors
    /// Those of the queries; that two contenders do not agree.
    pub fn race(
        &mut self,
        contenders: &[Contender<'_>],
        threads: usize,
        query: impl Fn(usize) -> Query,
    ) -> Result<Vec<Times>> {
        self.outputs
            .resize_with(threads.max(self.outputs.len()), Output::default);
        let mut times = vec![Times(Vec::new()); contenders.len()];
        for turn in 0..self.turns {
            let query = query(turn);
            let mut agreed: Option<Answer> = None;
            for (contender, times) in contenders.iter().zip(&mut times) {
                let (answer, seconds) = self.sample(contender, threads, &query)?;
                let expected = *agreed.get_or_insert(answer);
                if answer != expected {
                    let message = format!(
                        "{} found {answer:?} where others found {expected:?}",
                        contender.name
                    );
                    return Err(Error::new(message, "This is a bug: please report it."));
                }
                times.0.push(seconds);
            }
        }
        Ok(times)
    }

    /// A run to warm up, and the best of some more.
    fn sample(
        &mut self,
        contender: &Contender<'_>,
        threads: usize,
        query: &Query,
    ) -> Result<(Answer, f64)> {
        let (stored, access) = (contender.stored, contender.access);
        let mut once = || run(stored, query, access, threads, &mut self.outputs);
        let (_, answer) = once()?;
        let (mut best, mut spent) = (f64::INFINITY, 0.0);
        for number in 0..RUNS {
            if number >= 2 && spent > ENOUGH {
                break;
            }
            let seconds = once()?.0.as_secs_f64();
            best = f64::min(best, seconds);
            spent += seconds;
        }
        Ok((answer, best))
    }

    /// Races one query after the other: `query(x, turn)` for each of `xs`.
    ///
    /// # Errors
    /// As [`Lab::race`].
    pub fn sweep(
        &mut self,
        contenders: &[Contender<'_>],
        xs: &[f64],
        query: impl Fn(f64, usize) -> Query,
    ) -> Result<Sweep> {
        let threads = self.threads;
        let mut sweep = Sweep {
            names: contenders.iter().map(|each| each.name.clone()).collect(),
            xs: xs.to_vec(),
            times: vec![Vec::new(); contenders.len()],
        };
        for x in xs {
            let times = self.race(contenders, threads, |turn| query(*x, turn))?;
            for (all, times) in sweep.times.iter_mut().zip(times) {
                all.push(times);
            }
        }
        Ok(sweep)
    }

    /// A sentence on what was measured.
    pub fn setup(&self, more: &str) -> String {
        format!(
            "{:?}, {} rows (the paper has {}), {} threads, {} samples for each point, each the \
             best of up to {RUNS} runs after one to warm up, the mean of what \
             its threads work, without what they wait for a core; columns to project are drawn anew for each sample. \
             {more}",
            self.kind,
            self.rows,
            self.kind.paper_rows(),
            self.threads,
            self.turns,
        )
    }
}

/// Rows of the paper, or fewer if so many tables and their results must fit into memory.
fn full_rows(setting: &Setting, kind: TableKind, tables: u64) -> u64 {
    // A table beside its files, with an index and a result: about two and a half times
    // its tuples.
    let bytes = kind.row_bytes() as u64 * 5 / 2 * tables.max(1);
    kind.paper_rows()
        .min(setting.memory / bytes.max(1))
        .max(1 << 16)
}

/// Bytes of memory for an experiment with so many tables at once.
pub fn memory(setting: &Setting, kind: TableKind, tables: u64) -> u64 {
    let rows = Lab::new(setting, kind, tables).rows;
    rows * kind.row_bytes() as u64 * 5 / 2 * tables
}

/// Seconds, a sample for each turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times(pub Vec<f64>);

impl Times {
    /// The middle one.
    pub fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// As a point, in milliseconds.
    pub fn point(&self, x: f64) -> Point {
        let samples: Vec<f64> = self.0.iter().map(|seconds| seconds * 1e3).collect();
        Point::of(x, &samples)
    }
}

/// Times of several contenders over several values of one parameter.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// The contenders.
    pub names: Vec<String>,
    /// The values.
    pub xs: Vec<f64>,
    /// Times by contender, then by value.
    pub times: Vec<Vec<Times>>,
}

impl Sweep {
    /// The curves, in milliseconds.
    pub fn series(&self) -> Vec<Series> {
        let series = self.names.iter().zip(&self.times);
        series
            .map(|(name, times)| Series {
                name: name.clone(),
                points: times
                    .iter()
                    .zip(&self.xs)
                    .map(|(times, x)| times.point(*x))
                    .collect(),
            })
            .collect()
    }

    /// The median times of a contender by value; none if it is not there.
    pub fn medians(&self, contender: &str) -> Vec<(f64, f64)> {
        let number = self.names.iter().position(|known| known == contender);
        let times = number.and_then(|number| self.times.get(number));
        let medians = times.into_iter().flatten().map(Times::median);
        self.xs.iter().copied().zip(medians).collect()
    }

    /// The median times of `contender` over those of `other`, value by value.
    pub fn ratios(&self, contender: &str, other: &str) -> Ratios {
        let pairs = self.medians(contender).into_iter().zip(self.medians(other));
        Ratios(
            pairs
                .map(|((x, mine), (_, theirs))| (x, mine / theirs))
                .collect(),
        )
    }

    /// Seconds that a contender takes more for each step of one, from the first value
    /// that is not 0 to the last.
    pub fn slope(&self, contender: &str) -> f64 {
        let medians = self.medians(contender);
        let first = medians.iter().find(|(x, _)| *x > 0.0);
        match (first, medians.last()) {
            (Some((x, low)), Some((y, high))) if y > x => (high - low) / (y - x),
            _ => f64::NAN,
        }
    }
}

/// How long one takes as a share of another's time, by the value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratios(pub Vec<(f64, f64)>);

impl Ratios {
    /// Those of some values.
    pub fn of(&self, wanted: impl Fn(f64) -> bool) -> Ratios {
        let some = self.0.iter().copied().filter(|(x, _)| wanted(*x));
        Ratios(some.collect())
    }

    /// Whether all are at most this.
    pub fn at_most(&self, most: f64) -> bool {
        self.0.iter().all(|(_, ratio)| *ratio <= most)
    }

    /// Whether all are at least this.
    pub fn at_least(&self, least: f64) -> bool {
        self.0.iter().all(|(_, ratio)| *ratio >= least)
    }

    /// Whether all are within `tolerance` of 1, either way.
    pub fn about_one(&self, tolerance: f64) -> bool {
        self.at_most(1.0 + tolerance) && self.at_least(1.0 / (1.0 + tolerance))
    }

    /// Their geometric mean.
    pub fn mean(&self) -> f64 {
        let sum: f64 = self.0.iter().map(|(_, ratio)| ratio.ln()).sum();
        (sum / self.0.len().max(1) as f64).exp()
    }
}

impl std::fmt::Display for Ratios {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (number, (x, ratio)) in self.0.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            write!(f, "{comma}{ratio:.2} at {x}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_medians() {
        let sweep = Sweep {
            names: vec!["a".into(), "b".into()],
            xs: vec![1.0, 2.0],
            times: vec![
                vec![Times(vec![9.0, 2.0, 1.0]), Times(vec![3.0])],
                vec![Times(vec![4.0, 4.0, 5.0]), Times(vec![3.0])],
            ],
        };
        let ratios = sweep.ratios("a", "b");
        assert_eq!(ratios, Ratios(vec![(1.0, 0.5), (2.0, 1.0)]));
        assert!(ratios.at_most(1.0) && !ratios.at_most(0.9));
        assert!(ratios.of(|x| x > 1.0).about_one(0.0) && !ratios.about_one(0.5));
        assert_eq!(ratios.to_string(), "0.50 at 1, 1.00 at 2");
        assert_eq!(sweep.ratios("a", "c").0, []);
        assert_eq!(sweep.slope("b"), -1.0);
    }
}

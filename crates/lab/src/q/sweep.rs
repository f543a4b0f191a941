//! Times of several contenders over a parameter, and how they compare.

use crate::outcome::{Point, Series};

/// What the name of a replica's curve ends with.
pub const AS_IN_THE_PAPER: &str = ", as in the paper";

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
    /// What the replica shows, and what Freestone shows, under the same names.
    pub fn sides(&self) -> [Sweep; 2] {
        [true, false].map(|is_replica| {
            let mut side = Sweep {
                xs: self.xs.clone(),
                ..Sweep::default()
            };
            for (name, times) in self.names.iter().zip(&self.times) {
                let short = name.strip_suffix(AS_IN_THE_PAPER);
                if short.is_some() == is_replica {
                    side.names.push(short.unwrap_or(name).into());
                    side.times.push(times.clone());
                }
            }
            side
        })
    }

    /// The opposite: curves of the replica beside Freestone's.
    pub fn of_sides([replica, own]: &[Sweep; 2]) -> Sweep {
        let named = replica.names.iter();
        let named = named.map(|name| format!("{name}{AS_IN_THE_PAPER}"));
        Sweep {
            names: own.names.iter().cloned().chain(named).collect(),
            xs: own.xs.clone(),
            times: [&own.times[..], &replica.times[..]].concat(),
        }
    }

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
        let medians = self.times_of(contender).map(Times::median);
        self.xs.iter().copied().zip(medians).collect()
    }

    /// The time of `contender` over that of `other`, value by value: the middle one of all
    /// turns, as both have the same query in one turn, and another in the next.
    pub fn ratios(&self, contender: &str, other: &str) -> Ratios {
        let pairs = self.times_of(contender).zip(self.times_of(other));
        let ratios = pairs.map(|(mine, theirs)| {
            let turns = mine.0.iter().zip(&theirs.0);
            Times(turns.map(|(mine, theirs)| mine / theirs).collect()).median()
        });
        Ratios(self.xs.iter().copied().zip(ratios).collect())
    }

    /// The times of a contender, value by value; none if it is not there.
    fn times_of(&self, contender: &str) -> impl Iterator<Item = &Times> {
        let number = self.names.iter().position(|known| known == contender);
        let times = number.and_then(|number| self.times.get(number));
        times.into_iter().flatten()
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

/// Times that are no further apart than by this factor count as alike: medians of the same
/// program differ so much from run to run.
const ALIKE: f64 = 1.05;

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

    /// Whether none takes longer: by no more than two runs of one program may differ.
    pub fn no_longer(&self) -> bool {
        self.at_most(ALIKE)
    }

    /// Whether none takes less time, in the same sense.
    pub fn no_shorter(&self) -> bool {
        self.at_least(1.0 / ALIKE)
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
    fn replicas_stand_beside_freestone_and_apart() {
        let side = |name: &str, seconds| Sweep {
            names: vec![name.into()],
            xs: vec![1.0],
            times: vec![vec![Times(vec![seconds])]],
        };
        let both = Sweep::of_sides(&[side("a", 1.0), side("b", 2.0)]);
        assert_eq!(both.names, ["b", "a, as in the paper"]);
        let [replica, own] = both.sides();
        assert_eq!(replica.medians("a"), [(1.0, 1.0)]);
        assert_eq!(own.medians("b"), [(1.0, 2.0)]);
        assert!(own.medians("a").is_empty() && replica.names.len() == 1);
    }

    #[test]
    fn ratios_are_those_of_one_turn() {
        let sweep = Sweep {
            names: vec!["a".into(), "b".into()],
            xs: vec![1.0, 2.0],
            times: vec![
                vec![Times(vec![9.0, 3.0, 1.0]), Times(vec![3.0])],
                // Of medians the first would be 3 / 4.
                vec![Times(vec![18.0, 4.0, 2.0]), Times(vec![3.0])],
            ],
        };
        let ratios = sweep.ratios("a", "b");
        assert_eq!(ratios, Ratios(vec![(1.0, 0.5), (2.0, 1.0)]));
        assert!(ratios.at_most(1.0) && !ratios.at_most(0.9));
        assert!(ratios.no_longer() && !ratios.no_shorter());
        assert!(ratios.of(|x| x > 1.0).about_one(0.0) && !ratios.about_one(0.5));
        assert_eq!(ratios.to_string(), "0.50 at 1, 1.00 at 2");
        assert_eq!(sweep.ratios("a", "c").0, []);
        assert_eq!(sweep.slope("b"), -1.0);
    }
}

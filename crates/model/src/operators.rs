//! What operators above scans cost, learnt from the queries that were run.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rows after which what was learnt before counts half.
const HALF_LIFE: f64 = 50e6;

/// Seconds of operators for each row that comes in, and of scans for each second that
/// the model gives them: both as queries have shown so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Learnt {
    operators: BTreeMap<String, Sums>,
    scans: BTreeMap<String, Sums>,
}

/// What was expected and what came, recent ones counting more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Sums {
    expected: f64,
    actual: f64,
}

/// Nanoseconds of one thread for each row that comes in, where nobody has measured them:
/// TPC-H on one core of 2024.
const USUAL: [(&str, f64); 9] = [
    ("filter", 2.0),
    ("project", 2.0),
    ("aggregate", 8.0),
    ("join", 10.0),
    ("sort", 40.0),
    ("top", 4.0),
    ("window", 40.0),
    ("limit", 0.5),
    ("union", 0.5),
];

/// Nanoseconds of one thread for each row that comes into an operator of any machine; none
/// of one that nobody knows.
pub(crate) fn usual(operator: &str) -> f64 {
    let usual = USUAL.iter().find(|(name, _)| *name == operator);
    usual.map_or(0.0, |(_, nanoseconds)| *nanoseconds)
}

impl Learnt {
    /// Seconds of one thread that an operator takes for so many rows; as long as nothing is
    /// learnt, `usual` nanoseconds for each.
    pub fn seconds(&self, operator: &str, usual: f64, rows: f64) -> f64 {
        let usual = usual * 1e-9;
        match self.operators.get(operator) {
            // As if a million rows had taken the usual time.
            Some(sums) => rows * (sums.actual + usual * 1e6) / (sums.expected + 1e6),
            None => rows * usual,
        }
    }

    /// How many times as long scans of a layout took as the model gave them; 1 until
    /// something is learnt.
    pub fn factor(&self, layout: &str) -> f64 {
        let sums = self.scans.get(layout).copied().unwrap_or_default();
        // As if ten milliseconds had been right.
        (sums.actual + 0.01) / (sums.expected + 0.01)
    }

    /// Nanoseconds of one thread for each row that comes into an operator, as learnt, by name.
    pub fn operators(&self) -> BTreeMap<String, f64> {
        let all = self.operators.iter();
        let learnt = all.filter(|(_, sums)| sums.expected > 0.0);
        // Tenths: no more is known.
        let each = |sums: &Sums| (sums.actual / sums.expected * 1e10).round() / 10.0;
        learnt
            .map(|(name, sums)| (name.clone(), each(sums)))
            .collect()
    }

    /// An operator took `seconds` of all threads together for so many rows.
    pub fn operator(&mut self, operator: &str, rows: f64, seconds: f64) {
        let sums = self.operators.entry(operator.to_owned()).or_default();
        sums.add(rows, seconds, rows / HALF_LIFE);
    }

    /// A scan took `seconds` of all threads together, for which the model gave `expected`,
    /// over so many rows.
    pub fn scan(&mut self, layout: &str, rows: f64, expected: f64, seconds: f64) {
        let sums = self.scans.entry(layout.to_owned()).or_default();
        sums.add(expected, seconds, rows / HALF_LIFE);
    }
}

impl Sums {
    fn add(&mut self, expected: f64, actual: f64, half_lives: f64) {
        let factor = 0.5f64.powf(half_lives);
        self.expected = self.expected * factor + expected;
        self.actual = self.actual * factor + actual;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_learnt_from_runs() {
        let mut learnt = Learnt::default();
        assert!((learnt.seconds("sort", 40.0, 1e6) - 0.04).abs() < 1e-12);
        assert_eq!((usual("sort"), usual("unheard of")), (40.0, 0.0));
        (0..40).for_each(|_| learnt.operator("sort", 20e6, 20e6 * 100e-9));
        let seconds = learnt.seconds("sort", 40.0, 1e6);
        assert_eq!(learnt.operators(), BTreeMap::from([("sort".into(), 100.0)]));
        assert!((seconds - 0.1).abs() < 0.002, "{seconds}");
        // What changes is followed.
        (0..40).for_each(|_| learnt.operator("sort", 20e6, 20e6 * 10e-9));
        assert!((learnt.seconds("sort", 40.0, 1e6) - 0.01).abs() < 0.001);
    }

    #[test]
    fn scans_are_corrected() {
        let mut learnt = Learnt::default();
        assert_eq!(learnt.factor("row"), 1.0);
        (0..100).for_each(|_| learnt.scan("row", 1e6, 0.01, 0.02));
        assert!((learnt.factor("row") - 2.0).abs() < 0.02);
        assert_eq!(learnt.factor("column"), 1.0);
    }
}

//! What an experiment found.

use serde::{Deserialize, Serialize};

/// What one experiment measured, and what becomes of the document's claims.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// What was measured, in a sentence: sizes, threads, repetitions, what is virtual.
    pub setup: String,
    /// Plots, in the document's order.
    pub plots: Vec<Plot>,
    /// Tables, in the document's order.
    pub tables: Vec<Table>,
    /// The document's claims.
    pub claims: Vec<Claim>,
}

/// Curves over one horizontal axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What it is and in which unit, as `selected bytes per tuple`.
    pub label: String,
    /// Whether it is logarithmic.
    pub logarithmic: bool,
    /// Names of the places 0, 1, 2 … if it has no scale.
    pub names: Vec<String>,
}

/// A curve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// What the legend calls it.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<Point>,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Where.
    pub x: f64,
    /// The mean of the repetitions.
    pub mean: f64,
    /// Their standard deviation; 0 for what is counted or computed.
    pub deviation: f64,
}

/// Rows of text and numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// Names of its columns.
    pub columns: Vec<String>,
    /// Its rows, each with a cell for each column.
    pub rows: Vec<Vec<String>>,
}

/// A claim of the document, beside what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// What the document says, with its numbers.
    pub says: String,
    /// Whether it holds here.
    pub verdict: Verdict,
    /// What was measured that decides it; why not, if it does not hold or cannot be tested.
    pub because: String,
}

/// What becomes of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The measurement agrees with it.
    Holds,
    /// The measurement does not.
    DoesNotHold,
    /// This machine cannot tell.
    CannotBeTested,
}

impl Claim {
    /// A claim that was put to the test.
    pub fn tested(says: impl Into<String>, holds: bool, because: impl Into<String>) -> Claim {
        Claim {
            says: says.into(),
            verdict: match holds {
                true => Verdict::Holds,
                false => Verdict::DoesNotHold,
            },
            because: because.into(),
        }
    }

    /// A claim about the document's own program, put to the test on a replica of it, and
    /// whether it would hold for Freestone: each with what was measured.
    pub fn replicated(
        says: impl Into<String>,
        replica: (bool, String),
        freestone: (bool, String),
    ) -> Claim {
        let ((holds, measured), (holds_too, of_freestone)) = (replica, freestone);
        let for_it = match (holds, holds_too) {
            (true, true) => "For Freestone it holds, too",
            (false, true) => "For Freestone it would hold",
            (_, false) => "For Freestone it would not hold",
        };
        Claim::tested(says, holds, format!("{measured} {for_it}: {of_freestone}"))
    }

    /// A claim that cannot be tested here.
    pub fn untested(says: impl Into<String>, because: impl Into<String>) -> Claim {
        Claim {
            says: says.into(),
            verdict: Verdict::CannotBeTested,
            because: because.into(),
        }
    }
}

impl Point {
    /// Mean and deviation of repetitions, of which there is at least one.
    pub fn of(x: f64, samples: &[f64]) -> Point {
        let count = samples.len().max(1) as f64;
        let mean = samples.iter().sum::<f64>() / count;
        let squares = samples.iter().map(|sample| (sample - mean).powi(2));
        let deviation = match samples.len() {
            0 | 1 => 0.0,
            many => (squares.sum::<f64>() / (many - 1) as f64).sqrt(),
        };
        Point { x, mean, deviation }
    }

    /// A point that is counted or computed.
    pub fn exact(x: f64, y: f64) -> Point {
        Point {
            x,
            mean: y,
            deviation: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_decide_claims() {
        let claim = Claim::replicated("Says.", (true, "A.".into()), (false, "b.".into()));
        assert_eq!(claim.verdict, Verdict::Holds);
        assert_eq!(claim.because, "A. For Freestone it would not hold: b.");
        let claim = Claim::replicated("Says.", (false, "A.".into()), (true, "b.".into()));
        assert_eq!(claim.verdict, Verdict::DoesNotHold);
        assert_eq!(claim.because, "A. For Freestone it would hold: b.");
    }

    #[test]
    fn points_have_mean_and_deviation() {
        let point = Point::of(2.0, &[1.0, 2.0, 3.0]);
        assert_eq!((point.x, point.mean, point.deviation), (2.0, 2.0, 1.0));
        assert_eq!(Point::of(1.0, &[4.0]).deviation, 0.0);
    }
}

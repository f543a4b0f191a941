//! Measured points, and what lies between them.

use serde::{Deserialize, Serialize};

/// Points in ascending order of their place, each above zero there.
///
/// Between two of them a value is on the line that joins them where both axes are
/// logarithmic; beyond the outermost it stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Curve(Vec<(f64, f64)>);

impl Curve {
    /// A curve through points, in any order.
    pub fn through(points: impl IntoIterator<Item = (f64, f64)>) -> Curve {
        let mut points: Vec<(f64, f64)> = points.into_iter().collect();
        points.retain(|(x, y)| *x > 0.0 && y.is_finite());
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        Curve(points)
    }

    /// The same everywhere.
    pub fn flat(value: f64) -> Curve {
        Curve(vec![(1.0, value)])
    }

    /// Its value at a place; 0 of a curve without points.
    pub fn at(&self, x: f64) -> f64 {
        let above = self.0.partition_point(|(place, _)| *place < x);
        match (self.0.get(above.wrapping_sub(1)), self.0.get(above)) {
            (Some(low), Some(high)) => between(*low, *high, x),
            (Some(only), None) | (None, Some(only)) => only.1,
            (None, None) => 0.0,
        }
    }
}

fn between(low: (f64, f64), high: (f64, f64), x: f64) -> f64 {
    let part = (x / low.0).ln() / (high.0 / low.0).ln();
    match low.1 > 0.0 && high.1 > 0.0 {
        true => (low.1.ln() + (high.1 / low.1).ln() * part).exp(),
        // What could not be told from nothing has no logarithm.
        false => low.1 + (high.1 - low.1) * (x - low.0) / (high.0 - low.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_met_and_joined() {
        let curve = Curve::through([(0.01, 1.0), (1.0, 100.0)]);
        assert_eq!(curve.at(0.001), 1.0);
        assert!((curve.at(0.1) - 10.0).abs() < 1e-9);
        assert!((curve.at(1.0) - 100.0).abs() < 1e-9);
        assert_eq!(curve.at(2.0), 100.0);
        assert_eq!(Curve::default().at(1.0), 0.0);
        let from_nothing = Curve::through([(1.0, 0.0), (3.0, 2.0)]);
        assert!((from_nothing.at(2.0) - 1.0).abs() < 1e-12);
    }
}

//! What a sum of costs is off by, learnt from selections of all sorts.
//!
//! Costs are measured one by one, so their sum leaves out what they do to each other in
//! caches and in the processor. How much that is follows a few traits of a selection.

use crate::selection::Selection;
use serde::{Deserialize, Serialize};

/// What a selection is told apart by: one for all, then logarithms of the columns that
/// are read, of the share of the rows, and of the bytes of a tuple.
const TRAITS: usize = 4;
/// A correction is from one through this to this.
const MOST: f64 = 3.0;
/// Points that are further off than this, as logarithms, count by their distance and not
/// by its square.
const NEAR: f64 = 0.05;
/// How strongly weights are drawn to zero, in points.
const RIDGE: f64 = 0.5;
/// Rounds of weighing points anew.
const ROUNDS: usize = 30;

/// A factor of the cost of a selection, by its traits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Correction {
    weights: [f64; TRAITS],
}

impl Correction {
    /// The correction that is least far from points, each a selection, how many times
    /// what was predicted it took, and how much it counts.
    pub fn through(points: &[(Selection, f64, f64)]) -> Correction {
        let points: Vec<([f64; TRAITS], f64, f64)> = points
            .iter()
            .filter(|(_, ratio, _)| ratio.is_finite() && *ratio > 0.0)
            .map(|(selection, ratio, weight)| (traits(selection), ratio.ln(), *weight))
            .collect();
        let mut weights = [0.0; TRAITS];
        for _ in 0..ROUNDS {
            let mut matrix = [[0.0; TRAITS + 1]; TRAITS];
            for (row, sums) in matrix.iter_mut().enumerate() {
                sums[row] = RIDGE;
            }
            for (traits, wanted, weight) in &points {
                let counts = weight / (wanted - product(&weights, traits)).abs().max(NEAR);
                for (row, sums) in matrix.iter_mut().enumerate() {
                    for (sum, trait_) in sums.iter_mut().zip(traits) {
                        *sum += counts * NEAR * traits[row] * trait_;
                    }
                    sums[TRAITS] += counts * NEAR * traits[row] * wanted;
                }
            }
            weights = solved(matrix);
        }
        Correction { weights }
    }

    /// How many times what its costs add up to a selection takes.
    pub fn factor(&self, selection: &Selection) -> f64 {
        let power = product(&self.weights, &traits(selection));
        power.exp().clamp(1.0 / MOST, MOST)
    }
}

/// Each about from zero to one.
fn traits(selection: &Selection) -> [f64; TRAITS] {
    [
        1.0,
        (selection.read.len() as f64).max(1.0).ln() / 4.0,
        -selection.share.max(1e-5).ln() / 10.0,
        selection.stride.max(1.0).ln() / 6.0,
    ]
}

fn product(weights: &[f64; TRAITS], traits: &[f64; TRAITS]) -> f64 {
    weights.iter().zip(traits).map(|(one, two)| one * two).sum()
}

/// The solution of linear equations whose matrix is symmetric and positive.
fn solved(mut matrix: [[f64; TRAITS + 1]; TRAITS]) -> [f64; TRAITS] {
    for column in 0..TRAITS {
        let pivot = matrix[column];
        for (row, other) in matrix.iter_mut().enumerate() {
            if row != column {
                let times = other[column] / pivot[column];
                other
                    .iter_mut()
                    .zip(pivot)
                    .for_each(|(value, known)| *value -= times * known);
            }
        }
    }
    std::array::from_fn(|row| matrix[row][TRAITS] / matrix[row][row])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::Used;

    fn selection(columns: usize, share: f64, stride: f64) -> Selection {
        let used = Used {
            kind: "i64 plain".to_owned(),
            bytes: 8.0,
            stored: 8.0,
        };
        Selection {
            layout: "row".to_owned(),
            blocks: 1.0,
            rows: 1000.0,
            tuple_bytes: stride,
            stride,
            tested: Vec::new(),
            share,
            read: vec![used; columns],
        }
    }

    fn points(ratio: impl Fn(&Selection) -> f64) -> Vec<(Selection, f64, f64)> {
        let mut points = Vec::new();
        for columns in [1, 3, 9, 30] {
            for share in [0.0001, 0.01, 0.3, 1.0] {
                for stride in [8.0, 60.0, 400.0] {
                    let selection = selection(columns, share, stride);
                    let ratio = ratio(&selection);
                    points.push((selection, ratio, 1.0));
                }
            }
        }
        points
    }

    #[test]
    fn a_law_is_found_again() {
        let law = |selection: &Selection| (selection.read.len() as f64).powf(0.25) * 0.8;
        let mut points = points(law);
        // What others did to the machine meanwhile does not matter.
        for (_, ratio, _) in points.iter_mut().step_by(7) {
            *ratio *= 5.0;
        }
        let found = Correction::through(&points);
        for (columns, share) in [(1, 0.5), (5, 0.001), (20, 0.1)] {
            let selection = selection(columns, share, 100.0);
            let off = found.factor(&selection) / law(&selection);
            assert!((0.9..1.1).contains(&off), "{columns} {share}: {off}");
        }
    }

    #[test]
    fn nothing_is_corrected_without_points_or_beyond_measure() {
        let one = selection(3, 0.1, 20.0);
        assert_eq!(Correction::default().factor(&one), 1.0);
        let none = [(one.clone(), f64::NAN, 1.0), (one.clone(), 0.0, 1.0)];
        assert_eq!(Correction::through(&none).factor(&one), 1.0);
        let far = Correction::through(&points(|_| 100.0));
        assert_eq!(far.factor(&one), MOST);
    }

    /// One point of three is far off, and does not count.
    #[test]
    fn points_count_by_their_weight() {
        let one = selection(3, 0.1, 20.0);
        let alike = |weight| (one.clone(), 2.0, weight);
        let points = [alike(20.0), (one.clone(), 0.5, 0.0), alike(20.0)];
        let factor = Correction::through(&points).factor(&one);
        assert!((1.6..2.0).contains(&factor), "{factor}");
    }
}

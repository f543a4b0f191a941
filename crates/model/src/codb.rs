//! CODB's formula for how well a workload suits a column store (C6).
//!
//! It is computed as it stands, reported beside the model, and steers nothing: reads
//! alone give its last term eight times the weight of writes alone, whatever else.

/// What the formula asks of a workload, each from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traits {
    /// MC: 1 if a single column is used, 0 if many are.
    pub single_column: f64,
    /// E: the entropy of values, 0 if all are the same, 1 if they are random.
    pub entropy: f64,
    /// RW: the share of writes among requests.
    pub writes: f64,
}

impl Traits {
    /// P = 0.2 MC + 0.4 E + 0.4 / ln(RW + 1.1), from 0.54 to 4.80: higher is better. (Its
    /// source says that it begins at 1.35, which no traits give.)
    pub fn score(&self) -> f64 {
        0.2 * self.single_column + 0.4 * self.entropy + 0.4 / (self.writes + 1.1).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn score(single_column: f64, entropy: f64, writes: f64) -> f64 {
        let traits = Traits {
            single_column,
            entropy,
            writes,
        };
        traits.score()
    }

    /// Writes alone of one value to many columns; reads alone of random values from one.
    #[test]
    fn the_ends_of_the_range() {
        assert_eq!(format!("{:.2}", score(0.0, 0.0, 1.0)), "0.54");
        assert_eq!(format!("{:.2}", score(1.0, 1.0, 0.0)), "4.80");
    }

    proptest! {
        #[test]
        fn no_traits_are_outside(single in 0.0..=1.0f64, entropy in 0.0..=1.0f64, writes in 0.0..=1.0f64) {
            let score = score(single, entropy, writes);
            prop_assert!((0.539..=4.798).contains(&score));
        }
    }
}

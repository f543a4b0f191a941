//! Numbers that look random and are the same for the same seed.

/// A sequence of numbers (SplitMix64, of Steele, Lea and Flood).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Another sequence for each stream of a seed.
    pub fn stream(seed: u64, stream: u64) -> Random {
        let mut mixed = Random(seed ^ stream.wrapping_mul(0xd134_2543_de82_ef95));
        mixed.bits();
        mixed
    }

    /// The next number, any of 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number of `0..bound`, each as likely as the others; 0 for a bound of 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The high half of the product: no division, and no bias that could be seen.
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included, each as likely.
    pub fn between(&mut self, low: i32, high: i32) -> i32 {
        let count = (i64::from(high) - i64::from(low) + 1) as u64;
        (i64::from(low) + self.below(count) as i64) as i32
    }

    /// One of `values`, each as likely.
    pub fn one_of<'a>(&mut self, values: &[&'a str]) -> &'a str {
        values[self.below(values.len() as u64) as usize]
    }

    /// A number of 0 to 1, the latter excluded.
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_numbers_are_about_as_likely() {
        let mut random = Random::stream(1, 2);
        let mut counts = [0u32; 10];
        (0..100_000).for_each(|_| counts[(random.between(-3, 6) + 3) as usize] += 1);
        assert!(
            counts.iter().all(|count| count.abs_diff(10_000) < 500),
            "{counts:?}"
        );
        let mean = (0..10_000).map(|_| random.share()).sum::<f64>() / 1e4;
        assert!((mean - 0.5).abs() < 0.02);
    }

    #[test]
    fn seeds_and_streams_differ() {
        let first = |seed, stream| Random::stream(seed, stream).bits();
        assert_eq!(first(1, 2), first(1, 2));
        assert_ne!(first(1, 2), first(1, 3));
        assert_ne!(first(1, 2), first(2, 2));
    }
}

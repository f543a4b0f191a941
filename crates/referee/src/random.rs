//! Numbers that look random and are the same for the same seed.

/// A source of numbers: splitmix64, which passes the usual tests of randomness and has a state
/// of one number.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A source whose numbers depend on a seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed);
        random.next();
        random
    }

    /// The next number of 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        match bound {
            0 => 0,
            _ => (self.next() % bound as u64) as usize,
        }
    }

    /// True in so many of a hundred cases.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// One of some things.
    pub fn pick<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        let at = self.below(things.len());
        things.get(at)
    }

    /// One of some texts, of which there is at least one.
    pub fn word<'a>(&mut self, words: &[&'a str]) -> &'a str {
        self.pick(words).copied().unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_repeats_its_numbers() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            (0..5).map(|_| random.next()).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut random = Random::new(1);
        let drawn: Vec<usize> = (0..1000).map(|_| random.below(3)).collect();
        assert!((0..3).all(|number| drawn.contains(&number)));
        assert!(drawn.iter().all(|number| *number < 3));
        assert_eq!(random.below(0), 0);
    }
}

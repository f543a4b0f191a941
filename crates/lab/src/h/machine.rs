//! This machine in numbers: its clock, and what memory delivers in sequence.

use std::hint::black_box;
use std::time::Instant;

/// Dependent steps of one measurement of the clock; each takes two cycles.
const STEPS: u64 = 20_000_000;

/// What is read to measure memory, bytes: more than second-level caches hold.
const READ_BYTES: usize = 64 << 20;

/// Cycles a second: of additions and rotations that wait for each other, which take a
/// cycle each, the quickest of several runs.
pub fn clock() -> f64 {
    let run = || {
        let start = Instant::now();
        let mut value = black_box(1u64);
        for _ in 0..STEPS {
            // No closed form, so that no compiler leaves the loop out.
            value = value.rotate_left(1).wrapping_add(0x9e37);
        }
        black_box(value);
        2.0 * STEPS as f64 / start.elapsed().as_secs_f64()
    };
    (0..7).map(|_| run()).fold(0.0, f64::max)
}

/// Bytes a second that arrive when memory is read in sequence and added up.
pub fn memory_bandwidth() -> f64 {
    let words = vec![1u64; READ_BYTES / 8];
    let run = || {
        let start = Instant::now();
        black_box(
            black_box(&words)
                .iter()
                .fold(0u64, |sum, word| sum.wrapping_add(*word)),
        );
        READ_BYTES as f64 / start.elapsed().as_secs_f64()
    };
    (0..5).map(|_| run()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Processors of the last decades have clocks from 1 to 6 GHz; a debug build takes
    /// more than two cycles a step.
    #[test]
    fn the_clock_is_one_of_a_processor() {
        let found = clock();
        assert!((1e8..6.5e9).contains(&found), "{found}");
    }
}

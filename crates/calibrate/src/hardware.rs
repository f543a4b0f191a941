//! Clock and memory of a machine.

use crate::disk;
use crate::timer::least;
use crate::{Random, Result};
use freestone_model::Machine;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

/// Bytes that no cache holds.
const BYTES: usize = 256 << 20;
/// Bytes of a cache line.
const LINE: usize = 64;
/// Bytes that every cache but the smallest holds; twice as many are tried, and so on.
const LEAST_CACHED: usize = 256 << 10;
/// A cache gives bytes at least so many times as fast as memory.
const FASTER: f64 = 1.5;

/// Measures a machine; files are written to `directory` and removed.
///
/// # Errors
/// Those of writing and reading the files.
pub fn machine(name: &str, directory: &Path) -> Result<Machine> {
    let clock = clock();
    let disk = disk::measure(directory)?;
    Ok(Machine {
        name: name.to_owned(),
        clock,
        memory_bytes_per_cycle: bandwidth() / clock,
        miss_cycles: miss() * clock,
        disk_bandwidth: disk.bandwidth,
        seek_seconds: disk.seek,
    })
}

/// Cycles a second, by a chain of operations of one cycle each: the quickest of many
/// short runs.
pub fn clock() -> f64 {
    const STEPS: u64 = 200_000;
    let run = |_| {
        let start = Instant::now();
        let mut value = black_box(1u64);
        for _ in 0..STEPS {
            // No closed form, so that no compiler leaves the loop out.
            value = value.rotate_left(1).wrapping_add(0x9e37);
        }
        black_box(value);
        2.0 * STEPS as f64 / start.elapsed().as_secs_f64()
    };
    (0..500).map(run).fold(0.0, f64::max)
}

/// Bytes a second from memory to one core, in sequence: from one place or from four at
/// once, as a scan reads several columns, whichever is faster.
pub fn bandwidth() -> f64 {
    let words = words();
    let (halves, quarter) = (words.split_at(words.len() / 2), words.len() / 4);
    let ((one, two), (three, four)) = (halves.0.split_at(quarter), halves.1.split_at(quarter));
    let seconds = least(5, || {
        let together = one.iter().zip(two).zip(three.iter().zip(four));
        let sums = together.fold([0u64; 4], |sums, ((one, two), (three, four))| {
            [
                sums[0].wrapping_add(*one),
                sums[1].wrapping_add(*two),
                sums[2].wrapping_add(*three),
                sums[3].wrapping_add(*four),
            ]
        });
        black_box(sums);
    });
    rate(&words).max(BYTES as f64 / seconds)
}

/// Bytes that a core reads again faster than memory brings them.
pub(crate) fn cached() -> f64 {
    let words = words();
    let enough = rate(&words) * FASTER;
    let sizes = std::iter::successors(Some(LEAST_CACHED), |bytes| Some(bytes * 2));
    let fast = sizes.take_while(|bytes| *bytes < BYTES && rate(&words[..bytes / 8]) >= enough);
    fast.last().unwrap_or_default() as f64
}

fn words() -> Vec<u64> {
    (0..(BYTES / 8) as u64).collect()
}

/// Bytes a second, read in sequence again and again.
fn rate(words: &[u64]) -> f64 {
    let seconds = least(5, || {
        let sum = words.iter().fold(0u64, |sum, word| sum.wrapping_add(*word));
        black_box(sum);
    });
    size_of_val(words) as f64 / seconds
}

/// Seconds until a line at a random place is there.
fn miss() -> f64 {
    const PER_LINE: usize = LINE / 4;
    let lines = BYTES / LINE;
    // One cycle through all lines, in random order (Sattolo).
    let mut order: Vec<u32> = (0..lines as u32).collect();
    let mut random = Random::new(1);
    for last in (1..lines).rev() {
        order.swap(last, random.below(last as u64) as usize);
    }
    let mut next = vec![0u32; lines * PER_LINE];
    for (line, follower) in order.iter().enumerate() {
        next[line * PER_LINE] = *follower;
    }
    let steps = 1_000_000;
    let mut at = 0;
    let seconds = least(3, || {
        for _ in 0..steps {
            at = next[at as usize * PER_LINE];
        }
        black_box(at);
    });
    seconds / f64::from(steps)
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

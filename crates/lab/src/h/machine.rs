//! This machine in numbers: its clock, what memory delivers in sequence, and a thread's
//! CPU time.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Dependent steps of one measurement of the clock; each takes two cycles.
const STEPS: u64 = 200_000;

/// What is read to measure memory, bytes: more than second-level caches hold.
const READ_BYTES: usize = 64 << 20;

/// Measures the time that this thread has a processor, without what others take of it.
#[derive(Clone, Copy, Debug)]
pub struct CpuTimer {
    /// Nanoseconds until now, where the system tells them.
    began: Option<u64>,
    /// The next best.
    wall: Instant,
}

impl CpuTimer {
    /// Begins now.
    pub fn start() -> CpuTimer {
        CpuTimer {
            began: on_processor(),
            wall: Instant::now(),
        }
    }

    /// CPU time since the beginning; elapsed time where the system does not tell.
    pub fn elapsed(&self) -> Duration {
        match (self.began, on_processor()) {
            (Some(began), Some(now)) => Duration::from_nanos(now.saturating_sub(began)),
            _ => self.wall.elapsed(),
        }
    }
}

/// Nanoseconds that this thread has had a processor, on Linux. The scheduler brings the
/// number up to date whenever a thread offers its place to others.
fn on_processor() -> Option<u64> {
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// Cycles a second: of additions and rotations that wait for each other, which take a
/// cycle each, the quickest of many short runs.
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
    (0..500).map(|_| run()).fold(0.0, f64::max)
}

/// Bytes a second that arrive when memory is read in sequence and added up.
pub fn memory_bandwidth() -> f64 {
    let words = vec![1u64; READ_BYTES / 8];
    let run = || {
        let timer = CpuTimer::start();
        let words = black_box(&words).iter();
        black_box(words.fold(0u64, |sum, word| sum.wrapping_add(*word)));
        READ_BYTES as f64 / timer.elapsed().as_secs_f64()
    };
    (0..9).map(|_| run()).fold(0.0, f64::max)
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

    #[test]
    fn waiting_takes_no_cpu_time() {
        let (timer, wall) = (CpuTimer::start(), Instant::now());
        while wall.elapsed() < Duration::from_millis(5) {
            black_box(clock());
        }
        let computing = timer.elapsed();
        assert!(computing > Duration::from_millis(1), "{computing:?}");
        std::thread::sleep(Duration::from_millis(300));
        let waiting = timer.elapsed() - computing;
        if timer.began.is_some() {
            assert!(waiting < Duration::from_millis(150), "{waiting:?}");
        }
    }
}

//! The time that a thread has a processor.

use std::time::{Duration, Instant};

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

/// Seconds that are measured at once, at least: what it takes to look at the time, and
/// what others leave in the caches, does not count beside them.
const AT_ONCE: f64 = 2e-3;

/// Turns of every query: as many when costs are corrected as when they are checked, since
/// the least of more runs is less.
pub(crate) const TURNS: usize = 5;

/// Seconds of processor of one run, of the cheapest of some series of runs.
pub fn least(series: usize, mut run: impl FnMut()) -> f64 {
    let mut time = |runs: u32| {
        let timer = CpuTimer::start();
        (0..runs).for_each(|_| run());
        timer.elapsed().as_secs_f64() / f64::from(runs)
    };
    // The first finds everything cold, the second says how many make a series.
    time(1);
    let runs = (AT_ONCE / time(1)).ceil().clamp(1.0, 1000.0) as u32;
    (0..series).map(|_| time(runs)).fold(f64::MAX, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_takes_no_cpu_time() {
        let (timer, wall) = (CpuTimer::start(), Instant::now());
        std::thread::sleep(Duration::from_millis(50));
        assert!(timer.elapsed() < wall.elapsed() / 2);
    }

    #[test]
    fn computing_does() {
        let seconds = least(3, || {
            std::hint::black_box(
                (0..2_000_000u64).fold(0, |sum, next| sum ^ std::hint::black_box(next)),
            );
        });
        assert!(seconds > 1e-4, "{seconds}");
    }
}

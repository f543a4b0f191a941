//! Processor time of a thread.
//!
//! A trial compares designs by what they take, not by what else runs on the machine: the time in
//! which the thread waits for a processor does not count.
//!
//! ```text
//! let begin = Clock::start();
//! work();
//! begin.seconds()     work on the processor, in seconds
//! ```

#[cfg(unix)]
use rustix::time::{ClockId, clock_gettime};

/// A moment of the thread's processor time.
#[cfg(unix)]
pub(super) struct Clock(f64);

#[cfg(unix)]
impl Clock {
    pub(super) fn start() -> Clock {
        Clock(now())
    }

    /// Seconds that this thread, which started it, has worked since.
    pub(super) fn seconds(&self) -> f64 {
        now() - self.0
    }
}

#[cfg(unix)]
fn now() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// A moment by the clock of the machine: systems other than Unix have no clock of a thread here.
#[cfg(not(unix))]
pub(super) struct Clock(std::time::Instant);

#[cfg(not(unix))]
impl Clock {
    pub(super) fn start() -> Clock {
        Clock(std::time::Instant::now())
    }

    pub(super) fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::time::Duration;

    #[test]
    #[cfg(unix)]
    fn time_asleep_does_not_count() {
        let asleep = Clock::start();
        std::thread::sleep(Duration::from_millis(50));
        assert!(asleep.seconds() < 0.04);
        let awake = Clock::start();
        let sum: u64 = (0..100_000).map(black_box).sum();
        assert!(sum > 0);
        assert!(awake.seconds() > 0.0);
    }
}

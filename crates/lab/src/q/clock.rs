//! Timing threads on a machine that has other things to do as well.

use crate::error::{Error, Result};
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Time of work, without what its thread waited for a core because other programs had
/// them all. Where the system does not say, that is in it.
#[derive(Debug)]
pub struct Clock {
    waited: Duration,
    start: Instant,
}

impl Clock {
    /// Starts it, for this thread.
    pub fn start() -> Clock {
        Clock {
            waited: waited(),
            start: Instant::now(),
        }
    }

    /// The time since, by the same thread.
    pub fn elapsed(&self) -> Duration {
        let elapsed = self.start.elapsed();
        elapsed.saturating_sub(waited().saturating_sub(self.waited))
    }
}

/// How long this thread was ready to run and did not, as Linux counts it.
fn waited() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().nth(1);
    Duration::from_nanos(nanoseconds.and_then(|text| text.parse().ok()).unwrap_or(0))
}

/// Does each part in a thread of its own, all at once; what the threads work, added up and
/// divided by their number. Where they share the work evenly, and have a core each, that is
/// the time until all are done; where other programs keep one of them from its core, the
/// others take over its work, and it is what that time would have been.
///
/// # Errors
/// The first that a part gives.
pub fn timed<P: Send>(parts: Vec<P>, work: impl Fn(P) -> Result<()> + Sync) -> Result<Duration> {
    let ready = Barrier::new(parts.len());
    let one = |part: P| -> Result<Duration> {
        ready.wait();
        let clock = Clock::start();
        work(part)?;
        Ok(clock.elapsed())
    };
    let one = &one;
    let times = std::thread::scope(|scope| {
        let threads: Vec<_> = parts
            .into_iter()
            .map(|part| scope.spawn(move || one(part)))
            .collect();
        // All are waited for, whatever becomes of the first.
        let ends: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        let died = || Error::new("a thread of the experiment died", "");
        ends.into_iter()
            .map(|end| end.map_err(|_| died())?)
            .collect::<Result<Vec<Duration>>>()
    })?;
    let number = times.len().max(1) as u32;
    Ok(times.into_iter().sum::<Duration>() / number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_a_mean() {
        let wait = |milliseconds| {
            std::thread::sleep(Duration::from_millis(milliseconds));
            Ok(())
        };
        let elapsed = timed(vec![1, 60, 29], wait).unwrap();
        // Sleeping is not waiting for a core, though waking up may be.
        assert!(elapsed >= Duration::from_millis(29), "{elapsed:?}");
        assert!(timed(vec![1, 2], |_| Err(Error::new("no", ""))).is_err());
    }
}

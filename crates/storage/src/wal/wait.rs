//! Waiting until records are durable: threads that park, and futures.

use super::log::Wal;
use super::state::State;
use crate::error::Result;
use parking_lot::MutexGuard;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use std::thread::{self, Thread};

/// Who waits, for the end of a sync.
#[derive(Debug)]
pub(super) enum Waiter {
    Thread(Thread),
    /// Its number, and what wakes it.
    Task(u64, Waker),
}

impl Waiter {
    /// Lets it look again.
    pub fn wake(self) {
        match self {
            Waiter::Thread(thread) => thread.unpark(),
            Waiter::Task(_, waker) => waker.wake(),
        }
    }
}

/// Wakes those who need not wait any longer, the lock being free meanwhile.
pub(super) fn wake(state: &mut MutexGuard<'_, State>) {
    let woken = state.woken();
    if !woken.is_empty() {
        MutexGuard::unlocked(state, || woken.into_iter().for_each(Waiter::wake));
    }
}

/// Ready when records are durable; see [`Wal::flushed`].
#[must_use = "nothing is written before it is awaited"]
#[derive(Debug)]
pub struct Flush<'a> {
    wal: &'a Wal,
    goal: u64,
    /// Its number among those that wait, if it does.
    number: Option<u64>,
    /// How often others may still come first.
    patience: u8,
}

/// How often whoever waits lets others run before it is put to sleep. Where clients
/// are more than cores, it has been served when its turn comes, and nobody had to be
/// woken; where they are not, this is over before a sync is.
const PATIENCE: u8 = 8;

/// What came of looking whether records are durable.
enum Attempt {
    Durable,
    /// The waiter is woken after the next sync.
    Waits,
    /// Others commit, too, and may have more to sync in a moment.
    LetsOthers,
}

impl Wal {
    /// Waits until everything up to `timestamp` that was appended is written and
    /// synced. Whoever comes first syncs for all that have appended by then; the
    /// others wait.
    ///
    /// # Errors
    /// 58030 if that failed, now or before: the records may be lost or not.
    pub fn flush(&self, timestamp: u64) -> Result<()> {
        let (mut goal, mut patience) = (timestamp, PATIENCE);
        loop {
            let waiter = |_| Waiter::Thread(thread::current());
            match self.attempt(&mut goal, &mut patience, waiter)? {
                Attempt::Durable => return Ok(()),
                // Woken without a lock to queue for: of many, each can go on at once.
                Attempt::Waits => thread::park(),
                Attempt::LetsOthers => thread::yield_now(),
            }
        }
    }

    /// As [`Wal::flush`], without a thread for each that waits: only the one that
    /// syncs blocks its thread meanwhile. One that is given up may have been chosen to
    /// sync next, so [`Wal::flush`] has to be called in its place.
    pub fn flushed(&self, timestamp: u64) -> Flush<'_> {
        Flush {
            wal: self,
            goal: timestamp,
            number: None,
            patience: PATIENCE,
        }
    }

    /// Whether all up to `goal` is durable; syncs if nobody does, else has `waiter`,
    /// made from a number that nobody else has, woken after the next sync. Where
    /// syncs have come to serve several, the caller is first asked to let others
    /// run: fewer and longer writes leave more time for everything else.
    fn attempt(
        &self,
        goal: &mut u64,
        patience: &mut u8,
        waiter: impl FnOnce(u64) -> Waiter,
    ) -> Result<Attempt> {
        while self.durable() < *goal {
            if *patience > 0 && self.crowded.load(Ordering::Relaxed) {
                // Whoever would sync lets others run once, to sync for them, too.
                if *patience == PATIENCE || self.syncing() {
                    *patience -= 1;
                    return Ok(Attempt::LetsOthers);
                }
            }
            let mut state = self.state.lock();
            *goal = (*goal).min(state.appended);
            if self.durable() >= *goal {
                break;
            }
            if let Err(failure) = state.check() {
                wake(&mut state);
                return Err(failure);
            }
            if self.syncing() {
                state.waits += 1;
                let waiter = waiter(state.waits);
                state.waiting.push((*goal, waiter));
                return Ok(Attempt::Waits);
            }
            self.sync(&mut state)?;
        }
        Ok(Attempt::Durable)
    }
}

impl Flush<'_> {
    /// No longer waits for a sync.
    fn forget(&mut self) {
        if let Some(mine) = self.number.take() {
            let is_mine =
                |waiter: &Waiter| matches!(waiter, Waiter::Task(number, _) if *number == mine);
            let waiting = &mut self.wal.state.lock().waiting;
            waiting.retain(|(_, waiter)| !is_mine(waiter));
        }
    }
}

impl Future for Flush<'_> {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        if self.wal.durable() >= self.goal {
            // Whoever made it durable has taken it from those that wait.
            self.number = None;
            return Poll::Ready(Ok(()));
        }
        self.forget();
        let Flush {
            wal,
            goal,
            number,
            patience,
        } = &mut *self;
        let done = wal.attempt(goal, patience, |given| {
            *number = Some(given);
            Waiter::Task(given, context.waker().clone())
        });
        match done {
            Ok(Attempt::Durable) => Poll::Ready(Ok(())),
            Ok(Attempt::Waits) => Poll::Pending,
            Ok(Attempt::LetsOthers) => {
                // Other tasks of this thread come first. The thread itself does not yield: where
                // all cores are busy it would be put last for milliseconds, with all its tasks.
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl Drop for Flush<'_> {
    fn drop(&mut self) {
        self.forget();
    }
}

//! Waiting until records are durable: threads that park, and futures.

use super::log::Wal;
use super::state::State;
use crate::error::Result;
use parking_lot::MutexGuard;
use std::pin::Pin;
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
    /// Whether others may come first once more.
    let_others: bool,
}

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
        let (mut goal, mut let_others) = (timestamp, true);
        loop {
            let waiter = |_| Waiter::Thread(thread::current());
            match self.attempt(&mut goal, &mut let_others, waiter)? {
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
            let_others: true,
        }
    }

    /// Whether all up to `goal` is durable; syncs if nobody does, else has `waiter`,
    /// made from a number that nobody else has, woken after the next sync. Where
    /// syncs have come to serve several, the caller is first asked to let others
    /// append, once: fewer and longer writes leave more time for everything else.
    fn attempt(
        &self,
        goal: &mut u64,
        let_others: &mut bool,
        waiter: impl FnOnce(u64) -> Waiter,
    ) -> Result<Attempt> {
        while self.durable() < *goal {
            let mut state = self.state.lock();
            *goal = (*goal).min(state.appended);
            if self.durable() >= *goal {
                break;
            }
            if let Err(failure) = state.check() {
                wake(&mut state);
                return Err(failure);
            }
            if state.syncing {
                state.waits += 1;
                let waiter = waiter(state.waits);
                state.waiting.push((*goal, waiter));
                return Ok(Attempt::Waits);
            }
            if state.served > 1 && std::mem::take(let_others) {
                return Ok(Attempt::LetsOthers);
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
            let_others,
        } = &mut *self;
        let done = wal.attempt(goal, let_others, |given| {
            *number = Some(given);
            Waiter::Task(given, context.waker().clone())
        });
        match done {
            Ok(Attempt::Durable) => Poll::Ready(Ok(())),
            Ok(Attempt::Waits) => Poll::Pending,
            Ok(Attempt::LetsOthers) => {
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

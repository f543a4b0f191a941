//! Advisory locks: numbers that applications lock, such as `pg_advisory_lock(42)`, so that only
//! one of them migrates a schema or does a job.
//!
//! A database has one table of locks. Each session has its counts in it: a lock is taken as often
//! as it was asked for, for the session or until its transaction ends. Who waits looks every few
//! milliseconds whether the lock is free, whether its statement is to end, and whether it waits
//! for somebody who waits for it.
//!
//! Left out: an order among those who wait, but for one: nobody new shares a lock that somebody
//! waits to have alone.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use freestone_frontend::{Error, Result, interrupt};
use parking_lot::{Condvar, Mutex};

/// The longest that nobody looks whether a statement is to end.
const PIECE: Duration = Duration::from_millis(5);

/// The key of a lock: one number of 64 bits, or two of 32. Keys of the two forms differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Key {
    One(i64),
    Two(i32, i32),
}

/// How a lock is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode {
    /// Whether others may share it.
    pub(crate) shared: bool,
    /// Whether it ends with the transaction.
    pub(crate) in_transaction: bool,
}

/// A lock that a session has or waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListedLock {
    pub(crate) key: Key,
    /// The number of the session among those of the database.
    pub(crate) session: u64,
    pub(crate) shared: bool,
    pub(crate) granted: bool,
}

/// How often a session has a lock.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Alone: for the session, and until its transaction ends.
    alone: [u32; 2],
    shared: [u32; 2],
}

impl Counts {
    fn of(&mut self, mode: Mode) -> &mut u32 {
        let counts = match mode.shared {
            true => &mut self.shared,
            false => &mut self.alone,
        };
        &mut counts[usize::from(mode.in_transaction)]
    }

    fn is_alone(&self) -> bool {
        self.alone.iter().any(|count| *count > 0)
    }

    fn is_shared(&self) -> bool {
        self.shared.iter().any(|count| *count > 0)
    }
}

/// The locks of a database.
#[derive(Debug, Default)]
pub(crate) struct AdvisoryLocks {
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    sessions: u64,
    /// Which sessions have a lock.
    held: HashMap<Key, HashMap<u64, Counts>>,
    /// The lock that each waiting session asks for, and whether it would share it.
    waiting: HashMap<u64, (Key, bool)>,
}

impl State {
    /// The sessions that keep one from a lock.
    fn in_the_way(&self, session: u64, key: Key, shared: bool) -> Vec<u64> {
        let Some(holders) = self.held.get(&key) else {
            return Vec::new();
        };
        // One that has the lock in some way does not stand behind those who wait.
        let is_new = !holders.contains_key(&session);
        let waits = |(other, wanted): (&u64, &(Key, bool))| {
            (*other != session && *wanted == (key, false)).then_some(*other)
        };
        let others = holders.iter().filter(|(other, _)| **other != session);
        let holds = others.filter(|(_, counts)| !shared || counts.is_alone());
        let mut all: Vec<u64> = holds.map(|(other, _)| *other).collect();
        if shared && is_new && all.is_empty() && !holders.is_empty() {
            all.extend(self.waiting.iter().filter_map(waits));
        }
        all
    }

    /// Whether a chain of waiting sessions leads from a session back to it.
    fn is_deadlock(&self, session: u64) -> bool {
        let mut open = vec![session];
        let mut seen = Vec::new();
        while let Some(next) = open.pop() {
            let Some((key, shared)) = self.waiting.get(&next) else {
                continue;
            };
            for other in self.in_the_way(next, *key, *shared) {
                if other == session {
                    return true;
                }
                if !seen.contains(&other) {
                    seen.push(other);
                    open.push(other);
                }
            }
        }
        false
    }
}

/// A session's part in the locks of its database.
#[derive(Debug)]
pub(crate) struct HeldLocks {
    all: Arc<AdvisoryLocks>,
    session: u64,
    /// Locks that end with the transaction, in the order in which they were taken.
    taken: Mutex<Vec<(Key, Mode)>>,
    /// How many transactions have ended.
    ended: AtomicU64,
    /// Whether the session has called a function of advisory locks: others pay nothing for them.
    used: AtomicBool,
    /// Whether the session has ended: a statement that still waits gets nothing more.
    is_over: AtomicBool,
}

impl HeldLocks {
    pub(crate) fn new(all: &Arc<AdvisoryLocks>) -> Self {
        let mut state = all.state.lock();
        state.sessions += 1;
        Self {
            all: Arc::clone(all),
            session: state.sessions,
            taken: Mutex::default(),
            ended: AtomicU64::new(0),
            used: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        }
    }

    /// Notes that a statement of the session calls a function of advisory locks.
    pub(crate) fn set_used(&self) {
        self.used.store(true, Ordering::Relaxed);
    }

    /// Whether one has.
    pub(crate) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    /// The locks of the database that sessions have or wait for.
    pub(crate) fn listed(&self) -> Vec<ListedLock> {
        let state = self.all.state.lock();
        let mut listed = Vec::new();
        for (key, holders) in &state.held {
            for (session, counts) in holders {
                let held = [(counts.is_alone(), false), (counts.is_shared(), true)];
                for (_, shared) in held.into_iter().filter(|(is_held, _)| *is_held) {
                    listed.push(ListedLock {
                        key: *key,
                        session: *session,
                        shared,
                        granted: true,
                    });
                }
            }
        }
        for (session, (key, shared)) in &state.waiting {
            listed.push(ListedLock {
                key: *key,
                session: *session,
                shared: *shared,
                granted: false,
            });
        }
        listed
    }

    /// Takes a lock if nobody is in the way.
    pub(crate) fn try_lock(&self, key: Key, mode: Mode) -> bool {
        self.take(&mut self.all.state.lock(), key, mode)
    }

    fn take(&self, state: &mut State, key: Key, mode: Mode) -> bool {
        let is_over = self.is_over.load(Ordering::Relaxed);
        if is_over || !state.in_the_way(self.session, key, mode.shared).is_empty() {
            return false;
        }
        let holders = state.held.entry(key).or_default();
        let count = holders.entry(self.session).or_default().of(mode);
        *count = count.saturating_add(1);
        if mode.in_transaction {
            self.taken.lock().push((key, mode));
        }
        true
    }

    /// Waits for a lock, so long at most.
    ///
    /// # Errors
    /// `57014` if the statement is to end, `55P03` after that time, `40P01` if somebody in the
    /// way waits for this session.
    pub(crate) fn lock(&self, key: Key, mode: Mode, most: Option<Duration>) -> Result<()> {
        let began = Instant::now();
        let mut state = self.all.state.lock();
        let outcome = loop {
            if self.take(&mut state, key, mode) {
                break Ok(());
            }
            if self.is_over.load(Ordering::Relaxed) {
                break Err(Error::new("57P01", "the session has ended"));
            }
            state.waiting.insert(self.session, (key, mode.shared));
            if state.is_deadlock(self.session) {
                let message = "deadlock detected";
                let hint = "Each of some sessions waits for a lock that another one has.";
                break Err(Error::new("40P01", message).with_hint(hint));
            }
            if most.is_some_and(|most| began.elapsed() >= most) {
                let message = "canceling statement due to lock timeout";
                break Err(Error::new("55P03", message));
            }
            self.all.freed.wait_for(&mut state, PIECE);
            let goes_on = parking_lot::MutexGuard::unlocked(&mut state, interrupt::now);
            if let Err(error) = goes_on {
                break Err(error);
            }
        };
        state.waiting.remove(&self.session);
        drop(state);
        if outcome.is_err() {
            self.all.freed.notify_all();
        }
        outcome
    }

    /// Gives a lock of the session back once; whether it had it.
    pub(crate) fn unlock(&self, key: Key, shared: bool) -> bool {
        let mode = Mode {
            shared,
            in_transaction: false,
        };
        self.give_back(&[(key, mode)])
    }

    /// Gives all locks of the session back.
    pub(crate) fn unlock_all(&self) {
        let mut given = Vec::new();
        for (key, holders) in &self.all.state.lock().held {
            let Some(counts) = holders.get(&self.session) else {
                continue;
            };
            for (count, shared) in [(counts.alone[0], false), (counts.shared[0], true)] {
                let mode = Mode {
                    shared,
                    in_transaction: false,
                };
                given.extend((0..count).map(|_| (*key, mode)));
            }
        }
        self.give_back(&given);
    }

    /// Gives the locks back that end with the transaction.
    pub(crate) fn end_transaction(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
        self.back_to(0);
    }

    /// Something that ends this transaction when it is dropped, unless it has ended before.
    pub(crate) fn transaction(self: &Arc<Self>) -> LocksOfTransaction {
        LocksOfTransaction {
            held: Arc::clone(self),
            number: self.ended.load(Ordering::Relaxed),
        }
    }

    /// How many locks were taken in the transaction.
    pub(crate) fn mark(&self) -> usize {
        self.taken.lock().len()
    }

    /// Gives the locks back that were taken in the transaction since a mark.
    pub(crate) fn back_to(&self, mark: usize) {
        let since = {
            let mut taken = self.taken.lock();
            match taken.len() > mark {
                true => taken.split_off(mark),
                false => return,
            }
        };
        self.give_back(&since);
    }

    fn give_back(&self, locks: &[(Key, Mode)]) -> bool {
        let mut all = true;
        let mut state = self.all.state.lock();
        for (key, mode) in locks {
            let Some(holders) = state.held.get_mut(key) else {
                all = false;
                continue;
            };
            let Some(counts) = holders.get_mut(&self.session) else {
                all = false;
                continue;
            };
            let count = counts.of(*mode);
            all &= *count > 0;
            *count = count.saturating_sub(1);
            if !counts.is_alone() && !counts.is_shared() {
                holders.remove(&self.session);
            }
            if holders.is_empty() {
                state.held.remove(key);
            }
        }
        drop(state);
        self.all.freed.notify_all();
        all
    }

    /// Gives back all that the session has: it ends.
    pub(crate) fn end(&self) {
        self.taken.lock().clear();
        let mut state = self.all.state.lock();
        self.is_over.store(true, Ordering::Relaxed);
        let session = self.session;
        for holders in state.held.values_mut() {
            holders.remove(&session);
        }
        state.held.retain(|_, holders| !holders.is_empty());
        state.waiting.remove(&session);
        drop(state);
        self.all.freed.notify_all();
    }
}

/// The locks of one transaction: a statement outside of any has them until its rows are read.
pub(crate) struct LocksOfTransaction {
    held: Arc<HeldLocks>,
    number: u64,
}

impl Drop for LocksOfTransaction {
    fn drop(&mut self) {
        if self.held.ended.load(Ordering::Relaxed) == self.number {
            self.held.end_transaction();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: Mode = Mode {
        shared: false,
        in_transaction: false,
    };
    const SHARED: Mode = Mode {
        shared: true,
        in_transaction: false,
    };

    fn three() -> (HeldLocks, HeldLocks, HeldLocks) {
        let all = Arc::default();
        (
            HeldLocks::new(&all),
            HeldLocks::new(&all),
            HeldLocks::new(&all),
        )
    }

    #[test]
    fn locks_are_counted_and_shared() {
        let (a, b, c) = three();
        let key = Key::One(7);
        assert!(a.try_lock(key, ALONE) && a.try_lock(key, ALONE));
        assert!(!b.try_lock(key, ALONE) && !b.try_lock(key, SHARED));
        assert!(b.try_lock(Key::Two(0, 7), ALONE));
        assert!(a.unlock(key, false));
        assert!(!b.try_lock(key, SHARED));
        assert!(a.unlock(key, false) && !a.unlock(key, false));
        assert!(b.try_lock(key, SHARED) && c.try_lock(key, SHARED));
        assert!(!b.try_lock(key, ALONE));
        c.end();
        assert!(b.try_lock(key, ALONE));
        b.unlock_all();
        assert!(a.try_lock(key, ALONE));
    }

    #[test]
    fn locks_of_a_transaction_end_with_it() {
        let (a, b, _) = three();
        let within = Mode {
            in_transaction: true,
            ..ALONE
        };
        assert!(a.try_lock(Key::One(1), within));
        let mark = a.mark();
        assert!(a.try_lock(Key::One(2), within) && a.try_lock(Key::One(3), ALONE));
        assert!(!a.unlock(Key::One(1), false));
        a.back_to(mark);
        assert!(b.try_lock(Key::One(2), ALONE) && !b.try_lock(Key::One(1), ALONE));
        a.end_transaction();
        assert!(b.try_lock(Key::One(1), ALONE) && !b.try_lock(Key::One(3), ALONE));
    }

    #[test]
    fn who_waits_for_each_other_is_told() {
        let (a, b, _) = three();
        assert!(a.try_lock(Key::One(1), ALONE) && b.try_lock(Key::One(2), ALONE));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| b.lock(Key::One(1), ALONE, None));
            while a.all.state.lock().waiting.is_empty() {
                std::thread::yield_now();
            }
            let error = a.lock(Key::One(2), ALONE, None).unwrap_err();
            assert_eq!(error.sqlstate, "40P01");
            assert!(a.unlock(Key::One(1), false));
            other.join().unwrap().unwrap();
        });
        let late = a.lock(Key::One(1), ALONE, Some(Duration::from_millis(10)));
        assert_eq!(late.unwrap_err().sqlstate, "55P03");
        // One that waits when its session ends does not get the lock afterwards.
        a.end();
        let over = a.lock(Key::One(3), ALONE, None);
        assert_eq!(over.unwrap_err().sqlstate, "57P01");
        assert!(b.try_lock(Key::One(3), ALONE));
    }
}

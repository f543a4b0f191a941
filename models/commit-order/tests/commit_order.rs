//! The protocol of commits as a model, run in thousands of orders of its threads.
//!
//! What `store/commit.rs` and `wal/log.rs` do with their locks, and nothing else:
//! numbers are given one at a time, one sync serves all that wait, commits are
//! shown in order once they are durable, checkpoints begin new segments, and a
//! failed sync ends it all.

use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock};
use shuttle::thread::{self, Thread};
use std::collections::VecDeque;

const ORDERS: usize = 3_000;

/// What the threads of the log share.
#[derive(Default)]
struct State {
    appended: u64,
    durable: u64,
    syncing: bool,
    failed: bool,
    waiting: Vec<(u64, Thread)>,
}

impl State {
    fn woken(&mut self) -> Vec<Thread> {
        let (durable, failed) = (self.durable, self.failed);
        let mut next = !failed;
        let mut woken = Vec::new();
        self.waiting.retain(|(goal, thread)| {
            if failed || *goal <= durable {
                woken.push(thread.clone());
                return false;
            }
            if std::mem::take(&mut next) {
                woken.insert(0, thread.clone());
                return false;
            }
            true
        });
        woken
    }
}

#[derive(Default)]
struct Log {
    state: Mutex<State>,
    synced: Condvar,
    /// The last commit that a power loss would leave, and syncs until one fails.
    disk: Mutex<(u64, Option<u32>)>,
}

impl Log {
    fn sync_file(&self, reached: u64) -> Result<(), ()> {
        let mut disk = self.disk.lock().unwrap();
        if let Some(left) = &mut disk.1 {
            *left = left.checked_sub(1).ok_or(())?;
        }
        disk.0 = disk.0.max(reached);
        Ok(())
    }

    fn append(&self, timestamp: u64) -> Result<(), ()> {
        let mut state = self.state.lock().unwrap();
        if state.failed {
            return Err(());
        }
        assert_eq!(state.appended + 1, timestamp, "timestamps ascend");
        state.appended = timestamp;
        Ok(())
    }

    /// Waits for a sync; `gives_up` is a task that stops waiting once, whether it was
    /// chosen to sync next or not, and then waits as a thread.
    fn flush(&self, timestamp: u64, mut gives_up: bool) -> Result<(), ()> {
        loop {
            let mut state = self.state.lock().unwrap();
            if state.durable >= timestamp {
                return Ok(());
            }
            if state.failed {
                self.wake(state);
                return Err(());
            }
            if state.syncing {
                state.waiting.push((timestamp, thread::current()));
                drop(state);
                if std::mem::take(&mut gives_up) {
                    thread::yield_now();
                    let mut state = self.state.lock().unwrap();
                    let mine = thread::current().id();
                    state.waiting.retain(|(_, thread)| thread.id() != mine);
                } else {
                    thread::park();
                }
                continue;
            }
            let reached = state.appended;
            state.syncing = true;
            drop(state);
            let outcome = self.sync_file(reached);
            state = self.state.lock().unwrap();
            state.syncing = false;
            match outcome {
                Ok(()) => state.durable = reached,
                Err(()) => state.failed = true,
            }
            self.synced.notify_all();
            self.wake(state);
            outcome?;
        }
    }

    fn wake(&self, mut state: MutexGuard<'_, State>) {
        let woken = state.woken();
        drop(state);
        woken.iter().for_each(Thread::unpark);
    }

    /// Ends the segment: all in it is durable. Nobody may be syncing meanwhile.
    fn rotate(&self) -> Result<(), ()> {
        let mut state: MutexGuard<'_, State> = self.state.lock().unwrap();
        while state.syncing {
            state = self.synced.wait(state).unwrap();
        }
        if state.failed {
            return Err(());
        }
        match self.sync_file(state.appended) {
            Ok(()) => state.durable = state.appended,
            Err(()) => state.failed = true,
        }
        let failed = state.failed;
        self.wake(state);
        if failed { Err(()) } else { Ok(()) }
    }
}

#[derive(Default)]
struct Shown {
    timestamp: u64,
    pending: VecDeque<u64>,
}

#[derive(Default)]
struct Store {
    log: Log,
    latest: Mutex<u64>,
    shown: RwLock<Shown>,
}

impl Store {
    fn commit(&self) -> Result<u64, ()> {
        let mut latest = self.latest.lock().unwrap();
        let timestamp = *latest + 1;
        self.log.append(timestamp)?;
        *latest = timestamp;
        self.shown.write().unwrap().pending.push_back(timestamp);
        drop(latest);
        self.log.flush(timestamp, timestamp.is_multiple_of(2))?;
        let mut shown = self.shown.write().unwrap();
        while let Some(first) = shown.pending.front().copied().filter(|at| *at <= timestamp) {
            assert_eq!(shown.timestamp + 1, first, "shown in order");
            shown.pending.pop_front();
            shown.timestamp = first;
        }
        Ok(timestamp)
    }

    /// What a reader sees; a power loss would leave all of it.
    fn look(&self) -> u64 {
        let seen = self.shown.read().unwrap().timestamp;
        assert!(
            self.log.disk.lock().unwrap().0 >= seen,
            "seen and not durable"
        );
        seen
    }

    fn checkpoint(&self) -> Result<(), ()> {
        let latest = self.latest.lock().unwrap();
        self.log.rotate()?;
        let timestamp = *latest;
        drop(latest);
        self.log.flush(timestamp, false)?;
        // What the manifest would say.
        assert!(self.log.disk.lock().unwrap().0 >= timestamp);
        Ok(())
    }
}

fn run(failing: Option<u32>) {
    let store = Arc::new(Store::default());
    store.log.disk.lock().unwrap().1 = failing;
    let writer = || {
        let store = store.clone();
        thread::spawn(move || {
            let mut done = 0;
            for _ in 0..2 {
                let Ok(timestamp) = store.commit() else {
                    assert!(failing.is_some());
                    break;
                };
                assert!(store.look() >= timestamp, "a commit sees itself");
                done += 1;
            }
            done
        })
    };
    let writers: Vec<_> = (0..3).map(|_| writer()).collect();
    let (reading, checkpointing) = (store.clone(), store.clone());
    let reader = thread::spawn(move || {
        let first = reading.look();
        assert!(reading.look() >= first, "time goes on");
    });
    let checkpoint = thread::spawn(move || {
        assert!(checkpointing.checkpoint().is_ok() || failing.is_some());
    });
    let done: u64 = writers
        .into_iter()
        .map(|writer| writer.join().unwrap())
        .sum();
    reader.join().unwrap();
    checkpoint.join().unwrap();
    let seen = store.look();
    // After a failure more may be durable than was acknowledged, never less.
    assert!(seen >= done && (failing.is_some() || seen == 6));
}

#[test]
fn commits_keep_their_order_in_every_order_of_threads() {
    shuttle::check_random(|| run(None), ORDERS);
    shuttle::check_pct(|| run(None), ORDERS, 3);
    for failing in 0..3 {
        shuttle::check_random(move || run(Some(failing)), ORDERS);
    }
}

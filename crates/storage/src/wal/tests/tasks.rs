//! Group commit by futures: few threads serve many that wait.

use super::group::counting;
use super::*;
use parking_lot::Mutex;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

const TASKS: u64 = 24;
const COMMITS: u64 = 20;

/// Whether a task is to be polled, and the thread that does it.
struct Ready(AtomicBool, Thread);

impl Wake for Ready {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
        self.1.unpark();
    }
}

type Task<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Runs tasks on this thread until all are done.
fn run(tasks: Vec<Task<'_>>) {
    let ready = || Arc::new(Ready(AtomicBool::new(true), thread::current()));
    let mut tasks: Vec<_> = tasks.into_iter().map(|task| (task, ready())).collect();
    while !tasks.is_empty() {
        let before = tasks.len();
        let mut polled = false;
        tasks.retain_mut(|(task, ready)| {
            if !ready.0.swap(false, Ordering::SeqCst) {
                return true;
            }
            polled = true;
            let waker = Waker::from(ready.clone());
            task.as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        });
        if !polled && tasks.len() == before {
            thread::park();
        }
    }
}

/// Some wait to the end, some are given up, some are polled without having been woken.
async fn commits(wal: &Wal, newest: &Mutex<u64>, task: u64) {
    for commit in 0..COMMITS {
        let timestamp = {
            let mut newest = newest.lock();
            *newest += 1;
            wal.reserve(payload(*newest, 50).len()).unwrap();
            wal.append(*newest, &payload(*newest, 50)).unwrap();
            *newest
        };
        match (task + commit) % 4 {
            0 => {
                {
                    let mut flush = pin!(wal.flushed(timestamp));
                    poll_fn(|context| Poll::Ready(flush.as_mut().poll(context).is_ready())).await;
                }
                wal.flush(timestamp).unwrap();
            }
            1 => {
                let mut flush = pin!(wal.flushed(timestamp));
                let _ = poll_fn(|context| Poll::Ready(flush.as_mut().poll(context))).await;
                if wal.durable() < timestamp {
                    flush.await.unwrap();
                }
            }
            _ => wal.flushed(timestamp).await.unwrap(),
        }
        assert!(wal.durable() >= timestamp);
    }
}

#[test]
fn tasks_share_syncs() {
    let (files, counts, wal) = counting();
    let newest = Mutex::new(0);
    thread::scope(|scope| {
        for half in 0..2 {
            let (wal, newest) = (&wal, &newest);
            scope.spawn(move || {
                let tasks = (0..TASKS).map(|task| Box::pin(commits(wal, newest, task + half)));
                run(tasks.map(|task| task as Task<'_>).collect());
            });
        }
    });
    let (.., found) = open(Arc::new(files.crash()), options(8192), 1, 0).unwrap();
    assert_eq!(found.len() as u64, 2 * TASKS * COMMITS);
    let syncs = counts.syncs.load(Ordering::Relaxed);
    assert!(syncs < TASKS * COMMITS, "{syncs} syncs");
}

/// Tasks that wait for a sync that fails hear of it.
#[test]
fn a_failed_sync_fails_all_tasks() {
    let (files, _, wal) = counting();
    for timestamp in 1..=TASKS {
        wal.append(timestamp, b"x").unwrap();
    }
    files.fail_once_after(1);
    let wal = &wal;
    let task = |timestamp| -> Task<'_> {
        Box::pin(async move {
            let failure = wal.flushed(timestamp).await.unwrap_err();
            assert_eq!(failure.sqlstate(), "58030");
        })
    };
    thread::scope(|scope| {
        scope.spawn(|| run((1..=TASKS / 2).map(task).collect()));
        scope.spawn(|| run((TASKS / 2 + 1..=TASKS).map(task).collect()));
    });
    assert_eq!(wal.durable(), 0);
}

/// A task that is next to sync may belong to a thread that waits for the log itself.
#[test]
fn tasks_that_nobody_polls_keep_no_thread_waiting() {
    let (_, _, wal) = counting();
    let waited = AtomicBool::new(false);
    for round in 0..20 {
        let first = 3 * round + 1;
        wal.append(first, b"x").unwrap();
        let both = || {
            while !wal.syncing() && wal.durable() < first {
                std::hint::spin_loop();
            }
            wal.append(first + 1, b"x").unwrap();
            let flush = pin!(wal.flushed(first + 1));
            let polled = flush.poll(&mut Context::from_waker(Waker::noop()));
            waited.fetch_or(polled.is_pending(), Ordering::Relaxed);
            wal.append(first + 2, b"x").unwrap();
            wal.flush(first + 2).unwrap();
        };
        thread::scope(|scope| {
            scope.spawn(|| wal.flush(first).unwrap());
            // Not on this thread, which the end of the other would wake.
            scope.spawn(both);
        });
        assert!(wal.durable() >= first + 2);
    }
    assert!(waited.into_inner());
}

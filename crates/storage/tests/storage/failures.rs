//! Operations that fail while the process lives on: the statement says so,
//! nothing acknowledged is lost, and the database goes on, at the latest after
//! it was opened again.

use crate::history::History;
use crate::world::world;
use freestone_storage::Store;
use freestone_storage::io::Faulty;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const HISTORIES: u64 = 40;
const STEPS: usize = 40;

/// What fails after so many operations.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// One operation.
    Once(u64),
    /// All operations, until the disk is mended.
    From(u64),
    /// Whatever needs room, until there is some.
    Full(u64),
}

/// How often something went wrong, and how often opening again was needed.
#[derive(Debug, Default)]
struct Counts {
    failed: AtomicU64,
    reopened: AtomicU64,
    full: AtomicU64,
}

fn begin(seed: u64) -> (Arc<Faulty>, History) {
    let files = Arc::new(Faulty::default());
    let history = History::begin(files.clone(), seed).unwrap();
    (files, history)
}

/// Goes on after an error, as a program would.
fn go_on(files: &Faulty, history: &mut History, state: &str, counts: &Counts) {
    counts.failed.fetch_add(1, Ordering::Relaxed);
    // What can be seen is what was acknowledged, whatever is wrong.
    if !history.closed {
        history.check();
    }
    files.heal();
    files.set_full(false);
    if history.closed {
        return history.reopen_after_failure();
    }
    match history.store.commit(|edit| edit.create_schema("more")) {
        Ok(()) => {
            history
                .store
                .commit(|edit| edit.drop_schema("more", false))
                .unwrap();
            // The disk took it after all, so what failed before is not in the log.
            history.uncertain = None;
            history.check();
        }
        Err(error) => {
            assert_ne!(state, "53100", "a full disk ended more than a statement");
            assert_eq!(error.sqlstate(), "58030", "{error}");
            assert!(
                error.to_string().contains("until it is reopened"),
                "{error}"
            );
            assert!(history.store.begin().is_err());
            history.check();
            history.reopen_after_failure();
            counts.reopened.fetch_add(1, Ordering::Relaxed);
        }
    }
    if state == "53100" {
        counts.full.fetch_add(1, Ordering::Relaxed);
    }
}

fn run(seed: u64, fault: Fault, counts: &Counts) {
    let (files, mut history) = begin(seed);
    let start = files.operations();
    match fault {
        Fault::Once(after) => files.fail_once_after(after),
        Fault::From(after) => files.fail_after(after),
        Fault::Full(_) => {}
    }
    for _ in 0..STEPS {
        if let Fault::Full(after) = fault
            && files.operations() - start == after
        {
            files.set_full(true);
        }
        if let Err(error) = history.step() {
            let state = error.sqlstate();
            assert!(["58030", "53100"].contains(&state), "{error}");
            go_on(&files, &mut history, state, counts);
        }
    }
    files.heal();
    let left = Arc::new(files.crash());
    let reopened = Store::over_files(left).unwrap();
    let found = world(&reopened.snapshot());
    assert!(
        found == *history.committed || Some(&found) == history.uncertain.as_ref(),
        "a power loss afterwards: {found:?} is not {:?}",
        history.committed
    );
}

/// Operations of a history in which nothing fails.
fn operations(seed: u64) -> u64 {
    let (files, mut history) = begin(seed);
    let start = files.operations();
    (0..STEPS).for_each(|_| history.step().unwrap());
    files.operations() - start
}

#[test]
fn every_operation_may_fail() {
    let (next, counts) = (AtomicU64::new(0), Counts::default());
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= HISTORIES {
                return;
            }
            for after in 0..operations(seed) {
                for fault in [Fault::Once(after), Fault::From(after), Fault::Full(after)] {
                    let _where = crate::crash_model::Where(format!("seed {seed}, {fault:?}"));
                    run(seed, fault, &counts);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let Counts {
        failed,
        reopened,
        full,
    } = counts;
    let (failed, reopened, full) = (
        failed.into_inner(),
        reopened.into_inner(),
        full.into_inner(),
    );
    println!("{failed} failures, {full} for want of room, {reopened} ended by opening again");
    assert!(failed > 2000 && full > 200 && reopened > 500);
}

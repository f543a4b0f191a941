//! Power losses at every operation of random histories: what was acknowledged
//! is there, the commit under way wholly or not at all, and nothing else.

use crate::history::{Acknowledged, History, log_options, options};
use crate::tables::Dice;
use crate::world::{ModelTable, World, batch, schema, world};
use freestone_storage::io::{Faulty, Moment, SECTOR_BYTES, Survival, Unsynced};
use freestone_storage::{DEFAULT_SCHEMA, Store};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Crash points of a default run.
const POINTS: u64 = 50_000;
const STEPS: usize = 60;

/// Says where it was when a test fails.
pub struct Where(pub String);

impl Drop for Where {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed at {}", self.0);
        }
    }
}

/// What a power loss leaves of a moment, in one of four ways.
fn crashed(files: &Faulty, dice: &mut Dice) -> Arc<Faulty> {
    Arc::new(match dice.below(4) {
        0 => files.crash(),
        1 => files.crash_keeping(|_| true),
        2 => files.crash_keeping(|_| dice.once_in(2)),
        _ => files.crash_tearing(|change| match change {
            Unsynced::Write { bytes, .. } => {
                let sectors = bytes.len() / SECTOR_BYTES + 2;
                Survival::Sectors((0..sectors).map(|_| dice.once_in(2)).collect())
            }
            Unsynced::Name(_) if dice.once_in(2) => Survival::Whole,
            Unsynced::Name(_) => Survival::Nothing,
        }),
    })
}

/// The states that a crash after so many operations may leave.
fn allowed(acknowledged: &[Acknowledged], operations: u64) -> Vec<Arc<World>> {
    let done = acknowledged.partition_point(|state| state.until <= operations);
    let last = done.checked_sub(1).map(|last| &acknowledged[last]);
    let next = acknowledged.get(done);
    let next = next.filter(|state| state.from <= operations);
    last.into_iter()
        .chain(next)
        .map(|state| state.world.clone())
        .collect()
}

fn open(files: &Arc<Faulty>, dice: &mut Dice) -> Arc<Store> {
    Store::over_files_with(files.clone(), log_options(dice)).unwrap()
}

/// Ends a store as a closing process does, or as a killed one.
fn close(store: Arc<Store>, files: &Arc<Faulty>, dice: &mut Dice) -> Arc<Faulty> {
    let kill = dice.once_in(2);
    if kill {
        files.fail_after(0);
    }
    drop(store);
    match kill {
        true => crashed(files, dice),
        false => files.clone(),
    }
}

/// Writes one more transaction and finds it again.
pub fn go_on(store: &Arc<Store>, world: &mut World, dice: &mut Dice) {
    let mut transaction = store.begin().unwrap();
    let name = world.keys().next().cloned();
    let name = name.filter(|_| !dice.once_in(3));
    let name = name.unwrap_or_else(|| "another".to_string());
    let table = world.entry(name.clone()).or_insert_with(|| {
        let columns = vec!["n".to_string()];
        let schema = schema(&columns, &name);
        let create = |edit: &mut freestone_storage::CatalogEdit| {
            edit.create_table(DEFAULT_SCHEMA, &name, schema, options(dice))
        };
        transaction.edit(create).unwrap();
        ModelTable {
            columns,
            ..ModelTable::default()
        }
    });
    let row = (-7, vec![Some(1); table.columns.len()]);
    let added = batch(&table.columns, std::slice::from_ref(&row));
    table.rows.insert(row.0, row.1);
    let snapshot = transaction.snapshot();
    let id = snapshot.table(DEFAULT_SCHEMA, &name).unwrap().id;
    let first = transaction.insert(id, &added).unwrap();
    transaction.check_keys(id, first).unwrap();
    transaction.commit().unwrap();
}

/// Looks at what a crash left without recovering it.
fn look(files: &Arc<Faulty>, allowed: &[Arc<World>], dice: &mut Dice) {
    let store = match dice.below(8) {
        0 | 1 => Store::read_files(files.clone()).unwrap(),
        2 => {
            let (store, report) = Store::salvage_files(files.clone(), false).unwrap();
            assert_eq!(report.to_string(), "nothing is damaged\n");
            store
        }
        _ => return,
    };
    let found = world(&store.snapshot());
    assert!(allowed.iter().any(|world| **world == found), "{found:?}");
}

/// Opens what a crash left; returns how many crashes that made.
fn check(files: Arc<Faulty>, allowed: &[Arc<World>], dice: &mut Dice) -> u64 {
    let mut crashes = 1;
    look(&files, allowed, dice);
    let watched = dice.once_in(8);
    if watched {
        files.watch();
    }
    let store = open(&files, dice);
    let found = world(&store.snapshot());
    assert!(
        allowed.iter().any(|world| **world == found),
        "found {found:?}\n\nallowed {allowed:?}"
    );
    assert!(store.notes().is_empty(), "{:?}", store.notes());
    store.verify(|report| report.outcome.unwrap());
    for moment in files.moments() {
        let _where = Where(format!("recovery, {}", moment.next));
        let again = open(&crashed(&moment.files, dice), dice);
        let found = world(&again.snapshot());
        assert!(allowed.iter().any(|world| **world == found));
        crashes += 1;
    }
    let mut found = found;
    if dice.once_in(2) {
        go_on(&store, &mut found, dice);
    }
    let left = close(store, &files, dice);
    // Once a database was opened, what was found there stays.
    let again = open(&left, dice);
    assert_eq!(world(&again.snapshot()), found, "opened a second time");
    crashes
}

/// The moments of one history, and what was acknowledged when.
fn history(seed: u64) -> (Vec<Moment>, Vec<Acknowledged>) {
    let files = Arc::new(Faulty::default());
    let mut history = History::begin(files.clone(), seed).unwrap();
    files.watch();
    for _ in 0..STEPS {
        history.step().unwrap();
    }
    let acknowledged = std::mem::take(&mut history.acknowledged);
    drop(history);
    (files.moments(), acknowledged)
}

/// Crash points of one history.
fn crash_everywhere(seed: u64) -> u64 {
    let mut place = Where(format!("seed {seed}"));
    let (moments, acknowledged) = history(seed);
    let mut dice = Dice(seed ^ 0xc4a5);
    let mut crashes = 0;
    for (number, moment) in moments.iter().enumerate() {
        place.0 = format!("seed {seed}, moment {number}: {}", moment.next);
        let allowed = allowed(&acknowledged, moment.operations);
        crashes += check(crashed(&moment.files, &mut dice), &allowed, &mut dice);
    }
    crashes
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap())
}

/// `FREESTONE_CRASH_POINTS` asks for so many crash points, `FREESTONE_CRASH_SEED`
/// for histories from that seed on.
#[test]
fn power_losses_leave_what_was_acknowledged() {
    let points = number("FREESTONE_CRASH_POINTS").unwrap_or(POINTS);
    let first = number("FREESTONE_CRASH_SEED").unwrap_or_default();
    let (seeds, crashes) = (AtomicU64::new(first), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while crashes.load(Ordering::Relaxed) < points {
                    let seed = seeds.fetch_add(1, Ordering::Relaxed);
                    crashes.fetch_add(crash_everywhere(seed), Ordering::Relaxed);
                }
            });
        }
    });
    let (seeds, crashes) = (seeds.into_inner() - first, crashes.into_inner());
    assert!(crashes >= points, "{crashes} crash points");
    println!("{crashes} crash points in {seeds} histories");
}

/// Four threads commit pairs of rows beside moves and checkpoints; a power loss
/// leaves each pair or nothing of it, and all that were acknowledged.
#[test]
fn power_losses_among_threads() {
    for seed in 0..8 {
        let _where = Where(format!("seed {seed}"));
        let mut dice = Dice(seed);
        let files = Arc::new(Faulty::default());
        let store = open(&files, &mut dice);
        let columns = vec!["n".to_string()];
        let create = store.commit(|edit| {
            let schema = schema(&columns, "t");
            edit.create_table(DEFAULT_SCHEMA, "t", schema, options(&mut dice))
        });
        let table = create.unwrap();
        files.watch();
        // Keys, and how many operations had been done when they were acknowledged.
        let acknowledged = Mutex::new(Vec::new());
        let write = &|thread: i64| {
            for number in 0..25 {
                let key = 1000 * thread + 2 * number;
                let pair = [(key, vec![Some(1)]), (key + 1, vec![Some(2)])];
                let mut transaction = store.begin().unwrap();
                let rows = batch(&columns, &pair);
                let first = transaction.insert(table, &rows).unwrap();
                transaction.check_keys(table, first).unwrap();
                transaction.commit().unwrap();
                let operations = files.operations();
                acknowledged.lock().unwrap().push((key, operations));
            }
        };
        std::thread::scope(|scope| {
            (0..4).for_each(|thread| drop(scope.spawn(move || write(thread))));
            for _ in 0..6 {
                std::thread::sleep(std::time::Duration::from_micros(300));
                store.move_delta(table).unwrap();
                store.checkpoint().unwrap();
            }
        });
        let acknowledged = acknowledged.into_inner().unwrap();
        for moment in files.moments() {
            let left = crashed(&moment.files, &mut dice);
            let reopened = open(&left, &mut dice);
            let found = world(&reopened.snapshot()).remove("t").unwrap().rows;
            let whole = |key: &i64| found.contains_key(&(key ^ 1));
            assert!(found.keys().all(whole), "half a transaction in {found:?}");
            for (key, operations) in &acknowledged {
                let lost = *operations <= moment.operations && !found.contains_key(key);
                assert!(!lost, "{key} is lost at {}", moment.next);
            }
            left.fail_after(0);
        }
    }
}

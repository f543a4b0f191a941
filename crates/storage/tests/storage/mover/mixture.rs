//! Moves among everything else, at random and side by side.

use super::layouts::wishes;
use super::partition::{create_partitioned, must_be_cut};
use super::*;
use freestone_storage::Layout;
use std::sync::atomic::{AtomicBool, Ordering};

/// A random mixture of everything, against a model, with power losses.
#[test]
fn any_mixture_survives() {
    mixture(0..25, 120, 0, create);
}

/// The same with a table that is large enough to have ranges.
#[test]
fn any_mixture_of_ranges_survives() {
    mixture(0..6, 60, 2_500, |store| create_partitioned(store, 2));
}

fn mixture(
    seeds: std::ops::Range<u64>,
    steps: usize,
    loaded: i32,
    create: impl Fn(&Store) -> TableId,
) {
    for seed in seeds {
        let mut dice = Dice(seed);
        let files = Arc::new(Faulty::default());
        let mut store = Store::over_files(files.clone()).unwrap();
        let table = create(&store);
        load(&store, table, 1_000..1_000 + loaded);
        let mut committed = rows(&store.snapshot());
        let mut running: Vec<(Transaction, [Rows; 2], Vec<i32>)> = Vec::new();
        for step in 0..steps {
            if running.len() < 3 {
                let own = store.begin().unwrap();
                running.push((own, [committed.clone(), committed.clone()], Vec::new()));
            }
            let chosen = dice.below(running.len());
            let (own, [model, base], written) = &mut running[chosen];
            for _ in 0..dice.below(6) {
                let (key, value) = (dice.below(300) as i32, dice.below(1000) as i32);
                let known = model.contains_key(&key);
                if known {
                    let value = dice.once_in(2).then_some(value);
                    let before = own.savepoint();
                    match write(own, table, key, value) {
                        Ok(()) => {
                            written.push(key);
                            match value {
                                Some(value) => model.insert(key, value),
                                None => model.remove(&key),
                            };
                        }
                        Err(error) => {
                            // Another may have taken the key of a row of its own.
                            let taken = error.sqlstate() == "23505" && !base.contains_key(&key);
                            assert!(taken || error.sqlstate() == "40001", "{error}");
                            own.roll_back_to(&before);
                        }
                    }
                } else if insert(own, table, &[(key, value)]).is_ok() {
                    model.insert(key, value);
                    written.push(key);
                }
            }
            assert_eq!(rows(&own.snapshot()), *model);
            if dice.once_in(2) {
                let (own, [model, base], written) = running.swap_remove(chosen);
                match own.commit() {
                    Ok(()) => written.iter().for_each(|key| match model.get(key) {
                        Some(value) => drop(committed.insert(*key, *value)),
                        // A row that came and went in one transaction was never there.
                        None if base.contains_key(key) => drop(committed.remove(key)),
                        None => {}
                    }),
                    // A key of a new row that another took.
                    Err(error) => assert_eq!(error.sqlstate(), "23505", "{error}"),
                }
            }
            if dice.once_in(10) {
                let turn = dice.below(Layout::ALL.len());
                let layout = |number: usize| Layout::ALL[(number + turn) % Layout::ALL.len()];
                store.wish_layouts(table, wishes(&table_of(&store), layout));
            }
            match dice.below(8) {
                0 => drop(store.move_delta(table).unwrap()),
                1 => store.vacuum(table).unwrap(),
                2 if 2 * step > steps => {
                    let (seen, name) = (table_of(&store), format!("i{step}"));
                    let index = store
                        .build_index(&seen, &name, IndexKind::Csb, vec![1], 1, &|| true)
                        .unwrap();
                    store
                        .commit(|edit| edit.create_index(DEFAULT_SCHEMA, &seen, index))
                        .unwrap();
                }
                3 => store.checkpoint().unwrap(),
                _ => {}
            }
            assert_eq!(rows(&store.snapshot()), committed, "seed {seed}");
            let lost = Store::over_files(Arc::new(files.crash())).unwrap();
            assert_eq!(rows(&lost.snapshot()), committed, "after a power loss");
            if dice.once_in(20) {
                running.clear();
                if loaded > 0 {
                    store.vacuum(table).unwrap();
                    must_be_cut(&store);
                }
                drop(store);
                store = Store::over_files(files.clone()).unwrap();
                assert_eq!(rows(&store.snapshot()), committed, "reopened");
            }
        }
    }
}

/// Rows are deleted and updated while others move them, all the time.
#[test]
fn rows_change_while_they_move() {
    const KEYS: i32 = 8_000;
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), OpenMode::Create).unwrap();
    let table = create(&store);
    load(&store, table, 0..KEYS);
    let (going, began) = (AtomicBool::new(true), Instant::now());
    let mut models: Vec<Rows> = Vec::new();
    let mut refused = 0;
    std::thread::scope(|scope| {
        // Each has keys of its own, so nothing may ever conflict.
        let writer = |first: i32| {
            let (store, going) = (&store, &going);
            scope.spawn(move || {
                let mut dice = Dice(first as u64);
                let all = (0..KEYS).filter(|key| key % 2 == first);
                let mut model: Rows = all.map(|key| (key, key)).collect();
                let mut refused = 0;
                while going.load(Ordering::Relaxed) {
                    let mut own = store.begin().unwrap();
                    let mut next = model.clone();
                    let mut change = || -> Result<()> {
                        for _ in 0..dice.below(20) {
                            let key = 2 * dice.below(KEYS as usize / 2) as i32 + first;
                            let value = dice.below(1_000_000) as i32;
                            let known = next.contains_key(&key);
                            if !known {
                                insert(&mut own, table, &[(key, value)])?;
                                next.insert(key, value);
                            } else if dice.once_in(3) {
                                write(&mut own, table, key, None)?;
                                next.remove(&key);
                            } else {
                                write(&mut own, table, key, Some(value))?;
                                next.insert(key, value);
                            }
                        }
                        Ok(())
                    };
                    match change().and_then(|()| own.commit()) {
                        Ok(()) => model = next,
                        Err(_) => refused += 1,
                    }
                }
                (model, refused)
            })
        };
        let writers = [writer(0), writer(1)];
        let mut number = 0;
        while began.elapsed() < Duration::from_secs(2) {
            let layout = |block: usize| Layout::ALL[(number + block) % Layout::ALL.len()];
            store.wish_layouts(table, wishes(&table_of(&store), layout));
            match number % 4 {
                0 | 2 => drop(store.move_delta(table).unwrap()),
                1 => store.vacuum(table).unwrap(),
                _ => store.checkpoint().unwrap(),
            }
            let all = seen(&store.snapshot());
            let keys: std::collections::HashSet<i32> = all.iter().map(|row| row.1).collect();
            assert_eq!(keys.len(), all.len(), "a key twice");
            number += 1;
        }
        going.store(false, Ordering::Relaxed);
        for writer in writers {
            let (model, conflicts) = writer.join().unwrap();
            models.push(model);
            refused += conflicts;
        }
        assert!(number > 2, "{number} moves");
    });
    assert_eq!(refused, 0);
    let mut expected = models.remove(0);
    expected.extend(models.remove(0));
    assert_eq!(rows(&store.snapshot()), expected);
    drop(store);
    let store = Store::open(directory.path(), OpenMode::ReadWrite).unwrap();
    assert_eq!(rows(&store.snapshot()), expected);
}

/// Transfers between accounts, with the mover at work behind them, keep the sum.
#[test]
fn readers_see_whole_commits_while_rows_move() {
    const ACCOUNTS: i32 = 20_000;
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), OpenMode::Create).unwrap();
    let table = create(&store);
    load(&store, table, 0..ACCOUNTS);
    let total: i64 = (0..i64::from(ACCOUNTS)).sum();
    let sum = || {
        let rows = seen(&store.snapshot());
        assert_eq!(rows.len(), ACCOUNTS as usize);
        rows.iter().map(|row| i64::from(row.2)).sum::<i64>()
    };
    let (going, began) = (AtomicBool::new(true), Instant::now());
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (store, going) = (&store, &going);
            scope.spawn(move || {
                let mut dice = Dice(thread);
                while going.load(Ordering::Relaxed) {
                    // Many rows at once, so that the delta grows beyond its limit.
                    let mut own = store.begin().unwrap();
                    let all = seen(&own.snapshot());
                    let first = dice.below(all.len() / 2);
                    let chosen = &all[first..first + all.len() / 3];
                    let ids: Vec<RowId> = chosen.iter().map(|row| row.0).collect();
                    if own.delete(table, &ids).is_err() {
                        continue;
                    }
                    let signs = (0..chosen.len()).map(|place| match place {
                        last if last + 1 == chosen.len() && last % 2 == 0 => 0,
                        place if place % 2 == 0 => 1,
                        _ => -1,
                    });
                    let moved = chosen
                        .iter()
                        .zip(signs)
                        .map(|(row, by)| (row.1, row.2 + by));
                    // The other one may not have ended whose rows these were.
                    if insert(&mut own, table, &moved.collect::<Vec<_>>()).is_ok() {
                        own.commit().unwrap();
                    }
                }
            });
        }
        // The mover gives way to others: on a busy machine its turn comes late.
        let (least, most) = (Duration::from_secs(2), Duration::from_secs(60));
        let has_moved = || moves(&store).done.steps > 0;
        while began.elapsed() < least || (!has_moved() && began.elapsed() < most) {
            assert_eq!(sum(), total);
        }
        going.store(false, Ordering::Relaxed);
    });
    let done = moves(&store).done;
    assert!(done.steps > 0, "the mover has done nothing");
    assert_eq!(done.last_error, None);
    store.vacuum(table).unwrap();
    assert_eq!(sum(), total);
    drop(store);
    let store = Store::open(directory.path(), OpenMode::ReadWrite).unwrap();
    let values = rows(&store.snapshot());
    assert_eq!(
        values.values().map(|value| i64::from(*value)).sum::<i64>(),
        total
    );
}

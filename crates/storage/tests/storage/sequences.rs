//! Numbers of sequences: none twice, whatever fails.

use crate::tables::Dice;
use freestone_storage::io::{Faulty, Files};
use freestone_storage::{
    Column, ColumnType, DEFAULT_SCHEMA, Identity, OpenMode, Result, Sequence, SequenceDefinition,
    SequenceId, SequencePosition, Store, TableOptions, TableSchema,
};
use std::collections::HashSet;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Barrier};

fn definition() -> SequenceDefinition {
    SequenceDefinition::of_type(ColumnType::BigInt, 1)
}

fn create(store: &Store) -> SequenceId {
    let create = store.commit(|edit| edit.create_sequence(DEFAULT_SCHEMA, "s", definition()));
    create.unwrap()
}

fn sequence(store: &Store) -> Arc<Sequence> {
    let snapshot = store.snapshot();
    snapshot.sequence(DEFAULT_SCHEMA, "s").unwrap().clone()
}

fn take(store: &Store, wanted: u64) -> Result<Vec<i64>> {
    let numbers = store.next_numbers(&sequence(store), wanted)?;
    assert!((1..=wanted).contains(&numbers.count()));
    Ok(numbers.iter().collect())
}

fn next(store: &Store) -> i64 {
    take(store, 1).unwrap()[0]
}

fn identity_table(store: &Store) {
    let made = store.commit(|edit| {
        let sequence = edit.create_sequence(DEFAULT_SCHEMA, "s", definition())?;
        let column = |name: &str, identity| Column {
            name: name.into(),
            kind: ColumnType::BigInt,
            nullable: false,
            default: None,
            identity,
            modifier: None,
            declared: None,
            generated: false,
            hidden: None,
        };
        let always = true;
        let schema = TableSchema {
            columns: vec![
                column(
                    "id",
                    Some(Identity {
                        sequence,
                        always,
                        serial: false,
                    }),
                ),
                column("v", None),
            ],
            ..TableSchema::default()
        };
        edit.create_table(DEFAULT_SCHEMA, "t", schema, TableOptions::default())
    });
    made.unwrap();
}

#[test]
fn no_number_is_given_twice_over_power_losses() {
    for seed in 0..40 {
        let mut dice = Dice(seed);
        let mut files = Arc::new(Faulty::default());
        let mut store = Store::over_files(files.clone()).unwrap();
        create(&store);
        let mut given = HashSet::new();
        let (mut greatest, mut losses) = (0, 0);
        for _ in 0..120 {
            match dice.below(12) {
                0 => {
                    // Only what was synced is left.
                    files = Arc::new(files.crash());
                    store = Store::over_files(files.clone()).unwrap();
                    losses += 1;
                }
                1 => store.checkpoint().unwrap(),
                2 => drop(store.commit(|edit| edit.create_view(DEFAULT_SCHEMA, "v", "SELECT 1"))),
                _ => {
                    let most = if dice.once_in(4) { 3000 } else { 5 };
                    let wanted = 1 + dice.below(most) as u64;
                    for number in take(&store, wanted).unwrap() {
                        assert!(given.insert(number), "{number} twice, seed {seed}");
                        greatest = greatest.max(number);
                    }
                }
            }
        }
        // A power loss leaves out what was reserved, and no more.
        let left_out = greatest - given.len() as i64;
        assert!(left_out <= losses * 3000, "{left_out} by {losses}");
    }
}

#[test]
fn whichever_operation_fails_what_was_given_stays_given() {
    for failing in 0..60 {
        let files = Arc::new(Faulty::default());
        let store = Store::over_files(files.clone()).unwrap();
        create(&store);
        let before = files.operations();
        files.fail_after(before + failing);
        let mut given = Vec::new();
        for round in 0..8 {
            match take(&store, 700) {
                Ok(numbers) => given.extend(numbers),
                Err(error) => assert!(["58030", "53100"].contains(&error.sqlstate()), "{error}"),
            }
            if round == 4 {
                let _ = store.checkpoint();
            }
        }
        let after = Store::over_files(Arc::new(files.crash())).unwrap();
        let next = next(&after);
        assert!(given.iter().all(|number| *number < next), "{next} again");
    }
}

#[test]
fn every_number_of_a_lot_waits_until_the_lot_is_durable() {
    let files = Arc::new(Faulty::default());
    let store = Store::over_files(files.clone()).unwrap();
    create(&store);
    let before = files.operations();
    assert_eq!(next(&store), 1);
    assert!(files.operations() > before, "nothing was synced");
    let before = files.operations();
    assert_eq!(take(&store, 1000).unwrap().len(), 1000);
    assert_eq!(files.operations(), before, "a lot is reserved once");
}

#[test]
fn threads_share_the_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), OpenMode::Create).unwrap();
    create(&store);
    let (threads, each) = (8, 3000);
    let barrier = Barrier::new(threads);
    let mut all: Vec<i64> = std::thread::scope(|scope| {
        let work = |thread: usize| {
            let (store, barrier) = (&store, &barrier);
            move || {
                barrier.wait();
                let mut mine = Vec::new();
                for round in 0..each {
                    mine.push(next(store));
                    if round % 500 == thread {
                        // Commits of another kind, and checkpoints, go on beside.
                        let name = format!("v{thread}_{round}");
                        let view = |edit: &mut freestone_storage::CatalogEdit| {
                            edit.create_view(DEFAULT_SCHEMA, &name, "SELECT 1")
                        };
                        store.commit(view).unwrap();
                        store.checkpoint().unwrap();
                    }
                }
                mine
            }
        };
        let running: Vec<_> = (0..threads).map(|t| scope.spawn(work(t))).collect();
        let joined = running.into_iter().flat_map(|one| one.join().unwrap());
        joined.collect()
    });
    all.sort_unstable();
    let expected: Vec<i64> = (1..=(threads * each) as i64).collect();
    assert_eq!(all, expected);
}

#[test]
fn what_threads_were_given_is_durable_at_any_moment() {
    let files = Arc::new(Faulty::default());
    let store = Store::over_files(files.clone()).unwrap();
    create(&store);
    let greatest = AtomicI64::new(0);
    let check = || {
        let known = greatest.load(Ordering::SeqCst);
        let after = Store::over_files(Arc::new(files.crash())).unwrap();
        assert!(
            next(&after) > known,
            "{known} was given before the power went"
        );
    };
    std::thread::scope(|scope| {
        for wanted in [1, 40, 900, 2000] {
            let (store, greatest) = (&store, &greatest);
            scope.spawn(move || {
                for _ in 0..100 {
                    let given = take(store, wanted).unwrap();
                    greatest.fetch_max(*given.last().unwrap(), Ordering::SeqCst);
                }
            });
        }
        (0..40).for_each(|_| check());
    });
    check();
}

#[test]
fn a_closed_database_leaves_nothing_out() {
    let directory = tempfile::tempdir().unwrap();
    let open = || Store::open(directory.path(), OpenMode::Create).unwrap();
    let store = open();
    create(&store);
    assert_eq!(take(&store, 5).unwrap(), [1, 2, 3, 4, 5]);
    drop(store);
    assert_eq!(next(&open()), 6);
    let reader = Store::open(directory.path(), OpenMode::ReadOnly).unwrap();
    let refused = take(&reader, 1).unwrap_err();
    assert_eq!(refused.sqlstate(), "25006");
    let to = SequencePosition {
        value: 1,
        given: true,
    };
    let refused = reader.set_sequence(&sequence(&reader), to).unwrap_err();
    assert_eq!(refused.sqlstate(), "25006");
}

#[test]
fn a_sequence_of_a_transaction_is_its_own_until_it_commits() {
    let files = Arc::new(Faulty::default());
    let store = Store::over_files(files.clone()).unwrap();
    let mut transaction = store.begin().unwrap();
    let made = transaction.edit(|edit| edit.create_sequence(DEFAULT_SCHEMA, "s", definition()));
    made.unwrap();
    let snapshot = transaction.snapshot();
    let own = snapshot.sequence(DEFAULT_SCHEMA, "s").unwrap();
    let before = files.operations();
    assert_eq!(store.next_numbers(own, 3).unwrap().last(), 3);
    assert_eq!(files.operations(), before, "nothing to be logged yet");
    assert!(store.snapshot().sequence(DEFAULT_SCHEMA, "s").is_none());
    transaction.commit().unwrap();
    // What was given before it was committed counts.
    let after = Store::over_files(Arc::new(files.crash())).unwrap();
    assert!(next(&after) > 3);
    assert_eq!(next(&store), 4);
}

#[test]
fn numbers_taken_meanwhile_are_no_conflict() {
    let files = Arc::new(Faulty::default());
    let store = Store::over_files(files).unwrap();
    create(&store);
    let mut transaction = store.begin().unwrap();
    let made = transaction.edit(|edit| {
        edit.drop_sequence(DEFAULT_SCHEMA, "s")?;
        edit.create_view(DEFAULT_SCHEMA, "v", "SELECT 1")
    });
    made.unwrap();
    assert_eq!(take(&store, 2000).unwrap().len(), 2000);
    let other = store.commit(|edit| edit.create_view(DEFAULT_SCHEMA, "w", "SELECT 1"));
    other.unwrap();
    let known = sequence(&store);
    transaction.commit().unwrap();
    assert!(store.snapshot().sequence(DEFAULT_SCHEMA, "s").is_none());
    // Who still sees it goes on; nothing is left of that in the log.
    assert_eq!(store.next_numbers(&known, 2000).unwrap().count(), 2000);
}

#[test]
fn two_declarations_are_a_conflict() {
    let store = Store::in_memory();
    create(&store);
    let mut transaction = store.begin().unwrap();
    let restart =
        |edit: &mut freestone_storage::CatalogEdit| edit.restart_sequence(DEFAULT_SCHEMA, "s");
    transaction.edit(restart).unwrap();
    let mut other = store.begin().unwrap();
    let made = |edit: &mut freestone_storage::CatalogEdit| {
        edit.create_sequence(DEFAULT_SCHEMA, "u", definition())
    };
    other.edit(made).unwrap();
    store.commit(restart).unwrap();
    store
        .commit(|edit| edit.create_view(DEFAULT_SCHEMA, "u", "SELECT 1"))
        .unwrap();
    assert_eq!(transaction.commit().unwrap_err().sqlstate(), "40001");
    assert_eq!(other.commit().unwrap_err().sqlstate(), "40001");
}

#[test]
fn a_restart_is_seen_when_it_is_committed() {
    let files = Arc::new(Faulty::default());
    let store = Store::over_files(files.clone()).unwrap();
    create(&store);
    assert_eq!(take(&store, 9).unwrap().len(), 9);
    let mut transaction = store.begin().unwrap();
    let restart = transaction.edit(|edit| edit.restart_sequence(DEFAULT_SCHEMA, "s"));
    restart.unwrap();
    assert_eq!(next(&store), 10);
    transaction.commit().unwrap();
    assert_eq!(next(&store), 1);
    let after = Store::over_files(Arc::new(files.crash())).unwrap();
    assert_eq!(next(&after), 1025);
}

#[test]
fn setval_holds_over_a_power_loss() {
    let files = Arc::new(Faulty::default());
    let store = Store::over_files(files.clone()).unwrap();
    create(&store);
    let to = |value, given| SequencePosition { value, given };
    let set = |position| store.set_sequence(&sequence(&store), position);
    set(to(50, true)).unwrap();
    let after = Store::over_files(Arc::new(files.crash())).unwrap();
    assert_eq!(next(&after), 51);
    set(to(7, false)).unwrap();
    let after = Store::over_files(Arc::new(files.crash())).unwrap();
    assert_eq!(next(&after), 7);
    assert_eq!(next(&store), 7);
    assert_eq!(set(to(0, true)).unwrap_err().sqlstate(), "22003");
    set(to(i64::MAX, true)).unwrap();
    assert_eq!(take(&store, 1).unwrap_err().sqlstate(), "2200H");
}

#[test]
fn readers_see_sequences_and_a_checkpoint_keeps_them() {
    let files: Arc<Faulty> = Arc::default();
    let store = Store::over_files(files.clone() as Arc<dyn Files>).unwrap();
    let reader = Store::read_files(files.clone()).unwrap();
    create(&store);
    assert_eq!(next(&store), 1);
    assert_eq!(sequence(&reader).definition, definition());
    store.checkpoint().unwrap();
    store
        .commit(|edit| edit.drop_sequence(DEFAULT_SCHEMA, "s"))
        .unwrap();
    let snapshot = reader.snapshot();
    assert!(snapshot.sequence(DEFAULT_SCHEMA, "s").is_none());
}

#[test]
fn the_sequence_of_an_identity_column_goes_with_it() {
    let store = Store::in_memory();
    let there = || store.snapshot().sequence(DEFAULT_SCHEMA, "s").is_some();
    identity_table(&store);
    let refused = store.commit(|edit| edit.drop_sequence(DEFAULT_SCHEMA, "s"));
    assert_eq!(refused.unwrap_err().sqlstate(), "2BP01");
    let table = store.snapshot().table(DEFAULT_SCHEMA, "t").unwrap().id;
    store.commit(|edit| edit.drop_column(table, "v")).unwrap();
    assert!(there());
    store
        .commit(|edit| edit.drop_table(DEFAULT_SCHEMA, "t", false))
        .unwrap();
    assert!(!there());
    identity_table(&store);
    let table = store.snapshot().table(DEFAULT_SCHEMA, "t").unwrap().id;
    store.commit(|edit| edit.drop_column(table, "id")).unwrap();
    assert!(!there());
}

#[test]
fn names_are_shared_with_tables_and_views() {
    let store = Store::in_memory();
    create(&store);
    let taken = store.commit(|edit| edit.create_view(DEFAULT_SCHEMA, "s", "SELECT 1"));
    assert_eq!(taken.unwrap_err().sqlstate(), "42P07");
    let taken = store.commit(|edit| edit.create_sequence(DEFAULT_SCHEMA, "s", definition()));
    assert_eq!(taken.unwrap_err().sqlstate(), "42P07");
    let none = store.commit(|edit| edit.drop_sequence(DEFAULT_SCHEMA, "none"));
    assert_eq!(none.unwrap_err().sqlstate(), "42P01");
    store.commit(|edit| edit.create_schema("x")).unwrap();
    store
        .commit(|edit| edit.create_sequence("x", "s", definition()))
        .unwrap();
    let full = store.commit(|edit| edit.drop_schema("x", false));
    assert_eq!(full.unwrap_err().sqlstate(), "2BP01");
    store.commit(|edit| edit.drop_schema("x", true)).unwrap();
    assert!(store.snapshot().sequence("x", "s").is_none());
}

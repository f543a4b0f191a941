//! Transactions against a model, across power losses.

use crate::tables::Dice;
use arrow_array::{ArrayRef, Int32Array, RecordBatch};
use freestone_storage::io::Faulty;
use freestone_storage::{
    Column, ColumnType, CompareOp, DEFAULT_SCHEMA, Deferral, ForeignAction, ForeignKey, Key,
    Predicate, Result, RowId, Snapshot, Stopped, Store, TableId, TableOptions, TableSchema,
    Transaction, Value,
};
use std::collections::BTreeMap;
use std::sync::Arc;

type Rows = BTreeMap<i32, i32>;

pub(crate) fn columns() -> TableSchema {
    let column = |name: &str| Column {
        name: name.into(),
        kind: ColumnType::Integer,
        nullable: false,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    };
    TableSchema {
        columns: vec![column("k"), column("v")],
        keys: vec![Key {
            name: "t_key".into(),
            columns: vec![0],
            primary: true,
            ..Key::default()
        }],
        ..TableSchema::default()
    }
}

/// A foreign key from the second column to the first one of another table.
pub(crate) fn reference(parent: TableId) -> ForeignKey {
    ForeignKey {
        name: "children_v_fkey".into(),
        columns: vec![1],
        parent,
        parent_columns: vec![0],
        on_delete: ForeignAction::NoAction,
        on_update: ForeignAction::NoAction,
        deferral: Deferral::Never,
        unvalidated: false,
    }
}

pub(crate) fn batch(rows: &[(i32, i32)]) -> RecordBatch {
    let column = |of: fn(&(i32, i32)) -> i32| -> ArrayRef {
        Arc::new(Int32Array::from_iter_values(rows.iter().map(of)))
    };
    let arrays = vec![column(|row| row.0), column(|row| row.1)];
    RecordBatch::try_new(columns().arrow(), arrays).unwrap()
}

pub(crate) fn create(store: &Store) -> TableId {
    let create = store
        .commit(|edit| edit.create_table(DEFAULT_SCHEMA, "t", columns(), TableOptions::default()));
    create.unwrap()
}

/// The rows that a snapshot sees, with their ids.
fn seen(snapshot: &Snapshot) -> Vec<(RowId, i32, i32)> {
    let table = snapshot.table(DEFAULT_SCHEMA, "t").unwrap();
    let view = snapshot.read_view(table.id);
    let found = table
        .look_up(&view, &Predicate::IsNotNull(0), &[0, 1])
        .unwrap();
    let number = |value: &Option<Value>| match value {
        Some(Value::Int(value)) => *value as i32,
        other => panic!("{other:?}"),
    };
    let rows = found
        .iter()
        .map(|(id, row)| (*id, number(&row[0]), number(&row[1])));
    rows.collect()
}

pub(crate) fn rows(snapshot: &Snapshot) -> Rows {
    let all = seen(snapshot);
    let map: Rows = all.iter().map(|(_, key, value)| (*key, *value)).collect();
    assert_eq!(map.len(), all.len(), "a key twice in {all:?}");
    map
}

pub(crate) fn find(snapshot: &Snapshot, key: i32) -> Option<RowId> {
    let table = snapshot.table(DEFAULT_SCHEMA, "t").unwrap();
    let predicate = Predicate::Compare {
        column: 0,
        op: CompareOp::Eq,
        value: Value::Int(key.into()),
    };
    let found = table
        .look_up(&snapshot.read_view(table.id), &predicate, &[])
        .unwrap();
    assert!(found.len() < 2);
    found.first().map(|(id, _)| *id)
}

fn insert(transaction: &mut Transaction, table: TableId, rows: &[(i32, i32)]) -> Result<()> {
    let before = transaction.savepoint();
    let first = transaction.insert(table, &batch(rows))?;
    let checked = transaction.check_keys(table, first);
    if checked.is_err() {
        transaction.roll_back_to(&before);
    }
    checked
}

/// A transaction and what it must see.
struct Running {
    transaction: Transaction,
    model: Rows,
    /// What it began with.
    base: Rows,
    /// Keys that it wrote.
    written: Vec<i32>,
    /// How many commits it began after,
    began: usize,
    /// and how many moves of rows into blocks.
    moves: usize,
}

/// One random change; the model changes if it succeeds.
fn change(running: &mut Running, table: TableId, dice: &mut Dice) {
    let Running {
        transaction,
        model,
        written,
        ..
    } = running;
    let key = dice.below(40) as i32;
    let value = dice.below(1_000_000) as i32;
    let known = find(&transaction.snapshot(), key);
    assert_eq!(known.is_some(), model.contains_key(&key), "key {key}");
    match (known, dice.below(3)) {
        (None, _) => match insert(transaction, table, &[(key, value)]) {
            Ok(()) => {
                model.insert(key, value);
                written.push(key);
            }
            Err(error) => {
                assert!(["23505", "40001"].contains(&error.sqlstate()), "{error}");
            }
        },
        (Some(id), 0) => match transaction.delete(table, &[id]) {
            Ok(count) => {
                assert_eq!(count, 1);
                model.remove(&key);
                written.push(key);
            }
            Err(error) => assert_eq!(error.sqlstate(), "40001", "{error}"),
        },
        (Some(id), _) => {
            let before = transaction.savepoint();
            match transaction.delete(table, &[id]) {
                Ok(_) => {
                    let inserted = insert(transaction, table, &[(key, value)]);
                    if let Err(error) = &inserted {
                        // Another took the key of a row of its own, or a row was moved.
                        assert!(["23505", "40001"].contains(&error.sqlstate()), "{error}");
                    }
                    if inserted.is_err() || dice.once_in(5) {
                        transaction.roll_back_to(&before);
                    } else {
                        model.insert(key, value);
                        written.push(key);
                    }
                }
                Err(error) => assert_eq!(error.sqlstate(), "40001", "{error}"),
            }
        }
    }
    assert_eq!(rows(&transaction.snapshot()), *model);
}

#[test]
fn interleaved_transactions_see_what_they_should_and_survive() {
    for seed in 0..30 {
        let mut dice = Dice(seed);
        let files = Arc::new(Faulty::default());
        let mut store = Store::over_files(files.clone()).unwrap();
        let table = create(&store);
        let mut committed = Rows::new();
        // The keys that each commit wrote.
        let mut history: Vec<Vec<i32>> = Vec::new();
        let mut running: Vec<Running> = Vec::new();
        let mut moves = 0;
        for _ in 0..150 {
            if running.len() < 3 {
                let transaction = store.begin().unwrap();
                assert_eq!(rows(&transaction.snapshot()), committed);
                running.push(Running {
                    transaction,
                    model: committed.clone(),
                    base: committed.clone(),
                    written: Vec::new(),
                    began: history.len(),
                    moves,
                });
            }
            let chosen = dice.below(running.len());
            if !dice.once_in(5) {
                change(&mut running[chosen], table, &mut dice);
                continue;
            }
            let mut ending = running.swap_remove(chosen);
            // A row that came and went in one transaction was never there.
            let Running {
                model,
                base,
                written,
                ..
            } = &mut ending;
            written.retain(|key| model.contains_key(key) || base.contains_key(key));
            if dice.once_in(4) {
                continue;
            }
            let later: Vec<i32> = history[ending.began..].concat();
            match ending.transaction.commit() {
                Ok(()) => {
                    // A new key may be one that others took and gave up again.
                    let mut rewritten = ending
                        .written
                        .iter()
                        .filter(|key| ending.base.contains_key(key));
                    let clash = rewritten.find(|key| later.contains(key));
                    assert_eq!(clash, None, "two writers of one key");
                    for key in &ending.written {
                        match ending.model.get(key) {
                            Some(value) => committed.insert(*key, *value),
                            None => committed.remove(key),
                        };
                    }
                    if !ending.written.is_empty() {
                        history.push(ending.written);
                    }
                }
                Err(error) => {
                    // A row that was moved is not followed.
                    let clash = ending.written.iter().any(|key| later.contains(key));
                    assert!(clash || ending.moves < moves, "{error}");
                    assert!(["40001", "23505"].contains(&error.sqlstate()), "{error}");
                }
            }
            assert_eq!(rows(&store.snapshot()), committed);
            if dice.once_in(4) {
                store.checkpoint().unwrap();
            }
            if dice.once_in(9) {
                moves += usize::from(store.move_delta(table).unwrap() > 0);
                assert_eq!(rows(&store.snapshot()), committed, "moved");
            }
            let lost = Store::over_files(Arc::new(files.crash())).unwrap();
            assert_eq!(rows(&lost.snapshot()), committed, "after a power loss");
            if dice.once_in(6) {
                running.clear();
                drop(store);
                store = Store::over_files(files.clone()).unwrap();
            }
        }
    }
}

/// Whatever operation fails, a power loss leaves what was committed, or that and
/// the commit that was under way.
#[test]
fn every_power_loss_leaves_whole_commits() {
    let run = |files: &Arc<Faulty>| -> Vec<Rows> {
        let mut states = Vec::new();
        let Ok(store) = Store::over_files(files.clone()) else {
            return states;
        };
        let table = store.commit(|edit| {
            edit.create_table(DEFAULT_SCHEMA, "t", columns(), TableOptions::default())
        });
        let Ok(table) = table else {
            return states;
        };
        states.push(Rows::new());
        for step in 0..12 {
            let mut next = states.last().cloned().unwrap_or_default();
            let mut commit = || -> Result<()> {
                let mut transaction = store.begin()?;
                if step % 3 == 2 {
                    let all = seen(&transaction.snapshot());
                    let (id, key, _) = all[step / 2];
                    transaction.delete(table, &[id])?;
                    next.remove(&key);
                }
                let rows = [(100 * step as i32, 1), (100 * step as i32 + 1, 2)];
                insert(&mut transaction, table, &rows)?;
                next.extend(rows);
                transaction.commit()
            };
            if commit().is_err() {
                // It may have become durable or not.
                states.push(next);
                return states;
            }
            states.push(next);
            if step % 5 == 4 {
                let _ = store.checkpoint();
            }
        }
        states
    };
    let whole = Arc::new(Faulty::default());
    let complete = run(&whole).len();
    for limit in 0..whole.operations() {
        let files = Arc::new(Faulty::default());
        files.fail_after(limit);
        let states = run(&files);
        let left = Arc::new(files.crash());
        let store = Store::over_files(left).unwrap();
        if store.snapshot().table(DEFAULT_SCHEMA, "t").is_none() {
            assert!(states.len() < 2, "the table is lost after {limit}");
            continue;
        }
        let found = rows(&store.snapshot());
        let last = states.len().saturating_sub(2);
        assert!(
            states.is_empty() || states[last..].contains(&found),
            "after {limit}: {found:?} is none of {:?}",
            &states[last..]
        );
        assert!(states.len() <= complete);
    }
}

/// An update commits the end of a row's old version before its new one is there: who checks
/// references meanwhile finds the row nevertheless.
#[test]
fn parents_that_others_update_are_found() {
    const UPDATES: usize = 3_000;
    let store = Store::in_memory();
    let parents = create(&store);
    let mut transaction = store.begin().unwrap();
    insert(&mut transaction, parents, &[(1, 0), (2, 0)]).unwrap();
    transaction.commit().unwrap();
    let mut schema = columns();
    schema.foreign_keys.push(reference(parents));
    let children = store.commit(|edit| {
        edit.create_table(DEFAULT_SCHEMA, "children", schema, TableOptions::default())
    });
    let children = children.unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for count in 0..UPDATES {
                let mut transaction = store.begin().unwrap();
                let id = find(&transaction.snapshot(), 2).unwrap();
                let row = vec![Some(Value::Int(2)), Some(Value::Int(count as i128))];
                let checked = transaction.update(parents, vec![(id, row)], &[1]).unwrap();
                assert_eq!(checked, None, "the key stays as it is");
                transaction.commit().unwrap();
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let mut key = 0;
        while !done.load(std::sync::atomic::Ordering::Relaxed) {
            key += 1;
            let mut transaction = store.begin().unwrap();
            let added = insert(&mut transaction, children, &[(key, 2)]);
            added.and_then(|()| transaction.commit()).unwrap();
        }
    });
}

/// The second writer of a row hears of it at once.
#[test]
fn the_later_writer_is_refused() {
    let store = Store::in_memory();
    let table = create(&store);
    let mut first = store.begin().unwrap();
    insert(&mut first, table, &[(1, 10), (2, 20)]).unwrap();
    first.commit().unwrap();
    let (mut first, mut second) = (store.begin().unwrap(), store.begin().unwrap());
    let id = find(&first.snapshot(), 1).unwrap();
    first.delete(table, &[id]).unwrap();
    assert_eq!(second.delete(table, &[id]).unwrap_err().sqlstate(), "40001");
    first.commit().unwrap();
    assert_eq!(second.delete(table, &[id]).unwrap_err().sqlstate(), "40001");
    assert_eq!(rows(&second.snapshot()).len(), 2, "its snapshot stays");
    // A key that another is adding, and that it has added.
    insert(&mut second, table, &[(3, 30)]).unwrap();
    let mut third = store.begin().unwrap();
    let error = insert(&mut third, table, &[(4, 40), (3, 31)]).unwrap_err();
    assert_eq!(error.sqlstate(), "40001");
    let stopped = third.take_stopped();
    assert!(
        matches!(stopped, Some(Stopped::ByAnother(_))),
        "{stopped:?}"
    );
    insert(&mut second, table, &[(4, 41)]).unwrap();
    drop(second);
    insert(&mut third, table, &[(3, 31)]).unwrap();
    third.commit().unwrap();
    let mut fourth = store.begin().unwrap();
    let error = insert(&mut fourth, table, &[(3, 32)]).unwrap_err();
    assert_eq!(error.sqlstate(), "23505");
    assert!(error.to_string().contains("(k)=(3)"), "{error}");
    drop(fourth);
    assert_eq!(rows(&store.snapshot()), Rows::from([(2, 20), (3, 31)]));
    // A transaction that was dropped lets its rows go.
    let id = find(&store.snapshot(), 2).unwrap();
    let mut dropped = store.begin().unwrap();
    dropped.delete(table, &[id]).unwrap();
    drop(dropped);
    let mut last = store.begin().unwrap();
    last.delete(table, &[id]).unwrap();
    last.commit().unwrap();
    assert_eq!(rows(&store.snapshot()), Rows::from([(3, 31)]));
}

/// Tables come and go within transactions; side by side they merge or conflict.
#[test]
fn the_catalog_is_transactional() {
    let store = Store::in_memory();
    let table = create(&store);
    let make = |transaction: &mut Transaction, name: &str| {
        let options = TableOptions::default();
        transaction
            .edit(|edit| edit.create_table(DEFAULT_SCHEMA, name, columns(), options))
            .unwrap()
    };
    let (mut first, mut second) = (store.begin().unwrap(), store.begin().unwrap());
    let a = make(&mut first, "a");
    let b = make(&mut second, "b");
    assert_ne!(a, b);
    insert(&mut first, a, &[(1, 1)]).unwrap();
    insert(&mut second, b, &[(2, 2)]).unwrap();
    insert(&mut second, table, &[(3, 3)]).unwrap();
    assert!(store.snapshot().table(DEFAULT_SCHEMA, "a").is_none());
    first.commit().unwrap();
    second.commit().unwrap();
    let now = store.snapshot();
    for (name, rows) in [("a", 1), ("b", 1), ("t", 1)] {
        let table = now.table(DEFAULT_SCHEMA, name).unwrap();
        assert_eq!(table.delta().rows(), rows, "{name}");
    }
    let (mut first, mut second) = (store.begin().unwrap(), store.begin().unwrap());
    make(&mut first, "c");
    make(&mut second, "c");
    first.commit().unwrap();
    assert_eq!(second.commit().unwrap_err().sqlstate(), "40001");
    let mut undone = store.begin().unwrap();
    undone
        .edit(|edit| edit.drop_table(DEFAULT_SCHEMA, "t", false))
        .unwrap();
    assert!(undone.snapshot().table(DEFAULT_SCHEMA, "t").is_none());
    drop(undone);
    assert_eq!(rows(&store.snapshot()).len(), 1);
}

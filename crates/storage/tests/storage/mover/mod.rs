//! The tuple mover: rows that move are followed, and space comes back.

mod background;
mod follow;
mod layouts;
mod measure;
mod mixture;
mod partition;
mod space;

pub use follow::{Hook, Hooked};

use crate::tables::Dice;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt64Type};
use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringViewArray};
use freestone_storage::io::{Faulty, Files};
use freestone_storage::{
    CatalogEdit, Column, ColumnType, CompareOp, DEFAULT_SCHEMA, IndexKind, Key, OpenMode,
    Predicate, Result, RowId, ScanRequest, Snapshot, Store, Table, TableId, TableMoves,
    TableOptions, TableSchema, Transaction, Value,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Rows = BTreeMap<i32, i32>;

/// Blocks of some thousand rows.
const BLOCK_BYTES: u64 = 128 << 10;

fn columns() -> TableSchema {
    let column = |name: &str, kind| Column {
        name: name.into(),
        kind,
        nullable: false,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    };
    TableSchema {
        columns: vec![
            column("k", ColumnType::Integer),
            column("v", ColumnType::Integer),
            column("s", ColumnType::Text),
        ],
        keys: vec![Key {
            name: "t_key".into(),
            columns: vec![0],
            primary: true,
            ..Key::default()
        }],
        ..TableSchema::default()
    }
}

/// A text that is not compressed to nothing.
fn text(key: i32) -> String {
    let mut dice = Dice(key as u64 + 1);
    (0..8)
        .map(|_| format!("{:08x}", dice.below(1 << 32)))
        .collect()
}

fn batch(rows: &[(i32, i32)]) -> RecordBatch {
    let column = |of: fn(&(i32, i32)) -> i32| -> ArrayRef {
        Arc::new(Int32Array::from_iter_values(rows.iter().map(of)))
    };
    let texts: StringViewArray = rows.iter().map(|row| Some(text(row.0))).collect();
    let arrays = vec![column(|row| row.0), column(|row| row.1), Arc::new(texts)];
    RecordBatch::try_new(columns().arrow(), arrays).unwrap()
}

fn create_with(store: &Store, options: TableOptions) -> TableId {
    let create =
        store.commit(|edit| edit.create_table(DEFAULT_SCHEMA, "t", columns(), options.clone()));
    create.unwrap()
}

fn create(store: &Store) -> TableId {
    let block_bytes = BLOCK_BYTES;
    create_with(
        store,
        TableOptions {
            block_bytes,
            ..TableOptions::default()
        },
    )
}

/// The rows that a snapshot sees, with their ids.
fn seen(snapshot: &Snapshot) -> Vec<(RowId, i32, i32)> {
    let table = snapshot.table(DEFAULT_SCHEMA, "t").unwrap();
    let request = ScanRequest {
        projection: vec![0, 1, 2],
        view: snapshot.read_view(table.id),
        row_ids: true,
        ..ScanRequest::default()
    };
    let mut rows = Vec::new();
    for batch in table.scan(&request).unwrap().worker() {
        let batch = batch.unwrap();
        let number = |column: usize| batch.column(column).as_primitive::<Int32Type>();
        let ids = batch.column(3).as_primitive::<UInt64Type>();
        let texts = batch.column(2).as_string_view();
        for row in 0..batch.num_rows() {
            let key = number(0).value(row);
            // Whole rows move.
            if key % 37 == 0 {
                assert_eq!(texts.value(row), text(key));
            }
            rows.push((RowId(ids.value(row)), key, number(1).value(row)));
        }
    }
    rows
}

fn rows(snapshot: &Snapshot) -> Rows {
    let all = seen(snapshot);
    let map: Rows = all.iter().map(|(_, key, value)| (*key, *value)).collect();
    assert_eq!(map.len(), all.len(), "a key twice");
    map
}

fn find(snapshot: &Snapshot, key: i32) -> Option<RowId> {
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

/// Deletes a key, or gives it another value.
fn write(own: &mut Transaction, table: TableId, key: i32, value: Option<i32>) -> Result<()> {
    let id = find(&own.snapshot(), key).unwrap();
    own.delete(table, &[id])?;
    value.map_or(Ok(()), |value| insert(own, table, &[(key, value)]))
}

/// Adds keys, each with itself as value.
fn load(store: &Arc<Store>, table: TableId, keys: std::ops::Range<i32>) {
    let mut own = store.begin().unwrap();
    let all: Vec<(i32, i32)> = keys.map(|key| (key, key)).collect();
    own.insert(table, &batch(&all)).unwrap();
    own.commit().unwrap();
}

fn delete_all(store: &Arc<Store>, table: TableId, which: impl Fn(i32) -> bool) {
    let mut own = store.begin().unwrap();
    let found = seen(&own.snapshot());
    let found = found.iter().filter(|row| which(row.1));
    let ids: Vec<RowId> = found.map(|row| row.0).collect();
    own.delete(table, &ids).unwrap();
    own.commit().unwrap();
}

fn table_of(store: &Store) -> Arc<Table> {
    store.snapshot().table(DEFAULT_SCHEMA, "t").unwrap().clone()
}

fn moves(store: &Store) -> TableMoves {
    store.mover_status().tables[0].clone()
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A database of which rows 0..50 are in a block, with 40 deleted, and 50..100 in
/// the delta.
fn half_moved(files: &Arc<Faulty>) -> (Arc<Store>, TableId) {
    let store = Store::over_files(files.clone()).unwrap();
    let table = create(&store);
    load(&store, table, 0..50);
    store.move_delta(table).unwrap();
    load(&store, table, 50..100);
    delete_all(&store, table, |key| key == 40);
    (store, table)
}

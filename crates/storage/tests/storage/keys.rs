//! Keys that transactions take from each other: locked ones, and those that are not.

use crate::transactions::{batch, columns, create, find, reference};
use arrow_array::{Float64Array, Int32Array, RecordBatch};
use freestone_storage::{
    ColumnType, DEFAULT_SCHEMA, Store, TableId, TableOptions, TableSchema, Transaction,
};
use std::sync::Arc;

fn add(transaction: &mut Transaction, table: TableId, rows: &RecordBatch) -> Option<String> {
    let added = transaction.insert(table, rows);
    let checked = added.and_then(|first| transaction.check_keys(table, first));
    checked.err().map(|error| error.sqlstate().to_owned())
}

fn ended(transaction: Transaction) -> Option<String> {
    let ended = transaction.commit();
    ended.err().map(|error| error.sqlstate().to_owned())
}

/// A transaction that adds more rows than keys are locked of does not see that another is adding
/// one of them, which must not commit it afterwards.
#[test]
fn who_locked_a_key_looks_again_if_another_locked_none() {
    const MANY: i32 = 70_000;
    let store = Store::in_memory();
    let table = create(&store);
    let (mut few, mut many) = (store.begin().unwrap(), store.begin().unwrap());
    assert_eq!(add(&mut few, table, &batch(&[(7, 0)])), None);
    let rows: Vec<(i32, i32)> = (0..MANY).map(|key| (key, 1)).collect();
    assert_eq!(add(&mut many, table, &batch(&rows)), None);
    assert_eq!(ended(many), None);
    assert_eq!(ended(few).as_deref(), Some("23505"));
    // The other way round the one that locked none looks.
    let (mut few, mut many) = (store.begin().unwrap(), store.begin().unwrap());
    assert_eq!(add(&mut few, table, &batch(&[(MANY + 7, 0)])), None);
    let rows: Vec<(i32, i32)> = (MANY..2 * MANY).map(|key| (key, 1)).collect();
    assert_eq!(add(&mut many, table, &batch(&rows)), None);
    assert_eq!(ended(few), None);
    assert_eq!(ended(many).as_deref(), Some("23505"));
}

/// Both zeros are one key, of two hashes.
#[test]
fn zeros_are_one_key() {
    let store = Store::in_memory();
    let mut schema = columns();
    schema.columns.truncate(1);
    schema.columns[0].kind = ColumnType::Double;
    let arrow = schema.arrow();
    let table = store
        .commit(|edit| edit.create_table(DEFAULT_SCHEMA, "t", schema, TableOptions::default()))
        .unwrap();
    let zero = |value| {
        let array = Arc::new(Float64Array::from(vec![value]));
        RecordBatch::try_new(arrow.clone(), vec![array]).unwrap()
    };
    let (mut first, mut second) = (store.begin().unwrap(), store.begin().unwrap());
    assert_eq!(add(&mut first, table, &zero(0.0)), None);
    assert_eq!(add(&mut second, table, &zero(-0.0)), None);
    assert_eq!(ended(first), None);
    assert_eq!(ended(second).as_deref(), Some("23505"));
}

/// A foreign key that is declared while a parent is being deleted asks for locks that the
/// deletion has not taken.
#[test]
fn a_new_foreign_key_finds_parents_that_are_being_deleted() {
    for child_first in [true, false] {
        parent_and_child(child_first);
    }
}

fn parent_and_child(child_first: bool) {
    let store = Store::in_memory();
    let parents = create(&store);
    let mut transaction = store.begin().unwrap();
    assert_eq!(add(&mut transaction, parents, &batch(&[(1, 0)])), None);
    assert_eq!(ended(transaction), None);
    let mut deleting = store.begin().unwrap();
    let id = find(&deleting.snapshot(), 1).unwrap();
    deleting.delete(parents, &[id]).unwrap();
    let schema = TableSchema {
        keys: Vec::new(),
        foreign_keys: vec![reference(parents)],
        ..columns()
    };
    let arrow = schema.arrow();
    let children = store
        .commit(|edit| edit.create_table(DEFAULT_SCHEMA, "c", schema, TableOptions::default()))
        .unwrap();
    deleting.check_keys(parents, u64::MAX).unwrap();
    let mut adding = store.begin().unwrap();
    let one = || Arc::new(Int32Array::from(vec![1]));
    let child = RecordBatch::try_new(arrow, vec![one(), one()]).unwrap();
    assert_eq!(add(&mut adding, children, &child), None);
    let (first, second) = match child_first {
        true => (adding, deleting),
        false => (deleting, adding),
    };
    assert_eq!(ended(first), None);
    assert_eq!(ended(second).as_deref(), Some("23503"));
}

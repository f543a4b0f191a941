//! The smallest forms of what random histories once found.

use crate::world::{ModelTable, World, array, batch, column, schema, world};
use freestone_storage::io::Faulty;
use freestone_storage::{DEFAULT_SCHEMA, IndexKind, Snapshot, Store, TableId, TableOptions};
use std::sync::Arc;

fn columns() -> Vec<String> {
    vec!["n1".to_string(), "t2".to_string()]
}

/// A store with table `t` and the rows of these keys, in its delta.
fn store(files: &Arc<Faulty>, keys: &[i64]) -> (Arc<Store>, TableId) {
    let store = Store::over_files(files.clone()).unwrap();
    let id = store
        .commit(|edit| {
            let columns = schema(&columns(), "t");
            edit.create_table(DEFAULT_SCHEMA, "t", columns, TableOptions::default())
        })
        .unwrap();
    insert(&store, id, keys);
    (store, id)
}

fn rows(keys: &[i64]) -> arrow_array::RecordBatch {
    let rows: Vec<(i64, Vec<Option<i64>>)> = keys
        .iter()
        .map(|key| (*key, vec![Some(*key); columns().len()]))
        .collect();
    batch(&columns(), &rows)
}

fn insert(store: &Arc<Store>, table: TableId, keys: &[i64]) {
    let mut transaction = store.begin().unwrap();
    let first = transaction.insert(table, &rows(keys)).unwrap();
    transaction.check_keys(table, first).unwrap();
    transaction.commit().unwrap();
}

fn only(snapshot: &Snapshot) -> ModelTable {
    let mut world: World = world(snapshot);
    world.remove("t").unwrap()
}

/// A second checkpoint without commits in between wrote over the first one,
/// which the manifest names.
#[test]
fn a_checkpoint_does_not_write_over_the_one_in_use() {
    let files = Arc::new(Faulty::default());
    let (store, _) = store(&files, &[1, 2, 3]);
    let before = only(&store.snapshot());
    store.checkpoint().unwrap();
    files.watch();
    store.checkpoint().unwrap();
    for moment in files.moments() {
        for left in [moment.files.crash(), moment.files.crash_keeping(|_| true)] {
            let reopened = Store::over_files(Arc::new(left)).unwrap();
            assert_eq!(only(&reopened.snapshot()), before, "{}", moment.next);
        }
    }
}

/// Blocks kept the places of columns of the first change when a second one was
/// done again from the log.
#[test]
fn columns_that_came_and_went_are_found_after_reopening() {
    let files = Arc::new(Faulty::default());
    let (store, id) = store(&files, &[1, 2, 3]);
    store.move_delta(id).unwrap();
    store
        .commit(|edit| edit.add_column(id, column("n3"), &array("n3", std::iter::once(Some(7)))))
        .unwrap();
    store.commit(|edit| edit.drop_column(id, "n1")).unwrap();
    let before = only(&store.snapshot());
    assert_eq!(before.rows[&2], [Some(2), Some(7)]);
    let left = Arc::new(files.crash());
    let reopened = Store::over_files(left).unwrap();
    assert_eq!(only(&reopened.snapshot()), before);
}

/// A transaction that added a column to a table with rows in no block read them
/// as if they had it.
#[test]
fn rows_in_no_block_keep_their_columns() {
    let (store, id) = store(&Arc::default(), &[1, 2, 3]);
    let mut transaction = store.begin().unwrap();
    let value = array("n3", std::iter::once(None));
    let added = transaction.edit(|edit| edit.add_column(id, column("n3"), &value));
    assert_eq!(added.unwrap_err().sqlstate(), "40001");
    let dropped = transaction.edit(|edit| edit.drop_column(id, "n1"));
    assert_eq!(dropped.unwrap_err().sqlstate(), "40001");
    assert_eq!(only(&transaction.snapshot()).rows.len(), 3);
    drop(transaction);
    store.move_delta(id).unwrap();
    let mut transaction = store.begin().unwrap();
    transaction
        .edit(|edit| edit.add_column(id, column("n3"), &value))
        .unwrap();
    assert_eq!(only(&transaction.snapshot()).rows[&3].len(), 3);
}

/// A transaction that had changed the table's catalog entry checked its keys
/// against the delta as it was then.
#[test]
fn keys_hold_beside_a_change_of_the_table() {
    let (store, id) = store(&Arc::default(), &[1]);
    let mut transaction = store.begin().unwrap();
    let snapshot = transaction.snapshot();
    let table = snapshot.table(DEFAULT_SCHEMA, "t").unwrap();
    let index = store
        .build_index(table, "i", IndexKind::Csb, vec![1], 1, &|| true)
        .unwrap();
    transaction
        .edit(|edit| edit.create_index(DEFAULT_SCHEMA, table, index))
        .unwrap();
    // More keys than a transaction locks: only its commit meets those of others.
    let many: Vec<i64> = (7..70_000).collect();
    let first = transaction.insert(id, &rows(&many)).unwrap();
    transaction.check_keys(id, first).unwrap();
    insert(&store, id, &[7]);
    assert_eq!(transaction.commit().unwrap_err().sqlstate(), "23505");
    let keys: Vec<i64> = only(&store.snapshot()).rows.into_keys().collect();
    assert_eq!(keys, [1, 7]);
}

/// After a failed sync a record could be read and never reached the disk; the log
/// went on behind it, and a power loss left a hole.
#[test]
fn what_a_failed_sync_left_is_written_again() {
    for operations in 0..3 {
        let files = Arc::new(Faulty::default());
        let (store, id) = store(&files, &[1]);
        files.fail_once_after(operations);
        let mut transaction = store.begin().unwrap();
        transaction.insert(id, &rows(&[2])).unwrap();
        let failed = transaction.commit().is_err();
        // The process is killed before it can do more.
        files.fail_after(0);
        drop(store);
        files.heal();
        let store = Store::over_files(files.clone()).unwrap();
        insert(&store, id, &[3]);
        let found = only(&store.snapshot());
        let reopened = Store::over_files(Arc::new(files.crash())).unwrap();
        assert_eq!(only(&reopened.snapshot()), found, "{operations}, {failed}");
    }
}

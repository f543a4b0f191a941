//! Relaxed commits: what a power loss may take, and what not.

use crate::transactions::{batch, create, rows};
use freestone_storage::io::Faulty;
use freestone_storage::{Predicate, Store, TableId};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn open(files: &Arc<Faulty>) -> Arc<Store> {
    Store::over_files(files.clone()).unwrap()
}

fn insert(store: &Arc<Store>, table: TableId, key: i32, relaxed: bool) {
    let mut transaction = store.begin().unwrap();
    transaction.insert(table, &batch(&[(key, key)])).unwrap();
    if relaxed {
        transaction.relax();
    }
    transaction.commit().unwrap();
}

/// The keys that a power loss leaves.
fn left(files: &Faulty) -> Vec<i32> {
    let store = open(&Arc::new(files.crash()));
    rows(&store.snapshot()).into_keys().collect()
}

#[test]
fn a_power_loss_takes_the_newest_at_most() {
    let files = Arc::new(Faulty::default());
    let store = open(&files);
    let table = create(&store);
    insert(&store, table, 1, false);
    let syncs = files.operations();
    insert(&store, table, 2, true);
    // Seen at once, and by nobody before it is written.
    assert_eq!(rows(&store.snapshot()).len(), 2);
    let killed = open(&Arc::new(files.crash_keeping(|_| true)));
    assert_eq!(rows(&killed.snapshot()).len(), 2, "a kill takes nothing");
    assert!(files.operations() > syncs);
    insert(&store, table, 3, true);
    let now = left(&files);
    assert!([1, 2, 3].starts_with(&now) && !now.is_empty(), "{now:?}");
    // A full commit brings everything before it to the disk.
    insert(&store, table, 4, false);
    assert_eq!(left(&files), [1, 2, 3, 4]);
    // So does time,
    insert(&store, table, 5, true);
    let start = Instant::now();
    while left(&files).len() < 5 {
        assert!(start.elapsed() < Duration::from_secs(20), "never durable");
        std::thread::sleep(Duration::from_millis(20));
    }
    // and the end of the process.
    insert(&store, table, 6, true);
    drop(store);
    assert_eq!(left(&files), [1, 2, 3, 4, 5, 6]);
}

/// A transaction that has met no row, or has taken back all that it did, has nothing to write.
#[test]
fn nothing_is_written_for_nothing() {
    let files = Arc::new(Faulty::default());
    let store = open(&files);
    let table = create(&store);
    insert(&store, table, 1, false);
    let before = files.operations();
    let mut none = store.begin().unwrap();
    none.delete(table, &[]).unwrap();
    none.insert(table, &batch(&[])).unwrap();
    none.commit().unwrap();
    let mut own = store.begin().unwrap();
    own.insert(table, &batch(&[(2, 2)])).unwrap();
    let ids = own.snapshot().table_by_id(table).map(|table| {
        let view = own.snapshot().read_view(table.id);
        let all = Predicate::And(Vec::new());
        let found = table.look_up(&view, &all, &[0]).unwrap();
        found.into_iter().map(|(id, _)| id).collect::<Vec<_>>()
    });
    let ids = ids.unwrap();
    own.delete(table, &ids[1..]).unwrap();
    own.commit().unwrap();
    assert_eq!(files.operations(), before);
    assert_eq!(left(&files), [1]);
}

/// What removes files is durable before it does.
#[test]
fn changes_of_the_catalog_are_never_relaxed() {
    let files = Arc::new(Faulty::default());
    let store = open(&files);
    let table = create(&store);
    insert(&store, table, 1, true);
    let mut transaction = store.begin().unwrap();
    transaction.relax();
    transaction.edit(|edit| edit.create_schema("more")).unwrap();
    transaction.commit().unwrap();
    let after = open(&Arc::new(files.crash()));
    assert!(after.snapshot().has_schema("more"));
    assert_eq!(left(&files), [1]);
}

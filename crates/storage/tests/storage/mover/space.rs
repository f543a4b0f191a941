//! What a table takes on disk, and how its blocks lie.

use super::*;
use freestone_storage::Layout;
use std::path::Path;

fn bytes_in(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).unwrap();
    let bytes = entries.map(|entry| {
        let entry = entry.unwrap();
        match entry.metadata().unwrap() {
            inner if inner.is_dir() => bytes_in(&entry.path()),
            file => file.len(),
        }
    });
    bytes.sum()
}

/// After many updates of everything the directory is about as large as if the
/// rows had just been loaded.
#[test]
fn space_comes_back() {
    const ROWS: i32 = 50_000;
    let bytes_after = |updates: i32| {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path(), OpenMode::Create).unwrap();
        let table = create_with(&store, TableOptions::default());
        load(&store, table, 0..ROWS);
        for round in 0..updates {
            let mut own = store.begin().unwrap();
            let all = seen(&own.snapshot());
            let ids: Vec<RowId> = all.iter().map(|row| row.0).collect();
            own.delete(table, &ids).unwrap();
            let new = all.iter().map(|row| (row.1, row.2 + 1));
            own.insert(table, &batch(&new.collect::<Vec<_>>())).unwrap();
            own.commit().unwrap();
            assert_eq!(rows(&store.snapshot())[&7], 8 + round);
        }
        let before = bytes_in(directory.path());
        store.vacuum(table).unwrap();
        let after = bytes_in(directory.path());
        let found = rows(&store.snapshot());
        assert_eq!(found.len(), ROWS as usize);
        assert!(found.iter().all(|(key, value)| *value == key + updates));
        (before, after)
    };
    let (_, fresh) = bytes_after(0);
    let (before, after) = bytes_after(20);
    println!("{fresh} bytes; after 20 updates {before}, after a vacuum {after}");
    assert!(before > 2 * after, "{before} bytes became {after}");
    assert!(
        after * 10 <= fresh * 12,
        "{after} bytes are more than 1.2 times {fresh}"
    );
}

#[test]
fn blocks_without_rows_leave_the_disk() {
    let files = Arc::new(Faulty::default());
    let store = Store::over_files(files.clone()).unwrap();
    let table = create(&store);
    load(&store, table, 0..9_000);
    store.move_delta(table).unwrap();
    let blocks = table_of(&store).blocks().len();
    assert!(blocks > 4);
    let old = store.snapshot();
    delete_all(&store, table, |key| key < 8_000);
    // Nobody asked for it.
    wait_until("blocks are dropped", || {
        table_of(&store).blocks().len() <= 2
    });
    assert!(files.list("blocks").unwrap().len() >= blocks);
    assert_eq!(rows(&old).len(), 9_000, "an older snapshot has its rows");
    drop(old);
    wait_until("files are removed", || {
        files.list("blocks").unwrap().len() <= 2
    });
    let done = moves(&store).done;
    assert!(done.blocks_dropped > 0 && done.bytes_freed > 0, "{done:?}");
    delete_all(&store, table, |_| true);
    store.vacuum(table).unwrap();
    assert!(files.list("blocks").unwrap().is_empty());
    let lost = Store::over_files(Arc::new(files.crash())).unwrap();
    assert!(rows(&lost.snapshot()).is_empty());
}

#[test]
fn an_older_snapshot_outlives_a_vacuum() {
    let files = Arc::new(Faulty::default());
    let (store, table) = half_moved(&files);
    let old = store.snapshot();
    let expected = rows(&old);
    delete_all(&store, table, |key| key % 3 == 0);
    store.vacuum(table).unwrap();
    delete_all(&store, table, |key| key % 3 == 1);
    load(&store, table, 500..600);
    store.vacuum(table).unwrap();
    assert_eq!(rows(&old), expected);
    let two_thirds = rows(&store.snapshot());
    assert!(two_thirds.keys().all(|key| *key >= 500 || key % 3 == 2));
    drop(old);
    store.vacuum(table).unwrap();
    assert_eq!(files.list("blocks").unwrap().len(), 1);
}

/// Blocks that are merged are sorted together.
#[test]
fn a_sorted_table_stays_clustered() {
    let store = Store::in_memory();
    store.pause_mover();
    let options = TableOptions {
        block_bytes: BLOCK_BYTES,
        sort_by: Some("v".into()),
        ..TableOptions::default()
    };
    let table = create_with(&store, options);
    // Every load has keys from everywhere.
    for part in 0..12 {
        let mut own = store.begin().unwrap();
        let keys = (0..600).map(|number| (number * 12 + part, (number * 7919 + part * 13) % 5_000));
        own.insert(table, &batch(&keys.collect::<Vec<_>>()))
            .unwrap();
        own.commit().unwrap();
        store.move_delta(table).unwrap();
    }
    assert_eq!(table_of(&store).blocks().len(), 12);
    let before = rows(&store.snapshot());
    store.resume_mover();
    store.vacuum(table).unwrap();
    assert_eq!(rows(&store.snapshot()), before);
    let merged = table_of(&store);
    let bounds = merged.bounds(1).unwrap().unwrap();
    assert!((2..12).contains(&bounds.len()), "{bounds:?}");
    let ascending = |pair: &[(i128, i128)]| pair[0].1 <= pair[1].0;
    assert!(bounds.windows(2).all(ascending), "{bounds:?}");
    for block in merged.blocks() {
        assert_eq!(block.sort_column().unwrap(), Some(1));
    }
}

/// Small blocks of every layout merge, with their neighbours of the same one.
#[test]
fn blocks_keep_their_layout() {
    for layout in Layout::ALL {
        let files = Arc::new(Faulty::default());
        let store = Store::over_files(files.clone()).unwrap();
        let table = create(&store);
        let options = TableOptions {
            layout,
            ..table_of(&store).options.clone()
        };
        store
            .commit(|edit| edit.set_options(table, options))
            .unwrap();
        for part in 0..3 {
            load(&store, table, part * 100..part * 100 + 100);
            store.move_delta(table).unwrap();
        }
        delete_all(&store, table, |key| key % 10 == 3);
        let other = TableOptions::default();
        store.commit(|edit| edit.set_options(table, other)).unwrap();
        store.vacuum(table).unwrap();
        let merged = table_of(&store);
        let layouts: Vec<Layout> = merged.blocks().iter().map(|block| block.layout()).collect();
        assert_eq!(layouts, [layout]);
        assert_eq!(rows(&store.snapshot()).len(), 270);
        assert_eq!(moves(&store).waiting, None);
    }
}

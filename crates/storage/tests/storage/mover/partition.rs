//! Blocks of one range each, whatever is done to a partitioned table.

use super::*;
use freestone_storage::Partitioning;
use freestone_storage::store::policy::Step;
use std::sync::atomic::Ordering;

/// A table of ranges of `v`, which is scattered over keys.
pub fn create_partitioned(store: &Store, ranges: u16) -> TableId {
    create_with(store, options(ranges))
}

fn options(ranges: u16) -> TableOptions {
    TableOptions {
        block_bytes: BLOCK_BYTES,
        partition_by: Some(Partitioning::new("v", ranges)),
        ..TableOptions::default()
    }
}

fn scattered(keys: std::ops::Range<i32>) -> Vec<(i32, i32)> {
    keys.map(|key| (key, key.wrapping_mul(7919) % 10_007))
        .collect()
}

fn load_scattered(store: &Arc<Store>, table: TableId, keys: std::ops::Range<i32>) {
    let mut own = store.begin().unwrap();
    own.insert(table, &batch(&scattered(keys))).unwrap();
    own.commit().unwrap();
}

fn partitioning(table: &Table) -> &Partitioning {
    table.options.partition_by.as_ref().unwrap()
}

/// By block, the range of its rows; `None` if they are of several.
fn ranges(table: &Table) -> Vec<Option<u16>> {
    let range = |block: &Arc<freestone_storage::Block>| {
        let values = block.read(1, 0..block.rows() as usize).unwrap();
        let ranges = partitioning(table).ranges_of(&values).unwrap();
        let first = ranges[0];
        ranges.iter().all(|range| *range == first).then_some(first)
    };
    table.blocks().iter().map(range).collect()
}

/// Bounds are known, and blocks are of one range each, side by side.
pub fn must_be_cut(store: &Store) {
    let table = table_of(store);
    assert!(partitioning(&table).is_known());
    let found = ranges(&table);
    assert!(found.iter().all(Option::is_some), "{found:?}");
    assert!(found.is_sorted(), "{found:?}");
}

#[test]
fn a_vacuum_leaves_blocks_of_one_range() {
    for (layout, sorted) in [
        ("column", false),
        ("row", true),
        ("pax", false),
        ("dsm", true),
    ] {
        let store = Store::in_memory();
        store.pause_mover();
        let mut options = options(8);
        options.set("layout", layout).unwrap();
        options.sort_by = sorted.then(|| "k".into());
        let table = create_with(&store, options);
        // A few rows are not worth it.
        load_scattered(&store, table, 0..4_000);
        store.vacuum(table).unwrap();
        assert!(!partitioning(&table_of(&store)).is_known());
        load_scattered(&store, table, 4_000..12_000);
        store.move_delta(table).unwrap();
        assert!(partitioning(&table_of(&store)).is_known());
        load_scattered(&store, table, 12_000..20_000);
        delete_all(&store, table, |key| key % 5 == 0);
        let expected = rows(&store.snapshot());
        store.vacuum(table).unwrap();
        assert_eq!(rows(&store.snapshot()), expected);
        must_be_cut(&store);
        let table_now = table_of(&store);
        assert_eq!(partitioning(&table_now).bounds.len(), 7);
        assert!(table_now.is_settled());
        // A second one finds nothing to do.
        let (blocks, steps) = (table_now.block_ids(), moves(&store).done.steps);
        assert_eq!(moves(&store).waiting, None);
        store.vacuum(table).unwrap();
        assert_eq!(table_of(&store).block_ids(), blocks);
        assert_eq!(moves(&store).done.steps, steps);
        if sorted {
            for block in table_now.blocks() {
                assert_eq!(block.sort_column().unwrap(), Some(0));
            }
        }
    }
}

/// Blocks that were there before the table was partitioned are cut in one go.
#[test]
fn old_blocks_are_cut_once() {
    let store = Store::in_memory();
    store.pause_mover();
    let table = create(&store);
    load_scattered(&store, table, 0..20_000);
    store.vacuum(table).unwrap();
    let before = moves(&store).done;
    store
        .commit(|edit| edit.set_options(table, options(4)))
        .unwrap();
    let blocks = table_of(&store).blocks().len() as u64;
    assert!(matches!(moves(&store).waiting, Some(Step::Partition(_))));
    let expected = rows(&store.snapshot());
    store.resume_mover();
    wait_until("cut", || moves(&store).waiting.is_none());
    must_be_cut(&store);
    assert_eq!(rows(&store.snapshot()), expected);
    let done = moves(&store).done;
    assert_eq!(done.blocks_rewritten - before.blocks_rewritten, blocks);
    assert!(done.rows_moved - before.rows_moved < 30_000, "{done:?}");
}

/// Small loads, one after the other, with the mover behind them.
#[test]
fn the_background_keeps_ranges_apart() {
    let store = Store::in_memory();
    store.set_delta_bytes(0);
    let table = create_partitioned(&store, 4);
    for part in 0..25 {
        load_scattered(&store, table, part * 800..(part + 1) * 800);
    }
    wait_until("all is done", || {
        moves(&store).waiting.is_none() && !store.mover_status().running
    });
    must_be_cut(&store);
    let table = table_of(&store);
    assert_eq!(rows(&store.snapshot()).len(), 20_000);
    assert!(table.blocks().len() < 60, "{} blocks", table.blocks().len());
    assert!(table.delta().rows() < 4_000);
    // Each row was moved out of the delta, and a logarithmic number of times after.
    let done = moves(&store).done;
    assert!(done.rows_moved < 5 * 20_000, "{done:?}");
    assert_eq!(done.last_error, None);
}

/// Whoever knows a row by its old place finds it in the new one.
#[test]
fn rows_are_followed_into_their_ranges() {
    let store = Store::in_memory();
    store.pause_mover();
    let table = create_partitioned(&store, 5);
    load_scattered(&store, table, 0..4_000);
    store.move_delta(table).unwrap();
    load_scattered(&store, table, 4_000..9_000);
    let mut old = store.begin().unwrap();
    let keys: Vec<i32> = (0..9_000).step_by(97).collect();
    let ids: Vec<RowId> = keys
        .iter()
        .map(|key| find(&old.snapshot(), *key).unwrap())
        .collect();
    store.vacuum(table).unwrap();
    must_be_cut(&store);
    old.delete(table, &ids).unwrap();
    // Those that go between the move and the end of the transaction, too.
    delete_all(&store, table, |key| key % 97 == 1);
    store.vacuum(table).unwrap();
    old.commit().unwrap();
    let left = rows(&store.snapshot());
    let expected: Rows = scattered(0..9_000).into_iter().collect();
    let expected = expected.into_iter().filter(|(key, _)| key % 97 > 1);
    assert_eq!(left, expected.collect());
    store.vacuum(table).unwrap();
    must_be_cut(&store);
    assert_eq!(rows(&store.snapshot()), left);
}

/// A scan for values of one range reads the blocks of that range; without its rows
/// they go as a whole.
#[test]
fn a_range_is_found_and_freed_by_itself() {
    let store = Store::in_memory();
    store.pause_mover();
    let table = create_partitioned(&store, 10);
    load_scattered(&store, table, 0..30_000);
    store.vacuum(table).unwrap();
    let now = table_of(&store);
    let Value::Int(bound) = partitioning(&now).bounds[0] else {
        panic!("{:?}", partitioning(&now));
    };
    let request = ScanRequest {
        projection: vec![0],
        predicate: Some(Predicate::Compare {
            column: 1,
            op: CompareOp::Lt,
            value: Value::Int(bound),
        }),
        ..ScanRequest::default()
    };
    let scan = now.scan(&request).unwrap();
    let first: Vec<i32> = scan
        .worker()
        .flat_map(|batch| {
            let batch = batch.unwrap();
            let keys = batch.column(0).as_primitive::<Int32Type>();
            keys.values().to_vec()
        })
        .collect();
    let blocks = now.blocks().len() as u64;
    let of_range = ranges(&now)
        .iter()
        .filter(|range| **range == Some(0))
        .count() as u64;
    let pruned = scan.metrics().blocks_pruned.load(Ordering::Relaxed);
    assert_eq!(pruned, blocks - of_range);
    assert!((2_000..4_000).contains(&first.len()));
    let moved = moves(&store).done.rows_moved;
    let gone: std::collections::HashSet<i32> = first.into_iter().collect();
    delete_all(&store, table, |key| gone.contains(&key));
    store.vacuum(table).unwrap();
    let done = moves(&store).done;
    assert_eq!((done.blocks_dropped, done.rows_moved), (of_range, moved));
}

/// Bounds are found while a bulk load goes on; it commits all the same.
#[test]
fn a_load_does_not_mind_new_bounds() {
    let store = Store::in_memory();
    store.pause_mover();
    let table = create_partitioned(&store, 2);
    load_scattered(&store, table, 0..5_000);
    let mut own = store.begin().unwrap();
    let seen = table_of(&store);
    let mut writer = store.writer(&seen.schema, &seen.options).unwrap();
    writer.push(&batch(&scattered(5_000..9_000))).unwrap();
    let blocks = writer.finish().unwrap();
    store.move_delta(table).unwrap();
    assert!(partitioning(&table_of(&store)).is_known());
    own.edit(|edit| edit.append(table, blocks)).unwrap();
    own.commit().unwrap();
    assert_eq!(rows(&store.snapshot()).len(), 9_000);
    assert!(partitioning(&table_of(&store)).is_known());
    store.vacuum(table).unwrap();
    must_be_cut(&store);
    assert_eq!(rows(&store.snapshot()).len(), 9_000);
}

/// Whatever fails while blocks are cut, nothing is lost, and bounds survive.
#[test]
fn a_cut_that_fails_loses_nothing() {
    let prepared = || {
        let files = Arc::new(Faulty::default());
        let store = Store::over_files(files.clone()).unwrap();
        store.pause_mover();
        let table = create(&store);
        load_scattered(&store, table, 0..2_500);
        store.move_delta(table).unwrap();
        let set = store.commit(|edit| edit.set_options(table, options(2)));
        set.unwrap();
        delete_all(&store, table, |key| key % 50 == 0);
        (files, store, table)
    };
    let (files, store, table) = prepared();
    let expected = rows(&store.snapshot());
    let before = files.operations();
    store.vacuum(table).unwrap();
    let operations = files.operations() - before;
    let bounds = partitioning(&table_of(&store)).clone();
    assert!(bounds.is_known());
    // A vacuum ends with a checkpoint; what comes after is in the log alone.
    for more in [false, true] {
        if more {
            let mut options = table_of(&store).options.clone();
            options.set("fill_percent", "90").unwrap();
            store
                .commit(|edit| edit.set_options(table, options))
                .unwrap();
        }
        let again = Store::over_files(Arc::new(files.crash())).unwrap();
        assert_eq!(*partitioning(&table_of(&again)), bounds);
        must_be_cut(&again);
        assert_eq!(rows(&again.snapshot()), expected);
    }
    for number in 0..operations {
        let (files, store, table) = prepared();
        files.fail_after(number);
        let _ = store.vacuum(table);
        let lost = Store::over_files(Arc::new(files.crash())).unwrap();
        lost.pause_mover();
        assert_eq!(rows(&lost.snapshot()), expected);
        lost.vacuum(table).unwrap();
        must_be_cut(&lost);
        assert_eq!(rows(&lost.snapshot()), expected);
    }
}

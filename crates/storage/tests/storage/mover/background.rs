//! The mover behind commits, and what it does when something fails.

use super::*;
use freestone_storage::Error;
use freestone_storage::store::policy::Step;

/// The mover does its work in the background, and ends with the store.
#[test]
fn the_mover_works_behind_commits() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), OpenMode::Create).unwrap();
    let table = create(&store);
    store.pause_mover();
    load(&store, table, 0..70_000);
    let status = store.mover_status();
    assert!(status.paused && !status.running);
    let waiting = &status.tables[0];
    assert_eq!(
        (waiting.delta_rows, &waiting.waiting),
        (70_000, &Some(Step::MoveDelta))
    );
    assert_eq!(
        waiting.waiting.as_ref().unwrap().to_string(),
        "move the delta"
    );
    store.resume_mover();
    wait_until("the delta is moved", || {
        table_of(&store).delta().rows() == 0
    });
    wait_until("nothing is left to do", || {
        moves(&store).waiting.is_none() && !store.mover_status().running
    });
    let done = moves(&store).done;
    assert!(
        done.rows_moved >= 70_000 && done.last_error.is_none(),
        "{done:?}"
    );
    // A store that is dropped in the midst of a move is free at once.
    load(&store, table, 100_000..180_000);
    let began = Instant::now();
    drop(store);
    let store = Store::open(directory.path(), OpenMode::ReadWrite).unwrap();
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(seen(&store.snapshot()).len(), 150_000);
}

/// Far behind, committers help.
#[test]
fn a_delta_does_not_grow_without_end() {
    let store = Store::in_memory();
    let table = create_with(&store, TableOptions::default());
    load(&store, table, 0..300_000);
    assert_eq!(table_of(&store).delta().rows(), 0);
    assert!(moves(&store).done.rows_moved == 300_000);
}

/// Whatever fails during a step, nothing is lost, and the status tells.
#[test]
fn a_step_that_fails_loses_nothing() {
    let prepared = || {
        let files = Arc::new(Faulty::default());
        let (store, table) = half_moved(&files);
        store.pause_mover();
        (files, store, table)
    };
    let (files, store, table) = prepared();
    let before = files.operations();
    let expected = rows(&store.snapshot());
    store.vacuum(table).unwrap();
    let operations = files.operations() - before;
    assert!(operations > 5);
    for number in 0..operations {
        for once in [false, true] {
            let (files, store, table) = prepared();
            let mut own = store.begin().unwrap();
            write(&mut own, table, 10, Some(-1)).unwrap();
            match once {
                true => files.fail_once_after(number),
                false => files.fail_after(number),
            }
            let failed = store.vacuum(table).is_err();
            assert_eq!(rows(&store.snapshot()), expected, "after {number}");
            if failed && once && store.begin().is_ok() {
                // A failure of the log, or of what follows a step, is not the table's.
                let status = store.mover_status();
                let told = status.last_error.is_some_and(|text| text.contains("fault"));
                assert!(told || moves(&store).done.steps > 0, "{number}");
            }
            files.heal();
            let lost = Store::over_files(Arc::new(files.crash())).unwrap();
            assert_eq!(rows(&lost.snapshot()), expected, "after {number}");
            if own.commit().is_ok() {
                let mut expected = expected.clone();
                expected.insert(10, -1);
                store.vacuum(table).unwrap();
                assert_eq!(rows(&store.snapshot()), expected);
                let lost = Store::over_files(Arc::new(files.crash())).unwrap();
                assert_eq!(rows(&lost.snapshot()), expected);
            }
            drop(store);
            let reopened = Store::over_files(files.clone()).unwrap();
            assert_eq!(rows(&reopened.snapshot()).len(), expected.len());
            let table = reopened.snapshot().table(DEFAULT_SCHEMA, "t").unwrap().id;
            reopened.vacuum(table).unwrap();
            assert_eq!(rows(&reopened.snapshot()).len(), expected.len());
        }
    }
}

/// What deltas may take is shared by the tables, and kept to by committers.
#[test]
fn deltas_keep_within_their_memory() {
    let store = Store::in_memory();
    store.pause_mover();
    let table = create_with(&store, TableOptions::default());
    let memory = 1 << 20;
    store.set_delta_bytes(memory);
    let mut most = 0;
    for hundred in 0..500 {
        load(&store, table, hundred * 100..(hundred + 1) * 100);
        most = most.max(store.delta_bytes());
    }
    // A commit is counted when it is done.
    assert!(memory / 2 < most && most <= memory + (32 << 10), "{most}");
    assert!(table_of(&store).blocks().len() > 1);
    assert_eq!(rows(&store.snapshot()).len(), 50_000);
}

/// Rows of an open transaction become blocks of its own, which go back with a savepoint.
#[test]
fn a_large_transaction_keeps_within_its_memory() {
    let store = Store::in_memory();
    let id = create_with(&store, TableOptions::default());
    store.set_delta_bytes(4 << 20);
    let mut transaction = store.begin().unwrap();
    let numbered =
        |keys: std::ops::Range<i32>| batch(&keys.map(|key| (key, key)).collect::<Vec<_>>());
    let put = |transaction: &mut Transaction, keys: std::ops::Range<i32>| {
        let first = transaction.insert(id, &numbered(keys)).unwrap();
        transaction.check_keys(id, first).unwrap();
        transaction.settle().unwrap();
    };
    put(&mut transaction, 0..20_000);
    let savepoint = transaction.savepoint();
    for thousand in 20..60 {
        put(&mut transaction, thousand * 1000..(thousand + 1) * 1000);
        let own = transaction.read_view(id).own.unwrap();
        assert!(own.bytes_since(0) < 2 << 20, "{}", own.bytes_since(0));
    }
    let twice = transaction.insert(id, &numbered(7..8)).unwrap();
    let error = transaction.check_keys(id, twice).unwrap_err();
    assert_eq!(error.sqlstate(), "23505");
    assert!(table_of(&store).blocks().is_empty());
    transaction.roll_back_to(&savepoint);
    put(&mut transaction, 20_000..50_000);
    transaction.commit().unwrap();
    assert!(table_of(&store).blocks().len() > 1);
    assert_eq!(rows(&store.snapshot()).len(), 50_000);
}

/// The mover rests after a failure, and goes on after it.
#[test]
fn the_mover_goes_on_after_a_failure() {
    let files = Arc::new(Faulty::default());
    let store = Store::over_files(files.clone()).unwrap();
    let table = create_with(&store, TableOptions::default());
    files.set_full(true);
    // The log has room left for a short record, blocks have none.
    delete_all(&store, table, |_| true);
    files.set_full(false);
    store.pause_mover();
    load(&store, table, 0..70_000);
    files.set_full(true);
    store.resume_mover();
    wait_until("the failure is told", || {
        store.mover_status().last_error.is_some()
    });
    assert!(matches!(store.vacuum(table), Err(Error::Full { .. })));
    assert_eq!(rows(&store.snapshot()).len(), 70_000);
    files.set_full(false);
    store.resume_mover();
    wait_until("the delta is moved", || {
        table_of(&store).delta().rows() == 0
    });
    assert_eq!(rows(&store.snapshot()).len(), 70_000);
    wait_until("the failure is past", || {
        moves(&store).done.last_error.is_none()
    });
}

//! Damaged databases: opening refuses or reads on, salvaging says what is lost and
//! leaves a state that the database once had.

mod random;

use crate::crash_model::{Where, go_on};
use crate::tables::Dice;
use crate::world::{World, array, batch, column, rows, schema, try_world, world};
use freestone_storage::io::{Faulty, Files};
use freestone_storage::wal::WalOptions;
use freestone_storage::{
    DEFAULT_SCHEMA, Error, OpenMode, SalvageReport, Store, TableId, TableOptions,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The world after each transaction that changed it.
type States = BTreeMap<u64, Arc<World>>;

fn at(states: &States, timestamp: u64) -> &World {
    states.range(..=timestamp).next_back().unwrap().1
}

fn small() -> WalOptions {
    WalOptions {
        segment_bytes: 2048,
        ..WalOptions::default()
    }
}

/// A refusal that says how to go on.
fn refused(files: &Arc<Faulty>) {
    for error in [
        Store::over_files_with(files.clone(), small()).unwrap_err(),
        Store::read_files(files.clone()).unwrap_err(),
    ] {
        assert!(names_salvage(&error), "{error}");
    }
}

fn names_salvage(error: &Error) -> bool {
    let hint = error.hint().unwrap_or_default();
    error.sqlstate() == "XX001" && hint.contains("freestone salvage")
}

/// Salvages for reading and for writing, which agree, and goes on.
fn salvage(files: &Arc<Faulty>) -> (World, SalvageReport) {
    let before = files.operations();
    let (store, report) = Store::salvage_files(files.clone(), false).unwrap();
    let found = world(&store.snapshot());
    assert_eq!(store.begin().unwrap_err().sqlstate(), "25006");
    drop(store);
    assert_eq!(files.operations(), before, "reading changed something");
    let (store, rewritten) = Store::salvage_files(files.clone(), true).unwrap();
    assert_eq!(world(&store.snapshot()), found);
    let read_only = SalvageReport {
        rewritten: false,
        ..rewritten.clone()
    };
    assert_eq!(read_only, report);
    assert!(rewritten.rewritten);
    // From here on it is a database like any other.
    let lost = Arc::new(files.crash());
    for left in [files.clone(), lost] {
        let mut found = found.clone();
        let store = Store::over_files_with(left.clone(), small()).unwrap();
        assert_eq!(world(&store.snapshot()), found);
        store.verify(|report| report.outcome.unwrap());
        go_on(&store, &mut found, &mut Dice(1));
        let reopened = Store::over_files(Arc::new(left.crash())).unwrap();
        assert_eq!(world(&reopened.snapshot()), found);
        store.checkpoint().unwrap();
        assert!(Store::salvage_files(left, false).unwrap().1.is_whole());
    }
    serde_json::to_string(&report).unwrap();
    (found, report)
}

fn insert(store: &Arc<Store>, table: TableId, keys: std::ops::Range<i64>) {
    let added: Vec<(i64, Vec<Option<i64>>)> = keys.map(|key| (key, vec![Some(key)])).collect();
    let mut transaction = store.begin().unwrap();
    let rows = batch(&["n1".to_string()], &added);
    transaction.insert(table, &rows).unwrap();
    transaction.commit().unwrap();
}

/// Table `t` made by transaction 1; each transaction after it adds ten rows, and
/// there is a checkpoint after those of `checkpoints`.
fn database(transactions: u64, checkpoints: &[u64]) -> (Arc<Faulty>, States) {
    let files = Arc::new(Faulty::default());
    let store = Store::over_files_with(files.clone(), small()).unwrap();
    let mut states = States::from([(0, Arc::default())]);
    let table = store
        .commit(|edit| {
            let schema = schema(&["n1".to_string()], "t");
            edit.create_table(DEFAULT_SCHEMA, "t", schema, TableOptions::default())
        })
        .unwrap();
    for transaction in 1..=transactions {
        if transaction > 1 {
            let first = transaction as i64 * 10;
            insert(&store, table, first..first + 10);
        }
        let snapshot = store.snapshot();
        assert_eq!(snapshot.timestamp(), transaction);
        states.insert(transaction, Arc::new(world(&snapshot)));
        if checkpoints.contains(&transaction) {
            store.checkpoint().unwrap();
        }
    }
    (Arc::new(files.crash()), states)
}

/// Files of a directory, by number.
fn named(files: &Faulty, directory: &str, ending: &str) -> Vec<String> {
    let names = files.list(directory).unwrap().into_iter();
    let mut names: Vec<String> = names
        .filter(|name| name.ends_with(ending))
        .map(|name| format!("{directory}/{name}"))
        .collect();
    names.sort_by_key(|name| (name.len(), name.clone()));
    names
}

fn newest(files: &Faulty, directory: &str, ending: &str) -> String {
    named(files, directory, ending).pop().unwrap()
}

/// A record in the middle, a segment that is gone, and one that is cut.
#[test]
fn holes_in_the_log() {
    type Damage = fn(&Faulty, &str);
    let kinds: [Damage; 3] = [
        |files, segment| files.corrupt(segment, |bytes| bytes[200] ^= 4),
        |files, segment| files.remove(segment).unwrap(),
        |files, segment| files.corrupt(segment, |bytes| bytes.truncate(300)),
    ];
    for damage in kinds {
        for checkpoints in [&[][..], &[8]] {
            let (files, states) = database(40, checkpoints);
            let segments = named(&files, "wal", ".log");
            damage(&files, &segments[segments.len() / 2]);
            refused(&files);
            let (found, report) = salvage(&files);
            let last = report.last_transaction;
            assert!((2..39).contains(&last), "{report}");
            assert_eq!(found, *at(&states, last), "{report}");
            // What is lost is named without gaps, the unreadable first.
            assert_eq!(report.transactions[0].first, last + 1);
            assert!(!report.transactions[0].readable && report.transactions[1].readable);
            assert_eq!(report.transactions.last().unwrap().last, 40);
            let text = report.to_string();
            assert!(
                text.contains("cannot be read") && text.contains("wal/"),
                "{text}"
            );
        }
    }
}

/// A segment whose head cannot be read has its records still.
#[test]
fn heads_in_the_log() {
    let (files, states) = database(40, &[8]);
    let segments = named(&files, "wal", ".log");
    files.corrupt(&segments[segments.len() / 2], |bytes| bytes[3] ^= 1);
    refused(&files);
    let (found, report) = salvage(&files);
    assert!(report.is_whole() && report.damage.len() == 1, "{report}");
    assert_eq!(found, *at(&states, 40));
}

/// The newest manifest or its checkpoint: the one before and the log have it all.
#[test]
fn manifests_and_checkpoints() {
    for checkpoints in [&[5, 20][..], &[5, 20, 30], &[40]] {
        for (directory, ending) in [("manifest", ""), ("wal", ".checkpoint")] {
            for gone in [false, true] {
                let (files, states) = database(40, checkpoints);
                let name = newest(&files, directory, ending);
                match gone {
                    // A manifest that is gone without a trace is as none was.
                    true if directory == "manifest" => continue,
                    true => files.remove(&name).unwrap(),
                    false => files.corrupt(&name, |bytes| bytes[40] ^= 1),
                }
                refused(&files);
                let (found, report) = salvage(&files);
                assert!(report.is_whole(), "{report}");
                assert_eq!(
                    (found, report.last_transaction),
                    (at(&states, 40).clone(), 40)
                );
                assert!(report.to_string().contains(&name), "{report}");
                assert!(report.to_string().contains("nothing is lost"), "{report}");
            }
        }
    }
    // A young database has one manifest, and a log that begins with it.
    let (files, states) = database(10, &[]);
    let name = newest(&files, "manifest", "");
    files.corrupt(&name, |bytes| bytes[40] ^= 1);
    refused(&files);
    let (found, report) = salvage(&files);
    assert_eq!((found, report.is_whole()), (at(&states, 10).clone(), true));
    // Both checkpoints: what was in blocks and what the log has is left.
    let (files, states) = database(40, &[5, 10, 20]);
    for name in named(&files, "wal", ".checkpoint") {
        files.corrupt(&name, |bytes| bytes[40] ^= 1);
    }
    refused(&files);
    let (found, report) = salvage(&files);
    assert!(report.lost_checkpoint && !report.is_whole());
    let expected = at(&states, 40)["t"].rows.clone().split_off(&210);
    assert_eq!(found["t"].rows, expected);
    // Nothing to begin with.
    for name in named(&files, "manifest", "") {
        files.remove(&name).unwrap();
    }
    let error = Store::salvage_files(files, true).unwrap_err();
    assert_eq!(error.sqlstate(), "XX001");
}

/// Blocks that are gone or damaged: their rows are lost, and named.
#[test]
fn blocks() {
    for gone in [false, true] {
        let (files, states) = database(5, &[]);
        let store = Store::over_files_with(files.clone(), small()).unwrap();
        let snapshot = store.snapshot();
        let table = snapshot.table(DEFAULT_SCHEMA, "t").unwrap().id;
        store.move_delta(table).unwrap();
        let lost = newest(&files, "blocks", "");
        // One of its rows is deleted, the others are in another block.
        let mut transaction = store.begin().unwrap();
        let row = rows(&transaction.snapshot(), "t")[&20].0;
        transaction.delete(table, &[row]).unwrap();
        transaction.commit().unwrap();
        insert(&store, table, 100..105);
        store.move_delta(table).unwrap();
        insert(&store, table, 200..203);
        let value = array("n2", std::iter::once(None));
        let added = store.commit(|edit| edit.add_column(table, column("n2"), &value));
        assert_eq!(added.unwrap_err().sqlstate(), "40001");
        drop((snapshot, store));
        match gone {
            true => files.remove(&lost).unwrap(),
            false => files.corrupt(&lost, |bytes| {
                // Some bytes are between sections.
                let half = bytes.len() / 2;
                bytes[half..].iter_mut().for_each(|byte| *byte ^= 1);
            }),
        }
        // Other tables, and other blocks, go on; reading it says what to do.
        let store = Store::over_files_with(files.clone(), small()).unwrap();
        assert!(names_salvage(&try_world(&store.snapshot()).unwrap_err()));
        drop(store);
        let (found, report) = salvage(&files);
        let [block] = report.blocks.as_slice() else {
            panic!("{report}");
        };
        let before = at(&states, 5)["t"].rows.len() as u64;
        assert_eq!((block.table.as_str(), block.rows), ("t", before - 1));
        assert!(block.reason.contains(&lost), "{report}");
        assert!(report.transactions.is_empty() && !report.is_whole());
        let kept: Vec<i64> = found["t"].rows.keys().copied().collect();
        assert_eq!(kept, [100, 101, 102, 103, 104, 200, 201, 202]);
    }
}

#[test]
fn a_directory_is_salvaged_by_its_path() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let store = Store::open(path, OpenMode::Create).unwrap();
    let table = store.commit(|edit| {
        let schema = schema(&["n1".to_string()], "t");
        edit.create_table(DEFAULT_SCHEMA, "t", schema, TableOptions::default())
    });
    insert(&store, table.unwrap(), 0..10);
    assert_eq!(Store::salvage(path, true).unwrap_err().sqlstate(), "55006");
    let before = world(&store.snapshot());
    drop(store);
    let (store, report) = Store::salvage(path, false).unwrap();
    assert_eq!(
        report.to_string().lines().next().unwrap(),
        "nothing is damaged"
    );
    drop(store);
    std::fs::remove_file(path.join("FORMAT")).unwrap();
    let mut manifests: Vec<_> = std::fs::read_dir(path.join("manifest")).unwrap().collect();
    manifests.sort_by_key(|entry| entry.as_ref().unwrap().file_name());
    let newest = manifests.pop().unwrap().unwrap().path();
    std::fs::write(newest, "freestone manifest 1 nonsense\n").unwrap();
    let (store, report) = Store::salvage(path, true).unwrap();
    assert_eq!(report.damage.len(), 2, "{report}");
    assert!(report.is_whole());
    assert_eq!(world(&store.snapshot()), before);
    drop(store);
    let store = Store::open(path, OpenMode::ReadWrite).unwrap();
    assert_eq!(world(&store.snapshot()), before);
    let nowhere = Store::salvage(&path.join("nowhere"), true).unwrap_err();
    assert_eq!(nowhere.sqlstate(), "3D000");
}

/// A power loss while the database is rewritten leaves as much to salvage.
#[test]
fn salvage_may_be_interrupted() {
    let (files, states) = database(40, &[8]);
    let segments = named(&files, "wal", ".log");
    files.corrupt(&segments[segments.len() / 2], |bytes| bytes[200] ^= 4);
    let newest = newest(&files, "manifest", "");
    files.corrupt(&newest, |bytes| bytes[40] ^= 1);
    files.watch();
    let (_, report) = Store::salvage_files(files.clone(), true).unwrap();
    let expected = at(&states, report.last_transaction);
    let moments = files.moments();
    assert!(moments.len() > 5 && !report.is_whole());
    for moment in moments {
        for left in [moment.files.crash(), moment.files.crash_keeping(|_| true)] {
            let _where = Where(moment.next.clone());
            assert_eq!(salvage(&Arc::new(left)).0, *expected);
        }
    }
}

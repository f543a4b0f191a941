//! What of overlays is on disk: after power losses, failures and damage.

use super::*;
use crate::crash_model::Where;
use crate::tables::Dice;
use freestone_storage::OpenMode;
use freestone_storage::io::{SECTOR_BYTES, Survival, Unsynced};

/// What a power loss leaves of files, in one of four ways.
fn crashed(files: &Faulty, dice: &mut Dice) -> Arc<Faulty> {
    Arc::new(match dice.below(4) {
        0 => files.crash(),
        1 => files.crash_keeping(|_| true),
        2 => files.crash_keeping(|_| dice.once_in(2)),
        _ => files.crash_tearing(|change| match change {
            Unsynced::Write { bytes, .. } => {
                let sectors = bytes.len() / SECTOR_BYTES + 2;
                Survival::Sectors((0..sectors).map(|_| dice.once_in(2)).collect())
            }
            Unsynced::Name(_) if dice.once_in(2) => Survival::Whole,
            Unsynced::Name(_) => Survival::Nothing,
        }),
    })
}

/// No file is missing, and none is left over.
fn check_files(files: &Faulty, snapshot: &Snapshot) {
    let table = table_of(snapshot);
    let ids = table.block_ids().into_iter();
    let mut named: Vec<String> = ids.map(|id| format!("blocks/{}.block", id.0)).collect();
    named.extend(overlay_files(snapshot));
    named.sort();
    let mut there = block_files(files);
    there.sort();
    assert_eq!(there, named);
}

#[test]
fn a_power_loss_leaves_the_values_before_or_after() {
    let files = Arc::new(Faulty::default());
    let (old, one, two) = (small(1), small(2), small(3));
    let (store, table) = two_blocks(&files, &old);
    let (first, second) = ([INTEGER, TEXT], [TEXT, DECIMAL]);
    let mut expected = rows_of(&old);
    // The rows, and the operations after which they were acknowledged.
    let mut states = vec![(0, expected.clone())];
    let mut acknowledge = |rows: &Rows| states.push((files.operations(), rows.clone()));
    files.watch();
    laid_over(&store, &first, &one);
    let after = with(&old, &one, &first);
    expected = rows_of(&after);
    acknowledge(&expected);
    deleted(&store, 8);
    expected.remove(&8);
    acknowledge(&expected);
    store.checkpoint().unwrap();
    laid_over(&store, &second, &two);
    expected = rows_of(&with(&after, &two, &second));
    expected.remove(&8);
    acknowledge(&expected);
    store.checkpoint().unwrap();
    store.vacuum(table).unwrap();
    acknowledge(&expected);
    assert_eq!(rows(&store.snapshot()), expected);

    let (moments, mut dice) = (files.moments(), Dice(7));
    assert!(moments.len() > 20);
    for moment in moments {
        let _where = Where(moment.next.clone());
        let done = states.partition_point(|(until, _)| *until <= moment.operations);
        let allowed = &states[done - 1..states.len().min(done + 1)];
        for _ in 0..4 {
            let left = crashed(&moment.files, &mut dice);
            let store = Store::over_files(left.clone()).unwrap();
            let found = rows(&store.snapshot());
            assert!(allowed.iter().any(|(_, rows)| *rows == found));
            store.verify(|report| report.outcome.unwrap());
            check_files(&left, &store.snapshot());
            // Whatever was left, the next overlay is laid over it.
            laid_over(&store, &[INTEGER], &two);
            let again = Store::over_files(Arc::new(left.crash())).unwrap();
            let column = rows(&again.snapshot()).into_iter();
            let new = rows_of(&two);
            column.for_each(|(id, row)| assert_eq!(row[INTEGER], new[&id][INTEGER]));
        }
    }
}

#[test]
fn any_operation_may_fail() {
    let (old, new) = (small(1), small(2));
    let (before, after) = (rows_of(&old), rows_of(&with(&old, &new, &ALL)));
    let mut failed = 0;
    for number in 0.. {
        let mut any = false;
        for once in [false, true] {
            let _where = Where(format!("operation {number}, once: {once}"));
            let files = Arc::new(Faulty::default());
            let (store, _) = two_blocks(&files, &old);
            match once {
                true => files.fail_once_after(number),
                false => files.fail_after(number),
            }
            let work = || {
                let mut own = store.begin()?;
                lay_over(&mut own, &store, &ALL, &new)?;
                own.commit()
            };
            let outcome = work();
            let found = rows(&store.snapshot());
            files.heal();
            match &outcome {
                Ok(()) => assert_eq!(found, after),
                Err(error) => {
                    any = true;
                    assert!(["58030", "53100"].contains(&error.sqlstate()), "{error}");
                    assert_eq!(found, before);
                }
            }
            drop(store);
            for left in [files.clone(), Arc::new(files.crash())] {
                let store = Store::over_files(left.clone()).unwrap();
                let found = rows(&store.snapshot());
                assert!(found == after || outcome.is_err() && found == before);
                check_files(&left, &store.snapshot());
            }
        }
        failed += u32::from(any);
        if !any {
            break;
        }
    }
    // Two files, their directory, and the log.
    assert!(failed >= 4, "{failed} operations");
}

#[test]
fn readers_follow() {
    let (old, one, two) = (small(1), small(2), small(3));
    let files = Arc::new(Faulty::default());
    let (store, table) = two_blocks(&files, &old);
    let reader = Store::read_files(files.clone()).unwrap();
    let seen = || {
        reader.refresh().unwrap();
        reader.snapshot()
    };
    let first = seen();
    assert_eq!(rows(&first), rows_of(&old));
    laid_over(&store, &[INTEGER, TEXT], &one);
    let second = seen();
    let after = with(&old, &one, &[INTEGER, TEXT]);
    assert_eq!(rows(&second), rows_of(&after));
    assert_eq!(rows(&first), rows_of(&old));
    deleted(&store, 4);
    store.checkpoint().unwrap();
    laid_over(&store, &[INTEGER, TEXT], &two);
    let after = with(&old, &two, &[INTEGER, TEXT]);
    let mut expected = rows_of(&after);
    expected.remove(&4);
    assert_eq!(rows(&seen()), expected);
    // The files of the second are gone; it may have them open, or says so.
    match try_rows(&second) {
        Ok(found) => assert_eq!(found, rows_of(&with(&old, &one, &[INTEGER, TEXT]))),
        Err(error) => assert_eq!(error.sqlstate(), "40001", "{error}"),
    }
    store.vacuum(table).unwrap();
    assert_eq!(rows(&seen()), expected);
    laid_over(&store, &ALL, &one);
    store.checkpoint().unwrap();
    // One that begins with the checkpoint.
    let late = Store::read_files(files).unwrap();
    let mut expected = rows_of(&with(&old, &one, &ALL));
    expected.remove(&4);
    assert_eq!(rows(&late.snapshot()), expected);
    assert_eq!(rows(&seen()), expected);
}

/// A reader whose files are gone before it has opened them hears that it is late.
#[test]
fn removed_overlays_are_told_from_lost_ones() {
    let (old, one, two) = (small(1), small(2), small(3));
    let files = Arc::new(Faulty::default());
    let (store, _) = two_blocks(&files, &old);
    laid_over(&store, &[TEXT], &one);
    let reader = Store::read_files(files.clone()).unwrap();
    let late = reader.snapshot();
    laid_over(&store, &[TEXT], &two);
    let error = try_rows(&late).unwrap_err();
    assert_eq!(error.sqlstate(), "40001", "{error}");
    let expected = rows_of(&with(&old, &two, &[TEXT]));
    assert_eq!(rows(&reader.snapshot()), expected);
    let other = Store::read_files(files.clone()).unwrap();
    let lost = &overlay_files(&store.snapshot())[0];
    files.remove(lost).unwrap();
    let error = try_rows(&other.snapshot()).unwrap_err();
    assert_eq!(error.sqlstate(), "XX001", "{error}");
}

#[test]
fn on_disk_as_in_memory() {
    let (old, new) = (small(1), small(2));
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), OpenMode::Create).unwrap();
    store.pause_mover();
    fill_store(&store, &old, &[options(Layout::Row, 90_000)], ROWS);
    let reader = Store::open(directory.path(), OpenMode::ReadOnly).unwrap();
    laid_over(&store, &ALL, &new);
    let expected = rows_of(&with(&old, &new, &ALL));
    assert_eq!(rows(&reader.snapshot()), expected);
    drop((store, reader));
    let store = Store::open(directory.path(), OpenMode::ReadWrite).unwrap();
    assert_eq!(rows(&store.snapshot()), expected);
    store.verify(|report| report.outcome.unwrap());
}

fn damaged(files: &Faulty, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Arc<Faulty> {
    let copy = Arc::new(files.crash());
    copy.corrupt(name, change);
    copy
}

/// Whether reading and verifying find a damage; if not, no value is wrong.
fn found(files: &Arc<Faulty>, expected: &Rows) -> (bool, bool) {
    let store = Store::read_files(files.clone()).unwrap();
    let read = match try_rows(&store.snapshot()) {
        Ok(rows) => {
            assert_eq!(rows, *expected);
            false
        }
        Err(error) => {
            assert_eq!(error.sqlstate(), "XX001", "{error}");
            true
        }
    };
    let store = Store::read_files(files.clone()).unwrap();
    let mut verified = false;
    store.verify(|report| {
        if let Err(error) = report.outcome {
            assert_eq!(error.sqlstate(), "XX001", "{error}");
            verified = true;
        }
    });
    assert!(verified || !read, "verify does not see what reading sees");
    (read, verified)
}

#[test]
fn damage_is_found_and_reported() {
    let (old, new) = (small(1), small(2));
    let files = Arc::new(Faulty::default());
    let (store, _) = two_blocks(&files, &old);
    laid_over(&store, &[TEXT, DECIMAL], &new);
    let expected = rows_of(&with(&old, &new, &[TEXT, DECIMAL]));
    let overlays = overlay_files(&store.snapshot());
    assert_eq!(overlays.len(), 2);
    drop(store);
    let name = &overlays[1];
    let mut length = 0;
    files.corrupt(name, |bytes| length = bytes.len());
    let (mut read, mut verified) = (0, 0);
    for place in 0..length {
        let _where = Where(format!("byte {place} of {length}"));
        let files = damaged(&files, name, |bytes| bytes[place] ^= 1 << (place % 8));
        let found = found(&files, &expected);
        read += usize::from(found.0);
        verified += usize::from(found.1);
    }
    assert!(read > length / 3, "{read} of {length} bytes");
    assert!(verified > length * 2 / 3, "{verified} of {length} bytes");
    let lengths: [fn(&mut Vec<u8>); 2] = [|bytes| bytes.truncate(100), |bytes| bytes.push(0)];
    for change in lengths {
        assert_eq!(
            found(&damaged(&files, name, change), &expected),
            (true, true)
        );
    }
    // The overlay of another block, whole in itself.
    let mut other = Vec::new();
    files.corrupt(&overlays[0], |bytes| other.clone_from(bytes));
    let exchanged = damaged(&files, name, |bytes| *bytes = other);
    assert_eq!(found(&exchanged, &expected), (true, true));
}

#[test]
fn salvage_leaves_out_what_cannot_be_read() {
    let (old, new) = (small(1), small(2));
    let files = Arc::new(Faulty::default());
    let (store, _) = two_blocks(&files, &old);
    laid_over(&store, &[TEXT], &new);
    store.checkpoint().unwrap();
    let blocks = table_of(&store.snapshot()).block_ids();
    let overlays = overlay_files(&store.snapshot());
    drop(store);
    let mut expected = rows_of(&with(&old, &new, &[TEXT]));
    let (whole, report) = Store::salvage_files(Arc::new(files.crash()), false).unwrap();
    assert!(report.is_whole(), "{report}");
    assert_eq!(rows(&whole.snapshot()), expected);
    // The values that the overlay had are lost, so the rows are.
    expected.retain(|id, _| *id < ROWS as i64 / 2);
    let change = |bytes: &mut Vec<u8>| {
        let middle = bytes.len() / 2;
        bytes[middle..middle + 64].fill(0xaa);
    };
    let left = damaged(&files, &overlays[1], change);
    let (store, report) = Store::salvage_files(left.clone(), true).unwrap();
    let lost: Vec<(u64, u64)> = report.blocks.iter().map(|b| (b.block, b.rows)).collect();
    assert_eq!(lost, [(blocks[1].0, ROWS as u64 / 2)]);
    assert_eq!(rows(&store.snapshot()), expected);
    drop(store);
    let store = Store::over_files(left.clone()).unwrap();
    assert_eq!(rows(&store.snapshot()), expected);
    check_files(&left, &store.snapshot());
    laid_over(&store, &[TEXT], &old);
    store.verify(|report| report.outcome.unwrap());
}

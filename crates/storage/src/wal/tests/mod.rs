use super::record::{HEAD_BYTES, HEAD_FIELDS, RECORD_FIELDS, RECORD_HEAD_BYTES, record_bytes};
use super::*;
use crate::Result;
use crate::io::{Disk, Faulty, Files, Memory};
use std::sync::Arc;

mod crash;
mod damage;
mod follow;
mod group;
mod tasks;

type Records = Vec<(u64, Vec<u8>)>;

fn options(segment_bytes: u64) -> WalOptions {
    WalOptions {
        segment_bytes,
        ..WalOptions::default()
    }
}

/// Opens a log and collects what it hands over.
fn open(
    files: Arc<dyn Files>,
    options: WalOptions,
    from: u64,
    after: u64,
) -> Result<(Wal, Replay, Records)> {
    let mut records = Records::new();
    let (wal, replay) = Wal::open(files, options, from, after, &mut |timestamp, payload| {
        records.push((timestamp, payload.to_vec()));
        Ok(())
    })?;
    assert_eq!(replay.records, records.len() as u64);
    Ok((wal, replay, records))
}

/// A payload that tells its timestamp and ends in no zero.
fn payload(timestamp: u64, len: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..len)
        .map(|at| (at as u64 * 7 + timestamp) as u8)
        .collect();
    bytes.extend(format!("number {timestamp}").bytes());
    bytes
}

fn append(wal: &Wal, timestamps: impl IntoIterator<Item = u64>, len: usize) -> Records {
    let record = |timestamp| {
        let payload = payload(timestamp, len);
        wal.append(timestamp, &payload).unwrap();
        wal.flush(timestamp).unwrap();
        (timestamp, payload)
    };
    timestamps.into_iter().map(record).collect()
}

#[test]
fn byte_tables() {
    let rows: Vec<Vec<&str>> = include_str!("../mod.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("//! | "))
        .map(|line| {
            line.trim_matches('|')
                .split(" | ")
                .map(|cell| cell.trim_matches([' ', '|']))
                .collect()
        })
        .filter(|cells: &Vec<&str>| cells[0].parse::<usize>().is_ok())
        .collect();
    let mut fields = Vec::new();
    for (table, bytes) in [
        (HEAD_FIELDS, HEAD_BYTES as usize),
        (RECORD_FIELDS, RECORD_HEAD_BYTES),
    ] {
        let mut end = 0;
        for (offset, len, field) in table {
            assert_eq!(*offset, end, "{field} leaves a gap");
            end += len;
            fields.push(vec![offset.to_string(), len.to_string(), field.to_string()]);
        }
        assert_eq!(end, bytes);
    }
    assert_eq!(rows, fields);
}

#[test]
fn records_come_back_over_several_segments() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Disk::new(directory.path());
    disk.create_directory("wal").unwrap();
    let kinds: [Arc<dyn Files>; 3] = [
        Arc::new(disk),
        Arc::new(Memory::default()),
        Arc::new(Faulty::default()),
    ];
    for files in kinds {
        let (wal, _, found) = open(files.clone(), options(1000), 1, 0).unwrap();
        assert!(found.is_empty());
        let mut all = append(&wal, 1..20, 100);
        // Longer than a segment, and empty.
        all.extend(append(&wal, [20], 5000));
        wal.append(30, &[]).unwrap();
        all.push((30, Vec::new()));
        all.extend(append(&wal, 31..40, 200));
        assert_eq!((wal.durable(), wal.appended()), (39, 39));
        let bytes = all
            .iter()
            .map(|(_, payload)| record_bytes(payload.len()).unwrap());
        assert_eq!(wal.bytes(), bytes.sum::<u64>());
        let kept = wal.bytes();
        drop(wal);

        let (wal, replay, found) = open(files.clone(), options(1000), 1, 0).unwrap();
        assert_eq!(found, all);
        assert_eq!((replay.newest, replay.torn, wal.durable()), (39, false, 39));
        assert_eq!(wal.bytes(), kept);
        all.extend(append(&wal, 50..60, 10));
        let (_, _, found) = open(files, options(1000), 1, 19).unwrap();
        assert_eq!(found, all[19..]);
    }
}

#[test]
fn a_record_that_is_not_newer_is_refused() {
    let (wal, ..) = open(Arc::new(Memory::default()), options(1000), 1, 7).unwrap();
    assert_eq!(wal.append(7, b"x").unwrap_err().sqlstate(), "XX000");
    append(&wal, [8], 10);
    assert_eq!(wal.append(8, b"x").unwrap_err().sqlstate(), "XX000");
    append(&wal, [9], 10);
}

#[test]
fn segments_are_rotated_removed_and_used_again() {
    let files = Arc::new(Faulty::default());
    let (wal, ..) = open(files.clone(), options(1000), 1, 0).unwrap();
    assert_eq!(wal.rotate().unwrap(), 1, "an empty segment will do");
    append(&wal, 1..50, 100);
    let before = files.list("wal").unwrap().len();
    let from = wal.rotate().unwrap();
    assert_eq!(wal.rotate().unwrap(), from);
    assert!(wal.bytes() > 0);
    wal.remove_before(from).unwrap();
    wal.remove_before(from).unwrap();
    assert_eq!(wal.bytes(), 0);
    // As many as were needed are kept, until they are asked to go.
    let left = files.list("wal").unwrap();
    assert_eq!(left.len(), before + 1, "{left:?}");
    wal.trim().unwrap();
    let left = files.list("wal").unwrap();
    assert_eq!(left.len(), 3, "{left:?} of {before}");

    // Those two are full of old records, and serve two more segments.
    let operations = files.operations();
    let mut all = append(&wal, 100..112, 100);
    assert!(files.operations() > operations);
    assert_eq!(files.list("wal").unwrap().len(), 3);
    let (_, _, found) = open(files.clone(), options(1000), from, 49).unwrap();
    assert_eq!(found, all);
    all.extend(append(&wal, 112..120, 100));
    wal.remove_before(u64::MAX).unwrap();
    append(&wal, 120..121, 100);
}

#[test]
fn only_the_records_asked_for_are_found() {
    let files = Arc::new(Memory::default());
    let (wal, ..) = open(files.clone(), options(1000), 1, 0).unwrap();
    append(&wal, 1..10, 10);
    let from = wal.rotate().unwrap();
    let later = append(&wal, 10..15, 10);
    for from in [0, 1, from] {
        let (wal, _, found) = open(files.clone(), options(1000), from, 9).unwrap();
        assert_eq!(found, later);
        // Also those that were not read.
        wal.remove_before(from).unwrap();
    }
    assert_eq!(files.list("wal").unwrap(), [format!("{from}.log")]);
    let (_, replay, found) = open(files.clone(), options(1000), from, 20).unwrap();
    assert_eq!((found.len(), replay.newest), (0, 20));
    // Records 1 to 9 are in no segment from there on.
    let error = open(files, options(1000), from, 5).unwrap_err();
    assert_eq!(error.sqlstate(), "XX001", "{error}");
}

#[test]
fn a_full_disk_shows_when_room_is_reserved() {
    let files = Arc::new(Faulty::default());
    let (wal, ..) = open(files.clone(), options(1000), 1, 0).unwrap();
    let mut all = append(&wal, 1..4, 100);
    files.set_full(true);
    let (names, bytes) = (files.list("wal").unwrap(), wal.bytes());
    for outcome in [
        wal.reserve(900),
        wal.reserve(5000),
        wal.append(9, &[1; 900]),
        wal.rotate().map(drop),
    ] {
        assert_eq!(outcome.unwrap_err().sqlstate(), "53100");
        assert_eq!(
            (files.list("wal").unwrap(), wal.bytes()),
            (names.clone(), bytes)
        );
    }
    wal.reserve(100).unwrap();
    all.extend(append(&wal, [4], 100));
    files.set_full(false);
    wal.reserve(900).unwrap();
    files.set_full(true);
    all.extend(append(&wal, [5], 880));
    assert_eq!(open(files, options(1000), 1, 0).unwrap().2, all);
}

#[test]
fn a_transaction_too_long_for_a_record_is_refused() {
    let (wal, ..) = open(Arc::new(Memory::default()), options(1000), 1, 0).unwrap();
    let error = wal.reserve(u32::MAX as usize + 1).unwrap_err();
    assert_eq!(error.sqlstate(), "54000");
}

/// A failed write or sync ends writing, and nothing is tried again.
#[test]
fn a_failure_makes_the_log_read_only() {
    for operation in 0..2 {
        let files = Arc::new(Faulty::default());
        let (wal, ..) = open(files.clone(), options(1000), 1, 0).unwrap();
        let all = append(&wal, 1..4, 50);
        wal.append(4, &payload(4, 50)).unwrap();
        files.fail_once_after(operation);
        let mut outcomes = vec![wal.flush(4)];
        let operations = files.operations();
        outcomes.extend([
            wal.flush(4),
            wal.reserve(1),
            wal.append(5, b"x"),
            wal.write(),
            wal.rotate().map(drop),
        ]);
        for error in outcomes.into_iter().map(Result::unwrap_err) {
            assert_eq!(error.sqlstate(), "58030");
            let message = error.to_string();
            assert!(
                message.contains("read-only until it is reopened"),
                "{message}"
            );
            assert!(message.contains("injected fault"), "{message}");
        }
        assert_eq!(files.operations(), operations);
        // What was durable before is so still.
        wal.flush(3).unwrap();
        assert_eq!(wal.durable(), 3);
        assert_eq!(
            open(Arc::new(files.crash()), options(1000), 1, 0)
                .unwrap()
                .2,
            all
        );
    }
}

use super::*;
use crate::error::Error;

fn every_kind(check: impl Fn(&dyn Files)) {
    let directory = tempfile::tempdir().unwrap();
    let disk = Disk::new(directory.path());
    disk.create_directory("d").unwrap();
    check(&disk);
    check(&Memory::default());
    check(&Faulty::default());
}

#[test]
fn what_is_written_is_read_and_listed() {
    every_kind(|files| {
        files.write("d/b", &[b"hello ", b"world"]).unwrap();
        files.write("d/a", &[b""]).unwrap();
        files.rename("d/a", "d/c").unwrap();
        files.sync_directory("d").unwrap();
        assert_eq!(files.list("d").unwrap(), ["b", "c"]);
        let file = files.open("d/b").unwrap();
        assert_eq!(file.len(), 11);
        assert_eq!(file.read(6, 5).unwrap().as_slice(), b"world");
        files.remove("d/b").unwrap();
        files.remove("d/b").unwrap();
        assert_eq!(files.list("d").unwrap(), ["c"]);
    });
}

#[test]
fn reading_past_the_end_is_corrupt() {
    every_kind(|files| {
        files.write("d/x", &[b"12345"]).unwrap();
        let file = files.open("d/x").unwrap();
        for (offset, len) in [(0, 6), (5, 1), (u64::MAX, 1), (u64::MAX - 2, 8)] {
            assert!(matches!(file.read(offset, len), Err(Error::Corrupt { .. })));
        }
        assert!(matches!(files.open("d/none"), Err(Error::Corrupt { .. })));
    });
}

#[test]
fn a_crash_forgets_unsynced_names() {
    let files = Faulty::default();
    files.write("d/x", &[b"1"]).unwrap();
    files.sync_directory("d").unwrap();
    files.write("d/y", &[b"2"]).unwrap();
    files.remove("d/x").unwrap();
    assert_eq!(files.crash().list("d").unwrap(), ["x"]);
    files.fail_after(1);
    files.sync_directory("d").unwrap();
    assert!(files.write("d/z", &[b"3"]).is_err());
    assert_eq!(files.crash().list("d").unwrap(), ["y"]);
}

#[test]
fn a_second_lock_names_the_holder() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Disk::new(directory.path());
    let lock = disk.lock().unwrap();
    let message = disk.lock().unwrap_err().to_string();
    assert!(
        message.contains(&std::process::id().to_string()),
        "{message}"
    );
    drop(lock);
    disk.lock().unwrap();
}

#[test]
fn a_log_is_written_by_position_and_read_at_once() {
    every_kind(|files| {
        let log = files.log("d/log", 3000).unwrap();
        let reader = files.open("d/log").unwrap();
        assert_eq!((log.len(), reader.len()), (3000, 3000));
        assert!(reader.read(0, 3000).unwrap().iter().all(|byte| *byte == 0));
        log.write_at(2995, b"hello").unwrap();
        log.sync().unwrap();
        files.rename("d/log", "d/other").unwrap();
        log.write_at(0, b"world").unwrap();
        assert_eq!(reader.read(2995, 5).unwrap().as_slice(), b"hello");
        assert_eq!(reader.read(0, 5).unwrap().as_slice(), b"world");
        for offset in [2996, 3000, u64::MAX] {
            assert_eq!(
                log.write_at(offset, b"12345").unwrap_err().sqlstate(),
                "XX000"
            );
            assert!(matches!(reader.read(offset, 5), Err(Error::Corrupt { .. })));
        }
        let again = files.log("d/other", 9).unwrap();
        assert_eq!(again.len(), 3000);
        again.write_at(1, b"O").unwrap();
        assert_eq!(reader.read(0, 5).unwrap().as_slice(), b"wOrld");
    });
}

/// Whole units are written around the bytes; those beside them stay.
#[test]
fn durable_writes_of_any_length_follow_each_other() {
    every_kind(|files| {
        for bytes in [64 << 10, (64 << 10) - 8] {
            let name = format!("d/log{bytes}");
            let log = files.log(&name, bytes).unwrap();
            let mut expected = vec![0u8; bytes as usize];
            let (mut offset, mut number) = (56usize, 1u8);
            for len in [1, 3000, 1031, 8, 4096, 9000, 0, 4088, 20_000, 5, 11_000].repeat(2) {
                if offset + len > expected.len() {
                    break;
                }
                let part = vec![number; len];
                expected[offset..offset + len].copy_from_slice(&part);
                match number % 5 {
                    3 => {
                        log.write_at(offset as u64, &part).unwrap();
                        // As the head of a segment is.
                        log.write_at(0, &[number; 56]).unwrap();
                        expected[..56].fill(number);
                    }
                    _ => log.write_durably(offset as u64, &part).unwrap(),
                }
                (offset, number) = (offset + len, number + 1);
                let file = files.open(&name).unwrap();
                let found = file.read(0, expected.len()).unwrap();
                assert_eq!(found.as_slice(), expected, "after {number} writes");
            }
            assert!(number > 11);
            let past = log.write_durably(bytes - 3, b"1234").unwrap_err();
            assert_eq!(past.sqlstate(), "XX000");
        }
    });
}

#[test]
fn a_full_disk_leaves_no_half_log() {
    let files = Faulty::default();
    files.set_full(true);
    assert_eq!(files.log("d/log", 10).unwrap_err().sqlstate(), "53100");
    assert!(files.list("d").unwrap().is_empty());
    files.set_full(false);
    files.log("d/log", 10).unwrap();
    files.set_full(true);
    files.log("d/log", 10).unwrap();
}

/// Three sectors, synced as 1s, then written as 2s.
fn unsynced_log() -> (Faulty, Arc<dyn LogFile>) {
    let files = Faulty::default();
    let log = files.log("d/log", 3 * SECTOR_BYTES as u64).unwrap();
    files.sync_directory("d").unwrap();
    log.write_at(0, &[1; 3 * SECTOR_BYTES]).unwrap();
    log.sync().unwrap();
    log.write_at(10, &[2; 1500]).unwrap();
    (files, log)
}

/// A byte of each sector of the log.
fn sectors(files: &Faulty) -> Vec<u8> {
    let file = files.open("d/log").unwrap();
    [100, 600, 1200]
        .map(|at| file.read(at, 1).unwrap()[0])
        .to_vec()
}

#[test]
fn a_crash_tears_unsynced_writes_of_a_log() {
    let (files, log) = unsynced_log();
    assert_eq!(sectors(&files), [2, 2, 2]);
    assert_eq!(sectors(&files.crash()), [1, 1, 1]);
    assert_eq!(sectors(&files.crash_keeping(|_| true)), [2, 2, 2]);
    let left = files.crash_tearing(|_| Survival::Sectors(vec![false, true]));
    assert_eq!(sectors(&left), [1, 2, 1]);
    // A later write that survives brings the earlier bytes of its sector along.
    log.write_at(1100, b"x").unwrap();
    let left = files.crash_tearing(|change| match change {
        Unsynced::Write { offset: 1100, .. } => Survival::Whole,
        _ => Survival::Nothing,
    });
    assert_eq!(sectors(&left), [1, 1, 2]);
    log.sync().unwrap();
    assert_eq!(sectors(&files.crash()), [2, 2, 2]);
}

#[test]
fn failures_of_a_log_leave_halves_and_lose_for_good() {
    let (files, log) = unsynced_log();
    files.fail_once_after(0);
    assert!(log.sync().is_err());
    log.sync().unwrap();
    assert_eq!(sectors(&files), [2, 2, 2]);
    assert_eq!(sectors(&files.crash()), [1, 1, 1]);
    files.fail_once_after(0);
    assert!(log.write_at(0, &[3; 3 * SECTOR_BYTES]).is_err());
    assert_eq!(sectors(&files), [3, 3, 2]);
}

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

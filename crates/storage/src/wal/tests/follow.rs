//! Readers of a log that is being written.

use super::group::{Counting, Counts};
use super::*;
use parking_lot::Mutex;
use std::sync::atomic::Ordering;
use std::thread;

fn poll(follower: &mut Follower) -> (Polled, Records) {
    let mut records = Records::new();
    let polled = follower.poll(&mut |timestamp, payload| {
        records.push((timestamp, payload.to_vec()));
        Ok(())
    });
    (polled.unwrap(), records)
}

#[test]
fn records_are_seen_once_and_no_news_cost_one_small_read() {
    let files = Arc::new(Memory::default());
    let counts = Arc::new(Counts::default());
    let counting = Arc::new(Counting {
        files: files.clone(),
        counts: counts.clone(),
    });
    let mut follower = Follower::open(counting, 1, 2);
    assert_eq!(poll(&mut follower).0, Polled::Read(0), "no log yet");
    let (wal, ..) = open(files, options(1 << 16), 1, 0).unwrap();
    append(&wal, 1..3, 100);
    assert_eq!(poll(&mut follower).0, Polled::Read(0), "not asked for");
    // Many in one read, some over several segments, one longer than a read.
    for (timestamps, len) in [(3..9, 10), (9..10, 1 << 18), (10..300, 1000)] {
        let news = timestamps.end - timestamps.start;
        let all = append(&wal, timestamps, len);
        assert_eq!(poll(&mut follower), (Polled::Read(news), all));
        let before = counts.reads.load(Ordering::Relaxed);
        let bytes = counts.bytes_read.load(Ordering::Relaxed);
        assert_eq!(poll(&mut follower).0, Polled::Read(0));
        assert_eq!(counts.reads.load(Ordering::Relaxed), before + 1);
        assert!(counts.bytes_read.load(Ordering::Relaxed) <= bytes + 4096);
    }
    wal.append(300, b"relaxed").unwrap();
    wal.write().unwrap();
    assert_eq!(poll(&mut follower).0, Polled::Read(1));
}

#[test]
fn a_record_that_is_not_taken_comes_again() {
    let files = Arc::new(Memory::default());
    let (wal, ..) = open(files.clone(), options(1000), 1, 0).unwrap();
    let all = append(&wal, 1..5, 10);
    let mut follower = Follower::open(files, 1, 0);
    let mut refuse = |timestamp, _: &[u8]| match timestamp {
        3 => Err(Error::invalid("XX000", "no")),
        _ => Ok(()),
    };
    assert!(follower.poll(&mut refuse).is_err());
    assert_eq!(poll(&mut follower).1, all[2..]);
}

#[test]
fn a_segment_that_is_gone_is_noticed() {
    for unread in [0, 1] {
        for more in [0, 40] {
            let files = Arc::new(Memory::default());
            let (wal, ..) = open(files.clone(), options(1000), 1, 0).unwrap();
            append(&wal, 1..4, 10);
            let mut follower = Follower::open(files.clone(), 1, 0);
            assert_eq!(poll(&mut follower).0, Polled::Read(3));
            append(&wal, 4..4 + unread, 10);
            let from = wal.rotate().unwrap();
            wal.remove_before(from).unwrap();
            let later = append(&wal, 10..12 + more, 100);
            if more == 0 {
                // The old bytes are still there, and the next segment follows on them.
                assert_eq!(poll(&mut follower).0, Polled::Read(unread + 2));
                continue;
            }
            let from = wal.rotate().unwrap();
            wal.remove_before(from).unwrap();
            assert_eq!(poll(&mut follower).0, Polled::Lost);
            assert_eq!(poll(&mut follower).0, Polled::Lost);
            let mut follower = Follower::open(files, from, later[later.len() - 1].0);
            assert_eq!(poll(&mut follower).0, Polled::Read(0));
            let news = append(&wal, 100..103, 10);
            assert_eq!(poll(&mut follower).1, news);
        }
    }
}

#[test]
fn a_hole_is_corrupt() {
    let files = Arc::new(Faulty::default());
    let (wal, ..) = open(files.clone(), options(1000), 1, 0).unwrap();
    append(&wal, 1..20, 100);
    for at in [3, 300] {
        let damaged = Arc::new(files.crash());
        damaged.corrupt("wal/1.log", |bytes| bytes[at] ^= 1);
        let error = Follower::open(damaged, 1, 0).poll(&mut |_, _| Ok(()));
        let error = error.unwrap_err().to_string();
        assert!(error.contains("wal/1.log"), "{error}");
    }
}

/// A writer appends, rotates and now and then takes a checkpoint; a reader
/// that falls behind one goes on from it.
fn write_and_follow(files: Arc<dyn Files>, records: u64, checkpoints: bool) {
    let (wal, ..) = open(files.clone(), options(4096), 1, 0).unwrap();
    let checkpoint = Mutex::new((1, 0));
    thread::scope(|scope| {
        scope.spawn(|| {
            for timestamp in 1..=records {
                let payload = payload(timestamp, (timestamp * 37 % 900) as usize);
                wal.append(timestamp, &payload).unwrap();
                match timestamp % 3 {
                    0 => wal.flush(timestamp).unwrap(),
                    1 => wal.write().unwrap(),
                    _ => {}
                }
                if timestamp % 50 == 0 {
                    let from = wal.rotate().unwrap();
                    if checkpoints && timestamp % 100 == 0 {
                        *checkpoint.lock() = (from, timestamp);
                        wal.remove_before(from).unwrap();
                    }
                }
            }
            wal.flush(records).unwrap();
        });
        let (mut seen, mut reloads) = (0, 0);
        let mut follower = Follower::open(files.clone(), 1, 0);
        while seen < records {
            let polled = follower.poll(&mut |timestamp, bytes| {
                assert_eq!(timestamp, seen + 1);
                assert_eq!(bytes, payload(timestamp, (timestamp * 37 % 900) as usize));
                seen = timestamp;
                Ok(())
            });
            if polled.unwrap() == Polled::Lost {
                let (from, after) = *checkpoint.lock();
                assert!(checkpoints && after > seen);
                (seen, reloads) = (after, reloads + 1);
                follower = Follower::open(files.clone(), from, after);
            }
        }
        assert!(checkpoints || reloads == 0);
    });
}

#[test]
fn a_reader_sees_every_record_once_and_in_order() {
    for checkpoints in [false, true] {
        write_and_follow(Arc::new(Memory::default()), 20_000, checkpoints);
        let directory = tempfile::tempdir().unwrap();
        let disk = Disk::new(directory.path());
        disk.create_directory("wal").unwrap();
        write_and_follow(Arc::new(disk), 600, checkpoints);
    }
}

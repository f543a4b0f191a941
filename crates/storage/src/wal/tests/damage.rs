//! Torn tails, flipped bits, missing files.

use super::*;
use crate::io::{Survival, Unsynced};

/// A log of three segments of 512 bytes, each record flushed for itself.
fn small() -> (Arc<Faulty>, Records) {
    let files = Arc::new(Faulty::default());
    let (wal, ..) = open(files.clone(), options(512), 1, 0).unwrap();
    let all = append(&wal, 1..10, 50);
    assert_eq!(files.list("wal").unwrap(), ["1.log", "2.log", "3.log"]);
    (files, all)
}

fn copy(files: &Faulty) -> Arc<Faulty> {
    Arc::new(files.crash_keeping(|_| true))
}

/// Goes on after `found`, and finds that and nothing else the next time.
fn go_on(files: &Arc<Faulty>, wal: Wal, mut found: Records, len: usize) {
    let next = wal.appended() + 1;
    found.extend(append(&wal, next..next + 4, len));
    drop(wal);
    let left = Arc::new(files.crash());
    assert_eq!(open(left, options(512), 1, 0).unwrap().2, found);
}

#[test]
fn a_tail_torn_anywhere_is_cut() {
    for rest in [0, 0xff] {
        let files = Arc::new(Faulty::default());
        let (wal, ..) = open(files.clone(), options(2048), 1, 0).unwrap();
        let before = append(&wal, 1..4, 100);
        let start = (HEAD_BYTES + wal.bytes()) as usize;
        append(&wal, 4..5, 300);
        for cut in 0..RECORD_HEAD_BYTES + payload(4, 300).len() {
            let torn = copy(&files);
            torn.corrupt("wal/1.log", |bytes| bytes[start + cut..].fill(rest));
            let (wal, replay, found) = open(torn.clone(), options(2048), 1, 0).unwrap();
            assert_eq!(found, before, "cut at {cut}");
            assert_eq!(replay.torn, cut >= RECORD_HEAD_BYTES, "cut at {cut}");
            go_on(&torn, wal, found, cut);
        }
    }
}

#[test]
fn every_flipped_bit_gives_corrupt_or_cuts_the_last_record() {
    let (files, all) = small();
    let mut outcomes = [0, 0, 0];
    for name in files.list("wal").unwrap() {
        let name = format!("wal/{name}");
        for position in 0..512 {
            for bit in 0..8 {
                let flipped = copy(&files);
                flipped.corrupt(&name, |bytes| bytes[position] ^= 1 << bit);
                match open(flipped.clone(), options(512), 1, 0) {
                    Err(error) => {
                        let message = error.to_string();
                        assert_eq!(error.sqlstate(), "XX001", "{message}");
                        assert!(message.contains(&name), "{message}");
                        outcomes[0] += 1;
                    }
                    Ok((wal, _, found)) if found == all => {
                        outcomes[1] += 1;
                        if position % 16 == 0 {
                            go_on(&flipped, wal, found, 10);
                        }
                    }
                    Ok((wal, _, found)) => {
                        assert_eq!(found, all[..all.len() - 1], "{name} {position}");
                        outcomes[2] += 1;
                        go_on(&flipped, wal, found, position);
                    }
                }
            }
        }
    }
    let last = 8 * (RECORD_HEAD_BYTES + payload(9, 50).len());
    assert_eq!(outcomes[2], last, "bits of the last record");
    assert!(outcomes[0] > 6 * last && outcomes[1] > last, "{outcomes:?}");
}

#[test]
fn shortened_and_missing_segments_are_noticed() {
    let (files, all) = small();
    for segment in 1..=3 {
        let name = format!("wal/{segment}.log");
        for len in 0..512 {
            let cut = copy(&files);
            cut.corrupt(&name, |bytes| bytes.truncate(len));
            match open(cut, options(512), 1, 0) {
                Err(error) => assert_eq!(error.sqlstate(), "XX001", "{error}"),
                Ok((.., found)) => assert!(found == all || segment == 3, "{name} {len}"),
            }
        }
    }
    for segment in 1..=2 {
        let gone = copy(&files);
        gone.remove(&format!("wal/{segment}.log")).unwrap();
        let error = open(gone, options(512), 1, 0).unwrap_err().to_string();
        assert!(error.contains(&format!("wal/{segment}.log")), "{error}");
    }
    let error = open(files, options(512), 4, 9).unwrap_err().to_string();
    assert!(error.contains("wal/4.log"), "{error}");
}

#[test]
fn foreign_names_are_left_alone() {
    let (files, all) = small();
    for name in [
        "007.log",
        "+4.log",
        "18446744073709551615.log",
        "x",
        "draft",
        "1.spare",
    ] {
        files.write(&format!("wal/{name}"), &[b"?"]).unwrap();
    }
    assert_eq!(open(files.clone(), options(512), 1, 0).unwrap().2, all);
    assert_eq!(files.list("wal").unwrap().len(), 3 + 4);
}

/// Writes that were not synced survive without the one before them.
#[test]
fn survivors_behind_a_tear_never_come_back() {
    let files = Arc::new(Faulty::default());
    let (wal, ..) = open(files.clone(), options(1 << 14), 1, 0).unwrap();
    let before = append(&wal, 1..3, 100);
    for timestamp in 3..8 {
        wal.append(timestamp, &payload(timestamp, 1000)).unwrap();
        wal.write().unwrap();
    }
    let mut first = true;
    let torn = Arc::new(files.crash_tearing(|change| match change {
        Unsynced::Write { .. } if std::mem::take(&mut first) => Survival::Nothing,
        _ => Survival::Whole,
    }));
    let (wal, replay, found) = open(torn.clone(), options(1 << 14), 1, 0).unwrap();
    assert_eq!((&found, replay.torn), (&before, true));
    // As long as the lost one: it ends where a survivor began.
    let mut all = found;
    all.extend(append(&wal, 3..4, 1000));
    let (.., found) = open(torn, options(1 << 14), 1, 0).unwrap();
    assert_eq!(found, all);
}

/// A checkpoint may know newer timestamps than the log; that proves no hole.
#[test]
fn a_tear_behind_a_newer_checkpoint_is_cut() {
    let files = Arc::new(Faulty::default());
    let (wal, ..) = open(files.clone(), options(1 << 14), 1, 0).unwrap();
    append(&wal, 1..4, 100);
    drop(wal);
    let (wal, ..) = open(files.clone(), options(1 << 14), 1, 100).unwrap();
    wal.append(101, &payload(101, 2000)).unwrap();
    wal.append(102, &payload(102, 2000)).unwrap();
    wal.write().unwrap();
    let torn = Arc::new(files.crash_tearing(|change| match change {
        Unsynced::Write { .. } => Survival::Sectors([vec![false], vec![true; 9]].concat()),
        Unsynced::Name(_) => Survival::Nothing,
    }));
    for from in [1, 0] {
        let (wal, replay, found) = open(torn.clone(), options(1 << 14), from, 100).unwrap();
        assert_eq!(
            (found.len(), replay.torn, wal.durable()),
            (0, from == 1, 100)
        );
    }
}

#[test]
fn salvage_skips_what_is_damaged_and_says_so() {
    let (files, all) = small();
    let salvage = WalOptions {
        salvage: true,
        ..options(512)
    };
    // A record of the first segment, the head of the second, a record of the third.
    let record = record_bytes(payload(1, 50).len()).unwrap() as usize;
    for (name, at, lost) in [
        ("wal/1.log", 64 + 10, vec![1]),
        ("wal/1.log", 64 + record + 40, vec![2]),
        ("wal/2.log", 20, vec![]),
        ("wal/3.log", 64 + 10, vec![9]),
    ] {
        let damaged = copy(&files);
        damaged.corrupt(name, |bytes| bytes[at] ^= 1);
        let (wal, replay, found) = open(damaged.clone(), salvage.clone(), 1, 0).unwrap();
        let left = all
            .iter()
            .filter(|(timestamp, _)| !lost.contains(timestamp));
        assert_eq!(found, left.cloned().collect::<Records>(), "{name} {at}");
        if name == "wal/3.log" {
            // Only the tail: nothing shows that it was durable.
            assert!(replay.lost.is_empty());
            continue;
        }
        assert_eq!(replay.lost.len(), 1, "{:?}", replay.lost);
        assert!(
            replay.lost[0].to_string().contains(name),
            "{:?}",
            replay.lost
        );
        let more = append(&wal, 20..23, 50);
        // The damage is still there, until a checkpoint makes it unimportant.
        let from = wal.rotate().unwrap();
        assert!(open(copy(&damaged), options(512), 1, 0).is_err());
        let later = append(&wal, 30..33, 50);
        wal.remove_before(from).unwrap();
        assert_eq!(
            open(damaged, options(512), from, more[2].0).unwrap().2,
            later
        );
    }
    let gone = copy(&files);
    gone.remove("wal/2.log").unwrap();
    let (_, replay, found) = open(gone, salvage, 1, 0).unwrap();
    assert_eq!(
        (replay.lost.len(), found.len()),
        (1, 5),
        "{:?}",
        replay.lost
    );
}

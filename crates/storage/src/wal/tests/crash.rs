//! Power losses after every operation of random scripts, with torn sectors.

use super::*;
use crate::io::{SECTOR_BYTES, Survival, Unsynced};

struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// What a caller knows: what it appended, what was said to be durable, and its
/// newest checkpoint.
#[derive(Clone, Debug)]
struct Model {
    records: Records,
    durable: u64,
    checkpoint: (u64, u64),
    /// Tells payloads of one timestamp apart.
    life: u64,
}

impl Model {
    fn new() -> Self {
        Model {
            records: Records::new(),
            durable: 0,
            checkpoint: (1, 0),
            life: 0,
        }
    }

    fn open(&self, files: &Arc<Faulty>) -> Result<(Wal, Replay, Records)> {
        open(
            files.clone(),
            options(4096),
            self.checkpoint.0,
            self.checkpoint.1,
        )
    }
}

/// Does random things, and goes on after failures.
fn run(wal: &Wal, model: &mut Model, dice: &mut Dice, steps: u64) {
    for _ in 0..steps {
        match dice.below(12) {
            0..6 => {
                let timestamp = wal.appended() + 1 + dice.below(2);
                // Few lengths, so that records end where others began.
                let len = [30, 600, 600, 1300][dice.below(4) as usize];
                let mut payload = payload(timestamp, len);
                payload.extend(model.life.to_le_bytes());
                if wal.append(timestamp, &payload).is_ok() {
                    model.records.push((timestamp, payload));
                }
            }
            6 => {
                if wal.flush(wal.appended()).is_ok() {
                    assert_eq!(wal.durable(), wal.appended());
                }
            }
            7..10 => drop(wal.write()),
            10 => drop(wal.reserve(dice.below(6000) as usize)),
            _ => {
                let newest = wal.appended();
                if let Ok(from) = wal.rotate() {
                    model.checkpoint = (from, newest);
                    drop(wal.remove_before(from));
                }
            }
        }
        model.durable = model.durable.max(wal.durable());
    }
}

fn lose_power(files: &Faulty, dice: &mut Dice) -> Arc<Faulty> {
    Arc::new(files.crash_tearing(|change| match (change, dice.below(3)) {
        (Unsynced::Name(_), 0) | (_, 1) => Survival::Whole,
        (Unsynced::Write { bytes, .. }, 2) => {
            let sectors = bytes.len() / SECTOR_BYTES + 2;
            Survival::Sectors((0..sectors).map(|_| dice.below(2) == 0).collect())
        }
        _ => Survival::Nothing,
    }))
}

/// Opens what is left: a prefix of what was appended, with all that was durable.
fn check(files: &Arc<Faulty>, model: &mut Model, what: &str) -> Wal {
    let (wal, _, found) = model
        .open(files)
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let after = model.checkpoint.1;
    let kept = model
        .records
        .iter()
        .take_while(|(timestamp, _)| *timestamp <= after);
    let kept = kept.count() + found.len();
    model.records.truncate(kept);
    let expected = model
        .records
        .iter()
        .filter(|(timestamp, _)| *timestamp > after);
    assert_eq!(found, expected.cloned().collect::<Records>(), "{what}");
    let newest = found.last().map_or(after, |(timestamp, _)| *timestamp);
    assert!(
        newest >= model.durable,
        "{what}: {newest} of {}",
        model.durable
    );
    assert_eq!((wal.durable(), wal.appended()), (newest, newest), "{what}");
    model.durable = newest;
    model.life += 1;
    wal
}

/// One life with a fault, then power losses, also while the log is opened.
fn live(seed: u64, fault: impl Fn(&Faulty), what: &str) -> u64 {
    let files = Arc::new(Faulty::default());
    let (mut model, mut dice) = (Model::new(), Dice(seed));
    fault(&files);
    if let Ok((wal, ..)) = model.open(&files) {
        run(&wal, &mut model, &mut dice, 40);
    }
    for loss in 0..3 {
        let (mut model, mut dice) = (model.clone(), Dice(seed * 1000 + loss));
        let mut left = lose_power(&files, &mut dice);
        left.fail_after(dice.below(8));
        if model.open(&left).is_ok() {
            // What a process has seen stays, and what it has not is gone.
            left.heal();
            drop(check(&left, &mut model, what));
        }
        left = lose_power(&left, &mut dice);
        for life in 0..6 {
            let what = format!("{what}, loss {loss}, life {life}");
            let wal = check(&left, &mut model, &what);
            let steps = 1 + dice.below(8);
            run(&wal, &mut model, &mut dice, steps);
            drop(wal);
            left = lose_power(&left, &mut dice);
        }
        check(&left, &mut model, what);
    }
    files.operations()
}

#[test]
fn power_losses_leave_a_prefix_with_all_that_was_durable() {
    for seed in 0..40 {
        let operations = live(seed, |_| {}, &format!("seed {seed}"));
        assert!(operations > 20);
        for limit in 0..operations {
            let what = format!("seed {seed}, failure after {limit}");
            live(seed, |files| files.fail_after(limit), &what);
            live(seed, |files| files.fail_once_after(limit), &what);
        }
    }
}

/// The process dies, the machine goes on: whatever was written is there.
#[test]
fn kills_leave_all_that_was_written() {
    for seed in 0..40 {
        let files = Arc::new(Faulty::default());
        let (mut model, mut dice) = (Model::new(), Dice(seed));
        for life in 0..5 {
            let what = format!("seed {seed}, life {life}");
            let wal = check(&files, &mut model, &what);
            run(&wal, &mut model, &mut dice, 15);
            wal.write().unwrap();
            model.durable = wal.appended();
        }
        check(&files, &mut model, "at last");
    }
}

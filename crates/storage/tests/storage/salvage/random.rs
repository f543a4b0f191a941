//! Any damage to any file of random histories.

use super::{States, at, named, names_salvage, salvage};
use crate::crash_model::Where;
use crate::history::History;
use crate::tables::Dice;
use crate::world::{World, try_world};
use freestone_storage::io::{Faulty, Files};
use freestone_storage::{SalvageReport, Store};
use std::sync::Arc;

/// Damages a file in one way or another.
fn damage(files: &Faulty, dice: &mut Dice) -> String {
    let all: Vec<String> = ["manifest", "wal", "blocks"]
        .iter()
        .flat_map(|directory| named(files, directory, ""))
        .collect();
    let name = dice.choose(&all).clone();
    if dice.once_in(4) {
        files.remove(&name).unwrap();
        return format!("{name} removed");
    }
    let kind = dice.below(3);
    files.corrupt(&name, |bytes| {
        let place = dice.below(bytes.len().max(1));
        match kind {
            0 => bytes[place] ^= 1 << dice.below(8),
            1 => bytes.truncate(place),
            _ => {
                let end = bytes.len().min(place + 1 + dice.below(600));
                bytes[place..end].fill(0);
            }
        }
    });
    format!("{name} damaged, kind {kind}")
}

/// Holds what is left against what there was at the time.
fn check_left(found: &World, expected: &World, report: &SalvageReport) {
    assert!(found.keys().eq(expected.keys()), "{report}");
    for (name, table) in found {
        let lost = report.blocks.iter().filter(|block| block.table == *name);
        let lost: u64 = lost.map(|block| block.rows).sum();
        let mut whole = expected[name].clone();
        assert_eq!(whole.rows.len() as u64, table.rows.len() as u64 + lost);
        whole.rows.retain(|key, _| table.rows.contains_key(key));
        assert_eq!(whole, *table, "{report}");
    }
}

#[test]
fn any_damage_is_survived() {
    let (mut opened, mut refused, mut whole) = (0, 0, 0);
    for seed in 0..25 {
        let files = Arc::new(Faulty::default());
        let mut history = History::begin(files.clone(), seed).unwrap();
        let mut states = States::from([(0, Arc::default())]);
        for _ in 0..60 {
            history.step().unwrap();
            let timestamp = history.store.snapshot().timestamp();
            states.insert(timestamp, history.committed.clone());
        }
        for round in 0..20 {
            let mut dice = Dice(seed * 1000 + round);
            let files = Arc::new(files.crash_keeping(|_| true));
            let mut what = damage(&files, &mut dice);
            if dice.once_in(3) {
                what = format!("{what}, {}", damage(&files, &mut dice));
            }
            let _where = Where(format!("seed {seed}, round {round}: {what}"));
            // Opening a copy changes nothing here.
            let copy = Arc::new(files.crash_keeping(|_| true));
            match Store::over_files(copy) {
                Err(error) => {
                    assert!(names_salvage(&error), "{error}");
                    refused += 1;
                }
                Ok(store) => match try_world(&store.snapshot()) {
                    Ok(found) => {
                        assert!(states.values().any(|state| **state == found));
                        opened += 1;
                    }
                    Err(error) => assert!(names_salvage(&error), "{error}"),
                },
            }
            match Store::salvage_files(files.clone(), false) {
                // Deleted rows are back beside those that took their keys.
                Ok((_, report)) if report.lost_checkpoint => {
                    assert!(!report.damage.is_empty(), "{report}");
                    continue;
                }
                Ok(_) => {}
                Err(error) => {
                    let nothing = error.to_string().contains("no manifest can be read");
                    assert!(nothing, "{error}");
                    continue;
                }
            }
            let (found, report) = salvage(&files);
            check_left(&found, at(&states, report.last_transaction), &report);
            whole += u64::from(report.is_whole());
        }
    }
    println!("{opened} opened all the same, {refused} were refused, {whole} lost nothing");
    assert!(opened > 50 && refused > 50 && whole > 50);
}

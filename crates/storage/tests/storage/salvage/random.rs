//! Any damage to any file of random histories.

use super::{named, names_salvage, salvage};
use crate::crash_model::Where;
use crate::history::History;
use crate::tables::Dice;
use crate::world::{ModelTable, World, try_world};
use freestone_storage::io::{Faulty, Files};
use freestone_storage::{SalvageReport, Store};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The states that the database may have had after each transaction. The tuple mover commits
/// beside the history: a commit between two looks at the timestamp may be its own or the
/// history's, so that either state belongs to it.
type Reached = BTreeMap<u64, Vec<Arc<World>>>;

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

/// Whether all of a state is left but for the rows of lost blocks.
fn is_left(found: &World, expected: &World, report: &SalvageReport) -> bool {
    let of_table = |(name, table): (&String, &ModelTable)| {
        let lost = report.blocks.iter().filter(|block| block.table == *name);
        let lost: u64 = lost.map(|block| block.rows).sum();
        let mut whole = expected[name].clone();
        let rows = whole.rows.len() as u64;
        whole.rows.retain(|key, _| table.rows.contains_key(key));
        rows == table.rows.len() as u64 + lost && whole == *table
    };
    found.keys().eq(expected.keys()) && found.iter().all(of_table)
}

#[test]
fn any_damage_is_survived() {
    let (mut opened, mut refused, mut whole) = (0, 0, 0);
    for seed in 0..25 {
        let files = Arc::new(Faulty::default());
        let mut history = History::begin(files.clone(), seed).unwrap();
        let mut states = Reached::from([(0, vec![Arc::default()])]);
        let mut last = 0;
        for _ in 0..60 {
            let before = history.committed.clone();
            history.step().unwrap();
            let after = &history.committed;
            let timestamp = history.store.snapshot().timestamp();
            for between in last + 1..timestamp {
                states.insert(between, vec![before.clone(), after.clone()]);
            }
            states.insert(timestamp, vec![after.clone()]);
            last = timestamp;
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
                        let mut known = states.values().flatten();
                        assert!(known.any(|state| **state == found));
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
            let mut reached = states.range(..=report.last_transaction);
            let (_, reached) = reached.next_back().unwrap();
            let is_of = |state: &Arc<World>| is_left(&found, state, &report);
            assert!(
                reached.iter().any(is_of),
                "{report}: {found:?} is left of {reached:?}"
            );
            whole += u64::from(report.is_whole());
        }
    }
    println!("{opened} opened all the same, {refused} were refused, {whole} lost nothing");
    assert!(opened > 50 && refused > 50 && whole > 50);
}

//! The smallest value of each of 100 groups (Q, figure 14).

use super::clock::timed;
use super::figure::{blocks, tested};
use super::organisation::{Cut, Organisation, Stored};
use super::query::{Access, Query, scans};
use super::race::{Contender, Lab, Times, memory};
use super::tables::{GROUPS, TableKind};
use crate::error::{Error, Result};
use crate::experiment::{Experiment, Need};
use crate::measure::ratio;
use crate::outcome::{Axis, Claim, Outcome, Plot, Series};
use crate::setting::Setting;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use freestone_storage::{Layout, Scan};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Figure 14: MIN with GROUP BY.
pub const EXPERIMENT: Experiment = Experiment {
    id: "q14",
    source: "Q, figure 14",
    title: "MIN of 100 groups",
    need,
    run,
};

const KIND: TableKind = TableKind::Grouped;
const ASKED: usize = 0;
/// The column of groups: the last.
const GROUP: usize = 9;

const CASES: [(&str, Layout, bool); 4] = [
    ("row store, blocks", Layout::Row, false),
    ("column store, blocks", Layout::Column, false),
    ("row store, files", Layout::Row, true),
    ("column store, files", Layout::Column, true),
];

fn need(setting: &Setting) -> Need {
    Need {
        memory: memory(setting, KIND, 4),
        ..Need::default()
    }
    .measured(setting.many_repetitions())
}

/// A hash table from group to the smallest value: open addressing, linear probing.
struct Groups {
    /// Group and value; a group of 0 is an empty place.
    places: Vec<(i32, i32)>,
    filled: usize,
}

impl Groups {
    fn new() -> Groups {
        Groups {
            places: vec![(0, 0); 256],
            filled: 0,
        }
    }

    /// Where a group is, unless others are there.
    fn home(&self, group: i32) -> usize {
        (group as u32).wrapping_mul(0x9e37_79b9) as usize >> 8 & (self.places.len() - 1)
    }

    /// Lowers a group's value; groups are from 1.
    #[inline]
    fn add(&mut self, group: i32, value: i32) {
        let home = self.home(group);
        let known = &mut self.places[home];
        if known.0 != group {
            self.add_elsewhere(home, group, value);
        } else if value < known.1 {
            // Written seldom: a write for each row would keep the next reads waiting.
            known.1 = value;
        }
    }

    /// The same where another group may be at home.
    #[inline(never)]
    fn add_elsewhere(&mut self, home: usize, group: i32, value: i32) {
        let (mut place, mask) = (home, self.places.len() - 1);
        loop {
            let known = &mut self.places[place];
            if known.0 == group {
                known.1 = known.1.min(value);
                return;
            }
            if known.0 == 0 {
                *known = (group, value);
                break;
            }
            place = (place + 1) & mask;
        }
        self.filled += 1;
        if self.filled * 2 > self.places.len() {
            let wider = vec![(0, 0); self.places.len() * 2];
            let old = std::mem::replace(&mut self.places, wider);
            self.filled = 0;
            let there = old.into_iter().filter(|(group, _)| *group != 0);
            there.for_each(|(group, value)| self.add(group, value));
        }
    }
}

/// `SELECT group, MIN(asked) … GROUP BY group HAVING MIN(asked) < limit`, with a hash
/// table for each thread; the seconds, and the groups.
fn aggregate(stored: &Stored, threads: usize, limit: i32) -> Result<(f64, BTreeMap<i32, i32>)> {
    let query = Query {
        projection: vec![GROUP, ASKED],
        conditions: Vec::new(),
    };
    let scans = scans(stored, &query, threads)?;
    let mut tables: Vec<Groups> = (0..threads).map(|_| Groups::new()).collect();
    let parts: Vec<(&mut Groups, &Arc<Scan>)> =
        tables.iter_mut().zip(scans.iter().cycle()).collect();
    let elapsed = timed(parts, |(groups, scan)| {
        let mut worker = scan.worker();
        while let Some(next) = worker.next_columns() {
            let (columns, _) = next?;
            let values = |number: usize| columns[number].as_primitive::<Int32Type>().values();
            let pairs = values(0).iter().zip(values(1));
            pairs.for_each(|(group, value)| groups.add(*group, *value));
        }
        Ok(())
    })?;
    let mut merged = Groups::new();
    let places = tables.iter().flat_map(|groups| &groups.places);
    let there = places.filter(|(group, _)| *group != 0);
    there.for_each(|(group, value)| merged.add(*group, *value));
    let passing = merged.places.into_iter();
    let passing = passing.filter(|(group, value)| *group != 0 && *value < limit);
    Ok((elapsed.as_secs_f64(), passing.collect()))
}

fn run(setting: &Setting) -> Result<Outcome> {
    let mut lab = Lab::new(setting, KIND, 4);
    let cut = blocks(&lab);
    let tables = CASES.map(|(_, layout, files)| {
        lab.load(&Organisation::plain(
            layout,
            if files { Cut::Files } else { cut },
        ))
    });
    let tables = tables.into_iter().collect::<Result<Vec<Stored>>>()?;
    let (groups, scans) = in_turns(&mut lab, &tables, setting.many_repetitions())?;
    let names = CASES.map(|(name, ..)| name.to_string()).to_vec();
    let series = |name: &str, times: &[Times]| Series {
        name: name.into(),
        points: times
            .iter()
            .zip(0..)
            .map(|(times, x)| times.point(f64::from(x)))
            .collect(),
    };
    let plot = Plot {
        title: format!("MIN of {GROUPS} groups"),
        x: Axis {
            label: "organisation".into(),
            names,
            ..Axis::default()
        },
        y: Axis {
            label: "response time in ms".into(),
            ..Axis::default()
        },
        series: vec![
            series("aggregate", &groups),
            series("scan with two conditions, no output", &scans),
        ],
    };
    Ok(Outcome {
        setup: lab.setup_alone(
            "A hash table for each thread, open addressing with linear probing, then one of all; \
             the merge of 100 groups and HAVING are not in the time. The last column is the group.",
        ),
        plots: vec![plot],
        claims: claims(&groups, &scans, lab.rows as f64 / lab.threads as f64),
        ..Outcome::default()
    })
}

/// What the aggregate and the scan take over each table, in turns.
fn in_turns(lab: &mut Lab, tables: &[Stored], turns: usize) -> Result<(Vec<Times>, Vec<Times>)> {
    let mut groups = vec![Times::default(); tables.len()];
    let mut scans = groups.clone();
    let mut known = None;
    lab.turns = 1;
    for _ in 0..turns {
        for (stored, times) in tables.iter().zip(&mut groups) {
            times.0.push(aggregated(lab, stored, &mut known)?);
        }
        for (times, more) in scans.iter_mut().zip(scanned(lab, tables)?) {
            times.0.extend(more.0);
        }
    }
    lab.turns = turns;
    Ok((groups, scans))
}

/// Seconds of the aggregate over a table, the quickest of four runs; its groups are those
/// of the other tables.
fn aggregated(lab: &Lab, stored: &Stored, known: &mut Option<BTreeMap<i32, i32>>) -> Result<f64> {
    let limit = KIND.largest(ASKED) / lab.rows.min(1 << 30) as i32 * GROUPS;
    let mut best = f64::INFINITY;
    for _ in 0..4 {
        let (seconds, groups) = aggregate(stored, lab.threads, limit)?;
        if *known.get_or_insert_with(|| groups.clone()) != groups {
            let message = "organisations do not agree on the groups";
            return Err(Error::new(message, "This is a bug: please report it."));
        }
        best = best.min(seconds);
    }
    Ok(best)
}

/// A scan with conditions on the same two columns, and no output.
fn scanned(lab: &mut Lab, tables: &[Stored]) -> Result<Vec<Times>> {
    let named = CASES.iter().zip(tables);
    let contenders: Vec<Contender<'_>> = named
        .map(|((name, ..), stored)| Contender::new(name, stored, Access::Scan))
        .collect();
    let threads = lab.threads;
    let condition = |column| (column, KIND.at_least(column, 0.5));
    lab.race(&contenders, threads, |_| Query {
        projection: Vec::new(),
        conditions: vec![condition(GROUP), condition(ASKED)],
    })
}

fn claims(groups: &[Times], scans: &[Times], rows_of_thread: f64) -> Vec<Claim> {
    let median = |times: &[Times], number: usize| times.get(number).map_or(f64::NAN, Times::median);
    let ratio = |number: usize| match (groups.get(number), scans.get(number)) {
        (Some(groups), Some(scans)) => ratio(&groups.0, &scans.0),
        _ => f64::NAN,
    };
    let columns =
        [(0, 1), (2, 3)].map(|(row, column)| median(groups, column) / median(groups, row));
    let each = |number: usize, times: &[Times]| median(times, number) * 1e9 / rows_of_thread;
    vec![
        Claim::tested(
            "Section 4.7: with a GROUP BY of 100 groups a column store is faster than a row store \
             (holds if so in blocks and in files).",
            columns.iter().all(|ratio| *ratio < 1.0),
            format!(
                "Column store's time over the row store's: {:.2} in blocks, {:.2} in files.",
                columns[0], columns[1]
            ),
        ),
        tested(
            "Section 4.7: aggregation takes about as long as a scan with two conditions and no \
             output (holds if within a factor of 1.5 in blocks, of rows and of columns).",
            [0, 1]
                .iter()
                .all(|number| (1.0 / 1.5..=1.5).contains(&ratio(*number))),
            format!(
                "Aggregate over scan: {:.2} with rows, {:.2} with columns.",
                ratio(0),
                ratio(1)
            ),
            &format!(
                "A thread takes {:.1} and {:.1} ns for a row of the aggregate, {:.1} and {:.1} ns \
                 for one of the scan, whose conditions are tested on packed values of a column, many \
                 at once; the hash table takes them one by one.",
                each(0, groups),
                each(1, groups),
                each(0, scans),
                each(1, scans)
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::tables::Generator;
    use super::*;

    #[test]
    fn groups_are_those_of_the_table() {
        let generator = Generator {
            kind: KIND,
            seed: 5,
        };
        let (rows, limit) = (20_000, 500_000);
        let mut wanted = BTreeMap::new();
        for row in 0..rows {
            let value = generator.integer(ASKED, row);
            let known = wanted.entry(generator.integer(GROUP, row)).or_insert(value);
            *known = value.min(*known);
        }
        wanted.retain(|_, value| *value < limit);
        assert!(wanted.len() > 10 && wanted.len() < GROUPS as usize);
        for (_, layout, files) in CASES {
            let cut = if files { Cut::Files } else { Cut::Blocks(3000) };
            let organisation = Organisation::plain(layout, cut);
            let stored = Stored::load(generator, rows, &organisation, 2).unwrap();
            assert_eq!(aggregate(&stored, 2, limit).unwrap().1, wanted);
        }
    }

    #[test]
    fn tables_of_groups_grow() {
        let mut groups = Groups::new();
        for group in 1..=1000 {
            groups.add(group, group + 1);
            groups.add(group, group);
        }
        let mut there: Vec<_> = groups
            .places
            .iter()
            .filter(|(group, _)| *group != 0)
            .collect();
        there.sort_unstable();
        assert!(
            there
                .into_iter()
                .copied()
                .eq((1..=1000).map(|group| (group, group)))
        );
    }
}

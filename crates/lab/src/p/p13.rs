//! P, figure 13: updates in place, NSM beside PAX.

use super::lineitem;
use super::places::sections;
use super::plots::{listed, plot, series};
use super::relation::PAGE_BYTES;
use super::replica;
use super::table::Model;
use crate::error::{Error, Result};
use crate::experiment::{Experiment, Need};
use crate::measure::{in_turns, median, ratio, timed};
use crate::outcome::{Claim, Outcome, Plot, Point};
use crate::setting::Setting;
use freestone_storage::layout::{
    Compaction, PageColumn, PageEditor, PageFile, PaxPageEditor, SlottedPageEditor,
};

/// Figure 13.
pub static EXPERIMENT: Experiment = Experiment {
    id: "p13",
    source: "P, figure 13",
    title: "Speed-up of PAX over NSM on updates",
    need: |setting| Need {
        memory: rows(setting) as u64 * 1_200,
        repetitions: Some(repetitions(setting)),
        ..Need::default()
    },
    run,
};

/// Percent of the rows that are updated.
const SELECTIVITIES: [f64; 5] = [2.0, 10.0, 20.0, 50.0, 100.0];
/// Columns that are updated, one to seven of them: numbers of 8 bytes.
const UPDATED: [usize; 7] = [0, 1, 2, 4, 5, 6, 7];
/// The column of the predicate, of 4 bytes: days from 8,036 on, 2,526 of them.
const SHIPDATE: usize = 10;

fn rows(setting: &Setting) -> usize {
    // More than the caches hold, or nothing waits for memory.
    setting.by_scale(300_000, 600_000)
}

/// An update takes milliseconds: more of them are measured than of other things.
fn repetitions(setting: &Setting) -> usize {
    setting.by_extreme(7, 9)
}

/// `update R set a_p = a_p + 1, … where a_q < limit`.
struct Update {
    columns: Vec<usize>,
    limit: i32,
}

impl Update {
    fn new(columns: usize, percent: f64) -> Update {
        Update {
            columns: UPDATED[..columns].to_vec(),
            limit: 8_036 + (2_526.0 * percent / 100.0) as i32,
        }
    }

    /// Runs it over all pages; returns how many records it changed.
    fn run<E: PageEditor>(&self, file: &mut PageFile<E>) -> Result<u64> {
        let mut changed = 0;
        for record in 0..file.records() {
            if i32::from_le_bytes(fixed(file.value(record, SHIPDATE)?)?) >= self.limit {
                continue;
            }
            changed += 1;
            for column in &self.columns {
                let value = i64::from_le_bytes(fixed(file.value(record, *column)?)?);
                let value = value.wrapping_add(1).to_le_bytes();
                file.update(record, *column, Some(&value))?;
            }
        }
        Ok(changed)
    }
}

/// A value of `N` bytes.
fn fixed<const N: usize>(value: Option<&[u8]>) -> Result<[u8; N]> {
    let value = value.and_then(|value| value.try_into().ok());
    value.ok_or_else(|| Error::new("a value of another length than its column's", ""))
}

/// LINEITEM on pages of either kind, of Freestone and of the document's program.
struct Files {
    nsm: PageFile<SlottedPageEditor>,
    pax: PageFile<PaxPageEditor>,
    replica: replica::Updatable,
}

/// What is measured in turns: a layout, of the document's program or not.
const VARIANTS: [(Model, bool); 4] = [
    (Model::Nsm, true),
    (Model::Pax, true),
    (Model::Nsm, false),
    (Model::Pax, false),
];
/// Where Freestone's begin.
const FREESTONE: usize = 2;

impl Files {
    fn new(count: usize, seed: u64) -> Result<Files> {
        let (schema, batch) = (lineitem::schema(), lineitem::rows(count, seed)?);
        let columns: Vec<PageColumn> = schema.columns.iter().map(PageColumn::of).collect();
        let sections = |model| sections(&schema, &batch, model);
        let (pages, directory) = sections(Model::Nsm)?;
        let now = Compaction::Now;
        let nsm = PageFile::open(&columns, count, PAGE_BYTES, &pages, &directory, now)?;
        let (pages, directory) = sections(Model::Pax)?;
        let pax = PageFile::open(&columns, count, PAGE_BYTES, &pages, &directory, now)?;
        let text = replica::lineitem::text(&batch)?;
        let replica = replica::Updatable::new(&text)?;
        Ok(Files { nsm, pax, replica })
    }

    fn run(&mut self, (model, document): (Model, bool), update: &Update) -> Result<u64> {
        match (model, document) {
            (_, true) => self
                .replica
                .update(model, &update.columns, (SHIPDATE, update.limit)),
            (Model::Nsm, false) => update.run(&mut self.nsm),
            (_, false) => update.run(&mut self.pax),
        }
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    let count = rows(setting);
    let mut files = Files::new(count, setting.seed)?;
    let mut found = Vec::new();
    for percent in SELECTIVITIES {
        let mut of_columns = Vec::new();
        for columns in 1..=UPDATED.len() {
            let update = Update::new(columns, percent);
            let times = in_turns(repetitions(setting), &VARIANTS, |variant| {
                Ok(timed(|| files.run(*variant, &update))?.1)
            })?;
            of_columns.push(times);
        }
        found.push(of_columns);
    }
    Ok(Outcome {
        setup: format!(
            "{count} rows of LINEITEM on pages of 8 KiB in memory; numbers of 8 bytes are updated \
             in place, one record after the other, where the shipping date is in a range. One \
             thread's processor time, {} repetitions in turns. As in the document: each record \
             that is read or written is locked, each value that is written is logged. Claims are \
             decided by it. Freestone: the editors of slotted and PAX pages, without locks and log. \
             Pages are not written to disk: the paper reports both the whole transaction and the \
             update in memory.",
            repetitions(setting)
        ),
        plots: vec![
            drawn("as in the document", &found, 0),
            drawn("Freestone", &found, FREESTONE),
        ],
        tables: Vec::new(),
        claims: claims(&found, count),
    })
}

fn drawn(program: &str, found: &Times, first: usize) -> Plot {
    let curves = SELECTIVITIES.iter().zip(found);
    let curves = curves.map(|(selectivity, times)| {
        let points = (1..).zip(times);
        let points = points.map(|(x, times)| Point::of(f64::from(x), &percents(&times[first..])));
        series(format!("{selectivity} %"), points)
    });
    let title = format!("Speed-up of PAX over NSM, {program}");
    plot(title, "updated attributes", "percent", curves.collect())
}

/// Seconds: by selectivity, number of columns, program with layout, and turn.
type Times = [Vec<Vec<Vec<f64>>>];

/// The speed-up of each turn in percent.
fn percents(times: &[Vec<f64>]) -> Vec<f64> {
    let turns = times[0].iter().zip(&times[1]);
    turns.map(|(nsm, pax)| 100.0 * (nsm / pax - 1.0)).collect()
}

/// Speed-ups of a program whose times begin at a place, by number of attributes.
fn speed_ups(times: &[Vec<Vec<f64>>], first: usize) -> Vec<f64> {
    let speed_up = |times: &Vec<Vec<f64>>| ratio(&times[first], &times[first + 1]) - 1.0;
    times.iter().map(speed_up).collect()
}

fn least(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The share of records that is updated where the speed-up is least.
fn where_least(found: &Times, first: usize) -> String {
    let least = |times: &&Vec<Vec<Vec<f64>>>| least(&speed_ups(times, first));
    let all = SELECTIVITIES.iter().zip(found);
    let least = all.min_by(|one, two| least(&one.1).total_cmp(&least(&two.1)));
    least.map_or(String::new(), |(percent, _)| format!("{percent} %"))
}

fn claims(found: &Times, count: usize) -> Vec<Claim> {
    let claim = |says: &str, of: &dyn Fn(usize) -> (bool, String)| {
        Claim::replicated(says, of(0), of(FREESTONE))
    };
    vec![
        claim(
            "Updates are always faster with PAX, by 10 to 16 % when few records are updated.",
            &|first| {
                let all = found.iter().flat_map(|times| speed_ups(times, first));
                let anywhere = least(&all.collect::<Vec<f64>>());
                let few = speed_ups(&found[0], first);
                (
                    anywhere > 0.0 && least(&few) >= 0.10,
                    format!(
                        "Counted as above zero everywhere and 0.10 at least at 2 %. Speed-ups at \
                         2 % for one to seven attributes: {}; the least anywhere: {anywhere:.2}, with \
                         {} of the records. An attribute of one record costs a line with PAX, those of \
                         a record of NSM share a few.",
                        listed(&few),
                        where_least(found, first),
                    ),
                )
            },
        ),
        claim(
            "The speed-up decreases as more attributes are updated.",
            &|first| {
                let few = speed_ups(&found[0], first);
                (
                    few.last() < few.first(),
                    format!("At 2 %, for one to seven attributes: {}.", listed(&few)),
                )
            },
        ),
        claim(
            "From 20 % on the number of updated attributes does not matter, since all waits for \
             changed lines to be written back.",
            &|first| oblivious(&found[found.len() - 1], first, count),
        ),
    ]
}

fn oblivious(last: &[Vec<Vec<f64>>], first: usize, count: usize) -> (bool, String) {
    let all = speed_ups(last, first);
    let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Nanoseconds of an updated attribute where all records are updated.
    let cost = |columns: usize, layout: usize| {
        1e9 * median(&last[columns - 1][first + layout]) / (columns * count) as f64
    };
    (
        most - least(&all) < 0.05,
        format!(
            "Counted as within 0.05 when all records are updated: {}. An attribute costs \
             {:.0} ns with NSM and {:.0} ns with PAX if it is the only one, {:.0} and {:.0} \
             ns each if there are seven. Seven attributes of a record of NSM share its lines, \
             so that each would cost a fraction if it waited for them.",
            listed(&all),
            cost(1, 0),
            cost(1, 1),
            cost(7, 0),
            cost(7, 1)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_files_hold_the_same_after_updates() {
        let mut files = Files::new(3_000, 4).unwrap();
        let update = Update::new(3, 20.0);
        let before = files.nsm.value(0, 5).unwrap().map(<[u8]>::to_vec);
        let changed = files.run(VARIANTS[0], &update).unwrap();
        for variant in &VARIANTS[1..] {
            assert_eq!(files.run(*variant, &update).unwrap(), changed);
        }
        assert!(changed.abs_diff(600) < 100, "{changed}");
        for record in 0..3_000 {
            for column in 0..16 {
                let (nsm, pax) = (&files.nsm, &files.pax);
                assert_eq!(
                    nsm.value(record, column).unwrap(),
                    pax.value(record, column).unwrap()
                );
            }
        }
        for column in UPDATED {
            let numbers = |model| files.replica.numbers(model, column);
            let expected = (0..3_000).map(|record| {
                let value = files.nsm.value(record, column).unwrap().unwrap();
                i64::from_le_bytes(*value.first_chunk().unwrap())
            });
            assert!(numbers(Model::Nsm).into_iter().eq(expected));
            assert_eq!(numbers(Model::Nsm), numbers(Model::Pax));
        }
        // Not one of the first three.
        assert_eq!(files.nsm.value(0, 5).unwrap(), before.as_deref());
        assert_eq!(files.pax.counts().in_place, 3 * changed);
    }
}

//! P, figure 13: updates in place, NSM beside PAX.

use super::lineitem;
use super::measure::{in_turns, ratio, timed};
use super::places::sections;
use super::plots::{listed, plot, series};
use super::relation::PAGE_BYTES;
use super::table::Model;
use crate::error::{Error, Result};
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome, Point};
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
    setting.by_scale(40_000, 600_000)
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

/// LINEITEM on pages of either kind.
struct Files {
    nsm: PageFile<SlottedPageEditor>,
    pax: PageFile<PaxPageEditor>,
}

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
        Ok(Files { nsm, pax })
    }

    fn run(&mut self, model: Model, update: &Update) -> Result<u64> {
        match model {
            Model::Nsm => update.run(&mut self.nsm),
            _ => update.run(&mut self.pax),
        }
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    let count = rows(setting);
    let mut files = Files::new(count, setting.seed)?;
    // By selectivity and number of columns: how many times as long NSM takes, less one.
    let mut speed_ups = Vec::new();
    for percent in SELECTIVITIES {
        let mut of_columns = Vec::new();
        for columns in 1..=UPDATED.len() {
            let update = Update::new(columns, percent);
            let times = in_turns(setting.repetitions(), &[Model::Nsm, Model::Pax], |model| {
                Ok(timed(|| files.run(*model, &update))?.1)
            })?;
            of_columns.push(ratio(&times[0], &times[1]) - 1.0);
        }
        speed_ups.push(of_columns);
    }
    let curves = SELECTIVITIES.iter().zip(&speed_ups);
    let curves = curves.map(|(percent, speed_ups)| {
        let points = (1..).zip(speed_ups);
        let points = points.map(|(x, speed_up)| Point::exact(f64::from(x), 100.0 * speed_up));
        series(format!("{percent} %"), points)
    });
    let title = "Speed-up of PAX over NSM";
    let x = "updated attributes";
    Ok(Outcome {
        setup: format!(
            "{count} rows of LINEITEM on pages of 8 KiB in memory; numbers of 8 bytes are updated \
             in place, one record after the other, by the editors of slotted and PAX pages, \
             where the shipping date is in a range. One thread's processor time, {} repetitions \
             in turns. No log, and pages are not written to disk: the paper reports both the \
             whole transaction and the update in memory.",
            setting.repetitions()
        ),
        plots: vec![plot(title, x, "percent", curves.collect())],
        tables: Vec::new(),
        claims: claims(&speed_ups),
    })
}

fn claims(speed_ups: &[Vec<f64>]) -> Vec<Claim> {
    let least = speed_ups.iter().flatten().copied();
    let least = least.fold(f64::INFINITY, f64::min);
    let few = &speed_ups[0];
    let spread = |speed_ups: &[f64]| {
        let most = speed_ups.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        most - speed_ups.iter().copied().fold(f64::INFINITY, f64::min)
    };
    let all = &speed_ups[speed_ups.len() - 1];
    let times = "An update here finds record and page through a table of places and checks \
                 the value against its column, for both layouts alike; the caches' part is \
                 what differs.";
    vec![
        Claim::tested(
            "Updates are always faster with PAX, by 10 to 16 % when few records are updated.",
            least > 0.0 && few.iter().all(|speed_up| *speed_up >= 0.10),
            format!(
                "Counted as above zero everywhere and 0.10 at least at 2 %. Speed-ups at 2 % for \
                 one to seven attributes: {}; the least anywhere: {least:.2}. {times}",
                listed(few)
            ),
        ),
        Claim::tested(
            "The speed-up decreases as more attributes are updated.",
            few.last() < few.first(),
            format!("At 2 %, for one to seven attributes: {}.", listed(few)),
        ),
        Claim::tested(
            "From 20 % on the number of updated attributes does not matter.",
            spread(all) < 0.05,
            format!(
                "Counted as within five percent when all records are updated: {}.",
                listed(all)
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_files_hold_the_same_after_updates() {
        let mut files = Files::new(3_000, 4).unwrap();
        let update = Update::new(3, 20.0);
        let before = files.nsm.value(0, 5).unwrap().map(<[u8]>::to_vec);
        let changed = files.run(Model::Nsm, &update).unwrap();
        assert_eq!(files.run(Model::Pax, &update).unwrap(), changed);
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
        // Not one of the first three.
        assert_eq!(files.nsm.value(0, 5).unwrap(), before.as_deref());
        assert_eq!(files.pax.counts().in_place, 3 * changed);
    }
}

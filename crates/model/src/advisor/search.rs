//! The search for the design that a workload costs least under.

use super::choices::{AUTO, codecs, indexes, partitions, sorts};
use super::design::{Design, Stored};
use super::price::{Price, Total, fetch_seconds, price, total};
use super::usage::{Runs, Usage};
use super::workload::Workload;
use crate::calibration::Calibration;

/// How much larger or smaller blocks are tried at once.
const SIZES: [f64; 2] = [4.0, 0.25];
/// An index, or blocks of another size, have to save this share of the whole, to be worth its name.
const WORTH: f64 = 0.02;
/// Of designs that cost about the same, this share apart, the smallest is taken.
const ALIKE: f64 = 0.03;
/// A design may take so many times the space of the present one: time is not all.
const WASTE: f64 = 4.0;
/// Seconds are weighed with the space, beyond the present, to this power: who takes twice
/// as much has to save a fifteenth, who takes four times as much an eighth.
const SPACE: f64 = 0.1;
/// Queries that have to be known before anything is advised.
pub const QUERIES: f64 = 20.0;

/// A design and what the workload costs under it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The table under the design.
    pub stored: Stored,
    /// What the workload costs.
    pub total: Total,
}

/// What a query gains by another design.
#[derive(Clone, Debug, PartialEq)]
pub struct Gain {
    /// The query's use of the table.
    pub usage: Usage,
    /// Its runs.
    pub runs: Runs,
    /// One run now, and under the other design.
    pub before: Price,
    /// See `before`.
    pub after: Price,
}

/// How many more queries have to be recorded before there is advice; 0 if there are
/// enough. Statements that write rows or look them up count, too.
pub fn missing(workload: &Workload) -> u64 {
    let known = workload.queries() + workload.statements;
    (QUERIES - known).ceil().max(0.0) as u64
}

/// Tries designs and prices them, the cheapest first; `trial` tells what the table is
/// under one. The present design is among them.
///
/// # Errors
/// Those of `trial`.
pub fn search<E>(
    calibration: &Calibration,
    workload: &Workload,
    present: &Stored,
    trial: &mut dyn FnMut(&Design) -> Result<Stored, E>,
) -> Result<Vec<Candidate>, E> {
    let priced = |stored: Stored| Candidate {
        total: total(calibration, &stored, workload),
        stored,
    };
    let mut all = vec![priced(present.clone())];
    let layouts = calibration.costs.layouts.iter().map(|costs| &costs.layout);
    // A layout with a scanner of its own is no layout of its own.
    let layouts: Vec<&String> = layouts.filter(|name| !name.contains(' ')).collect();
    for sort_by in sorts(present, workload) {
        for layout in &layouts {
            let design = Design {
                layout: (*layout).clone(),
                sort_by: sort_by.clone(),
                partition_by: None,
                codec: AUTO.to_owned(),
                indexes: Vec::new(),
                block_bytes: present.design.block_bytes,
            };
            all.push(priced(trial(&design)?));
        }
    }
    all.sort_by(|one, two| one.total.seconds().total_cmp(&two.total.seconds()));
    for near in all.iter().take(2).cloned().collect::<Vec<_>>() {
        for codec in codecs(present) {
            let design = Design {
                codec,
                ..near.stored.design.clone()
            };
            all.push(priced(trial(&design)?));
        }
    }
    let unsorted = all.iter().filter(|one| one.stored.design.sort_by.is_none());
    let unsorted: Vec<Candidate> = unsorted.cloned().collect();
    // An index may do what the order does, or what is left; its rows may best lie otherwise
    // than those of scans.
    let mut starts = Vec::new();
    let found = [
        cheapest(&all, present.row_bytes),
        cheapest(&unsorted, present.row_bytes),
        soonest(&unsorted, workload),
    ];
    for start in found.into_iter().flatten() {
        if !starts.contains(start) {
            starts.push(start.clone());
        }
    }
    for start in starts {
        let mut best = Some(start);
        while let Some(found) = &best {
            let better = indexed(&found.clone(), present, workload, &mut |design| {
                Ok(priced(trial(design)?))
            })?;
            all.extend(better.clone());
            best = better;
        }
    }
    // Ranges may do what the order of another column does not, or what an order costs too
    // much to keep.
    let (sorted, unsorted): (Vec<Candidate>, Vec<Candidate>) = all
        .iter()
        .cloned()
        .partition(|one| one.stored.design.sort_by.is_some());
    for some in [sorted, unsorted] {
        if let Some(start) = cheapest(&some, present.row_bytes) {
            all.extend(in_ranges(start, present, workload, &priced));
        }
    }
    if let Some(found) = cheapest(&all, present.row_bytes).cloned() {
        for times in SIZES {
            all.extend(resized(&found, times, &priced));
        }
    }
    all.sort_by(|one, two| one.total.seconds().total_cmp(&two.total.seconds()));
    if let Some(first) = cheapest(&all, present.row_bytes).cloned() {
        all.retain(|candidate| *candidate != first);
        all.insert(0, first);
    }
    Ok(all)
}

/// The same design in blocks so many times as large, and again, as long as that saves.
fn resized(found: &Candidate, times: f64, priced: &dyn Fn(Stored) -> Candidate) -> Vec<Candidate> {
    let mut better: Vec<Candidate> = Vec::new();
    loop {
        let best = better.last().unwrap_or(found);
        let bytes = (best.stored.design.block_bytes as f64 * times) as u64;
        let next = best.stored.resized(bytes).map(priced);
        let limit = best.total.seconds() * (1.0 - WORTH);
        match next.filter(|next| next.total.seconds() < limit) {
            Some(next) => better.push(next),
            None => return better,
        }
    }
}

/// A design in ranges of columns that conditions are on, where that saves something.
fn in_ranges(
    found: &Candidate,
    present: &Stored,
    workload: &Workload,
    priced: &dyn Fn(Stored) -> Candidate,
) -> Vec<Candidate> {
    let limit = found.total.seconds() * (1.0 - WORTH);
    let all = partitions(&found.stored.design, present, workload).into_iter();
    let all = all.map(|partition| priced(found.stored.partitioned(&partition)));
    all.filter(|one| one.total.seconds() < limit).collect()
}

/// A design with one more index, the one that saves most; none if none is worth it.
fn indexed<E>(
    found: &Candidate,
    present: &Stored,
    workload: &Workload,
    priced: &mut dyn FnMut(&Design) -> Result<Candidate, E>,
) -> Result<Option<Candidate>, E> {
    let mut better: Option<Candidate> = None;
    for index in indexes(&found.stored.design, present, workload) {
        let mut design = found.stored.design.clone();
        design.indexes.push(index);
        design.indexes.sort();
        let with = priced(&design)?;
        let limit = found.total.seconds() * (1.0 - WORTH);
        let limit = better.as_ref().map_or(limit, |known| known.total.seconds());
        if with.total.seconds() < limit {
            better = Some(with);
        }
    }
    Ok(better)
}

/// The smallest of those that cost the least, where a row takes `present` bytes now.
fn cheapest(all: &[Candidate], present: f64) -> Option<&Candidate> {
    let fitting = || {
        let fitting = all.iter();
        fitting.filter(|one| one.stored.row_bytes <= present * WASTE)
    };
    let cost = |candidate: &Candidate| {
        let seconds = candidate.total.seconds();
        with_space(seconds, candidate.stored.row_bytes, present)
    };
    let least = fitting().map(cost).fold(f64::INFINITY, f64::min);
    let alike = fitting().filter(|one| cost(one) <= least * (1.0 + ALIKE));
    alike.min_by(|one, two| one.stored.row_bytes.total_cmp(&two.stored.row_bytes))
}

/// The one from which the rows of all queries are fetched soonest, one by one.
fn soonest<'a>(all: &'a [Candidate], workload: &Workload) -> Option<&'a Candidate> {
    let seconds = |candidate: &Candidate| -> f64 {
        let usages = workload.usages.iter();
        let fetched = usages.map(|(usage, runs)| {
            let rows = runs.count * runs.mean().selected;
            rows * fetch_seconds(&candidate.stored, usage)
        });
        fetched.sum()
    };
    all.iter()
        .min_by(|one, two| seconds(one).total_cmp(&seconds(two)))
}

/// Seconds, more for a design whose rows take more bytes than they might.
pub(super) fn with_space(seconds: f64, row_bytes: f64, least: f64) -> f64 {
    seconds * (row_bytes / least.max(1.0)).max(1.0).powf(SPACE)
}

/// What each query gains, the one that gains most first.
pub fn gains(
    calibration: &Calibration,
    workload: &Workload,
    (before, after): (&Stored, &Stored),
) -> Vec<Gain> {
    let gains = workload.usages.iter().filter_map(|(usage, runs)| {
        let mean = runs.mean();
        Some(Gain {
            before: price(calibration, before, usage, &mean)?,
            after: price(calibration, after, usage, &mean)?,
            usage: usage.clone(),
            runs: runs.clone(),
        })
    });
    let mut gains: Vec<Gain> = gains.collect();
    gains.sort_by(|one, two| two.saved().total_cmp(&one.saved()));
    gains
}

impl Gain {
    /// Seconds of one whole run now and under the other design, whose scans `threads`
    /// share: what it did besides stays.
    pub fn whole(&self, threads: f64) -> (f64, f64) {
        // Recorded runs begin with their plan made.
        let rest = (self.runs.mean().seconds - self.before.seconds / threads).max(0.0);
        let whole = |price: &Price| price.with_plan(threads) + rest;
        (whole(&self.before), whole(&self.after))
    }

    /// Seconds that all runs save.
    pub fn saved(&self) -> f64 {
        (self.before.with_plan(1.0) - self.after.with_plan(1.0)) * self.runs.count
    }
}

//! The search for the design that a workload costs least under.

use super::design::{Design, Index, Stored};
use super::price::{CSB, Price, Total, may_find, price, total};
use super::usage::{Runs, Test, Tested, Usage};
use super::workload::Workload;
use crate::calibration::Calibration;
use std::collections::BTreeMap;

/// Columns that blocks are tried sorted on, besides the present one.
const SORTS: usize = 3;
/// Columns that an index is tried on.
const INDEXES: usize = 3;
/// The choice of codecs by Freestone itself, and those that are tried besides.
const AUTO: &str = "auto";
const CODECS: [&str; 2] = ["fast", "none"];
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
    // An index may do what the order does, or what is left.
    let starts = [
        cheapest(&all, present.row_bytes).cloned(),
        cheapest(&unsorted, present.row_bytes).cloned(),
    ];
    for start in starts.into_iter().flatten() {
        let mut best = Some(start);
        while let Some(found) = &best {
            let better = indexed(&found.clone(), present, workload, &mut |design| {
                Ok(priced(trial(design)?))
            })?;
            all.extend(better.clone());
            best = better;
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
        let (before, after) = (
            self.before.with_plan(threads),
            self.after.with_plan(threads),
        );
        let rest = (self.runs.mean().seconds - before).max(0.0);
        (before + rest, after + rest)
    }

    /// Seconds that all runs save.
    pub fn saved(&self) -> f64 {
        (self.before.with_plan(1.0) - self.after.with_plan(1.0)) * self.runs.count
    }
}

/// Columns to sort on: none, the present one, and those by whose conditions most rows
/// would not have to be looked at.
fn sorts(present: &Stored, workload: &Workload) -> Vec<Option<String>> {
    let worth = weights(present, workload, |tested, _| tested.test != Test::Other);
    let mut sorts = vec![None, present.design.sort_by.clone()];
    sorts.extend(worth.into_iter().take(SORTS).map(Some));
    let mut seen = Vec::new();
    sorts.retain(|sort| {
        let new = !seen.contains(sort);
        seen.push(sort.clone());
        new
    });
    sorts
}

/// Choices of codecs besides `auto`, the present one among them.
fn codecs(present: &Stored) -> Vec<String> {
    let mut all = CODECS.map(str::to_owned).to_vec();
    let own = &present.design.codec;
    if own != AUTO && !all.contains(own) {
        all.push(own.clone());
    }
    all
}

/// Indexes that a design has not, and that could find rows by their value or by a range.
fn indexes(design: &Design, present: &Stored, workload: &Workload) -> Vec<Index> {
    let on = |column: &String| Index {
        kind: CSB.to_owned(),
        column: column.clone(),
    };
    let mut worth = weights(present, workload, |tested, share| {
        may_find(&on(&tested.column), tested.test, share)
    });
    worth.truncate(INDEXES);
    // What no query could use only seems to save something.
    let known = present.design.indexes.iter();
    let known = known.filter(|index| is_of_use(index, workload)).cloned();
    let new = worth.iter().map(on);
    let mut all: Vec<Index> = known.chain(new).collect();
    all.sort();
    all.dedup_by(|one, two| one.column == two.column);
    let has = |index: &Index| {
        design
            .indexes
            .iter()
            .any(|known| known.column == index.column)
    };
    all.retain(|index| !has(index));
    all
}

/// Whether any query has a condition by which an index finds few rows.
fn is_of_use(index: &Index, workload: &Workload) -> bool {
    workload.usages.iter().any(|(usage, runs)| {
        let shares = runs.mean().shares;
        let mut terms = usage.tested.iter().zip(shares);
        terms.any(|(tested, share)| {
            tested.column == index.column && may_find(index, tested.test, share)
        })
    })
}

/// Columns with conditions, the one first that leaves the most rows of the most runs out.
fn weights(
    present: &Stored,
    workload: &Workload,
    wanted: impl Fn(&Tested, f64) -> bool,
) -> Vec<String> {
    let mut worth: BTreeMap<&String, f64> = BTreeMap::new();
    for (usage, runs) in &workload.usages {
        let mean = runs.mean();
        for (tested, share) in usage.tested.iter().zip(&mean.shares) {
            if wanted(tested, *share) && present.columns.contains_key(&tested.column) {
                let left_out = (mean.scanned - share).max(0.0);
                *worth.entry(&tested.column).or_default() += runs.count * left_out;
            }
        }
    }
    let mut worth: Vec<(&String, f64)> = worth.into_iter().collect();
    worth.retain(|(_, worth)| *worth > 0.0);
    worth.sort_by(|one, two| two.1.total_cmp(&one.1));
    worth
        .into_iter()
        .map(|(column, _)| column.clone())
        .collect()
}

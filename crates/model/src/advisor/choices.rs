//! What is worth trying for a table: orders, ranges, codecs, indexes.

use super::design::{Design, Index, Partition, Stored};
use super::price::{CSB, may_find};
use super::usage::Tested;
use super::workload::Workload;
use std::collections::BTreeMap;

/// Columns that blocks are tried sorted on, besides the present one.
const SORTS: usize = 3;
/// Columns that an index is tried on.
const INDEXES: usize = 3;
/// The choice of codecs by Freestone itself, and those that are tried besides.
pub(super) const AUTO: &str = "auto";
const CODECS: [&str; 2] = ["fast", "none"];
/// Ranges that a column is tried in, and rows that each of them should have.
const RANGES: [u16; 3] = [16, 64, 256];
const ROWS_OF_RANGE: f64 = 32_768.0;

/// Columns to sort on: none, the present one, and those by whose conditions most rows
/// would not have to be looked at.
pub(super) fn sorts(present: &Stored, workload: &Workload) -> Vec<Option<String>> {
    let worth = weights(present, workload, |tested, _| tested.test.is_of_order());
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

/// Ranges of columns that conditions are on, for a design that is not in their order.
pub(super) fn partitions(design: &Design, present: &Stored, workload: &Workload) -> Vec<Partition> {
    let most = present.rows / ROWS_OF_RANGE;
    let ranges = RANGES
        .into_iter()
        .filter(|ranges| f64::from(*ranges) <= most);
    let ranges: Vec<u16> = ranges.collect();
    let columns = sorts(present, workload).into_iter().flatten();
    // Rows in order are in ranges already.
    let columns = columns.filter(|column| design.sort_by.as_ref() != Some(column));
    let new = columns.flat_map(|column| {
        let of = |ranges: &u16| Partition {
            column: column.clone(),
            ranges: *ranges,
        };
        ranges.iter().map(of).collect::<Vec<Partition>>()
    });
    new.chain(present.design.partition_by.clone()).collect()
}

/// Choices of codecs besides `auto`, the present one among them.
pub(super) fn codecs(present: &Stored) -> Vec<String> {
    let mut all = CODECS.map(str::to_owned).to_vec();
    let own = &present.design.codec;
    if own != AUTO && !all.contains(own) {
        all.push(own.clone());
    }
    all
}

/// Indexes that a design has not, and that could find rows by their value or by a range.
pub(super) fn indexes(design: &Design, present: &Stored, workload: &Workload) -> Vec<Index> {
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

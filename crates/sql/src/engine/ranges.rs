//! Groups by a column in whose order a table is stored: range by range.
//!
//! Blocks whose bounds follow each other say that the table was loaded in order, or is
//! kept so. Then the groups of one range of keys are whole once its blocks are read: they
//! go on at once, and neither a table of all groups nor a merge of those of several threads
//! is needed.

use freestone_exec::expression::Expression;
use freestone_exec::{Grouping, Node, Plan, Ranges, Table};

/// Fewer groups are found in a table that is in the processor's cache anyway.
const MANY: f64 = 262_144.0;
/// Groups of a range, at least: a range costs a scan.
const GROUPS: f64 = 65_536.0;
/// Rows in no block are looked through for each range.
const LOOSE: u64 = 4096;

/// The ranges in which a plan may be grouped, if it is worth while.
pub(super) fn ranges(plan: &Plan, grouping: &Grouping, groups: f64) -> Option<Ranges> {
    if groups < MANY {
        return None;
    }
    let keys = grouping.keys.iter();
    let mut keys = keys.filter_map(|(key, _)| match key {
        Expression::Column(column) => source(plan, *column),
        _ => None,
    });
    let most = (groups / GROUPS) as usize;
    keys.find_map(|(table, column)| {
        let cuts = cuts(table, column, most)?;
        Some(Ranges {
            cuts,
            columns: vec![(0, column)],
        })
    })
}

/// The column of the table that a column of a plan is.
fn source(plan: &Plan, column: usize) -> Option<(&Table, usize)> {
    match &plan.node {
        Node::Table(table) => Some((table, *table.projection.get(column)?)),
        Node::Filter(input, _) => source(input, column),
        Node::Project(input, expressions) => match expressions.get(column)? {
            Expression::Column(column) => source(input, *column),
            _ => None,
        },
        _ => None,
    }
}

/// At most so many keys that few blocks, or none, reach across.
fn cuts(table: &Table, column: usize, most: usize) -> Option<Vec<i64>> {
    let stored = &table.table;
    let known = stored.schema.columns.get(column)?;
    if known.nullable || stored.delta().rows() > LOOSE {
        return None;
    }
    let bounds = stored.bounds(column).ok()??;
    if bounds.len() < 2 {
        return None;
    }
    let mut cuts = Vec::new();
    let (mut reach, mut apart) = (i128::MIN, 0);
    for (least, greatest) in bounds {
        if *least >= reach {
            apart += 1;
            let cut = i64::try_from(*least).ok()?;
            if cuts.last().is_none_or(|last| *last < cut) {
                cuts.push(cut);
            }
        }
        reach = reach.max(*greatest);
    }
    // Nothing lies before the first block.
    cuts.remove(0);
    let step = cuts.len().div_ceil(most.max(1)).max(1);
    let cuts: Vec<i64> = cuts.into_iter().step_by(step).collect();
    (apart * 10 >= bounds.len() * 9 && !cuts.is_empty()).then_some(cuts)
}

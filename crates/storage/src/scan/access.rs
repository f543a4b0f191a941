//! How a block's rows are come by: scan, sorted search, index, or both (Q5, Q7).
//!
//! The choice is made for each block when it is its turn, from what the block's
//! own indexes say: an index is asked how many rows it would give, which costs
//! less than a microsecond, and is used if fetching and checking those costs
//! less than evaluating the predicate on all rows. A sorted block is searched
//! first; what its index gives is then cut to the rows that the search left.
//!
//! The constants are nanoseconds. They lie between two machines, an Intel Xeon of 2024 and
//! an AMD EPYC (Zen 5), and were chosen by where an index begins to take longer than a
//! scan (decision 0008); the ignored tests of `constants` in this crate measure that, and
//! each alone.
//! They decide speed, never answers.

use super::{Scan, Top, ValueFilter};
use crate::block::{Block, BlockIndex, Found, ascending};
use crate::error::Result;
use crate::predicate::{Conditions, value_at};
use crate::schema::{IndexKind, Layout, TableSchema, Value};
use std::ops::{Bound, Range};
use std::sync::Arc;

/// What a condition costs on each row of a block, in order.
fn test(block: &Block, column: usize) -> Result<f64> {
    Ok(match block.layout() {
        Layout::Row => 1.0,
        Layout::Pax => 0.9,
        Layout::Inverted => 0.65,
        // Codes are tested as they are packed: the more bits, the more there is to read. Most
        // of this is that rows which a scan finds are read next to each other. Texts have
        // more bits, and are compared byte by byte.
        Layout::Column | Layout::Dsm => {
            let bits = 8.0 * block.bytes_of(&[column])? as f64 / block.rows().max(1) as f64;
            0.6 + 0.006 * bits + 0.024 * (bits - 32.0).max(0.0)
        }
    })
}

/// What it costs on a row that an index gave.
fn check(layout: Layout) -> f64 {
    match layout {
        Layout::Row => 3.4,
        Layout::Pax => 17.0,
        Layout::Column | Layout::Dsm | Layout::Inverted => 2.8,
    }
}

/// Coming by each of `count` rows of an index, and bringing them into order: by a sort if
/// they are few of a block's `rows`, by a bitmap if they are many (see [`ascending`]).
fn order(count: usize, rows: usize) -> f64 {
    (3.0 + 0.35 * rows as f64 / count.max(1) as f64).min(14.0)
}

/// Finding one value in an index.
const PROBE: f64 = 150.0;

/// How the rows of one block are come by.
#[derive(Debug, PartialEq)]
pub(super) enum Access {
    /// Rows of a range, each to be checked unless `exact`.
    Range {
        rows: Range<usize>,
        searched: bool,
        exact: bool,
    },
    /// Rows at ascending positions, each to be checked unless `exact`.
    Positions {
        positions: Vec<u32>,
        searched: bool,
        exact: bool,
    },
}

impl Access {
    /// How many rows there are to look at.
    pub fn rows(&self) -> usize {
        match self {
            Access::Range { rows, .. } => rows.len(),
            Access::Positions { positions, .. } => positions.len(),
        }
    }
}

/// Chooses for a block of which zone maps say that some rows may pass.
pub(super) fn choose(
    table: &TableSchema,
    block: &Block,
    conditions: &Conditions<'_>,
) -> Result<Access> {
    let all = 0..block.rows() as usize;
    let (rows, searched, exact) = match search(table, block, conditions)? {
        Some((rows, exact)) => (rows, true, exact),
        None => (all, false, false),
    };
    if exact || rows.is_empty() {
        return Ok(Access::Range {
            rows,
            searched,
            exact,
        });
    }
    match by_index(table, block, conditions, &rows)? {
        Some((mut positions, exact)) => {
            if searched {
                positions.retain(|row| rows.contains(&(*row as usize)));
            }
            Ok(Access::Positions {
                positions,
                searched,
                exact,
            })
        }
        None => Ok(Access::Range {
            rows,
            searched,
            exact,
        }),
    }
}

/// Whether a Bloom filter of the block rules out every row.
pub(super) fn ruled_out(
    table: &TableSchema,
    block: &Block,
    conditions: &Conditions<'_>,
) -> Result<bool> {
    let indexes = table.indexes.iter();
    let blooms = indexes.filter(|index| index.kind == IndexKind::Bloom);
    for definition in blooms.filter(|index| conditions.all_equal(&index.columns).is_some()) {
        if let Some(index) = block.index(definition)?
            && !index.may_contain(conditions, definition)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The rows of a block that come first, of one whose rows all pass.
pub(super) fn first_rows(scan: &Scan, block: &Block, top: &Top) -> Result<Access> {
    let rows = block.rows() as usize;
    let whole = Access::Range {
        rows: 0..rows,
        searched: false,
        exact: true,
    };
    let nulls = block.zone(top.column)?.nulls as usize;
    let present = rows - nulls.min(rows);
    let nulls_matter = nulls > 0 && (top.nulls_first || present < top.rows);
    if nulls_matter || present <= top.rows || top.rows == 0 {
        return Ok(whole);
    }
    if block.sort_column()? == Some(top.column) {
        let rows = first_of_sorted(block, top, present)?;
        return Ok(Access::Range {
            rows,
            searched: true,
            exact: true,
        });
    }
    let mut indexes = scan.table.indexes.iter();
    let mine = indexes.find(|index| index.kind == IndexKind::Csb && index.columns == [top.column]);
    let Some(definition) = mine else {
        return Ok(whole);
    };
    let index = block.index(definition)?;
    Ok(
        match index.and_then(|index| index.first(top.rows, top.descending)) {
            Some(positions) => Access::Positions {
                positions,
                searched: false,
                exact: true,
            },
            None => whole,
        },
    )
}

/// The first rows of a sorted block whose first `present` rows are not NULL.
fn first_of_sorted(block: &Block, top: &Top, present: usize) -> Result<Range<usize>> {
    let last = if top.descending {
        present - top.rows
    } else {
        top.rows - 1
    };
    // In range: a block has at most 2^20 rows.
    let Some(value) = value_at(&block.take(top.column, &[last as u32])?, 0) else {
        return Ok(0..block.rows() as usize);
    };
    let sorted = block.sorted_values(top.column)?;
    Ok(if top.descending {
        sorted.partition_point(|other| other.total_order(&value).is_lt())?..present
    } else {
        0..sorted.partition_point(|other| other.total_order(&value).is_le())?
    })
}

/// The rows of a sorted block that lie within the bounds of its sort column,
/// and whether that is all the predicate asks.
pub(super) fn search(
    table: &TableSchema,
    block: &Block,
    conditions: &Conditions<'_>,
) -> Result<Option<(Range<usize>, bool)>> {
    let Some(column) = block.sort_column()? else {
        return Ok(None);
    };
    let mut sure = true;
    let Some((low, high)) = conditions.range(column, &mut sure) else {
        return Ok(None);
    };
    if table.columns.get(column).is_none() {
        return Ok(None);
    }
    let sorted = block.sorted_values(column)?;
    let present = sorted.present();
    let below = |value: &Value| sorted.partition_point(|other| other.total_order(value).is_lt());
    let up_to = |value: &Value| sorted.partition_point(|other| other.total_order(value).is_le());
    let first = match &low {
        Bound::Unbounded => 0,
        Bound::Included(value) => below(value)?,
        Bound::Excluded(value) => up_to(value)?,
    };
    let end = match &high {
        Bound::Unbounded => present,
        Bound::Included(value) => up_to(value)?,
        Bound::Excluded(value) => below(value)?,
    };
    Ok(Some((
        first..end.max(first),
        sure && conditions.only_on(&[column]),
    )))
}

/// Rows by the best of the block's indexes, if any is worth it.
fn by_index(
    table: &TableSchema,
    block: &Block,
    conditions: &Conditions<'_>,
    rows: &Range<usize>,
) -> Result<Option<(Vec<u32>, bool)>> {
    let definitions = table.indexes.iter().filter(|index| {
        index.kind != IndexKind::Bloom && conditions.on(index.columns[0]).next().is_some()
    });
    let mut indexes = Vec::new();
    for definition in definitions {
        indexes.extend(block.index(definition)?.map(|index| (definition, index)));
    }
    let tests = conditions.count().max(1) as f64;
    let check = tests * check(block.layout());
    let all = block.rows() as usize;
    // The rows of each index, with what it costs to read them.
    let mut ways = Vec::new();
    for (definition, index) in &indexes {
        let found = if index.has_codes() {
            by_codes(block, definition.columns[0], conditions, index)?
        } else {
            index.by_values(conditions, definition, table)?
        };
        let Some(found) = found else {
            continue;
        };
        let each = order(found.count, all) + if found.exact { 0.0 } else { check };
        let cost = found.count as f64 * each;
        let scan = rows.len() as f64 * tests * test(block, definition.columns[0])?;
        ways.push((cost, cost < scan, found));
    }
    ways.sort_by(|(one, ..), (other, ..)| one.total_cmp(other));
    let Some(best) = ways.iter().position(|(_, is_cheap, _)| *is_cheap) else {
        return Ok(None);
    };
    let (_, _, best) = ways.remove(best);
    let (mut positions, exact) = (best.positions()?, best.exact);
    for (_, _, found) in ways {
        // A second index pays if reading its rows costs less than checking the first's.
        let reading = found.count as f64 * order(found.count, all);
        if !exact && reading < positions.len() as f64 * check / 2.0 {
            let others = found.positions()?;
            positions.retain(|row| others.binary_search(row).is_ok());
        }
    }
    Ok(Some((positions, exact)))
}

/// The rows with values that a join wants, if those are few and an index leads to their
/// rows for less than testing all of the block. The rows pass `tests` conditions later.
pub(super) fn by_wanted(
    table: &TableSchema,
    block: &Block,
    filters: &[ValueFilter],
    tests: usize,
) -> Result<Option<Vec<u32>>> {
    let rows = block.rows() as usize;
    let each = |count| order(count, rows) + tests as f64 * check(block.layout());
    let (mut best, mut lowest) = (None, f64::MAX);
    for filter in filters {
        let least = lowest.min(rows as f64 * test(block, filter.column)?);
        let wanted = filter.test.wanted();
        let probes = wanted.len() as f64 * PROBE;
        if wanted.is_empty() || probes >= least {
            continue;
        }
        let Some(index) = tree_over(table, block, filter.column)? else {
            continue;
        };
        let mut positions = Vec::new();
        let found = wanted.iter().all(|value| {
            let found = index.equal(&[Value::Int((*value).into())]);
            positions.extend_from_slice(found.map_or(&[], |(positions, _)| positions));
            found.is_some() && probes + positions.len() as f64 * each(positions.len()) < least
        });
        if found {
            lowest = probes + positions.len() as f64 * each(positions.len());
            best = Some(positions);
        }
    }
    Ok(best.map(ascending))
}

/// A tree of the block that leads from values of a column to all rows that have them.
fn tree_over(table: &TableSchema, block: &Block, column: usize) -> Result<Option<Arc<BlockIndex>>> {
    for definition in &table.indexes {
        if definition.kind != IndexKind::Csb || definition.columns[0] != column {
            continue;
        }
        // Rows with a NULL in another column of the index are not in it.
        let leads = |index: &BlockIndex| index.leads_to_all(&definition.columns[1..], table);
        if let Some(index) = block.index(definition)?.filter(|index| leads(index)) {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

fn by_codes<'a>(
    block: &Block,
    column: usize,
    conditions: &Conditions<'_>,
    index: &'a BlockIndex,
) -> Result<Option<Found<'a>>> {
    let mut best: Option<Found<'a>> = None;
    for leaf in conditions.on(column) {
        let Some(test) = block.translate(column, leaf)? else {
            continue;
        };
        if let Some(mut found) = index.by_codes(&test)? {
            found.exact &= conditions.count() == 1 && conditions.only_on(&[column]);
            if best.as_ref().is_none_or(|best| found.count < best.count) {
                best = Some(found);
            }
        }
    }
    Ok(best)
}

//! Single rows by a predicate that few rows meet (Q5): no batches are made.

use super::access::{self, Access};
use super::filter::Filter;
use super::{Scan, ScanRequest};
use crate::block::{Block, Conditions};
use crate::error::{Error, Result};
use crate::predicate::{BoundPredicate, Predicate, Prune};
use crate::row::{Row, cell};
use crate::table::Table;
use std::sync::Arc;

/// The `columns` of every row of `table` for which `predicate` is TRUE.
///
/// # Errors
/// 42703 or 42804 for a predicate or columns that do not fit the table,
/// `Corrupt` or `Io`.
pub fn look_up(table: &Table, predicate: &Predicate, columns: &[usize]) -> Result<Vec<Row>> {
    let count = table.schema.columns.len();
    if let Some(column) = columns.iter().find(|column| **column >= count) {
        let reason = format!("there is no column number {column}");
        return Err(Error::invalid("42703", reason));
    }
    let bound = BoundPredicate::bind(predicate, &table.schema)?;
    let conditions = Conditions::of(&bound);
    let mut rows = Vec::new();
    for block in candidates(table, &conditions)? {
        // A block that cannot be opened must fail the look-up, not be skipped.
        block.zone(0)?;
        let pruned = bound.prune(&|column| block.zone(column).ok()) == Prune::None;
        if pruned || access::ruled_out(&table.schema, block, &conditions)? {
            continue;
        }
        match access::choose(&table.schema, block, &conditions)? {
            Access::Positions {
                positions, exact, ..
            } => {
                let positions = if exact {
                    positions
                } else {
                    checked(&bound, block, &positions)?
                };
                for row in positions {
                    rows.push(block.row(columns, row)?);
                }
            }
            Access::Range { rows: range, .. } if range.is_empty() => {}
            Access::Range { .. } => scan(table, block, predicate, columns, &mut rows)?,
        }
    }
    Ok(rows)
}

/// The blocks whose bounds do not rule out a whole number that is asked for; of
/// a table of very many blocks, this looks at 32 bytes of each.
fn candidates<'a>(
    table: &'a Table,
    conditions: &Conditions<'_>,
) -> Result<impl Iterator<Item = &'a Arc<Block>>> {
    let mut sought = None;
    if let Some((column, value)) = conditions.whole_number() {
        sought = table.bounds(column)?.map(|bounds| (bounds, value));
    }
    let blocks = table.blocks().iter().enumerate();
    Ok(blocks.filter_map(move |(number, block)| {
        let inside = sought.is_none_or(|(bounds, value)| {
            let (min, max) = bounds[number];
            min <= value && value <= max
        });
        inside.then_some(block)
    }))
}

/// Those of `positions` whose rows pass.
fn checked(predicate: &BoundPredicate, block: &Block, positions: &[u32]) -> Result<Vec<u32>> {
    let bits = Filter::at(predicate, block, positions)?;
    Ok(bits.set_indices().map(|place| positions[place]).collect())
}

/// Rows of a block that no index is good for.
fn scan(
    table: &Table,
    block: &Arc<Block>,
    predicate: &Predicate,
    columns: &[usize],
    rows: &mut Vec<Row>,
) -> Result<()> {
    let request = ScanRequest {
        projection: columns.to_vec(),
        predicate: Some(predicate.clone()),
        ..ScanRequest::default()
    };
    let schema = table.schema.clone();
    let scan = Scan::new(schema, table.arrow(), vec![block.clone()], &request)?;
    for batch in scan.worker() {
        let batch = batch?;
        rows.extend((0..batch.num_rows()).map(|row| {
            let columns = batch.columns().iter();
            columns.map(|column| cell(column, row)).collect::<Row>()
        }));
    }
    Ok(())
}

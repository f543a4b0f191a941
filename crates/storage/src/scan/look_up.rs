//! Single rows by a predicate that few rows meet (Q5): no batches are made.

use super::access::{self, Access};
use super::filter::Filter;
use super::{Scan, ScanRequest};
use crate::block::{Block, Conditions};
use crate::codec::ArrayForm;
use crate::delta::{Delta, Fragment, ReadView, RowHome, key_hash, stored_key};
use crate::error::{Error, Result};
use crate::ids::RowId;
use crate::predicate::{BoundPredicate, Predicate, Prune, evaluate_leaf};
use crate::row::{Row, cell};
use crate::schema::TableSchema;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_schema::SchemaRef;
use std::sync::Arc;

/// The least and the greatest whole number of each block, side by side.
pub type BlockBounds = Box<[(i128, i128)]>;

/// The [`BlockBounds`] of a column, if every block has them.
pub type BoundsOf<'a> = dyn Fn(usize) -> Result<Option<&'a [(i128, i128)]>> + 'a;

/// What a look-up needs of a table.
pub struct LookUp<'a> {
    /// Its columns, keys and indexes.
    pub schema: &'a Arc<TableSchema>,
    /// The columns in Arrow's form.
    pub arrow: &'a SchemaRef,
    /// Its blocks.
    pub blocks: &'a [Arc<Block>],
    /// Its rows in no block.
    pub delta: &'a Delta,
    /// The bounds of a column, if every block has them.
    pub bounds: &'a BoundsOf<'a>,
}

/// The `columns` of every row of a table that `view` sees and for which
/// `predicate` is TRUE, with its id.
///
/// # Errors
/// 42703 or 42804 for a predicate or columns that do not fit the table,
/// `Corrupt` or `Io`.
pub fn look_up(
    place: &LookUp<'_>,
    view: &ReadView,
    predicate: &Predicate,
    columns: &[usize],
) -> Result<Vec<(RowId, Row)>> {
    let count = place.schema.columns.len();
    if let Some(column) = columns.iter().find(|column| **column >= count) {
        let reason = format!("there is no column number {column}");
        return Err(Error::invalid("42703", reason));
    }
    let bound = BoundPredicate::bind(predicate, place.schema)?;
    let conditions = Conditions::of(&bound);
    let mut rows = Vec::new();
    for block in candidates(place, &conditions)? {
        in_block(place, block, view, &bound, &conditions, columns, &mut rows)?;
    }
    in_delta(place, view, &bound, &conditions, columns, &mut rows)?;
    Ok(rows)
}

/// Adds the rows of one block.
pub(super) fn in_block(
    place: &LookUp<'_>,
    block: &Arc<Block>,
    view: &ReadView,
    bound: &BoundPredicate,
    conditions: &Conditions<'_>,
    columns: &[usize],
    rows: &mut Vec<(RowId, Row)>,
) -> Result<()> {
    // A block that cannot be opened must fail the look-up, not be skipped.
    block.zone(0)?;
    let pruned = bound.prune(&|column| block.zone(column).ok()) == Prune::None;
    if pruned || access::ruled_out(place.schema, block, conditions)? {
        return Ok(());
    }
    match access::choose(place.schema, block, conditions)? {
        Access::Positions {
            positions, exact, ..
        } => {
            let positions = if exact {
                positions
            } else {
                checked(bound, block, &positions)?
            };
            let home = RowHome::Block(block.id());
            for row in positions {
                if !view.is_deleted(home, block.deletes(), row) {
                    rows.push((home.row(row), block.row(columns, row)?));
                }
            }
        }
        Access::Range { rows: range, .. } if range.is_empty() => {}
        Access::Range { .. } => {
            let blocks = vec![block.clone()];
            rows.extend(scan(place, blocks, Vec::new(), view, bound, columns)?);
        }
    }
    Ok(())
}

/// Adds the rows that are in no block.
pub(super) fn in_delta(
    place: &LookUp<'_>,
    view: &ReadView,
    bound: &BoundPredicate,
    conditions: &Conditions<'_>,
    columns: &[usize],
    rows: &mut Vec<(RowId, Row)>,
) -> Result<()> {
    let fragments = view.fragments(place.delta);
    if fragments.is_empty() {
        return Ok(());
    }
    let Some(candidates) = by_key(place, view, conditions) else {
        rows.extend(scan(place, Vec::new(), fragments, view, bound, columns)?);
        return Ok(());
    };
    for (home, fragment, row) in candidates {
        if !view.sees(home, &fragment, row) {
            continue;
        }
        let tuples = fragment.read();
        let bits = bound.evaluate(1, &mut |column, leaf| {
            evaluate_leaf(leaf, &tuples.column(column, &[row], ArrayForm::Sql)?)
        })?;
        if bits.value(0) {
            let tuple = tuples.tuple(row);
            let values = columns
                .iter()
                .map(|column| fragment.shape().value(tuple, *column));
            rows.push((home.row(row), values.collect()));
        }
    }
    Ok(())
}

/// A row that is in no block.
type Candidate = (RowHome, Arc<Fragment>, u32);

/// The rows in no block that may have a key that is asked for, if one is.
fn by_key(
    place: &LookUp<'_>,
    view: &ReadView,
    conditions: &Conditions<'_>,
) -> Option<Vec<Candidate>> {
    let keys = place.schema.keys.iter().map(|key| &key.columns);
    let indexes = place.schema.indexes.iter();
    let indexes = indexes.filter(|index| index.kind.has_parts());
    let indexes = indexes.map(|index| &index.columns);
    let (columns, tuples) = keys
        .chain(indexes)
        .find_map(|columns| Some((columns, conditions.all_equal(columns)?)))?;
    let delta = place.delta;
    let map = delta.map(columns)?;
    let own = view.own.as_ref();
    let own_map = own.and_then(|own| own.maps.iter().find(|map| map.columns() == columns));
    if own.is_some_and(|own| !own.fragments.is_empty()) && own_map.is_none() {
        return None;
    }
    let (mut numbers, mut own_numbers) = (Vec::new(), Vec::new());
    for tuple in tuples {
        let values = columns.iter().zip(&tuple).map(|(column, value)| {
            stored_key(value, place.schema.columns[*column].kind.physical())
        });
        // A value that the column cannot have is in no row.
        if let Some(values) = values.collect::<Option<Vec<_>>>() {
            let hash = key_hash(values.iter().map(|value| Some(&**value)))?;
            numbers.extend(map.candidates(hash));
            own_numbers.extend(own_map.map(|map| map.candidates(hash)).unwrap_or_default());
        }
    }
    for numbers in [&mut numbers, &mut own_numbers] {
        numbers.sort_unstable();
        numbers.dedup();
    }
    let committed = numbers.into_iter().filter_map(|number| {
        let (fragment, row) = delta.find(number)?;
        Some((RowHome::Fragment(fragment.first()), fragment, row))
    });
    let own = own_numbers.into_iter().filter_map(|number| {
        let (fragment, row) = own?.find(number)?;
        Some((RowHome::Own(fragment.first()), fragment, row))
    });
    Some(committed.chain(own).collect())
}

/// The blocks whose bounds do not rule out a whole number that is asked for; of
/// a table of very many blocks, this looks at 32 bytes of each.
fn candidates<'a>(
    place: &LookUp<'a>,
    conditions: &Conditions<'_>,
) -> Result<impl Iterator<Item = &'a Arc<Block>>> {
    let mut sought = None;
    if let Some((column, value)) = conditions.whole_number() {
        sought = (place.bounds)(column)?.map(|bounds| (bounds, value));
    }
    let blocks = place.blocks.iter().enumerate();
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

/// Rows that no index is good for.
fn scan(
    place: &LookUp<'_>,
    blocks: Vec<Arc<Block>>,
    fragments: Vec<(RowHome, Arc<Fragment>)>,
    view: &ReadView,
    bound: &BoundPredicate,
    columns: &[usize],
) -> Result<Vec<(RowId, Row)>> {
    let request = ScanRequest {
        projection: columns.to_vec(),
        view: view.clone(),
        row_ids: true,
        ..ScanRequest::default()
    };
    let schema = place.schema.clone();
    let bound = Some(bound.clone());
    let scan = Scan::bound(schema, place.arrow, blocks, fragments, &request, bound)?;
    let mut rows = Vec::new();
    for batch in scan.worker() {
        let batch = batch?;
        let (ids, values) = batch
            .columns()
            .split_last()
            .ok_or_else(|| Error::corrupt("a batch without row ids"))?;
        let ids = ids.as_primitive::<UInt64Type>();
        rows.extend((0..batch.num_rows()).map(|row| {
            let values = values
                .iter()
                .map(|column| cell(column, row))
                .collect::<Row>();
            (RowId(ids.value(row)), values)
        }));
    }
    Ok(rows)
}

//! Single rows by a predicate that few rows meet (Q5): no batches are made.

use super::access::{self, Access};
use super::filter::Filter;
use super::foremost::Foremost;
use super::found::FoundRows;
use super::{Scan, ScanRequest};
use crate::block::Block;
use crate::codec::ArrayForm;
use crate::delta::{Delta, Fragment, KeyMap, ReadView, RowHome};
use crate::error::{Error, Result};
use crate::ids::RowId;
use crate::predicate::{BoundPredicate, Conditions, Predicate, Prune, evaluate_leaf};
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

/// How far a look-up goes.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The most rows that it looks at.
    pub most: usize,
    /// If only some of the rows are wanted, which.
    pub foremost: Option<Foremost>,
}

impl Extent {
    /// Of all rows.
    pub const ALL: Extent = Extent {
        most: usize::MAX,
        foremost: None,
    };
}

/// The `columns` of every row of a table that `view` sees and for which
/// `predicate` is TRUE, with its id, or of the foremost of them; `None` if more rows have to be
/// looked at than the extent allows.
///
/// # Errors
/// 42703 or 42804 for a predicate or columns that do not fit the table,
/// `Corrupt` or `Io`.
pub fn look_up(
    place: &LookUp<'_>,
    view: &ReadView,
    predicate: &Predicate,
    columns: &[usize],
    extent: Extent,
) -> Result<Option<FoundRows>> {
    let count = place.schema.columns.len();
    if let Some(column) = columns.iter().find(|column| **column >= count) {
        let reason = format!("there is no column number {column}");
        return Err(Error::invalid("42703", reason));
    }
    let bound = BoundPredicate::bind(predicate, place.schema)?;
    let conditions = Conditions::of(&bound);
    let sought = Sought {
        place,
        view,
        bound: &bound,
        conditions: &conditions,
        columns,
        foremost: extent.foremost,
    };
    let (mut left, mut found) = (extent.most, FoundRows::default());
    let mut blocks = candidates(place, &conditions)?;
    let in_blocks = match extent.foremost {
        Some(foremost) => {
            let blocks: Vec<&Arc<Block>> = blocks.collect();
            sought.foremost_in_blocks(foremost, &blocks, &mut left, &mut found)?
        }
        None => blocks.try_fold(true, |is_whole, block| {
            Ok::<bool, Error>(is_whole && sought.in_block(block, &mut left, &mut found)?)
        })?,
    };
    let is_enough = |foremost: Foremost| foremost.any && found.len() >= foremost.count;
    if in_blocks && extent.foremost.is_some_and(is_enough) {
        return Ok(Some(found));
    }
    let is_whole = in_blocks && sought.in_delta(&mut left, &mut found)?;
    Ok(is_whole.then_some(found))
}

/// The rows that a look-up asks for.
pub(super) struct Sought<'a, 'p> {
    pub place: &'a LookUp<'p>,
    pub view: &'a ReadView,
    pub bound: &'a BoundPredicate,
    pub conditions: &'a Conditions<'a>,
    pub columns: &'a [usize],
    pub foremost: Option<Foremost>,
}

/// Rows of a block that are read one by one; more are read column by column.
const SINGLE: usize = 4;
/// Rows of a sorted block that are read at their places; a scan is made for more.
const FEW: usize = 4096;

/// A row that is in no block.
type Candidate = (RowHome, Arc<Fragment>, u32);

impl Sought<'_, '_> {
    /// Adds the rows of one block; `false` if more than `left` rows have to be looked at.
    pub fn in_block(
        &self,
        block: &Arc<Block>,
        left: &mut usize,
        found: &mut FoundRows,
    ) -> Result<bool> {
        let (place, view, bound) = (self.place, self.view, self.bound);
        // A block that cannot be opened must fail the look-up, not be skipped.
        block.zone(0)?;
        let pruned = bound.prune(&|column| block.zone(column).ok()) == Prune::None;
        if pruned || access::ruled_out(place.schema, block, self.conditions)? {
            return Ok(true);
        }
        if let Some(foremost) = self.foremost
            && let Some(positions) = self.foremost_of_block(foremost, block, left)?
        {
            self.add(block, positions, found)?;
            return Ok(true);
        }
        let access = access::choose(place.schema, block, self.conditions)?;
        if access.rows() > *left {
            return Ok(false);
        }
        *left -= access.rows();
        match access {
            Access::Positions {
                positions, exact, ..
            } => {
                let positions = if exact {
                    positions
                } else {
                    self.checked(block, &positions)?
                };
                self.add(block, positions, found)?;
            }
            Access::Range { rows, exact, .. } if rows.len() <= FEW => {
                // In range: a block has at most 2^20 rows.
                let positions: Vec<u32> = rows.map(|row| row as u32).collect();
                let positions = match exact || positions.is_empty() {
                    true => positions,
                    false => self.checked(block, &positions)?,
                };
                self.add(block, positions, found)?;
            }
            Access::Range { .. } => {
                let blocks = vec![block.clone()];
                scan(
                    place,
                    blocks,
                    Vec::new(),
                    (view, bound),
                    (self.columns, found),
                )?;
            }
        }
        Ok(true)
    }

    /// Adds rows of a block that are not deleted.
    fn add(&self, block: &Block, mut positions: Vec<u32>, found: &mut FoundRows) -> Result<()> {
        let home = RowHome::Block(block.id());
        positions.retain(|row| !self.view.is_deleted(home, block.deletes(), *row));
        if let Some(foremost) = self.foremost.filter(|some| some.count < positions.len()) {
            let kept = foremost.of(&block.take(foremost.column, &positions)?)?;
            positions = kept.into_iter().map(|place| positions[place]).collect();
        }
        if positions.len() <= SINGLE {
            for row in positions {
                found.push(home.row(row), block.row(self.columns, row)?);
            }
            return Ok(());
        }
        let columns = self.columns.iter();
        let columns = columns.map(|column| block.take(*column, &positions));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let ids = positions.iter().map(|row| home.row(*row)).collect();
        found.push_batch(ids, columns);
        Ok(())
    }

    /// The rows of a block, of some, that meet the conditions.
    pub(super) fn checked(&self, block: &Block, positions: &[u32]) -> Result<Vec<u32>> {
        let bits = Filter::at(self.bound, block, positions)?;
        Ok(bits.set_indices().map(|place| positions[place]).collect())
    }

    /// Adds the rows that are in no block; `false` if more than `left` have to be looked at.
    pub fn in_delta(&self, left: &mut usize, found: &mut FoundRows) -> Result<bool> {
        let (place, view) = (self.place, self.view);
        if place.delta.is_empty() && view.own.is_none() {
            return Ok(true);
        }
        if let Some(foremost) = self.foremost
            && let Some(is_whole) = self.foremost_in_delta(foremost, left, found)?
        {
            return Ok(is_whole);
        }
        let Some((candidates, is_decided)) = self.by_key(*left) else {
            let fragments = view.fragments(place.delta);
            let all: usize = fragments.iter().map(|(_, fragment)| fragment.len()).sum();
            if all > *left {
                return Ok(false);
            }
            *left -= all;
            if all > 0 {
                let of = (view, self.bound);
                scan(place, Vec::new(), fragments, of, (self.columns, found))?;
            }
            return Ok(true);
        };
        *left = left.saturating_sub(candidates.len());
        let mut gone = Vec::new();
        // Numbers ascend, so that the rows of a fragment follow each other.
        for same in candidates.chunk_by(|(one, ..), (other, ..)| one == other) {
            let [(home, fragment, _), ..] = same else {
                continue;
            };
            let rows = same.iter().map(|(.., row)| *row);
            let rows = rows.filter(|row| {
                let is_seen = view.sees(*home, fragment, *row);
                if !is_seen && is_gone(*home, fragment, *row) {
                    gone.push((fragment.clone(), *row));
                }
                is_seen
            });
            let mut rows: Vec<u32> = rows.collect();
            if !is_decided && !rows.is_empty() {
                rows = self.met(fragment, rows)?;
            }
            self.add_tuples((*home, fragment), &rows, found)?;
        }
        place.delta.forget(&gone);
        Ok(true)
    }

    /// Those of a fragment's rows that meet the conditions.
    fn met(&self, fragment: &Fragment, mut rows: Vec<u32>) -> Result<Vec<u32>> {
        let tuples = fragment.read();
        let bits = self.bound.evaluate(rows.len(), &mut |column, leaf| {
            evaluate_leaf(leaf, &tuples.column(column, &rows, ArrayForm::Sql)?)
        })?;
        let mut bits = bits.iter();
        rows.retain(|_| bits.next().unwrap_or_default());
        Ok(rows)
    }

    /// Adds rows of a fragment.
    fn add_tuples(
        &self,
        (home, fragment): (RowHome, &Fragment),
        rows: &[u32],
        found: &mut FoundRows,
    ) -> Result<()> {
        let tuples = fragment.read();
        if rows.len() > SINGLE {
            let columns = self.columns.iter();
            let columns = columns.map(|column| tuples.column(*column, rows, ArrayForm::Sql));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            let ids = rows.iter().map(|row| home.row(*row)).collect();
            found.push_batch(ids, columns);
            return Ok(());
        }
        for row in rows {
            let tuple = tuples.tuple(*row);
            let values = self.columns.iter();
            let values = values.map(|column| fragment.shape().value(tuple, *column));
            found.push(home.row(*row), values.collect());
        }
        Ok(())
    }

    /// Adds the foremost of the rows that are in no block by the order of a key or an index;
    /// `false` if more than `left` have to be looked at, `None` if no order leads to them.
    fn foremost_in_delta(
        &self,
        foremost: Foremost,
        left: &mut usize,
        rows: &mut FoundRows,
    ) -> Result<Option<bool>> {
        let Some((map, own_map)) = self.maps() else {
            return Ok(None);
        };
        if !map.is_in_order_of(foremost.column, self.conditions) {
            return Ok(None);
        }
        let (delta, own) = (self.place.delta, self.view.own.as_ref());
        let is_decided = map.decides(self.conditions);
        let (mut is_whole, mut gone) = (true, Vec::new());
        for (map, is_own) in [(Some(map), false), (own_map, true)] {
            let Some(map) = map else {
                continue;
            };
            let mut found = 0;
            map.visit_in_order(self.conditions, foremost.descending, |number| {
                if *left == 0 {
                    is_whole = false;
                    return Ok(true);
                }
                *left -= 1;
                let place = match is_own {
                    true => own.and_then(|own| own.find(number)),
                    false => delta.find(number),
                };
                let Some((fragment, row)) = place else {
                    return Ok(false);
                };
                let home = match is_own {
                    true => RowHome::Own(fragment.first()),
                    false => RowHome::Fragment(fragment.first()),
                };
                if self.view.sees(home, &fragment, row) {
                    let before = rows.len();
                    if is_decided || !self.met(&fragment, vec![row])?.is_empty() {
                        self.add_tuples((home, &fragment), &[row], rows)?;
                    }
                    found += rows.len() - before;
                } else if is_gone(home, &fragment, row) {
                    gone.push((fragment, row));
                }
                Ok(found >= foremost.count)
            })?;
        }
        delta.forget(&gone);
        Ok(Some(is_whole))
    }

    /// The map from keys to rows in no block that fits the conditions best, and that of the
    /// transaction's own rows, if it has some.
    fn maps(&self) -> Option<(&KeyMap, Option<&KeyMap>)> {
        let own = self.view.own.as_ref();
        let map = self.place.delta.map_for(self.conditions)?;
        let own_map = own.and_then(|own| {
            let mut maps = own.maps.iter();
            maps.find(|own| own.columns() == map.columns())
        });
        if own.is_some_and(|own| !own.fragments.is_empty()) && own_map.is_none() {
            return None;
        }
        Some((map, own_map))
    }

    /// The rows in no block that may meet the conditions, if a key or an index leads to them and
    /// they are at most so many, and whether they all do.
    fn by_key(&self, most: usize) -> Option<(Vec<Candidate>, bool)> {
        let (map, own_map) = self.maps()?;
        let (delta, own) = (self.place.delta, self.view.own.as_ref());
        let numbers = map.rows(self.conditions, most)?;
        let own_numbers = match own_map {
            Some(own_map) => own_map.rows(self.conditions, most)?,
            None => Vec::new(),
        };
        let committed = numbers.into_iter().filter_map(|number| {
            let (fragment, row) = delta.find(number)?;
            Some((RowHome::Fragment(fragment.first()), fragment, row))
        });
        let own = own_numbers.into_iter().filter_map(|number| {
            let (fragment, row) = own?.find(number)?;
            Some((RowHome::Own(fragment.first()), fragment, row))
        });
        let candidates = committed.chain(own).collect();
        Some((candidates, map.decides(self.conditions)))
    }
}

/// Whether a row of the delta can be left out by all readers to come.
pub(super) fn is_gone(home: RowHome, fragment: &Fragment, row: u32) -> bool {
    matches!(home, RowHome::Fragment(_)) && fragment.deletes.is_gone(row)
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

/// Adds rows that no index is good for.
fn scan(
    place: &LookUp<'_>,
    blocks: Vec<Arc<Block>>,
    fragments: Vec<(RowHome, Arc<Fragment>)>,
    (view, bound): (&ReadView, &BoundPredicate),
    (columns, found): (&[usize], &mut FoundRows),
) -> Result<()> {
    let request = ScanRequest {
        projection: columns.to_vec(),
        view: view.clone(),
        row_ids: true,
        ..ScanRequest::default()
    };
    let schema = place.schema.clone();
    let bound = Some(bound.clone());
    let scan = Scan::bound(schema, place.arrow, blocks, fragments, &request, bound)?;
    for batch in scan.worker() {
        let batch = batch?;
        let (ids, values) = batch
            .columns()
            .split_last()
            .ok_or_else(|| Error::corrupt("a batch without row ids"))?;
        let ids = ids.as_primitive::<UInt64Type>();
        let ids = ids.values().iter().map(|id| RowId(*id)).collect();
        found.push_batch(ids, values.to_vec());
    }
    Ok(())
}

//! The rows of a look-up that come first in an order, without looking at all others.
//!
//! ```text
//! SELECT … WHERE k >= 70 ORDER BY k LIMIT 2
//!
//! a block in the order of k     … 68 69 | 71 74 | 75 …    searched, two rows read
//! a block with a tree over k    the same of the tree's entries
//! the delta                     the same of its keys
//! ```
//!
//! Blocks are asked in the order of their least values, until those that were asked have given
//! enough rows that come before all of the next block.

use super::access;
use super::found::FoundRows;
use super::look_up::Sought;
use crate::block::{Block, ascending};
use crate::delta::RowHome;
use crate::error::Result;
use crate::schema::{IndexDefinition, IndexKind, Value};
use arrow_array::ArrayRef;
use arrow_ord::sort::sort_to_indices;
use arrow_schema::SortOptions;
use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

/// Entries of a tree, or rows of a sorted block, that are looked at together.
const PART: usize = 32;

/// The rows that come first in the order of a column without NULLs. Others may be given, too.
#[derive(Clone, Copy, Debug)]
pub struct Foremost {
    /// The column.
    pub column: usize,
    /// Whether greater values come first.
    pub descending: bool,
    /// How many rows.
    pub count: usize,
    /// Whether any other rows do as well.
    pub any: bool,
}

impl Foremost {
    /// The places of the foremost of some values, in ascending order.
    pub(super) fn of(&self, values: &ArrayRef) -> Result<Vec<usize>> {
        let options = SortOptions {
            descending: self.descending,
            nulls_first: false,
        };
        let places = sort_to_indices(values, Some(options), Some(self.count))?;
        let mut places: Vec<usize> = places.values().iter().map(|at| *at as usize).collect();
        places.sort_unstable();
        Ok(places)
    }

    fn ordered(&self, one: &Value, other: &Value) -> Ordering {
        match self.descending {
            false => one.total_order(other),
            true => other.total_order(one),
        }
    }

    /// The blocks in the order of the first value that each may have, with that and the last one;
    /// `None` if those of one are not known.
    fn in_order<'b>(&self, blocks: &[&'b Arc<Block>]) -> Result<Option<Vec<Asked<'b>>>> {
        let mut found = Vec::with_capacity(blocks.len());
        for block in blocks {
            let zone = block.zone(self.column)?;
            let Some(bounds) = &zone.bounds else {
                return Ok(None);
            };
            let (min, max) = (bounds.min.clone(), bounds.max.clone());
            let (first, last) = match self.descending {
                false => (min, max),
                true => (max, min),
            };
            found.push(Asked { block, first, last });
        }
        found.sort_by(|one, other| self.ordered(&one.first, &other.first));
        Ok(Some(found))
    }
}

/// A block with the first and the last value that its rows may have.
struct Asked<'b> {
    block: &'b Arc<Block>,
    first: Value,
    last: Value,
}

impl Sought<'_, '_> {
    /// Adds the foremost rows of some blocks; `false` if more than `left` rows have to be looked at.
    pub(super) fn foremost_in_blocks(
        &self,
        foremost: Foremost,
        blocks: &[&Arc<Block>],
        left: &mut usize,
        found: &mut FoundRows,
    ) -> Result<bool> {
        let Some(blocks) = foremost.in_order(blocks)? else {
            for block in blocks {
                if !self.in_block(block, left, found)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        };
        // The last values of blocks, with how many rows they gave.
        let mut given: Vec<(Value, usize)> = Vec::new();
        for Asked { block, first, last } in blocks {
            let comes_before = |last: &Value| foremost.ordered(last, &first).is_le();
            let before = given
                .iter()
                .filter(|(last, _)| foremost.any || comes_before(last));
            if before.map(|(_, rows)| rows).sum::<usize>() >= foremost.count {
                break;
            }
            let known = found.len();
            if !self.in_block(block, left, found)? {
                return Ok(false);
            }
            given.push((last, found.len() - known));
        }
        Ok(true)
    }

    /// The places of the foremost rows of a block, ascending, and none of them deleted: of a block in
    /// the column's order, or by a tree over it. Rows with the last value may be among them that are
    /// too many. `None` if neither is there, or more than `left` rows have to be looked at.
    pub(super) fn foremost_of_block(
        &self,
        foremost: Foremost,
        block: &Block,
        left: &mut usize,
    ) -> Result<Option<Vec<u32>>> {
        let schema = self.place.schema;
        let trees = schema.indexes.iter().filter_map(|definition| {
            let equal = self.equal_before(foremost.column, definition)?;
            Some((equal, definition))
        });
        let mut trees: Vec<(usize, &IndexDefinition)> = trees.collect();
        // The more conditions a tree answers, the fewer rows have to be passed.
        trees.sort_by_key(|(equal, _)| Reverse(*equal));
        let (answering, others) = trees.split_at(trees.partition_point(|(equal, _)| *equal > 0));
        if let Some(found) = self.foremost_of_trees(foremost, block, answering, left)? {
            return Ok(Some(found));
        }
        if block.sort_column()? == Some(foremost.column) {
            let Some((rows, true)) = access::search(schema, block, self.conditions)? else {
                return Ok(None);
            };
            // In range: a block has at most 2^20 rows.
            let (mut start, mut end) = (rows.start as u32, rows.end as u32);
            let parts = std::iter::from_fn(|| {
                if start >= end {
                    return None;
                }
                let part = match foremost.descending {
                    false => start..end.min(start.saturating_add(PART as u32)),
                    true => start.max(end.saturating_sub(PART as u32))..end,
                };
                match foremost.descending {
                    false => start = part.end,
                    true => end = part.start,
                }
                Some(part.collect())
            });
            return self.first_of((foremost, block), parts, true, left);
        }
        self.foremost_of_trees(foremost, block, others, left)
    }

    /// How many columns of a tree come before this one, if conditions give each of them one value.
    fn equal_before(&self, column: usize, definition: &IndexDefinition) -> Option<usize> {
        let is_tree = definition.kind == IndexKind::Csb;
        let mut columns = definition.columns.iter();
        let equal = columns.position(|own| *own == column).filter(|_| is_tree)?;
        let combinations = self.conditions.combinations(&definition.columns[..equal]);
        (combinations == Some(1)).then_some(equal)
    }

    /// [`Sought::foremost_of_block`] by the first of some trees that can tell.
    fn foremost_of_trees(
        &self,
        foremost: Foremost,
        block: &Block,
        trees: &[(usize, &IndexDefinition)],
        left: &mut usize,
    ) -> Result<Option<Vec<u32>>> {
        for (_, definition) in trees {
            let Some(index) = block.index(definition)?.filter(|index| !index.has_codes()) else {
                continue;
            };
            let Some(entries) = index.by_values(self.conditions, definition, self.place.schema)?
            else {
                continue;
            };
            let exact = entries.exact;
            if let Some(parts) = entries.in_order(foremost.descending, PART) {
                return self.first_of((foremost, block), parts, exact, left);
            }
        }
        Ok(None)
    }

    /// Of the rows of a block that come in parts, those of the first parts that have as many as are
    /// wanted; each is checked unless they are `exact`.
    fn first_of(
        &self,
        (foremost, block): (Foremost, &Block),
        parts: impl Iterator<Item = Vec<u32>>,
        exact: bool,
        left: &mut usize,
    ) -> Result<Option<Vec<u32>>> {
        let home = RowHome::Block(block.id());
        let mut kept = Vec::new();
        for part in parts {
            if kept.len() >= foremost.count {
                break;
            }
            if part.len() > *left {
                return Ok(None);
            }
            *left -= part.len();
            let mut part = ascending(part);
            part.retain(|row| !self.view.is_deleted(home, block.deletes(), *row));
            kept.extend(match exact {
                true => part,
                false => self.checked(block, &part)?,
            });
        }
        Ok(Some(ascending(kept)))
    }
}

//! Some rows of a table, on which conditions are really evaluated to learn how many
//! rows they leave.

use super::Table;
use crate::block::Block;
use crate::codec::ArrayForm;
use crate::codec::fields::Rows;
use crate::error::Result;
use crate::predicate::{BoundPredicate, Predicate, evaluate_leaf};
use crate::schema::TableSchema;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::BooleanBuffer;
use arrow_select::concat::concat;
use std::sync::{Arc, OnceLock};

/// Rows of a sample.
const ROWS: u64 = 1024;
/// Blocks that they come from, at most.
const BLOCKS: usize = 64;

/// Rows that are spread over the blocks of a table. Their columns are read when they
/// are first asked for.
#[derive(Debug)]
pub struct Sample {
    schema: Arc<TableSchema>,
    /// Which rows of which blocks.
    places: Vec<(Arc<Block>, Vec<u32>)>,
    rows: usize,
    /// Whether these are all rows in blocks.
    whole: bool,
    columns: Vec<OnceLock<ArrayRef>>,
}

impl Sample {
    /// Rows of a table's blocks, some of which may be deleted.
    pub(super) fn of(table: &Table) -> Sample {
        let all = table.rows_in_blocks();
        let whole = all <= ROWS;
        let blocks = table.blocks();
        let some = blocks.len().min(if whole { usize::MAX } else { BLOCKS });
        let chosen = (0..some).map(|number| &blocks[number * blocks.len() / some]);
        let in_chosen: u64 = chosen.clone().map(|block| block.rows()).sum();
        let (mut places, mut next, mut before) = (Vec::new(), 0, 0);
        for block in chosen {
            let end = before + block.rows();
            let mut positions = Vec::new();
            // Row `next` of the sample lies somewhere in its share of all rows.
            while next < in_chosen.min(ROWS) {
                let share = |number: u64| number * in_chosen / in_chosen.min(ROWS);
                let width = share(next + 1) - share(next);
                let row = share(next) + scattered(next) % width;
                if row >= end {
                    break;
                }
                // In range: a block has at most 2^20 rows.
                positions.push((row - before) as u32);
                next += 1;
            }
            before = end;
            places.push((block.clone(), positions));
        }
        Sample {
            schema: table.schema.clone(),
            places,
            rows: next as usize,
            whole,
            columns: table
                .schema
                .columns
                .iter()
                .map(|_| OnceLock::new())
                .collect(),
        }
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Whether these are all rows that were in blocks, deleted ones included.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// A column of the rows, of which there must be some, as an array of its Arrow type.
    ///
    /// # Errors
    /// `Corrupt` or `Io` if a block cannot be read.
    ///
    /// # Panics
    /// For a column that the table has not.
    pub fn column(&self, column: usize) -> Result<&ArrayRef> {
        if let Some(known) = self.columns[column].get() {
            return Ok(known);
        }
        let of_block = |(block, positions): &(Arc<Block>, Vec<u32>)| {
            block.read_rows(column, &Rows::Positions(positions), ArrayForm::Sql)
        };
        let parts = self.places.iter().map(of_block);
        let parts = parts.collect::<Result<Vec<ArrayRef>>>()?;
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        let all = concat(&parts)?;
        Ok(self.columns[column].get_or_init(|| all))
    }

    /// The rows for which a predicate is TRUE.
    ///
    /// # Errors
    /// 42703 or 42804 for one that does not fit the columns; those of
    /// [`Sample::column`].
    pub fn passing(&self, predicate: &Predicate) -> Result<BooleanBuffer> {
        let bound = BoundPredicate::bind(predicate, &self.schema)?;
        if self.rows == 0 {
            return Ok(BooleanBuffer::new_unset(0));
        }
        bound.evaluate(self.rows, &mut |column, leaf| {
            evaluate_leaf(leaf, self.column(column)?)
        })
    }
}

/// A number that has nothing to do with others near it.
fn scattered(number: u64) -> u64 {
    let mixed = (number ^ number >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 16
}

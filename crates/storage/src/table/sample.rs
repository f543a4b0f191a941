//! Some rows of a table, on which conditions are really evaluated to learn how many
//! rows they leave, and of whose values the number of different ones is estimated.
//!
//! Rows of blocks and of the delta are in it as they are in the table: a table whose rows are
//! all in the delta is known as well as others.

use super::Table;
use crate::block::Block;
use crate::codec::ArrayForm;
use crate::codec::fields::Rows;
use crate::delta::Fragment;
use crate::error::Result;
use crate::predicate::value_at;
use crate::predicate::{BoundPredicate, Predicate, evaluate_leaf};
use crate::schema::{TableSchema, Value};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::BooleanBuffer;
use arrow_select::concat::concat;
use std::sync::{Arc, OnceLock};

/// Rows of a sample.
const ROWS: u64 = 1024;
/// Blocks that they come from, at most, and as many fragments.
const BLOCKS: usize = 64;

/// Rows that are spread over a table. Their columns are read when they are first asked for.
#[derive(Debug)]
pub struct Sample {
    schema: Arc<TableSchema>,
    /// Which rows of which parts of the table.
    places: Vec<(Part, Vec<u32>)>,
    rows: usize,
    /// The rows of the table, of which those of the delta that were deleted do not count.
    of: u64,
    /// How many of them were in the delta.
    in_delta: u64,
    /// The number that the delta's next row had.
    next: u64,
    columns: Vec<OnceLock<ArrayRef>>,
    distinct: Vec<OnceLock<f64>>,
}

/// A part of a table.
#[derive(Clone, Debug)]
enum Part {
    Block(Arc<Block>),
    /// A fragment, and its rows that were not deleted.
    Fragment(Arc<Fragment>, Arc<[u32]>),
}

impl Part {
    fn rows(&self) -> u64 {
        match self {
            Part::Block(block) => block.rows(),
            Part::Fragment(_, rows) => rows.len() as u64,
        }
    }

    /// A column at some of its rows, which are counted from 0.
    fn read(&self, column: usize, rows: &[u32]) -> Result<ArrayRef> {
        match self {
            Part::Block(block) => block.read_rows(column, &Rows::Positions(rows), ArrayForm::Sql),
            Part::Fragment(fragment, live) => {
                let rows: Vec<u32> = rows.iter().map(|row| live[*row as usize]).collect();
                fragment.read().column(column, &rows, ArrayForm::Sql)
            }
        }
    }
}

/// Some of very many, spread evenly.
fn some<T: Clone>(all: &[T], most: usize) -> impl Iterator<Item = T> {
    let some = all.len().min(most);
    (0..some).map(move |number| all[number * all.len() / some].clone())
}

impl Sample {
    /// Rows of a table; some of those in blocks may be deleted.
    pub(super) fn of(table: &Table) -> Sample {
        let next = table.delta.next();
        // Fragments of another form are about to go into blocks.
        let fragments = table.delta.fragments().into_iter();
        let fragments = fragments.filter(|part| *part.schema().columns == *table.schema.columns);
        let fragments = fragments.map(|part| {
            let live = part.visible(u64::MAX, None).into();
            Part::Fragment(part, live)
        });
        let fragments: Vec<Part> = fragments.collect();
        let in_delta: u64 = fragments.iter().map(Part::rows).sum();
        let of = table.rows_in_blocks() + in_delta;
        let most = if of <= ROWS { usize::MAX } else { BLOCKS };
        let blocks = some(table.blocks(), most).map(Part::Block);
        let chosen: Vec<Part> = blocks.chain(some(&fragments, most)).collect();
        let in_chosen: u64 = chosen.iter().map(Part::rows).sum();
        let (mut places, mut rows, mut before) = (Vec::new(), 0, 0);
        for part in chosen {
            let end = before + part.rows();
            let mut positions = Vec::new();
            // Row `rows` of the sample lies somewhere in its share of all rows.
            while rows < in_chosen.min(ROWS) {
                let share = |number: u64| number * in_chosen / in_chosen.min(ROWS);
                let width = share(rows + 1) - share(rows);
                let row = share(rows) + scattered(rows) % width;
                if row >= end {
                    break;
                }
                // In range: a block has at most 2^20 rows.
                positions.push((row - before) as u32);
                rows += 1;
            }
            before = end;
            places.push((part, positions));
        }
        let columns = &table.schema.columns;
        Sample {
            schema: table.schema.clone(),
            places,
            rows: rows as usize,
            of,
            in_delta,
            next,
            columns: columns.iter().map(|_| OnceLock::new()).collect(),
            distinct: columns.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// Whether the table's delta has changed so much that other rows should be asked.
    pub(super) fn is_outdated(&self, table: &Table) -> bool {
        table.delta.next().saturating_sub(self.next) > (self.of / 4).max(16)
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Whether these are all rows that there were.
    pub fn is_whole(&self) -> bool {
        self.rows as u64 == self.of
    }

    /// How many rows the table had, and how many of them were in the delta.
    pub fn of_table(&self) -> (u64, u64) {
        (self.of, self.in_delta)
    }

    /// About how many different values a column of the table has, by Duj1 of Haas and Stokes
    /// (1998): values that the sample has once are likely to be others in the rest.
    ///
    /// # Errors
    /// As [`Sample::column`].
    ///
    /// # Panics
    /// If the table has no such column.
    pub fn distinct(&self, column: usize) -> Result<f64> {
        if let Some(known) = self.distinct[column].get() {
            return Ok(*known);
        }
        let array = self.column(column)?;
        let present = (0..self.rows).filter(|row| array.is_valid(*row));
        let mut values: Vec<Value> = present.filter_map(|row| value_at(array, row)).collect();
        values.sort_by(Value::total_order);
        let groups = values.chunk_by(|a, b| a.total_order(b).is_eq());
        let (mut distinct, mut once) = (0.0, 0.0);
        for group in groups {
            distinct += 1.0;
            once += f64::from(u8::from(group.len() == 1));
        }
        let (asked, all) = (self.rows as f64, self.of as f64);
        let estimate = match values.is_empty() {
            // Values of a kind that is not compared here.
            true if array.null_count() < self.rows => all,
            true => 1.0,
            false => asked * distinct / (asked - once + once * asked / all),
        };
        Ok(*self.distinct[column].get_or_init(|| estimate))
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
        let places = self.places.iter().filter(|(_, rows)| !rows.is_empty());
        let parts = places.map(|(part, rows)| part.read(column, rows));
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

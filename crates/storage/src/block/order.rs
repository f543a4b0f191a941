//! Whether the rows of a block lie in the order of a key.

use super::{Block, FoundColumn, Part};
use crate::error::{Error, Result};
use crate::schema::{TableSchema, Value};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ord::cmp;

/// Most rows in sequence with one value of a key's first column, if the key is
/// to be searched by that column alone.
pub const RUN_MAX: usize = 64;

/// The column that rows are sorted on by themselves: the first of a key, if
/// its values ascend and runs of one value are short.
pub fn sorted_key(schema: &TableSchema, batch: &RecordBatch) -> Result<Option<usize>> {
    for column in schema.keys.iter().filter_map(|key| key.columns.first()) {
        if ascends(batch.column(*column))? {
            return Ok(Some(*column));
        }
    }
    Ok(None)
}

fn ascends(values: &ArrayRef) -> Result<bool> {
    if values.null_count() > 0 {
        return Ok(false);
    }
    let Some(pairs) = values.len().checked_sub(1) else {
        return Ok(true);
    };
    let (before, after) = (values.slice(0, pairs), values.slice(1, pairs));
    // Types without an order have no comparison.
    let Ok(descends) = cmp::gt(&before, &after) else {
        return Ok(false);
    };
    if descends.true_count() > 0 {
        return Ok(false);
    }
    let (mut run, mut longest) = (1, 1);
    for same in cmp::eq(&before, &after)?.values().iter() {
        run = if same { run + 1 } else { 1 };
        longest = longest.max(run);
    }
    Ok(longest <= RUN_MAX)
}

/// The values of a column by which the rows of a block are in order.
pub struct SortedValues<'a> {
    block: &'a Block,
    column: usize,
    part: Part,
    /// Rows that are not NULL there; they come first.
    present: usize,
}

impl Block {
    /// The values of [`Block::sort_column`], to be searched.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub fn sorted_values(&self, column: usize) -> Result<SortedValues<'_>> {
        let present = self.rows() as usize - self.zone(column)?.nulls as usize;
        let FoundColumn::Own(column) = self.find_column(column)? else {
            return Err(Error::corrupt(
                "rows in the order of a column they do not have",
            ));
        };
        Ok(SortedValues {
            part: self.part(column)?,
            block: self,
            column,
            present,
        })
    }
}

impl SortedValues<'_> {
    /// Rows that are not NULL.
    pub fn present(&self) -> usize {
        self.present
    }

    /// The value of a row that is not NULL.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub fn value(&self, row: usize) -> Result<Value> {
        // In range: a block has at most 2^20 rows.
        let value = self.block.own_value(self.column, &self.part, row as u32)?;
        value.ok_or_else(|| Error::corrupt("a NULL among sorted values"))
    }

    /// The first row for which `before` is false.
    ///
    /// # Errors
    /// As [`SortedValues::value`].
    pub fn partition_point(&self, before: impl Fn(&Value) -> bool) -> Result<usize> {
        self.between(0, self.present, &before)
    }

    /// The same, found in few steps if the values between `bounds` are spread
    /// evenly (interpolation search): from where `sought` should be, in steps that
    /// double until it is passed.
    ///
    /// # Errors
    /// As [`SortedValues::value`].
    pub fn partition_point_near(
        &self,
        (min, max): (i128, i128),
        sought: i128,
        before: impl Fn(&Value) -> bool,
    ) -> Result<usize> {
        if self.present == 0 || sought < min || max <= min {
            return self.partition_point(before);
        }
        let share = (sought - min) as f64 / (max - min) as f64;
        let last = self.present - 1;
        let guess = ((last as f64 * share) as usize).min(last);
        let (mut low, mut high, mut step) = (0, self.present, 1);
        if before(&self.value(guess)?) {
            low = guess + 1;
            while low + step < high {
                if !before(&self.value(low + step)?) {
                    high = low + step;
                    break;
                }
                low += step + 1;
                step *= 2;
            }
        } else {
            high = guess;
            while high > step {
                if before(&self.value(high - step)?) {
                    low = high - step + 1;
                    break;
                }
                high -= step;
                step *= 2;
            }
        }
        self.between(low, high, &before)
    }

    fn between(
        &self,
        mut low: usize,
        mut high: usize,
        before: &impl Fn(&Value) -> bool,
    ) -> Result<usize> {
        while low < high {
            let middle = low + (high - low) / 2;
            if before(&self.value(middle)?) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}

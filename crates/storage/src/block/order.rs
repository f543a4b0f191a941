//! Whether the rows of a block lie in the order of a key.

use super::Block;
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

impl Block {
    /// The first row, of those before `end`, for which `before` is false; of a
    /// column by which the rows are in order, without NULLs there.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub fn partition_point(
        &self,
        column: usize,
        end: usize,
        before: impl Fn(&Value) -> bool,
    ) -> Result<usize> {
        let (mut low, mut high) = (0, end);
        while low < high {
            let middle = low + (high - low) / 2;
            // In range: a block has at most 2^20 rows.
            let value = self.row(&[column], middle as u32)?.pop().flatten();
            let value = value.ok_or_else(|| Error::corrupt("a NULL among sorted values"))?;
            if before(&value) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}

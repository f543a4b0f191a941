//! Where the ranges of a partitioned table should begin, by the rows that it has.

use super::Table;
use crate::codec::ArrayForm;
use crate::codec::fields::Rows;
use crate::error::Result;
use crate::scan::{Scan, ScanRequest};
use crate::schema::{BOUNDS_SAMPLE, TableOptions};
use arrow_array::{Array, ArrayRef, UInt32Array};
use arrow_select::take::take;

/// Blocks that the rows come from, at most.
const BLOCKS: usize = 1024;

impl TableOptions {
    /// The same options, in which it is known where the ranges of `partition_by` begin,
    /// so that about equally many of a table's committed rows are in each. Bounds that
    /// are known stay unless they are to be `fresh`; a table without rows gives none.
    ///
    /// # Errors
    /// `Corrupt` or `Io` if rows cannot be read.
    pub fn with_bounds_from(&self, table: &Table, fresh: bool) -> Result<TableOptions> {
        let mut options = self.clone();
        let Some(partitioning) = &mut options.partition_by else {
            return Ok(options);
        };
        let Some(column) = table.schema.index_of(&partitioning.column) else {
            return Ok(options);
        };
        if fresh || !partitioning.fits(table.schema.columns[column].kind) {
            *partitioning = partitioning.with_bounds_of(&some_values(table, column)?);
        }
        Ok(options)
    }
}

/// A column of rows that are spread evenly over a table.
fn some_values(table: &Table, column: usize) -> Result<Vec<ArrayRef>> {
    let blocks = table.blocks().iter();
    let blocks = blocks.step_by(table.blocks().len().div_ceil(BLOCKS).max(1));
    let rows = blocks.clone().map(|block| block.rows()).sum::<u64>() + table.delta().rows();
    let step = usize::try_from(rows.div_ceil(BOUNDS_SAMPLE as u64)).unwrap_or(usize::MAX);
    let step = step.max(1);
    let (mut values, mut first) = (Vec::new(), 0);
    for block in blocks {
        // In range: a block has at most 2^20 rows.
        let rows = block.rows() as usize;
        let positions = (first..rows).step_by(step).map(|row| row as u32);
        let positions = positions.filter(|row| !block.deletes().contains(*row));
        let positions: Vec<u32> = positions.collect();
        // The next block goes on where this one ends.
        let asked = rows.saturating_sub(first).div_ceil(step);
        first = first + asked * step - rows;
        if !positions.is_empty() {
            values.push(block.read_rows(column, &Rows::Positions(&positions), ArrayForm::Sql)?);
        }
    }
    for array in newest_values(table, column)? {
        let positions = (0..array.len() as u32).step_by(step);
        values.push(take(
            &array,
            &UInt32Array::from_iter_values(positions),
            None,
        )?);
    }
    Ok(values)
}

/// A column of the rows that are in no block.
fn newest_values(table: &Table, column: usize) -> Result<Vec<ArrayRef>> {
    let request = ScanRequest {
        projection: vec![column],
        ..ScanRequest::default()
    };
    let fragments = request.view.fragments(table.delta());
    let (schema, arrow) = (table.schema.clone(), table.arrow());
    let scan = Scan::new(schema, arrow, Vec::new(), fragments, &request)?;
    let batches = scan.worker();
    batches.map(|batch| Ok(batch?.column(0).clone())).collect()
}

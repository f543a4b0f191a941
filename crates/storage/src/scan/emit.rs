//! From rows that passed to batches.

use super::Scan;
use super::fragments::{Columns, row_ids};
use super::worker::BlockScan;
use crate::codec::compacted;
use crate::codec::fields::Rows;
use crate::delta::RowHome;
use crate::error::Result;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_buffer::BooleanBuffer;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Columns that are there already, as far as the limit allows.
pub(super) fn deliver(scan: &Scan, (columns, rows): Columns) -> Option<Columns> {
    let granted = scan.reserve(rows);
    if granted == rows {
        return finish(scan, columns, rows);
    }
    let columns = columns.iter().map(|column| column.slice(0, granted));
    finish(scan, columns.collect(), granted)
}

/// Appends `first` plus the place of each of the `count` bits that are set.
pub(super) fn add_positions(
    bits: &BooleanBuffer,
    first: usize,
    count: usize,
    positions: &mut Vec<u32>,
) {
    positions.reserve(count);
    let words = bits.bit_chunks();
    for (number, mut word) in words.iter_padded().enumerate() {
        // In range: a block has at most 2^20 rows.
        let first = (first + 64 * number) as u32;
        while word != 0 {
            positions.push(first + word.trailing_zeros());
            word &= word - 1;
        }
    }
}

/// Columns of `rows` rows; none when the limit is used up.
pub(super) fn finish(scan: &Scan, columns: Vec<ArrayRef>, rows: usize) -> Option<Columns> {
    if rows == 0 {
        return None;
    }
    scan.metrics
        .rows_returned
        .fetch_add(rows as u64, Ordering::Relaxed);
    Some((columns, rows))
}

/// Columns as a batch of the scan's schema.
pub(super) fn batch(scan: &Scan, (columns, rows): Columns) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(
        scan.output.clone(),
        columns,
        &options,
    )?)
}

impl BlockScan {
    pub(super) fn emit_pending(&mut self, scan: &Scan) -> Result<Option<Columns>> {
        let rest = self
            .pending
            .split_off(self.pending.len().min(scan.batch_rows));
        let positions = std::mem::replace(&mut self.pending, rest);
        let granted = scan.reserve(positions.len());
        let positions = &positions[..granted];
        let mut columns = self.read(scan, &Rows::Positions(positions))?;
        if scan.row_ids {
            columns.push(row_ids(self.home(), positions.iter().copied()));
        }
        Ok(finish(scan, columns, granted))
    }

    fn home(&self) -> RowHome {
        RowHome::Block(self.block.id())
    }

    pub(super) fn emit_whole(
        &mut self,
        scan: &Scan,
        rows: Range<usize>,
    ) -> Result<Option<Columns>> {
        let granted = scan.reserve(rows.len());
        let rows = rows.start..rows.start + granted;
        let mut columns = self.read(scan, &Rows::Range(rows.clone()))?;
        if scan.row_ids {
            // In range: a block has at most 2^20 rows.
            columns.push(row_ids(self.home(), rows.map(|row| row as u32)));
        }
        Ok(finish(scan, columns, granted))
    }

    /// Reads all of `rows` and keeps those that passed, or says which those are.
    pub(super) fn emit_most(
        &mut self,
        scan: &Scan,
        rows: Range<usize>,
        which: BooleanBuffer,
        count: usize,
    ) -> Result<Option<Columns>> {
        let granted = scan.reserve(count);
        if self.selecting && granted == count && !scan.row_ids {
            let rows_there = rows.len();
            let columns = self.read(scan, &Rows::Range(rows))?;
            self.which = Some(which);
            let passed = finish(scan, columns, count);
            return Ok(passed.map(|(columns, _)| (columns, rows_there)));
        }
        let mut positions = Vec::new();
        if granted < count || scan.row_ids {
            add_positions(&which, rows.start, count, &mut positions);
            positions.truncate(granted);
        }
        let mut columns = match granted < count {
            true => self.read(scan, &Rows::Positions(&positions))?,
            false => compacted(&self.read(scan, &Rows::Range(rows))?, &which)?,
        };
        if scan.row_ids {
            columns.push(row_ids(self.home(), positions.into_iter()));
        }
        Ok(finish(scan, columns, granted))
    }

    /// The columns of the scan at some rows.
    fn read(&self, scan: &Scan, rows: &Rows<'_>) -> Result<Vec<ArrayRef>> {
        let columns = scan.projection.iter();
        let columns = columns.map(|column| self.block.read_rows(*column, rows, scan.form));
        columns.collect()
    }
}

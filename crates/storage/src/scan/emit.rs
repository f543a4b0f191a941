//! From rows that passed to batches.

use super::Scan;
use super::fragments::Columns;
use crate::error::Result;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_buffer::BooleanBuffer;
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

//! From rows that passed to batches.

use super::Scan;
use super::fragments::Columns;
use crate::block::Block;
use crate::codec::fields::Rows;
use crate::error::Result;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use arrow_select::filter::FilterBuilder;
use std::sync::atomic::Ordering;

/// Positions of which there are three or more among four rows are read with those.
const DENSE: (usize, usize) = (3, 4);

/// The columns of a scan at ascending positions of a block.
pub(super) fn read_positions(
    scan: &Scan,
    block: &Block,
    positions: &[u32],
) -> Result<Vec<ArrayRef>> {
    let read = |rows: &Rows<'_>| -> Result<Vec<ArrayRef>> {
        let columns = scan.projection.iter();
        let columns = columns.map(|column| block.read_rows(*column, rows, scan.form));
        columns.collect()
    };
    let span = match (positions.first(), positions.last()) {
        (Some(first), Some(last)) => *first as usize..*last as usize + 1,
        _ => 0..0,
    };
    if positions.len() == span.len() {
        return read(&Rows::Range(span));
    }
    if positions.len() * DENSE.1 < span.len() * DENSE.0 || scan.projection.is_empty() {
        return read(&Rows::Positions(positions));
    }
    let mut wanted = BooleanBufferBuilder::new(span.len());
    wanted.append_n(span.len(), false);
    let places = positions.iter().map(|position| *position as usize);
    places.for_each(|place| wanted.set_bit(place - span.start, true));
    let wanted = BooleanArray::new(wanted.finish(), None);
    let wanted = FilterBuilder::new(&wanted).optimize().build();
    let columns = read(&Rows::Range(span))?.into_iter();
    columns.map(|column| Ok(wanted.filter(&column)?)).collect()
}

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

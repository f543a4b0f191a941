//! Rows that wait until they fill a block: in one list, or in one for each range of a
//! partitioned table.

use super::writer::{concatenated, raw_bytes};
use crate::error::{Error, Result};
use crate::format::BLOCK_ROWS_MAX;
use crate::schema::{Partitioning, TableOptions, TableSchema};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::{DataType, SchemaRef};
use arrow_select::take::take;
use std::collections::VecDeque;
use std::sync::Arc;

/// Rows of all ranges that wait take at least so many bytes before one is written that
/// does not fill a block.
const WAITING_BYTES: u64 = 256 << 20;
/// Rows for each range among which rows are looked for at once, so that pieces are not
/// of a few rows each.
const ROWS_AT_ONCE: usize = 256;

/// Rows on their way into one block.
#[derive(Debug, Default)]
pub(super) struct Pending {
    batches: Vec<RecordBatch>,
    rows: usize,
    bytes: u64,
}

impl Pending {
    /// Takes as many rows of a batch from `start` on as there is room for in `most`
    /// bytes; returns how many.
    pub fn fill(&mut self, batch: &RecordBatch, start: usize, row_bytes: u64, most: u64) -> usize {
        let room_bytes = most.saturating_sub(self.bytes) / row_bytes;
        let room = usize::try_from(room_bytes)
            .unwrap_or(usize::MAX)
            .min(BLOCK_ROWS_MAX - self.rows);
        let take = room
            .max(usize::from(self.rows == 0))
            .min(batch.num_rows() - start);
        if take > 0 {
            self.batches.push(batch.slice(start, take));
            self.rows += take;
            self.bytes += take as u64 * row_bytes;
        }
        take
    }

    /// Whether a block of `most` bytes has no room for more.
    pub fn is_full(&self, most: u64) -> bool {
        self.bytes >= most || self.rows >= BLOCK_ROWS_MAX
    }

    /// All of them, if there are any, and the bytes that they were counted as. Without
    /// a schema batches have the same one.
    pub fn take(&mut self, schema: Option<&SchemaRef>) -> Result<Option<(RecordBatch, u64)>> {
        let pending = std::mem::take(self);
        Ok(match pending.batches.as_slice() {
            [] => None,
            [one] => Some((one.clone(), pending.bytes)),
            [first, ..] => {
                let same = first.schema();
                let all = concatenated(schema.unwrap_or(&same), &pending.batches)?;
                Some((all, pending.bytes))
            }
        })
    }
}

/// Rows of one range that are to be written together.
#[derive(Debug)]
pub(super) struct RangeRows {
    pub range: u16,
    pub batch: RecordBatch,
    /// What they were counted as.
    pub bytes: u64,
}

/// Rows on their way into the blocks of a partitioned table.
#[derive(Debug)]
pub(super) struct PendingRanges {
    partitioning: Partitioning,
    /// The column that has the ranges.
    column: usize,
    /// Columns of the table; batches may have more.
    columns: usize,
    sparse: bool,
    /// Bytes of a range that are written together.
    most: u64,
    lists: Vec<Pending>,
    waiting: u64,
    /// Rows whose ranges were not looked for yet.
    new: Vec<RecordBatch>,
    new_rows: usize,
    /// Rows that are to be written now.
    due: VecDeque<RangeRows>,
}

impl PendingRanges {
    /// For rows of a table; `most` bytes of a range are written together. `None` if the
    /// table is not partitioned, or it is not known where ranges begin.
    pub fn of(schema: &TableSchema, options: &TableOptions, most: u64) -> Option<PendingRanges> {
        let partitioning = options.partition_by.as_ref()?;
        let column = schema.index_of(&partitioning.column)?;
        if !partitioning.fits(schema.columns[column].kind) {
            return None;
        }
        let lists = (0..=partitioning.last()).map(|_| Pending::default());
        Some(PendingRanges {
            column,
            columns: schema.columns.len(),
            sparse: options.layout.is_sparse(),
            most,
            lists: lists.collect(),
            partitioning: partitioning.clone(),
            waiting: 0,
            new: Vec::new(),
            new_rows: 0,
            due: VecDeque::new(),
        })
    }

    /// Adds rows, of which some may be due then. All batches have the same fields.
    pub fn push(&mut self, batch: RecordBatch) -> Result<()> {
        self.new_rows += batch.num_rows();
        self.new.push(batch);
        match self.new_rows >= ROWS_AT_ONCE * self.lists.len() {
            true => self.sort_out(),
            false => Ok(()),
        }
    }

    /// No more rows come: all are due, range by range.
    pub fn end(&mut self) -> Result<()> {
        self.sort_out()?;
        (0..self.lists.len()).try_for_each(|range| self.make_due(range))
    }

    /// The next rows that are to be written.
    pub fn next_due(&mut self) -> Option<RangeRows> {
        self.due.pop_front()
    }

    /// Puts new rows into the lists of their ranges.
    fn sort_out(&mut self) -> Result<()> {
        let new = std::mem::take(&mut self.new);
        self.new_rows = 0;
        let batch = match new.as_slice() {
            [] => return Ok(()),
            [one] => one.clone(),
            [first, ..] => concatenated(&first.schema(), &new)?,
        };
        drop(new);
        let ranges = self.partitioning.ranges_of(batch.column(self.column));
        let ranges = ranges.ok_or_else(|| Error::corrupt("ranges of another type"))?;
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); self.lists.len()];
        for (row, range) in (0..).zip(&ranges) {
            rows[usize::from(*range)].push(row);
        }
        for (range, rows) in rows.into_iter().enumerate() {
            if rows.len() == batch.num_rows() {
                return self.add(range, &batch);
            }
            if !rows.is_empty() {
                self.add(range, &taken(&batch, rows)?)?;
            }
        }
        while self.waiting > (4 * self.most).max(WAITING_BYTES) {
            let lists = self.lists.iter().enumerate();
            let Some((largest, _)) = lists.max_by_key(|(_, list)| list.bytes) else {
                break;
            };
            self.make_due(largest)?;
        }
        Ok(())
    }

    fn add(&mut self, range: usize, batch: &RecordBatch) -> Result<()> {
        let (rows, mut start) = (batch.num_rows(), 0);
        let bytes = raw_bytes(&batch.columns()[..self.columns], self.sparse);
        let row_bytes = (bytes / rows.max(1) as u64).max(1);
        while start < rows {
            let taken = self.lists[range].fill(batch, start, row_bytes, self.most);
            self.waiting += taken as u64 * row_bytes;
            start += taken;
            if taken == 0 || self.lists[range].is_full(self.most) {
                self.make_due(range)?;
            }
        }
        Ok(())
    }

    fn make_due(&mut self, range: usize) -> Result<()> {
        if let Some((batch, bytes)) = self.lists[range].take(None)? {
            self.waiting = self.waiting.saturating_sub(bytes);
            self.due.push_back(RangeRows {
                // In range: there are at most 256.
                range: range as u16,
                batch,
                bytes,
            });
        }
        Ok(())
    }
}

/// Some rows of a batch, with bytes of their own: texts of others would else stay in
/// memory as long as these wait.
fn taken(batch: &RecordBatch, rows: Vec<u32>) -> Result<RecordBatch> {
    let rows = UInt32Array::from(rows);
    let column = |array: &ArrayRef| -> Result<ArrayRef> {
        let some = take(array, &rows, None)?;
        Ok(match some.data_type() {
            DataType::Utf8View => Arc::new(some.as_string_view().gc()),
            DataType::BinaryView => Arc::new(some.as_binary_view().gc()),
            _ => some,
        })
    };
    let columns = batch.columns().iter().map(column);
    let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}

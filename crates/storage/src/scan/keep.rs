//! Which rows of a zone are left after conditions, deletes and tests of values.

use super::emit::add_positions;
use super::worker::{BlockScan, Passed};
use super::{Scan, ValueFilter};
use crate::codec::ArrayForm;
use crate::codec::bits::CHUNK;
use crate::codec::fields::Rows;
use crate::delta::RowBits;
use crate::error::Result;
use arrow_array::{ArrayRef, Int64Array};
use arrow_buffer::BooleanBuffer;
use std::ops::Range;
use std::sync::Arc;

/// Where so many of so many rows pass, all are read and the others dropped: that costs
/// less than finding each by its position.
const MOST: (usize, usize) = (3, 4);

impl BlockScan {
    /// Keeps the rows that pass, if `bits` says which, and are not gone. The bits
    /// are from the beginning of the first row's chunk on.
    pub(super) fn keep(
        &mut self,
        scan: &Scan,
        rows: Range<usize>,
        bits: Option<BooleanBuffer>,
        gone: Option<&RowBits>,
    ) -> Result<()> {
        let lead = rows.start % CHUNK;
        let aligned = rows.start - lead;
        let bits = match (bits, gone) {
            (None, None) => {
                scan.metrics.decided(rows.len(), rows.len());
                return self.keep_all(scan, rows);
            }
            (Some(bits), None) => bits,
            (bits, Some(gone)) => {
                let bits = bits.unwrap_or_else(|| BooleanBuffer::new_set(rows.end - aligned));
                gone.taken_from(&bits, aligned)
            }
        };
        let bits = bits.slice(lead, rows.len());
        let passing = bits.count_set_bits();
        // Rows that are gone are as rows that do not meet it: there are few of them.
        scan.metrics.decided(rows.len(), passing);
        match passing {
            0 => {}
            passing if passing == rows.len() => self.keep_all(scan, rows)?,
            passing if passing * MOST.1 >= rows.len() * MOST.0 && !scan.is_filtered() => {
                self.keep_range(scan, rows, Some(&bits));
            }
            passing => {
                let before = self.pending.len();
                add_positions(&bits, rows.start, passing, &mut self.pending);
                self.test_values(scan, before, None)?;
            }
        }
        Ok(())
    }

    fn keep_all(&mut self, scan: &Scan, rows: Range<usize>) -> Result<()> {
        if scan.is_filtered() {
            let before = self.pending.len();
            // In range: a block has at most 2^20 rows.
            self.pending.extend(rows.start as u32..rows.end as u32);
            return self.test_values(scan, before, Some(rows));
        }
        self.keep_range(scan, rows, None);
        Ok(())
    }

    /// Leaves rows to be returned, batch by batch; of those with `bits` the ones set there.
    fn keep_range(&mut self, scan: &Scan, rows: Range<usize>, bits: Option<&BooleanBuffer>) {
        for start in rows.clone().step_by(scan.batch_rows) {
            let part = start..rows.end.min(start + scan.batch_rows);
            let which = bits.map(|bits| {
                let which = bits.slice(start - rows.start, part.len());
                let count = which.count_set_bits();
                (which, count)
            });
            if which.as_ref().is_none_or(|(_, count)| *count > 0) {
                self.whole.push_back(Passed { rows: part, which });
            }
        }
    }

    /// Drops positions from place `before` on, all those of `rows` if given, whose
    /// values the scan's filters do not want.
    fn test_values(
        &mut self,
        scan: &Scan,
        before: usize,
        rows: Option<Range<usize>>,
    ) -> Result<()> {
        if !scan.is_filtered() {
            return Ok(());
        }
        let filters = scan.filters.read();
        let filters = filters.iter().filter(|filter| filter.test.is_worthwhile());
        let mut rest = self.pending.split_off(before);
        let mut filters = filters.peekable();
        let mut rows = match (filters.peek(), rows) {
            (Some(filter), Some(rows)) => match self.test_runs(filter, rows.clone())? {
                Some(kept) => {
                    rest = kept;
                    filters.next();
                    None
                }
                None => Some(Rows::Range(rows)),
            },
            _ => None,
        };
        for filter in filters {
            if rest.is_empty() {
                break;
            }
            let read = |rows: &Rows<'_>| {
                self.block
                    .read_rows(filter.column, rows, ArrayForm::Compact)
            };
            let values = match rows.take() {
                Some(rows) => read(&rows)?,
                None => read(&Rows::Positions(&rest))?,
            };
            filter.test.retain(&values, &mut rest);
        }
        self.pending.append(&mut rest);
        Ok(())
    }

    /// The positions of `rows` whose values a filter wants, if the column lies in runs:
    /// each is tested once.
    fn test_runs(&self, filter: &ValueFilter, rows: Range<usize>) -> Result<Option<Vec<u32>>> {
        let Some((values, ends)) = self.block.runs(filter.column, rows.clone())? else {
            return Ok(None);
        };
        let mut runs: Vec<u32> = (0..values.len() as u32).collect();
        let values: ArrayRef = Arc::new(Int64Array::from(values));
        filter.test.retain(&values, &mut runs);
        let mut positions = Vec::with_capacity(runs.len() * 4);
        for run in runs.into_iter().map(|run| run as usize) {
            let start = run.checked_sub(1).and_then(|before| ends.get(before));
            let start = start.copied().unwrap_or(rows.start as u32);
            positions.extend(start..ends[run].min(rows.end as u32));
        }
        Ok(Some(positions))
    }
}

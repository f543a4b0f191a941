//! One worker of a scan.

use super::Scan;
use super::filter::Filter;
use crate::block::Block;
use crate::error::Result;
use crate::format::ZONE_ROWS;
use crate::predicate::{BoundPredicate, Prune, Zone};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Takes blocks from the scan's queue and returns their rows.
#[derive(Debug)]
pub struct ScanWorker {
    scan: Arc<Scan>,
    current: Option<BlockScan>,
    failed: bool,
}

/// The rows of one block, zone by zone.
#[derive(Debug)]
struct BlockScan {
    block: Arc<Block>,
    /// What is known of the predicate in this block.
    filter: Filter,
    /// Every row passes: the predicate need not be evaluated.
    all: bool,
    /// First row not looked at yet.
    row: usize,
    /// Positions that passed and were not returned yet, ascending.
    pending: Vec<u32>,
    /// Whole ranges that passed, to be returned after `pending`.
    whole: VecDeque<Range<usize>>,
}

impl ScanWorker {
    pub(super) fn new(scan: Arc<Scan>) -> Self {
        ScanWorker {
            scan,
            current: None,
            failed: false,
        }
    }

    fn advance(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if self.current.is_none() {
                let Some((block, all)) = self.scan.next_block()? else {
                    return Ok(None);
                };
                self.current = Some(BlockScan {
                    block,
                    filter: Filter::default(),
                    all,
                    row: 0,
                    pending: Vec::new(),
                    whole: VecDeque::new(),
                });
            }
            let Some(current) = &mut self.current else {
                return Ok(None);
            };
            match current.next(&self.scan)? {
                Some(batch) => return Ok(Some(batch)),
                None => self.current = None,
            }
        }
    }
}

impl Iterator for ScanWorker {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Result<RecordBatch>> {
        if self.failed {
            return None;
        }
        let next = self.advance().transpose();
        self.failed = matches!(next, Some(Err(_)));
        next
    }
}

impl BlockScan {
    /// The next batch of this block, or `None` at its end.
    fn next(&mut self, scan: &Scan) -> Result<Option<RecordBatch>> {
        let rows = self.block.rows() as usize;
        loop {
            let full = self.pending.len() >= scan.batch_rows;
            let must = !self.pending.is_empty() && (!self.whole.is_empty() || self.row >= rows);
            if full || must {
                return self.emit_pending(scan);
            }
            if let Some(range) = self.whole.pop_front() {
                return self.emit_whole(scan, range);
            }
            if self.row >= rows {
                return Ok(None);
            }
            let zone = self.row..rows.min(self.row + ZONE_ROWS);
            self.row = zone.end;
            self.examine(scan, zone)?;
        }
    }

    /// Decides which rows of a zone pass.
    fn examine(&mut self, scan: &Scan, rows: Range<usize>) -> Result<()> {
        if self.zone_ruled_out(scan, &rows)? {
            scan.metrics.zones_pruned.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        scan.metrics
            .rows_scanned
            .fetch_add(rows.len() as u64, Ordering::Relaxed);
        let verdict = match &scan.predicate {
            Some(predicate) if !self.all => self.prune_zone(predicate, &rows)?,
            _ => Prune::All,
        };
        match (&scan.predicate, verdict) {
            (_, Prune::All) | (None, _) => self.keep_all(scan, rows),
            (_, Prune::None) => {
                scan.metrics.zones_pruned.fetch_add(1, Ordering::Relaxed);
            }
            (Some(predicate), _) => {
                let bits = self.filter.evaluate(predicate, &self.block, rows.clone())?;
                match bits.count_set_bits() {
                    0 => {}
                    passing if passing == rows.len() => self.keep_all(scan, rows),
                    _ => self
                        .pending
                        .extend(bits.set_indices().map(|row| (rows.start + row) as u32)),
                }
            }
        }
        Ok(())
    }

    fn keep_all(&mut self, scan: &Scan, rows: Range<usize>) {
        for start in rows.clone().step_by(scan.batch_rows) {
            self.whole
                .push_back(start..rows.end.min(start + scan.batch_rows));
        }
    }

    fn zone_ruled_out(&self, scan: &Scan, rows: &Range<usize>) -> Result<bool> {
        let arrived = scan.arrived.read();
        for predicate in arrived.iter() {
            if self.prune_zone(predicate, rows)? == Prune::None {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn prune_zone(&self, predicate: &BoundPredicate, rows: &Range<usize>) -> Result<Prune> {
        let mut columns = Vec::new();
        predicate.columns(&mut columns);
        let mut zones: Vec<(usize, Zone)> = Vec::with_capacity(columns.len());
        for column in columns {
            if let Some(fine) = self.block.fine_zones(column)?
                && let Some(zone) = fine.get(rows.start / ZONE_ROWS)
            {
                zones.push((column, zone.clone()));
            }
        }
        Ok(predicate.prune(&|column| {
            zones
                .iter()
                .find(|(known, _)| *known == column)
                .map(|(_, zone)| zone.clone())
        }))
    }

    fn emit_pending(&mut self, scan: &Scan) -> Result<Option<RecordBatch>> {
        let rest = self
            .pending
            .split_off(self.pending.len().min(scan.batch_rows));
        let positions = std::mem::replace(&mut self.pending, rest);
        let granted = scan.reserve(positions.len());
        let positions = &positions[..granted];
        let read = |column: &usize| self.block.take(*column, positions);
        let columns = scan
            .projection
            .iter()
            .map(read)
            .collect::<Result<Vec<ArrayRef>>>()?;
        finish(scan, columns, granted)
    }

    fn emit_whole(&mut self, scan: &Scan, rows: Range<usize>) -> Result<Option<RecordBatch>> {
        let granted = scan.reserve(rows.len());
        let rows = rows.start..rows.start + granted;
        let read = |column: &usize| self.block.read(*column, rows.clone());
        let columns = scan
            .projection
            .iter()
            .map(read)
            .collect::<Result<Vec<ArrayRef>>>()?;
        finish(scan, columns, granted)
    }
}

/// A batch of `rows` rows; none when the limit is used up.
fn finish(scan: &Scan, columns: Vec<ArrayRef>, rows: usize) -> Result<Option<RecordBatch>> {
    if rows == 0 {
        return Ok(None);
    }
    scan.metrics
        .rows_returned
        .fetch_add(rows as u64, Ordering::Relaxed);
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(Some(RecordBatch::try_new_with_options(
        scan.output.clone(),
        columns,
        &options,
    )?))
}

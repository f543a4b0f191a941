//! One worker of a scan.

use super::access::{self, Access};
use super::emit::{batch, deliver};
use super::filter::Filter;
use super::fragments::{self, Columns};
use super::pipelined::Pipeline;
use super::{ColumnScanner, Scan, Work};
use crate::block::Block;
use crate::codec::bits::CHUNK;
use crate::delta::{RowBits, RowHome};
use crate::error::Result;
use crate::format::ZONE_ROWS;
use crate::predicate::{BoundPredicate, Conditions, Prune, Zone};
use arrow_array::RecordBatch;
use arrow_buffer::BooleanBuffer;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Takes blocks from the scan's queue and returns their rows.
#[derive(Debug)]
pub struct ScanWorker {
    scan: Arc<Scan>,
    current: Option<BlockScan>,
    /// Batches of rows that are in no block.
    ready: VecDeque<Columns>,
    /// Whether rows may be given that did not pass, see [`ScanWorker::selecting`].
    selecting: bool,
    failed: bool,
}

/// The rows of one block, zone by zone.
#[derive(Debug)]
pub(super) struct BlockScan {
    pub(super) block: Arc<Block>,
    /// What is known of the predicate in this block.
    filter: Filter,
    /// Every row passes: the predicate need not be evaluated.
    all: bool,
    /// Rows not looked at yet.
    rows: Range<usize>,
    /// Rows that an index gave, ascending, and how many of them have been looked at.
    candidates: Vec<u32>,
    looked_at: usize,
    /// Whether they need no check.
    exact: bool,
    /// Scan nodes, if the block is scanned by them.
    pipeline: Option<Pipeline>,
    /// Batches that they made.
    ready: VecDeque<Columns>,
    /// Rows that are deleted for this reader.
    gone: Option<Arc<RowBits>>,
    /// Positions that passed and were not returned yet, ascending.
    pub(super) pending: Vec<u32>,
    /// Ranges of which all rows or most have passed, to be returned after `pending`.
    pub(super) whole: VecDeque<Passed>,
    /// Whether rows that have not passed may be returned with others,
    pub(super) selecting: bool,
    /// and which of those returned last have.
    pub(super) which: Option<BooleanBuffer>,
}

/// Rows that passed, next to each other.
#[derive(Debug)]
pub(super) struct Passed {
    pub rows: Range<usize>,
    /// Which of them did, and how many; `None` for all.
    pub which: Option<(BooleanBuffer, usize)>,
}

impl ScanWorker {
    pub(super) fn new(scan: Arc<Scan>) -> Self {
        ScanWorker {
            scan,
            current: None,
            ready: VecDeque::new(),
            selecting: false,
            failed: false,
        }
    }

    /// The same worker, which may give rows that did not pass among those that did, and
    /// says which: whoever computes with them need not wait until the others are dropped.
    #[must_use]
    pub fn selecting(self) -> Self {
        ScanWorker {
            selecting: true,
            ..self
        }
    }

    fn advance(&mut self) -> Result<Option<Columns>> {
        loop {
            if let Some(columns) = self.ready.pop_front() {
                match deliver(&self.scan, columns) {
                    Some(columns) => return Ok(Some(columns)),
                    None => continue,
                }
            }
            if self.current.is_none() {
                match self.scan.next_work()? {
                    None => return Ok(None),
                    Some(Work::Block(block, all)) => {
                        let mut current = BlockScan::new(&self.scan, block, all)?;
                        current.selecting = self.selecting;
                        self.current = Some(current);
                    }
                    Some(Work::Fragment(home, fragment)) => {
                        self.ready = fragments::read(&self.scan, home, &fragment)?;
                        continue;
                    }
                }
            }
            let Some(current) = &mut self.current else {
                return Ok(None);
            };
            self.scan.read_further();
            if let Some(columns) = current.next(&self.scan)? {
                return Ok(Some(columns));
            }
            if let Some(done) = self.current.take() {
                self.scan.is_done_with(&done.block);
            }
        }
    }
}

impl ScanWorker {
    /// The next rows in the form that was asked for, which need not be that of the
    /// scan's schema; `None` at the end and after an error.
    pub fn next_columns(&mut self) -> Option<Result<Columns>> {
        if self.failed {
            return None;
        }
        let next = self.advance().transpose();
        self.failed = matches!(next, Some(Err(_)));
        next
    }

    /// As [`ScanWorker::next_columns`], with which of the rows have passed; `None` for all.
    pub fn next_selected(&mut self) -> Option<Result<(Columns, Option<BooleanBuffer>)>> {
        let next = self.next_columns()?;
        let which = self.current.as_mut().and_then(|block| block.which.take());
        Some(next.map(|columns| (columns, which)))
    }
}

impl Iterator for ScanWorker {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Result<RecordBatch>> {
        let next = self.next_columns()?;
        Some(next.and_then(|columns| batch(&self.scan, columns)))
    }
}

/// The rows with values that joins want, if indexes lead to them.
fn by_wanted(scan: &Scan, block: &Block, all: bool) -> Result<Option<Access>> {
    let predicate = scan.predicate.as_ref().filter(|_| !all);
    let tests = predicate.map_or(0, |predicate| Conditions::of(predicate).count());
    let filters = scan.filters.read();
    let found = access::by_wanted(&scan.table, block, &filters, tests)?;
    Ok(found.map(|positions| Access::Positions {
        positions,
        searched: false,
        exact: predicate.is_none(),
    }))
}

impl BlockScan {
    /// Chooses how the block's rows are come by.
    fn new(scan: &Scan, block: Arc<Block>, all: bool) -> Result<BlockScan> {
        let mut new = BlockScan {
            filter: Filter::default(),
            all,
            rows: 0..block.rows() as usize,
            candidates: Vec::new(),
            looked_at: 0,
            exact: false,
            pipeline: None,
            ready: VecDeque::new(),
            gone: scan
                .view
                .deleted(RowHome::Block(block.id()), block.deletes()),
            pending: Vec::new(),
            whole: VecDeque::new(),
            selecting: false,
            which: None,
            block,
        };
        let metrics = &scan.metrics;
        let count = |counter: &AtomicU64| counter.fetch_add(1, Ordering::Relaxed);
        // Whether the rows that are not come by fail the predicate.
        let mut decides = false;
        let access = match (&scan.top, &scan.predicate) {
            // The rows that come first are not known where some are deleted.
            (Some(top), _) if all && new.gone.is_none() => {
                Some(access::first_rows(scan, &new.block, top)?)
            }
            (_, Some(predicate)) if !all => {
                let conditions = Conditions::of(predicate);
                decides = true;
                Some(access::choose(&scan.table, &new.block, &conditions)?)
            }
            _ => None,
        };
        let access = match access {
            None
            | Some(Access::Range {
                searched: false,
                exact: false,
                ..
            }) => {
                let wanted = by_wanted(scan, &new.block, all)?;
                decides &= wanted.is_none();
                wanted.or(access)
            }
            chosen => chosen,
        };
        let Some(access) = access else {
            return Ok(new);
        };
        if decides {
            metrics.decided(new.rows.len().saturating_sub(access.rows()), 0);
        }
        match access {
            Access::Range {
                rows,
                searched,
                exact,
            } => {
                if searched {
                    count(&metrics.blocks_searched);
                }
                new.rows = rows;
                new.all = exact;
                let columnar = !new.block.layout().keeps_tuples();
                let plain = new.gone.is_none() && !scan.row_ids;
                if columnar && plain && scan.scanner == ColumnScanner::Pipelined {
                    new.pipeline = Pipeline::of(scan);
                }
            }
            Access::Positions {
                positions,
                searched,
                exact,
            } => {
                count(if searched {
                    &metrics.blocks_by_both
                } else {
                    &metrics.blocks_by_index
                });
                let looked_at = positions.len() as u64;
                metrics.rows_scanned.fetch_add(looked_at, Ordering::Relaxed);
                new.rows = 0..0;
                new.exact = exact;
                new.candidates = positions;
                if let Some(gone) = &new.gone {
                    new.candidates.retain(|row| !gone.contains(*row));
                }
            }
        }
        Ok(new)
    }

    /// The next batch of this block, or `None` at its end.
    fn next(&mut self, scan: &Scan) -> Result<Option<Columns>> {
        loop {
            if let Some(columns) = self.ready.pop_front() {
                return Ok(deliver(scan, columns));
            }
            let full = self.pending.len() >= scan.batch_rows;
            let done = self.rows.is_empty() && self.looked_at == self.candidates.len();
            let must = !self.pending.is_empty() && (!self.whole.is_empty() || done);
            if full || must {
                return self.emit_pending(scan);
            }
            if let Some(Passed { rows, which }) = self.whole.pop_front() {
                return match which {
                    None => self.emit_whole(scan, rows),
                    Some((which, count)) => self.emit_most(scan, rows, which, count),
                };
            }
            if done {
                return Ok(None);
            }
            if self.rows.is_empty() {
                self.check_candidates(scan)?;
                continue;
            }
            // Zones begin at multiples of their rows, a search may not.
            let end = (self.rows.start / ZONE_ROWS + 1) * ZONE_ROWS;
            let zone = self.rows.start..self.rows.end.min(end);
            self.rows.start = zone.end;
            self.examine(scan, zone)?;
        }
    }

    /// Checks the next rows that an index gave.
    fn check_candidates(&mut self, scan: &Scan) -> Result<()> {
        let predicate = scan.predicate.as_ref().filter(|_| !self.exact);
        // Those that need no check go out as they are.
        let room = scan.batch_rows.saturating_sub(self.pending.len());
        let most = predicate.map_or(room, |_| ZONE_ROWS);
        let end = self.candidates.len().min(self.looked_at + most);
        let positions = &self.candidates[std::mem::replace(&mut self.looked_at, end)..end];
        let Some(predicate) = predicate else {
            self.pending.extend_from_slice(positions);
            scan.metrics.decided(positions.len(), positions.len());
            return Ok(());
        };
        let bits = Filter::at(predicate, &self.block, positions)?;
        scan.metrics.decided(positions.len(), bits.count_set_bits());
        self.pending
            .extend(bits.set_indices().map(|place| positions[place]));
        Ok(())
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
        let gone = self.gone.as_ref().filter(|gone| gone.any(&rows)).cloned();
        match (&scan.predicate, verdict) {
            (_, Prune::All) | (None, _) => self.keep(scan, rows, None, gone.as_deref())?,
            (_, Prune::None) => {
                scan.metrics.zones_pruned.fetch_add(1, Ordering::Relaxed);
                scan.metrics.decided(rows.len(), 0);
            }
            (Some(_), _) if self.pipeline.is_some() => self.run_pipeline(scan, rows)?,
            (Some(predicate), _) => {
                // Codes are tested from the beginning of a chunk.
                let aligned = rows.start - rows.start % CHUNK..rows.end;
                let bits = self.filter.evaluate(predicate, &self.block, aligned)?;
                self.keep(scan, rows, Some(bits), gone.as_deref())?;
            }
        }
        Ok(())
    }

    /// Sends a zone through the scan nodes, chunk by chunk.
    fn run_pipeline(&mut self, scan: &Scan, rows: Range<usize>) -> Result<()> {
        let Some(pipeline) = &mut self.pipeline else {
            return Ok(());
        };
        for start in rows.clone().step_by(CHUNK) {
            let chunk = start..rows.end.min(start + CHUNK);
            let looked_at = chunk.len();
            let (columns, count) = pipeline.run(scan, &self.block, chunk)?;
            scan.metrics.decided(looked_at, count);
            for first in (0..count).step_by(scan.batch_rows) {
                let length = scan.batch_rows.min(count - first);
                let part = columns.iter().map(|column| column.slice(first, length));
                self.ready.push_back((part.collect(), length));
            }
        }
        Ok(())
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
                .map(|(_, zone)| Cow::Borrowed(zone))
        }))
    }
}

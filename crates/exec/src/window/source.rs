//! Computed rows on their way out.

use super::collect::{Collected, Collector};
use super::compute::Piece;
use super::levels::levels;
use super::stream::Stream;
use crate::context::Context;
use crate::memory::{LEAST, Reservation};
use crate::partition::{LEVELS, PARTS, PartWriter};
use crate::plan::Metrics;
use crate::sort::{MOST, ordered_rows};
use crate::spill::Page;
use crate::threads::on_items;
use crate::vector::{BATCH_ROWS, Batch, Vector};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// About how many rows of whole partitions are computed at once.
const PIECE: usize = 1 << 15;

/// Rows with the results of calls.
pub(crate) struct Windows<'a> {
    collector: Collector<'a>,
    metrics: &'a Metrics,
    rows: Rows<'a>,
}

enum Rows<'a> {
    /// All of them in memory.
    Here(Sheet),
    /// By the hash of their partitions.
    Aside(Mutex<Vec<Part>>),
    /// In order.
    Ordered(Mutex<Stream<'a>>),
}

/// The rows of a part, which one thread has for itself.
pub(crate) enum Own<'a> {
    Sheet(Sheet),
    Stream(Box<Stream<'a>>),
}

/// Spilled rows, in parts that hold whole partitions.
pub(super) struct Part {
    /// The bits of the hash that tell them apart.
    level: u32,
    pages: Vec<Page>,
}

/// Computed rows in memory, of which threads take some at a time.
pub(crate) struct Sheet {
    batch: Batch,
    order: Vec<u32>,
    pieces: Vec<(Range<usize>, Vec<Vector>)>,
    /// Pieces and rows of them, about a batch each.
    outputs: Vec<(usize, Range<usize>)>,
    next: AtomicUsize,
    _held: Vec<Reservation>,
}

impl Context<'_> {
    /// The rows of all threads with the results of calls.
    pub(crate) fn windows<'a>(
        &self,
        collector: Collector<'a>,
        mut all: Vec<Collected>,
        metrics: &'a Metrics,
    ) -> Result<Windows<'a>> {
        let start = Instant::now();
        let held = all.iter().map(|one| one.held.most()).sum();
        self.held(metrics, held);
        let is_sorted = all.iter().any(|one| one.sorted.is_some());
        let rows: usize = all.iter().map(|one| one.rows).sum();
        if is_sorted || rows >= MOST {
            metrics.add(0, start);
            let rows = Rows::Ordered(Mutex::new(self.ordered(&collector, all, metrics)?));
            return Ok(Windows {
                collector,
                metrics,
                rows,
            });
        }
        let rows = match collector.parts(&mut all, self.space)? {
            None => {
                let (batches, held): (Vec<_>, Vec<_>) =
                    all.into_iter().map(|one| (one.batches, one.held)).unzip();
                let batch = self.together(batches.into_iter().flatten().collect())?;
                Rows::Here(self.sheet(&collector, batch, held)?)
            }
            Some(parts) => {
                metrics.set_aside(parts.iter().flatten());
                let parts = parts.into_iter().filter(|pages| !pages.is_empty());
                let parts = parts.map(|pages| Part { level: 1, pages });
                Rows::Aside(Mutex::new(parts.collect()))
            }
        };
        metrics.add(0, start);
        Ok(Windows {
            collector,
            metrics,
            rows,
        })
    }

    /// Rows sorted where they find room, and computed as they come.
    fn ordered<'a>(
        &self,
        collector: &Collector<'a>,
        mut all: Vec<Collected>,
        metrics: &'a Metrics,
    ) -> Result<Stream<'a>> {
        for one in &mut all {
            collector.sort(one, self.space)?;
        }
        let rows = all.into_iter().filter_map(|one| one.sorted).collect();
        let sorted = self.sorted(collector.sorter(), rows, metrics)?;
        let held = self.space.reservation();
        Ok(Stream::new(collector.windowing, sorted, held))
    }

    /// Rows in memory, sorted and computed.
    fn sheet(
        &self,
        collector: &Collector<'_>,
        batch: Batch,
        held: Vec<Reservation>,
    ) -> Result<Sheet> {
        let windowing = collector.windowing;
        let keys = match batch.rows {
            0 => Vec::new(),
            _ => collector.keys(&batch),
        };
        let sorting = &windowing.sorting.keys;
        let order = ordered_rows(&keys, sorting, batch.rows, self.threads)?;
        let levels = levels(&keys, &order, self.threads)?;
        let pieces = pieces(&levels, windowing.common());
        let piece = |rows: &Range<usize>| Piece {
            batch: &batch,
            keys: &keys,
            sorting,
            order: &order[rows.clone()],
            levels: &levels[rows.clone()],
        };
        let calls = pieces
            .iter()
            .flat_map(|rows| windowing.calls.iter().map(move |call| (rows, call)));
        let results = on_items(self.threads, calls.collect(), |(rows, call)| {
            match self.stop.load(Ordering::Relaxed) {
                true => Err(Error::Cancelled),
                false => piece(rows).computed(call),
            }
        });
        let mut results = results.into_iter();
        let mut computed = Vec::with_capacity(pieces.len());
        let mut outputs = Vec::new();
        for (number, rows) in pieces.into_iter().enumerate() {
            let own = results.by_ref().take(windowing.calls.len());
            let own = own.collect::<Result<Vec<Vector>>>()?;
            let starts = (0..rows.len()).step_by(BATCH_ROWS);
            outputs.extend(starts.map(|start| (number, start..rows.len().min(start + BATCH_ROWS))));
            computed.push((rows, own));
        }
        Ok(Sheet {
            batch,
            order,
            pieces: computed,
            outputs,
            next: AtomicUsize::new(0),
            _held: held,
        })
    }
}

/// The next rows of a stream.
fn streamed(stream: &mut Stream<'_>, context: &Context<'_>) -> Result<Option<Batch>> {
    match stream.next()? {
        Ok(batch) => Ok(batch),
        Err(bytes) => Err(context.space.refused("OVER", bytes)),
    }
}

/// Whole partitions, as ranges of rows in order.
fn pieces(levels: &[u8], common: usize) -> Vec<Range<usize>> {
    let (mut pieces, mut start) = (Vec::new(), 0);
    while start < levels.len() {
        let least = levels.len().min(start + PIECE);
        let begins = |level: &u8| usize::from(*level) < common;
        let end = levels[least..].iter().position(begins);
        let end = end.map_or(levels.len(), |more| least + more);
        pieces.push(start..end);
        start = end;
    }
    pieces
}

impl<'a> Windows<'a> {
    /// How many threads have something to do.
    pub fn threads(&self, most: usize) -> usize {
        match &self.rows {
            Rows::Here(sheet) => sheet.outputs.len().min(most),
            Rows::Aside(parts) => parts.lock().len().min(most),
            Rows::Ordered(_) => 1,
        }
    }

    /// The next rows; `own` has those of the thread that asks.
    pub fn next(&self, own: &mut Option<Own<'a>>, context: &Context<'_>) -> Result<Option<Batch>> {
        let start = Instant::now();
        let columns = &self.collector.windowing.columns;
        let batch = match &self.rows {
            Rows::Here(sheet) => sheet.next(columns)?,
            Rows::Aside(parts) => loop {
                let next = match own {
                    Some(Own::Sheet(sheet)) => sheet.next(columns)?,
                    Some(Own::Stream(stream)) => streamed(stream, context)?,
                    None => None,
                };
                if next.is_some() {
                    break next;
                }
                *own = None;
                let Some(part) = parts.lock().pop() else {
                    break None;
                };
                *own = self.part(part, parts, context)?;
            },
            Rows::Ordered(stream) => streamed(&mut stream.lock(), context)?,
        };
        // The sort has counted the rows of a stream.
        let is_counted =
            matches!(self.rows, Rows::Ordered(_)) || matches!(own, Some(Own::Stream(_)));
        let counted = batch.as_ref().filter(|_| !is_counted);
        let rows = counted.map_or(0, |batch| batch.rows);
        self.metrics.add(rows, start);
        Ok(batch)
    }

    /// The rows of a part. One that does not fit is parted again: what comes of that goes to
    /// `parts`.
    fn part(
        &self,
        part: Part,
        parts: &Mutex<Vec<Part>>,
        context: &Context<'_>,
    ) -> Result<Option<Own<'a>>> {
        let space = context.space;
        let mut held = space.reservation();
        let rows: usize = part.pages.iter().map(Page::rows).sum();
        let (mut batches, mut bytes, mut read) = (Vec::new(), 0, 0);
        let mut pages = part.pages.iter();
        let mut fits = rows < MOST;
        while fits && let Some(page) = pages.next() {
            let batch = page.read()?;
            bytes += batch.bytes();
            read += batch.rows;
            batches.push(batch);
            fits = held.hold(self.collector.needed(read, bytes)) || rows <= LEAST;
        }
        if fits {
            let batch = Context {
                threads: 1,
                ..*context
            };
            let all = batch.together(batches)?;
            let sheet = batch.sheet(&self.collector, all, vec![held])?;
            return Ok(Some(Own::Sheet(sheet)));
        }
        drop(held);
        if part.level > LEVELS {
            let mut all = self.collector.collected(space);
            all.batches = batches;
            self.collector.sort(&mut all, space)?;
            for page in pages {
                self.collector.push(&mut all, page.read()?, space)?;
            }
            let stream = context.ordered(&self.collector, vec![all], self.metrics)?;
            return Ok(Some(Own::Stream(Box::new(stream))));
        }
        let mut writers: Vec<PartWriter> = Vec::new();
        writers.resize_with(PARTS, PartWriter::default);
        for batch in batches {
            self.collector
                .set_aside(&mut writers, batch, part.level, space)?;
        }
        for page in pages {
            self.collector
                .set_aside(&mut writers, page.read()?, part.level, space)?;
        }
        for writer in writers {
            let pages = writer.finish(space)?;
            if !pages.is_empty() {
                let level = part.level + 1;
                parts.lock().push(Part { level, pages });
            }
        }
        Ok(None)
    }
}

impl Sheet {
    /// The next rows, of some columns of the input and with all results.
    fn next(&self, columns: &[usize]) -> Result<Option<Batch>> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        let Some((number, rows)) = self.outputs.get(next) else {
            return Ok(None);
        };
        let (piece, results) = &self.pieces[*number];
        let order = &self.order[piece.start + rows.start..piece.start + rows.end];
        let taken = columns.iter().map(|column| {
            let column = self.batch.columns.get(*column);
            let column = column.ok_or_else(|| Error::internal("a column that is not there"))?;
            match column.is_empty() {
                true => Ok(column.clone()),
                false => column.take(order),
            }
        });
        let mut all = taken.collect::<Result<Vec<Vector>>>()?;
        let results = results.iter();
        all.extend(results.map(|result| result.slice(rows.start, rows.len())));
        Ok(Some(Batch {
            columns: all,
            rows: rows.len(),
        }))
    }
}

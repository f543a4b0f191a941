//! Sorted rows on their way out: threads take parts of them, and give them in turn.

use super::collect::{Collected, MOST, Sorter};
use super::order::Order;
use super::runs::{Merge, Run as Pages};
use crate::context::Context;
use crate::memory::Reservation;
use crate::plan::Metrics;
use crate::threads::on_threads;
use crate::vector::{BATCH_ROWS, Batch, Vector, concat};
use crate::{Error, Result};
use parking_lot::{Condvar, Mutex};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Sorted rows, in parts that threads take one after the other.
pub(crate) struct Sorted<'a> {
    rows: Rows<'a>,
    turns: Turns,
    metrics: &'a Metrics,
}

enum Rows<'a> {
    /// All of them in memory.
    Here {
        batch: Batch,
        order: Order,
        /// Of all rows in order those that are wanted.
        wanted: Range<usize>,
        next: AtomicUsize,
        held: Vec<Reservation>,
    },
    /// Runs on disk, and how many batches were taken of them.
    Aside(Mutex<(Merge, usize)>, Sorter<'a>),
}

impl Context<'_> {
    /// The rows of all threads in order.
    pub(crate) fn sorted<'a>(
        &self,
        sorter: Sorter<'a>,
        mut all: Vec<Collected>,
        metrics: &'a Metrics,
    ) -> Result<Sorted<'a>> {
        let start = Instant::now();
        let count: usize = all.iter().map(|one| one.rows).sum();
        let here = count < MOST && all.iter().all(|one| one.runs.is_empty());
        let rows = match here {
            true => self.in_memory(&sorter, all)?,
            false => {
                for one in &mut all {
                    sorter.set_aside(one, self.space)?;
                }
                let runs: Vec<Pages> = all.into_iter().flat_map(|one| one.runs).collect();
                metrics.set_aside(runs.iter().flatten());
                let merge = Merge::new(&sorter, runs, self.space)?;
                Rows::Aside(Mutex::new((merge, 0)), sorter)
            }
        };
        if let Rows::Here { held, .. } = &rows {
            self.held(metrics, held.iter().map(Reservation::most).sum());
        }
        let first = match &rows {
            Rows::Here { next, .. } => next.load(Ordering::Relaxed),
            Rows::Aside(..) => 0,
        };
        metrics.add(0, start);
        Ok(Sorted {
            rows,
            turns: Turns::new(first),
            metrics,
        })
    }

    fn in_memory<'a>(&self, sorter: &Sorter<'_>, all: Vec<Collected>) -> Result<Rows<'a>> {
        let mut batches = Vec::new();
        let mut held = Vec::new();
        for one in all {
            batches.extend(one.batches);
            held.push(one.held);
        }
        let mut batch = self.together(batches)?;
        let (sorting, most) = (sorter.sorting, sorter.sorting.most());
        let keys = match batch.rows {
            0 => Vec::new(),
            _ => sorter.keys(&batch),
        };
        let order = Order::new(&keys, &sorting.keys, batch.rows, most, self.threads)?;
        batch.columns.truncate(sorter.width);
        let wanted = sorting.skip..batch.rows.min(most);
        let parts = 0..order.parts();
        let before = |part: &usize| order.start(part + 1) <= wanted.start;
        let first = parts.take_while(before).count();
        Ok(Rows::Here {
            batch,
            order,
            wanted,
            next: AtomicUsize::new(first),
            held,
        })
    }

    /// Some batches as one, each column put together by a thread.
    pub(crate) fn together(&self, batches: Vec<Batch>) -> Result<Batch> {
        let rows = batches.iter().map(|batch| batch.rows).sum();
        let parts: Vec<_> = by_column(batches).into_iter().map(Mutex::new).collect();
        let threads = match rows {
            0..=BATCH_ROWS => 1,
            _ => self.threads.min(parts.len()),
        };
        let (next, parts) = (AtomicUsize::new(0), &parts);
        let done = on_threads(threads, |_| {
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(parts) = parts.get(number) else {
                    return Ok(done);
                };
                let parts = std::mem::take(&mut *parts.lock());
                let parts: Vec<&Vector> = parts.iter().collect();
                done.push((number, concat(&parts)?));
            }
        });
        let done = done.into_iter().collect::<Result<Vec<_>>>()?;
        let mut columns: Vec<(usize, Vector)> = done.into_iter().flatten().collect();
        columns.sort_unstable_by_key(|(number, _)| *number);
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        Ok(Batch { columns, rows })
    }
}

/// The vectors of each column of some batches.
pub(super) fn by_column(batches: Vec<Batch>) -> Vec<Vec<Vector>> {
    let width = batches.first().map_or(0, |batch| batch.columns.len());
    let mut columns: Vec<Vec<Vector>> = Vec::new();
    columns.resize_with(width, || Vec::with_capacity(batches.len()));
    for batch in batches {
        for (column, vector) in columns.iter_mut().zip(batch.columns) {
            column.push(vector);
        }
    }
    columns
}

impl Sorted<'_> {
    /// How many threads have something to do.
    pub fn threads(&self, most: usize) -> usize {
        match &self.rows {
            Rows::Here { order, .. } => order.parts().min(most),
            Rows::Aside(..) => 1,
        }
    }

    /// The next rows, and the right to give them when it is their turn.
    pub fn next(&self) -> Result<Option<(Batch, Ticket<'_>)>> {
        let start = Instant::now();
        let (ticket, batch) = match &self.rows {
            Rows::Here {
                batch,
                order,
                wanted,
                next,
                ..
            } => {
                let part = next.fetch_add(1, Ordering::Relaxed);
                if part >= order.parts() || order.start(part) >= wanted.end {
                    return Ok(None);
                }
                let ticket = self.turns.ticket(part);
                let (first, rows) = (order.start(part), order.rows(part));
                let from = wanted.start.saturating_sub(first);
                let to = rows.len().min(wanted.end - first);
                (ticket, batch.take(&rows[from..to])?)
            }
            Rows::Aside(merge, sorter) => {
                let mut merge = merge.lock();
                let Some(mut batch) = merge.0.next(sorter)? else {
                    return Ok(None);
                };
                let ticket = self.turns.ticket(merge.1);
                merge.1 += 1;
                batch.columns.truncate(sorter.width);
                (ticket, batch)
            }
        };
        self.metrics.add(batch.rows, start);
        Ok(Some((batch, ticket)))
    }
}

/// Who is next.
#[derive(Debug)]
struct Turns {
    next: Mutex<usize>,
    moved: Condvar,
}

/// Stands for the turn that never comes, because one before it has failed.
const BROKEN: usize = usize::MAX;

impl Turns {
    fn new(first: usize) -> Turns {
        Turns {
            next: Mutex::new(first),
            moved: Condvar::new(),
        }
    }

    fn ticket(&self, number: usize) -> Ticket<'_> {
        Ticket {
            turns: self,
            number,
            used: false,
        }
    }
}

/// The right to do something when it is its turn; those after it fail if nothing is done.
#[derive(Debug)]
pub(crate) struct Ticket<'s> {
    turns: &'s Turns,
    number: usize,
    used: bool,
}

impl Ticket<'_> {
    /// Does some work when all before it have done theirs. Whoever has an earlier turn is
    /// at work already, and waits for nobody behind it.
    ///
    /// # Errors
    /// Those of the work; `Cancelled` if work before it has failed.
    pub fn in_turn(mut self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        let mut next = self.turns.next.lock();
        while *next != self.number {
            if *next == BROKEN {
                return Err(Error::Cancelled);
            }
            self.turns.moved.wait(&mut next);
        }
        work()?;
        *next += 1;
        self.used = true;
        self.turns.moved.notify_all();
        Ok(())
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if !self.used {
            *self.turns.next.lock() = BROKEN;
            self.turns.moved.notify_all();
        }
    }
}

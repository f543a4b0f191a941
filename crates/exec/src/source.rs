//! Where the rows of a pipeline come from.

use crate::aggregate::Grouping;
use crate::context::Context;
use crate::fold::{Folds, Ready};
use crate::kept::Kept;
use crate::memory::Reservation;
use crate::merge::GroupPart;
use crate::plan::{Batches, Metrics, Plan};
use crate::ranges::PlanRanges;
use crate::scan::Filter;
use crate::sort::{Sorted, Ticket};
use crate::vector::{Batch, Selected, Vector};
use crate::window::{Own, Windows};
use crate::{Error, Result};
use freestone_storage::{Scan, ScanWorker};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Rows for several threads.
pub(crate) enum Source<'a> {
    /// Those of a table.
    Scan(Arc<Scan>, &'a Metrics),
    /// Rows that others have, in parts, and whether reading them may wait for other threads.
    Rows(Mutex<std::vec::IntoIter<Batches<'a>>>, bool, &'a Metrics),
    /// Those that are there, and the memory they take.
    Batches {
        batches: Mutex<std::vec::IntoIter<Batch>>,
        _held: Reservation,
    },
    /// Those of a shared plan, which others read as well.
    Kept(Arc<Kept>, AtomicUsize, &'a Metrics),
    /// Groups that were set aside.
    Groups(Mutex<Vec<GroupPart>>, &'a Grouping, &'a Metrics),
    /// Groups by functions of others.
    Folds(Folds<'a>),
    /// Rows in order.
    Sorted(Sorted<'a>),
    /// The rows of windows.
    Windows(Windows<'a>),
    /// Those of several plans, which are run one after the other.
    Plans {
        plans: &'a [Plan],
        filters: Vec<Filter>,
        metrics: &'a Metrics,
    },
    /// Those of a plan, which is run for one range after the other by each thread.
    Ranges(PlanRanges<'a>),
}

/// What one thread takes rows from.
pub(crate) enum Worker<'s, 'a> {
    Scan(Box<ScanWorker>, &'a Metrics),
    Rows {
        parts: &'s Mutex<std::vec::IntoIter<Batches<'a>>>,
        part: Option<Batches<'a>>,
        metrics: &'a Metrics,
    },
    Batches(&'s Mutex<std::vec::IntoIter<Batch>>),
    Kept(&'s Kept, &'s AtomicUsize, &'a Metrics),
    Groups {
        parts: &'s Mutex<Vec<GroupPart>>,
        grouping: &'a Grouping,
        metrics: &'a Metrics,
        ready: std::vec::IntoIter<Batch>,
    },
    Folds(&'s Folds<'a>, Ready),
    Sorted {
        rows: &'s Sorted<'a>,
        ticket: Option<Ticket<'s>>,
    },
    Windows(&'s Windows<'a>, Option<Own<'a>>),
    Nothing,
}

impl<'a> Source<'a> {
    /// Batches that are there; `held` is to be their reservation.
    pub fn of(batches: Vec<Batch>, mut held: Reservation) -> Source<'a> {
        // They are there already, so that a refusal would come too late.
        held.hold(batches.iter().map(Batch::bytes).sum());
        Source::Batches {
            batches: Mutex::new(batches.into_iter()),
            _held: held,
        }
    }

    /// How many threads have something to do.
    pub fn threads(&self, most: usize) -> usize {
        match self {
            Source::Scan(scan, _) => scan.pieces().min(most),
            Source::Batches { batches, .. } => batches.lock().len().min(most),
            Source::Kept(kept, ..) => kept.count().min(most),
            Source::Groups(parts, ..) => parts.lock().len().min(most),
            Source::Folds(folds) => folds.threads(most),
            Source::Sorted(rows) => rows.threads(most),
            Source::Windows(windows) => windows.threads(most),
            Source::Plans { .. } => most,
            Source::Rows(parts, ..) => parts.lock().len().min(most),
            Source::Ranges(ranges) => ranges.count().min(most),
        }
    }

    /// Where one thread takes its rows from; with `selects` from a scan also some that do
    /// not count.
    pub fn worker(&self, selects: bool) -> Worker<'_, 'a> {
        match self {
            Source::Scan(scan, metrics) => {
                let worker = scan.worker();
                let worker = if selects { worker.selecting() } else { worker };
                Worker::Scan(Box::new(worker), metrics)
            }
            Source::Rows(parts, _, metrics) => Worker::Rows {
                parts,
                part: None,
                metrics,
            },
            Source::Batches { batches, .. } => Worker::Batches(batches),
            Source::Kept(kept, next, metrics) => Worker::Kept(kept, next, metrics),
            Source::Groups(parts, grouping, metrics) => Worker::Groups {
                parts,
                grouping,
                metrics,
                ready: Vec::new().into_iter(),
            },
            Source::Folds(folds) => Worker::Folds(folds, Ready::default()),
            Source::Sorted(rows) => Worker::Sorted { rows, ticket: None },
            Source::Windows(windows) => Worker::Windows(windows, None),
            Source::Plans { .. } | Source::Ranges(_) => Worker::Nothing,
        }
    }
}

impl Worker<'_, '_> {
    pub fn next(&mut self, context: &Context<'_>) -> Result<Option<Selected>> {
        match self {
            Worker::Rows {
                parts,
                part,
                metrics,
            } => loop {
                let start = Instant::now();
                if let Some(batch) = part.as_mut().and_then(Iterator::next) {
                    let batch = batch?;
                    metrics.add(batch.rows, start);
                    return Ok(Some(batch.into()));
                }
                *part = parts.lock().next();
                if part.is_none() {
                    return Ok(None);
                }
            },
            Worker::Batches(batches) => Ok(batches.lock().next().map(Selected::from)),
            Worker::Kept(kept, next, metrics) => {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let batch = kept.batch(number)?;
                let rows = batch.as_ref().map_or(0, |batch| batch.rows);
                metrics.add(rows, Instant::now());
                Ok(batch.map(Selected::from))
            }
            Worker::Scan(worker, metrics) => {
                let start = Instant::now();
                let Some(next) = worker.next_selected() else {
                    return Ok(None);
                };
                let ((columns, rows), which) = next.map_err(Error::from)?;
                let columns = columns.iter().map(Vector::from_arrow);
                let columns = columns.collect::<Result<_>>()?;
                let batch = Batch { columns, rows };
                let rows = Selected { batch, which };
                metrics.add(rows.rows(), start);
                Ok(Some(rows))
            }
            Worker::Groups {
                parts,
                grouping,
                metrics,
                ready,
            } => loop {
                if let Some(batch) = ready.next() {
                    return Ok(Some(batch.into()));
                }
                let start = Instant::now();
                let Some(part) = parts.lock().pop() else {
                    return Ok(None);
                };
                let batches = context.merge_part(part, grouping, parts)?;
                metrics.add(batches.iter().map(|batch| batch.rows).sum(), start);
                *ready = batches.into_iter();
            },
            Worker::Sorted { rows, ticket } => {
                let next = rows.next()?;
                Ok(next.map(|(batch, of_batch)| {
                    *ticket = Some(of_batch);
                    batch.into()
                }))
            }
            Worker::Folds(folds, ready) => {
                let next = folds.next(ready, context)?;
                Ok(next.map(Selected::from))
            }
            Worker::Windows(windows, own) => {
                let next = windows.next(own, context)?;
                Ok(next.map(Selected::from))
            }
            Worker::Nothing => Ok(None),
        }
    }

    /// Does some work with the rows that came last, where they are in an order when it is
    /// their turn.
    pub fn in_turn(&mut self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        match self {
            Worker::Sorted { ticket, .. } => match ticket.take() {
                Some(ticket) => ticket.in_turn(work),
                None => work(),
            },
            _ => work(),
        }
    }
}

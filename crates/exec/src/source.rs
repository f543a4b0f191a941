//! Where the rows of a pipeline come from.

use crate::aggregate::Grouping;
use crate::memory::Reservation;
use crate::merge::GroupPart;
use crate::pipeline::{Filter, Run};
use crate::plan::{Metrics, Plan};
use crate::sort::{Sorted, Ticket};
use crate::vector::{Batch, Vector};
use crate::{Error, Result};
use freestone_storage::{Scan, ScanWorker};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Instant;

/// Rows for several threads.
pub(crate) enum Source<'a> {
    /// Those of a table.
    Scan(Arc<Scan>, &'a Metrics),
    /// Those that are there, and the memory they take.
    Batches {
        batches: Mutex<std::vec::IntoIter<Batch>>,
        _held: Reservation,
    },
    /// Groups that were set aside.
    Groups(Mutex<Vec<GroupPart>>, &'a Grouping, &'a Metrics),
    /// Rows in order.
    Sorted(Sorted<'a>),
    /// Those of several plans, which are run one after the other.
    Plans {
        plans: &'a [Plan],
        filters: Vec<Filter>,
        metrics: &'a Metrics,
    },
}

/// What one thread takes rows from.
pub(crate) enum Worker<'s, 'a> {
    Scan(Box<ScanWorker>, &'a Metrics),
    Batches(&'s Mutex<std::vec::IntoIter<Batch>>),
    Groups {
        parts: &'s Mutex<Vec<GroupPart>>,
        grouping: &'a Grouping,
        metrics: &'a Metrics,
        ready: std::vec::IntoIter<Batch>,
    },
    Sorted {
        rows: &'s Sorted<'a>,
        ticket: Option<Ticket<'s>>,
    },
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
            Source::Groups(parts, ..) => parts.lock().len().min(most),
            Source::Sorted(rows) => rows.threads(most),
            Source::Plans { .. } => most,
        }
    }

    pub fn worker(&self) -> Worker<'_, 'a> {
        match self {
            Source::Scan(scan, metrics) => Worker::Scan(Box::new(scan.worker()), metrics),
            Source::Batches { batches, .. } => Worker::Batches(batches),
            Source::Groups(parts, grouping, metrics) => Worker::Groups {
                parts,
                grouping,
                metrics,
                ready: Vec::new().into_iter(),
            },
            Source::Sorted(rows) => Worker::Sorted { rows, ticket: None },
            Source::Plans { .. } => Worker::Nothing,
        }
    }
}

impl Worker<'_, '_> {
    pub fn next(&mut self, run: &Run<'_>) -> Result<Option<Batch>> {
        match self {
            Worker::Batches(batches) => Ok(batches.lock().next()),
            Worker::Scan(worker, metrics) => {
                let start = Instant::now();
                let Some(next) = worker.next_columns() else {
                    return Ok(None);
                };
                let (columns, rows) = next.map_err(Error::from)?;
                let columns = columns.iter().map(Vector::from_arrow);
                let columns = columns.collect::<Result<_>>()?;
                metrics.add(rows, start);
                Ok(Some(Batch { columns, rows }))
            }
            Worker::Groups {
                parts,
                grouping,
                metrics,
                ready,
            } => loop {
                if let Some(batch) = ready.next() {
                    return Ok(Some(batch));
                }
                let start = Instant::now();
                let Some(part) = parts.lock().pop() else {
                    return Ok(None);
                };
                let batches = run.merge_part(part, grouping, parts)?;
                metrics.add(batches.iter().map(|batch| batch.rows).sum(), start);
                *ready = batches.into_iter();
            },
            Worker::Sorted { rows, ticket } => {
                let next = rows.next()?;
                Ok(next.map(|(batch, of_batch)| {
                    *ticket = Some(of_batch);
                    batch
                }))
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

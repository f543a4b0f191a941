//! The run as operators of others see it: its memory, its threads, and plans that they run.

use crate::context::{Context, Counters, Rounds};
use crate::memory::Reservation;
use crate::plan::Plan;
use crate::shared::{Collected, Kept, SharedPlans};
use crate::vector::Batch;
use crate::{Error, Result};
use freestone_storage::Snapshot;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A run, for an operator that others define.
#[derive(Clone, Copy)]
pub struct Inside<'r>(pub(crate) Context<'r>);

/// Rows that are being gathered, in the order in which they come.
pub struct Gathering {
    rows: Collected,
    count: usize,
}

/// Rows that were gathered, in memory and then in a file.
#[derive(Clone)]
pub struct Gathered {
    kept: Arc<Kept>,
    count: usize,
}

/// A plan that an operator runs, maybe many times.
pub struct Again<'p> {
    /// The plan.
    pub plan: &'p Plan,
    /// Addresses of shared plans whose rows are those of the run around it. All others in the
    /// plan are computed anew.
    pub outer: &'p HashSet<usize>,
    /// The number of a [round](crate::Node::Round), and its rows.
    pub round: Option<(usize, &'p Gathered)>,
}

impl Inside<'_> {
    /// Rows that a batch should have at most.
    pub fn batch_rows(&self) -> usize {
        match self.0.batch_rows {
            0 => crate::vector::BATCH_ROWS,
            rows => rows,
        }
    }

    /// Memory to be counted.
    pub fn reservation(&self) -> Reservation {
        self.0.space.reservation()
    }

    /// The error of an operator that cannot do with less than so many bytes.
    pub fn refused(&self, operator: &'static str, bytes: usize) -> Error {
        self.0.space.refused(operator, bytes)
    }

    /// The snapshot that is read, if it is not the one that the plan was made for.
    pub fn moment(&self) -> Option<&Snapshot> {
        self.0.moment
    }

    /// Whether the run goes on.
    ///
    /// # Errors
    /// `Cancelled` if it does not.
    pub fn goes_on(&self) -> Result<()> {
        match self.0.stop.load(Ordering::Relaxed) || (self.0.is_unwanted)() {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }

    /// Rows to be gathered.
    pub fn gathering(&self) -> Gathering {
        Gathering {
            rows: Collected::new(self.0.space),
            count: 0,
        }
    }

    /// The rows of a plan, in its order if it has one.
    ///
    /// # Errors
    /// Errors of its operators.
    pub fn again(&self, again: &Again<'_>) -> Result<Gathered> {
        let counters = Counters::new(&|_| {});
        let shared = SharedPlans::within(self.0.shared, again.outer);
        let rounds = again.round.map(|(number, rows)| Rounds {
            number,
            rows: &rows.kept,
            around: self.0.rounds,
        });
        let context = Context {
            counters: &counters,
            shared: &shared,
            rounds: rounds.as_ref().or(self.0.rounds),
            ..self.0
        };
        context.gathered(again.plan)
    }
}

impl Context<'_> {
    /// The rows of a plan, gathered.
    pub(crate) fn gathered(&self, plan: &Plan) -> Result<Gathered> {
        let (kept, count) = self.keep(plan, &plan.metrics)?;
        Ok(Gathered {
            kept: Arc::new(kept),
            count,
        })
    }
}

impl Gathering {
    /// Takes some rows.
    ///
    /// # Errors
    /// Errors of setting them aside.
    pub fn push(&mut self, batch: Batch, run: &Inside<'_>) -> Result<()> {
        self.count += batch.rows;
        self.rows.push(batch, run.0.space)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.count
    }

    /// All rows.
    ///
    /// # Errors
    /// Errors of setting the last of them aside.
    pub fn finish(self, run: &Inside<'_>) -> Result<Gathered> {
        Ok(Gathered {
            kept: Arc::new(Kept::of(vec![self.rows], run.0.space)?),
            count: self.count,
        })
    }
}

impl Gathered {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.count
    }

    /// The rows, batch by batch.
    pub fn batches(&self) -> impl Iterator<Item = Result<Batch>> + Send + use<> {
        let kept = Arc::clone(&self.kept);
        (0..kept.count()).filter_map(move |number| kept.batch(number).transpose())
    }
}

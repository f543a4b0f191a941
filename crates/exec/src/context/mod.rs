//! The run that operators are part of, as far as they know it.

mod bounds;
mod counters;

pub(crate) use bounds::{Bounds, Most};
pub(crate) use counters::Counters;

use crate::kept::Kept;
use crate::memory::Space;
use crate::plan::Metrics;
use crate::shared::SharedPlans;
use freestone_storage::{Scan, Snapshot};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How a plan is run.
pub struct Run<'a> {
    /// Threads that take part.
    pub threads: usize,
    /// Most rows of a batch that a scan gives; 0 for what is best.
    pub batch_rows: usize,
    /// Set when the result is not wanted any more.
    pub stop: &'a AtomicBool,
    /// Told of every scan before it begins; where a table is scanned range by range, only of
    /// the first, with which all others count together.
    pub watch: &'a (dyn Fn(&Arc<Scan>) + Sync),
    /// The memory it may use.
    pub space: Space,
    /// The snapshot that scans read, if it is not the one that the plan was made for.
    pub moment: Option<Snapshot>,
}

/// A run, or the part of one that computes a range.
#[derive(Clone, Copy)]
pub(crate) struct Context<'r> {
    pub threads: usize,
    pub batch_rows: usize,
    pub stop: &'r AtomicBool,
    /// Whether the reader of this part of the run needs no more of its rows.
    pub is_unwanted: &'r (dyn Fn() -> bool + Sync),
    pub space: &'r Space,
    /// See [`Run::moment`].
    pub moment: Option<&'r Snapshot>,
    pub counters: &'r Counters<'r>,
    /// The rows of shared plans, of this range if there is one.
    pub shared: &'r SharedPlans<'r>,
    /// The rounds of operators that run a plan again and again, the innermost first.
    pub rounds: Option<&'r Rounds<'r>>,
    /// The range that is computed, if not all.
    pub bounds: Option<&'r Bounds<'r>>,
}

/// The rows of a round, and of those around it.
pub(crate) struct Rounds<'r> {
    pub number: usize,
    pub rows: &'r Arc<Kept>,
    pub around: Option<&'r Rounds<'r>>,
}

impl<'r> Context<'r> {
    /// That of a whole run.
    pub fn of(
        run: &'r Run<'_>,
        counters: &'r Counters<'r>,
        shared: &'r SharedPlans<'r>,
    ) -> Context<'r> {
        Context {
            threads: run.threads,
            batch_rows: run.batch_rows,
            stop: run.stop,
            is_unwanted: &|| false,
            space: &run.space,
            moment: run.moment.as_ref(),
            counters,
            shared,
            rounds: None,
            bounds: None,
        }
    }

    /// The rows of a round.
    pub fn round(&self, number: usize) -> Option<&'r Arc<Kept>> {
        let mut rounds = self.rounds;
        while let Some(round) = rounds {
            if round.number == number {
                return Some(round.rows);
            }
            rounds = round.around;
        }
        None
    }

    /// Notes how much memory an operator has held.
    pub fn held(&self, metrics: &Metrics, bytes: usize) {
        let more = match self.bounds {
            None => bytes,
            Some(bounds) => bounds.most.raise(metrics, bytes),
        };
        metrics.held(more);
    }
}

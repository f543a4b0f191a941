//! The run that operators of others are part of.

use crate::context::{Context, Counters, Rounds};
use crate::kept::Gathered;
use crate::memory::Space;
use crate::plan::{Again, Inside, Plan};
use crate::shared::SharedPlans;
use crate::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A run, as operators of others see it.
#[derive(Clone, Copy)]
pub(crate) struct Within<'r>(pub Context<'r>);

impl Inside for Within<'_> {
    fn batch_rows(&self) -> usize {
        match self.0.batch_rows {
            0 => crate::vector::BATCH_ROWS,
            rows => rows,
        }
    }

    fn space(&self) -> &Space {
        self.0.space
    }

    fn goes_on(&self) -> Result<()> {
        match self.0.stop.load(Ordering::Relaxed) || (self.0.is_unwanted)() {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }

    fn again(&self, again: &Again<'_>) -> Result<Gathered> {
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

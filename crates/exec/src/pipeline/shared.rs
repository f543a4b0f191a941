//! Running plans that stand in several places.

use crate::Result;
use crate::context::Context;
use crate::drive::Pipeline;
use crate::kept::{Collected, Kept};
use crate::plan::{Metrics, Plan};
use crate::source::Source;
use crate::threads::Workers;
use std::sync::atomic::AtomicUsize;

impl Context<'_> {
    /// The rows of a plan that stands in other places as well.
    ///
    /// Filters of one place are not for all of them and stay behind: they are hints, and the
    /// operators that made them test every row.
    pub(super) fn shared<'a>(&self, plan: &'a Plan, metrics: &'a Metrics) -> Result<Pipeline<'a>> {
        let compute = || Ok(self.keep(plan, metrics)?.0);
        let kept = self.shared.rows(plan, compute)?;
        Ok(Pipeline::of(Source::Kept(
            kept,
            AtomicUsize::new(0),
            metrics,
        )))
    }

    /// All rows of a plan, and how many there are.
    pub(crate) fn keep(&self, plan: &Plan, metrics: &Metrics) -> Result<(Kept, usize)> {
        // A single thread leaves rows in their order.
        let threads = if plan.is_ordered() { 1 } else { self.threads };
        let context = Context { threads, ..*self };
        let pipeline = context.open(plan, &[])?;
        let all = context.drive(
            &pipeline,
            Workers::Pooled,
            || Ok(Collected::new(self.space)),
            |rows: &mut Collected, selected| rows.push(selected.whole()?, self.space),
        )?;
        self.held(metrics, all.iter().map(Collected::most).sum());
        let rows = all.iter().map(Collected::rows).sum();
        let kept = Kept::of(all, self.space)?;
        metrics.set_aside(kept.pages().iter());
        Ok((kept, rows))
    }
}

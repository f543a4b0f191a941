//! Running groups whose results others compute.

use crate::Result;
use crate::context::Context;
use crate::drive::Pipeline;
use crate::fold::Sets;
use crate::plan::{Folding, Metrics, Plan};
use crate::source::Source;
use crate::threads::Workers;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

impl Context<'_> {
    /// The results of all groups of a plan's rows.
    pub(super) fn fold<'a>(
        &'a self,
        input: &'a Plan,
        folding: &'a Folding,
        metrics: &'a Metrics,
    ) -> Result<Pipeline<'a>> {
        let threads = if folding.ordered { 1 } else { self.threads };
        let context = Context { threads, ..*self };
        let sets = Sets::begin(folding, threads, self.space)?;
        let pipeline = context.open(input, &[])?;
        let thread = AtomicUsize::new(0);
        context.drive(
            &pipeline,
            Workers::Pooled,
            || Ok(thread.fetch_add(1, Ordering::Relaxed)),
            |thread: &mut usize, rows| {
                let start = Instant::now();
                sets.add(&rows.whole()?, *thread, self.space)?;
                metrics.add(0, start);
                Ok(())
            },
        )?;
        drop(pipeline);
        let (folds, held) = sets.finish(metrics);
        self.held(metrics, held);
        Ok(Pipeline::of(Source::Folds(folds)))
    }
}

//! Running plans that stand in several places.

use crate::context::Context;
use crate::drive::Pipeline;
use crate::plan::{Metrics, Plan};
use crate::scan::Filter;
use crate::shared::{Collected, Kept};
use crate::source::Source;
use crate::threads::Workers;
use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

impl Context<'_> {
    /// The rows of a plan that stands in other places as well.
    ///
    /// Filters are not for all of them and stay behind: they are hints, and whoever made
    /// them tests every row. Where each place has the plan run for itself, they go along.
    pub(super) fn shared<'a>(
        &self,
        plan: &'a Plan,
        metrics: &'a Metrics,
        filters: &[Filter],
    ) -> Result<Pipeline<'a>> {
        let source = match self.shared.rows(plan, || self.keep(plan, metrics))? {
            Some(kept) => Source::Kept(kept, AtomicUsize::new(0), metrics),
            None => Source::Plans {
                plans: std::slice::from_ref(plan),
                filters: filters.to_vec(),
                metrics,
            },
        };
        Ok(Pipeline::of(source))
    }

    /// All rows of a plan, unless there is no memory for them.
    fn keep(&self, plan: &Plan, metrics: &Metrics) -> Result<Option<Kept>> {
        let pipeline = self.open(plan, &[])?;
        let is_refused = AtomicBool::new(false);
        let outcome = self.drive(
            &pipeline,
            Workers::Pooled,
            || Ok(Collected::new(self.space)),
            |rows: &mut Collected, selected| {
                if rows.push(selected.whole()?) {
                    return Ok(());
                }
                is_refused.store(true, Ordering::Relaxed);
                Err(Error::Cancelled)
            },
        );
        let is_refused = is_refused.into_inner() && !self.stop.load(Ordering::Relaxed);
        let all = match outcome {
            // All are there if a limit was full just then, but there is no memory for them.
            Ok(_) | Err(Error::Cancelled) if is_refused => return Ok(None),
            outcome => outcome?,
        };
        self.held(metrics, all.iter().map(Collected::most).sum());
        Ok(Some(Kept::of(all)))
    }
}

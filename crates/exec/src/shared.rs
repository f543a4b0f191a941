//! Plans that stand in several places of another: their rows are computed once and kept
//! for all of them while memory lasts.

use crate::context::Context;
use crate::drive::Pipeline;
use crate::memory::{LEAST, Reservation};
use crate::plan::{Metrics, Plan};
use crate::scan::Filter;
use crate::source::Source;
use crate::threads::Workers;
use crate::vector::Batch;
use crate::{Error, Result};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The rows of a plan, for every place it stands in.
pub(crate) struct Kept {
    pub batches: Vec<Batch>,
    _held: Vec<Reservation>,
}

/// What has become of the shared plans of a run, by their addresses, which stay as they
/// are during the run: their rows, or nothing where those are too many.
///
/// Whoever opens plans in a context does so one after the other, and so nobody waits here.
#[derive(Default)]
pub(crate) struct SharedPlans(Mutex<HashMap<usize, Option<Arc<Kept>>>>);

/// The rows of one thread.
struct Rows {
    batches: Vec<Batch>,
    rows: usize,
    bytes: usize,
    held: Reservation,
}

impl Context<'_> {
    /// The rows of a plan that stands in other places as well.
    ///
    /// Filters are not for all of them and stay behind: they are hints, and whoever made
    /// them tests every row. Where each place has the plan run for itself, they go along.
    pub(crate) fn shared<'a>(
        &self,
        plan: &'a Plan,
        metrics: &'a Metrics,
        filters: &[Filter],
    ) -> Result<Pipeline<'a>> {
        let address = std::ptr::from_ref(plan).addr();
        let known = self.shared.0.lock().get(&address).cloned();
        let kept = match known {
            Some(kept) => kept,
            None => {
                let kept = self.keep(plan, metrics)?.map(Arc::new);
                self.shared.0.lock().insert(address, kept.clone());
                kept
            }
        };
        let source = match kept {
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
        let none = || {
            Ok(Rows {
                batches: Vec::new(),
                rows: 0,
                bytes: 0,
                held: self.space.reservation(),
            })
        };
        let outcome = self.drive(
            &pipeline,
            Workers::Pooled,
            none,
            |rows: &mut Rows, selected| {
                let batch = selected.whole()?;
                rows.rows += batch.rows;
                rows.bytes += batch.bytes();
                rows.batches.push(batch);
                if rows.held.hold(rows.bytes) || rows.rows <= LEAST {
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
        self.held(metrics, all.iter().map(|rows| rows.held.most()).sum());
        let (batches, held): (Vec<_>, _) = all
            .into_iter()
            .map(|rows| (rows.batches, rows.held))
            .unzip();
        Ok(Some(Kept {
            batches: batches.into_iter().flatten().collect(),
            _held: held,
        }))
    }
}

#[cfg(test)]
mod tests;

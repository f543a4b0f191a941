//! Plans that stand in several places of another: their rows are computed once and kept
//! for all of them while memory lasts.

use crate::Result;
use crate::memory::{LEAST, Reservation, Space};
use crate::plan::Plan;
use crate::vector::Batch;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// The rows of a plan, for every place it stands in.
pub(crate) struct Kept {
    pub batches: Vec<Batch>,
    _held: Vec<Reservation>,
}

/// The rows of the shared plans of a run, or nothing where those are too many. Plans are
/// known by their addresses, which stay as they are during the run.
///
/// The plans of a context are opened one after the other, and so no thread waits here.
#[derive(Default)]
pub(crate) struct SharedPlans(Mutex<HashMap<usize, Option<Arc<Kept>>>>);

impl SharedPlans {
    /// The rows of a plan, which are computed for the first place that asks; `None` where
    /// there is no memory for them.
    pub fn rows(
        &self,
        plan: &Plan,
        compute: impl FnOnce() -> Result<Option<Kept>>,
    ) -> Result<Option<Arc<Kept>>> {
        let address = std::ptr::from_ref(plan).addr();
        let known = self.0.lock().get(&address).cloned();
        match known {
            Some(kept) => Ok(kept),
            None => {
                let kept = compute()?.map(Arc::new);
                self.0.lock().insert(address, kept.clone());
                Ok(kept)
            }
        }
    }
}

/// The rows of one thread.
pub(crate) struct Collected {
    batches: Vec<Batch>,
    rows: usize,
    bytes: usize,
    held: Reservation,
}

impl Collected {
    /// No rows so far.
    pub fn new(space: &Space) -> Collected {
        Collected {
            batches: Vec::new(),
            rows: 0,
            bytes: 0,
            held: space.reservation(),
        }
    }

    /// Takes some rows; whether there is memory for all so far.
    pub fn push(&mut self, batch: Batch) -> bool {
        self.rows += batch.rows;
        self.bytes += batch.bytes();
        self.batches.push(batch);
        self.held.hold(self.bytes) || self.rows <= LEAST
    }

    /// Most bytes of memory that it held.
    pub fn most(&self) -> usize {
        self.held.most()
    }
}

impl Kept {
    /// The rows of all threads.
    pub fn of(all: Vec<Collected>) -> Kept {
        let (batches, held): (Vec<_>, _) = all
            .into_iter()
            .map(|rows| (rows.batches, rows.held))
            .unzip();
        Kept {
            batches: batches.into_iter().flatten().collect(),
            _held: held,
        }
    }
}

#[cfg(test)]
mod tests;

//! Plans that stand in several places of another: their rows are computed once and kept
//! for all of them, in memory and then in a file.

use crate::Result;
use crate::kept::Kept;
use crate::plan::Plan;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The rows of the shared plans of a run. Plans are known by their addresses, which stay as
/// they are during the run.
///
/// The plans of a context are opened one after the other, and so no thread waits here.
#[derive(Default)]
pub(crate) struct SharedPlans<'r> {
    own: Mutex<HashMap<usize, Arc<Kept>>>,
    /// The plans of the run around this one, and which of them are computed there.
    around: Option<(&'r SharedPlans<'r>, &'r HashSet<usize>)>,
}

impl<'r> SharedPlans<'r> {
    /// The plans of a run within another, which computes some of them.
    pub fn within(around: &'r SharedPlans<'r>, outer: &'r HashSet<usize>) -> SharedPlans<'r> {
        SharedPlans {
            own: Mutex::default(),
            around: Some((around, outer)),
        }
    }

    /// The rows of a plan, which are computed for the first place that asks.
    pub fn rows(&self, plan: &Plan, compute: impl FnOnce() -> Result<Kept>) -> Result<Arc<Kept>> {
        let address = std::ptr::from_ref(plan).addr();
        let mut plans = self;
        while let Some((around, outer)) = plans.around
            && outer.contains(&address)
        {
            plans = around;
        }
        let known = plans.own.lock().get(&address).cloned();
        match known {
            Some(kept) => Ok(kept),
            None => {
                let kept = Arc::new(compute()?);
                plans.own.lock().insert(address, Arc::clone(&kept));
                Ok(kept)
            }
        }
    }
}

#[cfg(test)]
mod tests;

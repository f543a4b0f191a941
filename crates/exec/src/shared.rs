//! Plans that stand in several places of another: their rows are computed once and kept
//! for all of them, in memory and then in a file.

use crate::Result;
use crate::memory::{LEAST, Reservation, Space};
use crate::partition::PartWriter;
use crate::plan::Plan;
use crate::spill::Page;
use crate::vector::Batch;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The rows of a plan, for every place it stands in.
pub(crate) struct Kept {
    batches: Vec<Batch>,
    pages: Vec<Page>,
    _held: Vec<Reservation>,
}

/// The rows of the shared plans of a run. Plans are known by their addresses, which stay as
/// they are during the run.
///
/// The plans of a context are opened one after the other, and so no thread waits here.
#[derive(Default)]
pub(crate) struct SharedPlans<'r> {
    own: Mutex<HashMap<usize, Arc<Kept>>>,
    /// Those of the run around this one, and which plans they have.
    around: Option<(&'r SharedPlans<'r>, &'r HashSet<usize>)>,
}

impl<'r> SharedPlans<'r> {
    /// Those of a run within another, which has some of the plans.
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

/// The rows of one thread.
pub(crate) struct Collected {
    batches: Vec<Batch>,
    aside: PartWriter,
    /// Whether rows are set aside: all that follow are, so that they stay in their order.
    is_aside: bool,
    rows: usize,
    bytes: usize,
    held: Reservation,
}

impl Collected {
    /// No rows so far.
    pub fn new(space: &Space) -> Collected {
        Collected {
            batches: Vec::new(),
            aside: PartWriter::default(),
            is_aside: false,
            rows: 0,
            bytes: 0,
            held: space.reservation(),
        }
    }

    /// Takes some rows; those for which there is no memory are set aside.
    pub fn push(&mut self, batch: Batch, space: &Space) -> Result<()> {
        let bytes = self.bytes + batch.bytes();
        let fits = !self.is_aside && self.held.hold(bytes);
        self.rows += batch.rows;
        if !fits && self.rows > LEAST {
            self.is_aside = true;
            return self.aside.push(batch, space);
        }
        self.bytes = bytes;
        self.batches.push(batch);
        Ok(())
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Most bytes of memory that it held.
    pub fn most(&self) -> usize {
        self.held.most()
    }
}

impl Kept {
    /// The rows of all threads.
    ///
    /// # Errors
    /// Errors of setting the last of them aside.
    pub fn of(all: Vec<Collected>, space: &Space) -> Result<Kept> {
        let mut kept = Kept {
            batches: Vec::new(),
            pages: Vec::new(),
            _held: Vec::with_capacity(all.len()),
        };
        for rows in all {
            kept.batches.extend(rows.batches);
            kept.pages.extend(rows.aside.finish(space)?);
            kept._held.push(rows.held);
        }
        Ok(kept)
    }

    /// The rows that were set aside.
    pub fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// How many batches there are.
    pub fn count(&self) -> usize {
        self.batches.len() + self.pages.len()
    }

    /// The batch of a number below [`Kept::count`].
    ///
    /// # Errors
    /// Errors of reading what was set aside.
    pub fn batch(&self, number: usize) -> Result<Option<Batch>> {
        match self.batches.get(number) {
            Some(batch) => Ok(Some(batch.clone())),
            None => {
                let page = self.pages.get(number - self.batches.len());
                page.map(Page::read).transpose()
            }
        }
    }
}

#[cfg(test)]
mod tests;

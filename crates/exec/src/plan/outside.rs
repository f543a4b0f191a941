//! Operators that others define, and leaves whose rows others have.
//!
//! The engine knows of them only how rows come and go. An operator is given the rows of its input
//! batch by batch and gives any number of rows for each; the rows of further inputs are there
//! before the first batch comes. It may run plans of its own, as often as it likes:
//!
//! ```text
//! Outside: recursive union          rows of the base come by `push`; `finish` runs the step again
//!   base                            and again, over the rows of the round before
//!   (inner) step
//!             Round 0
//! ```

use super::{Plan, Table};
use crate::kept::{Gathered, Gathering};
use crate::memory::{Reservation, Space};
use crate::vector::Batch;
use crate::{Error, Result};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// An operator over the rows of a plan, and other rows that it reads.
#[derive(Clone, Debug)]
pub struct Outside {
    /// The rows that it is given.
    pub input: Plan,
    /// Plans whose rows are there before it begins.
    pub beside: Vec<Plan>,
    /// The operator.
    pub operator: Arc<dyn Operator>,
}

/// Takes rows that an operator gives.
pub type Out<'o> = &'o mut dyn FnMut(Batch) -> Result<()>;

/// An operator that others define.
pub trait Operator: fmt::Debug + Send + Sync {
    /// Its name, as plans are explained.
    fn name(&self) -> &'static str;

    /// More about it, for an explained plan.
    fn describe(&self) -> String {
        String::new()
    }

    /// Whether several threads may give it rows at once, in any order. Otherwise all batches come
    /// one after the other, in the order of the input.
    fn is_parallel(&self) -> bool {
        false
    }

    /// Whether it gives the same rows whenever it is given the same.
    fn is_lasting(&self) -> bool {
        true
    }

    /// Plans that it runs itself.
    fn inner(&self) -> Vec<&Plan> {
        Vec::new()
    }

    /// Begins a run. The rows of the plans beside its input come in their order.
    ///
    /// # Errors
    /// Errors of the operator.
    fn begin(&self, beside: Vec<Gathered>, run: &dyn Inside) -> Result<Box<dyn Working + '_>>;
}

/// An operator at work.
pub trait Working: Send + Sync {
    /// Takes some rows of the input.
    ///
    /// # Errors
    /// Errors of the operator, and of the taker of its rows.
    fn push(&self, rows: Batch, run: &dyn Inside, out: Out<'_>) -> Result<()>;

    /// Comes after the last rows of the input.
    ///
    /// # Errors
    /// As [`Working::push`].
    fn finish(&self, _run: &dyn Inside, _out: Out<'_>) -> Result<()> {
        Ok(())
    }

    /// Whether it needs no more rows of the input.
    fn is_full(&self) -> bool {
        false
    }
}

/// Batches that come one after the other.
pub type Batches<'b> = Box<dyn Iterator<Item = Result<Batch>> + Send + 'b>;

/// Rows that others have.
pub trait Rows: fmt::Debug + Send + Sync {
    /// Their name, as plans are explained.
    fn name(&self) -> &'static str;

    /// More about them, for an explained plan.
    fn describe(&self) -> String {
        String::new()
    }

    /// Whether they are the same in each run.
    fn is_lasting(&self) -> bool {
        true
    }

    /// Whether there may be very many, which nothing but reading them tells.
    fn may_be_many(&self) -> bool {
        false
    }

    /// Whether reading them may wait for other threads. Threads of the pool do not read such rows.
    fn waits(&self) -> bool {
        false
    }

    /// The table that they tell of as it was when the plan was made, if they do.
    fn table(&self) -> Option<&Table> {
        None
    }

    /// The rows of a run, in parts that several threads may read at the same time. A result
    /// that is no more than the rows has them in order, part by part.
    ///
    /// # Errors
    /// Errors of beginning to read them.
    fn open<'b>(&'b self, run: &dyn Inside) -> Result<Vec<Batches<'b>>>;
}

/// A run, for an operator that others define.
pub trait Inside: Sync {
    /// Rows that a batch should have at most.
    fn batch_rows(&self) -> usize;

    /// The memory that the run may use.
    fn space(&self) -> &Space;

    /// Whether the run goes on.
    ///
    /// # Errors
    /// `Cancelled` if it does not.
    fn goes_on(&self) -> Result<()>;

    /// The rows of a plan, in its order if it has one.
    ///
    /// # Errors
    /// Errors of its operators.
    fn again(&self, again: &Again<'_>) -> Result<Gathered>;

    /// Memory to be counted.
    fn reservation(&self) -> Reservation {
        self.space().reservation()
    }

    /// The error of an operator that cannot do with less than so many bytes.
    fn refused(&self, operator: &'static str, bytes: usize) -> Error {
        self.space().refused(operator, bytes)
    }

    /// Rows to be gathered.
    fn gathering(&self) -> Gathering {
        Gathering::new(self.space())
    }
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

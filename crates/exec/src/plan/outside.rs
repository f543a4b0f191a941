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

use super::Plan;
use crate::Result;
use crate::outside::{Gathered, Inside};
use crate::vector::Batch;
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
    fn begin(&self, beside: Vec<Gathered>, run: &Inside<'_>) -> Result<Box<dyn Working + '_>>;
}

/// An operator at work.
pub trait Working: Send + Sync {
    /// Takes some rows of the input.
    ///
    /// # Errors
    /// Errors of the operator, and of the taker of its rows.
    fn push(&self, rows: Batch, run: &Inside<'_>, out: Out<'_>) -> Result<()>;

    /// Comes after the last rows of the input.
    ///
    /// # Errors
    /// As [`Working::push`].
    fn finish(&self, _run: &Inside<'_>, _out: Out<'_>) -> Result<()> {
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

    /// Whether there may be many, which several threads share. A result that is no more than the
    /// rows keeps their order.
    fn is_parallel(&self) -> bool {
        false
    }

    /// Whether they are the same in each run.
    fn is_lasting(&self) -> bool {
        true
    }

    /// The rows of a run.
    ///
    /// # Errors
    /// Errors of beginning to read them.
    fn open<'b>(&'b self, run: &Inside<'b>) -> Result<Batches<'b>>;
}

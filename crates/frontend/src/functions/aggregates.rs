//! Aggregates: their signatures and how they are computed.

use std::fmt;
use std::sync::Arc;

use arrow_array::ArrayRef;

use super::{Catalogue, Returns, kernel::Call};
use crate::error::Result;
use crate::types::Type;

/// How an aggregate's arguments are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `sum(x)`.
    Plain,
    /// `percentile_cont(0.5) WITHIN GROUP (ORDER BY x)`: direct arguments, then ordered ones.
    OrderedSet,
    /// `rank(5) WITHIN GROUP (ORDER BY x)`: a row that is thought to be among the others.
    Hypothetical,
}

/// One overload of an aggregate.
#[derive(Clone)]
pub struct Aggregate {
    /// Its name.
    pub name: &'static str,
    /// How its arguments are written.
    pub kind: Kind,
    /// Types of the direct arguments of an ordered-set aggregate.
    pub direct: Vec<Type>,
    /// Types of the arguments that each row gives.
    pub parameters: Vec<Type>,
    /// The type of any number of further arguments.
    pub variadic: Option<Type>,
    /// Result type.
    pub returns: Returns,
    /// Whether rows with a NULL among the arguments are passed over.
    pub skips_nulls: bool,
    /// Whether the order in which rows come changes the result.
    pub ordered: bool,
    /// Makes the state of one group. The call's `types` are those of direct arguments and of
    /// parameters, one after the other; `direct` holds the values of the former, one row each.
    pub state: Arc<dyn Fn(&Call<'_>, &[ArrayRef]) -> Result<Box<dyn State>> + Send + Sync>,
}

impl fmt::Debug for Aggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)
    }
}

/// What is known of the rows of a group.
pub trait State: Send {
    /// Adds rows; of ordered aggregates in their order, of DISTINCT ones each value once.
    /// Rows that FILTER drops, and those that `skips_nulls` passes over, never come.
    ///
    /// # Errors
    /// Those of the aggregate.
    fn add(&mut self, call: &Call<'_>, arguments: &[ArrayRef]) -> Result<()>;

    /// The result, an array of one row.
    ///
    /// # Errors
    /// Those of the aggregate.
    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef>;

    /// Bytes of memory that it holds.
    fn size(&self) -> usize {
        64
    }
}

/// Adds the chapter's functions.
pub(super) fn register(_: &mut Catalogue) {}

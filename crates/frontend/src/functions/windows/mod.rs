//! Window functions: their signatures and how they are computed over a partition.
//!
//! A [`WindowKernel`] computes the results of all rows of a [`Partition`] at once, from the
//! rows' values in order, their peers and their frames:
//!
//! ```text
//! x            10 10 20      (ORDER BY x)
//! rank()        1  1  3
//! lag(x)     NULL 10 10
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `ranking` | `row_number`, `rank`, `dense_rank`, `percent_rank`, `cume_dist`, `ntile` |
//! | `offset` | `lag`, `lead`, `first_value`, `last_value`, `nth_value` |
//! | `frame` | the frame of each row, from ROWS, RANGE or GROUPS and EXCLUDE |
//! | `distance` | the values at which frames of RANGE with a distance end |
//! | `aggregate` | an aggregate over each row's frame |

pub mod aggregate;
pub mod distance;
pub mod frame;
mod offset;
mod ranking;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;

use super::{Catalogue, Returns, kernel::Call};
use crate::error::{Error, Result};
use crate::types::Type;

/// A function that is called only with OVER: `rank()`, `lag(x, 1)`.
#[derive(Clone)]
pub struct WindowFunction {
    /// Its name.
    pub name: &'static str,
    /// Parameter types; the last ones may be left out.
    pub parameters: Vec<Type>,
    /// How many parameters may be left out.
    pub optional: usize,
    /// Result type.
    pub returns: Returns,
    /// Whether RESPECT NULLS and IGNORE NULLS may be written.
    pub nulls: bool,
    /// Whether it looks at the frame; frames need not be computed for others.
    pub framed: bool,
    /// Its work.
    pub kernel: WindowKernel,
}

impl fmt::Debug for WindowFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)
    }
}

/// A partition in its order.
pub struct Partition<'a> {
    /// Rows of it.
    pub rows: usize,
    /// The values of the arguments, one for each row.
    pub arguments: &'a [ArrayRef],
    /// The peers of each row: rows that the order does not tell apart, as ranges in order.
    pub peers: &'a [Range<usize>],
    /// The frame of a row, as ranges in order: several where EXCLUDE cuts it. See
    /// [`Frames::ranges`](frame::Frames::ranges).
    pub frame: &'a dyn Fn(usize) -> Vec<Range<usize>>,
    /// Whether rows with a NULL in the first argument are passed over.
    pub ignore_nulls: bool,
}

impl Partition<'_> {
    /// The argument at a place.
    fn argument(&self, at: usize) -> Result<&ArrayRef> {
        let found = self.arguments.get(at);
        found.ok_or_else(|| Error::internal("a window function is short of arguments"))
    }
}

/// The results for the rows of a partition.
pub type WindowKernel = Arc<dyn Fn(&Call<'_>, &Partition<'_>) -> Result<ArrayRef> + Send + Sync>;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    ranking::register(c);
    offset::register(c);
}

//! Window functions: their signatures and how they are computed over a partition.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;

use super::{Catalogue, Returns, kernel::Call};
use crate::error::Result;
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
    /// The values of the arguments.
    pub arguments: &'a [ArrayRef],
    /// The peers of each row: rows that the order does not tell apart, as ranges in order.
    pub peers: &'a [Range<usize>],
    /// The frame of a row, as ranges in order: several where EXCLUDE cuts it.
    pub frame: &'a dyn Fn(usize) -> Vec<Range<usize>>,
    /// Whether rows with a NULL in the first argument are passed over.
    pub ignore_nulls: bool,
}

/// The results for the rows of a partition.
pub type WindowKernel = Arc<dyn Fn(&Call<'_>, &Partition<'_>) -> Result<ArrayRef> + Send + Sync>;

/// Adds the chapter's functions.
pub(super) fn register(_: &mut Catalogue) {}

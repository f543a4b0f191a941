//! Orders.

use crate::expression::Expression;
use arrow_schema::DataType;

/// The order of an ORDER BY, and which of its rows are wanted.
#[derive(Clone, Debug)]
pub struct Sorting {
    /// What rows are ordered by, the first key first. Rows of equal keys come in any order.
    pub keys: Vec<SortKey>,
    /// So many rows at the beginning are left out.
    pub skip: usize,
    /// Only so many rows from the beginning count, with those that are left out: OFFSET
    /// and LIMIT together.
    pub fetch: Option<usize>,
}

/// One key of an order.
#[derive(Clone, Debug)]
pub struct SortKey {
    /// Its value, of any [`Kind`](crate::vector::Kind) but `Other`. Floats are in their
    /// total order: -0 comes before 0, NaN after all numbers.
    pub expression: Expression,
    /// Its type.
    pub kind: DataType,
    /// Greatest first.
    pub descending: bool,
    /// NULLs before everything else, whatever the direction.
    pub nulls_first: bool,
}

impl Sorting {
    /// Whether all rows come out again.
    pub(crate) fn keeps_all(&self) -> bool {
        self.skip == 0 && self.fetch.is_none()
    }

    /// How many rows from the beginning count.
    pub(crate) fn most(&self) -> usize {
        let most = self.fetch.unwrap_or(usize::MAX);
        if self.skip >= most { 0 } else { most }
    }
}

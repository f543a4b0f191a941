//! ORDER BY (Q6): rows are collected by thread, their keys become words or bytes that
//! compare as they are, and rows are taken by position once, when they go out.
//!
//! Keys of few bits are packed into one word with the number of the row; all others are
//! bytes, of which a prefix stands in the word. Of the first `fetch` rows, threads keep
//! little more than so many, and share how far a row may lie back ([`cut`]). Rows that
//! find no room are sorted and set aside as a run of pages; runs are merged page by page.

mod bytes;
mod collect;
mod cut;
mod order;
mod output;
mod runs;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use collect::{Collected, MOST, Sorter, together};
pub(crate) use order::ordered_rows;
pub(crate) use output::{Sorted, Ticket};

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
    fn most(&self) -> usize {
        let most = self.fetch.unwrap_or(usize::MAX);
        if self.skip >= most { 0 } else { most }
    }
}

/// Bits of a float that compare, as an unsigned number, like floats in total order.
fn ordinal(value: f64) -> u64 {
    let bits = value.to_bits();
    // A negative one is the greater, the nearer it is to zero.
    let mask = ((bits as i64 >> 63) as u64) | 1 << 63;
    bits ^ mask
}

fn mismatch() -> crate::Error {
    crate::Error::internal("a sort key that is not of its column's kind")
}

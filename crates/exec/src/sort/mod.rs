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

//! Changing the values of one minipage.
//!
//! What is free between values and back of a minipage is zero, before and after.

use super::page::{Shape, clear_present, end, is_present, present_before, put_end, set_present};
use super::shift::Held;
use std::ops::Range;

/// A minipage of so many rows; the bytes come with each call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Minipage {
    pub shape: Shape,
    pub rows: usize,
    pub end_bytes: usize,
}

impl Minipage {
    /// Where the values of some rows lie.
    pub fn span(self, bytes: &[u8], rows: Range<usize>) -> Range<usize> {
        let start = |row: usize| match (self.shape.width, self.shape.nullable) {
            (Some(width), false) => width * row,
            (Some(width), true) => width * present_before(bytes, row),
            (None, _) => row
                .checked_sub(1)
                .map_or(0, |before| end(bytes, before, self.end_bytes).0),
        };
        start(rows.start)..start(rows.end)
    }

    /// How much it holds.
    pub fn held(self, bytes: &[u8]) -> Held {
        Held {
            values: self.span(bytes, self.rows..self.rows).end,
            back: self.shape.back(self.rows, self.end_bytes),
        }
    }

    /// The value of a row.
    pub fn value(self, bytes: &[u8], row: usize) -> Option<&[u8]> {
        let null = match (self.shape.width, self.shape.nullable) {
            (_, false) => false,
            (Some(_), true) => !is_present(bytes, row),
            (None, true) => end(bytes, row, self.end_bytes).1,
        };
        (!null).then(|| &bytes[self.span(bytes, row..row + 1)])
    }

    /// Replaces the value of a row; it fits. Those after it move.
    pub fn put(self, bytes: &mut [u8], row: usize, value: Option<&[u8]>) {
        let new = value.unwrap_or(&[]);
        let old = self.span(bytes, row..row + 1);
        if new.len() != old.len() {
            let values = self.held(bytes).values;
            bytes.copy_within(old.end..values, old.start + new.len());
            bytes[values.min(values + new.len() - old.len())..values].fill(0);
        }
        bytes[old.start..old.start + new.len()].copy_from_slice(new);
        match (self.shape.width, self.shape.nullable) {
            (Some(_), false) => {}
            (Some(_), true) if value.is_some() => set_present(bytes, row),
            (Some(_), true) => clear_present(bytes, row),
            (None, _) => {
                put_end(
                    bytes,
                    row,
                    self.end_bytes,
                    old.start + new.len(),
                    value.is_none(),
                );
                // The ends of the same values as before need no writing.
                let moved = if new.len() == old.len() {
                    row
                } else {
                    self.rows
                };
                for later in row + 1..moved {
                    let (at, null) = end(bytes, later, self.end_bytes);
                    put_end(
                        bytes,
                        later,
                        self.end_bytes,
                        at + new.len() - old.len(),
                        null,
                    );
                }
            }
        }
    }

    /// Adds a value after those of all rows; it fits.
    pub fn push(self, bytes: &mut [u8], value: Option<&[u8]>) {
        let start = self.held(bytes).values;
        let new = value.unwrap_or(&[]);
        bytes[start..start + new.len()].copy_from_slice(new);
        match (self.shape.width, self.shape.nullable) {
            (Some(_), true) if value.is_some() => set_present(bytes, self.rows),
            (Some(_), _) => {}
            (None, _) => {
                let at = start + new.len();
                put_end(bytes, self.rows, self.end_bytes, at, value.is_none());
            }
        }
    }

    /// Keeps the rows of ascending `runs` only, and fills the gaps between them.
    pub fn keep(self, bytes: &mut [u8], runs: &[Range<usize>]) {
        let old = self.held(bytes);
        // Before presence bits change, which they are found by.
        let spans: Vec<Range<usize>> = runs
            .iter()
            .map(|run| self.span(bytes, run.clone()))
            .collect();
        let (mut to, mut row) = (0, 0);
        for (run, span) in runs.iter().zip(spans) {
            bytes.copy_within(span.clone(), to);
            for from in run.clone() {
                self.renumber(bytes, from, row, span.start - to);
                row += 1;
            }
            to += span.len();
        }
        bytes[to..old.values].fill(0);
        let len = bytes.len();
        bytes[len - old.back..len - self.shape.back(row, self.end_bytes)].fill(0);
        if self.shape.width.is_some() && self.shape.nullable {
            (row..self.rows.min(row.next_multiple_of(8))).for_each(|row| clear_present(bytes, row));
        }
    }

    /// Makes zero what is free, on a page that did not come from here.
    pub fn clear_free(self, bytes: &mut [u8]) {
        let (held, len) = (self.held(bytes), bytes.len());
        bytes[held.values..len - held.back].fill(0);
        if self.shape.width.is_some() && self.shape.nullable {
            (self.rows..self.rows.next_multiple_of(8)).for_each(|row| clear_present(bytes, row));
        }
    }

    /// Makes the presence bit or end offset of row `from` that of row `to`, whose
    /// value lies `lower` bytes before.
    fn renumber(self, bytes: &mut [u8], from: usize, to: usize, lower: usize) {
        match (self.shape.width, self.shape.nullable) {
            (Some(_), false) => {}
            (Some(_), true) if is_present(bytes, from) => set_present(bytes, to),
            (Some(_), true) => clear_present(bytes, to),
            (None, _) => {
                let (at, null) = end(bytes, from, self.end_bytes);
                put_end(bytes, to, self.end_bytes, at - lower, null);
            }
        }
    }
}

//! An aggregate over the frame of each row of a partition.
//!
//! | frames | way |
//! |---|---|
//! | the same for many rows | the result is computed once |
//! | that only grow, such as running totals | rows are added to one state |
//! | that move on, `min` and `max` | a queue of the rows that may still be the result |
//! | that move on, exact sums, counts, means | rows are added in front and taken back behind |
//! | all others | a state of its own for each frame |
//!
//! ```text
//! max(x) OVER (ROWS 2 PRECEDING)     x: 5 3 4 1     queue: [5] [5 3] [5 4] [4 1]
//! ```
//!
//! Sums of floats are of the last kind: after rows were taken back, digits would be missing
//! that the larger values had pushed out. PostgreSQL computes them in this way, too.

use std::collections::VecDeque;
use std::ops::Range;

use arrow_array::{Array, ArrayRef, BooleanArray, UInt64Array};
use arrow_select::concat::concat;
use arrow_select::take::take;

use super::frame::Frames;
use crate::error::{Error, Result};
use crate::functions::aggregates::{Aggregate, Extreme, State};
use crate::functions::kernel::Call;
use crate::functions::ordering::comparator;
use crate::interrupt;

/// Results that are joined at once, so that arrays of one row do not pile up.
const JOINED: usize = 1024;

/// The aggregate's result for each row of a partition. The call's `types` are those of the
/// arguments, which have a value for each row; `filter` says which rows FILTER keeps.
///
/// # Errors
/// Errors of the aggregate.
pub fn over_frames(
    call: &Call<'_>,
    aggregate: &Aggregate,
    arguments: &[ArrayRef],
    filter: Option<&BooleanArray>,
    frames: &Frames,
) -> Result<ArrayRef> {
    let kept = Kept::of(aggregate, arguments, filter, frames.rows())?;
    let state = (aggregate.state)(call, &[])?;
    match (state.extreme(), kept.arguments.first()) {
        (Some(end), Some(values)) if !frames.excludes() => {
            extremes(call, end, values, &kept, frames)
        }
        _ => Sliding {
            call,
            aggregate,
            arguments: &kept.arguments,
            state,
            held: Vec::new(),
        }
        .over(&kept, frames),
    }
}

/// The rows that an aggregate is given, and how many of them are before each row.
struct Kept {
    arguments: Vec<ArrayRef>,
    /// `None` if all rows are kept.
    before: Option<Vec<usize>>,
}

impl Kept {
    fn of(
        aggregate: &Aggregate,
        arguments: &[ArrayRef],
        filter: Option<&BooleanArray>,
        rows: usize,
    ) -> Result<Self> {
        let null = |row| {
            let skips = aggregate.skips_nulls;
            skips && arguments.iter().any(|array| array.is_null(row))
        };
        let filtered = |row| filter.is_some_and(|f| f.is_null(row) || !f.value(row));
        let nulls = aggregate.skips_nulls && arguments.iter().any(|a| a.null_count() > 0);
        if !nulls && filter.is_none() {
            let arguments = arguments.to_vec();
            let before = None;
            return Ok(Self { arguments, before });
        }
        let mut kept = Vec::new();
        let mut before = Vec::with_capacity(rows + 1);
        for row in 0..rows {
            before.push(kept.len());
            if !null(row) && !filtered(row) {
                kept.push(row as u64);
            }
        }
        before.push(kept.len());
        let kept = UInt64Array::from(kept);
        let arguments = arguments.iter().map(|array| Ok(take(array, &kept, None)?));
        Ok(Self {
            arguments: arguments.collect::<Result<_>>()?,
            before: Some(before),
        })
    }

    /// A range of rows as a range of kept rows.
    fn range(&self, rows: &Range<usize>) -> Range<usize> {
        match &self.before {
            None => rows.clone(),
            Some(before) => {
                let at = |row: usize| before.get(row).copied().unwrap_or(0);
                at(rows.start)..at(rows.end)
            }
        }
    }
}

/// The least or the greatest value of each frame. Of equal values the last is the result.
fn extremes(
    call: &Call<'_>,
    end: Extreme,
    values: &ArrayRef,
    kept: &Kept,
    frames: &Frames,
) -> Result<ArrayRef> {
    let compare = comparator(call.types.first().unwrap_or(call.returns))?;
    // Rows in the frame that no later row of it beats, the best first.
    let mut queue: VecDeque<usize> = VecDeque::new();
    let mut next = 0;
    let mut found = Vec::with_capacity(frames.rows());
    for row in 0..frames.rows() {
        let frame = kept.range(&frames.bounds(row));
        while queue.front().is_some_and(|first| *first < frame.start) {
            queue.pop_front();
        }
        for new in next.max(frame.start)..frame.end {
            let beaten = |old: &usize| {
                let order = compare(values, new, values, *old);
                match end {
                    Extreme::Least => order.is_le(),
                    Extreme::Greatest => order.is_ge(),
                }
            };
            while queue.back().is_some_and(beaten) {
                queue.pop_back();
            }
            queue.push_back(new);
        }
        next = next.max(frame.end);
        let best = queue.front().filter(|best| frame.contains(best));
        found.push(best.map(|best| *best as u64));
    }
    Ok(take(values, &UInt64Array::from(found), None)?)
}

/// A state whose rows follow the frames.
struct Sliding<'a> {
    call: &'a Call<'a>,
    aggregate: &'a Aggregate,
    arguments: &'a [ArrayRef],
    state: Box<dyn State>,
    /// The rows that the state was given, in order.
    held: Vec<Range<usize>>,
}

impl Sliding<'_> {
    fn over(mut self, kept: &Kept, frames: &Frames) -> Result<ArrayRef> {
        let mut results = Results::default();
        let mut first = true;
        for row in 0..frames.rows() {
            let mut wanted: Vec<Range<usize>> = match frames.excludes() {
                true => frames.ranges(row).iter().map(|r| kept.range(r)).collect(),
                false => vec![kept.range(&frames.bounds(row))],
            };
            wanted.retain(|range| !range.is_empty());
            if !first && wanted == self.held {
                results.repeat();
                continue;
            }
            first = false;
            self.hold(wanted)?;
            results.push(self.state.result(self.call)?)?;
        }
        results.finish(self.call)
    }

    /// Brings the state to the rows of a frame.
    fn hold(&mut self, wanted: Vec<Range<usize>>) -> Result<()> {
        if !self.moved(&wanted)? {
            self.state = (self.aggregate.state)(self.call, &[])?;
            for range in &wanted {
                self.add(range.clone())?;
            }
        }
        self.held = wanted;
        Ok(())
    }

    /// Adds and takes back rows; false if the frame must be computed anew.
    fn moved(&mut self, wanted: &[Range<usize>]) -> Result<bool> {
        let (old, new) = match (self.held.as_slice(), wanted) {
            ([], []) => return Ok(true),
            ([old], [new]) => (old.clone(), new.clone()),
            _ => return Ok(false),
        };
        let gone = old.start..new.start;
        if new.start < old.start || new.start >= old.end || new.end < old.end {
            return Ok(false);
        }
        // It is less work to begin anew than to take back most rows.
        if gone.len() > new.len() || !gone.is_empty() && !self.remove(gone)? {
            return Ok(false);
        }
        if old.end < new.end {
            self.add(old.end..new.end)?;
        }
        Ok(true)
    }

    fn part(&self, rows: &Range<usize>) -> Vec<ArrayRef> {
        let parts = self.arguments.iter();
        parts
            .map(|array| array.slice(rows.start, rows.len()))
            .collect()
    }

    fn add(&mut self, rows: Range<usize>) -> Result<()> {
        interrupt::check_rows(rows.len())?;
        let call = Call {
            rows: rows.len(),
            ..*self.call
        };
        let part = self.part(&rows);
        self.state.add(&call, &part)
    }

    fn remove(&mut self, rows: Range<usize>) -> Result<bool> {
        let call = Call {
            rows: rows.len(),
            ..*self.call
        };
        let part = self.part(&rows);
        self.state.remove(&call, &part)
    }
}

/// The results of rows, of which many may be the same.
#[derive(Default)]
struct Results {
    /// Results that were joined.
    joined: Vec<ArrayRef>,
    /// Results of one row each.
    single: Vec<ArrayRef>,
    count: u64,
    /// The result of each row.
    rows: Vec<u64>,
}

impl Results {
    fn push(&mut self, result: ArrayRef) -> Result<()> {
        self.single.push(result);
        self.rows.push(self.count);
        self.count += 1;
        if self.single.len() >= JOINED {
            self.join()?;
        }
        Ok(())
    }

    fn repeat(&mut self) {
        self.rows.push(self.count.saturating_sub(1));
    }

    fn join(&mut self) -> Result<()> {
        let single: Vec<&dyn Array> = self.single.iter().map(AsRef::as_ref).collect();
        if !single.is_empty() {
            self.joined.push(concat(&single)?);
            self.single.clear();
        }
        Ok(())
    }

    fn finish(mut self, call: &Call<'_>) -> Result<ArrayRef> {
        self.join()?;
        let joined: Vec<&dyn Array> = self.joined.iter().map(AsRef::as_ref).collect();
        if joined.is_empty() {
            return Ok(arrow_array::new_empty_array(&call.returns.arrow()));
        }
        let joined = concat(&joined)?;
        if joined.len() as u64 != self.count {
            return Err(Error::internal("an aggregate gave other than one row"));
        }
        if self.count == self.rows.len() as u64 {
            return Ok(joined);
        }
        Ok(take(&joined, &UInt64Array::from(self.rows), None)?)
    }
}

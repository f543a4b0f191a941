//! Elements and slices of arrays that are assigned: `SET a[2] = 7`, `SET a[1:2] = '{7,8}'`.
//!
//! `array_subscript_set` takes the array, the new element and a subscript for each dimension,
//! `array_slice_set` the array, an array of new elements and a pair of bounds for each dimension.
//! A bound that is left out is the least or the greatest integer.
//!
//! ```text
//! {1,2}   [4] = 9          {1,2,NULL,9}
//! {1,2}   [0] = 9          [0:2]={9,1,2}
//! NULL    [2] = 9          [2:2]={9}
//! {1,2,3} [2:3] = {8,9}    {1,8,9}
//! ```
//!
//! An array of one dimension grows, with NULLs in the gaps; one of several does not.

use arrow_array::ArrayRef;

use super::access::integers;
use super::lists::{Lists, MOST_ELEMENTS, Picker, argument, kernel, too_many_elements};
use crate::error::{Error, Result};
use crate::functions::kernel::{Call, Column};
use crate::functions::{Catalogue, scalar};
use crate::types::Type::{AnyArray, AnyElement, Int4};
use crate::types::arrays::Bounds;
use crate::values::array_text::MOST_DIMENSIONS;
use crate::values::bounds::check_bounds;

/// The most elements of an array that grows. A subscript far outside of an array would fill the
/// memory with NULLs.
const MOST_GROWN: usize = 1 << 24;

/// Adds both functions.
pub(super) fn register(c: &mut Catalogue) {
    for dimensions in 1..=MOST_DIMENSIONS {
        let mut parameters = vec![AnyArray, AnyElement];
        parameters.resize(2 + dimensions, Int4);
        let set = scalar(
            "array_subscript_set",
            &parameters,
            AnyArray,
            kernel(element),
        );
        c.add(set.with_nulls());
        let mut parameters = vec![AnyArray, AnyArray];
        parameters.resize(2 + 2 * dimensions, Int4);
        let set = scalar("array_slice_set", &parameters, AnyArray, kernel(slice));
        c.add(set.with_nulls());
    }
}

fn wrong(message: &str) -> Error {
    Error::new("2202E", message)
}

/// A row's subscripts.
///
/// # Errors
/// `22004` if one is NULL.
fn of_row(all: &[Vec<Option<i32>>], row: usize) -> Result<Vec<i64>> {
    let of_row = all.iter().map(|one| {
        let number = one.get(row).copied().flatten().map(i64::from);
        number.ok_or_else(|| Error::new("22004", "array subscript in assignment must not be null"))
    });
    of_row.collect()
}

fn subscripts(columns: &[Column], rows: usize) -> Result<Vec<Vec<Option<i32>>>> {
    let all = columns.iter().skip(2);
    all.map(|column| integers(column, rows)).collect()
}

fn element(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let new = argument(columns, 1)?;
    let all = subscripts(columns, call.rows)?;
    let sources = [&lists.values, &new.array];
    let mut picker = Picker::new(call.returns.innermost(), &sources, call.rows)?;
    for row in 0..call.rows {
        let at = of_row(&all, row)?;
        let ranges: Vec<_> = at.iter().map(|at| (*at, *at)).collect();
        let new = new.at(row)..new.at(row) + 1;
        put(&mut picker, &lists, row, &ranges, new)?;
    }
    picker.finish()
}

fn slice(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let (lists, new) = (
        Lists::of(argument(columns, 0)?)?,
        Lists::of(argument(columns, 1)?)?,
    );
    let all = subscripts(columns, call.rows)?;
    let sources = [&lists.values, &new.values];
    let mut picker = Picker::new(call.returns.innermost(), &sources, call.rows)?;
    for row in 0..call.rows {
        let numbers = of_row(&all, row)?;
        let Some(source) = new.range(row) else {
            // Nothing is assigned.
            match lists.range(row) {
                Some(range) => {
                    picker.pick_all(0, range);
                    picker.end_bounded(&lists.bounds(row))?;
                }
                None => picker.null_row()?,
            }
            continue;
        };
        let bounds = lists.bounds(row);
        let mut ranges = Vec::with_capacity(numbers.len() / 2);
        for (at, pair) in numbers.chunks_exact(2).enumerate() {
            let left_out = (
                pair[0] == i64::from(i32::MIN),
                pair[1] == i64::from(i32::MAX),
            );
            if bounds.dimensions() == 0 && (left_out.0 || left_out.1) {
                let why = "When assigning to a slice of an empty array value, slice boundaries \
                           must be fully specified.";
                let error = wrong("array slice subscript must provide both boundaries");
                return Err(error.with_detail(why));
            }
            let own = bounds.ranges().nth(at).unwrap_or((1, 0));
            let low = if left_out.0 { own.0.into() } else { pair[0] };
            let high = if left_out.1 { own.1 } else { pair[1] };
            ranges.push((low, high));
        }
        put(&mut picker, &lists, row, &ranges, source)?;
    }
    picker.finish()
}

/// Picks a row's array with new elements in some ranges of subscripts, one for each dimension
/// from the first.
fn put(
    picker: &mut Picker,
    lists: &Lists<'_>,
    row: usize,
    ranges: &[(i64, i64)],
    new: std::ops::Range<usize>,
) -> Result<()> {
    let old = lists.bounds(row);
    let start = lists.range(row).unwrap_or_default().start;
    let mut ranges = ranges.to_vec();
    let grown = match old.dimensions() {
        0 => {
            let lengths = ranges.iter().map(|(low, high)| high - low + 1);
            let lengths: Vec<usize> = lengths
                .map(|length| usize::try_from(length).map_err(|_| too_many_elements()))
                .collect::<Result<_>>()?;
            if lengths.contains(&0) {
                return picker.end_row();
            }
            let lows = ranges.iter().map(|(low, _)| *low as i32);
            Bounds {
                lows: lows.collect(),
                lengths,
            }
        }
        1 if ranges.len() == 1 => {
            let (low, high) = ranges[0];
            if low > high {
                return Err(wrong("upper bound cannot be less than lower bound"));
            }
            let (own_low, own_high) = old.ranges().next().unwrap_or((1, 0));
            let (first, last) = (low.min(own_low.into()), high.max(own_high));
            let length = usize::try_from(last - first + 1).map_err(|_| too_many_elements())?;
            Bounds {
                lengths: vec![length],
                lows: vec![first as i32],
            }
        }
        dimensions if ranges.len() > dimensions => {
            return Err(wrong("wrong number of array subscripts"));
        }
        _ => {
            for (at, (own_low, own_high)) in old.ranges().enumerate() {
                let Some((low, high)) = ranges.get(at).copied() else {
                    ranges.push((own_low.into(), own_high));
                    continue;
                };
                if low > high {
                    return Err(wrong("upper bound cannot be less than lower bound"));
                }
                if low < own_low.into() || high > own_high {
                    return Err(wrong("array subscript out of range"));
                }
            }
            old.clone()
        }
    };
    let count = total(grown.lengths.iter().copied())?;
    check_bounds(&grown)?;
    if count > MOST_GROWN && grown.lengths != old.lengths {
        let message = format!("an assignment makes arrays of at most {MOST_GROWN} elements");
        return Err(Error::new("54000", message));
    }
    let wanted = total(ranges.iter().map(|(low, high)| (high - low + 1) as usize))?;
    if wanted > new.len() {
        return Err(wrong("source array too small"));
    }
    let mut given = new;
    // The subscripts of the element that is picked.
    let mut at: Vec<i64> = grown.lows.iter().map(|low| i64::from(*low)).collect();
    let limits: Vec<(i32, i64)> = grown.ranges().collect();
    for _ in 0..count {
        let is_new = at
            .iter()
            .zip(&ranges)
            .all(|(at, (low, high))| (low..=high).contains(&at));
        match (is_new, place(&old, &at)) {
            (true, _) => match given.next() {
                Some(place) => picker.pick(1, place),
                None => return Err(wrong("source array too small")),
            },
            (false, Some(place)) => picker.pick(0, start + place),
            (false, None) => picker.pick_null(),
        }
        for (at, (low, high)) in at.iter_mut().zip(&limits).rev() {
            *at += 1;
            if *at <= *high {
                break;
            }
            *at = i64::from(*low);
        }
    }
    picker.end_bounded(&grown)
}

/// How many elements dimensions of some lengths have.
fn total(mut lengths: impl Iterator<Item = usize>) -> Result<usize> {
    let total = lengths.try_fold(1usize, |all, one| all.checked_mul(one));
    total
        .filter(|total| *total <= MOST_ELEMENTS)
        .ok_or_else(too_many_elements)
}

/// Where the element of some subscripts is among those of an array.
fn place(bounds: &Bounds, at: &[i64]) -> Option<usize> {
    let mut place = 0usize;
    if bounds.dimensions() != at.len() {
        return None;
    }
    for (at, (length, low)) in at.iter().zip(bounds.lengths.iter().zip(&bounds.lows)) {
        let at = usize::try_from(at - i64::from(*low)).ok()?;
        if at >= *length {
            return None;
        }
        place = place * length + at;
    }
    Some(place)
}

//! Elements and slices of arrays: `a[2]`, `a[1][2]`, `a[1:2][2:3]`.
//!
//! `array_subscript` takes one subscript for each dimension: of an array of another number of
//! dimensions the element is NULL. `array_slice` takes a pair of bounds for each dimension that
//! is sliced; where a bound is left out, the caller gives the least or the greatest integer, for
//! slices are cut to the array's bounds. A bound that is NULL makes the slice NULL. Slices begin
//! at 1.

use arrow_array::{ArrayRef, UInt32Array};
use arrow_select::take::take;

use super::lists::{Lists, Picker, argument, kernel, reformed};
use crate::error::{Error, Result};
use crate::functions::kernel::{Call, Column, I32, Input};
use crate::functions::{Catalogue, scalar};
use crate::types::Type::{AnyArray, AnyElement, Int4};
use crate::types::arrays::Bounds;
use crate::values::array_text::MOST_DIMENSIONS;

/// Adds subscripts and slices.
pub(super) fn register(c: &mut Catalogue) {
    for dimensions in 1..=MOST_DIMENSIONS {
        let mut parameters = vec![AnyArray];
        parameters.resize(1 + dimensions, Int4);
        let subscripted = scalar(
            "array_subscript",
            &parameters,
            AnyElement,
            kernel(subscript),
        );
        c.add(subscripted);
        parameters.resize(1 + 2 * dimensions, Int4);
        c.add(scalar("array_slice", &parameters, AnyArray, kernel(slice)));
    }
}

/// The values of integer arguments from a place on, by argument.
fn subscripts(columns: &[Column], rows: usize) -> Result<Vec<Vec<Option<i32>>>> {
    let all = columns.iter().skip(1);
    all.map(|column| integers(column, rows)).collect()
}

/// A row's subscripts; `None` if one is NULL.
fn of_row(all: &[Vec<Option<i32>>], row: usize) -> Option<Vec<i32>> {
    let of_row = all.iter().map(|one| one.get(row).copied().flatten());
    of_row.collect()
}

fn subscript(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let all = subscripts(columns, call.rows)?;
    let places = (0..call.rows).map(|row| {
        let range = lists.range(row)?;
        let at = place(&lists.bounds(row), &of_row(&all, row)?)?;
        (at < range.len()).then_some((range.start + at) as u32)
    });
    let places = places.collect::<UInt32Array>();
    let values = reformed(&lists.values, call.returns)?;
    Ok(take(&values, &places, None)?)
}

/// The place of the element of some subscripts, from 0.
fn place(bounds: &Bounds, subscripts: &[i32]) -> Option<usize> {
    if subscripts.len() != bounds.dimensions() {
        return None;
    }
    let mut place = 0usize;
    for ((subscript, length), low) in subscripts.iter().zip(&bounds.lengths).zip(&bounds.lows) {
        let at = usize::try_from(i64::from(*subscript) - i64::from(*low)).ok()?;
        if at >= *length {
            return None;
        }
        place = place.checked_mul(*length)?.checked_add(at)?;
    }
    Some(place)
}

/// The values of an integer argument, by row.
pub(super) fn integers(column: &Column, rows: usize) -> Result<Vec<Option<i32>>> {
    let reader = I32::reader(&column.array)?;
    let value = |row| {
        let at = column.at(row);
        (!column.is_null(row)).then(|| I32::get(&reader, &column.array, at))
    };
    Ok((0..rows).map(value).collect())
}

fn slice(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let all = subscripts(columns, call.rows)?;
    let element = call.returns.innermost();
    let mut picker = Picker::new(element, &[&lists.values], call.rows)?;
    for row in 0..call.rows {
        let (Some(range), Some(wanted)) = (lists.range(row), of_row(&all, row)) else {
            picker.null_row()?;
            continue;
        };
        let bounds = lists.bounds(row);
        let ranges = sliced(&bounds, &wanted);
        if bounds.lengths.iter().product::<usize>() != range.len() && !ranges.is_empty() {
            return Err(Error::internal("bounds of another number of elements"));
        }
        pick(&mut picker, range.start, &bounds.lengths, &ranges);
        let lengths = ranges.iter().map(|(low, high)| high - low);
        picker.end_bounded(&Bounds::of(lengths.collect()))?;
    }
    picker.finish()
}

/// The places, from 0, that a pair of bounds for each dimension leaves of it; none if nothing
/// is left.
fn sliced(bounds: &Bounds, wanted: &[i32]) -> Vec<(usize, usize)> {
    if wanted.len() > 2 * bounds.dimensions() {
        return Vec::new();
    }
    let mut ranges = Vec::with_capacity(bounds.dimensions());
    for (at, (length, low)) in bounds.lengths.iter().zip(&bounds.lows).enumerate() {
        let place = |which: usize| {
            let bound = wanted.get(2 * at + which)?;
            Some(i64::from(*bound) - i64::from(*low))
        };
        let length = *length as i64;
        let first = place(0).unwrap_or(0).clamp(0, length);
        let end = place(1).map_or(length, |last| (last + 1).clamp(0, length));
        if first >= end {
            return Vec::new();
        }
        ranges.push((first as usize, end as usize));
    }
    ranges
}

/// Picks the elements of the ranges of an array, whose elements begin at a place.
fn pick(picker: &mut Picker, start: usize, lengths: &[usize], ranges: &[(usize, usize)]) {
    let (Some((_, inner)), Some(((low, high), rest))) =
        (lengths.split_first(), ranges.split_first())
    else {
        return;
    };
    let size: usize = inner.iter().product();
    match rest.is_empty() {
        true => picker.pick_all(0, start + low..start + high),
        false => {
            for at in *low..*high {
                pick(picker, start + at * size, inner, rest);
            }
        }
    }
}

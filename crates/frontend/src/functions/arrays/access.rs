//! Elements and slices of arrays: `a[2]`, `a[1:2][2:3]`.
//!
//! `array_subscript` goes down one dimension, so that `a[1][2]` is
//! `array_subscript(array_subscript(a, 1), 2)`. `array_slice` takes a pair of bounds for each
//! dimension that is sliced; where a bound is left out, the caller gives the least or the
//! greatest integer, for slices are cut to the array's bounds. A bound that is NULL makes the
//! slice NULL.

use std::sync::Arc;

use arrow_array::{ArrayRef, UInt32Array};
use arrow_buffer::NullBuffer;
use arrow_select::take::take;

use super::lists::{Lists, Picker, Shape, argument, argument_type, kernel, reformed};
use crate::error::{Error, Result};
use crate::functions::kernel::{Call, Column, I32, Input};
use crate::functions::ordering::depth;
use crate::functions::{Catalogue, scalar};
use crate::types::Type::{AnyArray, AnyElement, Int4};
use crate::values::array_text::MOST_DIMENSIONS;

/// Adds subscripts and slices.
pub(super) fn register(c: &mut Catalogue) {
    c.add(scalar(
        "array_subscript",
        &[AnyArray, Int4],
        AnyElement,
        kernel(subscript),
    ));
    for dimensions in 1..=MOST_DIMENSIONS {
        let mut parameters = vec![AnyArray];
        parameters.resize(1 + 2 * dimensions, Int4);
        c.add(scalar("array_slice", &parameters, AnyArray, kernel(slice)));
    }
}

fn subscript(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let subscripts = argument(columns, 1)?;
    let reader = I32::reader(&subscripts.array)?;
    let places = (0..call.rows).map(|row| {
        let range = lists.range(row)?;
        if subscripts.is_null(row) {
            return None;
        }
        let subscript = I32::get(&reader, &subscripts.array, subscripts.at(row));
        let at = usize::try_from(subscript).ok()?.checked_sub(1)?;
        (at < range.len()).then_some((range.start + at) as u32)
    });
    let places = places.collect::<UInt32Array>();
    let values = reformed(&lists.values, call.returns)?;
    Ok(take(&values, &places, None)?)
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
    let ty = argument_type(call, 0)?;
    let levels = depth(ty);
    let lists = Lists::of(argument(columns, 0)?)?;
    let bounds = columns.iter().skip(1);
    let bounds = bounds.map(|column| integers(column, call.rows));
    let bounds = bounds.collect::<Result<Vec<_>>>()?;
    let mut shape = Shape::new(levels);
    let (values, _) = lists.flat(0, if call.rows == 0 { 0 } else { levels });
    let values = match call.rows {
        0 => arrow_array::new_empty_array(&ty.innermost().arrow()),
        _ => Arc::clone(values),
    };
    let mut picker = Picker::new(call.returns.innermost(), &[&values], call.rows)?;
    let mut valid = Vec::with_capacity(call.rows);
    for row in 0..call.rows {
        let of_row = bounds.iter().map(|bound| bound.get(row).copied().flatten());
        let of_row = of_row.collect::<Option<Vec<i32>>>();
        let (Some(_), Some(of_row)) = (lists.range(row), of_row) else {
            shape.push(&[])?;
            picker.end_row()?;
            valid.push(false);
            continue;
        };
        valid.push(true);
        let lengths = lists.dimensions(row, levels);
        let ranges = sliced(&lengths, &of_row);
        let (_, range) = lists.flat(row, levels);
        if lengths.iter().product::<usize>() != range.len() && !lengths.is_empty() {
            return Err(Error::new(
                "2202E",
                "multidimensional arrays must have sub-arrays with matching dimensions",
            ));
        }
        pick(&mut picker, range.start, &lengths, &ranges);
        picker.end_row()?;
        let lengths: Vec<usize> = ranges.iter().map(|(low, high)| high - low).collect();
        shape.push(&lengths)?;
    }
    shape.around(picker.values()?, Some(NullBuffer::from(valid)))
}

/// The places, from 0, that bounds leave of each dimension; none if nothing is left.
fn sliced(lengths: &[usize], bounds: &[i32]) -> Vec<(usize, usize)> {
    if bounds.len() > 2 * lengths.len() {
        return Vec::new();
    }
    let mut ranges = Vec::with_capacity(lengths.len());
    for (at, length) in lengths.iter().enumerate() {
        let bound = |which: usize| bounds.get(2 * at + which).copied();
        let low = bound(0).map_or(0, |low| i64::from(low).max(1) as usize - 1);
        let high = bound(1).map_or(*length, |high| {
            (i64::from(high).max(0) as usize).min(*length)
        });
        if low >= high {
            return Vec::new();
        }
        ranges.push((low, high));
    }
    ranges
}

/// Picks the elements of the ranges of an array, whose elements begin at a place.
fn pick(picker: &mut Picker, start: usize, lengths: &[usize], ranges: &[(usize, usize)]) {
    let (Some((length, inner)), Some(((low, high), rest))) =
        (lengths.split_first(), ranges.split_first())
    else {
        return;
    };
    debug_assert!(high <= length);
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

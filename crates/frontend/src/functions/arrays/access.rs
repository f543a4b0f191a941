//! Elements and slices of arrays: `a[2]`, `a[1][2]`, `a[1:2][2:3]`.
//!
//! `array_subscript` takes one subscript for each dimension: of an array of another number of
//! dimensions the element is NULL. `array_slice` takes a pair of bounds for each dimension that
//! is sliced; where a bound is left out, the caller gives the least or the greatest integer, for
//! slices are cut to the array's bounds. A bound that is NULL makes the slice NULL. Slices begin
//! at 1.

use arrow_array::{ArrayRef, UInt32Array};
use arrow_select::take::take;

use super::lists::{Lists, MOST_ELEMENTS, Picker, argument, kernel, reformed, too_many_elements};
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
        let mut parameters = vec![AnyArray, AnyElement];
        parameters.resize(2 + dimensions, Int4);
        let put = scalar("array_put", &parameters, AnyArray, kernel(put));
        c.add(put.with_nulls());
        let mut parameters = vec![AnyArray, AnyArray];
        parameters.resize(2 + 2 * dimensions, Int4);
        let put = scalar("array_put_slice", &parameters, AnyArray, kernel(put_slice));
        c.add(put.with_nulls());
    }
}

/// The subscripts of a row's assignment, which are none if the array stays as it is.
fn subscripts_of(all: &[Vec<Option<i32>>], row: usize) -> Result<Vec<i32>> {
    of_row(all, row)
        .ok_or_else(|| Error::new("22004", "array subscript in assignment must not be null"))
}

fn wrong_count() -> Error {
    Error::new("2202E", "wrong number of array subscripts")
}

fn out_of_range() -> Error {
    Error::new("2202E", "array subscript out of range")
}

/// An array with another element: `array_put(array, element, subscript, …)`.
fn put(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let value = argument(columns, 1)?;
    let all = columns.iter().skip(2);
    let all: Vec<Vec<Option<i32>>> = all
        .map(|column| integers(column, call.rows))
        .collect::<Result<_>>()?;
    let element = call.returns.innermost();
    let mut picker = Picker::new(element, &[&lists.values, &value.array], call.rows)?;
    for row in 0..call.rows {
        let subscripts = subscripts_of(&all, row)?;
        let (bounds, range) = (lists.bounds(row), lists.range(row).unwrap_or(0..0));
        let at = value.at(row);
        if bounds.dimensions() == 0 {
            picker.pick(1, at);
            picker.end_bounded(&Bounds {
                lengths: vec![1; subscripts.len()],
                lows: subscripts,
            })?;
            continue;
        }
        if bounds.dimensions() != subscripts.len() {
            return Err(wrong_count());
        }
        match (subscripts.as_slice(), bounds.lows.as_slice()) {
            ([subscript], [low]) => {
                let span = [i64::from(*subscript), i64::from(*subscript)];
                let (before, grown) = grown(*low, range.len(), span)?;
                let place = usize::try_from(span[0] - i64::from(grown.lows[0])).unwrap_or(0);
                for to in 0..grown.lengths[0] {
                    match to.checked_sub(before).filter(|from| *from < range.len()) {
                        _ if to == place => picker.pick(1, at),
                        Some(from) => picker.pick(0, range.start + from),
                        None => picker.pick_null(),
                    }
                }
                picker.end_bounded(&grown)?;
            }
            _ => {
                let place = place(&bounds, &subscripts).ok_or_else(out_of_range)?;
                picker.pick_all(0, range.start..range.start + place);
                picker.pick(1, at);
                picker.pick_all(0, range.start + place + 1..range.end);
                picker.end_bounded(&bounds)?;
            }
        }
    }
    picker.finish()
}

/// Most elements of an array that an assignment makes: one subscript may ask for very many.
const MOST_GROWN: usize = 1 << 24;

/// How an array of one dimension grows so that a span of subscripts is in it: how many elements
/// come before it, and its bounds then.
fn grown(low: i32, length: usize, span: [i64; 2]) -> Result<(usize, Bounds)> {
    let end = i64::from(low) + length as i64;
    let (first, last) = (span[0].min(low.into()), end.max(span[1] + 1));
    let length = usize::try_from(last - first).map_err(|_| too_many_elements())?;
    if length > MOST_GROWN {
        let message = format!("an assignment makes arrays of at most {MOST_GROWN} elements");
        return Err(Error::new("54000", message));
    }
    let before = usize::try_from(i64::from(low) - first).unwrap_or(0);
    let lows = vec![i32::try_from(first).map_err(|_| out_of_range())?];
    let lengths = vec![length];
    Ok((before, Bounds { lengths, lows }))
}

/// An array with another slice: `array_put_slice(array, slice, low, high, …)`. A bound that is
/// the least or the greatest integer is left out.
fn put_slice(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let slices = Lists::of(argument(columns, 1)?)?;
    let all = columns.iter().skip(2);
    let all: Vec<Vec<Option<i32>>> = all
        .map(|column| integers(column, call.rows))
        .collect::<Result<_>>()?;
    let element = call.returns.innermost();
    let mut picker = Picker::new(element, &[&lists.values, &slices.values], call.rows)?;
    for row in 0..call.rows {
        let wanted = subscripts_of(&all, row)?;
        let (bounds, range) = (lists.bounds(row), lists.range(row).unwrap_or(0..0));
        let Some(slice) = slices.range(row) else {
            picker.pick_all(0, range);
            picker.end_bounded(&bounds)?;
            continue;
        };
        let count = wanted.len() / 2;
        let pairs = wanted.chunks_exact(2).map(|pair| (pair[0], pair[1]));
        if bounds.dimensions() == 0 {
            let (mut lengths, mut lows) = (Vec::new(), Vec::new());
            for (low, high) in pairs {
                if low == i32::MIN || high == i32::MAX {
                    let message = "array slice subscript must provide both boundaries";
                    return Err(Error::new("2202E", message).with_detail(
                        "When assigning to a slice of an empty array value, slice boundaries \
                         must be fully specified.",
                    ));
                }
                lengths.push(between(low, high)?);
                lows.push(low);
            }
            let all = lengths
                .iter()
                .try_fold(1usize, |all, n| all.checked_mul(*n));
            let all = all.filter(|all| *all <= MOST_ELEMENTS);
            let all = all.ok_or_else(too_many_elements)?;
            if all == 0 {
                picker.end_bounded(&Bounds::default())?;
                continue;
            }
            if slice.len() < all {
                return Err(too_small());
            }
            picker.pick_all(1, slice.start..slice.start + all);
            picker.end_bounded(&Bounds { lengths, lows })?;
            continue;
        }
        if bounds.dimensions() < count {
            return Err(wrong_count());
        }
        if let ([length], [low]) = (bounds.lengths.as_slice(), bounds.lows.as_slice()) {
            let (first, last) = match wanted.as_slice() {
                [first, last] => (*first, *last),
                _ => return Err(wrong_count()),
            };
            let first = if first == i32::MIN { *low } else { first };
            let end = i64::from(*low) + *length as i64 - 1;
            let last = match last {
                i32::MAX => i32::try_from(end).map_err(|_| out_of_range())?,
                last => last,
            };
            let width = between(first, last)?;
            let span = [i64::from(first), i64::from(first) + width as i64 - 1];
            if width == 0 {
                picker.pick_all(0, range);
                picker.end_bounded(&bounds)?;
                continue;
            }
            let (before, grown) = grown(*low, *length, span)?;
            if slice.len() < width {
                return Err(too_small());
            }
            let place = usize::try_from(span[0] - i64::from(grown.lows[0])).unwrap_or(0);
            for to in 0..grown.lengths[0] {
                let from = to.checked_sub(before).filter(|from| from < length);
                match (to.checked_sub(place).filter(|at| *at < width), from) {
                    (Some(at), _) => picker.pick(1, slice.start + at),
                    (None, Some(from)) => picker.pick(0, range.start + from),
                    (None, None) => picker.pick_null(),
                }
            }
            picker.end_bounded(&grown)?;
            continue;
        }
        // Places, from 0, that the slice takes in each dimension.
        let mut ranges = Vec::with_capacity(bounds.dimensions());
        for (at, (length, low)) in bounds.lengths.iter().zip(&bounds.lows).enumerate() {
            let (mut first, mut end) = (0, *length as i64);
            if let Some(pair) = wanted.get(2 * at..2 * at + 2) {
                if pair[0] != i32::MIN {
                    first = i64::from(pair[0]) - i64::from(*low);
                }
                if pair[1] != i32::MAX {
                    end = i64::from(pair[1]) - i64::from(*low) + 1;
                }
                if end < first {
                    return Err(reversed());
                }
                if first < 0 || end > *length as i64 {
                    return Err(out_of_range());
                }
            }
            ranges.push((first as usize)..(end as usize));
        }
        let all: usize = ranges.iter().map(ExactSizeIterator::len).product();
        if slice.len() < all {
            return Err(too_small());
        }
        let mut taken = slice.start;
        for place in 0..range.len() {
            let mut rest = place;
            let mut inside = true;
            for (length, range) in bounds.lengths.iter().zip(&ranges).rev() {
                inside &= range.contains(&(rest % length));
                rest /= length;
            }
            match inside {
                true => {
                    picker.pick(1, taken);
                    taken += 1;
                }
                false => picker.pick(0, range.start + place),
            }
        }
        picker.end_bounded(&bounds)?;
    }
    picker.finish()
}

/// The subscripts from one to another.
fn between(low: i32, high: i32) -> Result<usize> {
    let width = i64::from(high) - i64::from(low) + 1;
    usize::try_from(width).map_err(|_| reversed())
}

fn reversed() -> Error {
    Error::new("2202E", "upper bound cannot be less than lower bound")
}

fn too_small() -> Error {
    Error::new("2202E", "source array too small")
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

//! Functions of arrays, in the order of PostgreSQL's chapter "Array Functions and Operators".

use std::sync::Arc;

use arrow_array::builder::StringViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int32Array, UInt32Array};
use arrow_buffer::NullBuffer;
use arrow_select::take::take;

use super::access::integers;
use super::casts::output;
use super::lists::{Lists, MOST_ELEMENTS, Picker, too_many_elements};
use super::lists::{argument, argument_type, element_of, kernel, reformed};
use crate::error::{Error, Result};
use crate::functions::kernel::{Call, Column, Input, Kernel, Str};
use crate::functions::ordering::equality;
use crate::functions::{Catalogue, scalar};
use crate::types::Type::{AnyArray, AnyCompatible, AnyCompatibleArray, AnyElement, Int4, Text};
use crate::types::arrays::{Bounds, Maker};
use crate::values::array_text::{MOST_DIMENSIONS, too_many_dimensions};
use crate::values::bounds::check_bounds;

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    let ints = Int4.array();
    c.add(scalar("array_dims", &[AnyArray], Text, kernel(dims)));
    c.add(scalar(
        "array_ndims",
        &[AnyArray],
        Int4,
        lengths(|all, _| some(all.dimensions())),
    ));
    let dimension = [AnyArray, Int4];
    let length = |all: &Bounds, at: i32| all.dimension(at).map(|(length, _)| length as i32);
    c.add(scalar("array_length", &dimension, Int4, lengths(length)));
    let upper = |all: &Bounds, at: i32| {
        let (length, low) = all.dimension(at)?;
        i32::try_from(i64::from(low) + length as i64 - 1).ok()
    };
    c.add(scalar("array_upper", &dimension, Int4, lengths(upper)));
    let lower = |all: &Bounds, at: i32| all.dimension(at).map(|(_, low)| low);
    c.add(scalar("array_lower", &dimension, Int4, lengths(lower)));
    c.add(scalar(
        "cardinality",
        &[AnyArray],
        Int4,
        kernel(cardinality),
    ));

    let filled = [AnyElement, ints.clone(), ints.clone()];
    c.add(scalar("array_fill", &filled[..2], AnyArray, kernel(fill)).with_nulls());
    c.add(scalar("array_fill", &filled, AnyArray, kernel(fill)).with_nulls());

    let search = [AnyCompatibleArray, AnyCompatible];
    let from = [AnyCompatibleArray, AnyCompatible, Int4];
    for name in [
        "array_position",
        "list_position",
        "list_indexof",
        "array_indexof",
    ] {
        c.add(scalar(name, &search, Int4, kernel(position)).with_nulls());
    }
    c.add(scalar("array_position", &from, Int4, kernel(position)).with_nulls());
    c.add(scalar("array_positions", &search, ints, kernel(positions)).with_nulls());
    c.add(scalar("array_remove", &search, AnyCompatibleArray, kernel(remove)).with_nulls());
    let pair = [AnyCompatibleArray, AnyCompatible, AnyCompatible];
    c.add(scalar("array_replace", &pair, AnyCompatibleArray, kernel(replace)).with_nulls());
    c.add(scalar("array_to_string", &[AnyArray, Text], Text, kernel(join)).stable());
    let with_null = scalar(
        "array_to_string",
        &[AnyArray, Text, Text],
        Text,
        kernel(join),
    );
    c.add(with_null.with_nulls().stable());
    c.add(scalar(
        "trim_array",
        &[AnyArray, Int4],
        AnyArray,
        kernel(trim),
    ));
    c.add(scalar("array_shuffle", &[AnyArray], AnyArray, sampled(false)).volatile());
    c.add(scalar("array_sample", &[AnyArray, Int4], AnyArray, sampled(true)).volatile());
}

fn some(count: usize) -> Option<i32> {
    (count > 0).then_some(count as i32)
}

/// A kernel of an array's bounds, and of which dimension is asked for.
fn lengths(f: impl Fn(&Bounds, i32) -> Option<i32> + Send + Sync + 'static) -> Kernel {
    kernel(move |call, columns| {
        let lists = Lists::of(argument(columns, 0)?)?;
        let which = columns.get(1).map(|column| integers(column, call.rows));
        let which = which.transpose()?;
        let result = (0..call.rows).map(|row| {
            lists.range(row)?;
            let at = match &which {
                Some(which) => which.get(row).copied().flatten()?,
                None => 0,
            };
            f(&lists.bounds(row), at)
        });
        Ok(Arc::new(result.collect::<Int32Array>()))
    })
}

fn dims(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let mut result = StringViewBuilder::with_capacity(call.rows);
    for row in 0..call.rows {
        let text = lists.bounds(row).text();
        result.append_option((!text.is_empty()).then_some(text));
    }
    Ok(Arc::new(result.finish()))
}

fn cardinality(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let count = |row| lists.range(row).map(|range| range.len() as i32);
    Ok(Arc::new((0..call.rows).map(count).collect::<Int32Array>()))
}

/// `array_fill(value, lengths[, lower bounds])`.
fn fill(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let value = argument(columns, 0)?;
    let lists = Lists::of(argument(columns, 1)?)?;
    let bounds = columns.get(2).map(Lists::of).transpose()?;
    let null = || Error::new("22004", "dimension array or low bound array cannot be null");
    let subscripts =
        |detail: &str| Error::new("2202E", "wrong number of array subscripts").with_detail(detail);
    let numbers = |lists: &Lists<'_>, row| -> Result<Vec<i32>> {
        let range = lists.range(row).ok_or_else(null)?;
        if lists.bounds(row).dimensions() > 1 {
            return Err(subscripts("Dimension array must be one dimensional."));
        }
        let values = lists
            .values
            .as_primitive_opt::<arrow_array::types::Int32Type>();
        let values = values.ok_or_else(|| Error::internal("dimensions that are no INTEGER"))?;
        let value = |at| (!values.is_null(at)).then(|| values.value(at));
        let numbers = range.map(value).collect::<Option<Vec<_>>>();
        numbers.ok_or_else(|| Error::new("22004", "dimension values cannot be null"))
    };
    let element = argument_type(call, 0)?;
    let mut maker = Maker::new(call.rows);
    let width = element.arrow().primitive_width().unwrap_or(16);
    let mut places: Vec<u32> = Vec::new();
    for row in 0..call.rows {
        if lists.range(row).is_none() || bounds.as_ref().is_some_and(|b| b.range(row).is_none()) {
            return Err(null());
        }
        let given = numbers(&lists, row)?;
        if given.len() > MOST_DIMENSIONS {
            return Err(too_many_dimensions(given.len()));
        }
        let lows = bounds.as_ref().map(|bounds| numbers(bounds, row));
        let lows = lows.transpose()?.unwrap_or_else(|| vec![1; given.len()]);
        if lows.len() != given.len() {
            return Err(subscripts(
                "Low bound array has different size than dimensions array.",
            ));
        }
        let mut count = usize::from(!given.is_empty());
        let mut lengths = Vec::with_capacity(given.len());
        for size in given {
            let size = usize::try_from(size).map_err(|_| too_many_elements())?;
            lengths.push(size);
            count = count.saturating_mul(size);
        }
        let total = places.len().saturating_add(count);
        if total > MOST_ELEMENTS {
            return Err(too_many_elements());
        }
        let filled = Bounds { lengths, lows };
        check_bounds(&filled)?;
        if count == 0 {
            maker.plain(0)?;
            continue;
        }
        if total.saturating_mul(width) > 1 << 30 {
            let message = "array size exceeds the maximum allowed (1073741823)";
            return Err(Error::new("54000", message));
        }
        maker.bounded(&filled)?;
        places.resize(total, value.at(row) as u32);
    }
    let values = reformed(&value.array, element)?;
    maker.finish(take(&values, &UInt32Array::from(places), None)?, None)
}

/// Refuses arrays of several dimensions.
fn one_dimension(bounds: &Bounds, doing: &str) -> Result<()> {
    match bounds.dimensions() {
        0 | 1 => Ok(()),
        _ => Err(Error::unsupported(format!(
            "{doing} elements in multidimensional arrays is not supported"
        ))),
    }
}

/// The subscript of an element of an array of one dimension.
fn subscript_of(bounds: &Bounds, at: usize) -> i32 {
    let low = bounds.lows.first().copied().unwrap_or(1);
    i32::try_from(i64::from(low) + at as i64).unwrap_or(i32::MAX)
}

fn position(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let wanted = argument(columns, 1)?;
    let starts = columns.get(2).map(|column| integers(column, call.rows));
    let starts = starts.transpose()?;
    let same = equality(element_of(argument_type(call, 0)?))?;
    let mut result = Vec::with_capacity(call.rows);
    for row in 0..call.rows {
        let bounds = lists.bounds(row);
        one_dimension(&bounds, "searching for")?;
        // The start is not looked at where there is nothing to search.
        let Some(range) = lists.range(row).filter(|range| !range.is_empty()) else {
            result.push(None);
            continue;
        };
        // Nor where NULL is looked for in an array without any.
        if wanted.is_null(row) && !range.clone().any(|at| lists.values.is_null(at)) {
            result.push(None);
            continue;
        }
        let mut least = i32::MIN;
        if let Some(starts) = &starts {
            let start = starts.get(row).copied().flatten();
            least =
                start.ok_or_else(|| Error::new("22004", "initial position must not be null"))?;
        }
        let is = |at: &usize| same(&lists.values, *at, &wanted.array, wanted.at(row)).is_eq();
        let first = range.start;
        let mut range = range.filter(|at| subscript_of(&bounds, at - first) >= least);
        let found = range.find(is);
        result.push(found.map(|at| subscript_of(&bounds, at - first)));
    }
    Ok(Arc::new(Int32Array::from(result)))
}

fn positions(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let wanted = argument(columns, 1)?;
    let same = equality(element_of(argument_type(call, 0)?))?;
    let (mut found, mut valid) = (Vec::new(), Vec::with_capacity(call.rows));
    let mut maker = Maker::new(call.rows);
    for row in 0..call.rows {
        let range = lists.range(row);
        valid.push(range.is_some());
        let bounds = lists.bounds(row);
        one_dimension(&bounds, "searching for")?;
        let range = range.unwrap_or_default();
        let (first, before) = (range.start, found.len());
        let is = |at: &usize| same(&lists.values, *at, &wanted.array, wanted.at(row)).is_eq();
        let subscripts = range.filter(is).map(|at| subscript_of(&bounds, at - first));
        found.extend(subscripts);
        maker.plain(found.len() - before)?;
    }
    let found = Arc::new(Int32Array::from(found));
    maker.finish(found, Some(NullBuffer::from(valid)))
}

fn remove(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let unwanted = argument(columns, 1)?;
    let same = equality(element_of(argument_type(call, 0)?))?;
    let mut picker = Picker::new(element_of(call.returns), &[&lists.values], call.rows)?;
    for row in 0..call.rows {
        let Some(range) = lists.range(row) else {
            picker.null_row()?;
            continue;
        };
        let mut bounds = lists.bounds(row);
        one_dimension(&bounds, "removing").map_err(|error| Error {
            message: error.message.replace("elements in", "elements from"),
            ..error
        })?;
        for at in range {
            if same(&lists.values, at, &unwanted.array, unwanted.at(row)).is_ne() {
                picker.pick(0, at);
            }
        }
        match (picker.count(), bounds.lengths.first_mut()) {
            (0, _) => bounds = Bounds::default(),
            (left, Some(length)) => *length = left,
            _ => {}
        }
        picker.end_bounded(&bounds)?;
    }
    picker.finish()
}

fn replace(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let (old, new) = (argument(columns, 1)?, argument(columns, 2)?);
    let element = element_of(call.returns);
    let same = equality(element)?;
    let mut picker = Picker::new(element, &[&lists.values, &new.array], call.rows)?;
    for row in 0..call.rows {
        let Some(range) = lists.range(row) else {
            picker.null_row()?;
            continue;
        };
        for at in range {
            match same(&lists.values, at, &old.array, old.at(row)).is_eq() {
                true => picker.pick(1, new.at(row)),
                false => picker.pick(0, at),
            }
        }
        picker.end_bounded(&lists.bounds(row))?;
    }
    picker.finish()
}

/// `array_to_string(array, delimiter[, text for NULL])`.
fn join(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let ty = argument_type(call, 0)?;
    let lists = Lists::of(argument(columns, 0)?)?;
    let delimiters = argument(columns, 1)?;
    let delimiter = Str::reader(&delimiters.array)?;
    let for_null = columns.get(2);
    let null_text = for_null
        .map(|column| Str::reader(&column.array))
        .transpose()?;
    if call.rows == 0 {
        return Ok(Arc::new(StringViewBuilder::new().finish()));
    }
    let values = output(&lists.values, ty.innermost(), call.session)?;
    let values = Str::reader(&values)?;
    let mut result = StringViewBuilder::with_capacity(call.rows);
    for row in 0..call.rows {
        let Some(range) = lists.range(row).filter(|_| !delimiters.is_null(row)) else {
            result.append_null();
            continue;
        };
        let delimiter = delimiter.value(delimiters.at(row));
        let null = for_null.zip(null_text).and_then(|(column, texts)| {
            (!column.is_null(row)).then(|| texts.value(column.at(row)))
        });
        let (mut text, mut first) = (String::new(), true);
        for at in range {
            let element = if values.is_null(at) {
                null
            } else {
                Some(values.value(at))
            };
            let Some(element) = element else { continue };
            if !first {
                text.push_str(delimiter);
            }
            first = false;
            text.push_str(element);
            if text.len() > 1 << 30 {
                return Err(Error::new("54000", "requested length too large"));
            }
        }
        result.append_value(text);
    }
    Ok(Arc::new(result.finish()))
}

fn trim(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let counts = integers(argument(columns, 1)?, call.rows)?;
    let mut picker = Picker::new(element_of(call.returns), &[&lists.values], call.rows)?;
    for (row, count) in counts.into_iter().enumerate() {
        let (Some(range), Some(count)) = (lists.range(row), count) else {
            picker.null_row()?;
            continue;
        };
        let bounds = lists.bounds(row);
        let length = bounds.lengths.first().copied().unwrap_or(0);
        let count = usize::try_from(count).ok().filter(|n| *n <= length);
        let Some(count) = count else {
            return Err(Error::new(
                "2202E",
                format!("number of elements to trim must be between 0 and {length}"),
            ));
        };
        let mut lengths = bounds.lengths;
        if let Some(length) = lengths.first_mut() {
            *length -= count;
        }
        if lengths.first() == Some(&0) {
            lengths.clear();
        }
        let kept = match lengths.is_empty() {
            true => 0,
            false => lengths.iter().product(),
        };
        picker.pick_all(0, range.start..range.start + kept);
        picker.end_bounded(&Bounds::of(lengths))?;
    }
    picker.finish()
}

/// Elements of the first dimension in a random order: all, or as many as asked for.
fn sampled(some: bool) -> Kernel {
    kernel(move |call, columns| {
        let lists = Lists::of(argument(columns, 0)?)?;
        let counts = match some {
            true => Some(integers(argument(columns, 1)?, call.rows)?),
            false => None,
        };
        let mut picker = Picker::new(element_of(call.returns), &[&lists.values], call.rows)?;
        for row in 0..call.rows {
            let count = match &counts {
                Some(counts) => counts.get(row).copied().flatten(),
                None => Some(i32::MAX),
            };
            let (Some(range), Some(count)) = (lists.range(row), count) else {
                picker.null_row()?;
                continue;
            };
            let mut bounds = lists.bounds(row);
            let most = bounds.lengths.first().copied().unwrap_or(0);
            let size = range.len().checked_div(most).unwrap_or(0);
            let wanted = match some {
                true => usize::try_from(count).ok().filter(|n| *n <= most),
                false => Some(most),
            };
            let Some(wanted) = wanted else {
                let message = format!("sample size must be between 0 and {most}");
                return Err(Error::new("22023", message));
            };
            let mut places: Vec<usize> = (0..most).collect();
            for at in 0..wanted {
                let other = at + below((most - at) as u64)? as usize;
                places.swap(at, other);
                let start = range.start + places.get(at).copied().unwrap_or_default() * size;
                picker.pick_all(0, start..start + size);
            }
            if let Some(length) = bounds.lengths.first_mut() {
                *length = wanted;
            }
            if wanted == 0 {
                bounds = Bounds::default();
            }
            picker.end_bounded(&bounds)?;
        }
        picker.finish()
    })
}

/// A random number below another.
fn below(limit: u64) -> Result<u64> {
    let number = getrandom::u64();
    let number = number.map_err(|error| Error::internal(format!("no random numbers: {error}")))?;
    Ok(((u128::from(number) * u128::from(limit)) >> 64) as u64)
}

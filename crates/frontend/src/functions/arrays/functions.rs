//! Functions of arrays, in the order of PostgreSQL's chapter "Array Functions and Operators".
//!
//! Left out: lower bounds other than 1, of which `array_fill` takes a third argument, and
//! results whose number of dimensions depends on a value: `array_fill(1, ARRAY[2,3])` gives an
//! array of two dimensions only where the call's result type has two.

use std::sync::Arc;

use arrow_array::builder::StringViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int32Array, UInt32Array};
use arrow_buffer::NullBuffer;
use arrow_select::take::take;

use super::access::integers;
use super::casts::{apply, output};
use super::lists::{Lists, MOST_ELEMENTS, Picker, Shape, too_many_elements};
use super::lists::{argument, argument_type, element_of, kernel, reformed};
use crate::error::{Error, Result};
use crate::functions::kernel::{Call, Column, Input, Kernel, Str};
use crate::functions::ordering::{depth, equality};
use crate::functions::{Catalogue, Returns, cast_between, scalar};
use crate::types::Type::{
    self, AnyArray, AnyCompatible, AnyCompatibleArray, AnyElement, Int4, Text,
};
use crate::values::array_text::{MOST_DIMENSIONS, too_many_dimensions};

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    let ints = Int4.array();
    c.add(scalar("array_dims", &[AnyArray], Text, kernel(dims)));
    c.add(scalar(
        "array_ndims",
        &[AnyArray],
        Int4,
        lengths(|all, _| some(all.len())),
    ));
    let dimension = [AnyArray, Int4];
    let length = |all: &[usize], at: i32| {
        let at = usize::try_from(at).ok()?.checked_sub(1)?;
        all.get(at).map(|length| *length as i32)
    };
    c.add(scalar("array_length", &dimension, Int4, lengths(length)));
    c.add(scalar("array_upper", &dimension, Int4, lengths(length)));
    let lower = move |all: &[usize], at: i32| length(all, at).map(|_| 1);
    c.add(scalar("array_lower", &dimension, Int4, lengths(lower)));
    c.add(scalar(
        "cardinality",
        &[AnyArray],
        Int4,
        kernel(cardinality),
    ));

    let filled = || {
        Returns::Of(Arc::new(|types: &[Type]| {
            types.first().cloned().unwrap_or(Text).array()
        }))
    };
    c.add(
        scalar(
            "array_fill",
            &[AnyElement, ints.clone()],
            filled(),
            kernel(fill),
        )
        .with_nulls(),
    );
    let bounds = [AnyElement, ints.clone(), ints.clone()];
    c.add(scalar("array_fill", &bounds, filled(), kernel(fill)).with_nulls());

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
    // Of arrays of several dimensions, single elements are replaced.
    let same = Returns::Of(Arc::new(|types: &[Type]| {
        types.first().cloned().unwrap_or(Text)
    }));
    let any = [AnyArray, Type::Any, Type::Any];
    c.add(scalar("array_replace", &any, same, kernel(replace)).with_nulls());
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

/// A kernel of an array's dimensions, and of which of them is asked for.
fn lengths(f: impl Fn(&[usize], i32) -> Option<i32> + Send + Sync + 'static) -> Kernel {
    kernel(move |call, columns| {
        let levels = depth(argument_type(call, 0)?);
        let lists = Lists::of(argument(columns, 0)?)?;
        let which = columns.get(1).map(|column| integers(column, call.rows));
        let which = which.transpose()?;
        let result = (0..call.rows).map(|row| {
            lists.range(row)?;
            let at = match &which {
                Some(which) => which.get(row).copied().flatten()?,
                None => 0,
            };
            f(&lists.dimensions(row, levels), at)
        });
        Ok(Arc::new(result.collect::<Int32Array>()))
    })
}

fn dims(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let levels = depth(argument_type(call, 0)?);
    let lists = Lists::of(argument(columns, 0)?)?;
    let mut result = StringViewBuilder::with_capacity(call.rows);
    for row in 0..call.rows {
        let lengths = match lists.range(row) {
            Some(_) => lists.dimensions(row, levels),
            None => Vec::new(),
        };
        let text: String = lengths.iter().map(|n| format!("[1:{n}]")).collect();
        result.append_option((!text.is_empty()).then_some(text));
    }
    Ok(Arc::new(result.finish()))
}

fn cardinality(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let levels = depth(argument_type(call, 0)?);
    let lists = Lists::of(argument(columns, 0)?)?;
    let count = |row| {
        lists
            .range(row)
            .map(|_| lists.flat(row, levels).1.len() as i32)
    };
    Ok(Arc::new((0..call.rows).map(count).collect::<Int32Array>()))
}

/// `array_fill(value, lengths[, lower bounds])`.
fn fill(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let value = argument(columns, 0)?;
    let lists = Lists::of(argument(columns, 1)?)?;
    let bounds = columns.get(2).map(Lists::of).transpose()?;
    let null = || Error::new("22004", "dimension array or low bound array cannot be null");
    let numbers = |lists: &Lists<'_>, row| -> Result<Vec<i32>> {
        let range = lists.range(row).ok_or_else(null)?;
        let values = lists
            .values
            .as_primitive_opt::<arrow_array::types::Int32Type>();
        let values = values.ok_or_else(|| Error::internal("dimensions that are no INTEGER"))?;
        let value = |at| (!values.is_null(at)).then(|| values.value(at));
        let numbers = range.map(value).collect::<Option<Vec<_>>>();
        numbers.ok_or_else(|| Error::new("22004", "dimension values cannot be null"))
    };
    let element = argument_type(call, 0)?;
    let levels = depth(call.returns).saturating_sub(depth(element));
    let mut shape = Shape::new(levels);
    let width = element.arrow().primitive_width().unwrap_or(16);
    let mut places: Vec<u32> = Vec::new();
    for row in 0..call.rows {
        let given = numbers(&lists, row)?;
        let lower = bounds
            .as_ref()
            .map(|bounds| numbers(bounds, row))
            .transpose()?;
        if given.len() > MOST_DIMENSIONS {
            return Err(too_many_dimensions(given.len()));
        }
        if let Some(lower) = lower {
            if lower.len() != given.len() {
                return Err(Error::new("2202E", "wrong number of array subscripts")
                    .with_detail("Low bound array has different size than dimensions array."));
            }
            if lower.iter().any(|bound| *bound != 1) {
                return Err(Error::unsupported(
                    "arrays with lower bounds other than 1 are not supported",
                ));
            }
        }
        let mut count = usize::from(!given.is_empty());
        let mut sizes = Vec::with_capacity(given.len());
        for size in given {
            let size = usize::try_from(size).map_err(|_| too_many_elements())?;
            sizes.push(size);
            count = count.saturating_mul(size);
        }
        let total = places.len().saturating_add(count);
        if total > MOST_ELEMENTS {
            return Err(too_many_elements());
        }
        if total.saturating_mul(width) > 1 << 30 {
            let message = "array size exceeds the maximum allowed (1073741823)";
            return Err(Error::new("54000", message));
        }
        if count == 0 {
            sizes.clear();
        } else if sizes.len() != levels {
            return Err(Error::unsupported(format!(
                "array_fill with {} dimensions is not supported here",
                sizes.len()
            )));
        }
        shape.push(&sizes)?;
        places.resize(total, value.at(row) as u32);
    }
    let values = reformed(&value.array, element)?;
    shape.around(take(&values, &UInt32Array::from(places), None)?, None)
}

/// Refuses arrays of several dimensions.
fn one_dimension(call: &Call<'_>, doing: &str) -> Result<()> {
    match depth(argument_type(call, 0)?) {
        0 | 1 => Ok(()),
        _ => Err(Error::unsupported(format!(
            "{doing} elements in multidimensional arrays is not supported"
        ))),
    }
}

fn position(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    one_dimension(call, "searching for")?;
    let lists = Lists::of(argument(columns, 0)?)?;
    let wanted = argument(columns, 1)?;
    let starts = columns.get(2).map(|column| integers(column, call.rows));
    let starts = starts.transpose()?;
    let same = equality(element_of(argument_type(call, 0)?))?;
    let mut result = Vec::with_capacity(call.rows);
    for row in 0..call.rows {
        // The start is not looked at where there is nothing to search.
        let Some(mut range) = lists.range(row).filter(|range| !range.is_empty()) else {
            result.push(None);
            continue;
        };
        let first = range.start;
        // Nor where NULL is looked for in an array without any.
        if wanted.is_null(row) && !range.clone().any(|at| lists.values.is_null(at)) {
            result.push(None);
            continue;
        }
        if let Some(starts) = &starts {
            let start = starts.get(row).copied().flatten();
            let start =
                start.ok_or_else(|| Error::new("22004", "initial position must not be null"))?;
            let skipped = usize::try_from(start).unwrap_or(0).saturating_sub(1);
            range.start = range.start.saturating_add(skipped).min(range.end);
        }
        let is = |at: &usize| same(&lists.values, *at, &wanted.array, wanted.at(row)).is_eq();
        let found = range.into_iter().find(is);
        result.push(found.map(|at| (at - first + 1) as i32));
    }
    Ok(Arc::new(Int32Array::from(result)))
}

fn positions(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    one_dimension(call, "searching for")?;
    let lists = Lists::of(argument(columns, 0)?)?;
    let wanted = argument(columns, 1)?;
    let same = equality(element_of(argument_type(call, 0)?))?;
    let (mut found, mut valid) = (Vec::new(), Vec::with_capacity(call.rows));
    let mut shape = Shape::new(1);
    for row in 0..call.rows {
        let range = lists.range(row);
        valid.push(range.is_some());
        let range = range.unwrap_or_default();
        let (first, before) = (range.start, found.len());
        let is = |at: &usize| same(&lists.values, *at, &wanted.array, wanted.at(row)).is_eq();
        found.extend(range.filter(is).map(|at| (at - first + 1) as i32));
        shape.push(&[found.len() - before])?;
    }
    let found = Arc::new(Int32Array::from(found));
    shape.around(found, Some(NullBuffer::from(valid)))
}

fn remove(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    if depth(argument_type(call, 0)?) > 1 {
        return Err(Error::unsupported(
            "removing elements from multidimensional arrays is not supported",
        ));
    }
    let lists = Lists::of(argument(columns, 0)?)?;
    let unwanted = argument(columns, 1)?;
    let same = equality(element_of(argument_type(call, 0)?))?;
    let mut picker = Picker::new(element_of(call.returns), &[&lists.values], call.rows)?;
    for row in 0..call.rows {
        let Some(range) = lists.range(row) else {
            picker.null_row()?;
            continue;
        };
        for at in range {
            if same(&lists.values, at, &unwanted.array, unwanted.at(row)).is_ne() {
                picker.pick(0, at);
            }
        }
        picker.end_row()?;
    }
    picker.finish()
}

fn replace(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let levels = depth(argument_type(call, 0)?);
    let lists = Lists::of(argument(columns, 0)?)?;
    let inner = call.returns.innermost();
    let element = |at: usize| -> Result<Column> {
        let (column, ty) = (argument(columns, at)?, argument_type(call, at)?);
        if ty.base() == inner.base() {
            return Ok(column.clone());
        }
        let cast = cast_between(ty, inner)
            .filter(|_| depth(ty) == 0)
            .ok_or_else(|| {
                let message = format!("array_replace replaces elements of {inner}, and no {ty}");
                Error::new("42883", message)
            })?;
        Ok(Column {
            array: apply(&cast, &column.array, ty, inner, call.session)?,
            constant: column.constant,
        })
    };
    let (old, new) = (element(1)?, element(2)?);
    let same = equality(argument_type(call, 0)?.innermost())?;
    let values = match call.rows {
        0 => arrow_array::new_empty_array(&inner.arrow()),
        _ => Arc::clone(lists.flat(0, levels).0),
    };
    let mut picker = Picker::new(inner, &[&values, &new.array], call.rows)?;
    let mut shape = Shape::new(levels);
    let mut valid = Vec::with_capacity(call.rows);
    for row in 0..call.rows {
        valid.push(lists.range(row).is_some());
        if lists.range(row).is_none() {
            shape.push(&[])?;
            continue;
        }
        shape.push(&lists.dimensions(row, levels))?;
        for at in lists.flat(row, levels).1 {
            match same(&values, at, &old.array, old.at(row)).is_eq() {
                true => picker.pick(1, new.at(row)),
                false => picker.pick(0, at),
            }
        }
    }
    shape.around(picker.values()?, Some(NullBuffer::from(valid)))
}

/// `array_to_string(array, delimiter[, text for NULL])`.
fn join(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let ty = argument_type(call, 0)?;
    let levels = depth(ty);
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
    let values = output(lists.flat(0, levels).0, ty.innermost(), call.session)?;
    let values = Str::reader(&values)?;
    let mut result = StringViewBuilder::with_capacity(call.rows);
    for row in 0..call.rows {
        if lists.range(row).is_none() || delimiters.is_null(row) {
            result.append_null();
            continue;
        }
        let delimiter = delimiter.value(delimiters.at(row));
        let null = for_null.zip(null_text).and_then(|(column, texts)| {
            (!column.is_null(row)).then(|| texts.value(column.at(row)))
        });
        let (mut text, mut first) = (String::new(), true);
        for at in lists.flat(row, levels).1 {
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
        let count = usize::try_from(count).ok().filter(|n| *n <= range.len());
        let Some(count) = count else {
            return Err(Error::new(
                "2202E",
                format!(
                    "number of elements to trim must be between 0 and {}",
                    range.len()
                ),
            ));
        };
        picker.pick_all(0, range.start..range.end - count);
        picker.end_row()?;
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
            let most = range.len();
            let wanted = match some {
                true => usize::try_from(count).ok().filter(|n| *n <= most),
                false => Some(most),
            };
            let Some(wanted) = wanted else {
                let message = format!("sample size must be between 0 and {most}");
                return Err(Error::new("22023", message));
            };
            let mut places: Vec<usize> = range.collect();
            for at in 0..wanted {
                let other = at + below((most - at) as u64)? as usize;
                places.swap(at, other);
                picker.pick(0, places.get(at).copied().unwrap_or_default());
            }
            picker.end_row()?;
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

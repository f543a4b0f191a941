//! List functions that PostgreSQL does not have and others do: `list_sort`, `list_sum`, `len`.
//!
//! Names and meanings are DuckDB's, and PostgreSQL 18's for `array_sort` and `array_reverse`.
//! Sorting puts NULLs last, and first where it is descending, as ORDER BY does. Counts from the
//! end are negative in `list_slice` and `list_extract`. `list_sum(l)` and its kin are the
//! aggregates of the name over the list's elements; the binder brings `list_aggregate(l, 'sum')`
//! into them.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, UInt32Array};
use arrow_select::concat::concat;
use arrow_select::take::take;

use super::casts::apply;
use super::lists::{Lists, Picker, argument, argument_type, element_of, kernel, reformed};
use crate::error::{Error, Result};
use crate::functions::aggregates::Aggregate;
use crate::functions::kernel::{Bool, Call, Column, I64, Input, Str};
use crate::functions::ordering::{comparator, equality};
use crate::functions::{Catalogue, Resolved, Returns, cast_between, catalogue};
use crate::functions::{resolve_function, scalar};
use crate::types::Type::{self, AnyArray, AnyCompatible, AnyCompatibleArray, AnyElement};
use crate::types::Type::{Int8, Text};

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    let search = [AnyCompatibleArray, AnyCompatible];
    for name in ["list_contains", "list_has", "array_contains", "array_has"] {
        c.add(scalar(name, &search, Type::Bool, kernel(contains)));
    }
    for (name, descending) in [
        ("array_sort", false),
        ("list_sort", false),
        ("array_reverse_sort", true),
        ("list_reverse_sort", true),
    ] {
        let sorted = || kernel(move |call, columns| sort(call, columns, descending));
        c.add(scalar(name, &[AnyArray], AnyArray, sorted()));
        if !descending {
            let flags = [AnyArray, Type::Bool, Type::Bool];
            c.add(scalar(name, &flags[..2], AnyArray, sorted()));
            c.add(scalar(name, &flags, AnyArray, sorted()));
        }
        let words = [AnyArray, Text, Text];
        c.add(scalar(name, &words[..2], AnyArray, sorted()));
        c.add(scalar(name, &words, AnyArray, sorted()));
    }
    for name in ["list_reverse", "array_reverse"] {
        c.add(scalar(name, &[AnyArray], AnyArray, kernel(reverse)));
    }
    for name in ["list_distinct", "array_distinct"] {
        c.add(scalar(name, &[AnyArray], AnyArray, kernel(distinct)));
    }
    for name in ["list_unique", "array_unique"] {
        let count = kernel(|call, columns| counts(call, &distinct(call, columns)?));
        c.add(scalar(name, &[AnyArray], Int8, count));
    }
    let pair = [AnyArray, AnyArray];
    for name in ["list_intersect", "array_intersect"] {
        c.add(scalar(name, &pair, AnyArray, kernel(intersect)));
    }
    for name in ["len", "array_length"] {
        let length = kernel(|call, columns| {
            let lists = Lists::of(argument(columns, 0)?)?;
            let length = |row| {
                let lengths = lists.bounds(row).lengths;
                let length = lengths.first().map_or(0, |length| *length as i64);
                lists.range(row).map(|_| length)
            };
            Ok(Arc::new((0..call.rows).map(length).collect::<Int64Array>()))
        });
        c.add(scalar(name, &[AnyArray], Int8, length));
    }
    let at = [AnyArray, Int8];
    for name in ["list_extract", "list_element", "array_extract"] {
        c.add(scalar(name, &at, AnyElement, kernel(extract)));
    }
    let bounds = [AnyArray, Int8, Int8];
    c.add(scalar("list_slice", &bounds, AnyArray, kernel(slice)).with_nulls());
    c.add(scalar("flatten", &[AnyArray], AnyArray, kernel(flatten)));
    for (name, first) in [("list_first", true), ("list_last", false)] {
        let one = kernel(move |call, columns| end(call, columns, first));
        c.add(scalar(name, &[AnyArray], AnyElement, one));
    }
    for (names, greatest) in [
        (["list_min", "array_min"], false),
        (["list_max", "array_max"], true),
    ] {
        for name in names {
            let one = kernel(move |call, columns| extreme(call, columns, greatest));
            c.add(scalar(name, &[AnyArray], AnyElement, one));
        }
    }
    for (name, aggregate) in [
        ("list_sum", "sum"),
        ("array_sum", "sum"),
        ("list_avg", "avg"),
        ("array_avg", "avg"),
        ("list_count", "count"),
        ("list_any_value", "any_value"),
        ("list_median", "median"),
        ("list_mode", "mode"),
        ("list_product", "product"),
        ("list_string_agg", "string_agg"),
        ("list_stddev_samp", "stddev_samp"),
        ("list_stddev_pop", "stddev_pop"),
        ("list_var_samp", "var_samp"),
        ("list_var_pop", "var_pop"),
        ("list_bool_and", "bool_and"),
        ("list_bool_or", "bool_or"),
        ("list_bit_and", "bit_and"),
        ("list_bit_or", "bit_or"),
        ("list_bit_xor", "bit_xor"),
        ("list_stddev", "stddev"),
        ("list_variance", "variance"),
        ("list_kurtosis", "kurtosis"),
        ("list_skewness", "skewness"),
        ("list_entropy", "entropy"),
        ("list_approx_count_distinct", "approx_count_distinct"),
    ] {
        let returns = Returns::Of(Arc::new(move |types: &[Type]| {
            let found = aggregate_of(aggregate, types);
            found.map_or(Text, |found| found.returns)
        }));
        let made = kernel(move |call, columns| aggregated(call, columns, aggregate));
        c.add(scalar(name, &[AnyArray], returns, made));
    }
}

fn contains(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let wanted = argument(columns, 1)?;
    let same = equality(element_of(argument_type(call, 0)?))?;
    let result = (0..call.rows).map(|row| {
        let mut range = lists.range(row)?;
        (!wanted.is_null(row))
            .then(|| range.any(|at| same(&lists.values, at, &wanted.array, wanted.at(row)).is_eq()))
    });
    Ok(Arc::new(result.collect::<BooleanArray>()))
}

/// How a list is sorted.
#[derive(Clone, Copy)]
struct Sorting {
    descending: bool,
    nulls_first: bool,
}

/// The order that the arguments after the list say; `None` if one of them is NULL.
fn sorting(columns: &[Column], row: usize, descending: bool) -> Result<Option<Sorting>> {
    let words = |column: &Column| -> Result<bool> {
        if let Ok(reader) = Bool::reader(&column.array) {
            return Ok(Bool::get(&reader, &column.array, column.at(row)));
        }
        let word = Str::reader(&column.array)?.value(column.at(row));
        match word.trim().to_ascii_uppercase().as_str() {
            "ASC" | "NULLS LAST" => Ok(false),
            "DESC" | "NULLS FIRST" => Ok(true),
            _ => Err(Error::new(
                "22023",
                format!("unrecognized order of sorting: \"{word}\""),
            )),
        }
    };
    if columns.iter().any(|column| column.is_null(row)) {
        return Ok(None);
    }
    let mut flags = Vec::with_capacity(2);
    for column in columns.iter().skip(1) {
        flags.push(words(column)?);
    }
    // The reversed sort has no place for a direction.
    let (descending, nulls_first) = match (descending, flags.as_slice()) {
        (true, [nulls, ..]) => (true, *nulls),
        (false, [down, nulls]) => (*down, *nulls),
        (false, [down]) => (*down, *down),
        _ => (descending, descending),
    };
    Ok(Some(Sorting {
        descending,
        nulls_first,
    }))
}

fn sort(call: &Call<'_>, columns: &[Column], descending: bool) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let order = comparator(element_of(argument_type(call, 0)?))?;
    let values = &lists.values;
    let mut picker = Picker::new(element_of(call.returns), &[values], call.rows)?;
    for row in 0..call.rows {
        let how = sorting(columns, row, descending)?;
        let (Some(range), Some(how)) = (lists.list(row)?, how) else {
            picker.null_row()?;
            continue;
        };
        picker.pick_all(0, range);
        picker.list_mut().sort_by(|(_, a), (_, b)| {
            match (values.is_null(*a), values.is_null(*b)) {
                (false, false) if how.descending => order(values, *b, values, *a),
                (false, false) => order(values, *a, values, *b),
                (a, b) if how.nulls_first => b.cmp(&a),
                (a, b) => a.cmp(&b),
            }
        });
        picker.end_row()?;
    }
    picker.finish()
}

fn reverse(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let mut picker = Picker::new(element_of(call.returns), &[&lists.values], call.rows)?;
    for row in 0..call.rows {
        let Some(range) = lists.list(row)? else {
            picker.null_row()?;
            continue;
        };
        picker.pick_all(0, range);
        picker.list_mut().reverse();
        picker.end_row()?;
    }
    picker.finish()
}

/// The places of a range without NULLs and without those equal to an earlier one.
fn distinct_places(
    values: &ArrayRef,
    range: std::ops::Range<usize>,
    order: &dyn Fn(usize, usize) -> Ordering,
) -> Vec<usize> {
    let mut places: Vec<usize> = range.filter(|at| !values.is_null(*at)).collect();
    // Equal values come side by side, the earliest first.
    places.sort_by(|a, b| order(*a, *b).then(a.cmp(b)));
    places.dedup_by(|next, first| order(*next, *first).is_eq());
    places.sort_unstable();
    places
}

fn distinct(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let element = element_of(argument_type(call, 0)?);
    let order = equality(element)?;
    let values = &lists.values;
    let mut picker = Picker::new(element, &[values], call.rows)?;
    for row in 0..call.rows {
        let Some(range) = lists.list(row)? else {
            picker.null_row()?;
            continue;
        };
        for at in distinct_places(values, range, &|a, b| order(values, a, values, b)) {
            picker.pick(0, at);
        }
        picker.end_row()?;
    }
    picker.finish()
}

fn counts(call: &Call<'_>, list: &ArrayRef) -> Result<ArrayRef> {
    let column = Column::rows(Arc::clone(list));
    let lists = Lists::of(&column)?;
    let counts = (0..call.rows).map(|row| lists.range(row).map(|range| range.len() as i64));
    Ok(Arc::new(counts.collect::<Int64Array>()))
}

fn intersect(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let left = Lists::of(argument(columns, 0)?)?;
    let right = Lists::of(argument(columns, 1)?)?;
    let order = equality(element_of(argument_type(call, 0)?))?;
    let (a, b) = (&left.values, &right.values);
    let mut picker = Picker::new(element_of(call.returns), &[a], call.rows)?;
    for row in 0..call.rows {
        let (Some(range), Some(others)) = (left.list(row)?, right.list(row)?) else {
            picker.null_row()?;
            continue;
        };
        let mut others: Vec<usize> = others.filter(|at| !b.is_null(*at)).collect();
        others.sort_by(|x, y| order(b, *x, b, *y));
        for at in distinct_places(a, range, &|x, y| order(a, x, a, y)) {
            if others
                .binary_search_by(|other| order(b, *other, a, at))
                .is_ok()
            {
                picker.pick(0, at);
            }
        }
        picker.end_row()?;
    }
    picker.finish()
}

/// A place from 1, or from the end if it is negative, as one from 0.
fn place(at: i64, length: usize) -> Option<usize> {
    let length = length as i64;
    let from_start = if at < 0 {
        at.checked_add(length)?
    } else {
        at - 1
    };
    (0..length)
        .contains(&from_start)
        .then_some(from_start as usize)
}

/// Elements at places of the rows' lists.
fn elements_at(
    call: &Call<'_>,
    lists: &Lists<'_>,
    at: impl Fn(usize, usize) -> Option<usize>,
) -> Result<ArrayRef> {
    let mut places = Vec::with_capacity(call.rows);
    for row in 0..call.rows {
        let range = lists.list(row)?;
        places
            .push(range.and_then(|range| at(row, range.len()).map(|at| (range.start + at) as u32)));
    }
    let places = UInt32Array::from(places);
    let values = reformed(&lists.values, call.returns)?;
    Ok(take(&values, &places, None)?)
}

fn extract(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let wanted = argument(columns, 1)?;
    let reader = I64::reader(&wanted.array)?;
    elements_at(call, &lists, |row, length| {
        if wanted.is_null(row) {
            return None;
        }
        place(I64::get(&reader, &wanted.array, wanted.at(row)), length)
    })
}

fn end(call: &Call<'_>, columns: &[Column], first: bool) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    elements_at(call, &lists, |_, length| match first {
        true => (length > 0).then_some(0),
        false => length.checked_sub(1),
    })
}

fn extreme(call: &Call<'_>, columns: &[Column], greatest: bool) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let order = comparator(element_of(argument_type(call, 0)?))?;
    let values = &lists.values;
    elements_at(call, &lists, |row, _| {
        let range = lists.range(row)?;
        let start = range.start;
        let places = range.filter(|at| !values.is_null(*at));
        let found = places.reduce(|best, at| {
            let order = order(values, at, values, best);
            let better = if greatest {
                order.is_gt()
            } else {
                order.is_lt()
            };
            if better { at } else { best }
        });
        found.map(|at| at - start)
    })
}

/// `list_slice(list, first, last)`; a bound that is NULL is left out.
fn slice(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let mut picker = Picker::new(element_of(call.returns), &[&lists.values], call.rows)?;
    let bound = |which: usize, row: usize| -> Result<Option<i64>> {
        let column = argument(columns, which)?;
        let reader = I64::reader(&column.array)?;
        Ok((!column.is_null(row)).then(|| I64::get(&reader, &column.array, column.at(row))))
    };
    for row in 0..call.rows {
        let Some(range) = lists.list(row)? else {
            picker.null_row()?;
            continue;
        };
        let length = range.len() as i64;
        let counted = |bound: i64| match bound < 0 {
            true => bound.saturating_add(length).saturating_add(1),
            false => bound,
        };
        let low = bound(1, row)?.map_or(1, counted).max(1);
        let high = bound(2, row)?.map_or(length, counted).min(length);
        if low <= high {
            let (low, high) = (low as usize - 1, high as usize);
            picker.pick_all(0, range.start + low..range.start + high);
        }
        picker.end_row()?;
    }
    picker.finish()
}

/// The elements of an array of any number of dimensions in one.
fn flatten(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let mut picker = Picker::new(element_of(call.returns), &[&lists.values], call.rows)?;
    for row in 0..call.rows {
        let Some(range) = lists.range(row) else {
            picker.null_row()?;
            continue;
        };
        picker.pick_all(0, range);
        picker.end_row()?;
    }
    picker.finish()
}

/// The aggregate of a name for a list's elements.
fn aggregate_of(name: &str, types: &[Type]) -> Option<Resolved<Aggregate>> {
    let element = element_of(types.first()?).clone();
    resolve_function(catalogue().aggregates(name), &[element]).ok()
}

fn aggregated(call: &Call<'_>, columns: &[Column], name: &str) -> Result<ArrayRef> {
    let ty = argument_type(call, 0)?;
    let found = aggregate_of(name, std::slice::from_ref(ty));
    let found = found.ok_or_else(|| {
        let message = format!("function {name}({}) does not exist", element_of(ty));
        Error::new("42883", message)
    })?;
    let lists = Lists::of(argument(columns, 0)?)?;
    let to = found.parameters.first().unwrap_or(ty);
    let values = match cast_between(element_of(ty), to) {
        Some(cast) => apply(&cast, &lists.values, element_of(ty), to, call.session)?,
        None => return Err(Error::internal("an aggregate's argument has no cast")),
    };
    let one = Call {
        rows: 1,
        types: &found.parameters,
        returns: &found.returns,
        session: call.session,
    };
    let mut results = Vec::with_capacity(call.rows);
    for row in 0..call.rows {
        let Some(range) = lists.range(row) else {
            results.push(arrow_array::new_null_array(&found.returns.arrow(), 1));
            continue;
        };
        let mut elements = values.slice(range.start, range.len());
        if found.function.skips_nulls && elements.null_count() > 0 {
            let places = (0..elements.len()).filter(|at| !elements.is_null(*at));
            let places = places.map(|at| at as u32).collect::<UInt32Array>();
            elements = take(&elements, &places, None)?;
        }
        let mut state = (found.function.state)(&one, &[])?;
        let of = Call {
            rows: elements.len(),
            ..one
        };
        if !elements.is_empty() {
            state.add(&of, &[elements])?;
        }
        results.push(state.result(&one)?);
    }
    if results.is_empty() {
        return Ok(arrow_array::new_empty_array(&found.returns.arrow()));
    }
    let results: Vec<&dyn Array> = results.iter().map(AsRef::as_ref).collect();
    Ok(concat(&results)?)
}

//! Lists by places and as vectors, as DuckDB has them.
//!
//! ```text
//! list_select(ARRAY['a','b','c'], ARRAY[3,1])   {c,a}
//! list_where(ARRAY[1,2,3], ARRAY[true,false,true])   {1,3}
//! list_resize(ARRAY[1,2], 4, 9)                 {1,2,9,9}
//! list_grade_up(ARRAY[3,1,2])                   {2,3,1}     places in the order of the values
//! list_inner_product(ARRAY[1.0,2.0], ARRAY[2.0,4.0])   10
//! ```

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array};

use super::lists::too_many_elements;
use super::lists::{Lists, MOST_ELEMENTS, Picker, argument, argument_type, element_of, kernel};
use crate::error::{Error, Result};
use crate::functions::kernel::{Call, Column, I64, Input};
use crate::functions::ordering::comparator;
use crate::functions::{Catalogue, scalar};
use crate::types::Type::{self, AnyArray, AnyElement};
use crate::types::arrays::Maker;

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Bool, Float8, Int8};
    for name in ["list_select", "array_select"] {
        c.add(scalar(
            name,
            &[AnyArray, Int8.array()],
            AnyArray,
            kernel(select),
        ));
    }
    for name in ["list_where", "array_where"] {
        c.add(scalar(
            name,
            &[AnyArray, Bool.array()],
            AnyArray,
            kernel(kept),
        ));
    }
    for name in ["list_resize", "array_resize"] {
        c.add(scalar(name, &[AnyArray, Int8], AnyArray, kernel(resize)));
        let filled = [AnyArray, Int8, AnyElement];
        c.add(scalar(name, &filled, AnyArray, kernel(resize)));
    }
    for (name, first) in [("array_pop_front", true), ("array_pop_back", false)] {
        let pop = kernel(move |call: &Call<'_>, columns: &[Column]| {
            ranges(call, columns, |length| match first {
                true => 1.min(length)..length,
                false => 0..length.saturating_sub(1),
            })
        });
        c.add(scalar(name, &[AnyArray], AnyArray, pop));
    }
    for name in ["list_grade_up", "array_grade_up", "grade_up"] {
        c.add(scalar(name, &[AnyArray], Int8.array(), kernel(grades)));
    }
    let pair = [Float8.array(), Float8.array()];
    for (names, of) in [
        (
            &["list_inner_product", "list_dot_product"][..],
            inner as fn(&[f64], &[f64]) -> f64,
        ),
        (
            &["list_negative_inner_product", "list_negative_dot_product"],
            |a, b| -inner(a, b),
        ),
        (&["list_distance"], distance),
        (&["list_cosine_similarity"], cosine),
        (&["list_cosine_distance"], |a, b| 1.0 - cosine(a, b)),
    ] {
        for name in names {
            let made =
                kernel(move |call: &Call<'_>, columns: &[Column]| vectors(name, of, call, columns));
            c.add(scalar(name, &pair, Float8, made));
        }
    }
}

/// The elements at places from 1; NULL where there is none.
fn select(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let places = Lists::of(argument(columns, 1)?)?;
    let reader = I64::reader(&places.values)?;
    let mut picker = Picker::new(element_of(call.returns), &[&lists.values], call.rows)?;
    for row in 0..call.rows {
        let (Some(range), Some(wanted)) = (lists.list(row)?, places.list(row)?) else {
            picker.null_row()?;
            continue;
        };
        for at in wanted {
            let place = (!places.values.is_null(at)).then(|| I64::get(&reader, &places.values, at));
            let place = place.and_then(|place| usize::try_from(place.checked_sub(1)?).ok());
            match place.filter(|place| *place < range.len()) {
                Some(place) => picker.pick(0, range.start + place),
                None => picker.pick_null(),
            }
        }
        picker.end_row()?;
    }
    picker.finish()
}

/// The elements beside which TRUE stands.
fn kept(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let masks = Lists::of(argument(columns, 1)?)?;
    let mask = masks.values.as_boolean();
    let mut picker = Picker::new(element_of(call.returns), &[&lists.values], call.rows)?;
    for row in 0..call.rows {
        let (Some(range), Some(flags)) = (lists.list(row)?, masks.list(row)?) else {
            picker.null_row()?;
            continue;
        };
        for (at, flag) in range.zip(flags) {
            if mask.is_null(flag) {
                return Err(Error::new(
                    "22004",
                    "list_where takes no NULL among its conditions",
                ));
            }
            if mask.value(flag) {
                picker.pick(0, at);
            }
        }
        picker.end_row()?;
    }
    picker.finish()
}

/// As many elements as a number says; further ones are a value, or NULL.
fn resize(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let sizes = argument(columns, 1)?;
    let reader = I64::reader(&sizes.array)?;
    let fill = columns.get(2);
    let mut sources = vec![&lists.values];
    sources.extend(fill.map(|fill| &fill.array));
    let mut picker = Picker::new(element_of(call.returns), &sources, call.rows)?;
    for row in 0..call.rows {
        let Some(range) = lists.list(row)? else {
            picker.null_row()?;
            continue;
        };
        let size = I64::get(&reader, &sizes.array, sizes.at(row)).max(0);
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size > MOST_ELEMENTS {
            return Err(too_many_elements());
        }
        let taken = size.min(range.len());
        picker.pick_all(0, range.start..range.start + taken);
        for _ in taken..size {
            match fill.filter(|fill| !fill.is_null(row)) {
                Some(fill) => picker.pick(1, fill.at(row)),
                None => picker.pick_null(),
            }
        }
        picker.end_row()?;
    }
    picker.finish()
}

/// A part of each list, by its length.
fn ranges(
    call: &Call<'_>,
    columns: &[Column],
    of: impl Fn(usize) -> std::ops::Range<usize>,
) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let mut picker = Picker::new(element_of(call.returns), &[&lists.values], call.rows)?;
    for row in 0..call.rows {
        let Some(range) = lists.list(row)? else {
            picker.null_row()?;
            continue;
        };
        let part = of(range.len());
        picker.pick_all(0, range.start + part.start..range.start + part.end);
        picker.end_row()?;
    }
    picker.finish()
}

/// The places of the elements in the order of their values, NULLs last.
fn grades(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = Lists::of(argument(columns, 0)?)?;
    let order = comparator(element_of(argument_type(call, 0)?))?;
    let values = &lists.values;
    let mut maker = Maker::new(call.rows);
    let (mut places, mut valid) = (Vec::new(), Vec::with_capacity(call.rows));
    for row in 0..call.rows {
        let range = lists.list(row)?;
        valid.push(range.is_some());
        let range = range.unwrap_or_default();
        let mut all: Vec<usize> = range.clone().collect();
        all.sort_by(|a, b| match (values.is_null(*a), values.is_null(*b)) {
            (false, false) => order(values, *a, values, *b),
            (a, b) => a.cmp(&b),
        });
        maker.plain(all.len())?;
        places.extend(all.into_iter().map(|at| (at - range.start + 1) as i64));
    }
    let places: ArrayRef = Arc::new(Int64Array::from(places));
    maker.finish(places, Some(valid.into()))
}

/// A number of two lists of numbers of one length.
fn vectors(
    name: &str,
    of: fn(&[f64], &[f64]) -> f64,
    call: &Call<'_>,
    columns: &[Column],
) -> Result<ArrayRef> {
    let left = Lists::of(argument(columns, 0)?)?;
    let right = Lists::of(argument(columns, 1)?)?;
    let numbers = |values: &ArrayRef, range: std::ops::Range<usize>| -> Result<Vec<f64>> {
        let values = values.as_primitive::<Float64Type>();
        match range.clone().any(|at| values.is_null(at)) {
            true => Err(Error::new(
                "22004",
                format!("{name} takes no NULL in its lists"),
            )),
            false => Ok(range.map(|at| values.value(at)).collect()),
        }
    };
    let mut results = Vec::with_capacity(call.rows);
    for row in 0..call.rows {
        let (Some(a), Some(b)) = (left.list(row)?, right.list(row)?) else {
            results.push(None);
            continue;
        };
        if a.len() != b.len() {
            let message = format!(
                "{name} takes lists of one length, not {} and {}",
                a.len(),
                b.len()
            );
            return Err(Error::new("22023", message));
        }
        let (a, b) = (numbers(&left.values, a)?, numbers(&right.values, b)?);
        results.push(Some(of(&a, &b)));
    }
    Ok(Arc::new(Float64Array::from(results)))
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    squares.sum::<f64>().sqrt()
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let likeness = inner(a, b) / (inner(a, a).sqrt() * inner(b, b).sqrt());
    likeness.clamp(-1.0, 1.0)
}

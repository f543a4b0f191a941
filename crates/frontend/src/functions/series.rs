//! Functions that give rows: `generate_series`, `generate_subscripts`, `unnest`, `range`.
//!
//! Rows come in parts of [`PART`], so that a long series takes no memory and one that is cut by
//! LIMIT little time:
//!
//! ```text
//! generate_series(1, 1000000000)   → parts of 8192 rows, made when they are asked for
//! ```
//!
//! `generate_series` and `range` differ in that the latter ends before its end. `unnest` of
//! several arrays gives as many rows as the longest has elements; arrays of several dimensions
//! are unnested to the elements of the last. Records are left whole.

use std::iter::repeat_n;
use std::sync::Arc;

use arrow_array::builder::BinaryViewBuilder;
use arrow_array::new_null_array;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, PrimitiveArray, UInt32Array};
use arrow_select::take::take;

use super::kernel::{Bool, Call, I32, I64, Input, Num, Span, Stamp};
use super::{Catalogue, Returns, TableFunction};
use crate::error::{Error, Result};
use crate::types::Type;
use crate::types::arrays::Arrays;
use crate::values::datetime::{Zone, add_interval, add_interval_in};
use crate::values::{Interval, Numeric};

/// Rows of a part.
pub const PART: usize = 8192;

/// Most arrays that are unnested side by side.
const MOST_ARRAYS: usize = 16;

/// The parts of a function's rows.
type Parts = Box<dyn Iterator<Item = Result<Vec<ArrayRef>>> + Send>;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    let stamps = [Type::Timestamp(None), Type::TimestampTz(None)];
    for (name, open) in [("generate_series", false), ("range", true)] {
        let mut add = |parameters: &[Type], rows: fn(&Call<'_>, &[ArrayRef], bool) -> Made| {
            let ty = parameters.first().cloned().unwrap_or(Type::Int8);
            c.add_table(TableFunction {
                name,
                parameters: parameters.to_vec(),
                variadic: None,
                columns: vec![("", ty.into())],
                strict: true,
                rows: Arc::new(move |call, arguments| rows(call, arguments, open)),
            });
        };
        for (ty, rows) in [
            (Type::Int4, int4 as fn(&Call<'_>, &[ArrayRef], bool) -> Made),
            (Type::Int8, int8),
            (Type::Numeric(None), numeric),
        ] {
            // DuckDB counts from 0 where there is only an end.
            if open && ty == Type::Int8 {
                add(std::slice::from_ref(&ty), rows);
            }
            add(&[ty.clone(), ty.clone()], rows);
            add(&[ty.clone(), ty.clone(), ty], rows);
        }
        for ty in &stamps {
            add(&[ty.clone(), ty.clone(), Type::Interval], stamp);
        }
        let zoned = Type::TimestampTz(None);
        add(&[zoned.clone(), zoned, Type::Interval, Type::Text], stamp);
    }
    for reverse in [false, true] {
        let mut parameters = vec![Type::AnyArray, Type::Int4];
        parameters.extend(reverse.then_some(Type::Bool));
        c.add_table(TableFunction {
            name: "generate_subscripts",
            parameters,
            variadic: None,
            columns: vec![("", Type::Int4.into())],
            strict: true,
            rows: Arc::new(subscripts),
        });
    }
    for arrays in 1..=MOST_ARRAYS {
        let column = |at: usize| {
            let of = move |types: &[Type]| {
                types
                    .get(at)
                    .map_or(Type::Text, |ty| ty.innermost().clone())
            };
            let name = if arrays == 1 { "" } else { "unnest" };
            (name, Returns::Of(Arc::new(of)))
        };
        let parameter = if arrays == 1 {
            Type::AnyArray
        } else {
            Type::Any
        };
        c.add_table(TableFunction {
            name: "unnest",
            parameters: vec![parameter; arrays],
            variadic: None,
            columns: (0..arrays).map(column).collect(),
            strict: false,
            rows: Arc::new(unnest),
        });
    }
}

type Made = Result<Parts>;

fn bad(what: &str) -> Error {
    Error::new("22023", what)
}

fn no_step() -> Error {
    bad("step size cannot equal zero")
}

/// The value of an argument; arguments have one row and are not NULL.
fn value<I: Input>(array: &ArrayRef) -> Result<I::Item<'_>> {
    if array.is_empty() {
        return Err(Error::internal("a function of rows is given no argument"));
    }
    Ok(I::get(&I::reader(array)?, array, 0))
}

fn argument(arguments: &[ArrayRef], at: usize) -> Result<&ArrayRef> {
    let argument = arguments.get(at);
    argument.ok_or_else(|| Error::internal("a function of rows is short of arguments"))
}

/// The parts of a series: of values that `next` gives until there is none, as arrays. Values
/// before an error come first, for a LIMIT may need no more.
fn parts<T: 'static>(
    mut next: impl FnMut() -> Result<Option<T>> + Send + 'static,
    array: impl Fn(Vec<T>) -> ArrayRef + Send + 'static,
) -> Parts {
    let (mut ended, mut failed) = (false, None);
    Box::new(std::iter::from_fn(move || {
        let mut values = Vec::new();
        while !ended && values.len() < PART {
            match next() {
                Ok(Some(value)) => values.push(value),
                Ok(None) => ended = true,
                Err(error) => (ended, failed) = (true, Some(error)),
            }
        }
        match values.is_empty() {
            true => failed.take().map(Err),
            false => Some(Ok(vec![array(values)])),
        }
    }))
}

/// Integers from one to another in steps; it ends where the type does.
fn integers(start: i64, stop: i64, step: i64, open: bool) -> Result<impl FnMut() -> Option<i64>> {
    if step == 0 {
        return Err(no_step());
    }
    let mut next = Some(start);
    Ok(move || {
        let current = next?;
        let inside = match (step > 0, open) {
            (true, false) => current <= stop,
            (true, true) => current < stop,
            (false, false) => current >= stop,
            (false, true) => current > stop,
        };
        next = current.checked_add(step).filter(|_| inside);
        inside.then_some(current)
    })
}

fn int4(_: &Call<'_>, arguments: &[ArrayRef], open: bool) -> Made {
    let at = |at| value::<I32>(argument(arguments, at)?).map(i64::from);
    let step = if arguments.len() > 2 { at(2)? } else { 1 };
    let mut next = integers(at(0)?, at(1)?, step, open)?;
    // A value beyond the type is beyond the end, too.
    let array = |values: Vec<i64>| -> ArrayRef {
        Arc::new(values.into_iter().map(|v| v as i32).collect::<Int32Array>())
    };
    Ok(parts(move || Ok(next()), array))
}

fn int8(_: &Call<'_>, arguments: &[ArrayRef], open: bool) -> Made {
    let at = |at| value::<I64>(argument(arguments, at)?);
    let (start, stop) = match arguments.len() {
        1 => (0, at(0)?),
        _ => (at(0)?, at(1)?),
    };
    let step = if arguments.len() > 2 { at(2)? } else { 1 };
    let mut next = integers(start, stop, step, open)?;
    let array = |values: Vec<i64>| -> ArrayRef { Arc::new(Int64Array::from(values)) };
    Ok(parts(move || Ok(next()), array))
}

fn numeric(_: &Call<'_>, arguments: &[ArrayRef], open: bool) -> Made {
    let at = |at, name: &str| {
        let value = value::<Num>(argument(arguments, at)?)?;
        if value.is_nan() {
            return Err(bad(&format!("{name} cannot be NaN")));
        }
        if value.is_infinite() {
            return Err(bad(&format!("{name} cannot be infinity")));
        }
        Ok(value)
    };
    let (start, stop) = (at(0, "start value")?, at(1, "stop value")?);
    let step = match arguments.len() > 2 {
        true => at(2, "step size")?,
        false => Numeric::ONE,
    };
    if step.is_zero() {
        return Err(no_step());
    }
    let up = step.sign() > 0;
    let mut current = start;
    let next = move || {
        let order = if up {
            current.cmp(&stop)
        } else {
            stop.cmp(&current)
        };
        if order.is_gt() || open && order.is_eq() {
            return Ok(None);
        }
        let following = current.add(&step)?;
        Ok(Some(std::mem::replace(&mut current, following)))
    };
    let array = |values: Vec<Numeric>| -> ArrayRef {
        let mut made = BinaryViewBuilder::with_capacity(values.len());
        values
            .iter()
            .for_each(|value| made.append_value(value.encode()));
        Arc::new(made.finish())
    };
    Ok(parts(next, array))
}

fn stamp(call: &Call<'_>, arguments: &[ArrayRef], open: bool) -> Made {
    let start = argument(arguments, 0)?;
    let ty = start.data_type().clone();
    let zone = match call.types.first() {
        Some(Type::TimestampTz(_)) => Some(zone(call, arguments.get(3))?),
        _ => None,
    };
    let mut current = value::<Stamp>(start)?;
    let stop = value::<Stamp>(argument(arguments, 1)?)?;
    let step = value::<Span>(argument(arguments, 2)?)?;
    let order = step.cmp(&Interval::default());
    if order.is_eq() {
        return Err(no_step());
    }
    let next = move || {
        let order = if order.is_gt() {
            current.cmp(&stop)
        } else {
            stop.cmp(&current)
        };
        if order.is_gt() || open && order.is_eq() {
            return Ok(None);
        }
        let following = match &zone {
            Some(zone) => add_interval_in(current, &step, zone)?,
            None => add_interval(current, &step)?,
        };
        Ok(Some(std::mem::replace(&mut current, following)))
    };
    let array = move |values: Vec<i64>| -> ArrayRef {
        let made = PrimitiveArray::<TimestampMicrosecondType>::from(values);
        Arc::new(made.with_data_type(ty.clone()))
    };
    Ok(parts(next, array))
}

/// The zone that is given, or that of the session.
fn zone(call: &Call<'_>, given: Option<&ArrayRef>) -> Result<Zone> {
    let name = match given {
        Some(given) => value::<super::kernel::Str>(given)?,
        None => &call.session.time_zone,
    };
    Zone::of_setting(name).ok_or_else(|| bad(&format!("time zone \"{name}\" not recognized")))
}

fn subscripts(_: &Call<'_>, arguments: &[ArrayRef]) -> Made {
    let array = argument(arguments, 0)?;
    let dimension = value::<I32>(argument(arguments, 1)?)?;
    let reverse = arguments.get(2).map(value::<Bool>).transpose()?;
    let found = Arrays::of(array)?.bounds(0).dimension(dimension);
    let (low, high) = match found {
        Some((length, low)) => (i64::from(low), i64::from(low) + length as i64 - 1),
        None => (1, 0),
    };
    let (start, stop, step) = match reverse {
        Some(true) => (high, low, -1),
        _ => (low, high, 1),
    };
    let mut next = integers(start, stop, step, false)?;
    let array = |values: Vec<i64>| -> ArrayRef {
        Arc::new(values.into_iter().map(|v| v as i32).collect::<Int32Array>())
    };
    Ok(parts(move || Ok(next()), array))
}

fn unnest(call: &Call<'_>, arguments: &[ArrayRef]) -> Made {
    if call.types.iter().any(|ty| !matches!(ty, Type::Array(_))) {
        let types: Vec<String> = call.types.iter().map(ToString::to_string).collect();
        let message = format!("function unnest({}) does not exist", types.join(", "));
        return Err(Error::new("42883", message));
    }
    let mut elements = Vec::with_capacity(arguments.len());
    for (array, ty) in arguments.iter().zip(call.types) {
        elements.push(match array.is_empty() {
            true => new_null_array(&ty.innermost().arrow(), 0),
            false => Arrays::of(array)?.elements(0),
        });
    }
    let rows = elements
        .iter()
        .map(|values| values.len())
        .max()
        .unwrap_or(0);
    let mut start = 0;
    Ok(Box::new(std::iter::from_fn(move || {
        if start >= rows {
            return None;
        }
        let count = PART.min(rows - start);
        let part = elements.iter().map(|values| part_of(values, start, count));
        let part = part.collect::<Result<Vec<_>>>();
        start += count;
        Some(part)
    })))
}

/// Some values from a place on, and NULLs where there are too few.
fn part_of(values: &ArrayRef, start: usize, count: usize) -> Result<ArrayRef> {
    if start + count <= values.len() {
        return Ok(values.slice(start, count));
    }
    if start >= values.len() {
        return Ok(new_null_array(values.data_type(), count));
    }
    let there = values.len() - start;
    let places = (start..values.len()).map(|at| Some(at as u32));
    let places = places.chain(repeat_n(None, count - there));
    Ok(take(values, &places.collect::<UInt32Array>(), None)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::testing::rows;

    fn shown(name: &str, arguments: &[(Type, Option<&str>)]) -> String {
        match rows(name, arguments, 10) {
            Ok(rows) => rows.join(" "),
            Err(error) => format!("{} {}", error.sqlstate, error.message),
        }
    }

    #[test]
    fn series_of_numbers() {
        use Type::{Int4, Int8};
        let numeric = || Type::Numeric(None);
        let cases: &[(&str, Type, &[&str], &str)] = &[
            ("generate_series", Int4, &["1", "3"], "1 2 3"),
            ("generate_series", Int4, &["3", "1"], ""),
            ("generate_series", Int4, &["3", "1", "-2"], "3 1"),
            (
                "generate_series",
                Int4,
                &["2147483646", "2147483647"],
                "2147483646 2147483647",
            ),
            (
                "generate_series",
                Int4,
                &["-2147483647", "-2147483648", "-1"],
                "-2147483647 -2147483648",
            ),
            (
                "generate_series",
                Int8,
                &["9223372036854775806", "9223372036854775807"],
                "9223372036854775806 9223372036854775807",
            ),
            (
                "generate_series",
                Int4,
                &["1", "2", "0"],
                "22023 step size cannot equal zero",
            ),
            (
                "generate_series",
                numeric(),
                &["1.0", "2", "0.25"],
                "1.0 1.25 1.50 1.75 2.00",
            ),
            (
                "generate_series",
                numeric(),
                &["1.0", "2", "NaN"],
                "22023 step size cannot be NaN",
            ),
            (
                "generate_series",
                numeric(),
                &["1.0", "-Infinity"],
                "22023 stop value cannot be infinity",
            ),
            ("range", Int8, &["3"], "0 1 2"),
            ("range", Int4, &["1", "5", "2"], "1 3"),
            ("range", Int4, &["1", "1"], ""),
        ];
        for (name, ty, arguments, expected) in cases {
            let arguments: Vec<_> = arguments.iter().map(|a| (ty.clone(), Some(*a))).collect();
            assert_eq!(shown(name, &arguments), *expected, "{name} {arguments:?}");
        }
        assert_eq!(
            shown("generate_series", &[(Int4, None), (Int4, Some("1"))]),
            ""
        );
    }

    #[test]
    fn series_of_timestamps() {
        let series = |start, stop, step| {
            shown(
                "generate_series",
                &[
                    (Type::Timestamp(None), Some(start)),
                    (Type::Timestamp(None), Some(stop)),
                    (Type::Interval, Some(step)),
                ],
            )
        };
        assert_eq!(
            series("2020-01-31", "2020-04-01", "1 month"),
            "2020-01-31 00:00:00 2020-02-29 00:00:00 2020-03-29 00:00:00"
        );
        assert_eq!(
            series("2020-01-02", "2020-01-01", "-12 hours"),
            "2020-01-02 00:00:00 2020-01-01 12:00:00 2020-01-01 00:00:00"
        );
        assert_eq!(
            series("2020-01-02", "2020-01-01", "1 month -30 days"),
            "22023 step size cannot equal zero"
        );
        let zoned = (Type::TimestampTz(None), Some("2020-03-28 12:00+00"));
        let stop = (Type::TimestampTz(None), Some("2020-03-30 12:00+00"));
        let step = (Type::Interval, Some("1 day"));
        let name = (Type::Text, Some("Europe/Berlin"));
        assert_eq!(
            shown("generate_series", &[zoned, stop, step, name]),
            "2020-03-28 12:00:00+00 2020-03-29 11:00:00+00 2020-03-30 11:00:00+00"
        );
    }

    #[test]
    fn arrays_are_unnested_side_by_side() {
        let ints = Type::Int4.array();
        let texts = Type::Text.array();
        let one = |ty: Type, text| shown("unnest", &[(ty, text)]);
        assert_eq!(one(ints.clone(), Some("{1,NULL,3}")), "1 NULL 3");
        assert_eq!(one(ints.clone(), Some("{}")), "");
        assert_eq!(one(ints.clone(), None), "");
        assert_eq!(one(ints.clone().array(), Some("{{1,2},{3,4}}")), "1 2 3 4");
        let arguments = [
            (ints.clone(), Some("{1,2}")),
            (texts, Some("{a}")),
            (ints.clone(), None),
        ];
        assert_eq!(shown("unnest", &arguments), "1|a|NULL 2|NULL|NULL");
        let subscripts = |dimension, reverse| {
            let arguments = [
                (ints.clone().array(), Some("{{1,2,3}}")),
                (Type::Int4, Some(dimension)),
                (Type::Bool, Some(reverse)),
            ];
            shown("generate_subscripts", &arguments)
        };
        assert_eq!(subscripts("2", "true"), "3 2 1");
        assert_eq!(subscripts("1", "false"), "1");
        assert_eq!(subscripts("3", "false"), "");
        assert_eq!(subscripts("0", "false"), "");
    }

    #[test]
    fn a_long_series_comes_in_parts() {
        let start = (Type::Int8, Some("1"));
        let stop = (Type::Int8, Some("9223372036854775807"));
        let found = rows("generate_series", &[start, stop], 8193).unwrap();
        assert_eq!(found.last().map(String::as_str), Some("8193"));
    }
}

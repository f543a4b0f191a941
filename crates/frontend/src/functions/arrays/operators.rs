//! Operators of arrays: `||`, `=` and its kin, `@>`, `<@`, `&&`.
//!
//! NULL is equal to NULL within arrays that are compared, and equal to nothing where an array
//! is looked for in another. `a || NULL` is `a`, as long as it is the array that is NULL.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::builder::BooleanBuilder;
use arrow_array::{Array, ArrayRef};

use super::lists::{Lists, Picker, argument, argument_type, element_of, kernel};
use crate::error::{Error, Result};
use crate::functions::kernel::{Call, Column, Kernel};
use crate::functions::ordering::{comparator, equality};
use crate::functions::{Catalogue, scalar};
use crate::types::Type::{self, AnyArray, AnyCompatible, AnyCompatibleArray, Bool};
use crate::types::arrays::Bounds;

/// Whether an order of two values is the wanted one.
type Test = fn(Ordering) -> bool;

/// Adds the operators, and the functions that some of them are.
pub(super) fn register(c: &mut Catalogue) {
    let both = [AnyCompatibleArray, AnyCompatibleArray];
    let append = [AnyCompatibleArray, AnyCompatible];
    let prepend = [AnyCompatible, AnyCompatibleArray];
    // A literal is an array if nothing else says what it is: that overload comes first.
    let concat = || kernel(cat);
    for name in ["array_cat", "list_concat", "list_cat", "array_concat"] {
        c.add(scalar(name, &both, AnyCompatibleArray, concat()).with_nulls());
    }
    c.add_operator(scalar("||", &both, AnyCompatibleArray, concat()).with_nulls());
    let appended = || kernel(|call, columns| add(call, columns, false));
    let prepended = || kernel(|call, columns| add(call, columns, true));
    c.add_operator(scalar("||", &append, AnyCompatibleArray, appended()).with_nulls());
    c.add_operator(scalar("||", &prepend, AnyCompatibleArray, prepended()).with_nulls());
    for name in ["array_append", "list_append", "array_push_back"] {
        c.add(scalar(name, &append, AnyCompatibleArray, appended()).with_nulls());
    }
    for name in ["array_prepend", "list_prepend"] {
        c.add(scalar(name, &prepend, AnyCompatibleArray, prepended()).with_nulls());
    }

    let pair = [AnyArray, AnyArray];
    let equal: [(&'static str, Test); 2] = [("=", Ordering::is_eq), ("<>", Ordering::is_ne)];
    for (symbol, is) in equal {
        c.operator(symbol, &pair, Bool, compared(is, true));
    }
    let ordered: [(&'static str, Test); 4] = [
        ("<", Ordering::is_lt),
        ("<=", Ordering::is_le),
        (">", Ordering::is_gt),
        (">=", Ordering::is_ge),
    ];
    for (symbol, is) in ordered {
        c.operator(symbol, &pair, Bool, compared(is, false));
    }
    c.operator(
        "@>",
        &pair,
        Bool,
        searched(|left, right, e| all_in(right, left, e)),
    );
    c.operator("<@", &pair, Bool, searched(all_in));
    c.operator("&&", &pair, Bool, searched(any_in));
    for name in ["array_has_all", "list_has_all"] {
        c.add(scalar(
            name,
            &pair,
            Bool,
            searched(|l, r, e| all_in(r, l, e)),
        ));
    }
    for name in ["array_has_any", "list_has_any"] {
        c.add(scalar(name, &pair, Bool, searched(any_in)));
    }
}

/// `2202E` for arrays that do not fit together.
fn incompatible(which: String) -> Error {
    Error::new("2202E", "cannot concatenate incompatible arrays").with_detail(format!(
        "Arrays {which} are not compatible for concatenation."
    ))
}

fn cat(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let left = Lists::of(argument(columns, 0)?)?;
    let right = Lists::of(argument(columns, 1)?)?;
    let element = element_of(call.returns);
    let mut picker = Picker::new(element, &[&left.values, &right.values], call.rows)?;
    for row in 0..call.rows {
        let (before, after) = (left.range(row), right.range(row));
        if before.is_none() && after.is_none() {
            picker.null_row()?;
            continue;
        }
        picker.pick_all(0, before.unwrap_or_default());
        picker.pick_all(1, after.unwrap_or_default());
        picker.end_bounded(&joined(left.bounds(row), right.bounds(row))?)?;
    }
    picker.finish()
}

/// The bounds of two arrays one after the other. One of them may be an element of the other.
fn joined(a: Bounds, b: Bounds) -> Result<Bounds> {
    if a.lengths.is_empty() {
        return Ok(b);
    }
    if b.lengths.is_empty() {
        return Ok(a);
    }
    let (n, m) = (a.dimensions(), b.dimensions());
    let rest = |bounds: &Bounds, from: usize| {
        let pairs = bounds.lengths.iter().zip(&bounds.lows).skip(from);
        pairs
            .map(|(length, low)| (*length, *low))
            .collect::<Vec<_>>()
    };
    let (mut outer, added, fits, which) = match n.cmp(&m) {
        Ordering::Equal => {
            let added = b.lengths.first().copied().unwrap_or(0);
            let fits = rest(&a, 1) == rest(&b, 1);
            (a, added, fits, "with differing element dimensions")
        }
        Ordering::Less if n + 1 == m => {
            let fits = rest(&a, 0) == rest(&b, 1);
            (b, 1, fits, "with differing dimensions")
        }
        Ordering::Greater if n == m + 1 => {
            let fits = rest(&a, 1) == rest(&b, 0);
            (a, 1, fits, "with differing dimensions")
        }
        _ => return Err(incompatible(format!("of {n} and {m} dimensions"))),
    };
    if !fits {
        return Err(incompatible(which.to_owned()));
    }
    if let Some(length) = outer.lengths.first_mut() {
        *length += added;
    }
    Ok(outer)
}

/// An element after an array, or before it.
fn add(call: &Call<'_>, columns: &[Column], before: bool) -> Result<ArrayRef> {
    let (array, element) = if before { (1, 0) } else { (0, 1) };
    let lists = Lists::of(argument(columns, array)?)?;
    let elements = argument(columns, element)?;
    let ty = element_of(call.returns);
    let mut picker = Picker::new(ty, &[&lists.values, &elements.array], call.rows)?;
    for row in 0..call.rows {
        let range = lists.range(row);
        let mut bounds = lists.bounds(row);
        match (bounds.lengths.as_mut_slice(), bounds.lows.as_slice()) {
            ([], _) => bounds = Bounds::plain(1),
            ([length], [low]) => {
                let next = match before {
                    true => i64::from(*low) - 1,
                    false => i64::from(*low) + *length as i64,
                };
                if i32::try_from(next).is_err() {
                    return Err(Error::new("22003", "integer out of range"));
                }
                *length += 1;
            }
            _ => {
                let message = "argument must be empty or one-dimensional array";
                return Err(Error::new("22000", message));
            }
        }
        if before {
            picker.pick(1, elements.at(row));
        }
        picker.pick_all(0, range.unwrap_or_default());
        if !before {
            picker.pick(1, elements.at(row));
        }
        picker.end_bounded(&bounds)?;
    }
    picker.finish()
}

fn compared(is: fn(Ordering) -> bool, equal: bool) -> Kernel {
    kernel(move |call, columns| {
        let ty = argument_type(call, 0)?;
        let order = if equal { equality(ty) } else { comparator(ty) }?;
        let (left, right) = (argument(columns, 0)?, argument(columns, 1)?);
        let mut result = BooleanBuilder::with_capacity(call.rows);
        for row in 0..call.rows {
            if left.is_null(row) || right.is_null(row) {
                result.append_null();
                continue;
            }
            let found = order(&left.array, left.at(row), &right.array, right.at(row));
            result.append_value(is(found));
        }
        Ok(Arc::new(result.finish()))
    })
}

/// The elements of an array, without regard to its dimensions.
struct Elements<'a> {
    values: &'a ArrayRef,
    range: std::ops::Range<usize>,
}

type Equal<'a> = &'a dyn Fn(&ArrayRef, usize, &ArrayRef, usize) -> bool;

/// Whether an element that is not NULL is among others.
fn is_in(values: &ArrayRef, at: usize, others: &Elements<'_>, equal: Equal<'_>) -> bool {
    !values.is_null(at)
        && others
            .range
            .clone()
            .any(|other| !others.values.is_null(other) && equal(values, at, others.values, other))
}

fn all_in(some: &Elements<'_>, others: &Elements<'_>, equal: Equal<'_>) -> bool {
    let mut range = some.range.clone();
    range.all(|at| is_in(some.values, at, others, equal))
}

fn any_in(some: &Elements<'_>, others: &Elements<'_>, equal: Equal<'_>) -> bool {
    let mut range = some.range.clone();
    range.any(|at| is_in(some.values, at, others, equal))
}

fn searched(found: fn(&Elements<'_>, &Elements<'_>, Equal<'_>) -> bool) -> Kernel {
    kernel(move |call, columns| {
        let ty: &Type = argument_type(call, 0)?;
        let order = equality(ty.innermost())?;
        let equal =
            |a: &ArrayRef, at: usize, b: &ArrayRef, other: usize| order(a, at, b, other).is_eq();
        let left = Lists::of(argument(columns, 0)?)?;
        let right = Lists::of(argument(columns, 1)?)?;
        let mut result = BooleanBuilder::with_capacity(call.rows);
        for row in 0..call.rows {
            let (Some(here), Some(there)) = (left.range(row), right.range(row)) else {
                result.append_null();
                continue;
            };
            let a = Elements {
                values: &left.values,
                range: here,
            };
            let b = Elements {
                values: &right.values,
                range: there,
            };
            result.append_value(found(&a, &b, &equal));
        }
        Ok(Arc::new(result.finish()))
    })
}

//! `width_bucket`: the number of the part of a range that a value lies in.
//!
//! ```text
//! width_bucket(5.35, 0.024, 10.06, 5) = 3
//! width_bucket(3, array[1, 3, 5]) = 2
//! ```

use std::cmp::Ordering;

use arrow_array::{Array, ArrayRef};

use super::numeric;
use crate::error::{Error, Result};
use crate::functions::kernel::{Any, Bounded, F64, I32, Num, f4, w2};
use crate::functions::numeric::out_of_range;
use crate::functions::ordering::comparator;
use crate::functions::{Catalogue, scalar};
use crate::types::Type;
use crate::values::Numeric;

/// `2201G`.
fn bad(message: &str) -> Error {
    Error::new("2201G", message)
}

/// Refuses ranges that have no parts.
fn check(count: i32, nan: bool, infinite: bool, empty: bool) -> Result<()> {
    if count <= 0 {
        return Err(bad("count must be greater than zero"));
    }
    if nan {
        return Err(bad("operand, lower bound, and upper bound cannot be NaN"));
    }
    if infinite {
        return Err(bad("lower and upper bounds must be finite"));
    }
    if empty {
        return Err(bad("lower bound cannot equal upper bound"));
    }
    Ok(())
}

/// The number behind the last part.
fn after(count: i32) -> Result<i32> {
    count.checked_add(1).ok_or_else(|| out_of_range("integer"))
}

fn of_doubles(value: f64, low: f64, high: f64, count: i32) -> Result<i32> {
    let nan = value.is_nan() || low.is_nan() || high.is_nan();
    check(
        count,
        nan,
        low.is_infinite() || high.is_infinite(),
        low == high,
    )?;
    // A range that runs downwards is one that runs upwards with other signs.
    let (value, low, high) = match low < high {
        true => (value, low, high),
        false => (-value, -low, -high),
    };
    if value < low {
        return Ok(0);
    }
    if value >= high {
        return after(count);
    }
    let part = f64::from(count) * (value - low) / (high - low) + 1.0;
    // Where products or differences are infinite, shares of halves are not.
    let part = match part.is_finite() {
        true => part,
        false => {
            let share = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
            f64::from(count) * share + 1.0
        }
    };
    // A value next to the end may be rounded to it.
    match part > f64::from(i32::MAX) {
        true => after(count),
        false => Ok(part as i32),
    }
}

fn of_numbers(value: &Numeric, low: &Numeric, high: &Numeric, count: i32) -> Result<i32> {
    let nan = value.is_nan() || low.is_nan() || high.is_nan();
    check(
        count,
        nan,
        low.is_infinite() || high.is_infinite(),
        low == high,
    )?;
    let upwards = low < high;
    let (before, behind) = match upwards {
        true => (value < low, value >= high),
        false => (value > low, value <= high),
    };
    if before {
        return Ok(0);
    }
    if behind {
        return after(count);
    }
    let distance = value.sub(low)?.mul(&Numeric::from(count))?;
    let part = distance.div_trunc(&high.sub(low)?)?;
    let part = part.to_i128(0).and_then(|part| i32::try_from(part).ok());
    Ok(part.unwrap_or(count).min(count - 1) + 1)
}

/// How many bounds are not more than a value.
fn of_bounds(value: &ArrayRef, bounds: &ArrayRef, dimensions: usize, ty: &Type) -> Result<i32> {
    if dimensions > 1 {
        let message = "thresholds must be one-dimensional array";
        return Err(Error::new("2202E", message));
    }
    if bounds.null_count() > 0 {
        let message = "thresholds array must not contain NULLs";
        return Err(Error::new("22004", message));
    }
    let order = comparator(ty)?;
    let (mut from, mut to) = (0, bounds.len());
    while from < to {
        let middle = (from + to) / 2;
        match order(value, 0, bounds, middle) {
            Ordering::Less => to = middle,
            _ => from = middle + 1,
        }
    }
    i32::try_from(from).map_err(|_| out_of_range("integer"))
}

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{AnyCompatible, AnyCompatibleArray, Float8, Int4};
    let kernel = f4::<F64, F64, F64, I32, I32>(of_doubles);
    c.add(scalar(
        "width_bucket",
        &[Float8, Float8, Float8, Int4],
        Int4,
        kernel,
    ));
    let kernel = f4::<Num, Num, Num, I32, I32>(|value, low, high, count| {
        of_numbers(&value, &low, &high, count)
    });
    let parameters = [numeric(), numeric(), numeric(), Int4];
    c.add(scalar("width_bucket", &parameters, Int4, kernel));
    let kernel = w2::<Any, Bounded, I32>(|call, value, (thresholds, bounds)| {
        let ty = call.types.first().unwrap_or(&Type::Unknown);
        of_bounds(&value, &thresholds, bounds.dimensions(), ty)
    });
    let parameters = [AnyCompatible, AnyCompatibleArray];
    c.add(scalar("width_bucket", &parameters, Int4, kernel));
}

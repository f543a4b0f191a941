//! Comparison of two values of any type, as B-tree operator classes do it.
//!
//! NaN is equal to itself and greater than all other numbers; NULLs within arrays and records
//! are greater than all values. Texts are compared by their bytes (collation "C"). JSONB is
//! compared by its text, JSON not at all.
//!
//! The module `functions::ordering` will take the place of this one.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef};

use crate::error::{Error, Result};
use crate::types::Type;
use crate::values::{Interval, Numeric};

/// Compares a value of one array with one of another; neither is NULL.
pub type Compare = Arc<dyn Fn(&ArrayRef, usize, &ArrayRef, usize) -> Ordering + Send + Sync>;

/// The comparison of values of a type.
///
/// # Errors
/// `42883` where the type has no order.
pub fn comparator(ty: &Type) -> Result<Compare> {
    macro_rules! by {
        ($array:ident, $at:ident, $value:expr) => {
            Arc::new(|left: &ArrayRef, l: usize, right: &ArrayRef, r: usize| {
                let (left, right) = {
                    let read = |$array: &ArrayRef, $at: usize| $value;
                    (read(left, l), read(right, r))
                };
                left.cmp(&right)
            })
        };
    }
    macro_rules! primitive {
        ($arrow:ident) => {
            by!(array, at, array.as_primitive::<$arrow>().value(at))
        };
    }
    Ok(match ty {
        Type::Bool => by!(array, at, array.as_boolean().value(at)),
        Type::Int2 => primitive!(Int16Type),
        Type::Int4 => primitive!(Int32Type),
        Type::Int8 | Type::Oid | Type::Reg(_) => primitive!(Int64Type),
        Type::Float4 => Arc::new(|a, i, b, j| {
            let (a, b) = (
                a.as_primitive::<Float32Type>(),
                b.as_primitive::<Float32Type>(),
            );
            floats(a.value(i).into(), b.value(j).into())
        }),
        Type::Float8 => Arc::new(|a, i, b, j| {
            let (a, b) = (
                a.as_primitive::<Float64Type>(),
                b.as_primitive::<Float64Type>(),
            );
            floats(a.value(i), b.value(j))
        }),
        Type::Numeric(Some(_)) => primitive!(Decimal128Type),
        Type::Numeric(None) => {
            by!(array, at, Numeric::decode(array.as_binary_view().value(at)))
        }
        Type::Date => primitive!(Date32Type),
        Type::Time(_) => primitive!(Time64MicrosecondType),
        Type::Timestamp(_) | Type::TimestampTz(_) => primitive!(TimestampMicrosecondType),
        Type::Interval => by!(array, at, {
            Interval::from(array.as_primitive::<IntervalMonthDayNanoType>().value(at))
        }),
        Type::TimeTz(_) => by!(array, at, time_tz(array.as_fixed_size_binary().value(at))),
        Type::Uuid => Arc::new(|a, i, b, j| {
            let (a, b) = (a.as_fixed_size_binary(), b.as_fixed_size_binary());
            a.value(i).cmp(b.value(j))
        }),
        Type::Bytea => {
            Arc::new(|a, i, b, j| a.as_binary_view().value(i).cmp(b.as_binary_view().value(j)))
        }
        Type::Enum(of) => {
            let of = Arc::clone(of);
            Arc::new(move |a, i, b, j| {
                let place = |text: &str| of.labels.iter().position(|label| label == text);
                place(a.as_string_view().value(i)).cmp(&place(b.as_string_view().value(j)))
            })
        }
        Type::Array(element) => {
            let inner = comparator(element)?;
            Arc::new(move |a, i, b, j| {
                let (a, b) = (a.as_list::<i32>().value(i), b.as_list::<i32>().value(j));
                let pairs = (0..a.len().min(b.len())).map(|at| nullable(&inner, &a, &b, at));
                let differing = pairs.into_iter().find(|order| order.is_ne());
                differing.unwrap_or_else(|| a.len().cmp(&b.len()))
            })
        }
        Type::Record(fields) => {
            let inner = fields.iter().map(|(_, ty)| comparator(ty));
            let inner = inner.collect::<Result<Vec<_>>>()?;
            Arc::new(move |a, i, b, j| {
                let (a, b) = (a.as_struct().slice(i, 1), b.as_struct().slice(j, 1));
                let columns = inner.iter().zip(a.columns().iter().zip(b.columns()));
                let mut orders = columns.map(|(inner, (a, b))| nullable(inner, a, b, 0));
                orders
                    .find(|order| order.is_ne())
                    .unwrap_or(Ordering::Equal)
            })
        }
        Type::Json | Type::JsonPath | Type::Void => {
            let message = format!("could not identify an ordering operator for type {ty}");
            return Err(Error::new("42883", message));
        }
        _ => Arc::new(|a, i, b, j| a.as_string_view().value(i).cmp(b.as_string_view().value(j))),
    })
}

/// The order of floats, with NaN at the end.
pub(super) fn floats(a: f64, b: f64) -> Ordering {
    let by_value = a.partial_cmp(&b);
    by_value.unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// The order of values at one place that may be NULL, with NULL at the end.
fn nullable(inner: &Compare, a: &ArrayRef, b: &ArrayRef, at: usize) -> Ordering {
    match (a.is_null(at), b.is_null(at)) {
        (false, false) => inner(a, at, b, at),
        (a, b) => a.cmp(&b),
    }
}

/// A time of day in UTC and the zone, which decides between equal times.
fn time_tz(bytes: &[u8]) -> (i64, i32) {
    let micros = bytes.get(..8).and_then(|b| b.try_into().ok());
    let west = bytes.get(8..12).and_then(|b| b.try_into().ok());
    let west = west.map_or(0, i32::from_le_bytes);
    let micros = micros.map_or(0, i64::from_le_bytes);
    (micros.saturating_add(i64::from(west) * 1_000_000), west)
}

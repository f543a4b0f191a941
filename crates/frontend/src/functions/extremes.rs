//! GREATEST and LEAST: the greatest and the least of some values, NULLs left out.
//!
//! ```text
//! greatest(1, NULL, 3)   3
//! least(NULL, NULL)      NULL
//! ```
//!
//! The binder asks for these by the type that all values have, for their syntax is that of no
//! function: they take values of types that have one type in common.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::Array;
use arrow_select::interleave::interleave;

use super::arrays::lists::{kernel, reformed};
use super::ordering::comparator;
use super::{Scalar, scalar};
use crate::error::{Error, Result};
use crate::types::Type;

/// The greatest of so many values of a type, or the least.
///
/// # Errors
/// `42883` for a type without an order.
pub fn extreme(ty: &Type, values: usize, greatest: bool) -> Result<Scalar> {
    let order = comparator(ty)?;
    let of = ty.clone();
    let wanted = if greatest {
        Ordering::Greater
    } else {
        Ordering::Less
    };
    let kernel = kernel(move |call, columns| {
        let arrays = columns.iter().map(|column| reformed(&column.array, &of));
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        if arrays.is_empty() {
            return Err(Error::internal("a function is short of arguments"));
        }
        let mut places = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            let mut best = (0, columns[0].at(row));
            for (at, column) in columns.iter().enumerate().skip(1) {
                let here = column.at(row);
                let (array, value) = (&arrays[best.0], best.1);
                if arrays[at].is_null(here) {
                    continue;
                }
                if array.is_null(value) || order(&arrays[at], here, array, value) == wanted {
                    best = (at, here);
                }
            }
            places.push(best);
        }
        let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
        Ok(interleave(&arrays, &places)?)
    });
    let name = if greatest { "greatest" } else { "least" };
    let parameters = vec![ty.base(); values];
    Ok(scalar(name, &parameters, ty.clone(), Arc::clone(&kernel)).with_nulls())
}

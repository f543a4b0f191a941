//! Comparing values of vectors.

use crate::vector::{Values, Vector};
use crate::{Error, Result};
use arrow_array::cast::AsArray;
use std::cmp::Ordering;

/// How values of two vectors of one kind compare, neither of them NULL.
pub(super) fn compare(a: &Vector, row: usize, b: &Vector, other: usize) -> Result<Ordering> {
    Ok(match (&a.values, &b.values) {
        (Values::Int(a), Values::Int(b)) => a[row].cmp(&b[other]),
        (Values::Wide(a), Values::Wide(b)) => a[row].cmp(&b[other]),
        (Values::Int(a), Values::Wide(b)) => i128::from(a[row]).cmp(&b[other]),
        (Values::Wide(a), Values::Int(b)) => a[row].cmp(&i128::from(b[other])),
        (Values::Float(a), Values::Float(b)) => a[row].total_cmp(&b[other]),
        (Values::Bool(a), Values::Bool(b)) => a.value(row).cmp(&b.value(other)),
        _ => match (text(a, row), text(b, other)) {
            (Some(a), Some(b)) => a.cmp(b),
            _ => return Err(Error::internal("values of different kinds are compared")),
        },
    })
}

/// The text of a row, if values are text.
pub(super) fn text(vector: &Vector, row: usize) -> Option<&str> {
    match &vector.values {
        Values::Text(array) => Some(array.as_string_view().value(row)),
        Values::Coded { codes, entries } => {
            Some(entries.as_string_view().value(codes[row] as usize))
        }
        _ => None,
    }
}

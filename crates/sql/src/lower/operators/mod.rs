//! Operators of ours for what DataFusion has none for, or another meaning of.

pub(super) mod asof;
pub(super) mod fed;
pub(super) mod general;
pub(super) mod lateral;
pub(super) mod matches;
pub(super) mod recursive;
pub(super) mod rows;
pub(super) mod sample;
pub(super) mod set_rows;
pub(super) mod table;
pub(super) mod window;

use datafusion::arrow::array::{Array, ArrayRef, cast::AsArray};
use datafusion::arrow::datatypes::Float64Type;

use crate::error::Error;

/// That a sub-query stands for a value and has several rows.
fn several() -> Error {
    Error::new(
        "21000",
        "more than one row returned by a subquery used as an expression",
    )
}

/// The first value of a column of floats.
pub(super) fn number(array: &ArrayRef) -> Option<f64> {
    let array = array.as_primitive_opt::<Float64Type>()?;
    (array.len() == 1 && array.is_valid(0)).then(|| array.value(0))
}

//! Floats as integers of the same order, NaN the greatest: least and greatest values of floats
//! are those of the integers.
//!
//! ```text
//! max(f)      float(max(ordinal(f)))
//! ```

use std::sync::Arc;

use arrow::array::{ArrayRef, cast::AsArray};
use arrow::datatypes::{DataType, Float32Type, Float64Type, Int32Type, Int64Type};
use freestone_frontend::functions::kernel::Column;

use super::Typed;
use crate::error::{Error, Result};
use crate::expression::{Call, Function, only};

/// The integer that stands for a float.
pub(super) fn ordinal(float: Typed) -> Typed {
    let kind = match float.kind {
        DataType::Float32 => DataType::Int32,
        _ => DataType::Int64,
    };
    Typed::new(Call::of(Ordinal(kind.clone()), vec![float.expr]), kind)
}

/// The float that an integer stands for.
pub(super) fn float(ordinal: Typed) -> Typed {
    let kind = match ordinal.kind {
        DataType::Int32 => DataType::Float32,
        _ => DataType::Float64,
    };
    Typed::new(Call::of(Ordinal(kind.clone()), vec![ordinal.expr]), kind)
}

/// A float as its place, or the other way round: the type of the result says which.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Ordinal(DataType);

impl Function for Ordinal {
    fn kind(&self, _: &[DataType]) -> DataType {
        self.0.clone()
    }

    fn call(&self, arguments: &[Column], _: usize) -> Result<ArrayRef> {
        turned(only(arguments)?)
    }
}

/// Negative numbers have their bits but for the sign turned, which is undone in the same way.
fn turned(array: &ArrayRef) -> Result<ArrayRef> {
    let narrow = |bits: i32| bits ^ ((bits >> 31) & i32::MAX);
    let wide = |bits: i64| bits ^ ((bits >> 63) & i64::MAX);
    Ok(match array.data_type() {
        DataType::Float32 => {
            let one = |v: f32| narrow(if v.is_nan() { f32::NAN } else { v }.to_bits() as i32);
            Arc::new(
                array
                    .as_primitive::<Float32Type>()
                    .unary::<_, Int32Type>(one),
            )
        }
        DataType::Float64 => {
            let one = |v: f64| wide(if v.is_nan() { f64::NAN } else { v }.to_bits() as i64);
            Arc::new(
                array
                    .as_primitive::<Float64Type>()
                    .unary::<_, Int64Type>(one),
            )
        }
        DataType::Int32 => {
            let one = |bits: i32| f32::from_bits(narrow(bits) as u32);
            Arc::new(
                array
                    .as_primitive::<Int32Type>()
                    .unary::<_, Float32Type>(one),
            )
        }
        DataType::Int64 => {
            let one = |bits: i64| f64::from_bits(wide(bits) as u64);
            Arc::new(
                array
                    .as_primitive::<Int64Type>()
                    .unary::<_, Float64Type>(one),
            )
        }
        other => return Err(Error::internal(format!("{other} is no float"))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Float64Array;

    #[test]
    fn integers_have_the_order_of_floats_and_give_them_back() {
        let floats = [
            f64::NEG_INFINITY,
            -2.5,
            -0.0,
            0.0,
            1e-300,
            7.0,
            f64::INFINITY,
            f64::NAN,
        ];
        let array: ArrayRef = Arc::new(Float64Array::from(floats.to_vec()));
        let ordinals = turned(&array).unwrap();
        let values = ordinals.as_primitive::<Int64Type>().values();
        assert!(values.is_sorted());
        let back = turned(&ordinals).unwrap();
        let back = back.as_primitive::<Float64Type>();
        let same = back.values().iter().zip(floats);
        for (found, expected) in same {
            assert_eq!(found.to_bits(), expected.to_bits());
        }
    }
}

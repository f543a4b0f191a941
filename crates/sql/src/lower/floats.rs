//! Floats as integers of the same order, NaN the greatest: least and greatest values of floats
//! are those of the integers.
//!
//! ```text
//! max(f)      float(max(ordinal(f)))
//! ```

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, cast::AsArray};
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type, Int32Type, Int64Type};
use datafusion::common::ScalarValue;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::Typed;
use crate::error::{Error, Result};

/// The integer that stands for a float.
pub(super) fn ordinal(float: Typed) -> Typed {
    let kind = match float.kind {
        DataType::Float32 => DataType::Int32,
        _ => DataType::Int64,
    };
    Typed::new(call("ordinal", &kind, float.expr), kind)
}

/// The float that an integer stands for.
pub(super) fn float(ordinal: Typed) -> Typed {
    let kind = match ordinal.kind {
        DataType::Int32 => DataType::Float32,
        _ => DataType::Float64,
    };
    Typed::new(call("float", &kind, ordinal.expr), kind)
}

fn call(name: &'static str, kind: &DataType, argument: Expr) -> Expr {
    let function = Ordinal {
        name,
        kind: kind.clone(),
        signature: Signature::any(1, Volatility::Immutable),
    };
    ScalarUDF::from(function).call(vec![argument])
}

/// Either of the two.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Ordinal {
    name: &'static str,
    /// The type of the result.
    kind: DataType,
    signature: Signature,
}

impl ScalarUDFImpl for Ordinal {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(self.kind.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let [value] = args.args.as_slice() else {
            return Err(Error::internal("one float has one place").into());
        };
        Ok(match value {
            ColumnarValue::Array(array) => ColumnarValue::Array(turned(array)?),
            ColumnarValue::Scalar(value) => {
                let array = turned(&value.to_array()?)?;
                ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?)
            }
        })
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
    use datafusion::arrow::array::Float64Array;

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

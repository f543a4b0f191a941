//! Constants of conditions in Arrow's form.
//!
//! Kernels compare arrays with an array of one. Zone maps, codes and indexes decide most
//! conditions without a kernel, so that a constant becomes an array only when a kernel asks for it:
//!
//! ```text
//! k = 7      look-up by an index      7 as a value
//!            scan of the delta        7 as a value, then [7] for the kernel
//! ```

use crate::error::{Error, Result};
use crate::schema::{ColumnType, Physical, Value};
use arrow_array::types::*;
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BinaryViewArray, BooleanArray, Decimal128Array,
    FixedSizeBinaryArray, Float32Array, Float64Array, PrimitiveArray, StringViewArray,
    TimestampMicrosecondArray,
};
use std::sync::{Arc, OnceLock};

/// The constants of a condition, each as an array of one.
#[derive(Clone, Debug)]
pub struct Constants {
    kind: ColumnType,
    arrays: OnceLock<Vec<ArrayRef>>,
}

impl Constants {
    /// Of values of a type.
    pub fn of(kind: ColumnType) -> Constants {
        Constants {
            kind,
            arrays: OnceLock::new(),
        }
    }

    /// The arrays of the condition's values, which are always the same.
    ///
    /// # Errors
    /// 42804 for a value that is not of the type.
    pub fn arrays(&self, values: &[Value]) -> Result<&[ArrayRef]> {
        if let Some(arrays) = self.arrays.get() {
            return Ok(arrays);
        }
        let arrays = values.iter().map(|value| array(value, &self.kind));
        let arrays = arrays.collect::<Result<Vec<ArrayRef>>>()?;
        Ok(self.arrays.get_or_init(|| arrays))
    }
}

/// A value as an array of one, of the Arrow type that scans return.
fn array(value: &Value, kind: &ColumnType) -> Result<ArrayRef> {
    let mismatch = || Error::invalid("42804", format!("{value} is no value of type {kind}"));
    let array: Option<ArrayRef> = match (value, kind) {
        (Value::Bool(value), ColumnType::Boolean) => {
            Some(Arc::new(BooleanArray::from(vec![*value])))
        }
        (Value::Int(value), ColumnType::SmallInt) => whole::<Int16Type>(*value),
        (Value::Int(value), ColumnType::Integer) => whole::<Int32Type>(*value),
        (Value::Int(value), ColumnType::BigInt) => whole::<Int64Type>(*value),
        (Value::Int(value), ColumnType::Date) => whole::<Date32Type>(*value),
        (Value::Int(value), ColumnType::Time) => whole::<Time64MicrosecondType>(*value),
        (Value::Int(value), ColumnType::Timestamp) => whole::<TimestampMicrosecondType>(*value),
        (Value::Int(value), ColumnType::TimestampTz) => {
            let value = i64::try_from(*value).map_err(|_| mismatch())?;
            let array = TimestampMicrosecondArray::from(vec![value]);
            Some(Arc::new(array.with_timezone("+00:00")))
        }
        // A bound of a decimal may be one that no decimal of the type equals.
        (Value::Int(value), ColumnType::Decimal { precision, scale }) => {
            let array = Decimal128Array::from(vec![*value]);
            Some(Arc::new(
                array.with_precision_and_scale(*precision, *scale)?,
            ))
        }
        (Value::Float(value), ColumnType::Double) => {
            Some(Arc::new(Float64Array::from(vec![*value])))
        }
        (Value::Float(value), ColumnType::Real) => {
            Some(Arc::new(Float32Array::from(vec![*value as f32])))
        }
        (Value::Bytes(bytes), ColumnType::Uuid) => {
            let bytes = std::iter::once(bytes);
            Some(Arc::new(FixedSizeBinaryArray::try_from_iter(bytes)?))
        }
        (Value::Bytes(bytes), ColumnType::Bytea) => {
            Some(Arc::new(BinaryViewArray::from(vec![bytes.as_slice()])))
        }
        (Value::Bytes(bytes), kind) if kind.physical() == (Physical::Bytes { text: true }) => {
            let text = std::str::from_utf8(bytes).map_err(|_| mismatch())?;
            Some(Arc::new(StringViewArray::from(vec![text])))
        }
        _ => None,
    };
    array.ok_or_else(mismatch)
}

/// A whole number of an Arrow type; `None` if it is beyond its range.
fn whole<T: ArrowPrimitiveType<Native: TryFrom<i128>>>(value: i128) -> Option<ArrayRef> {
    let value = T::Native::try_from(value).ok()?;
    Some(Arc::new(PrimitiveArray::<T>::new(vec![value].into(), None)))
}

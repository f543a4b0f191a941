//! One value.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Date32Array, Decimal128Array, Int64Array,
    StringViewArray, TimestampMicrosecondArray, new_null_array,
};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow::util::display::array_value_to_string;

use crate::error::Result;

/// Arrow refuses values that a cast would change beyond recognition.
pub(super) const STRICT: CastOptions<'static> = CastOptions {
    safe: false,
    format_options: arrow::util::display::FormatOptions::new(),
};

/// One value of an Arrow type, or NULL.
#[derive(Clone, Debug)]
pub(crate) struct Scalar(ArrayRef);

impl Scalar {
    /// The value of a row.
    pub(crate) fn of(array: &ArrayRef, row: usize) -> Self {
        Self(array.slice(row, 1))
    }

    /// NULL.
    pub(crate) fn null(kind: &DataType) -> Self {
        Self(new_null_array(kind, 1))
    }

    pub(crate) fn boolean(value: bool) -> Self {
        Self(Arc::new(BooleanArray::from(vec![value])))
    }

    /// A BIGINT.
    pub(crate) fn integer(value: i64) -> Self {
        Self(Arc::new(Int64Array::from(vec![value])))
    }

    pub(crate) fn text(value: &str) -> Self {
        Self(Arc::new(StringViewArray::from(vec![value])))
    }

    /// A date by its days since 1970.
    pub(crate) fn date(days: i32) -> Self {
        Self(Arc::new(Date32Array::from(vec![days])))
    }

    /// A timestamp without zone by its microseconds since 1970.
    pub(crate) fn timestamp(micros: i64) -> Self {
        Self(Arc::new(TimestampMicrosecondArray::from(vec![micros])))
    }

    /// A decimal by its digits.
    ///
    /// # Errors
    /// Errors of Arrow for a precision or scale that there is not.
    pub(crate) fn decimal(digits: i128, precision: u8, scale: i8) -> Result<Self> {
        let value = Decimal128Array::from(vec![digits]);
        let value = value.with_precision_and_scale(precision, scale)?;
        Ok(Self(Arc::new(value)))
    }

    /// The only row of an array.
    pub(crate) fn array(&self) -> &ArrayRef {
        &self.0
    }

    pub(crate) fn data_type(&self) -> &DataType {
        self.0.data_type()
    }

    pub(crate) fn is_null(&self) -> bool {
        *self.data_type() == DataType::Null || self.0.is_null(0)
    }

    /// The value as another type.
    ///
    /// # Errors
    /// Errors of Arrow for a value that the type does not have.
    pub(crate) fn cast_to(&self, kind: &DataType) -> Result<Self> {
        Ok(Self(cast_with_options(&self.0, kind, &STRICT)?))
    }

    fn known(&self) -> Option<&ArrayRef> {
        (!self.is_null()).then_some(&self.0)
    }

    /// The truth value that it is.
    pub(crate) fn as_bool(&self) -> Option<bool> {
        Some(self.known()?.as_boolean_opt()?.value(0))
    }

    /// The text that it is.
    pub(crate) fn as_text(&self) -> Option<&str> {
        let array = self.known()?;
        match array.data_type() {
            DataType::Utf8View => Some(array.as_string_view().value(0)),
            DataType::Utf8 => Some(array.as_string::<i32>().value(0)),
            DataType::LargeUtf8 => Some(array.as_string::<i64>().value(0)),
            _ => None,
        }
    }

    /// The bytes that it is.
    pub(crate) fn as_bytes(&self) -> Option<&[u8]> {
        let array = self.known()?;
        match array.data_type() {
            DataType::BinaryView => Some(array.as_binary_view().value(0)),
            DataType::Binary => Some(array.as_binary::<i32>().value(0)),
            DataType::LargeBinary => Some(array.as_binary::<i64>().value(0)),
            DataType::FixedSizeBinary(_) => Some(array.as_fixed_size_binary().value(0)),
            _ => None,
        }
    }

    /// The float that it is.
    pub(crate) fn as_float(&self) -> Option<f64> {
        let array = self.known()?;
        match array.data_type() {
            DataType::Float32 => Some(array.as_primitive::<Float32Type>().value(0).into()),
            DataType::Float64 => Some(array.as_primitive::<Float64Type>().value(0)),
            _ => None,
        }
    }

    /// The digits and the scale of the integer or decimal that it is.
    pub(crate) fn as_number(&self) -> Option<(i128, i8)> {
        let array = self.known()?;
        let integer = match array.data_type() {
            DataType::Int8 => array.as_primitive::<Int8Type>().value(0).into(),
            DataType::Int16 => array.as_primitive::<Int16Type>().value(0).into(),
            DataType::Int32 => array.as_primitive::<Int32Type>().value(0).into(),
            DataType::Int64 => array.as_primitive::<Int64Type>().value(0).into(),
            DataType::UInt8 => array.as_primitive::<UInt8Type>().value(0).into(),
            DataType::UInt16 => array.as_primitive::<UInt16Type>().value(0).into(),
            DataType::UInt32 => array.as_primitive::<UInt32Type>().value(0).into(),
            DataType::UInt64 => array.as_primitive::<UInt64Type>().value(0).into(),
            DataType::Decimal128(_, scale) => {
                return Some((array.as_primitive::<Decimal128Type>().value(0), *scale));
            }
            _ => return None,
        };
        Some((integer, 0))
    }

    /// The integer that it is.
    pub(crate) fn as_integer(&self) -> Option<i64> {
        let (digits, scale) = self.as_number()?;
        i64::try_from(digits).ok().filter(|_| scale == 0)
    }

    /// The days since 1970 of the date that it is.
    pub(crate) fn as_date(&self) -> Option<i32> {
        let array = self.known()?.as_primitive_opt::<Date32Type>()?;
        Some(array.value(0))
    }

    /// The microseconds since midnight of the time of day that it is.
    pub(crate) fn as_time(&self) -> Option<i64> {
        let array = self.known()?.as_primitive_opt::<Time64MicrosecondType>()?;
        Some(array.value(0))
    }

    /// The microseconds since 1970 of the timestamp that it is, and whether it has a zone.
    pub(crate) fn as_timestamp(&self) -> Option<(i64, bool)> {
        let array = self.known()?;
        let DataType::Timestamp(TimeUnit::Microsecond, zone) = array.data_type() else {
            return None;
        };
        let array = array.as_primitive::<TimestampMicrosecondType>();
        Some((array.value(0), zone.is_some()))
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.data_type() == other.data_type() && *self.0 == *other.0
    }
}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.data_type().hash(state);
        self.is_null().hash(state);
        self.as_number().hash(state);
        self.as_text().hash(state);
        self.as_date().hash(state);
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_null() {
            true => f.write_str("NULL"),
            false => f.write_str(&array_value_to_string(&self.0, 0).map_err(|_| fmt::Error)?),
        }
    }
}

//! Vectors of arrays, and arrays of vectors.

use super::{Values, Vector, with_nulls};
use crate::{Error, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, Float64Array, PrimitiveArray, StringArray,
    StringViewArray, UInt32Array,
};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, TimeUnit};
use std::sync::Arc;

impl Vector {
    /// The values of an array, which storage may have given in compact form.
    ///
    /// # Errors
    /// An array that is not of the type it says.
    pub fn from_arrow(array: &ArrayRef) -> Result<Vector> {
        fn wide<T: arrow_array::ArrowPrimitiveType<Native: Into<i64>>>(
            array: &ArrayRef,
        ) -> ScalarBuffer<i64> {
            let values = array.as_primitive::<T>().values();
            values
                .iter()
                .map(|value| (*value).into())
                .collect::<Vec<i64>>()
                .into()
        }
        let nulls = array
            .nulls()
            .filter(|nulls| nulls.null_count() > 0)
            .cloned();
        let values = match array.data_type() {
            DataType::Int16 => Values::Int(wide::<Int16Type>(array)),
            DataType::Int32 => Values::Int(wide::<Int32Type>(array)),
            DataType::Date32 => Values::Int(wide::<Date32Type>(array)),
            DataType::Int64 => Values::Int(array.as_primitive::<Int64Type>().values().clone()),
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                let values = array.as_primitive::<TimestampMicrosecondType>();
                Values::Int(values.values().clone())
            }
            DataType::Time64(TimeUnit::Microsecond) => {
                let values = array.as_primitive::<Time64MicrosecondType>();
                Values::Int(values.values().clone())
            }
            DataType::Decimal128(..) => narrowed(
                array.as_primitive::<Decimal128Type>().values(),
                nulls.as_ref(),
            ),
            DataType::Float64 => {
                Values::Float(array.as_primitive::<Float64Type>().values().clone())
            }
            DataType::Boolean => Values::Bool(array.as_boolean().values().clone()),
            DataType::Utf8View => Values::Text(array.clone()),
            DataType::Utf8 => {
                let views: StringViewArray = array.as_string::<i32>().iter().collect();
                Values::Text(Arc::new(views))
            }
            DataType::Dictionary(_, of) => match array.as_dictionary_opt::<UInt32Type>() {
                Some(coded) if **of == DataType::Utf8View => Values::Coded {
                    codes: coded.keys().values().clone(),
                    entries: coded.values().clone(),
                },
                // Only texts are known by their codes.
                Some(coded) => Values::Other(arrow_select::take::take(
                    coded.values(),
                    coded.keys(),
                    None,
                )?),
                None => return Err(Error::internal("a dictionary with keys of another type")),
            },
            _ => Values::Other(array.clone()),
        };
        Ok(Vector { values, nulls })
    }

    /// The values as an array of an Arrow type.
    ///
    /// # Errors
    /// `internal` if they are not of a kind that the type has.
    pub fn to_arrow(&self, kind: &DataType) -> Result<ArrayRef> {
        fn narrow<T: arrow_array::ArrowPrimitiveType>(
            values: &ScalarBuffer<i64>,
            nulls: Option<NullBuffer>,
            to: impl Fn(i64) -> T::Native,
        ) -> ArrayRef {
            let values: Vec<T::Native> = values.iter().map(|value| to(*value)).collect();
            Arc::new(PrimitiveArray::<T>::new(values.into(), nulls))
        }
        let nulls = self.nulls.clone();
        // Values were of the narrower type before, or were computed as one that holds them.
        Ok(match (&self.values, kind) {
            (Values::Int(v), DataType::Int16) => narrow::<Int16Type>(v, nulls, |v| v as i16),
            (Values::Int(v), DataType::Int32) => narrow::<Int32Type>(v, nulls, |v| v as i32),
            (Values::Int(v), DataType::Date32) => narrow::<Date32Type>(v, nulls, |v| v as i32),
            (Values::Int(v), DataType::Int64) => {
                Arc::new(PrimitiveArray::<Int64Type>::new(v.clone(), nulls))
            }
            (Values::Int(v), DataType::Timestamp(TimeUnit::Microsecond, zone)) => {
                let values = PrimitiveArray::<TimestampMicrosecondType>::new(v.clone(), nulls);
                Arc::new(values.with_timezone_opt(zone.clone()))
            }
            (Values::Int(v), DataType::Time64(TimeUnit::Microsecond)) => Arc::new(
                PrimitiveArray::<Time64MicrosecondType>::new(v.clone(), nulls),
            ),
            (Values::Int(v), DataType::Decimal128(precision, scale)) => {
                let values: Vec<i128> = v.iter().map(|value| i128::from(*value)).collect();
                decimals(values.into(), nulls, *precision, *scale)?
            }
            (Values::Wide(v), DataType::Decimal128(precision, scale)) => {
                decimals(v.clone(), nulls, *precision, *scale)?
            }
            (Values::Float(v), DataType::Float64) => Arc::new(Float64Array::new(v.clone(), nulls)),
            (Values::Bool(v), DataType::Boolean) => Arc::new(BooleanArray::new(v.clone(), nulls)),
            (Values::Text(array), DataType::Utf8View) => with_nulls(array, nulls),
            (Values::Coded { codes, entries }, DataType::Utf8View) => {
                let codes = UInt32Array::new(codes.clone(), nulls);
                arrow_select::take::take(entries, &codes, None)?
            }
            (Values::Text(_) | Values::Coded { .. }, DataType::Utf8) => {
                let views = self.to_arrow(&DataType::Utf8View)?;
                let text: StringArray = views.as_string_view().iter().collect();
                Arc::new(text)
            }
            (Values::Other(array), kind) if array.data_type() == kind => array.clone(),
            (values, kind) => {
                let message = format!("values {:?} where {kind} was expected", kind_name(values));
                return Err(Error::internal(message));
            }
        })
    }
}

fn kind_name(values: &Values) -> &'static str {
    match values {
        Values::Int(_) => "int",
        Values::Wide(_) => "wide",
        Values::Float(_) => "float",
        Values::Bool(_) => "bool",
        Values::Text(_) | Values::Coded { .. } => "text",
        Values::Other(_) => "other",
    }
}

/// Decimals in as few bits as all of them need.
pub(crate) fn narrowed(values: &[i128], nulls: Option<&NullBuffer>) -> Values {
    let fits = |value: &i128| i64::try_from(*value).is_ok();
    let all = match nulls {
        None => values.iter().all(fits),
        Some(nulls) => (values.iter().zip(nulls)).all(|(value, valid)| !valid || fits(value)),
    };
    match all {
        true => Values::Int(
            values
                .iter()
                .map(|v| *v as i64)
                .collect::<Vec<i64>>()
                .into(),
        ),
        false => Values::Wide(values.to_vec().into()),
    }
}

fn decimals(
    values: ScalarBuffer<i128>,
    nulls: Option<NullBuffer>,
    precision: u8,
    scale: i8,
) -> Result<ArrayRef> {
    let array = Decimal128Array::new(values, nulls);
    Ok(Arc::new(array.with_precision_and_scale(precision, scale)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{BinaryViewArray, DictionaryArray};

    /// Columns of bytes are stored by codes, too; only texts are carried on by them.
    #[test]
    fn bytes_of_a_dictionary_come_back() {
        let bytes = BinaryViewArray::from_iter_values([&b"a"[..], &b"\xff"[..]]);
        let codes = UInt32Array::from(vec![Some(1), None, Some(0)]);
        let coded = DictionaryArray::new(codes, Arc::new(bytes));
        let vector = Vector::from_arrow(&(Arc::new(coded) as ArrayRef)).unwrap();
        let back = vector.to_arrow(&DataType::BinaryView).unwrap();
        let found: Vec<Option<&[u8]>> = back.as_binary_view().iter().collect();
        assert_eq!(found, [Some(&b"\xff"[..]), None, Some(&b"a"[..])]);
    }
}

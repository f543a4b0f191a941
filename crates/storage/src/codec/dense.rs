//! One column of one block in stored form, and the way between that and Arrow.
//!
//! Every layout is built from [`Dense`] columns and read back into them, so the
//! conversion between SQL types and stored bytes exists once. Fixed-width
//! values take their [`Physical`](crate::schema::Physical) width, NULLs
//! included (their bytes are zero); variable values lie one after the other,
//! each with its end offset.

use crate::error::{Error, Result};
use crate::schema::{Column, ColumnType, Physical, Value};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, FixedSizeBinaryArray, PrimitiveArray,
};
use arrow_buffer::{
    ArrowNativeType, BooleanBuffer, Buffer, MutableBuffer, NullBuffer, ScalarBuffer,
};
use std::sync::Arc;

/// One column of one block in stored form.
#[derive(Clone, Debug)]
pub struct Dense {
    /// Number of values, NULLs included.
    pub rows: usize,
    /// Which are present; `None` when all are.
    pub nulls: Option<NullBuffer>,
    /// The values.
    pub data: DenseData,
}

/// The values of a [`Dense`] column.
#[derive(Clone, Debug)]
pub enum DenseData {
    /// `rows × width` bytes.
    Fixed {
        /// Bytes of one value.
        width: usize,
        /// The values, one after the other.
        bytes: Buffer,
    },
    /// `rows` values of varying length.
    Variable {
        /// End offset of each value; the start is the end of the one before.
        ends: Vec<u32>,
        /// The values, one after the other.
        bytes: Buffer,
    },
}

impl Dense {
    /// Bytes of the raw values: what a block's size is measured by.
    pub fn raw_bytes(&self) -> usize {
        match &self.data {
            DenseData::Fixed { bytes, .. } => bytes.len(),
            DenseData::Variable { ends, bytes } => bytes.len() + 4 * ends.len(),
        }
    }

    /// Converts an array of the column's Arrow type.
    ///
    /// # Errors
    /// 22003 for a decimal beyond the precision, 54000 for over 2 GiB of text.
    pub fn from_arrow(array: &ArrayRef, column: &Column) -> Result<Dense> {
        let nulls = array
            .nulls()
            .filter(|nulls| nulls.null_count() > 0)
            .cloned();
        let fixed = |width, bytes| Dense {
            rows: array.len(),
            nulls: nulls.clone(),
            data: DenseData::Fixed { width, bytes },
        };
        Ok(match column.kind {
            ColumnType::Boolean => {
                let values = array.as_boolean();
                let bytes: Vec<u8> = (0..array.len())
                    .map(|row| u8::from(values.is_valid(row) && values.value(row)))
                    .collect();
                fixed(1, Buffer::from_vec(bytes))
            }
            ColumnType::SmallInt => fixed(2, primitive::<Int16Type>(array)),
            ColumnType::Integer => fixed(4, primitive::<Int32Type>(array)),
            ColumnType::Date => fixed(4, primitive::<Date32Type>(array)),
            ColumnType::BigInt => fixed(8, primitive::<Int64Type>(array)),
            ColumnType::Time => fixed(8, primitive::<Time64MicrosecondType>(array)),
            ColumnType::Timestamp | ColumnType::TimestampTz => {
                fixed(8, primitive::<TimestampMicrosecondType>(array))
            }
            ColumnType::Real => fixed(4, primitive::<Float32Type>(array)),
            ColumnType::Double => fixed(8, primitive::<Float64Type>(array)),
            ColumnType::Interval => fixed(16, primitive::<IntervalMonthDayNanoType>(array)),
            ColumnType::Decimal { precision, .. } => {
                check_precision(array, precision, column)?;
                match column.kind.physical() {
                    Physical::I32 => fixed(4, narrowed::<i32>(array)),
                    Physical::I64 => fixed(8, narrowed::<i64>(array)),
                    _ => fixed(16, primitive::<Decimal128Type>(array)),
                }
            }
            ColumnType::Uuid => {
                let values = array.as_fixed_size_binary();
                let mut bytes = Vec::with_capacity(16 * array.len());
                for row in 0..array.len() {
                    bytes.extend_from_slice(if values.is_valid(row) {
                        values.value(row)
                    } else {
                        &[0; 16]
                    });
                }
                fixed(16, Buffer::from_vec(bytes))
            }
            ColumnType::Bytea | ColumnType::Numeric => {
                let values = array.as_binary_view();
                variable(array, column, nulls.clone(), |row| values.value(row))?
            }
            ColumnType::Varchar(_)
            | ColumnType::Char(_)
            | ColumnType::Text
            | ColumnType::Json
            | ColumnType::Jsonb
            | ColumnType::TimeTz
            | ColumnType::Record
            | ColumnType::Array { .. } => {
                let values = array.as_string_view();
                variable(array, column, nulls.clone(), |row| {
                    values.value(row).as_bytes()
                })?
            }
        })
    }
}

/// The values' bytes, shared where nothing is NULL, else with NULLs zeroed.
fn primitive<T: ArrowPrimitiveType>(array: &ArrayRef) -> Buffer {
    let array = array.as_primitive::<T>();
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => array.values().inner().clone(),
        Some(nulls) => {
            let values = array.values().iter().zip(nulls.iter());
            values
                .map(|(value, valid)| if valid { *value } else { T::Native::default() })
                .collect::<Vec<_>>()
                .into()
        }
    }
}

fn check_precision(array: &ArrayRef, precision: u8, column: &Column) -> Result<()> {
    let limit = 10i128.pow(u32::from(precision.min(38)));
    let array = array.as_primitive::<Decimal128Type>();
    let fits = |value: i128| value > -limit && value < limit;
    // A pass without a branch on validity first: it decides almost always.
    if array.values().iter().all(|value| fits(*value)) {
        return Ok(());
    }
    match array.iter().flatten().find(|value| !fits(*value)) {
        None => Ok(()),
        Some(_) => Err(Error::invalid(
            "22003",
            format!(
                "value out of range for column {} of type {}",
                column.name, column.kind
            ),
        )),
    }
}

fn narrowed<N: TryFrom<i128> + Default + ArrowNativeType>(array: &ArrayRef) -> Buffer {
    let array = array.as_primitive::<Decimal128Type>();
    let narrow = |value: i128| N::try_from(value).unwrap_or_default();
    let values: Vec<N> = match array.nulls() {
        None => array.values().iter().map(|value| narrow(*value)).collect(),
        Some(_) => array
            .iter()
            .map(|value| value.map_or_else(N::default, narrow))
            .collect(),
    };
    values.into()
}

fn variable<'a>(
    array: &ArrayRef,
    column: &Column,
    nulls: Option<NullBuffer>,
    value: impl Fn(usize) -> &'a [u8],
) -> Result<Dense> {
    // Growing would move millions of bytes about.
    let present = (0..array.len()).filter(|row| array.is_valid(*row));
    let mut bytes = Vec::with_capacity(present.map(|row| value(row).len()).sum());
    let mut ends = Vec::with_capacity(array.len());
    for row in 0..array.len() {
        if array.is_valid(row) {
            bytes.extend_from_slice(value(row));
        }
        let end = i32::try_from(bytes.len()).map_err(|_| {
            Error::invalid(
                "54000",
                format!(
                    "more than 2 GiB of values in column {} of one block",
                    column.name
                ),
            )
            .with_hint("Choose a smaller block_bytes.")
        })?;
        ends.push(end.unsigned_abs());
    }
    Ok(Dense {
        rows: array.len(),
        nulls,
        data: DenseData::Variable {
            ends,
            bytes: Buffer::from_vec(bytes),
        },
    })
}

/// Fixed-width stored bytes as an array of the column's Arrow type; shares
/// `bytes` where the forms are the same.
///
/// # Errors
/// `Corrupt` for a boolean that is neither 0 nor 1 or a length that is off.
pub fn fixed_to_arrow(
    kind: &ColumnType,
    rows: usize,
    bytes: Buffer,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let width = kind.physical().width().unwrap_or(1);
    if rows.checked_mul(width) != Some(bytes.len()) {
        return Err(Error::corrupt(format!(
            "{} bytes for {rows} values of {width} bytes",
            bytes.len()
        )));
    }
    Ok(match kind {
        ColumnType::Boolean => {
            let flags = bytes.as_slice();
            Arc::new(BooleanArray::new(
                BooleanBuffer::collect_bool(rows, |row| flags.get(row) == Some(&1)),
                nulls,
            ))
        }
        ColumnType::SmallInt => array::<Int16Type>(bytes, nulls),
        ColumnType::Integer => array::<Int32Type>(bytes, nulls),
        ColumnType::Date => array::<Date32Type>(bytes, nulls),
        ColumnType::BigInt => array::<Int64Type>(bytes, nulls),
        ColumnType::Time => array::<Time64MicrosecondType>(bytes, nulls),
        ColumnType::Timestamp => array::<TimestampMicrosecondType>(bytes, nulls),
        ColumnType::TimestampTz => {
            let values = PrimitiveArray::<TimestampMicrosecondType>::new(typed(bytes), nulls);
            Arc::new(values.with_timezone("+00:00"))
        }
        ColumnType::Real => array::<Float32Type>(bytes, nulls),
        ColumnType::Double => array::<Float64Type>(bytes, nulls),
        ColumnType::Interval => array::<IntervalMonthDayNanoType>(bytes, nulls),
        ColumnType::Decimal { precision, scale } => {
            let values: ScalarBuffer<i128> = match kind.physical() {
                Physical::I32 => widened::<i32>(bytes),
                Physical::I64 => widened::<i64>(bytes),
                _ => typed(bytes),
            };
            let array = PrimitiveArray::<Decimal128Type>::new(values, nulls);
            Arc::new(array.with_precision_and_scale(*precision, *scale)?)
        }
        ColumnType::Uuid => Arc::new(FixedSizeBinaryArray::try_new(16, bytes, nulls)?),
        _ => {
            return Err(Error::corrupt(
                "variable values where fixed ones were expected",
            ));
        }
    })
}

/// The buffer as values of `T`, copied only if it is not aligned for them.
fn typed<T: ArrowNativeType>(bytes: Buffer) -> ScalarBuffer<T> {
    if bytes.as_ptr().align_offset(align_of::<T>()) == 0 {
        return ScalarBuffer::from(bytes);
    }
    let mut aligned = MutableBuffer::new(bytes.len());
    aligned.extend_from_slice(bytes.as_slice());
    ScalarBuffer::from(Buffer::from(aligned))
}

fn array<T: ArrowPrimitiveType>(bytes: Buffer, nulls: Option<NullBuffer>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(typed(bytes), nulls))
}

fn widened<T: ArrowNativeType + Into<i128>>(bytes: Buffer) -> ScalarBuffer<i128> {
    typed::<T>(bytes)
        .iter()
        .map(|value| (*value).into())
        .collect::<Vec<i128>>()
        .into()
}

/// One value from its stored form.
pub fn stored_value(bytes: &[u8], physical: Physical) -> Value {
    let mut word = [0u8; 16];
    let len = bytes.len().min(16);
    word[..len].copy_from_slice(&bytes[..len]);
    let low = u128::from_le_bytes(word);
    match physical {
        Physical::Bool => Value::Bool(low != 0),
        Physical::I16 => Value::Int((low as i16).into()),
        Physical::I32 => Value::Int((low as i32).into()),
        Physical::I64 => Value::Int((low as i64).into()),
        Physical::I128 => Value::Int(low as i128),
        Physical::F32 => Value::Float(f32::from_bits(low as u32).into()),
        Physical::F64 => Value::Float(f64::from_bits(low as u64)),
        _ => Value::Bytes(bytes.to_vec()),
    }
}

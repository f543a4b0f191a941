//! Values whose equality and order Arrow knows, in the place of those that it does not.
//!
//! Grouping, hashing and sorting compare Arrow's bits. For most types that is SQL's equality
//! and order; the values of others are turned into a *canonical* form first:
//!
//! | type | canonical form |
//! |---|---|
//! | floats | the same with one zero and one NaN |
//! | ranges of NUMERIC | their bytes without the scales of their bounds |
//! | NUMERIC with a scale each | the bytes of the value without its scale |
//! | INTERVAL | its length in microseconds |
//! | TIMETZ | bytes of the instant, then of the zone |
//! | enumerations | the place of the label |
//! | XID8 | its bits with the first one turned |
//! | arrays, records, JSONB | bytes whose order is that of the values |
//!
//! ```text
//! GROUP BY x   (x FLOAT)      GROUP BY canonical(x)
//! ```

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryBuilder, BinaryViewBuilder, FixedSizeBinaryBuilder, Int32Array,
    PrimitiveArray, StringViewBuilder, cast::AsArray,
};
use arrow::compute::{SortOptions, cast as cast_array};
use arrow::datatypes::{
    DataType, Decimal128Type, Float32Type, Float64Type, Int64Type, IntervalMonthDayNanoType,
    TimeUnit,
};
use arrow::row::{OwnedRow, RowConverter, Rows, SortField};
use freestone_exec::vector::Kind;
use freestone_frontend::functions::kernel::Column;
use freestone_frontend::types::arrays::Arrays;
use freestone_frontend::types::{Internal, Type};
use freestone_frontend::values::{Interval, Numeric, json, range};

use super::Typed;
use super::expression::cast;
use crate::error::{Error, Result};
use crate::expression::{Call, Expr, Function, only};

/// Bytes of a TIMETZ value.
const TIMETZ: i32 = 12;

/// The Arrow type of canonical values of a type that are held as another; `None` if values are
/// canonical as they are.
pub(super) fn kind(ty: &Type, held: &DataType) -> Option<DataType> {
    match ty {
        Type::Float4 => Some(DataType::Float32),
        Type::Float8 => Some(DataType::Float64),
        Type::Numeric(_) => (!held.is_decimal()).then_some(DataType::BinaryView),
        Type::Range(of) | Type::Multirange(of) => of.has_scales().then_some(DataType::BinaryView),
        Type::Interval => Some(DataType::Decimal128(38, 0)),
        Type::TimeTz(_) => Some(DataType::FixedSizeBinary(TIMETZ)),
        Type::Enum(_) => Some(DataType::Int32),
        Type::Internal(Internal::Xid8) => Some(DataType::Int64),
        Type::Array(_) | Type::Record(_) | Type::Jsonb => Some(DataType::Binary),
        _ => None,
    }
}

/// Whether the canonical form of a value is a value of its type, too.
pub(super) fn is_value(ty: &Type) -> bool {
    matches!(ty, Type::Float4 | Type::Float8)
}

/// The canonical form of an expression.
pub(super) fn key(typed: Typed, ty: &Type) -> Typed {
    let Some(kind) = kind(ty, &typed.kind) else {
        return typed;
    };
    let function = Canonical {
        ty: ty.clone(),
        kind: kind.clone(),
    };
    Typed::new(Call::of(function, vec![typed.expr]), kind)
}

/// What an expression is sorted by: its canonical form, bytes as text, which all operators sort.
pub(super) fn order(typed: Typed, ty: &Type) -> Expr {
    let key = key(typed, ty);
    match (&key.kind, ty) {
        (DataType::BinaryView, Type::Numeric(_) | Type::Range(_) | Type::Multirange(_)) => {
            Call::of(Digits, vec![key.expr])
        }
        _ => key.expr,
    }
}

/// The canonical form as a value that the bulk engine sorts and compares, in the same order;
/// `None` for types that it does not know.
pub(super) fn sortable(typed: Typed, ty: &Type) -> Option<Typed> {
    comparable(key(typed, ty))
}

/// A value in its canonical form as one that the bulk engine sorts and compares, in the same
/// order; `None` for types that it does not know.
pub(super) fn comparable(key: Typed) -> Option<Typed> {
    let to = match &key.kind {
        DataType::BinaryView | DataType::Binary | DataType::FixedSizeBinary(_) => {
            let digits = Call::of(Digits, vec![key.expr]);
            return Some(Typed::new(digits, DataType::Utf8View));
        }
        DataType::Float32 => DataType::Float64,
        DataType::UInt32
        | DataType::Time64(TimeUnit::Microsecond)
        | DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => DataType::Int64,
        kind if Kind::of(kind) != Kind::Other => return Some(key),
        _ => return None,
    };
    Some(Typed::new(cast(key.expr, &to), to))
}

/// The canonical form, of an Arrow type, that a value of [`comparable`] stands for.
pub(super) fn restored(value: Typed, kind: &DataType) -> Typed {
    let expr = match kind {
        DataType::BinaryView | DataType::Binary | DataType::FixedSizeBinary(_) => {
            Call::of(Bytes(kind.clone()), vec![value.expr])
        }
        kind => cast(value.expr, kind),
    };
    Typed::new(expr, kind.clone())
}

/// Bytes of hexadecimal digits.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Bytes(DataType);

impl Function for Bytes {
    fn kind(&self, _: &[DataType]) -> DataType {
        self.0.clone()
    }

    fn call(&self, arguments: &[Column], _: usize) -> Result<ArrayRef> {
        let values = only(arguments)?;
        let wrong = || Error::internal("bytes are those of digits");
        let texts = values.as_string_view_opt().ok_or_else(wrong)?;
        let mut bytes = BinaryBuilder::with_capacity(texts.len(), 0);
        let mut value = Vec::new();
        for text in texts {
            value.clear();
            for pair in text.unwrap_or_default().as_bytes().chunks_exact(2) {
                let half = |digit: u8| char::from(digit).to_digit(16).unwrap_or(0) as u8;
                value.push(half(pair[0]) << 4 | half(pair[1]));
            }
            bytes.append_option(text.map(|_| value.as_slice()));
        }
        let bytes: ArrayRef = Arc::new(bytes.finish());
        Ok(cast_array(&bytes, &self.0)?)
    }
}

/// Bytes as hexadecimal digits, whose order is theirs.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Digits;

impl Function for Digits {
    fn kind(&self, _: &[DataType]) -> DataType {
        DataType::Utf8View
    }

    fn call(&self, arguments: &[Column], _: usize) -> Result<ArrayRef> {
        let values = only(arguments)?;
        let wrong = || Error::internal("digits are those of bytes");
        let bytes = cast_array(values, &DataType::BinaryView)?;
        let bytes = bytes.as_binary_view_opt().ok_or_else(wrong)?;
        let mut texts = StringViewBuilder::with_capacity(bytes.len());
        let mut text = String::new();
        for value in bytes {
            text.clear();
            for byte in value.unwrap_or_default() {
                for half in [byte >> 4, byte & 15] {
                    text.push(char::from_digit(half.into(), 16).unwrap_or('0'));
                }
            }
            texts.append_option(value.map(|_| text.as_str()));
        }
        Ok(Arc::new(texts.finish()))
    }
}

/// The canonical forms of an array's values.
///
/// # Errors
/// `42883` for types whose values are not compared.
pub(super) fn canonical(ty: &Type, array: &ArrayRef) -> Result<ArrayRef> {
    let wrong = || Error::internal(format!("no {ty} in {}", array.data_type()));
    Ok(match ty {
        Type::Float4 => {
            let values = array.as_primitive_opt::<Float32Type>().ok_or_else(wrong)?;
            let one = |v: f32| if v.is_nan() { f32::NAN } else { v + 0.0 };
            Arc::new(values.unary::<_, Float32Type>(one)) as ArrayRef
        }
        Type::Float8 => {
            let values = array.as_primitive_opt::<Float64Type>().ok_or_else(wrong)?;
            let one = |v: f64| if v.is_nan() { f64::NAN } else { v + 0.0 };
            Arc::new(values.unary::<_, Float64Type>(one))
        }
        Type::Numeric(_) if !array.data_type().is_decimal() => {
            let values = array.as_binary_view_opt().ok_or_else(wrong)?;
            let mut keys = BinaryViewBuilder::with_capacity(values.len());
            for value in values {
                keys.append_option(value.map(Numeric::key));
            }
            Arc::new(keys.finish())
        }
        Type::Range(of) | Type::Multirange(of) if of.has_scales() => {
            let values = array.as_binary_view_opt().ok_or_else(wrong)?;
            let mut keys = BinaryViewBuilder::with_capacity(values.len());
            for value in values {
                keys.append_option(value.map(|value| range::key(*of, value)));
            }
            Arc::new(keys.finish())
        }
        Type::Interval => {
            let values = array.as_primitive_opt::<IntervalMonthDayNanoType>();
            let values = values.ok_or_else(wrong)?;
            let lengths: PrimitiveArray<Decimal128Type> =
                values.unary(|value| Interval::from(value).length());
            Arc::new(lengths.with_precision_and_scale(38, 0)?)
        }
        Type::TimeTz(_) => {
            let values = array.as_fixed_size_binary_opt().ok_or_else(wrong)?;
            let mut keys = FixedSizeBinaryBuilder::with_capacity(values.len(), TIMETZ);
            for value in values {
                match value.and_then(zoned) {
                    Some(key) => keys.append_value(key)?,
                    None => keys.append_null(),
                }
            }
            Arc::new(keys.finish())
        }
        Type::Enum(of) => {
            let values = array.as_string_view_opt().ok_or_else(wrong)?;
            let place = |label: &str| {
                let place = of.labels.iter().position(|known| known == label);
                place.and_then(|place| i32::try_from(place).ok())
            };
            let places: Int32Array = values.iter().map(|label| place(label?)).collect();
            Arc::new(places)
        }
        Type::Internal(Internal::Xid8) => {
            let values = array.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?;
            Arc::new(values.unary::<_, Int64Type>(|bits| bits ^ i64::MIN))
        }
        Type::Array(_) | Type::Record(_) => nested(ty, array)?,
        Type::Jsonb => {
            let values = array.as_string_view_opt().ok_or_else(wrong)?;
            let mut keys = BinaryBuilder::with_capacity(values.len(), 0);
            for value in values {
                keys.append_option(value.map(json::key));
            }
            Arc::new(keys.finish())
        }
        _ => Arc::clone(array),
    })
}

/// The instant and the zone of a TIMETZ, as bytes in their order.
fn zoned(value: &[u8]) -> Option<[u8; TIMETZ as usize]> {
    let micros = i64::from_le_bytes(value.get(..8)?.try_into().ok()?);
    let west = i32::from_le_bytes(value.get(8..12)?.try_into().ok()?);
    let instant = micros.saturating_add(i64::from(west).saturating_mul(1_000_000));
    let mut key = [0; TIMETZ as usize];
    // Without the sign bit turned, negative numbers would be the greatest.
    key[..8].copy_from_slice(&(instant ^ i64::MIN).to_be_bytes());
    key[8..].copy_from_slice(&(west ^ i32::MIN).to_be_bytes());
    Some(key)
}

/// Bytes whose order is that of arrays or records.
///
/// An array is its elements, each after a byte that says that it comes, then an end that is
/// less, the number of dimensions, their lengths and their lower bounds. A record is its fields.
fn nested(ty: &Type, array: &ArrayRef) -> Result<ArrayRef> {
    let mut keys = BinaryBuilder::with_capacity(array.len(), 0);
    let mut key = Vec::new();
    match ty {
        Type::Array(_) => {
            let arrays = Arrays::of(array)?;
            let rows = match array.is_empty() {
                true => None,
                false => Some(encoded(ty.innermost(), arrays.values())?),
            };
            for at in 0..array.len() {
                if array.is_null(at) {
                    keys.append_null();
                    continue;
                }
                key.clear();
                for element in arrays.range(at) {
                    if let Some(rows) = &rows {
                        key.push(1);
                        key.extend_from_slice(rows.row(element).as_ref());
                    }
                }
                key.push(0);
                let bounds = arrays.bounds(at);
                key.extend_from_slice(&(bounds.dimensions() as u64).to_be_bytes());
                for length in &bounds.lengths {
                    key.extend_from_slice(&(*length as u64).to_be_bytes());
                }
                // Without the sign bit turned, negative numbers would be the greatest.
                for low in &bounds.lows {
                    key.extend_from_slice(&(low ^ i32::MIN).to_be_bytes());
                }
                keys.append_value(&key);
            }
        }
        Type::Record(fields) => {
            let record = array.as_struct_opt();
            let record = record.ok_or_else(|| Error::internal("no record"))?;
            let columns = record.columns().iter().zip(fields.iter());
            let columns = columns.map(|(column, (_, ty))| encoded(ty, column));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            for at in 0..array.len() {
                if array.is_null(at) {
                    keys.append_null();
                    continue;
                }
                key.clear();
                for column in &columns {
                    key.extend_from_slice(column.row(at).as_ref());
                }
                keys.append_value(&key);
            }
        }
        _ => return Err(Error::internal("no nested type")),
    }
    Ok(Arc::new(keys.finish()))
}

/// Values as bytes in their order, NULLs last.
fn encoded(ty: &Type, array: &ArrayRef) -> Result<Rows> {
    let column = canonical(ty, array)?;
    let converter = RowConverter::new(vec![last_null(column.data_type())])?;
    Ok(converter.convert_columns(&[column])?)
}

/// Ascending, NULLs last.
fn last_null(kind: &DataType) -> SortField {
    let options = SortOptions {
        descending: false,
        nulls_first: false,
    };
    SortField::new_with_options(kind.clone(), options)
}

/// Turns rows of several columns into bytes that are equal where all values are, and in their
/// order, NULLs last.
pub(super) struct Encoder {
    types: Vec<Type>,
    converter: Option<RowConverter>,
}

/// The bytes of a row.
pub(super) type Row = OwnedRow;

impl Encoder {
    pub(super) fn new(types: Vec<Type>) -> Self {
        Self {
            types,
            converter: None,
        }
    }

    /// The bytes of rows. All batches have columns of the same Arrow types.
    ///
    /// # Errors
    /// Those of [`canonical`].
    pub(super) fn rows(&mut self, columns: &[ArrayRef]) -> Result<Rows> {
        let columns = columns.iter().zip(&self.types);
        let columns = columns.map(|(column, ty)| canonical(ty, column));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let converter = match self.converter.take() {
            Some(converter) => converter,
            None => {
                let fields = columns.iter();
                let fields = fields.map(|column| last_null(column.data_type()));
                RowConverter::new(fields.collect())?
            }
        };
        let rows = converter.convert_columns(&columns)?;
        self.converter = Some(converter);
        Ok(rows)
    }
}

/// The canonical form as a function.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Canonical {
    ty: Type,
    kind: DataType,
}

impl Function for Canonical {
    fn kind(&self, _: &[DataType]) -> DataType {
        self.kind.clone()
    }

    fn call(&self, arguments: &[Column], _: usize) -> Result<ArrayRef> {
        canonical(&self.ty, only(arguments)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Float32Array, Float64Array};

    #[test]
    fn zeros_and_nans_become_one() {
        let array: ArrayRef = Arc::new(Float64Array::from(vec![0.0, -0.0, -f64::NAN, f64::NAN]));
        let rows = Encoder::new(vec![Type::Float8]).rows(&[array]).unwrap();
        assert_eq!(rows.row(0), rows.row(1));
        assert_eq!(rows.row(2), rows.row(3));
        assert!(rows.row(2) > rows.row(0));
        let array: ArrayRef = Arc::new(Float32Array::from(vec![0.0, -0.0]));
        let rows = Encoder::new(vec![Type::Float4]).rows(&[array]).unwrap();
        assert_eq!(rows.row(0), rows.row(1));
    }
}

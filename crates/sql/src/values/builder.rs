//! A column under construction, filled from text.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, BinaryViewBuilder, BooleanBuilder, Date32Builder, Decimal128Builder,
    FixedSizeBinaryBuilder, Float32Builder, Float64Builder, Int16Builder, Int32Builder,
    Int64Builder, IntervalMonthDayNanoBuilder, StringViewArray, StringViewBuilder,
    Time64MicrosecondBuilder, TimestampMicrosecondBuilder,
};
use freestone_frontend::Result as FrontResult;
use freestone_frontend::functions::{read_oid, read_range, read_xid};
use freestone_frontend::types::Type;
use freestone_frontend::values::Numeric;
use freestone_frontend::values::datetime::{self, Locale, SpanFields};
use freestone_storage::{Column, ColumnType, Modifier};

use super::digits::{digits_given, held_exactly};
use super::text;
use crate::error::{Error, Result};
use crate::types::{span_fields, type_held};

/// Builds the Arrow array of one column type from text.
pub(crate) enum ColumnBuilder {
    Boolean(BooleanBuilder),
    SmallInt(Int16Builder),
    Integer(Int32Builder),
    BigInt(Int64Builder),
    Real(Float32Builder),
    Double(Float64Builder),
    Decimal(Decimal128Builder, u8, i8),
    /// Numbers of no other digits than the column's, which is named.
    Exact(Decimal128Builder, (u8, i8), String),
    Date(Date32Builder, Arc<Locale>),
    /// With digits of seconds, as the next two.
    Time(Time64MicrosecondBuilder, Arc<Locale>, u8),
    Timestamp(TimestampMicrosecondBuilder, Arc<Locale>, u8),
    TimestampTz(TimestampMicrosecondBuilder, Arc<Locale>, u8),
    Interval(IntervalMonthDayNanoBuilder, Arc<Locale>, SpanFields),
    Uuid(FixedSizeBinaryBuilder),
    Varchar(StringViewBuilder, u32),
    Char(StringViewBuilder, u32),
    Text(StringViewBuilder),
    Bytea(BinaryViewBuilder),
    /// With a precision and a scale, if they are declared.
    Numeric(BinaryViewBuilder, Option<(u32, i32)>),
    /// OID or XID, with how a text of it is read.
    Number(Int64Builder, fn(&str) -> FrontResult<i64>),
    /// A type that the front reads, and that is held as text.
    OfFront(StringViewBuilder, Box<Column>),
    /// A type that the front reads, and that is held as bytes.
    BytesOfFront(BinaryViewBuilder, Box<Column>),
    /// Ranges or multiranges of a type.
    Range(BinaryViewBuilder, Type, Arc<Locale>),
}

/// All digits of seconds.
const ALL_DIGITS: u8 = 6;

impl ColumnBuilder {
    /// An empty column that is built of texts. Those of dates and times are read by the settings
    /// of a session; values get what the declared type of the column says.
    pub(crate) fn of(column: &Column, locale: &Arc<Locale>) -> Self {
        let locale = || Arc::clone(locale);
        let seconds = match column.modifier {
            Some(Modifier::Seconds(digits)) => digits,
            _ => ALL_DIGITS,
        };
        let digits = match column.modifier {
            Some(Modifier::Digits { precision, scale }) => Some((precision.into(), scale.into())),
            _ => None,
        };
        let kind = &column.kind;
        let of_front = || Self::OfFront(StringViewBuilder::new(), Box::new(column.clone()));
        match kind {
            ColumnType::BigInt if column.modifier == Some(Modifier::Oid) => {
                Self::Number(Int64Builder::new(), read_oid)
            }
            ColumnType::BigInt if column.modifier == Some(Modifier::Xid) => {
                Self::Number(Int64Builder::new(), |text| Ok(read_xid(text)))
            }
            ColumnType::Text if column.modifier.is_some() => of_front(),
            ColumnType::Bytea if column.modifier.is_some() => match type_held(column) {
                ty @ (Type::Range(_) | Type::Multirange(_)) => {
                    Self::Range(BinaryViewBuilder::new(), ty, locale())
                }
                _ => Self::BytesOfFront(BinaryViewBuilder::new(), Box::new(column.clone())),
            },
            ColumnType::Boolean => Self::Boolean(BooleanBuilder::new()),
            ColumnType::SmallInt => Self::SmallInt(Int16Builder::new()),
            ColumnType::Integer => Self::Integer(Int32Builder::new()),
            ColumnType::BigInt => Self::BigInt(Int64Builder::new()),
            ColumnType::Real => Self::Real(Float32Builder::new()),
            ColumnType::Double => Self::Double(Float64Builder::new()),
            ColumnType::Decimal { .. } if let Some(digits) = digits_given(column) => Self::Exact(
                Decimal128Builder::new().with_data_type(kind.arrow()),
                digits,
                column.name.clone(),
            ),
            ColumnType::Decimal { precision, scale } => Self::Decimal(
                Decimal128Builder::new().with_data_type(kind.arrow()),
                *precision,
                *scale,
            ),
            ColumnType::Date => Self::Date(Date32Builder::new(), locale()),
            ColumnType::Time => Self::Time(Time64MicrosecondBuilder::new(), locale(), seconds),
            ColumnType::Timestamp => {
                Self::Timestamp(TimestampMicrosecondBuilder::new(), locale(), seconds)
            }
            ColumnType::TimestampTz => Self::TimestampTz(
                TimestampMicrosecondBuilder::new().with_data_type(kind.arrow()),
                locale(),
                seconds,
            ),
            ColumnType::Interval => {
                let fields = span_fields(column.modifier);
                Self::Interval(IntervalMonthDayNanoBuilder::new(), locale(), fields)
            }
            ColumnType::Uuid => Self::Uuid(FixedSizeBinaryBuilder::new(16)),
            ColumnType::Varchar(Some(length)) => Self::Varchar(StringViewBuilder::new(), *length),
            ColumnType::Char(length) => Self::Char(StringViewBuilder::new(), *length),
            ColumnType::Varchar(None) | ColumnType::Text => Self::Text(StringViewBuilder::new()),
            ColumnType::Bytea => Self::Bytea(BinaryViewBuilder::new()),
            ColumnType::Numeric => Self::Numeric(BinaryViewBuilder::new(), digits),
            ColumnType::Json
            | ColumnType::Jsonb
            | ColumnType::TimeTz
            | ColumnType::Record
            | ColumnType::Array { .. } => of_front(),
        }
    }

    /// Adds a NULL.
    pub(crate) fn push_null(&mut self) {
        match self {
            Self::Boolean(b) => b.append_null(),
            Self::SmallInt(b) => b.append_null(),
            Self::Integer(b) => b.append_null(),
            Self::BigInt(b) => b.append_null(),
            Self::Real(b) => b.append_null(),
            Self::Double(b) => b.append_null(),
            Self::Decimal(b, _, _) | Self::Exact(b, _, _) => b.append_null(),
            Self::Date(b, _) => b.append_null(),
            Self::Time(b, _, _) => b.append_null(),
            Self::Timestamp(b, _, _) | Self::TimestampTz(b, _, _) => b.append_null(),
            Self::Interval(b, _, _) => b.append_null(),
            Self::Number(b, _) => b.append_null(),
            Self::Uuid(b) => b.append_null(),
            Self::Varchar(b, _) | Self::Char(b, _) | Self::Text(b) | Self::OfFront(b, _) => {
                b.append_null()
            }
            Self::Bytea(b)
            | Self::Numeric(b, _)
            | Self::BytesOfFront(b, _)
            | Self::Range(b, ..) => b.append_null(),
        }
    }

    /// Adds the value that a text means.
    ///
    /// # Errors
    /// `22P02`, `22003`, `22007`, `22001`: nothing is added then.
    pub(crate) fn push(&mut self, value: &str) -> Result<()> {
        match self {
            Self::Boolean(b) => b.append_value(text::parse_bool(value)?),
            Self::SmallInt(b) => {
                let (min, max) = (i64::from(i16::MIN), i64::from(i16::MAX));
                b.append_value(narrow(text::parse_int("smallint", value, min, max)?)?);
            }
            Self::Integer(b) => {
                let (min, max) = (i64::from(i32::MIN), i64::from(i32::MAX));
                b.append_value(narrow(text::parse_int("integer", value, min, max)?)?);
            }
            Self::BigInt(b) => {
                b.append_value(text::parse_int("bigint", value, i64::MIN, i64::MAX)?);
            }
            Self::Real(b) => b.append_value(text::parse_real(value)?),
            Self::Double(b) => b.append_value(text::parse_double(value)?),
            Self::Decimal(b, precision, scale) => {
                b.append_value(text::parse_decimal(value, *precision, *scale)?);
            }
            Self::Exact(b, digits, column) => {
                let number = Numeric::parse(value)?;
                b.append_value(held_exactly(&number, *digits, column)?);
            }
            Self::Date(b, locale) => b.append_value(text::parse_date(value, locale)?),
            Self::Time(b, locale, digits) => {
                let time = text::parse_time(value, locale)?;
                b.append_value(datetime::round_time(time, *digits));
            }
            Self::Timestamp(b, locale, digits) => {
                let stamp = text::parse_timestamp(value, locale)?;
                b.append_value(datetime::round_stamp(stamp, *digits)?);
            }
            Self::TimestampTz(b, locale, digits) => {
                let stamp = text::parse_instant(value, locale)?;
                b.append_value(datetime::round_stamp(stamp, *digits)?);
            }
            Self::Interval(b, locale, fields) => {
                b.append_value(text::parse_interval(value, locale, *fields)?);
            }
            Self::Uuid(b) => b.append_value(text::parse_uuid(value)?)?,
            Self::Varchar(b, length) => b.append_value(text::fit_varchar(value, *length)?),
            Self::Char(b, length) => b.append_value(text::fit_char(value, *length)?),
            Self::Text(b) => b.append_value(value),
            Self::Bytea(b) => b.append_value(text::parse_bytea(value)?),
            Self::Numeric(b, digits) => {
                let number = Numeric::parse(value)?;
                let number = match *digits {
                    Some((precision, scale)) => number.fitted(precision, scale)?,
                    None => number,
                };
                b.append_value(number.encode());
            }
            Self::Number(b, read) => b.append_value(read(value)?),
            Self::OfFront(b, column) => {
                let given: ArrayRef = Arc::new(StringViewArray::from(vec![value]));
                let stored = super::convert::stored(&given, column).map_err(|bad| bad.error)?;
                match stored.as_string_view_opt() {
                    Some(stored) => b.append_option(stored.iter().next().flatten()),
                    None => return Err(Error::internal("a value that is held as no text")),
                }
            }
            Self::Range(b, ty, locale) => b.append_value(read_range(ty, value, locale)?),
            Self::BytesOfFront(b, column) => {
                let given: ArrayRef = Arc::new(StringViewArray::from(vec![value]));
                let stored = super::convert::stored(&given, column).map_err(|bad| bad.error)?;
                match stored.as_binary_view_opt() {
                    Some(stored) => b.append_option(stored.iter().next().flatten()),
                    None => return Err(Error::internal("a value that is held as no bytes")),
                }
            }
        }
        Ok(())
    }

    /// The column so far; the builder is empty afterwards.
    pub(crate) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Boolean(b) => Arc::new(b.finish()),
            Self::SmallInt(b) => Arc::new(b.finish()),
            Self::Integer(b) => Arc::new(b.finish()),
            Self::BigInt(b) => Arc::new(b.finish()),
            Self::Real(b) => Arc::new(b.finish()),
            Self::Double(b) => Arc::new(b.finish()),
            Self::Decimal(b, _, _) | Self::Exact(b, _, _) => Arc::new(b.finish()),
            Self::Date(b, _) => Arc::new(b.finish()),
            Self::Time(b, _, _) => Arc::new(b.finish()),
            Self::Timestamp(b, _, _) | Self::TimestampTz(b, _, _) => Arc::new(b.finish()),
            Self::Interval(b, _, _) => Arc::new(b.finish()),
            Self::Number(b, _) => Arc::new(b.finish()),
            Self::Uuid(b) => Arc::new(b.finish()),
            Self::Varchar(b, _) | Self::Char(b, _) | Self::Text(b) | Self::OfFront(b, _) => {
                Arc::new(b.finish())
            }
            Self::Bytea(b)
            | Self::Numeric(b, _)
            | Self::BytesOfFront(b, _)
            | Self::Range(b, ..) => Arc::new(b.finish()),
        }
    }
}

/// A number already checked against the type's range.
fn narrow<T: TryFrom<i64>>(value: i64) -> Result<T> {
    T::try_from(value).map_err(|_| Error::internal("a checked integer is out of range"))
}

//! SQL types, Arrow types and the names PostgreSQL gives them.
//!
//! A type written in a statement becomes a [`ColumnType`], the only type list of
//! the project, and from there an Arrow type; casts and column definitions take
//! the same way, so `CAST(x AS T)` and a column of type `T` always agree.
//! TIMESTAMP is microseconds (years 4713 BC to 294276 AD), not DataFusion's
//! nanoseconds, which end in 2262.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef, IntervalUnit, TimeUnit};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::planner::TypePlanner;
use datafusion::sql::sqlparser::ast::{
    CharacterLength, DataType as SqlType, ExactNumberInfo, TimezoneInfo,
};
use freestone_storage::ColumnType;

use crate::error::{Error, Result};

/// Most digits of a DECIMAL.
pub(crate) const DECIMAL_DIGITS: u8 = 38;

/// Longest declared VARCHAR(n) and CHAR(n), as in PostgreSQL.
const LENGTH_MAX: u64 = 10_485_760;

/// DataFusion's hook for type names in casts and literals.
#[derive(Debug)]
pub(crate) struct Types;

impl TypePlanner for Types {
    fn plan_type_field(&self, sql: &SqlType) -> DfResult<Option<FieldRef>> {
        let kind = match sql {
            SqlType::Array(_) | SqlType::Struct(_, _) => return Ok(None),
            // NUMERIC without digits in a cast keeps as many as there is room for.
            SqlType::Numeric(ExactNumberInfo::None)
            | SqlType::Decimal(ExactNumberInfo::None)
            | SqlType::Dec(ExactNumberInfo::None) => DataType::Decimal128(DECIMAL_DIGITS, 10),
            other => column_type(other)?.arrow(),
        };
        Ok(Some(Arc::new(Field::new("", kind, true))))
    }
}

/// The column type that a written type means.
///
/// # Errors
/// `42704` for a type we do not have, `22023` for digits or lengths out of range.
pub(crate) fn column_type(sql: &SqlType) -> Result<ColumnType> {
    use SqlType as S;
    Ok(match sql {
        S::Boolean | S::Bool => ColumnType::Boolean,
        S::SmallInt(None) | S::Int2(None) | S::TinyInt(None) | S::Int16 => ColumnType::SmallInt,
        S::Int(None) | S::Integer(None) | S::Int4(None) | S::MediumInt(None) | S::Int32 => {
            ColumnType::Integer
        }
        S::BigInt(None) | S::Int8(None) | S::Int64 => ColumnType::BigInt,
        S::Real | S::Float4 | S::Float32 => ColumnType::Real,
        S::Float(info) => float(*info)?,
        S::Double(_) | S::DoublePrecision | S::Float8 | S::Float64 => ColumnType::Double,
        S::Numeric(info) | S::Decimal(info) | S::Dec(info) => decimal(*info)?,
        S::Date | S::Date32 => ColumnType::Date,
        S::Time(None | Some(0..=6), TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => {
            ColumnType::Time
        }
        S::Timestamp(None | Some(0..=6), zone) => match zone {
            TimezoneInfo::None | TimezoneInfo::WithoutTimeZone => ColumnType::Timestamp,
            TimezoneInfo::WithTimeZone | TimezoneInfo::Tz => ColumnType::TimestampTz,
        },
        S::Datetime(None) | S::TimestampNtz(None) => ColumnType::Timestamp,
        S::Interval { .. } => ColumnType::Interval,
        S::Uuid => ColumnType::Uuid,
        S::Varchar(n) | S::CharacterVarying(n) | S::CharVarying(n) | S::Nvarchar(n) => {
            ColumnType::Varchar(length("varchar", n.as_ref())?)
        }
        S::Char(n) | S::Character(n) => ColumnType::Char(length("char", n.as_ref())?.unwrap_or(1)),
        S::Text | S::String(_) | S::Clob(_) | S::Regclass => ColumnType::Text,
        S::Bytea | S::Blob(_) | S::Binary(_) | S::Varbinary(_) => ColumnType::Bytea,
        S::JSON | S::JSONB => ColumnType::Json,
        S::Custom(name, _) => custom(&name.to_string())?,
        other => return Err(no_such_type(&other.to_string())),
    })
}

fn no_such_type(name: &str) -> Error {
    Error::new(
        "42704",
        format!("type \"{}\" does not exist", name.to_lowercase()),
    )
    .with_hint(
        "the types are BOOLEAN, SMALLINT, INTEGER, BIGINT, REAL, DOUBLE PRECISION, DECIMAL(p,s), \
         DATE, TIME, TIMESTAMP [WITH TIME ZONE], INTERVAL, UUID, VARCHAR(n), CHAR(n), TEXT, BYTEA, JSON",
    )
}

fn custom(name: &str) -> Result<ColumnType> {
    match name.to_lowercase().as_str() {
        "bpchar" | "name" | "\"char\"" | "regtype" | "regproc" | "regnamespace" | "regrole"
        | "_text" | "text" => Ok(ColumnType::Text),
        "oid" | "xid" => Ok(ColumnType::BigInt),
        _ => Err(no_such_type(name)),
    }
}

fn float(info: ExactNumberInfo) -> Result<ColumnType> {
    match info {
        ExactNumberInfo::None | ExactNumberInfo::Precision(25..=53) => Ok(ColumnType::Double),
        ExactNumberInfo::Precision(1..=24) => Ok(ColumnType::Real),
        _ => Err(Error::new(
            "22023",
            "precision for type float must be between 1 and 53 bits",
        )),
    }
}

fn decimal(info: ExactNumberInfo) -> Result<ColumnType> {
    let (precision, scale) = match info {
        ExactNumberInfo::None => (u64::from(DECIMAL_DIGITS), 10),
        ExactNumberInfo::Precision(precision) => (precision, 0),
        ExactNumberInfo::PrecisionAndScale(precision, scale) => (precision, scale),
    };
    let invalid = |message: String| Error::new("22023", message);
    let digits = u8::try_from(precision)
        .ok()
        .filter(|p| (1..=DECIMAL_DIGITS).contains(p))
        .ok_or_else(|| {
            invalid(format!(
                "DECIMAL precision {precision} must be between 1 and {DECIMAL_DIGITS}"
            ))
        })?;
    let scale = i8::try_from(scale)
        .ok()
        .filter(|s| *s >= 0 && s.unsigned_abs() <= digits)
        .ok_or_else(|| {
            invalid(format!(
                "DECIMAL scale {scale} must be between 0 and precision {digits}"
            ))
        })?;
    Ok(ColumnType::Decimal {
        precision: digits,
        scale,
    })
}

fn length(kind: &str, length: Option<&CharacterLength>) -> Result<Option<u32>> {
    let Some(length) = length else {
        return Ok(None);
    };
    let CharacterLength::IntegerLength { length, .. } = length else {
        return Ok(None);
    };
    if *length == 0 {
        return Err(Error::new(
            "22023",
            format!("length for type {kind} must be at least 1"),
        ));
    }
    match u32::try_from(*length) {
        Ok(n) if *length <= LENGTH_MAX => Ok(Some(n)),
        _ => Err(Error::new(
            "22023",
            format!("length for type {kind} cannot exceed {LENGTH_MAX}"),
        )),
    }
}

/// The column type that holds values of an Arrow type, for CREATE TABLE AS and
/// for reading files.
///
/// # Errors
/// `0A000` for lists, structs and other types that no column has.
pub(crate) fn column_type_of(arrow: &DataType) -> Result<ColumnType> {
    Ok(match arrow {
        DataType::Boolean => ColumnType::Boolean,
        DataType::Int8 | DataType::UInt8 | DataType::Int16 => ColumnType::SmallInt,
        DataType::UInt16 | DataType::Int32 => ColumnType::Integer,
        DataType::UInt32 | DataType::Int64 => ColumnType::BigInt,
        DataType::UInt64 => ColumnType::Decimal {
            precision: 20,
            scale: 0,
        },
        DataType::Float16 | DataType::Float32 => ColumnType::Real,
        DataType::Float64 => ColumnType::Double,
        DataType::Decimal32(p, s) | DataType::Decimal64(p, s) | DataType::Decimal128(p, s)
            if *s >= 0 =>
        {
            ColumnType::Decimal {
                precision: *p,
                scale: *s,
            }
        }
        DataType::Decimal256(p, s) if *s >= 0 => ColumnType::Decimal {
            precision: (*p).min(DECIMAL_DIGITS),
            scale: *s,
        },
        DataType::Date32 | DataType::Date64 => ColumnType::Date,
        DataType::Time32(_) | DataType::Time64(_) => ColumnType::Time,
        DataType::Timestamp(_, None) => ColumnType::Timestamp,
        DataType::Timestamp(_, Some(_)) => ColumnType::TimestampTz,
        DataType::Interval(_) => ColumnType::Interval,
        DataType::FixedSizeBinary(16) => ColumnType::Uuid,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => {
            ColumnType::Text
        }
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => ColumnType::Bytea,
        DataType::Dictionary(_, values) => column_type_of(values)?,
        other => {
            return Err(Error::unsupported(format!(
                "a column cannot have the type {}",
                sql_name(other)
            )));
        }
    })
}

/// The type of JSON: no other texts that are computed are long ones.
pub const JSON: DataType = DataType::LargeUtf8;

/// What elements of lists are called in which PostgreSQL's catalog has an `int2vector`: it is
/// written as `1 2`.
pub const VECTOR: &str = "vector";

/// What SQL calls the type of a result's column, such as `numeric(10,2)`.
pub fn type_name(arrow: &DataType) -> String {
    sql_name(arrow)
}

/// PostgreSQL's name of an Arrow type.
pub(crate) fn sql_name(arrow: &DataType) -> String {
    match arrow {
        DataType::Null => "unknown".to_owned(),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            format!("{}[]", sql_name(item.data_type()))
        }
        DataType::Dictionary(_, values) => sql_name(values),
        DataType::Decimal128(p, s) | DataType::Decimal256(p, s) => format!("numeric({p},{s})"),
        DataType::Interval(IntervalUnit::MonthDayNano) => "interval".to_owned(),
        DataType::Timestamp(TimeUnit::Microsecond, None) => "timestamp".to_owned(),
        other => match sql_name_of_debug(&other.to_string()) {
            "unknown" => other.to_string(),
            name => name.to_owned(),
        },
    }
}

/// PostgreSQL's name of a type as Arrow spells it in its messages.
pub(crate) fn sql_name_of_debug(arrow: &str) -> &'static str {
    let head = arrow
        .trim_start_matches("DataType::")
        .split(['(', ' '])
        .next()
        .unwrap_or(arrow);
    match head {
        "Boolean" => "boolean",
        "Int8" | "Int16" | "UInt8" => "smallint",
        "Int32" | "UInt16" => "integer",
        "Int64" | "UInt32" | "UInt64" => "bigint",
        "Float16" | "Float32" => "real",
        "Float64" => "double precision",
        "Decimal32" | "Decimal64" | "Decimal128" | "Decimal256" => "numeric",
        "Date32" | "Date64" => "date",
        "Time32" | "Time64" => "time",
        "Timestamp" if arrow.contains('"') || arrow.contains("Some") => "timestamp with time zone",
        "Timestamp" => "timestamp",
        "Interval" | "Duration" => "interval",
        "FixedSizeBinary" if arrow.contains("(16)") => "uuid",
        "Binary" | "LargeBinary" | "BinaryView" | "FixedSizeBinary" => "bytea",
        "Utf8" | "LargeUtf8" | "Utf8View" => "text",
        _ => "unknown",
    }
}

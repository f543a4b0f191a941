//! SQL types and how each is held in memory and in blocks.
//!
//! Three views of one type: the declared SQL type ([`ColumnType`]), the Arrow
//! type that scans return ([`ColumnType::arrow`]), and the stored form
//! ([`Physical`]), which for decimals is the narrowest integer that holds the
//! precision.

use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A declared SQL type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnType {
    /// BOOLEAN.
    Boolean,
    /// SMALLINT, 16 bits.
    SmallInt,
    /// INTEGER, 32 bits.
    Integer,
    /// BIGINT, 64 bits.
    BigInt,
    /// REAL, 32-bit IEEE.
    Real,
    /// DOUBLE PRECISION, 64-bit IEEE.
    Double,
    /// DECIMAL(precision, scale).
    Decimal {
        /// Digits in all, 1..=38.
        precision: u8,
        /// Digits after the point, 0..=precision.
        scale: i8,
    },
    /// DATE, days since 1970-01-01.
    Date,
    /// TIME without zone, microseconds since midnight.
    Time,
    /// TIMESTAMP without zone, microseconds since 1970-01-01.
    Timestamp,
    /// TIMESTAMP WITH TIME ZONE, microseconds since 1970-01-01 UTC.
    TimestampTz,
    /// INTERVAL: months, days and nanoseconds.
    Interval,
    /// UUID, 16 bytes.
    Uuid,
    /// VARCHAR, with a limit in characters.
    Varchar(Option<u32>),
    /// CHAR(n), stored without trailing blanks.
    Char(u32),
    /// TEXT.
    Text,
    /// BYTEA.
    Bytea,
    /// JSON or JSONB, as text.
    Json,
}

/// How values of a column are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Physical {
    /// One byte, 0 or 1.
    Bool,
    /// Two bytes.
    I16,
    /// Four bytes.
    I32,
    /// Eight bytes.
    I64,
    /// Sixteen bytes.
    I128,
    /// Four bytes, IEEE.
    F32,
    /// Eight bytes, IEEE.
    F64,
    /// Sixteen opaque bytes (UUID).
    Bytes16,
    /// Months (i32), days (i32), nanoseconds (i64).
    Interval,
    /// Any number of bytes; `text` says that they are UTF-8.
    Bytes {
        /// Whether the bytes must be UTF-8.
        text: bool,
    },
}

impl Physical {
    /// Bytes of one value, or `None` when they vary.
    pub fn width(self) -> Option<usize> {
        Some(match self {
            Physical::Bool => 1,
            Physical::I16 => 2,
            Physical::I32 | Physical::F32 => 4,
            Physical::I64 | Physical::F64 => 8,
            Physical::I128 | Physical::Bytes16 | Physical::Interval => 16,
            Physical::Bytes { .. } => return None,
        })
    }

    /// Whether values come one after the other, as in indexes.
    pub fn has_order(self) -> bool {
        self != Physical::Interval
    }
}

impl ColumnType {
    /// Its stored type and a codec, as `i64 bitpack`: what the costs of its values are
    /// known by.
    pub fn stored_as(&self, codec: &str) -> String {
        let physical = match self.physical() {
            Physical::Bool | Physical::I16 | Physical::I32 | Physical::F32 => "narrow",
            Physical::I64 => "i64",
            Physical::F64 => "f64",
            Physical::Bytes { .. } => "text",
            _ => "wide",
        };
        format!("{physical} {codec}")
    }

    /// The Arrow type of arrays that hold this column.
    pub fn arrow(&self) -> DataType {
        match self {
            ColumnType::Boolean => DataType::Boolean,
            ColumnType::SmallInt => DataType::Int16,
            ColumnType::Integer => DataType::Int32,
            ColumnType::BigInt => DataType::Int64,
            ColumnType::Real => DataType::Float32,
            ColumnType::Double => DataType::Float64,
            ColumnType::Decimal { precision, scale } => DataType::Decimal128(*precision, *scale),
            ColumnType::Date => DataType::Date32,
            ColumnType::Time => DataType::Time64(TimeUnit::Microsecond),
            ColumnType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            ColumnType::TimestampTz => {
                DataType::Timestamp(TimeUnit::Microsecond, Some(Arc::from("+00:00")))
            }
            ColumnType::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
            ColumnType::Uuid => DataType::FixedSizeBinary(16),
            ColumnType::Varchar(_) | ColumnType::Char(_) | ColumnType::Text | ColumnType::Json => {
                DataType::Utf8View
            }
            ColumnType::Bytea => DataType::BinaryView,
        }
    }

    /// The stored form.
    pub fn physical(&self) -> Physical {
        match self {
            ColumnType::Boolean => Physical::Bool,
            ColumnType::SmallInt => Physical::I16,
            ColumnType::Integer | ColumnType::Date => Physical::I32,
            ColumnType::BigInt
            | ColumnType::Time
            | ColumnType::Timestamp
            | ColumnType::TimestampTz => Physical::I64,
            ColumnType::Real => Physical::F32,
            ColumnType::Double => Physical::F64,
            ColumnType::Decimal { precision, .. } => match precision {
                0..=9 => Physical::I32,
                10..=18 => Physical::I64,
                _ => Physical::I128,
            },
            ColumnType::Interval => Physical::Interval,
            ColumnType::Uuid => Physical::Bytes16,
            ColumnType::Varchar(_) | ColumnType::Char(_) | ColumnType::Text | ColumnType::Json => {
                Physical::Bytes { text: true }
            }
            ColumnType::Bytea => Physical::Bytes { text: false },
        }
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            ColumnType::Boolean => "BOOLEAN",
            ColumnType::SmallInt => "SMALLINT",
            ColumnType::Integer => "INTEGER",
            ColumnType::BigInt => "BIGINT",
            ColumnType::Real => "REAL",
            ColumnType::Double => "DOUBLE PRECISION",
            ColumnType::Decimal { precision, scale } => {
                return write!(f, "DECIMAL({precision},{scale})");
            }
            ColumnType::Date => "DATE",
            ColumnType::Time => "TIME",
            ColumnType::Timestamp => "TIMESTAMP",
            ColumnType::TimestampTz => "TIMESTAMP WITH TIME ZONE",
            ColumnType::Interval => "INTERVAL",
            ColumnType::Uuid => "UUID",
            ColumnType::Varchar(None) => "VARCHAR",
            ColumnType::Varchar(Some(limit)) => return write!(f, "VARCHAR({limit})"),
            ColumnType::Char(limit) => return write!(f, "CHAR({limit})"),
            ColumnType::Text => "TEXT",
            ColumnType::Bytea => "BYTEA",
            ColumnType::Json => "JSON",
        };
        f.write_str(name)
    }
}

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
    /// JSON, the text as it was given.
    Json,
    /// NUMERIC without digits: values of any size, each with a scale of its own. Its bytes are
    /// the language front's, and equal numbers of different scales have different bytes.
    Numeric,
    /// JSONB, as text in its normal form.
    Jsonb,
    /// TIME WITH TIME ZONE, as text.
    TimeTz,
    /// A value of a composite type, as text in parentheses.
    Record,
    /// An array, as text in braces.
    Array {
        /// What it is of.
        element: ElementType,
        /// How many dimensions it has, from 1.
        dims: u8,
    },
}

/// What an array is of: any type but an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // They are those of `ColumnType`.
pub enum ElementType {
    Boolean,
    SmallInt,
    Integer,
    BigInt,
    Real,
    Double,
    Decimal { precision: u8, scale: i8 },
    Date,
    Time,
    Timestamp,
    TimestampTz,
    Interval,
    Uuid,
    Varchar(Option<u32>),
    Char(u32),
    Text,
    Bytea,
    Json,
    Numeric,
    Jsonb,
    TimeTz,
    Record,
}

/// Pairs of an element's type and a column's.
macro_rules! elements {
    ($($name:ident $(($inner:ident))? $({ $($field:ident),* })?),* $(,)?) => {
        impl From<ElementType> for ColumnType {
            fn from(element: ElementType) -> ColumnType {
                match element {
                    $(ElementType::$name $(($inner))? $({ $($field),* })? => {
                        ColumnType::$name $(($inner))? $({ $($field),* })?
                    })*
                }
            }
        }

        impl ColumnType {
            /// The type of arrays of this one, with a number of dimensions from 1; `None` for
            /// an array.
            pub fn array(self, dims: u8) -> Option<ColumnType> {
                let element = match self {
                    $(ColumnType::$name $(($inner))? $({ $($field),* })? => {
                        ElementType::$name $(($inner))? $({ $($field),* })?
                    })*
                    ColumnType::Array { .. } => return None,
                };
                (dims > 0).then_some(ColumnType::Array { element, dims })
            }
        }
    };
}

elements!(
    Boolean,
    SmallInt,
    Integer,
    BigInt,
    Real,
    Double,
    Decimal { precision, scale },
    Date,
    Time,
    Timestamp,
    TimestampTz,
    Interval,
    Uuid,
    Varchar(length),
    Char(length),
    Text,
    Bytea,
    Json,
    Numeric,
    Jsonb,
    TimeTz,
    Record,
);

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

    /// Whether values are equal exactly if their stored forms are, so that they can be keys,
    /// indexed, sorted by and divided into partitions. A NUMERIC of 1.0 equals one of 1.00.
    pub fn has_keys(&self) -> bool {
        !matches!(
            self,
            ColumnType::Numeric
                | ColumnType::Jsonb
                | ColumnType::TimeTz
                | ColumnType::Record
                | ColumnType::Array { .. }
        )
    }

    /// Whether values can be in an index, which keeps them in order.
    pub fn has_order(&self) -> bool {
        self.has_keys() && self.physical().has_order()
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
            ColumnType::Varchar(_)
            | ColumnType::Char(_)
            | ColumnType::Text
            | ColumnType::Json
            | ColumnType::Jsonb
            | ColumnType::TimeTz
            | ColumnType::Record
            | ColumnType::Array { .. } => DataType::Utf8View,
            ColumnType::Bytea | ColumnType::Numeric => DataType::BinaryView,
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
            ColumnType::Varchar(_)
            | ColumnType::Char(_)
            | ColumnType::Text
            | ColumnType::Json
            | ColumnType::Jsonb
            | ColumnType::TimeTz
            | ColumnType::Record
            | ColumnType::Array { .. } => Physical::Bytes { text: true },
            ColumnType::Bytea | ColumnType::Numeric => Physical::Bytes { text: false },
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
            ColumnType::Numeric => "NUMERIC",
            ColumnType::Jsonb => "JSONB",
            ColumnType::TimeTz => "TIME WITH TIME ZONE",
            ColumnType::Record => "RECORD",
            ColumnType::Array { element, dims } => {
                write!(f, "{}", ColumnType::from(*element))?;
                return (0..*dims).try_for_each(|_| f.write_str("[]"));
            }
        };
        f.write_str(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_written_as_they_were() {
        let decimal = ColumnType::Decimal {
            precision: 9,
            scale: 2,
        };
        let words = ColumnType::Varchar(Some(3)).array(2).unwrap();
        for (kind, written, shown) in [
            (ColumnType::Json, r#""json""#, "JSON"),
            (
                decimal,
                r#"{"decimal":{"precision":9,"scale":2}}"#,
                "DECIMAL(9,2)",
            ),
            (ColumnType::Numeric, r#""numeric""#, "NUMERIC"),
            (ColumnType::Jsonb, r#""jsonb""#, "JSONB"),
            (ColumnType::TimeTz, r#""time_tz""#, "TIME WITH TIME ZONE"),
            (ColumnType::Record, r#""record""#, "RECORD"),
            (
                ColumnType::Integer.array(1).unwrap(),
                r#"{"array":{"element":"integer","dims":1}}"#,
                "INTEGER[]",
            ),
            (
                words,
                r#"{"array":{"element":{"varchar":3},"dims":2}}"#,
                "VARCHAR(3)[][]",
            ),
        ] {
            assert_eq!(serde_json::to_string(&kind).unwrap(), written);
            let read: ColumnType = serde_json::from_str(written).unwrap();
            assert_eq!(read, kind);
            assert_eq!(kind.to_string(), shown);
        }
        assert_eq!(words.array(1), None);
        assert_eq!(ColumnType::Integer.array(0), None);
    }

    #[test]
    fn equal_values_of_keys_have_equal_bytes() {
        assert!(ColumnType::Text.has_keys() && ColumnType::Interval.has_keys());
        assert!(!ColumnType::Interval.has_order());
        for kind in [
            ColumnType::Numeric,
            ColumnType::Jsonb,
            ColumnType::TimeTz,
            ColumnType::Record,
            ColumnType::Text.array(1).unwrap(),
        ] {
            assert!(!kind.has_keys() && !kind.has_order(), "{kind}");
        }
    }
}

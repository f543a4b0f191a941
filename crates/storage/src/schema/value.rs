//! One non-null value, as zone maps and predicates hold it.

use std::cmp::Ordering;
use std::fmt;

/// A value of some column; NULL is not a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// BOOLEAN.
    Bool(bool),
    /// Every integer, decimal (unscaled, at the column's scale), date, time and timestamp.
    Int(i128),
    /// REAL and DOUBLE PRECISION.
    Float(f64),
    /// Text, BYTEA and UUID.
    Bytes(Vec<u8>),
}

impl Value {
    /// Orders two values of one type; `None` for NaN or for different types.
    pub fn compare(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
            (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
            (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
            (Value::Bytes(a), Value::Bytes(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }

    /// Orders as Arrow's kernels do: as [`Value::compare`], but -0.0 comes before
    /// 0.0 and NaN last. Values of different types are equal.
    pub fn total_order(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
            _ => self.compare(other).unwrap_or(Ordering::Equal),
        }
    }

    /// Whether this is a float that is not a number.
    pub fn is_nan(&self) -> bool {
        matches!(self, Value::Float(value) if value.is_nan())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Float(value) => write!(f, "{value}"),
            Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => write!(f, "{text:?}"),
                Err(_) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
            },
        }
    }
}

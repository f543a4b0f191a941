//! Comparisons of a column with a literal, in the column's own terms.
//!
//! Storage compares integers (every integer, decimal, date and time type is one
//! inside), floats and bytes with values of the column's exact type. SQL compares
//! a column with literals of other types: a DECIMAL(15,2) with 0.055, a DATE with
//! a timestamp, a TIMESTAMP in microseconds with one in nanoseconds. Here such a
//! literal becomes a fraction `numerator / denominator` in units of the column,
//! and a comparison with a fraction becomes one with a whole number:
//!
//! | written        | column DECIMAL(15,2)        |
//! |----------------|-----------------------------|
//! | `x <  0.055`   | `x <= 5` (hundredths)       |
//! | `x >= 0.055`   | `x >  5`                    |
//! | `x =  0.055`   | never true, NULL stays NULL |
//! | `x <> 0.055`   | true unless NULL            |
//!
//! A comparison that cannot be stated exactly is not translated ([`None`]) and is left to the
//! bulk engine. NaN is one such case: storage promises nothing about it.

use crate::expression::Scalar;
use arrow::datatypes::{DataType, TimeUnit};
use freestone_storage::{ColumnType, CompareOp, Predicate, Value};

/// Microseconds of a day: one DATE step seen from a TIMESTAMP.
const DAY_MICROS: i128 = 86_400_000_000;

/// Powers of ten that an i128 holds.
const POWER_MAX: u32 = 38;

/// A literal in units of the column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    /// `floor`, and whether anything is left over above it.
    Whole {
        /// The value rounded down.
        floor: i128,
        /// True when the value itself is that whole number.
        exact: bool,
    },
    /// A float that is not NaN.
    Float(f64),
    /// Text, BYTEA or UUID.
    Bytes(Vec<u8>),
    /// A truth value.
    Bool(bool),
}

/// A comparison of a whole-number column that is FALSE for every value, NULL for NULL.
fn never(column: usize) -> Predicate {
    Predicate::Compare {
        column,
        op: CompareOp::Lt,
        value: Value::Int(i128::MIN),
    }
}

/// A comparison of a whole-number column that is TRUE for every value, NULL for NULL.
fn always(column: usize) -> Predicate {
    Predicate::Compare {
        column,
        op: CompareOp::GtEq,
        value: Value::Int(i128::MIN),
    }
}

/// `column op literal`, or `None` when storage cannot decide it exactly.
pub(crate) fn compare(
    column: usize,
    kind: &ColumnType,
    op: CompareOp,
    scalar: &Scalar,
) -> Option<Predicate> {
    let with = |op, value| Some(Predicate::Compare { column, op, value });
    match literal(kind, scalar)? {
        Literal::Whole { floor, exact: true } => with(op, Value::Int(floor)),
        Literal::Whole { floor, .. } => match op {
            CompareOp::Eq => Some(never(column)),
            CompareOp::NotEq => Some(always(column)),
            CompareOp::Lt | CompareOp::LtEq => with(CompareOp::LtEq, Value::Int(floor)),
            CompareOp::Gt | CompareOp::GtEq => with(CompareOp::Gt, Value::Int(floor)),
        },
        Literal::Float(value) => with(op, Value::Float(value)),
        Literal::Bytes(value) => with(op, Value::Bytes(value)),
        Literal::Bool(value) => with(op, Value::Bool(value)),
    }
}

/// `column [NOT] IN (list)`.
///
/// A NULL in the list makes every row that is not found NULL instead of FALSE.
/// That is the same to a filter unless a NOT stands above it, so `nullable`
/// lists are only accepted when `strict` is false; `NOT IN` with a NULL never
/// holds.
pub(crate) fn in_list(
    column: usize,
    kind: &ColumnType,
    list: &[Scalar],
    negated: bool,
    strict: bool,
) -> Option<Predicate> {
    let mut values = Vec::with_capacity(list.len());
    let mut has_null = false;
    for scalar in list {
        if scalar.is_null() {
            has_null = true;
            continue;
        }
        match literal(kind, scalar)? {
            Literal::Whole { floor, exact: true } => values.push(Value::Int(floor)),
            Literal::Whole { .. } => {}
            Literal::Float(value) => values.push(Value::Float(value)),
            Literal::Bytes(value) => values.push(Value::Bytes(value)),
            Literal::Bool(value) => values.push(Value::Bool(value)),
        }
    }
    if has_null && strict {
        return None;
    }
    if has_null && negated {
        return Some(Predicate::And(vec![
            Predicate::IsNull(column),
            Predicate::IsNotNull(column),
        ]));
    }
    if values.is_empty() {
        // Nothing in the list can be met: IN is FALSE, NOT IN is TRUE, unless NULL.
        return match class(kind) {
            Class::Whole { .. } if negated => Some(always(column)),
            Class::Whole { .. } => Some(never(column)),
            _ => None,
        };
    }
    Some(Predicate::In {
        column,
        values,
        negated,
    })
}

/// Whether storage compares the column as text.
pub(crate) fn is_text(kind: &ColumnType) -> bool {
    matches!(class(kind), Class::Text)
}

/// How storage compares a column.
enum Class {
    /// As a whole number of `unit`s.
    Whole { unit: Unit },
    /// As a float.
    Float,
    /// As UTF-8 bytes.
    Text,
    /// As bytes.
    Bytes,
    /// As 16 bytes.
    Uuid,
    /// As a truth value.
    Bool,
    /// Not at all.
    Opaque,
}

/// What one step of a whole-number column means.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    /// 10^-scale.
    Decimal(u32),
    /// A day.
    Day,
    /// A microsecond of a day.
    TimeMicro,
    /// A microsecond since 1970.
    Micro,
}

fn class(kind: &ColumnType) -> Class {
    let whole = |unit| Class::Whole { unit };
    match kind {
        ColumnType::Boolean => Class::Bool,
        ColumnType::SmallInt | ColumnType::Integer | ColumnType::BigInt => whole(Unit::Decimal(0)),
        ColumnType::Decimal { scale, .. } => match u32::try_from(*scale) {
            Ok(scale) => whole(Unit::Decimal(scale)),
            Err(_) => Class::Opaque,
        },
        ColumnType::Real | ColumnType::Double => Class::Float,
        ColumnType::Date => whole(Unit::Day),
        ColumnType::Time => whole(Unit::TimeMicro),
        ColumnType::Timestamp | ColumnType::TimestampTz => whole(Unit::Micro),
        ColumnType::Varchar(_) | ColumnType::Char(_) | ColumnType::Text => Class::Text,
        ColumnType::Bytea => Class::Bytes,
        ColumnType::Uuid => Class::Uuid,
        ColumnType::Interval
        | ColumnType::Json
        | ColumnType::Numeric
        | ColumnType::Jsonb
        | ColumnType::TimeTz
        | ColumnType::Record
        | ColumnType::Array { .. } => Class::Opaque,
    }
}

/// The literal in units of the column; `None` for NULL and for other types.
pub(crate) fn literal(kind: &ColumnType, scalar: &Scalar) -> Option<Literal> {
    match class(kind) {
        Class::Whole { unit } => whole(unit, scalar),
        Class::Float => scalar
            .as_float()
            .filter(|v| !v.is_nan())
            .map(Literal::Float),
        Class::Bool => scalar.as_bool().map(Literal::Bool),
        Class::Text => {
            let text = scalar.as_text();
            text.map(|text| Literal::Bytes(text.as_bytes().to_vec()))
        }
        Class::Bytes | Class::Uuid => {
            let of_uuid = matches!(scalar.data_type(), DataType::FixedSizeBinary(_));
            let is_uuid = matches!(class(kind), Class::Uuid);
            let bytes = scalar.as_bytes().filter(|_| of_uuid == is_uuid);
            bytes.map(|bytes| Literal::Bytes(bytes.to_vec()))
        }
        Class::Opaque => None,
    }
}

fn whole(unit: Unit, scalar: &Scalar) -> Option<Literal> {
    // A date that a TIMESTAMP meets is its first moment.
    let day = || scalar.as_date().map(i128::from);
    match unit {
        Unit::Decimal(scale) => {
            let (value, literal_scale) = scalar.as_number()?;
            Some(rescale(value, literal_scale.into(), scale))
        }
        Unit::Day => match (day(), scalar.as_timestamp()) {
            (Some(days), _) => Some(fraction(days, 1)),
            // A DATE meets only timestamps without a zone; others are cast before.
            (None, Some((micros, false))) => Some(fraction(micros.into(), DAY_MICROS)),
            _ => None,
        },
        Unit::TimeMicro => Some(fraction(scalar.as_time()?.into(), 1)),
        Unit::Micro => match (day(), scalar.as_timestamp()) {
            (Some(days), _) => Some(fraction(days * DAY_MICROS, 1)),
            (None, Some((micros, _))) => Some(fraction(micros.into(), 1)),
            _ => None,
        },
    }
}

/// `value / 10^from` in units of `10^-to`, saturating far outside any column.
fn rescale(value: i128, from: i32, to: u32) -> Literal {
    let shift = i64::from(to) - i64::from(from);
    let power = |exponent: i64| {
        u32::try_from(exponent)
            .ok()
            .filter(|e| *e <= POWER_MAX)
            .map(|e| 10_i128.pow(e))
    };
    if shift >= 0 {
        let scaled = match power(shift) {
            Some(factor) => value.saturating_mul(factor),
            None => value.signum().saturating_mul(i128::MAX),
        };
        return fraction(scaled, 1);
    }
    match power(-shift) {
        Some(divisor) => fraction(value, divisor),
        None => fraction(value.signum(), 2),
    }
}

fn fraction(numerator: i128, denominator: i128) -> Literal {
    Literal::Whole {
        floor: numerator.div_euclid(denominator),
        exact: numerator.rem_euclid(denominator) == 0,
    }
}

/// Whether `CAST(column AS to)` keeps every value and its order, so that a
/// comparison of the cast is one of the column itself.
pub(crate) fn cast_keeps_order(kind: &ColumnType, to: &DataType) -> bool {
    match (kind, to) {
        (ColumnType::SmallInt | ColumnType::Integer | ColumnType::BigInt, to) => {
            let digits = match kind {
                ColumnType::SmallInt => 5,
                ColumnType::Integer => 10,
                _ => 19,
            };
            integer_digits(to).is_some_and(|room| room >= digits)
        }
        (ColumnType::Decimal { precision, scale }, DataType::Decimal128(p, s)) => {
            s >= scale && i16::from(*p) - i16::from(*s) >= i16::from(*precision) - i16::from(*scale)
        }
        (ColumnType::Real, DataType::Float32 | DataType::Float64)
        | (ColumnType::Double, DataType::Float64)
        | (ColumnType::Date, DataType::Date32 | DataType::Timestamp(_, None))
        | (
            ColumnType::Timestamp,
            DataType::Timestamp(TimeUnit::Microsecond | TimeUnit::Nanosecond, None),
        )
        | (
            ColumnType::TimestampTz,
            DataType::Timestamp(TimeUnit::Microsecond | TimeUnit::Nanosecond, Some(_)),
        )
        | (ColumnType::Time, DataType::Time64(TimeUnit::Microsecond | TimeUnit::Nanosecond))
        | (
            ColumnType::Varchar(_) | ColumnType::Char(_) | ColumnType::Text,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View,
        )
        | (ColumnType::Bytea, DataType::Binary | DataType::LargeBinary | DataType::BinaryView) => {
            true
        }
        _ => false,
    }
}

/// Digits before the point that an Arrow number type has room for.
fn integer_digits(to: &DataType) -> Option<i16> {
    Some(match to {
        DataType::Int16 => 5,
        DataType::Int32 => 10,
        DataType::Int64 => 19,
        DataType::Decimal128(p, s) if *s >= 0 => i16::from(*p) - i16::from(*s),
        _ => return None,
    })
}

//! Shares of rows that predicates keep, from bounds and distinct counts.
//!
//! Everything is an estimate: each term keeps a share of the rows (its
//! selectivity, from bounds and distinct counts, as in System R), and terms of a
//! conjunction are taken as independent.

use std::sync::Arc;

use crate::expression::Scalar;
use arrow::array::{ArrayRef, BinaryViewArray, Float32Array, Float64Array};
use freestone_storage::{
    ColumnStatistics as Facts, ColumnType, CompareOp, Predicate, TableStatistics, Value,
};

/// Share of rows that a term keeps when nothing better is known.
const GUESS: f64 = 0.2;

/// Share kept by LIKE 'prefix%'.
const PREFIX_GUESS: f64 = 0.05;

/// A storage value as one of the Arrow type of its column.
pub(crate) fn scalar_of(kind: &ColumnType, value: &Value) -> Option<Scalar> {
    let of = |array: ArrayRef| Some(Scalar::of(&array, 0));
    match (kind, value) {
        (ColumnType::Boolean, Value::Bool(v)) => Some(Scalar::boolean(*v)),
        (ColumnType::Boolean, Value::Int(v)) => Some(Scalar::boolean(*v != 0)),
        (ColumnType::Real, Value::Float(v)) => of(Arc::new(Float32Array::from(vec![*v as f32]))),
        (ColumnType::Double, Value::Float(v)) => of(Arc::new(Float64Array::from(vec![*v]))),
        (ColumnType::Varchar(_) | ColumnType::Char(_) | ColumnType::Text, Value::Bytes(v)) => {
            Some(Scalar::text(std::str::from_utf8(v).ok()?))
        }
        (ColumnType::Bytea | ColumnType::Uuid, Value::Bytes(v)) => {
            let bytes: ArrayRef = Arc::new(BinaryViewArray::from(vec![v.as_slice()]));
            Scalar::of(&bytes, 0).cast_to(&kind.arrow()).ok()
        }
        (ColumnType::Decimal { precision, scale }, Value::Int(v)) => {
            Scalar::decimal(*v, *precision, *scale).ok()
        }
        (ColumnType::Date, Value::Int(v)) => Some(Scalar::date(i32::try_from(*v).ok()?)),
        (
            ColumnType::SmallInt
            | ColumnType::Integer
            | ColumnType::BigInt
            | ColumnType::Time
            | ColumnType::Timestamp
            | ColumnType::TimestampTz,
            Value::Int(v),
        ) => {
            let number = Scalar::integer(i64::try_from(*v).ok()?);
            number.cast_to(&kind.arrow()).ok()
        }
        _ => None,
    }
}

/// Estimated share of rows for which `predicate` is TRUE, within 0..=1.
pub(crate) fn selectivity(facts: &TableStatistics, predicate: &Predicate) -> f64 {
    let share = match predicate {
        Predicate::And(parts) => conjunction(facts, parts),
        Predicate::Or(parts) => {
            1.0 - parts
                .iter()
                .map(|part| 1.0 - selectivity(facts, part))
                .product::<f64>()
        }
        Predicate::Not(inner) => 1.0 - selectivity(facts, inner),
        Predicate::Compare { column, op, value } => {
            compared(facts, *column, *op, value) * (1.0 - null_share(facts, *column))
        }
        Predicate::In {
            column,
            values,
            negated,
        } => {
            let share = facts.columns.get(*column).map_or(GUESS, |fact| {
                values.len() as f64 / (fact.distinct.max(1) as f64)
            });
            let share = if *negated { 1.0 - share } else { share };
            share * (1.0 - null_share(facts, *column))
        }
        Predicate::IsNull(column) => null_share(facts, *column),
        Predicate::IsNotNull(column) => 1.0 - null_share(facts, *column),
        Predicate::Prefix { .. } | Predicate::Like { .. } => PREFIX_GUESS,
    };
    share.clamp(0.0, 1.0)
}

/// Bounds of one column combine to an interval; everything else is independent.
fn conjunction(facts: &TableStatistics, parts: &[Predicate]) -> f64 {
    let mut flat = Vec::new();
    flatten(parts, &mut flat);
    let mut share = 1.0;
    // Columns whose NULLs are out, however many comparisons say so.
    let mut present: Vec<usize> = Vec::new();
    // (column, share below the upper bound, share above the lower bound)
    let mut intervals: Vec<(usize, f64, f64)> = Vec::new();
    for part in flat {
        let Predicate::Compare { column, op, value } = part else {
            share *= selectivity(facts, part);
            continue;
        };
        let kept = compared(facts, *column, *op, value);
        if !present.contains(column) {
            present.push(*column);
            share *= 1.0 - null_share(facts, *column);
        }
        let (below, above) = match op {
            CompareOp::Lt | CompareOp::LtEq => (kept, 1.0),
            CompareOp::Gt | CompareOp::GtEq => (1.0, kept),
            _ => {
                share *= kept;
                continue;
            }
        };
        match intervals.iter_mut().find(|(known, _, _)| known == column) {
            Some((_, b, a)) => {
                *b = b.min(below);
                *a = a.min(above);
            }
            None => intervals.push((*column, below, above)),
        }
    }
    for (column, below, above) in intervals {
        let least = facts
            .columns
            .get(column)
            .map_or(0.0, |fact| 1.0 / fact.distinct.max(1) as f64);
        share *= (below + above - 1.0).max(least);
    }
    share
}

fn flatten<'a>(parts: &'a [Predicate], out: &mut Vec<&'a Predicate>) {
    for part in parts {
        match part {
            Predicate::And(inner) => flatten(inner, out),
            other => out.push(other),
        }
    }
}

fn null_share(facts: &TableStatistics, column: usize) -> f64 {
    facts.columns.get(column).map_or(GUESS, |fact| {
        fact.null_count as f64 / facts.rows.max(1) as f64
    })
}

/// Estimated share of the values of a column that a comparison holds for.
fn compared(facts: &TableStatistics, column: usize, op: CompareOp, value: &Value) -> f64 {
    let fact = facts.columns.get(column);
    fact.map_or(GUESS, |fact| comparison(fact, op, value))
}

fn comparison(fact: &Facts, op: CompareOp, value: &Value) -> f64 {
    let equal = 1.0 / fact.distinct.max(1) as f64;
    match op {
        CompareOp::Eq => return equal,
        CompareOp::NotEq => return 1.0 - equal,
        _ => {}
    }
    let (Some(min), Some(max), Some(value)) = (
        fact.min.as_ref().and_then(position),
        fact.max.as_ref().and_then(position),
        position(value),
    ) else {
        return GUESS;
    };
    let below = if max > min {
        ((value - min) / (max - min)).clamp(0.0, 1.0)
    } else if value > min {
        1.0
    } else {
        0.0
    };
    match op {
        CompareOp::Lt | CompareOp::LtEq => below.max(if value >= min { equal } else { 0.0 }),
        _ => (1.0 - below).max(if value <= max { equal } else { 0.0 }),
    }
}

/// A value on the number line; text by its first eight bytes.
fn position(value: &Value) -> Option<f64> {
    Some(match value {
        Value::Bool(v) => f64::from(u8::from(*v)),
        Value::Int(v) => *v as f64,
        Value::Float(v) => *v,
        Value::Bytes(bytes) => {
            let mut head = [0_u8; 8];
            for (to, from) in head.iter_mut().zip(bytes) {
                *to = *from;
            }
            u64::from_be_bytes(head) as f64
        }
    })
}

//! Binding: from a [`Predicate`] to terms that fit the columns' types.

use super::{CompareOp, Predicate};
use crate::error::{Error, Result};
use crate::schema::{ColumnType, Physical, TableSchema, Value};
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryViewArray, BooleanArray, Decimal128Array,
    FixedSizeBinaryArray, Float32Array, Float64Array, PrimitiveArray, StringViewArray,
    TimestampMicrosecondArray,
};
use std::sync::Arc;

/// A predicate without NOT, whose constants have the columns' types.
#[derive(Clone, Debug)]
pub enum BoundPredicate {
    /// A condition on one column, by its position in the table.
    Leaf(usize, Leaf),
    /// All of them; of none: true.
    And(Vec<BoundPredicate>),
    /// At least one; of none: false.
    Or(Vec<BoundPredicate>),
}

/// A condition on one column.
#[derive(Clone, Debug)]
pub enum Leaf {
    /// True for no row.
    Never,
    /// IS NULL.
    IsNull,
    /// IS NOT NULL.
    IsNotNull,
    /// A comparison; `constant` is `value` as an array of one.
    Compare {
        /// Operator.
        op: CompareOp,
        /// Constant, for zone maps.
        value: Value,
        /// Constant, for kernels.
        constant: ArrayRef,
    },
    /// Membership in sorted, distinct values.
    In {
        /// Sorted constants.
        values: Vec<Value>,
        /// The same, each as an array of one, while they are few.
        constants: Vec<ArrayRef>,
        /// NOT IN.
        negated: bool,
    },
    /// LIKE 'prefix%'.
    Prefix {
        /// What the text must begin with.
        prefix: String,
        /// NOT LIKE.
        negated: bool,
    },
    /// LIKE with any other pattern.
    Like {
        /// The pattern.
        pattern: String,
        /// ILIKE.
        insensitive: bool,
        /// NOT LIKE.
        negated: bool,
    },
}

/// IN lists up to this long are compared value by value with vector kernels;
/// longer ones by binary search per row.
const FEW: usize = 8;

impl BoundPredicate {
    /// Binds `predicate` to the columns of `schema`.
    ///
    /// # Errors
    /// 42703 for a column that is not there, 42804 for a constant of another type.
    pub fn bind(predicate: &Predicate, schema: &TableSchema) -> Result<BoundPredicate> {
        bind(predicate, false, schema)
    }

    /// Adds the columns that are read to `columns`, each once.
    pub fn columns(&self, columns: &mut Vec<usize>) {
        match self {
            BoundPredicate::Leaf(column, _) if !columns.contains(column) => columns.push(*column),
            BoundPredicate::Leaf(..) => {}
            BoundPredicate::And(terms) | BoundPredicate::Or(terms) => {
                terms.iter().for_each(|term| term.columns(columns));
            }
        }
    }
}

fn bind(predicate: &Predicate, negate: bool, schema: &TableSchema) -> Result<BoundPredicate> {
    let many = |terms: &[Predicate]| -> Result<Vec<BoundPredicate>> {
        terms
            .iter()
            .map(|term| bind(term, negate, schema))
            .collect()
    };
    Ok(match predicate {
        Predicate::Not(term) => bind(term, !negate, schema)?,
        // De Morgan: under NOT the connectives change places.
        Predicate::And(terms) if !negate => BoundPredicate::And(many(terms)?),
        Predicate::Or(terms) if negate => BoundPredicate::And(many(terms)?),
        Predicate::And(terms) | Predicate::Or(terms) => BoundPredicate::Or(many(terms)?),
        Predicate::IsNull(column) | Predicate::IsNotNull(column) => {
            kind_of(*column, schema)?;
            let null = matches!(predicate, Predicate::IsNull(_)) != negate;
            BoundPredicate::Leaf(*column, if null { Leaf::IsNull } else { Leaf::IsNotNull })
        }
        Predicate::Compare { column, op, value } => {
            let kind = kind_of(*column, schema)?;
            let op = if negate { op.negated() } else { *op };
            BoundPredicate::Leaf(*column, bind_compare(op, value, &kind)?)
        }
        Predicate::In {
            column,
            values,
            negated,
        } => {
            let kind = kind_of(*column, schema)?;
            BoundPredicate::Leaf(*column, bind_in(values, *negated != negate, &kind)?)
        }
        Predicate::Like {
            column,
            pattern,
            insensitive,
        } => {
            check_text(*column, schema)?;
            BoundPredicate::Leaf(
                *column,
                Leaf::Like {
                    pattern: pattern.clone(),
                    insensitive: *insensitive,
                    negated: negate,
                },
            )
        }
        Predicate::Prefix { column, prefix } => {
            check_text(*column, schema)?;
            BoundPredicate::Leaf(
                *column,
                Leaf::Prefix {
                    prefix: prefix.clone(),
                    negated: negate,
                },
            )
        }
    })
}

fn check_text(column: usize, schema: &TableSchema) -> Result<()> {
    let kind = kind_of(column, schema)?;
    match kind.physical() {
        Physical::Bytes { text: true } => Ok(()),
        _ => Err(mismatch(&kind)),
    }
}

fn kind_of(column: usize, schema: &TableSchema) -> Result<ColumnType> {
    schema
        .columns
        .get(column)
        .map(|column| column.kind)
        .ok_or_else(|| Error::invalid("42703", format!("there is no column number {column}")))
}

fn mismatch(kind: &ColumnType) -> Error {
    Error::invalid(
        "42804",
        format!("the constant has another type than the column, {kind}"),
    )
}

fn bind_compare(op: CompareOp, value: &Value, kind: &ColumnType) -> Result<Leaf> {
    match constant(value, kind)? {
        Fit::Exactly(constant) => Ok(Leaf::Compare {
            op,
            value: value.clone(),
            constant,
        }),
        // Every value lies on one side of a constant beyond the type's range.
        Fit::Above => Ok(match op {
            CompareOp::Lt | CompareOp::LtEq | CompareOp::NotEq => Leaf::IsNotNull,
            _ => Leaf::Never,
        }),
        Fit::Below => Ok(match op {
            CompareOp::Gt | CompareOp::GtEq | CompareOp::NotEq => Leaf::IsNotNull,
            _ => Leaf::Never,
        }),
    }
}

fn bind_in(values: &[Value], negated: bool, kind: &ColumnType) -> Result<Leaf> {
    let mut kept = Vec::with_capacity(values.len());
    for value in values {
        if value.is_nan() {
            return Err(mismatch(kind));
        }
        if let Fit::Exactly(_) = constant(value, kind)? {
            kept.push(value.clone());
        }
    }
    kept.sort_by(Value::total_order);
    kept.dedup_by(|a, b| a.total_order(b).is_eq());
    if kept.is_empty() {
        return Ok(if negated {
            Leaf::IsNotNull
        } else {
            Leaf::Never
        });
    }
    let mut constants = Vec::new();
    if kept.len() <= FEW {
        for value in &kept {
            if let Fit::Exactly(array) = constant(value, kind)? {
                constants.push(array);
            }
        }
    }
    Ok(Leaf::In {
        values: kept,
        constants,
        negated,
    })
}

/// A constant against the range of a type.
enum Fit {
    Exactly(ArrayRef),
    Below,
    Above,
}

fn integer<T: ArrowPrimitiveType<Native: TryFrom<i128>>>(value: i128) -> Fit {
    match T::Native::try_from(value) {
        Ok(value) => Fit::Exactly(Arc::new(PrimitiveArray::<T>::new(vec![value].into(), None))),
        Err(_) if value < 0 => Fit::Below,
        Err(_) => Fit::Above,
    }
}

/// `value` as an array of one, of the Arrow type that scans return.
fn constant(value: &Value, kind: &ColumnType) -> Result<Fit> {
    let fit = match (value, kind) {
        (Value::Bool(value), ColumnType::Boolean) => {
            Fit::Exactly(Arc::new(BooleanArray::from(vec![*value])))
        }
        (Value::Int(value), ColumnType::SmallInt) => integer::<Int16Type>(*value),
        (Value::Int(value), ColumnType::Integer) => integer::<Int32Type>(*value),
        (Value::Int(value), ColumnType::BigInt) => integer::<Int64Type>(*value),
        (Value::Int(value), ColumnType::Date) => integer::<Date32Type>(*value),
        (Value::Int(value), ColumnType::Time) => integer::<Time64MicrosecondType>(*value),
        (Value::Int(value), ColumnType::Timestamp) => integer::<TimestampMicrosecondType>(*value),
        (Value::Int(value), ColumnType::TimestampTz) => match i64::try_from(*value) {
            Ok(value) => Fit::Exactly(Arc::new(
                TimestampMicrosecondArray::from(vec![value]).with_timezone("+00:00"),
            )),
            Err(_) => integer::<TimestampMicrosecondType>(*value),
        },
        (Value::Int(value), ColumnType::Decimal { precision, scale }) => {
            let array =
                Decimal128Array::from(vec![*value]).with_precision_and_scale(*precision, *scale)?;
            Fit::Exactly(Arc::new(array))
        }
        (Value::Float(value), ColumnType::Double) => {
            Fit::Exactly(Arc::new(Float64Array::from(vec![*value])))
        }
        (Value::Float(value), ColumnType::Real)
            if f64::from(*value as f32) == *value || value.is_nan() =>
        {
            Fit::Exactly(Arc::new(Float32Array::from(vec![*value as f32])))
        }
        (Value::Bytes(bytes), ColumnType::Uuid) if bytes.len() == 16 => Fit::Exactly(Arc::new(
            FixedSizeBinaryArray::try_from_iter(std::iter::once(bytes))?,
        )),
        (Value::Bytes(bytes), ColumnType::Bytea) => {
            Fit::Exactly(Arc::new(BinaryViewArray::from(vec![bytes.as_slice()])))
        }
        (Value::Bytes(bytes), kind) if kind.physical() == (Physical::Bytes { text: true }) => {
            let text = std::str::from_utf8(bytes).map_err(|_| mismatch(kind))?;
            Fit::Exactly(Arc::new(StringViewArray::from(vec![text])))
        }
        _ => return Err(mismatch(kind)),
    };
    if let Fit::Exactly(array) = &fit {
        debug_assert_eq!(array.data_type(), &kind.arrow());
    }
    Ok(fit)
}

//! Binding: from a [`Predicate`] to terms that fit the columns' types.

use super::constants::Constants;
use super::{CompareOp, Predicate};
use crate::error::{Error, Result};
use crate::schema::{ColumnType, Physical, TableSchema, Value};

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
    /// A comparison.
    Compare {
        /// Operator.
        op: CompareOp,
        /// Constant, for zone maps.
        value: Value,
        /// The same, for kernels.
        constants: Constants,
    },
    /// Membership in sorted, distinct values.
    In {
        /// Sorted constants.
        values: Vec<Value>,
        /// The same, for kernels.
        constants: Constants,
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
    match fit(value, kind)? {
        Fit::Exactly => Ok(Leaf::Compare {
            op,
            value: value.clone(),
            constants: Constants::of(*kind),
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
        if let Fit::Exactly = fit(value, kind)? {
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
    Ok(Leaf::In {
        values: kept,
        constants: Constants::of(*kind),
        negated,
    })
}

/// A constant against the range of a type.
enum Fit {
    Exactly,
    Below,
    Above,
}

fn whole<T: TryFrom<i128>>(value: i128) -> Fit {
    match T::try_from(value) {
        Ok(_) => Fit::Exactly,
        Err(_) if value < 0 => Fit::Below,
        Err(_) => Fit::Above,
    }
}

/// How `value` lies to the values of a type.
fn fit(value: &Value, kind: &ColumnType) -> Result<Fit> {
    Ok(match (value, kind) {
        (Value::Bool(_), ColumnType::Boolean) => Fit::Exactly,
        (Value::Int(value), ColumnType::SmallInt) => whole::<i16>(*value),
        (Value::Int(value), ColumnType::Integer | ColumnType::Date) => whole::<i32>(*value),
        (
            Value::Int(value),
            ColumnType::BigInt | ColumnType::Time | ColumnType::Timestamp | ColumnType::TimestampTz,
        ) => whole::<i64>(*value),
        (Value::Int(_), ColumnType::Decimal { .. }) | (Value::Float(_), ColumnType::Double) => {
            Fit::Exactly
        }
        (Value::Float(value), ColumnType::Real)
            if f64::from(*value as f32) == *value || value.is_nan() =>
        {
            Fit::Exactly
        }
        (Value::Bytes(bytes), ColumnType::Uuid) if bytes.len() == 16 => Fit::Exactly,
        (Value::Bytes(_), ColumnType::Bytea) => Fit::Exactly,
        (Value::Bytes(bytes), kind) if kind.physical() == (Physical::Bytes { text: true }) => {
            match std::str::from_utf8(bytes) {
                Ok(_) => Fit::Exactly,
                Err(_) => return Err(mismatch(kind)),
            }
        }
        _ => return Err(mismatch(kind)),
    })
}

//! Expression programs: what is computed of the rows of a batch.
//!
//! Integers, decimals and truth values are computed here, on vectors; whatever else an
//! expression needs is a [`Foreign`] function over arrays. Decimals are integers whose
//! scale the planner keeps: it brings operands of sums and comparisons to one scale
//! ([`Expression::Scaled`]).

mod arithmetic;
mod compare;
mod conditional;

use crate::kernels::Comparison;
use crate::vector::{Batch, Values, Vector};
use crate::{Error, Result};
use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

pub use arithmetic::Arithmetic;
pub(crate) use arithmetic::one_nan;

/// A function of arrays that somebody else evaluates.
pub trait Foreign: Send + Sync + fmt::Debug {
    /// The value for each of `rows` rows.
    ///
    /// # Errors
    /// Whatever the function has to complain of.
    fn call(&self, arguments: &[ArrayRef], rows: usize) -> Result<ArrayRef>;
}

/// A value that is the same in every row.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// Of kind `Int`.
    Int(i64),
    /// Of kind `Float`.
    Float(f64),
    /// Of kind `Bool`.
    Bool(bool),
    /// Of kind `Text`.
    Text(String),
}

/// How a value is computed of the columns of a batch.
#[derive(Clone, Debug)]
pub enum Expression {
    /// A column by its place.
    Column(usize),
    /// The same in every row.
    Constant(Constant),
    /// NULL in every row, of a type.
    Null(DataType),
    /// A sum, difference or product of numbers of one kind.
    Arithmetic(Arithmetic, Box<Expression>, Box<Expression>),
    /// Integers times a power of ten: a decimal with more digits behind the point.
    Scaled(Box<Expression>, i64),
    /// A comparison of values of one kind.
    Compare(Comparison, Box<Expression>, Box<Expression>),
    /// TRUE where all are.
    And(Vec<Expression>),
    /// TRUE where one is.
    Or(Vec<Expression>),
    /// The other truth value.
    Not(Box<Expression>),
    /// Whether a value is NULL; never NULL itself.
    IsNull(Box<Expression>),
    /// The value of the first branch whose condition is TRUE.
    Case(Vec<(Expression, Expression)>, Option<Box<Expression>>),
    /// Whether an integer is one of some, in order.
    OneOf(Box<Expression>, Vec<i64>),
    /// A function that somebody else evaluates.
    Foreign(Call),
}

/// A call of a foreign function.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function.
    pub function: Arc<dyn Foreign>,
    /// What it is given, in arrays of which types.
    pub arguments: Vec<(Expression, DataType)>,
    /// Whether it can be called for the entries of a dictionary in the place of rows:
    /// it has one argument, never fails, and gives the same for the same.
    pub by_entry: bool,
    /// What it gave for the dictionary it has seen last.
    pub known: Arc<Mutex<Option<(ArrayRef, ArrayRef)>>>,
}

impl Expression {
    /// The values for the rows of a batch.
    ///
    /// # Errors
    /// Numbers out of range, and those of foreign functions.
    pub fn evaluate(&self, batch: &Batch) -> Result<Vector> {
        match self {
            Expression::Column(place) => match batch.columns.get(*place) {
                Some(column) => Ok(column.clone()),
                None => Err(Error::internal(format!("there is no column {place}"))),
            },
            Expression::Constant(constant) => Ok(repeated(constant, batch.rows)),
            Expression::Null(kind) => {
                Vector::from_arrow(&arrow_array::new_null_array(kind, batch.rows))
            }
            Expression::Arithmetic(operation, left, right) => {
                arithmetic::evaluate(*operation, left, right, batch)
            }
            Expression::Scaled(value, factor) => {
                arithmetic::scaled(&value.evaluate(batch)?, *factor)
            }
            Expression::Compare(comparison, left, right) => {
                compare::evaluate(*comparison, left, right, batch)
            }
            Expression::And(parts) => conditional::all(parts, batch),
            Expression::Or(parts) => conditional::any(parts, batch),
            Expression::Not(value) => {
                let value = value.evaluate(batch)?;
                let bits = !truth(&value)?;
                Ok(Vector {
                    values: Values::Bool(bits),
                    nulls: value.nulls,
                })
            }
            Expression::IsNull(value) => {
                let value = value.evaluate(batch)?;
                let bits = match &value.nulls {
                    Some(nulls) => !nulls.inner(),
                    None => BooleanBuffer::new_unset(batch.rows),
                };
                Ok(Vector::of(Values::Bool(bits)))
            }
            Expression::Case(branches, otherwise) => {
                conditional::case(branches, otherwise.as_deref(), batch)
            }
            Expression::OneOf(value, list) => {
                let value = value.evaluate(batch)?;
                compare::one_of(&value, list)
            }
            Expression::Foreign(call) => call.evaluate(batch),
        }
    }

    /// The rows for which it is TRUE.
    ///
    /// # Errors
    /// As [`Expression::evaluate`].
    pub fn passing(&self, batch: &Batch) -> Result<BooleanBuffer> {
        let value = self.evaluate(batch)?;
        let bits = truth(&value)?;
        Ok(match &value.nulls {
            Some(nulls) => bits & nulls.inner(),
            None => bits.clone(),
        })
    }

    /// Whether it must not be evaluated for rows that a condition keeps from it.
    pub(crate) fn is_risky(&self) -> bool {
        match self {
            Expression::Column(_) | Expression::Constant(_) | Expression::Null(_) => false,
            Expression::Foreign(_) => true,
            Expression::Arithmetic(_, left, right) | Expression::Compare(_, left, right) => {
                left.is_risky() || right.is_risky()
            }
            Expression::Scaled(value, _)
            | Expression::Not(value)
            | Expression::IsNull(value)
            | Expression::OneOf(value, _) => value.is_risky(),
            Expression::And(parts) | Expression::Or(parts) => parts.iter().any(Self::is_risky),
            Expression::Case(branches, otherwise) => {
                let risky = |(condition, value): &(Expression, Expression)| {
                    condition.is_risky() || value.is_risky()
                };
                branches.iter().any(risky) || otherwise.as_ref().is_some_and(|e| e.is_risky())
            }
        }
    }

    /// The same over columns at other places.
    pub fn moved(&self, to: &dyn Fn(usize) -> usize) -> Expression {
        let boxed = |value: &Expression| Box::new(value.moved(to));
        let many = |parts: &[Expression]| parts.iter().map(|part| part.moved(to)).collect();
        match self {
            Expression::Column(place) => Expression::Column(to(*place)),
            Expression::Constant(_) | Expression::Null(_) => self.clone(),
            Expression::Arithmetic(operation, left, right) => {
                Expression::Arithmetic(*operation, boxed(left), boxed(right))
            }
            Expression::Compare(comparison, left, right) => {
                Expression::Compare(*comparison, boxed(left), boxed(right))
            }
            Expression::Scaled(value, factor) => Expression::Scaled(boxed(value), *factor),
            Expression::Not(value) => Expression::Not(boxed(value)),
            Expression::IsNull(value) => Expression::IsNull(boxed(value)),
            Expression::OneOf(value, list) => Expression::OneOf(boxed(value), list.clone()),
            Expression::And(parts) => Expression::And(many(parts)),
            Expression::Or(parts) => Expression::Or(many(parts)),
            Expression::Case(branches, otherwise) => {
                let branches = branches.iter();
                let branches = branches.map(|(when, then)| (when.moved(to), then.moved(to)));
                Expression::Case(branches.collect(), otherwise.as_deref().map(boxed))
            }
            Expression::Foreign(call) => {
                let arguments = call.arguments.iter();
                let arguments =
                    arguments.map(|(argument, kind)| (argument.moved(to), kind.clone()));
                Expression::Foreign(Call {
                    arguments: arguments.collect(),
                    ..call.clone()
                })
            }
        }
    }

    /// Calls `visit` for every column it reads.
    pub fn columns(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Expression::Column(place) => visit(*place),
            Expression::Constant(_) | Expression::Null(_) => {}
            Expression::Arithmetic(_, left, right) | Expression::Compare(_, left, right) => {
                left.columns(visit);
                right.columns(visit);
            }
            Expression::Scaled(value, _)
            | Expression::Not(value)
            | Expression::IsNull(value)
            | Expression::OneOf(value, _) => value.columns(visit),
            Expression::And(parts) | Expression::Or(parts) => {
                parts.iter().for_each(|part| part.columns(visit));
            }
            Expression::Case(branches, otherwise) => {
                for (condition, value) in branches {
                    condition.columns(visit);
                    value.columns(visit);
                }
                if let Some(value) = otherwise {
                    value.columns(visit);
                }
            }
            Expression::Foreign(call) => {
                for (argument, _) in &call.arguments {
                    argument.columns(visit);
                }
            }
        }
    }
}

impl Call {
    fn evaluate(&self, batch: &Batch) -> Result<Vector> {
        if let [(argument, kind)] = self.arguments.as_slice()
            && self.by_entry
        {
            let value = argument.evaluate(batch)?;
            if let Values::Coded { codes, entries } = &value.values
                && entries.len() <= batch.rows.max(1024)
            {
                let found = Vector::from_arrow(&self.of_entries(entries)?)?;
                let mut taken = found.take(codes)?;
                taken.nulls = NullBuffer::union(taken.nulls.as_ref(), value.nulls.as_ref());
                return Ok(taken);
            }
            return Vector::from_arrow(&self.function.call(&[value.to_arrow(kind)?], batch.rows)?);
        }
        let arguments = self.arguments.iter();
        let arguments = arguments.map(|(argument, kind)| argument.evaluate(batch)?.to_arrow(kind));
        let arguments = arguments.collect::<Result<Vec<ArrayRef>>>()?;
        Vector::from_arrow(&self.function.call(&arguments, batch.rows)?)
    }

    /// What the function gives for each entry of a dictionary.
    fn of_entries(&self, entries: &ArrayRef) -> Result<ArrayRef> {
        if let Some((known, found)) = &*self.known.lock()
            && crate::vector::same_array(known, entries)
        {
            return Ok(found.clone());
        }
        let found = self
            .function
            .call(std::slice::from_ref(entries), entries.len())?;
        *self.known.lock() = Some((entries.clone(), found.clone()));
        Ok(found)
    }
}

/// The truth values of a vector; those of NULLs mean nothing.
fn truth(vector: &Vector) -> Result<&BooleanBuffer> {
    match &vector.values {
        Values::Bool(bits) => Ok(bits),
        Values::Other(array) if array.as_boolean_opt().is_some() => Ok(array.as_boolean().values()),
        _ => Err(Error::internal("a condition that is not boolean")),
    }
}

/// A constant in every row.
fn repeated(constant: &Constant, rows: usize) -> Vector {
    Vector::of(match constant {
        Constant::Int(value) => Values::Int(vec![*value; rows].into()),
        Constant::Float(value) => Values::Float(vec![*value; rows].into()),
        Constant::Bool(true) => Values::Bool(BooleanBuffer::new_set(rows)),
        Constant::Bool(false) => Values::Bool(BooleanBuffer::new_unset(rows)),
        Constant::Text(text) => {
            let array = arrow_array::StringViewArray::from_iter_values([text]);
            Values::Coded {
                codes: vec![0; rows].into(),
                entries: Arc::new(array),
            }
        }
    })
}

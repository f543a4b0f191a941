//! Sums, differences and products.
//!
//! Integers are computed in 64 bits where the least and greatest operands of a batch
//! say that nothing leaves them, in 128 where not.

use super::{Constant, Expression};
use crate::kernels::{self, bounds};
use crate::vector::{Batch, Values, Vector, narrowed};
use crate::{Error, Result};
use arrow_buffer::{NullBuffer, ScalarBuffer};

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// a + b
    Add,
    /// a − b
    Subtract,
    /// a × b
    Multiply,
}

impl Arithmetic {
    /// In 128 bits; `None` if the result has more.
    fn of(self, a: i128, b: i128) -> Option<i128> {
        match self {
            Arithmetic::Add => a.checked_add(b),
            Arithmetic::Subtract => a.checked_sub(b),
            Arithmetic::Multiply => a.checked_mul(b),
        }
    }

    /// Whether results of operands within bounds fit 64 bits.
    fn fits(self, a: (i64, i64), b: (i64, i64)) -> bool {
        let corners = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
        corners.iter().all(|(a, b)| {
            let result = self.of(i128::from(*a), i128::from(*b));
            result.is_some_and(|result| i64::try_from(result).is_ok())
        })
    }
}

/// The values of one side.
enum Side {
    Int(ScalarBuffer<i64>),
    One(i64),
    Wide(ScalarBuffer<i128>),
    Float(ScalarBuffer<f64>),
    OneFloat(f64),
}

impl Side {
    fn of(expression: &Expression, batch: &Batch) -> Result<(Side, Option<NullBuffer>)> {
        match expression {
            Expression::Constant(Constant::Int(value)) => return Ok((Side::One(*value), None)),
            Expression::Constant(Constant::Float(value)) => {
                return Ok((Side::OneFloat(*value), None));
            }
            _ => {}
        }
        let vector = expression.evaluate(batch)?;
        let side = match vector.values {
            Values::Int(values) => Side::Int(values),
            Values::Wide(values) => Side::Wide(values),
            Values::Float(values) => Side::Float(values),
            _ => return Err(Error::internal("arithmetic on what is no number")),
        };
        Ok((side, vector.nulls))
    }

    fn bounds(&self) -> Option<(i64, i64)> {
        match self {
            Side::Int(values) => Some(bounds(values)),
            Side::One(value) => Some((*value, *value)),
            _ => None,
        }
    }

    fn wide(&self, row: usize) -> Option<i128> {
        match self {
            Side::Int(values) => Some(i128::from(values[row])),
            Side::One(value) => Some(i128::from(*value)),
            Side::Wide(values) => Some(values[row]),
            _ => None,
        }
    }

    fn is_float(&self) -> bool {
        matches!(self, Side::Float(_) | Side::OneFloat(_))
    }

    fn float(&self, row: usize) -> Option<f64> {
        match self {
            Side::Float(values) => Some(values[row]),
            Side::OneFloat(value) => Some(*value),
            _ => None,
        }
    }
}

pub(super) fn evaluate(
    operation: Arithmetic,
    left: &Expression,
    right: &Expression,
    batch: &Batch,
) -> Result<Vector> {
    let ((a, a_nulls), (b, b_nulls)) = (Side::of(left, batch)?, Side::of(right, batch)?);
    let nulls = NullBuffer::union(a_nulls.as_ref(), b_nulls.as_ref());
    let values = match (a.bounds(), b.bounds()) {
        (Some(low), Some(high)) if operation.fits(low, high) => {
            Values::Int(narrow(operation, &a, &b, batch.rows))
        }
        _ if a.is_float() => floats(operation, &a, &b, batch.rows)?,
        _ => wide(operation, &a, &b, nulls.as_ref(), batch.rows)?,
    };
    Ok(Vector { values, nulls })
}

/// In 64 bits, when nothing can leave them.
fn narrow(operation: Arithmetic, a: &Side, b: &Side, rows: usize) -> ScalarBuffer<i64> {
    match (operation, a, b) {
        (Arithmetic::Add, Side::Int(a), Side::Int(b)) => kernels::add(a, b),
        (Arithmetic::Subtract, Side::Int(a), Side::Int(b)) => kernels::subtract(a, b),
        (Arithmetic::Multiply, Side::Int(a), Side::Int(b)) => kernels::multiply(a, b),
        (Arithmetic::Add, Side::Int(a), Side::One(b))
        | (Arithmetic::Add, Side::One(b), Side::Int(a)) => kernels::add_one(a, *b),
        (Arithmetic::Subtract, Side::Int(a), Side::One(b)) => kernels::add_one(a, b.wrapping_neg()),
        (Arithmetic::Subtract, Side::One(a), Side::Int(b)) => kernels::subtract_from(*a, b),
        (Arithmetic::Multiply, Side::Int(a), Side::One(b))
        | (Arithmetic::Multiply, Side::One(b), Side::Int(a)) => kernels::multiply_one(a, *b),
        (_, a, b) => {
            let of = |row| {
                operation
                    .of(a.wide(row)?, b.wide(row)?)
                    .map(|value| value as i64)
            };
            (0..rows)
                .map(|row| of(row).unwrap_or_default())
                .collect::<Vec<i64>>()
        }
    }
    .into()
}

fn wide(
    operation: Arithmetic,
    a: &Side,
    b: &Side,
    nulls: Option<&NullBuffer>,
    rows: usize,
) -> Result<Values> {
    let mut values = Vec::with_capacity(rows);
    for row in 0..rows {
        if nulls.is_some_and(|nulls| nulls.is_null(row)) {
            values.push(0);
            continue;
        }
        let (Some(a), Some(b)) = (a.wide(row), b.wide(row)) else {
            return Err(Error::internal("arithmetic on numbers of different kinds"));
        };
        let value = operation.of(a, b);
        values.push(value.ok_or_else(|| Error::OutOfRange("decimal".into()))?);
    }
    Ok(narrowed(&values, None))
}

fn floats(operation: Arithmetic, a: &Side, b: &Side, rows: usize) -> Result<Values> {
    let of = |row| {
        let (a, b) = (a.float(row)?, b.float(row)?);
        Some(one_nan(match operation {
            Arithmetic::Add => a + b,
            Arithmetic::Subtract => a - b,
            Arithmetic::Multiply => a * b,
        }))
    };
    let values: Option<Vec<f64>> = (0..rows).map(of).collect();
    let values =
        values.ok_or_else(|| Error::internal("arithmetic on numbers of different kinds"))?;
    Ok(Values::Float(values.into()))
}

/// A result whose NaN has no sign: comparisons go by bits, and there is one NaN, greater than all
/// numbers.
pub(crate) fn one_nan(result: f64) -> f64 {
    match result.is_nan() {
        true => f64::NAN,
        false => result,
    }
}

/// Integers times a factor.
pub(super) fn scaled(vector: &Vector, factor: i64) -> Result<Vector> {
    let (side, rows) = match &vector.values {
        Values::Int(values) => (Side::Int(values.clone()), values.len()),
        Values::Wide(values) => (Side::Wide(values.clone()), values.len()),
        _ => {
            return Err(Error::internal(
                "digits behind the point of what is no decimal",
            ));
        }
    };
    let one = Side::One(factor);
    let nulls = vector.nulls.clone();
    let values = match side.bounds() {
        Some(bounds) if Arithmetic::Multiply.fits(bounds, (factor, factor)) => {
            Values::Int(narrow(Arithmetic::Multiply, &side, &one, rows))
        }
        _ => wide(Arithmetic::Multiply, &side, &one, nulls.as_ref(), rows)?,
    };
    Ok(Vector { values, nulls })
}

#[cfg(test)]
mod tests {
    use super::{Arithmetic, Expression};
    use crate::Error;
    use crate::vector::{Batch, Values, Vector};
    use proptest::prelude::*;

    proptest! {
        /// Whatever leaves 64 bits is computed in 128; nothing wraps around.
        #[test]
        fn results_are_exact(
            pairs in proptest::collection::vec((any::<i64>(), any::<i64>(), 0u32..63), 1..50),
            operation in prop_oneof![
                Just(Arithmetic::Add), Just(Arithmetic::Subtract), Just(Arithmetic::Multiply)
            ],
        ) {
            let column = |values: Vec<i64>| Vector::of(Values::Int(values.into()));
            let shift = pairs[0].2;
            let a: Vec<i64> = pairs.iter().map(|(a, ..)| a >> shift).collect();
            let b: Vec<i64> = pairs.iter().map(|(_, b, _)| b >> (62 - shift)).collect();
            let batch = Batch { columns: vec![column(a.clone()), column(b.clone())], rows: a.len() };
            let side = |place| Box::new(Expression::Column(place));
            let found = Expression::Arithmetic(operation, side(0), side(1)).evaluate(&batch);
            let exact: Option<Vec<i128>> = (a.iter().zip(&b))
                .map(|(a, b)| operation.of(i128::from(*a), i128::from(*b)))
                .collect();
            match (found, exact) {
                (Ok(Vector { values: Values::Int(found), .. }), Some(exact)) => {
                    let found: Vec<i128> = found.iter().map(|v| i128::from(*v)).collect();
                    prop_assert_eq!(found, exact);
                }
                (Ok(Vector { values: Values::Wide(found), .. }), Some(exact)) => {
                    prop_assert_eq!(found.to_vec(), exact);
                }
                (Err(Error::OutOfRange(_)), None) => {}
                (found, exact) => prop_assert!(false, "{found:?} {exact:?}"),
            }
        }
    }
}

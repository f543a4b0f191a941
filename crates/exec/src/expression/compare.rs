//! Comparisons.

use super::{Constant, Expression};
use crate::kernels::{self, Comparison};
use crate::vector::{Batch, Values, Vector};
use crate::{Error, Result};
use arrow_array::{ArrayRef, BooleanArray, Datum, Float64Array, Scalar, StringViewArray};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow_schema::DataType;

impl Comparison {
    fn holds<T: Ord>(self, a: &T, b: &T) -> bool {
        match self {
            Comparison::Equal => a == b,
            Comparison::NotEqual => a != b,
            Comparison::Less => a < b,
            Comparison::LessOrEqual => a <= b,
            Comparison::Greater => a > b,
            Comparison::GreaterOrEqual => a >= b,
        }
    }

    fn arrays(self, a: &dyn Datum, b: &dyn Datum) -> Result<BooleanArray> {
        Ok(match self {
            Comparison::Equal => arrow_ord::cmp::eq(a, b),
            Comparison::NotEqual => arrow_ord::cmp::neq(a, b),
            Comparison::Less => arrow_ord::cmp::lt(a, b),
            Comparison::LessOrEqual => arrow_ord::cmp::lt_eq(a, b),
            Comparison::Greater => arrow_ord::cmp::gt(a, b),
            Comparison::GreaterOrEqual => arrow_ord::cmp::gt_eq(a, b),
        }?)
    }
}

pub(super) fn evaluate(
    comparison: Comparison,
    left: &Expression,
    right: &Expression,
    batch: &Batch,
) -> Result<Vector> {
    match (left, right) {
        (left, Expression::Constant(constant)) => {
            with_constant(comparison, &left.evaluate(batch)?, constant)
        }
        (Expression::Constant(constant), right) => {
            with_constant(comparison.mirrored(), &right.evaluate(batch)?, constant)
        }
        (left, right) => both(comparison, &left.evaluate(batch)?, &right.evaluate(batch)?),
    }
}

fn with_constant(comparison: Comparison, vector: &Vector, constant: &Constant) -> Result<Vector> {
    let nulls = vector.nulls.clone();
    let bits = match (&vector.values, constant) {
        (Values::Int(values), Constant::Int(constant)) => {
            kernels::compare_one(comparison, values, *constant)
        }
        (Values::Wide(values), Constant::Int(constant)) => {
            let constant = i128::from(*constant);
            let holds = |row: usize| comparison.holds(&values[row], &constant);
            BooleanBuffer::collect_bool(values.len(), holds)
        }
        (Values::Float(values), Constant::Float(constant)) => {
            let constant = if *constant == 0.0 { 0.0 } else { *constant };
            let (values, one) = (
                Float64Array::new(with_one_zero(values), None),
                Scalar::new(Float64Array::from(vec![constant])),
            );
            comparison.arrays(&values, &one)?.values().clone()
        }
        (Values::Bool(values), Constant::Bool(constant)) => {
            let holds = |row: usize| comparison.holds(&values.value(row), constant);
            BooleanBuffer::collect_bool(values.len(), holds)
        }
        (Values::Coded { codes, entries }, Constant::Text(text))
            if entries.len() <= codes.len() =>
        {
            let of_entries = text_bits(comparison, entries, text)?;
            BooleanBuffer::collect_bool(codes.len(), |row| of_entries.value(codes[row] as usize))
        }
        (Values::Text(_) | Values::Coded { .. }, Constant::Text(text)) => {
            text_bits(comparison, &vector.to_arrow(&DataType::Utf8View)?, text)?
        }
        _ => return Err(mismatch()),
    };
    Ok(Vector {
        values: Values::Bool(bits),
        nulls,
    })
}

fn text_bits(comparison: Comparison, array: &ArrayRef, text: &str) -> Result<BooleanBuffer> {
    let one = Scalar::new(StringViewArray::from_iter_values([text]));
    Ok(comparison.arrays(array, &one)?.values().clone())
}

fn both(comparison: Comparison, a: &Vector, b: &Vector) -> Result<Vector> {
    let nulls = NullBuffer::union(a.nulls.as_ref(), b.nulls.as_ref());
    let wide = |values: &Values, row: usize| match values {
        Values::Int(values) => i128::from(values[row]),
        Values::Wide(values) => values[row],
        _ => 0,
    };
    let bits = match (&a.values, &b.values) {
        (Values::Int(a), Values::Int(b)) => kernels::compare(comparison, a, b),
        (Values::Int(_) | Values::Wide(_), Values::Int(_) | Values::Wide(_)) => {
            let holds = |row| comparison.holds(&wide(&a.values, row), &wide(&b.values, row));
            BooleanBuffer::collect_bool(a.len(), holds)
        }
        (Values::Bool(a), Values::Bool(b)) => {
            let holds = |row| comparison.holds(&a.value(row), &b.value(row));
            BooleanBuffer::collect_bool(a.len(), holds)
        }
        (Values::Float(a), Values::Float(b)) => {
            let (a, b) = (
                Float64Array::new(with_one_zero(a), None),
                Float64Array::new(with_one_zero(b), None),
            );
            comparison.arrays(&a, &b)?.values().clone()
        }
        (Values::Text(_) | Values::Coded { .. }, Values::Text(_) | Values::Coded { .. }) => {
            let (a, b) = (
                a.to_arrow(&DataType::Utf8View)?,
                b.to_arrow(&DataType::Utf8View)?,
            );
            comparison.arrays(&a, &b)?.values().clone()
        }
        _ => return Err(mismatch()),
    };
    Ok(Vector {
        values: Values::Bool(bits),
        nulls,
    })
}

/// Whether integers are among some, which are in order.
pub(super) fn one_of(vector: &Vector, list: &[i64]) -> Result<Vector> {
    let Values::Int(values) = &vector.values else {
        return Err(mismatch());
    };
    let bits = match list.len() {
        0..=8 => BooleanBuffer::collect_bool(values.len(), |row| list.contains(&values[row])),
        _ => BooleanBuffer::collect_bool(values.len(), |row| {
            list.binary_search(&values[row]).is_ok()
        }),
    };
    Ok(Vector {
        values: Values::Bool(bits),
        nulls: vector.nulls.clone(),
    })
}

/// Floats whose zeros have no sign: Arrow tells them apart, SQL does not.
fn with_one_zero(values: &ScalarBuffer<f64>) -> ScalarBuffer<f64> {
    let is_negative = |value: &f64| value.to_bits() == (-0.0f64).to_bits();
    if !values.iter().any(is_negative) {
        return values.clone();
    }
    let values = values.iter();
    let values = values.map(|value| if is_negative(value) { 0.0 } else { *value });
    values.collect::<Vec<f64>>().into()
}

fn mismatch() -> Error {
    Error::internal("a comparison of values of different kinds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_of_either_sign_are_equal() {
        let column = |values: [f64; 5]| Vector::of(Values::Float(values.to_vec().into()));
        let batch = Batch {
            columns: vec![
                column([0.0, -0.0, -0.0, f64::NAN, 1.0]),
                column([-0.0, -0.0, 0.0, f64::NAN, -0.0]),
            ],
            rows: 5,
        };
        let passing = |comparison, right: Expression| {
            let left = Box::new(Expression::Column(0));
            let compare = Expression::Compare(comparison, left, Box::new(right));
            let bits = compare.passing(&batch).unwrap();
            bits.iter().collect::<Vec<bool>>()
        };
        let (equal, less) = (Comparison::Equal, Comparison::Less);
        let zero = |zero: f64| Expression::Constant(Constant::Float(zero));
        assert_eq!(
            passing(equal, Expression::Column(1)),
            [true, true, true, true, false]
        );
        assert_eq!(passing(less, Expression::Column(1)), [false; 5]);
        for sign in [0.0, -0.0] {
            assert_eq!(passing(equal, zero(sign)), [true, true, true, false, false]);
            assert_eq!(passing(less, zero(sign)), [false; 5]);
        }
    }
}

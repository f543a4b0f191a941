//! `+ - *` of integers that do not wrap, and unary minus.
//!
//! Each result is computed for all rows first, with one flag for "some row went
//! wrong"; the loop has no branch and vectorises. Only when the flag is up are the
//! rows looked at again, because a NULL row may hold any bits.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, cast::AsArray};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Int16Type, Int32Type, Int64Type};
use freestone_frontend::functions::kernel::Column;

use crate::error::{Error, Result};
use crate::expression::{Function, Operator};

/// A checked operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Checked {
    Add,
    Subtract,
    Multiply,
    Negate,
}

impl Checked {
    /// The function that computes an operation for integers of a type; `None` for other types.
    pub(super) fn of(op: Operator, kind: &DataType) -> Option<Self> {
        match op {
            Operator::Plus if is_integer(kind) => Some(Self::Add),
            Operator::Minus if is_integer(kind) => Some(Self::Subtract),
            Operator::Multiply if is_integer(kind) => Some(Self::Multiply),
            _ => None,
        }
    }

    /// Unary minus, for integers.
    pub(super) fn negation(kind: &DataType) -> Option<Self> {
        is_integer(kind).then_some(Self::Negate)
    }

    fn integers<T: Integers>(self, arguments: &[Column]) -> Result<ArrayRef> {
        let (left, right) = match arguments {
            [left, right] => (left, right),
            [only] => (only, only),
            _ => return Err(Error::internal("arithmetic takes one or two operands")),
        };
        match self {
            Self::Add => apply::<T>(left, right, T::add),
            Self::Subtract => apply::<T>(left, right, T::subtract),
            Self::Multiply => apply::<T>(left, right, T::multiply),
            Self::Negate => apply::<T>(left, right, T::negate),
        }
    }
}

fn is_integer(kind: &DataType) -> bool {
    matches!(kind, DataType::Int16 | DataType::Int32 | DataType::Int64)
}

impl Function for Checked {
    fn kind(&self, arguments: &[DataType]) -> DataType {
        arguments.first().cloned().unwrap_or(DataType::Null)
    }

    fn call(&self, arguments: &[Column], _: usize) -> Result<ArrayRef> {
        let kind = arguments.first().map(|left| left.array.data_type());
        match kind.unwrap_or(&DataType::Null) {
            DataType::Int16 => self.integers::<Int16Type>(arguments),
            DataType::Int32 => self.integers::<Int32Type>(arguments),
            DataType::Int64 => self.integers::<Int64Type>(arguments),
            other => Err(Error::internal(format!("no arithmetic of {other}"))),
        }
    }
}

/// A result, and whether it is out of range.
type Checking<N> = (N, bool);

/// Operations, each with what can go wrong with one row.
trait Integers: ArrowPrimitiveType {
    fn add(a: Self::Native, b: Self::Native) -> Checking<Self::Native>;
    fn subtract(a: Self::Native, b: Self::Native) -> Checking<Self::Native>;
    fn multiply(a: Self::Native, b: Self::Native) -> Checking<Self::Native>;
    fn negate(a: Self::Native, b: Self::Native) -> Checking<Self::Native>;
}

macro_rules! integers {
    ($($kind:ty),*) => {$(
        impl Integers for $kind {
            #[inline]
            fn add(a: Self::Native, b: Self::Native) -> Checking<Self::Native> {
                a.overflowing_add(b)
            }
            #[inline]
            fn subtract(a: Self::Native, b: Self::Native) -> Checking<Self::Native> {
                a.overflowing_sub(b)
            }
            #[inline]
            fn multiply(a: Self::Native, b: Self::Native) -> Checking<Self::Native> {
                a.overflowing_mul(b)
            }
            #[inline]
            fn negate(a: Self::Native, _: Self::Native) -> Checking<Self::Native> {
                a.overflowing_neg()
            }
        }
    )*};
}
integers!(Int16Type, Int32Type, Int64Type);

/// One operand: a column, or one value for all rows.
enum Operand<'a, T: ArrowPrimitiveType> {
    Column(&'a PrimitiveArray<T>),
    One(Option<T::Native>),
}

fn operand<T: ArrowPrimitiveType>(value: &Column) -> Result<Operand<'_, T>> {
    let mismatch = || Error::internal("the operands of an operator differ in type");
    let array = value.array.as_primitive_opt::<T>().ok_or_else(mismatch)?;
    Ok(match value.constant {
        false => Operand::Column(array),
        true => Operand::One(array.is_valid(0).then(|| array.value(0))),
    })
}

fn apply<T: ArrowPrimitiveType>(
    left: &Column,
    right: &Column,
    f: impl Fn(T::Native, T::Native) -> Checking<T::Native>,
) -> Result<ArrayRef> {
    let (left, right) = (operand::<T>(left)?, operand::<T>(right)?);
    let (values, nulls, bad): (Vec<T::Native>, Option<NullBuffer>, bool) = match (&left, &right) {
        (Operand::Column(a), Operand::Column(b)) => {
            let nulls = NullBuffer::union(a.nulls(), b.nulls());
            let (values, bad) = compute(
                a.values().iter().copied().zip(b.values().iter().copied()),
                &f,
            );
            (values, nulls, bad)
        }
        (Operand::Column(a), Operand::One(Some(b))) => {
            let (values, bad) = compute(a.values().iter().map(|a| (*a, *b)), &f);
            (values, a.nulls().cloned(), bad)
        }
        (Operand::One(Some(a)), Operand::Column(b)) => {
            let (values, bad) = compute(b.values().iter().map(|b| (*a, *b)), &f);
            (values, b.nulls().cloned(), bad)
        }
        (Operand::One(Some(a)), Operand::One(Some(b))) => {
            let (values, bad) = compute(std::iter::once((*a, *b)), &f);
            (values, None, bad)
        }
        (Operand::Column(a), _) | (_, Operand::Column(a)) => {
            return Ok(Arc::new(PrimitiveArray::<T>::new_null(a.len())));
        }
        _ => return Ok(Arc::new(PrimitiveArray::<T>::new_null(1))),
    };
    if bad && (nulls.is_none() || some_valid_row_is_bad::<T>(&left, &right, nulls.as_ref(), &f)) {
        let kind = crate::types::sql_name(&T::DATA_TYPE);
        return Err(Error::new("22003", format!("{kind} out of range")));
    }
    let values = ScalarBuffer::from(values);
    Ok(Arc::new(PrimitiveArray::<T>::new(values, nulls)))
}

fn compute<N: Copy>(
    pairs: impl Iterator<Item = (N, N)>,
    f: impl Fn(N, N) -> Checking<N>,
) -> (Vec<N>, bool) {
    let mut bad = false;
    let values = pairs
        .map(|(a, b)| {
            let (value, wrong) = f(a, b);
            bad |= wrong;
            value
        })
        .collect();
    (values, bad)
}

fn some_valid_row_is_bad<T: ArrowPrimitiveType>(
    left: &Operand<'_, T>,
    right: &Operand<'_, T>,
    nulls: Option<&NullBuffer>,
    f: impl Fn(T::Native, T::Native) -> Checking<T::Native>,
) -> bool {
    let Some(nulls) = nulls else { return true };
    let at = |side: &Operand<'_, T>, row: usize| match side {
        Operand::Column(column) => Some(column.value(row)),
        Operand::One(one) => *one,
    };
    nulls
        .valid_indices()
        .any(|row| match (at(left, row), at(right, row)) {
            (Some(a), Some(b)) => f(a, b).1,
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Int32Array;

    fn add(left: Int32Array, right: Int32Array) -> Result<ArrayRef> {
        let columns = [left, right].map(|array| Column::rows(Arc::new(array)));
        Checked::Add.call(&columns, 2)
    }

    #[test]
    fn overflow_counts_only_in_valid_rows() {
        let nulls = Some(vec![false, true].into());
        let big = Int32Array::new(vec![i32::MAX, 1].into(), nulls);
        let one = Int32Array::from(vec![1, 1]);
        let sum = add(big, one.clone()).unwrap();
        let sum = sum.as_primitive::<Int32Type>();
        assert_eq!(sum.iter().collect::<Vec<_>>(), [None, Some(2)]);
        let all = Int32Array::from(vec![i32::MAX, 1]);
        assert_eq!(add(all, one).unwrap_err().sqlstate, "22003");
    }
}

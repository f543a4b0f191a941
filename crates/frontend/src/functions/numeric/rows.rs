//! Loops over columns of plain numbers.
//!
//! A loop computes every row, also those that are NULL, and notes whether one of them went
//! wrong; only then it looks again for a row that did and is not NULL. It has no branches, so
//! that the compiler makes it of vector instructions.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_buffer::{NullBuffer, ScalarBuffer};

use crate::error::{Error, Result};
use crate::functions::kernel::{Call, Column, repeated};

/// The array of a column, of which the type is known.
pub(super) fn typed<T: ArrowPrimitiveType>(column: &Column) -> Result<&PrimitiveArray<T>> {
    let array = column.array.as_primitive_opt::<T>();
    array.ok_or_else(|| {
        let found = column.array.data_type();
        Error::internal(format!(
            "a column of {found} where {} is read",
            T::DATA_TYPE
        ))
    })
}

/// The two operands of a call.
pub(super) fn pair(columns: &[Column]) -> Result<(&Column, &Column)> {
    match columns {
        [left, right] => Ok((left, right)),
        _ => Err(Error::internal("an operator without two operands")),
    }
}

/// The only argument of a call.
pub(super) fn only(columns: &[Column]) -> Result<&Column> {
    match columns {
        [one] => Ok(one),
        _ => Err(Error::internal("a function without one argument")),
    }
}

/// Rows of a call that are computed apart: one if all arguments are constant.
fn rows_of(call: &Call<'_>, columns: &[&Column]) -> usize {
    match columns.iter().all(|column| column.constant) {
        true => call.rows.min(1),
        false => call.rows,
    }
}

/// Rows in which no operand is NULL.
fn valid(rows: usize, columns: &[&Column]) -> Option<NullBuffer> {
    columns.iter().fold(None, |all, column| {
        let nulls = match column.constant && rows != 1 {
            true => column.is_null(0).then(|| NullBuffer::new_null(rows)),
            false => column.array.logical_nulls(),
        };
        NullBuffer::union(all.as_ref(), nulls.as_ref())
    })
}

/// A result of two columns, and whether a row went wrong, which `error` tells of.
pub(super) fn binary<A, B, R>(
    call: &Call<'_>,
    (left, right): (&Column, &Column),
    f: impl Fn(A::Native, B::Native) -> (R::Native, bool) + Copy,
    error: impl Fn(A::Native, B::Native) -> Error,
) -> Result<ArrayRef>
where
    A: ArrowPrimitiveType,
    B: ArrowPrimitiveType,
    R: ArrowPrimitiveType,
{
    let (a, b) = (typed::<A>(left)?, typed::<B>(right)?);
    let rows = rows_of(call, &[left, right]);
    let (all_a, all_b) = (a.values(), b.values());
    let mut wrong = false;
    let values: Vec<R::Native> = match (left.constant, right.constant, rows) {
        (_, _, 0) => Vec::new(),
        (true, true, _) => {
            let (value, bad) = f(all_a[0], all_b[0]);
            wrong |= bad;
            vec![value]
        }
        (true, false, _) => {
            let x = all_a[0];
            let each = all_b.iter().map(|y| {
                let (value, bad) = f(x, *y);
                wrong |= bad;
                value
            });
            each.collect()
        }
        (false, true, _) => {
            let y = all_b[0];
            let each = all_a.iter().map(|x| {
                let (value, bad) = f(*x, y);
                wrong |= bad;
                value
            });
            each.collect()
        }
        (false, false, _) => {
            let each = all_a.iter().zip(all_b.iter()).map(|(x, y)| {
                let (value, bad) = f(*x, *y);
                wrong |= bad;
                value
            });
            each.collect()
        }
    };
    let nulls = valid(values.len(), &[left, right]);
    if wrong {
        for row in 0..values.len() {
            if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                continue;
            }
            let (x, y) = (all_a[left.at(row)], all_b[right.at(row)]);
            if f(x, y).1 {
                return Err(error(x, y));
            }
        }
    }
    finished::<R>(call, values, nulls)
}

/// The same of one column.
pub(super) fn unary<A, R>(
    call: &Call<'_>,
    column: &Column,
    f: impl Fn(A::Native) -> (R::Native, bool) + Copy,
    error: impl Fn(A::Native) -> Error,
) -> Result<ArrayRef>
where
    A: ArrowPrimitiveType,
    R: ArrowPrimitiveType,
{
    let array = typed::<A>(column)?;
    let rows = rows_of(call, &[column]);
    let all = &array.values()[..rows.min(array.len())];
    let mut wrong = false;
    let each = all.iter().map(|x| {
        let (value, bad) = f(*x);
        wrong |= bad;
        value
    });
    let values: Vec<R::Native> = each.collect();
    let nulls = valid(values.len(), &[column]);
    if wrong {
        for (row, x) in all.iter().enumerate() {
            let null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
            if !null && f(*x).1 {
                return Err(error(*x));
            }
        }
    }
    finished::<R>(call, values, nulls)
}

/// The array of results.
fn finished<R: ArrowPrimitiveType>(
    call: &Call<'_>,
    values: Vec<R::Native>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let array = PrimitiveArray::<R>::try_new(ScalarBuffer::from(values), nulls)?;
    let kind = call.returns.arrow();
    let array = match R::DATA_TYPE == kind {
        true => array,
        false => array.with_data_type(kind),
    };
    Ok(repeated(Arc::new(array), call.rows))
}

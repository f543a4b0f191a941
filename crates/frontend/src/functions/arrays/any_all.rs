//! `x op ANY (array)` and `x op ALL (array)`.

use std::sync::Arc;

use arrow_array::builder::BooleanBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UInt32Array};
use arrow_select::take::take;

use super::lists::{Lists, argument, argument_type, rows_of};
use crate::error::{Error, Result};
use crate::functions::Scalar;
use crate::functions::kernel::{Call, Column, Kernel, repeated};
use crate::types::Type;

/// Elements that are compared at a time.
const PART: usize = 1 << 16;

/// The kernel of an operator between a value and each element of an array, of which `any` or
/// all are to be true; NULL is between true and false. The call's types are those of the value
/// and of the array, and the operator takes the value and an element.
///
/// `1 = ANY ('{1,NULL}')` is true, `2 = ANY ('{1,NULL}')` NULL, `2 = ANY ('{}')` false.
pub fn any_all(op: &Scalar, any: bool) -> Kernel {
    let op = op.clone();
    Arc::new(move |call, columns| {
        let rows = rows_of(call.rows, columns);
        let value = argument(columns, 0)?;
        let lists = Lists::of(argument(columns, 1)?)?;
        let ty = argument_type(call, 1)?;
        let types = [argument_type(call, 0)?.clone(), ty.innermost().clone()];
        let mut result = BooleanBuilder::with_capacity(rows);
        // Rows are taken together until there are enough elements for a part.
        let (mut first, mut lefts, mut rights, mut ends) = (0, Vec::new(), Vec::new(), Vec::new());
        for row in 0..rows {
            if let Some(range) = lists.range(row) {
                lefts.resize(lefts.len() + range.len(), value.at(row) as u32);
                rights.extend(range.map(|at| at as u32));
            }
            ends.push(rights.len());
            if rights.len() < PART && row + 1 < rows {
                continue;
            }
            let left = take(
                &value.array,
                &UInt32Array::from(std::mem::take(&mut lefts)),
                None,
            )?;
            let right = take(
                &lists.values,
                &UInt32Array::from(std::mem::take(&mut rights)),
                None,
            )?;
            let found = called(&op, call, &types, left, right)?;
            let found = found.as_boolean_opt().ok_or_else(|| {
                Error::new(
                    "42809",
                    "op ANY/ALL (array) requires operator to yield boolean",
                )
            })?;
            let mut start = 0;
            for (row, end) in (first..).zip(ends.drain(..)) {
                match lists.range(row) {
                    None => result.append_null(),
                    Some(_) => {
                        let all =
                            (start..end).map(|at| (!found.is_null(at)).then(|| found.value(at)));
                        result.append_option(combined(all, any));
                    }
                }
                start = end;
            }
            first = row + 1;
        }
        Ok(repeated(Arc::new(result.finish()), call.rows))
    })
}

/// Three-valued OR or AND.
fn combined(mut all: impl Iterator<Item = Option<bool>>, any: bool) -> Option<bool> {
    let mut result = Some(!any);
    let decided = all.any(|one| {
        if one.is_none() {
            result = None;
        }
        one == Some(any)
    });
    if decided { Some(any) } else { result }
}

/// The operator's results; a strict one's are NULL where an operand is.
fn called(
    op: &Scalar,
    call: &Call<'_>,
    types: &[Type],
    left: ArrayRef,
    right: ArrayRef,
) -> Result<ArrayRef> {
    let call = Call {
        rows: right.len(),
        types,
        returns: &Type::Bool,
        session: call.session,
    };
    let nulls = arrow_buffer::NullBuffer::union(left.nulls(), right.nulls());
    let found = (op.kernel)(&call, &[Column::rows(left), Column::rows(right)])?;
    let (Some(nulls), Some(values), true) = (nulls, found.as_boolean_opt(), op.strict) else {
        return Ok(found);
    };
    let all = arrow_buffer::NullBuffer::union(values.nulls(), Some(&nulls));
    let values = values.values().clone();
    Ok(Arc::new(arrow_array::BooleanArray::new(values, all)))
}

//! Evaluation of typed expressions over a batch of columns.
//!
//! An expression is computed for all rows of a batch at once, by the kernels of its functions.
//! A part that does not depend on a row is computed once and stays *constant*: one value.
//! AND, OR, CASE and COALESCE compute their later parts only for the rows that need them, so
//! that a guard keeps its promise:
//!
//! ```text
//! x <> 0 AND 1 / x > 2        x = [0, 1, 4]
//!   x <> 0                    [F, T, T]
//!   1 / x > 2 for rows 1, 2   [·, F, F]
//!                             [F, F, F]       and no division by zero
//! ```
//!
//! Sub-queries are not computed here: a caller that meets them gives a function that is
//! ([`Input::subquery`]).
//!
//! Expressions may be thousands of calls deep. The recursion goes through small functions, so
//! that each level takes little of the stack.

mod choice;
pub mod fold;
mod lists;
mod truth;

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, UInt32Array, new_empty_array, new_null_array};
use arrow_array::{StructArray, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use arrow_select::take::take;

use crate::error::{Error, Result};
use crate::functions::kernel::{Call, Column, repeated};
use crate::functions::{Scalar, Session, Volatility};
use crate::plan::{ColumnId, Expr, ExprKind, Subquery};
use crate::types::Type;
use crate::{interrupt, stack};

/// Computes a sub-query's value of a type for each row of an input.
pub type Subqueries<'a> = dyn Fn(&Subquery, &Type, &Input<'_>) -> Result<Column> + 'a;

/// A batch of rows and all else that expressions read.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// Rows of the batch.
    pub rows: usize,
    /// Its columns, and constant ones of outer queries.
    pub columns: &'a dyn Fn(ColumnId) -> Option<Column>,
    /// Parameters of the statement, one value each.
    pub parameters: &'a [ArrayRef],
    /// Settings and the time.
    pub session: &'a Session,
    /// Computes sub-queries; without it they are refused.
    pub subquery: Option<&'a Subqueries<'a>>,
}

impl<'a> Input<'a> {
    /// A batch of columns without parameters and sub-queries.
    pub fn new(
        rows: usize,
        columns: &'a dyn Fn(ColumnId) -> Option<Column>,
        session: &'a Session,
    ) -> Self {
        Self {
            rows,
            columns,
            parameters: &[],
            session,
            subquery: None,
        }
    }
}

/// The values of an expression for the rows of a batch.
///
/// # Errors
/// Those of its functions, for rows that are really computed; `XX000` for columns that the
/// batch has not.
pub fn evaluate(expr: &Expr, input: &Input<'_>) -> Result<Column> {
    if input.rows == 0 {
        return nothing(expr);
    }
    interrupt::check_rows(input.rows)?;
    stack::step(|| kind(expr, input))
}

fn kind(expr: &Expr, input: &Input<'_>) -> Result<Column> {
    match &expr.kind {
        ExprKind::Literal(value) => Ok(Column::constant(Arc::clone(value))),
        ExprKind::Column(id) => column(*id, input),
        ExprKind::Parameter(number) => parameter(*number, input),
        ExprKind::Call {
            function,
            arguments,
        } => call(function, arguments, &expr.ty, input),
        ExprKind::And(parts) => truth::connective(parts, true, input),
        ExprKind::Or(parts) => truth::connective(parts, false, input),
        ExprKind::Not(inner) => truth::not(inner, input),
        ExprKind::IsNull(inner) => is_null(inner, input),
        ExprKind::Case {
            branches,
            otherwise,
        } => choice::case(branches, otherwise.as_deref(), &expr.ty, input),
        ExprKind::Coalesce(values) => choice::coalesce(values, &expr.ty, input),
        ExprKind::InList { value, list, equal } => lists::in_list(value, list, equal, input),
        ExprKind::Any {
            operator,
            value,
            array,
            all,
        } => lists::any(operator, value, array, *all, input),
        ExprKind::Array(items) => lists::array(items, &expr.ty, input),
        ExprKind::Row(items) => row(items, &expr.ty, input),
        ExprKind::Field(inner, at) => field(inner, *at, input),
        ExprKind::Subquery(subquery) => match input.subquery {
            Some(run) => run(subquery, &expr.ty, input),
            None => refused(),
        },
    }
}

/// The rows of a batch for which a condition is TRUE. Of a conjunction, a part is computed for
/// rows for which those before it are TRUE.
///
/// # Errors
/// Those of [`evaluate`].
pub fn matching(condition: &Expr, input: &Input<'_>) -> Result<UInt32Array> {
    let parts = match &condition.kind {
        ExprKind::And(parts) => parts.as_slice(),
        _ => std::slice::from_ref(condition),
    };
    let mut left: Option<UInt32Array> = None;
    for part in parts {
        let value = match &left {
            Some(left) if left.is_empty() => break,
            Some(left) if left.len() < input.rows => evaluate_rows(part, left, input)?,
            _ => evaluate(part, input)?,
        };
        let rows = left.as_ref().map_or(input.rows, UInt32Array::len);
        let hits = truth::places(&truth::Truth::of(&value, rows)?.yes);
        left = Some(match left {
            Some(left) => hits
                .values()
                .iter()
                .map(|at| left.value(*at as usize))
                .collect(),
            None => hits,
        });
    }
    let all = || (0..input.rows as u32).collect();
    Ok(left.unwrap_or_else(all))
}

/// The values of an expression for some rows of a batch.
///
/// # Errors
/// Those of [`evaluate`].
#[inline(never)]
pub fn evaluate_rows(expr: &Expr, rows: &UInt32Array, input: &Input<'_>) -> Result<Column> {
    let known = RefCell::new(HashMap::new());
    let columns = |id: ColumnId| {
        if let Some(column) = known.borrow().get(&id) {
            return Some(Column::clone(column));
        }
        let mut column = (input.columns)(id)?;
        if !column.constant {
            column.array = take(&column.array, rows, None).ok()?;
        }
        known.borrow_mut().insert(id, column.clone());
        Some(column)
    };
    evaluate(
        expr,
        &Input {
            rows: rows.len(),
            columns: &columns,
            ..*input
        },
    )
}

/// The value of an expression that reads no columns, an array of one row.
///
/// # Errors
/// Those of [`evaluate`].
pub fn constant(expr: &Expr, parameters: &[ArrayRef], session: &Session) -> Result<ArrayRef> {
    let input = Input {
        parameters,
        ..Input::new(1, &|_| None, session)
    };
    evaluate(expr, &input).map(|column| column.array)
}

#[inline(never)]
fn nothing(expr: &Expr) -> Result<Column> {
    Ok(Column::rows(new_empty_array(&expr.ty.arrow())))
}

#[inline(never)]
fn refused() -> Result<Column> {
    Err(Error::unsupported("a sub-query is not allowed here"))
}

#[inline(never)]
fn column(id: ColumnId, input: &Input<'_>) -> Result<Column> {
    let found = (input.columns)(id);
    let found =
        found.ok_or_else(|| Error::internal(format!("there is no column #{} here", id.0)))?;
    if !found.constant && found.array.len() != input.rows {
        let (has, wants) = (found.array.len(), input.rows);
        let message = format!("column #{} has {has} rows, and {wants} are read", id.0);
        return Err(Error::internal(message));
    }
    Ok(found)
}

#[inline(never)]
fn parameter(number: usize, input: &Input<'_>) -> Result<Column> {
    let value = input.parameters.get(number.wrapping_sub(1));
    let value =
        value.ok_or_else(|| Error::new("42P02", format!("there is no parameter ${number}")))?;
    Ok(Column::constant(Arc::clone(value)))
}

#[inline(never)]
fn call(
    function: &Scalar,
    arguments: &[Expr],
    returns: &Type,
    input: &Input<'_>,
) -> Result<Column> {
    let mut columns = Vec::with_capacity(arguments.len());
    for argument in arguments {
        columns.push(evaluate(argument, input)?);
    }
    called(function, arguments, columns, returns, input)
}

#[inline(never)]
fn called(
    function: &Scalar,
    arguments: &[Expr],
    columns: Vec<Column>,
    returns: &Type,
    input: &Input<'_>,
) -> Result<Column> {
    let types: Vec<Type> = arguments
        .iter()
        .map(|argument| argument.ty.clone())
        .collect();
    apply(
        function,
        &types,
        columns,
        returns,
        input.rows,
        input.session,
    )
}

/// A function's results for arguments that are computed.
fn apply(
    function: &Scalar,
    types: &[Type],
    mut columns: Vec<Column>,
    returns: &Type,
    rows: usize,
    session: &Session,
) -> Result<Column> {
    let null = |column: &Column| column.constant && column.is_null(0);
    if function.strict && columns.iter().any(null) {
        return Ok(Column::constant(new_null_array(&returns.arrow(), 1)));
    }
    let volatile = function.volatility == Volatility::Volatile;
    if volatile {
        for column in &mut columns {
            *column = Column::rows(expanded(column, rows));
        }
    }
    let constant = !volatile && columns.iter().all(|column| column.constant);
    let rows = if constant { 1 } else { rows };
    let call = Call {
        rows,
        types,
        returns,
        session,
    };
    let array = (function.kernel)(&call, &columns)?;
    if array.len() != rows || cfg!(debug_assertions) && array.data_type() != &returns.arrow() {
        return Err(Error::internal(format!(
            "{} gives {} rows of {} where {rows} of {} are wanted",
            function.name,
            array.len(),
            array.data_type(),
            returns.arrow()
        )));
    }
    Ok(Column { array, constant })
}

/// One value for each row.
pub fn expanded(column: &Column, rows: usize) -> ArrayRef {
    match column.constant {
        true if rows == 0 => column.array.slice(0, 0),
        true => repeated(Arc::clone(&column.array), rows),
        false => Arc::clone(&column.array),
    }
}

#[inline(never)]
fn is_null(inner: &Expr, input: &Input<'_>) -> Result<Column> {
    let mut column = evaluate(inner, input)?;
    let values = match column.array.logical_nulls() {
        Some(nulls) => !nulls.inner(),
        None => arrow_buffer::BooleanBuffer::new_unset(column.array.len()),
    };
    column.array = Arc::new(BooleanArray::new(values, None));
    Ok(column)
}

#[inline(never)]
fn row(items: &[Expr], ty: &Type, input: &Input<'_>) -> Result<Column> {
    let mut columns = Vec::with_capacity(items.len());
    for item in items {
        columns.push(evaluate(item, input)?);
    }
    let constant = columns.iter().all(|column| column.constant);
    let rows = if constant { 1 } else { input.rows };
    let DataType::Struct(fields) = ty.arrow() else {
        return Err(Error::internal(format!("a row of type {ty}")));
    };
    let arrays: Vec<ArrayRef> = columns.iter().map(|c| expanded(c, rows)).collect();
    let array = match arrays.is_empty() {
        true => StructArray::new_empty_fields(rows, None),
        false => StructArray::try_new(fields, arrays, None)?,
    };
    let array: ArrayRef = Arc::new(array);
    Ok(Column { array, constant })
}

#[inline(never)]
fn field(inner: &Expr, at: usize, input: &Input<'_>) -> Result<Column> {
    let mut column = evaluate(inner, input)?;
    let record = column.array.as_struct_opt();
    let child = record.and_then(|record| record.columns().get(at));
    let (Some(record), Some(child)) = (record, child) else {
        return Err(Error::internal("a field of a value that has it not"));
    };
    // A field of a record that is NULL is NULL.
    let array = match record.nulls() {
        Some(nulls) if nulls.null_count() > 0 => with_nulls(child, nulls)?,
        _ => Arc::clone(child),
    };
    column.array = array;
    Ok(column)
}

fn with_nulls(array: &ArrayRef, nulls: &NullBuffer) -> Result<ArrayRef> {
    let places = (0..array.len()).map(|at| nulls.is_valid(at).then_some(at as u64));
    Ok(take(array, &places.collect::<UInt64Array>(), None)?)
}

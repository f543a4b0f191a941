//! A whole number or a decimal that grows by a number: `SET balance = balance + $2`.
//!
//! Computed in place of an expression where the result is exact and fits the column;
//! whatever else there is, the expression is computed and says why.

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr};
use freestone_storage::delta::stored_key;
use freestone_storage::{Column, ColumnType, Row, TableSchema, Value};

use super::key::column_of;
use super::literal::{Literal, literal};
use crate::parameter::{self, Parameter};

/// A column of the row as it was, and what it grows by.
#[derive(Debug)]
pub(super) struct Increment {
    column: usize,
    by: Amount,
    /// Whether it shrinks.
    less: bool,
}

#[derive(Debug)]
enum Amount {
    /// In units of the column's last digit.
    Given(i128),
    /// The parameter of this number, from 0.
    Parameter(usize),
}

impl Increment {
    /// `column + number`, `number + column` or `column - number`, for a column of the
    /// target's type; `None` for anything else.
    pub(super) fn of(
        expr: &Expr,
        target: usize,
        schema: &TableSchema,
        called: &str,
    ) -> Option<Increment> {
        let Expr::BinaryOp { left, op, right } = expr else {
            return None;
        };
        let (left, right) = (&**left, &**right);
        let (column, number, less) = match op {
            BinaryOperator::Minus => (left, right, true),
            BinaryOperator::Plus if column_of(left, schema, called).is_some() => {
                (left, right, false)
            }
            BinaryOperator::Plus => (right, left, false),
            _ => return None,
        };
        let column = column_of(column, schema, called)?;
        let kind = &schema.columns[target].kind;
        if schema.columns[column].kind != *kind {
            return None;
        }
        let by = match parameter::number_of(number) {
            Some(parameter) => Amount::Parameter(parameter),
            None => match literal(number, kind)? {
                Literal::Number(digits) => Amount::Given(units(&digits, digits_after(kind)?)?),
                Literal::Null | Literal::Text(_) => return None,
            },
        };
        digits_after(kind)?;
        Some(Increment { column, by, less })
    }

    /// The new value for `target`; `None` if it may not fit.
    pub(super) fn value(
        &self,
        target: &Column,
        row: &Row,
        parameters: &[Parameter],
    ) -> Option<Option<Value>> {
        let scale = digits_after(&target.kind)?;
        let by = match &self.by {
            Amount::Given(units) => *units,
            Amount::Parameter(number) => match parameters.get(*number)? {
                Parameter::Integer(value) => scaled((*value).into(), scale)?,
                _ => return None,
            },
        };
        let before = match &row[self.column] {
            Some(Value::Int(before)) => *before,
            None if target.nullable => return Some(None),
            _ => return None,
        };
        let after = match self.less {
            true => before.checked_sub(by)?,
            false => before.checked_add(by)?,
        };
        if let ColumnType::Decimal { precision, .. } = target.kind
            && after.unsigned_abs() >= 10u128.checked_pow(precision.into())?
        {
            return None;
        }
        let after = Value::Int(after);
        stored_key(&after, target.kind.physical())?;
        Some(Some(after))
    }
}

/// Decimal digits after the point; `None` for a type whose sums are not exact.
fn digits_after(kind: &ColumnType) -> Option<u32> {
    match kind {
        ColumnType::SmallInt | ColumnType::Integer | ColumnType::BigInt => Some(0),
        ColumnType::Decimal { scale, .. } => u32::try_from(*scale).ok(),
        _ => None,
    }
}

fn scaled(value: i128, scale: u32) -> Option<i128> {
    value.checked_mul(10i128.checked_pow(scale)?)
}

/// A number in units of its `scale`th digit after the point; `None` if it has more
/// digits, or is written another way.
fn units(digits: &str, scale: u32) -> Option<i128> {
    let (whole, after) = digits.split_once('.').unwrap_or((digits, ""));
    let len = u32::try_from(after.len()).ok()?;
    let number: i128 = format!("{whole}{after}").parse().ok()?;
    scaled(number, scale.checked_sub(len)?)
}

//! Expressions of one row, computed value by value.
//!
//! A change by a key computes a few values of one row. Over arrays of one value each, most of the
//! time goes into making the arrays. Here sums, differences and products of numbers, and casts
//! between them, are computed from the row as it is stored:
//!
//! ```text
//! s_ytd + $2      4.50 of DECIMAL(8,2), and 7        11.50
//! ```
//!
//! Only what has a value is computed: for other expressions, and for all that would be an error,
//! there is no answer, and the front's functions compute the expression and tell the error.

use arrow::array::{Array, ArrayRef};
use freestone_frontend::functions::Scalar;
use freestone_frontend::plan::{ColumnId, Expr, ExprKind};
use freestone_frontend::types::Type;
use freestone_frontend::values::Numeric;
use freestone_storage::row::cell;
use freestone_storage::{Column, ColumnType, Value};

use super::given::Parameters;

/// A value in the course of a computation.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Null,
    /// Of SMALLINT, INTEGER or BIGINT.
    Int(i64),
    Numeric(Numeric),
    /// Of DOUBLE PRECISION.
    Float(f64),
}

/// The values that expressions of one row read.
pub(super) struct Cells<'a> {
    /// The value of a column as it is stored, and its type.
    pub(super) column: &'a dyn Fn(ColumnId) -> Option<(Option<&'a Value>, &'a Type)>,
    pub(super) parameters: &'a Parameters<'a>,
}

/// The whole number that an expression without columns is; the outer `None` if it has to be
/// computed by the front's functions, the inner one is NULL.
pub(super) fn whole(expr: &Expr, parameters: &Parameters<'_>) -> Option<Option<Value>> {
    let cells = Cells {
        column: &|_| None,
        parameters,
    };
    match cells.value(expr)? {
        Cell::Null => Some(None),
        Cell::Int(value) => Some(Some(Value::Int(value.into()))),
        Cell::Numeric(_) | Cell::Float(_) => None,
    }
}

impl Cells<'_> {
    /// The value of an expression as a column stores it; `None` if it has to be computed by the
    /// front's functions, or does not fit.
    pub(super) fn stored(&self, expr: &Expr, column: &Column) -> Option<Option<Value>> {
        if column.modifier.is_some() {
            return None;
        }
        let value = match (self.value(expr)?, &column.kind) {
            (Cell::Null, _) => return column.nullable.then_some(None),
            (Cell::Int(value), ColumnType::SmallInt) => {
                Value::Int(i16::try_from(value).ok()?.into())
            }
            (Cell::Int(value), ColumnType::Integer) => {
                Value::Int(i32::try_from(value).ok()?.into())
            }
            (Cell::Int(value), ColumnType::BigInt) => Value::Int(value.into()),
            (Cell::Numeric(value), ColumnType::Decimal { precision, scale }) => {
                let (precision, scale) = (u32::from(*precision), u8::try_from(*scale).ok()?);
                let fitted = value.fitted(precision, scale.into()).ok()?;
                Value::Int(fitted.to_i128(scale.into())?)
            }
            (Cell::Numeric(value), ColumnType::Numeric) => Value::Bytes(value.encode()),
            (Cell::Float(value), ColumnType::Double) => Value::Float(value),
            _ => return None,
        };
        Some(Some(value))
    }

    fn value(&self, expr: &Expr) -> Option<Cell> {
        match &expr.kind {
            ExprKind::Literal(value) => of_array(value, &expr.ty),
            ExprKind::Parameter(number) => {
                let value = self.parameters.stored_as(*number, &expr.ty)?;
                of_stored(value.as_ref(), &expr.ty)
            }
            ExprKind::Column(id) => {
                let (value, ty) = (self.column)(*id)?;
                of_stored(value, ty)
            }
            ExprKind::Call {
                function,
                arguments,
            } => match arguments.as_slice() {
                [left, right] => {
                    let operation = operation(function)?;
                    arithmetic(operation, self.value(left)?, self.value(right)?, &expr.ty)
                }
                [only] if function.name == "cast" => cast(self.value(only)?, &expr.ty),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A value of one row, as it is stored.
fn of_stored(value: Option<&Value>, ty: &Type) -> Option<Cell> {
    Some(match (value, ty) {
        (None, Type::Int2 | Type::Int4 | Type::Int8 | Type::Numeric(_) | Type::Float8) => {
            Cell::Null
        }
        (Some(Value::Int(value)), Type::Int2 | Type::Int4 | Type::Int8) => {
            Cell::Int(i64::try_from(*value).ok()?)
        }
        (Some(Value::Int(value)), Type::Numeric(Some(digits))) => {
            Cell::Numeric(Numeric::new(*value, digits.scale.into()))
        }
        (Some(Value::Bytes(bytes)), Type::Numeric(None)) => Cell::Numeric(Numeric::decode(bytes)),
        (Some(Value::Float(value)), Type::Float8) => Cell::Float(*value),
        _ => return None,
    })
}

/// The only value of an array of a type.
fn of_array(array: &ArrayRef, ty: &Type) -> Option<Cell> {
    if array.data_type() != &ty.arrow() {
        return None;
    }
    of_stored(cell(array, 0).as_ref(), ty)
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Add,
    Subtract,
    Multiply,
}

fn operation(function: &Scalar) -> Option<Operation> {
    match function.name {
        "+" => Some(Operation::Add),
        "-" => Some(Operation::Subtract),
        "*" => Some(Operation::Multiply),
        _ => None,
    }
}

/// A sum, a difference or a product of two numbers of one kind, as a value of a type.
fn arithmetic(operation: Operation, left: Cell, right: Cell, ty: &Type) -> Option<Cell> {
    let result = match (left, right) {
        (Cell::Int(a), Cell::Int(b)) => Cell::Int(match operation {
            Operation::Add => a.checked_add(b)?,
            Operation::Subtract => a.checked_sub(b)?,
            Operation::Multiply => a.checked_mul(b)?,
        }),
        (Cell::Numeric(a), Cell::Numeric(b)) => {
            let result = match operation {
                Operation::Add => a.add(&b),
                Operation::Subtract => a.sub(&b),
                Operation::Multiply => a.mul(&b),
            };
            Cell::Numeric(result.ok()?)
        }
        (Cell::Float(a), Cell::Float(b)) => {
            let result = match operation {
                Operation::Add => a + b,
                Operation::Subtract => a - b,
                Operation::Multiply => a * b,
            };
            // Beyond the range of floats, and near zero, there may be an error.
            Cell::Float(Some(result).filter(|result| result.is_normal())?)
        }
        (Cell::Null, _) | (_, Cell::Null) => Cell::Null,
        _ => return None,
    };
    is_of(&result, ty).then_some(result)
}

/// Whether a result is one of a type.
fn is_of(value: &Cell, ty: &Type) -> bool {
    match (value, ty) {
        (Cell::Int(value), Type::Int2) => i16::try_from(*value).is_ok(),
        (Cell::Int(value), Type::Int4) => i32::try_from(*value).is_ok(),
        (Cell::Int(_), Type::Int8)
        | (Cell::Numeric(_), Type::Numeric(None))
        | (Cell::Float(_), Type::Float8)
        | (Cell::Null, Type::Int2 | Type::Int4 | Type::Int8 | Type::Numeric(_) | Type::Float8) => {
            true
        }
        // Results of a fixed number of digits have as many behind the point.
        (Cell::Numeric(value), Type::Numeric(Some(digits))) => {
            value.scale() == u32::from(digits.scale)
                && value
                    .fitted(digits.precision.into(), digits.scale.into())
                    .is_ok()
        }
        _ => false,
    }
}

/// A number as one of another type.
fn cast(value: Cell, to: &Type) -> Option<Cell> {
    let value = match (value, to) {
        (Cell::Int(value), Type::Numeric(_)) => Cell::Numeric(Numeric::from(value)),
        (Cell::Int(value), Type::Float8) => Cell::Float(value as f64),
        (value, _) => value,
    };
    let value = match (value, to) {
        (Cell::Numeric(value), Type::Numeric(Some(digits))) => {
            let fitted = value.fitted(digits.precision.into(), digits.scale.into());
            Cell::Numeric(fitted.ok()?)
        }
        (value, _) => value,
    };
    is_of(&value, to).then_some(value)
}

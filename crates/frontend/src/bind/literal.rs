//! Numbers and texts as they are written.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryViewArray, Decimal128Array, Int32Array, Int64Array};
use sqlparser::ast::{Value, ValueWithSpan};

use super::{Binder, at};
use crate::error::{Error, Result};
use crate::functions::bits_of_hex;
use crate::plan::{Expr, ExprKind};
use crate::types::{DECIMAL_DIGITS, Type};
use crate::values::Numeric;

impl Binder<'_> {
    /// A literal.
    pub(super) fn literal(&mut self, value: &ValueWithSpan) -> Result<Expr> {
        let place = at(value.span);
        Ok(match &value.value {
            Value::Number(digits, long) => {
                if *long {
                    let message =
                        format!("trailing junk after numeric literal at or near \"{digits}L\"");
                    return Err(Error::new("42601", message).at(place));
                }
                return number(digits).map_err(|error| error.at(place));
            }
            Value::SingleQuotedString(text)
            | Value::EscapedStringLiteral(text)
            | Value::UnicodeStringLiteral(text)
            | Value::NationalStringLiteral(text) => Expr::text(text, Type::Unknown),
            Value::DollarQuotedString(quoted) => Expr::text(&quoted.value, Type::Unknown),
            Value::Boolean(value) => Expr::bool(*value),
            Value::Null => Expr::null(Type::Unknown),
            Value::Placeholder(name) => {
                let number = name
                    .strip_prefix('$')
                    .and_then(|digits| digits.parse().ok());
                let number: usize =
                    number.filter(|n| (1..=65_535).contains(n)).ok_or_else(|| {
                        Error::new("42P02", format!("there is no parameter {name}")).at(place)
                    })?;
                // In a function they are its own.
                if let Some(arguments) = &self.arguments {
                    let value = arguments.get(number - 1).cloned();
                    return value.ok_or_else(|| {
                        Error::new("42P02", format!("there is no parameter {name}")).at(place)
                    });
                }
                let known = self.parameters.get(number - 1).cloned().flatten();
                if self.parameters.len() < number {
                    self.parameters.resize(number, None);
                }
                Expr::new(ExprKind::Parameter(number), known.unwrap_or(Type::Unknown))
            }
            Value::SingleQuotedByteStringLiteral(digits) => Expr::text(digits, Type::Bit(None)),
            Value::HexStringLiteral(digits) => Expr::text(
                &bits_of_hex(digits).map_err(|error| error.at(place))?,
                Type::Bit(None),
            ),
            _ => return Err(Error::unsupported("this literal is not supported").at(place)),
        })
    }
}

/// A number: an INTEGER or a BIGINT where it fits, else a NUMERIC.
fn number(digits: &str) -> Result<Expr> {
    let literal = |array: ArrayRef, ty: Type| Expr::new(ExprKind::Literal(array), ty);
    if let Ok(value) = digits.parse::<i64>() {
        return Ok(match i32::try_from(value) {
            Ok(value) => literal(Arc::new(Int32Array::from(vec![value])), Type::Int4),
            Err(_) => literal(Arc::new(Int64Array::from(vec![value])), Type::Int8),
        });
    }
    let value = Numeric::parse(digits).map_err(|error| match error.sqlstate {
        "22003" => error,
        _ => Error::new(
            "42601",
            format!("trailing junk after numeric literal at or near \"{digits}\""),
        ),
    })?;
    Ok(numeric(&value))
}

/// A NUMERIC literal, with no more digits than it needs.
pub(super) fn numeric(value: &Numeric) -> Expr {
    let scale = value.scale();
    if let Some(unscaled) = value.to_i128(scale) {
        let precision = unscaled
            .unsigned_abs()
            .checked_ilog10()
            .map_or(1, |log| log + 1)
            .max(scale);
        if precision <= u32::from(DECIMAL_DIGITS) {
            let ty = Type::numeric(precision.max(1), scale);
            let array = Decimal128Array::from(vec![unscaled]).with_data_type(ty.arrow());
            return Expr::new(ExprKind::Literal(Arc::new(array)), ty);
        }
    }
    let array = BinaryViewArray::from(vec![value.encode().as_slice()]);
    Expr::new(ExprKind::Literal(Arc::new(array)), Type::Numeric(None))
}

/// A literal integer as the NUMERIC it stands for beside others.
pub(super) fn integer_as_numeric(expr: Expr) -> Expr {
    match expr.literal_integer() {
        Some(value) => numeric(&Numeric::new(value.into(), 0)),
        None => expr,
    }
}

//! Parameters of prepared statements: `$1`, `$2`, … or `?`, and what stands for them.

use std::ops::ControlFlow;

use freestone_frontend::syntax::walk::{visit_expressions, visit_expressions_mut, walk_mut};
use sqlparser::ast::{
    Array, CastKind, DataType, Expr, Ident, Select, SelectItem, Statement as Ast, UnaryOperator,
    Value, VisitorMut,
};

use crate::error::{Error, Result};

/// The value of a parameter.
///
/// A text stands for a value of any type that can be read from it, as a quoted
/// literal does: `'2024-02-29'` is a date where a date is expected.
#[derive(Debug, Clone, PartialEq)]
pub enum Parameter {
    /// NULL.
    Null,
    /// TRUE or FALSE.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A decimal number, as its digits: `12.50`, `-3`.
    Decimal(String),
    /// A number with a binary fraction.
    Double(f64),
    /// Text, or anything that can be read from it.
    Text(String),
    /// Bytes, for BYTEA.
    Bytes(Vec<u8>),
    /// Several values of one type.
    List(Vec<Parameter>),
}

impl From<bool> for Parameter {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<i64> for Parameter {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<i32> for Parameter {
    fn from(value: i32) -> Self {
        Self::Integer(value.into())
    }
}

impl From<f64> for Parameter {
    fn from(value: f64) -> Self {
        Self::Double(value)
    }
}

impl From<&str> for Parameter {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Parameter {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<Vec<u8>> for Parameter {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(value)
    }
}

impl<T: Into<Parameter>> From<Option<T>> for Parameter {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl Parameter {
    /// The value as it would be written.
    pub(crate) fn literal(&self) -> Expr {
        let value = |value: Value| Expr::Value(value.with_empty_span());
        let text = |text: String| value(Value::SingleQuotedString(text));
        let cast = |expr: Expr, data_type: DataType| Expr::Cast {
            kind: CastKind::Cast,
            expr: Box::new(expr),
            data_type,
            array: false,
            format: None,
        };
        match self {
            Self::Null => value(Value::Null),
            Self::Boolean(given) => value(Value::Boolean(*given)),
            Self::Integer(i64::MIN) => cast(text(i64::MIN.to_string()), DataType::BigInt(None)),
            Self::Integer(number) if *number < 0 => {
                let digits = value(Value::Number(number.unsigned_abs().to_string(), false));
                Expr::Nested(Box::new(Expr::UnaryOp {
                    op: UnaryOperator::Minus,
                    expr: Box::new(digits),
                }))
            }
            Self::Integer(number) => value(Value::Number(number.to_string(), false)),
            Self::Decimal(digits) => match digits.strip_prefix('-') {
                Some(digits) => Expr::Nested(Box::new(Expr::UnaryOp {
                    op: UnaryOperator::Minus,
                    expr: Box::new(value(Value::Number(digits.to_owned(), false))),
                })),
                None => value(Value::Number(
                    digits.trim_start_matches('+').to_owned(),
                    false,
                )),
            },
            Self::Double(number) => cast(text(double(*number)), DataType::DoublePrecision),
            Self::Text(given) => text(given.clone()),
            Self::Bytes(bytes) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                cast(text(format!("\\x{digits}")), DataType::Bytea)
            }
            // An array of nothing has no type of its own.
            Self::List(items) if items.is_empty() => text("{}".to_owned()),
            Self::List(items) => Expr::Array(Array {
                elem: items.iter().map(Self::literal).collect(),
                named: true,
            }),
        }
    }
}

/// A number in the form that SQL reads.
fn double(number: f64) -> String {
    match number {
        number if number.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        number => format!("{number:e}"),
    }
}

/// The number of a parameter, from 0.
fn number(placeholder: &str) -> Result<usize> {
    let digits = placeholder.strip_prefix('$').unwrap_or(placeholder);
    match digits.parse::<u16>() {
        Ok(number @ 1..) => Ok(usize::from(number) - 1),
        _ => Err(
            Error::new("42601", format!("\"{placeholder}\" is no parameter"))
                .with_hint("parameters are $1, $2, … up to $65535, or ? one after the other"),
        ),
    }
}

/// The number of the parameter that an expression is, from 0.
pub(crate) fn number_of(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Placeholder(text) => number(text).ok(),
            _ => None,
        },
        _ => None,
    }
}

/// How many parameters a statement has. Those in the body of a function are the function's.
///
/// # Errors
/// `42601` for a placeholder that is no parameter.
pub(crate) fn count(ast: &Ast) -> Result<usize> {
    let mut most = 0;
    if matches!(ast, Ast::CreateFunction(_)) {
        return Ok(most);
    }
    let found = visit_expressions(ast, |expr| {
        if let Expr::Value(value) = expr
            && let Value::Placeholder(text) = &value.value
        {
            match number(text) {
                Ok(number) => most = most.max(number + 1),
                Err(error) => return ControlFlow::Break(error),
            }
        }
        ControlFlow::Continue(())
    });
    match found {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(most),
    }
}

/// The statement with `values` in the places of its parameters.
///
/// # Errors
/// `08P01` for too few values or too many.
pub(crate) fn bind(ast: &Ast, parameters: usize, values: &[Expr]) -> Result<Ast> {
    if values.len() != parameters {
        return Err(Error::new(
            "08P01",
            format!(
                "{} given for a statement with {}",
                counted(values.len(), "value"),
                counted(parameters, "parameter")
            ),
        ));
    }
    let mut bound = ast.clone();
    if parameters > 0 {
        let _ = walk_mut(&mut bound, &mut Nameless);
        let _: ControlFlow<()> = visit_expressions_mut(&mut bound, |expr| {
            if let Some(value) = number_of(expr).and_then(|number| values.get(number)) {
                *expr = value.clone();
            }
            ControlFlow::Continue(())
        });
    }
    Ok(bound)
}

/// Gives a parameter that is an item of a SELECT list the name that it has there: none, whatever
/// the cast that will stand in its place is called.
struct Nameless;

impl VisitorMut for Nameless {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(expr) = item
                && number_of(unnested(expr)).is_some()
            {
                *item = SelectItem::ExprWithAlias {
                    expr: expr.clone(),
                    alias: Ident::with_quote('"', "?column?"),
                };
            }
        }
        ControlFlow::Continue(())
    }
}

fn unnested(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) => unnested(inner),
        expr => expr,
    }
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

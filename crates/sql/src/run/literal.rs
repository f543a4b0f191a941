//! VALUES and values that are taken from the text as they stand.

use freestone_storage::ColumnType;
use sqlparser::ast::{Expr, Query, SetExpr, UnaryOperator, Value, Values};

use crate::front::has_query;
/// A literal whose text a column reads.
pub(super) enum Literal<'a> {
    Null,
    Number(String),
    Text(&'a str),
}

/// The literal that an expression is, if the column reads it from its text.
pub(super) fn literal<'a>(expr: &'a Expr, kind: &ColumnType) -> Option<Literal<'a>> {
    let numeric = matches!(
        kind,
        ColumnType::SmallInt
            | ColumnType::Integer
            | ColumnType::BigInt
            | ColumnType::Real
            | ColumnType::Double
            | ColumnType::Decimal { .. }
            | ColumnType::Numeric
    );
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Null => Some(Literal::Null),
            Value::Number(digits, _) if numeric => Some(Literal::Number(digits.replace('_', ""))),
            Value::SingleQuotedString(text) => Some(Literal::Text(text)),
            Value::Boolean(value) if *kind == ColumnType::Boolean => {
                Some(Literal::Text(if *value { "true" } else { "false" }))
            }
            _ => None,
        },
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => match literal(expr, kind)? {
            Literal::Number(digits) if !digits.starts_with('-') => {
                Some(Literal::Number(format!("-{digits}")))
            }
            _ => None,
        },
        Expr::Nested(inner) => literal(inner, kind),
        _ => None,
    }
}

/// Whether an expression is made of literals, operators and casts only.
pub(super) fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Value(value) => !matches!(value.value, Value::Placeholder(_)),
        Expr::UnaryOp { expr, .. } | Expr::Nested(expr) | Expr::Cast { expr, .. } => {
            is_constant(expr)
        }
        Expr::BinaryOp { left, right, .. } => is_constant(left) && is_constant(right),
        _ => false,
    }
}

/// Whether an expression is the word DEFAULT.
pub(crate) fn is_default(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(ident)
        if ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("default"))
}

/// VALUES without WITH, ORDER BY, LIMIT or sub-queries.
pub(super) fn plain_values(query: &Query) -> Option<&Values> {
    let SetExpr::Values(values) = query.body.as_ref() else {
        return None;
    };
    let bare = query.with.is_none() && query.order_by.is_none() && query.limit_clause.is_none();
    let simple = |expr: &Expr| !has_query(expr);
    (bare && values.rows.iter().flat_map(|row| &row.content).all(simple)).then_some(values)
}

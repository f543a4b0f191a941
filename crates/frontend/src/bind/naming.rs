//! Names of columns that have none in the statement, as PostgreSQL chooses them.

use sqlparser::ast::{
    AccessExpr, BinaryOperator, DataType, ExactNumberInfo, Expr, Query, Select, SelectItem,
    SetExpr, TableFactor, TrimWhereField,
};

use super::columns::picked_name;
use super::fold;
use crate::plan::ExprKind;
use crate::syntax::marks::{ALL, ANY, PREFIX, QUERY, WHOLE_ROW, marked};

/// The name of a column without a better one.
pub(super) const UNNAMED: &str = "?column?";

/// The name of an expression in a SELECT list. The column of a sub-query that has no list, such
/// as VALUES, or a list of `*`, gives its name.
pub(super) fn column_name(expr: &Expr, bound: &crate::plan::Expr) -> String {
    let name = name_of(expr).map(|(name, _)| name).or_else(|| {
        let mut inner = expr;
        while let Expr::Nested(nested) = inner {
            inner = nested;
        }
        let (Expr::Subquery(_), ExprKind::Subquery(subquery)) = (inner, &bound.kind) else {
            return None;
        };
        Some(subquery.plan.columns().first()?.name.clone())
    });
    name.unwrap_or_else(|| UNNAMED.to_owned())
}

/// The name of an expression in a SELECT list, before it is bound. It has no sub-query.
pub fn name_of_expression(expr: &Expr) -> String {
    name_of(expr).map_or_else(|| UNNAMED.to_owned(), |(name, _)| name)
}

/// The name, and whether it is better than that of a type around it.
fn name_of(expr: &Expr) -> Option<(String, bool)> {
    let strong = |name: &str| Some((name.to_owned(), true));
    match expr {
        Expr::Identifier(ident) => match picked_name(ident) {
            Some(name) => strong(name),
            None => Some((fold(ident), true)),
        },
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [.., name, last] if marked(last, WHOLE_ROW).is_some() => strong(&fold(name)),
            parts => Some((fold(parts.last()?), true)),
        },
        Expr::CompoundFieldAccess { root, access_chain } => {
            let field = access_chain.iter().rev().find_map(|access| match access {
                AccessExpr::Dot(field) => Some(field),
                AccessExpr::Subscript(_) => None,
            });
            name_of(field.unwrap_or(root))
        }
        Expr::Function(call) => {
            let ident = call.name.0.last()?.as_ident()?;
            // Operators that are written as calls have no names.
            if marked(ident, PREFIX)
                .or(marked(ident, ANY))
                .or(marked(ident, ALL))
                .is_some()
            {
                return None;
            }
            Some((fold(ident), true))
        }
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => name_of(inner),
        Expr::Cast {
            expr, data_type, ..
        } => match name_of(expr) {
            Some((name, true)) => Some((name, true)),
            _ => Some((type_word(data_type)?, false)),
        },
        Expr::TypedString(typed) => Some((type_word(&typed.data_type)?, false)),
        Expr::Interval(_) => Some(("interval".to_owned(), false)),
        Expr::Case { else_result, .. } => {
            let inner = else_result.as_deref().and_then(name_of);
            inner
                .filter(|(_, strong)| *strong)
                .or(Some(("case".to_owned(), false)))
        }
        Expr::Exists { negated: false, .. } => strong("exists"),
        Expr::Extract { .. } => strong("extract"),
        Expr::Ceil { .. } => strong("ceil"),
        Expr::Floor { .. } => strong("floor"),
        Expr::Position { .. } => strong("position"),
        Expr::Substring {
            shorthand: true, ..
        } => strong("substr"),
        Expr::Substring { .. } => strong("substring"),
        Expr::Overlay { .. } => strong("overlay"),
        Expr::BinaryOp {
            op: BinaryOperator::Overlaps,
            ..
        } => strong("overlaps"),
        Expr::IsNormalized { negated: false, .. } => strong("is_normalized"),
        Expr::Trim { trim_where, .. } => strong(match trim_where {
            Some(TrimWhereField::Leading) => "ltrim",
            Some(TrimWhereField::Trailing) => "rtrim",
            _ => "btrim",
        }),
        Expr::Array(_) => strong("array"),
        Expr::AtTimeZone { .. } => strong("timezone"),
        Expr::Tuple(_) => strong("row"),
        Expr::Subquery(query) if is_values(query) => strong("column1"),
        Expr::Subquery(query) => match select_of(query)?.projection.as_slice() {
            [SelectItem::UnnamedExpr(expr)] => {
                let name = name_of(expr).map(|(name, _)| name);
                Some((name.unwrap_or_else(|| UNNAMED.to_owned()), true))
            }
            [SelectItem::ExprWithAlias { alias, .. }] => Some((fold(alias), true)),
            [SelectItem::Wildcard(_)] => Some((first_of(select_of(query)?)?, true)),
            _ => None,
        },
        _ => None,
    }
}

/// PostgreSQL's internal word for a type.
fn type_word(written: &DataType) -> Option<String> {
    if let DataType::Float(ExactNumberInfo::Precision(0..=24)) = written {
        return Some("float4".to_owned());
    }
    let lower = written.to_string().to_lowercase();
    if lower.ends_with("[]") {
        let word = type_word_of(lower.trim_end_matches("[]"))?;
        return Some(word);
    }
    type_word_of(&lower)
}

fn type_word_of(lower: &str) -> Option<String> {
    let word = lower.split(['(', ' ']).next()?;
    let zoned = lower.contains("with time zone");
    Some(
        match word {
            "int" | "integer" => "int4",
            "bigint" => "int8",
            "smallint" => "int2",
            "float" if single(lower) => "float4",
            "double" | "float" => "float8",
            "real" => "float4",
            "decimal" | "dec" => "numeric",
            "boolean" => "bool",
            "character" if lower.contains("varying") => "varchar",
            "bit" if lower.contains("varying") => "varbit",
            "char" | "character" => "bpchar",
            "timestamp" if zoned => "timestamptz",
            "time" if zoned => "timetz",
            other => other.rsplit('.').next().unwrap_or(other),
        }
        .trim_matches('"')
        .to_owned(),
    )
}

/// The name of the first column of a SELECT of `*` from a query or from VALUES.
fn first_of(select: &Select) -> Option<String> {
    let TableFactor::Derived {
        subquery,
        alias: Some(alias),
        ..
    } = &select.from.first()?.relation
    else {
        return None;
    };
    match alias.columns.first() {
        Some(column) => Some(fold(&column.name)),
        None => name_of(&Expr::Subquery(subquery.clone())).map(|(name, _)| name),
    }
}

/// Whether a sub-query is VALUES, which the syntax has in the FROM of another.
fn is_values(query: &Query) -> bool {
    let SetExpr::Select(select) = query.body.as_ref() else {
        return false;
    };
    let [only] = select.from.as_slice() else {
        return false;
    };
    let TableFactor::Derived {
        subquery,
        alias: Some(alias),
        ..
    } = &only.relation
    else {
        return false;
    };
    let mut inner = subquery;
    while let SetExpr::Query(query) = inner.body.as_ref() {
        inner = query;
    }
    marked(&alias.name, QUERY).is_some() && matches!(inner.body.as_ref(), SetExpr::Values(_))
}

/// Whether a FLOAT of so many digits is a REAL.
fn single(lower: &str) -> bool {
    let digits = lower
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(')'));
    digits.is_some_and(|(digits, _)| digits.trim().parse().is_ok_and(|bits: u32| bits <= 24))
}

/// The SELECT that names a query's columns.
fn select_of(query: &Query) -> Option<&Select> {
    fn leftmost(body: &SetExpr) -> Option<&Select> {
        match body {
            SetExpr::Select(select) => Some(select),
            SetExpr::Query(query) => leftmost(&query.body),
            SetExpr::SetOperation { left, .. } => leftmost(left),
            _ => None,
        }
    }
    leftmost(&query.body)
}

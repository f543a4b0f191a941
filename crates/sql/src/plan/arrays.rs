//! Arrays as PostgreSQL writes them, in words that are understood here.
//!
//! | written | becomes |
//! |---|---|
//! | `ARRAY(SELECT x … ORDER BY y)` | `(SELECT array_agg(x ORDER BY y) …)`, empty without rows |
//! | `'{1,2}'::int[]` | `ARRAY[1::int, 2::int]` |

use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, CastKind, DataType, Expr, Function, FunctionArguments, GroupByExpr,
    OrderByKind, Query, SelectItem, SetExpr, Value,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;

use super::names::fold_part;
use super::pg_catalog;
use crate::error::{Error, Result};

/// An array in other words; `None` for other expressions.
///
/// # Errors
/// `22P02` for a text that is no array.
// Its callers are visitors, in which it would stand a hundred times.
#[inline(never)]
pub(super) fn rewritten(expr: &Expr) -> Result<Option<Expr>> {
    let text = match expr {
        Expr::Function(Function {
            name,
            args: FunctionArguments::Subquery(query),
            ..
        }) if matches!(name.0.as_slice(), [name] if fold_part(name).as_deref() == Some("array")) => {
            let mut query = query.clone();
            pg_catalog::emptied(&mut query)?;
            collected(&query)
        }
        Expr::Cast {
            kind: CastKind::Cast | CastKind::DoubleColon,
            expr,
            data_type: DataType::Array(ArrayElemTypeDef::SquareBracket(kind, _)),
            ..
        } => match literal(expr) {
            Some(text) => listed(text, kind)?,
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    Parser::new(&PostgreSqlDialect {})
        .try_with_sql(&text)
        .and_then(|mut parser| parser.parse_expr())
        .map(Some)
        .map_err(|error| crate::error::parser(&error))
}

/// The only column of a query as an array. A plain SELECT is changed itself, so that its
/// references to the outer query stay one level deep.
fn collected(query: &Query) -> String {
    if let (SetExpr::Select(select), None, None, None) = (
        query.body.as_ref(),
        &query.with,
        &query.limit_clause,
        &query.fetch,
    ) && let [SelectItem::UnnamedExpr(item) | SelectItem::ExprWithAlias { expr: item, .. }] =
        select.projection.as_slice()
        && select.distinct.is_none()
        && select.having.is_none()
        && matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty())
        && let Some(order) = order_of(query, item)
    {
        let mut select = select.clone();
        let list = format!("coalesce(array_agg({item}{order}), make_array())");
        select.projection = vec![SelectItem::UnnamedExpr(Expr::Identifier(
            datafusion::sql::sqlparser::ast::Ident::new(list),
        ))];
        return format!("({select})");
    }
    format!(
        "(SELECT coalesce(array_agg(\"of\".\"x\"), make_array()) FROM ({query}) AS \"of\"(\"x\"))"
    )
}

/// The order of the rows for an aggregate; `None` for one that it cannot have.
fn order_of(query: &Query, item: &Expr) -> Option<String> {
    let Some(order) = &query.order_by else {
        return Some(String::new());
    };
    let OrderByKind::Expressions(keys) = &order.kind else {
        return None;
    };
    let keys = keys.iter().map(|key| {
        let mut key = key.clone();
        if let Expr::Value(value) = &key.expr {
            match &value.value {
                Value::Number(number, _) if number == "1" => key.expr = item.clone(),
                _ => return None,
            }
        }
        Some(key.to_string())
    });
    let keys = keys.collect::<Option<Vec<String>>>()?;
    Some(format!(" ORDER BY {}", keys.join(", ")))
}

/// The text of a literal, also of one that is called a text.
fn literal(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(text),
            _ => None,
        },
        Expr::Nested(inner) => literal(inner),
        Expr::Cast {
            expr,
            data_type: DataType::Text | DataType::Varchar(None),
            ..
        } => literal(expr),
        _ => None,
    }
}

fn listed(text: &str, kind: &DataType) -> Result<String> {
    let elements = elements(text).ok_or_else(|| {
        Error::new("22P02", format!("malformed array literal: \"{text}\""))
            .with_hint("an array is written {1,2} and has one dimension")
    })?;
    if elements.is_empty() {
        return Ok(format!("array_pop_front(ARRAY[CAST(NULL AS {kind})])"));
    }
    let elements = elements.into_iter().map(|element| match element {
        Some(text) => format!("CAST('{}' AS {kind})", text.replace('\'', "''")),
        None => format!("CAST(NULL AS {kind})"),
    });
    let elements: Vec<String> = elements.collect();
    Ok(format!("ARRAY[{}]", elements.join(", ")))
}

/// The elements of `{a,"b c",NULL}`; `None` for what is no array of one dimension.
fn elements(text: &str) -> Option<Vec<Option<String>>> {
    let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    if inner.trim().is_empty() {
        return Some(Vec::new());
    }
    let mut all = Vec::new();
    let mut rest = inner.chars().peekable();
    loop {
        let (mut element, mut quoted) = (String::new(), false);
        loop {
            match rest.next() {
                Some('"') => {
                    if !quoted {
                        element.clear();
                    }
                    quoted = true;
                    loop {
                        match rest.next()? {
                            '"' => break,
                            '\\' => element.push(rest.next()?),
                            other => element.push(other),
                        }
                    }
                }
                Some('\\') => element.push(rest.next()?),
                Some('{' | '}') => return None,
                Some(',') => {
                    all.push(finished(element, quoted)?);
                    break;
                }
                Some(other) => element.push(other),
                None => {
                    all.push(finished(element, quoted)?);
                    return Some(all);
                }
            }
        }
    }
}

fn finished(element: String, quoted: bool) -> Option<Option<String>> {
    if quoted {
        return Some(Some(element));
    }
    match element.trim() {
        "" => None,
        null if null.eq_ignore_ascii_case("null") => Some(None),
        plain => Some(Some(plain.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_told_apart() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(elements("{}"), Some(vec![]));
        assert_eq!(
            elements(r#"{1, two ,NULL,"NULL","a,\"b","} {",""}"#),
            Some(vec![
                some("1"),
                some("two"),
                None,
                some("NULL"),
                some("a,\"b"),
                some("} {"),
                some("")
            ])
        );
        for wrong in ["", "1,2", "{1,2", "{1,,2}", "{{1},{2}}", "{\"a}", "{a\\"] {
            assert_eq!(elements(wrong), None, "{wrong}");
        }
    }
}

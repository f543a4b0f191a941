//! Syntax that DataFusion's planner does not take, put in words that it does.
//!
//! | written | becomes |
//! |---|---|
//! | `+ x` | `x` |
//! | `FETCH FIRST n ROWS ONLY` | `LIMIT n` |
//! | `VALUES ((SELECT 1), 2), (3, 4)` | `SELECT (SELECT 1), 2 UNION ALL SELECT 3, 4` |
//! | `SELECT EXISTS (SELECT …)` | `SELECT (SELECT count(*) …) > 0` |
//! | `SELECT x IN (SELECT …)` | `SELECT CASE … END` over counts of matches and NULLs |
//!
//! What clients of PostgreSQL ask about its catalog is put into other words by
//! `pg_catalog`, arrays by `arrays`, a few operators by `spelling`, columns of
//! `generate_series` by `series`.
//!
//! DataFusion has EXISTS and IN with a sub-query in conditions only, hence the last
//! two, which are made in SELECT lists.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Fetch, GroupByExpr, Ident, LimitClause, Query, Select, SelectItem, SetExpr, SetOperator,
    SetQuantifier, Statement as Ast, UnaryOperator, Value, Values, VisitMut, VisitorMut,
    visit_expressions, visit_expressions_mut,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;

use super::{arrays, pg_catalog, series, spelling};
use crate::error::Result;
use crate::statement::parse_one;

/// Rewrites a statement.
///
/// # Errors
/// None but those of a bug in here.
pub(crate) fn rewrite(ast: &mut Ast) -> Result<()> {
    match VisitMut::visit(ast, &mut Rewrite) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Rewrite;

impl VisitorMut for Rewrite {
    type Break = crate::Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Self::Break> {
        if let Err(error) = pg_catalog::emptied(query) {
            return ControlFlow::Break(error);
        }
        fetch_as_limit(query);
        if let SetExpr::Values(values) = query.body.as_ref()
            && values
                .rows
                .iter()
                .flat_map(|row| &row.content)
                .any(has_query)
        {
            match selects(values) {
                Ok(body) => *query.body = body,
                Err(error) => return ControlFlow::Break(error),
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Self::Break> {
        series::named(select);
        for item in &mut select.projection {
            let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item
            else {
                continue;
            };
            if has_query(expr) {
                visit_expressions_mut(expr, |expr| match counted(expr) {
                    Ok(Some(counts)) => {
                        *expr = counts;
                        ControlFlow::Continue(())
                    }
                    Ok(None) => ControlFlow::Continue(()),
                    Err(error) => ControlFlow::Break(error),
                })?;
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Self::Break> {
        match pg_catalog::rewritten(expr) {
            Ok(Some(other)) => *expr = other,
            Ok(None) => {}
            Err(error) => return ControlFlow::Break(error),
        }
        match arrays::rewritten(expr) {
            Ok(Some(other)) => *expr = other,
            Ok(None) => {}
            Err(error) => return ControlFlow::Break(error),
        }
        match spelling::rewritten(expr) {
            Ok(Some(other)) => *expr = other,
            Ok(None) => {}
            Err(error) => return ControlFlow::Break(error),
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Self::Break> {
        match spelling::listed(expr) {
            Ok(Some(other)) => *expr = other,
            Ok(None) => {}
            Err(error) => return ControlFlow::Break(error),
        }
        if let Expr::UnaryOp {
            op: UnaryOperator::Plus,
            expr: inner,
        } = expr
        {
            // Moved, not copied: a copy of a deep expression takes a stack of its own.
            let operand = std::mem::replace(inner.as_mut(), spelling::null());
            *expr = operand;
        }
        ControlFlow::Continue(())
    }
}

/// `FETCH FIRST n ROWS ONLY` is LIMIT n.
fn fetch_as_limit(query: &mut Query) {
    let plain = |fetch: &Fetch| !fetch.with_ties && !fetch.percent;
    let offset = match &query.limit_clause {
        None => None,
        Some(LimitClause::LimitOffset {
            limit: None,
            offset,
            limit_by,
        }) if limit_by.is_empty() => offset.clone(),
        Some(_) => return,
    };
    if let Some(fetch) = query.fetch.take_if(|fetch| plain(fetch)) {
        let one = || Expr::Value(Value::Number("1".to_owned(), false).with_empty_span());
        query.limit_clause = Some(LimitClause::LimitOffset {
            limit: Some(fetch.quantity.unwrap_or_else(one)),
            offset,
            limit_by: Vec::new(),
        });
    }
}

/// Whether an expression has a sub-query in it.
pub(crate) fn has_query(expr: &Expr) -> bool {
    visit_expressions(expr, |inner| match inner {
        Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    })
    .is_break()
}

/// EXISTS and IN in terms of scalar sub-queries; `None` for other expressions.
#[inline(never)]
fn counted(expr: &Expr) -> Result<Option<Expr>> {
    let text = match expr {
        Expr::Exists { subquery, negated } => {
            let relation = if *negated { "=" } else { ">" };
            format!("({}) {relation} 0", count_of(subquery))
        }
        Expr::InSubquery {
            expr,
            subquery,
            negated,
        } => {
            let count = |condition: String| {
                format!("(SELECT count(*) FROM ({subquery}) AS \"in\"(\"x\"){condition})")
            };
            let all = count(String::new());
            let equal = count(format!(" WHERE \"in\".\"x\" = ({expr})"));
            let nulls = count(" WHERE \"in\".\"x\" IS NULL".to_owned());
            format!(
                "CASE WHEN {all} = 0 THEN {negated} WHEN ({expr}) IS NULL THEN NULL \
                 WHEN {equal} > 0 THEN {found} WHEN {nulls} > 0 THEN NULL ELSE {negated} END",
                found = !negated
            )
        }
        _ => return Ok(None),
    };
    Parser::new(&PostgreSqlDialect {})
        .try_with_sql(&text)
        .and_then(|mut parser| parser.parse_expr())
        .map(Some)
        .map_err(|error| crate::error::parser(&error))
}

/// A query that counts the rows of another. A plain SELECT counts itself, so that
/// its references to the outer query stay one level deep.
fn count_of(query: &Query) -> String {
    if let SetExpr::Select(select) = query.body.as_ref() {
        let ungrouped =
            matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty());
        let aggregates = select.projection.iter().any(may_aggregate);
        if query.with.is_none()
            && query.limit_clause.is_none()
            && query.fetch.is_none()
            && select.distinct.is_none()
            && select.having.is_none()
            && ungrouped
            && !aggregates
        {
            let mut select = select.clone();
            select.projection = vec![SelectItem::UnnamedExpr(Expr::Identifier(Ident::new(
                "count(*)",
            )))];
            return select.to_string();
        }
    }
    format!("SELECT count(*) FROM ({query}) AS \"exists\"")
}

/// Whether a SELECT item calls a function, which could be an aggregate.
fn may_aggregate(item: &SelectItem) -> bool {
    let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else {
        return false;
    };
    visit_expressions(expr, |inner| match inner {
        Expr::Function(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    })
    .is_break()
}

/// Rows as SELECTs, whose columns are named as those of VALUES.
#[inline(never)]
fn selects(values: &Values) -> Result<SetExpr> {
    let mut all: Option<SetExpr> = None;
    for row in &values.rows {
        let items: Vec<String> = row
            .content
            .iter()
            .zip(1..)
            .map(|(expr, number)| format!("{expr} AS column{number}"))
            .collect();
        let Ast::Query(query) = parse_one(&format!("SELECT {}", items.join(", ")))? else {
            return Err(crate::Error::internal("a row of VALUES is no SELECT"));
        };
        all = Some(match all {
            None => *query.body,
            Some(left) => SetExpr::SetOperation {
                op: SetOperator::Union,
                set_quantifier: SetQuantifier::All,
                left: Box::new(left),
                right: query.body,
            },
        });
    }
    all.ok_or_else(|| crate::Error::new("42601", "VALUES without rows"))
}

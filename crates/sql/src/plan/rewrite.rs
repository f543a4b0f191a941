//! Syntax that DataFusion's planner does not take, put in words that it does.
//!
//! | written | becomes |
//! |---|---|
//! | `+ x` | `x` |
//! | `VALUES ((SELECT 1), 2), (3, 4)` | `SELECT (SELECT 1), 2 UNION ALL SELECT 3, 4` |

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Query, SetExpr, SetOperator, SetQuantifier, Statement as Ast, UnaryOperator, Values,
    VisitMut, VisitorMut, visit_expressions,
};

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
        if let SetExpr::Values(values) = query.body.as_ref()
            && values.rows.iter().flat_map(|row| &row.content).any(has_query)
        {
            match selects(values) {
                Ok(body) => query.body = Box::new(body),
                Err(error) => return ControlFlow::Break(error),
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Self::Break> {
        if let Expr::UnaryOp {
            op: UnaryOperator::Plus,
            expr: inner,
        } = expr
        {
            *expr = (**inner).clone();
        }
        ControlFlow::Continue(())
    }
}

/// Whether an expression has a sub-query in it.
pub(crate) fn has_query(expr: &Expr) -> bool {
    visit_expressions(expr, |inner| match inner {
        Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    })
    .is_break()
}

/// Rows as SELECTs, whose columns are named as those of VALUES.
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

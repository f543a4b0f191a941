//! `IN (SELECT …)` inside other conditions, with what NULLs mean there.
//!
//! DataFusion makes of `x IN (SELECT y …)` within OR, NOT or CASE a column that is TRUE
//! where there is an equal `y` and FALSE elsewhere, though SQL says NULL where `x` is NULL,
//! or some `y` is, and none is equal. That matters where the answer is negated or asked
//! for itself. This rule spells it out:
//!
//! ```text
//! CASE WHEN x IN (SELECT y …) THEN TRUE
//!      WHEN x IS NULL AND EXISTS (SELECT y …)
//!        OR EXISTS (SELECT y … WHERE y IS NULL) THEN NULL
//!      ELSE FALSE END
//! ```

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, Filter, LogicalPlan, LogicalPlanBuilder, Operator, Subquery,
    lit, when,
};
use datafusion::optimizer::AnalyzerRule;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Membership;

impl AnalyzerRule for Membership {
    fn name(&self) -> &'static str {
        "membership_with_nulls"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> DfResult<LogicalPlan> {
        let rewritten = plan.transform_up_with_subqueries(|plan| match plan {
            LogicalPlan::Filter(filter) if filter.predicate.exists(is_membership)? => {
                let (predicate, input) = (filter.predicate, filter.input);
                let terms = split_conjunction_owned(predicate).into_iter();
                let terms = terms.map(|term| match is_alone(&term) {
                    true => Ok(term),
                    false => spelt_out(term, input.schema(), false),
                });
                let terms = terms.collect::<DfResult<Vec<Expr>>>()?;
                let predicate = conjunction(terms).unwrap_or_else(|| lit(true));
                let filter = Filter::try_new(predicate, input)?;
                Ok(Transformed::yes(LogicalPlan::Filter(filter)))
            }
            other => Ok(Transformed::no(other)),
        })?;
        Ok(rewritten.data)
    }
}

fn is_membership(expr: &Expr) -> DfResult<bool> {
    Ok(matches!(expr, Expr::InSubquery(_)))
}

/// Whether a condition is nothing but IN or NOT IN, of which DataFusion makes a join; of
/// NOT IN only if the rows that are asked for do not depend on the row that asks.
fn is_alone(term: &Expr) -> bool {
    let joins =
        |asked: &InSubquery, negated: bool| !negated || asked.subquery.outer_ref_columns.is_empty();
    match term {
        Expr::InSubquery(asked) => joins(asked, asked.negated),
        Expr::Not(inner) => match inner.as_ref() {
            Expr::InSubquery(asked) => joins(asked, !asked.negated),
            _ => false,
        },
        _ => false,
    }
}

/// The expression with every IN spelt out for which it matters. Where only TRUE counts
/// (`known` is false), FALSE is as good as NULL.
fn spelt_out(expr: Expr, schema: &DFSchema, known: bool) -> DfResult<Expr> {
    let connective = matches!(
        &expr,
        Expr::BinaryExpr(BinaryExpr {
            op: Operator::And | Operator::Or,
            ..
        })
    );
    match expr {
        Expr::InSubquery(asked) if known || asked.negated => member(asked, schema),
        Expr::InSubquery(_) => Ok(expr),
        expr => {
            let known = known || !connective;
            let parts =
                expr.map_children(|part| Ok(Transformed::yes(spelt_out(part, schema, known)?)));
            Ok(parts?.data)
        }
    }
}

fn member(asked: InSubquery, schema: &DFSchema) -> DfResult<Expr> {
    let value = asked.expr.as_ref();
    let members = &asked.subquery;
    let (qualifier, field) = members.subquery.schema().qualified_field(0);
    let exists = |plan: LogicalPlan| {
        Expr::Exists(Exists {
            subquery: Subquery {
                subquery: Arc::new(plan),
                ..members.clone()
            },
            negated: false,
        })
    };
    let mut unknown = Vec::new();
    if value.nullable(schema)? {
        let any = exists(members.subquery.as_ref().clone());
        unknown.push(value.clone().is_null().and(any));
    }
    if field.is_nullable() {
        let null = Expr::from((qualifier, field)).is_null();
        let nulls = LogicalPlanBuilder::from(members.subquery.as_ref().clone());
        unknown.push(exists(nulls.filter(null)?.build()?));
    }
    let Some(unknown) = unknown.into_iter().reduce(Expr::or) else {
        return Ok(Expr::InSubquery(asked));
    };
    let negated = asked.negated;
    let found = Expr::InSubquery(InSubquery {
        negated: false,
        ..asked
    });
    when(found, lit(!negated))
        .when(unknown, lit(ScalarValue::Boolean(None)))
        .otherwise(lit(negated))
}

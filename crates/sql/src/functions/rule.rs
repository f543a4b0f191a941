//! The analyzer rule that puts PostgreSQL's arithmetic in place of DataFusion's.
//!
//! It runs after type coercion, so both operands of an operator have one type and
//! every implicit cast is written out.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, ExprSchema};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::expr::{BinaryExpr, Cast, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, ScalarUDF};
use datafusion::optimizer::AnalyzerRule;

use super::any_expression;
use super::arithmetic::{checked_negation, checked_operator};
use super::convert::conversion;

/// See the module.
#[derive(Debug)]
pub(super) struct PostgresSemantics;

impl AnalyzerRule for PostgresSemantics {
    fn name(&self) -> &'static str {
        "postgres_semantics"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> DfResult<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(rewrite_plan)?.data)
    }
}

fn rewrite_plan(plan: LogicalPlan) -> DfResult<Transformed<LogicalPlan>> {
    if !any_expression(&plan, is_concerned)? {
        return Ok(Transformed::no(plan));
    }
    let mut schema = merge_schema(&plan.inputs());
    if let LogicalPlan::TableScan(scan) = &plan {
        schema.merge(&DFSchema::try_from_qualified_schema(
            scan.table_name.clone(),
            &scan.source.schema(),
        )?);
    }
    let names = NamePreserver::new(&plan);
    let changed = plan.map_expressions(|expr| {
        let name = names.save(&expr);
        Ok(rewrite(expr, &schema)?.update_data(|expr| name.restore(expr)))
    })?;
    if changed.transformed {
        changed.map_data(LogicalPlan::recompute_schema)
    } else {
        Ok(changed)
    }
}

/// Whether an expression could be replaced here.
fn is_concerned(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::BinaryExpr(_) | Expr::Negative(_) | Expr::Cast(_)
    )
}

/// Replaces unchecked operations in one expression.
pub(super) fn rewrite(expr: Expr, schema: &dyn ExprSchema) -> DfResult<Transformed<Expr>> {
    expr.transform_up(|expr| match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            if !op.is_numerical_operators() {
                return Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr {
                    left,
                    op,
                    right,
                })));
            }
            let (a, b) = (left.get_type(schema)?, right.get_type(schema)?);
            match checked_operator(op, &a).filter(|_| a == b) {
                Some(function) => Ok(call(&function, vec![*left, *right])),
                None => Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr {
                    left,
                    op,
                    right,
                }))),
            }
        }
        Expr::Negative(inner) => match checked_negation(&inner.get_type(schema)?) {
            Some(function) => Ok(call(&function, vec![*inner])),
            None => Ok(Transformed::no(Expr::Negative(inner))),
        },
        Expr::Cast(Cast { expr, field }) => {
            let from = expr.get_type(schema)?;
            conversion(*expr, &from, field)
        }
        other => Ok(Transformed::no(other)),
    })
}

fn call(function: &Arc<ScalarUDF>, args: Vec<Expr>) -> Transformed<Expr> {
    Transformed::yes(Expr::ScalarFunction(ScalarFunction::new_udf(
        Arc::clone(function),
        args,
    )))
}

//! A decimal that meets a float becomes a float, as in PostgreSQL.
//!
//! `0.5` is a DECIMAL literal here. DataFusion would turn the float on the other
//! side into a DECIMAL(30,15): slow, not exact, and an error for 1e100. This rule
//! runs before DataFusion's type coercion and casts the decimal instead.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, ExprSchema, ScalarValue};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::expr::{Case, Cast, InList};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Between, Expr, ExprSchemable, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;

/// See the module.
#[derive(Debug)]
pub(super) struct FloatsWithDecimals;

impl AnalyzerRule for FloatsWithDecimals {
    fn name(&self) -> &'static str {
        "floats_with_decimals"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> DfResult<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(rewrite_plan)?.data)
    }
}

fn rewrite_plan(plan: LogicalPlan) -> DfResult<Transformed<LogicalPlan>> {
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

/// Casts decimals beside floats in one expression.
pub(super) fn rewrite(expr: Expr, schema: &dyn ExprSchema) -> DfResult<Transformed<Expr>> {
    expr.transform_up(|expr| match expr {
        Expr::BinaryExpr(mut binary) => {
            let mut sides = [&mut *binary.left, &mut *binary.right];
            let changed = unify(&mut sides, schema)?;
            Ok(Transformed::new_transformed(Expr::BinaryExpr(binary), changed))
        }
        Expr::Between(mut between) => {
            let Between { expr, low, high, .. } = &mut between;
            let changed = unify(&mut [&mut **expr, &mut **low, &mut **high], schema)?;
            Ok(Transformed::new_transformed(Expr::Between(between), changed))
        }
        Expr::InList(mut list) => {
            let InList { expr, list: items, .. } = &mut list;
            let mut all: Vec<&mut Expr> = std::iter::once(&mut **expr).chain(items).collect();
            let changed = unify(&mut all, schema)?;
            Ok(Transformed::new_transformed(Expr::InList(list), changed))
        }
        Expr::Case(mut case) => {
            let Case {
                when_then_expr,
                else_expr,
                ..
            } = &mut case;
            let results = when_then_expr.iter_mut().map(|(_, then)| &mut **then);
            let mut all: Vec<&mut Expr> = results.chain(else_expr.as_deref_mut()).collect();
            let changed = unify(&mut all, schema)?;
            Ok(Transformed::new_transformed(Expr::Case(case), changed))
        }
        other => Ok(Transformed::no(other)),
    })
}

/// The float nearest to a decimal literal; dividing digits by a power of ten would
/// round twice.
fn nearest(value: &ScalarValue) -> DfResult<ScalarValue> {
    let text = value.cast_to(&DataType::Utf8)?;
    let float = text.try_as_str().flatten().and_then(|digits| digits.parse().ok());
    match float {
        Some(float) => Ok(ScalarValue::Float64(Some(float))),
        None => value.cast_to(&DataType::Float64),
    }
}

/// Casts the decimals among `all` if there is a float; false if nothing changed.
fn unify(all: &mut [&mut Expr], schema: &dyn ExprSchema) -> DfResult<bool> {
    // What has no type yet is for the type coercion to report.
    let kinds: Vec<Option<DataType>> = all.iter().map(|e| e.get_type(schema).ok()).collect();
    let is_decimal = |kind: &Option<DataType>| kind.as_ref().is_some_and(DataType::is_decimal);
    let is_float = |kind: &Option<DataType>| kind.as_ref().is_some_and(DataType::is_floating);
    if !kinds.iter().any(is_float) || !kinds.iter().any(is_decimal) {
        return Ok(false);
    }
    for (expr, kind) in all.iter_mut().zip(&kinds) {
        if is_decimal(kind) {
            let decimal = std::mem::take(*expr);
            **expr = match decimal {
                Expr::Literal(value, metadata) => Expr::Literal(nearest(&value)?, metadata),
                other => Expr::Cast(Cast::new(Box::new(other), DataType::Float64)),
            };
        }
    }
    Ok(true)
}

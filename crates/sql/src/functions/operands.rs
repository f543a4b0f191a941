//! Operands of different types, brought together as in PostgreSQL.
//!
//! DataFusion's coercion, which runs after this rule, would
//!
//! - turn a float beside a DECIMAL (such as the literal `0.5`) into DECIMAL(30,15):
//!   slow, not exact, an error for 1e100; here the decimal becomes a float;
//! - turn microseconds beside nanoseconds (`now()`) or beside text into
//!   nanoseconds, which end in 2262; here the other becomes microseconds;
//! - compare a UUID or BYTEA with the bytes of a literal's text; here the literal is
//!   read as one.

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, ExprSchema, ScalarValue};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::expr::{Case, Cast, InList};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Between, Expr, ExprSchemable, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;

use super::any_expression;
use super::convert::read_literal;

/// See the module.
#[derive(Debug)]
pub(super) struct Operands;

impl AnalyzerRule for Operands {
    fn name(&self) -> &'static str {
        "postgres_operands"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> DfResult<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(rewrite_plan)?.data)
    }
}

fn rewrite_plan(plan: LogicalPlan) -> DfResult<Transformed<LogicalPlan>> {
    if !any_expression(&plan, has_operands)? {
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

/// Whether an expression has operands that are brought together here.
fn has_operands(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::BinaryExpr(_) | Expr::Between(_) | Expr::InList(_) | Expr::Case(_)
    )
}

/// Brings operands together in one expression.
pub(super) fn rewrite(expr: Expr, schema: &dyn ExprSchema) -> DfResult<Transformed<Expr>> {
    expr.transform_up(|expr| match expr {
        Expr::BinaryExpr(mut binary) => {
            let mut sides = [&mut *binary.left, &mut *binary.right];
            let changed = unify(&mut sides, schema)?;
            Ok(Transformed::new_transformed(
                Expr::BinaryExpr(binary),
                changed,
            ))
        }
        Expr::Between(mut between) => {
            let Between {
                expr, low, high, ..
            } = &mut between;
            let mut all = [&mut **expr, &mut **low, &mut **high];
            let changed = read_literals(&mut all, schema)? | unify(&mut all, schema)?;
            Ok(Transformed::new_transformed(
                Expr::Between(between),
                changed,
            ))
        }
        Expr::InList(mut list) => {
            let InList {
                expr, list: items, ..
            } = &mut list;
            let mut all: Vec<&mut Expr> = std::iter::once(&mut **expr).chain(items).collect();
            let changed = read_literals(&mut all, schema)? | unify(&mut all, schema)?;
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
    let float = text
        .try_as_str()
        .flatten()
        .and_then(|digits| digits.parse().ok());
    match float {
        Some(float) => Ok(ScalarValue::Float64(Some(float))),
        None => value.cast_to(&DataType::Float64),
    }
}

/// Brings all to one type where DataFusion would choose another; false if nothing
/// changed.
fn unify(all: &mut [&mut Expr], schema: &dyn ExprSchema) -> DfResult<bool> {
    // What has no type yet is for the type coercion to report.
    let kinds: Vec<Option<DataType>> = all.iter().map(|e| e.get_type(schema).ok()).collect();
    let has = |wanted: fn(&DataType) -> bool| kinds.iter().flatten().any(wanted);
    let micros = kinds.iter().flatten().find(|kind| is_micros(kind)).cloned();
    let mut changed = false;
    for (expr, kind) in all.iter_mut().zip(&kinds) {
        let Some(kind) = kind else { continue };
        let replaced = match (&**expr, &micros) {
            (Expr::Literal(value, _), _) if kind.is_decimal() && has(DataType::is_floating) => {
                Some(Expr::Literal(nearest(value)?, None))
            }
            (other, _) if kind.is_decimal() && has(DataType::is_floating) => {
                Some(cast_to(other.clone(), &DataType::Float64))
            }
            (other, Some(micros)) if is_nanos(kind) && zoned(kind) == zoned(micros) => {
                Some(cast_to(other.clone(), micros))
            }
            _ => None,
        };
        if let Some(replaced) = replaced {
            **expr = replaced;
            changed = true;
        }
    }
    Ok(changed)
}

/// Reads string literals as values of the type they are compared with.
fn read_literals(all: &mut [&mut Expr], schema: &dyn ExprSchema) -> DfResult<bool> {
    let kind = all
        .iter()
        .filter_map(|expr| expr.get_type(schema).ok())
        .find(|kind| !kind.is_null() && !kind.is_string());
    let Some(kind) = kind else { return Ok(false) };
    let mut changed = false;
    for expr in all {
        if let Some(read) = read_literal(expr, &kind)? {
            **expr = read;
            changed = true;
        }
    }
    Ok(changed)
}

fn is_micros(kind: &DataType) -> bool {
    matches!(kind, DataType::Timestamp(TimeUnit::Microsecond, _))
}

fn is_nanos(kind: &DataType) -> bool {
    matches!(kind, DataType::Timestamp(TimeUnit::Nanosecond, _))
}

/// Whether a timestamp has a zone.
fn zoned(kind: &DataType) -> bool {
    matches!(kind, DataType::Timestamp(_, Some(_)))
}

fn cast_to(expr: Expr, kind: &DataType) -> Expr {
    Expr::Cast(Cast::new(Box::new(expr), kind.clone()))
}

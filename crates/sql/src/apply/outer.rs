//! The outer columns of a sub-query.
//!
//! A name belongs to the innermost query that has it: of a sub-query within a sub-query only
//! those outer columns are free that the query around it does not have.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, ExprSchema};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, LogicalPlan, Subquery};
use datafusion::scalar::ScalarValue;

use super::{subquery_of, with_subquery};

/// The outer columns that a plan does not find in itself, each once.
///
/// # Errors
/// Those of walking it.
pub(super) fn free_columns(plan: &LogicalPlan) -> DfResult<Vec<Column>> {
    let mut found: Vec<Column> = Vec::new();
    let mut add = |column: &Column| {
        if !found.contains(column) {
            found.push(column.clone());
        }
    };
    plan.apply(|node| {
        let mut own = None;
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                if let Expr::OuterReferenceColumn(_, column) = expr {
                    add(column);
                } else if let Some((subquery, _)) = subquery_of(expr) {
                    let inner = free_columns(&subquery.subquery)?;
                    let own = own.get_or_insert_with(|| merge_schema(&node.inputs()));
                    let free = inner.iter().filter(|column| !own.has_column(column));
                    free.for_each(&mut add);
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(found)
}

/// Whether every node finds its columns in its inputs.
///
/// # Errors
/// Those of walking the plan.
pub(super) fn finds_columns(plan: &LogicalPlan) -> DfResult<bool> {
    let mut finds = true;
    plan.apply_with_subqueries(|node| {
        let own = match node {
            LogicalPlan::TableScan(scan) => {
                let columns = scan.source.schema();
                DFSchema::try_from_qualified_schema(scan.table_name.clone(), &columns)?
            }
            node => merge_schema(&node.inputs()),
        };
        node.apply_expressions(|expr| {
            let mut columns = expr.column_refs().into_iter();
            finds &= columns.all(|column| own.has_column(column));
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(finds)
}

/// The plan with values in the place of its outer columns.
///
/// # Errors
/// Those of rebuilding it.
pub(super) fn bound(
    plan: LogicalPlan,
    columns: &[Column],
    values: &[ScalarValue],
) -> DfResult<LogicalPlan> {
    let put = |node: LogicalPlan| {
        // What refers to columns beside it is planned as a sub-query, which no longer does.
        if let LogicalPlan::Subquery(beside) = &node
            && free_columns(&beside.subquery)?.is_empty()
        {
            return Ok(Transformed::yes(beside.subquery.as_ref().clone()));
        }
        let own = merge_schema(&node.inputs());
        let names = NamePreserver::new(&node);
        let node = node.map_expressions(|expr| {
            let name = names.save(&expr);
            let changed =
                expr.transform_up(|expr| bound_expression(expr, &own, (columns, values)))?;
            Ok(changed.update_data(|expr| name.restore(expr)))
        })?;
        match node.transformed {
            true => Ok(Transformed::yes(node.data.recompute_schema()?)),
            false => Ok(node),
        }
    };
    Ok(plan.transform_up(put)?.data)
}

fn bound_expression(
    expr: Expr,
    own: &DFSchema,
    (columns, values): (&[Column], &[ScalarValue]),
) -> DfResult<Transformed<Expr>> {
    if let Expr::OuterReferenceColumn(_, column) = &expr {
        let place = columns.iter().position(|known| known == column);
        return Ok(match place.and_then(|place| values.get(place)) {
            Some(value) => Transformed::yes(Expr::Literal(value.clone(), None)),
            None => Transformed::no(expr),
        });
    }
    let Some((subquery, _)) = subquery_of(&expr) else {
        return Ok(Transformed::no(expr));
    };
    // What the query around it has is not ours to replace.
    let pairs = columns.iter().zip(values);
    let pairs = pairs.filter(|(column, _)| !own.has_column(column));
    let (columns, values): (Vec<Column>, Vec<ScalarValue>) = pairs
        .map(|(column, value)| (column.clone(), value.clone()))
        .unzip();
    let plan = bound(subquery.subquery.as_ref().clone(), &columns, &values)?;
    let inner = Subquery {
        outer_ref_columns: plan.all_out_ref_exprs(),
        subquery: Arc::new(plan),
        spans: subquery.spans.clone(),
    };
    Ok(Transformed::yes(with_subquery(expr, inner)))
}

/// The expression for a sub-query of the relation that it is about.
///
/// # Errors
/// Those of names that the relation does not have.
pub(super) fn as_outer(expr: Expr, outer: &DFSchema) -> DfResult<Expr> {
    let changed = expr.transform_up(|expr| match expr {
        Expr::Column(column) => {
            let field = Arc::clone(outer.field_from_column(&column)?);
            Ok(Transformed::yes(Expr::OuterReferenceColumn(field, column)))
        }
        other => Ok(Transformed::no(other)),
    })?;
    Ok(changed.data)
}

//! Scalar sub-queries that are correlated by something else than equality.
//!
//! DataFusion turns `(SELECT count(*) FROM s WHERE s.k = t.k)` into a join, and
//! refuses `s.k < t.k`. This rule reduces the second form to the first (Neumann
//! and Kemper, "Unnesting Arbitrary Queries", 2015): the distinct values of the
//! outer columns become a relation of their own, the condition is evaluated
//! against that, and what remains is an equality with the outer row.
//!
//! ```text
//! (SELECT agg FROM s WHERE s.k < t.k)
//! (SELECT agg FROM s, (SELECT DISTINCT k AS c0 FROM t) d WHERE s.k < d.c0 AND d.c0 = t.k)
//! ```
//!
//! A sub-query that is no aggregate becomes one of its only value.
//!
//! Conditions on the outer row alone are taken out before (`outer_conditions`).
//!
//! An outer NULL finds no partner in the second form, so the condition must
//! refuse NULL in every outer column; otherwise the plan is left as it was.

use std::sync::Arc;

use datafusion::common::alias::AliasGenerator;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, TableReference};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{
    Aggregate, BinaryExpr, Expr, Filter, LogicalPlan, LogicalPlanBuilder, Operator, Subquery,
};
use datafusion::optimizer::AnalyzerRule;

use super::outer_conditions::taken_out;
use crate::functions::{any_expression, single_value, value_of_single};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Decorrelate {
    aliases: AliasGenerator,
}

impl AnalyzerRule for Decorrelate {
    fn name(&self) -> &'static str {
        "decorrelate_inequalities"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> DfResult<LogicalPlan> {
        let rewritten = plan.transform_up_with_subqueries(|plan| self.rewrite_node(plan))?;
        Ok(rewritten.data)
    }
}

impl Decorrelate {
    fn rewrite_node(&self, plan: LogicalPlan) -> DfResult<Transformed<LogicalPlan>> {
        let input = match &plan {
            LogicalPlan::Projection(node) => Arc::clone(&node.input),
            LogicalPlan::Filter(node) => Arc::clone(&node.input),
            _ => return Ok(Transformed::no(plan)),
        };
        if !any_expression(&plan, |expr| matches!(expr, Expr::ScalarSubquery(_)))? {
            return Ok(Transformed::no(plan));
        }
        let names = NamePreserver::new(&plan);
        plan.map_expressions(|expr| {
            let name = names.save(&expr);
            let changed = expr.transform_up(|expr| match expr {
                Expr::ScalarSubquery(subquery) if !subquery.outer_ref_columns.is_empty() => {
                    let taken = taken_out(&subquery, input.schema())?;
                    let left = taken.as_ref().map(|taken| taken.subquery.clone());
                    let (subquery, counted) = of_one_row(left.unwrap_or(subquery))?;
                    let rewritten = self.rewrite_subquery(&subquery, &input)?;
                    let value = Expr::ScalarSubquery(rewritten.unwrap_or(subquery));
                    let value = match counted {
                        true => value_of_single(value),
                        false => value,
                    };
                    Ok(Transformed::yes(match taken {
                        Some(taken) => taken.put(value)?,
                        None => value,
                    }))
                }
                other => Ok(Transformed::no(other)),
            })?;
            Ok(changed.update_data(|expr| name.restore(expr)))
        })
    }

    /// The sub-query with equalities only, or `None` if it is none of ours.
    fn rewrite_subquery(
        &self,
        subquery: &Subquery,
        outer: &Arc<LogicalPlan>,
    ) -> DfResult<Option<Subquery>> {
        let Some((filter, columns)) = candidate(&subquery.subquery)? else {
            return Ok(None);
        };
        let known = |column: &Column| outer.schema().has_column(column);
        if !columns.iter().all(known) || volatile(outer)? {
            return Ok(None);
        }
        let alias = TableReference::bare(self.aliases.next("__outer"));
        let inner_name = |place: usize| format!("c{place}");
        let keys = columns.iter().enumerate();
        let keys = keys.map(|(place, column)| Expr::from(column.clone()).alias(inner_name(place)));
        let domain = LogicalPlanBuilder::from(outer.as_ref().clone())
            .project(keys)?
            .distinct()?
            .alias(alias.clone())?
            .build()?;
        let key = |place: usize| Expr::from(Column::new(Some(alias.clone()), inner_name(place)));
        let condition = filter.predicate.clone().transform_up(|expr| match &expr {
            Expr::OuterReferenceColumn(_, column) => {
                let place = columns.iter().position(|known| known == column);
                Ok(place.map_or(Transformed::no(expr), |place| Transformed::yes(key(place))))
            }
            _ => Ok(Transformed::no(expr)),
        })?;
        let mut condition = condition.data;
        for (place, column) in columns.iter().enumerate() {
            let (_, field) = outer.schema().qualified_field_from_column(column)?;
            let outside = Expr::OuterReferenceColumn(Arc::clone(field), column.clone());
            condition = condition.and(key(place).eq(outside));
        }
        let joined = LogicalPlanBuilder::from(filter.input.as_ref().clone())
            .cross_join(domain)?
            .filter(condition)?
            .build()?;
        let plan = replace_filter(subquery.subquery.as_ref().clone(), joined)?;
        Ok(Some(Subquery {
            subquery: Arc::new(plan),
            ..subquery.clone()
        }))
    }
}

/// The sub-query as an aggregate, which DataFusion wants, and whether it was made one
/// of value and rows.
fn of_one_row(subquery: Subquery) -> DfResult<(Subquery, bool)> {
    let plan = subquery.subquery.as_ref();
    let columns = plan.schema().columns();
    let ([column], false) = (columns.as_slice(), plan.max_rows() == Some(1)) else {
        return Ok((subquery, false));
    };
    let value = single_value(Expr::from(column.clone()));
    let plan = LogicalPlanBuilder::from(plan.clone())
        .aggregate(Vec::<Expr>::new(), vec![value])?
        .build()?;
    let subquery = Subquery {
        subquery: Arc::new(plan),
        ..subquery
    };
    Ok((subquery, true))
}

/// The filter below a sub-query's ungrouped aggregate and its outer columns, if
/// nothing else refers to the outside and some condition is not an equality.
fn candidate(plan: &LogicalPlan) -> DfResult<Option<(&Filter, Vec<Column>)>> {
    let mut node = plan;
    let aggregate = loop {
        match node {
            LogicalPlan::Aggregate(aggregate) => break aggregate,
            LogicalPlan::Projection(inner) if !refers_outside(node)? => node = &inner.input,
            LogicalPlan::SubqueryAlias(inner) => node = &inner.input,
            _ => return Ok(None),
        }
    };
    let LogicalPlan::Filter(filter) = aggregate.input.as_ref() else {
        return Ok(None);
    };
    let inside = filter.input.exists(refers_outside)?;
    if !aggregate.group_expr.is_empty() || refers_outside(node)? || inside {
        return Ok(None);
    }
    let columns = outer_columns(&filter.predicate)?;
    let terms = split_conjunction(&filter.predicate);
    let refuses = |column: &Column| terms.iter().any(|term| refuses_null(term, column));
    if columns.iter().all(refuses) && !terms.iter().all(|term| joinable(term)) {
        return Ok(Some((filter, columns)));
    }
    Ok(None)
}

/// Whether DataFusion can pull the condition out of the sub-query itself.
fn joinable(term: &Expr) -> bool {
    let outer = |expr: &Expr| outer_columns(expr).is_ok_and(|columns| !columns.is_empty());
    match term {
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: Operator::Eq,
            right,
        }) => {
            let own = |expr: &Expr| !outer(expr);
            (outer(left) && own(right)) || (own(left) && outer(right)) || !outer(term)
        }
        other => !outer(other),
    }
}

/// Whether the term cannot be TRUE when the outer column is NULL: a comparison
/// of something strict in it.
fn refuses_null(term: &Expr, column: &Column) -> bool {
    match term {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            use Operator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
            matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq)
                && (strict(left, column) || strict(right, column))
        }
        Expr::Between(between) if !between.negated => {
            let parts = [&between.expr, &between.low, &between.high];
            parts.into_iter().any(|part| strict(part, column))
        }
        _ => false,
    }
}

/// Whether the expression is NULL whenever the outer column is.
fn strict(expr: &Expr, column: &Column) -> bool {
    match expr {
        Expr::OuterReferenceColumn(_, known) => known == column,
        Expr::Cast(cast) => strict(&cast.expr, column),
        Expr::Negative(inner) => strict(inner, column),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if op.is_numerical_operators() => {
            strict(left, column) || strict(right, column)
        }
        _ => false,
    }
}

fn outer_columns(expr: &Expr) -> DfResult<Vec<Column>> {
    let mut columns: Vec<Column> = Vec::new();
    expr.apply(|expr| {
        if let Expr::OuterReferenceColumn(_, column) = expr
            && !columns.contains(column)
        {
            columns.push(column.clone());
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(columns)
}

fn refers_outside(plan: &LogicalPlan) -> DfResult<bool> {
    any_expression(plan, |expr| matches!(expr, Expr::OuterReferenceColumn(..)))
}

/// Whether reading the relation twice could give different rows: random values,
/// a LIMIT that takes whichever rows come first, float sums in another order.
fn volatile(plan: &LogicalPlan) -> DfResult<bool> {
    plan.exists(|plan| match plan {
        LogicalPlan::Limit(_) | LogicalPlan::Aggregate(_) | LogicalPlan::Window(_) => Ok(true),
        _ => any_expression(plan, Expr::is_volatile),
    })
}

/// Puts `input` in the place of the filter below the aggregate.
fn replace_filter(plan: LogicalPlan, input: LogicalPlan) -> DfResult<LogicalPlan> {
    if let LogicalPlan::Aggregate(aggregate) = plan {
        let Aggregate {
            group_expr,
            aggr_expr,
            ..
        } = aggregate;
        return LogicalPlanBuilder::from(input)
            .aggregate(group_expr, aggr_expr)?
            .build();
    }
    let below = plan.inputs().into_iter().next().cloned();
    match below {
        Some(below) => {
            let replaced = replace_filter(below, input)?;
            plan.with_new_exprs(plan.expressions(), vec![replaced])
        }
        None => Ok(plan),
    }
}

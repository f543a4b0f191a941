//! Scalar sub-queries with conditions on the outer row alone.
//!
//! DataFusion makes a join of a sub-query's conditions, and leaves one as it was whose
//! conditions ask nothing of its own rows. Those are taken out:
//!
//! ```text
//! (SELECT x FROM s WHERE s.k = t.k AND t.flag)
//! CASE WHEN t.flag THEN (SELECT x FROM s WHERE s.k = t.k) END
//! (SELECT count(*) FROM s WHERE t.flag)
//! CASE WHEN t.flag THEN (SELECT count(*) FROM s) ELSE (SELECT count(*) FROM no rows) END
//! ```

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{EmptyRelation, Expr, Filter, LogicalPlan, Subquery, lit, when};

/// A sub-query without its conditions on the outer row.
pub(super) struct TakenOut {
    pub(super) subquery: Subquery,
    /// Those conditions, for the outer row.
    condition: Expr,
    /// What the sub-query is where they do not hold.
    otherwise: Expr,
}

impl TakenOut {
    /// What the sub-query with its conditions is, by what it is without.
    ///
    /// # Errors
    /// Those of building the expression.
    pub(super) fn put(&self, value: Expr) -> DfResult<Expr> {
        when(self.condition.clone(), value).otherwise(self.otherwise.clone())
    }
}

/// Takes conditions on the outer row alone out of a sub-query; `None` if it has none, or
/// they stand where that would change what it gives.
///
/// # Errors
/// Those of building plans.
pub(super) fn taken_out(subquery: &Subquery, outer: &DFSchema) -> DfResult<Option<TakenOut>> {
    let plan = subquery.subquery.as_ref();
    let Some(split) = split(plan, outer)? else {
        return Ok(None);
    };
    let of = |plan: LogicalPlan| Subquery {
        outer_ref_columns: plan.all_out_ref_exprs(),
        subquery: Arc::new(plan),
        spans: subquery.spans.clone(),
    };
    let otherwise = match split.counts {
        true => {
            let none = of(split.without_rows);
            if !none.outer_ref_columns.is_empty() {
                return Ok(None);
            }
            Expr::ScalarSubquery(none)
        }
        false => match plan.schema().fields().first() {
            Some(field) => lit(ScalarValue::try_from(field.data_type())?),
            None => return Ok(None),
        },
    };
    Ok(Some(TakenOut {
        subquery: of(split.rest),
        condition: split.condition,
        otherwise,
    }))
}

struct Split {
    condition: Expr,
    /// The plan without the condition, and what it is if that does not hold.
    rest: LogicalPlan,
    without_rows: LogicalPlan,
    /// Whether it gives a row of no rows.
    counts: bool,
}

fn split(plan: &LogicalPlan, outer: &DFSchema) -> DfResult<Option<Split>> {
    match plan {
        LogicalPlan::Filter(filter) => {
            let terms = split_conjunction(&filter.predicate);
            let (outside, inside): (Vec<&Expr>, Vec<&Expr>) =
                terms.into_iter().partition(|term| is_outside(term, outer));
            let outside = outside.into_iter().cloned().map(of_outer_row);
            let outside = outside.collect::<DfResult<Vec<Expr>>>()?;
            let Some(condition) = conjunction(outside) else {
                return through(plan, outer);
            };
            let input = Arc::clone(&filter.input);
            let schema = Arc::clone(input.schema());
            let rest = match conjunction(inside.into_iter().cloned()) {
                Some(predicate) => LogicalPlan::Filter(Filter::try_new(predicate, input)?),
                None => Arc::unwrap_or_clone(input),
            };
            let without_rows = LogicalPlan::EmptyRelation(EmptyRelation {
                produce_one_row: false,
                schema,
            });
            Ok(Some(Split {
                condition,
                rest,
                without_rows,
                counts: false,
            }))
        }
        LogicalPlan::Projection(_)
        | LogicalPlan::SubqueryAlias(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::Limit(_)
        | LogicalPlan::Distinct(_)
        | LogicalPlan::Window(_)
        | LogicalPlan::Aggregate(_) => through(plan, outer),
        _ => Ok(None),
    }
}

/// Of a node that gives no rows of no rows, or one row if it is a group of all.
fn through(plan: &LogicalPlan, outer: &DFSchema) -> DfResult<Option<Split>> {
    let inputs = plan.inputs();
    let [input] = inputs.as_slice() else {
        return Ok(None);
    };
    let Some(below) = split(input, outer)? else {
        return Ok(None);
    };
    let over = |input| plan.with_new_exprs(plan.expressions(), vec![input]);
    let of_all = matches!(plan, LogicalPlan::Aggregate(node) if node.group_expr.is_empty());
    Ok(Some(Split {
        condition: below.condition,
        rest: over(below.rest)?,
        without_rows: over(below.without_rows)?,
        counts: below.counts || of_all,
    }))
}

/// Whether a condition asks something of the outer row, and of nothing else.
fn is_outside(term: &Expr, outer: &DFSchema) -> bool {
    let (mut asks, mut alone) = (false, !term.is_volatile());
    let walked = term.apply(|expr| {
        match expr {
            Expr::OuterReferenceColumn(_, column) => {
                asks = true;
                alone &= outer.has_column(column);
            }
            Expr::Column(_) | Expr::ScalarSubquery(_) | Expr::Exists(_) | Expr::InSubquery(_) => {
                alone = false;
            }
            _ => {}
        }
        Ok(TreeNodeRecursion::Continue)
    });
    asks && alone && walked.is_ok()
}

/// The condition for the outer row itself.
fn of_outer_row(term: Expr) -> DfResult<Expr> {
    let changed = term.transform_up(|expr| match expr {
        Expr::OuterReferenceColumn(_, column) => Ok(Transformed::yes(Expr::Column(column))),
        other => Ok(Transformed::no(other)),
    })?;
    Ok(changed.data)
}

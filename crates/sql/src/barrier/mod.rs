//! What a view hides stays hidden from the expressions of its readers.
//!
//! A reader's condition that is computed before the view's own sees rows that the view leaves
//! out, and tells of them by failing: `WHERE 1 / (salary - 100) > 0`. For readers who could not
//! read what is under a view, its plan stands under a *barrier*, which no rule moves a condition
//! through:
//!
//! ```text
//! Filter: 1 / (salary - 100) > 0
//!   Barrier
//!     Filter: department = 'sales'
//!       staff
//! ```
//!
//! But for those that storage can test on a table's own columns: they fail for no row, and find
//! rows by indexes and zones as without a view. PostgreSQL does the same for views with
//! `security_barrier` and operators that are leakproof.

mod exec;
mod node;

use std::sync::Arc;

use datafusion::catalog::default_table_source::source_as_provider;
use datafusion::common::Column;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Extension, Filter, LogicalPlan, TableScan};
use datafusion::optimizer::optimizer::{ApplyOrder, Optimizer};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use self::node::BarrierNode;
use crate::scan::StoredTable;

pub(crate) use exec::Barriers;

/// What the rule is called.
pub(crate) const THROUGH: &str = "through_barriers";

/// The plan of a view under a barrier, unless it leaves out no rows.
pub(crate) fn barred(plan: LogicalPlan) -> LogicalPlan {
    match hides_rows(&plan) {
        true => over(plan),
        false => plan,
    }
}

/// What is under a node, if that is a barrier.
pub(crate) fn under(plan: &LogicalPlan) -> Option<&LogicalPlan> {
    let LogicalPlan::Extension(extension) = plan else {
        return None;
    };
    let barrier = extension.node.as_any().downcast_ref::<BarrierNode>();
    barrier.map(BarrierNode::input)
}

/// Adds the rule to others.
pub(crate) fn install(optimizer: &mut Optimizer) {
    optimizer.rules.push(Arc::new(ThroughBarriers));
}

fn over(plan: LogicalPlan) -> LogicalPlan {
    LogicalPlan::Extension(Extension {
        node: Arc::new(BarrierNode::new(plan)),
    })
}

fn hides_rows(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::TableScan(scan) => !scan.filters.is_empty() || scan.fetch.is_some(),
        LogicalPlan::Projection(projection) => hides_rows(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => hides_rows(&alias.input),
        LogicalPlan::Sort(sort) if sort.fetch.is_none() => hides_rows(&sort.input),
        _ => true,
    }
}

/// Moves conditions that cannot fail through barriers.
#[derive(Debug)]
struct ThroughBarriers;

impl OptimizerRule for ThroughBarriers {
    fn name(&self) -> &str {
        THROUGH
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _: &dyn OptimizerConfig,
    ) -> DfResult<Transformed<LogicalPlan>> {
        let LogicalPlan::Filter(filter) = plan else {
            return Ok(Transformed::no(plan));
        };
        let Some(input) = under(&filter.input) else {
            return Ok(Transformed::no(LogicalPlan::Filter(filter)));
        };
        let terms = split_conjunction_owned(filter.predicate.clone());
        let (through, above): (Vec<Expr>, Vec<Expr>) =
            terms.into_iter().partition(|term| never_fails(term, input));
        let Some(through) = conjunction(through) else {
            return Ok(Transformed::no(LogicalPlan::Filter(filter)));
        };
        let below = over(filtered(through, input.clone())?);
        Ok(Transformed::yes(match conjunction(above) {
            Some(above) => filtered(above, below)?,
            None => below,
        }))
    }
}

fn filtered(condition: Expr, input: LogicalPlan) -> DfResult<LogicalPlan> {
    Ok(LogicalPlan::Filter(Filter::try_new(
        condition,
        Arc::new(input),
    )?))
}

/// Whether storage can test a condition, on columns of one table as they are.
fn never_fails(condition: &Expr, input: &LogicalPlan) -> bool {
    let mut table: Option<&TableScan> = None;
    let mut one = true;
    let traced = condition.clone().transform_up(|expr| {
        let Expr::Column(column) = &expr else {
            return Ok(Transformed::no(expr));
        };
        let Some((scan, column)) = origin(input, column) else {
            one = false;
            return Ok(Transformed::no(expr));
        };
        one &= table
            .replace(scan)
            .is_none_or(|known| std::ptr::eq(known, scan));
        Ok(Transformed::yes(Expr::Column(column)))
    });
    let (Some(scan), Ok(traced), true) = (table, traced, one) else {
        return false;
    };
    let Ok(provider) = source_as_provider(&scan.source) else {
        return false;
    };
    let stored = provider.downcast_ref::<StoredTable>();
    stored.is_some_and(|stored| stored.predicate_of(&[traced.data]).is_some())
}

/// The scan and its column that a column is, if nothing is computed between them.
fn origin<'a>(plan: &'a LogicalPlan, column: &Column) -> Option<(&'a TableScan, Column)> {
    match plan {
        LogicalPlan::TableScan(scan) => Some((scan, column.clone())),
        LogicalPlan::Projection(projection) => {
            let place = projection.schema.maybe_index_of_column(column)?;
            match projection.expr.get(place)?.clone().unalias_nested().data {
                Expr::Column(column) => origin(&projection.input, &column),
                _ => None,
            }
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let place = alias.schema.maybe_index_of_column(column)?;
            let column = Column::from(alias.input.schema().qualified_field(place));
            origin(&alias.input, &column)
        }
        LogicalPlan::Filter(filter) => origin(&filter.input, column),
        LogicalPlan::Sort(sort) if sort.fetch.is_none() => origin(&sort.input, column),
        LogicalPlan::Join(join) => {
            let sides = [&join.left, &join.right].into_iter();
            let mut sides = sides.filter(|side| side.schema().has_column(column));
            origin(sides.next()?, column)
        }
        other => origin(under(other)?, column),
    }
}

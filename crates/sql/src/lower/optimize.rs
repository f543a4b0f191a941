//! Which of DataFusion's rules run over plans of the front.
//!
//! Types are complete, so that none of the analyzer's rules run. Of the optimizer's, those for
//! sub-queries have nothing to do. `push_down_filter` moves a condition that reads no column
//! below an aggregate without keys, which has a row whatever there is below it; there such
//! conditions are kept away from it.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::error::Result as DfResult;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::optimizer::{ApplyOrder, Optimizer};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use crate::plan::joins_apart::{APART, KEYS_AGAIN};
use crate::plan::optimize::{OnePass, Parts};

/// Rules that have nothing to do, or would change what a plan means.
const LEFT_OUT: [&str; 6] = [
    "rewrite_set_comparison",
    "unions_to_filter",
    "decorrelate_predicate_subquery",
    "scalar_subquery_to_join",
    "decorrelate_lateral_join",
    "filter_null_join_keys",
];

/// Rules that come again after those that make work for them: conditions that went down to joins
/// become their keys at last.
const AGAIN: [&str; 6] = [
    APART,
    "eliminate_cross_join",
    "push_down_filter",
    "extract_equijoin_predicate",
    KEYS_AGAIN,
    "optimize_projections",
];

/// The plan, optimised.
///
/// # Errors
/// Those of the rules.
pub(crate) fn optimize(plan: LogicalPlan, state: &SessionState) -> DfResult<LogicalPlan> {
    let mut rules: Vec<Arc<dyn OptimizerRule + Send + Sync>> = Vec::new();
    let all = state.optimizers();
    // `None` for plans with nodes of which it is not known what concerns them.
    let parts = Parts::of(&plan)?;
    let concern = |name: &str| parts.as_ref().is_none_or(|parts| parts.concern(name));
    let guarded = |rule: &Arc<dyn OptimizerRule + Send + Sync>| match rule.name() {
        // It is for every plan.
        "push_down_filter" => Some(Arc::new(Filters(Arc::clone(rule))) as _),
        name if LEFT_OUT.contains(&name) || !concern(name) => None,
        _ => Some(Arc::clone(rule)),
    };
    rules.extend(all.iter().filter_map(guarded));
    if parts
        .as_ref()
        .is_none_or(|parts| parts.makes_work() || parts.has_joins())
    {
        let named = |name: &&str| all.iter().find(|rule| rule.name() == *name);
        rules.extend(AGAIN.iter().filter_map(named).filter_map(guarded));
    }
    Optimizer::with_rules(rules).optimize(plan, &OnePass::of(state), |_, _| {})
}

/// DataFusion's `push_down_filter`, kept from what it does wrong.
#[derive(Debug)]
struct Filters(Arc<dyn OptimizerRule + Send + Sync>);

impl OptimizerRule for Filters {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> DfResult<Transformed<LogicalPlan>> {
        if let LogicalPlan::Filter(filter) = &plan
            && ends_in_one_row(&filter.input)
        {
            return Ok(Transformed::no(plan));
        }
        self.0.rewrite(plan, config)
    }
}

/// Whether a plan is an aggregate without keys, under projections.
fn ends_in_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::Projection(projection) => ends_in_one_row(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => ends_in_one_row(&alias.input),
        LogicalPlan::Filter(filter) => ends_in_one_row(&filter.input),
        _ => false,
    }
}

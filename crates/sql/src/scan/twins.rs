//! DataFusion's push-down of filters between operators, kept from plans that it gets wrong.
//!
//! It finds the columns of a filter in an operator's input by their names. Where two columns of
//! a join have one name, a filter on the second becomes one on the first:
//!
//! ```text
//! FilterExec: i IS NULL        (of r)
//!   HashJoinExec: l ⟕ r        l.i, r.i
//!     FilterExec: l.n > 1      would become l.n > 1 AND l.i IS NULL
//! ```
//!
//! Conditions have gone down before, in the logical plan. Plans with such a join do without.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::config::ConfigOptions;
use datafusion::error::Result as DfResult;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::ExecutionPlan;

/// Keeps the rules that find columns by their names from plans with twins.
pub(crate) fn guard(optimizer: &mut PhysicalOptimizer) {
    for rule in &mut optimizer.rules {
        if rule.name().starts_with("FilterPushdown") {
            *rule = Arc::new(WithoutTwins(Arc::clone(rule)));
        }
    }
}

/// A rule for plans whose operators have no two columns of one name.
#[derive(Debug)]
struct WithoutTwins(Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl PhysicalOptimizerRule for WithoutTwins {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        options: &ConfigOptions,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        match has_twins(&plan) {
            true => Ok(plan),
            false => self.0.optimize(plan, options),
        }
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}

/// Whether an operator with inputs has two columns of one name.
fn has_twins(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let mut open = vec![plan];
    while let Some(plan) = open.pop() {
        let inputs = plan.children();
        if inputs.is_empty() {
            continue;
        }
        let schema = plan.schema();
        let mut seen = HashSet::new();
        if !schema
            .fields()
            .iter()
            .all(|field| seen.insert(field.name()))
        {
            return true;
        }
        open.extend(inputs);
    }
    false
}

//! Constants on the side of an outer join whose rows may be missing.
//!
//! DataFusion knows columns that are one constant in all rows, and drops them from orders. It
//! goes on to do so above an outer join, where such a column is NULL in rows without a partner:
//!
//! ```text
//! SortExec: c DESC            would be dropped: c is 1
//!   HashJoinExec: l ⟕ r       c is 1 or NULL
//!     …
//!     ProjectionExec: 1 AS c
//! ```
//!
//! The parts of a union may have different constants in a column. Each is dropped from the order
//! in which that part keeps its first rows; but the parts tell each other the last of these, and
//! then leave out rows that equal it but for that column.
//!
//! Such a side, and such a part, gets an operator that passes its rows on and tells of no constants.

use std::sync::Arc;

use datafusion::common::JoinType;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::config::ConfigOptions;
use datafusion::error::Result as DfResult;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

use crate::engine::{Pass, over};

/// Hides constants below outer joins and unions. It comes before rules that use orders.
#[derive(Debug)]
pub(super) struct HideConstants;

impl PhysicalOptimizerRule for HideConstants {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            let hides: &[bool] = match kind_of(plan.as_ref()) {
                Some(JoinType::Left) => &[false, true],
                Some(JoinType::Right) => &[true, false],
                Some(JoinType::Full) => &[true, true],
                _ if plan.is::<UnionExec>() => &[true],
                _ => return Ok(Transformed::no(plan)),
            };
            let mut changed = false;
            let mut sides = Vec::with_capacity(2);
            for (side, hidden) in plan.children().into_iter().zip(hides.iter().cycle()) {
                let has_constants = !side.equivalence_properties().constants().is_empty();
                sides.push(match *hidden && has_constants {
                    true => over(Pass::Padded, Arc::clone(side)),
                    false => Arc::clone(side),
                });
                changed |= *hidden && has_constants;
            }
            match changed {
                true => replace_children_if_necessary(plan, sides).map(Transformed::yes),
                false => Ok(Transformed::no(plan)),
            }
        })
        .data()
    }

    fn name(&self) -> &str {
        "freestone_hide_constants"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The kind of a join.
fn kind_of(plan: &dyn ExecutionPlan) -> Option<JoinType> {
    if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        return Some(*join.join_type());
    }
    if let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>() {
        return Some(*join.join_type());
    }
    plan.downcast_ref::<SortMergeJoinExec>()
        .map(SortMergeJoinExec::join_type)
}

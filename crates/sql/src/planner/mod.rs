//! Physical plans: DataFusion's, with ours in them.
//!
//! A statement that `lower` could build for the bulk engine as a whole is one node of ours and
//! needs no planning. In other plans `lower` has put nodes of ours in the place of all parts that the bulk
//! engine runs, which DataFusion's planner takes for leaves; the rest is DataFusion's.
//!
//! ```text
//! FETCH FIRST 3 ROWS WITH TIES                 an operator of `lower`
//!   ORDER BY                                     DataFusion's sort
//!     GROUP BY over a join                         one node of ours
//! ```
//!
//! `nodes` plans our nodes, `padded` hides constants from DataFusion's rules, and `setup` has the
//! state that sessions start with. Operators of `lower` plan inner queries by the planner of their
//! session, which is this one. `SET freestone.engine = 'datafusion'` turns all of it off.

mod nodes;
mod padded;
mod setup;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result as DfResult;
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};

use self::nodes::{Barriers, Pipelines};
use self::padded::HideConstants;
use crate::engine::PipelineNode;
use crate::error::Error;
use crate::interrupt::Requests;
use crate::lower::{Operators, optimize};

pub(crate) use setup::{limited, template};

/// See the module.
#[derive(Debug)]
struct Planner;

#[async_trait]
impl QueryPlanner for Planner {
    async fn create_physical_plan(
        &self,
        plan: &LogicalPlan,
        session: &dyn Session,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        // Our operators need none of the rules for DataFusion's.
        if let Some(node) = PipelineNode::of(plan) {
            return Ok(node.exec());
        }
        let state = session.as_any().downcast_ref::<SessionState>();
        let state = state.ok_or_else(|| Error::internal("a session without a state"))?;
        // Rules walk plans and expressions, which may be deep, by recursion.
        let optimized = || {
            let deep = freestone_frontend::stack::left() < SMALL || is_deep(plan);
            let work = || optimize(plan.clone(), state);
            match deep {
                true => freestone_frontend::stack::on_great_stack(work),
                false => work(),
            }
        };
        let plan = match state.config().get_extension::<Requests>() {
            Some(requests) => requests.planning(optimized)?,
            None => optimized()?,
        };
        match physical(&plan, state).await {
            Err(error) if error.to_string().contains(ORDER_LOST) => {
                let rules = state.physical_optimizers().iter();
                let rules = rules.filter(|rule| rule.name() != CHECK).cloned();
                let mut one = SessionStateBuilder::new_from_existing(state.clone())
                    .with_physical_optimizer_rules(rules.collect())
                    .build();
                one.config_mut().options_mut().execution.target_partitions = 1;
                physical(&plan, &one).await
            }
            planned => planned,
        }
    }
}

/// The physical plan of an optimised one that has nodes of ours.
async fn physical(plan: &LogicalPlan, state: &SessionState) -> DfResult<Arc<dyn ExecutionPlan>> {
    // A node of ours at the top needs none of the rules for DataFusion's operators.
    if let Some(node) = PipelineNode::of(plan) {
        return Ok(node.exec());
    }
    let planner = DefaultPhysicalPlanner::with_extension_planners(vec![
        Arc::new(Pipelines),
        Arc::new(Barriers),
        Arc::new(Operators),
    ]);
    planner.create_physical_plan(plan, state).await
}

/// The error of DataFusion's check of its own plans where it has lost what made an order hold,
/// such as a constant, or does not know it, such as that of a comparison of CASE. Rows of one
/// stream need no order to be merged, and operators that need one have a sort below them.
const ORDER_LOST: &str = "does not satisfy order requirements";
/// The name of that check.
const CHECK: &str = "SanityCheckPlan";

/// Levels of plans and expressions that rules walk over on a small stack.
const FLAT: usize = 60;
/// Bytes of a small stack.
const SMALL: usize = if cfg!(debug_assertions) {
    16 << 20
} else {
    1 << 20
};

/// Whether a plan, or an expression in it, is deep; counted without recursion.
fn is_deep(plan: &LogicalPlan) -> bool {
    let mut plans = vec![(plan, 0_usize)];
    while let Some((plan, level)) = plans.pop() {
        let mut deep = level > FLAT;
        let walked = plan.apply_expressions(|expr| {
            deep |= is_deep_expression(expr);
            Ok(match deep {
                true => TreeNodeRecursion::Stop,
                false => TreeNodeRecursion::Continue,
            })
        });
        if deep || walked.is_err() {
            return true;
        }
        let inputs = plan.inputs().into_iter();
        plans.extend(inputs.map(|input| (input, level + 1)));
    }
    false
}

fn is_deep_expression(expr: &Expr) -> bool {
    let mut open = vec![(expr, 0_usize)];
    while let Some((expr, level)) = open.pop() {
        if level > FLAT {
            return true;
        }
        let walked = expr.apply_children(|child| {
            open.push((child, level + 1));
            Ok(TreeNodeRecursion::Continue)
        });
        if walked.is_err() {
            return true;
        }
    }
    false
}

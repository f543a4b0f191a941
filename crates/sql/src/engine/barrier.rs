//! The barrier in physical plans: without it, DataFusion's filters would be made one there.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};

use super::pass::{Pass, over};
use crate::barrier::BarrierNode;
use crate::error::Error;

/// Plans barriers.
pub(super) struct Barriers;

#[async_trait]
impl ExtensionPlanner for Barriers {
    async fn plan_extension(
        &self,
        _: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        physical: &[Arc<dyn ExecutionPlan>],
        _: &dyn Session,
        _: &PhysicalPlanningContext,
    ) -> DfResult<Option<Arc<dyn ExecutionPlan>>> {
        if !node.as_any().is::<BarrierNode>() {
            return Ok(None);
        }
        let input = physical.first();
        let input = input.ok_or_else(|| Error::internal("a barrier without an input"))?;
        Ok(Some(over(Pass::Barrier, Arc::clone(input))))
    }
}

//! Our nodes of logical plans as nodes of physical plans.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};

use crate::barrier::BarrierNode;
use crate::engine::{Pass, PipelineNode, over};
use crate::error::Error;

/// Plans parts that the bulk engine does.
pub(super) struct Pipelines;

#[async_trait]
impl ExtensionPlanner for Pipelines {
    async fn plan_extension(
        &self,
        _: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        _: &[Arc<dyn ExecutionPlan>],
        _: &dyn Session,
        _: &PhysicalPlanningContext,
    ) -> DfResult<Option<Arc<dyn ExecutionPlan>>> {
        let Some(node) = node.as_any().downcast_ref::<PipelineNode>() else {
            return Ok(None);
        };
        Ok(Some(node.exec()))
    }
}

/// Plans barriers: without them, DataFusion would make one filter of those on both sides.
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

//! Operators that pass the rows of their input on.
//!
//! Some change what rules know of the rows, and some how they come. All have the partitions,
//! the order and the number of their input's rows, and no expressions.

use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result as DfResult;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{CardinalityEffect, ReplaceChildrenOptions};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
};

use super::yielding;
use crate::error::Error;

/// The purpose of such an operator.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Pass {
    /// No condition moves through it.
    Barrier,
    /// No column is known to be a constant.
    Padded,
    /// It lets others run, and looks whether the statement is to end.
    Yielding,
}

/// An input's rows, passed on.
pub(crate) fn over(pass: Pass, input: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    let known = input.properties();
    let properties = match pass {
        Pass::Barrier | Pass::Yielding => Arc::clone(known),
        Pass::Padded => {
            let orders = known.equivalence_properties().oeq_class().iter().cloned();
            Arc::new(PlanProperties::new(
                EquivalenceProperties::new_with_orderings(input.schema(), orders),
                input.output_partitioning().clone(),
                known.emission_type,
                known.boundedness,
            ))
        }
    };
    Arc::new(PassExec {
        pass,
        input,
        properties,
    })
}

#[derive(Debug)]
struct PassExec {
    pass: Pass,
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl PassExec {
    fn with(&self, inputs: Vec<Arc<dyn ExecutionPlan>>) -> DfResult<Arc<dyn ExecutionPlan>> {
        let input = inputs.into_iter().next();
        let input = input.ok_or_else(|| Error::internal("an operator without its input"))?;
        Ok(over(self.pass, input))
    }
}

impl DisplayAs for PassExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ExecutionPlan for PassExec {
    fn name(&self) -> &'static str {
        match self.pass {
            Pass::Barrier => "BarrierExec",
            Pass::Padded => "PaddedExec",
            Pass::Yielding => "YieldingExec",
        }
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        self.with(children)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        self.with(children)
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> DfResult<SendableRecordBatchStream> {
        let rows = self.input.execute(partition, Arc::clone(&context))?;
        Ok(match self.pass {
            Pass::Barrier | Pass::Padded => rows,
            Pass::Yielding => yielding::stream(rows, &context),
        })
    }
}

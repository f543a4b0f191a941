//! The barrier in logical plans.

use std::fmt;

use datafusion::common::DFSchemaRef;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNodeCore};

use crate::error::Error;

/// Gives the rows of its input. By default no condition on a column passes such a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Hash)]
pub(crate) struct BarrierNode {
    input: LogicalPlan,
}

impl BarrierNode {
    pub(super) fn new(input: LogicalPlan) -> Self {
        Self { input }
    }

    pub(super) fn input(&self) -> &LogicalPlan {
        &self.input
    }
}

impl UserDefinedLogicalNodeCore for BarrierNode {
    fn name(&self) -> &'static str {
        "Barrier"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Barrier")
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, inputs: Vec<LogicalPlan>) -> DfResult<Self> {
        let input = inputs.into_iter().next();
        let input = input.ok_or_else(|| Error::internal("a barrier without an input"))?;
        Ok(Self { input })
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        Some(vec![output_columns.to_vec()])
    }
}

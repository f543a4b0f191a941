//! Runs sub-queries for the rows of an input.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, RecordBatch, new_empty_array};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::Session;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result as DfResult;
use datafusion::execution::session_state::SessionState;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{
    Boundedness, EmissionType, ReplaceChildrenOptions, apply_expression_roots,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
    execute_stream,
};
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};
use datafusion::scalar::ScalarValue;
use futures::{StreamExt, stream};

use super::node::{ApplyNode, Gives, listed};
use super::outer::bound;
use crate::engine::planned;
use crate::error::Error;
use crate::functions::several;

/// Results that are remembered for rows to come; then all are forgotten.
const REMEMBERED: usize = 65_536;

/// Plans apply.
pub(crate) struct Applies;

#[async_trait]
impl ExtensionPlanner for Applies {
    async fn plan_extension(
        &self,
        planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        logical: &[&LogicalPlan],
        physical: &[Arc<dyn ExecutionPlan>],
        session: &dyn Session,
        context: &PhysicalPlanningContext,
    ) -> DfResult<Option<Arc<dyn ExecutionPlan>>> {
        let Some(node) = node.as_any().downcast_ref::<ApplyNode>() else {
            return Ok(None);
        };
        let ([logical], [input]) = (logical, physical) else {
            return Err(Error::internal("apply has one input").into());
        };
        let state = session.as_any().downcast_ref::<SessionState>();
        let state = state.ok_or_else(|| Error::internal("a session without a state"))?;
        let key = |expr| planner.create_physical_expr(expr, logical.schema(), session, context);
        let keys = node.keys.iter().map(key).collect::<DfResult<Vec<_>>>()?;
        let schema = Arc::clone(UserDefinedLogicalNode::schema(node).inner());
        Ok(Some(Arc::new(ApplyExec {
            properties: properties(&schema, input),
            input: Arc::clone(input),
            keys,
            node: node.clone(),
            state: Arc::new(state.clone()),
            schema,
        })))
    }
}

/// Rows come as those of the input do.
fn properties(schema: &SchemaRef, input: &Arc<dyn ExecutionPlan>) -> Arc<PlanProperties> {
    Arc::new(PlanProperties::new(
        EquivalenceProperties::new(Arc::clone(schema)),
        input.output_partitioning().clone(),
        EmissionType::Incremental,
        Boundedness::Bounded,
    ))
}

#[derive(Clone)]
struct ApplyExec {
    input: Arc<dyn ExecutionPlan>,
    keys: Vec<Arc<dyn PhysicalExpr>>,
    node: ApplyNode,
    state: Arc<SessionState>,
    properties: Arc<PlanProperties>,
    schema: SchemaRef,
}

impl ApplyExec {
    fn over(&self, children: Vec<Arc<dyn ExecutionPlan>>) -> DfResult<Self> {
        let Some(input) = children.into_iter().next() else {
            return Err(Error::internal("apply has one input").into());
        };
        Ok(Self {
            properties: properties(&self.schema, &input),
            input,
            ..self.clone()
        })
    }
}

impl fmt::Debug for ApplyExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApplyExec")
            .field("node", &self.node)
            .finish_non_exhaustive()
    }
}

impl DisplayAs for ApplyExec {
    fn fmt_as(&self, kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApplyExec")?;
        if matches!(kind, DisplayFormatType::TreeRender) {
            return Ok(());
        }
        write!(f, ": keys=[{}]", listed(&self.keys))
    }
}

impl ExecutionPlan for ApplyExec {
    fn name(&self) -> &'static str {
        "ApplyExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(self.over(children)?))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(self.over(children)?))
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        apply_expression_roots(&self.keys, visit)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> DfResult<SendableRecordBatchStream> {
        let input = self.input.execute(partition, Arc::clone(&context))?;
        let rows = Rows {
            plan: self.clone(),
            context,
            known: HashMap::new(),
        };
        let batches = stream::unfold((input, rows), |(mut input, mut rows)| async move {
            let batch = input.next().await?;
            let batch = match batch {
                Ok(batch) => rows.with_results(&batch).await,
                Err(error) => Err(error),
            };
            Some((batch, (input, rows)))
        });
        let schema = Arc::clone(&self.schema);
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }
}

/// The rows of one partition.
struct Rows {
    plan: ApplyExec,
    context: Arc<TaskContext>,
    known: HashMap<Vec<ScalarValue>, ScalarValue>,
}

impl Rows {
    async fn with_results(&mut self, batch: &RecordBatch) -> DfResult<RecordBatch> {
        let arrays = self.plan.keys.iter().map(|key| {
            let value = key.evaluate(batch)?;
            value.into_array(batch.num_rows())
        });
        let arrays = arrays.collect::<DfResult<Vec<ArrayRef>>>()?;
        let mut results = Vec::with_capacity(batch.num_rows());
        for row in 0..batch.num_rows() {
            let values = arrays
                .iter()
                .map(|array| ScalarValue::try_from_array(array, row));
            let values = values.collect::<DfResult<Vec<_>>>()?;
            results.push(self.result(values).await?);
        }
        let last = self.plan.schema.fields().len() - 1;
        let kind = self.plan.schema.field(last).data_type();
        let mut columns = batch.columns().to_vec();
        columns.push(match results.is_empty() {
            true => new_empty_array(kind),
            false => ScalarValue::iter_to_array(results)?,
        });
        Ok(RecordBatch::try_new(
            Arc::clone(&self.plan.schema),
            columns,
        )?)
    }

    async fn result(&mut self, values: Vec<ScalarValue>) -> DfResult<ScalarValue> {
        if let Some(known) = self.known.get(&values) {
            return Ok(known.clone());
        }
        // Planning alone may take a batch's worth of time without a wait.
        tokio::task::yield_now().await;
        let result = self.run(&values).await?;
        if !self.plan.node.lasting {
            return Ok(result);
        }
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        self.known.insert(values, result.clone());
        Ok(result)
    }

    /// Runs the sub-query for one row.
    async fn run(&self, values: &[ScalarValue]) -> DfResult<ScalarValue> {
        let (node, state) = (&self.plan.node, &self.plan.state);
        let plan = bound(node.subquery.as_ref().clone(), &node.columns, values)?;
        let physical = planned(&plan, state).await?;
        let mut stream = execute_stream(physical, Arc::clone(&self.context))?;
        let mut value: Option<ScalarValue> = None;
        while let Some(batch) = stream.next().await {
            let batch = batch?;
            if batch.num_rows() == 0 {
                continue;
            }
            match node.gives {
                Gives::Whether => return Ok(ScalarValue::from(true)),
                Gives::Value if value.is_some() || batch.num_rows() > 1 => {
                    return Err(several().into());
                }
                Gives::Value => {
                    value = Some(ScalarValue::try_from_array(batch.column(0), 0)?);
                }
            }
        }
        let last = self.plan.schema.fields().len() - 1;
        let kind = self.plan.schema.field(last).data_type();
        match (node.gives, value) {
            (Gives::Whether, _) => Ok(ScalarValue::from(false)),
            (Gives::Value, Some(value)) => value.cast_to(kind),
            (Gives::Value, None) => ScalarValue::try_from(kind),
        }
    }
}

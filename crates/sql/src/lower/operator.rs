//! Operators of ours in DataFusion's plans.
//!
//! An [`Operator`] turns the rows of its inputs, each one stream, into rows of its own. It knows
//! its inputs' columns by position: the node of the logical plan tells DataFusion that it needs
//! all of them, and no condition goes through it.
//!
//! ```text
//! GeneralAggregate                     gives keys and results
//!   Projection: keys, arguments …      has just the columns that the operator reads
//! ```

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::Session;
use datafusion::common::DFSchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result as DfResult;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::session_state::SessionState;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{
    Expr, Extension, LogicalPlan, UserDefinedLogicalNode, UserDefinedLogicalNodeCore,
};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{
    Distribution, EquivalenceProperties, LexOrdering, OrderingRequirements, PhysicalExpr,
    PhysicalSortExpr,
};
use datafusion::physical_plan::execution_plan::{
    Boundedness, EmissionType, ReplaceChildrenOptions,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning,
    PlanProperties,
};
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};
use freestone_exec::Plan;
use futures::{Stream, StreamExt};

use crate::error::Error;
use crate::values::buffers::{Counted, concatenated};

/// A key of the order in which an operator wants its input: a column's place and a direction.
pub(super) type Key = (usize, SortOptions);

/// What an operator of ours does.
pub(super) trait Operator: fmt::Debug + Send + Sync + 'static {
    /// Its name, as plans are explained.
    fn name(&self) -> &'static str;

    /// What is to be said of it besides its name.
    fn describe(&self) -> String {
        String::new()
    }

    /// The plan of the bulk engine that it is, over its inputs.
    fn bulk(&self) -> Option<&Arc<Plan>> {
        None
    }

    /// Whether all that it reads are its inputs' rows, so that it gives the same whenever it runs
    /// on the same rows.
    fn is_lasting(&self) -> bool {
        true
    }

    /// The order in which it wants the rows of an input.
    fn order(&self, _input: usize) -> Vec<Key> {
        Vec::new()
    }

    /// Begins a run over the inputs' rows.
    ///
    /// # Errors
    /// Those of beginning it.
    fn run(&self, inputs: Vec<SendableRecordBatchStream>, run: Run) -> DfResult<Batches>;
}

/// Rows of an operator.
pub(super) type Batches = std::pin::Pin<Box<dyn Stream<Item = DfResult<RecordBatch>> + Send>>;

/// What an operator knows of a run.
#[derive(Clone)]
pub(super) struct Run {
    /// Columns of its result.
    pub(super) schema: SchemaRef,
    /// Memory, settings.
    pub(super) context: Arc<TaskContext>,
    /// The session, for operators that plan something.
    pub(super) state: Arc<SessionState>,
    name: &'static str,
}

impl Run {
    /// Memory to be counted.
    pub(super) fn memory(&self) -> MemoryReservation {
        MemoryConsumer::new(self.name).register(self.context.memory_pool())
    }

    /// A batch of the result.
    pub(super) fn batch(&self, columns: Vec<ArrayRef>, rows: usize) -> DfResult<RecordBatch> {
        batch(&self.schema, columns, rows)
    }
}

/// A batch, also one without columns.
pub(super) fn batch(
    schema: &SchemaRef,
    columns: Vec<ArrayRef>,
    rows: usize,
) -> DfResult<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let schema = Arc::clone(schema);
    Ok(RecordBatch::try_new_with_options(
        schema, columns, &options,
    )?)
}

/// All rows of a stream.
///
/// # Errors
/// Those of the stream; `53200` without memory.
pub(super) async fn collected(
    mut input: SendableRecordBatchStream,
    memory: &MemoryReservation,
) -> DfResult<Vec<RecordBatch>> {
    let (mut batches, mut counted) = (Vec::new(), Counted::default());
    while let Some(batch) = input.next().await {
        let batch = batch?;
        memory.try_grow(counted.bytes(&batch))?;
        if batch.num_rows() > 0 {
            batches.push(batch);
        }
    }
    Ok(batches)
}

/// All rows of a stream as one batch.
///
/// # Errors
/// Those of the stream; `53200` without memory.
pub(super) async fn whole(
    input: SendableRecordBatchStream,
    memory: &MemoryReservation,
) -> DfResult<RecordBatch> {
    let schema = input.schema();
    let batches = collected(input, memory).await?;
    if let [only] = batches.as_slice() {
        return Ok(only.clone());
    }
    let rows = batches.iter().map(RecordBatch::num_rows).sum();
    if schema.fields().is_empty() {
        return batch(&schema, Vec::new(), rows);
    }
    let mut counted = Counted::default();
    let bytes = batches.iter().map(|batch| counted.bytes(batch)).sum();
    memory.try_grow(bytes)?;
    let all = concatenated(&schema, &batches)?;
    drop(batches);
    memory.shrink(bytes.min(memory.size()));
    Ok(all)
}

/// The node of an operator in logical plans.
#[derive(Clone)]
struct Node {
    operator: Arc<dyn Operator>,
    inputs: Vec<LogicalPlan>,
    /// Columns of the inputs when the node was made: rules give a column to one without any.
    widths: Vec<usize>,
    schema: DFSchemaRef,
}

/// A plan of an operator over inputs.
pub(super) fn over(
    operator: impl Operator,
    inputs: Vec<LogicalPlan>,
    schema: DFSchemaRef,
) -> LogicalPlan {
    let widths = inputs.iter().map(|input| input.schema().fields().len());
    let node = Node {
        operator: Arc::new(operator),
        widths: widths.collect(),
        inputs,
        schema,
    };
    LogicalPlan::Extension(Extension {
        node: Arc::new(node),
    })
}

/// The plan of the bulk engine that a node is, over its inputs, if it is one.
pub(crate) fn bulk_node(plan: &LogicalPlan) -> Option<&Arc<Plan>> {
    let LogicalPlan::Extension(extension) = plan else {
        return None;
    };
    extension
        .node
        .as_any()
        .downcast_ref::<Node>()?
        .operator
        .bulk()
}

/// As [`bulk_node`], of a physical plan.
pub(crate) fn bulk_over_inputs(plan: &Arc<dyn ExecutionPlan>) -> Option<&Arc<Plan>> {
    plan.downcast_ref::<OperatorExec>()?.operator.bulk()
}

/// Whether a node is an operator that gives the same whenever it runs on the same rows.
pub(crate) fn is_lasting_operator(plan: &LogicalPlan) -> bool {
    let LogicalPlan::Extension(extension) = plan else {
        return false;
    };
    let node = extension.node.as_any().downcast_ref::<Node>();
    node.is_some_and(|node| node.operator.is_lasting())
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.operator.name())
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.operator, &other.operator) && self.inputs == other.inputs
    }
}

impl Eq for Node {}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.operator.name().hash(state);
        self.inputs.hash(state);
    }
}

impl UserDefinedLogicalNodeCore for Node {
    fn name(&self) -> &'static str {
        self.operator.name()
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        self.inputs.iter().collect()
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.operator.as_ref())
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, inputs: Vec<LogicalPlan>) -> DfResult<Self> {
        Ok(Self {
            inputs,
            ..self.clone()
        })
    }

    fn necessary_children_exprs(&self, _: &[usize]) -> Option<Vec<Vec<usize>>> {
        let all = |input: &LogicalPlan| (0..input.schema().fields().len()).collect();
        Some(self.inputs.iter().map(all).collect())
    }
}

fn write(f: &mut fmt::Formatter<'_>, operator: &dyn Operator) -> fmt::Result {
    f.write_str(operator.name())?;
    match operator.describe().as_str() {
        "" => Ok(()),
        // The operators of a plan have lines of their own.
        about if about.starts_with('\n') => f.write_str(about),
        about => write!(f, ": {about}"),
    }
}

/// Plans operators of ours.
pub(crate) struct Operators;

#[async_trait]
impl ExtensionPlanner for Operators {
    async fn plan_extension(
        &self,
        _: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        physical: &[Arc<dyn ExecutionPlan>],
        session: &dyn Session,
        _: &PhysicalPlanningContext,
    ) -> DfResult<Option<Arc<dyn ExecutionPlan>>> {
        let Some(node) = node.as_any().downcast_ref::<Node>() else {
            return Ok(None);
        };
        let state = session.as_any().downcast_ref::<SessionState>();
        let state = state.ok_or_else(|| Error::internal("a session without a state"))?;
        let schema = Arc::clone(node.schema.inner());
        Ok(Some(Arc::new(OperatorExec {
            operator: Arc::clone(&node.operator),
            found: physical
                .iter()
                .map(|input| input.output_ordering().cloned())
                .collect(),
            inputs: physical.to_vec(),
            widths: node.widths.clone(),
            properties: Arc::new(PlanProperties::new(
                EquivalenceProperties::new(Arc::clone(&schema)),
                Partitioning::UnknownPartitioning(1),
                EmissionType::Incremental,
                Boundedness::Bounded,
            )),
            state: Arc::new(state.clone()),
            schema,
        })))
    }
}

/// An operator of ours in physical plans.
#[derive(Clone)]
struct OperatorExec {
    operator: Arc<dyn Operator>,
    inputs: Vec<Arc<dyn ExecutionPlan>>,
    widths: Vec<usize>,
    /// The orders in which the inputs came when the plan was made.
    found: Vec<Option<LexOrdering>>,
    state: Arc<SessionState>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl fmt::Debug for OperatorExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.operator.name())
            .field("inputs", &self.inputs)
            .finish_non_exhaustive()
    }
}

impl DisplayAs for OperatorExec {
    fn fmt_as(&self, kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match kind {
            DisplayFormatType::TreeRender => f.write_str(&self.operator.describe()),
            _ => write(f, self.operator.as_ref()),
        }
    }
}

impl OperatorExec {
    fn over(&self, inputs: Vec<Arc<dyn ExecutionPlan>>) -> Arc<dyn ExecutionPlan> {
        Arc::new(Self {
            inputs,
            ..self.clone()
        })
    }
}

impl ExecutionPlan for OperatorExec {
    fn name(&self) -> &str {
        self.operator.name()
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inputs.iter().collect()
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![Distribution::SinglePartition; self.inputs.len()]
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        let inputs = self.inputs.iter().enumerate();
        let order = inputs.map(|(at, input)| {
            let schema = input.schema();
            let keys = self.operator.order(at).into_iter();
            let keys = keys.map(|(place, options)| {
                let name = schema.field(place).name();
                PhysicalSortExpr::new(Arc::new(Column::new(name, place)), options)
            });
            // Rows are read in the order in which they come, which nothing below may change.
            let order = LexOrdering::new(keys).or_else(|| self.found.get(at).cloned().flatten());
            order.map(OrderingRequirements::from)
        });
        order.collect()
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false; self.inputs.len()]
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        Ok(self.over(children))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        Ok(self.over(children))
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, _: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let inputs = self.inputs.iter();
        let inputs = inputs.zip(&self.widths).map(|(input, width)| {
            let stream = input.execute(0, Arc::clone(&context))?;
            Ok(match width {
                0 => without_columns(stream),
                _ => stream,
            })
        });
        let inputs = inputs.collect::<DfResult<Vec<_>>>()?;
        let run = Run {
            schema: Arc::clone(&self.schema),
            context: Arc::clone(&context),
            state: Arc::clone(&self.state),
            name: self.operator.name(),
        };
        let batches = self.operator.run(inputs, run)?;
        let schema = Arc::clone(&self.schema);
        let rows = Box::pin(RecordBatchStreamAdapter::new(schema, batches));
        Ok(crate::engine::yielding(rows, &context))
    }
}

/// The rows of a stream without their columns.
fn without_columns(stream: SendableRecordBatchStream) -> SendableRecordBatchStream {
    let schema: SchemaRef = Arc::new(datafusion::arrow::datatypes::Schema::empty());
    let of = Arc::clone(&schema);
    let stream = stream.map(move |rows| batch(&of, Vec::new(), rows?.num_rows()));
    Box::pin(RecordBatchStreamAdapter::new(schema, stream))
}

/// Rows that are known only after some work, as parts.
pub(super) fn later<F, I>(work: F) -> Batches
where
    F: Future<Output = DfResult<I>> + Send + 'static,
    I: Iterator<Item = DfResult<RecordBatch>> + Send + 'static,
{
    let parts = futures::stream::once(work).map(|parts| match parts {
        Ok(parts) => futures::stream::iter(parts).left_stream(),
        Err(error) => futures::stream::iter([Err(error)]).right_stream(),
    });
    Box::pin(parts.flatten())
}

//! The node of ours in DataFusion's plans.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::DFSchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion::execution::session_state::SessionState;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{
    Boundedness, EmissionType, ReplaceChildrenOptions,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
};
use freestone_exec::expression::Expression;
use freestone_exec::vector::Batch;
use freestone_exec::{Feed, Node, Plan, Run, Space};
use freestone_storage::Snapshot;

use super::converted::places;
use super::expression::{Columns, Scope};
use crate::error::{Error, panicked};
use crate::interrupt::Requests;
use crate::memory::Broker;
use crate::progress::Progress;

/// Batches that wait for whoever reads them.
const WAITING: usize = 8;

/// A query of tables that have fewer rows is short.
const FEW: u64 = 20_000;

/// A part of a logical plan that our operators do.
#[derive(Clone, Debug)]
pub(crate) struct PipelineNode {
    plan: Arc<Plan>,
    schema: DFSchemaRef,
    /// Requests to end the statement.
    requests: Arc<Requests>,
}

impl PipelineNode {
    pub(crate) fn new(plan: Plan, schema: DFSchemaRef, requests: Arc<Requests>) -> Self {
        Self {
            plan: Arc::new(plan),
            schema,
            requests,
        }
    }

    /// The node with values computed of its columns, if our operators can do that.
    pub(crate) fn projected(&self, exprs: &[Expr], schema: &DFSchemaRef) -> Option<LogicalPlan> {
        let places = places(self.plan.types.len());
        let scope = Scope {
            columns: Columns::Schema(&self.schema, &places),
            requests: &self.requests,
        };
        let expressions = exprs.iter().map(|expr| scope.expr(expr));
        let expressions = expressions.collect::<Option<Vec<_>>>()?;
        let fields = schema.fields().iter();
        let types: Vec<_> = fields.map(|field| field.data_type().clone()).collect();
        let plan = Plan::clone(&self.plan);
        let columns = expressions.iter().enumerate();
        let mut columns = columns.map(|(at, one)| matches!(one, Expression::Column(c) if *c == at));
        let plan = match columns.all(|same| same) && types == plan.types {
            true => plan,
            false => {
                let rows = plan.estimate;
                Plan::new(Node::Project(Box::new(plan), expressions), types, rows)
            }
        };
        let node = Self::new(plan, Arc::clone(schema), Arc::clone(&self.requests));
        Some(LogicalPlan::Extension(Extension {
            node: Arc::new(node),
        }))
    }

    /// The node that a plan is, if it is one of ours.
    pub(crate) fn of(plan: &LogicalPlan) -> Option<&PipelineNode> {
        match plan {
            LogicalPlan::Extension(extension) => extension.node.as_any().downcast_ref(),
            _ => None,
        }
    }

    /// The plan that our operators run.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The node of a physical plan that runs it.
    pub(crate) fn exec(&self) -> Arc<dyn ExecutionPlan> {
        let schema: SchemaRef = Arc::clone(self.schema.inner());
        Arc::new(PipelineExec {
            plan: Arc::clone(&self.plan),
            properties: Arc::new(PlanProperties::new(
                EquivalenceProperties::new(Arc::clone(&schema)),
                Partitioning::UnknownPartitioning(1),
                EmissionType::Incremental,
                Boundedness::Bounded,
            )),
            schema,
        })
    }
}

impl PartialEq for PipelineNode {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.plan, &other.plan)
    }
}

impl Eq for PipelineNode {}

impl PartialOrd for PipelineNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl Hash for PipelineNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.plan).hash(state);
    }
}

impl UserDefinedLogicalNodeCore for PipelineNode {
    fn name(&self) -> &str {
        "FreestonePipelines"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        Vec::new()
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FreestonePipelines")
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, _: Vec<LogicalPlan>) -> DfResult<Self> {
        Ok(self.clone())
    }
}

/// The physical plan of a logical one, by the planner that the session has.
///
/// # Errors
/// Errors of the planner.
pub(crate) async fn planned(
    plan: &LogicalPlan,
    state: &SessionState,
) -> DfResult<Arc<dyn ExecutionPlan>> {
    let planner = state.query_planner();
    planner.create_physical_plan(plan, state).await
}

/// The plan of our operators in a node of a physical plan, if it is theirs.
pub(crate) fn pipelines(plan: &Arc<dyn ExecutionPlan>) -> Option<&Arc<Plan>> {
    Some(&plan.downcast_ref::<PipelineExec>()?.plan)
}

/// The part of a physical plan that our operators do.
#[derive(Debug)]
struct PipelineExec {
    plan: Arc<Plan>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl DisplayAs for PipelineExec {
    fn fmt_as(&self, kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FreestonePipelines")?;
        if matches!(kind, DisplayFormatType::TreeRender) {
            return Ok(());
        }
        super::explain::write(&self.plan, f)
    }
}

impl ExecutionPlan for PipelineExec {
    fn name(&self) -> &'static str {
        "FreestonePipelines"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn replace_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn with_new_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, _: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let (plan, schema) = (Arc::clone(&self.plan), Arc::clone(&self.schema));
        stream(plan, schema, &context, Vec::new())
    }
}

/// The rows of a plan of ours, which reads some feeds, as a stream.
///
/// # Errors
/// If there is no thread for it.
pub(crate) fn stream(
    plan: Arc<Plan>,
    schema: SchemaRef,
    context: &TaskContext,
    feeds: Vec<Arc<dyn Feed>>,
) -> DfResult<SendableRecordBatchStream> {
    let of = Arc::clone(&schema);
    let config = context.session_config();
    let (threads, batch_rows) = (config.target_partitions(), config.batch_size());
    let progress = config.get_extension::<Progress>();
    let memory = config.get_extension::<Broker>();
    let moment = config.get_extension::<Snapshot>();
    let memory = memory.ok_or_else(|| Error::internal("a database without memory"))?;
    let (sender, receiver) = tokio::sync::mpsc::channel::<DfResult<RecordBatch>>(WAITING);
    let read = plan.tables().into_iter();
    let read = read.map(|read| read.table.rows_in_blocks() + read.table.delta().rows());
    let is_short = read.sum::<u64>() < FEW;
    let stop = Arc::new(AtomicBool::new(false));
    let guard = Stop(Arc::clone(&stop));
    let work = move || {
        let watch = |scan: &Arc<freestone_storage::Scan>| {
            if let Some(progress) = &progress {
                progress.watch(scan);
            }
        };
        let run = Run {
            threads,
            batch_rows,
            stop: &stop,
            watch: &watch,
            space: Space::new(memory),
            feeds,
            moment: moment.as_deref().cloned(),
        };
        let out = |batch: Batch| {
            let batch = record(&batch, &plan, &schema)?;
            let sent = sender.blocking_send(Ok(batch));
            sent.map_err(|_| freestone_exec::Error::Cancelled)
        };
        let outcome =
            std::panic::catch_unwind(AssertUnwindSafe(|| freestone_exec::run(&plan, &run, &out)));
        let error = match outcome {
            Ok(Ok(()) | Err(freestone_exec::Error::Cancelled)) => return,
            Ok(Err(error)) => translated(error),
            Err(panic) => panicked(panic.as_ref()).into(),
        };
        let _ = sender.blocking_send(Err(error));
    };
    // A statement may be run where there is no pool of threads that may block.
    freestone_exec::begin(is_short, work)?;
    let stream = futures::stream::unfold((receiver, guard), |(mut receiver, guard)| async {
        receiver.recv().await.map(|item| (item, (receiver, guard)))
    });
    Ok(Box::pin(RecordBatchStreamAdapter::new(of, stream)))
}

/// Stops the work when nobody reads any more.
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

fn record(batch: &Batch, plan: &Plan, schema: &SchemaRef) -> freestone_exec::Result<RecordBatch> {
    let columns = batch.columns.iter().zip(&plan.types);
    let columns = columns.map(|(column, kind)| column.to_arrow(kind));
    let columns = columns.collect::<freestone_exec::Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.rows));
    Ok(RecordBatch::try_new_with_options(
        Arc::clone(schema),
        columns,
        &options,
    )?)
}

/// An error of an operator as one of ours.
pub(crate) fn error_of(error: freestone_exec::Error) -> Error {
    Error::from(translated(error))
}

/// An error of an operator as DataFusion carries it.
fn translated(error: freestone_exec::Error) -> DataFusionError {
    match error {
        freestone_exec::Error::Storage(error) => Error::from_shared(&error).into(),
        // One of ours in it is found, however deep it lies.
        freestone_exec::Error::Other(error) => {
            Error::from(DataFusionError::External(Box::new(error))).into()
        }
        freestone_exec::Error::OutOfRange(kind) => {
            Error::new("22003", format!("{kind} out of range")).into()
        }
        error @ freestone_exec::Error::NotPositive(function) => {
            let sqlstate = match function {
                "ntile" => "22014",
                _ => "22016",
            };
            Error::new(sqlstate, error.to_string()).into()
        }
        error @ freestone_exec::Error::SeveralRows => Error::new("21000", error.to_string()).into(),
        error @ freestone_exec::Error::OutOfMemory { .. } => {
            let hint = "Raise memory_limit, or let fewer queries run at once.";
            Error::new("53200", error.to_string())
                .with_hint(hint.to_owned())
                .into()
        }
        freestone_exec::Error::Spill(cause) => {
            let full = cause.kind() == std::io::ErrorKind::StorageFull;
            let sqlstate = if full { "53100" } else { "58030" };
            let message = format!("cannot set rows aside for want of memory: {cause}");
            Error::new(sqlstate, message).into()
        }
        freestone_exec::Error::Internal(message) => Error::internal(message).into(),
        freestone_exec::Error::Cancelled => Error::new("57014", "the query was cancelled").into(),
    }
}

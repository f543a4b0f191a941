//! Plans that are ready to run.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Field, FieldRef, Schema, SchemaRef};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::Expr;
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
use freestone_exec::{Node, Plan, Run, Space};
use freestone_storage::Snapshot;

use super::converted::table;
use super::expression::{Found, Scope};
use crate::error::{Error, Result, panicked};
use crate::interrupt::Requests;
use crate::memory::Broker;
use crate::progress::Progress;
use crate::scan::StoredTable;

/// Batches that wait for whoever reads them.
const WAITING: usize = 8;

/// A query of tables that have fewer rows is short.
const FEW: u64 = 20_000;

/// A plan of our operators, and the columns of its result.
#[derive(Clone, Debug)]
pub(crate) struct Pipelines {
    plan: Arc<Plan>,
    schema: SchemaRef,
    /// Requests to end the statement.
    requests: Arc<Requests>,
}

impl Pipelines {
    /// A plan with as many fields as it has columns.
    pub(crate) fn new(plan: Plan, fields: Vec<FieldRef>, requests: Arc<Requests>) -> Self {
        Self {
            plan: Arc::new(plan),
            schema: Arc::new(Schema::new(fields)),
            requests,
        }
    }

    /// Values computed of its columns, under some fields.
    ///
    /// # Errors
    /// Errors of making programs of the expressions.
    pub(crate) fn projected(&self, items: Vec<(Expr, FieldRef)>) -> Result<Self> {
        let found = self.found();
        let scope = Scope {
            columns: &found,
            requests: &self.requests,
        };
        let (mut expressions, mut fields) = (Vec::new(), Vec::new());
        for (expr, field) in items {
            expressions.push(scope.expr(&expr)?);
            fields.push(field);
        }
        let types: Vec<_> = fields
            .iter()
            .map(|field| field.data_type().clone())
            .collect();
        let mut columns = expressions.iter().enumerate();
        let same = columns.all(|(at, one)| matches!(one, Expression::Column(c) if *c == at));
        let plan = match same && types == self.plan.types {
            true => Arc::clone(&self.plan),
            false => {
                let input = Box::new(Plan::clone(&self.plan));
                let rows = input.estimate;
                Arc::new(Plan::new(Node::Project(input, expressions), types, rows))
            }
        };
        Ok(Self {
            plan,
            schema: Arc::new(Schema::new(fields)),
            requests: Arc::clone(&self.requests),
        })
    }

    /// Its columns, by their names.
    fn found(&self) -> Found {
        let fields = self.schema.fields().iter().enumerate();
        let fields = fields.map(|(at, field)| (field.name().clone(), (at, Arc::clone(field))));
        fields.collect()
    }

    /// Its columns under other names.
    pub(crate) fn named(&self, names: &[String]) -> Self {
        let fields = self.schema.fields().iter().zip(names);
        let fields = fields.map(|(field, name)| Field::clone(field).with_name(name));
        Self {
            schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())),
            ..self.clone()
        }
    }

    /// The columns of its result.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The plan that our operators run.
    pub(crate) fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The node that runs it.
    pub(crate) fn exec(&self) -> Arc<dyn ExecutionPlan> {
        let schema = Arc::clone(&self.schema);
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

/// All rows of a table.
///
/// # Errors
/// `XX001` for statistics that cannot be read.
pub(crate) fn whole(stored: &StoredTable, requests: Arc<Requests>) -> Result<Pipelines> {
    let schema = stored.schema();
    let all = (0..schema.fields().len()).collect();
    let rows = table(stored, (all, false), None, false)?;
    let fields = schema.fields().iter().cloned().collect();
    Ok(Pipelines::new(rows.plan, fields, requests))
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
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&super::explain::explained(&self.plan))
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
        stream(plan, schema, &context)
    }
}

/// The rows of a plan as a stream.
///
/// # Errors
/// If there is no thread for it.
fn stream(
    plan: Arc<Plan>,
    schema: SchemaRef,
    context: &TaskContext,
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
    let is_short = read.sum::<u64>() < FEW && !plan.may_be_many();
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

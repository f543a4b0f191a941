//! Plans that are ready to run.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, FieldRef, Schema, SchemaRef};
use freestone_exec::expression::Expression;
use freestone_exec::vector::Batch;
use freestone_exec::{Around, Node, Plan, Run, Space, surrounded};
use freestone_storage::Snapshot;
use futures::{StreamExt, TryStreamExt};

use super::converted::table;
use super::expression::{Found, Scope};
use crate::error::{Error, Result, panicked};
use crate::expression::Expr;
use crate::interrupt::Requests;
use crate::memory::Broker;
use crate::outcome::RowStream;
use crate::progress::Progress;
use crate::scan::StoredTable;
use crate::state::SessionState;

/// Batches that wait for whoever reads them.
const WAITING: usize = 8;

/// A query of tables that have fewer rows is short.
const FEW: u64 = 20_000;

/// A plan of our operators, and the columns of its result.
#[derive(Clone, Debug)]
pub(crate) struct Pipelines {
    plan: Arc<Plan>,
    schema: SchemaRef,
}

impl Pipelines {
    /// A plan with as many fields as it has columns.
    pub(crate) fn new(plan: Plan, fields: Vec<FieldRef>) -> Self {
        Self {
            plan: Arc::new(plan),
            schema: Arc::new(Schema::new(fields)),
        }
    }

    /// Values computed of its columns, under some fields.
    ///
    /// # Errors
    /// Errors of making programs of the expressions.
    pub(crate) fn projected(&self, items: Vec<(Expr, FieldRef)>) -> Result<Self> {
        let found = self.found();
        let scope = Scope::over(&found);
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
            plan: Arc::clone(&self.plan),
            schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())),
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

    /// Its rows, as they are computed.
    ///
    /// # Errors
    /// If there is no thread for it.
    pub(crate) fn stream(&self, context: &RunContext) -> Result<RowStream> {
        stream(Arc::clone(&self.plan), Arc::clone(&self.schema), context)
    }

    /// All of its rows.
    ///
    /// # Errors
    /// Errors of the plan.
    pub(crate) async fn collect(&self, context: &RunContext) -> Result<Vec<RecordBatch>> {
        self.stream(context)?.try_collect().await
    }
}

/// The surroundings in which a plan runs.
#[derive(Clone)]
pub(crate) struct RunContext {
    /// Threads of the statement.
    pub(crate) threads: usize,
    /// Rows of a batch between operators.
    pub(crate) batch_rows: usize,
    /// Where scans are told of.
    pub(crate) progress: Option<Arc<Progress>>,
    pub(crate) memory: Arc<Broker>,
    /// Requests to end the statement.
    pub(crate) requests: Arc<Requests>,
    /// The moment that scans see, if that is another than the plan's.
    pub(crate) moment: Option<Snapshot>,
}

impl RunContext {
    /// The surroundings of statements with a state.
    pub(crate) fn of(state: &SessionState) -> Self {
        let options = state.options();
        Self {
            threads: options.threads,
            batch_rows: options.batch_rows,
            progress: state.get(),
            memory: Arc::clone(state.memory()),
            requests: state.get().unwrap_or_default(),
            moment: None,
        }
    }
}

/// All rows of a table.
///
/// # Errors
/// `XX001` for statistics that cannot be read.
pub(crate) fn whole(stored: &StoredTable) -> Result<Pipelines> {
    let schema = stored.schema();
    let all = (0..schema.fields().len()).collect();
    let rows = table(stored, (all, false), None, false)?;
    let fields = schema.fields().iter().cloned().collect();
    Ok(Pipelines::new(rows.plan, fields))
}

/// The rows of a plan as a stream.
///
/// # Errors
/// If there is no thread for it.
fn stream(plan: Arc<Plan>, schema: SchemaRef, context: &RunContext) -> Result<RowStream> {
    let RunContext {
        threads,
        batch_rows,
        progress,
        memory,
        requests,
        moment,
    } = context.clone();
    let (sender, receiver) = tokio::sync::mpsc::channel::<Result<RecordBatch>>(WAITING);
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
            moment: moment.clone(),
        };
        let out = |batch: Batch| {
            let batch = record(&batch, &plan, &schema)?;
            let sent = sender.blocking_send(Ok(batch));
            sent.map_err(|_| freestone_exec::Error::Cancelled)
        };
        // A plan may be run for many sessions: whose statement it is, its threads are told.
        let around: Around = Arc::new(move |work| requests.watched(work));
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| {
            surrounded(around, || freestone_exec::run(&plan, &run, &out))
        }));
        let error = match outcome {
            Ok(Ok(()) | Err(freestone_exec::Error::Cancelled)) => return,
            Ok(Err(error)) => error.into(),
            Err(panic) => panicked(panic.as_ref()),
        };
        let _ = sender.blocking_send(Err(error));
    };
    // A statement may be run where there is no pool of threads that may block.
    let begun = freestone_exec::begin(is_short, work);
    begun.map_err(|error| Error::new("53000", format!("there is no thread for it: {error}")))?;
    let stream = futures::stream::unfold((receiver, guard), |(mut receiver, guard)| async {
        receiver.recv().await.map(|item| (item, (receiver, guard)))
    });
    // A cursor asks again at the end.
    Ok(stream.fuse().boxed())
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

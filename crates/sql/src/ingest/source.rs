//! Where rows come from: streams with one schema, each read on its own.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::{RecordBatchReceiverStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::streaming::PartitionStream;
use futures::StreamExt;
use parking_lot::Mutex;

use crate::error::{Error, Result};

/// Streams that are read side by side.
pub(crate) type Streams = Vec<Arc<dyn PartitionStream>>;

type Change = dyn Fn(RecordBatch) -> Result<RecordBatch> + Send + Sync;

/// Batches between a reading thread and its writer.
const AHEAD: usize = 2;

/// The rows of a plan, which some streams share: each takes the next batch when it is ready for
/// it, and changes it by `change`.
pub(crate) fn plan_streams(
    plan: Arc<dyn ExecutionPlan>,
    streams: usize,
    schema: SchemaRef,
    change: impl Fn(RecordBatch) -> Result<RecordBatch> + Send + Sync + 'static,
) -> Streams {
    let change: Arc<Change> = Arc::new(change);
    let shared = Arc::new(SharedRows {
        plan,
        rows: tokio::sync::Mutex::new(Rows::Waiting),
    });
    let part = || {
        Arc::new(PlanPart {
            shared: Arc::clone(&shared),
            schema: Arc::clone(&schema),
            change: Arc::clone(&change),
        }) as Arc<dyn PartitionStream>
    };
    (0..streams.max(1)).map(|_| part()).collect()
}

/// The rows of a plan, which begins to run when the first is asked for.
struct SharedRows {
    plan: Arc<dyn ExecutionPlan>,
    rows: tokio::sync::Mutex<Rows>,
}

enum Rows {
    Waiting,
    Open(SendableRecordBatchStream),
    Ended,
}

impl SharedRows {
    async fn next(&self, context: &Arc<TaskContext>) -> Option<DfResult<RecordBatch>> {
        let mut rows = self.rows.lock().await;
        if let Rows::Waiting = &*rows {
            *rows = match self.plan.execute(0, Arc::clone(context)) {
                Ok(stream) => Rows::Open(stream),
                Err(error) => return Some(Err(error)),
            };
        }
        let next = match &mut *rows {
            Rows::Open(stream) => stream.next().await,
            Rows::Waiting | Rows::Ended => None,
        };
        if next.is_none() {
            *rows = Rows::Ended;
        }
        next
    }
}

struct PlanPart {
    shared: Arc<SharedRows>,
    schema: SchemaRef,
    change: Arc<Change>,
}

impl fmt::Debug for PlanPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rows of a plan")
    }
}

impl PartitionStream for PlanPart {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (shared, change) = (Arc::clone(&self.shared), Arc::clone(&self.change));
        let rows = futures::stream::unfold((shared, context), |(shared, context)| async {
            let next = shared.next(&context).await?;
            Some((next, (shared, context)))
        });
        let rows = rows.map(move |batch| Ok(change(batch?)?));
        Box::pin(RecordBatchStreamAdapter::new(
            Arc::clone(&self.schema),
            rows,
        ))
    }
}

/// Iterators, each read on a thread of its own and changed by `change` there.
pub(crate) fn iterators(
    schema: SchemaRef,
    sources: Vec<Box<dyn Iterator<Item = Result<RecordBatch>> + Send>>,
    change: impl Fn(RecordBatch) -> Result<RecordBatch> + Send + Sync + 'static,
) -> Streams {
    let change: Arc<Change> = Arc::new(change);
    sources
        .into_iter()
        .map(|source| {
            Arc::new(Reading {
                source: Mutex::new(Some(source)),
                schema: Arc::clone(&schema),
                change: Arc::clone(&change),
            }) as Arc<dyn PartitionStream>
        })
        .collect()
}

struct Reading {
    source: Mutex<Option<Box<dyn Iterator<Item = Result<RecordBatch>> + Send>>>,
    schema: SchemaRef,
    change: Arc<Change>,
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("reading thread")
    }
}

impl PartitionStream for Reading {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let Some(source) = self.source.lock().take() else {
            let error = Error::internal("a source was read twice");
            return failed(&self.schema, error.into());
        };
        let change = Arc::clone(&self.change);
        let mut builder = RecordBatchReceiverStream::builder(Arc::clone(&self.schema), AHEAD);
        let sender = builder.tx();
        builder.spawn_blocking(move || {
            for batch in source {
                let batch = batch.and_then(|batch| change(batch));
                let stop = batch.is_err();
                // A closed channel means that nobody wants the rest.
                if sender
                    .blocking_send(batch.map_err(DataFusionError::from))
                    .is_err()
                    || stop
                {
                    break;
                }
            }
            Ok(())
        });
        builder.build()
    }
}

/// Batches that are already there.
pub(crate) fn batches(schema: SchemaRef, batches: Vec<RecordBatch>) -> Streams {
    let source: Box<dyn Iterator<Item = Result<RecordBatch>> + Send> =
        Box::new(batches.into_iter().map(Ok));
    iterators(schema, vec![source], Ok)
}

/// Batches that were read of a stream, and the rest of it.
pub(crate) fn resumed(
    schema: SchemaRef,
    read: Vec<RecordBatch>,
    rest: SendableRecordBatchStream,
) -> Streams {
    let all = futures::stream::iter(read.into_iter().map(Ok)).chain(rest);
    let stream: SendableRecordBatchStream =
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&schema), all));
    vec![Arc::new(Resumed {
        schema,
        stream: Mutex::new(Some(stream)),
    })]
}

struct Resumed {
    schema: SchemaRef,
    stream: Mutex<Option<SendableRecordBatchStream>>,
}

impl fmt::Debug for Resumed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("resumed stream")
    }
}

impl PartitionStream for Resumed {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let stream = self.stream.lock().take();
        stream.unwrap_or_else(|| {
            let error = Error::internal("a source was read twice");
            failed(&self.schema, error.into())
        })
    }
}

fn failed(schema: &SchemaRef, error: DataFusionError) -> SendableRecordBatchStream {
    let stream = futures::stream::once(async move { Err(error) });
    Box::pin(RecordBatchStreamAdapter::new(Arc::clone(schema), stream))
}

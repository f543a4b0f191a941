//! Plans of the bulk engine over rows of other operators.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion::execution::SendableRecordBatchStream;
use freestone_exec::vector::{Batch, Vector};
use freestone_exec::{Feed, Node, Plan, Windowing};
use futures::future::ready;
use futures::{StreamExt, stream};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{Receiver, channel};

use super::super::operator::{Batches, Operator, Run};
use super::general::General;

/// Batches that wait to be computed.
const WAITING: usize = 8;

/// Functions over windows.
#[derive(Clone, Debug)]
pub(in super::super) struct BulkWindow(pub(in super::super) Windowing);

/// Rows of a stream, for threads that may wait.
#[derive(Debug)]
struct Received(Mutex<Receiver<DfResult<RecordBatch>>>);

impl Feed for Received {
    fn next(&self) -> freestone_exec::Result<Option<Batch>> {
        let other = |error: DataFusionError| freestone_exec::Error::Other(Arc::new(error));
        let next = self.0.blocking_lock().blocking_recv();
        let Some(batch) = next.transpose().map_err(other)? else {
            return Ok(None);
        };
        let columns = batch.columns().iter().map(Vector::from_arrow);
        Ok(Some(Batch {
            columns: columns.collect::<freestone_exec::Result<_>>()?,
            rows: batch.num_rows(),
        }))
    }
}

fn types(schema: &Schema) -> Vec<DataType> {
    let fields = schema.fields().iter();
    fields.map(|field| field.data_type().clone()).collect()
}

/// A plan that reads the rows of its inputs by their places.
#[derive(Debug)]
pub(in super::super) struct Fed(pub(in super::super) Arc<Plan>);

impl Operator for Fed {
    fn name(&self) -> &'static str {
        "FreestonePipelines"
    }

    fn describe(&self) -> String {
        crate::engine::explained(&self.0)
    }

    fn bulk(&self) -> Option<&Arc<Plan>> {
        Some(&self.0)
    }

    fn run(&self, inputs: Vec<SendableRecordBatchStream>, run: Run) -> DfResult<Batches> {
        over_rows(inputs, &run, Arc::clone(&self.0))
    }
}

impl Operator for BulkWindow {
    fn name(&self) -> &'static str {
        "BulkWindow"
    }

    fn describe(&self) -> String {
        format!(
            "{} calls, {} keys",
            self.0.calls.len(),
            self.0.sorting.keys.len()
        )
    }

    fn run(&self, inputs: Vec<SendableRecordBatchStream>, run: Run) -> DfResult<Batches> {
        let node = Node::Window(Box::new(input_of(&inputs)), self.0.clone());
        let plan = Plan::new(node, types(&run.schema), 0.0);
        over_rows(inputs, &run, Arc::new(plan))
    }
}

impl Operator for General {
    fn name(&self) -> &'static str {
        "GeneralAggregate"
    }

    fn describe(&self) -> String {
        match self.sets.len() {
            1 => format!("{self:?}"),
            sets => format!("{self:?}, {sets} sets"),
        }
    }

    fn run(&self, inputs: Vec<SendableRecordBatchStream>, run: Run) -> DfResult<Batches> {
        let plan = self.clone().node(input_of(&inputs), 0.0);
        over_rows(inputs, &run, Arc::new(plan))
    }
}

/// The rows of the first input.
fn input_of(inputs: &[SendableRecordBatchStream]) -> Plan {
    let types = inputs.first().map(|input| types(&input.schema()));
    Plan::new(Node::Feed(0), types.unwrap_or_default(), 0.0)
}

/// Runs a plan over the rows of some operators.
fn over_rows(
    inputs: Vec<SendableRecordBatchStream>,
    run: &Run,
    plan: Arc<Plan>,
) -> DfResult<Batches> {
    let mut feeds: Vec<Arc<dyn Feed>> = Vec::with_capacity(inputs.len());
    let mut feeding = Vec::with_capacity(inputs.len());
    for mut input in inputs {
        let (sender, receiver) = channel(WAITING);
        feeds.push(Arc::new(Received(Mutex::new(receiver))));
        let work = async move {
            while let Some(batch) = input.next().await {
                // No reader waits for rows when the work has failed.
                if sender.send(batch).await.is_err() {
                    break;
                }
            }
        };
        let work = stream::once(work).filter_map(|()| async { None });
        feeding.push(Box::pin(work) as Batches);
    }
    let schema = Arc::clone(&run.schema);
    let rows = crate::engine::stream(plan, schema, &run.context, feeds)?;
    // When the last row has come, the inputs may still have some; nothing waits for them.
    let feeding = stream::select_all(feeding).map(Some);
    let rows = rows.map(Some).chain(stream::iter([None]));
    let both = stream::select(feeding, rows);
    let both = both.take_while(|item| ready(item.is_some()));
    Ok(Box::pin(both.filter_map(ready)))
}

//! Functions over windows and general aggregates, which the bulk engine computes, over rows of
//! other operators.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion::execution::SendableRecordBatchStream;
use freestone_exec::vector::{Batch, Vector};
use freestone_exec::{Feed, Node, Plan, Windowing};
use futures::{StreamExt, stream};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{Receiver, channel};

use super::super::operator::{Batches, Operator, Run};
use super::general::General;

/// Batches that wait to be computed.
const WAITING: usize = 8;

/// See the module.
#[derive(Clone, Debug)]
pub(in super::super) struct BulkWindow(pub(in super::super) Windowing);

/// Rows of a stream, for threads that may wait.
#[derive(Debug)]
struct Fed(Mutex<Receiver<DfResult<RecordBatch>>>);

impl Feed for Fed {
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

    fn windowing(&self) -> Option<&Windowing> {
        Some(&self.0)
    }

    fn run(&self, inputs: Vec<SendableRecordBatchStream>, run: Run) -> DfResult<Batches> {
        let windowing = self.0.clone();
        over_rows(inputs, &run, |feed, types| {
            Plan::new(Node::Window(Box::new(feed), windowing), types, 0.0)
        })
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
        over_rows(inputs, &run, |feed, _| self.clone().over(feed, 0.0))
    }
}

/// Runs a node of the bulk engine over the rows of an operator.
fn over_rows(
    inputs: Vec<SendableRecordBatchStream>,
    run: &Run,
    node: impl FnOnce(Plan, Vec<DataType>) -> Plan,
) -> DfResult<Batches> {
    let Some(mut input) = inputs.into_iter().next() else {
        return Ok(Box::pin(stream::empty()));
    };
    let (sender, receiver) = channel(WAITING);
    let of_input = types(&input.schema());
    let feed = Node::Feed(Arc::new(Fed(Mutex::new(receiver))));
    let plan = node(Plan::new(feed, of_input, 0.0), types(&run.schema));
    let rows = crate::engine::stream(Arc::new(plan), Arc::clone(&run.schema), &run.context)?;
    let feeding = async move {
        while let Some(batch) = input.next().await {
            // No reader waits for rows when the work has failed.
            if sender.send(batch).await.is_err() {
                break;
            }
        }
    };
    let feeding = stream::once(feeding).filter_map(|()| async { None });
    Ok(Box::pin(stream::select(feeding, rows)))
}

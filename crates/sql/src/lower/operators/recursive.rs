//! WITH RECURSIVE: rounds of a term over the rows of the last round, until one gives none.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::array::{BooleanArray, RecordBatch};
use datafusion::arrow::compute::filter_record_batch;
use datafusion::error::Result as DfResult;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use freestone_frontend::types::Type;
use futures::StreamExt;

use super::super::canonical::{Encoder, Row};
use super::super::operator::{Batches, Operator, Run};
use super::super::shared::LastRound;
use crate::engine::planned;
use crate::values::buffers::Counted;

/// See the module.
#[derive(Clone, Debug)]
pub(in super::super) struct Recursive {
    /// A round, over the table of the last round's rows.
    pub(in super::super) step: LogicalPlan,
    /// Whether rows that came before come again.
    pub(in super::super) all: bool,
    pub(in super::super) types: Vec<Type>,
    pub(in super::super) last: Arc<LastRound>,
}

impl Operator for Recursive {
    fn name(&self) -> &'static str {
        "RecursiveUnion"
    }

    fn describe(&self) -> String {
        let all = if self.all { "all" } else { "distinct" };
        all.to_owned()
    }

    // It plans its step as it runs.
    fn is_lasting(&self) -> bool {
        false
    }

    fn run(&self, inputs: Vec<SendableRecordBatchStream>, run: Run) -> DfResult<Batches> {
        let Some(input) = inputs.into_iter().next() else {
            return Ok(Box::pin(futures::stream::empty()));
        };
        let work = Work {
            encoder: Encoder::new(self.types.clone()),
            node: self.clone(),
            seen: HashSet::new(),
            memory: run.memory(),
            round: run.memory(),
            counted: Counted::default(),
            run,
            stream: input,
            step: None,
            gathered: Vec::new(),
            failed: false,
        };
        Ok(Box::pin(futures::stream::unfold(
            work,
            |mut work| async move {
                if work.failed {
                    return None;
                }
                let next = work.next().await.transpose()?;
                work.failed = next.is_err();
                Some((next, work))
            },
        )))
    }
}

struct Work {
    node: Recursive,
    run: Run,
    encoder: Encoder,
    /// Rows that came, where they may come once only.
    seen: HashSet<Row>,
    memory: MemoryReservation,
    /// What the rows of this round and of the last one take.
    round: MemoryReservation,
    counted: Counted,
    /// The rows of this round.
    stream: SendableRecordBatchStream,
    step: Option<Arc<dyn ExecutionPlan>>,
    /// Rows of this round that were given.
    gathered: Vec<RecordBatch>,
    failed: bool,
}

impl Work {
    async fn next(&mut self) -> DfResult<Option<RecordBatch>> {
        loop {
            tokio::task::yield_now().await;
            if let Some(batch) = self.stream.next().await {
                let batch = batch?;
                let batch = self.run.batch(batch.columns().to_vec(), batch.num_rows())?;
                let batch = if self.node.all {
                    batch
                } else {
                    self.unseen(&batch)?
                };
                if batch.num_rows() == 0 {
                    continue;
                }
                self.round.try_grow(self.counted.bytes(&batch))?;
                self.gathered.push(batch.clone());
                return Ok(Some(batch));
            }
            if self.gathered.is_empty() {
                self.node.last.set(&self.run.context, Vec::new());
                return Ok(None);
            }
            self.counted = Counted::default();
            let bytes = self.gathered.iter();
            let bytes = bytes.map(|batch| self.counted.bytes(batch)).sum();
            self.round.try_resize(bytes)?;
            self.counted = Counted::default();
            let batches = std::mem::take(&mut self.gathered);
            self.node.last.set(&self.run.context, batches);
            let step = match &self.step {
                Some(step) => Arc::clone(step),
                None => {
                    let plan = self.node.step.clone();
                    let step = Box::pin(planned(&plan, &self.run.state)).await?;
                    self.step = Some(Arc::clone(&step));
                    step
                }
            };
            let step = reset_plan_states(step)?;
            self.stream = execute_stream(step, Arc::clone(&self.run.context))?;
        }
    }

    /// The rows of a batch that did not come before.
    fn unseen(&mut self, batch: &RecordBatch) -> DfResult<RecordBatch> {
        let mut bytes = 0;
        let rows = self.encoder.rows(batch.columns())?;
        let keep = rows.iter().map(|row| {
            let row = row.owned();
            let size = size_of::<Row>() + row.as_ref().len() + 16;
            let new = self.seen.insert(row);
            bytes += if new { size } else { 0 };
            Some(new)
        });
        let keep: BooleanArray = keep.collect();
        self.memory.try_grow(bytes)?;
        Ok(filter_record_batch(batch, &keep)?)
    }
}

//! Functions over windows.
//!
//! Rows come sorted by partition and order. Whole partitions are computed as soon as they are
//! there, so that no more than one that is not whole is held.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, cast::AsArray};
use datafusion::arrow::compute::{SortOptions, concat};
use datafusion::arrow::row::{RowConverter, Rows, SortField};
use datafusion::error::Result as DfResult;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::MemoryReservation;
use freestone_frontend::functions::kernel::Call;
use freestone_frontend::functions::ordering::comparator;
use freestone_frontend::functions::windows::Partition;
use freestone_frontend::functions::windows::aggregate::over_frames;
use freestone_frontend::functions::windows::frame::{Ranges, frames, peers};
use freestone_frontend::plan::WindowKind;
use futures::StreamExt;

use super::super::Surroundings;
use super::super::operator::{Batches, Key, Operator, Run};
use super::super::outside::windows::Spec;
use crate::error::{Error, Result};
use crate::values::buffers::{Counted, concatenated};
use crate::values::with_kind;

/// See the module.
#[derive(Clone, Debug)]
pub(in super::super) struct Windows {
    /// Columns of the input that are the result's, too.
    pub(in super::super) columns: usize,
    pub(in super::super) partition: Vec<usize>,
    pub(in super::super) order: Vec<Key>,
    pub(in super::super) calls: Arc<Vec<Spec>>,
    pub(in super::super) around: Surroundings,
}

impl Operator for Windows {
    fn name(&self) -> &'static str {
        "GeneralWindow"
    }

    fn describe(&self) -> String {
        let calls = self.calls.iter().map(|call| match &call.kind {
            WindowKind::Function(function) => function.name,
            WindowKind::Aggregate(function) => &*function.name,
        });
        let calls = calls.collect::<Vec<_>>().join(", ");
        let (partition, order) = (self.partition.len(), self.order.len());
        format!("partition={partition}, order={order}, calls=[{calls}]")
    }

    fn order(&self, _: usize) -> Vec<Key> {
        let ascending = SortOptions {
            descending: false,
            nulls_first: false,
        };
        let partition = self.partition.iter().map(|at| (*at, ascending));
        partition.chain(self.order.iter().copied()).collect()
    }

    fn run(&self, inputs: Vec<SendableRecordBatchStream>, run: Run) -> DfResult<Batches> {
        let Some(input) = inputs.into_iter().next() else {
            return Ok(Box::pin(futures::stream::empty()));
        };
        let work = Work {
            node: self.clone(),
            memory: run.memory(),
            counted: Counted::default(),
            run,
            input,
            pending: Vec::new(),
            ended: false,
        };
        Ok(Box::pin(futures::stream::unfold(
            work,
            |mut work| async move {
                let next = work.next().await.transpose()?;
                work.ended |= next.is_err();
                Some((next, work))
            },
        )))
    }
}

struct Work {
    node: Windows,
    run: Run,
    memory: MemoryReservation,
    counted: Counted,
    input: SendableRecordBatchStream,
    /// Rows of partitions that are not computed yet: of the last, not whole, one.
    pending: Vec<RecordBatch>,
    ended: bool,
}

impl Work {
    async fn next(&mut self) -> DfResult<Option<RecordBatch>> {
        while !self.ended {
            tokio::task::yield_now().await;
            let Some(batch) = self.input.next().await else {
                self.ended = true;
                let rest = self.taken()?;
                return match rest {
                    Some(rest) => Ok(Some(self.computed(&rest)?)),
                    None => Ok(None),
                };
            };
            let batch = batch?;
            if batch.num_rows() == 0 {
                continue;
            }
            self.memory.try_grow(self.counted.bytes(&batch))?;
            // Where the last partition of the batch begins, all before is whole.
            let start = self.last_start(&batch)?;
            let Some(start) = start else {
                self.pending.push(batch);
                continue;
            };
            self.pending.push(batch.slice(0, start));
            let whole = self.taken()?;
            let rest = batch.slice(start, batch.num_rows() - start);
            self.memory.try_grow(self.counted.bytes(&rest))?;
            self.pending.push(rest);
            if let Some(whole) = whole.filter(|whole| whole.num_rows() > 0) {
                return Ok(Some(self.computed(&whole)?));
            }
        }
        Ok(None)
    }

    /// The rows that wait.
    fn taken(&mut self) -> DfResult<Option<RecordBatch>> {
        let pending = std::mem::take(&mut self.pending);
        let Some(first) = pending.first() else {
            return Ok(None);
        };
        let all = match pending.as_slice() {
            [only] => only.clone(),
            _ => concatenated(&first.schema(), &pending)?,
        };
        self.memory.free();
        self.counted = Counted::default();
        Ok(Some(all))
    }

    /// Where the last partition of a batch begins; `None` if that is before the batch.
    fn last_start(&self, batch: &RecordBatch) -> DfResult<Option<usize>> {
        let places = &self.node.partition;
        if places.is_empty() {
            return Ok(None);
        }
        let last = self.pending.iter().rev().find(|batch| batch.num_rows() > 0);
        let mut columns = Vec::with_capacity(places.len());
        for at in places {
            let here = batch.column(*at);
            columns.push(match last {
                Some(last) => {
                    let before = last.column(*at).slice(last.num_rows() - 1, 1);
                    concat(&[before.as_ref(), here.as_ref()])?
                }
                None => Arc::clone(here),
            });
        }
        let rows = encoded(&columns)?;
        let more = usize::from(last.is_some());
        let found = (1..rows.num_rows())
            .rev()
            .find(|at| rows.row(*at) != rows.row(at - 1));
        Ok(found
            .map(|at| at - more)
            .filter(|at| *at > 0 || last.is_some()))
    }

    /// The result for whole partitions.
    fn computed(&self, all: &RecordBatch) -> DfResult<RecordBatch> {
        let node = &self.node;
        let partitions = ranges(&node.partition, all)?;
        let order: Vec<usize> = node.order.iter().map(|(at, _)| *at).collect();
        let keys = match order.is_empty() {
            true => None,
            false => {
                let columns = order.iter().map(|at| Arc::clone(all.column(*at)));
                Some(encoded(&columns.collect::<Vec<_>>())?)
            }
        };
        let mut results: Vec<Vec<ArrayRef>> = vec![Vec::new(); node.calls.len()];
        for partition in partitions {
            let rows = partition.len();
            let part = all.slice(partition.start, rows);
            let same = |at: usize| match &keys {
                Some(keys) => {
                    let at = partition.start + at;
                    keys.row(at) == keys.row(at - 1)
                }
                None => true,
            };
            let peers = peers(rows, same);
            for (spec, results) in node.calls.iter().zip(&mut results) {
                results.push(one(spec, &part, &peers, &node.around)?);
            }
        }
        let mut columns: Vec<ArrayRef> = all.columns()[..node.columns].to_vec();
        for parts in results {
            let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
            columns.push(concat(&parts)?);
        }
        self.run.batch(columns, all.num_rows())
    }
}

fn encoded(columns: &[ArrayRef]) -> DfResult<Rows> {
    let fields = columns.iter();
    let fields = fields.map(|column| SortField::new(column.data_type().clone()));
    Ok(RowConverter::new(fields.collect())?.convert_columns(columns)?)
}

/// The partitions of rows.
fn ranges(places: &[usize], all: &RecordBatch) -> DfResult<Vec<Range<usize>>> {
    let rows = all.num_rows();
    if rows == 0 {
        return Ok(Vec::new());
    }
    if places.is_empty() {
        return Ok(std::iter::once(0..rows).collect());
    }
    let columns = places.iter().map(|at| Arc::clone(all.column(*at)));
    let keys = encoded(&columns.collect::<Vec<_>>())?;
    let mut ranges = Vec::new();
    let mut start = 0;
    for at in 1..=rows {
        if at == rows || keys.row(at) != keys.row(at - 1) {
            ranges.push(start..at);
            start = at;
        }
    }
    Ok(ranges)
}

/// The results of a call for the rows of a partition.
fn one(
    spec: &Spec,
    part: &RecordBatch,
    peers: &[Range<usize>],
    around: &Surroundings,
) -> Result<ArrayRef> {
    let call = Call {
        rows: part.num_rows(),
        types: &spec.types,
        returns: &spec.returns,
        session: &around.session,
    };
    let arguments = spec.arguments.iter();
    let arguments: Vec<ArrayRef> = arguments.map(|at| Arc::clone(part.column(*at))).collect();
    let found = match &spec.distances {
        Some(distances) => {
            let compare = comparator(&distances.ty)?;
            let ranges = Ranges {
                keys: part.column(distances.keys),
                start: distances.start.map(|at| part.column(at)),
                end: distances.end.map(|at| part.column(at)),
                compare: &compare,
                direction: distances.direction,
            };
            frames(&spec.frame, peers, Some(&ranges))?
        }
        None => frames(&spec.frame, peers, None)?,
    };
    let result = match &spec.kind {
        WindowKind::Function(function) => {
            let partition = Partition {
                rows: part.num_rows(),
                arguments: &arguments,
                peers,
                frame: &|row| found.ranges(row),
                ignore_nulls: spec.ignore_nulls,
            };
            (function.kernel)(&call, &partition)?
        }
        WindowKind::Aggregate(function) => {
            let filter = match spec.filter {
                Some(at) => Some(
                    part.column(at)
                        .as_boolean_opt()
                        .ok_or_else(|| Error::internal("a condition that is no truth value"))?,
                ),
                None => None,
            };
            over_frames(&call, function, &arguments, filter, &found)?
        }
    };
    with_kind(result, &spec.returns.arrow())
}

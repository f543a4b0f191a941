//! One partition of a running scan, and the filters that reach it late.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion::execution::RecordBatchStream;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::physical_expr::{
    snapshot_generation, snapshot_physical_expr,
};
use datafusion::physical_plan::metrics::BaselineMetrics;
use freestone_storage::{Scan, ScanWorker};
use futures::Stream;

use super::physical::implied;
use super::source::ScanSource;
use crate::error::Error;

/// Filters that joins and sorts above publish while the scan runs.
pub(super) struct Arrivals {
    pub(super) filter: Arc<dyn PhysicalExpr>,
    pub(super) generation: u64,
    pub(super) scan: Arc<Scan>,
    pub(super) source: Arc<ScanSource>,
    pub(super) projection: Vec<usize>,
}

impl Arrivals {
    /// Passes on what has arrived since the last call.
    fn look(&mut self) -> DfResult<()> {
        let generation = snapshot_generation(&self.filter);
        if generation == self.generation {
            return Ok(());
        }
        self.generation = generation;
        let now = snapshot_physical_expr(Arc::clone(&self.filter))?;
        if let Some(predicate) = implied(&self.source.table.schema, &self.projection, &now) {
            self.scan.tighten(&predicate).map_err(Error::from)?;
        }
        Ok(())
    }
}

/// One partition: one storage worker.
pub(super) struct ScanStream {
    pub(super) worker: ScanWorker,
    pub(super) schema: SchemaRef,
    /// Where the row id, which comes last, is to stand.
    pub(super) row_id: Option<usize>,
    pub(super) timing: BaselineMetrics,
    pub(super) filter: Option<Arrivals>,
}

impl ScanStream {
    fn next(&mut self) -> Option<DfResult<RecordBatch>> {
        if let Some(filter) = &mut self.filter
            && let Err(error) = filter.look()
        {
            return Some(Err(error));
        }
        let batch = self.worker.next()?;
        let batch = batch.map_err(|error| DataFusionError::from(Error::from(error)));
        Some(match self.row_id {
            None => batch,
            Some(place) => batch.and_then(|batch| self.with_row_id_at(place, &batch)),
        })
    }

    fn with_row_id_at(&self, place: usize, batch: &RecordBatch) -> DfResult<RecordBatch> {
        let mut columns = batch.columns().to_vec();
        if let Some(ids) = columns.pop() {
            columns.insert(place, ids);
        }
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

impl Stream for ScanStream {
    type Item = DfResult<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let time = self.timing.elapsed_compute().clone();
        let timer = time.timer();
        let item = self.next();
        timer.done();
        self.timing.record_poll(Poll::Ready(item))
    }
}

impl RecordBatchStream for ScanStream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

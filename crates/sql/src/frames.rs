//! Frames: tables of the program around a session, which its statements may name for as
//! long as they are lent.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, RecordBatchReader};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::datasource::MemTable;
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use parking_lot::{Mutex, RwLock};

use crate::error::{Error, Result};

/// Rows of a batch that a scan gives at once, so that many threads can work on a large one.
const PIECE: usize = 65_536;

/// Rows that a program lends to a session under a name; see [`Session::lending`](crate::Session::lending).
#[derive(Clone, Debug)]
pub struct Frame(Arc<dyn TableProvider>);

impl Frame {
    /// Batches that are there. They are not copied.
    ///
    /// # Errors
    /// `42804` if a batch has other columns than `schema`.
    pub fn of_batches(schema: SchemaRef, batches: &[RecordBatch]) -> Result<Self> {
        let pieces = batches.iter().flat_map(|batch| {
            let starts = (0..batch.num_rows()).step_by(PIECE);
            starts.map(|start| batch.slice(start, PIECE.min(batch.num_rows() - start)))
        });
        let table = MemTable::try_new(schema, vec![pieces.collect()]);
        let table = table.map_err(|error| Error::new("42804", Error::from(error).message))?;
        Ok(Self(Arc::new(table)))
    }

    /// Batches that come one after the other, and only once: a statement that reads them
    /// twice gets `55000`.
    ///
    /// # Errors
    /// None that a reader can cause.
    pub fn of_reader(reader: Box<dyn RecordBatchReader + Send>) -> Result<Self> {
        let once = Once {
            schema: reader.schema(),
            reader: Mutex::new(Some(reader)),
        };
        let schema = Arc::clone(&once.schema);
        let table = StreamingTable::try_new(schema, vec![Arc::new(once)])?;
        Ok(Self(Arc::new(table)))
    }
}

/// A reader, until somebody reads.
struct Once {
    schema: SchemaRef,
    reader: Mutex<Option<Box<dyn RecordBatchReader + Send>>>,
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

impl PartitionStream for Once {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let schema = Arc::clone(&self.schema);
        let Some(reader) = self.reader.lock().take() else {
            let error = Error::new("55000", "a stream of record batches can be read only once")
                .with_hint("make a table of it, or put it into a table of the database");
            let failed = futures::stream::iter([Err(DataFusionError::from(error))]);
            return Box::pin(RecordBatchStreamAdapter::new(schema, failed));
        };
        let batches = reader.map(|batch| batch.map_err(DataFusionError::from));
        Box::pin(RecordBatchStreamAdapter::new(
            schema,
            futures::stream::iter(batches),
        ))
    }
}

/// What is lent to a session at the moment.
#[derive(Debug, Default)]
pub(crate) struct Lent {
    frames: RwLock<HashMap<String, Frame>>,
    /// One statement at a time, so that none sees what was lent to another.
    turn: tokio::sync::Mutex<()>,
}

impl Lent {
    /// The frame of that name.
    pub(crate) fn table(&self, name: &str) -> Option<Arc<dyn TableProvider>> {
        let frames = self.frames.read();
        frames.get(name).map(|frame| Arc::clone(&frame.0))
    }

    /// Lends frames for as long as the answer is kept, when those before are taken back.
    pub(crate) async fn lend(&self, frames: HashMap<String, Frame>) -> Turn<'_> {
        let turn = self.turn.lock().await;
        *self.frames.write() = frames;
        Turn {
            lent: self,
            _turn: turn,
        }
    }
}

/// A turn in which frames are lent. They are taken back at its end, also from work that is dropped.
pub(crate) struct Turn<'a> {
    lent: &'a Lent,
    _turn: tokio::sync::MutexGuard<'a, ()>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.lent.frames.write().clear();
    }
}

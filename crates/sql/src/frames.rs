//! Frames: tables of the program around a session, which its statements may name for as
//! long as they are lent.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use parking_lot::{Mutex, RwLock};

use crate::error::{Error, Result};
use crate::source::Source;

/// Rows of a batch that a scan gives at once, so that many threads can work on a large one.
const PIECE: usize = 65_536;

/// Rows that a program lends to a session under a name; see [`Session::lending`](crate::Session::lending).
#[derive(Clone, Debug)]
pub struct Frame(Arc<Source>);

impl Frame {
    /// Batches that are there. They are not copied.
    ///
    /// # Errors
    /// `42804` if a batch has other columns than `schema`.
    pub fn of_batches(schema: SchemaRef, batches: &[RecordBatch]) -> Result<Self> {
        let fits = |batch: &RecordBatch| {
            let kinds = |schema: &SchemaRef| {
                let fields = schema.fields().iter();
                let kinds = fields.map(|field| field.data_type().clone());
                kinds.collect::<Vec<_>>()
            };
            kinds(&batch.schema()) == kinds(&schema)
        };
        if !batches.iter().all(fits) {
            let message = "a batch has other columns than the schema of its table";
            return Err(Error::new("42804", message));
        }
        let pieces = batches.iter().flat_map(|batch| {
            let starts = (0..batch.num_rows()).step_by(PIECE);
            starts.map(|start| batch.slice(start, PIECE.min(batch.num_rows() - start)))
        });
        let pieces = pieces.collect();
        Ok(Self(Arc::new(Source::Batches(schema, pieces))))
    }

    /// Batches that come one after the other, and only once: a statement that reads them
    /// twice gets `55000`.
    ///
    /// # Errors
    /// None that a reader can cause.
    pub fn of_reader(reader: Box<dyn RecordBatchReader + Send>) -> Result<Self> {
        let schema = reader.schema();
        let reader = Mutex::new(Some(reader));
        Ok(Self(Arc::new(Source::Reader(schema, reader))))
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
    pub(crate) fn table(&self, name: &str) -> Option<Arc<Source>> {
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

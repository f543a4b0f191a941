//! The rows that a relation stands for.

mod file;

use std::fmt;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use parking_lot::Mutex;

use crate::error::{Error, Result};
use crate::scan::StoredTable;

pub(crate) use file::{FileKind, FileTable};

/// Where rows come from.
pub(crate) enum Source {
    /// A table of the database.
    Stored(StoredTable),
    /// Batches that are there.
    Batches(SchemaRef, Vec<RecordBatch>),
    /// Batches that come one after the other, and only once.
    Reader(SchemaRef, Mutex<Option<Reader>>),
    /// A file.
    File(FileTable),
}

/// A reader of batches that come only once.
pub(crate) type Reader = Box<dyn RecordBatchReader + Send>;

/// A part of the rows.
pub(crate) type Part = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

impl Source {
    /// The table of the database that it is, if it is one.
    pub(crate) fn stored(&self) -> Option<&StoredTable> {
        match self {
            Source::Stored(stored) => Some(stored),
            _ => None,
        }
    }

    /// One batch.
    pub(crate) fn of_batch(batch: RecordBatch) -> Arc<Self> {
        Arc::new(Source::Batches(batch.schema(), vec![batch]))
    }

    /// Names and types of its columns.
    pub(crate) fn schema(&self) -> SchemaRef {
        match self {
            Source::Stored(stored) => stored.schema(),
            Source::Batches(schema, _) | Source::Reader(schema, _) => Arc::clone(schema),
            Source::File(file) => file.schema(),
        }
    }

    /// How many rows there are, if that is known.
    pub(crate) fn rows(&self) -> Option<usize> {
        match self {
            Source::Batches(_, batches) => Some(batches.iter().map(RecordBatch::num_rows).sum()),
            Source::Stored(_) | Source::Reader(..) | Source::File(_) => None,
        }
    }

    /// Some columns of rows that are not stored, in parts that may be read at the same time.
    /// Their batches have so many rows, where that is for the reader to choose.
    ///
    /// # Errors
    /// `55000` for rows that come once and have come, and errors of opening a file.
    pub(crate) fn parts(&self, projection: &[usize], batch_rows: usize) -> Result<Vec<Part>> {
        let columns = projection.to_vec();
        match self {
            Source::Stored(_) => Err(Error::internal("a table that is read without a scan")),
            Source::Batches(_, batches) => {
                let batches = batches.iter().map(|batch| {
                    let batch = batch.project(projection).map_err(Error::from);
                    Box::new(std::iter::once(batch)) as Part
                });
                Ok(batches.collect())
            }
            Source::Reader(_, reader) => {
                let reader = reader.lock().take().ok_or_else(|| {
                    Error::new("55000", "a stream of record batches can be read only once")
                        .with_hint("make a table of it, or put it into a table of the database")
                })?;
                let batches = reader.map(move |batch| Ok(batch?.project(&columns)?));
                Ok(vec![Box::new(batches)])
            }
            Source::File(file) => file.parts(projection, batch_rows),
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Source::Stored(_) => "table",
            Source::Batches(..) => "batches",
            Source::Reader(..) => "reader",
            Source::File(_) => "file",
        })
    }
}

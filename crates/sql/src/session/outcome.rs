//! What a statement came to.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::memory::MemoryStream;

use crate::error::Result;

/// What a statement came to.
pub enum Outcome {
    /// A result, yet to be read.
    Rows(Rows),
    /// Done.
    Done {
        /// PostgreSQL's command tag, such as `INSERT 0 5` or `CREATE TABLE`.
        tag: String,
        /// Rows inserted or copied.
        rows: u64,
    },
}

/// A result that is computed as it is read. Dropping it stops the work.
pub struct Rows {
    /// Names and types of the columns.
    pub schema: SchemaRef,
    /// The rows; errors convert into [`Error`].
    pub stream: SendableRecordBatchStream,
}

impl Outcome {
    /// A statement without rows.
    pub(crate) fn done(tag: impl Into<String>) -> Self {
        Self::Done {
            tag: tag.into(),
            rows: 0,
        }
    }

    /// A result that is already there.
    pub(crate) fn batch(batch: RecordBatch) -> Result<Self> {
        Self::batches(batch.schema(), vec![batch])
    }

    /// A result of several batches that are already there.
    pub(crate) fn batches(schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<Self> {
        let stream = MemoryStream::try_new(batches, Arc::clone(&schema), None)?;
        Ok(Self::Rows(Rows {
            schema,
            stream: Box::pin(stream),
        }))
    }
}

impl std::fmt::Debug for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rows(rows) => f.debug_tuple("Rows").field(&rows.schema).finish(),
            Self::Done { tag, .. } => f.debug_tuple("Done").field(tag).finish(),
        }
    }
}

//! What a statement came to.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use futures::stream::{self, BoxStream};

use crate::error::Result;

/// Batches of a result, one after the other.
pub type RowStream = BoxStream<'static, Result<RecordBatch>>;

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
    /// The rows.
    pub stream: RowStream,
}

impl Outcome {
    /// A statement without rows.
    pub(crate) fn done(tag: impl Into<String>) -> Self {
        Self::Done {
            tag: tag.into(),
            rows: 0,
        }
    }

    /// The outcome with the kind of object in its tag that ALTER names: a view can be altered by
    /// ALTER TABLE, a function by ALTER ROUTINE.
    pub(crate) fn tagged_as_written(self, text: &str) -> Self {
        const KINDS: [&str; 8] = [
            "TABLE",
            "VIEW",
            "INDEX",
            "SEQUENCE",
            "FUNCTION",
            "PROCEDURE",
            "ROUTINE",
            "AGGREGATE",
        ];
        match self {
            Self::Done { tag, rows } if tag.starts_with("ALTER ") => {
                let mut words = text.split_whitespace().map(str::to_ascii_uppercase);
                let (alter, kind) = (words.next(), words.next().unwrap_or_default());
                let is_kind = alter.is_some_and(|word| word == "ALTER")
                    && KINDS.contains(&kind.as_str())
                    && tag
                        .split(' ')
                        .nth(1)
                        .is_some_and(|kind| KINDS.contains(&kind));
                let tag = match is_kind {
                    true => format!("ALTER {kind}"),
                    false => tag,
                };
                Self::Done { tag, rows }
            }
            outcome => outcome,
        }
    }

    /// A result that is already there.
    pub(crate) fn batch(batch: RecordBatch) -> Self {
        Self::batches(batch.schema(), vec![batch])
    }

    /// A result of several batches that are already there.
    pub(crate) fn batches(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        let stream = Box::pin(stream::iter(batches.into_iter().map(Ok)));
        Self::Rows(Rows { schema, stream })
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

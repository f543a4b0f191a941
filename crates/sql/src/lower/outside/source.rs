//! Rows of relations that are not stored: files, rows of the program, rows at hand.

use std::sync::Arc;

use freestone_exec as exec;
use freestone_exec::{Batches, Inside, Rows};

use super::{batch, other};
use crate::source::Source;

/// Some columns of a relation.
#[derive(Debug)]
pub(in super::super) struct Read {
    pub(in super::super) source: Arc<Source>,
    pub(in super::super) name: String,
    pub(in super::super) projection: Vec<usize>,
}

impl Rows for Read {
    fn name(&self) -> &'static str {
        "read"
    }

    fn describe(&self) -> String {
        format!("{} of {}", self.projection.len(), self.name)
    }

    // Files change, and readers end.
    fn is_lasting(&self) -> bool {
        false
    }

    fn may_be_many(&self) -> bool {
        true
    }

    fn open<'b>(&'b self, run: &dyn Inside) -> exec::Result<Vec<Batches<'b>>> {
        let parts = self.source.parts(&self.projection, run.batch_rows());
        let parts = parts.map_err(other)?.into_iter();
        let parts = parts.map(|part| -> Batches<'b> {
            Box::new(part.map(|rows| {
                let rows = rows.map_err(other)?;
                batch(rows.columns(), rows.num_rows())
            }))
        });
        Ok(parts.collect())
    }
}

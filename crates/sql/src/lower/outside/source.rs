//! Rows of relations that are not stored: files, rows of the program, rows at hand.

use std::sync::Arc;

use arrow::compute::cast;
use arrow::datatypes::DataType;
use freestone_exec as exec;
use freestone_exec::{Batches, Inside, Rows};

use super::{batch, other};
use crate::source::Source;

/// The type in which values of a type are read: those of a dictionary as they are in it.
pub(in super::super) fn held(kind: &DataType) -> &DataType {
    match kind {
        DataType::Dictionary(_, of) => of,
        kind => kind,
    }
}

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

    fn waits(&self) -> bool {
        matches!(*self.source, Source::Reader(..))
    }

    fn open<'b>(&'b self, run: &dyn Inside) -> exec::Result<Vec<Batches<'b>>> {
        let parts = self.source.parts(&self.projection, run.batch_rows());
        let parts = parts.map_err(other)?.into_iter();
        let parts = parts.map(|part| -> Batches<'b> {
            Box::new(part.map(|rows| {
                let rows = rows.map_err(other)?;
                let columns = rows.columns().iter().map(|column| {
                    let kind = held(column.data_type());
                    match kind == column.data_type() {
                        true => Ok(Arc::clone(column)),
                        false => cast(column, kind),
                    }
                });
                batch(&columns.collect::<Result<Vec<_>, _>>()?, rows.num_rows())
            }))
        });
        Ok(parts.collect())
    }
}

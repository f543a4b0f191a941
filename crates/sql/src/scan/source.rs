//! What a scan reads.

use std::sync::Arc;

use datafusion::arrow::datatypes::{Schema, SchemaRef};
use freestone_storage::{ReadView, Snapshot, Table};

use super::provider::row_id_field;

/// The table that a scan reads, in one snapshot.
#[derive(Debug)]
pub(crate) struct ScanSource {
    pub(crate) table: Arc<Table>,
    pub(crate) name: String,
    /// What the reader sees, unless the statement says otherwise.
    pub(crate) view: ReadView,
}

impl ScanSource {
    /// What a reader sees at `moment`, or else when the plan was made.
    pub(super) fn view_at(&self, moment: Option<&Snapshot>) -> ReadView {
        match moment {
            Some(moment) => moment.read_view(self.table.id),
            None => self.view.clone(),
        }
    }

    /// The columns of `projection`; the number after the last column stands for
    /// the row id.
    pub(super) fn schema(&self, projection: &[usize]) -> SchemaRef {
        let columns = self.table.schema.arrow();
        let field = |index: &usize| match columns.fields().get(*index) {
            Some(field) => Arc::clone(field),
            None => Arc::new(row_id_field()),
        };
        Arc::new(Schema::new(
            projection.iter().map(field).collect::<Vec<_>>(),
        ))
    }
}

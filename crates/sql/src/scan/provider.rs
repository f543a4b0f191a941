//! A stored table as a statement sees it.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use freestone_storage::{Predicate, ReadView, Table};

use super::excluded::Held;

/// One table in one snapshot.
#[derive(Debug)]
pub(crate) struct StoredTable {
    table: Arc<Table>,
    schema: SchemaRef,
    view: ReadView,
    /// Conditions on its columns that its bound makes, for a partition that is read as a part.
    held: Vec<Held>,
}

impl StoredTable {
    pub(crate) fn new(table: &Arc<Table>, view: ReadView) -> Self {
        Self {
            view,
            table: Arc::clone(table),
            schema: table.schema.arrow(),
            held: Vec::new(),
        }
    }

    /// The table, and what the reader sees of it.
    pub(crate) fn parts(&self) -> (&Arc<Table>, &ReadView) {
        (&self.table, &self.view)
    }

    /// The table with what its bounds say of its columns.
    pub(crate) fn holding(self, held: Vec<Held>) -> Self {
        Self { held, ..self }
    }

    /// Whether its bounds say that no row of it meets a condition.
    pub(crate) fn excludes(&self, predicate: &Predicate) -> bool {
        self.held.iter().any(|held| held.excludes(predicate))
    }

    /// Names and types of its columns.
    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Whether its row ids are a column of it.
    pub(crate) fn has_row_ids(&self) -> bool {
        self.schema
            .fields()
            .iter()
            .any(|field| field.name() == ROW_ID)
    }

    /// The table with its row ids as one column more.
    pub(crate) fn with_row_ids(self) -> Self {
        let mut fields = self.schema.fields().to_vec();
        fields.push(Arc::new(row_id_field()));
        Self {
            schema: Arc::new(Schema::new(fields)),
            ..self
        }
    }
}

/// Name of the column of row ids; no table has one of that name.
pub(crate) const ROW_ID: &str = "rowid$";

pub(super) fn row_id_field() -> Field {
    Field::new(ROW_ID, DataType::UInt64, false)
}

//! Rows that are made while a statement runs and that the rest of it may name.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema};
use freestone_frontend::types::Type;

use crate::error::Result;
use crate::source::Source;

/// Rows at hand that the rest of a statement may name.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    /// Its name.
    pub(crate) name: String,
    /// Names and types of its columns.
    pub(crate) columns: Vec<(String, Type)>,
    /// Names and types of columns behind those, which `*` does not show.
    pub(crate) hidden: Vec<(String, Type)>,
    /// Its rows; `None` for a statement without RETURNING, which nothing can name.
    pub(crate) rows: Option<Arc<Source>>,
}

impl Given {
    /// Rows in the forms that the language front has for the types.
    ///
    /// # Errors
    /// None but those of a bug in here.
    pub(crate) fn new(
        name: String,
        columns: Vec<(String, Type)>,
        rows: Vec<RecordBatch>,
    ) -> Result<Self> {
        let schema = match rows.first() {
            Some(batch) => batch.schema(),
            None => {
                let fields = columns.iter();
                let fields = fields.map(|(name, ty)| Field::new(name, ty.arrow(), true));
                Arc::new(Schema::new(fields.collect::<Vec<_>>()))
            }
        };
        Ok(Self {
            name,
            columns,
            hidden: Vec::new(),
            rows: Some(Arc::new(Source::Batches(schema, rows))),
        })
    }
}

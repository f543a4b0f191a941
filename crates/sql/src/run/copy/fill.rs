//! From the columns of a file to those of the table: the rest get their defaults.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use freestone_frontend::values::datetime::Locale;
use freestone_storage::{Column, TableSchema};

use crate::error::{Error, Result};
use crate::front::{Compiled, default_of};
use crate::run::Run;
use crate::types::nullable;
use crate::values::{BadValue, assign};

/// Which table columns a file gives, and expressions for the others.
pub(crate) struct Fill {
    pub(super) schema: Arc<TableSchema>,
    /// Table column of each file column.
    pub(super) columns: Vec<usize>,
    defaults: Vec<Option<Compiled>>,
    /// Settings by which dates and times are read.
    pub(super) locale: Arc<Locale>,
    arrow: SchemaRef,
}

impl Fill {
    /// Plans the defaults of the columns that `columns` leaves out.
    ///
    /// # Errors
    /// Those of a default that cannot be planned any more.
    pub(crate) fn new(
        run: &Run<'_>,
        schema: &Arc<TableSchema>,
        columns: Vec<usize>,
    ) -> Result<Self> {
        let defaults = schema
            .columns
            .iter()
            .enumerate()
            .map(|(index, column)| match default_of(&run.snapshot, column) {
                Some(_) if !columns.contains(&index) => run.default_compiled(column).map(Some),
                _ => Ok(None),
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            arrow: nullable(schema),
            schema: Arc::clone(schema),
            columns,
            defaults,
            locale: Arc::clone(run.locale()),
        })
    }

    /// The table column that file column `index` goes to.
    pub(super) fn column(&self, index: usize) -> Result<&Column> {
        self.columns
            .get(index)
            .and_then(|column| self.schema.columns.get(*column))
            .ok_or_else(|| Error::internal("a file column without a table column"))
    }

    /// A batch of the whole table from the file's columns, already cast.
    ///
    /// # Errors
    /// Those of computing a default.
    pub(crate) fn batch(&self, given: &[ArrayRef], rows: usize) -> Result<RecordBatch> {
        let mut arrays = Vec::with_capacity(self.schema.columns.len());
        for (index, column) in self.schema.columns.iter().enumerate() {
            let at = self.columns.iter().position(|target| *target == index);
            arrays.push(match at.and_then(|at| given.get(at)) {
                Some(array) => Arc::clone(array),
                None => self.default(index, column, rows)?,
            });
        }
        Ok(RecordBatch::try_new(Arc::clone(&self.arrow), arrays)?)
    }

    fn default(&self, index: usize, column: &Column, rows: usize) -> Result<ArrayRef> {
        let Some(Some(expr)) = self.defaults.get(index) else {
            use arrow::array::new_null_array;
            return Ok(new_null_array(&column.kind.arrow(), rows));
        };
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let empty =
            RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options)?;
        let array = expr.evaluate(&empty)?;
        assign(&array, column).map_err(|bad| bad.error)
    }

    /// The first NULL in a column that may not have one.
    pub(super) fn null_at(&self, index: usize, array: &ArrayRef) -> Result<Option<BadValue>> {
        let column = self.column(index)?;
        if column.nullable || array.null_count() == 0 {
            return Ok(None);
        }
        let row = (0..array.len())
            .find(|row| array.is_null(*row))
            .unwrap_or(0);
        Ok(Some(BadValue {
            row,
            error: not_null(column),
        }))
    }
}

/// `23502` for a column.
pub(super) fn not_null(column: &Column) -> Error {
    Error::new(
        "23502",
        format!(
            "null value in column \"{}\" violates not-null constraint",
            column.name
        ),
    )
}

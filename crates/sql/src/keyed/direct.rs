//! Look-ups of one row whose columns are given as they are stored: nothing is computed.
//!
//! ```text
//! SELECT tax, label FROM district WHERE w_id = $1 AND id = $2
//! ```
//!
//! The look-up reads the columns in the order of the result, and all conditions are met by the
//! rows of the key.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use freestone_frontend::plan::{ColumnId, ExprKind, Plan};
use freestone_frontend::types::Type;
use freestone_storage::delta::arrays;
use freestone_storage::{Column, KeyLookUp, Row, Snapshot};

use super::access::Access;
use crate::error::Result;
use crate::lower::plainly_shown;

/// A look-up whose row is the row of the result.
#[derive(Debug)]
pub(super) struct Direct {
    look_up: KeyLookUp,
    /// The columns of the result as they are stored.
    columns: Vec<Column>,
    answer: SchemaRef,
}

impl Direct {
    /// The look-up of a plan with the names, types and columns of its result; `None` if it
    /// computes something.
    pub(super) fn of(
        plan: &Plan,
        accesses: &[Access],
        shown: &[(String, Type, ColumnId)],
    ) -> Option<Direct> {
        let [access] = accesses else {
            return None;
        };
        if !access.is_exact {
            return None;
        }
        let mut ids: Vec<ColumnId> = shown.iter().map(|(_, _, id)| *id).collect();
        let mut plan = plan;
        loop {
            match plan {
                Plan::Project { input, items } => {
                    for id in &mut ids {
                        let mut items = items.iter();
                        let (_, expr) = items.find(|(column, _)| column.id == *id)?;
                        let ExprKind::Column(below) = expr.kind else {
                            return None;
                        };
                        *id = below;
                    }
                    plan = input;
                }
                Plan::Filter { input, .. } => plan = input,
                Plan::Scan { .. } => break,
                _ => return None,
            }
        }
        let stored = access.read.iter().filter(|(_, is_id)| !is_id);
        let stored: Vec<(ColumnId, usize)> = stored
            .map(|(read, _)| read.id)
            .zip(access.columns.iter().copied())
            .collect();
        let table = access.table.upgrade()?;
        let (mut places, mut fields) = (Vec::new(), Vec::new());
        for (id, (name, ty, _)) in ids.iter().zip(shown) {
            let (_, place) = *stored.iter().find(|(known, _)| known == id)?;
            let held = table.schema.columns[place].kind.arrow();
            fields.push(plainly_shown(name, ty).filter(|field| *field.data_type() == held)?);
            places.push(place);
        }
        let look_up = KeyLookUp::prepare(&table.schema, access.key()?, &places).ok()?;
        let columns = places.iter();
        let columns = columns.map(|at| table.schema.columns[*at].clone());
        Some(Direct {
            look_up: look_up.of_reader(),
            columns: columns.collect(),
            answer: Arc::new(Schema::new(fields)),
        })
    }

    /// The rows that a snapshot sees; `None` if the table is not there.
    ///
    /// # Errors
    /// Errors of reading them.
    pub(super) fn rows(
        &self,
        access: &Access,
        snapshot: &Snapshot,
        parameters: &[ArrayRef],
    ) -> Result<Option<Vec<Row>>> {
        let Some(table) = access.table.upgrade() else {
            return Ok(None);
        };
        table.activity().looked_up(1);
        let Some(key) = access.first(parameters) else {
            return Ok(Some(Vec::new()));
        };
        let found = table.find(&snapshot.read_view(table.id), &self.look_up, &key)?;
        Ok(Some(found.into_iter().map(|(_, row)| row).collect()))
    }

    /// Rows as a batch.
    ///
    /// # Errors
    /// Errors of values that are none of their column.
    pub(super) fn batch(&self, rows: &[Row]) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let arrays = arrays(&self.columns, rows)?;
        let schema = Arc::clone(&self.answer);
        Ok(RecordBatch::try_new_with_options(schema, arrays, &options)?)
    }
}

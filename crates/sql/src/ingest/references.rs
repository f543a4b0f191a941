//! FOREIGN KEY of rows that become blocks: each value is looked for once.

use std::collections::HashMap;

use arrow::array::RecordBatch;
use freestone_storage::row::cell;
use freestone_storage::{
    Catalog, ColumnType, ForeignKey, KeyLookUp, ReadView, TableId, TableSchema, Value,
};

use crate::error::{Error, Result};

/// The references of one statement's rows.
#[derive(Default)]
pub(crate) struct References {
    keys: Vec<(ForeignKey, HashMap<String, Vec<Value>>)>,
}

impl References {
    /// None yet.
    pub(crate) fn new(schema: &TableSchema) -> Self {
        let keys = schema.foreign_keys.iter();
        Self {
            keys: keys.map(|key| (key.clone(), HashMap::new())).collect(),
        }
    }

    /// Adds those of rows of all columns of the table.
    pub(crate) fn add(&mut self, rows: &RecordBatch) {
        for (key, known) in &mut self.keys {
            for row in 0..rows.num_rows() {
                let columns = key.columns.iter();
                let values = columns.map(|column| cell(rows.column(*column), row));
                if let Some(values) = values.collect::<Option<Vec<Value>>>() {
                    known.entry(format!("{values:?}")).or_insert(values);
                }
            }
        }
    }

    /// Takes over those of another stream of the same statement.
    pub(crate) fn merge(&mut self, other: Self) {
        for ((_, known), (_, more)) in self.keys.iter_mut().zip(other.keys) {
            known.extend(more);
        }
    }

    /// Looks for every parent.
    ///
    /// # Errors
    /// `23503`, naming the constraint and the key.
    pub(crate) fn check(
        &self,
        catalog: &Catalog,
        table: &str,
        view: &dyn Fn(TableId) -> ReadView,
    ) -> Result<()> {
        for (key, known) in &self.keys {
            let parent = catalog
                .table_by_id(key.parent)
                .ok_or_else(|| Error::new("40001", "a referenced table was dropped meanwhile"))?;
            let look_up = KeyLookUp::prepare(&parent.schema, &key.parent_columns, &[])?.of_reader();
            let view = view(key.parent);
            for values in known.values() {
                if parent.find(&view, &look_up, values)?.is_empty() {
                    let columns = key.parent_columns.iter();
                    let columns = columns.filter_map(|at| parent.schema.columns.get(*at));
                    let shown = values.iter().zip(columns).map(|pair| match pair {
                        (Value::Bytes(bytes), column) if column.kind == ColumnType::Bytea => {
                            column.shown_bytes(bytes)
                        }
                        (value, _) => value.to_string(),
                    });
                    let shown: Vec<String> = shown.collect();
                    let message = format!(
                        "insert or update on table \"{table}\" violates foreign key constraint \
                         \"{}\"",
                        key.name
                    );
                    return Err(Error::new("23503", message).with_detail(format!(
                        "Key ({}) is not present in table \"{}\".",
                        shown.join(", "),
                        parent.name
                    )));
                }
            }
        }
        Ok(())
    }
}

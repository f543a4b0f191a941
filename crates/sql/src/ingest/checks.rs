//! CHECK: conditions that are FALSE for no row.

use std::sync::Arc;

use datafusion::arrow::array::{Array, RecordBatch};
use datafusion::physical_expr::PhysicalExpr;
use freestone_storage::TableSchema;

use crate::error::{Error, Result};
use crate::plan::expression::{Expressions, columns_of, parse_expr};
use crate::values::show;

/// The checks of a table, ready to be computed.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    table: String,
    conditions: Vec<(String, Arc<dyn PhysicalExpr>)>,
}

impl Checks {
    /// Those of a table.
    ///
    /// # Errors
    /// Whatever is wrong with the conditions.
    pub(crate) fn of(
        expressions: Expressions<'_>,
        schema: &TableSchema,
        table: &str,
    ) -> Result<Self> {
        if schema.checks.is_empty() {
            return Ok(Self::default());
        }
        let columns = columns_of(schema, table)?;
        let conditions = schema.checks.iter().map(|check| {
            let condition = expressions.compiled(&parse_expr(&check.condition)?, &columns)?;
            Ok((check.name.clone(), condition))
        });
        Ok(Self {
            table: table.to_owned(),
            conditions: conditions.collect::<Result<_>>()?,
        })
    }

    /// Checks rows of all columns of the table.
    ///
    /// # Errors
    /// `23514`, naming the constraint and the row.
    pub(crate) fn check(&self, rows: &RecordBatch) -> Result<()> {
        for (name, condition) in &self.conditions {
            let met = condition.evaluate(rows)?.into_array(rows.num_rows())?;
            let met = datafusion::arrow::array::AsArray::as_boolean_opt(&met)
                .ok_or_else(|| Error::internal(format!("CHECK \"{name}\" is no condition")))?;
            let failed = (0..met.len()).find(|row| met.is_valid(*row) && !met.value(*row));
            if let Some(row) = failed {
                let values = rows.columns().iter().map(|column| show(column, row));
                let values: Vec<String> = values.collect();
                return Err(Error::new(
                    "23514",
                    format!(
                        "new row for relation \"{}\" violates check constraint \"{name}\"",
                        self.table
                    ),
                )
                .with_detail(format!("Failing row contains ({}).", values.join(", "))));
            }
        }
        Ok(())
    }
}

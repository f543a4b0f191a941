//! RETURNING: a statement's rows, as it left them or took them away.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, SelectItem, SelectItemQualifiedWildcardKind as Qualified,
};
use freestone_storage::Table;

use super::Run;
use crate::error::{Error, Result};
use crate::ingest::nullable;
use crate::plan::expression::columns_of;
use crate::plan::names::{fold, fold_part};
use crate::plan::naming::column_name;
use crate::plan::rewrite::has_query;
use crate::session::Outcome;

impl Run<'_> {
    /// The outcome of a statement that changed `rows`: the RETURNING list over
    /// them, if there is one, else its tag.
    ///
    /// # Errors
    /// Whatever is wrong with the list.
    pub(super) fn returned(
        &self,
        table: &Table,
        alias: &str,
        list: Option<&[SelectItem]>,
        rows: &[RecordBatch],
        tag: String,
        count: u64,
    ) -> Result<Outcome> {
        let Some(list) = list else {
            return Ok(Outcome::Done { tag, rows: count });
        };
        let rows = concat_batches(&nullable(&table.schema), rows)?;
        let columns = columns_of(&table.schema, alias)?;
        let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = Default::default();
        let mut add = |field: Field, array: ArrayRef| {
            fields.push(field);
            arrays.push(array);
        };
        let all = || -> Result<Vec<(Field, ArrayRef)>> {
            let all = table.schema.columns.iter().zip(rows.columns());
            let all = all.map(|(column, array)| {
                let name = column.name.clone();
                if column.kind.has_keys() {
                    let field = Field::new(name, array.data_type().clone(), true);
                    return Ok((field, Arc::clone(array)));
                }
                // Clients are shown another form than the column has.
                let expr = Expr::Identifier(Ident::with_quote('"', &name));
                let (field, array) = self.expressions().shown(&expr, &columns, &rows)?;
                Ok((field.with_name(name), array))
            });
            all.collect()
        };
        for item in list {
            let (expr, name) = match item {
                SelectItem::UnnamedExpr(expr) => (expr, column_name(expr)),
                SelectItem::ExprWithAlias { expr, alias } => (expr, fold(alias)),
                SelectItem::Wildcard(_) => {
                    all()?
                        .into_iter()
                        .for_each(|(field, array)| add(field, array));
                    continue;
                }
                SelectItem::QualifiedWildcard(Qualified::ObjectName(name), _)
                    if name.0.last().and_then(fold_part).as_deref() == Some(alias) =>
                {
                    all()?
                        .into_iter()
                        .for_each(|(field, array)| add(field, array));
                    continue;
                }
                other => {
                    let message = format!("RETURNING {other} is not supported");
                    return Err(Error::unsupported(message));
                }
            };
            if has_query(expr) {
                return Err(Error::unsupported(
                    "a sub-query in RETURNING is not supported",
                ));
            }
            let (field, array) = self.expressions().shown(expr, &columns, &rows)?;
            add(field.with_name(name), array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let schema = Arc::new(Schema::new(fields));
        Outcome::batch(RecordBatch::try_new_with_options(schema, arrays, &options)?)
    }
}

//! ALTER TABLE … ADD COLUMN and DROP COLUMN: blocks stay as they are.
//!
//! The default of a new column is computed once, when it is added; rows that are
//! there already have that value from then on. All columns of a statement come
//! and go in one commit.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use freestone_storage::{CatalogEdit, Column, Table, TableSchema};
use sqlparser::ast::{AlterTableOperation, ColumnDef, DropBehavior};

use super::Run;
use super::copy::fill::Fill;
use super::declare::Declared;
use super::dependents::{Dependent, cascades, drop_all, may_go};
use super::identity::NewIdentity;
use crate::error::{Error, Result};
use crate::front::{columns_in, parse_expr};
use crate::ingest::Checks;
use crate::names::{Name, fold, position};
use crate::relations::Without;

/// One column to come or go.
enum Change {
    Add(Column, ArrayRef, Vec<NewIdentity>),
    Drop(String),
    /// Views over a column.
    Views(Vec<Dependent>),
}

impl Run<'_> {
    /// Runs a list of ADD COLUMN and DROP COLUMN on a table.
    pub(super) fn alter_columns(
        &self,
        name: &Name,
        operations: &[AlterTableOperation],
    ) -> Result<()> {
        let table = self.stored_table(name)?;
        let mut changes = Vec::new();
        for operation in operations {
            match operation {
                AlterTableOperation::AddColumn {
                    column_def,
                    column_position: None,
                    ..
                } => changes.push(self.addition(table, column_def)?),
                AlterTableOperation::DropColumn {
                    column_names,
                    if_exists,
                    drop_behavior,
                    has_column_keyword: _,
                } => {
                    let cascade = matches!(drop_behavior, Some(DropBehavior::Cascade));
                    for ident in column_names {
                        let name = fold(ident);
                        if let Some(column) = table.schema.index_of(&name) {
                            let mut read_by = generated_from(&table.schema, column)?;
                            let hidden = |name: &String| {
                                let at = table.schema.index_of(name);
                                at.is_some_and(|at| table.schema.columns[at].hidden.is_some())
                            };
                            // Indexes over it go with it.
                            let indexed = read_by.extract_if(.., |name| hidden(name));
                            changes.extend(indexed.map(Change::Drop));
                            if let Some(first) = read_by.first().filter(|_| !cascade) {
                                let table = &table.name;
                                let message = format!(
                                    "cannot drop column {name} of table {table} because other \
                                     objects depend on it"
                                );
                                return Err(Error::new("2BP01", message)
                                    .with_detail(format!(
                                        "column {first} of table {table} depends on column {name} \
                                         of table {table}"
                                    ))
                                    .with_hint(
                                        "Use DROP ... CASCADE to drop the dependent objects too.",
                                    ));
                            }
                            changes.push(Change::Views(self.over_column(table, &name, cascade)?));
                            changes.extend(read_by.into_iter().map(Change::Drop));
                            changes.push(Change::Drop(name));
                        } else if !if_exists {
                            let message = format!(
                                "column \"{name}\" of relation \"{}\" does not exist",
                                table.name
                            );
                            return Err(Error::new("42703", message).at(position(ident)));
                        }
                    }
                }
                _ => return Err(refused()),
            }
        }
        if !self.session.in_transaction() {
            // Rows in no block have the columns of today.
            self.store().move_delta(table.id)?;
        }
        let _hold = self.store().hold_mover(table.id);
        let views = changes.iter().filter_map(|change| match change {
            Change::Views(views) => Some(views),
            _ => None,
        });
        let gone: Vec<String> = views.flatten().map(|view| view.shown.clone()).collect();
        self.edit(|edit| apply(edit, table, changes))?;
        if let Some(notice) = cascades(&gone) {
            self.session.notify(notice);
        }
        Ok(())
    }

    /// The views over a column that is to be dropped.
    fn over_column(&self, table: &Table, column: &str, cascade: bool) -> Result<Vec<Dependent>> {
        let run = self.within()?;
        let name = Name::in_catalog(run.snapshot.catalog(), table);
        let found = run.views_over(&Without::Column(name.clone(), column.to_owned()), &name);
        may_go(&found, &format!("column {column} of table {name}"), cascade)?;
        Ok(found)
    }

    fn addition(&self, table: &Table, definition: &ColumnDef) -> Result<Change> {
        let name = Name::of_table(table);
        let mut declared = Declared::from(self, &name, TableSchema::default());
        declared.column(definition)?;
        let identities = std::mem::take(&mut declared.identities);
        let mut written = declared.schema_of_column()?;
        let mut column = written.columns[0].clone();
        let default = column.default.as_deref();
        let numbered = default.is_some_and(|text| text.to_lowercase().contains("nextval"))
            || !identities.is_empty();
        if numbered && table.rows() > 0 {
            if table.schema.is_in_partitions() {
                let message = "ADD COLUMN with numbers of a sequence for rows of partitions";
                return Err(Error::unsupported(format!("{message} is not supported"))
                    .with_hint("make a table with that column, and INSERT the rows into it"));
            }
            // They get their numbers next.
            column.nullable = true;
            written.columns[0] = Column {
                default: None,
                ..column.clone()
            };
        }
        let written = Arc::new(written);
        let value = Fill::new(self, &written, Vec::new())?.batch(&[], 1)?;
        if table.rows() > 0 {
            // Rows that are there have the value.
            Checks::of(self.expressions(), &written, &table.name)?.check(&value)?;
        }
        Ok(Change::Add(column, Arc::clone(value.column(0)), identities))
    }
}

/// Names of the generated columns that read a column.
///
/// # Errors
/// Those of reading their expressions.
pub(super) fn generated_from(schema: &TableSchema, column: usize) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for computed in schema.columns.iter().filter(|column| column.generated) {
        let expr = parse_expr(computed.default.as_deref().unwrap_or_default())?;
        // The table's name is none of the columns of another.
        let table = Name::new("", "");
        if columns_in(&expr, schema, &table).contains(&column) {
            names.push(computed.name.clone());
        }
    }
    Ok(names)
}

/// What ALTER TABLE says to everything else.
pub(super) fn refused() -> Error {
    Error::unsupported("this form of ALTER TABLE is not supported")
        .with_hint("one ALTER TABLE adds and drops columns, sets options, or does one other change")
}

fn apply(edit: &mut CatalogEdit, table: &Table, changes: Vec<Change>) -> Result<()> {
    let schema_of = |edit: &CatalogEdit| {
        let mut tables = edit.catalog().all_tables();
        let known = tables.find(|(_, known)| known.id == table.id);
        known.map(|(schema, _)| schema.to_owned())
    };
    for change in changes {
        match change {
            Change::Add(column, value, identities) => {
                let mut name = Name::of_table(table);
                name.schema = schema_of(edit).unwrap_or(name.schema);
                let mut alone = TableSchema {
                    columns: vec![column],
                    ..TableSchema::default()
                };
                let numbered = !identities.is_empty() && table.rows() > 0;
                for identity in identities {
                    identity.create(edit, &name, &mut alone)?;
                }
                for mut column in alone.columns {
                    column.nullable |= numbered && value.is_null(0);
                    edit.add_column(table.id, column, &value)?;
                }
            }
            Change::Views(views) => drop_all(edit, &views)?,
            Change::Drop(name) => {
                // A hidden column may have gone with an index over another one.
                let known = edit.catalog().table_by_id(table.id);
                if known.is_none_or(|known| known.schema.index_of(&name).is_some()) {
                    edit.drop_column(table.id, &name)?;
                }
            }
        }
    }
    Ok(())
}

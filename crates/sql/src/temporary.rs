//! Schemas of temporary tables, and what goes with one.

use freestone_storage::{CatalogEdit, Store, TableId};

use crate::error::Result;
use crate::front::takes_numbers_of;
use crate::ingest;
use crate::names::{Name, TEMPORARY};

/// Removes what sessions have left that did not come to their end.
///
/// # Errors
/// Errors of storage.
pub(crate) fn remove_left(store: &Store) -> Result<()> {
    let snapshot = store.snapshot();
    let schemas = snapshot.catalog().schemas();
    let left = schemas.filter(|name| name.starts_with(TEMPORARY));
    let left: Vec<String> = left.map(str::to_owned).collect();
    left.iter().try_for_each(|schema| remove(store, schema))
}

/// Removes a schema of temporary tables.
///
/// # Errors
/// Errors of storage.
pub(crate) fn remove(store: &Store, schema: &str) -> Result<()> {
    ingest::commit(store, |edit| {
        if edit.catalog().schemas().any(|known| known == schema) {
            drop_defaults(edit, schema)?;
            edit.drop_schema(schema, true)?;
        }
        Ok(())
    })
}

/// Drops the defaults of tables in other schemas that take numbers of a schema's sequences.
///
/// # Errors
/// Errors of storage.
pub(crate) fn drop_defaults(edit: &mut CatalogEdit, schema: &str) -> Result<()> {
    let sequences = edit.catalog().all_sequences();
    let sequences = sequences.filter(|(of, _)| *of == schema);
    let names = sequences.map(|(of, sequence)| Name::new(of, &sequence.name));
    let names: Vec<Name> = names.collect();
    for name in names {
        for (table, column, _) in users(edit, &name) {
            edit.drop_default(table, column)?;
        }
    }
    Ok(())
}

/// Columns other than identity columns whose defaults take numbers of a sequence.
pub(crate) fn users(edit: &CatalogEdit, name: &Name) -> Vec<(TableId, usize, String)> {
    let mut users = Vec::new();
    for (_, table) in edit.catalog().all_tables() {
        for (number, column) in table.schema.columns.iter().enumerate() {
            let plain = column.identity.is_none();
            let default = column.default.as_deref().filter(|_| plain);
            if default.is_some_and(|text| takes_numbers_of(text, name)) {
                let described = format!(
                    "default value for column {} of table {}",
                    column.name, table.name
                );
                users.push((table.id, number, described));
            }
        }
    }
    users
}

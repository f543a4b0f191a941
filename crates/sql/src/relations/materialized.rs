//! Materialized views are stored tables that are read once they have rows, and that no statement
//! changes.

use freestone_storage::Table;

use crate::error::{Error, Result};
use crate::names::Name;

/// Refuses to change rows of a materialized view.
///
/// # Errors
/// `42809`.
pub(crate) fn may_change(name: &Name, table: &Table) -> Result<()> {
    match table.schema.materialized {
        Some(_) => {
            let message = format!("cannot change materialized view \"{}\"", name.name);
            let error = Error::new("42809", message).at(name.position);
            Err(error.with_hint("REFRESH MATERIALIZED VIEW does."))
        }
        None => Ok(()),
    }
}

/// Refuses to read a materialized view that has no rows yet.
///
/// # Errors
/// `55000`.
pub(crate) fn may_read(table: &Table) -> Result<()> {
    match &table.schema.materialized {
        Some(view) if !view.populated => {
            let message = format!(
                "materialized view \"{}\" has not been populated",
                table.name
            );
            Err(Error::new("55000", message)
                .with_hint("Use the REFRESH MATERIALIZED VIEW command."))
        }
        _ => Ok(()),
    }
}

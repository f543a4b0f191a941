//! Clauses of INSERT that are parsed and not done.

use sqlparser::ast::Insert;

use crate::dialect::overriding;
use crate::error::{Error, Result};

/// Refuses an INSERT with a clause that would be ignored otherwise.
///
/// # Errors
/// 0A000 naming the clause.
pub(super) fn refuse_clauses(insert: &Insert) -> Result<()> {
    let clauses = [
        (insert.or.is_some(), "OR"),
        (insert.ignore, "IGNORE"),
        (insert.overwrite, "OVERWRITE"),
        (insert.replace_into, "REPLACE"),
        (insert.output.is_some(), "OUTPUT"),
        (
            insert.partitioned.is_some() && overriding(insert).is_none(),
            "PARTITION",
        ),
        (!insert.assignments.is_empty(), "SET"),
        (insert.insert_alias.is_some(), "an alias"),
        (insert.settings.is_some(), "SETTINGS"),
        (insert.format_clause.is_some(), "FORMAT"),
        (insert.multi_table_insert_type.is_some(), "several tables"),
    ];
    match clauses.iter().find(|(present, _)| *present) {
        Some((_, clause)) => Err(Error::unsupported(format!(
            "INSERT with {clause} is not supported yet"
        ))),
        None => Ok(()),
    }
}

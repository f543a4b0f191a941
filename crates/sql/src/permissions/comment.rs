//! The table that a comment is about.

use freestone_storage::{Catalog, Table};
use sqlparser::ast::{CommentObject, Ident, ObjectName, ObjectNamePart};

use crate::error::{Error, Result};
use crate::names::{Name, table_name};

/// What the parser is told that a constraint is: see `dialect::comment`.
pub(crate) const CONSTRAINT: CommentObject = CommentObject::Domain;

/// The table whose comment, or a part's of it, a statement sets.
///
/// # Errors
/// `0A000` for what has no comments, `42601` for a part without a table.
pub(crate) fn commented<'a>(
    catalog: &'a Catalog,
    kind: CommentObject,
    written: &ObjectName,
) -> Result<Option<&'a Table>> {
    let name = match kind {
        CommentObject::Index => {
            let name = table_name(written)?;
            let found = catalog.index(&name.schema, &name.name);
            return Ok(found.map(|(table, _)| table.as_ref()));
        }
        CommentObject::Table => table_name(written)?,
        CommentObject::Column | CONSTRAINT => part_of_table(written)?.0,
        other => {
            let message = format!("comments on a {other} are not kept");
            return Err(Error::unsupported(message)
                .with_hint("those on tables, columns, constraints and indexes are"));
        }
    };
    let table = catalog.table(&name.schema, &name.name);
    Ok(table.map(|table| table.as_ref()))
}

/// The name of a table, and of a part of it that is written behind it.
pub(crate) fn part_of_table(written: &ObjectName) -> Result<(Name, Ident)> {
    let mut table = written.clone();
    match table.0.pop() {
        Some(ObjectNamePart::Identifier(part)) if !table.0.is_empty() => {
            Ok((table_name(&table)?, part))
        }
        _ => {
            let error = Error::new("42601", format!("\"{written}\" names no table"));
            Err(error.with_hint("write table.column"))
        }
    }
}

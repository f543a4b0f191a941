//! CREATE SCHEMA with what is in it.
//!
//! ```sql
//! CREATE SCHEMA shop
//!     CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)
//!     CREATE VIEW names AS SELECT name FROM items
//!     GRANT SELECT ON items TO clerk;
//! ```
//!
//! Each element is a statement of its own, which finds the new schema first in its path. They
//! are run within one transaction: sequences first, then tables, views, indexes and rights, so
//! that none stands before one that it needs. CREATE TRIGGER is refused as elsewhere.

use sqlparser::ast::{ObjectName, ObjectNamePart, SchemaName, Statement as Ast};

use crate::error::{Error, Result};
use crate::names::{fold_part, quoted, schema_name};
use crate::outcome::Outcome;
use crate::session::Session;
use crate::statement::{Statement, parse, parse_one};

/// Makes a schema by a statement, and what is in it.
///
/// # Errors
/// `42P15` for elements of another schema; those of the statements. Nothing has changed then.
pub(super) async fn create(session: &Session, head: &str, elements: &[String]) -> Result<Outcome> {
    let Ast::CreateSchema {
        schema_name: SchemaName::Simple(name),
        if_not_exists,
        ..
    } = parse_one(head)?
    else {
        return Err(Error::unsupported(
            "CREATE SCHEMA … AUTHORIZATION is not supported",
        ));
    };
    if if_not_exists {
        let message = "CREATE SCHEMA IF NOT EXISTS cannot include schema elements";
        return Err(Error::unsupported(message));
    }
    let schema = schema_name(&name)?;
    let elements = ordered(&schema, elements)?;
    let alone = !session.in_transaction();
    if alone {
        session.begin_implicit()?;
    }
    let done = within(session, &schema, head, &elements).await;
    if alone {
        if done.is_err() {
            session.fail();
        }
        session.end_implicit().await?;
    }
    done?;
    Ok(Outcome::done("CREATE SCHEMA"))
}

async fn within(session: &Session, schema: &str, head: &str, elements: &[&str]) -> Result<()> {
    session.execute(head).await?;
    let before = session.client().get("search_path").unwrap_or_default();
    let path = |path: &str| format!("SET LOCAL search_path TO {path}");
    // An empty path is shown as an empty name, which cannot be written as one.
    let before = match before.as_str() {
        "" | "\"\"" => "''",
        path => path,
    };
    let first = format!("{}, {before}", quoted(schema));
    session.execute(&path(&first)).await?;
    for element in elements {
        // Places in an element are none in the statement.
        let done = session.execute(element).await;
        done.map_err(Error::placeless)?;
    }
    session.execute(&path(before)).await?;
    Ok(())
}

/// The elements in the order in which they are run.
fn ordered<'a>(schema: &str, elements: &'a [String]) -> Result<Vec<&'a str>> {
    let mut ranked = Vec::with_capacity(elements.len());
    for element in elements {
        let parsed = parse(element)?;
        let (rank, name) = match parsed.first().and_then(Statement::sql) {
            Some(Ast::CreateSequence { name, .. }) => (0, Some(name)),
            Some(Ast::CreateTable(create)) => (1, Some(&create.name)),
            Some(Ast::CreateView(view)) => (2, Some(&view.name)),
            Some(Ast::CreateIndex(create)) => (3, Some(&create.table_name)),
            _ => (4, None),
        };
        if let Some(other) = name.and_then(schema_of).filter(|other| other != schema) {
            let message = format!(
                "CREATE specifies a schema ({other}) different from the one being created \
                 ({schema})"
            );
            return Err(Error::new("42P15", message));
        }
        ranked.push((rank, element.as_str()));
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    Ok(ranked.into_iter().map(|(_, element)| element).collect())
}

/// The schema that a name is written with.
fn schema_of(name: &ObjectName) -> Option<String> {
    let parts: &[ObjectNamePart] = &name.0;
    fold_part(parts.get(parts.len().checked_sub(2)?)?)
}

//! Names in statements: `table`, `schema.table`, `freestone.schema.table`.
//!
//! There is one catalog, `freestone`, and one default schema, `main`. Names that
//! are not quoted are folded to lower case, as in PostgreSQL.

mod kept;
mod made;
mod reserved;

use sqlparser::ast::{Ident, ObjectName, ObjectNamePart};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

use freestone_storage::{Catalog, Table};

use crate::error::{Error, Position, Result, parser};
pub(crate) use kept::{PG_TEMP, TEMPORARY, has_function, has_rows, temporary_schema};
pub(crate) use made::Parts;
use reserved::is_reserved;

/// The only catalog.
pub(crate) const CATALOG: &str = "freestone";

/// The schema of names without one.
pub(crate) const DEFAULT_SCHEMA: &str = "main";

/// What PostgreSQL calls the schema of names without one: the default one, here.
pub(crate) const PUBLIC: &str = "public";

/// The schema.
pub(crate) const PG_CATALOG: &str = "pg_catalog";

/// A schema's name as clients are told it.
pub(crate) fn shown_schema(schema: &str) -> &str {
    match schema {
        DEFAULT_SCHEMA => PUBLIC,
        other => other,
    }
}

/// The schema of a name that clients use.
pub(crate) fn meant_schema(schema: &str) -> &str {
    match schema {
        PUBLIC => DEFAULT_SCHEMA,
        other => other,
    }
}

/// The schema that describes the others.
pub(crate) const INFORMATION_SCHEMA: &str = "information_schema";

/// The schema of PostgreSQL's rows that are too long for their table's file.
pub(crate) const PG_TOAST: &str = "pg_toast";

/// A table's or view's full name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) schema: String,
    pub(crate) name: String,
    pub(crate) position: Option<Position>,
}

impl Name {
    /// The name of something that is there, not written in a statement.
    pub(crate) fn new(schema: &str, name: &str) -> Self {
        Self {
            schema: schema.to_owned(),
            name: name.to_owned(),
            position: None,
        }
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.schema == DEFAULT_SCHEMA {
            f.write_str(&self.name)
        } else {
            write!(f, "{}.{}", self.schema, self.name)
        }
    }
}

impl Name {
    /// The name of a table that was found, for messages.
    pub(crate) fn of_table(table: &Table) -> Self {
        Self {
            schema: DEFAULT_SCHEMA.to_owned(),
            name: table.name.clone(),
            position: None,
        }
    }

    /// The full name of a table.
    pub(crate) fn in_catalog(catalog: &Catalog, table: &Table) -> Self {
        let mut all = catalog.all_tables();
        match all.find(|(_, known)| known.id == table.id) {
            Some((schema, table)) => Self::new(schema, &table.name),
            None => Self::of_table(table),
        }
    }
}

/// The identifier as the catalog spells it.
pub(crate) fn fold(ident: &Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_lowercase(),
    }
}

/// Where an identifier stands.
pub(crate) fn position(ident: &Ident) -> Option<Position> {
    let start = ident.span.start;
    (start.line > 0).then_some(Position {
        line: start.line,
        column: start.column,
    })
}

/// The column that `table.column` or `schema.table.column` is of a table without an alias.
pub(crate) fn column_of<'a>(parts: &'a [Ident], table: &Name) -> Option<&'a Ident> {
    let (column, named) = parts.split_last()?;
    let (name, schema) = named.split_last()?;
    let is_schema = match schema {
        [] => true,
        [schema] => schema_of(schema) == table.schema,
        [catalog, schema] => fold(catalog) == CATALOG && schema_of(schema) == table.schema,
        _ => false,
    };
    (fold(name) == table.name && is_schema).then_some(column)
}

/// Resolves the written name of a table or view.
///
/// # Errors
/// `0A000` for another catalog, `42602` for names with too many parts.
pub(crate) fn table_name(name: &ObjectName) -> Result<Name> {
    let parts = idents(name)?;
    let position = parts.first().and_then(|ident| position(ident));
    let (schema, name) = match parts.as_slice() {
        [name] => (DEFAULT_SCHEMA.to_owned(), fold(name)),
        [schema, name] => (schema_of(schema), fold(name)),
        [catalog, schema, name] => {
            check_catalog(&fold(catalog))?;
            (schema_of(schema), fold(name))
        }
        _ => {
            return Err(Error::new(
                "42601",
                format!("improper qualified name (too many dotted names): {name}"),
            ));
        }
    };
    Ok(Name {
        schema,
        name,
        position,
    })
}

fn schema_of(ident: &Ident) -> String {
    let name = fold(ident);
    match name == PUBLIC {
        true => DEFAULT_SCHEMA.to_owned(),
        false => name,
    }
}

/// Resolves a written schema name.
///
/// # Errors
/// As [`table_name`].
pub(crate) fn schema_name(name: &ObjectName) -> Result<String> {
    match idents(name)?.as_slice() {
        [schema] => Ok(schema_of(schema)),
        [catalog, schema] => {
            check_catalog(&fold(catalog))?;
            Ok(schema_of(schema))
        }
        _ => Err(Error::new("42601", format!("improper schema name: {name}"))),
    }
}

/// The parts of a name inside a string.
///
/// # Errors
/// `42601`.
pub(crate) fn written_name(text: &str) -> Result<ObjectName> {
    let name = Parser::new(&PostgreSqlDialect {})
        .try_with_sql(text)
        .and_then(|mut parser| parser.parse_object_name(false));
    name.map_err(|error| Error {
        position: None,
        ..parser(&error)
    })
}

/// A name inside a string, such as `'s.t'` or `'"My table"'`.
///
/// # Errors
/// `42601`; those of [`table_name`].
pub(crate) fn named(text: &str) -> Result<Name> {
    let mut name = table_name(&written_name(text)?)?;
    name.position = None;
    Ok(name)
}

/// The file meant by `FROM 'file'`: a name written as a string.
pub(crate) fn file_name(name: &ObjectName) -> Option<&str> {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(ident)] if ident.quote_style == Some('\'') => {
            Some(&ident.value)
        }
        _ => None,
    }
}

/// A part of a written name, folded.
pub(crate) fn fold_part(part: &ObjectNamePart) -> Option<String> {
    part.as_ident().map(fold)
}

/// `name` in double quotes when it needs them.
pub(crate) fn quoted(name: &str) -> String {
    let plain = name
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && !is_reserved(name);
    if plain {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

fn idents(name: &ObjectName) -> Result<Vec<&Ident>> {
    name.0
        .iter()
        .map(|part| {
            part.as_ident()
                .ok_or_else(|| Error::new("42601", format!("\"{name}\" is no name")))
        })
        .collect()
}

fn check_catalog(catalog: &str) -> Result<()> {
    if catalog == CATALOG {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "cross-database references are not implemented: \"{catalog}\""
    ))
    .with_hint(format!("the only catalog is \"{CATALOG}\"")))
}

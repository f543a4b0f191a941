//! `pg_catalog`: what clients of PostgreSQL ask about tables, columns, keys and types.
//!
//! Object numbers are made from those of tables: they stay as long as the table does.
//! Numbers of types are PostgreSQL's, as drivers know them.

mod comments;
mod empty;
mod facts;
mod functions;
mod keys;
mod objects;
mod others;
mod roles;
mod types;

use std::sync::Arc;

use datafusion::catalog::TableProvider;

use super::relations::Relations;
use super::rows::table as rows_table;
use crate::error::Result;
use facts::Facts;

pub(crate) use empty::emptied;
pub(crate) use functions::rewritten;
pub(crate) use roles::{object_numbered, schema_numbered};

/// The schema.
pub(crate) const PG_CATALOG: &str = "pg_catalog";

/// The table `pg_catalog.name`, or `None` when there is none.
///
/// # Errors
/// Those of planning a view whose columns are listed.
pub(crate) fn table(
    relations: &Relations<'_>,
    name: &str,
) -> Result<Option<Arc<dyn TableProvider>>> {
    let Some(columns) = others::columns(name) else {
        return Ok(None);
    };
    let mut facts = Facts::new(columns);
    if roles::fill(relations, name, &mut facts)? {
        return Ok(Some(rows_table(facts.batch()?)?));
    }
    match name {
        "pg_namespace" => objects::namespaces(relations, &mut facts),
        "pg_class" => objects::classes(relations, &mut facts),
        "pg_attribute" => objects::attributes(relations, &mut facts),
        "pg_attrdef" => objects::defaults(relations, &mut facts),
        "pg_sequence" => objects::sequences(relations, &mut facts),
        "pg_tables" => objects::tables(relations, &mut facts),
        "pg_views" => objects::views(relations, &mut facts),
        "pg_indexes" => keys::index_texts(relations, &mut facts),
        "pg_index" => keys::indexes(relations, &mut facts),
        "pg_description" => comments::descriptions(relations, &mut facts),
        "pg_constraint" => keys::constraints(relations, &mut facts),
        "pg_type" => types::types(&mut facts),
        _ => others::fill(relations, name, &mut facts),
    }
    Ok(Some(rows_table(facts.batch()?)?))
}

//! `pg_catalog`: what clients of PostgreSQL ask about tables, columns, keys and types.
//!
//! Object numbers are made from those of tables: they stay as long as the table does.
//! Numbers of types are PostgreSQL's, as drivers know them.
//!
//! `columns` has the tables and their columns as PostgreSQL has them; `others` the rows of those
//! that say little.

mod about;
mod classes;
mod columns;
mod comments;
mod composites;
mod depends;
pub(crate) mod facts;
mod kept;
mod keys;
pub(crate) mod objects;
mod operators;
mod others;
pub(crate) mod procedures;
mod roles;
pub(crate) mod routines;
pub(crate) mod system;
pub(crate) mod types;

use std::iter::repeat_n;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use arrow::compute::concat;
use arrow::datatypes::{Field, Schema};
use freestone_frontend::types::{Internal, Type};

use self::facts::Facts;
use crate::error::Result;
use crate::relations::{Relations, TABLE};

pub(crate) use self::classes::method_has;
pub(crate) use self::depends::tables_read_by;
pub(crate) use self::kept::{KeptBySession, KeptStatement, OpenCursor};
pub(crate) use self::keys::read_by_default;
pub(crate) use self::roles::{
    number as role_number, object_numbered, schema_numbered, system_schema,
};

/// A table of the catalog: its number, its columns and their types.
pub(crate) fn described(name: &str) -> Option<(i64, Vec<(String, Type)>)> {
    let at = columns::TABLES.binary_search_by(|(known, ..)| (*known).cmp(name));
    let (_, number, columns) = columns::TABLES.get(at.ok()?)?;
    Some((*number, typed(columns)))
}

/// Columns as the lists of tables write them: `oid:oid relname`.
pub(crate) fn typed(columns: &str) -> Vec<(String, Type)> {
    let columns = columns.split_ascii_whitespace();
    let columns = columns.map(|column| match column.split_once(':') {
        None => (column.to_owned(), Type::Name),
        Some((name, ty)) => (name.to_owned(), type_named(ty)),
    });
    columns.collect()
}

/// Names and types of the columns of a table of the catalog.
pub(crate) fn columns_of(name: &str) -> Vec<(&'static str, Type)> {
    let mut all = columns::TABLES.iter();
    let found = all.find(|(known, ..)| *known == name);
    let columns = found
        .map_or("", |(.., columns)| *columns)
        .split_ascii_whitespace();
    let columns = columns.map(|column| match column.split_once(':') {
        None => (column, Type::Name),
        Some((name, ty)) => (name, type_named(ty)),
    });
    columns.collect()
}

fn type_named(name: &str) -> Type {
    if let Some(element) = name.strip_prefix('_') {
        return type_named(element).array();
    }
    match name {
        "char" => Type::CatalogChar,
        "anyarray" => Type::Text.array(),
        other => freestone_frontend::types::named(other).unwrap_or(Type::Text),
    }
}

/// Numbers and names of the tables of the catalog.
pub(crate) fn numbers() -> impl Iterator<Item = (i64, &'static str)> {
    columns::TABLES
        .iter()
        .map(|(name, number, _)| (*number, *name))
}

/// What is told of a table of the catalog.
///
/// # Errors
/// `42501`.
pub(crate) fn facts(relations: &Relations<'_>, name: &str) -> Result<Facts> {
    let mut facts = Facts::default();
    fill(relations, name, &mut facts)?;
    Ok(facts)
}

/// The rows of a table of the catalog; none if only its columns are asked for.
///
/// # Errors
/// `42501`.
pub(crate) fn rows(
    relations: &Relations<'_>,
    name: &str,
    columns: &[(String, Type)],
) -> Result<RecordBatch> {
    let mut facts = Facts::default();
    fill(relations, name, &mut facts)?;
    let number = described(name).map_or(0, |(number, _)| number);
    // Rows are not asked for where only columns are looked for.
    let describing = &relations.describing;
    let is_described = describing.load(std::sync::atomic::Ordering::Relaxed);
    let system = system::rows(name).filter(|_| !is_described);
    let count = facts.len() + system.map_or(0, RecordBatch::num_rows);
    let fields = columns
        .iter()
        .map(|(name, ty)| Field::new(name, ty.arrow(), true));
    let schema = Schema::new(fields.collect::<Vec<_>>());
    let arrays = columns.iter().map(|(column, ty)| {
        let same = match column.as_str() {
            TABLE => Some(number),
            VERSION if *ty == Type::Internal(Internal::Xid) => Some(version_of(relations)),
            _ => None,
        };
        if let Some(number) = same {
            let numbers = Int64Array::from_iter_values(repeat_n(number, count));
            return Ok(Arc::new(numbers) as ArrayRef);
        }
        let own = facts.column(column, ty);
        match system.and_then(|system| system.column_by_name(column)) {
            Some(system) => concat(&[&own, system]),
            None => Ok(own),
        }
    });
    let arrays = arrays.collect::<std::result::Result<Vec<ArrayRef>, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(count));
    Ok(RecordBatch::try_new_with_options(
        Arc::new(schema),
        arrays,
        &options,
    )?)
}

/// The number of `pg_class` among tables.
const CLASSES: i64 = 1259;
/// The number of `pg_namespace`.
const SCHEMAS: i64 = 2615;
/// The number of `pg_constraint`.
const CONSTRAINTS: i64 = 2606;

/// The column with the number of the transaction that made a row: rows of the catalog are made
/// of the version of it that a statement sees.
pub(crate) const VERSION: &str = "xmin";

/// The number of the version of the catalog that a statement sees, as that of a transaction.
pub(crate) fn version_of(relations: &Relations<'_>) -> i64 {
    const FIRST: i64 = 3;
    let time = relations.snapshot.timestamp() & 0x3fff_ffff;
    FIRST + i64::try_from(time).unwrap_or_default()
}

fn fill(relations: &Relations<'_>, name: &str, facts: &mut Facts) -> Result<()> {
    // A view over the catalog has columns, whatever rows there are.
    if relations
        .describing
        .load(std::sync::atomic::Ordering::Relaxed)
    {
        return Ok(());
    }
    if roles::fill(relations, name, facts)? || classes::fill(name, facts) {
        return Ok(());
    }
    match name {
        "pg_namespace" => objects::namespaces(relations, facts),
        "pg_class" => {
            objects::classes(relations, facts);
            composites::classes(relations, facts);
        }
        "pg_attribute" => {
            objects::attributes(relations, facts);
            composites::attributes(relations, facts);
        }
        "pg_attrdef" => objects::defaults(relations, facts),
        "pg_sequence" => objects::sequences(relations, facts),
        "pg_tables" => objects::tables(relations, facts),
        "pg_sequences" => objects::sequence_views(relations, facts),
        "pg_stat_user_tables" | "pg_stat_all_tables" => {
            objects::rows_of_tables(relations, facts, true);
        }
        "pg_statio_user_tables" | "pg_statio_all_tables" => {
            objects::rows_of_tables(relations, facts, false);
        }
        "pg_views" => objects::views(relations, facts),
        "pg_matviews" => objects::materialized(relations, facts),
        "pg_indexes" => keys::index_texts(relations, facts),
        "pg_index" => keys::indexes(relations, facts),
        "pg_description" => comments::descriptions(relations, facts),
        "pg_constraint" => {
            keys::constraints(relations, facts);
            keys::of_domains(relations, facts);
        }
        "pg_type" => {
            types::types(facts);
            types::created(relations, facts);
            types::of_rows(relations, facts);
        }
        "pg_depend" => depends::dependencies(relations, facts),
        "pg_rewrite" => depends::rules(relations, facts),
        "pg_partitioned_table" => objects::partitioned(relations, facts),
        "pg_inherits" => objects::inherited(relations, facts),
        "pg_cast" => operators::casts(facts),
        "pg_operator" => operators::operators(facts),
        "pg_cursors" => kept::cursors(relations, facts),
        "pg_locks" => kept::locks(relations, facts),
        "pg_prepared_statements" => kept::statements(relations, facts),
        "pg_aggregate" => routines::aggregates(relations, facts),
        "pg_enum" => types::labels(relations, facts),
        "pg_range" => types::ranges(facts),
        _ => others::fill(relations, name, facts),
    }
    Ok(())
}

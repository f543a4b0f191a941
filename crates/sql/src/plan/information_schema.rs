//! `information_schema`: schemata, tables, columns, views, sequences; constraints are in
//! `information_constraints`.
//!
//! The columns are those of the SQL standard that have a meaning here; types are
//! named as in PostgreSQL.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use freestone_storage::{
    Column, ColumnType, Identity, Object, Sequence, SequenceDefinition, Table, View,
};

use super::information_constraints;
use super::names::{CATALOG, INFORMATION_SCHEMA, Name};
use super::privileges;
use super::relations::Relations;
use super::rows::{Values, batch, table as rows_table};
use crate::error::Result;
use crate::types::sql_name;

/// The view `information_schema.name`, or `None` when there is none.
///
/// # Errors
/// Those of planning a view whose columns are listed.
pub(crate) fn table(
    relations: &Relations<'_>,
    name: &str,
) -> Result<Option<Arc<dyn TableProvider>>> {
    let batch = match name {
        "schemata" => schemata(relations)?,
        "tables" => tables(relations)?,
        "columns" => columns(relations)?,
        "views" => views(relations)?,
        "sequences" => sequences(relations)?,
        other => match information_constraints::view(relations, other)?.map_or_else(
            || privileges::table(relations, other),
            |batch| Ok(Some(batch)),
        )? {
            Some(batch) => batch,
            None => return Ok(None),
        },
    };
    Ok(Some(rows_table(batch)?))
}

/// The tables of a schema that one may do anything with: others are not told of.
fn seen_tables<'a>(relations: &'a Relations<'_>, schema: &str) -> Vec<&'a Arc<Table>> {
    let rights = relations.own_rights();
    let mut tables = relations.snapshot.tables(schema);
    tables.retain(|table| rights.sees(&table.id.into()));
    tables
}

fn seen_views<'a>(relations: &'a Relations<'_>, schema: &str) -> Vec<&'a View> {
    let rights = relations.own_rights();
    let mut views = relations.snapshot.views(schema);
    views.retain(|view| rights.sees(&Object::view(schema, &view.name)));
    views
}

type Batch = datafusion::arrow::array::RecordBatch;

fn text<S: Into<String>>(values: impl IntoIterator<Item = S>) -> Values {
    Values::Text(values.into_iter().map(|v| Some(v.into())).collect())
}

fn schemata(relations: &Relations<'_>) -> Result<Batch> {
    let rights = relations.own_rights();
    let mut names: Vec<&str> = relations.snapshot.schemas().collect();
    names.retain(|name| rights.sees(&Object::schema(name)));
    names.push(INFORMATION_SCHEMA);
    names.sort_unstable();
    batch(vec![
        ("catalog_name", text(names.iter().map(|_| CATALOG))),
        ("schema_name", text(names.iter().copied())),
        ("schema_owner", text(names.iter().map(|_| CATALOG))),
    ])
}

fn tables(relations: &Relations<'_>) -> Result<Batch> {
    let mut rows: Vec<(String, String, &str)> = Vec::new();
    for schema in relations.snapshot.schemas() {
        for table in seen_tables(relations, schema) {
            rows.push((schema.to_owned(), table.name.clone(), "BASE TABLE"));
        }
        for view in seen_views(relations, schema) {
            rows.push((schema.to_owned(), view.name.clone(), "VIEW"));
        }
    }
    let own = ["columns", "schemata", "sequences", "tables", "views"];
    for name in own.into_iter().chain(information_constraints::NAMES) {
        rows.push((INFORMATION_SCHEMA.to_owned(), name.to_owned(), "VIEW"));
    }
    rows.sort();
    batch(vec![
        ("table_catalog", text(rows.iter().map(|_| CATALOG))),
        ("table_schema", text(rows.iter().map(|row| row.0.as_str()))),
        ("table_name", text(rows.iter().map(|row| row.1.as_str()))),
        ("table_type", text(rows.iter().map(|row| row.2))),
    ])
}

fn views(relations: &Relations<'_>) -> Result<Batch> {
    let rights = relations.own_rights();
    let mut rows = Vec::new();
    for schema in relations.snapshot.schemas() {
        for view in seen_views(relations, schema) {
            let text = Some(view.sql.clone());
            let text = text.filter(|_| rights.reads(schema, &Object::view(schema, &view.name)));
            rows.push((schema.to_owned(), view.name.clone(), text));
        }
    }
    rows.sort();
    batch(vec![
        ("table_catalog", text(rows.iter().map(|_| CATALOG))),
        ("table_schema", text(rows.iter().map(|row| row.0.as_str()))),
        ("table_name", text(rows.iter().map(|row| row.1.as_str()))),
        (
            "view_definition",
            Values::Text(rows.iter().map(|row| row.2.clone()).collect()),
        ),
    ])
}

/// One row of `columns`.
struct Described {
    schema: String,
    table: String,
    column: String,
    position: i32,
    default: Option<String>,
    nullable: bool,
    kind: String,
    length: Option<i32>,
    precision: Option<i32>,
    scale: Option<i32>,
    identity: Option<Identity>,
}

fn columns(relations: &Relations<'_>) -> Result<Batch> {
    let mut rows = Vec::new();
    for schema in relations.snapshot.schemas() {
        for table in seen_tables(relations, schema) {
            for (column, position) in table.schema.columns.iter().zip(1..) {
                rows.push(stored(schema, &table.name, column, position));
            }
        }
        for view in seen_views(relations, schema) {
            let name = Name {
                schema: schema.to_owned(),
                name: view.name.clone(),
                position: None,
            };
            // A view whose tables are gone has no columns to list.
            let Ok(provider) = relations.provider(&name) else {
                continue;
            };
            for (field, position) in provider.schema().fields().iter().zip(1..) {
                rows.push(Described {
                    schema: schema.to_owned(),
                    table: view.name.clone(),
                    column: field.name().clone(),
                    position,
                    default: None,
                    nullable: true,
                    kind: sql_name(field.data_type()),
                    length: None,
                    precision: None,
                    scale: None,
                    identity: None,
                });
            }
        }
    }
    rows.sort_by(|a, b| (&a.schema, &a.table, a.position).cmp(&(&b.schema, &b.table, b.position)));
    let numbers = |of: fn(&Described) -> Option<i32>| Values::Int(rows.iter().map(of).collect());
    batch(vec![
        ("table_catalog", text(rows.iter().map(|_| CATALOG))),
        (
            "table_schema",
            text(rows.iter().map(|row| row.schema.as_str())),
        ),
        (
            "table_name",
            text(rows.iter().map(|row| row.table.as_str())),
        ),
        (
            "column_name",
            text(rows.iter().map(|row| row.column.as_str())),
        ),
        ("ordinal_position", numbers(|row| Some(row.position))),
        (
            "column_default",
            Values::Text(rows.iter().map(|row| row.default.clone()).collect()),
        ),
        (
            "is_nullable",
            text(
                rows.iter()
                    .map(|row| if row.nullable { "YES" } else { "NO" }),
            ),
        ),
        ("data_type", text(rows.iter().map(|row| row.kind.as_str()))),
        ("character_maximum_length", numbers(|row| row.length)),
        ("numeric_precision", numbers(|row| row.precision)),
        ("numeric_scale", numbers(|row| row.scale)),
        ("is_identity", text(rows.iter().map(is_identity))),
        (
            "identity_generation",
            Values::Text(rows.iter().map(generation).collect()),
        ),
    ])
}

fn is_identity(row: &Described) -> &'static str {
    if row.identity.is_some() { "YES" } else { "NO" }
}

fn generation(row: &Described) -> Option<String> {
    let identity = row.identity?;
    let generation = if identity.always {
        "ALWAYS"
    } else {
        "BY DEFAULT"
    };
    Some(generation.to_owned())
}

/// Sequences that one may do anything with; numbers are text, as the standard has it.
fn sequences(relations: &Relations<'_>) -> Result<Batch> {
    let rights = relations.own_rights();
    let all = relations.snapshot.all_sequences();
    let rows: Vec<_> = all.filter(|(_, one)| rights.sees(&one.id.into())).collect();
    let each = |of: fn(&SequenceDefinition) -> String| {
        let definitions = rows.iter().map(|(_, sequence)| &sequence.definition);
        text(definitions.map(of))
    };
    let bits = |row: &(&str, &Arc<Sequence>)| match row.1.definition.kind {
        ColumnType::SmallInt => Some(16),
        ColumnType::Integer => Some(32),
        _ => Some(64),
    };
    batch(vec![
        ("sequence_catalog", text(rows.iter().map(|_| CATALOG))),
        ("sequence_schema", text(rows.iter().map(|row| row.0))),
        (
            "sequence_name",
            text(rows.iter().map(|row| row.1.name.as_str())),
        ),
        ("data_type", each(|one| standard_name(&one.kind))),
        (
            "numeric_precision",
            Values::Int(rows.iter().map(bits).collect()),
        ),
        ("start_value", each(|one| one.start.to_string())),
        ("minimum_value", each(|one| one.min.to_string())),
        ("maximum_value", each(|one| one.max.to_string())),
        ("increment", each(|one| one.increment.to_string())),
        (
            "cycle_option",
            each(|one| if one.cycle { "YES" } else { "NO" }.to_owned()),
        ),
    ])
}

fn stored(schema: &str, table: &str, column: &Column, position: i32) -> Described {
    let length = match column.kind {
        ColumnType::Varchar(length) => length.and_then(|n| i32::try_from(n).ok()),
        ColumnType::Char(length) => i32::try_from(length).ok(),
        _ => None,
    };
    let (precision, scale) = match column.kind {
        ColumnType::SmallInt => (Some(16), Some(0)),
        ColumnType::Integer => (Some(32), Some(0)),
        ColumnType::BigInt => (Some(64), Some(0)),
        ColumnType::Real => (Some(24), None),
        ColumnType::Double => (Some(53), None),
        ColumnType::Decimal { precision, scale } => {
            (Some(i32::from(precision)), Some(i32::from(scale)))
        }
        _ => (None, None),
    };
    Described {
        schema: schema.to_owned(),
        table: table.to_owned(),
        column: column.name.clone(),
        position,
        // That of an identity column is its own affair.
        default: column.default.clone().filter(|_| column.identity.is_none()),
        nullable: column.nullable,
        kind: standard_name(&column.kind),
        length,
        precision,
        scale,
        identity: column.identity,
    }
}

/// The type's name without its lengths, as `data_type` shows it.
fn standard_name(kind: &ColumnType) -> String {
    match kind {
        ColumnType::Decimal { .. } => "numeric".to_owned(),
        ColumnType::Varchar(_) => "character varying".to_owned(),
        ColumnType::Char(_) => "character".to_owned(),
        ColumnType::Timestamp => "timestamp without time zone".to_owned(),
        ColumnType::TimestampTz => "timestamp with time zone".to_owned(),
        ColumnType::Time => "time without time zone".to_owned(),
        ColumnType::Array { .. } => "ARRAY".to_owned(),
        other => other.to_string().to_lowercase(),
    }
}

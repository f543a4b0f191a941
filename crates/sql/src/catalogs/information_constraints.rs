//! `information_schema` about constraints: which there are, over which columns, and what
//! they refer to.

use arrow::array::RecordBatch;
use freestone_storage::{Deferral, ForeignAction, Table, UserTypeKind};

use super::pg_catalog::objects::schema_number;
use crate::deparse::deparsed;
use crate::error::Result;
use crate::front::{declared_type, type_of_stored};
use crate::names::CATALOG;
use crate::oids::table_number;
use crate::relations::Relations;
use crate::rows::{Values, batch};

/// A constraint of a table.
struct Constraint<'a> {
    schema: &'a str,
    table: &'a str,
    name: &'a str,
    kind: &'static str,
    /// The number of a column that is NOT NULL, of which this is the condition.
    not_null: Option<usize>,
    number: i64,
    /// Its columns; those that a foreign key refers to, with their table.
    columns: Vec<&'a str>,
    parent: Option<Parent<'a>>,
    condition: Option<String>,
    deferral: Deferral,
}

struct Parent<'a> {
    schema: &'a str,
    table: &'a str,
    key: &'a str,
    columns: Vec<&'a str>,
    on_update: ForeignAction,
    on_delete: ForeignAction,
}

/// The view of that name; `None` if it is not one of these.
///
/// # Errors
/// Errors of making a batch.
pub(super) fn view(relations: &Relations<'_>, name: &str) -> Result<Option<RecordBatch>> {
    let all = constraints(relations);
    Ok(Some(match name {
        "check_constraints" => checks(relations, &all)?,
        "constraint_column_usage" => used(&all)?,
        "key_column_usage" => keys(&all)?,
        "referential_constraints" => references(&all)?,
        "table_constraints" => listed(relations, &all)?,
        _ => return Ok(None),
    }))
}

fn named<'a>(table: &'a Table, columns: &[usize]) -> Vec<&'a str> {
    let columns = columns
        .iter()
        .filter_map(|at| table.schema.columns.get(*at));
    columns.map(|column| column.name.as_str()).collect()
}

fn constraints<'a>(relations: &'a Relations<'_>) -> Vec<Constraint<'a>> {
    let mut all = Vec::new();
    // Those of tables that one may do nothing with are not told of.
    let rights = relations.own_rights();
    let tables = relations.snapshot.all_tables();
    for (schema, table) in tables.filter(|(_, table)| rights.sees(&table.id.into())) {
        let of = |name: &'a str, kind, columns: &[usize]| Constraint {
            schema,
            table: &table.name,
            name,
            kind,
            not_null: None,
            number: table_number(table),
            columns: named(table, columns),
            parent: None,
            condition: None,
            deferral: Deferral::Never,
        };
        let columns = table.schema.declared().iter();
        let types = columns.map(|column| {
            let ty = type_of_stored(&relations.snapshot, column);
            (column.name.clone(), ty)
        });
        let types: Vec<_> = types.collect();
        for key in table.schema.keys.iter().filter(|key| !key.of_index) {
            let kind = if key.primary { "PRIMARY KEY" } else { "UNIQUE" };
            all.push(Constraint {
                deferral: key.deferral,
                ..of(&key.name, kind, &key.columns)
            });
        }
        for check in &table.schema.checks {
            let condition = deparsed(relations, &check.condition, &types, None);
            all.push(Constraint {
                condition: Some(format!("({condition})")),
                ..of(&check.name, "CHECK", &check.columns)
            });
        }
        for (column, place) in table.schema.declared().iter().zip(1..) {
            if !column.nullable {
                all.push(Constraint {
                    condition: Some(format!("{} IS NOT NULL", column.name)),
                    not_null: Some(place),
                    ..of("", "CHECK", &[])
                });
            }
        }
        for foreign in &table.schema.foreign_keys {
            let mut tables = relations.snapshot.all_tables();
            let Some((parent_schema, parent)) = tables.find(|(_, one)| one.id == foreign.parent)
            else {
                continue;
            };
            let mut keys = parent.schema.keys.iter();
            let key = keys.find(|key| key.columns == foreign.parent_columns);
            all.push(Constraint {
                deferral: foreign.deferral,
                parent: Some(Parent {
                    schema: parent_schema,
                    table: &parent.name,
                    key: key.map_or("", |key| key.name.as_str()),
                    columns: named(parent, &foreign.parent_columns),
                    on_update: foreign.on_update,
                    on_delete: foreign.on_delete,
                }),
                ..of(&foreign.name, "FOREIGN KEY", &foreign.columns)
            });
        }
    }
    all.sort_by_key(|one| (one.schema, one.table, one.name));
    all
}

fn yes_no(value: bool) -> &'static str {
    if value { "YES" } else { "NO" }
}

fn text<'a>(values: impl Iterator<Item = &'a str>) -> Values {
    Values::Text(values.map(|value| Some(value.to_owned())).collect())
}

/// Columns of one value for each of some rows.
macro_rules! texts {
    ($rows:expr, $($name:literal => $value:expr),* $(,)?) => {
        vec![$(($name, text($rows.iter().map($value)))),*]
    };
}

/// The name of a constraint; PostgreSQL makes one of numbers for NOT NULL.
fn called(relations: &Relations<'_>, one: &Constraint<'_>) -> String {
    match one.not_null {
        Some(place) => {
            let schema = schema_number(relations, one.schema);
            format!("{schema}_{}_{place}_not_null", one.number)
        }
        None => one.name.to_owned(),
    }
}

fn listed(relations: &Relations<'_>, all: &[Constraint<'_>]) -> Result<RecordBatch> {
    let names = all.iter().map(|one| Some(called(relations, one)));
    let names = ("constraint_name", Values::Text(names.collect()));
    let mut columns = texts!(all,
        "constraint_catalog" => |_| CATALOG,
        "constraint_schema" => |one| one.schema,
        "table_catalog" => |_| CATALOG,
        "table_schema" => |one| one.schema,
        "table_name" => |one| one.table,
        "constraint_type" => |one| one.kind,
        "is_deferrable" => |one| yes_no(!one.deferral.is_never()),
        "initially_deferred" => |one| yes_no(one.deferral == Deferral::Initial),
        "enforced" => |_| "YES",
    );
    columns.push(names);
    batch(columns)
}

fn checks(relations: &Relations<'_>, all: &[Constraint<'_>]) -> Result<RecordBatch> {
    let all = all.iter().filter_map(|one| {
        let condition = one.condition.clone()?;
        Some((one.schema, called(relations, one), condition))
    });
    let mut all: Vec<(&str, String, String)> = all.collect();
    for (schema, _, known) in relations.snapshot.user_types() {
        let UserTypeKind::Domain(domain) = &known.kind else {
            continue;
        };
        let base = declared_type(&relations.snapshot, &domain.kind, domain.declared);
        let columns = [("value".to_owned(), base)];
        for check in &domain.checks {
            let condition = deparsed(relations, &check.condition, &columns, None);
            all.push((schema, check.name.clone(), format!("({condition})")));
        }
    }
    batch(texts!(all,
        "constraint_catalog" => |_| CATALOG,
        "constraint_schema" => |one| one.0,
        "constraint_name" => |one| one.1.as_str(),
        "check_clause" => |one| one.2.as_str(),
    ))
}

/// Columns of keys, with their places.
fn keys(all: &[Constraint<'_>]) -> Result<RecordBatch> {
    let keys = all.iter().filter(|one| one.condition.is_none());
    let rows = keys.flat_map(|one| one.columns.iter().zip(1..).map(move |column| (one, column)));
    let rows: Vec<_> = rows.collect();
    let mut columns = texts!(rows,
        "constraint_catalog" => |_| CATALOG,
        "constraint_schema" => |row| row.0.schema,
        "constraint_name" => |row| row.0.name,
        "table_catalog" => |_| CATALOG,
        "table_schema" => |row| row.0.schema,
        "table_name" => |row| row.0.table,
        "column_name" => |row| *row.1.0,
    );
    let places = rows.iter().map(|row| Some(row.1.1)).collect();
    columns.push(("ordinal_position", Values::Int(places)));
    let of_parents = rows
        .iter()
        .map(|(one, (_, place))| one.parent.as_ref().map(|_| *place));
    columns.push((
        "position_in_unique_constraint",
        Values::Int(of_parents.collect()),
    ));
    batch(columns)
}

/// Columns that constraints ask about: for a foreign key those it refers to.
fn used(all: &[Constraint<'_>]) -> Result<RecordBatch> {
    let rows = all.iter().flat_map(|one| {
        let (schema, table, columns) = match &one.parent {
            Some(parent) => (parent.schema, parent.table, &parent.columns),
            None => (one.schema, one.table, &one.columns),
        };
        columns
            .iter()
            .map(move |column| (one, schema, table, *column))
    });
    let rows: Vec<_> = rows.collect();
    batch(texts!(rows,
        "table_catalog" => |_| CATALOG,
        "table_schema" => |row| row.1,
        "table_name" => |row| row.2,
        "column_name" => |row| row.3,
        "constraint_catalog" => |_| CATALOG,
        "constraint_schema" => |row| row.0.schema,
        "constraint_name" => |row| row.0.name,
    ))
}

fn references(all: &[Constraint<'_>]) -> Result<RecordBatch> {
    let rows = all
        .iter()
        .filter_map(|one| Some((one, one.parent.as_ref()?)));
    let rows: Vec<_> = rows.collect();
    batch(texts!(rows,
        "constraint_catalog" => |_| CATALOG,
        "constraint_schema" => |row| row.0.schema,
        "constraint_name" => |row| row.0.name,
        "unique_constraint_catalog" => |_| CATALOG,
        "unique_constraint_schema" => |row| row.1.schema,
        "unique_constraint_name" => |row| row.1.key,
        "match_option" => |_| "NONE",
        "update_rule" => |row| rule(row.1.on_update),
        "delete_rule" => |row| rule(row.1.on_delete),
    ))
}

fn rule(action: ForeignAction) -> &'static str {
    match action {
        ForeignAction::Cascade => "CASCADE",
        ForeignAction::SetNull => "SET NULL",
        ForeignAction::SetDefault => "SET DEFAULT",
        ForeignAction::Restrict => "RESTRICT",
        ForeignAction::NoAction => "NO ACTION",
    }
}

//! `information_schema`: schemata, tables, columns, views, sequences; constraints are in
//! `information_constraints`.
//!
//! The columns are those of the SQL standard that have a meaning here; types are
//! named as in PostgreSQL. [`view`] gives the front all columns that PostgreSQL has, of which
//! those without a meaning here are NULL.

use std::collections::HashSet;
use std::iter::repeat_n;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatchOptions, StringViewArray, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{Field, Schema};
use freestone_frontend::types::Type;
use freestone_storage::{
    Catalog, Column, ColumnType, Identity, Modifier, Object, Sequence, SequenceDefinition,
    SequenceId, Table, UserTypeKind, View,
};

use super::information_columns::VIEWS;
use super::information_constraints;
use super::information_others;
use super::pg_catalog::objects::described;
use super::pg_catalog::types::{of_type, short_name};
use super::pg_catalog::{system, typed};
use super::privileges;
use super::view_definitions;
use crate::deparse::deparsed;
use crate::error::Result;
use crate::front::{declared_by, has_arrays_of_domain, type_of_stored};
use crate::names::{
    CATALOG, INFORMATION_SCHEMA, PG_CATALOG, PG_TOAST, shown_schema, temporary_schema,
};
use crate::relations::Relations;
use crate::relations::updatable::{self, CheckOption};
use crate::rows::{Values, batch};
use crate::types::type_of_column;

/// What is told of a view of `information_schema`, in its columns that have a meaning here.
fn told(relations: &Relations<'_>, name: &str) -> Result<Option<Batch>> {
    Ok(Some(match name {
        "information_schema_catalog_name" => batch(vec![("catalog_name", text([CATALOG]))])?,
        "schemata" => schemata(relations)?,
        "tables" => tables(relations)?,
        "columns" => columns(relations)?,
        "views" => views(relations)?,
        "sequences" => sequences(relations)?,
        other => {
            let mut found = information_constraints::view(relations, other)?;
            for look in [privileges::table, information_others::view] {
                if found.is_none() {
                    found = look(relations, other)?;
                }
            }
            match found {
                Some(batch) => batch,
                None => return Ok(None),
            }
        }
    }))
}

/// Values that columns have in all rows.
const SAME: [(&str, &str, &str); 17] = [
    ("columns", "identity_cycle", "NO"),
    ("columns", "is_self_referencing", "NO"),
    ("columns", "udt_catalog", CATALOG),
    ("schemata", "default_character_set_name", ""),
    ("sequences", "numeric_precision_radix", "2"),
    ("sequences", "numeric_scale", "0"),
    ("table_constraints", "enforced", "YES"),
    ("table_constraints", "initially_deferred", "NO"),
    ("table_constraints", "is_deferrable", "NO"),
    ("table_privileges", "with_hierarchy", "NO"),
    ("tables", "is_typed", "NO"),
    ("views", "is_trigger_deletable", "NO"),
    ("views", "is_trigger_insertable_into", "NO"),
    ("views", "is_trigger_updatable", "NO"),
    ("referential_constraints", "match_option", "NONE"),
    ("role_table_grants", "with_hierarchy", "NO"),
    ("enabled_roles", "role_name", ""),
];

/// Names and types of columns.
type Typed = Vec<(String, Type)>;

/// A view as PostgreSQL has it: its columns with their types, and its rows.
///
/// # Errors
/// Errors of making a batch.
pub(crate) fn view(relations: &Relations<'_>, name: &str) -> Result<Option<(Typed, Batch)>> {
    let at = VIEWS.binary_search_by(|(known, ..)| (*known).cmp(name));
    let Some((_, _, columns)) = at.ok().and_then(|at| VIEWS.get(at)) else {
        return Ok(None);
    };
    let columns = typed(columns);
    let told = match relations
        .describing
        .load(std::sync::atomic::Ordering::Relaxed)
    {
        true => None,
        false => told(relations, name)?,
    };
    let rows = told.as_ref().map_or(0, Batch::num_rows);
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for (column, ty) in &columns {
        let known = told.as_ref().and_then(|told| told.column_by_name(column));
        let same = || {
            let mut same = SAME.iter();
            let found = same.find(|(view, named, _)| *view == name && named == column)?;
            let one: ArrayRef =
                Arc::new(StringViewArray::from_iter_values(repeat_n(found.2, rows)));
            Some(one)
        };
        let array = match known.cloned().or_else(same) {
            Some(array) => cast(&array, &ty.arrow())?,
            None => new_null_array(&ty.arrow(), rows),
        };
        let array = match column.ends_with("schema") || column == "schema_name" {
            true => shown_schemas(&array),
            false => array,
        };
        fields.push(Field::new(column, ty.arrow(), true));
        arrays.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let schema = Arc::new(Schema::new(fields));
    let batch = Batch::try_new_with_options(schema, arrays, &options)?;
    Ok(Some((columns, batch)))
}

/// Names of schemas as clients are told them.
fn shown_schemas(names: &ArrayRef) -> ArrayRef {
    match names.as_string_view_opt() {
        Some(names) => {
            let names = names.iter().map(|name| name.map(shown_schema));
            Arc::new(names.collect::<StringViewArray>())
        }
        None => Arc::clone(names),
    }
}

/// Numbers and names of the views.
pub(crate) fn numbers() -> impl Iterator<Item = (i64, &'static str)> {
    VIEWS.iter().map(|(name, number, _)| (*number, *name))
}

/// The tables of a schema that one may do anything with: others are not told of.
fn seen_tables<'a>(relations: &'a Relations<'_>, schema: &str) -> Vec<&'a Arc<Table>> {
    let rights = relations.own_rights();
    let mut tables = relations.snapshot.tables(schema);
    // Materialized views are none of the standard's.
    tables.retain(|table| rights.sees(&table.id.into()) && table.schema.materialized.is_none());
    tables
}

fn seen_views<'a>(relations: &'a Relations<'_>, schema: &str) -> Vec<&'a View> {
    let rights = relations.own_rights();
    let mut views = relations.snapshot.views(schema);
    views.retain(|view| rights.sees(&Object::view(schema, &view.name)));
    views
}

type Batch = arrow::array::RecordBatch;

fn text<S: Into<String>>(values: impl IntoIterator<Item = S>) -> Values {
    Values::Text(values.into_iter().map(|v| Some(v.into())).collect())
}

fn schemata(relations: &Relations<'_>) -> Result<Batch> {
    let rights = relations.own_rights();
    let mut names: Vec<&str> = relations.snapshot.schemas().collect();
    names.retain(|name| rights.sees(&Object::schema(name)));
    names.extend([INFORMATION_SCHEMA, PG_CATALOG]);
    names.extend(rights.is_superuser().then_some(PG_TOAST));
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
    let is_superuser = relations.own_rights().is_superuser();
    for (schema, name, is_view) in system::listed() {
        if is_superuser || system::is_open(schema, name) == Some(true) {
            let kind = if is_view { "VIEW" } else { "BASE TABLE" };
            rows.push((schema.to_owned(), name.to_owned(), kind));
        }
    }
    rows.sort();
    batch(vec![
        ("table_catalog", text(rows.iter().map(|_| CATALOG))),
        ("table_schema", text(rows.iter().map(|row| row.0.as_str()))),
        ("table_name", text(rows.iter().map(|row| row.1.as_str()))),
        (
            "table_type",
            text(rows.iter().map(|row| match temporary_schema(&row.0) {
                true => "LOCAL TEMPORARY",
                false => row.2,
            })),
        ),
        (
            "is_insertable_into",
            text(rows.iter().map(|row| {
                let catalog = relations.snapshot.catalog();
                let takes = || updatable::events_of(catalog, &row.0, &row.1) & 8 != 0;
                yes(row.2 != "VIEW" || takes())
            })),
        ),
    ])
}

fn views(relations: &Relations<'_>) -> Result<Batch> {
    let rights = relations.own_rights();
    let mut rows = Vec::new();
    for schema in relations.snapshot.schemas() {
        for view in seen_views(relations, schema) {
            let readable = rights.reads(schema, &Object::view(schema, &view.name));
            let text = readable.then(|| {
                let [text, _] = view_definitions(relations, schema, &view.name, &view.query.sql);
                text
            });
            let checks = match updatable::check_option(&view.query) {
                None => "NONE",
                Some(CheckOption::Local) => "LOCAL",
                Some(CheckOption::Cascaded) => "CASCADED",
            };
            rows.push((schema.to_owned(), view.name.clone(), text, checks));
        }
    }
    rows.sort();
    let events = rows.iter().map(|row| {
        let catalog = relations.snapshot.catalog();
        updatable::events_of(catalog, &row.0, &row.1)
    });
    let events: Vec<i32> = events.collect();
    batch(vec![
        ("table_catalog", text(rows.iter().map(|_| CATALOG))),
        ("table_schema", text(rows.iter().map(|row| row.0.as_str()))),
        ("table_name", text(rows.iter().map(|row| row.1.as_str()))),
        (
            "view_definition",
            Values::Text(rows.iter().map(|row| row.2.clone()).collect()),
        ),
        ("check_option", text(rows.iter().map(|row| row.3))),
        (
            "is_updatable",
            text(events.iter().map(|events| yes(events & 20 == 20))),
        ),
        (
            "is_insertable_into",
            text(events.iter().map(|events| yes(events & 8 != 0))),
        ),
    ])
}

fn yes(is: bool) -> &'static str {
    if is { "YES" } else { "NO" }
}

/// One row of `columns`.
pub(super) struct Described {
    schema: String,
    table: String,
    column: String,
    position: i32,
    default: Option<String>,
    nullable: bool,
    /// Whether its values can be changed.
    updatable: bool,
    pub(super) kind: String,
    pub(super) short: String,
    pub(super) radix: Option<i32>,
    pub(super) seconds: Option<i32>,
    pub(super) length: Option<i32>,
    pub(super) precision: Option<i32>,
    pub(super) scale: Option<i32>,
    identity: Option<Identity>,
    /// The expression of a generated column.
    generated: Option<String>,
    /// Schema and name of the domain that it is declared with.
    domain: Option<(String, String)>,
    /// The schema of the type that it is stored as.
    pub(super) of_schema: String,
}

fn columns(relations: &Relations<'_>) -> Result<Batch> {
    let mut rows = Vec::new();
    for schema in relations.snapshot.schemas() {
        for table in seen_tables(relations, schema) {
            let columns = table.schema.declared().iter();
            let types = columns.map(|column| {
                let ty = type_of_stored(&relations.snapshot, column);
                (column.name.clone(), ty)
            });
            let types: Vec<(String, Type)> = types.collect();
            for (column, position) in table.schema.declared().iter().zip(1..) {
                let of = (schema, table.name.as_str());
                rows.push(stored(relations, (of, &types), column, position));
            }
        }
        for view in seen_views(relations, schema) {
            let mut all = described(relations).iter();
            let Some(one) = all.find(|one| one.is_view(schema, &view.name)) else {
                continue;
            };
            let updatable = updatable::columns(&relations.snapshot, schema, &view.name);
            let mut updatable = updatable.into_iter();
            for ((column, ty), position) in one.typed_columns().zip(1..) {
                let mut defaults = view.query.defaults.iter();
                let default = defaults.find(|(known, _)| known == column);
                rows.push(Described {
                    updatable: updatable.next().unwrap_or_default(),
                    default: default.map(|(_, text)| deparsed(relations, text, &[], Some(ty))),
                    ..Described::of(ty, (schema, &view.name, column), position)
                });
            }
        }
    }
    rows.sort_by(|a, b| (&a.schema, &a.table, a.position).cmp(&(&b.schema, &b.table, b.position)));
    let numbers = |of: fn(&Described) -> Option<i32>| Values::Int(rows.iter().map(of).collect());
    let of_sequence = |of: &dyn Fn(&SequenceDefinition) -> i64| {
        let numbers = rows.iter().map(|row| {
            let identity = row.identity.filter(|identity| !identity.serial)?;
            let (_, sequence) = relations.snapshot.sequence_by_id(identity.sequence)?;
            Some(of(&sequence.definition).to_string())
        });
        Values::Text(numbers.collect())
    };
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
        ("udt_name", text(rows.iter().map(|row| row.short.as_str()))),
        (
            "udt_schema",
            text(rows.iter().map(|row| row.of_schema.as_str())),
        ),
        (
            "domain_catalog",
            Values::Text(
                rows.iter()
                    .map(|row| row.domain.as_ref().map(|_| CATALOG.to_owned()))
                    .collect(),
            ),
        ),
        (
            "domain_schema",
            Values::Text(
                rows.iter()
                    .map(|row| Some(row.domain.as_ref()?.0.clone()))
                    .collect(),
            ),
        ),
        (
            "domain_name",
            Values::Text(
                rows.iter()
                    .map(|row| Some(row.domain.as_ref()?.1.clone()))
                    .collect(),
            ),
        ),
        (
            "is_generated",
            text(rows.iter().map(|row| match row.generated {
                Some(_) => "ALWAYS",
                None => "NEVER",
            })),
        ),
        (
            "generation_expression",
            Values::Text(rows.iter().map(|row| row.generated.clone()).collect()),
        ),
        ("character_maximum_length", numbers(|row| row.length)),
        ("character_octet_length", numbers(Described::bytes)),
        ("numeric_precision_radix", numbers(|row| row.radix)),
        ("datetime_precision", numbers(|row| row.seconds)),
        ("dtd_identifier", {
            let places = rows.iter().map(|row| row.position.to_string());
            text(places)
        }),
        ("numeric_precision", numbers(|row| row.precision)),
        ("numeric_scale", numbers(|row| row.scale)),
        (
            "is_updatable",
            text(rows.iter().map(|row| yes(row.updatable))),
        ),
        ("is_identity", text(rows.iter().map(is_identity))),
        (
            "identity_generation",
            Values::Text(rows.iter().map(generation).collect()),
        ),
        ("identity_start", of_sequence(&|one| one.start)),
        ("identity_increment", of_sequence(&|one| one.increment)),
        ("identity_maximum", of_sequence(&|one| one.max)),
        ("identity_minimum", of_sequence(&|one| one.min)),
    ])
}

fn is_identity(row: &Described) -> &'static str {
    match row.identity {
        Some(identity) if !identity.serial => "YES",
        _ => "NO",
    }
}

fn generation(row: &Described) -> Option<String> {
    let identity = row.identity.filter(|identity| !identity.serial)?;
    let generation = if identity.always {
        "ALWAYS"
    } else {
        "BY DEFAULT"
    };
    Some(generation.to_owned())
}

/// Sequences that one may do anything with, but for those of identity columns; numbers are text,
/// as the standard has it.
fn sequences(relations: &Relations<'_>) -> Result<Batch> {
    let rights = relations.own_rights();
    let tables = relations.snapshot.all_tables();
    let columns = tables.flat_map(|(_, table)| &table.schema.columns);
    let identities = columns.filter_map(|column| column.identity.filter(|one| !one.serial));
    let identities: HashSet<SequenceId> = identities.map(|identity| identity.sequence).collect();
    let all = relations.snapshot.all_sequences();
    let all = all.filter(|(of, one)| !identities.contains(&one.id) && !relations.is_of_other(of));
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
        (
            "data_type",
            each(|one| standard_name(&type_of_column(&one.kind))),
        ),
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

impl Described {
    /// Bytes of a text at most.
    pub(super) fn bytes(&self) -> Option<i32> {
        let texts = ["text", "varchar", "bpchar"];
        let whole = texts.contains(&self.short.as_str()).then_some(1 << 30);
        let length = self.length.filter(|_| whole.is_some());
        length.map(|length| length.saturating_mul(4)).or(whole)
    }

    /// A column of a type.
    pub(super) fn of(
        ty: &Type,
        (schema, table, column): (&str, &str, &str),
        position: i32,
    ) -> Self {
        let length = match ty {
            Type::Varchar(Some(length))
            | Type::Char(Some(length))
            | Type::Bit(Some(length))
            | Type::VarBit(Some(length)) => i32::try_from(*length).ok(),
            _ => None,
        };
        let (precision, radix, scale) = match ty {
            Type::Int2 => (Some(16), Some(2), Some(0)),
            Type::Int4 => (Some(32), Some(2), Some(0)),
            Type::Int8 => (Some(64), Some(2), Some(0)),
            Type::Float4 => (Some(24), Some(2), None),
            Type::Float8 => (Some(53), Some(2), None),
            Type::Numeric(None) => (None, Some(10), None),
            Type::Numeric(Some(digits)) => (
                Some(i32::from(digits.precision)),
                Some(10),
                Some(i32::from(digits.scale)),
            ),
            _ => (None, None, None),
        };
        let seconds = match ty {
            Type::Date => Some(0),
            Type::Time(n) | Type::TimeTz(n) | Type::Timestamp(n) | Type::TimestampTz(n) => {
                Some(n.map_or(6, i32::from))
            }
            Type::Interval => Some(6),
            _ => None,
        };
        Self {
            schema: schema.to_owned(),
            table: table.to_owned(),
            column: column.to_owned(),
            position,
            default: None,
            nullable: true,
            updatable: false,
            kind: standard_name(ty),
            short: short_name(of_type(ty).0).unwrap_or_default(),
            radix,
            seconds,
            length,
            precision,
            scale,
            identity: None,
            generated: None,
            domain: None,
            of_schema: PG_CATALOG.to_owned(),
        }
    }
}

fn stored(
    relations: &Relations<'_>,
    ((schema, table), columns): ((&str, &str), &[(String, Type)]),
    column: &Column,
    position: i32,
) -> Described {
    let catalog: &Catalog = &relations.snapshot;
    let ty = type_of_stored(catalog, column);
    let of = Described::of(&ty, (schema, table, &column.name), position);
    let (precision, scale) = match column.modifier {
        Some(Modifier::Digits { precision, scale }) => (Some(precision.into()), Some(scale.into())),
        Some(Modifier::AnyDigits) => (None, None),
        _ => (of.precision, of.scale),
    };
    let seconds = match column.modifier {
        Some(Modifier::Fields {
            digits: Some(digits),
            ..
        }) => Some(digits.into()),
        _ => of.seconds,
    };
    let shown = column.default.as_deref();
    let shown = shown.map(|text| deparsed(relations, text, columns, Some(&ty)));
    let is_identity = column.identity.is_some_and(|identity| !identity.serial);
    let mut described = Described {
        precision,
        scale,
        seconds,
        // That of an identity column is its own affair.
        default: shown.clone().filter(|_| !is_identity && !column.generated),
        generated: shown.filter(|_| column.generated),
        nullable: column.nullable && !is_domain_without_null(catalog, column),
        updatable: true,
        identity: column.identity,
        ..of
    };
    let known = column.declared.and_then(|id| catalog.type_by_id(id));
    if let Some((schema, name, known)) = known {
        match &known.kind {
            UserTypeKind::Domain(_) if has_arrays_of_domain(catalog, column) => {
                described.of_schema = shown_schema(schema).to_owned();
                described.short = format!("_{name}");
            }
            UserTypeKind::Domain(_) => {
                described.domain = Some((shown_schema(schema).to_owned(), name.to_owned()));
                // The type that it is over may have been created, too.
                let over = declared_by(&ty).and_then(|id| catalog.type_by_id(id));
                if let Some((schema, name, _)) = over {
                    described.of_schema = shown_schema(schema).to_owned();
                    described.short = name.to_owned();
                }
            }
            UserTypeKind::Enum(_) | UserTypeKind::Composite(_) => {
                described.of_schema = shown_schema(schema).to_owned();
                let is_array = matches!(ty, Type::Array(_));
                described.short = format!("{}{name}", if is_array { "_" } else { "" });
            }
        }
    }
    described
}

/// Whether a column is of a domain that is NOT NULL.
fn is_domain_without_null(catalog: &Catalog, column: &Column) -> bool {
    let known = column.declared.and_then(|id| catalog.type_by_id(id));
    !has_arrays_of_domain(catalog, column)
        && known.is_some_and(
            |(_, _, known)| matches!(&known.kind, UserTypeKind::Domain(domain) if !domain.nullable),
        )
}

/// The type's name without its lengths, as `data_type` shows it.
fn standard_name(ty: &Type) -> String {
    match ty.base() {
        Type::Array(_) => "ARRAY".to_owned(),
        Type::Enum(_) => "USER-DEFINED".to_owned(),
        Type::Record(fields) if fields.name().is_some() => "USER-DEFINED".to_owned(),
        other => other.standard_name(),
    }
}

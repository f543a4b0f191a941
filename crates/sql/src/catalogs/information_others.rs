//! `information_schema` about domains, arrays, composite types, functions, what views read, and
//! rights on columns, functions and sequences.

use std::collections::BTreeSet;

use arrow::array::RecordBatch;
use freestone_frontend::types::Type;
use freestone_storage::{Object, Privileges, RoleId, UserTypeKind};

use super::Numbers;
use super::information_schema::Described;
use super::pg_catalog::objects::described;
use super::pg_catalog::types::{formatted, short_name};
use super::pg_catalog::{read_by_default, routines, tables_read_by};
use crate::deparse::deparsed;
use crate::error::Result;
use crate::front::{declared_type, type_of_stored};
use crate::names::{CATALOG, PG_CATALOG};
use crate::oids::relation_numbers;
use crate::relations::Relations;
use crate::rows::{Values, batch};

/// A row: names of columns and texts.
type Row = Vec<(&'static str, String)>;

/// The view of that name; `None` if it is not one of these.
///
/// # Errors
/// Errors of making a batch.
pub(super) fn view(relations: &Relations<'_>, name: &str) -> Result<Option<RecordBatch>> {
    let rows = match name {
        "attributes" => attributes(relations),
        "character_sets" => vec![vec![
            ("character_set_name", "UTF8".to_owned()),
            ("character_repertoire", "UCS".to_owned()),
            ("form_of_use", "UTF8".to_owned()),
            ("default_collate_catalog", CATALOG.to_owned()),
            ("default_collate_schema", PG_CATALOG.to_owned()),
            ("default_collate_name", "ucs_basic".to_owned()),
        ]],
        "column_column_usage" => columns_of_columns(relations),
        "column_domain_usage" => columns_of_domains(relations),
        "column_privileges" | "role_column_grants" => columns_granted(relations),
        "constraint_table_usage" => tables_of_constraints(relations),
        "domain_constraints" => constraints_of_domains(relations),
        "domains" => domains(relations),
        "element_types" => elements(relations),
        "parameters" => parameters(relations),
        "routine_privileges" => functions_granted(relations),
        "routines" => functions(relations),
        "usage_privileges" => usages(relations),
        "view_table_usage" => tables_of_views(relations),
        _ => return Ok(None),
    };
    told(&rows).map(Some)
}

/// Rows as columns of texts; a column that a row does not tell is NULL in it.
fn told(rows: &[Row]) -> Result<RecordBatch> {
    let names: BTreeSet<&str> = rows.iter().flatten().map(|(name, _)| *name).collect();
    let columns = names.into_iter().map(|name| {
        let values = rows.iter().map(|row| {
            let found = row.iter().find(|(known, _)| *known == name);
            found.map(|(_, text)| text.clone())
        });
        (name, Values::Text(values.collect()))
    });
    batch(columns.collect())
}

/// The type of something, as the columns about it tell.
fn typed(row: &mut Row, described: &Described) {
    row.push(("data_type", described.kind.clone()));
    row.push(("udt_catalog", CATALOG.to_owned()));
    row.push(("udt_schema", described.of_schema.clone()));
    row.push(("udt_name", described.short.clone()));
    let numbers = [
        ("character_maximum_length", described.length),
        ("character_octet_length", described.bytes()),
        ("numeric_precision", described.precision),
        ("numeric_precision_radix", described.radix),
        ("numeric_scale", described.scale),
        ("datetime_precision", described.seconds),
    ];
    for (name, number) in numbers {
        row.extend(number.map(|number| (name, number.to_string())));
    }
}

fn domains(relations: &Relations<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (schema, name, known) in relations.snapshot.user_types() {
        let UserTypeKind::Domain(domain) = &known.kind else {
            continue;
        };
        let ty = declared_type(&relations.snapshot, &domain.kind, domain.declared);
        let mut row = vec![
            ("domain_catalog", CATALOG.to_owned()),
            ("domain_schema", schema.to_owned()),
            ("domain_name", name.to_owned()),
            ("dtd_identifier", "1".to_owned()),
        ];
        typed(&mut row, &Described::of(&ty, (schema, name, ""), 1));
        if let Some(default) = &domain.default {
            let default = deparsed(relations, default, &[], Some(&ty));
            row.push(("domain_default", default));
        }
        rows.push(row);
    }
    rows
}

fn constraints_of_domains(relations: &Relations<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (schema, name, known) in relations.snapshot.user_types() {
        let UserTypeKind::Domain(domain) = &known.kind else {
            continue;
        };
        for check in &domain.checks {
            rows.push(vec![
                ("constraint_catalog", CATALOG.to_owned()),
                ("constraint_schema", schema.to_owned()),
                ("constraint_name", check.name.clone()),
                ("domain_catalog", CATALOG.to_owned()),
                ("domain_schema", schema.to_owned()),
                ("domain_name", name.to_owned()),
                ("is_deferrable", "NO".to_owned()),
                ("initially_deferred", "NO".to_owned()),
            ]);
        }
    }
    rows
}

/// The columns that generated columns are computed from, as far as their tables are one's own.
fn columns_of_columns(relations: &Relations<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    let rights = relations.own_rights();
    let tables = relations.snapshot.all_tables();
    for (schema, table) in tables.filter(|(_, table)| rights.owns(&table.id.into())) {
        for (column, at) in table.schema.declared().iter().zip(0..) {
            if !column.generated {
                continue;
            }
            for read in read_by_default(table, at) {
                let Some(read) = table.schema.columns.get(read) else {
                    continue;
                };
                rows.push(vec![
                    ("table_catalog", CATALOG.to_owned()),
                    ("table_schema", schema.to_owned()),
                    ("table_name", table.name.clone()),
                    ("column_name", read.name.clone()),
                    ("dependent_column", column.name.clone()),
                ]);
            }
        }
    }
    rows
}

fn columns_of_domains(relations: &Relations<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    let rights = relations.own_rights();
    let tables = relations.snapshot.all_tables();
    for (schema, table) in tables.filter(|(_, table)| rights.sees(&table.id.into())) {
        for column in table.schema.declared() {
            let known = column.declared;
            let Some((of, name, known)) = known.and_then(|id| relations.snapshot.type_by_id(id))
            else {
                continue;
            };
            if matches!(known.kind, UserTypeKind::Domain(_)) {
                rows.push(vec![
                    ("domain_catalog", CATALOG.to_owned()),
                    ("domain_schema", of.to_owned()),
                    ("domain_name", name.to_owned()),
                    ("table_catalog", CATALOG.to_owned()),
                    ("table_schema", schema.to_owned()),
                    ("table_name", table.name.clone()),
                    ("column_name", column.name.clone()),
                ]);
            }
        }
    }
    rows
}

fn attributes(relations: &Relations<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (schema, name, known) in relations.snapshot.user_types() {
        let UserTypeKind::Composite(fields) = &known.kind else {
            continue;
        };
        for (field, place) in fields.iter().zip(1..) {
            let ty = type_of_stored(&relations.snapshot, &field.column());
            let described = Described::of(&ty, (schema, name, &field.name), place);
            let mut of_type = Vec::new();
            typed(&mut of_type, &described);
            let mut row = vec![
                ("udt_catalog", CATALOG.to_owned()),
                ("udt_schema", schema.to_owned()),
                ("udt_name", name.to_owned()),
                ("attribute_name", field.name.clone()),
                ("ordinal_position", place.to_string()),
                ("is_nullable", "YES".to_owned()),
                ("attribute_udt_catalog", CATALOG.to_owned()),
                ("attribute_udt_schema", described.of_schema.clone()),
                ("attribute_udt_name", described.short.clone()),
                ("dtd_identifier", place.to_string()),
                ("is_derived_reference_attribute", "NO".to_owned()),
            ];
            row.extend(
                of_type
                    .into_iter()
                    .filter(|(name, _)| !name.starts_with("udt_")),
            );
            rows.push(row);
        }
    }
    rows
}

/// The types of the elements of columns that are arrays.
fn elements(relations: &Relations<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    let rights = relations.own_rights();
    for one in described(relations) {
        if !rights.sees(&one.object()) {
            continue;
        }
        let (schema, table) = one.full_name();
        for ((_, ty), place) in one.typed_columns().zip(1..) {
            let Type::Array(element) = ty else { continue };
            let described = Described::of(element, (schema, table, ""), place);
            let mut row = vec![
                ("object_catalog", CATALOG.to_owned()),
                ("object_schema", schema.to_owned()),
                ("object_name", table.to_owned()),
                ("object_type", one.object_type().to_owned()),
                ("collection_type_identifier", place.to_string()),
                ("dtd_identifier", format!("a{place}")),
            ];
            typed(&mut row, &described);
            // Lengths of elements are told of nowhere.
            row.retain(|(name, _)| !name.contains("length") && !name.contains("precision"));
            rows.push(row);
        }
    }
    rows
}

/// The name of a type that a function has, as `data_type`, `udt_schema` and `udt_name`.
fn of_function(numbers: &Numbers, ty: &str) -> [String; 3] {
    let number = numbers.type_number(ty).unwrap_or_default();
    match (short_name(number), numbers.named_type(number)) {
        (Some(short), _) => {
            let kind = match short.starts_with('_') {
                true => "ARRAY".to_owned(),
                false => formatted(number, None),
            };
            [kind, PG_CATALOG.to_owned(), short]
        }
        (None, Some((schema, name))) => {
            let kind = if name.starts_with('_') {
                "ARRAY"
            } else {
                "USER-DEFINED"
            };
            [kind.to_owned(), schema.to_owned(), name]
        }
        (None, None) => [ty.to_owned(), PG_CATALOG.to_owned(), ty.to_owned()],
    }
}

fn functions(relations: &Relations<'_>) -> Vec<Row> {
    let numbers = Numbers::of(relations);
    let yes = |truth: bool| if truth { "YES" } else { "NO" }.to_owned();
    let all = routines::all(relations).map(|(schema, one)| {
        let [kind, of, short] = of_function(&numbers, one.result());
        let mut row = vec![
            ("specific_catalog", CATALOG.to_owned()),
            ("specific_schema", schema.to_owned()),
            ("specific_name", specific(schema, &one)),
            ("routine_catalog", CATALOG.to_owned()),
            ("routine_schema", schema.to_owned()),
            ("routine_name", one.name.clone()),
            ("routine_type", "FUNCTION".to_owned()),
            ("data_type", kind),
            ("type_udt_catalog", CATALOG.to_owned()),
            ("type_udt_schema", of),
            ("type_udt_name", short),
            ("dtd_identifier", "0".to_owned()),
            ("routine_body", "SQL".to_owned()),
            ("external_language", "SQL".to_owned()),
            ("parameter_style", "GENERAL".to_owned()),
            ("is_deterministic", yes(one.volatility == "i")),
            ("sql_data_access", "MODIFIES".to_owned()),
            ("is_null_call", yes(one.strict)),
            ("schema_level_routine", "YES".to_owned()),
            ("max_dynamic_result_sets", "0".to_owned()),
            ("security_type", "INVOKER".to_owned()),
            ("as_locator", "NO".to_owned()),
            ("is_udt_dependent", "NO".to_owned()),
        ];
        if one.is_query && !one.atomic {
            row.push(("routine_definition", one.body.clone()));
        }
        row
    });
    all.collect()
}

/// The name by which overloads of a function are told apart.
fn specific(schema: &str, one: &crate::routine::Routine) -> String {
    format!("{}_{}", one.name, routines::number(schema, one))
}

fn parameters(relations: &Relations<'_>) -> Vec<Row> {
    let numbers = Numbers::of(relations);
    let mut rows = Vec::new();
    for (schema, one) in routines::all(relations) {
        for (argument, place) in one.arguments().iter().zip(1..) {
            let [kind, of, short] = of_function(&numbers, argument.ty);
            let mode = match argument.mode {
                'o' | 't' => "OUT",
                'b' => "INOUT",
                _ => "IN",
            };
            let mut row = vec![
                ("specific_catalog", CATALOG.to_owned()),
                ("specific_schema", schema.to_owned()),
                ("specific_name", specific(schema, &one)),
                ("ordinal_position", place.to_string()),
                ("parameter_mode", mode.to_owned()),
                ("is_result", "NO".to_owned()),
                ("as_locator", "NO".to_owned()),
                ("data_type", kind),
                ("udt_catalog", CATALOG.to_owned()),
                ("udt_schema", of),
                ("udt_name", short),
                ("dtd_identifier", place.to_string()),
            ];
            if !argument.name.is_empty() {
                row.push(("parameter_name", argument.name.to_owned()));
            }
            if let Some(default) = argument.default {
                let default = deparsed(relations, default, &[], None);
                row.push(("parameter_default", default));
            }
            rows.push(row);
        }
    }
    rows
}

/// The relations that views read.
fn tables_of_views(relations: &Relations<'_>) -> Vec<Row> {
    let rights = relations.own_rights();
    let all = relation_numbers(&relations.snapshot);
    let mut rows = Vec::new();
    for one in described(relations) {
        if !one.object_type().eq("VIEW") || !rights.sees(&one.object()) {
            continue;
        }
        let (view_schema, view) = one.full_name();
        for number in tables_read_by(relations, one) {
            let table = all.iter().find(|(known, ..)| *known == number);
            let Some((_, schema, table)) = table else {
                continue;
            };
            rows.push(vec![
                ("view_catalog", CATALOG.to_owned()),
                ("view_schema", view_schema.to_owned()),
                ("view_name", view.to_owned()),
                ("table_catalog", CATALOG.to_owned()),
                ("table_schema", (*schema).to_owned()),
                ("table_name", table.clone()),
            ]);
        }
    }
    rows
}

/// The tables of keys, and those that foreign keys refer to.
fn tables_of_constraints(relations: &Relations<'_>) -> Vec<Row> {
    let rights = relations.own_rights();
    let mut rows = Vec::new();
    let tables = relations.snapshot.all_tables();
    for (schema, table) in tables.filter(|(_, table)| rights.sees(&table.id.into())) {
        let keys = table.schema.keys.iter().filter(|key| !key.of_index);
        let keys = keys.map(|key| (&key.name, schema, &table.name));
        let foreign = table.schema.foreign_keys.iter().filter_map(|key| {
            let mut all = relations.snapshot.all_tables();
            let (of, parent) = all.find(|(_, one)| one.id == key.parent)?;
            Some((&key.name, of, &parent.name))
        });
        for (name, of, of_table) in keys.chain(foreign) {
            rows.push(vec![
                ("table_catalog", CATALOG.to_owned()),
                ("table_schema", of.to_owned()),
                ("table_name", of_table.clone()),
                ("constraint_catalog", CATALOG.to_owned()),
                ("constraint_schema", schema.to_owned()),
                ("constraint_name", name.clone()),
            ]);
        }
    }
    rows
}

fn role_name(relations: &Relations<'_>, role: RoleId) -> String {
    match role {
        RoleId::PUBLIC => "PUBLIC".to_owned(),
        role => relations
            .snapshot
            .roles()
            .name(role)
            .unwrap_or_default()
            .to_owned(),
    }
}

/// The grants on an object to whom the session is or by whom it is: grantor, grantee and
/// privileges.
fn granted(
    relations: &Relations<'_>,
    object: &Object,
    all: Privileges,
) -> Vec<(String, String, Privileges, bool)> {
    let rights = relations.own_rights();
    let access = relations.snapshot.roles().access(object);
    let owns = rights.holds(access.owner);
    let own = std::iter::once((access.owner, all));
    let seen = own
        .chain(access.grants)
        .filter(|(role, _)| owns || *role == RoleId::PUBLIC || rights.holds(*role));
    let grantor = role_name(relations, access.owner);
    let rows = seen.map(|(role, privileges)| {
        let grantee = role_name(relations, role);
        (grantor.clone(), grantee, privileges, role == access.owner)
    });
    rows.collect()
}

/// The grants on a column alone: grantor, grantee and privileges.
fn granted_column(
    relations: &Relations<'_>,
    object: &Object,
    column: &str,
) -> Vec<(String, String, Privileges)> {
    let rights = relations.own_rights();
    let access = relations.snapshot.roles().access(object);
    let owns = rights.holds(access.owner);
    let grants = access.columns.get(column).into_iter().flatten();
    let seen = grants.filter(|(role, _)| owns || **role == RoleId::PUBLIC || rights.holds(**role));
    let grantor = role_name(relations, access.owner);
    let rows = seen.map(|(role, privileges)| {
        let grantee = role_name(relations, *role);
        (grantor.clone(), grantee, *privileges)
    });
    rows.collect()
}

fn columns_granted(relations: &Relations<'_>) -> Vec<Row> {
    let of_columns = ["SELECT", "INSERT", "UPDATE", "REFERENCES"];
    let mut rows = Vec::new();
    for one in described(relations) {
        let (schema, table) = one.full_name();
        let object = one.object();
        let whole = granted(relations, &object, Privileges::OF_TABLES);
        for (column, _) in one.typed_columns() {
            let mut all = whole.clone();
            for (grantor, grantee, privileges) in granted_column(relations, &object, column) {
                let known = all.iter_mut().find(|(_, to, ..)| *to == grantee);
                match known {
                    Some((_, _, had, _)) => *had = *had | privileges,
                    None => all.push((grantor, grantee, privileges, false)),
                }
            }
            for (grantor, grantee, privileges, own) in all {
                for privilege in privileges.names().filter(|name| of_columns.contains(name)) {
                    rows.push(vec![
                        ("grantor", grantor.clone()),
                        ("grantee", grantee.clone()),
                        ("table_catalog", CATALOG.to_owned()),
                        ("table_schema", schema.to_owned()),
                        ("table_name", table.to_owned()),
                        ("column_name", column.to_owned()),
                        ("privilege_type", privilege.to_owned()),
                        ("is_grantable", if own { "YES" } else { "NO" }.to_owned()),
                    ]);
                }
            }
        }
    }
    rows
}

/// Functions are everybody's to call.
fn functions_granted(relations: &Relations<'_>) -> Vec<Row> {
    let owner = role_name(relations, RoleId(10));
    let mut rows = Vec::new();
    for (schema, one) in routines::all(relations) {
        for (grantee, grantable) in [("PUBLIC", "NO"), (owner.as_str(), "YES")] {
            rows.push(vec![
                ("grantor", owner.clone()),
                ("grantee", grantee.to_owned()),
                ("specific_catalog", CATALOG.to_owned()),
                ("specific_schema", schema.to_owned()),
                ("specific_name", specific(schema, &one)),
                ("routine_catalog", CATALOG.to_owned()),
                ("routine_schema", schema.to_owned()),
                ("routine_name", one.name.clone()),
                ("privilege_type", "EXECUTE".to_owned()),
                ("is_grantable", grantable.to_owned()),
            ]);
        }
    }
    rows
}

fn usages(relations: &Relations<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (schema, sequence) in relations.snapshot.all_sequences() {
        let object = Object::from(sequence.id);
        let granted = granted(relations, &object, Privileges::OF_SEQUENCES);
        let with = granted
            .into_iter()
            .filter(|(_, _, privileges, _)| privileges.contains(Privileges::USAGE));
        for (grantor, grantee, _, own) in with {
            rows.push(vec![
                ("grantor", grantor),
                ("grantee", grantee),
                ("object_catalog", CATALOG.to_owned()),
                ("object_schema", schema.to_owned()),
                ("object_name", sequence.name.clone()),
                ("object_type", "SEQUENCE".to_owned()),
                ("privilege_type", "USAGE".to_owned()),
                ("is_grantable", if own { "YES" } else { "NO" }.to_owned()),
            ]);
        }
    }
    rows
}

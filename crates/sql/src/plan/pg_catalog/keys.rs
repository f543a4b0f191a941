//! Indexes and constraints.

use datafusion::sql::sqlparser::ast::Expr;
use freestone_storage::{
    Column, Deferral, ForeignAction, IndexDefinition, IndexKind, Table, UserTypeKind,
};

use super::CONSTRAINTS;
use super::facts::{Fact, Facts};
use super::objects::{
    BRIN, BTREE, constraint_number, described, index_number, schema_number, table_number,
    type_number,
};
use crate::names::{DEFAULT_SCHEMA, meant_schema, quoted, shown_schema};
use crate::plan::expression::{condition_of, parse_expr, printed};
use crate::plan::relations::Relations;

/// Names of columns, as SQL lists them, and expressions.
fn listed(table: &Table, columns: &[usize]) -> String {
    let elements: Vec<String> = table.schema.shown(columns).map(element).collect();
    elements.join(", ")
}

/// A column, or the expression of a hidden one, as CREATE INDEX has it.
fn element(column: &Column) -> String {
    let expression = column
        .default
        .as_deref()
        .filter(|_| column.hidden.is_some());
    match expression {
        None => quoted(&column.name),
        // A call needs no brackets.
        Some(text) => match parse_expr(text) {
            Ok(Expr::Function(_)) => text.to_owned(),
            _ => format!("({text})"),
        },
    }
}

/// The condition of a partial index.
fn condition(table: &Table, index: &IndexDefinition) -> Option<String> {
    let column = table.schema.condition(&index.columns)?;
    let condition = condition_of(column).ok()?;
    Some(format!("({})", printed(&condition)))
}

/// The expressions of an index, if it has any.
fn expressions(table: &Table, index: &IndexDefinition) -> Option<String> {
    let shown = table.schema.shown(&index.columns);
    let hidden = shown.filter(|column| column.hidden.is_some());
    let all: Vec<&str> = hidden
        .filter_map(|column| column.default.as_deref())
        .collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// The name of a table by which it is found: without its schema where that is looked in anyway.
fn found_by(relations: &Relations<'_>, schema: &str, table: &str) -> String {
    let is_found = match relations.path() {
        None => schema == DEFAULT_SCHEMA,
        Some(path) => path.iter().any(|name| meant_schema(name) == schema),
    };
    match is_found {
        true => quoted(table),
        false => format!("{}.{}", quoted(shown_schema(schema)), quoted(table)),
    }
}

fn numbers(columns: &[usize]) -> Vec<i32> {
    columns.iter().map(|at| *at as i32 + 1).collect()
}

/// How an index would be made.
fn text(schema: &str, table: &Table, index: &IndexDefinition) -> String {
    let unique = if key_of(table, index).is_some() {
        "UNIQUE "
    } else {
        ""
    };
    let condition = condition(table, index).map(|text| format!(" WHERE {text}"));
    format!(
        "CREATE {unique}INDEX {} ON {}.{} USING {} ({}){}{}",
        quoted(&index.name),
        quoted(shown_schema(schema)),
        quoted(&table.name),
        access_method(index.kind),
        listed(table, &index.columns),
        if has_equal_nulls(table, index) {
            " NULLS NOT DISTINCT"
        } else {
            ""
        },
        condition.unwrap_or_default()
    )
}

/// The kind of an index by the name that PostgreSQL has for it, so that what is dumped here is
/// restored there; kinds that it lacks have their own.
fn access_method(kind: IndexKind) -> &'static str {
    match kind {
        IndexKind::Csb => "btree",
        IndexKind::Inverted => "inverted",
        IndexKind::Bloom => "bloom",
        IndexKind::Brin => "brin",
    }
}

/// The key that an index is of, and whether it is the primary one.
fn key_of(table: &Table, index: &IndexDefinition) -> Option<bool> {
    let keys = table.schema.keys.iter();
    let mut of = keys.filter(|key| key.name == index.name);
    of.next().map(|key| key.primary)
}

/// Whether an index is of a key in which NULLs are equal to each other.
fn has_equal_nulls(table: &Table, index: &IndexDefinition) -> bool {
    let mut keys = table.schema.keys.iter();
    keys.any(|key| key.name == index.name && key.nulls_equal)
}

/// Whether the key of an index, if it is of one, is never deferred.
fn is_immediate(table: &Table, index: &IndexDefinition) -> bool {
    let mut keys = table.schema.keys.iter();
    !keys.any(|key| key.name == index.name && !key.deferral.is_never())
}

/// When a constraint is checked, as its definition says it.
fn deferred(deferral: Deferral) -> &'static str {
    match deferral {
        Deferral::Never => "",
        Deferral::Possible => " DEFERRABLE",
        Deferral::Initial => " DEFERRABLE INITIALLY DEFERRED",
    }
}

/// Indexes by their numbers.
pub(super) fn indexes(relations: &Relations<'_>, facts: &mut Facts) {
    for one in described(relations) {
        let Some(table) = &one.table else { continue };
        for index in &table.schema.indexes {
            let key = key_of(table, index);
            let columns = table.schema.shown(&index.columns);
            let columns = columns
                .zip(&index.columns)
                .map(|(column, at)| match column.hidden {
                    None => *at as i32 + 1,
                    Some(_) => 0,
                });
            let columns: Vec<i32> = columns.collect();
            let zeros = vec![0; columns.len()];
            let count = columns.len() as i64;
            let mut told: Vec<(&'static str, Fact)> = vec![
                ("indexrelid", index_number(table, index.number).into()),
                ("indrelid", one.number.into()),
                ("indnatts", count.into()),
                ("indnkeyatts", count.into()),
                ("indisunique", key.is_some().into()),
                ("indisprimary", key.unwrap_or(false).into()),
                ("indnullsnotdistinct", has_equal_nulls(table, index).into()),
                ("indimmediate", is_immediate(table, index).into()),
                ("indisvalid", true.into()),
                ("indisready", true.into()),
                ("indislive", true.into()),
                ("indkey", columns.clone().into()),
                ("indkeyparts", columns.into()),
                ("indcollation", zeros.clone().into()),
                ("indclass", zeros.clone().into()),
                ("indoption", zeros.into()),
                ("definition", text(&one.schema, table, index).into()),
            ];
            let texts = [
                ("indexprs", expressions(table, index)),
                ("indpred", condition(table, index)),
            ];
            for (name, text) in texts {
                told.extend(text.map(|text| (name, text.into())));
            }
            facts.add_told(told);
        }
    }
}

/// Indexes by their names, with how they would be made.
pub(super) fn index_texts(relations: &Relations<'_>, facts: &mut Facts) {
    for one in described(relations) {
        let Some(table) = &one.table else { continue };
        for index in &table.schema.indexes {
            facts.add([
                ("schemaname", shown_schema(&one.schema).into()),
                ("tablename", one.name.as_str().into()),
                ("indexname", index.name.as_str().into()),
                ("indexdef", text(&one.schema, table, index).into()),
            ]);
        }
    }
}

/// Constraints with their numbers.
pub(super) fn numbered(table: &Table) -> impl Iterator<Item = (&String, i64)> {
    let schema = &table.schema;
    let keys = schema.keys.iter().map(|key| &key.name);
    let checks = schema.checks.iter().map(|check| &check.name);
    let foreign = schema.foreign_keys.iter().map(|key| &key.name);
    let names = keys.chain(checks).chain(foreign).enumerate();
    names.map(|(place, name)| (name, constraint_number(table, place)))
}

/// Keys, checks and references.
pub(super) fn constraints(relations: &Relations<'_>, facts: &mut Facts) {
    for one in described(relations) {
        let Some(table) = &one.table else { continue };
        let namespace = schema_number(relations, &one.schema);
        let schema = &table.schema;
        let mut place = 0;
        let mut next = || {
            place += 1;
            constraint_number(table, place - 1)
        };
        for key in &schema.keys {
            let number = next();
            if key.of_index {
                continue;
            }
            let word = match (key.primary, key.nulls_equal) {
                (true, _) => "PRIMARY KEY",
                (false, false) => "UNIQUE",
                (false, true) => "UNIQUE NULLS NOT DISTINCT",
            };
            facts.add([
                ("oid", number.into()),
                ("tableoid", CONSTRAINTS.into()),
                ("conname", key.name.as_str().into()),
                ("condeferrable", (!key.deferral.is_never()).into()),
                ("condeferred", (key.deferral == Deferral::Initial).into()),
                ("connamespace", namespace.into()),
                ("contype", if key.primary { "p" } else { "u" }.into()),
                ("convalidated", true.into()),
                ("conrelid", one.number.into()),
                ("conindid", index_over(table, &key.columns).into()),
                ("conkey", numbers(&key.columns).into()),
                ("conislocal", true.into()),
                (
                    "definition",
                    format!(
                        "{word} ({}){}",
                        listed(table, &key.columns),
                        deferred(key.deferral)
                    )
                    .into(),
                ),
            ]);
        }
        for check in &schema.checks {
            facts.add([
                ("oid", next().into()),
                ("tableoid", CONSTRAINTS.into()),
                ("conname", check.name.as_str().into()),
                ("connamespace", namespace.into()),
                ("contype", "c".into()),
                ("convalidated", (!check.unvalidated).into()),
                ("conrelid", one.number.into()),
                ("conkey", numbers(&check.columns).into()),
                ("conislocal", true.into()),
                (
                    "definition",
                    format!("CHECK ({}){}", check.condition, valid(!check.unvalidated)).into(),
                ),
            ]);
        }
        for foreign in &schema.foreign_keys {
            let mut parents = relations.snapshot.all_tables();
            let parent = parents.find(|(_, known)| known.id == foreign.parent);
            let Some((parent_schema, parent)) = parent else {
                continue;
            };
            let mut definition = format!(
                "FOREIGN KEY ({}) REFERENCES {}({})",
                listed(table, &foreign.columns),
                found_by(relations, parent_schema, &parent.name),
                listed(parent, &foreign.parent_columns)
            );
            for (word, action) in [("UPDATE", foreign.on_update), ("DELETE", foreign.on_delete)] {
                if let Some((_, what)) = action_of(action) {
                    definition.push_str(&format!(" ON {word} {what}"));
                }
            }
            definition.push_str(deferred(foreign.deferral));
            definition.push_str(valid(!foreign.unvalidated));
            let letter = |action| action_of(action).map_or("a", |(letter, _)| letter);
            facts.add([
                ("oid", next().into()),
                ("tableoid", CONSTRAINTS.into()),
                ("conname", foreign.name.as_str().into()),
                ("connamespace", namespace.into()),
                ("contype", "f".into()),
                ("condeferrable", (!foreign.deferral.is_never()).into()),
                (
                    "condeferred",
                    (foreign.deferral == Deferral::Initial).into(),
                ),
                ("convalidated", (!foreign.unvalidated).into()),
                ("conrelid", one.number.into()),
                ("confrelid", table_number(parent).into()),
                (
                    "conindid",
                    index_over(parent, &foreign.parent_columns).into(),
                ),
                ("confupdtype", letter(foreign.on_update).into()),
                ("confdeltype", letter(foreign.on_delete).into()),
                ("confmatchtype", "s".into()),
                ("conkey", numbers(&foreign.columns).into()),
                ("confkey", numbers(&foreign.parent_columns).into()),
                ("conislocal", true.into()),
                ("definition", definition.into()),
            ]);
        }
    }
}

/// The word of a constraint that rows from before it may break.
fn valid(validated: bool) -> &'static str {
    match validated {
        true => "",
        false => " NOT VALID",
    }
}

/// Conditions of domains.
pub(super) fn of_domains(relations: &Relations<'_>, facts: &mut Facts) {
    for (schema, _, known) in relations.snapshot.user_types() {
        let UserTypeKind::Domain(domain) = &known.kind else {
            continue;
        };
        let of = type_number(known.id);
        for (check, place) in domain.checks.iter().zip(2..) {
            let definition = format!("CHECK ({}){}", check.condition, valid(check.valid));
            facts.add([
                ("oid", (of + place).into()),
                ("tableoid", CONSTRAINTS.into()),
                ("conname", check.name.as_str().into()),
                ("connamespace", schema_number(relations, schema).into()),
                ("contype", "c".into()),
                ("convalidated", check.valid.into()),
                ("contypid", of.into()),
                ("conislocal", true.into()),
                ("definition", definition.into()),
            ]);
        }
    }
}

/// The number of the index over some columns in any order, 0 if there is none.
fn index_over(table: &Table, columns: &[usize]) -> i64 {
    let over = |index: &&IndexDefinition| {
        index.columns.len() == columns.len()
            && index.columns.iter().all(|column| columns.contains(column))
    };
    let index = table.schema.indexes.iter().find(over);
    index.map_or(0, |index| index_number(table, index.number))
}

/// PostgreSQL's letter for an action, and the words; `None` for none.
fn action_of(action: ForeignAction) -> Option<(&'static str, &'static str)> {
    match action {
        ForeignAction::Cascade => Some(("c", "CASCADE")),
        ForeignAction::SetNull => Some(("n", "SET NULL")),
        ForeignAction::SetDefault => Some(("d", "SET DEFAULT")),
        _ => None,
    }
}

/// How rows are found, for `pg_am`.
pub(super) const ACCESS: [(i64, &str, &str); 3] =
    [(2, "heap", "t"), (BTREE, "btree", "i"), (BRIN, "brin", "i")];

//! Indexes and constraints.

use freestone_frontend::bind::name_of_expression;
use freestone_frontend::types::Type;
use freestone_storage::{
    Column, Deferral, ForeignAction, IndexDefinition, IndexKind, Table, UserTypeKind,
};
use sqlparser::ast::Expr;

use super::facts::{Fact, Facts};
use super::objects::{collation_of, described, schema_number};
use super::types::of_stored;
use super::{CLASSES, CONSTRAINTS};
use crate::deparse::{deparsed, pretty};
use crate::front::{columns_in, condition_of, declared_type, parse_expr};
use crate::grammar::printed;
use crate::names::{DEFAULT_SCHEMA, Name, meant_schema, quoted, shown_schema};
use crate::oids::{constraint_number, index_number, table_number, type_number};
use crate::relations::Relations;

/// Names of columns, as SQL lists them.
fn listed(table: &Table, columns: &[usize]) -> String {
    let elements = table.schema.shown(columns);
    let elements: Vec<String> = elements.map(|column| quoted(&column.name)).collect();
    elements.join(", ")
}

/// The expression that a column of an index is of; `None` for a column of the table.
fn expression(column: &Column) -> Option<&str> {
    let expression = column.default.as_deref();
    expression.filter(|_| column.hidden.is_some())
}

/// The name of a column of an index: that of a function for a call, else that of the column.
pub(super) fn name_in_index(column: &Column) -> String {
    let Some(text) = expression(column) else {
        return column.name.clone();
    };
    let named = parse_expr(text).ok().map(|expr| name_of_expression(&expr));
    match named {
        Some(name) if name != "?column?" => name,
        _ => "expr".to_owned(),
    }
}

/// The columns and expressions of an index, with brackets everywhere or only where they are needed.
struct Over<'a> {
    relations: &'a Relations<'a>,
    table: &'a Table,
    columns: Vec<(String, Type)>,
    pretty: bool,
}

impl Over<'_> {
    fn shown(&self, text: &str) -> String {
        let shown = deparsed(self.relations, text, &self.columns, None);
        match self.pretty {
            true => pretty(&shown),
            false => shown,
        }
    }

    /// The elements of an index with how they are ordered, and the columns beside them.
    fn list(&self, index: &IndexDefinition) -> String {
        let columns = self.table.schema.shown(&index.columns);
        let mut list = Vec::with_capacity(index.columns.len());
        for (place, (mut text, column)) in self.elements(index).into_iter().zip(columns).enumerate()
        {
            let form = index.form.element(place);
            let (number, _) = of_stored(&self.relations.snapshot, column);
            if let Some(collation) = form.collation
                && collation_number(&collation) != collation_of(number)
            {
                text.push_str(&format!(" COLLATE {}", quoted(&collation)));
            }
            if let Some(class) = form.class
                && !super::classes::is_usual(index, &class, number)
            {
                text.push_str(&format!(" {}", quoted(&class)));
            }
            text.push_str(match (form.descending, form.nulls_first) {
                (false, false) => "",
                (false, true) => " NULLS FIRST",
                (true, true) => " DESC",
                (true, false) => " DESC NULLS LAST",
            });
            list.push(text);
        }
        let mut list = format!("({})", list.join(", "));
        if !index.form.include.is_empty() {
            let included = listed(self.table, &index.form.include);
            list.push_str(&format!(" INCLUDE ({included})"));
        }
        list
    }

    /// The columns of an index, or expressions, as CREATE INDEX has them.
    fn elements(&self, index: &IndexDefinition) -> Vec<String> {
        let columns = self.table.schema.shown(&index.columns);
        let elements = columns.map(|column| match expression(column) {
            None => quoted(&column.name),
            // A call needs no brackets.
            Some(text) => match parse_expr(text) {
                Ok(Expr::Function(_)) => self.shown(text),
                _ => format!("({})", self.shown(text)),
            },
        });
        elements.collect()
    }

    /// The condition of a partial index.
    fn condition(&self, index: &IndexDefinition) -> Option<String> {
        let column = self.table.schema.condition(&index.columns)?;
        let condition = condition_of(column).ok()?;
        Some(self.shown(&printed(&condition)))
    }

    /// The expressions of an index, if it has any.
    fn expressions(&self, index: &IndexDefinition) -> Option<String> {
        let shown = self.table.schema.shown(&index.columns);
        let all: Vec<String> = shown
            .filter_map(expression)
            .map(|text| self.shown(text))
            .collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// How an index would be made.
    fn definition(&self, schema: &str, index: &IndexDefinition) -> String {
        let unique = if key_of(self.table, index).is_some() {
            "UNIQUE "
        } else {
            ""
        };
        let table = match self.pretty {
            true => found_by(self.relations, schema, &self.table.name),
            false => format!(
                "{}.{}",
                quoted(shown_schema(schema)),
                quoted(&self.table.name)
            ),
        };
        let condition = self.condition(index).map(|text| format!(" WHERE {text}"));
        let only = match self.table.schema.partitioned {
            Some(_) => "ONLY ",
            None => "",
        };
        format!(
            "CREATE {unique}INDEX {} ON {only}{table} USING {} {}{}{}",
            quoted(&index.name),
            access_method(index),
            self.list(index),
            match has_equal_nulls(self.table, index) {
                true => " NULLS NOT DISTINCT",
                false => "",
            },
            condition.unwrap_or_default()
        )
    }
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

/// The number of a collation of a name.
fn collation_number(name: &str) -> i64 {
    match name {
        "C" => 950,
        "POSIX" => 951,
        "ucs_basic" => 962,
        _ => 100,
    }
}

fn numbers(columns: &[usize]) -> Vec<i32> {
    columns.iter().map(|at| *at as i32 + 1).collect()
}

/// The kind of an index by the name that PostgreSQL has for it, so that what is dumped here is
/// restored there; kinds that it lacks have their own.
fn access_method(index: &IndexDefinition) -> &'static str {
    match index.kind {
        IndexKind::Csb if index.form.hash => "hash",
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
        let over = |pretty| Over {
            relations,
            table,
            columns: one.types(),
            pretty,
        };
        let (whole, pretty) = (over(false), over(true));
        for index in &table.schema.indexes {
            let key = key_of(table, index);
            let form = |place| index.form.element(place);
            let shown = table.schema.shown(&index.columns).enumerate();
            let of_types = shown.map(|(place, column)| {
                let (number, _) = of_stored(&relations.snapshot, column);
                let form = form(place);
                let collation = form.collation.as_deref().map(collation_number);
                let class = form.class.as_deref();
                let class =
                    class.and_then(|class| super::classes::class_called(index, class, number));
                (
                    collation.unwrap_or_else(|| collation_of(number)),
                    class.unwrap_or_else(|| super::classes::class_of(index, number)),
                )
            });
            let (collations, classes): (Vec<i64>, Vec<i64>) = of_types.unzip();
            let columns = table.schema.shown(&index.columns);
            let columns = columns
                .zip(&index.columns)
                .map(|(column, at)| match column.hidden {
                    None => *at as i32 + 1,
                    Some(_) => 0,
                });
            let mut columns: Vec<i32> = columns.collect();
            let options = (0..columns.len()).map(|place| {
                let form = form(place);
                i32::from(form.descending) + 2 * i32::from(form.nulls_first)
            });
            let options: Vec<i32> = options.collect();
            let keys = columns.len() as i64;
            columns.extend(numbers(&index.form.include));
            let count = columns.len() as i64;
            let included = index.form.include.iter();
            let included = included.map(|at| quoted(&table.schema.columns[*at].name));
            let included: Vec<String> = included.collect();
            let with_included = |mut elements: Vec<String>| {
                elements.extend(included.iter().cloned());
                elements
            };
            let mut told: Vec<(&'static str, Fact)> = vec![
                ("indexrelid", index_number(table, index.number).into()),
                ("indrelid", one.number.into()),
                ("indnatts", count.into()),
                ("indnkeyatts", keys.into()),
                ("indisunique", key.is_some().into()),
                ("indisprimary", key.unwrap_or(false).into()),
                ("indnullsnotdistinct", has_equal_nulls(table, index).into()),
                ("indimmediate", is_immediate(table, index).into()),
                ("indisvalid", true.into()),
                ("indisready", true.into()),
                ("indislive", true.into()),
                ("indkey", columns.clone().into()),
                ("indkeyparts", columns.into()),
                ("indcollation", collations.into()),
                ("indclass", classes.into()),
                ("indoption", options.into()),
                ("definition", whole.definition(&one.schema, index).into()),
                ("pretty", pretty.definition(&one.schema, index).into()),
                ("elements", with_included(whole.elements(index)).into()),
                (
                    "prettyelements",
                    with_included(pretty.elements(index)).into(),
                ),
            ];
            let texts = [
                ("indexprs", whole.expressions(index)),
                ("indpred", whole.condition(index)),
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
        let over = Over {
            relations,
            table,
            columns: one.types(),
            pretty: false,
        };
        for index in &table.schema.indexes {
            facts.add([
                ("schemaname", shown_schema(&one.schema).into()),
                ("tablename", one.name.as_str().into()),
                ("indexname", index.name.as_str().into()),
                ("indexdef", over.definition(&one.schema, index).into()),
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

/// An object, the column or the object that it needs, and how: by table, number and column.
type Needed = (i64, i64, (i64, i64, i64), &'static str);

/// The columns and the keys that constraints and indexes of a table need.
pub(super) fn needed_columns(relations: &Relations<'_>, table: &Table) -> Vec<Needed> {
    let (mut all, of) = (Vec::new(), table_number(table));
    let mut places = 0..;
    let mut next = || constraint_number(table, places.next().unwrap_or_default());
    let column = |table: i64, at: &usize| (CLASSES, table, *at as i64 + 1);
    let schema = &table.schema;
    let mut of_keys = Vec::new();
    for key in &schema.keys {
        let number = next();
        if key.of_index {
            continue;
        }
        of_keys.push((key.name.as_str(), number));
        let columns = key.columns.iter().map(|at| column(of, at));
        all.extend(columns.map(|part| (CONSTRAINTS, number, part, "a")));
    }
    for check in &schema.checks {
        let number = next();
        for part in check.columns.iter().map(|at| column(of, at)) {
            all.extend(["a", "n"].map(|kind| (CONSTRAINTS, number, part, kind)));
        }
    }
    for foreign in &schema.foreign_keys {
        let Some((_, parent)) = relations
            .snapshot
            .all_tables()
            .find(|(_, one)| one.id == foreign.parent)
        else {
            continue;
        };
        let number = next();
        let columns = foreign.columns.iter().map(|at| column(of, at));
        all.extend(columns.map(|part| (CONSTRAINTS, number, part, "a")));
        let referred = table_number(parent);
        let columns = foreign.parent_columns.iter().map(|at| column(referred, at));
        all.extend(columns.map(|part| (CONSTRAINTS, number, part, "n")));
        let index = index_over(parent, &foreign.parent_columns);
        if index != 0 {
            all.push((CONSTRAINTS, number, (CLASSES, index, 0), "n"));
        }
    }
    for index in &schema.indexes {
        let number = index_number(table, index.number);
        match of_keys.iter().find(|(name, _)| *name == index.name) {
            Some((_, key)) => all.push((CLASSES, number, (CONSTRAINTS, *key, 0), "i")),
            None => {
                let stored = |at: &&usize| {
                    schema
                        .columns
                        .get(**at)
                        .is_some_and(|one| one.hidden.is_none())
                };
                let mut read: Vec<usize> = index.columns.iter().filter(stored).copied().collect();
                // An index over expressions alone needs the table itself.
                if read.is_empty() {
                    all.push((CLASSES, number, (CLASSES, of, 0), "a"));
                }
                let hidden = index.columns.iter().filter(|at| !stored(at));
                for at in hidden {
                    read.extend(read_by_default(table, *at));
                }
                read.sort_unstable();
                read.dedup();
                let columns = read.iter().map(|at| column(of, at));
                all.extend(columns.map(|part| (CLASSES, number, part, "a")));
            }
        }
    }
    all
}

/// The columns that the expression of a column reads, which is computed from others.
pub(crate) fn read_by_default(table: &Table, at: usize) -> Vec<usize> {
    let column = table.schema.columns.get(at);
    let text = column.and_then(|column| column.default.as_deref());
    let Some(expr) = text.and_then(|text| parse_expr(text).ok()) else {
        return Vec::new();
    };
    columns_in(&expr, &table.schema, &Name::new("", ""))
}

/// Keys, checks and references.
pub(super) fn constraints(relations: &Relations<'_>, facts: &mut Facts) {
    for one in described(relations) {
        let Some(table) = &one.table else { continue };
        let namespace = schema_number(relations, &one.schema);
        let schema = &table.schema;
        // Those of partitions are those of their table.
        let is_own = schema.partition.is_none();
        let no_inherit = is_own && schema.partitioned.is_none();
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
                ("conislocal", is_own.into()),
                ("coninhcount", i64::from(!is_own).into()),
                ("connoinherit", is_own.into()),
                ("confupdtype", " ".into()),
                ("confdeltype", " ".into()),
                ("confmatchtype", " ".into()),
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
            let condition = deparsed(relations, &check.condition, &one.types(), None);
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
                ("confupdtype", " ".into()),
                ("confdeltype", " ".into()),
                ("confmatchtype", " ".into()),
                (
                    "definition",
                    format!("CHECK ({condition}){}", valid(!check.unvalidated)).into(),
                ),
                ("conbin", condition.into()),
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
                ("conislocal", is_own.into()),
                ("coninhcount", i64::from(!is_own).into()),
                ("connoinherit", no_inherit.into()),
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
            let base = declared_type(&relations.snapshot, &domain.kind, domain.declared);
            let columns = [("value".to_owned(), base)];
            let condition = deparsed(relations, &check.condition, &columns, None);
            let definition = format!("CHECK ({condition}){}", valid(check.valid));
            facts.add([
                ("oid", (of + place).into()),
                ("tableoid", CONSTRAINTS.into()),
                ("conname", check.name.as_str().into()),
                ("connamespace", schema_number(relations, schema).into()),
                ("contype", "c".into()),
                ("convalidated", check.valid.into()),
                ("contypid", of.into()),
                ("conislocal", true.into()),
                ("confupdtype", " ".into()),
                ("confdeltype", " ".into()),
                ("confmatchtype", " ".into()),
                ("definition", definition.into()),
                ("conbin", condition.into()),
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
        ForeignAction::Restrict => Some(("r", "RESTRICT")),
        ForeignAction::NoAction => None,
    }
}

//! Objects as `pg_describe_object` tells of them: `index i`, `column a of table t`.

use std::collections::HashMap;
use std::sync::Arc;

use freestone_frontend::functions::objects::Objects;
use freestone_frontend::types::Reg;

use super::Numbers;
use super::pg_catalog::facts::{Fact, Facts};
use super::pg_catalog::{self, system};
use crate::error::Result;
use crate::relations::Relations;

/// Numbers of tables of the catalog whose rows are objects.
const CLASSES: i64 = 1259;
const TYPES: i64 = 1247;
const FUNCTIONS: i64 = 1255;
const ROLES: i64 = 1260;
const DEFAULTS: i64 = 2604;
const CONSTRAINTS: i64 = 2606;
const SCHEMAS: i64 = 2615;
const RULES: i64 = 2618;
const COLLATIONS: i64 = 3456;

/// Names and relations of objects of the catalog, in one snapshot.
pub(super) struct ToldObjects {
    numbers: Arc<Numbers>,
    /// The kinds of relations.
    kinds: HashMap<i64, String>,
    /// Names of columns by the numbers of their relations and their own.
    columns: HashMap<(i64, i64), String>,
    /// Names of constraints, and the relations that they are of.
    constraints: HashMap<i64, (String, i64)>,
    /// The columns that defaults are of.
    defaults: HashMap<i64, (i64, i64)>,
    /// Names of rules, and the relations that they are of.
    rules: HashMap<i64, (String, i64)>,
}

fn number(fact: Option<&Fact>) -> Option<i64> {
    match fact {
        Some(Fact::Number(number)) => Some(*number),
        _ => None,
    }
}

fn text(fact: Option<&Fact>) -> Option<String> {
    match fact {
        Some(Fact::Text(text)) => Some(text.clone()),
        _ => None,
    }
}

/// Names of things by their numbers, with the relations that they are of.
fn named(facts: &Facts, name: &str, relation: &str) -> HashMap<i64, (String, i64)> {
    let rows = facts
        .told("oid")
        .zip(facts.told(name).zip(facts.told(relation)));
    let rows = rows.filter_map(|(of, (name, relation))| {
        Some((
            number(of)?,
            (text(name)?, number(relation).unwrap_or_default()),
        ))
    });
    rows.collect()
}

impl ToldObjects {
    /// # Errors
    /// Errors of reading the catalog.
    pub(super) fn of(relations: &Relations<'_>, numbers: Arc<Numbers>) -> Result<Self> {
        let attributes = pg_catalog::facts(relations, "pg_attribute")?;
        let columns = attributes.told("attrelid").zip(attributes.told("attnum"));
        let columns = columns.zip(attributes.told("attname"));
        let columns = columns.filter_map(|((relation, place), name)| {
            Some(((number(relation)?, number(place)?), text(name)?))
        });
        let defaults = pg_catalog::facts(relations, "pg_attrdef")?;
        let rows = defaults.told("adrelid").zip(defaults.told("adnum"));
        let rows = defaults.told("oid").zip(rows);
        let of_columns = rows.filter_map(|(of, (relation, place))| {
            Some((number(of)?, (number(relation)?, number(place)?)))
        });
        let constraints = pg_catalog::facts(relations, "pg_constraint")?;
        let rules = pg_catalog::facts(relations, "pg_rewrite")?;
        Ok(Self {
            kinds: pg_catalog::facts(relations, "pg_class")?.texts_by("oid", "relkind"),
            columns: columns.collect(),
            constraints: named(&constraints, "conname", "conrelid"),
            defaults: of_columns.collect(),
            rules: named(&rules, "rulename", "ev_class"),
            numbers,
        })
    }

    /// A relation, with its kind.
    fn relation(&self, number: i64) -> Option<String> {
        let kind = match self.kinds.get(&number) {
            Some(kind) => kind.as_str(),
            None => system::kind(number)?,
        };
        let kind = match kind {
            "r" | "p" => "table",
            "v" => "view",
            "m" => "materialized view",
            "i" | "I" => "index",
            "S" => "sequence",
            "c" => "composite type",
            _ => return None,
        };
        Some(format!("{kind} {}", self.numbers.name(Reg::Class, number)?))
    }

    fn column(&self, relation: i64, place: i64) -> Option<String> {
        let name = match self.columns.get(&(relation, place)) {
            Some(name) => name.as_str(),
            None => system::column(relation, place)?,
        };
        Some(format!("column {name} of {}", self.relation(relation)?))
    }

    /// The words for an object; `None` for one that there is not.
    pub(super) fn told(&self, class: i64, object: i64, part: i64) -> Option<String> {
        let by_name = |what: &str, kind: Reg| {
            let name = self.numbers.name(kind, object)?;
            Some(format!("{what} {name}"))
        };
        match class {
            CLASSES if part != 0 => self.column(object, part),
            CLASSES => self.relation(object),
            TYPES => by_name("type", Reg::Type),
            FUNCTIONS => by_name("function", Reg::Procedure),
            ROLES => by_name("role", Reg::Role),
            SCHEMAS => by_name("schema", Reg::Namespace),
            COLLATIONS => by_name("collation", Reg::Collation),
            DEFAULTS => {
                let (relation, place) = self.defaults.get(&object)?;
                let column = self.column(*relation, *place)?;
                Some(format!("default value for {column}"))
            }
            CONSTRAINTS => {
                let (name, relation) = self.constraints.get(&object)?;
                Some(match self.relation(*relation) {
                    Some(relation) => format!("constraint {name} on {relation}"),
                    None => format!("constraint {name}"),
                })
            }
            RULES => {
                let (name, relation) = self.rules.get(&object)?;
                let relation = self.relation(*relation)?;
                Some(format!("rule {name} on {relation}"))
            }
            _ => None,
        }
    }
}

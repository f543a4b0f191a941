//! Comments.

use super::facts::Facts;
use super::keys::numbered;
use super::objects::{described, schema_number};
use super::{CLASSES, CONSTRAINTS, SCHEMAS};
use crate::names::DEFAULT_SCHEMA;
use crate::oids::index_number;
use crate::relations::Relations;

/// Comments on tables, columns, indexes and constraints, and that of the default schema, for
/// which pg_dump looks.
pub(super) fn descriptions(relations: &Relations<'_>, facts: &mut Facts) {
    facts.add([
        ("objoid", schema_number(relations, DEFAULT_SCHEMA).into()),
        ("classoid", SCHEMAS.into()),
        ("objsubid", 0.into()),
        ("description", "standard public schema".into()),
    ]);
    for one in described(relations) {
        let Some(table) = &one.table else { continue };
        let comments = &table.schema.comments;
        let mut add = |(class, number): (i64, i64), column: i64, text: &str| {
            facts.add([
                ("objoid", number.into()),
                ("classoid", class.into()),
                ("objsubid", column.into()),
                ("description", text.into()),
            ]);
        };
        if let Some(text) = &comments.table {
            add((CLASSES, one.number), 0, text);
        }
        for (column, text) in &comments.columns {
            add((CLASSES, one.number), *column as i64 + 1, text);
        }
        for (index, text) in &comments.indexes {
            add((CLASSES, index_number(table, *index)), 0, text);
        }
        for (name, number) in numbered(table) {
            if let Some(text) = comments.constraints.get(name) {
                add((CONSTRAINTS, number), 0, text);
            }
        }
    }
}

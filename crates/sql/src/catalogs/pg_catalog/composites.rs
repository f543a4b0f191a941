//! Composite types as relations: PostgreSQL lists their fields as columns.

use freestone_storage::{Attribute, TypeId, UserTypeKind};

use super::facts::Facts;
use super::objects::{collation_of, schema_number};
use super::roles::owner;
use super::types::{of_stored, size_of};
use crate::oids::{composite_number, type_number};
use crate::relations::Relations;

/// Schema, name, number and fields of all composite types.
fn all<'a>(
    relations: &'a Relations<'_>,
) -> impl Iterator<Item = (&'a str, &'a str, TypeId, &'a [Attribute])> {
    let types = relations.snapshot.user_types();
    types.filter_map(|(schema, name, known)| match &known.kind {
        UserTypeKind::Composite(fields) => Some((schema, name, known.id, fields.as_slice())),
        _ => None,
    })
}

/// Each as a relation.
pub(super) fn classes(relations: &Relations<'_>, facts: &mut Facts) {
    for (schema, name, id, fields) in all(relations) {
        facts.add([
            ("oid", composite_number(id).into()),
            ("relname", name.into()),
            ("relnamespace", schema_number(relations, schema).into()),
            ("reltype", type_number(id).into()),
            ("relowner", owner(relations, &id.into()).into()),
            ("relkind", "c".into()),
            ("relnatts", (fields.len() as i64).into()),
            ("relpersistence", "p".into()),
            ("relreplident", "n".into()),
            ("relispopulated", true.into()),
        ]);
    }
}

/// The fields of each as columns.
pub(super) fn attributes(relations: &Relations<'_>, facts: &mut Facts) {
    for (_, _, id, fields) in all(relations) {
        for (field, place) in fields.iter().zip(1_i64..) {
            let (number, modifier) = of_stored(&relations.snapshot, &field.column());
            let size = size_of(number);
            facts.add([
                ("attrelid", composite_number(id).into()),
                ("attname", field.name.as_str().into()),
                ("atttypid", number.into()),
                ("attlen", size.into()),
                ("attnum", place.into()),
                ("atttypmod", modifier.into()),
                ("attidentity", "".into()),
                ("attgenerated", "".into()),
                ("attstorage", if size < 0 { "x" } else { "p" }.into()),
                ("attalign", "i".into()),
                ("attcompression", "".into()),
                ("attislocal", true.into()),
                ("attcollation", collation_of(number).into()),
                ("attstattarget", (-1).into()),
                ("attcacheoff", (-1).into()),
            ]);
        }
    }
}

//! Schemas, tables, views, sequences and their columns.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use freestone_storage::{Catalog, Column, ColumnType, Object, Sequence, Table};

use super::PG_CATALOG;
use super::facts::Facts;
use super::roles::{grants, owner, owner_name};
use super::types::{number_of, of_column};
use crate::plan::names::{DEFAULT_SCHEMA, INFORMATION_SCHEMA, Name};
use crate::plan::relations::Relations;

/// The one owner of everything.
pub(super) const OWNER: i64 = 10;
/// Numbers from here on are those of objects that users have made.
const FIRST: i64 = 16_384;
/// Objects of a table: itself, then its indexes and constraints.
const OBJECTS: i64 = 1_024;
/// Constraints come after indexes.
const CONSTRAINTS: i64 = 512;
/// Views have no numbers of their own: they come after all tables, by their places.
pub(super) const VIEWS: i64 = 1 << 40;
pub(super) const SEQUENCES: i64 = 1 << 41;
/// The default schema, as PostgreSQL numbers its own.
pub(super) const PUBLIC: i64 = 2_200;
/// Table access by heap, and by an index.
const HEAP: i64 = 2;
pub(super) const BTREE: i64 = 403;

/// A table's number.
pub(super) fn table_number(table: &Table) -> i64 {
    FIRST + table.id.0 as i64 * OBJECTS
}

/// An index' number, by its own in the table.
pub(super) fn index_number(table: &Table, number: u32) -> i64 {
    table_number(table) + 1 + i64::from(number) % (CONSTRAINTS - 1)
}

/// A constraint's number, by its place.
pub(super) fn constraint_number(table: &Table, place: usize) -> i64 {
    table_number(table) + CONSTRAINTS + place as i64
}

/// A schema's number.
pub(super) fn schema_number(relations: &Relations<'_>, name: &str) -> i64 {
    numbered_schema(&relations.snapshot, name)
}

pub(super) fn numbered_schema(catalog: &Catalog, name: &str) -> i64 {
    match name {
        PG_CATALOG => 11,
        INFORMATION_SCHEMA => 13_000,
        DEFAULT_SCHEMA => PUBLIC,
        name => {
            let mut schemas = catalog.schemas();
            PUBLIC + 1 + schemas.position(|known| known == name).unwrap_or(0) as i64
        }
    }
}

/// All schemas.
pub(super) fn namespaces(relations: &Relations<'_>, facts: &mut Facts) {
    let own = relations.snapshot.schemas();
    for name in own.chain([PG_CATALOG, INFORMATION_SCHEMA]) {
        facts.add([
            ("oid", schema_number(relations, name).into()),
            ("nspname", name.into()),
            ("nspowner", owner(relations, &Object::schema(name)).into()),
            ("nspacl", grants(relations, &Object::schema(name)).into()),
        ]);
    }
}

/// A table or a view, with its columns' names, types and the rest.
pub(super) struct Described {
    pub(super) number: i64,
    pub(super) schema: String,
    pub(super) name: String,
    /// `None` for a view.
    pub(super) table: Option<Arc<Table>>,
    pub(super) columns: Vec<(String, DataType, Option<Column>)>,
    pub(super) definition: Option<String>,
    /// Whether its rows may be read: how many there are, or a view's text, is told to nobody
    /// else.
    readable: bool,
}

impl Described {
    /// What rights are about.
    fn object(&self) -> Object {
        match &self.table {
            Some(table) => table.id.into(),
            None => Object::view(&self.schema, &self.name),
        }
    }
}

/// Whether a table is on either side of a foreign key, for which PostgreSQL has triggers.
fn refers(relations: &Relations<'_>, table: &Table) -> bool {
    let mut all = relations.snapshot.all_tables();
    !table.schema.foreign_keys.is_empty()
        || all.any(|(_, other)| {
            let mut keys = other.schema.foreign_keys.iter();
            keys.any(|key| key.parent == table.id)
        })
}

/// Tables and views of all schemas.
pub(super) fn described(relations: &Relations<'_>) -> Vec<Described> {
    let rights = relations.own_rights();
    let mut all = Vec::new();
    for schema in relations.snapshot.schemas() {
        for table in relations.snapshot.tables(schema) {
            let columns = table.schema.columns.iter();
            let columns = columns.map(|column| {
                (
                    column.name.clone(),
                    column.kind.arrow(),
                    Some(column.clone()),
                )
            });
            all.push(Described {
                number: table_number(table),
                schema: schema.to_owned(),
                name: table.name.clone(),
                columns: columns.collect(),
                table: Some(Arc::clone(table)),
                definition: None,
                readable: rights.reads(schema, &table.id.into()),
            });
        }
        for view in relations.snapshot.views(schema) {
            let name = Name {
                schema: schema.to_owned(),
                name: view.name.clone(),
                position: None,
            };
            // A view whose tables are gone has no columns to list.
            let columns = relations.provider(&name).map(|provider| {
                let schema = provider.schema();
                let fields = schema.fields().iter();
                fields
                    .map(|field| (field.name().clone(), field.data_type().clone(), None))
                    .collect()
            });
            all.push(Described {
                number: VIEWS + all.len() as i64,
                schema: schema.to_owned(),
                name: view.name.clone(),
                table: None,
                columns: columns.unwrap_or_default(),
                definition: Some(view.sql.clone()),
                readable: rights.reads(schema, &Object::view(schema, &view.name)),
            });
        }
    }
    all
}

/// Tables, views, indexes and sequences.
pub(super) fn classes(relations: &Relations<'_>, facts: &mut Facts) {
    for one in described(relations) {
        let namespace = schema_number(relations, &one.schema);
        let stored = one.table.as_ref();
        let schema = stored.map(|table| &table.schema);
        let is_indexed = schema.is_some_and(|schema| !schema.indexes.is_empty());
        let (rows, blocks, bytes) = match stored.filter(|_| one.readable) {
            Some(table) => (table.rows(), table.blocks().len() as u64, table.bytes()),
            None => (0, 0, 0),
        };
        // PostgreSQL says -1 where it does not know.
        let rows = if one.readable { rows as i64 } else { -1 };
        let text = one.definition.as_deref().filter(|_| one.readable);
        facts.add([
            ("oid", one.number.into()),
            ("relname", one.name.as_str().into()),
            ("relnamespace", namespace.into()),
            ("relowner", owner(relations, &one.object()).into()),
            ("relacl", grants(relations, &one.object()).into()),
            ("relam", if stored.is_some() { HEAP } else { 0 }.into()),
            ("relkind", if stored.is_some() { "r" } else { "v" }.into()),
            ("relnatts", (one.columns.len() as i64).into()),
            (
                "relchecks",
                (schema.map_or(0, |schema| schema.checks.len()) as i64).into(),
            ),
            ("reltuples", rows.into()),
            ("relpages", (blocks as i64).into()),
            ("relbytes", (bytes as i64).into()),
            ("reldefinition", text.unwrap_or_default().into()),
            ("relhasindex", is_indexed.into()),
            (
                "relhastriggers",
                stored.is_some_and(|table| refers(relations, table)).into(),
            ),
            ("relpersistence", "p".into()),
            ("relreplident", "d".into()),
            ("relispopulated", true.into()),
        ]);
        let Some(table) = stored else { continue };
        for index in &table.schema.indexes {
            facts.add([
                ("oid", index_number(table, index.number).into()),
                ("relname", index.name.as_str().into()),
                ("relnamespace", namespace.into()),
                ("relowner", owner(relations, &table.id.into()).into()),
                ("relam", BTREE.into()),
                ("relkind", "i".into()),
                ("relnatts", (index.columns.len() as i64).into()),
                ("relpersistence", "p".into()),
                ("relreplident", "n".into()),
                ("relispopulated", true.into()),
            ]);
        }
    }
    for (place, (schema, sequence)) in relations.snapshot.all_sequences().enumerate() {
        facts.add([
            ("oid", (SEQUENCES + place as i64).into()),
            ("relname", sequence.name.as_str().into()),
            ("relnamespace", schema_number(relations, schema).into()),
            ("relowner", owner(relations, &sequence.id.into()).into()),
            ("relacl", grants(relations, &sequence.id.into()).into()),
            ("relkind", "S".into()),
            ("relpersistence", "p".into()),
            ("relreplident", "n".into()),
            ("relispopulated", true.into()),
        ]);
    }
}

/// Sequences with their numbers.
pub(super) fn sequences(relations: &Relations<'_>, facts: &mut Facts) {
    for (place, (_, sequence)) in relations.snapshot.all_sequences().enumerate() {
        let definition = &sequence.definition;
        facts.add([
            ("seqrelid", (SEQUENCES + place as i64).into()),
            ("seqtypid", of_column(&definition.kind).0.into()),
            ("seqstart", definition.start.into()),
            ("seqincrement", definition.increment.into()),
            ("seqmax", definition.max.into()),
            ("seqmin", definition.min.into()),
            ("seqcache", (definition.cache as i64).into()),
            ("seqcycle", definition.cycle.into()),
        ]);
    }
}

/// What a column is if nothing is said; that an identity column's is a sequence's is told
/// elsewhere.
fn default(column: &Column) -> Option<&String> {
    let default = column.default.as_ref();
    default.filter(|_| column.identity.is_none())
}

/// Columns of tables, views and indexes.
pub(super) fn attributes(relations: &Relations<'_>, facts: &mut Facts) {
    for one in described(relations) {
        for (place, (name, kind, column)) in one.columns.iter().enumerate() {
            let (number, modifier) = match column {
                Some(column) => of_column(&column.kind),
                None => (number_of(kind), -1),
            };
            let identity = column.as_ref().and_then(|column| column.identity);
            let of_column = |(_, (_, sequence)): &(usize, (&str, &Arc<Sequence>))| {
                identity.is_some_and(|identity| identity.sequence == sequence.id)
            };
            let mut sequences = relations.snapshot.all_sequences().enumerate();
            let serial = sequences.find(of_column);
            let serial = serial.map_or(0, |(place, _)| SEQUENCES + place as i64);
            let identity = identity.map_or("", |one| if one.always { "a" } else { "d" });
            let has_default = column.as_ref().and_then(default).is_some();
            let nullable = column.as_ref().is_none_or(|column| column.nullable);
            facts.add([
                ("attrelid", one.number.into()),
                ("attname", name.as_str().into()),
                ("atttypid", number.into()),
                ("attlen", super::types::size_of(number).into()),
                ("attnum", (place as i64 + 1).into()),
                ("atttypmod", modifier.into()),
                ("attnotnull", (!nullable).into()),
                ("atthasdef", has_default.into()),
                ("attidentity", identity.into()),
                ("attserial", serial.into()),
                ("attgenerated", "".into()),
                ("attstorage", "p".into()),
                ("attalign", "i".into()),
                ("attcompression", "".into()),
                ("attislocal", true.into()),
                ("attstattarget", (-1).into()),
            ]);
        }
        let Some(table) = &one.table else { continue };
        for index in &table.schema.indexes {
            for (place, at) in index.columns.iter().enumerate() {
                let Some(column) = table.schema.columns.get(*at) else {
                    continue;
                };
                let (number, modifier) = of_column(&column.kind);
                facts.add([
                    ("attrelid", index_number(table, index.number).into()),
                    ("attname", column.name.as_str().into()),
                    ("atttypid", number.into()),
                    ("attlen", super::types::size_of(number).into()),
                    ("attnum", (place as i64 + 1).into()),
                    ("atttypmod", modifier.into()),
                    ("attidentity", "".into()),
                    ("attgenerated", "".into()),
                    ("attstorage", "p".into()),
                    ("attalign", "i".into()),
                    ("attcompression", "".into()),
                    ("attislocal", true.into()),
                ]);
            }
        }
    }
}

/// Defaults of columns, as SQL.
pub(super) fn defaults(relations: &Relations<'_>, facts: &mut Facts) {
    for one in described(relations) {
        for (place, (_, _, column)) in one.columns.iter().enumerate() {
            if let Some(default) = column.as_ref().and_then(default) {
                facts.add([
                    ("oid", (one.number + place as i64).into()),
                    ("adrelid", one.number.into()),
                    ("adnum", (place as i64 + 1).into()),
                    ("adbin", default.to_string().into()),
                ]);
            }
        }
    }
}

/// Tables by their names.
pub(super) fn tables(relations: &Relations<'_>, facts: &mut Facts) {
    for one in described(relations) {
        if let Some(table) = &one.table {
            facts.add([
                ("schemaname", one.schema.as_str().into()),
                ("tablename", one.name.as_str().into()),
                ("tableowner", owner_name(relations, &table.id.into()).into()),
                ("hasindexes", (!table.schema.indexes.is_empty()).into()),
            ]);
        }
    }
}

/// Views by their names.
pub(super) fn views(relations: &Relations<'_>, facts: &mut Facts) {
    for one in described(relations) {
        let object = one.object();
        if let Some(definition) = one.definition {
            let text = if one.readable {
                definition
            } else {
                String::new()
            };
            facts.add([
                ("schemaname", one.schema.into()),
                ("viewname", one.name.into()),
                ("viewowner", owner_name(relations, &object).into()),
                ("definition", text.into()),
            ]);
        }
    }
}

/// Whether a type is one of texts with a length.
pub(super) fn has_length(kind: &ColumnType) -> Option<u32> {
    match kind {
        ColumnType::Varchar(length) => *length,
        ColumnType::Char(length) => Some(*length),
        _ => None,
    }
}

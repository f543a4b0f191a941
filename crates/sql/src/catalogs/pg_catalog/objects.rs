//! Schemas, tables, views, sequences and their columns.

use std::sync::Arc;

use freestone_frontend::types::Type;
use freestone_storage::{
    Column, IndexDefinition, Object, PartitionBound, PartitionStrategy, Privileges, Sequence,
    Table, TableSchema,
};

use super::classes::access_number;
use super::facts::{Fact, Facts};
use super::roles::{column_grants, grants, owner, owner_name};
use super::types::{of_stored, of_type, placed};
use crate::catalogs::view_definitions;
use crate::deparse::deparsed;
use crate::front::{columns_of_view, is_domain_over_arrays, type_of_stored};
use crate::names::{
    CATALOG, INFORMATION_SCHEMA, PG_CATALOG, PG_TOAST, shown_schema, temporary_schema,
};
use crate::oids::{
    SEQUENCES, VIEWS, default_number, index_number, numbered_schema, row_type_number, table_number,
    view_row_number,
};
use crate::partition;
use crate::partition::same_index;
use crate::relations::{Described, Relations};
use crate::types::type_of_column;

/// The one owner of everything.
pub(super) const OWNER: i64 = 10;
/// The access method of tables.
pub(super) const HEAP: i64 = 2;

/// A schema's number.
pub(crate) fn schema_number(relations: &Relations<'_>, name: &str) -> i64 {
    numbered_schema(&relations.snapshot, name)
}

/// All schemas.
pub(super) fn namespaces(relations: &Relations<'_>, facts: &mut Facts) {
    let own = relations.snapshot.schemas();
    for name in own.chain([PG_CATALOG, PG_TOAST, INFORMATION_SCHEMA]) {
        facts.add([
            ("oid", schema_number(relations, name).into()),
            ("nspname", shown_schema(name).into()),
            ("nspowner", owner(relations, &Object::schema(name)).into()),
            (
                "nspacl",
                match name {
                    // Everybody reads these.
                    PG_CATALOG | INFORMATION_SCHEMA => {
                        vec![format!("{CATALOG}=UC/{CATALOG}"), format!("=U/{CATALOG}")]
                    }
                    name => grants(relations, &Object::schema(name)),
                }
                .into(),
            ),
        ]);
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

/// Tables and views of all schemas, looked at once a statement.
pub(crate) fn described<'a>(relations: &'a Relations<'_>) -> &'a [Described] {
    if relations
        .describing
        .load(std::sync::atomic::Ordering::Relaxed)
    {
        return &[];
    }
    relations.described.get_or_init(|| all(relations))
}

fn all(relations: &Relations<'_>) -> Vec<Described> {
    let rights = relations.own_rights();
    let mut all = Vec::new();
    for schema in relations.snapshot.schemas() {
        for table in relations.snapshot.tables(schema) {
            let columns = table.schema.declared().iter();
            let columns = columns.map(|column| {
                (
                    column.name.clone(),
                    type_of_stored(&relations.snapshot, column),
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
            // A view whose tables are gone has no columns to list.
            let columns = columns_of_view(relations, schema, &view.name);
            let columns = columns.map(|columns| {
                let columns = columns.into_iter();
                columns.map(|(name, ty)| (name, ty, None)).collect()
            });
            all.push(Described {
                number: VIEWS + all.len() as i64,
                schema: schema.to_owned(),
                name: view.name.clone(),
                table: None,
                columns: columns.unwrap_or_default(),
                definition: Some(view.query.sql.clone()),
                readable: rights.reads(schema, &Object::view(schema, &view.name)),
            });
        }
    }
    all
}

/// The letter for a table, a partitioned table, a view or a materialized one.
fn kind_of(schema: Option<&TableSchema>) -> &'static str {
    match schema {
        None => "v",
        Some(schema) if schema.partitioned.is_some() => "p",
        Some(schema) if schema.materialized.is_some() => "m",
        Some(_) => "r",
    }
}

/// Partitioned tables with their keys.
pub(super) fn partitioned(relations: &Relations<'_>, facts: &mut Facts) {
    for (_, table) in relations.snapshot.all_tables() {
        let Some(key) = &table.schema.partitioned else {
            continue;
        };
        let parts = key.parts.iter();
        let columns = parts.map(|part| partition::column_of_part(&table.schema, part));
        // An expression has no number.
        let columns: Vec<i32> = columns
            .map(|column| column.map_or(0, |at| at as i32 + 1))
            .collect();
        let default = partition::partitions(&relations.snapshot, table);
        let default = default.into_iter().find(|(_, part)| {
            let of = part.schema.partition.as_ref();
            of.is_some_and(|of| of.bound == PartitionBound::Default)
        });
        let strategy = match key.strategy {
            PartitionStrategy::Range => "r",
            PartitionStrategy::List => "l",
            PartitionStrategy::Hash => "h",
        };
        facts.add([
            ("partrelid", table_number(table).into()),
            ("partstrat", strategy.into()),
            ("partnatts", (columns.len() as i64).into()),
            (
                "partdefid",
                default.map_or(0, |(_, part)| table_number(part)).into(),
            ),
            ("partattrs", columns.into()),
            // For functions about the catalog.
            (
                "definition",
                partition::shown_key(table).unwrap_or_default().into(),
            ),
        ]);
    }
}

/// The index of a partitioned table that an index of a partition is a part of.
fn index_above<'a>(
    part: &Table,
    index: &IndexDefinition,
    whole: &'a Table,
) -> Option<&'a IndexDefinition> {
    let names = |table: &Table, columns: &[usize]| -> Vec<String> {
        let columns = table.schema.shown(columns);
        columns.map(|column| column.name.clone()).collect()
    };
    let mut keys = part.schema.keys.iter();
    let Some(key) = keys.find(|key| key.name == index.name) else {
        return same_index(&part.schema, index, &whole.schema);
    };
    let columns = names(part, &key.columns);
    let mut above = whole.schema.keys.iter();
    let above = above
        .find(|above| above.primary == key.primary && names(whole, &above.columns) == columns)?;
    let mut indexes = whole.schema.indexes.iter();
    indexes.find(|known| known.name == above.name)
}

/// Partitions and the tables that they are of, and the same of their indexes.
pub(super) fn inherited(relations: &Relations<'_>, facts: &mut Facts) {
    for (_, table) in relations.snapshot.all_tables() {
        let of = table.schema.partition.as_ref();
        if let Some(parent) = of.and_then(|of| relations.snapshot.table_by_id(of.parent)) {
            facts.add([
                ("inhrelid", table_number(table).into()),
                ("inhparent", table_number(parent).into()),
                ("inhseqno", 1.into()),
            ]);
            for index in &table.schema.indexes {
                if let Some(above) = index_above(table, index, parent) {
                    facts.add([
                        ("inhrelid", index_number(table, index.number).into()),
                        ("inhparent", index_number(parent, above.number).into()),
                        ("inhseqno", 1.into()),
                    ]);
                }
            }
        }
    }
}

/// The letter for relations that go with their session, or for those that stay.
fn persistence(schema: &str) -> &'static str {
    match temporary_schema(schema) {
        true => "t",
        false => "p",
    }
}

/// Tables, views, indexes and sequences.
pub(super) fn classes(relations: &Relations<'_>, facts: &mut Facts) {
    for one in described(relations) {
        let namespace = schema_number(relations, &one.schema);
        let persistence = persistence(&one.schema);
        let stored = one.table.as_ref();
        let schema = stored.map(|table| &table.schema);
        let is_indexed = schema.is_some_and(|schema| !schema.indexes.is_empty());
        let (rows, blocks, bytes) = match stored.filter(|_| one.readable) {
            Some(table) => {
                let rows = table.rows();
                let waiting = if rows > 0 {
                    table.delta().bytes() as u64
                } else {
                    0
                };
                (rows, table.blocks().len() as u64, table.bytes() + waiting)
            }
            None => (0, 0, 0),
        };
        // PostgreSQL says -1 where it does not know.
        let rows = if one.readable { rows as i64 } else { -1 };
        let view = stored.and_then(|table| table.schema.materialized.as_ref());
        let text = one.definition.as_deref();
        let text = text.or(view.map(|view| view.query.sql.as_str()));
        let text = text.filter(|_| one.readable);
        let of_view = relations.snapshot.view(&one.schema, &one.name);
        let options = of_view.map(|view| {
            let options = view.query.options.iter();
            let options = options.map(|(name, value)| format!("{name}={value}"));
            options.collect::<Vec<String>>()
        });
        facts.add([
            (
                "reloptions",
                match options.filter(|options| !options.is_empty()) {
                    Some(options) => options.into(),
                    None => Fact::Null,
                },
            ),
            ("oid", one.number.into()),
            ("relname", one.name.as_str().into()),
            ("relnamespace", namespace.into()),
            (
                "reltype",
                match stored {
                    Some(table) => row_type_number(table),
                    None => view_row_number(one.number).unwrap_or_default(),
                }
                .into(),
            ),
            ("relowner", owner(relations, &one.object()).into()),
            ("relacl", grants(relations, &one.object()).into()),
            (
                "relam",
                match schema {
                    Some(schema) if schema.partitioned.is_none() => HEAP,
                    _ => 0,
                }
                .into(),
            ),
            ("relhasrules", (stored.is_none() || view.is_some()).into()),
            ("relkind", kind_of(schema.map(AsRef::as_ref)).into()),
            (
                "relispartition",
                schema
                    .is_some_and(|schema| schema.partition.is_some())
                    .into(),
            ),
            (
                "relhassubclass",
                schema
                    .is_some_and(|schema| schema.partitioned.is_some())
                    .into(),
            ),
            ("relnatts", (one.columns.len() as i64).into()),
            (
                "relchecks",
                (schema.map_or(0, |schema| schema.checks.len()) as i64).into(),
            ),
            ("reltuples", rows.into()),
            ("relpages", (blocks as i64).into()),
            ("relbytes", (bytes as i64).into()),
            ("relhasindex", is_indexed.into()),
            (
                "relhastriggers",
                stored.is_some_and(|table| refers(relations, table)).into(),
            ),
            ("relpersistence", persistence.into()),
            (
                "relreplident",
                if stored.is_some() { "d" } else { "n" }.into(),
            ),
            (
                "relispopulated",
                view.is_none_or(|view| view.populated).into(),
            ),
        ]);
        if let Some(text) = text {
            facts.also("reldefinition", text.into());
        }
        if let Some(of) = schema.and_then(|schema| schema.partition.as_ref()) {
            facts.also("relpartbound", partition::shown(&of.bound).into());
        }
        let Some(table) = stored else { continue };
        let parent = table.schema.partition.as_ref();
        let parent = parent.and_then(|of| relations.snapshot.table_by_id(of.parent));
        let parts = partition::partitions(&relations.snapshot, table);
        for index in &table.schema.indexes {
            let is_part = parent.is_some_and(|whole| index_above(table, index, whole).is_some());
            let has_parts = parts.iter().any(|(_, part)| {
                let mut below = part.schema.indexes.iter();
                below.any(|below| {
                    let above = index_above(part, below, table);
                    above.is_some_and(|above| above.number == index.number)
                })
            });
            facts.add([
                ("relispartition", is_part.into()),
                ("relhassubclass", has_parts.into()),
                ("oid", index_number(table, index.number).into()),
                ("relname", index.name.as_str().into()),
                ("relnamespace", namespace.into()),
                ("relowner", owner(relations, &table.id.into()).into()),
                ("relam", access_number(index).into()),
                (
                    "relkind",
                    match table.schema.partitioned {
                        Some(_) => "I",
                        None => "i",
                    }
                    .into(),
                ),
                ("relnatts", {
                    let included = index.form.include.len();
                    let shown = table.schema.shown(&index.columns).count();
                    ((shown + included) as i64).into()
                }),
                ("relpersistence", persistence.into()),
                ("relreplident", "n".into()),
                (
                    "relispopulated",
                    view.is_none_or(|view| view.populated).into(),
                ),
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
            ("relnatts", 3.into()),
            ("relpersistence", persistence(schema).into()),
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
            (
                "seqtypid",
                of_type(&type_of_column(&definition.kind)).0.into(),
            ),
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
pub(super) fn default(column: &Column) -> Option<&String> {
    let default = column.default.as_ref();
    default.filter(|_| !is_identity(column))
}

/// Whether a column is told as an identity column: one that was declared SERIAL is not.
pub(crate) fn is_identity(column: &Column) -> bool {
    column.identity.is_some_and(|identity| !identity.serial)
}

/// Columns of tables, views and indexes.
pub(super) fn attributes(relations: &Relations<'_>, facts: &mut Facts) {
    for one in described(relations) {
        let schema = one.table.as_ref().map(|table| &table.schema);
        let is_part = schema.is_some_and(|schema| schema.partition.is_some());
        let roles = relations.snapshot.roles();
        let access = roles.access(&one.object());
        for (place, (name, kind, column)) in one.columns.iter().enumerate() {
            let (number, modifier) = match column {
                Some(column) => of_stored(&relations.snapshot, column),
                None => of_type(kind),
            };
            let identity = column.as_ref().and_then(|column| column.identity);
            let of_column = |(_, (_, sequence)): &(usize, (&str, &Arc<Sequence>))| {
                identity.is_some_and(|identity| identity.sequence == sequence.id)
            };
            let mut sequences = relations.snapshot.all_sequences().enumerate();
            let serial = sequences.find(of_column);
            let serial = serial.map_or(0, |(place, _)| SEQUENCES + place as i64);
            let identity = match identity {
                Some(one) if one.serial => "",
                Some(one) if one.always => "a",
                Some(_) => "d",
                None => "",
            };
            let size = match kind {
                Type::Enum(_) => 4,
                kind => super::types::size_of(of_type(kind).0),
            };
            let is_generated = column.as_ref().is_some_and(|column| column.generated);
            let has_default = column.as_ref().and_then(default).is_some();
            let nullable = column.as_ref().is_none_or(|column| column.nullable);
            // A domain has none of its own, whatever it is over.
            let is_domain = column.as_ref().is_some_and(|column| {
                let known = column
                    .declared
                    .and_then(|id| relations.snapshot.type_by_id(id));
                known.is_some_and(|(_, _, known)| is_domain_over_arrays(known))
            });
            let dimensions = i64::from(matches!(kind, Type::Array(_)) && !is_domain);
            facts.add([
                ("attrelid", one.number.into()),
                ("attname", name.as_str().into()),
                ("atttypid", number.into()),
                ("attlen", size.into()),
                ("attnum", (place as i64 + 1).into()),
                ("atttypmod", modifier.into()),
                ("attnotnull", (!nullable).into()),
                ("atthasdef", has_default.into()),
                ("attidentity", identity.into()),
                ("attserial", serial.into()),
                ("attgenerated", if is_generated { "s" } else { "" }.into()),
                (
                    "attstorage",
                    match size {
                        ..0 if number == 1700 => "m",
                        ..0 => "x",
                        _ => "p",
                    }
                    .into(),
                ),
                ("attbyval", placed(number).0.into()),
                ("attalign", placed(number).1.into()),
                ("attcompression", "".into()),
                ("attndims", dimensions.into()),
                ("attislocal", (!is_part).into()),
                ("attinhcount", i64::from(is_part).into()),
                (
                    "attcollation",
                    collation_of(of_type(kind.innermost()).0).into(),
                ),
                ("attstattarget", (-1).into()),
                ("attcacheoff", (-1).into()),
                (
                    "attacl",
                    match access.columns.contains_key(name) {
                        true => column_grants(&access, roles, name).into(),
                        false => Fact::Null,
                    },
                ),
            ]);
        }
        let Some(table) = &one.table else { continue };
        for index in &table.schema.indexes {
            let included = index.form.include.iter();
            let included = included.filter_map(|at| table.schema.columns.get(*at));
            let columns = table.schema.shown(&index.columns).chain(included);
            for (place, column) in columns.enumerate() {
                let (number, modifier) = of_stored(&relations.snapshot, column);
                facts.add([
                    ("attrelid", index_number(table, index.number).into()),
                    ("attname", super::keys::name_in_index(column).into()),
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
                    ("attstattarget", (-1).into()),
                    ("attcacheoff", (-1).into()),
                ]);
            }
        }
    }
}

/// The collation of a type of texts.
pub(super) fn collation_of(number: i64) -> i64 {
    match number {
        19 => 950,
        25 | 1042 | 1043 => 100,
        _ => 0,
    }
}

/// Defaults of columns, as SQL.
pub(super) fn defaults(relations: &Relations<'_>, facts: &mut Facts) {
    for one in described(relations) {
        for (place, (_, ty, column)) in one.columns.iter().enumerate() {
            if let Some(default) = column.as_ref().and_then(default) {
                facts.add([
                    ("oid", default_number(one.number, place).into()),
                    ("adrelid", one.number.into()),
                    ("adnum", (place as i64 + 1).into()),
                    (
                        "adbin",
                        deparsed(relations, default, &one.types(), Some(ty)).into(),
                    ),
                ]);
            }
        }
    }
}

/// Tables by their names.
pub(super) fn tables(relations: &Relations<'_>, facts: &mut Facts) {
    for one in described(relations) {
        if let Some(table) = &one.table
            && table.schema.materialized.is_none()
        {
            facts.add([
                ("schemaname", shown_schema(&one.schema).into()),
                ("tablename", one.name.as_str().into()),
                ("tableowner", owner_name(relations, &table.id.into()).into()),
                ("hasindexes", (!table.schema.indexes.is_empty()).into()),
            ]);
        }
    }
}

/// Materialized views.
pub(super) fn materialized(relations: &Relations<'_>, facts: &mut Facts) {
    for one in described(relations) {
        let Some(table) = &one.table else { continue };
        let Some(view) = &table.schema.materialized else {
            continue;
        };
        let [text, _] = match one.readable {
            true => view_definitions(relations, &one.schema, &one.name, &view.query.sql),
            false => Default::default(),
        };
        facts.add([
            ("schemaname", shown_schema(&one.schema).into()),
            ("matviewname", one.name.as_str().into()),
            (
                "matviewowner",
                owner_name(relations, &table.id.into()).into(),
            ),
            ("hasindexes", (!table.schema.indexes.is_empty()).into()),
            ("ispopulated", view.populated.into()),
            ("definition", text.into()),
        ]);
    }
}

/// Sequences by their names, but for temporary ones of other sessions.
pub(super) fn sequence_views(relations: &Relations<'_>, facts: &mut Facts) {
    let rights = relations.own_rights();
    let all = relations.snapshot.all_sequences();
    for (schema, sequence) in all.filter(|(schema, _)| !relations.is_of_other(schema)) {
        let (definition, position) = (&sequence.definition, sequence.position());
        let any = [Privileges::SELECT, Privileges::USAGE];
        let known = position.given && any.iter().any(|one| rights.may(&sequence.id.into(), *one));
        facts.add([
            ("last_value", known.then_some(position.value).into()),
            ("schemaname", shown_schema(schema).into()),
            ("sequencename", sequence.name.as_str().into()),
            (
                "sequenceowner",
                owner_name(relations, &sequence.id.into()).into(),
            ),
            (
                "data_type",
                of_type(&type_of_column(&definition.kind)).0.into(),
            ),
            ("start_value", definition.start.into()),
            ("min_value", definition.min.into()),
            ("max_value", definition.max.into()),
            ("increment_by", definition.increment.into()),
            ("cycle", definition.cycle.into()),
            ("cache_size", (definition.cache as i64).into()),
        ]);
    }
}

/// How many rows tables have, for those who may read them; partitioned ones only if asked for.
pub(super) fn rows_of_tables(relations: &Relations<'_>, facts: &mut Facts, whole: bool) {
    for one in described(relations).iter().filter(|one| one.readable) {
        if let Some(table) = &one.table
            && (whole || table.schema.partitioned.is_none())
        {
            facts.add([
                ("relid", one.number.into()),
                ("schemaname", shown_schema(&one.schema).into()),
                ("relname", one.name.as_str().into()),
                ("n_live_tup", (table.rows() as i64).into()),
            ]);
        }
    }
}

/// Views by their names.
pub(super) fn views(relations: &Relations<'_>, facts: &mut Facts) {
    for one in described(relations) {
        let object = one.object();
        if let Some(definition) = &one.definition {
            let [text, _] = match one.readable {
                true => view_definitions(relations, &one.schema, &one.name, definition),
                false => Default::default(),
            };
            facts.add([
                ("schemaname", shown_schema(&one.schema).into()),
                ("viewname", one.name.as_str().into()),
                ("viewowner", owner_name(relations, &object).into()),
                ("definition", text.into()),
            ]);
        }
    }
}

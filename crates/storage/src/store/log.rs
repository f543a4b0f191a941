//! What a commit leaves in the log, and how it is done again.
//!
//! | bytes | field |
//! |---|---|
//! | 4 | bytes of the change of the catalog, 0 for none |
//! | … | the change, as JSON |
//! | 4 | parts |
//! | for each part: 8 | table |
//! | 8 | number of its first new row |
//! | 4 | new rows, each a tuple after its length in four bytes |
//! | 4 | deleted rows, each a row id in eight bytes |
//!
//! A checkpoint is one such record with the whole delta and all deletes.

use super::Place;
use super::catalog::{Catalog, SchemaEntry, View, opened_table, stored_table};
use super::sequences::Sequence;
use crate::delta::{Deletes, Fragment, RowBits, TupleBatch, TupleShape};
use crate::error::{Error, Result};
use crate::format::{Reader, Writer};
use crate::ids::{BlockId, RowId, RowPlace, SequenceId, TableId};
use crate::manifest::{ManifestSequence, ManifestTable};
use crate::roles::{Access, Object, Role, Roles};
use crate::schema::{SequencePosition, UserType, ViewQuery};
use crate::table::Table;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// New rows and deleted rows of one table.
#[derive(Debug)]
pub(super) struct Part {
    pub table: TableId,
    pub first: u64,
    pub inserted: TupleBatch,
    pub deleted: Vec<RowId>,
}

/// What changed in the catalog; `None` is what is no more.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct CatalogChange {
    version: u64,
    next_table: u64,
    next_block: u64,
    schemas: BTreeMap<String, Option<SchemaChange>>,
    /// Sequences that go on behind numbers that may have been given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    positions: Vec<(SequenceId, SequencePosition)>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    roles: BTreeMap<String, Option<Role>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    access: Vec<(Object, Option<Access>)>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct SchemaChange {
    #[serde(default)]
    tables: BTreeMap<String, Option<ManifestTable>>,
    #[serde(default)]
    views: BTreeMap<String, Option<ViewQuery>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    functions: BTreeMap<String, Option<String>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    sequences: BTreeMap<String, Option<ManifestSequence>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    types: BTreeMap<String, Option<UserType>>,
}

/// What is new or other in `after`, and, as `None`, what is no more.
fn changed<K: Ord + Clone, T, U>(
    before: &BTreeMap<K, T>,
    after: &BTreeMap<K, T>,
    same: impl Fn(&T, &T) -> bool,
    stored: impl Fn(Option<&T>, &T) -> U,
) -> BTreeMap<K, Option<U>> {
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    let mut changes: BTreeMap<K, Option<U>> = gone.map(|name| (name.clone(), None)).collect();
    for (name, value) in after {
        let known = before.get(name);
        if !known.is_some_and(|known| same(known, value)) {
            changes.insert(name.clone(), Some(stored(known, value)));
        }
    }
    changes
}

/// What has changed of roles, or of grants.
fn changes_of<K: Ord + Clone, T: PartialEq + Clone>(
    before: &Arc<Roles>,
    after: &Arc<Roles>,
    part: impl Fn(&Roles) -> &BTreeMap<K, T>,
) -> BTreeMap<K, Option<T>> {
    if Arc::ptr_eq(before, after) {
        return BTreeMap::new();
    }
    let same = |a: &T, b: &T| a == b;
    changed(part(before), part(after), same, |_, now| now.clone())
}

fn apply<K: Ord, T>(all: &mut BTreeMap<K, T>, changes: impl IntoIterator<Item = (K, Option<T>)>) {
    for (key, change) in changes {
        match change {
            Some(value) => all.insert(key, value),
            None => all.remove(&key),
        };
    }
}

impl CatalogChange {
    /// From one catalog to the next.
    pub fn between(before: &Catalog, after: &Catalog, next_block: u64) -> CatalogChange {
        let none = SchemaEntry::default();
        let schema = |before: Option<&SchemaEntry>, after: &SchemaEntry| {
            let before = before.unwrap_or(&none);
            SchemaChange {
                tables: changed(&before.tables, &after.tables, Arc::ptr_eq, |_, table| {
                    stored_table(table)
                }),
                views: changed(
                    &before.views,
                    &after.views,
                    |a, b| a == b,
                    |_, view| view.query.clone(),
                ),
                functions: changed(
                    &before.functions,
                    &after.functions,
                    |a, b| a == b,
                    |_, sql| sql.clone(),
                ),
                sequences: changed(
                    &before.sequences,
                    &after.sequences,
                    Arc::ptr_eq,
                    |_, sequence| sequence.stored(),
                ),
                types: changed(
                    &before.types,
                    &after.types,
                    |a, b| a == b,
                    |_, stored| stored.as_ref().clone(),
                ),
            }
        };
        CatalogChange {
            version: after.version,
            next_table: after.next_table,
            next_block,
            schemas: changed(&before.schemas, &after.schemas, |_, _| false, schema),
            positions: Vec::new(),
            roles: changes_of(&before.roles, &after.roles, |roles| &roles.roles),
            access: changes_of(&before.roles, &after.roles, |roles| &roles.access)
                .into_iter()
                .collect(),
        }
    }

    /// From a catalog to the same with a sequence that is further.
    pub fn of_position(
        catalog: &Catalog,
        next_block: u64,
        position: (SequenceId, SequencePosition),
    ) -> CatalogChange {
        CatalogChange {
            version: catalog.version,
            next_table: catalog.next_table,
            next_block,
            schemas: BTreeMap::new(),
            positions: vec![position],
            ..CatalogChange::default()
        }
    }

    /// The catalog after the change.
    fn applied(self, before: &Catalog, place: &Place) -> Result<Catalog> {
        let mut catalog = before.clone();
        catalog.version = self.version;
        catalog.next_table = self.next_table;
        place.at_least(self.next_block);
        for (name, change) in self.schemas {
            let Some(change) = change else {
                catalog.schemas.remove(&name);
                continue;
            };
            let entry = catalog.schemas.entry(name).or_default();
            for (name, table) in change.tables {
                match table {
                    None => entry.tables.remove(&name),
                    Some(stored) => {
                        let mut tables = before.all_tables();
                        let known = tables.find(|(_, table)| table.id == stored.id);
                        let known = known.map(|(_, table)| &**table);
                        let table = opened_table(name.clone(), stored, place, known)?;
                        entry.tables.insert(name, Arc::new(table))
                    }
                };
            }
            for (name, query) in change.views {
                match query {
                    None => entry.views.remove(&name),
                    Some(query) => entry.views.insert(name.clone(), View { name, query }),
                };
            }
            apply(&mut entry.functions, change.functions);
            let types = change.types.into_iter();
            let types = types.map(|(name, stored)| (name, stored.map(Arc::new)));
            apply(&mut entry.types, types);
            for (name, sequence) in change.sequences {
                match sequence {
                    None => entry.sequences.remove(&name),
                    Some(stored) => {
                        let sequence = Sequence::opened(name.clone(), stored);
                        entry.sequences.insert(name, Arc::new(sequence))
                    }
                };
            }
        }
        if !self.roles.is_empty() || !self.access.is_empty() {
            let roles = Arc::make_mut(&mut catalog.roles);
            apply(&mut roles.roles, self.roles);
            apply(&mut roles.access, self.access);
        }
        for (id, position) in self.positions {
            // One that is not there any more was dropped meanwhile.
            if let Some((_, sequence)) = catalog.sequence_by_id(id) {
                sequence.go_on_at(position);
            }
        }
        Ok(catalog)
    }
}

/// A record's bytes.
pub(super) fn encode(change: Option<&CatalogChange>, parts: &[&Part]) -> Result<Vec<u8>> {
    let json = match change {
        None => Vec::new(),
        Some(change) => serde_json::to_vec(change)
            .map_err(|error| Error::corrupt(format!("the catalog cannot be written: {error}")))?,
    };
    let part_bytes = |part: &&Part| {
        24 + 4 * part.inserted.len() + part.inserted.bytes() + 8 * part.deleted.len()
    };
    let mut writer = Writer::default();
    writer.reserve(8 + json.len() + parts.iter().map(part_bytes).sum::<usize>());
    let length = |len: usize| {
        u32::try_from(len).map_err(|_| Error::invalid("54000", "a transaction is too large"))
    };
    writer.u32(length(json.len())?);
    writer.put(&json);
    writer.u32(length(parts.len())?);
    for part in parts {
        writer.u64(part.table.0);
        writer.u64(part.first);
        writer.u32(length(part.inserted.len())?);
        part.inserted.write(&mut writer);
        writer.u32(length(part.deleted.len())?);
        part.deleted.iter().for_each(|row| writer.u64(row.0));
    }
    Ok(writer.finish())
}

/// Does again what a record says; returns the catalog after it. The first time is
/// that of the record, the second that of the oldest snapshot in use.
///
/// # Errors
/// `Corrupt` if it does not fit what was before.
pub(super) fn replay(
    catalog: &Arc<Catalog>,
    (timestamp, oldest): (u64, u64),
    payload: &[u8],
    place: &Place,
) -> Result<Arc<Catalog>> {
    let mut reader = Reader::new(payload);
    let json = reader.u32()? as usize;
    let json = reader.take(json)?;
    let catalog = if json.is_empty() {
        catalog.clone()
    } else {
        let change: CatalogChange = serde_json::from_slice(json)
            .map_err(|error| Error::corrupt(format!("a change of the catalog: {error}")))?;
        let mut applied = change.applied(catalog, place)?;
        applied.settle_definitions(catalog);
        Arc::new(applied)
    };
    let tables: HashMap<TableId, &Arc<Table>> = catalog
        .all_tables()
        .map(|(_, table)| (table.id, table))
        .collect();
    for _ in 0..reader.u32()? {
        let id = TableId(reader.u64()?);
        let table = tables.get(&id);
        let table = table.ok_or_else(|| Error::corrupt(format!("there is no table {id}")))?;
        replay_part(table, (timestamp, oldest), &mut reader)?;
    }
    match reader.remaining() {
        0 => Ok(catalog),
        more => Err(Error::corrupt(format!("{more} bytes after the last part"))),
    }
}

fn replay_part(
    table: &Table,
    (timestamp, oldest): (u64, u64),
    reader: &mut Reader<'_>,
) -> Result<()> {
    let (first, count) = (reader.u64()?, reader.u32()?);
    let shape = TupleShape::of(&table.schema);
    let inserted = TupleBatch::read(reader, &shape, count)?;
    if !inserted.is_empty() {
        table.delta().skip_to(first)?;
        table.delta().append(inserted.iter(), timestamp);
    }
    let deleted = (0..reader.u32()?)
        .map(|_| reader.u64().map(RowId))
        .collect::<Result<Vec<RowId>>>()?;
    mark(table, &deleted, timestamp, oldest);
    Ok(())
}

/// Marks rows of a table as deleted; those that are not there any more are
/// passed over. `oldest` is the oldest snapshot in use.
pub(super) fn mark(table: &Table, rows: &[RowId], timestamp: u64, oldest: u64) {
    let mut fragment: Option<(Arc<Fragment>, Vec<u32>)> = None;
    let mark_all = |known: Option<(Arc<Fragment>, Vec<u32>)>| {
        if let Some((fragment, rows)) = known {
            fragment.deletes.mark(rows, timestamp, oldest);
        }
    };
    // Rows come in order: those of a block one after the other.
    for together in rows.chunk_by(|one, next| block_of(one) == block_of(next)) {
        if let Some(id) = together.first().and_then(block_of) {
            if let Some(block) = table.block(id) {
                let inside = together.iter().filter_map(|row| match row.place() {
                    RowPlace::Block(_, row) if u64::from(row) < block.rows() => Some(row),
                    _ => None,
                });
                block.deletes().mark(inside.collect(), timestamp, oldest);
            }
            continue;
        }
        for row in together {
            let RowPlace::Delta(number) = row.place() else {
                continue;
            };
            let Some((found, row)) = table.delta().find(number) else {
                continue;
            };
            match &mut fragment {
                Some((known, rows)) if Arc::ptr_eq(known, &found) => rows.push(row),
                other => mark_all(other.replace((found, vec![row]))),
            }
        }
    }
    mark_all(fragment);
}

fn block_of(row: &RowId) -> Option<BlockId> {
    match row.place() {
        RowPlace::Block(block, _) => Some(block),
        RowPlace::Delta(_) | RowPlace::Own(_) => None,
    }
}

/// The whole delta and all deletes of a table, as of now.
pub(super) fn dump(table: &Table, parts: &mut Vec<Part>) {
    let part = |first, inserted, deleted| Part {
        table: table.id,
        first,
        inserted,
        deleted,
    };
    for fragment in table.delta().fragments() {
        let tuples = fragment.read();
        let mut inserted = TupleBatch::default();
        (0..tuples.len()).for_each(|row| inserted.push(tuples.tuple(row)));
        let gone = rows_of(&fragment.deletes);
        let deleted = gone
            .into_iter()
            .map(|row| RowId::in_delta(fragment.first() + u64::from(row)));
        parts.push(part(fragment.first(), inserted, deleted.collect()));
    }
    let deleted: Vec<RowId> = table
        .blocks()
        .iter()
        .flat_map(|block| deleted_in(block.id(), block.deletes()))
        .collect();
    if !deleted.is_empty() {
        parts.push(part(0, TupleBatch::default(), deleted));
    }
}

fn rows_of(deletes: &Deletes) -> Vec<u32> {
    let rows = deletes.at(u64::MAX);
    rows.map_or_else(Vec::new, |rows: Arc<RowBits>| rows.rows().collect())
}

/// The rows of a block that are deleted.
pub(super) fn deleted_in(block: BlockId, deletes: &Deletes) -> Vec<RowId> {
    let rows = rows_of(deletes).into_iter();
    rows.map(|row| RowId::in_block(block, row)).collect()
}

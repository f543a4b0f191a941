//! The catalog: every schema, table and view at one moment.

use super::Place;
use super::merge::same_entry;
use super::sequences::Sequence;
use crate::block::{Block, BlockInfo, Places, SharedPlaces};
use crate::delta::Delta;
use crate::error::{Error, Result};
use crate::ids::{BlockId, TableId};
use crate::manifest::{Manifest, ManifestSchema, ManifestTable};
use crate::roles::Roles;
use crate::schema::{Column, FormerColumns, TableSchema, UserType, ViewQuery};
use crate::table::Table;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// An immutable snapshot of the whole database.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    pub(super) version: u64,
    pub(super) next_table: u64,
    pub(super) schemas: BTreeMap<String, SchemaEntry>,
    pub(super) roles: Arc<Roles>,
    /// See [`Catalog::definitions`].
    pub(super) definitions: Arc<Definitions>,
}

/// Stands for all that is defined in a catalog; see [`Catalog::definitions`].
#[derive(Debug, Default)]
pub struct Definitions;

/// The tables and views of one schema.
#[derive(Clone, Debug, Default)]
pub struct SchemaEntry {
    /// Tables by name.
    pub tables: BTreeMap<String, Arc<Table>>,
    /// Views by name.
    pub views: BTreeMap<String, View>,
    /// Functions by name and types of parameters: the statements that made them.
    pub functions: BTreeMap<String, String>,
    /// Sequences by name.
    pub sequences: BTreeMap<String, Arc<Sequence>>,
    /// Types by name.
    pub types: BTreeMap<String, Arc<UserType>>,
}

/// A view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Its name.
    pub name: String,
    /// Its query.
    pub query: ViewQuery,
}

impl Catalog {
    /// Counts changes of the catalog.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Roles, owners and grants. The same as long as none of them changes.
    pub fn roles(&self) -> &Arc<Roles> {
        &self.roles
    }

    /// A pointer that stays as long as nothing is defined otherwise: schemas, columns, keys and
    /// indexes of tables, views, functions, sequences, types, roles and rights. Rows that move to
    /// other blocks leave it as it is.
    pub fn definitions(&self) -> &Arc<Definitions> {
        &self.definitions
    }

    /// Makes `definitions` what it is to be after a change of the catalog `before`.
    pub(super) fn settle_definitions(&mut self, before: &Catalog) {
        let same_table = |a: &Arc<Table>, b: &Arc<Table>| {
            Arc::ptr_eq(a, b) || a.id == b.id && Arc::ptr_eq(&a.schema, &b.schema)
        };
        let same = Arc::ptr_eq(&self.roles, &before.roles)
            && self.schemas.len() == before.schemas.len()
            && self.schemas.iter().all(|(name, entry)| {
                let known = before.schemas.get(name);
                known.is_some_and(|known| same_entry(known, entry, same_table))
            });
        self.definitions = match same {
            true => before.definitions.clone(),
            false => Arc::default(),
        };
    }

    /// Names of the schemas.
    pub fn schemas(&self) -> impl Iterator<Item = &str> {
        self.schemas.keys().map(String::as_str)
    }

    /// Whether there is a schema of that name.
    pub fn has_schema(&self, schema: &str) -> bool {
        self.schemas.contains_key(schema)
    }

    /// A table by schema and name.
    pub fn table(&self, schema: &str, name: &str) -> Option<&Arc<Table>> {
        self.schemas.get(schema)?.tables.get(name)
    }

    /// The tables of a schema by name.
    pub fn tables(&self, schema: &str) -> Vec<&Arc<Table>> {
        self.schemas
            .get(schema)
            .map_or_else(Vec::new, |entry| entry.tables.values().collect())
    }

    /// A table by its number.
    pub fn table_by_id(&self, id: TableId) -> Option<&Arc<Table>> {
        let mut tables = self.all_tables();
        tables
            .find(|(_, table)| table.id == id)
            .map(|(_, table)| table)
    }

    /// Other tables with foreign keys to this one.
    pub fn children(&self, id: TableId) -> Vec<Arc<Table>> {
        let refers = |table: &&Arc<Table>| {
            let mut keys = table.schema.foreign_keys.iter();
            table.id != id && keys.any(|key| key.parent == id)
        };
        let tables = self.all_tables().map(|(_, table)| table);
        tables.filter(refers).cloned().collect()
    }

    /// A catalog with another version of a table.
    pub(super) fn with_table(&self, table: &Arc<Table>) -> Catalog {
        let mut catalog = self.clone();
        let entries = catalog.schemas.values_mut();
        for known in entries.flat_map(|entry| entry.tables.values_mut()) {
            if known.id == table.id {
                *known = table.clone();
            }
        }
        catalog.settle_definitions(self);
        catalog
    }

    /// The partitions of a table, by name, with their schemas.
    pub fn partitions(&self, parent: TableId) -> Vec<(&str, &Arc<Table>)> {
        let of = |table: &Table| table.schema.partition.as_ref().map(|of| of.parent);
        let all = self.all_tables();
        all.filter(|(_, table)| of(table) == Some(parent)).collect()
    }

    /// The foreign keys that refer to these columns of a table, its own included.
    pub fn referring(&self, table: TableId, columns: &[usize]) -> Vec<(Arc<Table>, String)> {
        let own = self.table_by_id(table).cloned();
        let children = self.children(table).into_iter().chain(own);
        let named = children.flat_map(|child| {
            let keys = child.schema.foreign_keys.clone().into_iter();
            let keys = keys.filter(|key| key.parent == table && key.parent_columns == columns);
            keys.map(move |key| (child.clone(), key.name))
        });
        named.collect()
    }

    /// A view by schema and name.
    pub fn view(&self, schema: &str, name: &str) -> Option<&View> {
        self.schemas.get(schema)?.views.get(name)
    }

    /// The views of a schema by name.
    pub fn views(&self, schema: &str) -> Vec<&View> {
        self.schemas
            .get(schema)
            .map_or_else(Vec::new, |entry| entry.views.values().collect())
    }

    /// The functions of a schema: names with types of parameters, and the statements that made
    /// them.
    pub fn functions(&self, schema: &str) -> impl Iterator<Item = (&str, &str)> {
        let entry = self.schemas.get(schema).into_iter();
        let all = entry.flat_map(|entry| &entry.functions);
        all.map(|(name, sql)| (name.as_str(), sql.as_str()))
    }

    /// Every table with the name of its schema.
    pub fn all_tables(&self) -> impl Iterator<Item = (&str, &Arc<Table>)> {
        self.schemas.iter().flat_map(|(schema, entry)| {
            entry
                .tables
                .values()
                .map(move |table| (schema.as_str(), table))
        })
    }

    pub(super) fn from_manifest(manifest: Manifest, place: &Place) -> Result<Catalog> {
        let schemas = manifest.schemas.into_iter().map(|(schema, entry)| {
            let tables = entry.tables.into_iter().map(|(name, table)| {
                let table = opened_table(name.clone(), table, place, None)?;
                Ok((name, Arc::new(table)))
            });
            let tables = tables.collect::<Result<BTreeMap<_, _>>>()?;
            let views = entry
                .views
                .into_iter()
                .map(|(name, query)| (name.clone(), View { name, query }));
            let sequences = entry.sequences.into_iter().map(|(name, stored)| {
                let sequence = Sequence::opened(name.clone(), stored);
                (name, Arc::new(sequence))
            });
            Ok((
                schema,
                SchemaEntry {
                    tables,
                    views: views.collect(),
                    functions: entry.functions,
                    sequences: sequences.collect(),
                    types: entry
                        .types
                        .into_iter()
                        .map(|(name, stored)| (name, Arc::new(stored)))
                        .collect(),
                },
            ))
        });
        Ok(Catalog {
            version: manifest.catalog.max(manifest.version),
            next_table: manifest.next_table,
            schemas: schemas.collect::<Result<_>>()?,
            roles: Arc::new(Roles {
                roles: manifest.roles,
                access: manifest.access.into_iter().collect(),
            }),
            definitions: Arc::default(),
        })
    }

    /// What a manifest says of it; number and place in the log are left out.
    pub(super) fn to_manifest(&self, next_block: u64) -> Manifest {
        let schemas = self.schemas.iter().map(|(schema, entry)| {
            let tables = entry
                .tables
                .iter()
                .map(|(name, table)| (name.clone(), stored_table(table)));
            let views = entry
                .views
                .iter()
                .map(|(name, view)| (name.clone(), view.query.clone()));
            let sequences = entry
                .sequences
                .iter()
                .map(|(name, sequence)| (name.clone(), sequence.stored()));
            (
                schema.clone(),
                ManifestSchema {
                    tables: tables.collect(),
                    views: views.collect(),
                    functions: entry.functions.clone(),
                    sequences: sequences.collect(),
                    types: entry
                        .types
                        .iter()
                        .map(|(name, stored)| (name.clone(), stored.as_ref().clone()))
                        .collect(),
                },
            )
        });
        Manifest {
            version: 0,
            catalog: self.version,
            timestamp: 0,
            log: None,
            next_table: self.next_table,
            next_block,
            schemas: schemas.collect(),
            roles: self.roles.roles.clone(),
            access: self.roles.access.clone().into_iter().collect(),
        }
    }
}

/// A table as the manifest and the log have it.
pub(super) fn stored_table(table: &Table) -> ManifestTable {
    let blocks = table.blocks().iter();
    ManifestTable {
        id: table.id,
        schema: (*table.schema).clone(),
        options: table.options.clone(),
        former: table.former().to_vec(),
        blocks: blocks.map(|block| block.info().clone()).collect(),
        delta: table.delta().first(),
    }
}

/// A table with handles of its blocks, each over the columns it was written with.
/// What the table was `before`, if it was, gives deletes and delta.
pub(super) fn opened_table(
    name: String,
    stored: ManifestTable,
    place: &Place,
    before: Option<&Table>,
) -> Result<Table> {
    let known = before.iter().flat_map(|table| table.blocks());
    let known: HashMap<BlockId, &Arc<Block>> = known.map(|block| (block.id(), block)).collect();
    let schema = Arc::new(stored.schema);
    let former = stored
        .former
        .iter()
        .map(|former| Ok((former_schema(&former.columns), places(&schema, former)?)))
        .collect::<Result<Vec<_>>>()?;
    // A handle knows where today's columns are, which changes with them.
    let same_columns = before.is_some_and(|before| {
        before.schema.columns == schema.columns && before.former() == stored.former
    });
    let block = |info: BlockInfo| {
        let known = known.get(&info.id).copied();
        if let Some(block) = known.filter(|block| same_columns && *block.info() == info) {
            return Ok(block.clone());
        }
        let (columns, places) = match info.version {
            None => (schema.clone(), None),
            Some(version) => former.get(version as usize).cloned().ok_or_else(|| {
                Error::corrupt(format!(
                    "block {} has columns of version {version}, table {name} has {} of them",
                    info.id.0,
                    former.len()
                ))
            })?,
        };
        let (files, cache) = (place.files.clone(), place.cache.clone());
        let block = Block::new(info, columns, places, files, cache);
        let block = block.with_overlays(known.map(|known| &**known))?;
        Ok(Arc::new(match known {
            Some(known) => block.beside(known),
            None => block,
        }))
    };
    let blocks = stored
        .blocks
        .into_iter()
        .map(block)
        .collect::<Result<_>>()?;
    let table = Table::new(
        stored.id,
        name.clone(),
        schema.clone(),
        stored.options,
        blocks,
    );
    let delta = match before {
        Some(before) => before.delta().from(schema.clone(), stored.delta),
        None => Delta::new(schema.clone(), stored.delta),
    };
    Ok(table.with_former(stored.former).with_delta(Arc::new(delta)))
}

/// The schema of blocks that were written with these columns.
fn former_schema(columns: &[Column]) -> Arc<TableSchema> {
    Arc::new(TableSchema {
        columns: columns.to_vec(),
        ..TableSchema::default()
    })
}

/// Where today's columns are in blocks with former ones.
pub(super) fn places(schema: &TableSchema, former: &FormerColumns) -> Result<SharedPlaces> {
    let own = former.columns.len();
    let places = Places::open(&schema.columns, &former.places, own)?;
    Ok(Some(Arc::new(places)))
}

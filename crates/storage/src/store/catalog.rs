//! The catalog: every schema, table and view at one moment.

use super::Place;
use crate::block::{Block, BlockInfo, Places, SharedPlaces};
use crate::error::{Error, Result};
use crate::manifest::{Manifest, ManifestSchema, ManifestTable};
use crate::schema::{Column, FormerColumns, TableSchema};
use crate::table::Table;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The schema that exists in every database.
pub const DEFAULT_SCHEMA: &str = "main";

/// An immutable snapshot of the whole database.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    pub(super) version: u64,
    pub(super) next_table: u64,
    pub(super) schemas: BTreeMap<String, SchemaEntry>,
}

/// The tables and views of one schema.
#[derive(Clone, Debug, Default)]
pub struct SchemaEntry {
    /// Tables by name.
    pub tables: BTreeMap<String, Arc<Table>>,
    /// Views by name.
    pub views: BTreeMap<String, View>,
}

/// A view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Its name.
    pub name: String,
    /// Its query.
    pub sql: String,
}

impl Catalog {
    /// Counts publishes.
    pub fn version(&self) -> u64 {
        self.version
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
                let table = opened_table(name.clone(), table, place)?;
                Ok((name, Arc::new(table)))
            });
            let tables = tables.collect::<Result<BTreeMap<_, _>>>()?;
            let views = entry
                .views
                .into_iter()
                .map(|(name, sql)| (name.clone(), View { name, sql }));
            Ok((
                schema,
                SchemaEntry {
                    tables,
                    views: views.collect(),
                },
            ))
        });
        Ok(Catalog {
            version: manifest.version,
            next_table: manifest.next_table,
            schemas: schemas.collect::<Result<_>>()?,
        })
    }

    pub(super) fn to_manifest(&self, next_block: u64) -> Manifest {
        let schemas = self.schemas.iter().map(|(schema, entry)| {
            let tables = entry.tables.iter().map(|(name, table)| {
                let stored = ManifestTable {
                    id: table.id,
                    schema: (*table.schema).clone(),
                    options: table.options.clone(),
                    former: table.former().to_vec(),
                    blocks: table
                        .blocks()
                        .iter()
                        .map(|block| block.info().clone())
                        .collect(),
                };
                (name.clone(), stored)
            });
            let views = entry
                .views
                .iter()
                .map(|(name, view)| (name.clone(), view.sql.clone()));
            (
                schema.clone(),
                ManifestSchema {
                    tables: tables.collect(),
                    views: views.collect(),
                },
            )
        });
        Manifest {
            version: self.version,
            next_table: self.next_table,
            next_block,
            schemas: schemas.collect(),
        }
    }
}

/// A table with handles of its blocks, each over the columns it was written with.
fn opened_table(name: String, stored: ManifestTable, place: &Place) -> Result<Table> {
    let schema = Arc::new(stored.schema);
    let former = stored
        .former
        .iter()
        .map(|former| Ok((former_schema(&former.columns), places(&schema, former)?)))
        .collect::<Result<Vec<_>>>()?;
    let block = |info: BlockInfo| {
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
        Ok(Arc::new(Block::new(info, columns, places, files, cache)))
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
    Ok(table.with_former(stored.former))
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

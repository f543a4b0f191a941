//! Tables in memory that differ only in how their pages are laid out.

use crate::error::{Error, Result};
use arrow_array::RecordBatch;
use freestone_storage::store::DEFAULT_SCHEMA;
use freestone_storage::{CodecChoice, Layout, Store, Table, TableOptions, TableSchema};
use std::fmt;
use std::sync::Arc;

/// The page layouts that the paper compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Model {
    /// N-ary storage model: records on slotted pages.
    Nsm,
    /// Partition attributes across: minipages on pages.
    Pax,
    /// Decomposition storage model: a relation for each attribute.
    Dsm,
}

impl Model {
    /// In the order of the paper.
    pub const ALL: [Model; 3] = [Model::Nsm, Model::Pax, Model::Dsm];

    /// Options of a table: pages of so many bytes, values without a codec.
    pub fn options(self, page_bytes: u32) -> TableOptions {
        TableOptions {
            layout: match self {
                Model::Nsm => Layout::Row,
                Model::Pax => Layout::Pax,
                Model::Dsm => Layout::Dsm,
            },
            slotted: self == Model::Nsm,
            page_bytes,
            codec: CodecChoice::None,
            ..TableOptions::default()
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Model::Nsm => "NSM",
            Model::Pax => "PAX",
            Model::Dsm => "DSM",
        })
    }
}

/// Writes `rows` as a table of the store.
pub(super) fn load(
    store: &Store,
    name: &str,
    schema: &TableSchema,
    options: &TableOptions,
    rows: &RecordBatch,
) -> Result<Arc<Table>> {
    // Keys get their indexes with the table, and blocks are written with them.
    let table = store
        .commit(|edit| edit.create_table(DEFAULT_SCHEMA, name, schema.clone(), options.clone()))?;
    let declared = found(store, name)?.schema.clone();
    let mut writer = store.writer(&declared, options)?;
    writer.push(rows)?;
    let blocks = writer.finish()?;
    store.commit(|edit| edit.append(table, blocks).map(drop))?;
    found(store, name)
}

/// The table of that name.
pub(super) fn found(store: &Store, name: &str) -> Result<Arc<Table>> {
    let snapshot = store.snapshot();
    let table = snapshot.table(DEFAULT_SCHEMA, name);
    let table = table.ok_or_else(|| Error::new(format!("there is no table {name}"), ""))?;
    Ok(table.clone())
}

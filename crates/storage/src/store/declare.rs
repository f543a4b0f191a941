//! What is declared of a table, changed while its rows stay: names, defaults, NOT
//! NULL, keys, checks and references.

use super::columns::moved;
use super::edit::CatalogEdit;
use super::writer::NewBlock;
use crate::block::Block;
use crate::delta::Fragment;
use crate::error::{Error, Result};
use crate::ids::TableId;
use crate::schema::{Column, Comments, Identity, Key, Materialized, TableOptions, TableSchema};
use crate::table::Table;
use std::sync::Arc;

/// Whether rows of a table came, went or got other values since `timestamp`, of which a snapshot is held.
pub(super) fn changed_since(table: &Table, timestamp: u64) -> bool {
    let block = |block: &Arc<Block>| block.deletes().changed_since(timestamp);
    let fragment = |fragment: &Arc<Fragment>| {
        fragment.newest() > timestamp || !fragment.deletes.after(timestamp).is_empty()
    };
    table.blocks().iter().any(block) || table.delta().fragments().iter().any(fragment)
}

impl CatalogEdit {
    /// Gives the table `seen` other declarations, for which the rows that were
    /// there at `timestamp` are right. Columns keep their number and types.
    ///
    /// # Errors
    /// `Conflict` if the table, or its rows, changed since; if columns get other
    /// names or may be NULL or not, also if rows are in no block.
    pub fn declare(
        &mut self,
        seen: &Table,
        timestamp: u64,
        schema: TableSchema,
        mut options: TableOptions,
    ) -> Result<()> {
        follow_name(&mut options, &seen.schema, &schema);
        let added = schema.foreign_keys.iter();
        for key in added.filter(|key| !seen.schema.foreign_keys.contains(key)) {
            let parent = self.catalog.table_by_id(key.parent);
            if parent.is_none_or(|parent| changed_since(parent, timestamp)) {
                return Err(conflict(seen));
            }
        }
        self.change(seen.id, |table| {
            must_be_unchanged(table, seen, timestamp)?;
            let stored = |column: &Column| (column.name.clone(), column.kind, column.nullable);
            let same = table.schema.columns.iter().map(stored);
            let changed = if same.eq(schema.columns.iter().map(stored)) {
                table.with_schema(Arc::new(schema), table.blocks().to_vec())
            } else {
                moved(table, schema, |_| ())?
            };
            Ok(changed.with_options(options))
        })
    }

    /// Changes what is noted about a table.
    ///
    /// # Errors
    /// 42P01 if it is no more.
    pub fn comment(&mut self, table: TableId, note: impl FnOnce(&mut Comments)) -> Result<()> {
        self.change(table, |table| {
            let mut schema = (*table.schema).clone();
            note(&mut schema.comments);
            Ok(table.with_schema(Arc::new(schema), table.blocks().to_vec()))
        })
    }

    /// Gives the table `seen` other columns and, in the place of all its blocks,
    /// `blocks` that were written with those.
    ///
    /// # Errors
    /// `Conflict` if the table or its rows changed since `timestamp`, or rows are
    /// in no block.
    pub fn retype(
        &mut self,
        seen: &Table,
        timestamp: u64,
        schema: TableSchema,
        blocks: Vec<NewBlock>,
    ) -> Result<()> {
        let blocks = self.adopt(blocks);
        self.change(seen.id, |table| {
            must_be_unchanged(table, seen, timestamp)?;
            if table.delta().rows() > 0 {
                return Err(conflict(table));
            }
            let mut changed = table.with_schema(Arc::new(schema), blocks);
            forget_bounds(&mut changed.options, &table.schema, &changed.schema);
            Ok(changed.with_former(Vec::new()))
        })
    }

    /// Sets whether foreign keys from and to a table are left alone.
    ///
    /// # Errors
    /// `Conflict` if the table is gone.
    pub fn set_unreferenced(&mut self, table: TableId, unreferenced: bool) -> Result<()> {
        self.change(table, |table| {
            let mut schema = (*table.schema).clone();
            schema.unreferenced = unreferenced;
            Ok(table.with_schema(Arc::new(schema), table.blocks().to_vec()))
        })
    }

    /// Sets the query whose rows a table has, if it is a materialized view.
    ///
    /// # Errors
    /// `Conflict` if the table is gone.
    pub fn set_materialized(&mut self, table: TableId, view: Materialized) -> Result<()> {
        self.change(table, |table| {
            let mut schema = (*table.schema).clone();
            schema.materialized = Some(view);
            Ok(table.with_schema(Arc::new(schema), table.blocks().to_vec()))
        })
    }

    /// Gives a table another name.
    ///
    /// # Errors
    /// 3F000, 42P01, 42P07 for a name that is taken.
    pub fn rename_table(&mut self, schema: &str, name: &str, to: &str) -> Result<()> {
        self.free_name(schema, to)?;
        let table = self.remove(schema, name)?;
        let blocks = table.blocks().to_vec();
        let renamed = table.with(to, table.options.clone(), blocks);
        self.put(schema, renamed)?;
        self.tell_views(|query| query.rename((schema, name), (schema, to)));
        Ok(())
    }

    /// Puts a table into another schema.
    ///
    /// # Errors
    /// 3F000, 42P01, 42P07 for a name that is taken there.
    pub fn move_table(&mut self, schema: &str, name: &str, to: &str) -> Result<()> {
        self.free_name(to, name)?;
        let table = self.remove(schema, name)?;
        let mut indexes = table.schema.indexes.iter();
        let taken = indexes.find(|index| self.catalog.index(to, &index.name).is_some());
        if let Some(index) = taken {
            let message = format!("relation \"{}\" already exists", index.name);
            return Err(Error::invalid("42P07", message));
        }
        let (options, blocks) = (table.options.clone(), table.blocks().to_vec());
        self.put(to, table.with(name, options, blocks))?;
        self.tell_views(|query| query.rename((schema, name), (to, name)));
        Ok(())
    }

    /// Makes a column's identity another one, or none: then its sequence goes.
    ///
    /// # Errors
    /// 42P01 if the table is no more.
    pub fn set_identity(
        &mut self,
        table: TableId,
        column: usize,
        identity: Option<Identity>,
    ) -> Result<()> {
        let mut gone = None;
        self.change(table, |table| {
            let mut schema = (*table.schema).clone();
            if let Some(column) = schema.columns.get_mut(column) {
                if identity.is_none() {
                    gone = Some(column.clone());
                    column.default = None;
                }
                column.identity = identity;
            }
            Ok(table.with_schema(Arc::new(schema), table.blocks().to_vec()))
        })?;
        self.remove_sequences_of(&gone);
        Ok(())
    }

    /// Adds a key, whose index was built over the blocks of the table `seen`, to
    /// the table, and to `schema` what else it changes: NOT NULL.
    ///
    /// # Errors
    /// `Conflict` if rows came or went since `timestamp`, or are in no block.
    pub fn add_key(
        &mut self,
        seen: &Table,
        timestamp: u64,
        key: Key,
        schema: &TableSchema,
    ) -> Result<()> {
        self.change(seen.id, |table| {
            if changed_since(table, timestamp) {
                return Err(conflict(table));
            }
            let mut declared = (*table.schema).clone();
            declared.keys.push(key);
            if declared.columns == schema.columns {
                let blocks = table.blocks().to_vec();
                return Ok(table.with_schema(Arc::new(declared), blocks));
            }
            declared.columns.clone_from(&schema.columns);
            moved(table, declared, |_| ())
        })
    }
}

/// The column of `partition_by` may have got another name; its number is the same.
fn follow_name(options: &mut TableOptions, before: &TableSchema, after: &TableSchema) {
    let Some(by) = &mut options.partition_by else {
        return;
    };
    if after.index_of(&by.column).is_none()
        && let Some(renamed) = before.index_of(&by.column)
        && let Some(column) = after.columns.get(renamed)
    {
        by.column.clone_from(&column.name);
    }
}

/// Bounds of ranges are values of the type that their column had.
fn forget_bounds(options: &mut TableOptions, before: &TableSchema, after: &TableSchema) {
    let Some(by) = &mut options.partition_by else {
        return;
    };
    let kind = |schema: &TableSchema| {
        let column = schema.index_of(&by.column)?;
        Some(schema.columns[column].kind)
    };
    let now = kind(after);
    match now.is_some_and(|kind| kind.has_order()) {
        true if now == kind(before) => {}
        true => by.bounds.clear(),
        false => options.partition_by = None,
    }
}

fn must_be_unchanged(table: &Table, seen: &Table, timestamp: u64) -> Result<()> {
    let same = table.schema == seen.schema && table.block_ids() == seen.block_ids();
    if same && !changed_since(table, timestamp) {
        return Ok(());
    }
    Err(conflict(table))
}

fn conflict(table: &Table) -> Error {
    Error::Conflict {
        message: format!("table \"{}\" was changed meanwhile", table.name),
    }
}

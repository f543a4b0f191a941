//! Changes to the catalog, collected and published together.

use super::DEFAULT_SCHEMA;
use super::catalog::{Catalog, SchemaEntry};
use super::writer::NewBlock;
use crate::block::Block;
use crate::error::{Error, Result};
use crate::ids::{BlockId, TableId};
use crate::roles::{FIRST_ROLE, Object, RoleId};
use crate::schema::{COLUMNS_MAX, Layout, TableOptions, TableSchema};
use crate::table::Table;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A catalog being changed; nothing is visible to others before it is published.
#[derive(Debug)]
pub struct CatalogEdit {
    pub(super) catalog: Catalog,
    pub(super) added: Vec<NewBlock>,
    pub(super) changed: bool,
    /// Number of the next table, of this catalog and of all drafts beside it.
    next_table: Arc<AtomicU64>,
    /// Who owns what is made.
    pub(super) owner: RoleId,
}

impl CatalogEdit {
    pub(super) fn new(catalog: Catalog, next_table: Arc<AtomicU64>) -> Self {
        CatalogEdit {
            next_table,
            owner: FIRST_ROLE,
            catalog,
            added: Vec::new(),
            changed: false,
        }
    }

    /// The catalog with the changes so far.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// A number that no table and no sequence has had.
    pub(super) fn next_id(&mut self) -> u64 {
        let id = self.next_table.fetch_add(1, Ordering::Relaxed);
        self.catalog.next_table = self.catalog.next_table.max(id + 1);
        id
    }

    pub(super) fn schema(&mut self, schema: &str) -> Result<&mut SchemaEntry> {
        self.changed = true;
        self.catalog
            .schemas
            .get_mut(schema)
            .ok_or_else(|| Error::invalid("3F000", format!("schema \"{schema}\" does not exist")))
    }

    pub(super) fn free_name(&mut self, schema: &str, name: &str) -> Result<&mut SchemaEntry> {
        let entry = self.schema(schema)?;
        if entry.has_relation(name) {
            return Err(Error::invalid(
                "42P07",
                format!("relation \"{name}\" already exists"),
            ));
        }
        if entry.types.contains_key(name) {
            let message = format!("type \"{name}\" already exists");
            let hint = "A relation has a type of its rows of the same name.";
            return Err(Error::invalid("42710", message).with_hint(hint));
        }
        Ok(entry)
    }

    /// Adds a schema.
    ///
    /// # Errors
    /// 42P06 if there is one of that name.
    pub fn create_schema(&mut self, name: &str) -> Result<()> {
        if self.catalog.schemas.contains_key(name) {
            return Err(Error::invalid(
                "42P06",
                format!("schema \"{name}\" already exists"),
            ));
        }
        self.changed = true;
        self.catalog
            .schemas
            .insert(name.to_string(), SchemaEntry::default());
        self.made(Object::schema(name));
        Ok(())
    }

    /// Removes a schema, with everything in it if `cascade`.
    ///
    /// # Errors
    /// 3F000 if there is none, 2BP01 if it is not empty or the default one.
    pub fn drop_schema(&mut self, name: &str, cascade: bool) -> Result<()> {
        let entry = self.schema(name)?;
        if name == DEFAULT_SCHEMA {
            return Err(Error::invalid(
                "2BP01",
                format!("schema \"{name}\" is the default schema and stays"),
            ));
        }
        let empty = entry.is_empty();
        if !cascade && !empty {
            return Err(
                Error::invalid("2BP01", format!("schema \"{name}\" is not empty"))
                    .with_hint("Use DROP SCHEMA … CASCADE to drop what is in it, too."),
            );
        }
        let tables = self.catalog.tables(name).into_iter();
        let tables: Vec<String> = tables.map(|table| table.name.clone()).collect();
        for table in tables {
            // A partition goes with its parent.
            if self.catalog.table(name, &table).is_some() {
                self.drop_table(name, &table, cascade)?;
            }
        }
        if let Some(gone) = self.catalog.schemas.remove(name) {
            let sequences = gone.sequences.values();
            let sequences = sequences.map(|sequence| Object::from(sequence.id));
            let views = gone.views.keys().map(|view| Object::view(name, view));
            let types = gone.types.values().map(|stored| Object::from(stored.id));
            let all: Vec<Object> = sequences.chain(views).chain(types).collect();
            all.iter().for_each(|object| self.forget(object));
        }
        self.forget(&Object::schema(name));
        Ok(())
    }

    /// Adds an empty table.
    ///
    /// # Errors
    /// 3F000, 42P07; 42701 for two columns of one name, 54011 for too many,
    /// 42P16 for none; those of [`TableOptions::check`].
    pub fn create_table(
        &mut self,
        schema: &str,
        name: &str,
        mut columns: TableSchema,
        options: TableOptions,
    ) -> Result<TableId> {
        check_columns(&columns)?;
        columns.index_keys();
        options.check(&columns)?;
        let id = TableId(self.next_id());
        let keys = columns.foreign_keys.iter_mut();
        keys.filter(|key| key.parent == TableId::ITSELF)
            .for_each(|key| key.parent = id);
        let entry = self.free_name(schema, name)?;
        let table = Table::new(id, name.to_string(), Arc::new(columns), options, Vec::new());
        entry.tables.insert(name.to_string(), Arc::new(table));
        self.made(id.into());
        Ok(id)
    }

    /// Removes a table and its blocks, and the sequences of its identity columns; a partitioned
    /// table with all its partitions.
    ///
    /// # Errors
    /// 3F000, 42P01; 2BP01 if foreign keys of other tables refer to it, unless
    /// `cascade`, which drops those.
    pub fn drop_table(&mut self, schema: &str, name: &str, cascade: bool) -> Result<()> {
        let id = self.schema(schema)?.tables.get(name).map(|table| table.id);
        let children = id.map_or(Vec::new(), |id| self.catalog.children(id));
        if let Some(child) = children.first().filter(|_| !cascade) {
            let message = format!(
                "cannot drop table \"{name}\": a foreign key of table \"{}\" refers to it",
                child.name
            );
            return Err(Error::invalid("2BP01", message)
                .with_hint("Use DROP TABLE … CASCADE to drop the foreign key too."));
        }
        for (schema, name) in id.map_or(Vec::new(), |id| names_of_partitions(&self.catalog, id)) {
            self.drop_table(&schema, &name, cascade)?;
        }
        let table = self.remove(schema, name)?;
        let id = table.id;
        self.remove_sequences_of(&table.schema.columns);
        self.tell_sequences(id, None, None);
        self.forget(&id.into());
        for child in children {
            self.change(child.id, |child| {
                let mut schema = (*child.schema).clone();
                schema.foreign_keys.retain(|key| key.parent != id);
                Ok(child.with_schema(Arc::new(schema), child.blocks().to_vec()))
            })?;
        }
        Ok(())
    }

    /// Takes a table out of its schema.
    pub(super) fn remove(&mut self, schema: &str, name: &str) -> Result<Arc<Table>> {
        self.schema(schema)?.tables.remove(name).ok_or_else(|| {
            let message = format!("table \"{name}\" does not exist");
            Error::invalid("42P01", message)
        })
    }

    /// Puts a table into a schema, under its name.
    pub(super) fn put(&mut self, schema: &str, table: Table) -> Result<()> {
        let tables = &mut self.schema(schema)?.tables;
        tables.insert(table.name.clone(), Arc::new(table));
        Ok(())
    }

    /// Replaces a table by what `change` makes of it.
    pub(super) fn change(
        &mut self,
        id: TableId,
        change: impl FnOnce(&Table) -> Result<Table>,
    ) -> Result<()> {
        let mut tables = self
            .catalog
            .schemas
            .values_mut()
            .flat_map(|entry| entry.tables.values_mut());
        let table = tables.find(|table| table.id == id);
        let table = table.ok_or_else(|| Error::Conflict {
            message: "the table was dropped meanwhile".into(),
        })?;
        *table = Arc::new(change(table)?);
        self.changed = true;
        Ok(())
    }

    pub(super) fn adopt(&mut self, blocks: Vec<NewBlock>) -> Vec<Arc<Block>> {
        let handles = blocks.iter().map(|block| block.handle()).collect();
        self.added.extend(blocks);
        handles
    }

    /// Adds blocks to a table; returns their rows.
    ///
    /// # Errors
    /// `Conflict` if the table is gone.
    pub fn append(&mut self, table: TableId, blocks: Vec<NewBlock>) -> Result<u64> {
        let rows = blocks.iter().map(NewBlock::rows).sum();
        let blocks = self.adopt(blocks);
        self.change(table, |table| {
            check_written(table, &blocks)?;
            let all = table.blocks().iter().cloned().chain(blocks).collect();
            Ok(table.with(&table.name, table.options.clone(), all))
        })?;
        Ok(rows)
    }

    /// Puts `blocks` in the place of those that `seen` had as of `timestamp`.
    ///
    /// # Errors
    /// `Conflict` when the table has other blocks or rows than that by now.
    pub fn rewrite(
        &mut self,
        table: TableId,
        seen: &Table,
        timestamp: u64,
        options: TableOptions,
        blocks: Vec<NewBlock>,
    ) -> Result<()> {
        options.check(&seen.schema)?;
        let blocks = self.adopt(blocks);
        self.change(table, |table| {
            let same = table.delta().rows() == 0 && table.block_ids() == seen.block_ids();
            if !same || any_changed(table.blocks(), timestamp) {
                return Err(changed_meanwhile(table));
            }
            check_written(table, &blocks)?;
            Ok(table.with(&table.name, options, blocks))
        })
    }

    /// Puts `blocks`, which have the same rows, in the place of the blocks `gone` as they
    /// were at `timestamp`; they come where the first of those was.
    ///
    /// # Errors
    /// `Conflict` when one of those is not there any more, or has lost rows since.
    pub fn exchange(
        &mut self,
        table: TableId,
        timestamp: u64,
        gone: &[BlockId],
        blocks: Vec<NewBlock>,
    ) -> Result<()> {
        let blocks = self.adopt(blocks);
        self.change(table, |table| {
            let is_gone = |block: &Arc<Block>| gone.contains(&block.id());
            let old: Vec<Arc<Block>> = table
                .blocks()
                .iter()
                .filter(|b| is_gone(b))
                .cloned()
                .collect();
            if old.len() != gone.len() || any_changed(&old, timestamp) {
                return Err(changed_meanwhile(table));
            }
            check_written(table, &blocks)?;
            let mut blocks = Some(blocks);
            let mut all = Vec::with_capacity(table.blocks().len());
            for block in table.blocks() {
                match is_gone(block) {
                    true => all.extend(blocks.take().into_iter().flatten()),
                    false => all.push(block.clone()),
                }
            }
            Ok(table.with(&table.name, table.options.clone(), all))
        })
    }

    /// Changes the layout of new blocks of a table whose layout is automatic; others
    /// keep theirs.
    ///
    /// # Errors
    /// `Conflict` if the table is gone.
    pub fn set_automatic_layout(&mut self, table: TableId, layout: Layout) -> Result<()> {
        self.change(table, |table| {
            let mut options = table.options.clone();
            if options.auto_layout {
                options.slotted &= layout == Layout::Row;
                options.layout = layout;
            }
            Ok(table.with(&table.name, options, table.blocks().to_vec()))
        })
    }

    /// Changes the options for new blocks.
    ///
    /// # Errors
    /// `Conflict` if the table is gone; those of [`TableOptions::check`].
    pub fn set_options(&mut self, table: TableId, options: TableOptions) -> Result<()> {
        self.change(table, |table| {
            options.check(&table.schema)?;
            Ok(table.with(&table.name, options, table.blocks().to_vec()))
        })
    }
}

/// Schemas and names of the partitions of a table.
fn names_of_partitions(catalog: &Catalog, parent: TableId) -> Vec<(String, String)> {
    let partitions = catalog.partitions(parent).into_iter();
    partitions
        .map(|(schema, table)| (schema.to_owned(), table.name.clone()))
        .collect()
}

/// Whether a block has lost rows since.
fn any_changed(blocks: &[Arc<Block>], timestamp: u64) -> bool {
    let mut blocks = blocks.iter();
    blocks.any(|block| block.deletes().changed_since(timestamp))
}

fn changed_meanwhile(table: &Table) -> Error {
    Error::Conflict {
        message: format!("table \"{}\" was changed meanwhile", table.name),
    }
}

/// Blocks must have been written with the columns that the table has now.
fn check_written(table: &Table, blocks: &[Arc<Block>]) -> Result<()> {
    if blocks
        .iter()
        .all(|block| block.own_schema().same_rows(&table.schema))
    {
        return Ok(());
    }
    Err(Error::Conflict {
        message: format!(
            "the columns of table \"{}\" were changed meanwhile",
            table.name
        ),
    })
}

fn check_columns(schema: &TableSchema) -> Result<()> {
    if schema.columns.is_empty() {
        return Err(Error::invalid("42P16", "a table needs at least one column"));
    }
    if schema.columns.len() > COLUMNS_MAX {
        let message = format!(
            "{} columns; a table holds at most {COLUMNS_MAX}",
            schema.columns.len()
        );
        return Err(Error::invalid("54011", message));
    }
    for (number, column) in schema.columns.iter().enumerate() {
        if schema.index_of(&column.name) != Some(number) {
            return Err(Error::invalid(
                "42701",
                format!("column \"{}\" is specified more than once", column.name),
            ));
        }
    }
    Ok(())
}

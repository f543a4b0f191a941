//! ADD COLUMN and DROP COLUMN: the table changes, its blocks stay (C1).

use super::catalog::places;
use super::edit::CatalogEdit;
use crate::block::{Block, to_hex};
use crate::error::{Error, Result};
use crate::ids::TableId;
use crate::schema::{
    COLUMNS_MAX, Column, ForeignKey, FormerColumns, IndexDefinition, Place, TableSchema,
};
use crate::table::Table;
use arrow_array::ArrayRef;
use std::sync::Arc;

impl CatalogEdit {
    /// Adds a column behind those that were declared. Rows that are there have `value`, an
    /// array of one, in it.
    ///
    /// # Errors
    /// 42701 for a name that is taken, 54011 for too many columns, 23502 if rows
    /// would get a NULL that the column does not allow, `Conflict` if the table
    /// is gone or has rows in no block.
    pub fn add_column(&mut self, table: TableId, column: Column, value: &ArrayRef) -> Result<()> {
        self.change(table, |table| {
            let name = &column.name;
            if table.schema.index_of(name).is_some() {
                let message = format!(
                    "column \"{name}\" of relation \"{}\" already exists",
                    table.name
                );
                return Err(Error::invalid("42701", message));
            }
            if table.schema.columns.len() == COLUMNS_MAX {
                return Err(Error::invalid(
                    "54011",
                    format!("a table has at most {COLUMNS_MAX} columns"),
                ));
            }
            if !column.nullable && value.is_null(0) && table.rows() > 0 {
                let message = format!(
                    "column \"{name}\" of relation \"{}\" contains null values",
                    table.name
                );
                let hint = "Give the column a DEFAULT, or add it without NOT NULL.";
                return Err(Error::invalid("23502", message).with_hint(hint));
            }
            let place = Place::Missing(to_hex(value, &column)?);
            let at = table.schema.declared().len();
            let schema = with(&table.schema, at, column);
            moved(table, schema, |places| places.insert(at, place.clone()))
        })
    }

    /// Removes a column, with keys and indexes over it and its identity's sequence.
    ///
    /// # Errors
    /// 42703 if there is none, 42P16 if it is the only one, 2BP01 if a foreign key
    /// refers to it, `Conflict` if the table is gone or has rows in no block.
    pub fn drop_column(&mut self, table: TableId, name: &str) -> Result<()> {
        self.shift_references(table, name)?;
        let known = self.catalog().table_by_id(table).cloned();
        self.change(table, |table| {
            let missing = || {
                let message = format!(
                    "column \"{name}\" of relation \"{}\" does not exist",
                    table.name
                );
                Error::invalid("42703", message)
            };
            let number = table.schema.index_of(name).ok_or_else(missing)?;
            if table.schema.declared().len() == 1 && number == 0 {
                let message = format!("\"{name}\" is the only column of \"{}\"", table.name);
                return Err(Error::invalid("42P16", message).with_hint("Use DROP TABLE."));
            }
            let mut schema = without(&table.schema, number);
            let own = |key: &ForeignKey| key.parent == table.id;
            schema
                .foreign_keys
                .retain(|key| !own(key) || !key.parent_columns.contains(&number));
            for key in schema.foreign_keys.iter_mut().filter(|key| own(key)) {
                shift(&mut key.parent_columns, number);
            }
            let mut changed = moved(table, schema, |places| drop(places.remove(number)))?;
            if changed.options.sort_by.as_deref() == Some(name) {
                changed.options.sort_by = None;
            }
            let partition = changed.options.partition_by.as_ref();
            if partition.is_some_and(|by| by.column == name) {
                changed.options.partition_by = None;
            }
            changed.options.column_codecs.remove(name);
            Ok(changed)
        })?;
        let columns = known.iter().flat_map(|table| &table.schema.columns);
        self.remove_sequences_of(columns.filter(|column| column.name == name));
        self.tell_sequences(table, Some(name), None);
        self.tell_views_of_table(table, name, None);
        self.drop_unused(table)
    }

    /// Removes the columns that were there for an index which is no more.
    ///
    /// # Errors
    /// `Conflict` if the table is gone or has rows in no block.
    pub fn drop_unused(&mut self, table: TableId) -> Result<()> {
        let Some(known) = self.catalog().table_by_id(table) else {
            return Ok(());
        };
        let schema = &known.schema;
        let is_used = |number: usize| {
            let mut indexes = schema.indexes.iter();
            indexes.any(|index| index.columns.contains(&number))
        };
        let mut columns = schema.columns.iter().enumerate();
        let unused = columns.find(|(number, column)| column.hidden.is_some() && !is_used(*number));
        match unused.map(|(_, column)| column.name.clone()) {
            Some(name) => self.drop_column(table, &name),
            None => Ok(()),
        }
    }
}

impl CatalogEdit {
    /// Tells foreign keys to a table that a column of it goes away.
    fn shift_references(&mut self, parent: TableId, name: &str) -> Result<()> {
        let known = self.catalog().table_by_id(parent);
        let Some(number) = known.and_then(|table| table.schema.index_of(name)) else {
            return Ok(());
        };
        for child in self.catalog().children(parent) {
            self.change(child.id, |child| {
                let mut schema = (*child.schema).clone();
                let keys = schema.foreign_keys.iter_mut();
                for key in keys.filter(|key| key.parent == parent) {
                    if key.parent_columns.contains(&number) {
                        let message = format!(
                            "cannot drop column \"{name}\": foreign key \"{}\" of table \"{}\" refers to it",
                            key.name, child.name
                        );
                        return Err(Error::invalid("2BP01", message));
                    }
                    shift(&mut key.parent_columns, number);
                }
                Ok(child.with_schema(Arc::new(schema), child.blocks().to_vec()))
            })?;
        }
        Ok(())
    }
}

/// The numbers of columns after `number` is gone.
fn shift(columns: &mut [usize], number: usize) {
    columns
        .iter_mut()
        .filter(|column| **column > number)
        .for_each(|column| *column -= 1);
}

/// The schema with one column more; numbers from its place on move down. Foreign keys, checks
/// and comments are about columns before it.
fn with(schema: &TableSchema, at: usize, column: Column) -> TableSchema {
    let mut schema = schema.clone();
    schema.columns.insert(at, column);
    let keys = schema.keys.iter_mut().map(|key| &mut key.columns);
    let indexes = schema.indexes.iter_mut();
    let indexes = indexes.flat_map(|index| [&mut index.columns, &mut index.form.include]);
    for number in keys
        .chain(indexes)
        .flatten()
        .filter(|number| **number >= at)
    {
        *number += 1;
    }
    schema
}

/// The schema without a column and what depends on it; numbers behind it move up.
fn without(schema: &TableSchema, number: usize) -> TableSchema {
    let mut schema = schema.clone();
    schema.columns.remove(number);
    // A key goes with its index.
    let is_gone = |index: &IndexDefinition| {
        index.columns.contains(&number) || index.form.include.contains(&number)
    };
    let gone = schema.indexes.iter().filter(|index| is_gone(index));
    let gone: Vec<String> = gone.map(|index| index.name.clone()).collect();
    schema
        .keys
        .retain(|key| !(key.columns.contains(&number) || key.of_index && gone.contains(&key.name)));
    schema
        .keys
        .iter_mut()
        .for_each(|key| shift(&mut key.columns, number));
    schema
        .checks
        .retain(|check| !check.columns.contains(&number));
    schema
        .checks
        .iter_mut()
        .for_each(|check| shift(&mut check.columns, number));
    schema
        .foreign_keys
        .retain(|key| !key.columns.contains(&number));
    schema
        .foreign_keys
        .iter_mut()
        .for_each(|key| shift(&mut key.columns, number));
    schema.indexes.retain(|index| !gone.contains(&index.name));
    for index in &mut schema.indexes {
        shift(&mut index.columns, number);
        shift(&mut index.form.include, number);
    }
    schema.comments.shift(number);
    schema.prune_comments();
    schema
}

/// The table with another schema, and its blocks told where to find its columns.
///
/// # Errors
/// `Conflict` if rows are in no block: those have the columns of today.
pub(super) fn moved(
    table: &Table,
    schema: TableSchema,
    change: impl Fn(&mut Vec<Place>),
) -> Result<Table> {
    if table.delta().rows() > 0 {
        return Err(Error::Conflict {
            message: format!(
                "table \"{}\" has new rows that are in no block yet; VACUUM it and try again",
                table.name
            ),
        });
    }
    let mut former = table.former().to_vec();
    former
        .iter_mut()
        .for_each(|former| change(&mut former.places));
    // In range: versions are fewer than publishes of one session of changes.
    let today = former.len() as u32;
    let mut here = (0..table.schema.columns.len()).map(Place::Stored).collect();
    change(&mut here);
    former.push(FormerColumns {
        columns: table.schema.columns.clone(),
        places: here,
    });
    let opened = former
        .iter()
        .map(|former| places(&schema, former))
        .collect::<Result<Vec<_>>>()?;
    let block = |block: &Arc<Block>| {
        let version = block.info().version.unwrap_or(today);
        Arc::new(block.moved(Some(version), opened[version as usize].clone()))
    };
    let blocks = table.blocks().iter().map(block).collect();
    let used: Vec<u32> = table
        .blocks()
        .iter()
        .map(|block| block.info().version.unwrap_or(today))
        .collect();
    // Versions that no block has any more keep their number and lose their columns.
    for (version, former) in former.iter_mut().enumerate() {
        if !used.contains(&(version as u32)) {
            *former = FormerColumns {
                columns: Vec::new(),
                places: vec![Place::Missing(None); schema.columns.len()],
            };
        }
    }
    while former
        .last()
        .is_some_and(|former| former.columns.is_empty())
    {
        former.pop();
    }
    Ok(table
        .with_schema(Arc::new(schema), blocks)
        .with_former(former))
}

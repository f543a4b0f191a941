//! Giving the blocks of a table an index, and the catalog the name of it.

use super::catalog::Catalog;
use super::edit::CatalogEdit;
use super::mover::MoverHold;
use super::writer::NewBlock;
use super::{Place, Store};
use crate::block::{Block, BlockInfo, file_name};
use crate::error::{Error, Result};
use crate::ids::TableId;
use crate::schema::{IndexDefinition, IndexForm, IndexKind, TableSchema};
use crate::table::Table;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A table's blocks with an index more; in the catalog once it is committed.
#[derive(Debug)]
pub struct NewIndex {
    schema: Arc<TableSchema>,
    /// The blocks as they were,
    seen: Vec<BlockInfo>,
    /// and with the index.
    blocks: Vec<NewBlock>,
    _hold: MoverHold,
}

impl NewIndex {
    /// The same with what its statement says besides.
    #[must_use]
    pub fn with_form(mut self, form: IndexForm) -> NewIndex {
        if let Some(index) = Arc::make_mut(&mut self.schema).indexes.last_mut() {
            index.form = form;
        }
        self
    }
}

impl Store {
    /// Builds an index over every block that `table` has by now, with `threads`
    /// threads; `progress` hears of each block that is done, and whether to go on
    /// is its answer. Rows stay where they are until the index is dropped or committed.
    ///
    /// # Errors
    /// 42703 for a column that is not there, 0A000 for one that has no order,
    /// 54011 for over 32 columns, 57014 if it is not to go on; 25006, `Corrupt`, `Full`, `Io`.
    pub fn build_index(
        &self,
        table: &Table,
        name: &str,
        kind: IndexKind,
        columns: Vec<usize>,
        threads: usize,
        progress: &(dyn Fn() -> bool + Sync),
    ) -> Result<NewIndex> {
        self.must_be_writable()?;
        check(&table.schema, &columns)?;
        let hold = self.hold_mover(table.id);
        let newest = self.committed(table);
        let table = newest.as_deref().unwrap_or(table);
        let mut schema = (*table.schema).clone();
        schema.index_numbers += 1;
        let number = schema.index_numbers;
        let definition = IndexDefinition {
            number,
            name: name.to_string(),
            kind,
            columns,
            form: IndexForm::default(),
        };
        schema.indexes.push(definition.clone());
        let schema = Arc::new(schema);
        let blocks = table.blocks();
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let canceled = AtomicBool::new(false);
        let work = || {
            while let Some(block) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
                let built = indexed(&self.place, block, &schema, &definition);
                let failed = built.is_err();
                done.lock().push((block.id(), built));
                if failed {
                    next.store(blocks.len(), Ordering::Relaxed);
                }
                if !progress() {
                    canceled.store(true, Ordering::Relaxed);
                    next.store(blocks.len(), Ordering::Relaxed);
                }
            }
        };
        std::thread::scope(|scope| {
            (1..threads.clamp(1, blocks.len().max(1))).for_each(|_| drop(scope.spawn(work)));
            work();
        });
        if canceled.into_inner() {
            return Err(Error::invalid("57014", "the index is no longer wanted"));
        }
        let mut built = done.into_inner();
        let order = |id| blocks.iter().position(|block| block.id() == id);
        built.sort_by_key(|(id, _)| order(*id));
        let blocks = built
            .into_iter()
            .map(|(_, block)| block)
            .collect::<Result<Vec<NewBlock>>>()?;
        Ok(NewIndex {
            schema,
            seen: infos(table),
            blocks,
            _hold: hold,
        })
    }

    /// The table as it is committed by now, if all that is other is where its rows
    /// are: what the mover has done since the caller looked is no reason to fail.
    fn committed(&self, seen: &Table) -> Option<Arc<Table>> {
        let latest = self.latest.lock();
        let known = latest.catalog.table_by_id(seen.id)?;
        // Blocks that left the catalog are known as long as somebody has them;
        // all others are of a transaction that has not committed.
        let was_there = |block: &Arc<Block>| {
            let retired = &latest.retired;
            known.block(block.id()).is_some() || retired.iter().any(|(id, _)| *id == block.id())
        };
        let same = known.schema == seen.schema && seen.blocks().iter().all(was_there);
        same.then(|| known.clone())
    }
}

/// Most columns of an index, as in PostgreSQL.
const COLUMNS_MAX: usize = 32;

fn check(schema: &TableSchema, columns: &[usize]) -> Result<()> {
    if columns.is_empty() || columns.len() > COLUMNS_MAX {
        let message = format!(
            "an index has 1 to {COLUMNS_MAX} columns, not {}",
            columns.len()
        );
        return Err(Error::invalid("54011", message));
    }
    for column in columns {
        schema.check_key(*column)?;
        let Some(column) = schema.columns.get(*column) else {
            return Err(Error::invalid(
                "42703",
                format!("there is no column number {column}"),
            ));
        };
        if !column.kind.has_order() {
            let message = format!(
                "column {} of type {} cannot be indexed",
                column.name, column.kind
            );
            return Err(Error::invalid("0A000", message));
        }
    }
    Ok(())
}

/// The blocks of a table, with what is laid over them.
fn infos(table: &Table) -> Vec<BlockInfo> {
    let blocks = table.blocks().iter();
    blocks.map(|block| block.info().clone()).collect()
}

/// The block again, under a new number, with the index.
fn indexed(
    place: &Arc<Place>,
    block: &Block,
    schema: &Arc<TableSchema>,
    definition: &IndexDefinition,
) -> Result<NewBlock> {
    let id = place.next_block();
    let bytes = block.with_index(id, schema, definition)?;
    place.files.write(&file_name(id), &bytes.pieces())?;
    let handle = block.renumbered(id, bytes.total());
    Ok(NewBlock::new(Arc::new(handle), place.clone()))
}

impl Catalog {
    /// The schema-wide index of this name, with its table.
    pub fn index(&self, schema: &str, name: &str) -> Option<(&Arc<Table>, &IndexDefinition)> {
        self.tables(schema).into_iter().find_map(|table| {
            let mut indexes = table.schema.indexes.iter();
            indexes
                .find(|index| index.name == name)
                .map(|index| (table, index))
        })
    }
}

impl CatalogEdit {
    /// Adds an index made by [`Store::build_index`] over the table as `seen`.
    ///
    /// # Errors
    /// 42P07 for a name that is taken; `Conflict` when the table has other blocks
    /// or columns by now.
    pub fn create_index(&mut self, schema: &str, seen: &Table, index: NewIndex) -> Result<()> {
        let name = index
            .schema
            .indexes
            .last()
            .map_or("", |index| index.name.as_str());
        self.free_relation(schema, name)?;
        let blocks = self.adopt(index.blocks);
        self.change(seen.id, |table| {
            if infos(table) != index.seen || table.schema != seen.schema {
                let message = format!("table \"{}\" was changed meanwhile", table.name);
                return Err(Error::Conflict { message });
            }
            Ok(table.with_schema(index.schema, blocks))
        })
    }

    /// Adds an index of which blocks have no parts.
    ///
    /// # Errors
    /// 42P07 for a name that is taken, 0A000 for a column that has no order, 54011 for over 32
    /// columns; `Conflict` if the table is gone.
    pub fn name_index(
        &mut self,
        schema: &str,
        table: TableId,
        (name, kind): (&str, IndexKind),
        columns: Vec<usize>,
        form: IndexForm,
    ) -> Result<()> {
        self.free_relation(schema, name)?;
        self.change(table, |table| {
            check(&table.schema, &columns)?;
            let mut schema = (*table.schema).clone();
            schema.index_numbers += 1;
            schema.indexes.push(IndexDefinition {
                number: schema.index_numbers,
                name: name.to_owned(),
                kind,
                columns,
                form,
            });
            Ok(table.with_schema(Arc::new(schema), table.blocks().to_vec()))
        })
    }

    /// Gives an index another name; it is that of no key.
    ///
    /// # Errors
    /// 42704 if there is none, 42P07 for a name that is taken, 2BP01 for that of a key; 3F000.
    pub fn rename_index(&mut self, schema: &str, name: &str, to: &str) -> Result<()> {
        self.free_relation(schema, to)?;
        let missing = || Error::invalid("42704", format!("index \"{name}\" does not exist"));
        let (table, index) = self.catalog().index(schema, name).ok_or_else(missing)?;
        if table.schema.is_of_key(index) {
            let message = format!("index \"{name}\" is called as the key that it is of");
            return Err(Error::invalid("2BP01", message));
        }
        let table: TableId = table.id;
        self.change(table, |table| {
            let mut schema = (*table.schema).clone();
            let indexes = schema.indexes.iter_mut().map(|index| &mut index.name);
            indexes
                .filter(|known| *known == name)
                .for_each(|known| to.clone_into(known));
            Ok(table.with_schema(Arc::new(schema), table.blocks().to_vec()))
        })
    }

    /// Checks that no relation and no index is called so.
    fn free_relation(&mut self, schema: &str, name: &str) -> Result<()> {
        if self.catalog().index(schema, name).is_some() {
            let message = format!("relation \"{name}\" already exists");
            return Err(Error::invalid("42P07", message));
        }
        self.free_name(schema, name).map(|_| ())
    }

    /// Forgets an index; blocks lose its bytes when they are next rewritten.
    ///
    /// # Errors
    /// 42704 if there is none, 2BP01 for that of a key; 3F000.
    pub fn drop_index(&mut self, schema: &str, name: &str) -> Result<()> {
        let missing = || Error::invalid("42704", format!("index \"{name}\" does not exist"));
        let (table, index) = self.catalog().index(schema, name).ok_or_else(missing)?;
        let mut keys = table.schema.keys.iter();
        let key = keys.find(|key| key.name == name && key.of_index);
        let alone =
            key.is_some_and(|key| self.catalog().referring(table.id, &key.columns).is_empty());
        if table.schema.is_of_key(index) && !alone {
            let message = format!(
                "index \"{name}\" cannot be dropped: constraint \"{name}\" of table \"{}\" needs it",
                table.name
            );
            return Err(Error::invalid("2BP01", message));
        }
        let table: TableId = table.id;
        self.change(table, |table| {
            let mut schema = (*table.schema).clone();
            schema.indexes.retain(|index| index.name != name);
            schema.keys.retain(|key| key.name != name);
            schema.prune_comments();
            Ok(table.with_schema(Arc::new(schema), table.blocks().to_vec()))
        })?;
        self.drop_unused(table)
    }
}

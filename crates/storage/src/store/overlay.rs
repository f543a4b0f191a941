//! Columns of many rows that get new values where the rows are.
//!
//! The transaction has all rows of the table to itself from then on until it
//! ends: writers that come are refused as if each row were locked. One that has
//! an older snapshot and asks later is refused by what the block remembers.

use super::edit::CatalogEdit;
use super::locks::Taken;
use super::rows::Stopped;
use super::transaction::Transaction;
use super::writer::NewBlock;
use super::{Catalog, Engine};
use crate::block::{self, Block, BlockInfo, file_name};
use crate::error::{Error, Result};
use crate::ids::{BlockId, TableId};
use crate::schema::{Layout, TableOptions, TableSchema};
use crate::table::Table;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use std::collections::HashMap;
use std::sync::Arc;

/// New values of some columns for all rows of a block.
#[derive(Debug)]
pub struct NewColumns {
    block: BlockId,
    /// The columns, as the block was written with them.
    columns: Vec<usize>,
    file: NewBlock,
}

impl Engine {
    /// Writes new values of `columns` of a table, for every row of one of its
    /// blocks. `None` if the block has no such column, or one that was declared
    /// otherwise.
    ///
    /// # Errors
    /// As [`super::BlockWriter::push`]; 42804 if there is not a value for each row.
    pub fn write_columns(
        &self,
        table: &Table,
        block: &Block,
        columns: &[usize],
        values: Vec<ArrayRef>,
    ) -> Result<Option<NewColumns>> {
        self.must_be_writable()?;
        if columns.iter().any(|c| *c >= table.schema.columns.len()) {
            return Ok(None);
        }
        let own = columns.iter().map(|column| block.own_column(*column));
        let Some(own) = own.collect::<Result<Option<Vec<usize>>>>()? else {
            return Ok(None);
        };
        let declared = |(column, own): (&usize, &usize)| {
            let now = table.schema.columns.get(*column);
            let then = block.own_schema().columns.get(*own);
            let both = now.zip(then);
            both.is_some_and(|(a, b)| (a.kind, a.nullable) == (b.kind, b.nullable))
        };
        if !columns.iter().zip(&own).all(declared) {
            return Ok(None);
        }
        let schema = Arc::new(TableSchema {
            columns: own
                .iter()
                .map(|column| block.own_schema().columns[*column].clone())
                .collect(),
            ..TableSchema::default()
        });
        // A NULL where none may be is found by the check, which says where.
        let declared = schema.arrow();
        let fields = declared.fields().iter();
        let fields = fields.map(|field| Field::clone(field).with_nullable(true));
        let arrow = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let batch = RecordBatch::try_new(arrow, values)?;
        super::writer::check_batch(&schema, &batch)?;
        if batch.num_rows() as u64 != block.rows() {
            let (given, rows) = (batch.num_rows(), block.rows());
            let message = format!("{given} values for the {rows} rows of a block");
            return Err(Error::invalid("42804", message));
        }
        let options = TableOptions {
            layout: Layout::Column,
            sort_by: None,
            slotted: false,
            ..table.options.clone()
        };
        let id = self.place.next_block();
        let bytes = block::build(id, &schema, &options, &batch)?;
        let info = BlockInfo {
            id,
            rows: batch.num_rows() as u64,
            bytes: bytes.total(),
            layout: Layout::Column,
            version: None,
            overlays: Vec::new(),
        };
        self.place.files.write(&file_name(id), &bytes.pieces())?;
        let (files, cache) = (self.place.files.clone(), self.place.cache.clone());
        let file = Block::new(info, schema, None, files, cache);
        Ok(Some(NewColumns {
            block: block.id(),
            columns: own,
            file: NewBlock::new(Arc::new(file), self.place.clone()),
        }))
    }
}

impl Transaction {
    /// Gives columns of all rows of some blocks new values. Rows that are deleted
    /// may get any. Columns of keys are refused by nobody here: that is up to the caller.
    /// `false`, and nothing has changed, if the tuple mover has written a block of
    /// the table anew since the transaction began.
    ///
    /// # Errors
    /// `Conflict` if another transaction has changed any row of the blocks since
    /// this one began, or a row of the table and has not ended.
    pub fn lay_over(&mut self, table: TableId, columns: Vec<NewColumns>) -> Result<bool> {
        let name = self.table(table)?.name.clone();
        let conflict = || Error::Conflict {
            message: format!("rows of table \"{name}\" were changed by another transaction"),
        };
        let savepoint = self.savepoint();
        self.hold(table);
        if !self.is_in_place(table) {
            return Ok(false);
        }
        match self.store.locks.take_whole(table, self.number) {
            Taken::Now => {
                self.whole.push(table);
                self.has_locked = true;
            }
            Taken::Before => {}
            Taken::ByAnother(holder) => {
                self.stopped = Some(Stopped::ByAnother(holder));
                return Err(conflict());
            }
            Taken::Changed => return Err(conflict()),
        }
        let began = self.base.timestamp();
        let laid = self.edit(|edit| {
            let seen = edit.catalog().table_by_id(table);
            let blocks = columns.iter().map(|new| seen?.block(new.block));
            let same = blocks
                .map(|block| block.is_some_and(|block| !block.deletes().changed_since(began)));
            match same.into_iter().all(|same| same) {
                true => edit.lay_over(table, columns),
                false => Err(conflict()),
            }
        });
        if laid.is_err() {
            self.roll_back_to(&savepoint);
        }
        laid.map(|()| true)
    }

    /// Whether the newest state has all blocks that the table had when the
    /// transaction began, or has no such table.
    fn is_in_place(&self, table: TableId) -> bool {
        let base = self.base.table_by_id(table);
        let latest = self.store.latest.lock();
        let now = latest.catalog.table_by_id(table);
        base.zip(now).is_none_or(|(base, now)| {
            let mut blocks = base.blocks().iter();
            blocks.all(|block| now.block(block.id()).is_some())
        })
    }
}

/// Columns of a block, and what has their new values.
type Overlay = (Vec<usize>, Arc<Block>);

impl CatalogEdit {
    fn lay_over(&mut self, table: TableId, columns: Vec<NewColumns>) -> Result<()> {
        let mut laid: HashMap<BlockId, Vec<Overlay>> = HashMap::new();
        for new in columns {
            let of_block = laid.entry(new.block).or_default();
            of_block.push((new.columns, new.file.handle()));
            self.added.push(new.file);
        }
        self.change(table, |table| {
            let blocks = table.blocks().iter();
            let blocks = blocks.map(|block| match laid.remove(&block.id()) {
                Some(overlays) => overlays.into_iter().fold(block.clone(), |below, one| {
                    let (columns, overlay) = one;
                    Arc::new(below.overlaid(columns, overlay))
                }),
                None => block.clone(),
            });
            let blocks = blocks.collect();
            Ok(table.with(&table.name, table.options.clone(), blocks))
        })
    }
}

/// Lets blocks that have other overlays than before remember when.
pub(super) fn note(before: &Catalog, tables: &[Arc<Table>], timestamp: u64) {
    for table in tables {
        let Some(known) = before.table_by_id(table.id) else {
            continue;
        };
        for block in table.blocks() {
            let old = known.block(block.id());
            if old.is_some_and(|old| old.info().overlays != block.info().overlays) {
                block.deletes().lay_over(timestamp);
            }
        }
    }
}

//! Transactions: changes that others see together or never.
//!
//! A transaction reads one snapshot and keeps its changes to itself: new rows
//! in fragments of its own, deleted rows as sets of bits, and a draft of the
//! catalog. A row that it deletes is locked at once, so that of two writers of
//! one row the later hears of it (40001) when it asks, not when it commits.

use super::carry::changed_tables;
use super::edit::CatalogEdit;
use super::locks::Taken;
use super::mover::MoverHold;
use super::snapshot::{Reads, Snapshot};
use super::writer::{NewBlock, check_batch};
use super::{Catalog, Store};
use crate::delta::{Fragment, KeyMap, OwnChanges, RowHome, TupleBatch, TupleShape};
use crate::error::{Error, Result};
use crate::ids::{RowId, RowPlace, TableId};
use crate::table::Table;
use arrow_array::RecordBatch;
use std::collections::HashMap;
use std::sync::Arc;

/// A transaction that has not ended; dropping it undoes it.
#[derive(Debug)]
pub struct Transaction {
    pub(super) store: Arc<Store>,
    number: u64,
    pub(super) base: Snapshot,
    pub(super) catalog: Arc<Catalog>,
    pub(super) added: Vec<NewBlock>,
    pub(super) tables: HashMap<TableId, Arc<OwnChanges>>,
    locked: Vec<(TableId, RowId)>,
    /// Tables whose blocks it exchanges.
    holds: Vec<MoverHold>,
    /// Number of the next row of its own.
    next_own: u64,
    /// The newest commit that keys were checked against.
    pub(super) checked_at: u64,
    /// Whether keys were checked at all.
    pub(super) checked: bool,
    /// Tables that it has read, if it is to be serialisable.
    pub(super) reads: Option<Arc<Reads>>,
}

/// A moment of a transaction that it can go back to.
#[derive(Debug)]
pub struct Savepoint {
    catalog: Arc<Catalog>,
    tables: HashMap<TableId, (Arc<OwnChanges>, usize)>,
    added: usize,
    locked: usize,
}

fn conflict(table: &Table) -> Error {
    Error::Conflict {
        message: format!(
            "a row of table \"{}\" was changed by another transaction",
            table.name
        ),
    }
}

impl Transaction {
    pub(super) fn new(store: Arc<Store>, number: u64, base: Snapshot) -> Transaction {
        Transaction {
            catalog: base.catalog().clone(),
            checked_at: base.timestamp(),
            store,
            number,
            base,
            added: Vec::new(),
            tables: HashMap::new(),
            locked: Vec::new(),
            holds: Vec::new(),
            next_own: 1,
            reads: None,
            checked: false,
        }
    }

    /// Makes it serialisable, before its first statement: it commits only if no
    /// table that it read was changed since it began (optimistic concurrency
    /// control with backward validation), as if it had run at that moment.
    pub fn make_serializable(&mut self) {
        self.reads.get_or_insert_default();
    }

    /// What its next statement sees.
    pub fn snapshot(&self) -> Snapshot {
        let own = (self.tables.clone(), self.next_own);
        self.base
            .with_own(self.catalog.clone(), own, self.reads.clone())
    }

    /// Whether it has changed nothing.
    pub fn is_unchanged(&self) -> bool {
        self.tables.is_empty() && Arc::ptr_eq(&self.catalog, self.base.catalog())
    }

    /// Changes the catalog, for this transaction only until it commits.
    ///
    /// # Errors
    /// Those of `edit`, which then has changed nothing.
    pub fn edit<T>(&mut self, edit: impl FnOnce(&mut CatalogEdit) -> Result<T>) -> Result<T> {
        let mut draft = CatalogEdit::new((*self.catalog).clone(), self.store.next_table.clone());
        let answer = edit(&mut draft)?;
        if draft.changed {
            let catalog = Arc::new(draft.catalog);
            self.hold_changed(&catalog);
            self.catalog = catalog;
            self.added.extend(draft.added);
        }
        Ok(answer)
    }

    /// Keeps the tuple mover away from tables that it has other plans for.
    fn hold_changed(&mut self, draft: &Catalog) {
        for table in changed_tables(draft, &self.catalog) {
            if !self.holds.iter().any(|hold| hold.table() == table.id) {
                self.holds.push(self.store.hold_mover(table.id));
            }
        }
    }

    pub(super) fn table(&self, id: TableId) -> Result<Arc<Table>> {
        self.catalog
            .table_by_id(id)
            .cloned()
            .ok_or_else(|| Error::Conflict {
                message: "the table was dropped meanwhile".into(),
            })
    }

    fn own(&mut self, table: &Table) -> &mut OwnChanges {
        let own = self.tables.entry(table.id).or_insert_with(|| {
            Arc::new(OwnChanges {
                maps: Arc::new(KeyMap::all_of(&table.schema)),
                ..OwnChanges::default()
            })
        });
        Arc::make_mut(own)
    }

    /// Adds rows; returns the number of the first among its own.
    ///
    /// # Errors
    /// 42804, 23502 or 22003 for rows that the table cannot hold, 54000 for a row
    /// of over 2 GiB. Keys are checked by [`Transaction::check_keys`].
    pub fn insert(&mut self, table: TableId, rows: &RecordBatch) -> Result<u64> {
        let table = self.table(table)?;
        check_batch(&table.schema, rows)?;
        let shape = TupleShape::of(&table.schema);
        let tuples = TupleBatch::of(&table.schema, &shape, rows)?;
        let first = self.next_own;
        self.next_own += tuples.len() as u64;
        let own = self.own(&table);
        for (number, tuple) in (first..).zip(tuples.iter()) {
            // A fragment's rows are numbered one after the other.
            let fits = |fragment: &Arc<Fragment>| {
                fragment.schema().columns == table.schema.columns
                    && !fragment.is_full()
                    && fragment.first() + fragment.len() as u64 == number
            };
            if !own.fragments.last().is_some_and(fits) {
                let fragment = Fragment::new(number, table.schema.clone());
                own.fragments.push(Arc::new(fragment));
            }
            if let Some(fragment) = own.fragments.last() {
                fragment.push(tuple, number);
            }
            own.maps
                .iter()
                .for_each(|map| map.insert(&shape, tuple, number));
        }
        Ok(first)
    }

    /// Deletes rows; returns how many it had not deleted before.
    ///
    /// # Errors
    /// `Conflict` if another transaction changed one of them.
    pub fn delete(&mut self, table: TableId, rows: &[RowId]) -> Result<u64> {
        let table = self.table(table)?;
        let mut deleted = 0;
        for row in rows {
            let (home, place) = match row.place() {
                RowPlace::Own(number) => {
                    let own = self.own(&table);
                    let fragment = own
                        .fragments
                        .iter()
                        .rfind(|fragment| fragment.first() <= number);
                    let first = fragment.ok_or_else(|| conflict(&table))?.first();
                    (RowHome::Own(first), (number - first) as u32)
                }
                RowPlace::Block(block, place) => {
                    self.lock(&table, *row)?;
                    (RowHome::Block(block), place)
                }
                RowPlace::Delta(number) => {
                    self.lock(&table, *row)?;
                    let (fragment, place) =
                        table.delta().find(number).ok_or_else(|| conflict(&table))?;
                    (RowHome::Fragment(fragment.first()), place)
                }
            };
            let own = self.own(&table);
            deleted += u64::from(own.deleted.entry(home).or_default().insert(place));
        }
        Ok(deleted)
    }

    fn lock(&mut self, table: &Table, row: RowId) -> Result<()> {
        match self.store.locks.take(table, row, self.number) {
            Taken::Before => Ok(()),
            Taken::ByAnother => Err(conflict(table)),
            Taken::Now { deleted } => {
                self.locked.push((table.id, row));
                if deleted {
                    Err(conflict(table))
                } else {
                    Ok(())
                }
            }
        }
    }

    /// A moment to go back to.
    pub fn savepoint(&self) -> Savepoint {
        let tables = self.tables.iter().map(|(id, own)| {
            let rows = own.fragments.last().map_or(0, |fragment| fragment.len());
            (*id, (own.clone(), rows))
        });
        Savepoint {
            catalog: self.catalog.clone(),
            tables: tables.collect(),
            added: self.added.len(),
            locked: self.locked.len(),
        }
    }

    /// Undoes everything since `savepoint`, which stays. Rows locked since then
    /// are let go.
    pub fn roll_back_to(&mut self, savepoint: &Savepoint) {
        self.catalog = savepoint.catalog.clone();
        self.added.truncate(savepoint.added);
        let tables = savepoint.tables.iter().map(|(id, (own, rows))| {
            // Rows after those are in the same fragment, which is shared.
            if let Some(fragment) = own.fragments.last() {
                fragment.truncate(*rows);
            }
            (*id, own.clone())
        });
        self.tables = tables.collect();
        let free = self.locked.split_off(savepoint.locked);
        self.store.locks.release(&free);
    }

    /// Makes the changes durable and visible, all of them or none.
    ///
    /// # Errors
    /// `Conflict` if others changed the same things first, 23505 for a key that
    /// another transaction took, `Full` or `Io`.
    pub fn commit(mut self) -> Result<()> {
        if self.is_unchanged() {
            return Ok(());
        }
        let store = self.store.clone();
        let changed = store.commit_transaction(&mut self)?;
        // Its rows are free for others while the mover is thought of.
        drop(self);
        store.after_commit(&changed);
        Ok(())
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.store.locks.release(&self.locked);
    }
}

/// Whether a committed transaction deleted the row, or it is not there any more.
pub(super) fn is_deleted(table: &Table, row: RowId) -> bool {
    match row.place() {
        RowPlace::Block(id, row) => {
            let block = table.block(id);
            block.is_none_or(|block| block.deletes().contains(row))
        }
        RowPlace::Delta(number) => {
            let found = table.delta().find(number);
            found.is_none_or(|(fragment, row)| fragment.deletes.contains(row))
        }
        RowPlace::Own(_) => false,
    }
}

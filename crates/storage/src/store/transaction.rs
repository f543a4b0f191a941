//! Transactions: changes that others see together or never.
//!
//! A transaction reads one snapshot and keeps its changes to itself: new rows
//! in fragments of its own, deleted rows as sets of bits, and a draft of the
//! catalog. A row that it deletes is locked at once, so that of two writers of
//! one row the later hears of it when it asks, not when it commits: it may wait
//! for the other, and [`Transaction::advance`] to what that one has left.

use super::carry::changed_tables;
use super::edit::CatalogEdit;
use super::locks::Locked;
use super::mover::MoverHold;
use super::references::Deferred;
use super::rows::Stopped;
use super::secured::Secured;
use super::snapshot::{Reads, Snapshot};
use super::writer::NewBlock;
use super::{Catalog, Store};
use crate::delta::{KeyMap, OwnChanges, ReadView};
use crate::error::{Error, Result};
use crate::ids::{IdMap, RowId, RowPlace, TableId};
use crate::table::Table;
use std::collections::HashSet;
use std::sync::Arc;

/// A transaction that has not ended; dropping it undoes it.
#[derive(Debug)]
pub struct Transaction {
    pub(super) store: Arc<Store>,
    pub(super) number: u64,
    pub(super) base: Snapshot,
    pub(super) catalog: Arc<Catalog>,
    pub(super) added: Vec<NewBlock>,
    pub(super) tables: IdMap<TableId, Arc<OwnChanges>>,
    pub(super) locked: Vec<(TableId, RowId)>,
    /// Tables of which it has locked all rows.
    pub(super) whole: Vec<TableId>,
    /// Keys that it has added, by their hashes.
    pub(super) added_keys: Vec<(TableId, u64)>,
    /// Keys that it refers to or takes away, by their hashes.
    pub(super) referred: Vec<(TableId, u64)>,
    /// Tables whose blocks it exchanges.
    holds: Vec<MoverHold>,
    /// Number of the next row of its own.
    pub(super) next_own: u64,
    /// The newest commit that keys were checked against.
    pub(super) checked_at: u64,
    /// Whether keys were checked at all.
    pub(super) checked: bool,
    /// Whether its commit need not wait until it is durable.
    pub(super) relaxed: bool,
    /// Which constraints are checked when it ends.
    pub(super) deferred: Deferred,
    /// Whether some are left to be checked then.
    pub(super) unchecked: bool,
    /// Whether keys that were checked stay right until it ends.
    pub(super) secured: Secured,
    /// Tables that it has read, if it is to be serialisable.
    pub(super) reads: Option<Arc<Reads>>,
    /// Tables as they were when it began, and as the tuple mover has left them since.
    pub(super) renewed: Vec<(Arc<Table>, Arc<Table>)>,
    /// Tables whose foreign keys were left alone for a while.
    pub(super) unreferenced: HashSet<TableId>,
    /// Why it could not lock the last row that it could not lock.
    pub(super) stopped: Option<Stopped>,
    /// Whether it has ever locked anything.
    pub(super) has_locked: bool,
}

/// A moment of a transaction that it can go back to.
#[derive(Debug)]
pub struct Savepoint {
    catalog: Arc<Catalog>,
    /// What the transaction read then. Rows that it has changed are named as in it.
    base: Snapshot,
    tables: IdMap<TableId, (Arc<OwnChanges>, usize)>,
    added: usize,
    locked: usize,
    whole: usize,
    added_keys: usize,
    referred: usize,
    deferred: Deferred,
    unchecked: bool,
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
            tables: IdMap::default(),
            locked: Vec::new(),
            whole: Vec::new(),
            added_keys: Vec::new(),
            referred: Vec::new(),
            holds: Vec::new(),
            next_own: 1,
            reads: None,
            relaxed: false,
            checked: false,
            deferred: Deferred::default(),
            unchecked: false,
            secured: Secured::default(),
            renewed: Vec::new(),
            unreferenced: HashSet::new(),
            stopped: None,
            has_locked: false,
        }
    }

    /// Makes it serialisable, before its first statement: it commits only if no
    /// table that it read was changed since it began (optimistic concurrency
    /// control with backward validation), as if it had run at that moment.
    pub fn make_serializable(&mut self) {
        self.reads.get_or_insert_default();
    }

    /// Lets its commit return before it is durable, if it changes rows alone: a
    /// power loss within a tenth of a second may take it, and then all later ones.
    pub fn relax(&mut self) {
        self.relaxed = true;
    }

    /// The database as the next statement sees it, for those who only plan it: the tables that they
    /// look at are not noted as read.
    pub fn glance(&self) -> Snapshot {
        let own = (self.tables.clone(), self.next_own);
        self.base.with_own(self.catalog.clone(), own, None)
    }

    /// What its next statement sees.
    pub fn snapshot(&self) -> Snapshot {
        let own = (self.tables.clone(), self.next_own);
        self.base
            .with_own(self.catalog.clone(), own, self.reads.clone())
    }

    /// What its next statement sees of a table. Dropped before the next change,
    /// or else that copies what the view refers to.
    pub fn read_view(&self, table: TableId) -> ReadView {
        if let Some(reads) = &self.reads {
            reads.lock().insert(table);
        }
        ReadView {
            own: self.tables.get(&table).cloned(),
            own_before: self.next_own,
            ..ReadView::at(self.base.timestamp())
        }
    }

    /// The catalog, with its own changes.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Its number, which no other has while the database is open.
    pub fn number(&self) -> u64 {
        self.number
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
            let mut catalog = draft.catalog;
            catalog.settle_definitions(&self.catalog);
            let catalog = Arc::new(catalog);
            self.hold_changed(&catalog);
            self.catalog = catalog;
            self.added.extend(draft.added);
        }
        Ok(answer)
    }

    /// Keeps the tuple mover away from tables that it has other plans for.
    fn hold_changed(&mut self, draft: &Catalog) {
        for table in changed_tables(draft, &self.catalog) {
            if table.schema.unreferenced {
                self.unreferenced.insert(table.id);
            }
            self.hold(table.id);
        }
    }

    /// Keeps the tuple mover away from a table until the transaction ends.
    pub(super) fn hold(&mut self, table: TableId) {
        if !self.holds.iter().any(|hold| hold.table() == table) {
            self.holds.push(self.store.hold_mover(table));
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

    pub(super) fn own(&mut self, table: &Table) -> &mut OwnChanges {
        let own = self.tables.entry(table.id).or_insert_with(|| {
            Arc::new(OwnChanges {
                maps: Arc::new(KeyMap::all_of(&table.schema)),
                ..OwnChanges::default()
            })
        });
        Arc::make_mut(own)
    }

    /// A moment to go back to.
    pub fn savepoint(&self) -> Savepoint {
        let tables = self.tables.iter().map(|(id, own)| {
            let rows = own.fragments.last().map_or(0, |fragment| fragment.len());
            (*id, (own.clone(), rows))
        });
        Savepoint {
            catalog: self.catalog.clone(),
            base: self.base.clone(),
            tables: tables.collect(),
            added: self.added.len(),
            locked: self.locked.len(),
            whole: self.whole.len(),
            added_keys: self.added_keys.len(),
            referred: self.referred.len(),
            deferred: self.deferred.clone(),
            unchecked: self.unchecked,
        }
    }

    /// Undoes everything since `savepoint`, which stays. Rows locked since then
    /// are let go.
    pub fn roll_back_to(&mut self, savepoint: &Savepoint) {
        let now = self.base.timestamp();
        let advanced = savepoint.base.timestamp() < now;
        let plain = Arc::ptr_eq(&savepoint.catalog, savepoint.base.catalog());
        self.catalog = match advanced && plain {
            true => self.base.catalog().clone(),
            false => savepoint.catalog.clone(),
        };
        self.added.truncate(savepoint.added);
        self.deferred.clone_from(&savepoint.deferred);
        self.unchecked = savepoint.unchecked;
        let mut moved = HashSet::new();
        for (before, now) in &self.renewed {
            let known = self.catalog.table_by_id(before.id);
            if known.is_some_and(|known| Arc::ptr_eq(known, now)) {
                moved.insert(before.id);
                continue;
            }
            if let Some(renewed) = known.and_then(|known| known.over(before, now)) {
                self.catalog = Arc::new(self.catalog.with_table(&renewed));
                moved.insert(before.id);
            }
        }
        let locks = &self.store.locks;
        let tables = savepoint.tables.iter().map(|(id, (own, rows))| {
            // Rows after those are in the same fragment, which is shared.
            if let Some(fragment) = own.fragments.last() {
                fragment.truncate(*rows);
            }
            let own = match moved.contains(id) {
                true => locks.renamed(*id, own),
                false if advanced => locks.renamed_until(*id, own, now),
                false => own.clone(),
            };
            (*id, own)
        });
        self.tables = tables.collect();
        let rows = self.locked.split_off(savepoint.locked);
        let tables = self.whole.split_off(savepoint.whole);
        let keys = self.added_keys.split_off(savepoint.added_keys);
        let referred = self.referred.split_off(savepoint.referred);
        let locked = Locked {
            rows: &rows,
            tables: &tables,
            keys: &keys,
            referred: &referred,
        };
        self.store.locks.release(self.number, locked, false);
    }

    /// Takes back all that it has done, and lets go all that it has locked: nothing of it will be
    /// committed.
    pub fn give_up(&mut self) {
        self.catalog = self.base.catalog().clone();
        self.added.clear();
        self.tables.clear();
        self.holds.clear();
        self.renewed.clear();
        self.unreferenced.clear();
        self.deferred = Deferred::default();
        self.unchecked = false;
        self.let_go();
    }

    /// Lets go all that it has locked.
    fn let_go(&mut self) {
        // Most have locked nothing: they do not ask for the lock of the locks.
        if !std::mem::take(&mut self.has_locked) {
            return;
        }
        let locked = Locked {
            rows: &std::mem::take(&mut self.locked),
            tables: &std::mem::take(&mut self.whole),
            keys: &std::mem::take(&mut self.added_keys),
            referred: &std::mem::take(&mut self.referred),
        };
        self.store.locks.release(self.number, locked, true);
    }

    /// Lets its next statement see what others have committed by now. One that is serialisable and
    /// has read a table, or has changed the catalog or added blocks, goes on to see what it saw. Whether there is
    /// anything new.
    pub fn advance(&mut self) -> bool {
        let is_plain = Arc::ptr_eq(&self.catalog, self.base.catalog());
        let has_read = |reads: &Arc<Reads>| !reads.lock().is_empty();
        let has_read = self.reads.as_ref().is_some_and(has_read);
        if has_read || !is_plain || !self.renewed.is_empty() {
            return false;
        }
        let base = self.store.snapshot();
        let now = base.timestamp();
        // Most commits define nothing.
        let is_defined_alike = Arc::ptr_eq(base.definitions(), self.base.definitions());
        let fits = |id: &TableId, own: &OwnChanges| {
            is_defined_alike
                || base.table_by_id(*id).is_some_and(|table| {
                    let mut fragments = own.fragments.iter();
                    fragments.all(|fragment| fragment.schema().same_rows(&table.schema))
                })
        };
        // Rows of tables that others have altered are refused when it commits.
        if now == self.base.timestamp() || !self.tables.iter().all(|(id, own)| fits(id, own)) {
            return false;
        }
        // The old snapshot keeps the hops until its rows have their new names.
        let locks = &self.store.locks;
        locks.names_at(now, &mut self.locked);
        for (id, own) in &mut self.tables {
            *own = locks.renamed_until(*id, own, now);
        }
        self.catalog = base.catalog().clone();
        self.base = base;
        true
    }

    /// Makes the changes durable and visible, all of them or none.
    ///
    /// # Errors
    /// `Conflict` if others changed the same things first, 23505 for a key that
    /// another transaction took, `Full` or `Io`.
    pub fn commit(self) -> Result<()> {
        if self.is_unchanged() {
            return Ok(());
        }
        let store = self.store.clone();
        store.commit_transaction(self)?.finish()
    }

    /// As [`Transaction::commit`]; many that wait for the disk need few threads.
    /// Given up while it waits, it is committed all the same.
    ///
    /// # Errors
    /// As [`Transaction::commit`].
    pub async fn commit_async(self) -> Result<()> {
        if self.is_unchanged() {
            return Ok(());
        }
        let store = self.store.clone();
        store.commit_transaction(self)?.finish_async().await
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.let_go();
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

//! Committing: validate, log, install, wait until durable, show.
//!
//! ```text
//! one at a time:  merge the catalog ─ check rows and keys ─ append to the log ─ install
//! side by side:   wait until the log is durable (one sync for many) ─ show
//! ```
//!
//! What is installed but not shown has a timestamp that no snapshot reaches, so
//! it can be in fragments, deletes and `Latest` already. Snapshots are shown in the
//! order of timestamps, after the sync that made them durable.

use super::carry::{carried_deletes, carry_deltas, check_added_blocks, left};
use super::edit::CatalogEdit;
use super::log::{self, CatalogChange, Part};
use super::merge::merge;
use super::mover;
use super::references;
use super::snapshot::Snapshot;
use super::transaction::Transaction;
use super::writer::NewBlock;
use super::{Catalog, Store, ids_of};
use crate::block::Block;
use crate::delta::{LATEST, OwnChanges, ReadView, RowHome, TupleBatch};
use crate::error::{Error, Result};
use crate::ids::{BlockId, RowId, TableId};
use crate::table::Table;
use parking_lot::MutexGuard;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// A log of more bytes is followed by a checkpoint.
const LOG_BYTES: u64 = 64 << 20;

/// The newest state, shown or not; its lock makes commits come one at a time.
#[derive(Debug)]
pub(super) struct Latest {
    pub catalog: Arc<Catalog>,
    pub timestamp: u64,
    /// Blocks that left the catalog, until no snapshot reads them.
    pub retired: Vec<(BlockId, Weak<()>)>,
}

/// What snapshots show, and what follows once it is durable.
#[derive(Debug)]
pub(super) struct Shown {
    pub catalog: Arc<Catalog>,
    pub timestamp: u64,
    pub pending: VecDeque<(u64, Arc<Catalog>)>,
}

/// What one commit changes.
#[derive(Debug, Default)]
pub(super) struct Change {
    catalog: Option<Catalog>,
    added: Vec<NewBlock>,
    rows: Vec<(TableId, TupleBatch, Vec<RowId>)>,
}

impl Change {
    /// One table exchanged for what `exchange` makes of it and of new blocks.
    pub fn of(
        latest: &Latest,
        added: Vec<NewBlock>,
        exchange: impl Fn(&Table, Vec<Arc<Block>>) -> Option<Table>,
    ) -> Change {
        let mut catalog = (*latest.catalog).clone();
        let tables = catalog.schemas.values_mut();
        for table in tables.flat_map(|entry| entry.tables.values_mut()) {
            let blocks = added.iter().map(NewBlock::handle).collect();
            if let Some(exchanged) = exchange(table, blocks) {
                *table = Arc::new(exchanged);
            }
        }
        Change {
            catalog: Some(catalog),
            added,
            rows: Vec::new(),
        }
    }
}

impl Store {
    /// Begins a transaction on what is committed now.
    ///
    /// # Errors
    /// 25006 if the database is open read-only.
    pub fn begin(self: &Arc<Self>) -> Result<Transaction> {
        self.must_be_writable()?;
        let number = self.transactions.fetch_add(1, Ordering::Relaxed);
        Ok(Transaction::new(self.clone(), number, self.snapshot()))
    }

    /// The database as it is now; later changes do not show in it.
    pub fn snapshot(&self) -> Snapshot {
        // A reader that cannot go on sees what it saw; `refresh` says why.
        let _ = self.refresh();
        self.active.snapshot(|| {
            let shown = self.shown.read();
            (shown.catalog.clone(), shown.timestamp)
        })
    }

    /// Applies `edit` and publishes the result: all of it, durably, or nothing.
    ///
    /// # Errors
    /// Those of `edit`; 25006 if read-only; `Full` or `Io`.
    pub fn commit<T>(&self, edit: impl FnOnce(&mut CatalogEdit) -> Result<T>) -> Result<T> {
        self.must_be_writable()?;
        let mut latest = self.latest.lock();
        let mut draft = CatalogEdit::new((*latest.catalog).clone(), self.next_table.clone());
        let answer = edit(&mut draft)?;
        if !draft.changed {
            return Ok(answer);
        }
        let change = Change {
            catalog: Some(draft.catalog),
            added: draft.added,
            rows: Vec::new(),
        };
        let timestamp = self.install(&mut latest, change)?;
        self.finish(latest, timestamp)?;
        Ok(answer)
    }

    pub(super) fn commit_transaction(&self, transaction: &mut Transaction) -> Result<()> {
        let mut latest = self.latest.lock();
        let (base, draft) = (transaction.base.catalog(), &transaction.catalog);
        let catalog = if Arc::ptr_eq(base, draft) {
            None
        } else if Arc::ptr_eq(base, &latest.catalog) {
            Some((**draft).clone())
        } else {
            Some(merge(base, draft, &latest.catalog)?)
        };
        let catalog = match catalog {
            // Rows and keys are checked against what was committed meanwhile, too.
            Some(mut catalog) => {
                carry_deltas(&latest.catalog, &mut catalog)?;
                Some(catalog)
            }
            None => None,
        };
        let now = catalog.as_ref().unwrap_or(&latest.catalog);
        if latest.timestamp != transaction.base.timestamp() {
            check_added_blocks(base, draft)?;
        }
        let mut rows = Vec::new();
        for (id, own) in &transaction.tables {
            let table = now.table_by_id(*id).ok_or_else(|| Error::Conflict {
                message: "a table was dropped by another transaction".into(),
            })?;
            let (inserted, deleted) = (own_rows(table, own)?, own_deletes(table, own)?);
            // Nothing was committed since keys were checked: then they are right,
            // but for blocks of the transaction's own.
            if catalog.is_some() || latest.timestamp != transaction.checked_at {
                transaction.check_own_keys(table, own)?;
                references::check(&[now], &transaction.tables, table, 0)?;
            }
            if !inserted.is_empty() || !deleted.is_empty() {
                rows.push((*id, inserted, deleted));
            }
        }
        let change = Change {
            catalog,
            added: std::mem::take(&mut transaction.added),
            rows,
        };
        let timestamp = self.install(&mut latest, change)?;
        let due = transaction.tables.keys().copied().filter(|id| {
            let table = latest.catalog.table_by_id(*id);
            table.is_some_and(|table| mover::is_due(table))
        });
        let due: Vec<TableId> = due.collect();
        self.finish(latest, timestamp)?;
        // The commit stands; a move that fails is made after a later one.
        due.into_iter().for_each(|id| drop(self.move_delta(id)));
        if self.wal.as_ref().is_some_and(|wal| wal.bytes() > LOG_BYTES) {
            let _ = self.checkpoint();
        }
        Ok(())
    }

    /// Logs a change that holds and makes it part of the newest state.
    pub(super) fn install(&self, latest: &mut Latest, change: Change) -> Result<u64> {
        let timestamp = latest.timestamp + 1;
        let before = latest.catalog.clone();
        let catalog = match change.catalog {
            None => before.clone(),
            Some(mut catalog) => {
                catalog.version += 1;
                carry_deltas(&before, &mut catalog)?;
                Arc::new(catalog)
            }
        };
        let changed = !Arc::ptr_eq(&catalog, &before);
        let mut parts = Vec::with_capacity(change.rows.len());
        for (table, inserted, deleted) in change.rows {
            let table = catalog.table_by_id(table);
            let table = table.ok_or_else(|| Error::corrupt("a table without entry"))?;
            parts.push(Part {
                table: table.id,
                first: table.delta().next(),
                inserted,
                deleted,
            });
        }
        let mut added = Vec::new();
        if changed {
            let named = ids_of(&catalog);
            let used = |block: &NewBlock| named.contains(&block.handle().id());
            // Blocks that the catalog does not name go away here.
            let (used, _) = change.added.into_iter().partition::<Vec<_>, _>(used);
            if !used.is_empty() {
                self.place.files.sync_directory("blocks")?;
            }
            added = used;
        }
        self.append_to_log(timestamp, changed.then_some((&*before, &*catalog)), &parts)?;
        added.into_iter().for_each(NewBlock::keep);
        let oldest = self.active.oldest(latest.timestamp);
        for part in &parts {
            if let Some(table) = catalog.table_by_id(part.table) {
                log::mark(table, &part.deleted, timestamp, oldest);
                table.delta().append(part.inserted.iter(), timestamp);
            }
        }
        if changed {
            let named = ids_of(&catalog);
            latest.retired.extend(left(&before, &named));
        }
        (latest.catalog, latest.timestamp) = (catalog.clone(), timestamp);
        self.shown.write().pending.push_back((timestamp, catalog));
        Ok(timestamp)
    }

    fn append_to_log(
        &self,
        timestamp: u64,
        catalogs: Option<(&Catalog, &Catalog)>,
        parts: &[Part],
    ) -> Result<()> {
        let Some(wal) = &self.wal else {
            return Ok(());
        };
        let next_block = self.place.next_number();
        let change =
            catalogs.map(|(before, after)| CatalogChange::between(before, after, next_block));
        let mut carried = Vec::new();
        if let Some((before, after)) = catalogs {
            carried = carried_deletes(before, after);
        }
        let all: Vec<&Part> = parts.iter().chain(&carried).collect();
        let payload = log::encode(change.as_ref(), &all)?;
        wal.reserve(payload.len())?;
        wal.append(timestamp, &payload)
    }

    /// Waits until a commit is durable and shows it.
    pub(super) fn finish(&self, latest: MutexGuard<'_, Latest>, timestamp: u64) -> Result<()> {
        drop(latest);
        if let Some(wal) = &self.wal {
            wal.flush(timestamp)?;
        }
        let mut shown = self.shown.write();
        let mut replaced = None;
        while shown
            .pending
            .front()
            .is_some_and(|(when, _)| *when <= timestamp)
        {
            if let Some((when, catalog)) = shown.pending.pop_front() {
                shown.timestamp = when;
                if !Arc::ptr_eq(&shown.catalog, &catalog) {
                    replaced = Some(std::mem::replace(&mut shown.catalog, catalog));
                }
            }
        }
        drop(shown);
        if replaced.is_some() {
            drop(replaced);
            self.discard_retired(&mut self.latest.lock().retired);
        }
        Ok(())
    }
}

/// A transaction's new rows of a table.
fn own_rows(table: &Table, own: &OwnChanges) -> Result<TupleBatch> {
    let mut rows = TupleBatch::default();
    for fragment in &own.fragments {
        if fragment.schema().columns != table.schema.columns {
            return Err(Error::Conflict {
                message: format!(
                    "the columns of table \"{}\" were changed meanwhile",
                    table.name
                ),
            });
        }
        let deleted = own.deleted.get(&RowHome::Own(fragment.first()));
        let tuples = fragment.read();
        for row in fragment.visible(LATEST, deleted) {
            rows.push(tuples.tuple(row));
        }
    }
    Ok(rows)
}

/// The committed rows that a transaction deleted, none of which others did.
fn own_deletes(table: &Table, own: &OwnChanges) -> Result<Vec<RowId>> {
    let conflict = || Error::Conflict {
        message: format!(
            "a row of table \"{}\" was changed by another transaction",
            table.name
        ),
    };
    let mut rows = Vec::new();
    for (home, bits) in &own.deleted {
        let taken = match home {
            RowHome::Own(_) => continue,
            RowHome::Block(id) => {
                let block = table.block(*id).ok_or_else(conflict)?;
                bits.rows().any(|row| block.deletes().contains(row))
            }
            RowHome::Fragment(first) => {
                let (fragment, _) = table.delta().find(*first).ok_or_else(conflict)?;
                bits.rows().any(|row| fragment.deletes.contains(row))
            }
        };
        if taken {
            return Err(conflict());
        }
        rows.extend(bits.rows().map(|row| home.row(row)));
    }
    rows.sort_unstable();
    Ok(rows)
}

impl Transaction {
    /// Checks the keys of rows that it added since row `first` of its own against
    /// everything committed, and against each other; and what refers to rows that
    /// it changed, or they refer to.
    ///
    /// # Errors
    /// 23505 or 23503 naming constraint, columns and values.
    pub fn check_keys(&mut self, table: TableId, first: u64) -> Result<()> {
        let (latest, timestamp) = {
            let latest = self.store.latest.lock();
            (latest.catalog.clone(), latest.timestamp)
        };
        // A table of its own is in no catalog but its own.
        let known = latest.table_by_id(table).cloned();
        let table = known.map_or_else(|| self.table(table), Ok)?;
        if let Some(own) = self.tables.get(&table.id) {
            // A deleted row that was moved meanwhile would look like another.
            own_deletes(&table, own)?;
            super::keys::check(&table, &latest_view(own), own, first)?;
            references::check(&[&latest, &self.catalog], &self.tables, &table, first)?;
            let draft = self.table(table.id)?;
            if !Arc::ptr_eq(&draft, &table) {
                super::keys::check(&draft, &latest_view(own), own, first)?;
            }
        }
        // Rows checked earlier were checked against less.
        if self.is_first_check(first) {
            self.checked_at = timestamp;
        }
        Ok(())
    }

    fn check_own_keys(&self, table: &Table, own: &Arc<OwnChanges>) -> Result<()> {
        super::keys::check(table, &latest_view(own), own, 0)
    }
}

/// Everything committed, shown or not, and one's own rows.
fn latest_view(own: &Arc<OwnChanges>) -> ReadView {
    ReadView {
        timestamp: LATEST,
        own: Some(own.clone()),
        own_before: u64::MAX,
    }
}

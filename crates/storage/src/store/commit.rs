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

use super::carry::{self, carried_deletes, carry_deltas, left};
use super::check::own_rows;
use super::edit::CatalogEdit;
use super::locks::Hop;
use super::log::{self, CatalogChange, Part};
use super::merge::merge;
use super::mover::Changed;
use super::overlay;
use super::references::{self, Changes};
use super::show::{Committed, Unseen};
use super::snapshot::Snapshot;
use super::transaction::Transaction;
use super::writer::NewBlock;
use super::{Catalog, Engine, Store, ids_of};
use crate::delta::{LATEST, TupleBatch};
use crate::error::{Error, Result};
use crate::ids::{BlockId, RowId, RowPlace, TableId};
use crate::table::Table;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// A checkpoint follows a log of more bytes than these, and than twice the last checkpoint's:
/// the next one writes as many again.
const LOG_BYTES: u64 = 64 << 20;

/// The newest state, shown or not; its lock makes commits come one at a time.
#[derive(Debug)]
pub(super) struct Latest {
    pub catalog: Arc<Catalog>,
    pub timestamp: u64,
    /// Blocks that left the catalog, until no snapshot reads them.
    pub retired: Vec<(BlockId, Weak<()>)>,
    /// The last commit that changed a table other than by moving its rows.
    pub changed: HashMap<TableId, u64>,
    /// The last commit that has to be durable before anybody sees it.
    pub full: u64,
    /// The last commit of rows whose keys were not locked, or that defined something.
    pub unlocked: u64,
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
    /// A table whose rows are the same in other places.
    moved: Option<(TableId, Vec<Hop>)>,
}

impl Change {
    /// A table whose rows have moved, by `hops`, into blocks that were `added`.
    pub fn moved(latest: &Latest, table: Table, added: Vec<NewBlock>, hops: Vec<Hop>) -> Change {
        let id = table.id;
        let catalog = latest.catalog.with_table(&Arc::new(table));
        Change {
            catalog: Some(catalog),
            added,
            rows: Vec::new(),
            moved: Some((id, hops)),
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
        let number = self.next_transaction();
        Ok(Transaction::new(self.clone(), number, self.snapshot()))
    }

    /// Takes the number of a transaction, which no other has while the database is open.
    pub fn next_transaction(&self) -> u64 {
        self.transactions.fetch_add(1, Ordering::Relaxed)
    }

    /// The number that the next transaction will have.
    pub fn coming_transaction(&self) -> u64 {
        self.transactions.load(Ordering::Relaxed)
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
            ..Change::default()
        };
        let before = latest.catalog.clone();
        let timestamp = self.install(&mut latest, change)?;
        latest.unlocked = timestamp;
        let changed = changed_blocks(&before, &latest.catalog);
        drop(latest);
        self.finish(Unseen::durable(timestamp))?;
        self.after_commit(&changed);
        Ok(answer)
    }

    /// Puts a transaction into the log; it is seen when that is [`Committed::finish`]ed.
    pub(super) fn commit_transaction(
        self: &Arc<Self>,
        mut transaction: Transaction,
    ) -> Result<Committed> {
        let mut latest = self.latest_soon();
        let (base, draft) = (transaction.base.catalog(), &transaction.catalog);
        let began = transaction.base.timestamp();
        let changed = |table: TableId| latest.changed.get(&table).is_some_and(|last| *last > began);
        if let Some(reads) = &transaction.reads {
            let mut reads = reads.lock().clone().into_iter();
            if let Some(table) = reads.find(|table| changed(*table)) {
                return Err(unserializable(latest.catalog.table_by_id(table)));
            }
        }
        let catalog = if Arc::ptr_eq(base, draft) {
            None
        } else if Arc::ptr_eq(base, &latest.catalog) {
            Some((**draft).clone())
        } else {
            Some(merge(base, draft, &latest.catalog, &changed)?)
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
        if !Arc::ptr_eq(base, draft) {
            carry::check_blocks(base, draft, changed)?;
            carry::check_parents(base, now)?;
        }
        let mut rows = Vec::new();
        let is_secured = catalog.is_none()
            && !transaction.unchecked
            && latest.unlocked <= transaction.checked_at
            && transaction.secured.holds(latest.catalog.definitions());
        let renamed = match is_secured {
            true => Changes::default(),
            false => transaction.renamed_until(LATEST),
        };
        for (id, own) in &transaction.tables {
            // The transaction has dropped the table itself: what it changed there is gone.
            if draft.table_by_id(*id).is_none() {
                continue;
            }
            let table = now.table_by_id(*id).ok_or_else(|| Error::Conflict {
                message: "a table was dropped by another transaction".into(),
            })?;
            let mut deleted = self.newest_deletes(table, own, LATEST, |_| false)?;
            deleted.sort_unstable();
            let inserted = own_rows(table, own)?;
            // Nothing was committed since keys were checked: then they are right,
            // but for blocks of the transaction's own.
            let checked = catalog.is_none() && latest.timestamp == transaction.checked_at;
            let checked = checked || is_secured;
            if own.keys_changed && !checked || transaction.unchecked {
                transaction.check_own_keys(table, own)?;
                // Rows that came while foreign keys were left alone are right as they are.
                if !transaction.unreferenced.contains(id) {
                    // Running the statement again would say no more: a parent that is gone stays so.
                    references::check(&[now], &renamed, table, (0, None), (LATEST, LATEST))?;
                }
            }
            if !inserted.is_empty() || !deleted.is_empty() {
                rows.push((*id, inserted, deleted));
            }
        }
        // It has met no row, or has taken back all that it did: there is nothing to write.
        if catalog.is_none() && rows.is_empty() {
            drop(latest);
            return Ok(Committed {
                store: self.clone(),
                transaction: Some(transaction),
                unseen: None,
                changed: Vec::new(),
            });
        }
        let change = Change {
            catalog,
            added: std::mem::take(&mut transaction.added),
            rows,
            moved: None,
        };
        let touched = change.rows.iter().map(|(id, inserted, deleted)| {
            let (rows, bytes) = (inserted.len() as u64, inserted.bytes() as u64);
            (*id, blocks_of(deleted), rows, bytes)
        });
        let touched: Vec<_> = touched.collect();
        let before = latest.catalog.clone();
        // What changes the catalog may remove files, and is never relaxed.
        let relaxed = transaction.relaxed && change.catalog.is_none();
        let full = latest.full;
        let is_locked =
            change.catalog.is_none() && transaction.secured.is_locked(latest.catalog.definitions());
        let timestamp = self.install(&mut latest, change)?;
        if !is_locked {
            latest.unlocked = timestamp;
        }
        let mut changed = changed_blocks(&before, &latest.catalog);
        changed.extend(touched.into_iter().filter_map(|(id, blocks, rows, bytes)| {
            let table = latest.catalog.table_by_id(id)?.clone();
            let end = table.delta().next();
            Some(Changed {
                table,
                blocks: Some(blocks),
                rows: end.saturating_sub(rows)..end,
                bytes,
            })
        }));
        let mut unseen = Unseen::durable(timestamp);
        if relaxed {
            (latest.full, unseen.after) = (full, full);
            self.engine.flush_soon();
        }
        drop(latest);
        Ok(Committed {
            store: self.clone(),
            transaction: Some(transaction),
            unseen: Some(unseen),
            changed,
        })
    }

    /// What follows a commit; it stands, whatever becomes of this.
    pub(super) fn after_commit(&self, changed: &[Changed]) {
        // What the transaction itself has read is not needed by it any more.
        if changed.iter().any(|changed| changed.blocks.is_none()) {
            self.discard_retired();
        }
        let limit = self.delta_limit();
        self.consider(changed, limit);
        if changed.iter().any(|changed| changed.is_due(limit)) {
            self.shorten_log();
        }
    }
}

impl Engine {
    /// The database as it is now; later changes do not show in it.
    pub fn snapshot(&self) -> Snapshot {
        // A reader that cannot go on sees what it saw; `refresh` says why.
        let _ = self.refresh();
        self.active.snapshot(|| {
            let shown = self.shown.read();
            (shown.catalog.clone(), shown.timestamp)
        })
    }

    /// All that is committed, shown already or not.
    pub(super) fn newest(&self, latest: &Latest) -> Snapshot {
        self.active
            .snapshot(|| (latest.catalog.clone(), latest.timestamp))
    }

    /// Writes a checkpoint if the log is long; one that fails is made later.
    pub(super) fn shorten_log(&self) {
        let last = self.checkpoint_bytes.load(Ordering::Relaxed);
        let most = LOG_BYTES.max(last.saturating_mul(2));
        if self.wal.as_ref().is_some_and(|wal| wal.bytes() > most) {
            let _ = self.checkpoint();
        }
    }

    /// The oldest moment that a snapshot shows now or will show.
    pub(super) fn oldest(&self) -> u64 {
        let shown = self.shown.read().timestamp;
        self.active.oldest(shown)
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
                catalog.settle_definitions(&before);
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
        let oldest = self.oldest();
        for part in &parts {
            if let Some(table) = catalog.table_by_id(part.table) {
                log::mark(table, &part.deleted, timestamp, oldest);
                table.delta().append(part.inserted.iter(), timestamp);
            }
            latest.changed.insert(part.table, timestamp);
        }
        self.locks.forget(oldest);
        if changed {
            let named = ids_of(&catalog);
            latest.retired.extend(left(&before, &named));
            let dropped = carry::dropped_tables(&before, &catalog);
            dropped.iter().for_each(|table| {
                latest.changed.remove(table);
            });
            self.mover.forget_tables(&dropped);
            let tables = carry::changed_tables(&before, &catalog);
            overlay::note(&before, &tables, timestamp);
            for table in tables {
                if change.moved.as_ref().is_none_or(|(id, _)| *id != table.id) {
                    latest.changed.insert(table.id, timestamp);
                    self.locks
                        .moved(table.id, carry::renumbered(&before, &table), timestamp);
                }
            }
            if let Some((table, hops)) = change.moved {
                self.locks.moved(table, hops, timestamp);
            }
        }
        (latest.catalog, latest.timestamp) = (catalog.clone(), timestamp);
        latest.full = timestamp;
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
        wal.append(timestamp, &payload)
    }
}

fn unserializable(table: Option<&Arc<Table>>) -> Error {
    let name = table.map_or("a table", |table| table.name.as_str());
    Error::Conflict {
        message: format!(
            "the transaction read \"{name}\", which another transaction has changed since"
        ),
    }
}

/// The blocks that have some of these rows, which are in order.
fn blocks_of(rows: &[RowId]) -> Vec<BlockId> {
    let blocks = rows.iter().filter_map(|row| match row.place() {
        RowPlace::Block(block, _) => Some(block),
        RowPlace::Delta(_) | RowPlace::Own(_) => None,
    });
    let mut blocks: Vec<BlockId> = blocks.collect();
    blocks.dedup();
    blocks
}

/// Tables that have other blocks than before.
fn changed_blocks(before: &Arc<Catalog>, after: &Arc<Catalog>) -> Vec<Changed> {
    if Arc::ptr_eq(before, after) {
        return Vec::new();
    }
    let tables = carry::changed_tables(before, after).into_iter();
    tables
        .map(|table| Changed {
            table,
            blocks: None,
            rows: 0..0,
            bytes: 0,
        })
        .collect()
}

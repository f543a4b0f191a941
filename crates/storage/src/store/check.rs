//! A transaction's rows and keys, checked against the newest state.

use super::Engine;
use super::keys::Checked;
use super::locks::Followed;
use super::references::{self, Changes};
use super::rows::Stopped;
use super::transaction::{Transaction, is_deleted};
use crate::block::Block;
use crate::delta::{Deletes, Delta, LATEST, OwnChanges, ReadView, RowBits, RowHome, TupleBatch};
use crate::error::{Error, Result};
use crate::ids::{BlockId, RowId, RowPlace, TableId};
use crate::table::Table;
use std::sync::Arc;

/// A transaction's new rows of a table.
pub(super) fn own_rows(table: &Table, own: &OwnChanges) -> Result<TupleBatch> {
    let mut rows = TupleBatch::default();
    for fragment in &own.fragments {
        if !fragment.schema().same_rows(&table.schema) {
            return Err(Error::Conflict {
                message: format!(
                    "the columns or constraints of table \"{}\" were changed meanwhile",
                    table.name
                ),
            });
        }
        let deleted = own.deleted.get(&RowHome::Own(fragment.first()));
        let tuples = fragment.read();
        let visible = fragment.visible(LATEST, deleted);
        rows.reserve(visible.len(), tuples.bytes());
        for row in visible {
            rows.push(tuples.tuple(row));
        }
    }
    Ok(rows)
}

pub(super) fn changed_row(table: &Table) -> Error {
    Error::Conflict {
        message: format!(
            "a row of table \"{}\" was changed by another transaction",
            table.name
        ),
    }
}

impl Engine {
    /// The committed rows that a transaction deleted, none of which others did,
    /// where they are in `table` as of a moment; rows of blocks that are its `own` stay.
    pub(super) fn newest_deletes(
        &self,
        table: &Table,
        changes: &OwnChanges,
        moment: u64,
        own: impl Fn(BlockId) -> bool,
    ) -> Result<Vec<RowId>> {
        let mut all = Vec::new();
        for (home, bits) in &changes.deleted {
            match home {
                RowHome::Own(_) => continue,
                RowHome::Block(block) if own(*block) => continue,
                RowHome::Block(_) | RowHome::Fragment(_) => {}
            }
            let deleted = match self.locks.follow(table.id, *home, bits, moment) {
                Followed::Gone => true,
                Followed::Unmoved => {
                    all.extend(bits.rows().map(|row| home.row(row)));
                    any_deleted(table, *home, bits)
                }
                Followed::Moved(rows) => {
                    all.extend(&rows);
                    rows.iter().any(|row| is_deleted(table, *row))
                }
            };
            if deleted {
                return Err(changed_row(table));
            }
        }
        Ok(all)
    }
}

/// Whether any of these rows is deleted, or not there any more.
fn any_deleted(table: &Table, home: RowHome, rows: &RowBits) -> bool {
    let any = |deletes: &Deletes| rows.rows().any(|row| deletes.contains(row));
    match home {
        RowHome::Block(block) => table.block(block).is_none_or(|block| any(block.deletes())),
        RowHome::Fragment(first) => {
            let found = table.delta().find(first);
            found.is_none_or(|(fragment, _)| any(&fragment.deletes))
        }
        RowHome::Own(_) => false,
    }
}

impl Transaction {
    /// Checks the keys of rows that it added since row `first` of its own against
    /// everything committed, and against each other; and what refers to rows that
    /// it changed, or they refer to. Where another transaction is changing a row with the same
    /// key, or a later snapshot has to decide, the added rows are taken back:
    /// [`Transaction::take_stopped`] tells which.
    ///
    /// # Errors
    /// 23505 or 23503 naming constraint, columns and values; `Conflict` if they are taken back.
    pub fn check_keys(&mut self, table: TableId, first: u64) -> Result<()> {
        let own = self.tables.get(&table).cloned();
        // Others may commit from here on: rows have the names of this moment.
        let seen = {
            let latest = self.store.latest.lock();
            self.store.newest(&latest)
        };
        let timestamp = seen.timestamp();
        let known = seen.catalog().table_by_id(table).cloned();
        if let (Some(known), Some(own)) = (&known, &own) {
            let mine = |block| self.added.iter().any(|added| added.id() == block);
            self.store.newest_deletes(known, own, timestamp, mine)?;
        }
        let locks = &self.store.locks;
        let own = own.map(|own| (locks.renamed_until(table, &own, timestamp), own));
        let all = self.renamed_until(timestamp);
        let draft = self.table(table)?;
        if let Some((renamed, own)) = own {
            // Columns or rows that the transaction has declared or written anew are
            // in the draft alone, and so are blocks that are not committed yet.
            let known = known.filter(|_| !self.is_redefined(&draft));
            let when = (first, Some(&self.deferred));
            let holder = |row: RowId| match row.place() {
                RowPlace::Own(_) => None,
                _ => self.store.locks.changing(table, row, self.number),
            };
            let check = |table: &Table, own: &Arc<OwnChanges>| {
                super::keys::check(table, &view(own, timestamp), own, when, &holder)
            };
            let added = self.only_added(&draft).filter(|_| known.is_some());
            let checked = [
                known.is_none().then(|| check(&draft, &own)),
                known.as_ref().map(|known| check(known, &renamed)),
                added.map(|added| check(&added, &own)),
            ];
            let mut left = false;
            for checked in checked.into_iter().flatten() {
                match checked? {
                    Checked::Right { deferred } => left |= deferred,
                    Checked::Held(holder) => {
                        self.take_back(&draft, first);
                        self.stopped = Some(Stopped::ByAnother(holder));
                        return Err(changed_row(&draft));
                    }
                }
            }
            let newest = known.as_ref().unwrap_or(&draft);
            let catalogs = [&**seen.catalog(), &*self.catalog];
            let moments = (self.base.timestamp(), timestamp);
            match references::check(&catalogs, &all, newest, when, moments) {
                Ok(later) => left |= later,
                Err(Error::Conflict { message }) => {
                    self.take_back(&draft, first);
                    self.has_missed();
                    return Err(Error::Conflict { message });
                }
                Err(error) => return Err(error),
            }
            self.unchecked |= left;
        }
        self.secured.checked(table, first);
        // What was checked earlier was checked against less.
        if !std::mem::replace(&mut self.checked, true) {
            self.checked_at = timestamp;
        }
        Ok(())
    }

    /// Sets when deferrable constraints, some by table and name or all of them, are checked:
    /// at the end of the transaction, or of each statement. Those of the latter are checked now.
    ///
    /// # Errors
    /// 23503 naming constraint, columns and values.
    pub fn set_constraints(
        &mut self,
        named: Option<&[(TableId, String)]>,
        deferred: bool,
    ) -> Result<()> {
        self.deferred.set(named, deferred);
        if deferred || !std::mem::take(&mut self.unchecked) {
            return Ok(());
        }
        let tables = self.tables.keys().copied();
        let is_there = |id: &TableId| self.catalog.table_by_id(*id).is_some();
        let tables: Vec<TableId> = tables.filter(is_there).collect();
        tables
            .into_iter()
            .try_for_each(|table| self.check_keys(table, 0))
    }

    /// All its changes, with the names that rows had at a moment.
    pub(super) fn renamed_until(&self, moment: u64) -> Changes {
        let locks = &self.store.locks;
        let tables = self.tables.iter();
        let renamed = tables.map(|(id, own)| (*id, locks.renamed_until(*id, own, moment)));
        renamed.collect()
    }

    /// Whether the transaction has changed a table other than by adding to it: its
    /// definition, its blocks, or what is laid over them.
    fn is_redefined(&self, draft: &Table) -> bool {
        let Some(base) = self.base.table_by_id(draft.id) else {
            return false;
        };
        let kept = |block: &Arc<Block>| {
            let now = draft.block(block.id());
            now.is_some_and(|now| now.info().overlays == block.info().overlays)
        };
        base.schema != draft.schema || !base.blocks().iter().all(kept)
    }

    /// A table of its draft with the transaction's own blocks alone, if it has
    /// any, or is the transaction's own.
    fn only_added(&self, draft: &Arc<Table>) -> Option<Table> {
        let base = self.base.table_by_id(draft.id);
        if base.is_some_and(|base| Arc::ptr_eq(base, draft)) {
            return None;
        }
        let old = |block: &Block| base.is_some_and(|base| base.block(block.id()).is_some());
        let added = draft.blocks().iter().filter(|block| !old(block));
        let added = added.cloned().collect();
        let delta = Delta::new(draft.schema.clone(), 1);
        let table = draft.with(&draft.name, draft.options.clone(), added);
        Some(table.with_delta(Arc::new(delta)))
    }

    /// As [`Transaction::check_keys`], of all rows, where nothing can be committed meanwhile.
    pub(super) fn check_own_keys(&self, table: &Table, own: &Arc<OwnChanges>) -> Result<()> {
        let own = self.store.locks.renamed(table.id, own);
        super::keys::check(table, &view(&own, LATEST), &own, (0, None), &|_| None).map(|_| ())
    }
}

/// Commits up to a moment, and one's own rows.
fn view(own: &Arc<OwnChanges>, timestamp: u64) -> ReadView {
    ReadView {
        timestamp,
        own: Some(own.clone()),
        own_before: u64::MAX,
    }
}

//! Rows that a transaction adds, deletes and changes.

use super::check::changed_row;
use super::locks::{LockMode, Taken, Waiting};
use super::transaction::Transaction;
use super::writer::{check_batch, not_null, wrong_width};
use super::{Store, referred};
use crate::delta::{Fragment, RowHome, TupleBatch, TupleShape};
use crate::error::{Error, Result};
use crate::ids::{RowId, RowPlace, TableId};
use crate::row::Row;
use crate::schema::{Physical, TableSchema};
use crate::table::Table;
use arrow_array::RecordBatch;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A transaction that has locked so many rows asks for the whole table, whenever it has locked
/// another multiple of [`EACH`].
const MOST_ROWS: usize = 1 << 18;
const EACH: usize = 1 << 14;
/// Most keys that a transaction locks.
pub(super) const MOST_KEYS: usize = 1 << 16;

/// The result of locking a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLock {
    /// The transaction has it.
    Taken,
    /// Another transaction has it.
    ByAnother,
    /// Nobody has it: others have changed or deleted the row since the transaction began.
    Changed,
}

/// Why a transaction could not lock a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The transaction of this number has it: [`Transaction::wait_for`].
    ByAnother(u64),
    /// Others have changed or deleted the row since the transaction began: a later moment
    /// shows it as it is now.
    Changed,
}

impl Transaction {
    /// Adds rows; returns the number of the first among its own.
    ///
    /// # Errors
    /// 42804, 23502 or 22003 for rows that the table cannot hold, 54000 for a row
    /// of over 2 GiB; `Conflict` if another transaction has added one of their keys, or is about to
    /// delete a row that they refer to: [`Transaction::take_stopped`] tells whom to wait for. Then no
    /// row is added. Keys are checked by [`Transaction::check_keys`].
    pub fn insert(&mut self, table: TableId, rows: &RecordBatch) -> Result<u64> {
        let table = self.table(table)?;
        check_batch(&table.schema, rows)?;
        let shape = TupleShape::of(&table.schema);
        let tuples = TupleBatch::of(&table.schema, &shape, rows)?;
        self.add(&table, &shape, &tuples)
    }

    /// As [`Transaction::insert`], of rows that have a value for each column.
    ///
    /// # Errors
    /// As [`Transaction::insert`].
    pub fn insert_rows(&mut self, table: TableId, rows: &[Row]) -> Result<u64> {
        let table = self.table(table)?;
        let shape = TupleShape::of(&table.schema);
        let tuples = tuples_of(&table.schema, &shape, rows)?;
        self.add(&table, &shape, &tuples)
    }

    fn add(&mut self, table: &Table, shape: &TupleShape, tuples: &TupleBatch) -> Result<u64> {
        self.secured.defined_by(self.catalog.definitions());
        self.lock_keys(table, shape, tuples)?;
        self.lock_parents(table, (shape, tuples), None)?;
        Ok(self.append(table, shape, tuples, true))
    }

    /// Puts rows in the place of others, from which they differ in the columns
    /// `assigned` at most. Returns the number of the first if keys have to be
    /// checked by [`Transaction::check_keys`]: those that did not change are right.
    ///
    /// # Errors
    /// As [`Transaction::insert`] and [`Transaction::delete`]; nothing has changed
    /// if there is one row.
    pub fn update(
        &mut self,
        table: TableId,
        rows: Vec<(RowId, Row)>,
        assigned: &[usize],
    ) -> Result<Option<u64>> {
        let table = self.table(table)?;
        let (ids, rows): (Vec<RowId>, Vec<Row>) = rows.into_iter().unzip();
        let shape = TupleShape::of(&table.schema);
        let tuples = tuples_of(&table.schema, &shape, &rows)?;
        self.replace(&table, &ids, (&shape, &tuples), assigned)
    }

    /// As [`Transaction::update`], of rows of one batch.
    ///
    /// # Errors
    /// As [`Transaction::update`].
    pub fn update_batch(
        &mut self,
        table: TableId,
        ids: &[RowId],
        rows: &RecordBatch,
        assigned: &[usize],
    ) -> Result<Option<u64>> {
        let table = self.table(table)?;
        check_batch(&table.schema, rows)?;
        let shape = TupleShape::of(&table.schema);
        let tuples = TupleBatch::of(&table.schema, &shape, rows)?;
        self.replace(&table, ids, (&shape, &tuples), assigned)
    }

    fn replace(
        &mut self,
        table: &Table,
        ids: &[RowId],
        (shape, tuples): (&TupleShape, &TupleBatch),
        assigned: &[usize],
    ) -> Result<Option<u64>> {
        let check = table.schema.are_keyed(assigned);
        if check {
            self.secured.defined_by(self.catalog.definitions());
            self.lock_keys(table, shape, tuples)?;
            self.lock_parents(table, (shape, tuples), Some(assigned))?;
            self.lock_referred(table, ids, Some((shape, tuples)))?;
        }
        self.take_away(table, ids)?;
        let first = self.append(table, shape, tuples, check);
        Ok(check.then_some(first))
    }

    /// Adds tuples to the transaction's own rows of a table.
    fn append(
        &mut self,
        table: &Table,
        shape: &TupleShape,
        tuples: &TupleBatch,
        keys_changed: bool,
    ) -> u64 {
        let first = self.next_own;
        self.next_own += tuples.len() as u64;
        if keys_changed {
            self.secured.changed(table.id, first);
        }
        let own = self.own(table);
        own.keys_changed |= keys_changed;
        let same_columns = |fragment: &Fragment| {
            Arc::ptr_eq(fragment.schema(), &table.schema)
                || fragment.schema().columns == table.schema.columns
        };
        for (number, tuple) in (first..).zip(tuples.iter()) {
            // A fragment's rows are numbered one after the other.
            let fits = |fragment: &Arc<Fragment>| {
                !fragment.is_full()
                    && fragment.first() + fragment.len() as u64 == number
                    && same_columns(fragment)
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
                .for_each(|map| map.insert(shape, tuple, number));
        }
        first
    }

    /// Deletes rows; returns how many it had not deleted before.
    ///
    /// # Errors
    /// `Conflict` if another transaction changed one of them, or has added a row that refers to it.
    pub fn delete(&mut self, table: TableId, rows: &[RowId]) -> Result<u64> {
        let table = self.table(table)?;
        self.secured.defined_by(self.catalog.definitions());
        self.lock_referred(&table, rows, None)?;
        self.secured.changed(table.id, u64::MAX);
        self.own(&table).keys_changed = true;
        self.take_away(&table, rows)
    }

    fn take_away(&mut self, table: &Table, rows: &[RowId]) -> Result<u64> {
        // Nothing is changed unless all of them are this transaction's.
        for row in rows {
            if !matches!(row.place(), RowPlace::Own(_)) {
                self.lock(table, *row)?;
            }
        }
        let mut deleted = 0;
        for row in rows {
            let (home, place) = self.home_of(table, *row)?;
            let own = self.own(table);
            deleted += u64::from(own.deleted.entry(home).or_default().insert(place));
        }
        Ok(deleted)
    }

    /// The home of a row, and its place there.
    fn home_of(&self, table: &Table, row: RowId) -> Result<(RowHome, u32)> {
        match row.place() {
            RowPlace::Own(number) => {
                let own = self.tables.get(&table.id);
                let fragment = own.and_then(|own| {
                    let mut fragments = own.fragments.iter();
                    fragments.rfind(|fragment| fragment.first() <= number)
                });
                let first = fragment.ok_or_else(|| changed_row(table))?.first();
                Ok((RowHome::Own(first), (number - first) as u32))
            }
            RowPlace::Block(block, place) => Ok((RowHome::Block(block), place)),
            RowPlace::Delta(number) => {
                let found = table.delta().find(number);
                let (fragment, place) = found.ok_or_else(|| changed_row(table))?;
                Ok((RowHome::Fragment(fragment.first()), place))
            }
        }
    }

    /// The number that the next row of its own will have: see [`Transaction::settle_since`].
    pub fn next_row(&self) -> u64 {
        self.next_own
    }

    /// Whether the transaction itself has deleted a row or put another one in its place.
    ///
    /// # Errors
    /// `Conflict` if there is no such row or table any more.
    pub fn has_deleted(&self, table: TableId, row: RowId) -> Result<bool> {
        let table = self.table(table)?;
        let (home, place) = self.home_of(&table, row)?;
        let own = self.tables.get(&table.id);
        let deleted = own.and_then(|own| own.deleted.get(&home));
        Ok(deleted.is_some_and(|rows| rows.contains(place)))
    }

    /// Locks the keys of rows that are about to be added, so that who adds the same waits. Beyond
    /// [`MOST_KEYS`], and where keys are checked at the end of the transaction, the later one to
    /// commit fails instead.
    fn lock_keys(&mut self, table: &Table, shape: &TupleShape, tuples: &TupleBatch) -> Result<()> {
        let keys = table.schema.keys.iter().enumerate();
        let keys: Vec<_> = keys.filter(|(_, key)| key.deferral.is_never()).collect();
        // Equal floats may be stored otherwise, as both zeros are: their hashes differ.
        let is_float = |at: &usize| {
            let kind = table.schema.columns[*at].kind.physical();
            matches!(kind, Physical::F32 | Physical::F64)
        };
        let mut columns = keys.iter().flat_map(|(_, key)| &key.columns);
        if keys.len() < table.schema.keys.len() || columns.any(is_float) {
            self.secured.has_unlocked();
        }
        if keys.is_empty() {
            return Ok(());
        }
        if self.added_keys.len() + tuples.len() * keys.len() > MOST_KEYS {
            self.secured.has_unlocked();
            return Ok(());
        }
        let mut hashes = Vec::with_capacity(tuples.len() * keys.len());
        for (number, key) in keys {
            for tuple in tuples.iter() {
                let value = |at: &usize| shape.stored(tuple, *at);
                if table
                    .schema
                    .is_in_key(key, |at| value(&key.columns[at]).is_none())
                {
                    let mut hasher = DefaultHasher::new();
                    number.hash(&mut hasher);
                    key.columns
                        .iter()
                        .for_each(|at| value(at).hash(&mut hasher));
                    hashes.push(hasher.finish());
                }
            }
        }
        if hashes.is_empty() {
            return Ok(());
        }
        let locks = &self.store.locks;
        let taken = locks.take_keys((table.id, &hashes), self.number, &mut self.added_keys);
        if let Err(holder) = taken {
            self.stopped = Some(Stopped::ByAnother(holder));
            return Err(Error::Conflict {
                message: format!(
                    "another transaction has added a row with the same key to table \"{}\"",
                    table.name
                ),
            });
        }
        self.has_locked = true;
        Ok(())
    }

    /// Takes back the rows that it has added since row `first` of its own.
    pub(super) fn take_back(&mut self, table: &Table, first: u64) {
        let own = self.own(table);
        for fragment in &own.fragments {
            let numbers = fragment.first()..fragment.first() + fragment.len() as u64;
            let taken = numbers.skip_while(|number| *number < first);
            // In range: a fragment has few rows.
            let places = taken.map(|number| (number - fragment.first()) as u32);
            let deleted = own.deleted.entry(RowHome::Own(fragment.first()));
            let deleted = deleted.or_default();
            for place in places {
                deleted.insert(place);
            }
        }
    }

    fn lock(&mut self, table: &Table, row: RowId) -> Result<()> {
        match self.try_lock(table, row, LockMode::Change) {
            RowLock::Taken => Ok(()),
            RowLock::ByAnother | RowLock::Changed => Err(changed_row(table)),
        }
    }

    /// Whether others have changed a row since the transaction's snapshot; then that is why it
    /// could not lock it.
    fn is_changed(&mut self, table: &Table, row: RowId) -> bool {
        let began = self.base.timestamp();
        let changed = self.store.locks.is_changed(table, row, began);
        if changed {
            self.stopped = Some(Stopped::Changed);
        }
        changed
    }

    fn try_lock(&mut self, table: &Table, row: RowId, mode: LockMode) -> RowLock {
        let began = self.base.timestamp();
        let locks = &self.store.locks;
        match locks.take((table, row), mode, self.number, began) {
            Taken::Before => RowLock::Taken,
            Taken::ByAnother(holder) => {
                self.stopped = Some(Stopped::ByAnother(holder));
                RowLock::ByAnother
            }
            Taken::Changed => {
                self.stopped = Some(Stopped::Changed);
                RowLock::Changed
            }
            Taken::Now => {
                self.locked.push((table.id, row));
                self.has_locked = true;
                self.lock_all_soon(table);
                RowLock::Taken
            }
        }
    }

    /// Locks a whole table in place of single rows when the transaction has locked very many, if no
    /// other has locked one of it.
    fn lock_all_soon(&mut self, table: &Table) {
        let is_due = self.locked.len() >= MOST_ROWS && self.locked.len().is_multiple_of(EACH);
        // A table of which it has locked few rows is not to pay for another.
        let mut last = self.locked.iter().rev().take(EACH);
        if is_due
            && last.all(|(locked, _)| *locked == table.id)
            && let Taken::Now = self.store.locks.take_whole(table.id, self.number)
        {
            self.whole.push(table.id);
        }
    }

    /// Refuses to go on where another transaction has changed a row and has not ended:
    /// [`Transaction::take_stopped`] tells which.
    ///
    /// # Errors
    /// `Conflict` if there is one; `NoSuchTable` if there is no such table.
    pub fn must_be_settled(&mut self, table: TableId, row: RowId) -> Result<()> {
        let table = self.table(table)?;
        if matches!(row.place(), RowPlace::Own(_)) {
            return Ok(());
        }
        match self.store.locks.changing(table.id, row, self.number) {
            Some(holder) => {
                self.stopped = Some(Stopped::ByAnother(holder));
                Err(changed_row(&table))
            }
            None => Ok(()),
        }
    }

    /// Notes that others have committed something that a statement has to see, or fail.
    pub fn has_missed(&mut self) {
        self.stopped = Some(Stopped::Changed);
    }

    /// Locks a row, so that no other transaction changes it until this one ends, or goes back to a
    /// savepoint from before. A lock that was only made stronger since then stays.
    ///
    /// # Errors
    /// `NoSuchTable` if there is no such table.
    pub fn lock_row(&mut self, table: TableId, row: RowId, mode: LockMode) -> Result<RowLock> {
        let table = self.table(table)?;
        // It is seen by no other transaction.
        if matches!(row.place(), RowPlace::Own(_)) {
            return Ok(RowLock::Taken);
        }
        let referred = match mode {
            LockMode::KeyShare | LockMode::Update => referred::keys_of(&self.catalog, table.id),
            LockMode::Share | LockMode::NoKeyUpdate | LockMode::Change => Vec::new(),
        };
        if referred.is_empty() {
            let mode = match mode {
                LockMode::KeyShare => LockMode::Share,
                mode => mode,
            };
            return Ok(self.try_lock(&table, row, mode));
        }
        let before = self.referred.len();
        for columns in referred {
            match self.lock_key(&table, row, &columns, mode) {
                Ok(()) => {}
                Err(Error::Conflict { .. }) => {
                    self.unlock_keys(before);
                    return Ok(RowLock::ByAnother);
                }
                Err(error) => return Err(error),
            }
        }
        let locked = match mode {
            LockMode::KeyShare if self.is_changed(&table, row) => RowLock::Changed,
            LockMode::KeyShare => RowLock::Taken,
            mode => self.try_lock(&table, row, mode),
        };
        if locked != RowLock::Taken {
            self.unlock_keys(before);
        }
        Ok(locked)
    }
}

impl Transaction {
    /// Why it could not lock a row, if it could not since this was asked last.
    pub fn take_stopped(&mut self) -> Option<Stopped> {
        self.stopped.take()
    }

    /// The wait until another transaction ends, or gives back what it has locked since a
    /// savepoint.
    pub fn wait_for(&self, holder: u64) -> Waiting {
        Waiting::new(self.store.clone(), Some(self.number), holder)
    }
}

impl Store {
    /// As [`Transaction::wait_for`], for who has locked nothing.
    pub fn wait_for(self: &Arc<Self>, holder: u64) -> Waiting {
        Waiting::new(self.clone(), None, holder)
    }
}

/// The tuples of rows.
///
/// # Errors
/// 42804 or 23502 for rows that the table cannot hold.
fn tuples_of(schema: &TableSchema, shape: &TupleShape, rows: &[Row]) -> Result<TupleBatch> {
    for row in rows {
        if row.len() != schema.columns.len() {
            let (given, wanted) = (row.len(), schema.columns.len());
            return Err(wrong_width(given, wanted));
        }
        let mut columns = schema.columns.iter().zip(row);
        if let Some((column, _)) =
            columns.find(|(column, value)| value.is_none() && !column.nullable)
        {
            return Err(not_null(&column.name));
        }
    }
    TupleBatch::of_rows(&schema.columns, shape, rows)
}

//! Rows that unfinished transactions have changed, and where moved rows are now.
//!
//! A transaction names a row by the place where its snapshot has it. When the row
//! was moved since, a hop leads from the old place to the new one; hops stay as
//! long as a snapshot from before the move is in use. A lock is held under the
//! newest name of its row, so that two writers meet whichever name they know: a
//! hop is added, and locks are renamed, before anybody can see the new names.
//!
//! A transaction that has locked very many rows of a table locks all of it, if no other has locked
//! one: a lock of each would take more memory than the rows.
//!
//! Several transactions may share a row that none of them changes. One of them changes it only
//! when it is the last.
//!
//! Who finds a row locked may wait until the other transaction ends ([`Waiting`]). A
//! transaction waits for one other at a time, so that who waits for each other is found by
//! going from one to the next.
//!
//! ```text
//! T3 waits for T2 waits for T1        T1 would wait for T3: a deadlock, T1 is told
//! ```
//!
//! A key that a transaction has added is locked, too, by the hash of its values: who adds the same
//! one waits, and is told that it is there if the other has committed. Keys whose hashes are the same
//! by chance only make a transaction wait.
//!
//! Who adds a row that refers to another by a foreign key shares the key that it refers to; who
//! deletes the other row, or gives it another key, needs the key alone. These locks are of
//! keys, too, and not of rows: a row whose other columns are changed has another version, and
//! the key that is referred to stays.
//!
//! Left out: an order among those who wait. All of them go on when the row is free, and all
//! but one wait again.

use super::Store;
use super::transaction::is_deleted;
use crate::delta::{Deletes, OwnChanges, RowBits, RowHome};
use crate::error::{Error, Result};
use crate::ids::{BlockId, IdMap, RowId, RowPlace, TableId};
use crate::table::Table;
use parking_lot::Mutex;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

/// In a hop, the place of a row that was deleted before the move.
pub(super) const GONE: u32 = u32::MAX;

/// Where the rows of one block or fragment went.
#[derive(Clone, Debug)]
pub(super) enum Went {
    /// Into a block with the same rows in the same places.
    Whole(BlockId, u64, Arc<Deletes>),
    /// By row, to these places in the row of `pieces`.
    Apart(Vec<u32>, Arc<[Piece]>),
}

/// One of the blocks that rows were moved into.
#[derive(Debug)]
pub(super) struct Piece {
    /// Place of its first row in the row of pieces.
    pub first: u32,
    pub block: BlockId,
    pub deletes: Arc<Deletes>,
}

/// The first row of a home that is no more, and where its rows went.
pub(super) type Hop = (RowId, Went);

#[derive(Debug, Default)]
pub(super) struct RowLocks {
    state: Mutex<State>,
    /// Whether there are hops; changed with the lock only. Who has the snapshot of a moment
    /// since rows were moved finds it set.
    hops: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// Which transactions hold a row.
    holders: IdMap<(TableId, RowId), Holders>,
    /// Which transaction has changed columns of a whole table.
    whole: IdMap<TableId, u64>,
    /// Which transaction has added a key, by the key's hash.
    keys: IdMap<(TableId, u64), u64>,
    /// Which transactions refer to a key, or take it away, by the key's hash.
    referred: IdMap<(TableId, u64), Holders>,
    /// By the first row of a home: when its rows were moved, and where to.
    hops: BTreeMap<(TableId, RowId), (u64, Went)>,
    /// Transactions that have locked something and have not ended.
    open: HashSet<u64>,
    /// Which transaction each one that waits is waiting for.
    waits: IdMap<u64, u64>,
    /// By transaction: those who wait until it ends.
    waiting: IdMap<u64, Vec<Arc<Waiter>>>,
}

/// How a transaction holds a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockMode {
    /// With others that do not delete it or change its key, if foreign keys refer to its table;
    /// as [`LockMode::Share`] otherwise.
    KeyShare,
    /// With others that do not change it.
    Share,
    /// Alone but for [`LockMode::KeyShare`], to change it later.
    NoKeyUpdate,
    /// Alone, to change or delete it later.
    Update,
    /// Alone: it has changed it.
    Change,
}

/// The transactions that hold a row: one, or several that share it.
#[derive(Debug)]
struct Holders {
    first: (u64, LockMode),
    /// Empty as a rule.
    more: Vec<(u64, LockMode)>,
}

impl Holders {
    fn new(transaction: u64, mode: LockMode) -> Self {
        Self {
            first: (transaction, mode),
            more: Vec::new(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &(u64, LockMode)> {
        std::iter::once(&self.first).chain(&self.more)
    }

    fn has(&self, transaction: u64) -> bool {
        self.all().any(|(holder, _)| *holder == transaction)
    }

    /// Another transaction that does not let one hold the row in a mode.
    fn against(&self, transaction: u64, mode: LockMode) -> Option<u64> {
        let shares = |held: &LockMode| *held == LockMode::Share && mode == LockMode::Share;
        let mut others = self.all().filter(|(holder, _)| *holder != transaction);
        let other = others.find(|(_, held)| !shares(held));
        other.map(|(holder, _)| *holder)
    }

    /// Adds a holder, or gives it the stronger mode; whether it held the row before.
    fn add(&mut self, transaction: u64, mode: LockMode) -> bool {
        let mut all = std::iter::once(&mut self.first).chain(&mut self.more);
        let own = all.find(|(holder, _)| *holder == transaction);
        if let Some((_, held)) = own {
            *held = mode.max(*held);
            return true;
        }
        self.more.push((transaction, mode));
        false
    }

    /// Takes a holder out; whether none is left.
    fn remove(&mut self, transaction: u64) -> bool {
        if self.first.0 != transaction {
            self.more.retain(|(holder, _)| *holder != transaction);
            return false;
        }
        match self.more.pop() {
            Some(next) => {
                self.first = next;
                false
            }
            None => true,
        }
    }
}

/// The locks of a transaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Locked<'a> {
    /// Rows, by any of their names.
    pub rows: &'a [(TableId, RowId)],
    /// Whole tables.
    pub tables: &'a [TableId],
    /// Keys that it has added, by their hashes.
    pub keys: &'a [(TableId, u64)],
    /// Keys that it refers to or takes away, by their hashes.
    pub referred: &'a [(TableId, u64)],
}

/// Somebody who waits for a transaction.
#[derive(Debug)]
struct Waiter {
    waker: Mutex<Waker>,
    /// Whether there is nothing to wait for any more.
    done: AtomicBool,
}

/// The wait until another transaction ends or gives rows back.
#[derive(Debug)]
pub struct Waiting {
    store: Arc<Store>,
    /// The transaction that waits, if it has locks of its own.
    waiter: Option<u64>,
    holder: u64,
    registered: Option<Arc<Waiter>>,
}

/// What came of asking for a lock.
pub(super) enum Taken {
    /// The transaction has the lock now.
    Now,
    /// It had it already.
    Before,
    /// Another has it, of this number.
    ByAnother(u64),
    /// Nobody has it, as others deleted the row or gave it other values before.
    Changed,
}

/// Where rows of one home are now.
pub(super) enum Followed {
    /// Where they were.
    Unmoved,
    Moved(Vec<RowId>),
    /// At least one was deleted before the others were moved.
    Gone,
}

impl Went {
    /// Where row number `row` of the home went, if it has so many.
    fn find(&self, row: u64) -> Option<Option<(RowId, &Arc<Deletes>)>> {
        match self {
            Went::Whole(block, rows, deletes) => {
                // In range: a block has at most 2^20 rows.
                let found = (RowId::in_block(*block, row as u32), deletes);
                (row < *rows).then_some(Some(found))
            }
            Went::Apart(places, pieces) => {
                let place = *places.get(usize::try_from(row).ok()?)?;
                Some(
                    place_in(pieces, place)
                        .map(|(piece, row)| (RowId::in_block(piece.block, row), &piece.deletes)),
                )
            }
        }
    }
}

/// The piece that has a place, and its row there.
pub(super) fn place_in(pieces: &[Piece], place: u32) -> Option<(&Piece, u32)> {
    if place == GONE {
        return None;
    }
    let after = pieces.partition_point(|piece| piece.first <= place);
    let piece = pieces.get(after.checked_sub(1)?)?;
    Some((piece, place - piece.first))
}

/// The newest name of a row; what marks it as deleted there, if it was moved.
struct Newest<'a> {
    row: RowId,
    deletes: Option<&'a Arc<Deletes>>,
    gone: bool,
    /// The last commit that gave it other values in a place that it was moved to.
    laid_over: u64,
}

impl State {
    /// The name of a row after all moves, as far as the commit `until` shows them.
    fn newest(&self, table: TableId, row: RowId, until: u64) -> Newest<'_> {
        let mut newest = Newest {
            row,
            deletes: None,
            gone: false,
            laid_over: 0,
        };
        while let Some(hop) = self.hop(table, newest.row, until) {
            match hop {
                Some((row, deletes)) => {
                    (newest.row, newest.deletes) = (row, Some(deletes));
                    newest.laid_over = newest.laid_over.max(deletes.laid_over());
                }
                None => {
                    newest.gone = true;
                    break;
                }
            }
        }
        newest
    }

    fn hop(
        &self,
        table: TableId,
        row: RowId,
        until: u64,
    ) -> Option<Option<(RowId, &Arc<Deletes>)>> {
        let mut before = self.hops.range((table, RowId(0))..=(table, row));
        let ((_, first), (when, went)) = before.next_back()?;
        match *when <= until {
            true => went.find(row.0 - first.0),
            false => None,
        }
    }

    /// Whether a transaction waits, over others, for `waiter`.
    fn waits_for(&self, transaction: u64, waiter: u64) -> bool {
        let mut next = Some(transaction);
        while let Some(one) = next {
            if one == waiter {
                return true;
            }
            next = self.waits.get(&one).copied();
        }
        false
    }

    /// Lets those go on who wait for a transaction.
    fn wake(&mut self, transaction: u64) {
        for waiter in self.waiting.remove(&transaction).into_iter().flatten() {
            waiter.done.store(true, Ordering::Release);
            waiter.waker.lock().wake_by_ref();
        }
    }
}

/// Whether others have deleted or changed a row of `table`, `newest` now, since the commit `began`.
fn is_changed(table: &Table, row: RowId, newest: &Newest<'_>, began: u64) -> bool {
    // A commit before the lock was free has left a mark.
    let deleted = match (newest.deletes, newest.row.place()) {
        _ if newest.gone => true,
        (Some(deletes), RowPlace::Block(_, row)) => deletes.contains(row),
        _ => is_deleted(table, row),
    };
    deleted || laid_over(table, row).max(newest.laid_over) > began
}

/// The last commit that gave a row other values where `table` has it.
fn laid_over(table: &Table, row: RowId) -> u64 {
    match row.place() {
        RowPlace::Block(block, _) => {
            let block = table.block(block);
            block.map_or(0, |block| block.deletes().laid_over())
        }
        RowPlace::Delta(_) | RowPlace::Own(_) => 0,
    }
}

impl RowLocks {
    /// Locks a row of `table`, as a transaction sees it that `began` after a commit.
    pub fn take(
        &self,
        (table, row): (&Table, RowId),
        mode: LockMode,
        transaction: u64,
        began: u64,
    ) -> Taken {
        let mut state = self.state.lock();
        let state = &mut *state;
        let newest = state.newest(table.id, row, u64::MAX);
        let changed = is_changed(table, row, &newest, began);
        let key = (table.id, newest.row);
        if let Some(holder) = state.whole.get(&table.id)
            && *holder != transaction
        {
            return Taken::ByAnother(*holder);
        }
        match state.holders.entry(key) {
            Entry::Vacant(_) if changed => Taken::Changed,
            // The transaction has locked all rows of the table.
            Entry::Vacant(_) if state.whole.contains_key(&table.id) => Taken::Before,
            Entry::Vacant(free) => {
                free.insert(Holders::new(transaction, mode));
                state.open.insert(transaction);
                Taken::Now
            }
            Entry::Occupied(mut held) => match held.get().against(transaction, mode) {
                Some(other) => Taken::ByAnother(other),
                None if changed && !held.get().has(transaction) => Taken::Changed,
                None if held.get_mut().add(transaction, mode) => Taken::Before,
                None => {
                    state.open.insert(transaction);
                    Taken::Now
                }
            },
        }
    }

    /// Locks all rows of a table, unless others have some of them.
    pub fn take_whole(&self, table: TableId, transaction: u64) -> Taken {
        let mut state = self.state.lock();
        let mut held = state.holders.iter().filter(|((held, _), _)| *held == table);
        let other = held.find_map(|(_, holders)| holders.against(transaction, LockMode::Update));
        if let Some(holder) = other {
            return Taken::ByAnother(holder);
        }
        let state = &mut *state;
        match state.whole.entry(table) {
            Entry::Vacant(free) => {
                free.insert(transaction);
                state.open.insert(transaction);
                Taken::Now
            }
            Entry::Occupied(held) if *held.get() == transaction => Taken::Before,
            Entry::Occupied(held) => Taken::ByAnother(*held.get()),
        }
    }

    /// Locks keys of a table that a transaction adds, all of them or none, and appends those that it
    /// had not locked before to `locked`.
    ///
    /// # Errors
    /// The transaction that has one of them.
    pub fn take_keys(
        &self,
        (table, keys): (TableId, &[u64]),
        transaction: u64,
        locked: &mut Vec<(TableId, u64)>,
    ) -> std::result::Result<(), u64> {
        let mut state = self.state.lock();
        let state = &mut *state;
        let before = locked.len();
        for key in keys {
            match state.keys.entry((table, *key)) {
                Entry::Vacant(free) => {
                    free.insert(transaction);
                    locked.push((table, *key));
                }
                Entry::Occupied(held) if *held.get() == transaction => {}
                Entry::Occupied(held) => {
                    let other = *held.get();
                    for key in locked.drain(before..) {
                        state.keys.remove(&key);
                    }
                    return Err(other);
                }
            }
        }
        state.open.insert(transaction);
        Ok(())
    }

    /// Locks keys of a table that rows refer to, all of them or none: in the mode
    /// [`LockMode::Share`] to refer to them, in another to take them away. Appends those that the
    /// transaction had not locked before to `locked`.
    ///
    /// # Errors
    /// The transaction that has one of them.
    pub fn refer(
        &self,
        (table, keys): (TableId, &[u64]),
        mode: LockMode,
        transaction: u64,
        locked: &mut Vec<(TableId, u64)>,
    ) -> std::result::Result<(), u64> {
        let mut state = self.state.lock();
        let state = &mut *state;
        let against = |key: &u64| {
            let holders = state.referred.get(&(table, *key))?;
            holders.against(transaction, mode)
        };
        if let Some(holder) = keys.iter().find_map(against) {
            return Err(holder);
        }
        for key in keys {
            let before = match state.referred.entry((table, *key)) {
                Entry::Vacant(free) => {
                    free.insert(Holders::new(transaction, mode));
                    false
                }
                Entry::Occupied(mut held) => held.get_mut().add(transaction, mode),
            };
            if !before {
                locked.push((table, *key));
            }
        }
        state.open.insert(transaction);
        Ok(())
    }

    /// Whether others have deleted or changed a row of `table` since the commit `began`.
    pub fn is_changed(&self, table: &Table, row: RowId, began: u64) -> bool {
        let state = self.state.lock();
        let newest = state.newest(table.id, row, u64::MAX);
        is_changed(table, row, &newest, began)
    }

    /// Another transaction that has changed a row.
    pub fn changing(&self, table: TableId, row: RowId, transaction: u64) -> Option<u64> {
        let state = self.state.lock();
        let newest = state.newest(table, row, u64::MAX).row;
        let holders = state.holders.get(&(table, newest))?;
        let (holder, mode) = holders.first;
        (mode == LockMode::Change && holder != transaction).then_some(holder)
    }

    /// Lets go what a transaction has locked; with `ended` it has nothing else.
    pub fn release(&self, transaction: u64, locked: Locked<'_>, ended: bool) {
        let Locked {
            rows,
            tables,
            keys,
            referred,
        } = locked;
        let none = rows.is_empty() && tables.is_empty() && keys.is_empty() && referred.is_empty();
        if none && !ended {
            return;
        }
        let mut state = self.state.lock();
        for key in keys {
            state.keys.remove(key);
        }
        for key in referred {
            if let Entry::Occupied(mut held) = state.referred.entry(*key)
                && held.get_mut().remove(transaction)
            {
                held.remove();
            }
        }
        for (table, row) in rows {
            let newest = state.newest(*table, *row, u64::MAX).row;
            if let Entry::Occupied(mut held) = state.holders.entry((*table, newest))
                && held.get_mut().remove(transaction)
            {
                held.remove();
            }
        }
        for table in tables {
            state.whole.remove(table);
        }
        if ended {
            state.open.remove(&transaction);
        }
        state.wake(transaction);
    }

    /// The names that rows have for who sees the commit `until`.
    pub fn names_at(&self, until: u64, rows: &mut [(TableId, RowId)]) {
        if !self.hops.load(Ordering::Relaxed) {
            return;
        }
        let state = self.state.lock();
        for (table, row) in rows {
            *row = state.newest(*table, *row, until).row;
        }
    }

    /// Where some rows of a home are for who sees the commit `until`.
    pub fn follow(&self, table: TableId, home: RowHome, rows: &RowBits, until: u64) -> Followed {
        if !self.hops.load(Ordering::Relaxed) {
            return Followed::Unmoved;
        }
        let state = self.state.lock();
        let hop = state.hops.get(&(table, home.row(0)));
        if hop.is_none_or(|(when, _)| *when > until) {
            return Followed::Unmoved;
        }
        let rows = rows.rows();
        let newest = rows.map(|row| state.newest(table, home.row(row), until));
        let found = newest.map(|newest| (!newest.gone).then_some(newest.row));
        found
            .collect::<Option<Vec<RowId>>>()
            .map_or(Followed::Gone, Followed::Moved)
    }

    /// A transaction's changes as the newest state of the table names them.
    pub fn renamed(&self, table: TableId, own: &Arc<OwnChanges>) -> Arc<OwnChanges> {
        self.renamed_until(table, own, u64::MAX)
    }

    /// A transaction's changes as the commit `until` names them.
    pub fn renamed_until(
        &self,
        table: TableId,
        own: &Arc<OwnChanges>,
        until: u64,
    ) -> Arc<OwnChanges> {
        if !self.hops.load(Ordering::Relaxed) {
            return own.clone();
        }
        let mut deleted: IdMap<RowHome, RowBits> = IdMap::default();
        let mut any = false;
        for (home, rows) in &own.deleted {
            let Followed::Moved(found) = self.follow(table, *home, rows, until) else {
                deleted.entry(*home).or_default().add_all(rows);
                continue;
            };
            any = true;
            for row in found {
                if let RowPlace::Block(block, row) = row.place() {
                    deleted
                        .entry(RowHome::Block(block))
                        .or_default()
                        .insert(row);
                }
            }
        }
        if !any {
            return own.clone();
        }
        Arc::new(OwnChanges {
            deleted,
            ..(**own).clone()
        })
    }

    /// Rows of a table have moved with the commit at `timestamp`, which nobody
    /// sees yet.
    pub fn moved(&self, table: TableId, hops: Vec<Hop>, timestamp: u64) {
        if hops.is_empty() {
            return;
        }
        let mut state = self.state.lock();
        self.hops.store(true, Ordering::Relaxed);
        let hops = hops.into_iter();
        state
            .hops
            .extend(hops.map(|(first, went)| ((table, first), (timestamp, went))));
        let held: Vec<(RowId, RowId)> = {
            let rows = state.holders.keys().filter(|(held, _)| *held == table);
            let names = rows.map(|(_, row)| (*row, state.newest(table, *row, u64::MAX).row));
            names.filter(|(old, new)| old != new).collect()
        };
        for (old, new) in held {
            if let Some(holder) = state.holders.remove(&(table, old)) {
                state.holders.insert((table, new), holder);
            }
        }
    }

    /// Forgets the hops that no snapshot needs; `oldest` is the oldest in use.
    pub fn forget(&self, oldest: u64) {
        // Seldom any, and then a commit has no lock to wait for.
        if self.hops.load(Ordering::Relaxed) {
            let hops = &mut self.state.lock().hops;
            hops.retain(|_, (timestamp, _)| *timestamp > oldest);
            self.hops.store(!hops.is_empty(), Ordering::Relaxed);
        }
    }
}

impl Waiting {
    /// The wait until the transaction `holder` ends; `waiter` is the one that waits, if it has
    /// locks of its own.
    pub(super) fn new(store: Arc<Store>, waiter: Option<u64>, holder: u64) -> Waiting {
        Waiting {
            store,
            waiter,
            holder,
            registered: None,
        }
    }
}

impl Future for Waiting {
    type Output = Result<()>;

    /// # Errors
    /// 40P01 if the other transaction waits for this one.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        if let Some(registered) = &self.registered {
            *registered.waker.lock() = context.waker().clone();
            return match registered.done.load(Ordering::Acquire) {
                true => Poll::Ready(Ok(())),
                false => Poll::Pending,
            };
        }
        let (waiter, holder) = (self.waiter, self.holder);
        let store = self.store.clone();
        let mut state = store.locks.state.lock();
        if !state.open.contains(&holder) {
            return Poll::Ready(Ok(()));
        }
        if let Some(waiter) = waiter {
            if state.waits_for(holder, waiter) {
                return Poll::Ready(Err(deadlock()));
            }
            state.waits.insert(waiter, holder);
        }
        let registered = Arc::new(Waiter {
            waker: Mutex::new(context.waker().clone()),
            done: AtomicBool::new(false),
        });
        let waiting = state.waiting.entry(holder).or_default();
        waiting.push(registered.clone());
        drop(state);
        self.registered = Some(registered);
        Poll::Pending
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(registered) = self.registered.take() else {
            return;
        };
        let mut state = self.store.locks.state.lock();
        if let Some(waiter) = self.waiter {
            state.waits.remove(&waiter);
        }
        if let Some(waiting) = state.waiting.get_mut(&self.holder) {
            waiting.retain(|one| !Arc::ptr_eq(one, &registered));
        }
    }
}

fn deadlock() -> Error {
    Error::Invalid {
        sqlstate: "40P01",
        message: "deadlock detected".into(),
        hint: Some(
            "another transaction waits for a row that this one has locked: run it again".into(),
        ),
    }
}

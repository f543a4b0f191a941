//! Locks that keep checked keys right until their transaction ends.
//!
//! A statement locks the keys of the rows that it adds or takes away, and checks them then
//! against all that is committed. Another transaction that would add the same key, or delete a
//! row that is referred to, has to wait for these locks. So the commit need not look again,
//! which it would do while all other commits wait.
//!
//! ```text
//! INSERT INTO orders VALUES (7, …)   locks orders (7); checks it against all commits up to 41
//! …                                  commits 42 to 60 cannot have added orders (7)
//! COMMIT                             is 61, and looks up no key
//! ```
//!
//! Some keys are not locked: those of constraints that are checked at the end, of floats, of rows
//! that come as blocks, and of transactions that change very many rows. Such a transaction checks
//! its keys when it commits, and so do all that had checked theirs before it did. A transaction that
//! took its locks by other definitions than those of its commit counts as one of these: a
//! new foreign key asks for other locks.

use super::catalog::Definitions;
use crate::ids::{IdMap, TableId};
use std::sync::Arc;

/// The keys that a transaction has changed: whether they are locked, and whether they were checked.
#[derive(Debug, Default)]
pub(super) struct Secured {
    /// By table, the first of its own rows whose keys were not checked; the greatest number
    /// where rows were taken away alone.
    unsettled: IdMap<TableId, u64>,
    /// The definitions that it locked keys by.
    defined: Option<Arc<Definitions>>,
    /// Whether there are keys that it has not locked, or locked by other definitions.
    unlocked: bool,
}

impl Secured {
    /// Notes what is defined when keys are about to be locked.
    pub fn defined_by(&mut self, definitions: &Arc<Definitions>) {
        match &self.defined {
            Some(known) => self.unlocked |= !Arc::ptr_eq(known, definitions),
            None => self.defined = Some(Arc::clone(definitions)),
        }
    }

    /// Notes that a key was not locked.
    pub fn has_unlocked(&mut self) {
        self.unlocked = true;
    }

    /// Notes that keys of a table were changed, those of own rows from this one on.
    pub fn changed(&mut self, table: TableId, first: u64) {
        let unsettled = self.unsettled.entry(table).or_insert(first);
        *unsettled = first.min(*unsettled);
    }

    /// Notes that the keys of own rows of a table from this one on are right.
    pub fn checked(&mut self, table: TableId, first: u64) {
        if self.unsettled.get(&table).is_some_and(|at| *at >= first) {
            self.unsettled.remove(&table);
        }
    }

    /// Whether all its keys are locked, as the definitions of now ask for.
    pub fn is_locked(&self, definitions: &Arc<Definitions>) -> bool {
        let same = |known: &Arc<Definitions>| Arc::ptr_eq(known, definitions);
        !self.unlocked && self.defined.as_ref().is_none_or(same)
    }

    /// Whether all its keys were checked as well.
    pub fn holds(&self, definitions: &Arc<Definitions>) -> bool {
        self.unsettled.is_empty() && self.is_locked(definitions)
    }
}

//! Numbers of transactions as SQL shows them.
//!
//! `pg_current_xact_id()` gives the transaction around a statement its number, and
//! `pg_current_xact_id_if_assigned()` tells it if it has one: a transaction that has only read has
//! none. A session puts the number of its transaction into the configuration of each statement.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use freestone_storage::Store;

/// The number of the transaction in which a statement runs.
pub(crate) struct TransactionNumber {
    store: Arc<Store>,
    number: OnceLock<u64>,
    /// Whether somebody has asked for it, or the transaction has changed something.
    assigned: Arc<AtomicBool>,
}

impl TransactionNumber {
    /// A number that is known, or drawn from `store` when it is asked for. `assigned` belongs to
    /// the transaction, so that all its statements know of it.
    pub(crate) fn new(
        store: &Arc<Store>,
        number: OnceLock<u64>,
        assigned: Arc<AtomicBool>,
    ) -> Self {
        let store = Arc::clone(store);
        Self {
            store,
            number,
            assigned,
        }
    }

    /// The number, from now on assigned.
    pub(crate) fn get(&self) -> u64 {
        self.assigned.store(true, Ordering::Relaxed);
        *self.number.get_or_init(|| self.store.next_transaction())
    }

    /// The number, if it is assigned.
    pub(crate) fn assigned(&self) -> Option<u64> {
        let assigned = self.assigned.load(Ordering::Relaxed);
        self.number.get().copied().filter(|_| assigned)
    }

    /// Whether no transaction has had a number.
    pub(crate) fn is_to_come(&self, number: u64) -> bool {
        number >= self.store.coming_transaction()
    }
}

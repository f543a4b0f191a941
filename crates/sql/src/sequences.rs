//! What a session has taken of sequences: `currval` and `lastval`.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use freestone_storage::{Catalog, Sequence, SequenceId, SequencePosition, Store};
use parking_lot::Mutex;

use crate::error::{Error, Result};

/// The way of a session to the numbers of sequences.
#[derive(Debug)]
pub(crate) struct TakenNumbers {
    store: Arc<Store>,
    /// Whether the statement that runs may change nothing.
    read_only: AtomicBool,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    /// The last number of each sequence.
    current: HashMap<SequenceId, i64>,
    /// The sequence of the last number.
    last: Option<SequenceId>,
}

impl TakenNumbers {
    pub(crate) fn new(store: &Arc<Store>) -> Self {
        Self {
            store: Arc::clone(store),
            read_only: AtomicBool::new(false),
            taken: Mutex::default(),
        }
    }

    /// Says whether numbers may be taken from now on.
    pub(crate) fn set_read_only(&self, read_only: bool) {
        self.read_only.store(read_only, Ordering::Relaxed);
    }

    /// Forgets what was taken: DISCARD SEQUENCES.
    pub(crate) fn forget(&self) {
        *self.taken.lock() = Taken::default();
    }

    /// The next numbers of a sequence.
    ///
    /// # Errors
    /// `2200H` if there are not so many, `25006` in a read-only transaction.
    pub(crate) fn next(&self, sequence: &Sequence, count: usize) -> Result<Vec<i64>> {
        self.must_write("nextval")?;
        let mut numbers = Vec::with_capacity(count);
        while numbers.len() < count {
            let wanted = (count - numbers.len()) as u64;
            numbers.extend(self.store.next_numbers(sequence, wanted)?.iter());
        }
        if let Some(number) = numbers.last() {
            let mut taken = self.taken.lock();
            taken.current.insert(sequence.id, *number);
            taken.last = Some(sequence.id);
        }
        Ok(numbers)
    }

    /// Lets a sequence go on after `value`, or at it if it was not `given`.
    ///
    /// # Errors
    /// `22003`; `25006` in a read-only transaction.
    pub(crate) fn set(&self, sequence: &Sequence, value: i64, given: bool) -> Result<()> {
        self.must_write("setval")?;
        let position = SequencePosition { value, given };
        self.store.set_sequence(sequence, position)?;
        if given {
            self.taken.lock().current.insert(sequence.id, value);
        }
        Ok(())
    }

    /// The number that the session took last of a sequence.
    ///
    /// # Errors
    /// `55000` if it has taken none.
    pub(crate) fn current(&self, sequence: &Sequence) -> Result<i64> {
        let current = self.taken.lock().current.get(&sequence.id).copied();
        let name = &sequence.name;
        current.ok_or_else(|| {
            let message =
                format!("currval of sequence \"{name}\" is not yet defined in this session");
            Error::new("55000", message).with_hint("nextval defines it")
        })
    }

    /// The number that the session took last.
    ///
    /// # Errors
    /// `55000` if it has taken none, or if the sequence is no more.
    pub(crate) fn last(&self, catalog: &Catalog) -> Result<i64> {
        let taken = self.taken.lock();
        let last = taken
            .last
            .filter(|id| catalog.sequence_by_id(*id).is_some());
        let last = last.and_then(|id| taken.current.get(&id));
        last.copied().ok_or_else(|| {
            let message = "lastval is not yet defined in this session";
            Error::new("55000", message).with_hint("nextval defines it")
        })
    }

    fn must_write(&self, what: &str) -> Result<()> {
        if !self.read_only.load(Ordering::Relaxed) {
            return Ok(());
        }
        let message = format!("cannot execute {what}() in a read-only transaction");
        Err(Error::new("25006", message))
    }
}

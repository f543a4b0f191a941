//! The transaction that a session has open, and what BEGIN, COMMIT, ROLLBACK and
//! SAVEPOINT do to it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use chrono::Utc;
use freestone_storage::{Savepoint, Snapshot, Stopped, Store, Transaction, Waiting};

use crate::error::{Error, Result, panicked};
use crate::settings::{AskedModes, Modes};
use crate::transaction_number::TransactionNumber;

/// What a session is in.
#[derive(Default)]
pub(crate) enum Open {
    /// No transaction: every statement is one of its own.
    #[default]
    Nothing,
    /// A transaction.
    Going(Block),
    /// A transaction in which a statement failed: it can only be rolled back.
    Failed(Block),
}

/// An open transaction with its savepoints, oldest first.
pub(crate) struct Block {
    pub(crate) transaction: Transaction,
    savepoints: Vec<Saved>,
    /// When it began, in microseconds since 1970: the time of `now()` in it.
    start: i64,
    /// Whether a statement is running.
    busy: bool,
    /// Whether one has run.
    begun: bool,
    modes: Modes,
    /// Whether its number is assigned, as PostgreSQL says it.
    numbered: Arc<AtomicBool>,
    /// Whether nobody has said BEGIN: it lasts as long as what a client sent as one.
    implicit: bool,
}

/// Marks of the settings, advisory locks and cursors of a session at a savepoint.
#[derive(Clone, Copy, Default)]
pub(crate) struct Marks {
    /// See [`crate::settings::ClientSettings::mark`].
    pub(crate) settings: usize,
    /// See [`crate::advisory_locks::HeldLocks::mark`].
    pub(crate) locks: usize,
    /// See [`super::cursors::Cursors::mark`].
    pub(crate) cursors: u64,
}

/// A savepoint.
struct Saved {
    name: String,
    state: Savepoint,
    kept: Marks,
    read_only: bool,
}

impl Block {
    pub(crate) fn new(transaction: Transaction, modes: Modes) -> Self {
        let mut block = Self {
            transaction,
            savepoints: Vec::new(),
            start: Utc::now().timestamp_micros(),
            busy: false,
            begun: false,
            modes,
            numbered: Arc::default(),
            implicit: false,
        };
        if modes.is_serializable() {
            block.transaction.make_serializable();
        }
        block
    }

    /// The same, opened without a BEGIN.
    pub(crate) fn implicit(self) -> Self {
        Self {
            implicit: true,
            ..self
        }
    }

    /// Lets a statement see what others have committed before it, if the level is one at which
    /// each statement does.
    fn advance(&mut self) -> bool {
        self.modes.level.is_by_statement() && self.transaction.advance()
    }

    /// Begins a statement that looks at the database. The first one decides what the transaction
    /// sees, at every level.
    fn look(&mut self) {
        match std::mem::replace(&mut self.begun, true) {
            false => self.transaction.advance(),
            true => self.advance(),
        };
    }

    /// Takes back what is lost when a statement has failed, so that nobody waits for it: all since
    /// the last savepoint, or since the beginning.
    fn fail(&mut self) {
        match self.savepoints.last() {
            Some(last) => self.transaction.roll_back_to(&last.state),
            None => self.transaction.give_up(),
        }
    }

    /// Sets modes of the transaction.
    ///
    /// # Errors
    /// `25001` for what cannot be set after its first statement, or in a savepoint.
    pub(crate) fn set(&mut self, asked: AskedModes) -> Result<()> {
        let modes = self.modes.with(asked);
        let other_level = modes.level != self.modes.level;
        let deferrable = modes.deferrable != self.modes.deferrable;
        let writes = self.modes.read_only && !modes.read_only;
        let inside = !self.savepoints.is_empty();
        let saved = self.savepoints.last().is_some_and(|last| last.read_only);
        let refused = match self.begun {
            true if other_level => {
                Some("SET TRANSACTION ISOLATION LEVEL must be called before any query")
            }
            true if deferrable => {
                Some("SET TRANSACTION [NOT] DEFERRABLE must be called before any query")
            }
            true if writes => Some("transaction read-write mode must be set before any query"),
            _ if inside && other_level => {
                Some("SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction")
            }
            _ if inside && deferrable => {
                Some("SET TRANSACTION [NOT] DEFERRABLE cannot be called within a subtransaction")
            }
            _ if inside && writes && saved => {
                Some("cannot set transaction read-write mode inside a read-only transaction")
            }
            _ => None,
        };
        if let Some(refused) = refused {
            return Err(Error::new("25001", refused));
        }
        if modes.is_serializable() {
            self.transaction.make_serializable();
        }
        self.modes = modes;
        Ok(())
    }
}

/// Nothing may be changed.
pub(super) fn read_only() -> Error {
    Error::new("25006", "cannot change anything in a read-only transaction")
}

fn none_open() -> Error {
    Error::new("25P01", "there is no transaction in progress").with_hint("BEGIN starts one")
}

fn no_savepoint(name: &str) -> Error {
    Error::new("3B001", format!("savepoint \"{name}\" does not exist"))
}

impl Open {
    /// The transaction, for a statement other than those that end it.
    ///
    /// # Errors
    /// `25P02` after a statement failed in it.
    pub(crate) fn running(&mut self) -> Result<Option<&mut Transaction>> {
        match self {
            Self::Nothing => Ok(None),
            Self::Going(block) => Ok(Some(&mut block.transaction)),
            Self::Failed(_) => Err(Error::new(
                "25P02",
                "current transaction is aborted, commands ignored until end of transaction block",
            )
            .with_hint("ROLLBACK ends it, ROLLBACK TO goes back to a savepoint")),
        }
    }

    /// The transaction, for a statement that changes something.
    ///
    /// # Errors
    /// As [`Open::running`]; `25006` if it is read-only.
    pub(crate) fn changing(&mut self) -> Result<Option<&mut Transaction>> {
        if let Self::Going(block) = self
            && block.modes.read_only
        {
            return Err(read_only());
        }
        self.running()
    }

    /// When the transaction began, in microseconds since 1970, if there is one.
    pub(super) fn start(&self) -> Option<i64> {
        match self {
            Self::Going(block) | Self::Failed(block) => Some(block.start),
            Self::Nothing => None,
        }
    }

    /// The number of the transaction around a statement; without one, of its own transaction.
    pub(super) fn numbered(&self, store: &Arc<Store>) -> TransactionNumber {
        let (number, assigned) = match self {
            Self::Going(block) | Self::Failed(block) => {
                if !block.transaction.is_unchanged() {
                    block.numbered.store(true, Ordering::Relaxed);
                }
                let number = OnceLock::from(block.transaction.number());
                (number, Arc::clone(&block.numbered))
            }
            Self::Nothing => (OnceLock::new(), Arc::default()),
        };
        TransactionNumber::new(store, number, assigned)
    }

    /// Whether there is a transaction that was opened with a BEGIN.
    pub(crate) fn is_declared(&self) -> bool {
        match self {
            Self::Going(block) | Self::Failed(block) => !block.implicit,
            Self::Nothing => false,
        }
    }

    /// The modes of the transaction, if there is one.
    pub(crate) fn modes(&self) -> Option<Modes> {
        match self {
            Self::Going(block) | Self::Failed(block) => Some(block.modes),
            Self::Nothing => None,
        }
    }

    /// Sets modes of the transaction, if there is one.
    ///
    /// # Errors
    /// As [`Open::running`] and [`Block::set`].
    pub(crate) fn set_modes(&mut self, asked: AskedModes) -> Result<()> {
        self.running()?;
        match self {
            Self::Going(block) => block.set(asked),
            Self::Failed(_) | Self::Nothing => Ok(()),
        }
    }

    /// Makes a transaction that was opened without a BEGIN one that needs a COMMIT; `None`
    /// if there is none of that kind.
    pub(crate) fn declare(&mut self) -> Option<&mut Block> {
        match self {
            Self::Going(block) if block.implicit => {
                block.implicit = false;
                Some(block)
            }
            _ => None,
        }
    }

    /// Ends a transaction that was opened without a BEGIN; what is to be committed of it.
    pub(crate) fn end_implicit(&mut self) -> Option<Transaction> {
        match self {
            Self::Going(block) | Self::Failed(block) if block.implicit => self.end().ok().flatten(),
            _ => None,
        }
    }

    /// Refuses what cannot be done beside a running statement.
    ///
    /// # Errors
    /// `25001`.
    pub(crate) fn must_be_idle(&self) -> Result<()> {
        match self {
            Self::Going(Block { busy: true, .. }) => Err(Error::new(
                "25001",
                "another statement is running in this transaction",
            )
            .with_hint("use a session for each thread")),
            _ => Ok(()),
        }
    }

    /// The database as the next statement would see it, for those who only plan it; `None` if there
    /// is no transaction.
    ///
    /// # Errors
    /// As [`Open::running`].
    pub(crate) fn glance(&mut self) -> Result<Option<Snapshot>> {
        Ok(self.running()?.map(|transaction| transaction.glance()))
    }

    /// Begins a statement in the transaction, if there is one; returns what it sees. One that
    /// does not look at the database leaves the transaction at its beginning.
    ///
    /// # Errors
    /// `25P02` after a statement failed in it, `25001` beside a running one.
    pub(crate) fn occupy(&mut self, looks: bool) -> Result<Option<Snapshot>> {
        self.must_be_idle()?;
        self.running()?;
        let Self::Going(block) = self else {
            return Ok(None);
        };
        block.busy = true;
        if looks {
            block.look();
        }
        Ok(Some(block.transaction.snapshot()))
    }

    /// What a statement that is about to change rows goes back to if it has to be run again.
    ///
    /// # Errors
    /// As [`Open::running`].
    pub(crate) fn before_changes(&mut self) -> Result<Option<Savepoint>> {
        Ok(self.running()?.map(|transaction| {
            transaction.take_stopped();
            transaction.savepoint()
        }))
    }

    /// Takes back what a statement has done that could not lock a row; the wait before it is to
    /// be run again. `None` if it is not.
    pub(crate) fn stopped(&mut self, before: &Savepoint) -> Option<Option<Waiting>> {
        let Self::Going(block) = self else {
            return None;
        };
        match block.transaction.take_stopped()? {
            Stopped::ByAnother(holder) => {
                block.transaction.roll_back_to(before);
                Some(Some(block.transaction.wait_for(holder)))
            }
            // What the statement did not see is seen by the next try.
            Stopped::Changed if block.modes.level.is_by_statement() => {
                block.transaction.roll_back_to(before);
                block.advance().then_some(None)
            }
            Stopped::Changed => None,
        }
    }

    /// What the statement sees when it is run again.
    ///
    /// # Errors
    /// As [`Open::running`].
    pub(crate) fn again(&mut self) -> Result<Option<Snapshot>> {
        self.running()?;
        let Self::Going(block) = self else {
            return Ok(None);
        };
        block.advance();
        Ok(Some(block.transaction.snapshot()))
    }

    /// Ends a statement. After one that failed nothing more is done until the
    /// transaction is rolled back.
    pub(crate) fn leave(&mut self, failed: bool) {
        if let Self::Going(block) = self {
            block.busy = false;
        }
        if failed {
            *self = match std::mem::take(self) {
                Self::Going(mut block) => {
                    block.fail();
                    Self::Failed(block)
                }
                other => other,
            };
        }
    }

    /// Begins a statement that only reads and ends before another begins; returns what it sees, or
    /// `None` if there is no transaction.
    ///
    /// # Errors
    /// As [`Open::occupy`].
    pub(crate) fn look(&mut self) -> Result<Option<Snapshot>> {
        self.must_be_idle()?;
        self.running()?;
        let Self::Going(block) = self else {
            return Ok(None);
        };
        block.look();
        Ok(Some(block.transaction.snapshot()))
    }

    /// Runs a statement in the transaction that ends before this returns; `None`
    /// if there is no transaction.
    ///
    /// # Errors
    /// As [`Open::occupy`] and [`Open::changing`]; those of the statement.
    pub(crate) fn at_once<T>(
        &mut self,
        statement: impl FnOnce(&mut Transaction) -> Result<T>,
    ) -> Result<Option<T>> {
        self.must_be_idle()?;
        self.changing()?;
        let Self::Going(block) = self else {
            return Ok(None);
        };
        block.look();
        let transaction = &mut block.transaction;
        let outcome = catch_unwind(AssertUnwindSafe(|| statement(transaction)))
            .unwrap_or_else(|panic| Err(panicked(&*panic)));
        self.leave(outcome.is_err());
        outcome.map(Some)
    }

    /// Ends the transaction; `None` if it had failed and was rolled back instead.
    ///
    /// # Errors
    /// `25P01` if there is none.
    pub(crate) fn end(&mut self) -> Result<Option<Transaction>> {
        match std::mem::take(self) {
            Self::Nothing => Err(none_open()),
            Self::Going(block) => Ok(Some(block.transaction)),
            Self::Failed(_) => Ok(None),
        }
    }

    /// SAVEPOINT.
    ///
    /// # Errors
    /// `25P01` outside of a transaction, `25P02` in a failed one.
    pub(crate) fn save(&mut self, name: String, kept: Marks) -> Result<()> {
        match self.running()?.is_some() && self.is_declared() {
            true => self.save_within(name, kept),
            false => Err(none_open()),
        }
    }

    /// The same for a statement that is made of others, in any transaction.
    ///
    /// # Errors
    /// As [`Open::save`].
    pub(crate) fn save_within(&mut self, name: String, kept: Marks) -> Result<()> {
        self.running()?;
        let Self::Going(block) = self else {
            return Err(none_open());
        };
        let state = block.transaction.savepoint();
        block.savepoints.push(Saved {
            name,
            state,
            kept,
            read_only: block.modes.read_only,
        });
        Ok(())
    }

    /// ROLLBACK TO SAVEPOINT: also out of a failed transaction. The marks of what stays.
    ///
    /// # Errors
    /// `25P01`; `3B001` if there is no such savepoint.
    pub(crate) fn roll_back_to(&mut self, name: &str) -> Result<Marks> {
        let (Self::Going(block) | Self::Failed(block)) = self else {
            return Err(none_open());
        };
        let place = block
            .savepoints
            .iter()
            .rposition(|saved| saved.name == name);
        let place = place.ok_or_else(|| no_savepoint(name))?;
        block.savepoints.truncate(place + 1);
        let mut kept = Marks::default();
        if let Some(saved) = block.savepoints.last() {
            block.transaction.roll_back_to(&saved.state);
            block.modes.read_only = saved.read_only;
            kept = saved.kept;
        }
        *self = match std::mem::take(self) {
            Self::Failed(block) => Self::Going(block),
            other => other,
        };
        Ok(kept)
    }

    /// RELEASE SAVEPOINT.
    ///
    /// # Errors
    /// As [`Open::save`]; `3B001` if there is no such savepoint.
    pub(crate) fn release(&mut self, name: &str) -> Result<()> {
        self.running()?;
        let Self::Going(block) = self else {
            return Err(none_open());
        };
        let place = block
            .savepoints
            .iter()
            .rposition(|saved| saved.name == name);
        let place = place.ok_or_else(|| no_savepoint(name))?;
        // The end of what is within a savepoint ends its READ ONLY, too.
        if let Some(saved) = block.savepoints.get(place) {
            block.modes.read_only = saved.read_only;
        }
        block.savepoints.truncate(place);
        Ok(())
    }
}

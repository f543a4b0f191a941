//! BEGIN, COMMIT, ROLLBACK, SAVEPOINT, RELEASE, and how statements run in a
//! transaction or as one of their own.

use datafusion::sql::sqlparser::ast::{
    Set, Statement as Ast, TransactionAccessMode, TransactionIsolationLevel, TransactionMode,
};
use freestone_storage::{CatalogEdit, Transaction};
use parking_lot::Mutex;

use super::Run;
use crate::error::{Error, Result};
use crate::plan::names::fold;
use crate::session::{Block, Open, Outcome, Session};

/// Times that a statement is run again because another transaction was first.
const ATTEMPTS: usize = 20;

/// Runs a statement in the session's transaction, or as one of its own.
///
/// # Errors
/// Those of the statement; nothing has changed then.
pub(super) async fn run(session: &Session, ast: &Ast) -> Result<Outcome> {
    if let Some(outcome) = control(session, ast)? {
        return Ok(outcome);
    }
    let before = session
        .transaction()
        .running()?
        .map(|open| open.savepoint());
    if let Some(before) = before {
        let snapshot = match session.transaction().running()? {
            Some(open) => open.snapshot(),
            None => session.database().store().snapshot(),
        };
        let outcome = Run::new(session, snapshot, None).dispatch(ast).await;
        if outcome.is_err() {
            session.transaction().fail(&before);
        }
        return outcome;
    }
    for attempt in 1.. {
        match alone(session, ast).await {
            // Nobody has seen anything of it, so it can be done again.
            Err(error) if error.sqlstate == "40001" && changes_rows(ast) && attempt < ATTEMPTS => {}
            done => return done,
        }
    }
    Err(Error::internal("a statement that was never run"))
}

async fn alone(session: &Session, ast: &Ast) -> Result<Outcome> {
    let store = session.database().store();
    if !changes_rows(ast) {
        return Run::new(session, store.snapshot(), None)
            .dispatch(ast)
            .await;
    }
    let own = store.begin()?;
    let run = Run::new(session, own.snapshot(), Some(own));
    let outcome = run.dispatch(ast).await?;
    if let Some(own) = run.own.into_inner() {
        own.commit()?;
    }
    Ok(outcome)
}

fn changes_rows(ast: &Ast) -> bool {
    matches!(
        ast,
        Ast::Insert(_) | Ast::Update(_) | Ast::Delete(_) | Ast::Truncate(_)
    )
}

/// A statement about transactions, done; `None` for any other.
fn control(session: &Session, ast: &Ast) -> Result<Option<Outcome>> {
    let mut open = session.transaction();
    let tag = match ast {
        Ast::StartTransaction { modes, .. } => {
            check_modes(modes)?;
            if open.running()?.is_some() {
                return Err(Error::new(
                    "25001",
                    "there is already a transaction in progress",
                ));
            }
            *open = Open::Going(Block::new(session.database().store().begin()?));
            "BEGIN"
        }
        Ast::Commit { chain: false, .. } => match open.end()? {
            Some(transaction) => {
                transaction.commit()?;
                "COMMIT"
            }
            None => "ROLLBACK",
        },
        Ast::Rollback {
            chain: false,
            savepoint: None,
        } => {
            open.end()?;
            "ROLLBACK"
        }
        Ast::Rollback {
            chain: false,
            savepoint: Some(name),
        } => {
            open.roll_back_to(&fold(name))?;
            "ROLLBACK"
        }
        Ast::Savepoint { name } => {
            open.save(fold(name))?;
            "SAVEPOINT"
        }
        Ast::ReleaseSavepoint { name } => {
            open.release(&fold(name))?;
            "RELEASE"
        }
        Ast::Set(Set::SetTransaction { modes, .. }) => {
            check_modes(modes)?;
            "SET"
        }
        _ => return Ok(None),
    };
    Ok(Some(Outcome::done(tag)))
}

/// Every transaction reads one snapshot, which is more than the lower levels ask.
fn check_modes(modes: &[TransactionMode]) -> Result<()> {
    for mode in modes {
        match mode {
            TransactionMode::IsolationLevel(TransactionIsolationLevel::Serializable) => {
                return Err(Error::unsupported(
                    "ISOLATION LEVEL SERIALIZABLE is not supported yet",
                )
                .with_hint("REPEATABLE READ is snapshot isolation"));
            }
            TransactionMode::AccessMode(TransactionAccessMode::ReadOnly) => {
                return Err(Error::unsupported(
                    "READ ONLY transactions are not supported yet",
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

impl Run<'_> {
    /// Changes rows in the statement's transaction.
    ///
    /// # Errors
    /// Those of `change`.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut Transaction) -> Result<T>,
    ) -> Result<T> {
        if let Some(own) = &mut *self.own.lock() {
            return change(own);
        }
        match self.session.transaction().running()? {
            Some(open) => change(open),
            None => Err(Error::internal("rows are changed outside of a transaction")),
        }
    }

    /// Changes the catalog: in the session's transaction, else at once.
    ///
    /// # Errors
    /// The closure's own, unchanged, and those of storage.
    pub(crate) fn edit<T>(&self, edit: impl FnOnce(&mut CatalogEdit) -> Result<T>) -> Result<T> {
        let mut open = self.session.transaction();
        match open.running()? {
            None => crate::ingest::commit(self.store(), edit),
            Some(transaction) => crate::ingest::edited(edit, |wrapped| transaction.edit(wrapped)),
        }
    }
}

/// A place for a statement's own transaction.
pub(super) type Own = Mutex<Option<Transaction>>;

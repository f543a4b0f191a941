//! BEGIN, COMMIT, ROLLBACK, SAVEPOINT, RELEASE, and how statements run in a
//! transaction or as one of their own.

use std::sync::Arc;
use std::time::Duration;

use freestone_storage::{CatalogEdit, Snapshot, Stopped, Transaction, Waiting};
use futures::channel::oneshot;
use futures::future::{Either, select};
use parking_lot::Mutex;
use sqlparser::ast::{Statement as Ast, TransactionModifier};

use super::Run;
use super::by_keys::changed_rows;
use super::explain::carries_out;
use super::locking::locks;
use crate::error::{Error, Result};
use crate::grammar::{OwnStatement, Tree, Utility};
use crate::names::fold;
use crate::outcome::Outcome;
use crate::parameter::Parameter;
use crate::session::{Block, KnownKeys, Marks, NewRows, Notice, Open, Session};
use crate::settings::{AskedModes, Level, Modes};
use crate::statement::changing_query;

/// Times that a statement is run again because another transaction was first.
pub(super) const ATTEMPTS: usize = 50;

/// Times that an upsert is run again for a key that came meanwhile; a key that it
/// does not name collides for good.
const UPSERTS: usize = 4;

/// A statement with the schemas of its names.
#[derive(Clone, Copy)]
pub(super) enum Task<'a> {
    /// One of sqlparser's grammar.
    Sql(&'a Ast),
    /// One of our own.
    Own(&'a OwnStatement),
}

impl<'a> Task<'a> {
    pub(super) fn of(tree: &'a Tree) -> Self {
        match tree {
            Tree::Sql(ast) => Self::Sql(ast),
            Tree::Own(own) => Self::Own(own),
        }
    }

    fn sql(self) -> Option<&'a Ast> {
        match self {
            Self::Sql(ast) => Some(ast),
            Self::Own(_) => None,
        }
    }
}

/// A statement that is to be run.
#[derive(Clone, Copy)]
struct Work<'a> {
    task: Task<'a>,
    /// The keys of its rows, if they are known.
    keys: Option<&'a KnownKeys<'a>>,
    /// Whether it changes rows.
    changes: bool,
}

/// Runs a statement in the session's transaction, or as one of its own.
///
/// # Errors
/// Those of the statement; nothing has changed then.
pub(super) async fn run(
    session: &Session,
    task: Task<'_>,
    keys: Option<&KnownKeys<'_>>,
) -> Result<Outcome> {
    session.apply_pending();
    if !session.in_transaction() {
        // What a statement has set for itself alone.
        session.end_settings(true);
    }
    let controlled = control(session, task);
    if controlled.is_err() {
        let mut open = session.transaction();
        if open.must_be_idle().is_ok() {
            open.leave(true);
        }
    }
    match controlled? {
        Control::Done(tag) => return Ok(Outcome::done(tag)),
        Control::RolledBack(chained) => {
            end(session, false, chained)?;
            return Ok(Outcome::done("ROLLBACK"));
        }
        Control::RolledBackTo(kept) => {
            session.back_to(kept);
            return Ok(Outcome::done("ROLLBACK"));
        }
        Control::Commit(transaction, chained) => {
            // Apart: it would be a part of the future of each statement.
            let done = Box::pin(session.commit(*transaction)).await;
            let chained = chained.filter(|_| done.is_ok());
            end(session, done.is_ok(), chained)?;
            done?;
            return Ok(Outcome::done("COMMIT"));
        }
        Control::Other => {}
    }
    let rows = task.sql().and_then(|ast| NewRows::of(session, ast));
    if let Some(rows) = rows {
        let outcome = Box::pin(insert_at_once(session, &rows, &[])).await?;
        if let Some(outcome) = outcome {
            return Ok(outcome);
        }
    }
    let looks = !matches!(
        task,
        Task::Sql(
            Ast::Set(_) | Ast::Reset(_) | Ast::ShowVariable { .. } | Ast::ShowVariables { .. }
        )
    );
    let (begun, modes) = {
        let mut open = session.transaction();
        (open.occupy(looks)?, open.modes())
    };
    let modes = modes.unwrap_or(session.modes());
    session.client().set_present(modes);
    session.numbers().set_read_only(modes.read_only);
    let work = Work {
        task,
        keys,
        changes: task.sql().is_some_and(changes_rows),
    };
    if let Some(snapshot) = begun {
        let mut inside = Inside {
            session,
            failed: true,
        };
        let outcome = Box::pin(within(session, work, snapshot)).await;
        inside.failed = outcome.is_err();
        return outcome;
    }
    let mut attempt = 1;
    loop {
        let mut stopped = None;
        let error = match Box::pin(alone(session, work, &mut stopped)).await {
            Err(error) => error,
            done => return done,
        };
        // The failed run changed nothing and gave no rows, so the statement can run again.
        match stopped.filter(|_| error.sqlstate == "40001") {
            Some(Stopped::ByAnother(holder)) => {
                let store = session.database().store();
                waited(session, store.wait_for(holder)).await?;
            }
            _ if worth_again(&error, work, attempt) => {
                pause(attempt).await;
                attempt += 1;
            }
            _ => return Err(error),
        }
    }
}

/// Runs a statement within the open transaction: again when a row is free that another
/// transaction had locked, and on what that one has left of it, where the level allows it.
async fn within(session: &Session, work: Work<'_>, mut snapshot: Snapshot) -> Result<Outcome> {
    let before = match work.changes {
        true => session.transaction().before_changes()?,
        false => None,
    };
    loop {
        let run = Run::new(session, snapshot, None, work.keys);
        let outcome = run.dispatch(work.task).await;
        let (Some(before), Err(error)) = (&before, &outcome) else {
            return outcome;
        };
        if error.sqlstate != "40001" {
            return outcome;
        }
        let Some(waiting) = session.transaction().stopped(before) else {
            return outcome;
        };
        if let Some(waiting) = waiting {
            waited(session, waiting).await?;
        }
        snapshot = match session.transaction().again()? {
            Some(snapshot) => snapshot,
            None => return outcome,
        };
    }
}

/// Waits until another transaction ends, no longer than `lock_timeout`.
///
/// # Errors
/// `40P01` if that one waits for this one, `55P03` if it takes too long.
async fn waited(session: &Session, waiting: Waiting) -> Result<()> {
    let Some(most) = session.client().timeout("lock_timeout") else {
        return Ok(waiting.await?);
    };
    // Not tokio's sleep, which needs a runtime with a timer.
    let (over, passed) = oneshot::channel();
    std::thread::spawn(move || {
        std::thread::sleep(most);
        // The send fails if the wait has ended before.
        let _ = over.send(());
    });
    match select(waiting, passed).await {
        Either::Left((done, _)) => Ok(done?),
        Either::Right(_) => Err(Error::new(
            "55P03",
            "canceling statement due to lock timeout",
        )),
    }
}

/// Waits within the open transaction, which fails if the wait does or is given up.
///
/// # Errors
/// Errors of [`waited`].
async fn waited_within(session: &Session, waiting: Waiting) -> Result<()> {
    session.transaction().occupy(false)?;
    let mut inside = Inside {
        session,
        failed: true,
    };
    let done = waited(session, waiting).await;
    inside.failed = done.is_err();
    done
}

/// Lets the other transaction come to its end: longer each time, 50 µs to 3 ms.
pub(super) async fn pause(attempt: usize) {
    tokio::task::yield_now().await;
    // Not tokio's sleep, which needs a runtime with a timer.
    std::thread::sleep(Duration::from_micros(25 << attempt.min(7)));
}

/// Whether a statement that failed may succeed on what others have committed.
fn worth_again(error: &Error, work: Work<'_>, attempt: usize) -> bool {
    let upsert = matches!(work.task, Task::Sql(Ast::Insert(insert)) if insert.on.is_some());
    match error.sqlstate.as_str() {
        "40001" => work.changes && attempt < ATTEMPTS,
        // Another transaction may have taken the key after it was looked for.
        "23505" => upsert && attempt < UPSERTS,
        _ => false,
    }
}

/// A statement within a transaction; one that does not come to a good end, is
/// cancelled or panics fails the transaction, which takes back what it did when
/// it is rolled back, to wherever.
struct Inside<'a> {
    session: &'a Session,
    failed: bool,
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.session.transaction().leave(self.failed);
    }
}

/// Runs a statement as a transaction of its own; `stopped` is why it could not lock a row.
async fn alone(
    session: &Session,
    Work {
        task,
        keys,
        changes,
    }: Work<'_>,
    stopped: &mut Option<Stopped>,
) -> Result<Outcome> {
    let store = session.database().store();
    if !changes {
        let run = Run::new(session, store.snapshot(), None, keys);
        return run.dispatch(task).await;
    }
    let mut own = store.begin()?;
    if session.modes().is_serializable() {
        own.make_serializable();
    }
    let run = Run::new(session, own.snapshot(), Some(own), keys);
    let outcome = run.dispatch(task).await;
    let own = run.own.into_inner();
    match (outcome, own) {
        (Ok(outcome), own) => {
            if let Some(own) = own {
                session.commit(own).await?;
            }
            Ok(outcome)
        }
        (Err(error), own) => {
            *stopped = own.and_then(|mut own| own.take_stopped());
            Err(error)
        }
    }
}

/// Changes rows in a way that waits for nothing; `None` if the statement has to be planned, and
/// nothing has changed then.
type Change<'a> = dyn Fn(&mut Transaction) -> Result<Option<Outcome>> + Sync + 'a;

/// Changes rows in the session's transaction, or in one of its own; `None` if the statement has to
/// be run in the usual way, and nothing has changed then.
async fn at_once(session: &Session, change: &Change<'_>) -> Result<Option<Outcome>> {
    loop {
        let within = session.transaction().at_once(|transaction| {
            transaction.take_stopped();
            let done = match change(transaction) {
                Err(error) => match transaction.take_stopped() {
                    // Nothing has changed.
                    Some(Stopped::ByAnother(holder)) => Err(transaction.wait_for(holder)),
                    // The usual way knows what to do.
                    Some(Stopped::Changed) => Ok(None),
                    None => return Err(error),
                },
                Ok(done) => {
                    transaction.settle()?;
                    Ok(done)
                }
            };
            Ok(done)
        })?;
        match within {
            Some(Ok(done)) => return Ok(done),
            Some(Err(waiting)) => waited_within(session, waiting).await?,
            None => break,
        }
    }
    session.must_write()?;
    let mut attempt = 1;
    loop {
        let mut stopped = None;
        let error = match at_once_alone(session, change, &mut stopped).await {
            Err(error) if error.sqlstate == "40001" => error,
            done => return done,
        };
        match stopped {
            Some(Stopped::ByAnother(holder)) => {
                let store = session.database().store();
                waited(session, store.wait_for(holder)).await?;
            }
            _ if attempt < ATTEMPTS => {
                pause(attempt).await;
                attempt += 1;
            }
            _ => return Err(error),
        }
    }
}

async fn at_once_alone(
    session: &Session,
    change: &Change<'_>,
    stopped: &mut Option<Stopped>,
) -> Result<Option<Outcome>> {
    let mut own = session.database().store().begin()?;
    if session.modes().is_serializable() {
        own.make_serializable();
    }
    let done = match change(&mut own) {
        Ok(Some(done)) => done,
        Ok(None) => return Ok(None),
        Err(error) => {
            *stopped = own.take_stopped();
            return Err(error);
        }
    };
    session.commit(own).await?;
    Ok(Some(done))
}

/// Adds rows; `None` if the statement has to be planned, and nothing has changed then.
///
/// # Errors
/// As [`NewRows::insert`].
pub(crate) async fn insert_at_once(
    session: &Session,
    rows: &NewRows,
    parameters: &[Parameter],
) -> Result<Option<Outcome>> {
    let moment = rows.is_dated().then(|| session.moment());
    let moment = moment.as_ref();
    let change = |transaction: &mut Transaction| {
        if !rows.is_allowed(session, transaction.catalog()) {
            return Ok(None);
        }
        let given = (parameters, moment);
        let count = rows.insert(transaction, given, session.numbers())?;
        Ok(count.map(inserted))
    };
    at_once(session, &change).await
}

/// Changes the rows with some keys; `None` if the statement has to be run in the usual way, and
/// nothing has changed then.
///
/// # Errors
/// Errors of the statement, such as a key that is there already.
pub(super) async fn change_at_once(
    session: &Session,
    keys: &KnownKeys<'_>,
    ast: &Ast,
) -> Result<Option<Outcome>> {
    let Some(change) = keys.keyed.change() else {
        return Ok(None);
    };
    session.apply_pending();
    if !session.in_transaction() {
        session.end_settings(true);
    }
    let changed = |transaction: &mut Transaction| {
        let catalog = Arc::clone(transaction.catalog());
        let identity = session.identity();
        // The usual way says why.
        if identity.is_limited() && identity.rights(&catalog).check(&catalog, ast).is_err() {
            return Ok(None);
        }
        // They may have to wait for a key when some of it is done.
        let table = catalog.table(&change.name.schema, &change.name.name);
        if table.is_some_and(|table| table.schema.are_keyed(&change.columns)) {
            return Ok(None);
        }
        changed_rows(transaction, keys, ast)
    };
    at_once(session, &changed).await
}

/// The outcome of an INSERT of some rows.
fn inserted(rows: u64) -> Outcome {
    let tag = format!("INSERT 0 {rows}");
    Outcome::Done { tag, rows }
}

/// Whether a statement is one that changes rows.
pub(crate) fn changes_rows(ast: &Ast) -> bool {
    match ast {
        Ast::Insert(_) | Ast::Update(_) | Ast::Delete(_) | Ast::Merge(_) | Ast::Truncate(_) => true,
        Ast::Explain { statement, .. } => carries_out(ast) && changes_rows(statement),
        ast => changing_query(ast).is_some() || locks(ast),
    }
}

/// What becomes of a statement about transactions.
enum Control {
    /// It is done, and has this tag.
    Done(&'static str),
    /// The transaction is to be committed, and another one begins with these modes.
    Commit(Box<Transaction>, Option<Modes>),
    /// The transaction is taken back, and another one begins with these modes.
    RolledBack(Option<Modes>),
    /// What was done since a savepoint is taken back, but for what was kept before its marks.
    RolledBackTo(Marks),
    /// It is about something else.
    Other,
}

/// Ends a transaction for cursors and settings, and begins the next one if it is chained.
fn end(session: &Session, committed: bool, chained: Option<Modes>) -> Result<()> {
    session.cursors().end_transaction(committed);
    session.locks().end_transaction();
    session.end_settings(committed);
    if let Some(modes) = chained {
        let begun = session.database().store().begin()?;
        *session.transaction() = Open::Going(Block::new(begun, modes));
    }
    Ok(())
}

/// Whether a statement begins or ends a transaction or a part of one.
pub(super) fn is_control(ast: &Ast) -> bool {
    matches!(
        ast,
        Ast::StartTransaction { .. }
            | Ast::Commit { .. }
            | Ast::Rollback { .. }
            | Ast::Savepoint { .. }
            | Ast::ReleaseSavepoint { .. }
    )
}

/// Does what a statement about transactions asks, but for the wait of COMMIT.
fn control(session: &Session, task: Task<'_>) -> Result<Control> {
    let mut open = session.transaction();
    let ast = match task {
        Task::Sql(ast) => ast,
        Task::Own(own) => {
            let tag = match asked_modes(own) {
                Some((true, asked)) => of_session(session, &mut open, asked)?,
                Some((false, asked)) => of_transaction(session, &mut open, asked)?,
                None => return Ok(Control::Other),
            };
            return Ok(Control::Done(tag));
        }
    };
    if is_control(ast) {
        open.must_be_idle()?;
    }
    let tag = match ast {
        Ast::StartTransaction {
            modes,
            modifier,
            begin,
            ..
        } => {
            let tag = if *begin { "BEGIN" } else { "START TRANSACTION" };
            let mut asked = AskedModes::of(modes);
            asked.deferrable = deferrable(*modifier);
            if let Some(block) = open.declare() {
                block.set(asked)?;
                return Ok(Control::Done(tag));
            }
            if let Open::Going(block) = &mut *open {
                block.set(asked)?;
                let text = "there is already a transaction in progress";
                session.notify(Notice::warning("25001", text));
                return Ok(Control::Done(tag));
            }
            open.running()?;
            let begun = session.database().store().begin()?;
            *open = Open::Going(Block::new(begun, session.modes().with(asked)));
            tag
        }
        Ast::Commit { chain: true, .. } if !open.is_declared() => {
            return Err(no_chain("COMMIT"));
        }
        Ast::Rollback {
            chain: true,
            savepoint: None,
        } if !open.is_declared() => {
            return Err(no_chain("ROLLBACK"));
        }
        Ast::Commit { .. } if matches!(*open, Open::Nothing) => {
            session.notify(none_open());
            "COMMIT"
        }
        Ast::Rollback {
            savepoint: None, ..
        } if matches!(*open, Open::Nothing) => {
            session.notify(none_open());
            "ROLLBACK"
        }
        Ast::Commit { chain, .. } => {
            let chained = open.modes().filter(|_| *chain);
            return Ok(match open.end()? {
                Some(transaction) => Control::Commit(Box::new(transaction), chained),
                None => Control::RolledBack(chained),
            });
        }
        Ast::Rollback {
            chain,
            savepoint: None,
        } => {
            let chained = open.modes().filter(|_| *chain);
            open.end()?;
            return Ok(Control::RolledBack(chained));
        }
        Ast::Rollback {
            chain: false,
            savepoint: Some(name),
        } => return Ok(Control::RolledBackTo(open.roll_back_to(&fold(name))?)),
        Ast::Savepoint { name } => {
            open.save(fold(name), session.marks())?;
            "SAVEPOINT"
        }
        Ast::ReleaseSavepoint { name } => {
            open.release(&fold(name))?;
            "RELEASE"
        }
        _ => return Ok(Control::Other),
    };
    Ok(Control::Done(tag))
}

/// Sets the modes of transactions to come.
fn of_session(session: &Session, open: &mut Open, asked: AskedModes) -> Result<&'static str> {
    open.running()?;
    let modes = session.modes().with(asked);
    for (given, name) in [
        (asked.level.is_some(), "transaction_isolation"),
        (asked.read_only.is_some(), "transaction_read_only"),
        (asked.deferrable.is_some(), "transaction_deferrable"),
    ] {
        if given {
            let name = format!("default_{name}");
            session.client().set(&name, modes.shown(&name), false)?;
        }
    }
    Ok("SET")
}

/// Sets the modes of the open transaction.
fn of_transaction(session: &Session, open: &mut Open, asked: AskedModes) -> Result<&'static str> {
    if matches!(*open, Open::Nothing) {
        let text = "SET TRANSACTION can only be used in transaction blocks";
        session.notify(Notice::warning("25P01", text));
    }
    open.set_modes(asked)?;
    Ok("SET")
}

/// The modes that SET TRANSACTION asks for, or, with true, SET SESSION CHARACTERISTICS.
fn asked_modes(own: &OwnStatement) -> Option<(bool, AskedModes)> {
    let OwnStatement::Utility(Utility::Modes {
        session,
        level,
        read_only,
        deferrable,
    }) = own
    else {
        return None;
    };
    let asked = AskedModes {
        level: level.as_deref().and_then(Level::named),
        read_only: *read_only,
        deferrable: *deferrable,
    };
    Some((*session, asked))
}

/// Whether BEGIN says DEFERRABLE or NOT DEFERRABLE: the tree has modes of another database in
/// its place.
fn deferrable(modifier: Option<TransactionModifier>) -> Option<bool> {
    match modifier? {
        TransactionModifier::Deferred => Some(true),
        TransactionModifier::Immediate => Some(false),
        _ => None,
    }
}

/// AND CHAIN where nothing is to be ended.
fn no_chain(what: &str) -> Error {
    let message = format!("{what} AND CHAIN can only be used in transaction blocks");
    Error::new("25P01", message)
}

/// What COMMIT and ROLLBACK say where nothing is to be ended.
fn none_open() -> Notice {
    Notice::warning("25P01", "there is no transaction in progress")
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
            self.session.must_write()?;
            return change(own);
        }
        match self.session.transaction().changing()? {
            Some(open) => change(open),
            None => Err(Error::internal("rows are changed outside of a transaction")),
        }
    }

    /// Changes the catalog: in the session's transaction, else at once.
    ///
    /// # Errors
    /// The closure's own, unchanged, and those of storage.
    pub(crate) fn edit<T>(&self, edit: impl FnOnce(&mut CatalogEdit) -> Result<T>) -> Result<T> {
        let owner = self.identity().current().owner();
        let edit = |draft: &mut CatalogEdit| {
            // The catalog may be a newer one than that the statement began with.
            if let Some(ast) = self.checked.get() {
                self.rights(draft.catalog()).check(draft.catalog(), ast)?;
            }
            draft.make_for(owner);
            edit(draft)
        };
        let mut open = self.session.transaction();
        match open.changing()? {
            None => {
                self.session.must_write()?;
                crate::ingest::commit(self.store(), edit)
            }
            Some(transaction) => crate::ingest::edited(edit, |wrapped| transaction.edit(wrapped)),
        }
    }
}

/// A place for a statement's own transaction.
pub(super) type Own = Mutex<Option<Transaction>>;

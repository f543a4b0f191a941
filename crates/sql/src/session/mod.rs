//! Sessions: one user's settings, transaction, cursors and prepared statements.
//!
//! Statements read and change a session. They stand above it in `run`, and the way from a
//! statement to its outcome in `execution`.

mod client;
mod cursors;
mod entry;
mod interrupt;
mod lent;
mod machine;
mod new_rows;
mod notices;
mod objects;
mod opening;
mod path;
mod prepared;
mod reading;
mod shapes;
mod targets;
mod temporary;
mod texts;
mod transaction;
mod zone;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::state::SessionState;
use freestone_frontend::syntax::cut_names;
use freestone_storage::{Snapshot, Transaction};
use futures::{StreamExt, TryStreamExt};
use parking_lot::{Mutex, MutexGuard, RwLock};

use crate::advisory_locks::HeldLocks;
use crate::catalogs;
use crate::catalogs::pg_catalog::KeptBySession;
use crate::database::Database;
use crate::engine::{RunContext, watching};
use crate::error::Result;
use crate::frames::Lent;
use crate::interrupt::Requests;
use crate::outcome::{Outcome, Rows};
use crate::plans::PlanSettings;
use crate::progress::Progress;
use crate::rights::Identity;
use crate::sequences::TakenNumbers;
use crate::settings::{
    Begun, ClientSettings, MEMORY, MOVER, Modes, Setting, WORKLOAD, change, option_of,
};
use crate::statement::Statement;

pub(crate) use cursors::{Cursors, Declared, Move};
pub(crate) use new_rows::{NewRows, NumberOf, Source};
pub use notices::{Notice, Severity};
pub use objects::ObjectNumbers;
pub use prepared::Prepared;
pub(crate) use prepared::{
    KeptStatement, KnownKeys, PreparedStatements, changed_columns, executed, shape,
};
pub(crate) use shapes::{Known, Shape};
pub(crate) use transaction::{Block, Marks, Open};
pub(crate) use zone::Moment;

/// How a session is set up.
#[derive(Debug, Clone, Default)]
pub struct SessionOptions {
    /// Threads that one statement may keep busy; by default all cores.
    pub threads: Option<usize>,
}

/// One user's connection to a database. It may be shared between threads;
/// statements run side by side, each on its own snapshot, or, between BEGIN and
/// COMMIT, all in one transaction.
pub struct Session {
    database: Database,
    state: RwLock<SessionState>,
    progress: Arc<Progress>,
    transaction: Arc<Mutex<Open>>,
    /// Whether commits do not wait for the disk.
    relaxed: AtomicBool,
    /// Statements kept by PREPARE.
    prepared: Arc<PreparedStatements>,
    shapes: shapes::Shapes,
    numbers: Arc<TakenNumbers>,
    lent: Arc<Lent>,
    client: Arc<ClientSettings>,
    cursors: Arc<Cursors>,
    locks: Arc<HeldLocks>,
    notices: notices::Notices,
    /// Which known plans were made with its settings.
    plan_settings: Mutex<PlanSettings>,
    /// The machine that it asks about, if that is another.
    machine: Mutex<Option<machine::Named>>,
    identity: Arc<Identity>,
    requests: Arc<Requests>,
}

impl Session {
    pub(crate) fn new(
        database: Database,
        mut state: SessionState,
        options: &SessionOptions,
    ) -> Self {
        let progress = Arc::new(Progress::default());
        state.put(Arc::clone(&progress));
        state.put(Arc::clone(database.store()));
        state.put(Arc::clone(database.record()));
        let identity = Arc::<Identity>::default();
        state.put(Arc::clone(&identity));
        state.put(Arc::new(catalogs::installed()));
        let numbers = Arc::new(TakenNumbers::new(database.store()));
        state.put(Arc::clone(&numbers));
        let client = Arc::new(ClientSettings::default());
        state.put(Arc::clone(&client));
        let requests = Arc::new(Requests::default());
        state.put(Arc::clone(&requests));
        let lent = Arc::new(Lent::default());
        state.put(Arc::clone(&lent));
        let prepared = Arc::<PreparedStatements>::default();
        let locks = Arc::new(HeldLocks::new(database.advisory_locks()));
        state.put(Arc::clone(&locks));
        let cursors = Arc::<Cursors>::default();
        state.put(Arc::new(KeptBySession {
            // What a cursor reads keeps the configuration, so that may not keep the cursors.
            cursors: cursors::listing(Arc::downgrade(&cursors)),
            statements: prepared::listing(Arc::clone(&prepared)),
        }));
        if let Some(threads) = options.threads {
            state.options_mut().threads = threads.max(1);
        }
        let threads = state.options().threads;
        Self {
            plan_settings: Mutex::new(PlanSettings::Usual(threads)),
            database,
            state: RwLock::new(state),
            progress,
            transaction: Arc::default(),
            relaxed: AtomicBool::new(false),
            prepared,
            shapes: shapes::Shapes::default(),
            numbers,
            lent,
            client,
            cursors,
            locks,
            notices: notices::Notices::default(),
            machine: Mutex::default(),
            identity,
            requests,
        }
    }

    /// Splits a text into statements and parses them.
    ///
    /// # Errors
    /// `42601` with the position in `sql`.
    pub fn parse(&self, sql: &str) -> Result<Vec<Statement>> {
        let only = sql
            .trim()
            .trim_end_matches(|end: char| end == ';' || end.is_whitespace());
        if let Some(outline) = self.shapes.outline(only) {
            return Ok(vec![Statement::unread(only, outline)]);
        }
        let texts = || self.database.texts().parse(sql);
        let parsed = self.requests.parsing(sql, texts)?;
        for (name, kept) in cut_names(sql) {
            let message = format!("identifier \"{name}\" will be truncated to \"{kept}\"");
            self.notify(Notice::told("42622", message));
        }
        Ok(parsed)
    }

    /// Statements that it keeps by PREPARE.
    pub(crate) fn prepared(&self) -> &PreparedStatements {
        &self.prepared
    }

    /// Shapes of statements that it knows.
    pub(crate) fn shapes(&self) -> &shapes::Shapes {
        &self.shapes
    }

    /// Requests to end its statements.
    pub(crate) fn requests(&self) -> &Requests {
        &self.requests
    }

    /// The outcome of a statement whose rows are shown in the zone of the session, end on request, and
    /// fail the transaction if they fail.
    pub(crate) fn watched_to_end(&self, outcome: Outcome) -> Outcome {
        self.failing(self.zoned(self.ending(outcome)))
    }

    /// How far the current statement is.
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Rows that end when the statement is to.
    fn ending(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Rows(Rows { schema, stream }) => Outcome::Rows(Rows {
                schema,
                stream: watching(stream, Arc::clone(&self.requests)),
            }),
            other => other,
        }
    }

    /// An outcome with which the locks end that a statement outside of a transaction has taken.
    pub(crate) fn unlocking(&self, outcome: Outcome) -> Outcome {
        let locks = self.locks.transaction();
        match outcome {
            Outcome::Rows(Rows { schema, stream }) => {
                let stream = stream.inspect_ok(move |_| {
                    let _until_dropped = &locks;
                });
                Outcome::Rows(Rows {
                    schema: Arc::clone(&schema),
                    stream: stream.boxed(),
                })
            }
            done => done,
        }
    }

    /// Marks of its settings and advisory locks, for a savepoint.
    pub(crate) fn marks(&self) -> Marks {
        Marks {
            settings: self.client.mark(),
            locks: self.locks.mark(),
            cursors: self.cursors.mark(),
        }
    }

    /// Takes back settings, advisory locks and cursors that came after marks.
    pub(crate) fn back_to(&self, kept: Marks) {
        self.undo_settings(kept.settings);
        self.locks.back_to(kept.locks);
        self.cursors.back_to(kept.cursors);
    }

    /// Advisory locks.
    pub(crate) fn locks(&self) -> &Arc<HeldLocks> {
        &self.locks
    }

    /// Rows whose error fails the open transaction, if there is one.
    fn failing(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Rows(Rows { schema, stream }) if self.in_transaction() => {
                let open = Arc::clone(&self.transaction);
                let stream = stream.inspect_err(move |_| open.lock().leave(true));
                Outcome::Rows(Rows {
                    schema: Arc::clone(&schema),
                    stream: stream.boxed(),
                })
            }
            other => other,
        }
    }

    /// What the session is in; held for a moment only.
    pub(crate) fn transaction(&self) -> MutexGuard<'_, Open> {
        self.transaction.lock()
    }

    /// Whether a statement failed in the open transaction, so that only its end is left.
    pub fn transaction_failed(&self) -> bool {
        matches!(*self.transaction.lock(), Open::Failed(_))
    }

    /// Whether BEGIN has opened a transaction that has not ended.
    pub fn in_transaction(&self) -> bool {
        !matches!(*self.transaction.lock(), Open::Nothing)
    }

    /// What transactions are unless they say otherwise.
    pub(crate) fn modes(&self) -> Modes {
        self.client.modes()
    }

    /// Commits a transaction, and waits for the disk unless it is not to.
    ///
    /// # Errors
    /// Errors of storage.
    pub(crate) async fn commit(&self, mut transaction: Transaction) -> Result<()> {
        if self.relaxed.load(Ordering::Relaxed) {
            transaction.relax();
        }
        self.end_temporary(&mut transaction)?;
        Ok(transaction.commit_async().await?)
    }

    /// Refuses to change anything outside of a transaction in a read-only session.
    ///
    /// # Errors
    /// `25006`.
    pub(crate) fn must_write(&self) -> Result<()> {
        match self.modes().read_only {
            true => Err(transaction::read_only()),
            false => Ok(()),
        }
    }

    /// Threads that a statement may use.
    pub(crate) fn threads(&self) -> usize {
        self.state.read().options().threads
    }

    /// The numbers of sequences.
    pub(crate) fn numbers(&self) -> &TakenNumbers {
        &self.numbers
    }

    /// The database this session belongs to.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// The database as its next statement would see it, for those who only plan it.
    ///
    /// # Errors
    /// `25P02` in a transaction that failed.
    pub(crate) fn glance(&self) -> Result<Snapshot> {
        let within = self.transaction().glance()?;
        Ok(within.unwrap_or_else(|| self.database.store().snapshot()))
    }

    /// The session's state for one statement: `now()` stands still in it.
    pub(crate) fn statement_state(&self) -> SessionState {
        let mut state = self.state.read().clone();
        state.begin();
        let (start, number) = {
            let open = self.transaction.lock();
            (open.start(), open.numbered(self.database.store()))
        };
        if let Some(start) = start {
            state.put(Arc::new(Begun(start)));
        }
        state.put(Arc::new(number));
        state
    }

    /// The surroundings in which its plans run.
    pub(crate) fn run_context(&self) -> RunContext {
        RunContext::of(&self.state.read())
    }

    /// The same for scans that see `moment`, whatever they were planned for.
    pub(crate) fn run_context_at(&self, moment: &Snapshot) -> RunContext {
        RunContext {
            moment: Some(moment.clone()),
            ..self.run_context()
        }
    }

    /// Changes a setting that is not kept in [`ClientSettings`] for the statements that follow.
    pub(super) fn configured(&self, setting: &Setting) -> Result<()> {
        let (name, value) = (setting.name.as_str(), setting.value.as_deref());
        if self.set_reading(name, value)? || self.set_machine(name, value)? {
            return Ok(());
        }
        let mut state = self.state.write();
        if option_of(&setting.name.to_lowercase()) == option_of(MEMORY) {
            let limit = setting.value.as_deref().unwrap_or(crate::memory::DEFAULT);
            self.database.memory().set_limit(limit)?;
        }
        change(&mut state, setting)?;
        self.client.changed();
        let options = state.options();
        let relaxed = options.durability == "relaxed";
        self.relaxed.store(relaxed, Ordering::Relaxed);
        *self.plan_settings.lock() = PlanSettings::own();
        if setting.name.eq_ignore_ascii_case(WORKLOAD) {
            self.database
                .record()
                .set_recording(options.workload != "off");
        }
        if setting.name.eq_ignore_ascii_case(MOVER) {
            match options.mover == "paused" {
                true => self.database.store().pause_mover(),
                false => self.database.store().resume_mover(),
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("database", &self.database)
            .finish_non_exhaustive()
    }
}

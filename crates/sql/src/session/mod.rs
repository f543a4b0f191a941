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

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::execution::TaskContext;
use datafusion::execution::session_state::SessionState;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::SessionConfig;
use freestone_exec::Memory;
use freestone_frontend::syntax::cut_names;
use freestone_storage::{Snapshot, Transaction};
use futures::TryStreamExt;
use parking_lot::{Mutex, MutexGuard, RwLock};

use crate::advisory_locks::HeldLocks;
use crate::catalogs;
use crate::catalogs::pg_catalog::KeptBySession;
use crate::database::Database;
use crate::engine::watching;
use crate::error::Result;
use crate::frames::Lent;
use crate::interrupt::Requests;
use crate::memory::Broker;
use crate::options::OwnOptions;
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

/// A sort holds back at most one part of so many of all memory.
const SORT_SHARE: usize = 64;

impl Session {
    pub(crate) fn new(
        database: Database,
        mut state: SessionState,
        options: &SessionOptions,
    ) -> Self {
        let progress = Arc::new(Progress::default());
        let config = state.config_mut();
        config.set_extension(Arc::clone(&progress));
        config.set_extension(Arc::clone(database.store()));
        config.set_extension(Arc::clone(database.record()));
        let identity = Arc::<Identity>::default();
        config.set_extension(Arc::clone(&identity));
        config.set_extension(Arc::new(catalogs::installed()));
        let numbers = Arc::new(TakenNumbers::new(database.store()));
        config.set_extension(Arc::clone(&numbers));
        let client = Arc::new(ClientSettings::default());
        config.set_extension(Arc::clone(&client));
        let requests = Arc::new(Requests::default());
        config.set_extension(Arc::clone(&requests));
        let lent = Arc::new(Lent::default());
        config.set_extension(Arc::clone(&lent));
        let prepared = Arc::<PreparedStatements>::default();
        let locks = Arc::new(HeldLocks::new(database.advisory_locks()));
        config.set_extension(Arc::clone(&locks));
        let cursors = Arc::<Cursors>::default();
        config.set_extension(Arc::new(KeptBySession {
            // What a cursor reads keeps the configuration, so that may not keep the cursors.
            cursors: cursors::listing(Arc::downgrade(&cursors)),
            statements: prepared::listing(Arc::clone(&prepared)),
        }));
        if let Some(threads) = options.threads {
            config.options_mut().execution.target_partitions = threads.max(1);
        }
        let threads = state.config().target_partitions();
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
                    stream: Box::pin(RecordBatchStreamAdapter::new(schema, stream)),
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
                    stream: Box::pin(RecordBatchStreamAdapter::new(schema, stream)),
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
        self.state.read().config().target_partitions()
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
        state.mark_start_execution();
        let (start, number) = {
            let open = self.transaction.lock();
            (open.start(), open.numbered(self.database.store()))
        };
        if let Some(start) = start {
            state.config_mut().set_extension(Arc::new(Begun(start)));
        }
        state.config_mut().set_extension(Arc::new(number));
        self.limit_sorts(state.config_mut());
        state
    }

    /// What a plan runs with; functions are in the plan already.
    pub(crate) fn task_context(&self) -> Arc<TaskContext> {
        self.task_context_with(|_| {})
    }

    /// The same for scans that see `moment`, whatever they were planned for.
    pub(crate) fn task_context_at(&self, moment: &Snapshot) -> Arc<TaskContext> {
        self.task_context_with(|config| config.set_extension(Arc::new(moment.clone())))
    }

    fn task_context_with(&self, change: impl FnOnce(&mut SessionConfig)) -> Arc<TaskContext> {
        let state = self.state.read();
        let mut config = state.config().clone();
        change(&mut config);
        self.limit_sorts(&mut config);
        Arc::new(TaskContext::new(
            None,
            state.session_id().to_owned(),
            config,
            HashMap::new(),
            HashMap::new(),
            HashMap::new(),
            HashMap::new(),
            Arc::clone(state.runtime_env()),
        ))
    }

    /// What DataFusion's sorts hold back for merging their runs is made for large limits.
    fn limit_sorts(&self, config: &mut SessionConfig) {
        let own = config.get_extension::<Broker>();
        let limit = own.map_or_else(|| self.database.memory().limit(), |own| own.limit());
        let share = limit / SORT_SHARE;
        if config.options().execution.sort_spill_reservation_bytes > share {
            config.options_mut().execution.sort_spill_reservation_bytes = share;
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
        let own = state.config_options().extensions.get::<OwnOptions>();
        let relaxed = own.is_some_and(|own| own.durability == "relaxed");
        self.relaxed.store(relaxed, Ordering::Relaxed);
        *self.plan_settings.lock() = PlanSettings::own();
        if setting.name.eq_ignore_ascii_case(WORKLOAD) {
            let on = own.is_none_or(|own| own.workload != "off");
            self.database.record().set_recording(on);
        }
        if setting.name.eq_ignore_ascii_case(MOVER) {
            match own.is_some_and(|own| own.mover == "paused") {
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

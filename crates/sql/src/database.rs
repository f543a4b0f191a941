//! A database: its storage, shared by any number of sessions.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::state::SessionState;
use freestone_storage::{OpenMode, Role, RoleId, Store};
use parking_lot::Mutex;

use crate::advisory_locks::AdvisoryLocks;
use crate::error::Result;
use crate::memory::Broker;
use crate::plans::KnownPlans;
use crate::rights::Login;
use crate::statement::KnownTexts;
use crate::temporary::remove_left;
use crate::workload::{Keeper, Record};

/// An open database. Clones share it; it closes with the last of them.
///
/// # Example
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> freestone::Result<()> {
/// let database = freestone::Database::in_memory();
/// let session = database.session();
/// session.execute("CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2)").await?;
/// let rows = session.query("SELECT sum(a) FROM t").await?;
/// assert_eq!(rows[0].num_rows(), 1);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Database {
    /// Ends before the store does.
    keeper: Arc<Keeper>,
    /// So does this, which asks it at the end what was looked up and changed.
    record: Arc<Record>,
    store: Arc<Store>,
    /// Functions and options that every session starts with.
    template: Arc<SessionState>,
    plans: Arc<KnownPlans>,
    texts: Arc<KnownTexts>,
    advisory_locks: Arc<AdvisoryLocks>,
    memory: Arc<Broker>,
    /// Parts of it, of roles that may have so much and no more.
    of_roles: Arc<Mutex<HashMap<RoleId, Arc<Broker>>>>,
}

impl Database {
    /// Opens the database in the directory `path`, creating it if need be.
    ///
    /// # Errors
    /// `58030` when the disk refuses, others when the directory holds something
    /// else, a newer format, or a database that another process writes.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self::of(
            Store::open(path.as_ref(), OpenMode::Create)?,
            true,
        ))
    }

    /// As [`Database::open`], with directories for blocks beside the database's own: new
    /// blocks go to each of them in turn, and scans read them all at once. The database
    /// remembers them; those that it knows need not be given again.
    ///
    /// # Errors
    /// As [`Database::open`]; `22023` for a directory that belongs to another database.
    pub fn open_striped(path: impl AsRef<Path>, directories: &[PathBuf]) -> Result<Self> {
        let store = Store::open_striped(path.as_ref(), OpenMode::Create, directories)?;
        Ok(Self::of(store, true))
    }

    /// Opens a database that must exist.
    ///
    /// # Errors
    /// As [`Database::open`], and when there is none.
    pub fn open_existing(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self::of(
            Store::open(path.as_ref(), OpenMode::ReadWrite)?,
            true,
        ))
    }

    /// Opens a database for reading, next to any other readers and one writer.
    ///
    /// # Errors
    /// As [`Database::open_existing`].
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self::of(
            Store::open(path.as_ref(), OpenMode::ReadOnly)?,
            false,
        ))
    }

    /// A database in memory, gone with its last clone.
    pub fn in_memory() -> Self {
        Self::of(Store::in_memory(), true)
    }

    fn of(store: Arc<Store>, writable: bool) -> Self {
        let record = Record::open(&store, writable);
        let memory = Broker::new(&store);
        let plans = Arc::<KnownPlans>::default();
        let kept = Arc::downgrade(&plans);
        store.on_waiting_files(move |now| {
            if let Some(plans) = kept.upgrade() {
                plans.forget_outdated(now);
            }
        });
        if writable {
            // What cannot be removed now is removed another time.
            let _ = remove_left(&store);
        }
        let keeper = Keeper::new(writable);
        let record = Arc::new(record);
        keeper.begin(&store, &record);
        Self {
            keeper: Arc::new(keeper),
            store,
            template: Arc::new(SessionState::new(Arc::clone(&memory))),
            memory,
            of_roles: Arc::default(),
            plans,
            texts: Arc::default(),
            advisory_locks: Arc::default(),
            record,
        }
    }

    /// The role of that name, as somebody who wants to connect.
    pub fn login(&self, name: &str) -> Option<Login> {
        let role = self.store().snapshot().roles().role(name)?;
        Some(Login::role(role))
    }

    /// Whether a role that may connect has a password, and whether one of those may do
    /// everything.
    pub fn passwords(&self) -> (bool, bool) {
        let snapshot = self.store().snapshot();
        let all = snapshot.roles().all();
        let with: Vec<&Role> = all
            .values()
            .filter(|role| role.login && role.password.is_some())
            .collect();
        (!with.is_empty(), with.iter().any(|role| role.superuser))
    }

    /// The state that sessions start with.
    pub(crate) fn template(&self) -> &SessionState {
        &self.template
    }

    /// The memory of a role's queries.
    pub(crate) fn role_memory(&self, role: RoleId, limit: &str) -> Result<Arc<Broker>> {
        let mut known = self.of_roles.lock();
        if let Some(broker) = known.get(&role) {
            broker.set_limit(limit)?;
            return Ok(Arc::clone(broker));
        }
        let broker = Broker::of_role(&self.memory, limit)?;
        known.insert(role, Arc::clone(&broker));
        Ok(broker)
    }

    /// Gives queries of a role that run another limit; without one the database's counts.
    pub(crate) fn limit_role(&self, role: RoleId, limit: Option<&str>) -> Result<()> {
        match self.of_roles.lock().get(&role) {
            Some(broker) => broker.set_limit(limit.unwrap_or(crate::memory::DEFAULT)),
            None => Ok(()),
        }
    }

    /// Plans of queries that were seen before.
    pub(crate) fn plans(&self) -> &KnownPlans {
        &self.plans
    }

    /// Texts that were parsed before.
    pub(crate) fn texts(&self) -> &KnownTexts {
        &self.texts
    }

    /// Numbers that its sessions have locked.
    pub(crate) fn advisory_locks(&self) -> &Arc<AdvisoryLocks> {
        &self.advisory_locks
    }

    /// The memory of all its queries.
    pub(crate) fn memory(&self) -> &Arc<Broker> {
        &self.memory
    }

    /// What it remembers of its queries.
    pub(crate) fn record(&self) -> &Arc<Record> {
        &self.record
    }

    /// Sees to tables whose layout is automatic; called when one may have become so.
    pub(crate) fn keep_layouts(&self) {
        self.keeper.begin(&self.store, &self.record);
    }

    /// Keeps a machine file, as `freestone calibrate` writes it, in the database: its
    /// queries are predicted by it from now on.
    ///
    /// # Errors
    /// `22023` for a text that is none, `25006` if the database is open read-only, `55000`
    /// of one in memory, `58030` when the disk refuses.
    pub fn keep_machine(&self, text: &str) -> Result<()> {
        self.record.keep_machine(self.store.path(), text)?;
        self.plans.clear();
        Ok(())
    }

    /// The storage below.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database")
            .field("path", &self.store.path())
            .finish_non_exhaustive()
    }
}

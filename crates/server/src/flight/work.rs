//! Sessions: of one call, and of transactions, which several calls share.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::{Duration, Instant};

use freestone::{Error, Outcome, Parameter, Prepared, Result, Session};
use futures::StreamExt;
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedMutexGuard, watch};

use super::clients::Client;
use super::handle;
use crate::door::RolePlace;
use crate::limits::Limits;
use crate::startup::Door;

/// How long a transaction may wait for its next call: no connection ends with its client.
pub(super) const IDLE: Duration = Duration::from_secs(600);
/// Transactions at a time, of all clients and of those of one name.
const MOST: usize = 1000;
const MOST_OF_ONE: usize = 100;

/// A session, for one call or for those of a transaction.
pub(super) struct Work {
    pub(super) session: Session,
    pub(super) limits: Limits,
    pub(super) client: Arc<Client>,
    _place: Option<RolePlace>,
}

/// Work that a call has for itself, for as long as it runs.
pub(super) enum Held {
    Own(Box<Work>),
    Shared(OwnedMutexGuard<Work>),
}

impl Deref for Held {
    type Target = Work;

    fn deref(&self) -> &Work {
        match self {
            Held::Own(work) => work,
            Held::Shared(work) => work,
        }
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut Work {
        match self {
            Held::Own(work) => work,
            Held::Shared(work) => work,
        }
    }
}

impl Work {
    /// A session for a client.
    ///
    /// # Errors
    /// As [`Client::admitted`].
    pub(super) fn begin(
        door: &Door,
        client: &Arc<Client>,
        stopping: &watch::Receiver<bool>,
    ) -> Result<Work> {
        let (login, place) = client.admitted(door)?;
        Ok(Work {
            session: door.session(&login)?,
            limits: Limits::new(Arc::new(Notify::new()), stopping.clone()),
            client: Arc::clone(client),
            _place: place,
        })
    }

    /// Runs a statement to its result.
    ///
    /// # Errors
    /// Those of the statement, and what ends it.
    pub(super) async fn run(
        &mut self,
        prepared: &Prepared,
        values: &[Parameter],
    ) -> Result<Outcome> {
        let began = Instant::now();
        let limit = self.session.timeout("statement_timeout");
        self.session.begin_statement(limit);
        self.limits.begin(limit);
        let run = self.limits.wait(prepared.run(&self.session, values)).await;
        let outcome = run.and_then(|outcome| outcome);
        let text = prepared.statement().text();
        self.client.watched.statement(text, began.elapsed());
        if let Err(error) = &outcome {
            self.client.watched.error(text, error);
        }
        outcome
    }

    /// Runs a statement to its end; how many rows it has changed.
    ///
    /// # Errors
    /// Those of the statement, and what ends it.
    pub(super) async fn change(
        &mut self,
        prepared: &Prepared,
        values: &[Parameter],
    ) -> Result<i64> {
        match self.run(prepared, values).await? {
            // `UPDATE 5`, `INSERT 0 5`; others change no rows.
            Outcome::Done { tag, .. } => {
                let last = tag.rsplit(' ').next().and_then(|last| last.parse().ok());
                Ok(last.unwrap_or(0))
            }
            Outcome::Rows(mut rows) => {
                let mut count = 0;
                while let Some(batch) = self.limits.wait(rows.stream.next()).await? {
                    count += batch?.num_rows();
                }
                Ok(i64::try_from(count).unwrap_or(i64::MAX))
            }
        }
    }

    /// Runs a statement that is no client's.
    ///
    /// # Errors
    /// Those of the statement.
    pub(super) async fn command(&self, sql: &str) -> Result<()> {
        self.session.execute(sql).await.map(drop)
    }
}

/// A statement of one text.
///
/// # Errors
/// `42601` for none or several.
pub(super) fn prepared(session: &Session, sql: &str) -> Result<Prepared> {
    let mut statements = session.parse(sql)?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => Prepared::new(statement),
        _ => {
            let error = Error::new(
                "42601",
                "a call runs one statement, neither none nor several",
            );
            Err(error.with_hint("make a call for each"))
        }
    }
}

struct Open {
    work: Arc<tokio::sync::Mutex<Work>>,
    owner: String,
    last: Instant,
}

/// Transactions that are open.
pub(super) struct Transactions {
    all: Mutex<HashMap<String, Open>>,
    /// How long one may wait for its next call.
    idle: Duration,
}

impl Transactions {
    /// None, which may wait so long.
    pub(super) fn new(idle: Duration) -> Self {
        Self {
            all: Mutex::default(),
            idle,
        }
    }

    /// Begins one; what it is called from now on.
    ///
    /// # Errors
    /// `53300` if too many are open.
    pub(super) async fn begin(&self, work: Work) -> Result<String> {
        let (all, own) = {
            let all = self.all.lock();
            let own = all.values().filter(|open| open.owner == work.client.name);
            (all.len(), own.count())
        };
        if all >= MOST || own >= MOST_OF_ONE {
            let message = format!(
                "more than {MOST} transactions are open, or {MOST_OF_ONE} of \"{}\"",
                work.client.name
            );
            return Err(Error::new("53300", message).with_hint("end some of them"));
        }
        work.command("BEGIN").await?;
        let name = handle();
        let open = Open {
            owner: work.client.name.clone(),
            work: Arc::new(tokio::sync::Mutex::new(work)),
            last: Instant::now(),
        };
        self.all.lock().insert(name.clone(), open);
        Ok(name)
    }

    /// The session of one, when no other call uses it any more.
    ///
    /// # Errors
    /// `25P01` if there is none of that name, or it is another client's.
    pub(super) async fn find(&self, name: &[u8], client: &Client) -> Result<Held> {
        let work = self.known(name, client, false)?;
        Ok(Held::Shared(work.lock_owned().await))
    }

    /// The same for the last time.
    ///
    /// # Errors
    /// As [`Transactions::find`].
    pub(super) async fn end(&self, name: &[u8], client: &Client) -> Result<Held> {
        let work = self.known(name, client, true)?;
        Ok(Held::Shared(work.lock_owned().await))
    }

    fn known(
        &self,
        name: &[u8],
        client: &Client,
        last: bool,
    ) -> Result<Arc<tokio::sync::Mutex<Work>>> {
        let unknown = || {
            let error = Error::new("25P01", "there is no such transaction");
            let seconds = self.idle.as_secs_f64();
            error.with_hint(format!(
                "one that waits {seconds} seconds for its next call is rolled back"
            ))
        };
        let name = std::str::from_utf8(name).map_err(|_| unknown())?;
        let mut all = self.all.lock();
        let open = all.get_mut(name).filter(|open| open.owner == client.name);
        let open = open.ok_or_else(unknown)?;
        open.last = Instant::now();
        let work = Arc::clone(&open.work);
        if last {
            all.remove(name);
        }
        Ok(work)
    }

    /// Rolls those back that have waited too long.
    pub(super) fn sweep(&self) {
        let mut all = self.all.lock();
        // A session that is dropped rolls back.
        all.retain(|_, open| open.last.elapsed() < self.idle || open.work.try_lock().is_err());
    }
}

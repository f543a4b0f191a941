//! One client: its messages, one after the other.

use std::sync::Arc;
use std::time::Instant;

use freestone::{Error, Session};
use pgwire::messages::PgWireBackendMessage as Backend;
use pgwire::messages::response::{ReadyForQuery, TransactionStatus};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::cancel::Cancellable;
use crate::door::RolePlace;
use crate::failure::{Failure, response, violation};
use crate::held::Held;
use crate::limits::{Limits, Timeouts, stopped};
use crate::messages::{LONGEST, Messages};
use crate::places::Place;
use crate::portal::{Known, Portal};
use crate::request::Request;
use crate::startup::Guest;
use crate::told::Told;
use crate::watch::Watched;

/// Statements and portals that a client may keep.
const MOST_KEPT: usize = 10_000;
/// Bytes of their texts and values, all together: the longest statement, prepared and bound.
const MOST_BYTES: usize = 2 * LONGEST;

/// A client that has said who it is.
pub(crate) struct Connection {
    pub(crate) messages: Messages,
    pub(crate) session: Session,
    /// What the client knows of its settings.
    told: Told,
    pub(crate) limits: Limits,
    pub(crate) timeouts: Timeouts,
    pub(crate) statements: Held<Arc<Known>>,
    pub(crate) portals: Held<Portal>,
    /// The text that errors have places in.
    pub(crate) sql: String,
    /// Whether the time of a statement has begun.
    timed: bool,
    /// Whether the server is about to stop: no more statements are begun.
    closing: watch::Receiver<bool>,
    watched: Watched,
    _cancellable: Cancellable,
    _of_role: Option<RolePlace>,
    /// The last to go: another client may come in then.
    _place: Place,
}

/// What a message leads to.
enum Next {
    /// The next message.
    More,
    /// The client is told that it may go on.
    Ready,
    /// The client leaves.
    Leave,
}

impl Connection {
    pub(crate) fn new(
        guest: Guest,
        closing: watch::Receiver<bool>,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        guest.cancellable.ends(guest.session.cancel_flag());
        Self {
            messages: guest.messages,
            limits: Limits::new(Arc::clone(&guest.cancellable.asked), stopping),
            timeouts: Timeouts::default(),
            session: guest.session,
            told: guest.told,
            statements: Held::default(),
            portals: Held::default(),
            sql: String::new(),
            timed: false,
            closing,
            watched: guest.watched,
            _cancellable: guest.cancellable,
            _of_role: guest.of_role,
            _place: guest.place,
        }
    }

    /// Serves it until it leaves, or has to.
    pub(crate) async fn serve(mut self) {
        if let Err(failure) = self.talk().await
            && let Failure::Fatal(error) | Failure::Told(error) = failure
        {
            self.watched.error(&self.sql, &error);
            let _ = self.messages.put(&response(&error, &self.sql, true));
        }
        self.messages.close().await;
        self.watched.count(&mut self.messages.traffic);
    }

    async fn talk(&mut self) -> Result<(), Failure> {
        self.ready()?;
        // After an error all is left out up to the next Sync.
        let mut skipping = false;
        while let Some(request) = self.next().await? {
            let extended = request.is_extended();
            if skipping && extended && request != Request::Sync {
                continue;
            }
            skipping &= extended && request != Request::Sync;
            let runs = matches!(request, Request::Query(_) | Request::Execute { .. });
            let began = Instant::now();
            if request.is_timed() {
                self.begin_unit();
            }
            let ends = runs || request == Request::Sync;
            let answered = self.answer(request).await;
            if ends || answered.is_err() {
                self.timed = false;
            }
            if runs {
                self.watched.statement(&self.sql, began.elapsed());
                self.watched.count(&mut self.messages.traffic);
            }
            match answered {
                Ok(Next::More) => {}
                Ok(Next::Ready) => self.ready()?,
                Ok(Next::Leave) => return Ok(()),
                Err(Failure::Told(error)) => {
                    self.watched.error(&self.sql, &error);
                    self.messages.put(&response(&error, &self.sql, false))?;
                    self.session.fail();
                    skipping = extended;
                    if !extended {
                        self.session.end_implicit().await?;
                        self.ready()?;
                    }
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    /// Begins the time of a statement whose messages come one by one, as PostgreSQL does: with
    /// the first of them.
    fn begin_unit(&mut self) {
        if !self.timed {
            let limit = self.timeouts.of(&self.session).statement;
            self.session.begin_statement(limit);
            self.limits.begin(limit);
            self.timed = true;
        }
    }

    /// The next message, as long as the client takes no longer than it may.
    async fn next(&mut self) -> Result<Option<Request>, Failure> {
        let limits = self.timeouts.of(&self.session);
        let (setting, limit) = match self.session.in_transaction() {
            true => (
                "idle_in_transaction_session_timeout",
                limits.idle_in_transaction,
            ),
            false => ("idle_session_timeout", limits.idle),
        };
        let message = async {
            let next = self.messages.next();
            // No clock runs where there is no limit.
            match limit {
                None => next.await,
                Some(limit) => timeout(limit, next)
                    .await
                    .unwrap_or_else(|_| Err(idle(setting))),
            }
        };
        let closing = self.closing.wait_for(|closing| *closing);
        tokio::select! {
            biased;
            message = message => message,
            _ = closing => Err(Failure::Fatal(stopped())),
        }
    }

    /// What takes long, or is rare, is boxed: the rest is not to move its state about.
    async fn answer(&mut self, request: Request) -> Result<Next, Failure> {
        if self.statements.len() > MOST_KEPT || self.portals.len() > MOST_KEPT {
            let message = format!("more than {MOST_KEPT} prepared statements or portals");
            return Err(Failure::Fatal(Error::new("53400", message)));
        }
        match request {
            Request::Query(sql) => {
                self.portals.remove("");
                self.sql.clone_from(&sql);
                Box::pin(self.query(&sql)).await?;
                self.end_of_statement();
                return Ok(Next::Ready);
            }
            Request::Parse { name, sql, types } => self.parse(name, sql, types)?,
            Request::Bind {
                portal,
                statement,
                formats,
                values,
                result_formats,
            } => {
                let values = (formats.as_slice(), values.as_slice());
                self.bind(portal, &statement, values, result_formats)
                    .await?;
            }
            Request::Describe(named) => self.describe(&named).await?,
            Request::Execute { portal, most } => self.execute(portal, most).await?,
            Request::Close(named) => self.close(&named)?,
            Request::Flush => self.messages.flush().await?,
            Request::Sync => {
                if let Err(error) = self.session.end_implicit().await {
                    self.messages.put(&response(&error, &self.sql, false))?;
                }
                self.end_of_statement();
                return Ok(Next::Ready);
            }
            Request::Terminate => return Ok(Next::Leave),
            // The rest of a COPY that failed.
            Request::CopyData(_) | Request::CopyDone | Request::CopyFail(_) => {}
            Request::Proof(_) => return Err(violation("nobody has asked for a password")),
        }
        Ok(Next::More)
    }

    /// Makes sure that so many bytes more of texts and values may be kept.
    ///
    /// # Errors
    /// `53200` if they are too many.
    pub(crate) fn room(&self, more: usize) -> Result<(), Error> {
        let kept = self.statements.bytes() + self.portals.bytes();
        match kept.saturating_add(more) <= MOST_BYTES {
            true => Ok(()),
            false => {
                let message = format!(
                    "prepared statements and portals of a connection would take more than {MOST_BYTES} bytes"
                );
                Err(Error::new("53200", message).with_hint("close some of them"))
            }
        }
    }

    /// Portals end with their transaction.
    fn end_of_statement(&mut self) {
        if !self.session.in_transaction() {
            self.portals.clear();
        }
    }

    /// Tells the client that it may go on, in which state, and under which settings.
    fn ready(&mut self) -> Result<(), Failure> {
        let status = match (
            self.session.in_transaction(),
            self.session.transaction_failed(),
        ) {
            (_, true) => TransactionStatus::Error,
            (true, false) => TransactionStatus::Transaction,
            (false, false) => TransactionStatus::Idle,
        };
        self.told.update(&mut self.messages, &self.session)?;
        let ready = ReadyForQuery::new(status);
        self.messages.put(&Backend::ReadyForQuery(ready))
    }
}

/// What a client is told that has been silent for longer than a setting allows.
fn idle(setting: &str) -> Failure {
    let sqlstate = match setting {
        "idle_session_timeout" => "57P05",
        _ => "25P03",
    };
    let message = format!(
        "terminating connection due to {}",
        setting.replace('_', "-")
    );
    Failure::Fatal(Error::new(sqlstate, message))
}

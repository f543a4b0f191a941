//! What may end a statement before it is done: a request, a limit of time, the end of the
//! server.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use freestone::{Error, Result, Session};
use futures::FutureExt;
use tokio::sync::Notify;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Watches one statement at a time.
#[derive(Debug)]
pub(crate) struct Limits {
    asked: Arc<Notify>,
    /// Whether the server stops at once.
    stopping: watch::Receiver<bool>,
    deadline: Option<Instant>,
}

impl Limits {
    pub(crate) fn new(asked: Arc<Notify>, stopping: watch::Receiver<bool>) -> Self {
        Self {
            asked,
            stopping,
            deadline: None,
        }
    }

    /// Begins a statement that may take so long.
    pub(crate) fn begin(&mut self, limit: Option<Duration>) {
        // What was asked before was about another one.
        let _ = self.asked.notified().now_or_never();
        // A limit beyond all time is none.
        self.deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    }

    /// Waits for `work`, unless something ends it.
    ///
    /// # Errors
    /// `57014` when it was cancelled or took too long, `57P01` when the server stops.
    pub(crate) async fn wait<T>(&mut self, work: impl Future<Output = T>) -> Result<T> {
        let deadline = self.deadline;
        let late = async move {
            match deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.asked.notified() => {
                Err(Error::new("57014", "canceling statement due to user request"))
            }
            () = late => {
                let error = Error::new("57014", "canceling statement due to statement timeout");
                Err(error.with_hint("SET statement_timeout allows longer ones"))
            }
            _ = self.stopping.wait_for(|stopping| *stopping) => Err(stopped()),
            done = work => Ok(done),
        }
    }
}

/// Limits of time that the settings of a session say, read again when a setting has changed.
#[derive(Debug, Default)]
pub(crate) struct Timeouts {
    /// The state of the settings when they were read.
    changes: Option<u64>,
    pub(crate) statement: Option<Duration>,
    pub(crate) idle: Option<Duration>,
    pub(crate) idle_in_transaction: Option<Duration>,
}

impl Timeouts {
    /// The limits as they are now.
    pub(crate) fn of(&mut self, session: &Session) -> &Self {
        let changes = Some(session.setting_changes());
        if self.changes != changes {
            *self = Self {
                changes,
                statement: session.timeout("statement_timeout"),
                idle: session.timeout("idle_session_timeout"),
                idle_in_transaction: session.timeout("idle_in_transaction_session_timeout"),
            };
        }
        self
    }
}

/// What clients are told when the server stops.
pub(crate) fn stopped() -> Error {
    Error::new("57P01", "terminating connection: the server is stopping")
}

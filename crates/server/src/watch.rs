//! What is noted of clients and their statements: counted, and told if it matters.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use freestone::Error;

use crate::log::{Log, shown};
use crate::metrics::{Counted, Metrics, add};

/// Counts and log of a server.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watch {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) log: Log,
}

/// Bytes and rows of a connection that were not counted yet.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) received: u64,
    pub(crate) sent: u64,
    pub(crate) rows: u64,
}

/// One client that has come in.
#[derive(Debug)]
pub(crate) struct Watched {
    watch: Watch,
    user: String,
    from: SocketAddr,
    _counted: Counted,
}

impl Watch {
    /// A client has come in.
    pub(crate) fn admitted(&self, user: String, from: SocketAddr) -> Watched {
        let facts = [
            ("user", user.as_str().into()),
            ("from", from.to_string().into()),
        ];
        self.log.tell("connected", &facts);
        Watched {
            _counted: self.metrics.enter(),
            watch: self.clone(),
            user,
            from,
        }
    }

    /// A client was not let in.
    pub(crate) fn refused(&self, from: SocketAddr, error: &Error) {
        add(&self.metrics.refused, 1);
        self.metrics.error(&error.sqlstate);
        let facts = [
            ("from", from.to_string().into()),
            ("sqlstate", error.sqlstate.as_str().into()),
            ("message", error.message.as_str().into()),
        ];
        self.log.tell("refused", &facts);
    }
}

impl Watched {
    /// A statement is done, or failed, after some time.
    pub(crate) fn statement(&self, sql: &str, took: Duration) {
        self.watch.metrics.statement(took);
        if self.watch.log.slow.is_some_and(|slow| took >= slow) {
            let milliseconds = took.as_secs_f64() * 1e3;
            let facts = [
                ("user", self.user.as_str().into()),
                ("ms", milliseconds.into()),
                ("statement", shown(sql)),
            ];
            self.watch.log.tell("slow", &facts);
        }
    }

    /// The client was told of an error.
    pub(crate) fn error(&self, sql: &str, error: &Error) {
        self.watch.metrics.error(&error.sqlstate);
        let facts = [
            ("user", self.user.as_str().into()),
            ("sqlstate", error.sqlstate.as_str().into()),
            ("message", error.message.as_str().into()),
            ("statement", shown(sql)),
        ];
        self.watch.log.tell("failed", &facts);
    }

    /// Counts what went to and fro since the last time.
    pub(crate) fn count(&self, traffic: &mut Traffic) {
        let Traffic {
            received,
            sent,
            rows,
        } = std::mem::take(traffic);
        let metrics = &self.watch.metrics;
        for (count, more) in [
            (&metrics.received, received),
            (&metrics.sent, sent),
            (&metrics.rows, rows),
        ] {
            if more > 0 {
                count.fetch_add(more, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let facts = [
            ("user", self.user.as_str().into()),
            ("from", self.from.to_string().into()),
        ];
        self.watch.log.tell("left", &facts);
    }
}

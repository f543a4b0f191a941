//! How a server is set up.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use freestone::{Result, Session};

use crate::log::LogFormat;
use crate::users::Users;

/// How a server is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it listens; port 0 is any that is free.
    pub address: SocketAddr,
    /// Certificate and key; without them connections are not encrypted.
    pub tls: Option<TlsFiles>,
    /// Users with passwords, beside the roles of the catalog: one that is no role there may
    /// do everything. `None` asks for passwords only beyond this machine, of roles that have
    /// one, and of everybody once a superuser has one.
    pub users: Option<Users>,
    /// Whether a connection that is not encrypted is refused. `None` refuses it where other
    /// machines can reach the server and there is TLS.
    pub require_tls: Option<bool>,
    /// Connections at a time.
    pub connections: usize,
    /// How many of them are kept for superusers; never all.
    pub reserved: usize,
    /// How long a client may take to say who it is.
    pub startup: Duration,
    /// How long a client may take nothing of what it is sent.
    pub send: Duration,
    /// What sessions may take; each may lower it for itself.
    pub limits: TimeLimits,
    /// How long statements may go on when the server stops.
    pub shutdown: Duration,
    /// Where `/metrics` are for Prometheus, if they are to be. Nobody is asked for a
    /// password there; they have no data.
    pub metrics: Option<SocketAddr>,
    /// Where Flight SQL is served, if it is to be: with the same users and encryption.
    pub flight: Option<SocketAddr>,
    /// How connections, errors and slow statements are told on standard error.
    pub log: LogFormat,
    /// Statements that take so long or longer are slow; none is if it is not set.
    pub slow: Option<Duration>,
    /// Folders whose files statements may name.
    pub files: Vec<PathBuf>,
}

/// Limits of time of each session: what its settings are by default, and at most. `None` leaves
/// them to the session.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimeLimits {
    /// `statement_timeout`.
    pub statement: Option<Duration>,
    /// `idle_session_timeout`.
    pub idle: Option<Duration>,
    /// `idle_in_transaction_session_timeout`.
    pub idle_in_transaction: Option<Duration>,
}

impl TimeLimits {
    /// Has a session keep to them.
    ///
    /// # Errors
    /// Those of [`Session::limit`].
    pub(crate) fn apply(&self, session: &Session) -> Result<()> {
        for (setting, most) in [
            ("statement_timeout", self.statement),
            ("idle_session_timeout", self.idle),
            (
                "idle_in_transaction_session_timeout",
                self.idle_in_transaction,
            ),
        ] {
            if let Some(most) = most {
                session.limit(setting, most)?;
            }
        }
        Ok(())
    }
}

/// Files for TLS, in PEM.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate, then those that vouch for it.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl Options {
    /// Options for an address, with a hundred connections and nobody asked for a password.
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            tls: None,
            users: None,
            require_tls: None,
            connections: 100,
            reserved: 3,
            startup: Duration::from_secs(10),
            send: Duration::from_secs(60),
            limits: TimeLimits::default(),
            shutdown: Duration::from_secs(10),
            metrics: None,
            flight: None,
            log: LogFormat::Off,
            slow: None,
            files: Vec::new(),
        }
    }
}

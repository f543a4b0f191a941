//! Freestone served over PostgreSQL's wire protocol, version 3, and over Flight SQL (`flight`).
//!
//! ```text
//! listener ─ startup (TLS, authentication) ─ connection ┬ simple ──┐
//!                                             │          └ extended ┴ portal ─ output
//!                                             ├ cancel, limits of time
//!                                             ├ places of clients and of strangers
//!                                             └ watch ─ metrics, log
//! ```
//!
//! Messages are written, and passwords checked, by `pgwire`; reading them and what is done
//! about them is ours: every connection has a session with real transactions, results are sent as they
//! are computed, and whatever a client asks for can be cancelled or times out, also while
//! its result is being sent.

mod arrays;
mod cancel;
mod connection;
mod copy;
mod copy_binary;
mod door;
mod extended;
mod failure;
mod flight;
mod held;
mod kinds;
mod limits;
mod listener;
mod log;
mod messages;
mod metrics;
mod numeric;
mod options;
mod output;
mod parameters;
mod places;
mod portal;
mod ranges;
mod request;
mod simple;
mod socket;
mod startup;
mod tls;
mod told;
mod users;
mod watch;

pub use listener::Server;
pub use log::LogFormat;
pub use options::{Options, TimeLimits, TlsFiles};
pub use users::Users;

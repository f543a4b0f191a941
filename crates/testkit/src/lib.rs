//! Test tools that look at Freestone from outside, as its users do.
//!
//! - [`slt`] runs SQLite's sqllogictest files (`data/slt`) through the library
//!   and holds the result against a committed list of known failures.
//! - [`kill`] ends a loading process with SIGKILL at random moments and checks
//!   that the database afterwards holds all of the load or none of it.
//!
//! Each has a small program of the same name. Both end with a line of the form
//! `N passed, N failed, N skipped` and exit with 1 when anything failed.

#![forbid(unsafe_code)]

pub mod kill;
pub mod slt;

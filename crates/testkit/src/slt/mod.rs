//! SQLite's sqllogictest files over the `freestone` library.
//!
//! A file is a list of *records*: statements that must succeed or fail, and
//! queries with the values they must return, as SQLite rendered them. Each file
//! runs in a fresh in-memory database; files run in parallel, one thread each.
//! Records marked `skipif postgresql` or `onlyif` another engine are left out,
//! because PostgreSQL's semantics are ours.
//!
//! | step | where |
//! |---|---|
//! | read `….test.zst`, settle `halt` and comments the crate cannot parse | [`script`] |
//! | leave out what needs UPDATE, DELETE or CREATE INDEX | [`scope`] |
//! | run one record, render values by the record's own types | [`database`], [`cell`] |
//! | hold failures against the committed list | [`known`] |
//!
//! Parsing, sorting, hashing and comparing are the `sqllogictest` crate's.

pub mod cell;
pub mod database;
pub mod known;
pub mod report;
pub mod runner;
pub mod scope;
pub mod script;

pub use report::Report;
pub use runner::run_folder;

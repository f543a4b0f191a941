//! SQL, for experiments that ask by it. The lab has none: whoever runs it gives it some.

use crate::error::Result;
use std::fmt::Debug;
use std::path::Path;

/// Makes databases with the tables of TPC-H, and opens them.
pub trait Sql: Debug + Send + Sync {
    /// Loads TPC-H at a scale factor into a new directory; all tables have the options,
    /// as they stand between the parentheses of `WITH`.
    ///
    /// # Errors
    /// Those of the load.
    fn load(&self, directory: &Path, scale: f64, options: &str) -> Result<()>;

    /// Opens a database that was loaded. It is closed when it is dropped.
    ///
    /// # Errors
    /// Those of opening.
    fn open(&self, directory: &Path, threads: usize) -> Result<Box<dyn SqlDatabase>>;

    /// The text of one of the 22 queries, from 1.
    ///
    /// # Errors
    /// If there is no such query.
    fn query(&self, number: usize, scale: f64) -> Result<String>;

    /// The tables, small ones first, each with its columns as they stand between the
    /// parentheses of CREATE TABLE.
    fn tables(&self) -> Vec<(&'static str, &'static str)>;
}

/// An open database.
pub trait SqlDatabase {
    /// Runs a statement; seconds from its text to its last row, and its rows.
    ///
    /// # Errors
    /// Those of the statement.
    fn run(&self, sql: &str) -> Result<(f64, u64)>;
}

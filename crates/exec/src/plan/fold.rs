//! Aggregates that the caller implements.

use crate::Result;
use crate::vector::Batch;
use std::sync::Arc;

/// Groups of rows by aggregates that the caller implements.
#[derive(Clone, Debug)]
pub struct Folding {
    /// The functions.
    pub folder: Arc<dyn Folder>,
    /// How many sets of keys the rows are grouped by.
    pub sets: usize,
    /// Whether groups take their rows in the order of the input.
    pub ordered: bool,
    /// Whether states keep rows.
    pub keeps: bool,
}

/// Functions of groups.
pub trait Folder: std::fmt::Debug + Send + Sync {
    /// The groups of a set of keys, none so far.
    ///
    /// # Errors
    /// Errors of the functions.
    fn begin(&self, set: usize) -> Result<Box<dyn Folded>>;

    /// A number for each row, the same for rows of one group; `None` if all rows are one group.
    ///
    /// # Errors
    /// Errors of reading the keys.
    fn hashes(&self, set: usize, rows: &Batch) -> Result<Option<Vec<u64>>>;
}

/// Groups and their states.
pub trait Folded: Send {
    /// Adds rows. If no group may `begin`, rows of groups that are not known are left out; their
    /// positions are returned.
    ///
    /// # Errors
    /// Errors of the functions.
    fn add(&mut self, rows: &Batch, begin: bool) -> Result<Vec<u32>>;

    /// Bytes of memory that they take.
    fn bytes(&self) -> usize;

    /// The results of all groups.
    ///
    /// # Errors
    /// Errors of the functions.
    fn finish(self: Box<Self>) -> Result<Vec<Batch>>;
}

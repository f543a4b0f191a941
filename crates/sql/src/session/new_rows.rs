//! Rows of an INSERT that needs no plan, as a prepared statement keeps them.

use std::sync::Arc;

use freestone_storage::{SequenceId, TableSchema, Value};

use crate::names::Name;

/// Rows that a statement adds.
#[derive(Debug)]
pub(crate) struct NewRows {
    pub(crate) name: Name,
    pub(crate) schema: Arc<TableSchema>,
    /// A value for each column, row by row.
    pub(crate) rows: Vec<Vec<Source>>,
}

/// Where a value comes from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// The statement; `None` is NULL.
    Given(Option<Value>),
    /// The parameter of this number, from 0.
    Parameter(usize),
    /// The time at which the transaction began.
    Now,
    /// The next number of a sequence.
    Next(NumberOf),
}

/// A sequence of which a column takes numbers.
#[derive(Clone, Debug)]
pub(crate) struct NumberOf {
    pub(crate) name: Name,
    pub(crate) id: SequenceId,
    /// Whether it comes and goes with the column; else rights to it are asked for.
    pub(crate) is_own: bool,
}

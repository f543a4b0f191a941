//! Rows of an INSERT that needs no plan, as a prepared statement keeps them.

use std::sync::Arc;

use freestone_storage::{TableSchema, Value};

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
}

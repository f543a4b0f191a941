//! Operators of the language front in plans of the bulk engine: their rows come and go as its
//! batches, and the front computes what they mean.
//!
//! | module | gives |
//! |---|---|
//! | `values` | rows that a plan or a statement has |
//! | `general` | any aggregate |
//! | `functions` | rows of functions, alone or beside each row |
//! | `cut` | the first rows of an order with their peers, or as a share of all |
//! | `source` | rows of relations that are not stored |
//! | `sample` | TABLESAMPLE |
//! | `asof` | the nearest row of the right side |
//! | `windows` | functions over windows that the bulk engine has not |
//! | `recursive` | WITH RECURSIVE |
//! | `dependent` | a right side that is run for values of the left one |

pub(super) mod asof;
pub(super) mod cut;
pub(super) mod dependent;
pub(super) mod functions;
pub(super) mod general;
pub(super) mod recursive;
pub(super) mod sample;
pub(super) mod source;
pub(super) mod values;
pub(super) mod windows;

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, cast::AsArray, new_empty_array};
use arrow::datatypes::{DataType, Float64Type};
use freestone_exec as exec;
use freestone_exec::vector::{Batch, Vector};
use freestone_exec::{Gathered, Inside, Reservation};

use crate::error::Error;
use crate::values::buffers::concatenated;

/// An error as one of the bulk engine.
pub(super) fn other(error: impl Into<Error>) -> exec::Error {
    error.into().into()
}

/// The columns of some rows, which are of some types.
pub(super) fn arrays(rows: &Batch, kinds: &[DataType]) -> exec::Result<Vec<ArrayRef>> {
    let columns = rows.columns.iter().zip(kinds);
    columns
        .map(|(column, kind)| column.to_arrow(kind))
        .collect()
}

/// Rows of some columns.
pub(super) fn batch<'a>(
    columns: impl IntoIterator<Item = &'a ArrayRef>,
    rows: usize,
) -> exec::Result<Batch> {
    let columns = columns.into_iter().map(Vector::from_arrow);
    Ok(Batch {
        columns: columns.collect::<exec::Result<_>>()?,
        rows,
    })
}

/// All rows that were gathered, as one array for each column.
pub(super) fn whole(
    rows: &Gathered,
    kinds: &[DataType],
    held: &mut Held,
    run: &dyn Inside,
) -> exec::Result<Vec<ArrayRef>> {
    let mut parts: Vec<Vec<ArrayRef>> = vec![Vec::new(); kinds.len()];
    for batch in rows.batches() {
        let columns = arrays(&batch?, kinds)?;
        let bytes = columns.iter().map(|column| column.get_array_memory_size());
        held.grow(bytes.sum(), run)?;
        for (parts, column) in parts.iter_mut().zip(columns) {
            parts.push(column);
        }
    }
    let columns = parts.into_iter().zip(kinds);
    let columns = columns.map(|(parts, kind)| joined(&parts, kind));
    columns.collect()
}

/// Arrays of a type one behind the other.
pub(super) fn joined(parts: &[ArrayRef], kind: &DataType) -> exec::Result<ArrayRef> {
    Ok(match parts {
        [] => new_empty_array(kind),
        [only] => Arc::clone(only),
        parts => concatenated(parts).map_err(other)?,
    })
}

/// Memory that an operator cannot do without.
pub(super) struct Held {
    name: &'static str,
    bytes: usize,
    memory: Reservation,
}

impl Held {
    /// Nothing yet, for an operator of a name.
    pub(super) fn new(name: &'static str, run: &dyn Inside) -> Self {
        Self {
            name,
            bytes: 0,
            memory: run.reservation(),
        }
    }

    /// Asks for so many bytes more.
    ///
    /// # Errors
    /// `OutOfMemory` if they are not granted.
    pub(super) fn grow(&mut self, bytes: usize, run: &dyn Inside) -> exec::Result<()> {
        let all = self.bytes + bytes;
        if !self.memory.hold(all) {
            return Err(run.refused(self.name, all));
        }
        self.bytes = all;
        Ok(())
    }

    /// None any more.
    pub(super) fn free(&mut self) {
        self.bytes = 0;
        self.memory.hold(0);
    }
}

/// The first value of a column of floats.
pub(super) fn number(array: &ArrayRef) -> Option<f64> {
    let array = array.as_primitive_opt::<Float64Type>()?;
    (array.len() == 1 && array.is_valid(0)).then(|| array.value(0))
}

//! Rows that a plan has, and rows of VALUES that are computed in each run.

use std::fmt;

use arrow::array::ArrayRef;
use freestone_exec as exec;
use freestone_exec::vector::Batch;
use freestone_exec::{Batches, Inside, Rows};
use freestone_frontend::functions::kernel::repeated;
use freestone_frontend::plan::Expr as Bound;

use super::super::{Surroundings, evaluated};
use super::{batch, joined};
use crate::values::with_kind;

/// Rows that are there.
#[derive(Debug)]
pub(in super::super) struct Known(pub(in super::super) Vec<Batch>);

impl Rows for Known {
    fn name(&self) -> &'static str {
        "values"
    }

    fn open<'b>(&'b self, _: &dyn Inside) -> exec::Result<Vec<Batches<'b>>> {
        Ok(vec![Box::new(self.0.iter().cloned().map(Ok))])
    }
}

/// Rows of expressions that read no column.
pub(in super::super) struct Computed {
    pub(in super::super) rows: Vec<Vec<Bound>>,
    pub(in super::super) around: Surroundings,
}

impl fmt::Debug for Computed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows", self.rows.len())
    }
}

impl Computed {
    /// The values of some rows, each column in the form of its type.
    fn computed(&self, rows: &[Vec<Bound>]) -> exec::Result<Batch> {
        let width = rows.first().map_or(0, Vec::len);
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(width);
        for at in 0..width {
            let mut parts = Vec::with_capacity(rows.len());
            for value in rows.iter().filter_map(|row| row.get(at)) {
                let found = evaluated::values(value, &[], &[], 1, &self.around)?;
                parts.push(with_kind(repeated(found.array, 1), &value.ty.arrow())?);
            }
            let kind = parts.first().map(|part| part.data_type().clone());
            columns.extend(kind.map(|kind| joined(&parts, &kind)).transpose()?);
        }
        batch(&columns, rows.len())
    }
}

impl Rows for Computed {
    fn name(&self) -> &'static str {
        "values"
    }

    fn describe(&self) -> String {
        format!("{self:?}")
    }

    // They may tell the time.
    fn is_lasting(&self) -> bool {
        false
    }

    fn open<'b>(&'b self, run: &dyn Inside) -> exec::Result<Vec<Batches<'b>>> {
        let parts = self.rows.chunks(run.batch_rows());
        Ok(vec![Box::new(parts.map(|rows| self.computed(rows)))])
    }
}

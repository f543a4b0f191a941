//! Orders, and the numbers of limits.

use arrow::array::ArrayRef;
use arrow::compute::SortOptions;
use freestone_frontend::plan::{Expr as Bound, Plan, SortKey};

use super::Lowering;
use crate::error::{Error, Result};
use crate::expression::Scalar;

impl Lowering {
    /// The value of an expression that reads no column.
    pub(super) fn constant(&self, expr: &Bound) -> Result<ArrayRef> {
        Ok(super::evaluated::values(expr, &[], &[], 1, &self.around)?.array)
    }

    /// A number of rows; `None` for NULL.
    pub(super) fn rows(&self, expr: &Bound, sqlstate: &str, word: &str) -> Result<Option<i64>> {
        let value = self.constant(expr)?;
        let kind = arrow::datatypes::DataType::Int64;
        let value = crate::values::with_kind(value, &kind)?;
        match Scalar::of(&value, 0).as_integer() {
            Some(rows) if rows < 0 => {
                let message = format!("{word} must not be negative");
                Err(Error::new(sqlstate, message))
            }
            rows => Ok(rows),
        }
    }
}

/// Whether a plan is, under projections, an order.
pub(super) fn is_sorted(plan: &Plan) -> bool {
    match plan {
        Plan::Sort { .. } => true,
        Plan::Project { input, .. } => is_sorted(input),
        _ => false,
    }
}

/// The direction of a key.
pub(super) fn options(key: &SortKey) -> SortOptions {
    SortOptions {
        descending: key.descending,
        nulls_first: key.nulls_first,
    }
}

//! Orders, and the numbers of limits.

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::compute::SortOptions;
use datafusion::common::ScalarValue;
use freestone_frontend::plan::{Expr as Bound, Plan, SortKey};

use super::Lowering;
use crate::error::{Error, Result};

impl Lowering {
    /// The value of an expression that reads no column.
    pub(super) fn constant(&self, expr: &Bound) -> Result<ArrayRef> {
        Ok(super::evaluated::values(expr, &[], &[], 1, &self.around)?.array)
    }

    /// A number of rows; `None` for NULL.
    pub(super) fn rows(&self, expr: &Bound, sqlstate: &str, word: &str) -> Result<Option<i64>> {
        let value = self.constant(expr)?;
        let kind = datafusion::arrow::datatypes::DataType::Int64;
        let value = crate::values::with_kind(value, &kind)?;
        match ScalarValue::try_from_array(&value, 0)? {
            ScalarValue::Int64(Some(rows)) if rows < 0 => {
                let message = format!("{word} must not be negative");
                Err(Error::new(sqlstate, message))
            }
            ScalarValue::Int64(rows) => Ok(rows),
            _ => Ok(None),
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

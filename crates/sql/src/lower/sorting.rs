//! Orders, and the numbers of limits.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, FieldRef};
use freestone_exec::expression::Expression;
use freestone_frontend::plan::{Expr as Bound, Plan, SortKey};

use super::{Lowering, Typed, canonical, place};
use crate::engine::{Found, Scope};
use crate::error::{Error, Result};
use crate::expression::Scalar;
use crate::types::type_of;

impl Lowering {
    /// The value of an expression that reads no column.
    pub(super) fn constant(&self, expr: &Bound) -> Result<ArrayRef> {
        Ok(super::evaluated::values(expr, &[], &[], 1, &self.around)?.array)
    }

    /// A number of rows; `None` for NULL.
    pub(super) fn rows(&self, expr: &Bound, sqlstate: &str, word: &str) -> Result<Option<i64>> {
        let value = self.constant(expr)?;
        let kind = DataType::Int64;
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

/// A column as operators sort by it, and its type.
///
/// # Errors
/// `XX000` for a type that has no order.
pub(crate) fn sort_key(at: usize, field: &FieldRef) -> Result<(Expression, DataType)> {
    let typed = Typed::new(place(field.name()), field.data_type().clone());
    let typed = canonical::sortable(typed, &type_of(field));
    let typed = typed.ok_or_else(|| Error::internal(format!("no order of {field}")))?;
    let columns = Found::from([(field.name().clone(), (at, Arc::clone(field)))]);
    let scope = Scope::over(&columns);
    Ok((scope.expr(&typed.expr)?, typed.kind))
}

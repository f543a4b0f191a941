//! A limit of no rows computes none.
//!
//! ```text
//! Limit 0                Values (no rows)
//!   Project 1 / x
//!     Scan t
//! ```
//!
//! Rows that nobody gets may not raise errors, and are not read. The limit has to stand in the
//! statement; others are looked at when they run.

use crate::plan::{Expr, Plan};

/// Lets a limit of no rows be no rows.
pub(super) fn emptied(plan: &mut Plan) {
    if gives_none(plan) {
        let columns = plan.columns();
        let rows = Vec::new();
        std::mem::replace(plan, Plan::Values { columns, rows }).free_flat();
    }
}

/// Whether a plan is a limit of no rows. A wrong offset is told when it is looked at.
fn gives_none(plan: &Plan) -> bool {
    let Plan::Limit { limit, offset, .. } = plan else {
        return false;
    };
    let none = limit.as_ref().and_then(Expr::literal_integer) == Some(0);
    none && match offset {
        Some(offset) => offset.literal_integer().is_some_and(|rows| rows >= 0),
        None => true,
    }
}

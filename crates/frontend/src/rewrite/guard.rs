//! Arguments of aggregates with FILTER are computed for the rows that it lets pass.
//!
//! ```text
//! sum(1 / x) FILTER (WHERE x > 0)     sum(CASE WHEN x > 0 THEN 1 / x END) FILTER (WHERE x > 0)
//! ```
//!
//! Arguments that cannot fail stay as they are.

use super::facts::may_fail;
use crate::plan::{Expr, ExprKind, Plan, WindowKind};

/// Lets arguments that may fail be computed for rows that pass.
pub(super) fn guarded(plan: &mut Plan) {
    match plan {
        Plan::Aggregate { calls, .. } => {
            for (_, call) in calls {
                if let Some(filter) = &call.filter {
                    let order = call.order.iter_mut().map(|key| &mut key.expr);
                    let values = call.arguments.iter_mut().chain(order);
                    values.for_each(|value| compute_if(value, filter));
                }
            }
        }
        Plan::Window { calls, .. } => {
            for (_, call) in calls {
                if let (Some(filter), WindowKind::Aggregate(_)) = (&call.filter, &call.kind) {
                    let values = call.arguments.iter_mut();
                    values.for_each(|value| compute_if(value, filter));
                }
            }
        }
        _ => {}
    }
}

/// Lets a value that may fail be NULL where a condition is not TRUE.
fn compute_if(value: &mut Expr, condition: &Expr) {
    if !may_fail(value) {
        return;
    }
    let ty = value.ty.clone();
    let then = std::mem::replace(value, Expr::bool(true));
    let kind = ExprKind::Case {
        branches: vec![(condition.clone(), then)],
        otherwise: None,
    };
    *value = Expr::new(kind, ty);
}

//! Arguments of aggregates with FILTER are computed for the rows that it lets pass.
//!
//! ```text
//! sum(1 / x) FILTER (WHERE x > 0)     sum(CASE WHEN x > 0 THEN 1 / x END) FILTER (WHERE x > 0)
//! ```
//!
//! Arguments that cannot fail stay as they are.

use super::facts::may_fail;
use crate::interrupt;
use crate::plan::{Expr, ExprKind, Plan, WindowKind};
use crate::stack;

/// A plan that gives the same rows, and errors only of rows that pass.
pub(super) fn guarded(mut plan: Plan) -> Plan {
    stack::with_room(plan.levels(), || guard(&mut plan));
    plan
}

fn guard(plan: &mut Plan) {
    if interrupt::check().is_err() {
        return;
    }
    for expr in plan.expressions_mut() {
        expr.change(&mut |part| {
            if let ExprKind::Subquery(subquery) = &mut part.kind {
                guard(&mut subquery.plan);
            }
        });
    }
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
    for input in plan.inputs_mut() {
        guard(input);
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

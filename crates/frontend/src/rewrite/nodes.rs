//! The walk of the rewritings that look at one node at a time.
//!
//! ```text
//! Limit 3            changed last
//!   Filter EXISTS    changed after the sub-query and the scan
//!     Scan t         changed first
//! ```

use crate::interrupt;
use crate::plan::{ExprKind, Plan};
use crate::stack;

/// Changes all nodes of a plan and of the sub-queries in its expressions, each after the nodes
/// below it. An interrupted walk ends early: its plan has been changed in part and is not run.
pub(super) fn each(plan: &mut Plan, change: &mut (dyn FnMut(&mut Plan) + Send)) {
    let levels = plan.levels().saturating_mul(2);
    stack::with_room(levels, || walk(plan, change));
}

fn walk(plan: &mut Plan, change: &mut dyn FnMut(&mut Plan)) {
    if interrupt::check().is_err() {
        return;
    }
    for expr in plan.expressions_mut() {
        expr.change(&mut |part| {
            if let ExprKind::Subquery(subquery) = &mut part.kind {
                walk(&mut subquery.plan, change);
            }
        });
    }
    for input in plan.inputs_mut() {
        walk(input, change);
    }
    change(plan);
}

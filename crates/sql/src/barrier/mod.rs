//! What a view hides stays hidden from the expressions of its readers.
//!
//! A reader's condition that is computed before the view's own sees rows that the view leaves
//! out, and tells of them by failing: `WHERE 1 / (salary - 100) > 0`. For readers who could not
//! read what is under a view, its plan stands under a *barrier*, which no rule moves a condition
//! through:
//!
//! ```text
//! Filter: 1 / (salary - 100) > 0
//!   Barrier
//!     Filter: department = 'sales'
//!       staff
//! ```
//!
//! But for those that cannot fail, which the front's rewriting moves through: they find rows by
//! indexes and zones as without a view. It takes barriers away that hide no rows, too. PostgreSQL
//! does the same for views with `security_barrier` and functions that are leakproof.

mod node;

use std::sync::Arc;

use datafusion::logical_expr::{Extension, LogicalPlan};

pub(crate) use node::BarrierNode;

/// The plan of a view under a barrier.
pub(crate) fn barred(plan: LogicalPlan) -> LogicalPlan {
    LogicalPlan::Extension(Extension {
        node: Arc::new(BarrierNode::new(plan)),
    })
}

/// What is under a node, if that is a barrier.
pub(crate) fn under(plan: &LogicalPlan) -> Option<&LogicalPlan> {
    let LogicalPlan::Extension(extension) = plan else {
        return None;
    };
    let barrier = extension.node.as_any().downcast_ref::<BarrierNode>();
    barrier.map(BarrierNode::input)
}

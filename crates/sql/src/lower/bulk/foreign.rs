//! Rows of operators that the bulk engine has not: they are fed to its plan.
//!
//! ```text
//! Aggregate                         aggregate
//!   Join                              join
//!     Scan t                            scan t
//!     Functions generate_series         rows of operator 1
//! ```
//!
//! Nodes with few columns of their own, at the leaves of a plan, are fed. A node whose input the
//! bulk engine has, and which fails for another reason, gives up the whole plan.

use freestone_exec::{Node, Plan as Own};
use freestone_frontend::plan::{CteId, JoinKind, Plan};

use super::super::join::depends;
use super::super::{own_name, projected};
use super::{Bulk, Part, field};
use crate::engine::{Converted, Found};
use crate::error::Result;

/// Rows that are taken to come of an operator of which nothing is known.
const ROWS: f64 = 1000.0;

impl Bulk<'_> {
    /// The rows of a node that another operator gives.
    pub(super) fn foreign(&self, plan: &Plan) -> Result<Option<Part>> {
        let outside = !is_foreign(plan) || self.reads_outside(plan, &mut Vec::new());
        if outside || !plan.free().is_empty() {
            return Ok(None);
        }
        let rows = self.lowering.plan(plan)?;
        let kept = self.lowering.kept(plan);
        let mut exprs = Vec::with_capacity(kept.len());
        let mut kinds = Vec::with_capacity(kept.len());
        for column in &kept {
            let typed = self.lowering.column(column.id)?;
            exprs.push(typed.expr.alias(own_name(column)));
            kinds.push(typed.kind);
        }
        let rows = projected(exprs, rows)?;
        let mut found = Found::new();
        for (at, (column, kind)) in kept.iter().zip(&kinds).enumerate() {
            let name = self.find(column, kind);
            let field = field(&name, kind.clone());
            found.insert(name, (at, field));
        }
        self.spend(plan);
        let mut feeds = self.feeds.borrow_mut();
        let feed = Node::Feed(feeds.len());
        feeds.push(rows);
        let estimate = estimate(plan);
        let rows = Converted {
            distinct: vec![estimate; kinds.len()],
            plan: Own::new(feed, kinds, estimate),
            sampled: None,
        };
        Ok(Some(Part { rows, found }))
    }

    /// Whether a plan reads a common table expression that other operators do not know; it has
    /// some of its `own`.
    pub(super) fn reads_outside(&self, plan: &Plan, own: &mut Vec<CteId>) -> bool {
        match plan {
            Plan::With { ctes, .. } => own.extend(ctes.iter().map(|cte| cte.id)),
            Plan::CteScan { id, .. } | Plan::Recursion { id, .. } => {
                return !own.contains(id) && !self.lowering.is_shared(*id);
            }
            _ => {}
        }
        let inputs = plan.inputs();
        inputs
            .into_iter()
            .any(|input| self.reads_outside(input, own))
    }
}

/// Whether a node is one that other operators are for. Rows that are fed have no order.
fn is_foreign(plan: &Plan) -> bool {
    match plan {
        Plan::Values { .. } | Plan::Scan { .. } | Plan::Functions { .. } => true,
        Plan::CteScan { .. } | Plan::Recursion { .. } => true,
        Plan::ProjectSet { input, .. } | Plan::Window { input, .. } => !has_order(input),
        Plan::Join {
            kind,
            left,
            right,
            lateral,
            ..
        } => {
            let is_near = matches!(kind, JoinKind::AsOf | JoinKind::AsOfLeft);
            (is_near || *lateral && depends(left, right)) && !has_order(left)
        }
        _ => false,
    }
}

/// Whether rows of a plan may come in an order that it asks for.
fn has_order(plan: &Plan) -> bool {
    matches!(plan, Plan::Sort { .. }) || plan.inputs().into_iter().any(has_order)
}

/// About how many rows a node gives.
fn estimate(plan: &Plan) -> f64 {
    match plan {
        Plan::Values { rows, .. } => (rows.len() as f64).max(1.0),
        _ => ROWS,
    }
}

//! An aggregate computes what it alone reads of a projection below it.
//!
//! ```text
//! Aggregate sum(v) by y                     Aggregate sum(a * b) by extract(year from d)
//!   Project extract(year from d) y,           Join …
//!           a * b v
//!     Join …
//! ```
//!
//! A query over a sub-query then has the plan that it has without one. Values that are read twice
//! stay where they are computed once, and so do arguments with FILTER, which are computed for
//! other rows above than below.

use std::collections::{HashMap, HashSet};

use crate::plan::{Column, ColumnId, Expr, ExprKind, Plan};

/// Lets an aggregate compute the values of the projection below it that it alone reads.
pub(super) fn computed(plan: &mut Plan) {
    let counts = match plan {
        Plan::Aggregate {
            input, sets: None, ..
        } if matches!(**input, Plan::Project { .. }) => counted(plan),
        _ => return,
    };
    let (
        Some(counts),
        Plan::Aggregate {
            input, keys, calls, ..
        },
    ) = (counts, plan)
    else {
        return;
    };
    let Plan::Project {
        input: below,
        items,
    } = input.as_mut()
    else {
        return;
    };
    let once = |id: &ColumnId| counts.get(id) == Some(&1);
    let mut values: HashMap<ColumnId, Expr> = HashMap::new();
    for (column, value) in items.iter() {
        let is_plain = matches!(value.kind, ExprKind::Column(_));
        if !is_plain && once(&column.id) && may_move(value) {
            values.insert(column.id, value.clone());
        }
    }
    let mut moved = HashSet::new();
    let mut take = |expr: &mut Expr| {
        expr.change(&mut |part| {
            if let ExprKind::Column(id) = part.kind
                && let Some(value) = values.get(&id)
                && value.ty == part.ty
            {
                *part = value.clone();
                moved.insert(id);
            }
        });
    };
    for (_, key) in keys {
        if matches!(key.kind, ExprKind::Column(_)) {
            take(key);
        }
    }
    let plain = calls.iter_mut().map(|(_, call)| call);
    for call in plain.filter(|call| call.filter.is_none() && call.order.is_empty()) {
        call.arguments.iter_mut().for_each(&mut take);
    }
    if moved.is_empty() {
        return;
    }
    let mut read = HashSet::new();
    for id in &moved {
        values[id].read(&mut read);
    }
    items.retain(|(column, _)| !moved.contains(&column.id));
    for column in below.columns() {
        let has = items.iter().any(|(other, _)| other.id == column.id);
        if read.contains(&column.id) && !has {
            let value = column.reference();
            items.push((column, value));
        }
    }
    // A projection that only hands columns on is none.
    let same = |(column, value): &(Column, Expr)| *value == column.reference();
    if items.iter().all(same) {
        let below = std::mem::replace(below.as_mut(), Plan::one_row());
        **input = below;
    }
}

/// Whether a value may be computed by the node above.
fn may_move(value: &Expr) -> bool {
    !value.is_volatile() && !value.has_subquery() && !value.reads().is_empty()
}

/// How often the expressions of a node read each column; `None` if they have sub-queries.
fn counted(plan: &Plan) -> Option<HashMap<ColumnId, usize>> {
    let mut counts = HashMap::new();
    for expr in plan.expressions() {
        if expr.has_subquery() {
            return None;
        }
        expr.any(&mut |part| {
            if let ExprKind::Column(id) = part.kind {
                *counts.entry(id).or_insert(0) += 1;
            }
            false
        });
    }
    Some(counts)
}

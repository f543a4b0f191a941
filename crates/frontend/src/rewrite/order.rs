//! Orders where others can see them: of the calls of volatile functions, and of the rows that an
//! aggregate of a sorted sub-query gets.
//!
//! ```text
//! Limit 3                                   Project x, nextval('s')
//!   Sort y                                    Limit 3
//!     Project x, y, nextval('s')                Sort y
//!                                                 Project x, y
//!
//! Aggregate array_agg(x)                    Aggregate array_agg(x ORDER BY y)
//!   Project x                                 Project x, y
//!     Sort y                                    …
//! ```
//!
//! Functions that give rows are still called before a sort.

use std::collections::HashSet;

use crate::plan::{AggregateCall, Column, ColumnId, Expr, Plan, SortKey};

/// Gives a node its orders that are kept.
pub(super) fn ordered(plan: &mut Plan) {
    match plan {
        Plan::Sort { .. } => {
            if let Some(items) = late(plan) {
                project(plan, items);
            }
        }
        // The sort below has been changed already: its late values go above the limit.
        Plan::Limit {
            input,
            ties: None,
            percent: false,
            ..
        } => {
            if let Plan::Project {
                input: sorted,
                items,
            } = input.as_mut()
                && matches!(**sorted, Plan::Sort { .. })
                && items.iter().any(|(_, value)| value.is_volatile())
            {
                let items = std::mem::take(items);
                let below = std::mem::replace(sorted.as_mut(), Plan::one_row());
                **input = below;
                project(plan, items);
            }
        }
        Plan::Aggregate { input, calls, .. } => {
            let asks = |call: &AggregateCall| {
                call.function.ordered
                    && call.order.is_empty()
                    && call.direct.is_empty()
                    && !call.distinct
            };
            if calls.iter().any(|(_, call)| asks(call))
                && let Some(keys) = keys_of(input)
            {
                let calls = calls.iter_mut().map(|(_, call)| call);
                calls
                    .filter(|call| asks(call))
                    .for_each(|call| call.order.clone_from(&keys));
            }
        }
        _ => {}
    }
}

/// Puts a projection above a plan.
fn project(plan: &mut Plan, items: Vec<(Column, Expr)>) {
    let input = Box::new(std::mem::replace(plan, Plan::one_row()));
    *plan = Plan::Project { input, items };
}

/// Takes the volatile values that no key needs out of the projection below a sort; the items of
/// the projection that is to stand above.
fn late(plan: &mut Plan) -> Option<Vec<(Column, Expr)>> {
    let Plan::Sort { input, keys } = plan else {
        return None;
    };
    let Plan::Project { input, items } = input.as_mut() else {
        return None;
    };
    let mut needed = HashSet::new();
    keys.iter().for_each(|key| key.expr.read(&mut needed));
    let is_late =
        |(column, value): &(Column, Expr)| value.is_volatile() && !needed.contains(&column.id);
    if !items.iter().any(is_late) {
        return None;
    }
    let mut above = Vec::with_capacity(items.len());
    let mut below = Vec::with_capacity(items.len());
    let mut read = HashSet::new();
    for item in std::mem::take(items) {
        if is_late(&item) {
            item.1.read(&mut read);
            above.push(item);
        } else {
            above.push((item.0.clone(), item.0.reference()));
            below.push(item);
        }
    }
    hand_on(input, &mut below, &read);
    *items = below;
    Some(above)
}

/// Lets a projection hand on columns of its input.
fn hand_on(input: &Plan, items: &mut Vec<(Column, Expr)>, read: &HashSet<ColumnId>) {
    for column in input.columns() {
        let has = items.iter().any(|(other, _)| other.id == column.id);
        if read.contains(&column.id) && !has {
            let value = column.reference();
            items.push((column, value));
        }
    }
}

/// The keys by which the rows of a plan are sorted, whose columns it gives from now on. The sort
/// goes if nothing else needs it.
fn keys_of(plan: &mut Plan) -> Option<Vec<SortKey>> {
    match plan {
        Plan::Sort { input, keys } => {
            let keys = std::mem::take(keys);
            let input = std::mem::replace(input.as_mut(), Plan::one_row());
            *plan = input;
            Some(keys)
        }
        Plan::Limit {
            input, ties: None, ..
        } => match input.as_mut() {
            Plan::Sort { keys, .. } => Some(keys.clone()),
            _ => None,
        },
        Plan::Filter { input, .. } => keys_of(input),
        Plan::Project { input, items } => {
            let keys = keys_of(input)?;
            let mut read = HashSet::new();
            keys.iter().for_each(|key| key.expr.read(&mut read));
            hand_on(input, items, &read);
            Some(keys)
        }
        _ => None,
    }
}

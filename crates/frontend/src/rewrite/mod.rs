//! Plans to plans that mean the same and run faster.
//!
//! | module | holds |
//! |---|---|
//! | `empty` | limits of no rows compute none |
//! | `inline` | common table expressions that are read once stand where they are read |
//! | `unnest` | sub-queries and dependent joins become joins |
//! | `sets` | INTERSECT and EXCEPT become joins |
//! | `first` | DISTINCT ON becomes numbered rows |
//! | `guard` | arguments of aggregates are computed for rows that pass FILTER |
//! | `order` | volatile values after a sort; aggregates of sorted sub-queries |
//! | `push_down` | conditions go down, outer joins become inner ones |
//! | `computed` | aggregates compute what they alone read |
//! | `prune` | values that nothing reads go |
//! | `nodes` | the walk over the nodes of a plan |
//! | `facts` | things that are known of plans without running them |

mod computed;
mod empty;
pub(crate) mod facts;
mod first;
mod guard;
mod inline;
mod nodes;
mod order;
mod prune;
mod push_down;
mod sets;
#[cfg(test)]
mod tests;
pub mod unnest;

use crate::plan::Plan;

pub use unnest::{plain, unnest};

/// A plan that gives the same rows, after all rewritings.
pub fn rewritten(plan: Plan) -> Plan {
    rewritten_with(plan, |_| {})
}

/// As [`rewritten`], with a rewriting of the caller, to which tables still have all their columns.
pub fn rewritten_with(mut plan: Plan, own: impl FnOnce(&mut Plan)) -> Plan {
    nodes::each(&mut plan, &mut |node| {
        empty::emptied(node);
        guard::guarded(node);
    });
    let mut plan = unnest(plan);
    nodes::each(&mut plan, &mut inline::inlined);
    nodes::each(&mut plan, &mut order::ordered);
    let mut plan = push_down::push_down(plan);
    nodes::each(&mut plan, &mut computed::computed);
    own(&mut plan);
    prune::pruned(plan)
}

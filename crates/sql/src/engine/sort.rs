//! ORDER BY, LIMIT and UNION ALL as the bulk engine's.

use arrow::datatypes::DataType;
use freestone_exec::{Node, Plan};

use super::converted::{Converted, places};

/// The rows of several plans, whose columns are of the same types; no rows of no plan.
pub(crate) fn united(inputs: Vec<Converted>, types: Vec<DataType>) -> Converted {
    let rows: f64 = inputs.iter().map(|input| input.plan.estimate).sum();
    let rows = rows.max(1.0);
    let of = |column: usize| inputs.iter().map(move |input| input.distinct[column]).sum();
    let distinct = places(types.len()).into_iter().map(of).collect();
    let plans = inputs.into_iter().map(|input| input.plan).collect();
    Converted {
        sampled: None,
        plan: Plan::new(Node::Union(plans), types, rows),
        distinct,
    }
}

/// An operator that gives the rows of `input` from number `skip` to before `last`.
pub(crate) fn cut(
    input: Converted,
    skip: usize,
    last: Option<usize>,
    node: impl FnOnce(Box<Plan>) -> Node,
) -> Converted {
    let Converted { plan, distinct, .. } = input;
    let most = last.map_or(plan.estimate, |last| plan.estimate.min(last as f64));
    let rows = (most - skip as f64).max(1.0);
    let types = plan.types.clone();
    Converted {
        sampled: None,
        plan: Plan::new(node(Box::new(plan)), types, rows),
        distinct: distinct
            .into_iter()
            .map(|distinct| distinct.min(rows))
            .collect(),
    }
}

//! ORDER BY, LIMIT and UNION ALL as the bulk engine's.

use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::{
    FetchType, Limit as LogicalLimit, LogicalPlan, SkipType, Sort as LogicalSort, SortExpr, Union,
};
use freestone_exec::vector::Kind;
use freestone_exec::{Limit, Node, Plan, SortKey, Sorting};

use super::convert::{Converted, Converter, places};
use super::expression::{Columns, Scope};

impl Converter {
    /// Rows in an order; of a limit right above it, `skip` are left out.
    fn sorted(&self, sort: &LogicalSort, skip: usize, fetch: Option<usize>) -> Option<Converted> {
        let input = self.convert(&sort.input)?;
        let places = places(input.plan.types.len());
        let scope = Scope {
            columns: Columns::Schema(sort.input.schema(), &places),
            requests: &self.requests,
        };
        let key = |key: &SortExpr| {
            let kind = scope.kind_of(&key.expr)?;
            let known = !matches!(Kind::of(&kind), Kind::Other);
            Some(SortKey {
                expression: scope.expr(&key.expr).filter(|_| known)?,
                kind,
                descending: !key.asc,
                nulls_first: key.nulls_first,
            })
        };
        let sorting = Sorting {
            keys: sort.expr.iter().map(key).collect::<Option<_>>()?,
            skip,
            fetch: match (sort.fetch, fetch) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
        };
        let (skip, fetch) = (sorting.skip, sorting.fetch);
        Some(cut(input, skip, fetch, |plan| Node::Sort(plan, sorting)))
    }

    pub(super) fn sort(&self, sort: &LogicalSort) -> Option<Converted> {
        self.sorted(sort, 0, None)
    }

    pub(super) fn limit(&self, limit: &LogicalLimit) -> Option<Converted> {
        let SkipType::Literal(skip) = limit.get_skip_type().ok()? else {
            return None;
        };
        let FetchType::Literal(fetch) = limit.get_fetch_type().ok()? else {
            return None;
        };
        if let LogicalPlan::Sort(sort) = limit.input.as_ref() {
            let last = fetch.map(|fetch| skip.saturating_add(fetch));
            return self.sorted(sort, skip, last);
        }
        let input = self.convert(&limit.input)?;
        let last = fetch.map(|fetch| skip.saturating_add(fetch));
        Some(cut(input, skip, last, |plan| {
            Node::Limit(plan, Limit { skip, fetch })
        }))
    }

    pub(super) fn union(&self, union: &Union) -> Option<Converted> {
        let inputs = union.inputs.iter().map(|input| self.convert(input));
        let inputs = inputs.collect::<Option<Vec<_>>>()?;
        let fields = union.schema.fields().iter();
        let types: Vec<DataType> = fields.map(|field| field.data_type().clone()).collect();
        if inputs.iter().any(|input| input.plan.types != types) {
            return None;
        }
        Some(united(inputs, types))
    }
}

/// The rows of several plans, whose columns are of the same types.
pub(crate) fn united(inputs: Vec<Converted>, types: Vec<DataType>) -> Converted {
    let rows = inputs.iter().map(|input| input.plan.estimate).sum();
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

//! ORDER BY, LIMIT and UNION ALL of DataFusion's plans as the bulk engine's.

use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::{
    FetchType, Limit as LogicalLimit, LogicalPlan, SkipType, Sort as LogicalSort, SortExpr, Union,
};
use freestone_exec::vector::Kind;
use freestone_exec::{Limit, Node, SortKey, Sorting};

use super::converter::Converter;
use crate::engine::{Columns, Converted, Scope, cut, places, united};

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

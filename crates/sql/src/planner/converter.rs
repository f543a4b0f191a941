//! DataFusion's logical plans as plans of the bulk engine.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::catalog::default_table_source::source_as_provider;
use datafusion::logical_expr::{Expr, LogicalPlan, TableScan};
use freestone_exec::{Plan, Windowing};

use super::shared::Repeated;
use crate::barrier::under;
use crate::engine::{Columns, Converted, Scope, filtered, places, projected, table, windowed};
use crate::interrupt::Requests;
use crate::lower::bulk_window;
use crate::scan::StoredTable;

/// Turns plans into ours.
pub(super) struct Converter {
    pub(super) requests: Arc<Requests>,
    /// Whether estimates decide anything, as they do for joins.
    pub(super) weighs: bool,
    /// Parts that stand in the plan more than once.
    pub(super) repeated: Repeated,
}

impl Converter {
    /// The plan as ours, if our operators can do all of it.
    pub(super) fn plan(&self, plan: &LogicalPlan) -> Option<Plan> {
        Some(self.convert(plan)?.plan)
    }

    pub(super) fn convert(&self, plan: &LogicalPlan) -> Option<Converted> {
        match plan {
            LogicalPlan::TableScan(scan) => self.table(scan),
            LogicalPlan::SubqueryAlias(alias) => self.convert(&alias.input),
            LogicalPlan::Filter(filter) => {
                let input = self.convert(&filter.input)?;
                let places = places(input.plan.types.len());
                let scope = Scope {
                    columns: Columns::Schema(filter.input.schema(), &places),
                    requests: &self.requests,
                };
                let condition = scope.expr(&filter.predicate)?;
                Some(filtered(input, condition))
            }
            LogicalPlan::Projection(projection) => {
                self.projected(&projection.input, &projection.expr, plan)
            }
            LogicalPlan::Aggregate(aggregate) => {
                self.repeated.once(plan, || self.aggregate(aggregate))
            }
            LogicalPlan::Join(join) => self.join(join, plan),
            LogicalPlan::Sort(sort) => self.sort(sort),
            LogicalPlan::Limit(limit) => self.limit(limit),
            LogicalPlan::Union(union) => self.union(union),
            other => match bulk_window(other) {
                Some((windowing, input)) => self.window(windowing, input, plan),
                // A condition above stays a step of its own.
                None => self.convert(under(other)?),
            },
        }
    }

    /// The rows of `input` with the results of calls, as the columns of `plan`.
    fn window(
        &self,
        windowing: &Windowing,
        input: &LogicalPlan,
        plan: &LogicalPlan,
    ) -> Option<Converted> {
        let input = self.convert(input)?;
        Some(windowed(input, windowing.clone(), types_of(plan)))
    }

    fn projected(
        &self,
        below: &LogicalPlan,
        exprs: &[Expr],
        plan: &LogicalPlan,
    ) -> Option<Converted> {
        let input = self.convert(below)?;
        let places = places(input.plan.types.len());
        let scope = Scope {
            columns: Columns::Schema(below.schema(), &places),
            requests: &self.requests,
        };
        let expressions = exprs.iter().map(|expr| scope.expr(expr));
        let expressions = expressions.collect::<Option<Vec<_>>>()?;
        Some(projected(input, expressions, types_of(plan)))
    }

    fn table(&self, scan: &TableScan) -> Option<Converted> {
        if scan.fetch.is_some() {
            return None;
        }
        let provider = source_as_provider(&scan.source).ok()?;
        let stored = provider.downcast_ref::<StoredTable>()?;
        let columns = stored.parts().0.schema.columns.len();
        let projection = scan.projection.clone().unwrap_or_else(|| places(columns));
        let predicate = stored.predicate_of(&scan.filters)?;
        table(stored, (projection, false), predicate, self.weighs)
    }
}

/// Types of the columns of a logical plan.
pub(super) fn types_of(plan: &LogicalPlan) -> Vec<DataType> {
    let fields = plan.schema().fields().iter();
    fields.map(|field| field.data_type().clone()).collect()
}

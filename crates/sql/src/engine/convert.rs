//! DataFusion's logical plans as plans of the bulk engine.

use datafusion::arrow::datatypes::DataType;
use datafusion::catalog::default_table_source::source_as_provider;
use datafusion::common::DFSchema;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan, TableScan};
use freestone_exec::expression::Expression;
use freestone_exec::{Node, Plan, Table};

use super::expression::Scope;
use super::scalar::has_subquery;
use crate::scan::StoredTable;

/// Turns plans into ours.
pub(super) struct Converter<'a> {
    pub(super) state: &'a SessionState,
}

/// A plan with what is known of its columns, which are those of the logical plan.
pub(super) struct Converted {
    pub(super) plan: Plan,
    /// About how many different values each has.
    pub(super) distinct: Vec<f64>,
}

impl Converted {
    /// About how many different values an expression has.
    pub(super) fn distinct_of(&self, expression: &Expression) -> f64 {
        let rows = self.plan.estimate.max(1.0);
        let mut product = 1.0;
        expression.columns(&mut |column| {
            product *= self.distinct.get(column).copied().unwrap_or(rows);
        });
        product.clamp(1.0, rows)
    }
}

/// The places of as many columns in order.
pub(super) fn places(columns: usize) -> Vec<usize> {
    (0..columns).collect()
}

impl Converter<'_> {
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
                let (schema, condition) = (filter.input.schema(), &filter.predicate);
                match has_subquery(condition) {
                    true => self.filtered_by_subqueries(input, schema, condition),
                    false => self.filtered(input, schema, condition),
                }
            }
            LogicalPlan::Projection(projection) => {
                self.projected(&projection.input, &projection.expr, plan)
            }
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate),
            LogicalPlan::Join(join) => self.join(join, plan),
            LogicalPlan::Sort(sort) => self.sort(sort),
            LogicalPlan::Limit(limit) => self.limit(limit),
            LogicalPlan::Union(union) => self.union(union),
            _ => None,
        }
    }

    /// The rows of `input` for which a condition is TRUE.
    pub(super) fn filtered(
        &self,
        input: Converted,
        schema: &DFSchema,
        condition: &Expr,
    ) -> Option<Converted> {
        let places = places(input.plan.types.len());
        let scope = Scope {
            schema,
            places: &places,
            state: self.state,
        };
        let condition = scope.expr(condition)?;
        let rows = (input.plan.estimate * 0.2).max(1.0);
        let types = input.plan.types.clone();
        Some(Converted {
            plan: Plan::new(Node::Filter(Box::new(input.plan), condition), types, rows),
            distinct: input
                .distinct
                .iter()
                .map(|distinct| distinct.min(rows))
                .collect(),
        })
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
            schema: below.schema(),
            places: &places,
            state: self.state,
        };
        let expressions = exprs.iter().map(|expr| scope.expr(expr));
        let expressions = expressions.collect::<Option<Vec<_>>>()?;
        let distinct = expressions.iter().map(|e| input.distinct_of(e)).collect();
        let types = types_of(plan);
        let rows = input.plan.estimate;
        Some(Converted {
            plan: Plan::new(
                Node::Project(Box::new(input.plan), expressions),
                types,
                rows,
            ),
            distinct,
        })
    }

    fn table(&self, scan: &TableScan) -> Option<Converted> {
        if scan.fetch.is_some() {
            return None;
        }
        let provider = source_as_provider(&scan.source).ok()?;
        let stored = provider.downcast_ref::<StoredTable>()?;
        let (table, view) = stored.parts();
        let columns = table.schema.columns.len();
        let projection = scan.projection.clone().unwrap_or_else(|| places(columns));
        if projection.iter().any(|column| *column >= columns) {
            return None;
        }
        let predicate = stored.predicate_of(&scan.filters)?;
        let facts = table.statistics().ok()?;
        let rows = stored.estimate(facts, predicate.as_ref()).max(1.0);
        let distinct = projection.iter().map(|column| {
            let known = facts.columns.get(*column);
            known
                .map_or(rows, |known| known.distinct as f64)
                .clamp(1.0, rows)
        });
        let distinct = distinct.collect();
        let types = projection
            .iter()
            .map(|column| table.schema.columns[*column].kind.arrow());
        let types = types.collect();
        let node = Node::Table(Table {
            table: table.clone(),
            view: view.clone(),
            projection,
            predicate,
        });
        Some(Converted {
            plan: Plan::new(node, types, rows),
            distinct,
        })
    }
}

/// Types of the columns of a logical plan.
pub(super) fn types_of(plan: &LogicalPlan) -> Vec<DataType> {
    let fields = plan.schema().fields().iter();
    fields.map(|field| field.data_type().clone()).collect()
}

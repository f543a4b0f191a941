//! GROUP BY of DataFusion's plans as the bulk engine's.

use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan};
use freestone_exec::vector::Kind;
use freestone_exec::{Grouping, Lead};

use super::converter::Converter;
use super::join::joins;
use crate::engine::{
    Cluster, Columns, Converted, Early, RELATIONS, Scope, aggregated, early, grouped, of_cluster,
    places,
};

impl Converter {
    pub(super) fn aggregate(&self, aggregate: &Aggregate) -> Option<Converted> {
        if answered_by_statistics(aggregate) {
            return None;
        }
        let types: Vec<DataType> = aggregate
            .schema
            .fields()
            .iter()
            .map(|field| field.data_type().clone())
            .collect();
        if joins(&aggregate.input) {
            let mut cluster = Cluster::default();
            let columns = self.gather(&aggregate.input, &mut cluster)?;
            if cluster.relations.len() > RELATIONS {
                return None;
            }
            let grouping = self.grouping(aggregate, &columns, &types)?;
            let Early { cluster, grouping } = early(cluster, grouping)?;
            return of_cluster(cluster, grouping, types);
        }
        let input = self.convert(&aggregate.input)?;
        let places = places(input.plan.types.len());
        let grouping = self.grouping(aggregate, &places, &types)?;
        Some(grouped(input, grouping, types))
    }

    fn grouping(
        &self,
        aggregate: &Aggregate,
        places: &[usize],
        types: &[DataType],
    ) -> Option<Grouping> {
        let scope = Scope {
            columns: Columns::Schema(aggregate.input.schema(), places),
            requests: &self.requests,
        };
        let keys = aggregate.group_expr.iter().zip(types);
        let keys = keys.map(|(expr, kind)| {
            let known = !matches!(expr, Expr::GroupingSet(_)) && Kind::of(kind) != Kind::Other;
            let key = scope.expr(expr).filter(|_| known)?;
            Some((key, kind.clone()))
        });
        let results = types.get(aggregate.group_expr.len()..)?;
        let aggregates = aggregate.aggr_expr.iter().zip(results);
        let aggregates = aggregates.map(|(expr, kind)| one(&scope, expr, kind));
        Some(Grouping {
            keys: keys.collect::<Option<_>>()?,
            aggregates: aggregates.collect::<Option<_>>()?,
            lead: Lead::default(),
        })
    }
}

fn one(scope: &Scope<'_>, expr: &Expr, kind: &DataType) -> Option<freestone_exec::Aggregate> {
    let call = match expr {
        Expr::Alias(alias) => return one(scope, &alias.expr, kind),
        Expr::AggregateFunction(call) => call,
        _ => return None,
    };
    let AggregateFunction { func, params } = call;
    let plain = !params.distinct && params.order_by.is_empty() && params.null_treatment.is_none();
    let [argument] = params.args.as_slice() else {
        return None;
    };
    let filter = params.filter.as_deref();
    plain.then(|| aggregated(scope, func.name(), argument, filter, kind))?
}

/// Whether DataFusion answers without reading a row: counts and bounds of a whole table.
fn answered_by_statistics(aggregate: &Aggregate) -> bool {
    let whole = |plan: &LogicalPlan| match plan {
        LogicalPlan::TableScan(scan) => scan.filters.is_empty(),
        _ => false,
    };
    let known = |expr: &Expr| match expr {
        Expr::AggregateFunction(call) => {
            ["count", "min", "max"].contains(&call.func.name()) && call.params.filter.is_none()
        }
        _ => false,
    };
    aggregate.group_expr.is_empty()
        && whole(&aggregate.input)
        && aggregate.aggr_expr.iter().all(known)
}

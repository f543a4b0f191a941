//! GROUP BY as the bulk engine's.

use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan};
use freestone_exec::vector::Kind;
use freestone_exec::{Function, Grouping, Lead, Node, Plan};

use super::convert::{Converted, Converter, places};
use super::early::{Early, early};
use super::expression::{Columns, Scope};
use super::join::{Cluster, RELATIONS, joins};
use super::order::ordered;
use super::ranges::ranges;

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

/// Groups of the rows of a cluster.
pub(crate) fn of_cluster(
    cluster: Cluster,
    grouping: Grouping,
    types: Vec<DataType>,
) -> Option<Converted> {
    let mut wanted = Vec::new();
    read(&grouping, &mut |column| wanted.push(column));
    wanted.sort_unstable();
    wanted.dedup();
    let of_wanted = wanted.iter().map(|column| cluster.type_of(*column));
    let of_wanted = of_wanted.collect::<Option<Vec<_>>>()?;
    let input = ordered(cluster, &wanted, of_wanted)?;
    let place = |column: usize| wanted.binary_search(&column).unwrap_or(usize::MAX);
    Some(grouped(input, moved(grouping, &place), types))
}

/// Tells the columns that keys and aggregates read.
fn read(grouping: &Grouping, visit: &mut dyn FnMut(usize)) {
    let inputs = grouping.aggregates.iter();
    let inputs = inputs.flat_map(|one| one.argument.iter().chain(&one.filter));
    let keys = grouping.keys.iter().map(|(key, _)| key);
    keys.chain(inputs).for_each(|part| part.columns(visit));
}

/// The same over columns at other places.
fn moved(grouping: Grouping, to: &dyn Fn(usize) -> usize) -> Grouping {
    let keys = grouping.keys.into_iter();
    let aggregates = grouping.aggregates.into_iter();
    Grouping {
        keys: keys.map(|(key, kind)| (key.moved(to), kind)).collect(),
        aggregates: aggregates
            .map(|one| freestone_exec::Aggregate {
                argument: one.argument.map(|argument| argument.moved(to)),
                filter: one.filter.map(|filter| filter.moved(to)),
                ..one
            })
            .collect(),
        lead: Lead::default(),
    }
}

/// Groups of the rows of a plan, as columns of some types.
pub(crate) fn grouped(input: Converted, grouping: Grouping, types: Vec<DataType>) -> Converted {
    let keys = grouping.keys.iter();
    let mut distinct: Vec<f64> = keys.map(|(key, _)| input.distinct_of(key)).collect();
    let groups: f64 = distinct.iter().product();
    let rows = groups.min(input.plan.estimate).max(1.0);
    distinct.resize(types.len(), rows);
    let ranges = ranges(&input.plan, &grouping, rows);
    let node = Node::Aggregate(Box::new(input.plan), grouping);
    let mut plan = Plan::new(node, types.clone(), rows);
    if let Some(ranges) = ranges {
        plan = Plan::new(Node::Ranges(Box::new(plan), ranges), types, rows);
    }
    Converted {
        sampled: None,
        plan,
        distinct,
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

/// A call of an aggregate of DataFusion's, whose result is of a type, as ours.
pub(crate) fn aggregated(
    scope: &Scope<'_>,
    name: &str,
    argument: &Expr,
    filter: Option<&Expr>,
    kind: &DataType,
) -> Option<freestone_exec::Aggregate> {
    if Kind::of(kind) == Kind::Other {
        return None;
    }
    let filter = match filter {
        Some(filter) => Some(scope.expr(filter)?),
        None => None,
    };
    let input = scope.kind_of(argument)?;
    let number = matches!(
        input,
        DataType::Decimal128(..) | DataType::Float64 | DataType::Int64
    );
    let function = match name {
        "count" => Function::Count,
        "sum" if number => Function::Sum,
        "avg" => average(&input, kind)?,
        "min" if Kind::of(&input) != Kind::Other => Function::Least,
        "max" if Kind::of(&input) != Kind::Other => Function::Greatest,
        _ => return None,
    };
    let argument = match (function, argument) {
        (Function::Count, Expr::Literal(value, _)) if !value.is_null() => None,
        (_, argument) => Some(scope.expr(argument)?),
    };
    Some(freestone_exec::Aggregate {
        function,
        argument,
        filter,
        input,
        kind: kind.clone(),
    })
}

/// An average, whose decimals have more digits than the values.
fn average(input: &DataType, result: &DataType) -> Option<Function> {
    let factor = match (input, result) {
        (DataType::Float64, DataType::Float64) => 1,
        (DataType::Decimal128(_, from), DataType::Decimal128(_, to)) => {
            10i128.checked_pow(u32::try_from(to - from).ok()?)?
        }
        _ => return None,
    };
    Some(Function::Average { factor })
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

//! GROUP BY as the bulk engine's.

use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan};
use freestone_exec::vector::Kind;
use freestone_exec::{Function, Grouping, Lead, Node, Plan};

use super::convert::{Converted, Converter, places};
use super::expression::Scope;

impl Converter<'_> {
    pub(super) fn aggregate(&self, aggregate: &Aggregate) -> Option<Converted> {
        if answered_by_statistics(aggregate) {
            return None;
        }
        let input = self.convert(&aggregate.input)?;
        let places = places(input.plan.types.len());
        let scope = Scope {
            schema: aggregate.input.schema(),
            places: &places,
            state: self.state,
        };
        let types: Vec<DataType> = aggregate
            .schema
            .fields()
            .iter()
            .map(|field| field.data_type().clone())
            .collect();
        let mut keys = Vec::with_capacity(aggregate.group_expr.len());
        let mut groups = 1.0;
        let mut distinct = Vec::with_capacity(types.len());
        for (expr, kind) in aggregate.group_expr.iter().zip(&types) {
            if matches!(expr, Expr::GroupingSet(_)) || Kind::of(kind) == Kind::Other {
                return None;
            }
            let key = scope.expr(expr)?;
            distinct.push(input.distinct_of(&key));
            groups *= input.distinct_of(&key);
            keys.push((key, kind.clone()));
        }
        let results = types.get(keys.len()..)?;
        let aggregates = aggregate.aggr_expr.iter().zip(results);
        let aggregates = aggregates.map(|(expr, kind)| one(&scope, expr, kind));
        let grouping = Grouping {
            lead: Lead::default(),
            aggregates: aggregates.collect::<Option<_>>()?,
            keys,
        };
        let rows = groups.min(input.plan.estimate).max(1.0);
        distinct.resize(types.len(), rows);
        let node = Node::Aggregate(Box::new(input.plan), grouping);
        Some(Converted {
            plan: Plan::new(node, types, rows),
            distinct,
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
    if !plain || Kind::of(kind) == Kind::Other {
        return None;
    }
    let filter = match &params.filter {
        Some(filter) => Some(scope.expr(filter)?),
        None => None,
    };
    let input = scope.kind_of(argument)?;
    let number = matches!(
        input,
        DataType::Decimal128(..) | DataType::Float64 | DataType::Int64
    );
    let function = match func.name() {
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

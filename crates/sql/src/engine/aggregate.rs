//! GROUP BY as the bulk engine's.

use arrow::datatypes::DataType;
use freestone_exec::vector::Kind;
use freestone_exec::{Function, Grouping, Lead, Node, Plan};

use super::converted::Converted;
use super::expression::Scope;
use super::join::Cluster;
use super::order::ordered;
use super::ranges::ranges;
use crate::expression::Expr;

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

/// Aggregates of one value of each row, whose results are compared or added up as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Simple {
    Count,
    Sum,
    Average,
    Least,
    Greatest,
    /// Whether all are TRUE, or
    All,
    /// any is.
    Any,
}

/// A call of a simple aggregate, whose result is of a type, as the bulk engine's; `None` if it has not.
pub(crate) fn aggregated(
    scope: &Scope<'_>,
    function: Simple,
    argument: &Expr,
    filter: Option<&Expr>,
    kind: &DataType,
) -> Option<freestone_exec::Aggregate> {
    if Kind::of(kind) == Kind::Other {
        return None;
    }
    let filter = match filter {
        Some(filter) => Some(scope.program(filter)?),
        None => None,
    };
    let input = scope.kind_of(argument)?;
    let number = matches!(
        input,
        DataType::Decimal128(..) | DataType::Float64 | DataType::Int64
    );
    let function = match function {
        Simple::Count => Function::Count,
        Simple::Sum if number => Function::Sum,
        Simple::Average => average(&input, kind)?,
        Simple::Least if Kind::of(&input) != Kind::Other => Function::Least,
        Simple::Greatest if Kind::of(&input) != Kind::Other => Function::Greatest,
        _ => return None,
    };
    let argument = match (function, argument) {
        (Function::Count, Expr::Literal(value)) if !value.is_null() => None,
        (_, argument) => Some(scope.program(argument)?),
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

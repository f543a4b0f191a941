//! Plans over tables that are about in order, for tests of what runs parts of them.

use crate::aggregate::{Aggregate, Function, Grouping, Lead};
use crate::expression::{Constant, Expression};
use crate::kernels::Comparison;
use crate::kernels::hash;
use crate::plan::{Join, JoinKind, Metrics, Node, Plan, SortKey, Sorting};
use crate::testing::{How, table_with_delta};
use arrow_array::{ArrayRef, Date32Array, Decimal128Array, Int32Array, Int64Array};
use arrow_schema::DataType;
use freestone_storage::ColumnType;
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) const KEYS: [ColumnType; 4] = [
    ColumnType::BigInt,
    ColumnType::Integer,
    ColumnType::Date,
    ColumnType::Decimal {
        precision: 12,
        scale: 2,
    },
];
pub(crate) const INT: DataType = DataType::Int64;

/// A table of a number and a key, which is about in order, with the last rows in the delta.
pub(crate) fn stored(kind: ColumnType, count: usize, seed: i64, each: i64) -> Plan {
    let random = |row: usize| hash(seed ^ hash(row as i64) as i64);
    let rows: Vec<(i64, i64)> = (0..count)
        .map(|row| {
            (
                (random(row) % 100) as i64,
                (row as i64 + (random(row) >> 32) as i64 % 9) / each,
            )
        })
        .collect();
    let columns = |rows: &[(i64, i64)]| {
        let keys = rows.iter().map(|(_, key)| *key);
        let keys: ArrayRef = match kind {
            ColumnType::Integer => {
                Arc::new(Int32Array::from_iter_values(keys.map(|key| key as i32)))
            }
            ColumnType::Date => Arc::new(Date32Array::from_iter_values(keys.map(|key| key as i32))),
            ColumnType::Decimal { .. } => {
                let keys = Decimal128Array::from_iter_values(keys.map(i128::from));
                Arc::new(keys.with_precision_and_scale(12, 2).unwrap())
            }
            _ => Arc::new(Int64Array::from_iter_values(keys)),
        };
        let values = Int64Array::from_iter_values(rows.iter().map(|(value, _)| *value));
        vec![Arc::new(values) as ArrayRef, keys]
    };
    let (blocks, delta) = rows.split_at(count * 9 / 10);
    let blocks: Vec<_> = blocks.chunks(1100).map(columns).collect();
    let delta: Vec<_> = delta.chunks(90).map(columns).collect();
    table_with_delta(&[ColumnType::BigInt, kind], &blocks, &delta)
}

pub(crate) fn plan(node: Node, types: Vec<DataType>) -> Plan {
    Plan::new(node, types, 0.0)
}

/// Rows, the sum of a number and the least key, by some keys.
pub(crate) fn grouped(input: Plan, keys: &[usize]) -> Plan {
    let key = |column: &usize| (Expression::Column(*column), input.types[*column].clone());
    let keys: Vec<_> = keys.iter().map(key).collect();
    let aggregate = |function, argument: Option<usize>| Aggregate {
        function,
        argument: argument.map(Expression::Column),
        filter: None,
        input: INT,
        kind: INT,
    };
    let mut types: Vec<DataType> = keys.iter().map(|(_, kind)| kind.clone()).collect();
    types.extend([INT, INT]);
    let grouping = Grouping {
        keys,
        aggregates: vec![
            aggregate(Function::Count, None),
            aggregate(Function::Sum, Some(0)),
        ],
        lead: Lead::default(),
    };
    plan(Node::Aggregate(input.into(), grouping), types)
}

pub(crate) fn joined(kind: JoinKind, probe: Plan, build: Plan, column: usize) -> Plan {
    let mut types = probe.types.clone();
    match kind {
        _ if kind.gives_pairs() => types.extend(build.types.clone()),
        JoinKind::BuildSemi | JoinKind::BuildAnti => types = build.types.clone(),
        _ => {}
    }
    let (here, there) = (Expression::Column(column), Expression::Column(column));
    let join = Join {
        kind,
        keys: vec![(here, there, probe.types[column].clone())],
        build,
        probe,
        filter: None,
        null_equal: false,
    };
    plan(Node::Join(Box::new(join)), types)
}

pub(crate) fn below(input: Plan, column: usize, bound: i64) -> Plan {
    let condition = Expression::Compare(
        Comparison::Less,
        Expression::Column(column).into(),
        Expression::Constant(Constant::Int(bound)).into(),
    );
    let types = input.types.clone();
    plan(Node::Filter(input.into(), condition), types)
}

/// What is made of the rows above; all of it tells columns below what it wants of them.
pub(crate) fn above(number: usize, input: Plan) -> Plan {
    let types = input.types.clone();
    match number {
        0 => input,
        1 => {
            let key = |(column, kind): (usize, &DataType)| SortKey {
                expression: Expression::Column(column),
                kind: kind.clone(),
                descending: true,
                nulls_first: column == 0,
            };
            let sorting = Sorting {
                keys: types.iter().enumerate().map(key).collect(),
                skip: 2,
                fetch: Some(50),
            };
            plan(Node::Sort(input.into(), sorting), types)
        }
        2 => {
            let few = stored(ColumnType::BigInt, 30, 5, 1);
            let first = plan(
                Node::Project(few.into(), vec![Expression::Column(1)]),
                vec![INT],
            );
            joined(JoinKind::ProbeSemi, input, first, 0)
        }
        _ => grouped(input, &[]),
    }
}

pub(crate) fn any_how() -> impl Strategy<Value = How> {
    let batch_rows = prop_oneof![Just(3usize), Just(0)];
    let memory = prop_oneof![Just(usize::MAX), Just(1usize << 18), Just(0)];
    (1usize..5, batch_rows, memory).prop_map(|(threads, batch_rows, memory)| How {
        threads,
        batch_rows,
        memory,
    })
}

pub(crate) fn number(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// The metrics of the scan at the bottom of a plan.
pub(crate) fn of_scan(plan: &Plan) -> &Metrics {
    match plan.inputs().last() {
        Some(input) => of_scan(input),
        None => &plan.metrics,
    }
}

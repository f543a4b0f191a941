use super::run;
use crate::Error;
use crate::context::Run;
use crate::expression::Constant;
use crate::expression::Expression;
use crate::kernels::Comparison;
use crate::limit::Limit;
use crate::plan::{Join, JoinKind, Node, Plan, SortKey, Sorting};
use crate::testing::{ALONE, How, batches, columns, table};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array};
use arrow_schema::DataType;
use freestone_storage::ColumnType;
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Numbers, in blocks.
fn numbers(numbers: std::ops::Range<i64>, block: usize) -> Plan {
    let starts = numbers.clone().step_by(block);
    let blocks = starts.map(|start| {
        let values = start..numbers.end.min(start + block as i64);
        vec![Arc::new(Int64Array::from_iter_values(values)) as ArrayRef]
    });
    table(&[ColumnType::BigInt], &blocks.collect::<Vec<_>>())
}

fn plan(node: Node) -> Plan {
    Plan::new(node, vec![DataType::Int64], 0.0)
}

fn limit(input: Plan, skip: usize, fetch: Option<usize>) -> Plan {
    plan(Node::Limit(input.into(), Limit { skip, fetch }))
}

fn sort(input: Plan, descending: bool, fetch: Option<usize>) -> Plan {
    let key = SortKey {
        expression: Expression::Column(0),
        kind: DataType::Int64,
        descending,
        nulls_first: false,
    };
    let sorting = Sorting {
        keys: vec![key],
        skip: 0,
        fetch,
    };
    plan(Node::Sort(input.into(), sorting))
}

fn union(inputs: Vec<Plan>) -> Plan {
    plan(Node::Union(inputs))
}

/// Rows of `probe` that have a partner.
fn join(probe: Plan, build: Plan) -> Plan {
    let key = (
        Expression::Column(0),
        Expression::Column(0),
        DataType::Int64,
    );
    plan(Node::Join(Box::new(Join {
        kind: JoinKind::ProbeSemi,
        build,
        probe,
        keys: vec![key],
        filter: None,
        null_equal: false,
    })))
}

fn values(plan: &Plan, how: How) -> Vec<i64> {
    let columns = columns(plan, how).unwrap();
    columns[0].as_primitive::<Int64Type>().values().to_vec()
}

fn rows(plan: &Plan) -> u64 {
    plan.metrics.rows.load(Ordering::Relaxed)
}

fn any_how() -> impl Strategy<Value = How> {
    let batch_rows = prop_oneof![Just(3usize), Just(8192)];
    (1usize..5, batch_rows).prop_map(|(threads, batch_rows)| How {
        threads,
        batch_rows,
        ..ALONE
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// As many rows come out as should, each of them one of the input and none twice; the
    /// first ones of an order, and in order.
    #[test]
    fn limits_give_what_they_say(
        count in 0usize..4000, skip in 0usize..3000, fetch in proptest::option::of(0usize..3000),
        how in any_how(), parts in 1usize..4,
    ) {
        let inputs = || {
            let part = |part| numbers((count * part) as i64..(count * (part + 1)) as i64, 1500);
            union((0..parts).map(part).collect())
        };
        let expected = (0..(count * parts) as i64).skip(skip).take(fetch.unwrap_or(usize::MAX));
        let expected: Vec<i64> = expected.collect();
        let any = limit(inputs(), skip, fetch);
        prop_assert!(!any.is_ordered());
        let mut found = values(&any, how);
        prop_assert_eq!(found.len(), expected.len());
        prop_assert_eq!(rows(&any), expected.len() as u64);
        found.sort_unstable();
        found.dedup();
        prop_assert_eq!(found.len(), expected.len());
        prop_assert!(found.last().is_none_or(|last| *last < (count * parts) as i64));
        let first = limit(sort(inputs(), false, None), skip, fetch);
        prop_assert!(first.is_ordered());
        prop_assert_eq!(values(&first, how), expected);
    }
}

/// All rows of all inputs, whatever is done with them above and below.
#[test]
fn unions_give_all_rows() {
    for threads in 1..4 {
        let how = How {
            threads,
            batch_rows: 100,
            ..ALONE
        };
        let even = Node::Filter(
            numbers(0..3000, 1024).into(),
            Expression::Compare(
                Comparison::Less,
                Expression::Column(0).into(),
                Expression::Constant(Constant::Int(2000)).into(),
            ),
        );
        let inputs = vec![
            plan(even),
            sort(numbers(0..1500, 1024), true, Some(10)),
            union(Vec::new()),
        ];
        let both = union(vec![union(inputs), numbers(0..0, 1), numbers(7..9, 1024)]);
        let mut expected: Vec<i64> = (0..2000).chain(1490..1500).chain(7..9).collect();
        expected.sort_unstable();
        let mut found = values(&both, how);
        found.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!(rows(&both), expected.len() as u64);
        assert_eq!(values(&sort(both, false, None), how), expected);
    }
}

/// The keys of a join reach the scans of a union, and no scan below a limit or below the
/// first rows of an order.
#[test]
fn join_filters_stop_where_rows_are_counted() {
    let keys = || numbers(5000..5010, 1024);
    let joined = |probe: Plan| {
        let join = join(probe, keys());
        let found = values(&join, ALONE);
        let Node::Join(join) = join.node else {
            unreachable!()
        };
        (found.len(), join.probe)
    };
    let two = || vec![numbers(0..5005, 1024), numbers(5005..9000, 1024)];
    let (found, probe) = joined(union(two()));
    assert_eq!((found, rows(&probe)), (10, 10));
    let (found, probe) = joined(sort(union(two()), true, None));
    assert_eq!((found, rows(&probe)), (10, 10));
    let (found, probe) = joined(sort(union(two()), false, Some(5002)));
    assert_eq!((found, rows(&probe)), (2, 5002));
    let (found, probe) = joined(limit(sort(union(two()), false, None), 0, Some(5003)));
    assert_eq!((found, rows(&probe)), (3, 5003));
}

/// What lies behind the first rows of an order is not read for an inner join, and is where
/// rows without a partner would come with NULLs in its place.
#[test]
fn first_rows_of_joins_are_not_missed() {
    for (kind, most) in [(JoinKind::Inner, 10_000), (JoinKind::BuildOuter, 30_000)] {
        let keys = (
            Expression::Column(0),
            Expression::Column(0),
            DataType::Int64,
        );
        let join = Join {
            kind,
            build: numbers(0..30_000, 30_000),
            probe: numbers(0..30_000, 3000),
            keys: vec![keys],
            filter: None,
            null_equal: false,
        };
        let types = vec![DataType::Int64; 2];
        let joined = Plan::new(Node::Join(Box::new(join)), types.clone(), 0.0);
        let key = SortKey {
            expression: Expression::Column(0),
            kind: DataType::Int64,
            descending: false,
            nulls_first: true,
        };
        let sorting = Sorting {
            keys: vec![key],
            skip: 1,
            fetch: Some(4),
        };
        let first = Plan::new(Node::Sort(joined.into(), sorting), types, 0.0);
        assert_eq!(values(&first, ALONE), [1, 2, 3]);
        let read = rows(first.inputs()[0].inputs()[1]);
        assert!(
            read <= most && (kind == JoinKind::Inner || read == most),
            "{kind:?}: {read}"
        );
    }
}

/// Steps above a limit give what they have left, although those below it have ended early.
#[test]
fn rows_left_above_a_limit_are_not_missed() {
    let pairs = |kind, probe, build| {
        let keys = (
            Expression::Column(0),
            Expression::Column(0),
            DataType::Int64,
        );
        let join = Join {
            kind,
            build,
            probe,
            keys: vec![keys],
            filter: None,
            null_equal: false,
        };
        plan(Node::Join(Box::new(join)))
    };
    for threads in [1, 3] {
        let below = join(numbers(0..9000, 1000), numbers(0..9000, 1000));
        let first = limit(below, 0, Some(5));
        let others = numbers(20_000..20_100, 100);
        let all = pairs(JoinKind::BuildAnti, first, others);
        let how = How { threads, ..ALONE };
        assert_eq!(values(&all, how).len(), 100);
    }
}

/// Nothing more is read than what threads have begun with.
#[test]
fn a_limit_stops_its_input() {
    for threads in [1, 3] {
        let how = How {
            threads,
            batch_rows: 256,
            ..ALONE
        };
        let first = limit(
            union(vec![numbers(0..60_000, 2000), numbers(0..60_000, 2000)]),
            10,
            Some(700),
        );
        assert_eq!(values(&first, how).len(), 700);
        let Node::Limit(input, _) = &first.node else {
            unreachable!()
        };
        let inputs = input.inputs();
        assert!(rows(inputs[0]) <= 4096, "{}", rows(inputs[0]));
        assert_eq!(rows(inputs[1]), 0);
    }
    // Pairs of one batch, of which there are far more than are wanted.
    let pairs = Join {
        kind: JoinKind::Inner,
        build: numbers(0..5000, 1024),
        probe: numbers(0..5000, 1024),
        keys: Vec::new(),
        filter: None,
        null_equal: false,
    };
    let types = vec![DataType::Int64; 2];
    let pairs = Plan::new(Node::Join(Box::new(pairs)), types.clone(), 0.0);
    let first = Plan::new(
        Node::Limit(
            pairs.into(),
            Limit {
                skip: 0,
                fetch: Some(40_000),
            },
        ),
        types,
        0.0,
    );
    assert_eq!(columns(&first, ALONE).unwrap()[1].len(), 40_000);
    let Node::Limit(pairs, _) = &first.node else {
        unreachable!()
    };
    assert!(rows(pairs) < 80_000, "{}", rows(pairs));
}

/// What `out` complains of is what `run` does, also when other threads wait for their turn.
#[test]
fn errors_of_who_reads_end_a_sorted_run() {
    let plan = sort(numbers(0..100_000, 20_000), true, None);
    let count = AtomicUsize::new(0);
    let whole = batches(
        &plan,
        How {
            threads: 4,
            ..ALONE
        },
    )
    .unwrap()
    .len();
    assert!(whole > 8);
    let run_of = Run {
        threads: 4,
        batch_rows: 0,
        stop: &AtomicBool::new(false),
        watch: &|_| {},
        space: crate::testing::space(),
        moment: None,
    };
    let outcome = run(
        &plan,
        &run_of,
        &|_| match count.fetch_add(1, Ordering::Relaxed) {
            0..3 => Ok(()),
            _ => Err(Error::OutOfRange("test".into())),
        },
    );
    assert!(matches!(outcome, Err(Error::OutOfRange(_))), "{outcome:?}");
    assert_eq!(count.load(Ordering::Relaxed), 4);
}

//! Joins of stored tables, against nested loops.

pub(crate) mod model;

use crate::Error;
use crate::context::{Context, Counters, Run};
use crate::expression::{Constant, Expression};
use crate::kernels::Comparison;
use crate::pipeline::run;
use crate::plan::{Join, JoinKind, Node, Plan};
use crate::shared::SharedPlans;
use crate::step::Step;
use crate::vector::{Batch, Values};
use arrow_schema::DataType;
use freestone_storage::ColumnType;
use model::{KINDS, Order, Shape, Side, expected, join, nothing, space};
use parking_lot::Mutex;
use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

const JOINS: [JoinKind; 9] = [
    JoinKind::Inner,
    JoinKind::ProbeOuter,
    JoinKind::BuildOuter,
    JoinKind::Full,
    JoinKind::ProbeSemi,
    JoinKind::ProbeAnti,
    JoinKind::ProbeMark,
    JoinKind::BuildSemi,
    JoinKind::BuildAnti,
];

/// How a join is run.
#[derive(Clone, Copy, Debug)]
struct Way {
    threads: usize,
    batch_rows: usize,
    memory: usize,
}

fn way() -> impl Strategy<Value = Way> {
    let (threads, batch_rows) = (1usize..5, prop_oneof![Just(3usize), Just(0)]);
    let memory = prop_oneof![Just(usize::MAX / 2), Just(1usize << 17), Just(0)];
    (threads, batch_rows, memory).prop_map(|(threads, batch_rows, memory)| Way {
        threads,
        batch_rows,
        memory,
    })
}

fn run_of(way: Way) -> Run<'static> {
    static STOP: AtomicBool = AtomicBool::new(false);
    Run {
        threads: way.threads,
        batch_rows: way.batch_rows,
        stop: &STOP,
        watch: &|_| {},
        space: space(way.memory),
        moment: None,
    }
}

/// The values of some columns, in order of rows.
fn found(plan: &Plan, way: Way, columns: &[usize]) -> crate::Result<Vec<Vec<Option<i64>>>> {
    let rows = Mutex::new(Vec::new());
    run(plan, &run_of(way), &|batch: Batch| {
        let value = |column: &usize, row: usize| {
            let vector = &batch.columns[*column];
            (!vector.is_null(row)).then(|| match &vector.values {
                Values::Int(values) => values[row],
                Values::Bool(bits) => bits.value(row).into(),
                _ => panic!("a column that is no number"),
            })
        };
        let row = |row| columns.iter().map(|column| value(column, row)).collect();
        rows.lock().extend((0..batch.rows).map(row));
        Ok(())
    })?;
    let mut rows = rows.into_inner();
    rows.sort_unstable();
    Ok(rows)
}

/// The columns of what a join gives that tell which rows they are.
fn ids(kind: JoinKind) -> Vec<usize> {
    match kind {
        kind if kind.gives_pairs() => vec![0, KINDS.len()],
        JoinKind::ProbeMark | JoinKind::ProbeMarkIn => vec![0, KINDS.len()],
        _ => vec![0],
    }
}

fn plan_of(join: &Join) -> Plan {
    Plan::new(Node::Join(Box::new(join.clone())), Vec::new(), 1.0)
}

/// A key of both sides.
fn key(column: usize) -> (Expression, Expression, DataType) {
    let key = Expression::Column(column);
    (key.clone(), key, KINDS[column].arrow())
}

fn shape() -> impl Strategy<Value = Shape> {
    let rows = prop_oneof![Just(0usize), 1usize..10, Just(200), 2000usize..2600];
    let values = prop_oneof![Just(3u64), Just(60), Just(700)];
    let parts = (any::<i64>(), rows, values, any::<bool>(), any::<bool>());
    parts.prop_map(|(seed, rows, values, nulls, far)| Shape {
        seed,
        // Not too many pairs.
        rows: rows.min(values as usize * 90),
        values,
        nulls,
        far,
        order: Order::None,
    })
}

/// The columns of a key; few values of themselves are not alone in it.
fn key_columns() -> impl Strategy<Value = Vec<usize>> {
    let many = proptest::sample::subsequence(vec![1, 2, 4, 5], 1..4);
    let few = proptest::sample::subsequence(vec![3, 6], 0..3);
    (many, few)
        .prop_map(|(many, few)| [many, few].concat())
        .prop_shuffle()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    /// Keys of every kind in every kind of join, whatever the memory, give the rows that
    /// nested loops give.
    #[test]
    fn joins_are_nested_loops(
        (build, probe) in (shape(), shape()),
        columns in key_columns(),
        null_equal in any::<bool>(),
        filtered in any::<bool>(),
        ways in proptest::collection::vec(way(), 2),
    ) {
        // Keys of both sides are alike.
        let probe = Shape { values: build.values, far: build.far, ..probe };
        let probe = Shape { rows: probe.rows.min(probe.values as usize * 90), ..probe };
        let (build, probe) = (Side::new(build), Side::new(probe));
        let plans = (build.plan(), probe.plan());
        let equal = |row: usize, partner: usize| {
            let same = |column: &usize| {
                let (a, b) = (probe.values[*column][row], build.values[*column][partner]);
                a == b && (null_equal || a.is_some())
            };
            columns.iter().all(same) && (!filtered || row <= partner)
        };
        for kind in JOINS {
            let keys = columns.iter().map(|column| key(*column));
            let mut join = join(kind, plans.clone(), keys.collect());
            join.null_equal = null_equal;
            let filter = [0, KINDS.len()].map(|id| Box::new(Expression::Column(id)));
            let [a, b] = filter;
            join.filter = filtered.then(|| Expression::Compare(Comparison::LessOrEqual, a, b));
            let expected = expected(kind, (&build, &probe), columns[0], equal);
            for way in &ways {
                let plan = plan_of(&join);
                let found = found(&plan, *way, &ids(kind)).unwrap();
                prop_assert!(found == expected, "{kind:?}, {way:?}: {} rows, not {}", found.len(), expected.len());
                let aside = plan.metrics.aside.load(Ordering::Relaxed);
                let must = way.memory == 0 && build.rows > 1024 && way.threads == 1;
                prop_assert!(aside > 0 || !must, "{way:?} sets nothing aside");
            }
        }
    }
}

/// Whether the build side of a join is in order, so that rows are merged with it.
fn is_merged(plan: &Plan, way: Way) -> bool {
    let run = run_of(way);
    let (counters, shared) = (Counters::new(run.watch), SharedPlans::default());
    let context = Context::of(&run, &counters, &shared);
    let pipeline = context.open(plan, &[]).unwrap();
    let mut steps = pipeline.steps.iter();
    steps.any(|(step, _)| matches!(step, Step::Probe(probe) if probe.table.is_merged()))
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![
        3 => Just(Order::Ascending),
        2 => Just(Order::Mostly),
        1 => Just(Order::None),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    /// Rows in order are merged in every kind of join, whichever thread gives them and
    /// whatever order others ask in, and give the rows that nested loops give.
    #[test]
    fn merges_are_nested_loops(
        (build, probe) in (shape(), shape()),
        (build_order, probe_order) in (order(), order()),
        filtered in any::<bool>(),
        ways in proptest::collection::vec(way(), 2),
    ) {
        let few = |shape: Shape| shape.rows.min(build.values as usize * 90);
        let rows = few(probe);
        let probe = Shape { values: build.values, far: true, rows, order: probe_order, ..probe };
        let rows = few(build);
        let build = Shape { far: true, rows, order: build_order, ..build };
        let in_order = build.order == Order::Ascending && !build.nulls && build.rows > 1;
        let (build, probe) = (Side::new(build), Side::new(probe));
        let plans = (build.plan(), probe.plan());
        let others = [JoinKind::ProbeNotIn, JoinKind::ProbeMarkIn, JoinKind::ProbeSingle];
        for kind in JOINS.into_iter().chain(others) {
            let mut join = join(kind, plans.clone(), vec![key(1)]);
            let filtered = filtered && !kind.is_null_aware();
            let filter = [0, KINDS.len()].map(|id| Box::new(Expression::Column(id)));
            let [a, b] = filter;
            join.filter = filtered.then(|| Expression::Compare(Comparison::LessOrEqual, a, b));
            let equal = |row: usize, partner: usize| {
                let (a, b) = (probe.values[1][row], build.values[1][partner]);
                a == b && a.is_some() && (!filtered || row <= partner)
            };
            let expected = expected(kind, (&build, &probe), 1, equal);
            for way in &ways {
                let plan = plan_of(&join);
                prop_assert!(!in_order || way.memory < usize::MAX / 2 || is_merged(&plan, *way));
                let found = found(&plan, *way, &ids(kind));
                // One partner is all that a row may have.
                let is_refused = kind == JoinKind::ProbeSingle
                    && expected.windows(2).any(|pair| pair[0][0] == pair[1][0]);
                if is_refused {
                    prop_assert!(matches!(found, Err(Error::SeveralRows)), "{way:?}: {found:?}");
                    continue;
                }
                let found = found.unwrap();
                prop_assert!(found == expected, "{kind:?}, {way:?}: {} rows, not {}", found.len(), expected.len());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    /// IN and NOT IN say of every row what SQL says, also of rows that were set aside.
    #[test]
    fn in_and_not_in_are_those_of_sql(
        (build, probe) in (shape(), shape()),
        column in 1usize..KINDS.len(),
        rarely in any::<bool>(),
        ways in proptest::collection::vec(way(), 2),
    ) {
        let values = if rarely { 1 << 20 } else { build.values };
        let probe = Shape { values, far: build.far, ..probe };
        // So many rows of one key must be worked on in any case.
        let rows = build.rows.min(if KINDS[column] == ColumnType::Boolean { 1500 } else { usize::MAX });
        let (build, probe) = (Side::new(Shape { rows, ..build }), Side::new(probe));
        let plans = (build.plan(), probe.plan());
        let equal = |row: usize, partner: usize| {
            let (a, b) = (probe.values[column][row], build.values[column][partner]);
            a == b && a.is_some()
        };
        for kind in [JoinKind::ProbeNotIn, JoinKind::ProbeMarkIn] {
            let join = join(kind, plans.clone(), vec![key(column)]);
            let expected = expected(kind, (&build, &probe), column, equal);
            for way in &ways {
                let found = found(&plan_of(&join), *way, &ids(kind)).unwrap();
                prop_assert!(found == expected, "{kind:?}, {way:?}: {} rows, not {}", found.len(), expected.len());
            }
        }
    }
}

#[test]
fn in_is_refused_where_it_means_something_else() {
    let way = Way {
        threads: 1,
        batch_rows: 0,
        memory: usize::MAX / 2,
    };
    let plans = || (nothing(), nothing());
    let ask = |join: &Join| found(&plan_of(join), way, &ids(join.kind));
    for kind in [JoinKind::ProbeNotIn, JoinKind::ProbeMarkIn] {
        let one = join(kind, plans(), vec![key(1)]);
        assert!(ask(&one).is_ok_and(|rows| rows.is_empty()));
        let mut filtered = one.clone();
        filtered.filter = Some(Expression::Constant(Constant::Bool(true)));
        let mut equal = one.clone();
        equal.null_equal = true;
        let two = join(kind, plans(), vec![key(1), key(2)]);
        let none = join(kind, plans(), Vec::new());
        for join in [filtered, equal, two, none] {
            assert!(matches!(ask(&join), Err(Error::Internal(_))));
        }
    }
}

/// Of two hundred thousand rows with one key, each has as many partners, of which none passes:
/// the join would give its first row after minutes.
#[test]
fn pairs_that_do_not_pass_are_given_up_when_the_run_ends() {
    let side = || {
        Side::new(Shape {
            seed: 7,
            rows: 200_000,
            values: 1,
            nulls: false,
            far: false,
            order: Order::None,
        })
        .plan()
    };
    let mut join = join(JoinKind::Inner, (side(), side()), vec![key(1)]);
    join.filter = Some(Expression::Constant(Constant::Bool(false)));
    let plan = plan_of(&join);
    for threads in [1, 2] {
        let stop = AtomicBool::new(false);
        let run_of = Run {
            threads,
            batch_rows: 0,
            stop: &stop,
            watch: &|_| {},
            space: space(usize::MAX / 2),
            moment: None,
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(100));
                stop.store(true, Ordering::Relaxed);
            });
            let ended = run(&plan, &run_of, &|_| Ok(()));
            assert!(matches!(ended, Err(Error::Cancelled)), "{ended:?}");
        });
    }
}

pub(crate) mod plans;

use crate::context::Run;
use crate::expression::Expression;
use crate::limit::Limit;
use crate::pipeline::run;
use crate::plan::{JoinKind, Node, Plan, Ranges};
use crate::testing::{ALONE, How, rows, space};
use crate::{Error, Result};
use freestone_storage::ColumnType;
use plans::*;
use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn ranges(input: Plan, cuts: &[i64], columns: &[(usize, usize)]) -> Plan {
    let types = input.types.clone();
    let ranges = Ranges {
        cuts: cuts.to_vec(),
        columns: columns.to_vec(),
    };
    plan(Node::Ranges(input.into(), ranges), types)
}

/// One of several plans, and the numbers of those of its tables that have the key.
fn shape(number: usize, kind: ColumnType, count: usize, seed: i64) -> (Plan, Vec<(usize, usize)>) {
    let lines = || stored(kind, count, seed, 4);
    let orders = || stored(kind, count / 5, seed + 1, 1);
    let pairs = |kind| joined(kind, lines(), orders(), 1);
    let both = vec![(0, 1), (1, 1)];
    match number {
        0 => (grouped(lines(), &[1]), vec![(0, 1)]),
        1 => (grouped(pairs(JoinKind::Inner), &[1, 2]), both),
        2 => (pairs(JoinKind::Full), both),
        3 => (pairs(JoinKind::ProbeSemi), both),
        4 => (pairs(JoinKind::BuildAnti), both),
        5 => {
            let filtered = below(lines(), 0, 40);
            let types = vec![lines().types[1].clone(), INT];
            let columns = vec![Expression::Column(1), Expression::Column(0)];
            (
                plan(Node::Project(filtered.into(), columns), types),
                vec![(0, 1)],
            )
        }
        6 => {
            let all = vec![below(lines(), 0, 70), orders()];
            let types = all[0].types.clone();
            (grouped(plan(Node::Union(all), types), &[1]), both)
        }
        // A table that is read whole for each range.
        7 => {
            let small = below(stored(kind, 300, seed + 2, 1), 1, 30);
            let joined = joined(JoinKind::Inner, lines(), small, 0);
            (grouped(joined, &[1, 2]), vec![(1, 1)])
        }
        _ => {
            let inner = ranges(grouped(lines(), &[1]), &[3, 100, 200], &[(0, 1)]);
            (inner, vec![(0, 1)])
        }
    }
}

fn any_cuts() -> impl Strategy<Value = Vec<i64>> {
    let cuts = proptest::collection::btree_set(-5i64..1400, 0..12);
    cuts.prop_map(|cuts| cuts.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Ranges give the rows of the plan itself, whatever is above and below them.
    #[test]
    fn ranges_give_the_rows_of_the_plan(
        number in 0usize..9, on_top in 0usize..4, kind in 0usize..4, cuts in any_cuts(),
        count in prop_oneof![Just(0usize), 1usize..5000], seed in 0i64..1 << 40, how in any_how(),
    ) {
        let make = || shape(number, KEYS[kind], count, seed);
        let expected = rows(&above(on_top, make().0), ALONE).unwrap();
        let (input, columns) = make();
        let plan = above(on_top, ranges(input, &cuts, &columns));
        prop_assert_eq!(rows(&plan, how).unwrap(), expected);
    }
}

fn hundred() -> Vec<i64> {
    (1..100).map(|cut| cut * 50).collect()
}

#[test]
fn metrics_are_those_of_all_ranges() {
    let lines = || grouped(stored(KEYS[0], 20_000, 1, 4), &[1]);
    let whole = lines();
    let groups = rows(&whole, ALONE).unwrap().len() as u64;
    for threads in [1, 3] {
        let watched = AtomicUsize::new(0);
        let plan = ranges(lines(), &hundred(), &[(0, 1)]);
        let run_of = Run {
            threads,
            batch_rows: 0,
            stop: &AtomicBool::new(false),
            watch: &|_| {
                watched.fetch_add(1, Ordering::Relaxed);
            },
            space: space(),
            moment: None,
        };
        run(&plan, &run_of, &|_| Ok(())).unwrap();
        assert_eq!(watched.load(Ordering::Relaxed), 1);
        let aggregate = &plan.inputs()[0].metrics;
        assert_eq!(number(&plan.metrics.rows), groups);
        assert_eq!(number(&aggregate.rows), groups);
        assert_eq!(number(&of_scan(&plan).rows), 20_000);
        let (most, memory) = (number(&whole.metrics.memory), number(&aggregate.memory));
        assert!(
            memory > 0 && memory * 10 < most * threads as u64,
            "{memory} of {most}"
        );
        let scan = of_scan(&plan).scan.lock().clone().unwrap();
        let blocks = 18_000u64.div_ceil(1100);
        assert_eq!(number(&scan.blocks_total), 100 * blocks);
        assert_eq!(scan.blocks_done(), 100 * blocks);
        // Most ranges lie in one block or two.
        let read = number(&scan.blocks_read);
        assert!((blocks..300).contains(&read), "{read}");
    }
}

/// A limit ends ranges that are begun and lets no others begin; so does an error, and
/// whoever stops the run.
#[test]
fn what_is_not_wanted_is_not_computed() {
    let lines = || {
        ranges(
            grouped(stored(KEYS[0], 20_000, 1, 4), &[1]),
            &hundred(),
            &[(0, 1)],
        )
    };
    for threads in [1usize, 3] {
        let how = How { threads, ..ALONE };
        let limit = Limit {
            skip: 3,
            fetch: Some(20),
        };
        let types = lines().types;
        let first = plan(Node::Limit(lines().into(), limit), types);
        assert_eq!(rows(&first, how).unwrap().len(), 20);
        let few = 500 * threads as u64;
        assert!(number(&of_scan(&first).rows) <= few);
        let (input, stop) = (lines(), AtomicBool::new(false));
        let run_of = Run {
            threads,
            batch_rows: 0,
            stop: &stop,
            watch: &|_| {},
            space: space(),
            moment: None,
        };
        let outcome = run(&input, &run_of, &|_| Err(Error::OutOfRange("test".into())));
        assert!(matches!(outcome, Err(Error::OutOfRange(_))), "{outcome:?}");
        let stopped = run(&input, &run_of, &|_| {
            stop.store(true, Ordering::Relaxed);
            Ok(())
        });
        assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
        assert!(number(&of_scan(&input).rows) <= 2 * few);
    }
}

#[test]
fn ranges_that_mean_nothing_are_refused() {
    let lines = || grouped(stored(KEYS[0], 100, 1, 4), &[1]);
    let outcome = |cuts: &[i64], column| rows(&ranges(lines(), cuts, &[column]), ALONE);
    for cuts in [[5, 5], [6, 5]] {
        let outcome = outcome(&cuts, (0, 1));
        assert!(matches!(outcome, Err(Error::Internal(_))), "{outcome:?}");
    }
    assert!(matches!(outcome(&[5], (1, 1)), Err(Error::Internal(_))));
    assert!(matches!(outcome(&[5], (0, 2)), Err(Error::Storage(_))));
}

/// More threads than the pool has, some of which are the pool's, wait for no other.
#[test]
fn no_thread_waits_for_another() {
    let one = || -> Result<usize> {
        let pairs = || {
            joined(
                JoinKind::Inner,
                stored(KEYS[0], 6000, 1, 4),
                stored(KEYS[0], 2000, 2, 1),
                1,
            )
        };
        let both = [(0, 1), (1, 1)];
        let sorted = above(1, grouped(pairs(), &[1]));
        let build = ranges(grouped(pairs(), &[1]), &hundred(), &both);
        let probe = ranges(sorted, &hundred(), &both);
        let how = How {
            threads: 12,
            batch_rows: 64,
            ..ALONE
        };
        Ok(rows(&joined(JoinKind::Inner, probe, build, 0), how)?.len())
    };
    let expected = one().unwrap();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(one)).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap().unwrap(), expected);
        }
    });
}

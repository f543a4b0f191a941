use crate::Error;
use crate::context::Run;
use crate::limit::Limit;
use crate::pipeline::run;
use crate::plan::{JoinKind, Metrics, Node, Plan, Ranges};
use crate::ranges::tests::plans::*;
use crate::testing::{ALONE, How, rows};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn shared(input: &Arc<Plan>) -> Plan {
    plan(Node::Shared(input.clone()), input.types.clone())
}

fn union(inputs: Vec<Plan>) -> Plan {
    let types = inputs[0].types.clone();
    plan(Node::Union(inputs), types)
}

/// A plan that has another in several places, as `place` puts it there.
fn shape(number: usize, place: &dyn Fn() -> Plan) -> Plan {
    match number {
        0 => union(vec![place(), below(place(), 1, 60), place()]),
        1 => joined(JoinKind::Inner, place(), below(place(), 1, 5), 0),
        // The keys of one place are asked of the other.
        2 => joined(JoinKind::ProbeSemi, place(), above(1, place()), 0),
        _ => joined(
            JoinKind::Full,
            below(place(), 1, 9),
            union(vec![place(), below(place(), 0, 50)]),
            0,
        ),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    /// Every place has all rows of a shared plan, whatever is asked of it from above and
    /// however much memory there is.
    #[test]
    fn places_have_the_rows_of_the_plan(
        number in 0usize..4, on_top in 0usize..4, groups in any::<bool>(),
        count in prop_oneof![Just(0usize), 1usize..6000], seed in 0i64..1 << 40, how in any_how(),
    ) {
        let input = || match groups {
            true => grouped(stored(KEYS[0], count, seed, 4), &[1]),
            false => {
                let lines = stored(KEYS[0], count, seed, 1);
                let types = vec![INT; 2];
                let columns = [1, 0].map(crate::expression::Expression::Column);
                plan(Node::Project(below(lines, 0, 70).into(), columns.to_vec()), types)
            }
        };
        let expected = rows(&above(on_top, shape(number, &input)), ALONE).unwrap();
        let once = Arc::new(input());
        let plan = above(on_top, shape(number, &|| shared(&once)));
        prop_assert_eq!(rows(&plan, how).unwrap(), expected.clone());
        // The plan is kept, its rows are not.
        prop_assert_eq!(rows(&plan, how).unwrap(), expected);
    }
}

/// A shared plan is run once, and its rows are set aside where there is no memory for them;
/// within ranges it is run for each of them.
#[test]
fn shared_plans_are_run_once() {
    for threads in [1, 3] {
        let twice = |memory| {
            let once = Arc::new(below(stored(KEYS[0], 20_000, 1, 1), 0, 50));
            let both = union(vec![shared(&once), shared(&once)]);
            let how = How {
                threads,
                memory,
                ..ALONE
            };
            let count = rows(&both, how).unwrap().len() as u64;
            let places = both.inputs().into_iter();
            let places: u64 = places.map(|place| number(&place.metrics.rows)).sum();
            assert_eq!(places, count);
            let of_places = |bytes: fn(&Metrics) -> &AtomicU64| -> Vec<u64> {
                let places = both.inputs().into_iter();
                places.map(|place| number(bytes(&place.metrics))).collect()
            };
            let (held, aside) = (of_places(|of| &of.memory), of_places(|of| &of.aside));
            let computed = number(&once.metrics.rows);
            assert_eq!(
                (computed * 2, number(&of_scan(&once).rows)),
                (count, 20_000)
            );
            (computed, held, aside)
        };
        let (computed, held, aside) = twice(usize::MAX);
        assert!(held[0] >= computed * 16 && held[1] == 0, "{held:?}");
        assert_eq!(aside, [0, 0]);
        let (computed, held, aside) = twice(0);
        assert!(aside[0] >= computed && aside[1] == 0, "{aside:?}");
        assert_eq!(held, [0, 0]);
        let once = Arc::new(grouped(stored(KEYS[0], 20_000, 1, 4), &[1]));
        let pairs = joined(JoinKind::Inner, shared(&once), shared(&once), 0);
        let types = pairs.types.clone();
        let ranges = Ranges {
            cuts: (1..10).map(|cut| cut * 500).collect(),
            columns: vec![(0, 1)],
        };
        let plan = plan(Node::Ranges(pairs.into(), ranges), types);
        let how = How { threads, ..ALONE };
        let groups = rows(&plan, how).unwrap().len() as u64;
        assert_eq!(number(&once.metrics.rows), groups);
        assert_eq!(number(&of_scan(&once).rows), 20_000);
        let scan = of_scan(&once).scan.lock().clone().unwrap();
        assert_eq!(number(&scan.blocks_total), scan.blocks_done());
    }
}

/// Runs of one plan at the same time have rows of their own, and end for themselves.
#[test]
fn runs_share_nothing_with_each_other() {
    let once = Arc::new(grouped(stored(KEYS[0], 6000, 1, 4), &[1]));
    let both = joined(JoinKind::Inner, shared(&once), shared(&once), 0);
    let expected = rows(&both, ALONE).unwrap();
    std::thread::scope(|scope| {
        for threads in 1..6 {
            let how = How { threads, ..ALONE };
            let (both, expected) = (&both, &expected);
            scope.spawn(move || assert_eq!(rows(both, how).unwrap(), *expected));
        }
    });
    let types = both.types.clone();
    let limit = Limit {
        skip: 0,
        fetch: Some(5),
    };
    let first = plan(Node::Limit(both.into(), limit), types);
    assert_eq!(rows(&first, ALONE).unwrap().len(), 5);
    let run_of = Run {
        threads: 2,
        batch_rows: 0,
        stop: &AtomicBool::new(true),
        watch: &|_| {},
        space: crate::testing::space(),
        moment: None,
    };
    let stopped = run(&first, &run_of, &|_| Ok(()));
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
    run_of.stop.store(false, Ordering::Relaxed);
    run(&first, &run_of, &|_| Ok(())).unwrap();
}

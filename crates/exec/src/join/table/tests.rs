use super::super::fill::ALONE;
use super::super::tests::model::{join, nothing, space};
use super::{Finder, JoinTable, is_in_order};
use crate::expression::Expression;
use crate::memory::Space;
use crate::plan::{JoinKind, Plan};
use crate::threads::on_threads;
use crate::vector::{Batch, Values, Vector};
use arrow_array::{ArrayRef, Float64Array, Int64Array, StringViewArray};
use arrow_schema::DataType;
use proptest::prelude::*;
use std::sync::Arc;

/// Many rows in batches of usual size: integers that lie close in no order, that lie far
/// from each other, and twice in order; texts; floats. Some are NULL.
fn batches(rows: usize) -> (Vec<Batch>, Vec<DataType>) {
    let kinds = [
        DataType::Int64,
        DataType::Int64,
        DataType::Int64,
        DataType::Utf8View,
    ];
    let batch = |first: usize| {
        let rows = first..rows.min(first + 8192);
        let some = |row: usize| row % 11 != 3;
        let ints = |of: fn(i64) -> i64| {
            let values = rows.clone().map(|row| some(row).then(|| of(row as i64)));
            Arc::new(Int64Array::from_iter(values)) as ArrayRef
        };
        let texts = rows
            .clone()
            .map(|row| some(row).then(|| format!("text number {}", row / 3)));
        let floats = rows.clone().map(|row| (row % 7) as f64 - 0.5);
        let twice = rows.clone().map(|row| row as i64 / 2);
        let arrays = [
            ints(|row| row * 7919 % 1_000_003),
            ints(|row| row.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64)),
            Arc::new(Int64Array::from_iter_values(twice)) as ArrayRef,
            Arc::new(StringViewArray::from_iter(texts)) as ArrayRef,
            Arc::new(Float64Array::from_iter_values(floats)),
        ];
        let columns = arrays
            .iter()
            .map(|array| Vector::from_arrow(array).unwrap());
        Batch {
            columns: columns.collect(),
            rows: rows.len(),
        }
    };
    let batches = (0..rows).step_by(8192).map(batch).collect();
    (batches, [&kinds[..], &[DataType::Float64]].concat())
}

/// Pairs that a table finds for some rows.
fn pairs(table: &JoinTable, keys: &[usize], batch: &Batch) -> Vec<(u32, u32)> {
    pairs_of(table, keys, batch, false)
}

/// Those, or the first of each row.
fn pairs_of(table: &JoinTable, keys: &[usize], batch: &Batch, first: bool) -> Vec<(u32, u32)> {
    let keys = keys.iter().map(|column| batch.columns[*column].clone());
    let keys = table.keys.look_up(keys.collect()).unwrap();
    let mut pairs = Vec::new();
    let pair = |row, partner| {
        pairs.push((row, partner));
        Ok(())
    };
    table.find(&keys, batch.rows, first, pair).unwrap();
    pairs
}

#[test]
fn several_threads_make_the_table_that_one_makes() {
    let (batches, types) = batches(ALONE + 70_000);
    let kind_of = |column: usize| {
        (
            Expression::Column(column),
            Expression::Column(column),
            types[column].clone(),
        )
    };
    for (columns, null_equal) in [
        (vec![0], false),
        (vec![1], false),
        (vec![2], false),
        (vec![3], false),
        (vec![2, 4], false),
        (vec![0, 3], true),
        (vec![2], true),
    ] {
        let build = Plan {
            types: types.clone(),
            ..nothing()
        };
        let keys = columns.iter().map(|column| kind_of(*column));
        let mut join = join(JoinKind::BuildOuter, (build, nothing()), keys.collect());
        join.null_equal = null_equal;
        let make = |threads| {
            let held = space(usize::MAX / 2).reservation();
            JoinTable::new(&join, &batches, held, threads).unwrap().0
        };
        let alone = make(1);
        let chains = |table: &JoinTable| match &table.finder {
            Finder::Dense(least, chains) => {
                (Some(*least), chains.slots.clone(), chains.next.clone())
            }
            Finder::Hashed(chains) => (None, chains.slots.clone(), chains.next.clone()),
            Finder::Sorted(_) => panic!("keys that are not in order"),
        };
        let known = chains(&alone);
        assert_eq!(
            known.0.is_some(),
            columns != [1] && columns.len() == 1 && !null_equal
        );
        // One thread would make that table in any case.
        let in_order = known.0.is_some() && is_in_order(known.1.len(), &alone.words);
        assert_eq!(in_order, columns == [2] && !null_equal);
        for threads in 2..5 {
            let table = make(threads);
            assert!(chains(&table) == known, "{columns:?} {threads}");
            assert_eq!(
                (&table.words[..], table.matched.len()),
                (&alone.words[..], alone.matched.len())
            );
            for first in [0, (batches.len() - 1) * 8192] {
                // Few, as every NULL may be equal to every other.
                let batch = batches[first / 8192].slice(0, 50);
                let found = pairs(&table, &columns, &batch);
                assert!(found == pairs(&alone, &columns, &batch));
                for row in (0..50).filter(|row| (first + row) % 11 != 3) {
                    let itself = (row as u32, (first + row) as u32);
                    assert!(found.contains(&itself), "{columns:?} {threads} {itself:?}");
                }
            }
            for (made, (one, kind)) in table
                .batch
                .columns
                .iter()
                .zip(alone.batch.columns.iter().zip(&types))
            {
                assert_eq!(&made.to_arrow(kind).unwrap(), &one.to_arrow(kind).unwrap());
            }
        }
    }
}

#[test]
fn a_table_counts_its_texts() {
    let (batches, types) = batches(50_000);
    let bytes = |column: usize| {
        let key = Expression::Column(column);
        let keys = vec![(key.clone(), key, types[column].clone())];
        let build = Plan {
            types: types.clone(),
            ..nothing()
        };
        let join = join(JoinKind::Inner, (build, nothing()), keys);
        let held = space(usize::MAX / 2).reservation();
        JoinTable::new(&join, &batches, held, 1).unwrap().0.bytes()
    };
    let texts: usize = (0..50_000 / 3)
        .map(|number| format!("text number {number}").len())
        .sum();
    assert!(bytes(3) > bytes(0) + texts);
}

/// Rows with a key, which may be NULL, and three times the key.
fn keyed(keys: &[Option<i64>]) -> Batch {
    let own = Int64Array::from_iter(keys.iter().copied());
    let thrice = keys.iter().map(|key| key.map(|key| key.wrapping_mul(3)));
    let thrice = Int64Array::from_iter(thrice);
    let columns = [own, thrice].map(|array| {
        let array: ArrayRef = Arc::new(array);
        Vector::from_arrow(&array).unwrap()
    });
    Batch {
        columns: columns.into(),
        rows: keys.len(),
    }
}

/// A table of such rows.
fn table_in(space: &Space, batches: &[Batch], threads: usize) -> JoinTable {
    let column = || Expression::Column(0);
    let build = Plan {
        types: vec![DataType::Int64; 2],
        ..nothing()
    };
    let keys = vec![(column(), column(), DataType::Int64)];
    let join = join(JoinKind::Inner, (build, nothing()), keys);
    let held = space.reservation();
    JoinTable::new(&join, batches, held, threads).unwrap().0
}

/// Whether the table by hash beside rows in order was made.
fn is_hashed(table: &JoinTable) -> Option<bool> {
    match &table.finder {
        Finder::Sorted(sorted) => Some(sorted.made().is_some()),
        _ => None,
    }
}

/// The keys of a table, row by row; what else a row has came with them.
fn kept(table: &JoinTable) -> Vec<Option<i64>> {
    let [own, thrice] = &table.batch.columns[..] else {
        panic!("not two columns");
    };
    let (Values::Int(keys), Values::Int(thrice)) = (&own.values, &thrice.values) else {
        panic!("keys that are no integers");
    };
    let row = |row: usize| {
        (!own.is_null(row)).then(|| {
            assert_eq!(keys[row].wrapping_mul(3), thrice[row]);
            keys[row]
        })
    };
    (0..table.batch.rows).map(row).collect()
}

/// What rows should find.
fn partners(kept: &[Option<i64>], probe: &[Option<i64>], first: bool) -> Vec<(u32, u32)> {
    let most = if first { 1 } else { kept.len() };
    let mut pairs = Vec::new();
    for (row, key) in probe.iter().enumerate().filter(|(_, key)| key.is_some()) {
        let equal = kept.iter().enumerate().filter(|(_, kept)| *kept == key);
        pairs.extend(
            equal
                .take(most)
                .map(|(place, _)| (row as u32, place as u32)),
        );
    }
    pairs
}

fn key() -> impl Strategy<Value = i64> {
    let ends = prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(i64::MIN + 1), Just(-1)];
    prop_oneof![1 => ends, 8 => (-20i64..20).prop_map(|key| key << 50), 2 => -9i64..9]
}

/// Keys, some of them NULL, that are in order or not.
fn keys(
    rows: std::ops::Range<usize>,
    valid: f64,
) -> impl Strategy<Value = (bool, Vec<Option<i64>>)> {
    let keys = proptest::collection::vec(proptest::option::weighted(valid, key()), rows);
    (proptest::bool::weighted(0.8), keys).prop_map(|(in_order, mut keys)| {
        if in_order {
            let mut sorted: Vec<i64> = keys.iter().flatten().copied().collect();
            sorted.sort_unstable();
            let places = keys.iter_mut().flatten().zip(sorted);
            places.for_each(|(place, key)| *place = key);
        }
        (in_order, keys)
    })
}

/// Keys in batches of some sizes, which come in another order.
fn cut(mut keys: &[Option<i64>], sizes: &[usize], turn: usize) -> Vec<Batch> {
    let mut batches = Vec::new();
    for size in sizes {
        let (batch, others) = keys.split_at(keys.len().min(*size));
        batches.push(keyed(batch));
        keys = others;
    }
    batches.push(keyed(keys));
    let turn = turn % batches.len();
    batches.rotate_left(turn);
    batches[turn..].reverse();
    batches
}

proptest! {
    /// Every row finds all rows with its key, in order, whichever table finds them and
    /// whoever asks at the same time. Rows are merged where they are in order, in
    /// whatever order their batches come, and found by hash once rows ask that are not.
    #[test]
    fn rows_find_partners_in_order(
        (in_order, build) in keys(1..300, 0.999),
        sizes in proptest::collection::vec(0usize..60, 0..8),
        turn in 0usize..8,
        probes in proptest::collection::vec(keys(0..200, 0.9), 1..5),
        (threads, memory) in (1usize..4, prop_oneof![Just(usize::MAX / 2), Just(0)]),
    ) {
        let table = table_in(&space(memory), &cut(&build, &sizes, turn), threads);
        let bounds = (build.iter().flatten().min(), build.iter().flatten().max());
        let far = matches!(bounds, (Some(least), Some(greatest))
            if i128::from(*greatest) - i128::from(*least) >= 1 << 16);
        let merged = in_order && far && !build.contains(&None);
        let (kept, before) = (kept(&table), is_hashed(&table));
        prop_assert!(!merged || before == Some(false));
        prop_assert!(before.is_none() || kept.is_sorted());
        on_threads(threads, |thread| {
            for (number, _) in probes.iter().enumerate() {
                let (_, probe) = &probes[(number + thread) % probes.len()];
                for first in [false, true] {
                    let found = pairs_of(&table, &[0], &keyed(probe), first);
                    assert_eq!(found, partners(&kept, probe, first));
                }
            }
        });
        let ordered = probes.iter().all(|(_, probe)| probe.iter().flatten().is_sorted());
        let may = memory > 0;
        // Rows in order may be far from each other.
        prop_assert!(is_hashed(&table).is_none_or(|made| made == may || (ordered && may)));
    }
}

/// Without memory for a table, rows in no order are found all the same.
#[test]
fn a_table_that_is_made_later_asks_for_memory() {
    let keys: Vec<Option<i64>> = (0..50_000).map(|key| Some(key * 1000)).collect();
    // In steps of 64 KiB: the rows, and the table.
    let (step, rows, slots_and_next) = (1 << 16, 13, 8 + 4);
    for left in [slots_and_next - 1, slots_and_next] {
        let space = space((rows + left) * step);
        let table = table_in(&space, &[keyed(&keys)], 1);
        let is_left = |steps: usize| {
            let mut others = space.reservation();
            others.hold(steps * step) && !others.hold((steps + 1) * step)
        };
        assert!(is_left(left));
        for probe in [[7u32, 9, 9], [9, 7, 9]] {
            assert_eq!(is_hashed(&table), Some(false));
            let batch = keyed(&probe.map(|key| Some(i64::from(key) * 1000)));
            let found = pairs(&table, &[0], &batch);
            assert_eq!(found, [(0, probe[0]), (1, probe[1]), (2, probe[2])]);
        }
        let fits = left == slots_and_next;
        assert_eq!(is_hashed(&table), Some(fits));
        assert!(is_left(if fits { 0 } else { left }));
        drop(table);
        assert!(is_left(rows + left));
    }
}

/// A table is made if batches in order pass over all rows again and again.
#[test]
fn rows_in_order_are_found_by_hash_if_they_are_few() {
    let rows = 10_000;
    let keys: Vec<Option<i64>> = (0..rows).map(|key| Some(key * 1000)).collect();
    let table = table_in(&space(usize::MAX / 2), &[keyed(&keys)], 1);
    for (start, step, times, hashed) in [
        (0, 30, 10, false),
        (5000, 100, 3, false),
        (5000, 100, 3, true),
        (0, 30, 2, true),
        (0, 5000, 2, true),
    ] {
        let rows = start..rows;
        let asked: Vec<i64> = rows.step_by(step).flat_map(|key| [key, key]).collect();
        let probe: Vec<Option<i64>> = asked.iter().map(|key| Some(key * 1000)).collect();
        let expected: Vec<u32> = asked.iter().map(|key| *key as u32).collect();
        for _ in 0..times {
            let found = pairs(&table, &[0], &keyed(&probe));
            assert!(
                found
                    .into_iter()
                    .map(|(_, partner)| partner)
                    .eq(expected.iter().copied())
            );
        }
        assert_eq!(is_hashed(&table), Some(hashed), "{start} {step}");
    }
}

use super::super::JoinKind;
use super::super::fill::ALONE;
use super::super::tests::model::{join, nothing, space};
use super::{Finder, JoinTable, is_in_order};
use crate::expression::Expression;
use crate::plan::Plan;
use crate::vector::{Batch, Vector};
use arrow_array::{ArrayRef, Float64Array, Int64Array, StringViewArray};
use arrow_schema::DataType;
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
    let keys = keys.iter().map(|column| batch.columns[*column].clone());
    let keys = table.keys.look_up(keys.collect()).unwrap();
    let mut pairs = Vec::new();
    let pair = |row, partner| pairs.push((row, partner));
    table.find(&keys, batch.rows, false, pair).unwrap();
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
        let slots = |table: &JoinTable| match &table.finder {
            Finder::Dense(least, slots) => (Some(*least), slots.clone()),
            Finder::Hashed(slots) => (None, slots.clone()),
        };
        let known = slots(&alone);
        assert_eq!(
            known.0.is_some(),
            columns != [1] && columns.len() == 1 && !null_equal
        );
        // One thread would make that table in any case.
        let in_order = is_in_order(&alone.finder, &alone.words);
        assert_eq!(in_order, columns == [2] && !null_equal);
        for threads in 2..5 {
            let table = make(threads);
            assert!(
                slots(&table) == known && table.next == alone.next,
                "{columns:?} {threads}"
            );
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

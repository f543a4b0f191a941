use super::bytes::ByteKeys;
use super::order::Order;
use super::ordinal;
use crate::Error;
use crate::expression::{Arithmetic, Constant, Expression};
use crate::plan::{Node, Plan, SortKey, Sorting};
use crate::testing::{ALONE, How, batches, columns, table};
use crate::vector::Vector;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::*;
use arrow_ord::sort::{SortColumn, SortOptions, lexsort_to_indices};
use arrow_schema::DataType;
use arrow_select::take::take;
use freestone_storage::ColumnType;
use proptest::prelude::*;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A column of row numbers, and one of every kind that can be a key.
const KINDS: [ColumnType; 11] = [
    ColumnType::BigInt,
    ColumnType::SmallInt,
    ColumnType::Integer,
    ColumnType::BigInt,
    ColumnType::Decimal {
        precision: 12,
        scale: 2,
    },
    ColumnType::Decimal {
        precision: 38,
        scale: 2,
    },
    ColumnType::Double,
    ColumnType::Boolean,
    ColumnType::Text,
    ColumnType::Date,
    ColumnType::Timestamp,
];

/// Rows that are made of a number, so that many of them cost nothing to shrink.
#[derive(Clone, Copy, Debug)]
struct Rows {
    seed: u64,
    count: usize,
    /// Few values of each column.
    few: bool,
    nulls: bool,
}

impl Rows {
    /// A number for a cell; `None` for NULL.
    fn cell(self, row: usize, column: usize) -> Option<u64> {
        let mixed = crate::kernels::hash_key(&[self.seed as i64, row as i64, column as i64]);
        let value = crate::kernels::hash(mixed as i64 ^ 1);
        let value = if self.few { value % 8 } else { value };
        (!self.nulls || !mixed.is_multiple_of(4)).then_some(value)
    }

    fn array(self, column: usize) -> ArrayRef {
        let cells = (0..self.count).map(|row| self.cell(row, column));
        match KINDS[column] {
            _ if column == 0 => Arc::new(Int64Array::from_iter_values(0..self.count as i64)),
            ColumnType::SmallInt => Arc::new(Int16Array::from_iter(
                cells.map(|cell| Some(cell? as i16 - 3)),
            )),
            ColumnType::Integer => Arc::new(Int32Array::from_iter(
                cells.map(|cell| Some((cell? as i32).wrapping_sub(3))),
            )),
            ColumnType::BigInt => Arc::new(Int64Array::from_iter(
                cells.map(|cell| Some(cell?.wrapping_sub(3) as i64)),
            )),
            ColumnType::Decimal { precision, scale } => {
                let digits = 10i128.pow(precision.into());
                let wide =
                    |cell: u64| (i128::from(cell) - 3) * i128::from(cell | 1).pow(3) % digits;
                let array = Decimal128Array::from_iter(cells.map(|cell| cell.map(wide)));
                Arc::new(array.with_precision_and_scale(precision, scale).unwrap())
            }
            ColumnType::Double => Arc::new(Float64Array::from_iter(
                cells.map(|cell| Some(float(cell?))),
            )),
            ColumnType::Boolean => Arc::new(BooleanArray::from_iter(
                cells.map(|cell| Some(cell? % 3 == 0)),
            )),
            ColumnType::Text => {
                Arc::new(StringViewArray::from_iter(cells.map(|cell| cell.map(text))))
            }
            ColumnType::Date => Arc::new(Date32Array::from_iter(
                cells.map(|cell| Some((cell? % 30_000) as i32 - 9000)),
            )),
            _ => Arc::new(TimestampMicrosecondArray::from_iter(
                cells.map(|cell| Some((cell? % (1 << 60)) as i64 - 3)),
            )),
        }
    }

    fn arrays(self) -> Vec<ArrayRef> {
        (0..KINDS.len()).map(|column| self.array(column)).collect()
    }

    /// The rows in so many blocks.
    fn plan(self, blocks: usize) -> Plan {
        let (arrays, rows) = (self.arrays(), self.count.div_ceil(blocks).max(1));
        let pieces = (0..self.count).step_by(rows).map(|start| {
            let rows = rows.min(self.count - start);
            arrays
                .iter()
                .map(|array| array.slice(start, rows))
                .collect()
        });
        table(&KINDS, &pieces.collect::<Vec<_>>())
    }
}

fn float(cell: u64) -> f64 {
    let special = [
        f64::NAN,
        -f64::NAN,
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        5e-324,
        -1.5,
    ];
    special
        .get(cell as usize)
        .copied()
        .unwrap_or(f64::from_bits(cell))
}

/// Texts with a beginning in common, some of them with zeros or the beginnings of others.
fn text(cell: u64) -> String {
    match cell % 8 {
        0 => String::new(),
        1 => "Customer#".into(),
        2 => "Customer#\0".into(),
        3 => "Customer#\0\u{1}é".into(),
        4 => format!("Customer#{:020}", cell % 50),
        _ => format!("Customer#{cell:020}"),
    }
}

fn key(column: usize, descending: bool, nulls_first: bool) -> SortKey {
    SortKey {
        expression: Expression::Column(column),
        kind: KINDS[column].arrow(),
        descending,
        nulls_first,
    }
}

fn sort(input: Plan, keys: Vec<SortKey>, skip: usize, fetch: Option<usize>) -> Plan {
    let types = input.types.clone();
    let sorting = Sorting { keys, skip, fetch };
    Plan::new(Node::Sort(input.into(), sorting), types, 0.0)
}

/// The numbers of rows in Arrow's order.
fn model(arrays: &[ArrayRef], keys: &[SortKey]) -> UInt32Array {
    let keys = keys.iter().map(|key| {
        let values = match &key.expression {
            Expression::Column(column) => arrays[*column].clone(),
            // The only other: 0 - c2.
            _ => {
                let values = arrays[2].as_primitive::<types::Int32Type>();
                Arc::new(values.unary::<_, Int64Type>(|value| -i64::from(value)))
            }
        };
        let options = SortOptions {
            descending: key.descending,
            nulls_first: key.nulls_first,
        };
        SortColumn {
            values,
            options: Some(options),
        }
    });
    lexsort_to_indices(&keys.collect::<Vec<_>>(), None).unwrap()
}

/// Compares the keys in order with Arrow's, and every row with the one it was.
fn check(
    rows: Rows,
    blocks: usize,
    (keys, skip, fetch): (Vec<SortKey>, usize, Option<usize>),
    how: How,
) -> Result<Plan, TestCaseError> {
    let plan = sort(rows.plan(blocks), keys.clone(), skip, fetch);
    let found = columns(&plan, how).unwrap();
    let arrays = rows.arrays();
    let order = model(&arrays, &keys);
    let end = rows.count.min(fetch.unwrap_or(usize::MAX));
    let start = skip.min(end);
    let expected = order.slice(start, end - start);
    let numbers = found[0].as_primitive::<Int64Type>();
    prop_assert_eq!(numbers.len(), expected.len());
    let distinct: HashSet<i64> = numbers.values().iter().copied().collect();
    prop_assert_eq!(distinct.len(), numbers.len());
    for (found, array) in found.iter().zip(&arrays) {
        prop_assert_eq!(found, &take(array, numbers, None).unwrap());
    }
    for key in &keys {
        let mut read = Vec::new();
        key.expression.columns(&mut |column| read.push(column));
        for column in read {
            prop_assert_eq!(
                &found[column],
                &take(&arrays[column], &expected, None).unwrap()
            );
        }
    }
    Ok(plan)
}

fn any_rows(most: usize) -> impl Strategy<Value = Rows> {
    (any::<u64>(), 0..most, any::<bool>(), any::<bool>()).prop_map(|(seed, count, few, nulls)| {
        Rows {
            seed,
            count,
            few,
            nulls,
        }
    })
}

fn any_keys() -> impl Strategy<Value = Vec<SortKey>> {
    let one = (1usize..12, any::<bool>(), any::<bool>()).prop_map(|(column, descending, nulls)| {
        if column < KINDS.len() {
            return key(column, descending, nulls);
        }
        let zero = Expression::Constant(Constant::Int(0));
        let value = Expression::Column(2);
        let negative = Expression::Arithmetic(Arithmetic::Subtract, zero.into(), value.into());
        SortKey {
            expression: negative,
            kind: DataType::Int64,
            ..key(2, descending, nulls)
        }
    });
    proptest::collection::vec(one, 1..4)
}

fn any_how() -> impl Strategy<Value = How> {
    let memory = prop_oneof![Just(usize::MAX), Just(400_000), Just(1_500_000)];
    (1usize..5, prop_oneof![Just(3), Just(0), Just(8192)], memory).prop_map(
        |(threads, batch_rows, memory)| How {
            threads,
            batch_rows,
            memory,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    /// Whole sorts are those of Arrow, in memory and aside, for all kinds.
    #[test]
    fn rows_come_in_order(rows in any_rows(4000), keys in any_keys(), how in any_how(), blocks in 1usize..6) {
        check(rows, blocks, (keys, 0, None), how)?;
    }

    /// The first rows are those that Arrow's sort has first, whatever is equal to the last.
    #[test]
    fn first_rows_come_first(
        rows in any_rows(6000), keys in any_keys(), how in any_how(), blocks in 1usize..6,
        skip in prop_oneof![Just(0usize), 0usize..100], fetch in prop_oneof![0usize..20, 0usize..8000],
    ) {
        check(rows, blocks, (keys, skip, Some(fetch)), how)?;
    }

    /// Keys as bytes are in the order of Arrow's, and equal only if those are.
    #[test]
    fn bytes_are_in_order(rows in any_rows(300), keys in any_keys()) {
        let keys: Vec<SortKey> = keys.into_iter().filter(|key| matches!(key.expression, Expression::Column(_))).collect();
        let arrays = rows.arrays();
        let column = |key: &SortKey| match key.expression {
            Expression::Column(column) => Vector::from_arrow(&arrays[column]).unwrap(),
            _ => unreachable!(),
        };
        let vectors: Vec<Vector> = keys.iter().map(column).collect();
        let bytes = ByteKeys::new(&vectors, &keys, 0..rows.count).unwrap();
        if keys.is_empty() {
            return Ok(());
        }
        let order = model(&arrays, &keys);
        for pair in order.values().windows(2) {
            let (a, b) = (pair[0] as usize, pair[1] as usize);
            let same = keys.iter().all(|key| match key.expression {
                Expression::Column(column) => arrays[column].slice(a, 1) == arrays[column].slice(b, 1),
                _ => unreachable!(),
            });
            let expected = if same { std::cmp::Ordering::Equal } else { std::cmp::Ordering::Less };
            prop_assert_eq!(bytes.key(a).cmp(bytes.key(b)), expected);
        }
    }

    #[test]
    fn floats_are_in_total_order(a in any::<u64>(), b in any::<u64>()) {
        let (a, b) = (f64::from_bits(a), f64::from_bits(b));
        prop_assert_eq!(ordinal(a).cmp(&ordinal(b)), a.total_cmp(&b));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// Chunks of several threads, cut into parts, are one order: words, long words, bytes.
    #[test]
    fn parts_make_the_whole(
        seed in any::<u64>(), few in any::<bool>(), nulls in any::<bool>(),
        count in 20_000usize..60_000, threads in 1usize..5, cut in any::<bool>(), keys in any_keys(),
    ) {
        let rows = Rows { seed, count, few, nulls };
        let (skip, fetch) = if cut { (count / 3, Some(count / 2)) } else { (0, None) };
        let plan = check(rows, 4, (keys, skip, fetch), How { threads, ..ALONE })?;
        prop_assert_eq!(plan.metrics.rows.load(Ordering::Relaxed) as usize, fetch.unwrap_or(count) - skip);
        prop_assert_eq!(plan.metrics.aside.load(Ordering::Relaxed), 0);
    }
}

/// Every layout of keys is used by some of the columns above.
#[test]
fn keys_are_packed_where_they_can_be() {
    let order = |columns: &[usize], few| {
        let rows = Rows {
            seed: 7,
            count: 5000,
            few,
            nulls: true,
        };
        let keys: Vec<SortKey> = columns
            .iter()
            .map(|column| key(*column, true, true))
            .collect();
        let vectors = columns
            .iter()
            .map(|column| Vector::from_arrow(&rows.array(*column)).unwrap());
        let vectors: Vec<Vector> = vectors.collect();
        Order::new(&vectors, &keys, 5000, usize::MAX, 1).unwrap()
    };
    assert!(matches!(order(&[2], false), Order::Short(_)));
    assert!(matches!(order(&[1, 7, 9], false), Order::Short(_)));
    assert!(matches!(order(&[2, 4], false), Order::Long(_)));
    assert!(matches!(order(&[8], true), Order::Long(_)));
    assert!(matches!(order(&[5], true), Order::Short(_)));
}

const MANY: Rows = Rows {
    seed: 3,
    count: 40_000,
    few: false,
    nulls: true,
};

/// What does not fit is set aside, merged in several passes, and all there.
#[test]
fn runs_are_merged_from_disk() {
    for (threads, memory) in [(1, 600_000), (3, 600_000), (2, 3_000_000)] {
        let how = How {
            threads,
            batch_rows: 0,
            memory,
        };
        for fetch in [None, Some(30_000)] {
            let keys = vec![key(8, true, false), key(2, false, false)];
            let plan = check(MANY, 5, (keys, 10, fetch), how).unwrap();
            assert!(plan.metrics.aside.load(Ordering::Relaxed) > 1_000_000);
            let found = batches(&plan, how).unwrap();
            assert!(
                found
                    .iter()
                    .all(|batch| batch.rows > 0 && batch.rows <= 8192)
            );
        }
    }
}

/// Two pages have to be in memory.
#[test]
fn a_sort_that_cannot_fit_says_so() {
    let mut scan = MANY.plan(5);
    if let Node::Table(table) = &mut scan.node {
        table.projection = vec![0];
    }
    scan.types.truncate(1);
    let plan = sort(scan, vec![key(0, true, false)], 0, None);
    let error = columns(&plan, How { memory: 0, ..ALONE }).unwrap_err();
    let Error::OutOfMemory {
        operator,
        bytes,
        limit,
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!((operator, limit), ("ORDER BY", 0));
    assert!(bytes > 10_000, "{bytes}");
}

/// Once there are enough rows, those that lie behind are neither kept nor counted.
#[test]
fn the_first_rows_take_little_memory() {
    for keys in [
        vec![key(3, true, false)],
        vec![key(7, false, true), key(8, false, false)],
    ] {
        let how = How {
            threads: 2,
            batch_rows: 0,
            memory: 1 << 20,
        };
        let plan = check(MANY, 5, (keys, 2, Some(12)), how).unwrap();
        assert_eq!(plan.metrics.aside.load(Ordering::Relaxed), 0);
        assert_eq!(plan.metrics.rows.load(Ordering::Relaxed), 10);
    }
}

/// The scan drops values that lie behind the first rows, whichever kind they are of.
#[test]
fn the_scan_knows_what_lies_behind() {
    for column in [2, 3, 4, 6, 8, 9] {
        for (descending, nulls_first) in [(false, false), (true, false), (false, true)] {
            let keys = vec![key(column, descending, nulls_first), key(0, true, true)];
            let plan = check(MANY, 5, (keys, 0, Some(10)), ALONE).unwrap();
            let read = plan.inputs()[0].metrics.rows.load(Ordering::Relaxed);
            // A block, and of the others what ties in the first column.
            let nulls = if nulls_first { 10_000 } else { 0 };
            assert!(read <= 12_000 + nulls, "column {column}: {read} rows");
        }
    }
}

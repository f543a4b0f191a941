//! Windows against a plain evaluation, frame by frame.

use crate::aggregate::Function;
use crate::expression::Expression;
use crate::plan::{
    Exclude, Frame, FrameBound, FrameUnit, Node, Plan, Shift, SortKey, Sorting, WindowCall,
    WindowFunction, Windowing,
};
use crate::testing::{ALONE, How, batches, table};
use crate::vector::{Values, Vector};
use crate::{Error, Result};
use arrow_array::cast::AsArray;
use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int64Array, StringViewArray,
};
use arrow_schema::DataType;
use freestone_storage::ColumnType;
use proptest::prelude::*;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

const WIDE: ColumnType = ColumnType::Decimal {
    precision: 38,
    scale: 0,
};

/// The columns of the table.
const KINDS: [ColumnType; 10] = [
    ColumnType::BigInt,
    ColumnType::Text,
    ColumnType::BigInt,
    ColumnType::BigInt,
    WIDE,
    ColumnType::Double,
    ColumnType::Text,
    ColumnType::Boolean,
    ColumnType::BigInt,
    ColumnType::BigInt,
];
/// The number of the row, its partition, and the order.
const ID: usize = 0;
const PART: usize = 1;
const KEY: usize = 2;
/// Values: integers, decimals, floats, texts, and a condition.
const INT: usize = 3;
const DECIMAL: usize = 4;
const FLOAT: usize = 5;
const TEXT: usize = 6;
const CONDITION: usize = 7;
/// Where frames of RANGE start and end.
const START: usize = 8;
const END: usize = 9;

#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Null,
    Number(i128),
    Float(f64),
    Text(String),
    Bool(bool),
}

impl Cell {
    fn compare(&self, other: &Cell) -> Ordering {
        match (self, other) {
            (Cell::Number(a), Cell::Number(b)) => a.cmp(b),
            (Cell::Float(a), Cell::Float(b)) => a.total_cmp(b),
            (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
            (Cell::Bool(a), Cell::Bool(b)) => a.cmp(b),
            other => panic!("{other:?} do not compare"),
        }
    }

    fn number(&self) -> Option<i128> {
        match self {
            Cell::Number(number) => Some(*number),
            _ => None,
        }
    }
}

type Row = Vec<Cell>;

/// How the order is written, and where frames of RANGE lie.
#[derive(Clone, Copy, Debug)]
struct Order {
    descending: bool,
    nulls_first: bool,
    /// The distances of the start and the end, below 0 backwards.
    distances: (i64, i64),
}

fn rows(seed: u64, count: usize, partitions: u64, order: Order) -> Vec<Row> {
    let number = |row: usize, column: usize| {
        let mixed = crate::kernels::hash_key(&[seed as i64, row as i64, column as i64]);
        crate::kernels::hash(mixed as i64 ^ 1)
    };
    let rows = (0..count).map(|row| {
        let cell = |column: usize| Some(number(row, column)).filter(|n| n % 5 != 0);
        let or_null = |cell: Option<Cell>| cell.unwrap_or(Cell::Null);
        let key = cell(KEY).map(|n| i128::from(n / 7 % 9));
        let bound = |distance: i64| {
            let by = i128::from(if order.descending {
                -distance
            } else {
                distance
            });
            // Now and then a bound is beyond all values.
            let is_known = distance.abs() != 4;
            or_null(key.filter(|_| is_known).map(|key| Cell::Number(key + by)))
        };
        let text = |n: u64| Cell::Text(format!("text number {}", n % 11));
        vec![
            Cell::Number(row as i128),
            or_null(cell(PART).map(|n| text(n % partitions))),
            or_null(key.map(Cell::Number)),
            or_null(cell(INT).map(|n| Cell::Number(i128::from(n / 7 % 100) - 50))),
            or_null(cell(DECIMAL).map(|n| Cell::Number(i128::from(n) << 32))),
            or_null(cell(FLOAT).map(|n| Cell::Float((n / 7 % 100) as f64 / 4.0 - 10.0))),
            or_null(cell(TEXT).map(text)),
            or_null(cell(CONDITION).map(|n| Cell::Bool(n % 3 > 0))),
            bound(order.distances.0),
            bound(order.distances.1),
        ]
    });
    rows.collect()
}

fn array(rows: &[Row], column: usize) -> ArrayRef {
    let cells = rows.iter().map(|row| &row[column]);
    match KINDS[column] {
        ColumnType::BigInt => Arc::new(Int64Array::from_iter(
            cells.map(|cell| cell.number().map(|n| n as i64)),
        )),
        ColumnType::Double => Arc::new(Float64Array::from_iter(cells.map(|cell| match cell {
            Cell::Float(value) => Some(*value),
            _ => None,
        }))),
        ColumnType::Text => Arc::new(StringViewArray::from_iter(cells.map(|cell| match cell {
            Cell::Text(text) => Some(text.as_str()),
            _ => None,
        }))),
        ColumnType::Boolean => Arc::new(BooleanArray::from_iter(cells.map(|cell| match cell {
            Cell::Bool(value) => Some(*value),
            _ => None,
        }))),
        _ => {
            let array = Decimal128Array::from_iter(cells.map(Cell::number));
            Arc::new(array.with_precision_and_scale(38, 0).unwrap())
        }
    }
}

fn cell(vector: &Vector, row: usize) -> Cell {
    if vector.is_null(row) {
        return Cell::Null;
    }
    match &vector.values {
        Values::Int(values) => Cell::Number(values[row].into()),
        Values::Wide(values) => Cell::Number(values[row]),
        Values::Float(values) => Cell::Float(values[row]),
        Values::Bool(bits) => Cell::Bool(bits.value(row)),
        Values::Text(array) => Cell::Text(array.as_string_view().value(row).into()),
        Values::Coded { codes, entries } => {
            Cell::Text(entries.as_string_view().value(codes[row] as usize).into())
        }
        Values::Other(_) => panic!("a value of another kind"),
    }
}

/// The calls of a plan over the table: partition, order, and the number of the row, so that
/// there is one order alone.
fn windowing(order: Order, calls: Vec<WindowCall>) -> Windowing {
    let key = |column: usize, descending, nulls_first| SortKey {
        expression: Expression::Column(column),
        kind: KINDS[column].arrow(),
        descending,
        nulls_first,
    };
    Windowing {
        columns: vec![ID, TEXT],
        sorting: Sorting {
            skip: 0,
            fetch: None,
            keys: vec![
                key(PART, false, false),
                key(KEY, order.descending, order.nulls_first),
                key(ID, false, false),
            ],
        },
        calls,
    }
}

fn plan(rows: &[Row], windowing: Windowing) -> Plan {
    let pieces: Vec<Vec<ArrayRef>> = rows
        .chunks(rows.len().div_ceil(3).max(1))
        .map(|rows| (0..KINDS.len()).map(|column| array(rows, column)).collect())
        .collect();
    let mut types = vec![DataType::Int64, DataType::Utf8View];
    types.extend(windowing.calls.iter().map(|call| call.kind.clone()));
    let input = table(&KINDS, &pieces);
    Plan::new(Node::Window(Box::new(input), windowing), types, 0.0)
}

/// The results of the calls by the numbers of rows.
fn found(plan: &Plan, how: How) -> Result<BTreeMap<i128, Row>> {
    let mut found = BTreeMap::new();
    for batch in batches(plan, how)? {
        for row in 0..batch.rows {
            let cells = batch.columns.iter().map(|column| cell(column, row));
            let mut cells: Row = cells.collect();
            let results = cells.split_off(2);
            let id = cells[0].number().unwrap();
            assert!(found.insert(id, results).is_none(), "a row that came twice");
        }
    }
    Ok(found)
}

/// The results of the calls, row by row.
fn expected(rows: &[Row], windowing: &Windowing) -> BTreeMap<i128, Row> {
    let mut sorted = rows.to_vec();
    let by = |a: &Row, b: &Row, key: &SortKey| {
        let Expression::Column(column) = key.expression else {
            panic!("a key that is no column");
        };
        let (a, b) = (&a[column], &b[column]);
        match (a, b) {
            (Cell::Null, Cell::Null) => Ordering::Equal,
            (Cell::Null, _) if key.nulls_first => Ordering::Less,
            (Cell::Null, _) => Ordering::Greater,
            (_, Cell::Null) if key.nulls_first => Ordering::Greater,
            (_, Cell::Null) => Ordering::Less,
            _ if key.descending => b.compare(a),
            _ => a.compare(b),
        }
    };
    let order = |a: &Row, b: &Row, keys: &[SortKey]| {
        let keys = keys.iter().map(|key| by(a, b, key));
        keys.fold(Ordering::Equal, Ordering::then)
    };
    sorted.sort_by(|a, b| order(a, b, &windowing.sorting.keys));
    let mut expected: BTreeMap<i128, Row> = BTreeMap::new();
    for call in &windowing.calls {
        let (partition, order_keys) = windowing.sorting.keys.split_at(call.partition);
        let peers_by = &order_keys[..call.order];
        for row in &sorted {
            let rows: Vec<&Row> = sorted
                .iter()
                .filter(|other| order(row, other, partition).is_eq())
                .collect();
            let at = rows.iter().position(|other| other[ID] == row[ID]).unwrap();
            let is_peer = |other: usize| order(row, rows[other], peers_by).is_eq();
            let value = one(call, &rows, at, &is_peer, &|a, b| {
                order(rows[a], rows[b], peers_by).is_eq()
            });
            expected
                .entry(row[ID].number().unwrap())
                .or_default()
                .push(value);
        }
    }
    expected
}

/// The rows of the frame of a row.
fn frame(
    frame: &Frame,
    rows: &[&Row],
    at: usize,
    is_peer: &dyn Fn(usize) -> bool,
    same: &dyn Fn(usize, usize) -> bool,
    direction: (bool, bool),
) -> Vec<usize> {
    let group = |row: usize| (1..=row).filter(|row| !same(*row, row - 1)).count() as i64;
    let within = |row: usize, bound: FrameBound, is_start: bool| {
        // Whether the row lies on this side of the bound, in either case with it.
        let inside = |place: i64, border: i64| match is_start {
            true => place >= border,
            false => place <= border,
        };
        match (bound, frame.unit) {
            (FrameBound::Unbounded, _) => true,
            (FrameBound::Current, FrameUnit::Rows) => inside(row as i64, at as i64),
            (FrameBound::Current, _) => inside(group(row), group(at)),
            (FrameBound::Preceding(by), FrameUnit::Rows) => {
                inside(row as i64, at as i64 - by as i64)
            }
            (FrameBound::Following(by), FrameUnit::Rows) => {
                inside(row as i64, at as i64 + by as i64)
            }
            (FrameBound::Preceding(by), FrameUnit::Groups) => {
                inside(group(row), group(at) - by as i64)
            }
            (FrameBound::Following(by), FrameUnit::Groups) => {
                inside(group(row), group(at) + by as i64)
            }
            (FrameBound::Preceding(column) | FrameBound::Following(column), FrameUnit::Range) => {
                let (descending, nulls_first) = direction;
                match (&rows[at][KEY], &rows[row][KEY]) {
                    (Cell::Null, Cell::Null) => true,
                    // NULLs lie at one end of the order.
                    (Cell::Null, _) => is_start == nulls_first,
                    (_, Cell::Null) => is_start != nulls_first,
                    (_, key) => match &rows[at][column] {
                        Cell::Null => {
                            let back = matches!(bound, FrameBound::Preceding(_));
                            back == is_start
                        }
                        border => {
                            let order = key.compare(border);
                            let order = if descending { order.reverse() } else { order };
                            if is_start {
                                order.is_ge()
                            } else {
                                order.is_le()
                            }
                        }
                    },
                }
            }
        }
    };
    let kept = |row: &usize| match frame.exclude {
        Exclude::NoOthers => true,
        Exclude::CurrentRow => *row != at,
        Exclude::Group => !is_peer(*row),
        Exclude::Ties => *row == at || !is_peer(*row),
    };
    (0..rows.len())
        .filter(|row| within(*row, frame.start, true) && within(*row, frame.end, false))
        .filter(kept)
        .collect()
}

fn one(
    call: &WindowCall,
    rows: &[&Row],
    at: usize,
    is_peer: &dyn Fn(usize) -> bool,
    same: &dyn Fn(usize, usize) -> bool,
) -> Cell {
    let number = |number: usize| Cell::Number(number as i128);
    let first = (0..rows.len()).position(is_peer).unwrap();
    let last = (0..rows.len()).rposition(is_peer).unwrap();
    let direction = DIRECTION.with(std::cell::Cell::get);
    let framed = || frame(&call.frame, rows, at, is_peer, same, direction);
    let value = |row: Option<usize>, column: usize| match row {
        Some(row) => rows[row][column].clone(),
        None => Cell::Null,
    };
    match &call.function {
        WindowFunction::RowNumber => number(at + 1),
        WindowFunction::Rank => number(first + 1),
        WindowFunction::DenseRank => {
            number((1..=at).filter(|row| !same(*row, row - 1)).count() + 1)
        }
        WindowFunction::PercentRank => Cell::Float(first as f64 / (rows.len() - 1).max(1) as f64),
        WindowFunction::CumeDist => Cell::Float((last + 1) as f64 / rows.len() as f64),
        WindowFunction::Tile(column) => {
            let known = (0..rows.len()).find(|row| rows[*row][*column] != Cell::Null);
            match known.filter(|known| *known <= at) {
                None => Cell::Null,
                Some(known) => {
                    let parts = rows[known][*column].number().unwrap() as usize;
                    let (length, longer) = (rows.len() / parts, rows.len() % parts);
                    // Part by part, as long as there are rows.
                    let (mut end, mut tile) = (known, 0);
                    while end <= at {
                        end += length + usize::from(tile < longer);
                        tile += 1;
                    }
                    number(tile)
                }
            }
        }
        WindowFunction::Shifted {
            value: column,
            by,
            back,
            default,
        } => {
            let by = match by {
                Shift::Rows(by) => i128::from(*by),
                Shift::Column(column) => match rows[at][*column].number() {
                    Some(by) => by,
                    None => return Cell::Null,
                },
            };
            let found = at as i128 + if *back { -by } else { by };
            let found = usize::try_from(found)
                .ok()
                .filter(|found| *found < rows.len());
            match (found, default) {
                (None, Some(default)) => rows[at][*default].clone(),
                (found, _) => value(found, *column),
            }
        }
        WindowFunction::First(column) => value(framed().first().copied(), *column),
        WindowFunction::Last(column) => value(framed().last().copied(), *column),
        WindowFunction::Nth {
            value: column,
            number,
        } => match rows[at][*number].number() {
            None => Cell::Null,
            Some(nth) => value(framed().get(nth as usize - 1).copied(), *column),
        },
        WindowFunction::Aggregate {
            function, argument, ..
        } => {
            let kept = framed().into_iter().filter(|row| match call.filter {
                Some(filter) => rows[*row][filter] == Cell::Bool(true),
                None => true,
            });
            let values: Vec<Cell> = match argument {
                Some(column) => kept.map(|row| rows[row][*column].clone()).collect(),
                None => kept.map(|_| Cell::Bool(true)).collect(),
            };
            let values: Vec<Cell> = values.into_iter().filter(|v| *v != Cell::Null).collect();
            aggregated(*function, values)
        }
    }
}

fn aggregated(function: Function, values: Vec<Cell>) -> Cell {
    let count = values.len() as i128;
    let sum = || match values.first() {
        Some(Cell::Number(_)) => Cell::Number(values.iter().filter_map(Cell::number).sum()),
        Some(Cell::Float(_)) => Cell::Float(
            values
                .iter()
                .map(|value| match value {
                    Cell::Float(value) => *value,
                    other => panic!("{other:?} is no float"),
                })
                .sum(),
        ),
        _ => Cell::Null,
    };
    match function {
        Function::Count => Cell::Number(count),
        Function::Sum => sum(),
        Function::Average { factor } => match sum() {
            Cell::Number(sum) => Cell::Number(sum * factor / count),
            Cell::Float(sum) => Cell::Float(sum / count as f64),
            other => other,
        },
        Function::Least => values
            .into_iter()
            .min_by(Cell::compare)
            .unwrap_or(Cell::Null),
        Function::Greatest => values
            .into_iter()
            .max_by(Cell::compare)
            .unwrap_or(Cell::Null),
    }
}

thread_local! {
    /// Whether the order descends and has NULLs first, for the evaluation of a case.
    static DIRECTION: std::cell::Cell<(bool, bool)> = const { std::cell::Cell::new((false, false)) };
}

fn any_function() -> impl Strategy<Value = (WindowFunction, DataType)> {
    use WindowFunction as F;
    let int = DataType::Int64;
    let value = prop_oneof![
        Just((INT, int.clone())),
        Just((DECIMAL, WIDE.arrow())),
        Just((FLOAT, DataType::Float64)),
        Just((TEXT, DataType::Utf8View)),
        Just((CONDITION, DataType::Boolean)),
    ];
    let by = prop_oneof![
        (-3i64..5).prop_map(Shift::Rows),
        Just(Shift::Column(KEY)),
        Just(Shift::Rows(i64::MIN)),
    ];
    let shifted = (value.clone(), by, any::<bool>(), any::<bool>()).prop_map(
        |((value, kind), by, back, default)| {
            let default = default.then_some(value);
            (
                F::Shifted {
                    value,
                    by,
                    back,
                    default,
                },
                kind,
            )
        },
    );
    let framed = (value.clone(), 0..3).prop_map(|((value, kind), which)| {
        let function = match which {
            0 => F::First(value),
            1 => F::Last(value),
            _ => F::Nth { value, number: ID },
        };
        (function, kind)
    });
    let aggregate = |function, argument, input: DataType, kind| {
        let function = F::Aggregate {
            function,
            argument,
            input,
        };
        (function, kind)
    };
    let best = (value, any::<bool>()).prop_map(move |((value, kind), least)| {
        let function = if least {
            Function::Least
        } else {
            Function::Greatest
        };
        aggregate(function, Some(value), kind.clone(), kind)
    });
    let number = prop_oneof![
        Just((INT, int.clone())),
        Just((DECIMAL, WIDE.arrow())),
        Just((FLOAT, DataType::Float64)),
    ];
    let sum = (number, 0..3).prop_map(move |((value, kind), which)| {
        let function = match (which, value) {
            (0, _) => Function::Sum,
            (1, FLOAT) => Function::Average { factor: 1 },
            (1, _) => Function::Average { factor: 100 },
            _ => return aggregate(Function::Count, Some(value), kind, DataType::Int64),
        };
        aggregate(function, Some(value), kind.clone(), kind)
    });
    prop_oneof![
        Just((F::RowNumber, int.clone())),
        Just((F::Rank, int.clone())),
        Just((F::DenseRank, int.clone())),
        Just((F::PercentRank, DataType::Float64)),
        Just((F::CumeDist, DataType::Float64)),
        Just((F::Tile(ID), int.clone())),
        Just(aggregate(Function::Count, None, int.clone(), int)),
        shifted,
        framed,
        best.clone(),
        best,
        sum.clone(),
        sum,
    ]
}

fn any_bound(is_start: bool, unit: FrameUnit) -> impl Strategy<Value = FrameBound> {
    let by = move |by: usize| match (unit, is_start) {
        (FrameUnit::Range, true) => START,
        (FrameUnit::Range, false) => END,
        _ => by,
    };
    prop_oneof![
        2 => Just(FrameBound::Unbounded),
        2 => Just(FrameBound::Current),
        3 => (0usize..70).prop_map(move |n| FrameBound::Preceding(by(n))),
        3 => (0usize..70).prop_map(move |n| FrameBound::Following(by(n))),
    ]
}

fn any_frame() -> impl Strategy<Value = Frame> {
    let unit = prop_oneof![
        Just(FrameUnit::Rows),
        Just(FrameUnit::Range),
        Just(FrameUnit::Groups)
    ];
    let exclude = prop_oneof![
        3 => Just(Exclude::NoOthers),
        1 => Just(Exclude::CurrentRow),
        1 => Just(Exclude::Group),
        1 => Just(Exclude::Ties),
    ];
    (unit, exclude).prop_flat_map(|(unit, exclude)| {
        (any_bound(true, unit), any_bound(false, unit)).prop_map(move |(start, end)| Frame {
            unit,
            start,
            end,
            exclude,
        })
    })
}

fn any_call() -> impl Strategy<Value = WindowCall> {
    let shape = (
        any_function(),
        any_frame(),
        any::<bool>(),
        0usize..2,
        0usize..3,
    );
    shape.prop_map(|((function, kind), mut frame, filter, partition, order)| {
        let has_range = |bound| {
            matches!(bound, FrameBound::Preceding(_) | FrameBound::Following(_))
                && frame.unit == FrameUnit::Range
        };
        let mut order = order.min(3 - partition);
        if has_range(frame.start) || has_range(frame.end) {
            // The order of distances is the key alone, behind the partition.
            order = 1;
            if partition == 0 {
                frame.unit = FrameUnit::Rows;
            }
        }
        let aggregates = matches!(function, WindowFunction::Aggregate { .. });
        WindowCall {
            partition,
            order,
            filter: (filter && aggregates).then_some(CONDITION),
            function,
            frame,
            kind,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// All functions, frames and exclusions, with one thread and several, in memory and
    /// set aside.
    #[test]
    fn calls_give_what_a_plain_evaluation_does(
        (seed, count, partitions) in (any::<u64>(), 0usize..150, 1u64..9),
        calls in proptest::collection::vec(any_call(), 1..5),
        (descending, nulls_first) in any::<(bool, bool)>(),
        distances in (-4i64..5, -4i64..5),
        threads in 1usize..4,
    ) {
        // Frames that lie behind the row have bounds behind it, and so on.
        let mut calls = calls;
        for call in &mut calls {
            let turned = |bound, distance: i64| match bound {
                FrameBound::Preceding(at) if distance > 0 => FrameBound::Following(at),
                FrameBound::Following(at) if distance < 0 => FrameBound::Preceding(at),
                bound => bound,
            };
            if call.frame.unit == FrameUnit::Range {
                call.frame.start = turned(call.frame.start, distances.0);
                call.frame.end = turned(call.frame.end, distances.1);
            }
            // These need a number from 1 on in every row.
            if let WindowFunction::Tile(_) | WindowFunction::Nth { .. } = call.function {
                prop_assume!(count > 0);
            }
        }
        let order = Order { descending, nulls_first, distances };
        DIRECTION.with(|known| known.set((descending, nulls_first)));
        let mut rows = rows(seed, count, partitions, order);
        for row in &mut rows {
            row[ID] = Cell::Number(row[ID].number().unwrap() + 1);
        }
        let windowing = windowing(order, calls);
        let expected = expected(&rows, &windowing);
        let plan = plan(&rows, windowing);
        let found = found(&plan, How { threads, batch_rows: 7, ..ALONE });
        prop_assert_eq!(found.unwrap(), expected);
    }
}

fn call(function: WindowFunction, partition: usize, order: usize) -> WindowCall {
    WindowCall {
        partition,
        order,
        function,
        filter: None,
        frame: Frame {
            unit: FrameUnit::Range,
            start: FrameBound::Unbounded,
            end: FrameBound::Current,
            exclude: Exclude::NoOthers,
        },
        kind: DataType::Int64,
    }
}

const PLAIN: Order = Order {
    descending: false,
    nulls_first: false,
    distances: (0, 0),
};

fn sum() -> WindowFunction {
    WindowFunction::Aggregate {
        function: Function::Sum,
        argument: Some(INT),
        input: DataType::Int64,
    }
}

/// Partitions that find no room are set aside and computed part by part.
#[test]
fn rows_without_room_are_set_aside() {
    let rows = rows(11, 60_000, 11, PLAIN);
    // A partition by a number that few rows share.
    let mut windowing = windowing(
        PLAIN,
        vec![call(WindowFunction::RowNumber, 1, 2), call(sum(), 1, 1)],
    );
    windowing.sorting.keys[0] = SortKey {
        expression: Expression::Column(INT),
        kind: DataType::Int64,
        ..windowing.sorting.keys[0].clone()
    };
    let plan = plan(&rows, windowing);
    let whole = found(&plan, ALONE).unwrap();
    assert_eq!(whole.len(), rows.len());
    assert_eq!(
        plan.metrics
            .aside
            .load(std::sync::atomic::Ordering::Relaxed),
        0
    );
    for threads in [1, 3] {
        let how = How {
            threads,
            memory: 6 << 20,
            ..ALONE
        };
        assert_eq!(found(&plan, how).unwrap(), whole);
    }
    let aside = plan
        .metrics
        .aside
        .load(std::sync::atomic::Ordering::Relaxed);
    assert!(aside > 0);
}

/// A call that needs a whole partition which does not fit is refused.
#[test]
fn one_partition_without_room_is_refused() {
    let rows = rows(12, 60_000, 11, PLAIN);
    let how = How {
        memory: 4 << 20,
        ..ALONE
    };
    let refused = |call| {
        let error = found(&plan(&rows, windowing(PLAIN, vec![call])), how).unwrap_err();
        let is_it = matches!(
            error,
            Error::OutOfMemory {
                operator: "OVER",
                ..
            }
        );
        assert!(is_it, "{error}");
    };
    refused(call(sum(), 0, 0));
    let mut share = call(WindowFunction::CumeDist, 0, 2);
    share.kind = DataType::Float64;
    refused(share);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// Partitions without room are computed as rows come, those of parts as well, and give
    /// what they give in memory.
    #[test]
    fn partitions_without_room_are_computed_as_rows_come(
        seed in any::<u64>(),
        is_parted in any::<bool>(),
        calls in proptest::collection::vec(any_call(), 1..4),
        (descending, nulls_first) in any::<(bool, bool)>(),
        threads in 1usize..3,
    ) {
        let order = Order { descending, nulls_first, distances: (-1, 1) };
        let mut rows = rows(seed, 30_000, 1, order);
        for row in &mut rows {
            row[ID] = Cell::Number(row[ID].number().unwrap() + 1);
            // Nearly all rows are of one partition.
            if row[ID] != Cell::Number(7) {
                row[PART] = Cell::Text("a partition".into());
            }
        }
        let mut calls = calls;
        let least = usize::from(is_parted);
        calls.push(call(WindowFunction::RowNumber, least, 2));
        for call in &mut calls {
            // Looked through row by row, groups of so many rows take long.
            let is_distance = call.frame.unit == FrameUnit::Range;
            call.partition = call.partition.max(least);
            call.order = call.order.min(3 - call.partition);
            if is_distance {
                (call.frame.start, call.frame.end) = (FrameBound::Unbounded, FrameBound::Current);
            }
        }
        let plan = plan(&rows, windowing(order, calls));
        let whole = found(&plan, How { threads, ..ALONE }).unwrap();
        match found(&plan, How { threads, memory: 5 << 20, ..ALONE }) {
            Ok(found) => prop_assert!(found == whole),
            // Some call needs the partition as a whole.
            Err(Error::OutOfMemory { operator: "OVER", .. }) => {}
            Err(error) => prop_assert!(false, "{}", error),
        }
    }
}

/// Many rows in many pieces, by several threads.
#[test]
fn pieces_of_several_threads_are_whole_partitions() {
    let rows = rows(13, 150_000, 11, PLAIN);
    let plan = plan(
        &rows,
        windowing(
            PLAIN,
            vec![
                call(WindowFunction::RowNumber, 1, 2),
                call(WindowFunction::RowNumber, 2, 1),
            ],
        ),
    );
    let found = found(
        &plan,
        How {
            threads: 4,
            ..ALONE
        },
    )
    .unwrap();
    // Rows come by partition, key and number, so that numbers are counted from the first.
    let mut counts: BTreeMap<(String, String), i128> = BTreeMap::new();
    let mut sorted: Vec<&Row> = rows.iter().collect();
    sorted.sort_by_key(|row| match (&row[KEY], row[ID].number()) {
        (Cell::Null, id) => (i128::MAX, id),
        (key, id) => (key.number().unwrap(), id),
    });
    for row in sorted {
        let part = format!("{:?}", row[PART]);
        let mut next = |key: String| {
            let count = counts.entry((part.clone(), key)).or_default();
            *count += 1;
            Cell::Number(*count)
        };
        let expected = vec![next(String::new()), next(format!("{:?}", row[KEY]))];
        assert_eq!(found[&row[ID].number().unwrap()], expected);
    }
}

/// Sums that leave 64 bits on their way come back; one that ends beyond them is an error.
#[test]
fn sums_are_exact_or_refused() {
    let number = |n: i64| Cell::Number(n.into());
    let row = |id: i64, value: i64| {
        let mut row = vec![Cell::Null; KINDS.len()];
        (row[ID], row[INT]) = (number(id), number(value));
        row
    };
    let rows = [row(1, i64::MAX), row(2, i64::MAX), row(3, -i64::MAX)];
    let mut call = call(sum(), 0, 0);
    let plan_of =
        |call: &WindowCall, rows: &[Row]| plan(rows, windowing(PLAIN, vec![call.clone()]));
    let whole = found(&plan_of(&call, &rows), ALONE).unwrap();
    assert_eq!(whole[&1], [number(i64::MAX)]);
    (call.order, call.frame.unit) = (2, FrameUnit::Rows);
    let error = found(&plan_of(&call, &rows), ALONE).unwrap_err();
    assert!(matches!(error, Error::OutOfRange(_)), "{error}");
    call.function = WindowFunction::Tile(INT);
    let error = found(&plan_of(&call, &[row(1, 0)]), ALONE).unwrap_err();
    assert_eq!(
        error.to_string(),
        "argument of ntile must be greater than zero"
    );
}

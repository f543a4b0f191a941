//! Wide tables of few values, and columns of many distinct ones.

use crate::home::{Home, every_form, ids, one_worker, options, written};
use crate::tables::Dice;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, new_null_array};
use freestone_storage::{
    Column, ColumnType, CompareOp, DEFAULT_SCHEMA, Layout, Predicate, ScanRequest, Table,
    TableOptions, TableSchema, Value,
};
use std::sync::Arc;

/// Most bytes that a column without values adds to a block: a zone map without
/// bounds (5), a sketch of nothing (3) and two sizes (16).
const ABSENT_BYTES: u64 = 24;

fn schema(columns: usize) -> TableSchema {
    let column = |number: usize| Column {
        name: format!("c{number}"),
        kind: ColumnType::BigInt,
        nullable: number > 0,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    };
    TableSchema {
        columns: (0..columns).map(column).collect(),
        ..TableSchema::default()
    }
}

/// Makes table `t` of these columns, the first of which has no NULL.
fn stored(arrays: Vec<ArrayRef>, options: &TableOptions) -> (Home, Arc<Table>) {
    let schema = Arc::new(schema(arrays.len()));
    let batch = RecordBatch::try_new(schema.arrow(), arrays).unwrap();
    let home = Home::new(false);
    let blocks = written(
        home.store.writer(&schema, options).unwrap(),
        &batch,
        batch.num_rows(),
    );
    home.store
        .commit(|edit| {
            let name = (DEFAULT_SCHEMA, "t");
            let id = edit.create_table(name.0, name.1, (*schema).clone(), options.clone())?;
            edit.append(id, blocks)
        })
        .unwrap();
    let table = home.table();
    (home, table)
}

fn bytes(table: &Table) -> u64 {
    table.blocks().iter().map(|block| block.bytes()).sum()
}

fn numbers(rows: usize) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(0..rows as i64))
}

#[test]
fn absent_columns_cost_next_to_nothing() {
    for layout in [Layout::Dsm, Layout::Inverted] {
        // One zone, and more than one.
        for (rows, few, many) in [(20, 95, 4095), (9000, 10, 200)] {
            let size = |absent: usize| {
                let nothing = new_null_array(&ColumnType::BigInt.arrow(), rows);
                let mut arrays = vec![numbers(rows)];
                arrays.extend((0..absent).map(|_| nothing.clone()));
                let (_home, table) = stored(arrays, &options(layout, 64 << 20));
                assert_eq!(table.blocks().len(), 1);
                bytes(&table)
            };
            let added = size(many) - size(few);
            // Three sections are rounded up to whole lines of 64 bytes.
            let most = ABSENT_BYTES * (many - few) as u64 + 3 * 64;
            assert!(added <= most, "{layout}, {rows} rows: {added} > {most}");
        }
    }
}

/// 4,096 columns of which a row has ten.
#[test]
fn wide_rows_of_few_values_are_small() {
    const ROWS: usize = 1500;
    const COLUMNS: usize = 4096;
    const VALUES: usize = 10;
    let mut cells = vec![vec![None; ROWS]; COLUMNS];
    let mut dice = Dice(7);
    (0..ROWS).for_each(|row| {
        cells[0][row] = Some(row as i64);
        for _ in 1..VALUES {
            // Some attributes are common, most are rare.
            let most = 1 + dice.below(COLUMNS - 1);
            cells[1 + dice.below(most)][row] = Some(dice.below(1000) as i64);
        }
    });
    let arrays: Vec<ArrayRef> = cells
        .iter()
        .map(|cells| Arc::new(Int64Array::from(cells.clone())) as ArrayRef)
        .collect();
    let size = |layout| {
        let (_home, table) = stored(arrays.clone(), &options(layout, 256 << 20));
        let projection: Vec<usize> = (0..COLUMNS).step_by(97).collect();
        for (place, column) in projection.iter().enumerate() {
            let request = ScanRequest {
                projection: vec![projection[place]],
                predicate: Some(Predicate::IsNotNull(*column)),
                ..ScanRequest::default()
            };
            let found = one_worker(&table.scan(&request).unwrap());
            let found: Vec<i64> = found
                .iter()
                .flat_map(|batch| {
                    batch
                        .column(0)
                        .as_primitive::<Int64Type>()
                        .values()
                        .to_vec()
                })
                .collect();
            let expected: Vec<i64> = cells[*column].iter().copied().flatten().collect();
            assert_eq!(found, expected, "{layout}, column {column}");
        }
        bytes(&table)
    };
    let (dsm, column) = (size(Layout::Dsm), size(Layout::Column));
    assert!(dsm < 500 * COLUMNS as u64, "{dsm} bytes");
    assert!(dsm < column, "{dsm} bytes, {column} by column");
}

/// More distinct values than codes are made for elsewhere.
#[test]
fn every_row_may_have_its_own_value() {
    const ROWS: usize = (1 << 18) + 4321;
    for form in every_form(256 << 20) {
        let values = (0..ROWS as i64).map(|row| row.wrapping_mul(0x9e37_79b9_7f4a_7c15u64 as i64));
        let values: Vec<i64> = values.collect();
        let array: ArrayRef = Arc::new(Int64Array::from(values.clone()));
        let (_home, table) = stored(vec![numbers(ROWS), array.clone()], &form);
        assert_eq!(table.blocks().len(), 1);
        assert_eq!(
            &table.blocks()[0].read(1, 0..ROWS).unwrap(),
            &array,
            "{}",
            form.layout
        );
        let request = ScanRequest {
            projection: vec![0],
            predicate: Some(Predicate::Compare {
                column: 1,
                op: CompareOp::Eq,
                value: Value::Int(values[99_999].into()),
            }),
            ..ScanRequest::default()
        };
        let found = one_worker(&table.scan(&request).unwrap());
        assert_eq!(ids(&found), [99_999], "{}", form.layout);
    }
}

/// Sizes, and times of a condition and of reading, of one column in every form.
#[test]
#[ignore = "measures; run alone"]
fn forms_measured() {
    const ROWS: usize = 1 << 20;
    for (what, distinct, present_in) in [
        ("1,000 values", 1000, 1),
        ("1,000 values, 1 row in 5 present", 1000, 5),
        ("1,000 values, 1 row in 1,000 present", 1000, 1000),
        ("all different", usize::MAX, 1),
    ] {
        let mut dice = Dice(3);
        let cells = (0..ROWS).map(|_| {
            let value = dice.below(distinct) as i64;
            dice.once_in(present_in).then_some(value)
        });
        let array: ArrayRef = Arc::new(cells.collect::<Int64Array>());
        for form in every_form(256 << 20) {
            let (_home, table) = stored(vec![numbers(ROWS), array.clone()], &form);
            let size = table.blocks()[0].columns().unwrap()[1].bytes;
            let time = |projection: Vec<usize>, predicate: Option<Predicate>| {
                let request = ScanRequest {
                    projection,
                    predicate,
                    ..ScanRequest::default()
                };
                one_worker(&table.scan(&request).unwrap());
                let start = std::time::Instant::now();
                one_worker(&table.scan(&request).unwrap());
                start.elapsed().as_micros()
            };
            let equal = Predicate::Compare {
                column: 1,
                op: CompareOp::Eq,
                value: Value::Int(77),
            };
            let (equal, null) = (
                time(Vec::new(), Some(equal)),
                time(Vec::new(), Some(Predicate::IsNull(1))),
            );
            let read = time(vec![1], None);
            let slotted = if form.slotted { "slotted " } else { "" };
            eprintln!(
                "{what}: {slotted}{}: {size} bytes, = {equal} us, IS NULL {null} us, read {read} us",
                form.layout
            );
        }
    }
}

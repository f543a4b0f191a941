//! Blocks of partitioned tables as they are written, and what changes of columns do to
//! ranges.

use crate::tables::Dice;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringViewArray};
use freestone_storage::{
    Block, Column, ColumnType, DEFAULT_SCHEMA, Layout, Partitioning, ScanRequest, Store, Table,
    TableId, TableOptions, TableSchema, Value,
};
use std::sync::Arc;

fn columns() -> TableSchema {
    let column = |name: &str, kind| Column {
        name: name.into(),
        kind,
        nullable: true,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    };
    TableSchema {
        columns: vec![
            column("n", ColumnType::BigInt),
            column("f", ColumnType::Double),
            column("s", ColumnType::Text),
        ],
        ..TableSchema::default()
    }
}

/// Rows with NULLs, NaNs and long texts, numbered from `first` on.
fn batch(first: i64, rows: usize, dice: &mut Dice) -> RecordBatch {
    let numbers = Int64Array::from_iter_values(first..first + rows as i64);
    let floats: Float64Array = (0..rows)
        .map(|_| match dice.below(20) {
            0 => None,
            1 => Some(f64::NAN),
            2 => Some(-0.0),
            _ => Some(dice.below(1 << 20) as f64 - 300_000.0),
        })
        .collect();
    let texts: StringViewArray = (0..rows)
        .map(|_| match dice.below(10) {
            0 => None,
            1 => Some(format!("{}{}", "long".repeat(20), dice.below(99))),
            _ => Some(format!("{:x}", dice.next())),
        })
        .collect();
    let arrays: Vec<ArrayRef> = vec![Arc::new(numbers), Arc::new(floats), Arc::new(texts)];
    RecordBatch::try_new(columns().arrow(), arrays).unwrap()
}

fn create(store: &Store, options: &TableOptions) -> TableId {
    let create = |edit: &mut freestone_storage::CatalogEdit| {
        edit.create_table(DEFAULT_SCHEMA, "t", columns(), options.clone())
    };
    store.commit(create).unwrap()
}

fn options(column: &str, ranges: u16) -> TableOptions {
    TableOptions {
        block_bytes: 128 << 10,
        partition_by: Some(Partitioning::new(column, ranges)),
        ..TableOptions::default()
    }
}

fn table_of(store: &Store) -> Arc<Table> {
    store.snapshot().table(DEFAULT_SCHEMA, "t").unwrap().clone()
}

fn partitioning(table: &Table) -> &Partitioning {
    table.options.partition_by.as_ref().unwrap()
}

fn must_be_of_one_range(by: &Partitioning, block: &Block) {
    let column = columns().index_of(&by.column).unwrap();
    let values = block.read(column, 0..block.rows() as usize).unwrap();
    let ranges = by.ranges_of(&values).unwrap();
    assert!(ranges.iter().all(|range| *range == ranges[0]), "{by}");
}

fn numbers(table: &Table) -> Vec<i64> {
    let request = ScanRequest {
        projection: vec![0],
        ..ScanRequest::default()
    };
    let mut all: Vec<i64> = table
        .scan(&request)
        .unwrap()
        .worker()
        .flat_map(|batch| {
            let batch = batch.unwrap();
            batch
                .column(0)
                .as_primitive::<Int64Type>()
                .values()
                .to_vec()
        })
        .collect();
    all.sort_unstable();
    all
}

/// Rows in any order, in batches of any size: each is in one block, and those of a
/// block are of one range.
#[test]
fn a_writer_keeps_ranges_apart() {
    for (number, layout) in (0..).zip(Layout::ALL.into_iter().cycle().take(30)) {
        let mut dice = Dice(number);
        let column = *dice.choose(&["n", "f", "s"]);
        let mut options = options(column, *dice.choose(&[2, 3, 16, 40, 256]));
        options.layout = layout;
        options.sort_by = dice.once_in(2).then(|| "s".into());
        let (mut batches, mut first) = (Vec::new(), 0);
        for _ in 0..10 {
            let rows = match dice.below(3) {
                0 => dice.below(10),
                1 => dice.below(2_000),
                _ => dice.below(20_000),
            };
            batches.push(batch(first, rows, &mut dice));
            first += rows as i64;
        }
        let place = columns().index_of(column).unwrap();
        let values: Vec<ArrayRef> = batches.iter().map(|b| b.column(place).clone()).collect();
        let by = partitioning_of(&options).with_bounds_of(&values);
        options.partition_by = Some(by.clone());
        let store = Store::in_memory();
        store.pause_mover();
        let table = create(&store, &options);
        let mut writer = store.writer(&Arc::new(columns()), &options).unwrap();
        batches.iter().for_each(|one| writer.push(one).unwrap());
        let blocks = writer.finish().unwrap();
        for block in &blocks {
            must_be_of_one_range(&by, &block.handle());
        }
        store.commit(|edit| edit.append(table, blocks)).unwrap();
        assert_eq!(numbers(&table_of(&store)), (0..first).collect::<Vec<_>>());
    }
}

fn partitioning_of(options: &TableOptions) -> &Partitioning {
    options.partition_by.as_ref().unwrap()
}

/// Zone maps say nothing of blocks with NaN, and little of long texts; they are cut
/// all the same, and once.
#[test]
fn a_vacuum_ends_whatever_the_values() {
    for column in ["n", "f", "s"] {
        let store = Store::in_memory();
        store.pause_mover();
        let table = create(&store, &options(column, 5));
        let mut dice = Dice(9);
        for part in 0..4 {
            let mut own = store.begin().unwrap();
            own.insert(table, &batch(part * 3_000, 3_000, &mut dice))
                .unwrap();
            own.commit().unwrap();
            store.vacuum(table).unwrap();
        }
        let now = table_of(&store);
        assert_eq!(partitioning(&now).bounds.len(), 4);
        for block in now.blocks() {
            must_be_of_one_range(partitioning(&now), block);
        }
        assert_eq!(numbers(&now), (0..12_000).collect::<Vec<_>>());
        let blocks = now.block_ids();
        store.vacuum(table).unwrap();
        assert_eq!(table_of(&store).block_ids(), blocks, "{column}");
    }
}

/// A column without two values has no ranges, and nobody looks for them all the time.
#[test]
fn a_column_of_one_value_is_left_alone() {
    let store = Store::in_memory();
    let table = create(&store, &options("s", 2));
    let texts = StringViewArray::from_iter_values(std::iter::repeat_n("same", 5_000));
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(0..5_000)),
        Arc::new(Float64Array::new_null(5_000)),
        Arc::new(texts),
    ];
    let batch = RecordBatch::try_new(columns().arrow(), arrays).unwrap();
    let mut own = store.begin().unwrap();
    own.insert(table, &batch).unwrap();
    own.commit().unwrap();
    store.vacuum(table).unwrap();
    let now = table_of(&store);
    assert!(!partitioning(&now).is_known());
    assert_eq!(store.mover_status().tables[0].waiting, None);
    store.vacuum(table).unwrap();
    assert_eq!(table_of(&store).block_ids(), now.block_ids());
}

/// Bounds for other options, from blocks and from rows in no block.
#[test]
fn bounds_are_taken_from_a_table() {
    let store = Store::in_memory();
    store.pause_mover();
    let table = create(&store, &TableOptions::default());
    let none = options("n", 4).with_bounds_from(&table_of(&store), false);
    assert!(!partitioning_of(&none.unwrap()).is_known());
    let mut dice = Dice(3);
    for (first, rows) in [(0, 70_000), (70_000, 10_000)] {
        let mut own = store.begin().unwrap();
        own.insert(table, &batch(first, rows, &mut dice)).unwrap();
        own.commit().unwrap();
        if first == 0 {
            store.move_delta(table).unwrap();
        }
    }
    let now = table_of(&store);
    let known = options("n", 4).with_bounds_from(&now, false).unwrap();
    let bounds = &partitioning_of(&known).bounds;
    assert_eq!(bounds.len(), 3);
    for (bound, about) in bounds.iter().zip([20_000, 40_000, 60_000]) {
        let Value::Int(bound) = bound else {
            panic!("{bound}");
        };
        assert!(
            (bound - about).abs() < 1_000,
            "{bound} is not about {about}"
        );
    }
    let plain = TableOptions::default();
    assert_eq!(plain.with_bounds_from(&now, true).unwrap(), plain);
    // Known ones stay, unless others are asked for.
    let mut old = known.clone();
    old.partition_by.as_mut().unwrap().bounds = vec![Value::Int(7)];
    assert_eq!(old.with_bounds_from(&now, false).unwrap(), old);
    assert_eq!(old.with_bounds_from(&now, true).unwrap(), known);
}

#[test]
fn columns_take_their_ranges_along() {
    let directory = tempfile::tempdir().unwrap();
    let open = || Store::open(directory.path(), freestone_storage::OpenMode::Create).unwrap();
    let store = open();
    let table = create(&store, &options("n", 3));
    let mut own = store.begin().unwrap();
    own.insert(table, &batch(0, 9_000, &mut Dice(1))).unwrap();
    own.commit().unwrap();
    store.vacuum(table).unwrap();
    let bounds = partitioning(&table_of(&store)).bounds.clone();
    assert_eq!(bounds.len(), 2);
    // Another name, as ALTER TABLE gives it.
    let (snapshot, seen) = (store.snapshot(), table_of(&store));
    let mut schema = (*seen.schema).clone();
    schema.columns[0].name = "number".into();
    let rename = |edit: &mut freestone_storage::CatalogEdit| {
        edit.declare(&seen, snapshot.timestamp(), schema, seen.options.clone())
    };
    store.commit(rename).unwrap();
    drop((snapshot, seen, store));
    let store = open();
    let by = partitioning(&table_of(&store)).clone();
    assert_eq!((by.column.as_str(), &by.bounds), ("number", &bounds));
    // Another type, of which these bounds are no values.
    let (snapshot, seen) = (store.snapshot(), table_of(&store));
    let mut schema = (*seen.schema).clone();
    schema.columns[0].kind = ColumnType::Decimal {
        precision: 18,
        scale: 2,
    };
    let retype = |edit: &mut freestone_storage::CatalogEdit| {
        edit.retype(&seen, snapshot.timestamp(), schema, Vec::new())
    };
    store.commit(retype).unwrap();
    assert!(!partitioning(&table_of(&store)).is_known());
    drop((snapshot, seen));
    store
        .commit(|edit| edit.drop_column(table, "number"))
        .unwrap();
    assert_eq!(table_of(&store).options.partition_by, None);
}

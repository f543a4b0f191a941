//! Databases written once per format version stay readable.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float64Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
};
use arrow_array::{Array, RecordBatch};
use freestone_storage::format::Codec;
use freestone_storage::{
    CompareOp, DEFAULT_SCHEMA, Layout, OpenMode, Predicate, ScanRequest, Store, Value,
};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

fn open(version: &str) -> Arc<Store> {
    let root = Path::new("../../fixtures");
    Store::open(&root.join(version), OpenMode::ReadOnly).unwrap()
}

/// One batch a block, in the order of the blocks; every column in its place.
fn rows(store: &Store) -> Vec<RecordBatch> {
    let catalog = store.snapshot();
    let table = catalog.table(DEFAULT_SCHEMA, "layouts").unwrap();
    let request = ScanRequest {
        projection: (0..table.schema.columns.len()).collect(),
        ..ScanRequest::default()
    };
    let scan = table.scan(&request).unwrap();
    scan.worker().map(|batch| batch.unwrap()).collect()
}

#[test]
fn version_1_is_whole_and_has_every_layout() {
    let store = open("v1");
    store.verify(|report| report.outcome.unwrap());
    let catalog = store.snapshot();
    let table = catalog.table(DEFAULT_SCHEMA, "layouts").unwrap();
    // The layouts that there were then.
    for layout in [Layout::Row, Layout::Column, Layout::Pax] {
        assert!(
            table.blocks().iter().any(|block| block.layout() == layout),
            "{layout}"
        );
    }
    assert!(
        catalog
            .view(DEFAULT_SCHEMA, "present")
            .unwrap()
            .query
            .sql
            .contains("IS NOT NULL")
    );
}

#[test]
fn version_1_has_the_values_that_were_written() {
    let mut numbers = Vec::new();
    for batch in rows(&open("v1")) {
        let column = |name: &str| batch.column_by_name(name).unwrap();
        for row in 0..batch.num_rows() {
            let n = column("n").as_primitive::<Int32Type>().value(row);
            numbers.push(n);
            // Odd rows hold a value in every column, even ones in none but `n`.
            let others = batch.columns().iter().skip(1);
            assert!(
                others
                    .clone()
                    .all(|array| array.is_valid(row) == (n % 2 == 1)),
                "row {n}"
            );
            if n % 2 == 0 {
                continue;
            }
            let decimal = |name: &str| column(name).as_primitive::<Decimal128Type>().value(row);
            assert!(column("b").as_boolean().value(row));
            assert_eq!(column("d").as_primitive::<Float64Type>().value(row), -2.25);
            assert_eq!(decimal("small"), 125);
            assert_eq!(decimal("middle"), 123_456_789);
            assert_eq!(
                decimal("large"),
                12_345_678_901_234_567_890_123_456_789_012_345_678
            );
            let moment = column("tz")
                .as_primitive::<TimestampMicrosecondType>()
                .value(row);
            assert_eq!(moment, 1_770_084_306_000_000);
            assert_eq!(
                column("u").as_fixed_size_binary().value(row)[..3],
                [0x00, 0x11, 0x22]
            );
            assert_eq!(column("c").as_string_view().value(row), "ab");
            assert_eq!(
                column("x").as_string_view().value(row),
                "a text beyond twelve bytes"
            );
            assert_eq!(column("y").as_binary_view().value(row), [0x00, 0xff]);
        }
    }
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn version_2_has_every_layout_codec_and_index() {
    let store = open("v2");
    store.verify(|report| report.outcome.unwrap());
    let catalog = store.snapshot();
    let table = catalog.table(DEFAULT_SCHEMA, "codecs").unwrap();
    let mut codecs = HashSet::new();
    for layout in Layout::ALL {
        let block = table.blocks().iter().find(|block| block.layout() == layout);
        let facts = block
            .unwrap_or_else(|| panic!("{layout}"))
            .columns()
            .unwrap();
        codecs.extend(facts.iter().map(|facts| facts.codec));
        for index in &table.schema.indexes {
            assert!(
                block.unwrap().index(index).unwrap().is_some(),
                "{layout} {}",
                index.name
            );
        }
    }
    for codec in Codec::ALL
        .into_iter()
        .filter(|codec| *codec != Codec::Plain)
    {
        assert!(codecs.contains(codec.name()), "{}", codec.name());
    }
}

#[test]
fn version_2_has_the_values_that_were_written() {
    let store = open("v2");
    let catalog = store.snapshot();
    let table = catalog.table(DEFAULT_SCHEMA, "codecs").unwrap();
    let equal = |column: &str, value| {
        let column = table.schema.index_of(column).unwrap();
        let predicate = Predicate::Compare {
            column,
            op: CompareOp::Eq,
            value,
        };
        let request = ScanRequest {
            projection: (0..table.schema.columns.len()).collect(),
            predicate: Some(predicate),
            ..ScanRequest::default()
        };
        table
            .scan(&request)
            .unwrap()
            .worker()
            .map(Result::unwrap)
            .collect::<Vec<RecordBatch>>()
    };
    let rows = |batches: &[RecordBatch]| batches.iter().map(RecordBatch::num_rows).sum::<usize>();
    let blocks = table.blocks().len();
    assert_eq!(blocks, 6);
    assert_eq!(rows(&equal("a", Value::Int(17))), 11 * blocks);
    assert_eq!(
        rows(&equal("e", Value::Bytes(b"name 3".to_vec()))),
        157 * blocks
    );
    assert_eq!(rows(&equal("later", Value::Int(42))), 1100 * blocks);
    for n in [1i32, 10, 777, 1100] {
        let found = equal("n", Value::Int(n.into()));
        assert_eq!(rows(&found), blocks);
        for batch in found {
            let column = |name: &str| batch.column_by_name(name).unwrap();
            assert_eq!(column("a").is_null(0), n % 10 == 0);
            assert_eq!(
                column("b").as_primitive::<Int64Type>().value(0),
                5_000_000_000 + i64::from(n) * 37 % 1000
            );
            assert_eq!(column("c").as_primitive::<Int32Type>().value(0), n / 50);
            assert_eq!(
                column("d").as_primitive::<Float64Type>().value(0),
                f64::from(n) / 4.0
            );
            let text = format!("a text that repeats itself, but for its number {n}");
            assert_eq!(column("f").as_string_view().value(0), text);
            assert_eq!(
                i32::from(column("h").as_primitive::<Int16Type>().value(0)),
                n % 200
            );
        }
    }
}

//! Databases written once per format version stay readable.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float64Type, Int32Type, TimestampMicrosecondType};
use arrow_array::{Array, RecordBatch};
use freestone_storage::{DEFAULT_SCHEMA, Layout, OpenMode, ScanRequest, Store};
use std::path::Path;
use std::sync::Arc;

fn open(version: &str) -> Arc<Store> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
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

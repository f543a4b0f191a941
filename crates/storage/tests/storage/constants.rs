//! Measures what `scan/access.rs` weighs ways by, on this machine.
//!
//! Run alone: `cargo test --release -p freestone-storage constants -- --ignored --nocapture`.

use crate::home::{Home, fill, one_worker};
use crate::model::Model;
use crate::tables::{Dice, Nulls, Recipe, Spread, rows, schema};
use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch};
use freestone_storage::predicate::BoundPredicate;
use freestone_storage::predicate::Conditions;
use freestone_storage::{
    ColumnType, CompareOp, DEFAULT_SCHEMA, IndexKind, Layout, Predicate, Scan, ScanRequest, Table,
    TableOptions, TableSchema, Value,
};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

const ROWS: usize = 1 << 20;
const NUMBERS: Recipe = Recipe {
    kind: ColumnType::Integer,
    nullable: false,
    nulls: Nulls::None,
    spread: Spread::Many,
};

/// The table with an index on the first of its columns.
fn with_index(home: &Home) -> Arc<Table> {
    let seen = home.table();
    let index = home
        .store
        .build_index(&seen, "i", IndexKind::Csb, vec![1], 2, &|| true)
        .unwrap();
    home.store
        .commit(|edit| edit.create_index(DEFAULT_SCHEMA, &seen, index))
        .unwrap();
    home.table()
}

/// Least seconds of several scans that return no column, and rows returned.
fn measured(table: &Table, predicate: &Predicate) -> (f64, usize) {
    let request = ScanRequest {
        projection: Vec::new(),
        predicate: Some(predicate.clone()),
        ..ScanRequest::default()
    };
    let run = |_| {
        let start = Instant::now();
        let found = one_worker(&table.scan(&request).unwrap());
        let rows = found.iter().map(|batch| batch.num_rows()).sum();
        (start.elapsed().as_secs_f64(), rows)
    };
    (0..15).map(run).fold(
        (f64::MAX, 0),
        |best, run| if run.0 < best.0 { run } else { best },
    )
}

fn below(column: usize, share: f64) -> Predicate {
    Predicate::Compare {
        column,
        op: CompareOp::Lt,
        value: Value::Int((f64::from(i32::MIN) + share * f64::from(u32::MAX)) as i128),
    }
}

#[test]
#[ignore = "measures; run alone"]
fn constants_measured() {
    let recipes = [NUMBERS, NUMBERS];
    let model = Model::new(schema(&recipes), rows(&recipes, ROWS, 5));
    for layout in [Layout::Column, Layout::Pax, Layout::Row] {
        let home = Home::new(false);
        let options = TableOptions {
            layout,
            ..TableOptions::default()
        };
        fill(&home, &model, &[options], 8192);
        let (seconds, _) = measured(&home.table(), &below(1, 0.001));
        let test = seconds * 1e9 / ROWS as f64;
        let table = with_index(&home);
        // Few enough rows that the index is taken with the constants as they are.
        let share = 0.002;
        let (seconds, found) = measured(&table, &below(1, share));
        let order = seconds * 1e9 / found as f64;
        let both = Predicate::And(vec![below(1, share), below(2, 0.5)]);
        let (seconds, _) = measured(&table, &both);
        let check = seconds * 1e9 / found as f64 - order;
        println!("{layout}: test {test:.2} ns a row, order {order:.1}, check of two {check:.1}");
    }
}

/// A table `t` of a million rows with a row's number and four columns of so many bits, the
/// first of which has an index.
fn indexed(layout: Layout, bits: u32) -> Home {
    let schema = schema(&[NUMBERS; 4]);
    let mut dice = Dice(u64::from(bits));
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(Int64Array::from_iter_values(0..ROWS as i64))];
    for _ in 0..4 {
        let values = (0..ROWS).map(|_| (dice.next() >> (64 - bits)) as i32);
        arrays.push(Arc::new(Int32Array::from_iter_values(values)));
    }
    let batch = RecordBatch::try_new(schema.arrow(), arrays).unwrap();
    let home = Home::new(false);
    let options = TableOptions {
        layout,
        ..TableOptions::default()
    };
    fill(&home, &Model::new(schema, batch), &[options], ROWS);
    with_index(&home);
    home
}

/// Seconds to get four columns of the rows that pass: by a scan, by the index, and by what is
/// chosen; and whether that is the index.
fn ways(table: &Table, predicate: &Predicate) -> ([f64; 3], bool) {
    let projection = vec![1, 2, 3, 4];
    let request = ScanRequest {
        projection: projection.clone(),
        predicate: Some(predicate.clone()),
        ..ScanRequest::default()
    };
    let unindexed = Arc::new(TableSchema {
        indexes: Vec::new(),
        ..(*table.schema).clone()
    });
    let read = |scan: Arc<Scan>| {
        let mut worker = scan.worker();
        while let Some(columns) = worker.next_columns() {
            black_box(columns.unwrap());
        }
        scan.metrics().blocks_by_index.load(Ordering::Relaxed) > 0
    };
    let bound = BoundPredicate::bind(predicate, &table.schema).unwrap();
    let conditions = Conditions::of(&bound);
    let definition = &table.schema.indexes[0];
    let by_index = || {
        for block in table.blocks() {
            let index = block.index(definition).unwrap().unwrap();
            let found = match index.has_codes() {
                true => {
                    let leaf = conditions.on(1).next().unwrap();
                    let test = block.translate(1, leaf).unwrap().unwrap();
                    index.by_codes(&test).unwrap()
                }
                false => index
                    .by_values(&conditions, definition, &table.schema)
                    .unwrap(),
            };
            for some in found.unwrap().positions().unwrap().chunks(8192) {
                for column in &projection {
                    black_box(block.take(*column, some).unwrap());
                }
            }
        }
    };
    let (mut least, mut by) = ([f64::MAX; 3], false);
    for _ in 0..9 {
        let scan = |schema| {
            let blocks = table.blocks().to_vec();
            Scan::new(schema, table.arrow(), blocks, Vec::new(), &request).unwrap()
        };
        let start = Instant::now();
        read(scan(Arc::clone(&unindexed)));
        let scanned = start.elapsed();
        by_index();
        let indexed = start.elapsed();
        by = read(scan(Arc::clone(&table.schema)));
        let seconds = [scanned, indexed - scanned, start.elapsed() - indexed];
        for (least, seconds) in least.iter_mut().zip(seconds) {
            *least = least.min(seconds.as_secs_f64());
        }
    }
    (least, by)
}

/// Where an index begins to take longer than a scan, and which of them is chosen (decision
/// 0008).
#[test]
#[ignore = "measures; run alone"]
fn shares_swept() {
    for (layout, bits) in [
        (Layout::Column, 10),
        (Layout::Column, 20),
        (Layout::Column, 30),
        (Layout::Pax, 20),
        (Layout::Row, 20),
    ] {
        let home = indexed(layout, bits);
        let table = home.table();
        for percent in [1, 2, 5, 8, 12, 16, 20, 25, 30, 40, 50, 60, 70] {
            let below = Predicate::Compare {
                column: 1,
                op: CompareOp::Lt,
                value: Value::Int((i128::from(percent) << bits) / 100),
            };
            let ([scan, index, chosen], by_index) = ways(&table, &below);
            println!(
                "{layout} of {bits} bits, {percent} %: the index takes {:.2} of the scan's {:.2} ms, \
                 what is chosen ({}) {:.2} of the better",
                index / scan,
                scan * 1e3,
                if by_index { "index" } else { "scan" },
                chosen / scan.min(index)
            );
        }
    }
}

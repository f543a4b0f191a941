//! Measures what `scan/access.rs` weighs ways by, on this machine.
//!
//! Run alone: `cargo test --release -p freestone-storage constants -- --ignored --nocapture`.

use crate::home::{Home, fill, one_worker};
use crate::model::Model;
use crate::tables::{Nulls, Recipe, Spread, rows, schema};
use freestone_storage::{
    ColumnType, CompareOp, DEFAULT_SCHEMA, IndexKind, Layout, Predicate, ScanRequest, Table,
    TableOptions, Value,
};
use std::sync::Arc;
use std::time::Instant;

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
    const ROWS: usize = 1 << 20;
    let recipe = Recipe {
        kind: ColumnType::Integer,
        nullable: false,
        nulls: Nulls::None,
        spread: Spread::Many,
    };
    let recipes = [recipe, recipe];
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
        let seen = home.table();
        let index = home
            .store
            .build_index(&seen, "i", IndexKind::Csb, vec![1], 2, &|| {})
            .unwrap();
        home.store
            .commit(|edit| edit.create_index(DEFAULT_SCHEMA, &seen, index))
            .unwrap();
        let table: Arc<Table> = home.table();
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

//! One row of `orders`, all columns, by its key: Freestone's storage for each
//! layout, beside a prepared statement of DuckDB.
//!
//! The two are not the same work: DuckDB's time has a statement's way through
//! its Python package in it. So the bars are absolute and it is only shown.

use crate::Result;
use crate::bench::{Bench, session};
use crate::ours;
use crate::pair::median;
use crate::peer::quoted;
use crate::report::{Bar, Row, Section};
use crate::schema::Table as Tpch;
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use freestone::{Database, Session};
use freestone_storage::{DEFAULT_SCHEMA, KeyLookUp, ReadView, Table, Value};
use std::time::Instant;

/// Microseconds, by layout.
const LAYOUTS: [(&str, f64); 3] = [("row", 3.0), ("pax", 3.0), ("column", 10.0)];

/// Keys looked up.
const KEYS: usize = 2_000;

/// Measures the section.
///
/// # Errors
/// Those of loading and of the scans; a key that has not one row.
pub fn measure(bench: &mut Bench) -> Result<Section> {
    let place = bench.place("freestone-lookup");
    if place.exists() {
        std::fs::remove_dir_all(&place)?;
    }
    let database = Database::open(&place)?;
    let session = session(&database);
    let mut indexed = true;
    for (layout, _) in LAYOUTS {
        indexed &= fill(bench, &session, layout)?;
    }
    let keys = keys(bench, &session)?;
    let (plain, with_index) = theirs(bench, &keys)?;
    let catalog = database.store().snapshot();
    let mut rows = Vec::new();
    for (layout, bar) in LAYOUTS {
        let table = catalog.table(DEFAULT_SCHEMA, &name(layout));
        let seconds = look_up(table.ok_or("a table is missing")?, &keys)?;
        let row = Row::new(format!("layout {layout}"), "µs", seconds * 1e6);
        let theirs = with_index.map(|seconds| seconds * 1e6);
        rows.push(row.beside(theirs).bar(Bar::AtMost(bar)));
    }
    drop((catalog, session, database));
    std::fs::remove_dir_all(place)?;
    let ours = if indexed {
        "with an index"
    } else {
        "no index yet"
    };
    let without = plain.map_or(String::new(), |seconds| {
        format!(", {:.0} µs without one", seconds * 1e6)
    });
    let note = format!(
        "orders by key, storage alone ({ours}); DuckDB's prepared statement with an index{without}"
    );
    Ok(Section::new("lookup", &note, rows))
}

fn name(layout: &str) -> String {
    format!("orders_{layout}")
}

/// Makes the table of a layout; returns whether it could be indexed.
fn fill(bench: &mut Bench, session: &Session, layout: &str) -> Result<bool> {
    eprintln!("lookup: loading layout {layout}");
    let file = bench.files()?.of(Tpch::Orders);
    let (name, options) = (name(layout), format!("layout = '{layout}'"));
    ours::fill(
        &bench.runtime,
        session,
        Tpch::Orders,
        &name,
        &options,
        &file,
    )?;
    let sql = format!("CREATE INDEX {name}_key ON {name} USING csb (o_orderkey)");
    match bench.runtime.block_on(session.execute(&sql)) {
        Ok(_) => Ok(true),
        Err(error) => {
            eprintln!("lookup: going on without an index: {error}");
            Ok(false)
        }
    }
}

/// Some of the keys, at random but the same in every run.
fn keys(bench: &Bench, session: &Session) -> Result<Vec<i64>> {
    let sql = format!("SELECT o_orderkey FROM {}", name("column"));
    let (_, batches) = ours::run(&bench.runtime, session, &sql)?;
    let mut all = Vec::new();
    for batch in &batches {
        let column = batch.column(0).as_primitive_opt::<Int64Type>();
        all.extend_from_slice(column.ok_or("keys are no BIGINT")?.values());
    }
    // The order in which two threads return them is none to rely on.
    all.sort_unstable();
    let mut state = 1u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let place = (state >> 33) as usize % all.len().max(1);
        all.get(place).copied().ok_or_else(|| "no orders".into())
    };
    (0..KEYS).map(|_| next()).collect()
}

/// Median seconds of a look-up; the first time over the keys warms up.
fn look_up(table: &Table, keys: &[i64]) -> Result<f64> {
    let columns: Vec<usize> = (0..table.schema.columns.len()).collect();
    let prepared = KeyLookUp::prepare(&table.schema, &[0], &columns)?;
    let view = ReadView::default();
    let mut seconds = Vec::with_capacity(keys.len());
    for _ in 0..2 {
        seconds.clear();
        for key in keys {
            let start = Instant::now();
            let rows = table.find(&view, &prepared, &[Value::Int((*key).into())])?;
            seconds.push(start.elapsed().as_secs_f64());
            if rows.len() != 1 {
                return Err(format!("key {key} has {} rows", rows.len()).into());
            }
        }
    }
    Ok(median(&seconds).unwrap_or_default())
}

/// DuckDB's median seconds without and with an index.
fn theirs(bench: &mut Bench, keys: &[i64]) -> Result<(Option<f64>, Option<f64>)> {
    let file = quoted(&bench.files()?.of(Tpch::Orders));
    bench.load_both()?;
    let Some(peer) = &mut bench.peer else {
        return Ok((None, None));
    };
    // A table of its own: the others stay as they were loaded.
    peer.run(&format!(
        "CREATE OR REPLACE TABLE orders_lookup AS SELECT * FROM read_parquet({file})"
    ))?;
    let mut median_of = |statement: Option<&str>| -> Result<Option<f64>> {
        if let Some(statement) = statement {
            peer.run(statement)?;
        }
        let sql = "SELECT * FROM orders_lookup WHERE o_orderkey = ?";
        peer.lookup(sql, keys)?;
        let answer = peer.lookup(sql, keys)?;
        match answer.rows == keys.len() as u64 {
            true => Ok(median(&answer.seconds)),
            false => Err(format!("DuckDB found {} rows", answer.rows).into()),
        }
    };
    let plain = median_of(None)?;
    let with_index = median_of(Some(
        "CREATE INDEX orders_lookup_key ON orders_lookup (o_orderkey)",
    ))?;
    peer.run("DROP TABLE orders_lookup")?;
    Ok((plain, with_index))
}

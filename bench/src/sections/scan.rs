//! `lineitem` by a condition on `l_partkey`, which is spread evenly over the
//! table, so that no zone can be skipped: a part of the rows, 1 to 16 columns.
//!
//! Every column is aggregated, so that all of its passing values are needed.

use crate::bench::{Bench, THREADS};
use crate::pair::{self, median};
use crate::report::{Bar, Row, Section};
use crate::schema::Table as Tpch;
use crate::{Result, ours};
use freestone_storage::{
    ColumnScanner, CompareOp, DEFAULT_SCHEMA, Predicate, ScanRequest, Table, Value,
};
use std::time::Instant;

/// Part of DuckDB's time, at every point.
const BAR: f64 = 0.5;

/// How many columns are read.
const COUNTS: [usize; 5] = [1, 2, 4, 8, 16];

/// The columns in the order in which they join, numbers and texts mixed, each
/// with an aggregate that both sides have.
const COLUMNS: [(&str, &str); 16] = [
    ("sum", "l_extendedprice"),
    ("sum", "l_quantity"),
    ("max", "l_shipdate"),
    ("sum", "l_discount"),
    ("max", "l_shipmode"),
    ("sum", "l_suppkey"),
    ("max", "l_returnflag"),
    ("sum", "l_tax"),
    ("sum", "l_orderkey"),
    ("sum", "l_partkey"),
    ("sum", "l_linenumber"),
    ("max", "l_linestatus"),
    ("max", "l_commitdate"),
    ("max", "l_receiptdate"),
    ("max", "l_shipinstruct"),
    ("max", "l_comment"),
];

/// Measures the section.
///
/// # Errors
/// Those of loading and of Freestone's queries.
pub fn measure(bench: &mut Bench) -> Result<Section> {
    bench.load_both()?;
    let database = bench.ours()?;
    let session = bench.session()?;
    let catalog = database.store().snapshot();
    let table = catalog
        .table(DEFAULT_SCHEMA, Tpch::LineItem.name())
        .ok_or("lineitem is not there")?;
    let parts = Tpch::Part.rows(bench.scale);
    let (mut sql, mut storage) = (Vec::new(), Vec::new());
    for (shown, one_in) in [("10 %", 10), ("0.1 %", 1000)] {
        let last = parts / one_in;
        for count in COUNTS {
            let plural = if count == 1 { "" } else { "s" };
            let what = format!("{shown}, {count} column{plural}");
            eprintln!("scan: {what}");
            let pair = pair::query(bench, &session, &query(count, last))?;
            sql.push(pair.row(what.clone()).bar(Bar::Ratio(BAR)));
            for scanner in [ColumnScanner::Single, ColumnScanner::Pipelined] {
                let seconds = alone(bench.rounds, table, count, last, scanner)?;
                let what = match scanner {
                    ColumnScanner::Single => format!("{what}, no SQL"),
                    ColumnScanner::Pipelined => format!("{what}, no SQL, pipelined"),
                };
                storage.push(Row::new(what, "ms", seconds * 1e3));
            }
        }
    }
    sql.append(&mut storage);
    let note = "lineitem WHERE l_partkey <= …, every column aggregated, warm; \
                then the storage scan alone, its batches dropped";
    Ok(Section::new("scan", note, sql))
}

fn query(count: usize, last: u64) -> String {
    let aggregates = COLUMNS[..count].iter();
    let aggregates: Vec<String> = aggregates
        .map(|(aggregate, column)| format!("{aggregate}({column})"))
        .collect();
    let aggregates = aggregates.join(", ");
    format!("SELECT {aggregates} FROM lineitem WHERE l_partkey <= {last}")
}

/// Median seconds of the storage scan that such a query stands on.
fn alone(
    rounds: usize,
    table: &Table,
    count: usize,
    last: u64,
    scanner: ColumnScanner,
) -> Result<f64> {
    let place = |name: &str| {
        let place = table.schema.index_of(name);
        place.ok_or_else(|| format!("lineitem has no column {name}"))
    };
    let projection = COLUMNS[..count].iter().map(|(_, name)| place(name));
    let request = ScanRequest {
        projection: projection.collect::<std::result::Result<_, _>>()?,
        predicate: Some(Predicate::Compare {
            column: place("l_partkey")?,
            op: CompareOp::LtEq,
            value: Value::Int(last.into()),
        }),
        scanner,
        ..ScanRequest::default()
    };
    let mut seconds = Vec::new();
    for _ in 0..=rounds {
        let start = Instant::now();
        let rows = ours::drain(&table.scan(&request)?, THREADS)?;
        seconds.push(start.elapsed().as_secs_f64());
        std::hint::black_box(rows);
    }
    Ok(median(&seconds[1..]).unwrap_or_default())
}

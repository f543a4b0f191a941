//! Tables whose rows were changed, beside the same tables freshly loaded.

use crate::Result;
use crate::bench::Bench;
use crate::data::folder_bytes;
use crate::ours;
use crate::pair::median;
use crate::report::{Bar, Row, Section};
use crate::schema::Table as Tpch;
use freestone::Database;

/// Updates of every row before VACUUM.
const UPDATES: usize = 20;
/// Runs of each query on each side, in turn.
const RUNS: usize = 15;

/// Queries that read few columns of all rows, and some of the rows.
const QUERIES: [&str; 2] = [
    "SELECT o_orderpriority, count(*), sum(o_totalprice) FROM {} GROUP BY o_orderpriority",
    "SELECT count(*), max(o_totalprice) FROM {} WHERE o_orderdate < DATE '1993-01-01'",
];

/// Measures the section.
///
/// # Errors
/// Those of loading and of the statements.
pub fn measure(bench: &mut Bench) -> Result<Section> {
    let mut rows = Vec::new();
    for layout in ["row", "column", "pax"] {
        eprintln!("aging: {layout}");
        rows.push(scans(bench, layout)?);
    }
    eprintln!("aging: {UPDATES} updates of every row");
    rows.push(size(bench)?);
    let note = "orders; 1 % of its rows have new versions in the delta, not yet in blocks";
    Ok(Section::new("aging", note, rows))
}

/// Queries over a table of which one row in a hundred was changed.
fn scans(bench: &mut Bench, layout: &str) -> Result<Row> {
    let file = bench.files()?.of(Tpch::Orders);
    let session = Database::in_memory().session();
    let options = format!("layout = '{layout}'");
    for table in ["clean", "changed"] {
        ours::fill(
            &bench.runtime,
            &session,
            Tpch::Orders,
            table,
            &options,
            &file,
        )?;
    }
    let update = "UPDATE changed SET o_shippriority = 1 WHERE o_orderkey % 100 = 7";
    bench.runtime.block_on(session.execute(update))?;
    let mut worst: f64 = 0.0;
    for query in QUERIES {
        let mut seconds = [Vec::new(), Vec::new()];
        for _ in 0..RUNS {
            for (side, table) in ["clean", "changed"].into_iter().enumerate() {
                let sql = query.replace("{}", table);
                seconds[side].push(ours::run(&bench.runtime, &session, &sql)?.0);
            }
        }
        let [clean, changed] = seconds.map(|seconds| median(&seconds).unwrap_or_default());
        worst = worst.max(changed / clean);
    }
    let what = format!("scan of {layout} with 1 % of the rows changed, over clean");
    Ok(Row::new(what, "x", worst).bar(Bar::AtMost(1.2)))
}

/// Bytes of a database after many updates, over those of a fresh one.
fn size(bench: &mut Bench) -> Result<Row> {
    let file = bench.files()?.of(Tpch::Orders);
    let bytes = |name: &str, statements: &[String]| -> Result<u64> {
        let place = bench.place(name);
        if place.exists() {
            std::fs::remove_dir_all(&place)?;
        }
        let database = Database::open(&place)?;
        let session = database.session();
        let options = "layout = 'column'";
        ours::fill(
            &bench.runtime,
            &session,
            Tpch::Orders,
            "orders",
            options,
            &file,
        )?;
        for sql in statements {
            bench.runtime.block_on(session.execute(sql))?;
        }
        drop((session, database));
        let bytes = folder_bytes(&place)?;
        std::fs::remove_dir_all(place)?;
        Ok(bytes)
    };
    let fresh = bytes("freestone-fresh", &["VACUUM orders".to_owned()])?;
    let columns = [
        "o_shippriority = o_shippriority + 1",
        "o_totalprice = o_totalprice + 1, o_custkey = o_custkey + 1",
    ];
    let mut statements: Vec<String> = (0..UPDATES)
        .map(|number| format!("UPDATE orders SET {}", columns[number % columns.len()]))
        .collect();
    statements.push("VACUUM orders".to_owned());
    let aged = bytes("freestone-aged", &statements)?;
    let what = format!("directory after {UPDATES} updates of every row and VACUUM, over fresh");
    let row = Row::new(what, "x", aged as f64 / fresh as f64);
    Ok(row.bar(Bar::AtMost(1.2)))
}

//! The queries of TPC-H and SSB give the same on both engines, in every layout, on one and
//! two threads, in vectors of a few rows and of usual size, in little memory and in plenty.

use crate::support::Sql;
use crate::tpch_queries as queries;
use crate::tpch_schema::Table;
use freestone::{Database, Error, SessionOptions};
use freestone_storage::DEFAULT_SCHEMA;
use std::path::{Path, PathBuf};

/// Scale of the data: 12,000 lines of orders.
const SCALE: f64 = 0.002;

fn texts(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new("../../data").join(folder);
    let files = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let text = |path: &PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read_to_string(path).unwrap())
    };
    files.iter().map(text).collect()
}

fn database(layout: &str) -> Database {
    let database = Database::in_memory();
    let sql = Sql::on(&database);
    for table in Table::ALL {
        let (name, columns) = (table.name(), table.columns());
        sql.run(&format!(
            "CREATE TABLE {name} ({columns}) WITH (layout = '{layout}', block_bytes = 262144)"
        ));
        let rows = table.generate(SCALE, 0, 1);
        let rows = rows.map(|batch| batch.map_err(|e| Error::new("XX000", e.to_string())));
        let progress = freestone::Progress::default();
        let loaded = database.load(DEFAULT_SCHEMA, name, vec![Box::new(rows)], &progress);
        loaded.unwrap();
    }
    for (name, select) in texts("ssb/tables") {
        sql.run(&format!(
            "CREATE TABLE {name} WITH (layout = '{layout}') AS {select}"
        ));
    }
    // Some rows are in no block, and some of those in blocks are gone.
    sql.run("INSERT INTO lineitem SELECT * FROM lineitem WHERE l_orderkey % 97 = 5");
    sql.run("DELETE FROM lineitem WHERE l_orderkey % 89 = 3");
    sql.run("UPDATE orders SET o_comment = o_comment || '.' WHERE o_orderkey % 83 = 2");
    sql.run("DELETE FROM ssb_lineorder WHERE lo_orderkey % 101 = 3");
    database
}

fn answers_agree(layout: &str) {
    let database = database(layout);
    let theirs = Sql::on(&database);
    theirs.run("SET freestone.engine = 'bulk'");
    let tpch =
        (1..=queries::COUNT).map(|n| (format!("TPC-H Q{n}"), queries::text(n, 1.0).unwrap()));
    let ssb = texts("ssb/queries").into_iter();
    let ssb = ssb.map(|(name, text)| (format!("SSB {name}"), text));
    let all: Vec<(String, String, Vec<String>)> = tpch
        .chain(ssb)
        .map(|(name, text)| {
            let rows = theirs.sorted(&text);
            (name, text, rows)
        })
        .collect();
    for (threads, batch_rows) in [(1, 8192), (2, 8192), (1, 5), (2, 5)] {
        let options = SessionOptions {
            threads: Some(threads),
        };
        let sql = Sql::on_session(database.session_with(options));
        sql.run(&format!("SET freestone.batch_rows = {batch_rows}"));
        for memory in ["80%", "1MiB"] {
            sql.run(&format!("SET memory_limit = '{memory}'"));
            for (name, text, expected) in &all {
                let mut rows = sql.rows_of_one_engine(text);
                rows.sort();
                assert_eq!(
                    &rows, expected,
                    "{name} in {layout}, {threads} threads, {batch_rows} rows, {memory}"
                );
            }
        }
    }
}

#[test]
fn queries_give_the_same_however_they_run() {
    std::thread::scope(|scope| {
        for layout in ["row", "column", "pax", "dsm", "inverted"] {
            scope.spawn(move || answers_agree(layout));
        }
    });
}

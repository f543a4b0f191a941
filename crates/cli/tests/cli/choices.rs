//! Which codec and which way in are chosen for each column of TPC-H.
//!
//! The report is held against `choices.txt`; `BLESS=1` writes it anew. A change
//! there is a change of behaviour and wants a reason. (The tables of Q9 are in
//! the storage crate's test of the same name.)

use crate::support::run;
use std::fmt::Write;

const TABLES: [&str; 8] = [
    "region", "nation", "supplier", "part", "partsupp", "customer", "orders", "lineitem",
];

/// A column with the codec of its first block, and a value that it has.
struct Known {
    name: String,
    codec: String,
    value: String,
}

fn columns(db: &str, table: &str) -> Vec<Known> {
    // The first block's smallest value; texts there may be cut.
    let sql = format!(
        "SELECT column_name, codec, min FROM freestone_columns('{table}')
         WHERE block = (SELECT min(block) FROM freestone_columns('{table}'))"
    );
    let out = run(&[db, "--format", "jsonl", "-c", &sql]).ok();
    let field = |line: &serde_json::Value, name: &str| match &line[name] {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let lines = out.lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        Known {
            name: field(&line, "column_name"),
            codec: field(&line, "codec"),
            value: field(&line, "min").replace('\'', "''"),
        }
    });
    lines.collect()
}

/// The ways that `column = value` takes, one after the other, from EXPLAIN ANALYZE.
fn ways(db: &str, table: &str, columns: &[Known]) -> Vec<String> {
    let ask = |known: &Known| {
        format!(
            "EXPLAIN ANALYZE SELECT * FROM {table} WHERE {} = '{}';",
            known.name, known.value
        )
    };
    let script: String = columns.iter().map(ask).collect();
    let out = run(&[db, "-c", &script]).ok();
    let plans = out.lines().filter(|line| line.contains("scan "));
    plans
        .map(|plan| {
            let count = |name: &str| -> u64 {
                let rest = plan.split_once(&format!(" {name}=")).map(|(_, rest)| rest);
                let digits = rest.map(|rest| rest.split([',', ']']).next().unwrap_or(rest));
                digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
            };
            let ways = [
                (count("blocks_by_both"), "search and index"),
                (count("blocks_by_index"), "index"),
                (count("blocks_searched"), "search"),
                (count("blocks_read"), "scan"),
            ];
            let way = ways.into_iter().find(|(blocks, _)| *blocks > 0);
            way.map_or("zone map", |(_, way)| way).to_string()
        })
        .collect()
}

fn report(layout: &str, report: &mut String) {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("db").to_string_lossy().into_owned();
    let load = [
        "tpch",
        "--scale",
        "0.01",
        "--threads",
        "1",
        "--queries",
        "6",
    ];
    run(&[&load[..], &["--layout", layout, "--db", &db]].concat()).ok();
    for table in TABLES {
        let columns = columns(&db, table);
        let plain = ways(&db, table, &columns);
        let index = |known: &Known| format!("CREATE INDEX i_{0} ON {table} ({0});", known.name);
        let script: String = columns.iter().map(index).collect();
        run(&[&db, "-c", &script]).ok();
        let indexed = ways(&db, table, &columns);
        assert_eq!((plain.len(), indexed.len()), (columns.len(), columns.len()));
        for ((known, plain), indexed) in columns.iter().zip(plain).zip(indexed) {
            let (name, codec) = (&known.name, &known.codec);
            writeln!(
                report,
                "{layout} {name}: {codec}; {plain}, indexed {indexed}"
            )
            .expect("a string takes everything");
        }
    }
}

#[test]
fn of_each_column_of_tpch() {
    let mut found = String::new();
    for layout in ["column", "row", "pax"] {
        report(layout, &mut found);
    }
    let file = "tests/cli/choices.txt";
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(file, &found).expect("written");
    }
    let expected = std::fs::read_to_string(file).expect("readable");
    assert_eq!(found, expected, "BLESS=1 writes choices.txt anew");
}

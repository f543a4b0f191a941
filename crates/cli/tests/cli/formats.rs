//! The six formats, over types that only a database has.

use crate::support::{run, run_with};

const VALUES: &str = "SELECT 1 AS n, 2.50 AS d, 'x|y' AS s, NULL AS z, DATE '2024-02-29' AS day, \
                      TIMESTAMP '2024-02-29 12:00:00.5' AS at, true AS b";

fn with(format: &str) -> String {
    run(&["--format", format, "-c", VALUES]).ok()
}

#[test]
fn csv() {
    let out = with("csv");
    assert_eq!(
        out,
        "n,d,s,z,day,at,b\n1,2.50,x|y,,2024-02-29,2024-02-29 12:00:00.5,true\n"
    );
}

#[test]
fn json_and_jsonl() {
    let object = "{\"n\": 1, \"d\": 2.50, \"s\": \"x|y\", \"z\": null, \"day\": \"2024-02-29\", \
                  \"at\": \"2024-02-29 12:00:00.5\", \"b\": true}";
    assert_eq!(with("jsonl"), format!("{object}\n"));
    assert_eq!(with("json"), format!("[\n  {object}\n]\n"));
}

#[test]
fn markdown_line_and_table() {
    assert!(with("markdown").contains("| 1 | 2.50 | x\\|y | NULL |"));
    assert!(with("line").contains("\nday | 2024-02-29\n"));
    let table = with("table");
    assert!(
        table.contains(" x|y | NULL | 2024-02-29 | ") && table.ends_with("(1 row)\n"),
        "{table}"
    );
}

#[test]
fn tags_are_for_people() {
    let sql = "CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2)";
    assert_eq!(run(&["-c", sql]).ok(), "CREATE TABLE\nINSERT 0 2\n");
    assert_eq!(run(&["--format", "csv", "-c", sql]).ok(), "");
}

#[test]
fn many_rows_stream() {
    let sql = "SELECT value FROM generate_series(1, 300000) AS g(value)";
    for (format, lines) in [("csv", 300_001), ("jsonl", 300_000), ("table", 300_003)] {
        let out = run(&["--format", format, "-c", sql]).ok();
        assert_eq!(out.lines().count(), lines, "{format}");
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let binary = env!("CARGO_BIN_EXE_freestone");
    let sql = "SELECT value FROM generate_series(1, 10000000) AS g(value)";
    let pipe =
        format!("'{binary}' --format csv -c '{sql}' | head -n 2; echo \"${{PIPESTATUS[0]}}\"");
    let output = std::process::Command::new("bash")
        .args(["-c", &pipe])
        .output()
        .expect("bash");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "value\n1\n0\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn explain_keeps_its_lines() {
    let out = run_with(&[], "EXPLAIN SELECT 1;").ok();
    assert!(out.lines().count() >= 3, "{out}");
}

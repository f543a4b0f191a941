//! TPC-H at scale 0.01: every layout, every answer.

use crate::support::{freestone, run};
use std::path::Path;

fn verified(layout: &str, extra: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("db").to_string_lossy().into_owned();
    let mut arguments = vec!["tpch", "--scale", "0.01", "--layout", layout, "--db", &db];
    arguments.extend(extra);
    let out = run(&arguments).ok();
    assert!(out.contains("22 of 22 answers verified"), "{out}");
    assert!(!Path::new(&format!("{db}.loading")).exists());
    let again = run(&arguments).ok();
    assert!(again.contains("Loaded earlier"), "{again}");
    assert!(run(&["verify", &db]).ok().contains("main.lineitem: "));
    run(&["inspect", &db]).ok()
}

#[test]
fn rows() {
    assert!(verified("row", &[]).contains(" row"));
}

#[test]
fn columns() {
    assert!(verified("column", &["--threads", "1"]).contains(" column"));
}

#[test]
fn pax() {
    assert!(verified("pax", &["--runs", "1"]).contains(" pax"));
}

#[test]
fn a_mix_of_all_in_every_table() {
    let tables = verified("mixed", &[]);
    let of_tables = tables
        .lines()
        .filter(|line| line.starts_with(" main") && !line.contains("tpch_load"));
    let mixed =
        |line: &&str| line.contains("column") && line.contains("pax") && line.contains("row");
    assert_eq!(of_tables.filter(mixed).count(), 8, "{tables}");
}

#[test]
fn loading_alone_and_its_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (db, json, files) = (path("db"), path("report.json"), path("files"));
    let out = run(&[
        "tpch",
        "--scale",
        "0.01",
        "--db",
        &db,
        "--parquet",
        &files,
        "--runs",
        "1",
        "--queries",
        "1,6,14",
        "--json",
        &json,
    ])
    .ok();
    assert!(
        out.contains("3 of 3 answers verified") && out.contains("Loading alone"),
        "{out}"
    );
    let report = std::fs::read_to_string(json).expect("written");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["queries"][1]["query"], 6);
    assert_eq!(report["queries"][1]["verified"], true);
    assert!(report["load_from_parquet_seconds"].is_number());
    assert!(!Path::new(&format!("{db}.measured")).exists());
}

#[test]
fn another_scale_is_not_verified_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("db").to_string_lossy().into_owned();
    let out = run(&["tpch", "--scale", "0.003", "--db", &db, "--queries", "6"]).ok();
    assert!(out.contains("NOT verified"), "{out}");
    let err = run(&["tpch", "--scale", "0.01", "--db", &db]).failed();
    assert!(err.contains("scale 0.003") && err.contains("--db"), "{err}");
    run(&[&db, "-c", "INSERT INTO region VALUES (9, 'x', 'y')"]).ok();
    let err = run(&["tpch", "--scale", "0.003", "--db", &db]).failed();
    assert!(err.contains("changed"), "{err}");
}

#[test]
fn a_load_that_is_killed_leaves_no_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("db");
    let name = db.to_string_lossy().into_owned();
    let arguments = ["tpch", "--scale", "0.05", "--queries", "6", "--db", &name];
    let mut child = freestone().args(arguments).spawn().expect("it starts");
    std::thread::sleep(std::time::Duration::from_millis(150));
    child.kill().expect("killed");
    child.wait().expect("gone");
    assert!(!db.exists(), "a load is published only when it is complete");
    run(&arguments).ok();
    assert!(!Path::new(&format!("{name}.loading")).exists());
}

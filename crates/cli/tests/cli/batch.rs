//! `-c`, `-f`, standard input, exit codes, errors.

use crate::support::{run, run_with, sample};

#[test]
fn commands_and_files_run_in_their_order() {
    let (folder, db) = sample();
    let file = folder.path().join("a.sql");
    std::fs::write(&file, "SELECT 'file' AS x;\n\\q\nSELECT 'never'").expect("written");
    let file = file.to_string_lossy();
    let arguments = [
        &db,
        "--format",
        "csv",
        "-c",
        "SELECT 'first' AS x",
        "-f",
        &file,
        "-c",
        "SELECT 1",
    ];
    assert_eq!(run(&arguments).ok(), "x\nfirst\nx\nfile\n");
}

#[test]
fn what_is_written_is_there_the_next_time() {
    let (_folder, db) = sample();
    let out = run(&[&db, "--format", "csv", "-c", "SELECT * FROM t ORDER BY id"]).ok();
    assert_eq!(
        out,
        "id,name,price\n1,granite,12.50\n2,,0.00\n3,\"a,\"\"b\"\"\",-1.05\n"
    );
}

#[test]
fn standard_input_is_a_script() {
    let input = "SELECT 1 AS a;\n-- a ';' in a comment\nSELECT\n  ';' AS b";
    let out = run_with(&["--format", "jsonl"], input).ok();
    assert_eq!(out, "{\"a\": 1}\n{\"b\": \";\"}\n");
    assert_eq!(
        run_with(&["-f", "-", "--format", "csv"], "SELECT 2 AS c").ok(),
        "c\n2\n"
    );
}

#[test]
fn the_first_error_ends_a_script_with_code_1() {
    let ran = run_with(
        &["--format", "csv"],
        "SELECT 1 AS a;\nSELECT\n  nosuch;\nSELECT 2 AS b;",
    );
    assert_eq!(ran.out, "a\n1\n");
    let err = ran.failed();
    assert!(err.starts_with("<stdin>:"), "{err}");
    assert!(err.contains("ERROR 42703: "), "{err}");
}

#[test]
fn errors_point_at_the_place() {
    let err = run(&["-c", "SELECT 1 +;"]).failed();
    assert!(err.contains("ERROR 42601: "), "{err}");
    let err = run(&["-c", "SELECT *\nFROM nosuch"]).failed();
    assert!(err.contains("ERROR 42P01: "), "{err}");
    let lines: Vec<&str> = err.lines().collect();
    let at = lines
        .iter()
        .position(|line| line.starts_with("LINE 2: "))
        .expect(&err);
    let caret = lines[at + 1].find('^').expect("a caret");
    assert!(lines[at][caret..].starts_with("nosuch"), "{err}");
    let err = run(&["-c", "SELECT 1/0"]).failed();
    assert!(err.contains("ERROR 22012: "), "{err}");
}

#[test]
fn rows_before_an_error_are_not_swallowed() {
    let ran = run(&["--format", "csv", "-c", "SELECT 1 AS a; SELECT 1/0"]);
    assert_eq!(ran.out.lines().take(2).collect::<Vec<_>>(), ["a", "1"]);
    assert_eq!(ran.code, 1);
}

#[test]
fn read_only_means_it() {
    let (_folder, db) = sample();
    let out = run(&[
        &db,
        "--read-only",
        "--format",
        "csv",
        "-c",
        "SELECT count(*) AS n FROM t",
    ])
    .ok();
    assert_eq!(out, "n\n3\n");
    run(&[
        &db,
        "--read-only",
        "-c",
        "INSERT INTO t VALUES (4, NULL, NULL)",
    ])
    .failed();
    run(&["--read-only", "-c", "SELECT 1"]).failed();
    run(&["/nonexistent/db", "--read-only", "-c", "SELECT 1"]).failed();
}

#[test]
fn blocks_may_lie_on_several_disks() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (db, other) = (place("db"), place("other"));
    let sql = "CREATE TABLE t AS SELECT i FROM generate_series(1, 50000) AS g(i);
               CREATE TABLE u AS SELECT i FROM t";
    run(&[&db, "--stripe", &other, "-c", sql]).ok();
    let blocks = |name: &str| std::fs::read_dir(folder.path().join(name).join("blocks"));
    assert!(blocks("db").expect("read").count() > 0);
    assert!(blocks("other").expect("read").count() > 0);
    let count = "SELECT count(*) AS n FROM u";
    let out = run(&[&db, "--format", "csv", "-c", count]).ok();
    assert_eq!(out, "n\n50000\n");
    assert_eq!(run(&["--stripe", &other, "-c", "SELECT 1"]).code, 2);
    let error = run(&[&place("new"), "--stripe", &other, "-c", "SELECT 1"]).failed();
    assert!(error.contains("ERROR 22023: "), "{error}");
}

#[test]
fn what_is_no_database_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("letter.txt"), "Dear").expect("written");
    let path = folder.path().to_string_lossy();
    let err = run(&[&path, "-c", "SELECT 1"]).failed();
    assert!(err.contains("database"), "{err}");
    assert!(folder.path().join("letter.txt").exists());
}

#[test]
fn bad_arguments_are_refused() {
    assert_eq!(run(&["--format", "xml", "-c", "SELECT 1"]).code, 2);
    assert_eq!(run(&["--threads", "0"]).code, 2);
    let err = run(&["-f", "/nonexistent.sql"]).err;
    assert!(err.contains("/nonexistent.sql"), "{err}");
}

#[test]
fn help_is_there() {
    for arguments in [
        ["--help"].as_slice(),
        &["tpch", "--help"],
        &["inspect", "--help"],
    ] {
        assert!(run(arguments).ok().contains("Usage: freestone"));
    }
}

#[test]
fn meta_commands_work_in_scripts() {
    let (folder, db) = sample();
    let part = folder.path().join("part.sql");
    std::fs::write(&part, "SELECT 7 AS seven;").expect("written");
    let target = folder.path().join("out.csv");
    let script = format!(
        "\\dt\n\\d t\n\\d v\n\\dv\n\\dn\n\\i {}\n\\o {}\nSELECT 8 AS eight;\n\\o\n\\x\nSELECT 9 AS nine;",
        part.display(),
        target.display()
    );
    let out = run_with(&[&db], &script).ok();
    for expected in [
        "main",
        "granite",
        "VARCHAR(20)",
        "not null",
        "seven",
        "layout = pax",
        "nine | 9",
    ] {
        assert_eq!(
            out.contains(expected),
            expected != "granite",
            "{expected}:\n{out}"
        );
    }
    assert!(!out.contains("eight"), "{out}");
    assert!(
        std::fs::read_to_string(target)
            .expect("written")
            .contains("eight")
    );
    let err = run_with(&[&db], "\\nonsense\n").failed();
    assert!(
        err.contains("<stdin>:1: ") && err.contains("\\nonsense"),
        "{err}"
    );
}

#[test]
fn a_file_that_includes_itself_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("loop.sql");
    std::fs::write(&file, format!("\\i {}\n", file.display())).expect("written");
    let err = run(&["-f", &file.to_string_lossy()]).failed();
    assert!(err.contains("nested"), "{err}");
}

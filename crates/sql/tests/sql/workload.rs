//! What is recorded of statements, and what is predicted of them.

use std::path::Path;

use crate::support::Sql;
use freestone::Database;

/// A hundred thousand rows: `a` has a hundred values, `j` a thousand.
const TABLE: &str = "CREATE TABLE t (k INT PRIMARY KEY, a INT, j INT, v INT);
    INSERT INTO t SELECT value, value % 100, value % 1000, value FROM generate_series(1, 100000) AS g(value)";

fn on(path: &Path) -> Sql {
    Sql::on(&Database::open(path).unwrap())
}

fn filled() -> Sql {
    let sql = Sql::new();
    sql.run(TABLE);
    sql
}

/// What is known of a column of `t`.
fn used(sql: &Sql, what: &str, column: &str) -> String {
    let query = format!(
        "SELECT {what} FROM freestone_workload()
         WHERE column_name = '{column}' AND table_name LIKE '%t'"
    );
    sql.rows_of_one_engine(&query).join(" ")
}

/// Entries of the ledger whose statement is like this.
fn noted(sql: &Sql, like: &str) -> String {
    let query = format!("SELECT count(*) FROM freestone_ledger() WHERE statement LIKE '{like}'");
    sql.rows_of_one_engine(&query).join("")
}

/// Milliseconds that EXPLAIN predicts, and all that it says of them.
fn predicted(sql: &Sql, query: &str) -> (f64, String) {
    let plan = sql.rows_of_one_engine(&format!("EXPLAIN {query}"));
    let line = plan.last().unwrap();
    let number = line.strip_prefix("Predicted time: ").unwrap();
    let number = number.split(' ').next().unwrap();
    (number.parse().unwrap(), line.clone())
}

#[test]
fn look_ups_and_changes_outlive_the_process() {
    let place = tempfile::tempdir().unwrap();
    let sql = on(place.path());
    sql.run(
        "CREATE TABLE t (k INT PRIMARY KEY, v INT);
         INSERT INTO t SELECT value, value FROM generate_series(1, 1000) AS g(value)",
    );
    for key in 1..=5 {
        sql.rows_of_one_engine(&format!("SELECT v FROM t WHERE k = {key}"));
    }
    sql.run("UPDATE t SET v = 0 WHERE k = 7");
    drop(sql);
    let sql = on(place.path());
    let known = used(&sql, "round(updated), round(table_looked_up)", "v");
    // The change has looked up its row, too.
    assert_eq!(known, "1.0|6.0");
}

#[test]
fn selectivity_is_that_of_the_condition_whatever_is_joined() {
    let sql = filled();
    sql.run("CREATE TABLE few AS SELECT value AS j FROM generate_series(0, 9) AS g(value)");
    for _ in 0..3 {
        let joined = "SELECT count(*) FROM t JOIN few ON t.j = few.j WHERE t.a < 50";
        assert_eq!(sql.rows_of_one_engine(joined), ["1000"]);
    }
    assert_eq!(
        used(&sql, "round(selectivity::numeric, 2)::float8", "a"),
        "0.5"
    );
}

#[test]
fn what_is_ruled_out_or_found_by_an_index_counts_as_decided() {
    let sql = filled();
    // Zone maps leave a tenth of the zones, an index leads to the rows.
    sql.rows_of_one_engine("SELECT count(v) FROM t WHERE v <= 10000");
    assert_eq!(
        used(&sql, "round(selectivity::numeric, 2)::float8", "v"),
        "0.1"
    );
    sql.run("CREATE INDEX of_j ON t USING csb (j)");
    sql.rows_of_one_engine("SELECT sum(v) FROM t WHERE j = 7");
    assert_eq!(
        used(&sql, "round(selectivity::numeric, 3)::float8", "j"),
        "0.001"
    );
}

#[test]
fn recording_is_turned_off_for_all_and_for_later() {
    let place = tempfile::tempdir().unwrap();
    let database = Database::open(place.path()).unwrap();
    let (sql, other) = (Sql::on(&database), database.session());
    sql.run(TABLE);
    let (known, new) = ("SELECT sum(a) FROM t", "SELECT sum(j) FROM t");
    sql.rows_of_one_engine(known);
    other.set("freestone.workload", "off").unwrap();
    // Its plan is known, and was watched.
    sql.rows_of_one_engine(known);
    sql.rows_of_one_engine(new);
    assert_eq!(used(&sql, "round(read)", "a"), "1.0");
    assert_eq!(used(&sql, "round(read)", "j"), "0.0");
    other.set("freestone.workload", "on").unwrap();
    // Its plan is known, and was not.
    sql.rows_of_one_engine(new);
    assert_eq!(used(&sql, "round(read)", "j"), "1.0");
    other.set("freestone.workload", "off").unwrap();
    drop((sql, other, database));
    let sql = on(place.path());
    assert_eq!(sql.one("SHOW freestone.workload"), "off");
    sql.rows_of_one_engine(new);
    assert_eq!(used(&sql, "round(read)", "j"), "1.0");
    sql.run("RESET freestone.workload");
    assert_eq!(sql.one("SHOW freestone.workload"), "on");
}

#[test]
fn what_is_not_in_memory_is_waited_for() {
    let place = tempfile::tempdir().unwrap();
    let query = "SELECT sum(v) FROM wide";
    let sql = on(place.path());
    // Of rows all is read, whatever is asked for.
    let columns: Vec<String> = (0..12).map(|number| format!("c{number} BIGINT")).collect();
    let values = (0..12).map(|number| format!("value * {} % 1000000000039", number + 1_000_003));
    let values: Vec<String> = values.collect();
    sql.run(&format!(
        "CREATE TABLE wide (v INT, {}) WITH (layout = 'row');
         INSERT INTO wide SELECT value, {} FROM generate_series(1::bigint, 20000) AS g(value)",
        columns.join(", "),
        values.join(", ")
    ));
    drop(sql);
    let sql = on(place.path());
    let (cold, said) = predicted(&sql, query);
    assert!(said.contains("bound by disk; in memory "), "{said}");
    sql.rows_of_one_engine(query);
    let (warm, said) = predicted(&sql, query);
    assert!(!said.contains("bound by disk"), "{said}");
    assert!(said.contains("from disk "), "{said}");
    assert!(warm < cold, "{warm} {cold}");
    // The second run's plan is known: what it finds in memory is asked at each run.
    sql.rows_of_one_engine(query);
    let ledger = sql.rows_of_one_engine(
        "SELECT bound = 'disk' FROM freestone_ledger()
         WHERE statement = 'SELECT sum(v) FROM wide' ORDER BY at",
    );
    assert_eq!(ledger, ["true", "false"]);
}

#[test]
fn statements_that_read_to_write_are_recorded() {
    let sql = filled();
    sql.run("RESET WORKLOAD");
    sql.run(
        "CREATE TABLE u AS SELECT k, a FROM t WHERE a < 10;
         INSERT INTO u SELECT k + 1000000, a FROM t WHERE a > 90;
         INSERT INTO u SELECT k + 2000000, a FROM t WHERE a = 11 RETURNING k;
         UPDATE u SET a = 5 WHERE a = 6;
         UPDATE t SET v = 0 WHERE a = 3;
         DELETE FROM u WHERE a = 7;
         MERGE INTO u USING t ON u.k = t.k
            WHEN MATCHED AND t.j = 1 THEN UPDATE SET a = 0",
    );
    sql.rows_of_one_engine("EXPLAIN ANALYZE SELECT max(j) FROM t");
    for (statement, times) in [
        ("CREATE TABLE u AS%", "1"),
        ("INSERT INTO u%", "2"),
        ("UPDATE u%", "1"),
        ("UPDATE t%", "1"),
        ("DELETE FROM u%", "1"),
        ("MERGE INTO u%", "1"),
        ("SELECT max(j)%", "1"),
    ] {
        assert_eq!(noted(&sql, statement), times, "{statement}");
    }
    assert_eq!(used(&sql, "round(filtered)", "a"), "4.0");
    // What fails is not what was predicted.
    assert_eq!(
        sql.state("CREATE TABLE w AS SELECT 1 / (k - 1) AS x FROM t"),
        "22012"
    );
    assert_eq!(noted(&sql, "CREATE TABLE w%"), "0");
}

#[test]
fn orders_of_whichever_operator_are_recorded() {
    let sql = filled();
    sql.rows_of_one_engine("SELECT k FROM t ORDER BY a LIMIT 5");
    assert_eq!(used(&sql, "round(sorted)", "a"), "1.0");
    sql.rows_of_one_engine("SELECT k, row_number() OVER (PARTITION BY j ORDER BY v) FROM t");
    assert_eq!(used(&sql, "round(sorted), round(grouped)", "v"), "1.0|0.0");
    assert_eq!(used(&sql, "round(grouped)", "j"), "1.0");
    // An order costs something, too.
    let (all, _) = predicted(&sql, "SELECT k FROM t");
    let (ordered, _) = predicted(&sql, "SELECT k FROM t ORDER BY a LIMIT 5");
    assert!(ordered > all, "{ordered} {all}");
}

#[test]
fn every_change_counts_the_columns_it_assigns() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (k INT PRIMARY KEY, a INT, b INT, c INT);
         INSERT INTO t SELECT value, value, value, value FROM generate_series(1, 100) AS g(value);
         UPDATE t SET a = 0 WHERE a > 90;
         MERGE INTO t USING (SELECT 5 AS k) s ON t.k = s.k WHEN MATCHED THEN UPDATE SET b = 1;
         INSERT INTO t VALUES (1, 1, 1, 1), (2, 1, 1, 1)
            ON CONFLICT (k) DO UPDATE SET c = excluded.c",
    );
    let updated = |column| used(&sql, "round(updated)", column);
    assert_eq!(
        [updated("k"), updated("a"), updated("b"), updated("c")],
        ["0.0", "10.0", "1.0", "2.0"]
    );
}

/// A scan that has waited for the disk says nothing of scans from memory; one that has
/// not does, whosever operators are above it.
#[test]
fn the_model_learns_from_scans_in_memory() {
    let place = tempfile::tempdir().unwrap();
    on(place.path()).run(TABLE);
    let learnt = || {
        let text = std::fs::read_to_string(place.path().join("advisor/workload.json")).unwrap();
        text.contains("\"scans\":{\"")
    };
    on(place.path()).rows_of_one_engine("SELECT sum(v) FROM t WHERE a < 50");
    assert!(!learnt(), "it came from disk");
    let sql = on(place.path());
    for _ in 0..2 {
        sql.rows_of_one_engine("SELECT v FROM t WHERE a < 50");
    }
    drop(sql);
    assert!(learnt(), "it was in memory the second time");
}

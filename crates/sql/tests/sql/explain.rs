//! EXPLAIN shows the scan and what it took over; ANALYZE what it read.

use crate::support::Sql;

fn plan(sql: &Sql, query: &str) -> String {
    sql.rows(&format!("EXPLAIN {query}")).join("\n")
}

fn filled() -> Sql {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (a INT, b TEXT, c DECIMAL(10,2), d DATE) WITH (block_bytes = '128KiB');
         INSERT INTO t SELECT value, 'text number ' || value, value, DATE '2020-01-01' + CAST(value / 100 AS INT)
         FROM generate_series(1, 40000) AS g(value)",
    );
    sql
}

#[test]
fn projection_filter_and_limit_are_pushed_down() {
    let sql = filled();
    let text = plan(
        &sql,
        "SELECT b FROM t WHERE a > 39000 AND b LIKE 'text%' AND c <= 5.555 LIMIT 3",
    );
    assert!(text.contains("scan t [b] where "), "{text}");
    assert!(
        text.contains("a > 39000") && text.contains("b LIKE 'text%'"),
        "{text}"
    );
    assert!(text.contains(", limit 3 "), "{text}");
    assert!(!text.contains("filter"), "{text}");
    let text = plan(&sql, "SELECT a FROM t WHERE b LIKE '%9' AND a < 5");
    assert!(
        !text.contains("filter") && text.contains("b LIKE '%9'"),
        "{text}"
    );
    let text = plan(&sql, "SELECT a FROM t WHERE length(b) = 9 AND a < 5");
    assert!(
        text.contains("filter: length(b) = 9") && text.contains("where a < 5"),
        "{text}"
    );
    assert_eq!(sql.names("EXPLAIN SELECT 1"), ["QUERY PLAN"]);
}

#[test]
fn analyze_counts_blocks() {
    let sql = filled();
    let text = plan(&sql, "ANALYZE SELECT count(*) FROM t WHERE a <= 100");
    assert!(
        text.contains("blocks_total=") && text.contains("blocks_read=1,"),
        "{text}"
    );
    assert!(text.contains("Rows: 1"), "{text}");
    let text = plan(
        &sql,
        "(ANALYZE, VERBOSE) SELECT count(*) FROM t WHERE a <= 100",
    );
    assert!(text.starts_with("aggregate "), "{text}");
    assert_eq!(sql.state("EXPLAIN (NOSUCH) SELECT 1"), "42601");
    assert!(plan(&sql, "INSERT INTO t SELECT * FROM t WHERE a = 1").contains("scan t "));
    assert_eq!(sql.one("SELECT count(*) FROM t"), "40000");
}

#[test]
fn operators_say_what_memory_they_held() {
    let sql = filled();
    let query = "SELECT t.b, count(*) FROM t JOIN t AS u ON t.a = u.a GROUP BY t.b ORDER BY t.b";
    let text = plan(&sql, &format!("ANALYZE {query}"));
    for operator in ["sort by", "aggregate", "join Inner"] {
        let line = text.lines().find(|line| line.contains(operator)).unwrap();
        let (before, _) = line.split_once(" bytes of memory").expect(&text);
        let bytes = before
            .rsplit(' ')
            .next()
            .and_then(|bytes| bytes.parse::<u64>().ok());
        // 40,000 keys of eight bytes at least.
        assert!(bytes.unwrap() > 320_000, "{text}");
    }
    assert!(!plan(&sql, query).contains("bytes of memory"));
}

#[test]
fn counts_come_from_statistics() {
    let sql = filled();
    for query in ["SELECT count(*) FROM t", "SELECT min(a), max(a) FROM t"] {
        let text = plan(&sql, query);
        assert!(!text.contains("FreestoneScan"), "{text}");
    }
    assert_eq!(
        sql.one("SELECT min(a), max(d), count(b) FROM t"),
        "1|2021-02-04|40000"
    );
}

#[test]
fn a_join_prunes_blocks_of_the_other_side() {
    let sql = filled();
    sql.run("CREATE TABLE k (a INT); INSERT INTO k VALUES (17), (18)");
    let text = plan(&sql, "ANALYZE SELECT t.b FROM t JOIN k ON t.a = k.a");
    let scan = text.lines().find(|line| line.contains("scan t ")).unwrap();
    assert!(scan.contains("blocks_read=1,"), "{text}");
    let text = plan(&sql, "ANALYZE SELECT a FROM t ORDER BY a LIMIT 5");
    let scan = text.lines().find(|line| line.contains("scan t ")).unwrap();
    assert!(scan.contains(", first 5 by a ASC "), "{text}");
    assert!(!scan.contains("blocks_pruned=0,"), "{text}");
}

#[test]
fn options_of_postgresql_are_taken() {
    let sql = filled();
    sql.run("CREATE TABLE u (k INT PRIMARY KEY, v INT)");
    for options in [
        "(COSTS OFF)",
        "(ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF)",
        "(VERBOSE false, SETTINGS, FORMAT text)",
        "(ANALYZE on, WAL, format 'TEXT')",
        "VERBOSE",
    ] {
        let text = plan(&sql, &format!("{options} SELECT a FROM t WHERE a = 1"));
        assert!(text.contains("scan t "), "{options}: {text}");
        assert_eq!(
            text.contains("Execution time"),
            options.contains("WAL"),
            "{options}: {text}"
        );
        assert!(
            !options.contains("TIMING OFF") || !text.contains("elapsed"),
            "{text}"
        );
    }
    let json = plan(
        &sql,
        "(FORMAT JSON, ANALYZE) SELECT count(*) FROM t WHERE a < 10",
    );
    let query = format!(
        "SELECT '{}'::json -> 0 -> 'Plan' ->> 'Node Type' IS NOT NULL",
        json.replace('\'', "''")
    );
    assert_eq!(sql.one(&query), "true");
    for (options, state) in [
        ("(FORMAT xml)", "0A000"),
        ("(FORMAT none)", "22023"),
        ("(TIMING)", "22023"),
        ("(WAL on)", "22023"),
        ("(COSTS maybe)", "42601"),
        ("(NOTHING)", "42601"),
    ] {
        assert_eq!(
            sql.state(&format!("EXPLAIN {options} SELECT 1")),
            state,
            "{options}"
        );
    }
}

#[test]
fn changes_are_explained_and_carried_out() {
    let sql = filled();
    sql.run("CREATE TABLE u (k INT PRIMARY KEY, v INT); INSERT INTO u VALUES (1, 1), (2, 2)");
    for (statement, head) in [
        ("INSERT INTO u VALUES (3, 3)", "Insert on u"),
        (
            "INSERT INTO u SELECT a, a FROM t WHERE a = 4",
            "Insert on u",
        ),
        ("UPDATE u SET v = v + 1 WHERE k = 1", "Update on u"),
        (
            "DELETE FROM u USING t WHERE u.k = t.a AND t.a = 2",
            "Delete on u",
        ),
        (
            "MERGE INTO u USING t ON u.k = t.a WHEN MATCHED THEN DELETE",
            "Merge on u",
        ),
        (
            "WITH q AS (SELECT 1 AS k) UPDATE u SET v = 0 FROM q WHERE q.k = u.k",
            "Update on u",
        ),
    ] {
        let text = plan(&sql, &format!("(COSTS OFF) {statement}"));
        assert!(text.starts_with(head), "{text}");
        assert_eq!(
            sql.one("SELECT count(*), sum(v) FROM u"),
            "2|3",
            "{statement}"
        );
    }
    let text = plan(
        &sql,
        "ANALYZE UPDATE u SET v = v + 1 WHERE k = 1 RETURNING *",
    );
    assert!(text.contains("Rows: 1"), "{text}");
    assert_eq!(sql.one("SELECT sum(v) FROM u"), "4");
    sql.run("BEGIN");
    plan(&sql, "ANALYZE INSERT INTO u VALUES (9, 9)");
    sql.run("ROLLBACK");
    assert_eq!(sql.one("SELECT sum(v) FROM u"), "4");
    plan(&sql, "(ANALYZE) CREATE TABLE c AS SELECT k FROM u");
    assert_eq!(sql.one("SELECT count(*) FROM c"), "2");
    sql.run("PREPARE p (int) AS DELETE FROM u WHERE k = $1");
    assert!(plan(&sql, "EXECUTE p(1)").starts_with("Delete on u"));
    assert_eq!(sql.one("SELECT count(*) FROM u"), "2");
    plan(&sql, "ANALYZE EXECUTE p(1)");
    assert_eq!(sql.one("SELECT count(*) FROM u"), "1");
    assert_eq!(sql.state("EXPLAIN UPDATE u SET nothing = 1"), "42703");
    assert_eq!(sql.state("EXPLAIN EXECUTE nothing"), "26000");
}

//! Errors: SQLSTATE, message, position, hint.

use freestone::{Position, Session};

use crate::support::Sql;

#[test]
fn syntax_errors_have_a_place() {
    let sql = Sql::new();
    let error = sql.error("SELECT 1;\nSELECT * FORM t u");
    assert_eq!(error.sqlstate, "42601");
    assert_eq!(error.position.unwrap().line, 2);
    assert_eq!(sql.state("SELECT 'open"), "42601");
    assert_eq!(sql.state("SELECT (1"), "42601");
    let deep = format!("SELECT {}1{}", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(sql.state(&deep), "54001");
}

#[test]
fn unknown_names_get_a_suggestion() {
    let sql = Sql::new();
    sql.run("CREATE TABLE lineitem (l_orderkey INT, l_partkey INT)");
    let error = sql.error("SELECT *\nFROM linetem");
    assert_eq!(error.sqlstate, "42P01");
    assert_eq!(error.message, "table \"linetem\" does not exist");
    assert_eq!(
        error.hint.as_deref(),
        Some("did you mean table \"lineitem\"?")
    );
    assert_eq!(error.position, Some(Position { line: 2, column: 6 }));
    for (function, call) in [
        ("freestone_ledger", "freestone_ledger()"),
        ("freestone_blocks", "freestone_blocks('t')"),
    ] {
        let error = sql.error(&format!("SELECT * FROM {function}"));
        assert_eq!(error.sqlstate, "42P01");
        let hint = format!("it is a function: SELECT * FROM {call}");
        assert_eq!(error.hint, Some(hint));
    }
    let error = sql.error("SELECT l_ordrkey FROM lineitem");
    assert_eq!(error.sqlstate, "42703");
    assert_eq!(
        error.hint.as_deref(),
        Some("Perhaps you mean the column \"l_orderkey\".")
    );
    assert_eq!(error.position, Some(Position { line: 1, column: 8 }));
    assert_eq!(sql.state("SELECT x.l_orderkey FROM lineitem"), "42P01");
    assert_eq!(
        sql.state("SELECT l_orderkey FROM lineitem a, lineitem b"),
        "42702"
    );
    let error = sql.error("SELECT coont(*) FROM lineitem");
    assert_eq!(error.sqlstate, "42883");
    assert!(error.hint.unwrap().contains("count"));
    assert_eq!(sql.state("SELECT * FROM freestone_blokcs('t')"), "42883");
    assert_eq!(
        sql.state("SELECT * FROM freestone_blocks('nosuch')"),
        "42P01"
    );
}

#[test]
fn planning_errors_have_their_codes() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b TEXT)");
    for (query, state) in [
        ("SELECT a, count(*) FROM t", "42803"),
        ("SELECT a FROM t WHERE b + 1 > 5", "42883"),
        ("SELECT abs() FROM t", "42883"),
        ("SELECT a FROM t UNION SELECT a, b FROM t", "42601"),
        ("INSERT INTO t (a, a) VALUES (1, 2)", "42701"),
        ("UPDATE t SET nosuch = 1", "42703"),
        ("SAVEPOINT s", "25P01"),
        ("DELETE FROM nosuch", "42P01"),
        ("TRUNCATE TABLE nosuch", "42P01"),
        ("VACUUM nosuch", "42P01"),
        ("CREATE UNIQUE INDEX i ON t (a) WHERE nosuch > 1", "42703"),
        ("CREATE INDEX i ON t ((a + 'x'))", "22P02"),
        ("CREATE INDEX i ON t USING gin (a)", "0A000"),
        ("CREATE INDEX i ON t (nosuch)", "42703"),
        ("CREATE INDEX i ON nosuch (a)", "42P01"),
        ("DROP INDEX nosuch", "42704"),
        ("ALTER TABLE t ADD COLUMN a INT", "42701"),
        ("ALTER TABLE t DROP COLUMN nosuch", "42703"),
        ("SET freestone.column_scanner = 'double'", "22023"),
        ("CREATE TABLE u (a INT) WITH (codec = 'nosuch')", "22023"),
        (
            "CREATE TABLE u (a INT) WITH (codec = 'auto, b for')",
            "42703",
        ),
        ("SET nosuch = 1", "42704"),
        ("SHOW nosuch", "42704"),
        ("SET threads = 0", "22023"),
        ("CREATE TABLE information_schema.x (a INT)", "3F000"),
    ] {
        assert_eq!(sql.state(query), state, "{query}: {}", sql.error(query));
    }
}

#[test]
fn sessions_can_be_shared_between_threads() {
    fn check<T: Send + Sync>() {}
    check::<Session>();
    fn future<F: Future + Send>(_: F) {}
    let sql = Sql::new();
    future(sql.session.execute("SELECT 1"));
}

/// Errors of the parts of statements that change rows point into the statement.
#[test]
fn errors_of_changes_have_a_place() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (a INT PRIMARY KEY, b TEXT); CREATE TABLE u (c INT);
         CREATE VIEW v AS SELECT a AS x, b AS y FROM t",
    );
    for (statement, state) in [
        ("UPDATE t SET b = ^nosuch WHERE a = 1", "42703"),
        ("UPDATE t SET b = 'x' WHERE ^nosuch = 1", "42703"),
        ("UPDATE t SET b = 'x' WHERE ^nosuch(a)", "42883"),
        ("UPDATE t SET b = 'x' FROM u WHERE t.a = ^u.nosuch", "42703"),
        ("UPDATE t SET b = 'x' RETURNING a, ^nosuch", "42703"),
        ("UPDATE v SET y = ^nosuch", "42703"),
        ("DELETE FROM t WHERE ^nosuch = 1", "42703"),
        ("DELETE FROM t USING u WHERE c = ^nosuch", "42703"),
        ("DELETE FROM v WHERE ^nosuch = 1", "42703"),
        ("DELETE FROM t USING u RETURNING c, ^nosuch", "42703"),
        (
            "MERGE INTO t USING u ON a = ^nosuch WHEN MATCHED THEN DELETE",
            "42703",
        ),
        (
            "MERGE INTO t USING u ON a = c WHEN MATCHED THEN UPDATE SET b = ^nosuch",
            "42703",
        ),
        (
            "MERGE INTO t USING u ON a = c WHEN NOT MATCHED THEN INSERT VALUES (c, ^nosuch)",
            "42703",
        ),
        (
            "INSERT INTO t VALUES (1, 'x') ON CONFLICT (a) DO UPDATE SET b = (SELECT ^nosuch FROM u)",
            "42703",
        ),
        ("INSERT INTO t SELECT c, ^nosuch FROM u", "42703"),
    ] {
        let (before, after) = statement.split_once('^').unwrap();
        let error = sql.error(&format!("{before}{after}"));
        assert_eq!(error.sqlstate, state, "{statement}");
        let at = error
            .position
            .map(|position| (position.line, position.column));
        assert_eq!(at, Some((1, before.len() as u64 + 1)), "{statement}");
    }
    assert_eq!(
        sql.state("MERGE INTO t USING u ON a = c WHEN MATCHED AND a THEN DELETE"),
        "42804"
    );
}

//! Statements that ask for nothing here, tables of queries in other forms, and what is refused
//! by its name.

use crate::support::Sql;

#[test]
fn tables_are_made_of_queries_in_other_forms() {
    let sql = Sql::new();
    sql.run(
        "CREATE UNLOGGED TABLE t (a INT PRIMARY KEY) WITHOUT OIDS; INSERT INTO t VALUES (1), (2);
         PREPARE p (int) AS SELECT a FROM t WHERE a > $1;
         CREATE TABLE e AS EXECUTE p (1); CREATE TABLE n (x) AS EXECUTE p (0) WITH NO DATA;
         CREATE TABLE d AS SELECT a, a + 1 AS b FROM t WITH NO DATA;
         SELECT a * 2 AS a INTO i FROM t WHERE a = 2;
         CREATE RECURSIVE VIEW r (n) AS VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 3",
    );
    assert_eq!(sql.rows("TABLE e"), ["2"]);
    assert_eq!(sql.rows("SELECT a FROM i"), ["4"]);
    assert_eq!(sql.rows("SELECT n FROM r ORDER BY n"), ["1", "2", "3"]);
    assert_eq!(sql.names("SELECT * FROM n"), ["x"]);
    assert_eq!(sql.one("SELECT count(*) FROM d, n"), "0");
    assert_eq!(
        sql.run("CREATE TABLE f AS SELECT 1 WITH NO DATA"),
        "CREATE TABLE AS"
    );
    assert_eq!(
        sql.run("CREATE TABLE g (x) AS SELECT 1 WITH NO DATA"),
        "CREATE TABLE AS"
    );
    assert_eq!(
        sql.run("CREATE TABLE IF NOT EXISTS g AS SELECT 1"),
        "CREATE TABLE AS"
    );
    assert_eq!(sql.run("CREATE TABLE h AS SELECT 1"), "SELECT 1");
    for (statement, state) in [
        ("CREATE TABLE x AS EXECUTE nothing", "26000"),
        ("SELECT (SELECT 1 INTO x)", "42601"),
        ("SELECT * FROM (SELECT 1 INTO x) AS y", "42601"),
        ("SELECT a INTO t FROM t", "42P07"),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
}

#[test]
fn statements_that_ask_for_nothing() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT PRIMARY KEY); CREATE INDEX i ON t (a)");
    for (statement, tag) in [
        ("REINDEX TABLE t", "REINDEX"),
        ("REINDEX INDEX t_pkey", "REINDEX"),
        ("CLUSTER t USING i", "CLUSTER"),
        ("CLUSTER", "CLUSTER"),
        ("CHECKPOINT", "CHECKPOINT"),
        ("ANALYSE", "ANALYZE"),
        ("ANALYSE VERBOSE t", "ANALYZE"),
        ("VACUUM ANALYSE t", "VACUUM"),
        ("SET CONSTRAINTS ALL DEFERRED", "SET CONSTRAINTS"),
        ("DROP AGGREGATE IF EXISTS f(int)", "DROP AGGREGATE"),
        (
            "DROP TEXT SEARCH PARSER IF EXISTS p",
            "DROP TEXT SEARCH PARSER",
        ),
    ] {
        assert_eq!(sql.run(statement), tag, "{statement}");
    }
    for (statement, state) in [
        ("REINDEX TABLE nothing", "42P01"),
        ("REINDEX INDEX nothing", "42P01"),
        ("CLUSTER t USING nothing", "42704"),
        ("SET CONSTRAINTS t_pkey DEFERRED", "42809"),
        ("SET CONSTRAINTS nothing DEFERRED", "42704"),
        ("DROP CONVERSION c", "42704"),
        ("CREATE CONVERSION c FOR 'latin1' TO 'utf8' FROM f", "0A000"),
        (
            "CREATE RULE r AS ON DELETE TO t DO INSTEAD NOTHING",
            "0A000",
        ),
        ("CREATE STATISTICS s ON a FROM t", "0A000"),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
}

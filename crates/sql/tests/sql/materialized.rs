//! Materialized views.

use crate::support::Sql;

fn made() -> Sql {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (g INT, n NUMERIC(8, 2), s VARCHAR(5));
         INSERT INTO t SELECT i % 3, i, 'x' || i FROM generate_series(1, 9) AS i",
    );
    sql
}

#[test]
fn rows_are_those_of_the_last_refresh() {
    let sql = made();
    let create =
        "CREATE MATERIALIZED VIEW m AS SELECT g, sum(n) AS total, max(s) AS s FROM t GROUP BY g";
    assert_eq!(sql.run(create), "SELECT 3");
    let all = "SELECT g, total, s FROM m ORDER BY g";
    let before = ["0|18.00|x9", "1|12.00|x7", "2|15.00|x8"];
    assert_eq!(sql.rows(all), before);
    sql.run("INSERT INTO t VALUES (3, 1.5, 'y')");
    assert_eq!(sql.rows(all), before);
    assert_eq!(
        sql.run("REFRESH MATERIALIZED VIEW m"),
        "REFRESH MATERIALIZED VIEW"
    );
    let after = ["0|18.00|x9", "1|12.00|x7", "2|15.00|x8", "3|1.50|y"];
    assert_eq!(sql.rows(all), after);
    // What others see changes with the transaction.
    sql.run("DELETE FROM t WHERE g < 3; BEGIN; REFRESH MATERIALIZED VIEW m");
    assert_eq!(sql.rows(all), ["3|1.50|y"]);
    sql.run("ROLLBACK");
    assert_eq!(sql.rows(all), after);
    sql.run("BEGIN; REFRESH MATERIALIZED VIEW m; COMMIT");
    assert_eq!(sql.rows(all), ["3|1.50|y"]);
    assert_eq!(
        sql.types("SELECT total, s FROM m"),
        ["numeric(38,2)", "text"]
    );
}

#[test]
fn rows_without_data_are_not_read() {
    let sql = made();
    let create = "CREATE MATERIALIZED VIEW m (a, b) AS SELECT g, s FROM t WITH NO DATA";
    assert_eq!(sql.run(create), "CREATE MATERIALIZED VIEW");
    for read in [
        "SELECT * FROM m",
        "SELECT count(*) FROM m",
        "TABLE m",
        "SELECT 1 FROM t, m LIMIT 0",
    ] {
        let error = sql.error(read);
        assert_eq!(error.sqlstate, "55000", "{read}");
        assert_eq!(
            error.message,
            "materialized view \"m\" has not been populated"
        );
    }
    sql.run("CREATE UNIQUE INDEX by_b ON m (b); REFRESH MATERIALIZED VIEW m");
    assert_eq!(sql.rows("SELECT a FROM m WHERE b = 'x5'"), ["2"]);
    sql.run("REFRESH MATERIALIZED VIEW CONCURRENTLY m; REFRESH MATERIALIZED VIEW m WITH NO DATA");
    assert_eq!(sql.state("SELECT a FROM m WHERE b = 'x5'"), "55000");
    assert_eq!(
        sql.state("REFRESH MATERIALIZED VIEW CONCURRENTLY m"),
        "0A000"
    );
    assert_eq!(sql.rows("SELECT ispopulated FROM pg_matviews"), ["false"]);
}

#[test]
fn only_refresh_changes_one() {
    let sql = made();
    sql.run("CREATE MATERIALIZED VIEW m AS SELECT g, s FROM t; CREATE UNIQUE INDEX u ON m (s)");
    for change in [
        "INSERT INTO m VALUES (1, 'z')",
        "INSERT INTO m SELECT g, s FROM t",
        "UPDATE m SET g = 1",
        "UPDATE m SET g = 1 WHERE s = 'x1'",
        "UPDATE m SET g = 1 WHERE s = 'none'",
        "DELETE FROM m",
        "DELETE FROM m WHERE s = 'x1'",
        "TRUNCATE m",
        "MERGE INTO m USING t ON m.s = t.s WHEN MATCHED THEN DELETE",
        "WITH w AS (DELETE FROM m RETURNING g) SELECT * FROM w",
        "COPY m FROM STDIN",
        "ALTER TABLE m ADD COLUMN x INT",
        "DROP TABLE m",
        "DROP VIEW m",
        "DROP MATERIALIZED VIEW t",
        "REFRESH MATERIALIZED VIEW t",
        "ALTER MATERIALIZED VIEW t RENAME TO r",
    ] {
        assert_eq!(sql.state(change), "42809", "{change}");
    }
    let prepared = sql.session.prepare("DELETE FROM m WHERE s = $1").unwrap();
    assert!(sql.told(&prepared).is_ok());
    assert_eq!(sql.one("SELECT count(*) FROM m"), "9");
    // A key that the query no longer has is a fault of the refresh, which changes nothing.
    sql.run("INSERT INTO t VALUES (7, NULL, 'x1')");
    assert_eq!(sql.state("REFRESH MATERIALIZED VIEW m"), "23505");
    assert_eq!(sql.one("SELECT count(*) FROM m"), "9");
}

#[test]
fn materialized_views_are_told_and_altered() {
    let sql = made();
    sql.run("CREATE MATERIALIZED VIEW IF NOT EXISTS m AS SELECT g, s FROM t WITH DATA");
    sql.run("CREATE MATERIALIZED VIEW IF NOT EXISTS m AS SELECT 1 AS other");
    assert_eq!(
        sql.state("CREATE MATERIALIZED VIEW m AS SELECT 1 AS a"),
        "42P07"
    );
    let told = "SELECT relkind, relispopulated FROM pg_class WHERE relname = 'm'";
    assert_eq!(sql.rows(told), ["m|true"]);
    assert_eq!(
        sql.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"),
        ["t"]
    );
    assert!(
        sql.one("SELECT pg_get_viewdef('m'::regclass)")
            .contains("FROM t")
    );
    assert!(
        sql.rows("SELECT 1 FROM information_schema.tables WHERE table_name = 'm'")
            .is_empty()
    );
    sql.run(
        "ALTER MATERIALIZED VIEW m RENAME COLUMN s TO name; ALTER MATERIALIZED VIEW m RENAME TO r",
    );
    sql.run("CREATE SCHEMA other; ALTER MATERIALIZED VIEW r SET SCHEMA other");
    sql.run("REFRESH MATERIALIZED VIEW other.r; CREATE INDEX ON other.r (g)");
    assert_eq!(
        sql.rows("SELECT name FROM other.r WHERE g = 0 ORDER BY 1 LIMIT 1"),
        ["x3"]
    );
    assert_eq!(sql.noticed("DROP MATERIALIZED VIEW IF EXISTS r").len(), 1);
    assert_eq!(
        sql.run("DROP MATERIALIZED VIEW other.r"),
        "DROP MATERIALIZED VIEW"
    );
    assert_eq!(sql.state("REFRESH MATERIALIZED VIEW m"), "42P01");
}

//! Views depend on what they read: it keeps its meaning, and does not go without them.

use freestone::Database;

use crate::support::Sql;

fn made() -> Sql {
    let sql = Sql::new();
    sql.run(TABLES);
    sql
}

const TABLES: &str = "
    CREATE TABLE t (a INT, b TEXT);
    INSERT INTO t VALUES (1, 'x'), (2, 'y');
    CREATE VIEW v AS SELECT * FROM t;
    CREATE VIEW w (p, q) AS SELECT a, b FROM t AS z WHERE a > 1;
    CREATE VIEW vv AS SELECT v.b, count(*) OVER () AS n FROM v JOIN t USING (a, b);
    CREATE MATERIALIZED VIEW m AS SELECT t.*, b || '!' AS c FROM t";

/// Each view's rows, in order.
fn all(sql: &Sql) -> Vec<Vec<String>> {
    ["v", "w", "vv", "m"]
        .map(|view| {
            let mut rows = sql.rows_of_one_engine(&format!("SELECT * FROM {view} ORDER BY 1"));
            rows.insert(0, sql.names(&format!("SELECT * FROM {view}")).join(","));
            rows
        })
        .to_vec()
}

#[test]
fn names_mean_what_they_meant() {
    let sql = made();
    let before = all(&sql);
    assert_eq!(before[0], ["a,b", "1|x", "2|y"]);
    assert_eq!(before[2], ["b,n", "x|2", "y|2"]);
    for change in [
        "ALTER TABLE t ADD COLUMN c INT DEFAULT 7",
        "ALTER TABLE t RENAME COLUMN b TO bb",
        "ALTER TABLE t RENAME COLUMN a TO b",
        "ALTER TABLE t RENAME TO u",
        "CREATE SCHEMA s; ALTER TABLE u SET SCHEMA s",
        "CREATE TABLE t (a INT, b TEXT)",
        "ALTER TABLE s.u DROP COLUMN c",
        "REFRESH MATERIALIZED VIEW m",
        "CREATE OR REPLACE VIEW v AS SELECT b AS a, bb AS b, 5 AS more FROM s.u",
        "ALTER VIEW v RENAME COLUMN a TO aa",
        "ALTER VIEW v RENAME TO x; CREATE VIEW v AS SELECT aa AS a, b FROM x",
    ] {
        sql.run(change);
        let after = all(&sql);
        assert_eq!(after[2..], before[2..], "{change}");
        match change.contains("VIEW v") {
            true => {}
            false => assert_eq!(after, before, "{change}"),
        }
    }
    let text = "SELECT pg_get_viewdef('w', true)";
    let shown = " SELECT z.b AS p,\n    z.bb AS q\n   FROM s.u z\n  WHERE z.b > 1;";
    assert_eq!(sql.one(text), shown);
}

#[test]
fn notes_are_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let open = || Database::open(&path).unwrap();
    let (before, database) = {
        let database = open();
        let sql = Sql::on(&database);
        sql.run(TABLES);
        (all(&sql), database)
    };
    drop(database);
    let database = open();
    let sql = Sql::on(&database);
    sql.run("ALTER TABLE t RENAME COLUMN b TO c; ALTER TABLE t ADD COLUMN b INT; CHECKPOINT");
    drop((sql, database));
    let database = open();
    let sql = Sql::on(&database);
    sql.run("ALTER TABLE t RENAME TO u; REFRESH MATERIALIZED VIEW m");
    assert_eq!(all(&sql), before);
    assert_eq!(sql.state("DROP TABLE u"), "2BP01");
}

#[test]
fn what_a_view_reads_stays() {
    let sql = made();
    let error = sql.error("DROP TABLE t");
    assert_eq!(error.sqlstate, "2BP01");
    assert_eq!(
        error.message,
        "cannot drop table t because other objects depend on it"
    );
    assert_eq!(
        error.detail.as_deref(),
        Some(
            "view v depends on table t\nview vv depends on view v\nview w depends on table t\n\
             materialized view m depends on table t"
        )
    );
    let error = sql.error("ALTER TABLE t DROP COLUMN b");
    assert_eq!(
        error.message,
        "cannot drop column b of table t because other objects depend on it"
    );
    let error = sql.error("ALTER TABLE t ALTER COLUMN a TYPE BIGINT");
    assert_eq!(error.sqlstate, "0A000");
    assert_eq!(
        error.detail.as_deref(),
        Some("rule _RETURN on view v depends on column \"a\"")
    );
    for refused in ["DROP VIEW v", "DROP VIEW w, v", "BEGIN; DROP TABLE t"] {
        assert_eq!(sql.state(refused), "2BP01", "{refused}");
    }
    sql.run("ROLLBACK");
    assert_eq!(all(&sql)[0], ["a,b", "1|x", "2|y"]);
    // A column that no view has may go.
    sql.run(
        "ALTER TABLE t ADD COLUMN c INT, ADD COLUMN d INT; CREATE VIEW of_d AS SELECT d FROM t",
    );
    sql.run("ALTER TABLE t ALTER COLUMN c TYPE TEXT; ALTER TABLE t DROP COLUMN c");
    assert_eq!(sql.state("ALTER TABLE t DROP COLUMN d"), "2BP01");
    sql.run("DROP VIEW vv, v; DROP MATERIALIZED VIEW m; DROP VIEW w, of_d; DROP TABLE t");
    sql.run("CREATE SEQUENCE q; CREATE VIEW taken AS SELECT nextval('q') AS n; CREATE VIEW of_q AS SELECT last_value FROM q");
    let error = sql.error("DROP SEQUENCE q");
    assert_eq!(
        error.detail.as_deref(),
        Some("view of_q depends on sequence q\nview taken depends on sequence q")
    );
    sql.run("DROP SEQUENCE q CASCADE");
    assert_eq!(sql.state("SELECT * FROM taken"), "42P01");
}

#[test]
fn cascade_takes_views_with_it() {
    let sql = made();
    let noticed = sql.noticed("ALTER TABLE t ADD COLUMN c INT; DROP TABLE t CASCADE");
    assert_eq!(noticed, ["NOTICE: drop cascades to 4 other objects"]);
    assert_eq!(
        sql.one("SELECT count(*) FROM pg_views WHERE schemaname = 'public'"),
        "0"
    );
    assert_eq!(sql.one("SELECT count(*) FROM pg_matviews"), "0");

    sql.run(
        "CREATE SCHEMA s; CREATE TABLE s.t (a INT, b INT); CREATE VIEW v AS SELECT a FROM s.t;
         CREATE VIEW w AS SELECT b FROM s.t; CREATE MATERIALIZED VIEW m AS SELECT * FROM v;
         CREATE VIEW over_m AS SELECT * FROM m",
    );
    let noticed = sql.noticed("ALTER TABLE s.t DROP COLUMN a CASCADE");
    assert_eq!(noticed, ["NOTICE: drop cascades to 3 other objects"]);
    assert_eq!(
        sql.rows("SELECT viewname FROM pg_views WHERE schemaname = 'public'"),
        ["w"]
    );
    sql.run("DROP SCHEMA s CASCADE");
    assert_eq!(sql.state("SELECT * FROM w"), "42P01");

    sql.run(
        "CREATE TABLE whole (a INT, b INT) PARTITION BY RANGE (a);
         CREATE TABLE part PARTITION OF whole FOR VALUES FROM (0) TO (10);
         CREATE VIEW of_part AS SELECT b FROM part; CREATE VIEW of_whole AS SELECT b FROM whole",
    );
    assert_eq!(sql.state("DROP TABLE whole"), "2BP01");
    assert_eq!(sql.state("DROP TABLE part"), "2BP01");
    assert_eq!(sql.state("ALTER TABLE whole DROP COLUMN b"), "2BP01");
    sql.run("DROP TABLE part CASCADE; SELECT * FROM of_whole; DROP TABLE whole CASCADE");
    assert_eq!(sql.state("SELECT * FROM of_whole"), "42P01");
}

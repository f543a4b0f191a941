//! `tableoid` and `ctid`: of which table a row is, and where it is in it.

use crate::support::Sql;

#[test]
fn rows_tell_of_which_table_they_are() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2); CREATE TABLE u (a INT, b TEXT);
         INSERT INTO u VALUES (1, 'x'), (5, 'y');
         CREATE TABLE p (a INT) PARTITION BY RANGE (a);
         CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
         CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);
         INSERT INTO p VALUES (1), (11)",
    );
    assert_eq!(
        sql.rows("SELECT tableoid::regclass, a FROM t ORDER BY a"),
        ["t|1", "t|2"]
    );
    assert_eq!(
        sql.rows("SELECT DISTINCT t.tableoid = 't'::regclass FROM t"),
        ["true"]
    );
    assert_eq!(
        sql.rows("SELECT tableoid::regclass, * FROM p ORDER BY a"),
        ["p1|1", "p2|11"]
    );
    assert_eq!(
        sql.rows("SELECT t.tableoid::regclass, u.tableoid::regclass, u.a FROM t RIGHT JOIN u ON t.a = u.a ORDER BY u.a"),
        ["t|u|1", "NULL|u|5"]
    );
    assert_eq!(
        sql.rows("SELECT tableoid::regclass, a FROM t UNION ALL SELECT tableoid::regclass, a FROM u ORDER BY 1, 2"),
        ["t|1", "t|2", "u|1", "u|5"]
    );
    assert_eq!(
        sql.rows("SELECT a FROM ONLY t WHERE tableoid = 't'::regclass ORDER BY a"),
        ["1", "2"]
    );
    assert_eq!(sql.rows("SELECT a FROM ONLY p WHERE tableoid > 0"), [""; 0]);
    // `*` shows them not, and a column of a table may be called so nowhere.
    assert_eq!(
        sql.rows("SELECT * FROM t WHERE ctid IS NOT NULL ORDER BY a"),
        ["1", "2"]
    );
    assert_eq!(sql.state("CREATE TABLE w (tableoid INT)"), "42701");
    assert_eq!(sql.state("SELECT ctid FROM (SELECT a FROM t) q"), "42703");
    assert_eq!(
        sql.state("SELECT tableoid FROM generate_series(1, 2) g"),
        "42703"
    );
    sql.run("CREATE VIEW v AS SELECT tableoid AS of, ctid AS place, a FROM t");
    assert_eq!(
        sql.rows("SELECT of::regclass, a FROM v ORDER BY a"),
        ["t|1", "t|2"]
    );
    assert_eq!(sql.state("SELECT ctid FROM v"), "42703");
}

#[test]
fn rows_tell_where_they_are() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b TEXT); INSERT INTO t VALUES (1, 'x'), (1, 'x'), (2, 'y'), (2, 'y')");
    for _ in 0..2 {
        assert_eq!(
            sql.one(
                "SELECT count(DISTINCT ctid), pg_typeof(min(ctid)) FROM t GROUP BY pg_typeof(ctid)"
            ),
            "4|tid"
        );
        assert_eq!(
            sql.rows("SELECT count(*) FROM t AS x JOIN t AS y ON x.ctid = y.ctid"),
            ["4"]
        );
        assert_eq!(
            sql.one("SELECT count(*) FROM t WHERE ctid = (SELECT ctid::text::tid FROM t WHERE a = 1 LIMIT 1)"),
            "1"
        );
        sql.run("VACUUM t");
    }
    // The usual way to be rid of rows that are there twice.
    sql.run("DELETE FROM t WHERE ctid NOT IN (SELECT min(ctid) FROM t GROUP BY a, b)");
    assert_eq!(sql.rows("SELECT * FROM t ORDER BY a"), ["1|x", "2|y"]);
    sql.run("INSERT INTO t VALUES (2, 'y')");
    sql.run(
        "DELETE FROM t AS one USING t AS other WHERE one.ctid > other.ctid AND one.a = other.a",
    );
    assert_eq!(sql.rows("SELECT * FROM t ORDER BY a"), ["1|x", "2|y"]);
    sql.run("UPDATE t SET b = tableoid::regclass::text WHERE ctid = (SELECT max(ctid) FROM t WHERE a = 2)");
    assert_eq!(sql.rows("SELECT * FROM t ORDER BY a"), ["1|x", "2|t"]);
    assert_eq!(sql.state("SELECT ctid + 1 FROM t"), "42883");
    assert_eq!(sql.state("SELECT '(1)'::tid"), "22P02");
    assert_eq!(
        sql.one("SELECT '(3,1)'::tid > '(2,9)'::tid, '(0,1)'::tid"),
        "true|(0,1)"
    );
}

//! Sub-queries that no join can stand for: outer columns anywhere in them.

use crate::support::Sql;

fn tables() -> Sql {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (id INTEGER, a INTEGER, name TEXT)");
    sql.run("INSERT INTO t VALUES (1, 10, 'x'), (2, 20, 'y'), (3, NULL, 'x'), (2, 20, 'y')");
    sql.run("CREATE TABLE s (id INTEGER, n INTEGER)");
    sql.run("INSERT INTO s VALUES (1, 5), (1, 15), (2, 20), (3, NULL), (4, 40)");
    sql
}

#[test]
fn outer_columns_anywhere() {
    let sql = tables();
    let cases: [(&str, &[&str]); 11] = [
        // Some rows of an order.
        (
            "SELECT id, (SELECT n FROM s WHERE s.id >= t.id ORDER BY n LIMIT 1) FROM t",
            &["1|5", "2|20", "2|20", "3|40"],
        ),
        // In what it gives, under a function, and not in a condition.
        (
            "SELECT id, (SELECT max(n + t.a) FROM s) FROM t",
            &["1|50", "2|60", "2|60", "3|NULL"],
        ),
        // In the condition of an outer join.
        (
            "SELECT id, (SELECT count(two.id) FROM s LEFT JOIN s two ON s.n = two.n AND two.id = t.id) FROM t",
            &["1|2", "2|1", "2|1", "3|0"],
        ),
        // In groups and their conditions.
        (
            "SELECT id, (SELECT count(*) FROM (SELECT id FROM s GROUP BY id HAVING count(*) >= t.id) g) FROM t",
            &["1|4", "2|1", "2|1", "3|0"],
        ),
        // In a union.
        (
            "SELECT id, (SELECT sum(v) FROM (SELECT t.a AS v UNION ALL SELECT n FROM s WHERE s.id = t.id) u) FROM t",
            &["1|30", "2|40", "2|40", "3|NULL"],
        ),
        // Two deep, by the column of the outermost row.
        (
            "SELECT id, (SELECT count(*) FROM s WHERE s.n IN (SELECT two.n FROM s two WHERE two.id <= t.id)) FROM t",
            &["1|2", "2|3", "2|3", "3|3"],
        ),
        // Two deep, where each level by itself would be a join.
        (
            "SELECT id, (SELECT max(s.n) FROM s WHERE s.id = (SELECT max(u.id) FROM s u WHERE u.n = t.a)) FROM t",
            &["1|NULL", "2|20", "2|20", "3|NULL"],
        ),
        // A name is the inner one's where both have it.
        (
            "SELECT t.id, (SELECT count(*) FROM s WHERE EXISTS (SELECT 1 FROM t one WHERE one.id = s.id AND s.n > t.a)) FROM t",
            &["1|2", "2|0", "2|0", "3|0"],
        ),
        // With CASE around it, and a window.
        (
            "SELECT id, CASE WHEN a > 10 THEN (SELECT n FROM s WHERE n >= t.a ORDER BY n DESC LIMIT 1) END, \
             row_number() OVER (ORDER BY id) FROM t WHERE id > 1",
            &["2|40|1", "2|40|2", "3|NULL|3"],
        ),
        // A list of the outer row's columns.
        (
            "SELECT id, (SELECT max(v) FROM (VALUES (t.id), (t.a)) AS l(v)) FROM t",
            &["1|10", "2|20", "2|20", "3|3"],
        ),
        // In the arguments of a function that gives rows.
        (
            "SELECT id, (SELECT sum(n) FROM generate_series(1, t.id) n WHERE n <> 2) FROM t",
            &["1|1", "2|1", "2|1", "3|4"],
        ),
    ];
    for (query, rows) in cases {
        assert_eq!(sql.sorted(query), rows, "{query}");
    }
}

#[test]
fn conditions_by_what_a_sub_query_holds() {
    let sql = tables();
    let cases: [(&str, &[&str]); 6] = [
        (
            "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM s WHERE s.n > t.a LIMIT 1 OFFSET 1)",
            &["1"],
        ),
        (
            "SELECT id, a IN (SELECT n FROM s WHERE s.id <= t.id LIMIT 10) FROM t",
            &["1|false", "2|true", "2|true", "3|NULL"],
        ),
        (
            "SELECT id FROM t WHERE a NOT IN (SELECT n FROM s WHERE s.id <= t.id LIMIT 10)",
            &["1"],
        ),
        // Of an empty list nothing is unknown.
        (
            "SELECT id, a NOT IN (SELECT n FROM s WHERE s.id > t.id + 5 LIMIT 10) FROM t",
            &["1|true", "2|true", "2|true", "3|true"],
        ),
        (
            "SELECT id FROM t WHERE a >= ALL (SELECT n FROM s WHERE s.id <= t.id AND n IS NOT NULL LIMIT 10)",
            &["2", "2"],
        ),
        (
            "SELECT name, count(*) FROM t GROUP BY name \
             HAVING count(*) = (SELECT count(*) FROM s WHERE s.id < length(t.name) + 1 LIMIT 1)",
            &["x|2", "y|2"],
        ),
    ];
    for (query, rows) in cases {
        assert_eq!(sql.sorted(query), rows, "{query}");
    }
}

#[test]
fn rows_are_changed_by_them_and_errors_are_said() {
    let sql = tables();
    sql.run("UPDATE t SET a = (SELECT n FROM s WHERE s.id >= t.id ORDER BY n LIMIT 1)");
    assert_eq!(sql.sorted("SELECT DISTINCT a FROM t"), ["20", "40", "5"]);
    sql.run("DELETE FROM t WHERE EXISTS (SELECT 1 FROM s WHERE s.id > t.id LIMIT 1 OFFSET 1)");
    assert_eq!(sql.sorted("SELECT id FROM t"), ["3"]);
    let several = "SELECT (SELECT n FROM s WHERE s.id < t.id LIMIT 2) FROM t";
    assert_eq!(sql.state(several), "21000");
}

/// Many rows with few values: a run for each value.
#[test]
fn rows_with_the_same_values_share_a_run() {
    let sql = tables();
    sql.run(
        "CREATE TABLE many AS SELECT value % 5 AS k, value AS v FROM generate_series(1, 100000) AS g(value)",
    );
    let query = "SELECT sum((SELECT n FROM s WHERE s.id >= many.k ORDER BY n LIMIT 1)) FROM many";
    assert_eq!(
        sql.one(query),
        (20_000 * (5 + 5 + 20 + 40 + 40)).to_string()
    );
    // But not of what is different each time.
    let random =
        "SELECT (SELECT random() FROM s WHERE s.id >= t.id ORDER BY 1 LIMIT 1) AS r FROM t";
    let query = format!("SELECT count(DISTINCT r) FROM ({random}) q");
    assert_eq!(sql.one(&query), "4");
}

/// The values of a row are joined with that row before all pairs of rows are made.
#[test]
fn lateral_values_beside_a_second_large_table() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b INT)");
    sql.run("INSERT INTO t SELECT i, 99999 - i FROM generate_series(0, 99999) AS g(i)");
    sql.run("INSERT INTO t VALUES (NULL, NULL)");
    assert_eq!(
        sql.rows_of_one_engine(
            "SELECT count(*) FROM t x, t y JOIN LATERAL (VALUES (x.a)) q (v) ON y.b = q.v"
        ),
        ["100000"]
    );
    assert_eq!(
        sql.rows_of_one_engine(
            "SELECT count(*) FROM t x, t y JOIN LATERAL (VALUES (x.a), (-1)) q (v) ON y.b = q.v"
        ),
        ["100000"]
    );
    // NULL in what is read of the outer row.
    assert_eq!(
        sql.rows(
            "SELECT x.a, q.v, y.b FROM t x, t y JOIN LATERAL (VALUES (coalesce(x.a, 5))) q (v)
             ON y.b = q.v WHERE x.a IS NULL OR x.a = 3 ORDER BY 1"
        ),
        ["3|3|3", "NULL|5|5"]
    );
}

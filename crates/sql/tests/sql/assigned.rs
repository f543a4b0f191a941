//! Values of other types that columns are given: by each statement that changes rows they become
//! what an assignment makes of them, in the session's zone and style.

use crate::support::Sql;

/// A table whose first column is its key, and a session far from UTC.
fn table() -> Sql {
    let sql = Sql::new();
    sql.run(
        "SET timezone = 'Asia/Tehran'; SET datestyle = 'SQL, MDY';
         CREATE TABLE t (k INTEGER PRIMARY KEY, s TIMESTAMP, z TIMESTAMPTZ, d DATE, i INTERVAL,
         v VARCHAR(12), n NUMERIC(6, 2), x INTEGER DEFAULT 5)",
    );
    sql
}

#[test]
fn every_statement_assigns_alike() {
    let values = "timestamptz '2020-01-31 10:00', timestamp '2020-01-31 10:00',
                  timestamp '2020-02-02 23:00', time '10:00', date '2020-02-29', 1.005";
    let set = "s = timestamptz '2020-01-31 10:00', z = timestamp '2020-01-31 10:00',
               d = timestamp '2020-02-02 23:00', i = time '10:00', v = date '2020-02-29', n = 1.005";
    let shown = "SELECT s::text, z::text, d::text, i::text, v, n::text FROM t WHERE k = 1";
    let expected =
        "01/31/2020 10:00:00|01/31/2020 10:00:00 +0330|02/02/2020|10:00:00|02/29/2020|1.01";
    for statements in [
        vec![format!("INSERT INTO t VALUES (1, {values})")],
        vec![format!("INSERT INTO t SELECT 1, {values}")],
        vec![format!(
            "INSERT INTO t VALUES ((SELECT 1), {values}, DEFAULT)"
        )],
        vec![
            "INSERT INTO t VALUES (1)".to_owned(),
            format!("UPDATE t SET {set}"),
        ],
        vec![
            "INSERT INTO t VALUES (1)".to_owned(),
            format!("UPDATE t SET {set} WHERE k = 1"),
        ],
        vec![
            "INSERT INTO t VALUES (1)".to_owned(),
            format!("INSERT INTO t VALUES (1) ON CONFLICT (k) DO UPDATE SET {set}"),
        ],
        vec![
            "INSERT INTO t VALUES (1)".to_owned(),
            format!(
                "MERGE INTO t USING (SELECT 1 AS o) q ON k = o WHEN MATCHED AND o BETWEEN SYMMETRIC
                 2 AND 0 THEN UPDATE SET {set}"
            ),
        ],
        vec![format!(
            "MERGE INTO t USING (SELECT 1 AS o) q ON k = o WHEN NOT MATCHED THEN INSERT
             VALUES (1, {values})"
        )],
    ] {
        let sql = table();
        for statement in &statements {
            sql.run(statement);
        }
        assert_eq!(sql.one(shown), expected, "{statements:?}");
    }
}

#[test]
fn defaults_stand_among_values_with_queries() {
    let sql = table();
    assert_eq!(
        sql.sorted(
            "INSERT INTO t (k, v, x) VALUES ((SELECT 1), DEFAULT, DEFAULT), (2, 'b', DEFAULT),
             (3, DEFAULT, (SELECT 7)) RETURNING k, v, x"
        ),
        ["1|NULL|5", "2|b|5", "3|NULL|7"]
    );
    // VALUES within the values.
    assert_eq!(
        sql.rows(
            "INSERT INTO t (k, v) VALUES ((SELECT 8 FROM (VALUES (time '10:00', 1)) q), 'c')
             RETURNING k, v"
        ),
        ["8|c"]
    );
    sql.run("DELETE FROM t WHERE k = 8; CREATE TABLE a (v VARCHAR(3)[]); INSERT INTO a VALUES ('{abc,d}')");
    for (statement, state) in [
        (
            "INSERT INTO t (k) VALUES (99) ON CONFLICT (k) DO UPDATE SET x = max(t.x)",
            "42803",
        ),
        (
            "INSERT INTO t (k) VALUES (99) ON CONFLICT (k) DO UPDATE SET x = nope.x",
            "42P01",
        ),
        ("INSERT INTO t (k, x) VALUES (4, 'a'::text)", "42804"),
        ("INSERT INTO t (k, d) VALUES (4, 5)", "42804"),
        (
            "INSERT INTO t (k, v, x) VALUES ((SELECT 4), DEFAULT)",
            "42601",
        ),
        ("INSERT INTO a VALUES ('{too long}')", "22001"),
        ("INSERT INTO a SELECT ARRAY['abcd', 'e']", "22001"),
        ("INSERT INTO a VALUES ('{{abc,d},{e,abcd}}')", "22001"),
        ("UPDATE t SET x = date '2020-01-01'", "42804"),
        ("UPDATE t SET x = date '2020-01-01' WHERE k = 1", "42804"),
        ("UPDATE t SET v = 'more than twelve' WHERE k = 1", "22001"),
        (
            "INSERT INTO t (k) VALUES (1) ON CONFLICT (k) DO UPDATE SET x = true",
            "42804",
        ),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
}

#[test]
fn what_changes_return_is_told_before_they_run() {
    let sql = table();
    for (statement, columns) in [
        ("INSERT INTO t AS g (k) VALUES ($1) RETURNING g.k, x", "k, x"),
        (
            "WITH m AS (UPDATE t AS g SET x = $1 FROM (SELECT 1 AS o) u WHERE g.k = u.o RETURNING g.k, o)
             SELECT m.*, t.v FROM m JOIN t USING (k)",
            "k, o, v",
        ),
        (
            "WITH a AS (SELECT $1::int AS y), m (p) AS (INSERT INTO t (k) SELECT y FROM a RETURNING k),
             n AS (DELETE FROM t USING m WHERE k = p RETURNING t.*) SELECT p, x FROM n, m",
            "p, x",
        ),
        ("WITH a AS (SELECT 1 AS y) DELETE FROM t USING a WHERE k = y RETURNING y", "y"),
        ("WITH a AS (SELECT $1::int AS y) UPDATE t SET x = y FROM a RETURNING k, y", "k, y"),
    ] {
        let prepared = sql.session.prepare(statement).unwrap();
        let told = sql.told(&prepared).unwrap_or_else(|error| panic!("{statement}: {error}"));
        let fields = told.columns.unwrap_or_else(|| panic!("{statement}: no columns"));
        let names: Vec<&str> = fields.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(names.join(", "), columns, "{statement}");
    }
}

#[test]
fn rows_that_statements_in_with_return_have_their_types() {
    let sql = table();
    sql.run("CREATE TABLE u (c CHAR(4), v VARCHAR(3)[], z TIMETZ); INSERT INTO u VALUES ('a', '{b}', '10:00Z')");
    assert_eq!(
        sql.rows_of_one_engine(
            "WITH m AS (DELETE FROM u RETURNING *) SELECT pg_typeof(c), c = 'a  ', pg_typeof(v), v[1],
             pg_typeof(z), z::text FROM m"
        ),
        ["character|true|character varying[]|b|time with time zone|10:00:00+00"]
    );
    sql.run("CREATE TABLE j (k INTEGER PRIMARY KEY, j JSON); INSERT INTO j VALUES (1, '[4, 5]')");
    assert_eq!(
        sql.rows_of_one_engine(
            "INSERT INTO j VALUES (1, '[6]') ON CONFLICT (k) DO UPDATE SET (k, j) = ROW (2, j.j)
             RETURNING k, j -> 1"
        ),
        ["2|5"]
    );
    // Forms that the grammar lacks, in RETURNING and behind WHEN.
    sql.run("INSERT INTO t (k) VALUES (1)");
    assert_eq!(
        sql.rows_of_one_engine("UPDATE t SET x = 2 RETURNING k, @ -x, x BETWEEN SYMMETRIC 3 AND 1"),
        ["1|2|true"]
    );
    assert_eq!(
        sql.run(
            "MERGE INTO t USING (SELECT 1 AS o) q ON k = o
             WHEN NOT MATCHED AND (CASE WHEN true THEN o END = 1) THEN DO NOTHING
             WHEN MATCHED AND o BETWEEN SYMMETRIC 9 AND 5 THEN UPDATE SET x = @ -x
             WHEN MATCHED AND CASE WHEN o = 1 THEN true END THEN DELETE"
        ),
        "MERGE 1"
    );
}

#[test]
fn several_columns_get_the_row_of_any_query() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, 2)");
    for (query, row) in [
        ("SELECT * FROM (VALUES (3, 4)) q", "3|4"),
        (
            "SELECT x, x + t.a FROM generate_series(1, 2) q (x) ORDER BY x DESC LIMIT 1",
            "2|5",
        ),
        ("SELECT DISTINCT 7, t.b", "7|5"),
        ("VALUES (8, 9)", "8|9"),
        ("SELECT 1, 2 UNION SELECT 1, 2", "1|2"),
    ] {
        sql.run(&format!("UPDATE t SET (a, b) = ({query})"));
        assert_eq!(sql.one("SELECT * FROM t"), row, "{query}");
    }
    assert_eq!(
        sql.state("UPDATE t SET (a, b) = (SELECT *, 1 FROM t q)"),
        "42601"
    );
    assert_eq!(
        sql.state("UPDATE t SET (a, b) = (VALUES (1, 2), (3, 4))"),
        "21000"
    );
}

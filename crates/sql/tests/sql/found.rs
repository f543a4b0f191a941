//! Least statements of faults that random statements found between the front's plans and what
//! runs them.

use crate::support::Sql;

#[test]
fn statements_that_random_ones_found() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (a INTEGER, j JSONB);
         INSERT INTO t VALUES (3, '[1, 2]'), (NULL, 'null');
         CREATE TABLE js (a INTEGER, j JSONB);
         INSERT INTO js VALUES (1, '[1, 2]'), (2, 'null'), (3, 'true'), (4, '{}'), (5, '\"x\"'),
             (6, '10'), (7, '9'), (8, '[]'), (9, '1.0'), (10, '1.00')",
    );
    for (statement, expected) in [
        // A constant that an outer join fills with NULLs has an order.
        (
            "SELECT (SELECT -1 FROM js r WHERE r.a = y.a ORDER BY 1 LIMIT 1), false
             FROM js x JOIN js y ON x.a = y.a AND x.a = 3
             FULL JOIN (VALUES ('a', NULL::int)) q (k, z) ON x.a = q.z ORDER BY 1 DESC, 2",
            "NULL|false,-1|false",
        ),
        // Constants on both sides of IN, where the left side gives no column.
        (
            "SELECT (make_date(2020, 2, 1) IN (SELECT '1970-01-01'::date FROM t)) FROM t x",
            "false,false",
        ),
        (
            "SELECT (abs(-4) IN (SELECT 4 FROM t)), (abs(-4) > ALL (SELECT 5 FROM t)) FROM t x",
            "true|false,true|false",
        ),
        // A condition without columns above groups that are there without rows.
        (
            "SELECT 6 FROM t CROSS JOIN (SELECT 3::bigint AS c FROM t GROUP BY ROLLUP (a)) q
             WHERE q.c > q.c",
            "",
        ),
        (
            "SELECT 6 FROM (SELECT NULL::timestamp AS c FROM t GROUP BY ()) q
             WHERE q.c > '2020-01-31'",
            "",
        ),
        (
            "SELECT 6 FROM (SELECT NULL::date AS c FROM t GROUP BY GROUPING SETS ((a), ())) q
             WHERE q.c <> q.c",
            "",
        ),
        (
            "SELECT 6 FROM t WHERE (5 < ANY (SELECT NULL::integer FROM t GROUP BY ()))",
            "",
        ),
        // Counts of rows that sub-queries give.
        ("SELECT a FROM js ORDER BY 1 LIMIT (SELECT 1) OFFSET 0 + 1", "2"),
        (
            "SELECT a FROM js ORDER BY 1 LIMIT (SELECT count(*) - 8 FROM js) OFFSET (SELECT 1)",
            "2,3",
        ),
        (
            "SELECT a FROM js ORDER BY 1 LIMIT (SELECT NULL::bigint) OFFSET (SELECT 8)",
            "9,10",
        ),
        ("SELECT 1 FROM js ORDER BY 1 LIMIT (SELECT 2)", "1,1"),
        // A limit of keys whose rows come in their order.
        (
            "SELECT 5 FROM js r WHERE 77 <> (SELECT q.c FROM (SELECT b.a AS c, r.a AS d FROM js b) q
             ORDER BY 1 LIMIT 1) GROUP BY r.a ORDER BY 1 FETCH FIRST 1 ROWS ONLY",
            "5",
        ),
        // As many rows are computed as are wanted.
        (
            "SELECT i FROM generate_series(5, 5000000000) AS i LIMIT (SELECT 2) OFFSET (SELECT 70000)",
            "70005,70006",
        ),
        (
            "SELECT a FROM js ORDER BY 1 FETCH FIRST (1 + 2) ROWS WITH TIES",
            "1,2,3",
        ),
        // The order and the equality of JSONB.
        ("SELECT a FROM js ORDER BY j, a", "8,2,5,9,10,7,6,3,1,4"),
        ("SELECT a FROM js ORDER BY j DESC, a", "4,1,3,6,7,9,10,5,2,8"),
        ("SELECT count(DISTINCT j), count(j) FROM js", "9|10"),
        ("SELECT count(*) FROM js GROUP BY j HAVING count(*) > 1", "2"),
        ("SELECT count(*) FROM (SELECT DISTINCT j FROM js) q", "9"),
        // Constants of arrays above rows in order.
        (
            "SELECT (SELECT '{a,b}'::text[] AS c FROM (SELECT x.a, '{2}'::int[] AS b ORDER BY 1, 2
             LIMIT 1) q) FROM t x",
            "{a,b},{a,b}",
        ),
        ("SELECT '{a}'::text[] AS c FROM t ORDER BY 1, a LIMIT 1", "{a}"),
        // One sub-query in several branches.
        (
            "SELECT CASE (SELECT max(a) FROM t) WHEN 1 THEN 'one' WHEN 3 THEN 'three' END FROM t",
            "three,three",
        ),
        (
            "SELECT CASE (SELECT a FROM t y WHERE y.a = x.a ORDER BY 1 LIMIT 1)
             WHEN 1 THEN x.a WHEN 3 THEN x.a + 1 END FROM t x ORDER BY 1",
            "4,NULL",
        ),
        // Columns of one name on both sides of an outer join.
        (
            "SELECT r.a FROM js r RIGHT JOIN (SELECT * FROM js WHERE a + a > 17) l
             ON r.a = l.a AND r.a::float8 = -l.a::float8 WHERE r.a IS NULL",
            "NULL,NULL",
        ),
        (
            "SELECT l.a FROM (SELECT * FROM js WHERE a + a > 17) l LEFT JOIN js r
             ON r.a = l.a AND r.a::float8 = -l.a::float8 WHERE r.a IS NULL ORDER BY 1",
            "9,10",
        ),
        // Frames that do not wrap and do not overflow.
        (
            "SELECT count(*) OVER (ORDER BY x RANGE BETWEEN '1 hour' PRECEDING AND '1 hour' FOLLOWING)
             FROM (VALUES ('00:00'::time), ('00:30'), ('23:59')) v (x) ORDER BY x",
            "2,2,1",
        ),
        (
            "SELECT count(*) OVER (ORDER BY x RANGE BETWEEN 1 FOLLOWING AND 10 FOLLOWING)
             FROM (VALUES (9223372036854775807), (9223372036854775800), (0)) v (x) ORDER BY x",
            "0,1,0",
        ),
    ] {
        assert_eq!(sql.rows(statement).join(","), expected, "{statement}");
    }
    for (statement, state) in [
        ("SELECT a FROM t LIMIT (SELECT -1)", "2201W"),
        ("SELECT a FROM t OFFSET (SELECT -1)", "2201X"),
        (
            "SELECT sum(a) OVER (ORDER BY a RANGE BETWEEN -1 PRECEDING AND 1 FOLLOWING) FROM t",
            "22013",
        ),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
}

#[test]
fn columns_of_one_name_come_together() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER); INSERT INTO t VALUES (7, 1), (8, 2);
         CREATE TABLE u (id INTEGER PRIMARY KEY); INSERT INTO u VALUES (5)",
    );
    for (statement, expected) in [
        // What the key of a table determines says nothing of pairs of rows.
        (
            "SELECT DISTINCT q.c, r.id FROM t r LEFT JOIN (SELECT u.id AS c, (SELECT sum(x) FROM t
             HAVING count(*) > 9) FROM u) q ON true ORDER BY 1, 2",
            "5|7,5|8",
        ),
        (
            "SELECT count(*) FROM t, u GROUP BY u.id, t.id",
            "1,1",
        ),
        // A column of the outer row under two names, beside itself.
        (
            "SELECT 1 FROM generate_series(1, 2) r (k), LATERAL (SELECT r.k AS a, r.k AS b FROM
             (SELECT (SELECT 1 FROM u WHERE id > r.k LIMIT 1) AS c FROM t) q) p",
            "1,1,1,1",
        ),
        // Two groups without calls.
        (
            "SELECT 1 FROM (SELECT 4 FROM u HAVING true) a, (SELECT 0 FROM t HAVING true) b",
            "1",
        ),
        // A constant among the keys of an order that a join takes over.
        (
            "SELECT r.id FROM t r, LATERAL (SELECT r.x AS a, 5 AS b FROM unnest(ARRAY['b', 'c'])
             WITH ORDINALITY AS f (e, o) WHERE f.e <= 'b' ORDER BY 1, 2) q ORDER BY 1",
            "7,8",
        ),
        (
            "SELECT max(k) OVER (ORDER BY (x >> 1) < x) FROM (SELECT r.x, count(*) AS k FROM t r
             LEFT JOIN u ON r.id = u.id WHERE EXISTS (SELECT FROM u a JOIN jsonb_array_elements('[1]')
             ON true) GROUP BY r.x) q",
            "1,1",
        ),
        (
            "SELECT lag(id) OVER (PARTITION BY 1 ORDER BY -1 > CASE id WHEN 1 THEN id ELSE id END, id)
             FROM t ORDER BY id",
            "NULL,7",
        ),
        // A sub-query that is read in several places.
        (
            "SELECT id FROM t WHERE id IS NOT DISTINCT FROM (SELECT 7 FROM generate_series(1, 2)
             ORDER BY 1 LIMIT 1)",
            "7",
        ),
        (
            "SELECT (SELECT id FROM t WHERE x = 1) IS NOT DISTINCT FROM (SELECT id + 2 FROM u LIMIT 1),
             (SELECT id FROM t WHERE x = 3) IS DISTINCT FROM (SELECT NULL::int FROM u LIMIT 1)",
            "true|false",
        ),
        (
            "SELECT a.id, b.x FROM t a JOIN t b ON a.x IS NOT DISTINCT FROM nullif(b.x, 9) ORDER BY 1",
            "7|1,8|2",
        ),
    ] {
        assert_eq!(sql.rows(statement).join(","), expected, "{statement}");
    }
}

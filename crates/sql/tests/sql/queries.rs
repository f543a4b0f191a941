//! Queries: joins, names, views, files, schemas.

use crate::support::{LAYOUTS, Sql};

#[test]
fn every_layout_gives_the_same_answers() {
    let mut answers: Vec<Vec<String>> = Vec::new();
    for layout in LAYOUTS {
        let sql = Sql::new();
        sql.run(&format!(
            "CREATE TABLE t (id INT, grp TEXT, amount DECIMAL(10,2), at DATE) WITH (layout = '{layout}');
             INSERT INTO t SELECT value, 'g' || (value % 7), value * 1.25, DATE '2020-01-01' + CAST(value % 300 AS INT)
             FROM generate_series(1, 5000) AS g(value)"
        ));
        assert_eq!(
            sql.one("SELECT count(*), min(id), max(id) FROM t"),
            "5000|1|5000"
        );
        let rows = sql.rows(
            "SELECT grp, count(*), sum(amount), min(at) FROM t WHERE at >= '2020-03-01' AND amount < 4000.125
             GROUP BY grp ORDER BY grp",
        );
        assert_eq!(rows.len(), 7);
        answers.push(rows);
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[1], answers[2]);
}

#[test]
fn columns_are_named_as_in_postgresql() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, \"B\" INT)");
    assert_eq!(
        sql.names("SELECT a, \"B\", count(*), a + 1, CAST(a AS BIGINT), 'x', max(a) AS m FROM t GROUP BY a, \"B\""),
        ["a", "B", "count", "?column?", "a", "?column?", "m"]
    );
    assert_eq!(sql.names("SELECT *, a * 2 FROM t"), ["a", "B", "?column?"]);
    assert_eq!(sql.names("VALUES (1, 2)"), ["column1", "column2"]);
    assert_eq!(
        sql.names("SELECT 1, 1, CASE WHEN true THEN 1 END"),
        ["?column?", "?column?", "case"]
    );
    assert_eq!(sql.one("SELECT 1, 1, 1 + 0"), "1|1|1");
    assert_eq!(
        sql.one("SELECT s.count FROM (SELECT count(*) FROM t) s"),
        "0"
    );
    sql.run("CREATE TABLE u AS SELECT count(*), max(a) FROM t");
    assert_eq!(sql.names("SELECT * FROM u"), ["count", "max"]);
}

#[test]
fn repeated_columns_and_aliases() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, 2)");
    assert_eq!(sql.one("SELECT a, a, t.a, b AS a FROM t"), "1|1|1|2");
    assert_eq!(sql.names("SELECT a, a, b AS a FROM t"), ["a", "a", "a"]);
    assert_eq!(
        sql.one("SELECT a, a FROM t UNION ALL SELECT 5, 5 ORDER BY 1 LIMIT 1"),
        "1|1"
    );
    assert_eq!(sql.one("SELECT x.a, y.a FROM t x CROSS JOIN t y"), "1|1");
}

#[test]
fn views_follow_their_tables() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (a INT); CREATE VIEW v AS SELECT a * 2 AS d, count(*) FROM t GROUP BY a",
    );
    sql.run("INSERT INTO t VALUES (1), (1), (2)");
    assert_eq!(
        sql.rows("SELECT d, count FROM v ORDER BY d"),
        ["2|2", "4|1"]
    );
    sql.run("CREATE VIEW w (x) AS SELECT d FROM v WHERE d > 2; CREATE OR REPLACE VIEW v AS SELECT a AS d, count(*) FROM t GROUP BY a");
    assert_eq!(sql.rows("SELECT x FROM w"), [""; 0]);
    assert_eq!(sql.state("CREATE VIEW v AS SELECT 1"), "42P07");
    sql.run("CREATE VIEW IF NOT EXISTS v AS SELECT 1");
    assert_eq!(sql.state("CREATE VIEW z AS SELECT * FROM nowhere"), "42P01");
    assert_eq!(sql.state("CREATE VIEW z AS SELECT 1 AS a, 2 AS a"), "42701");
    sql.run("CREATE VIEW r AS SELECT 1 AS a");
    sql.run("CREATE OR REPLACE VIEW r AS SELECT x AS a FROM w");
    assert_eq!(sql.state("DROP VIEW v"), "2BP01");
    sql.run("DROP VIEW v CASCADE");
    assert_eq!(sql.state("SELECT * FROM r"), "42P01");
    sql.run("DROP VIEW IF EXISTS v, w, r");
}

#[test]
fn limits_joins_and_subqueries() {
    let sql = Sql::new();
    sql.run("CREATE TABLE a (k INT, v TEXT); INSERT INTO a SELECT value, 'v' || value FROM generate_series(1, 100) AS g(value)");
    sql.run("CREATE TABLE b (k INT, w INT); INSERT INTO b SELECT value % 10, value FROM generate_series(1, 100) AS g(value)");
    assert_eq!(sql.rows("SELECT k FROM a LIMIT 7").len(), 7);
    assert_eq!(
        sql.rows("SELECT k FROM a ORDER BY k LIMIT 2 OFFSET 3"),
        ["4", "5"]
    );
    assert_eq!(sql.one("SELECT count(*) FROM a JOIN b USING (k)"), "90");
    assert_eq!(
        sql.one("SELECT count(*) FROM a WHERE k IN (SELECT k FROM b)"),
        "9"
    );
    assert_eq!(
        sql.one("SELECT count(*) FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k)"),
        "91"
    );
    assert_eq!(
        sql.one("SELECT (SELECT max(w) FROM b WHERE b.k = a.k) FROM a WHERE k = 3"),
        "93"
    );
    assert_eq!(sql.state("SELECT (SELECT k FROM a)"), "21000");
    assert_eq!(
        sql.rows("SELECT k, EXISTS (SELECT 1 FROM b WHERE b.k = a.k), NOT EXISTS (SELECT 1) FROM a WHERE k IN (9, 10) ORDER BY k"),
        ["9|true|false", "10|false|false"]
    );
    sql.run("CREATE TABLE n (x INT); INSERT INTO n VALUES (1), (NULL); CREATE TABLE e (x INT)");
    assert_eq!(
        sql.one("SELECT 1 IN (SELECT x FROM n), 2 IN (SELECT x FROM n), 2 NOT IN (SELECT k FROM a), NULL IN (SELECT x FROM e), NULL IN (SELECT x FROM n)"),
        "true|NULL|false|false|NULL"
    );
    assert_eq!(
        sql.rows("SELECT k IN (SELECT x FROM n) FROM a ORDER BY k LIMIT 2"),
        ["true", "NULL"]
    );
    assert_eq!(
        sql.one("SELECT (SELECT count(*) FROM b WHERE b.w < a.k) FROM a WHERE k = 4"),
        "3"
    );
    assert_eq!(
        sql.rows("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 4) SELECT n FROM r ORDER BY n"),
        ["1", "2", "3", "4"]
    );
    assert_eq!(
        sql.rows("SELECT k, sum(k) OVER (ORDER BY k) FROM a ORDER BY k LIMIT 2"),
        ["1|1", "2|3"]
    );
}

/// NULL is no member, nor is it none.
#[test]
fn members_among_nulls() {
    let sql = Sql::new();
    sql.run("CREATE TABLE s (x INT); INSERT INTO s VALUES (1), (2), (NULL)");
    sql.run("CREATE TABLE m (y INT, k INT); INSERT INTO m VALUES (1, 1), (NULL, 1), (3, 2)");
    let known = "SELECT y FROM m WHERE y IS NOT NULL";
    let cases: [(String, &[&str]); 10] = [
        ("x NOT IN (SELECT y FROM m)".into(), &[]),
        ("x NOT IN (SELECT y FROM m) OR x > 100".into(), &[]),
        (format!("x NOT IN ({known}) OR x > 100"), &["2"]),
        (
            "x NOT IN (SELECT y FROM m WHERE k > 9) OR x > 100".into(),
            &["1", "2", "NULL"],
        ),
        ("NOT (x IN (SELECT y FROM m) OR x = 2)".into(), &[]),
        (format!("NOT (x IN ({known}) OR x = 7)"), &["2"]),
        ("(x IN (SELECT y FROM m)) IS NULL".into(), &["2", "NULL"]),
        ("x IN (SELECT y FROM m) OR x = 2".into(), &["1", "2"]),
        (
            "x NOT IN (SELECT y FROM m WHERE k = s.x)".into(),
            &["2", "NULL"],
        ),
        (
            "x NOT IN (SELECT y FROM m WHERE k = s.x) OR x > 100".into(),
            &["2", "NULL"],
        ),
    ];
    for engine in ["auto", "bulk"] {
        sql.run(&format!("SET freestone.engine = '{engine}'"));
        for (condition, expected) in &cases {
            let query = format!("SELECT x FROM s WHERE {condition}");
            assert_eq!(sql.sorted(&query), *expected, "{engine}: {condition}");
        }
    }
}

/// Conditions that are simplified after the scan was asked for them.
#[test]
fn anti_joins_on_not_null_columns() {
    let sql = Sql::new();
    sql.run("CREATE TABLE p (id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1), (2)");
    sql.run("CREATE TABLE c (t INTEGER); INSERT INTO c VALUES (9), (1), (NULL)");
    assert_eq!(
        sql.rows(
            "SELECT t FROM c WHERE t IS NOT NULL AND NOT EXISTS \
             (SELECT 1 FROM p WHERE p.id = c.t) LIMIT 1"
        ),
        ["9"]
    );
    assert_eq!(sql.one("SELECT count(*) FROM p WHERE TRUE"), "2");
    assert_eq!(sql.one("SELECT count(*) FROM p WHERE FALSE"), "0");
}

/// A sub-query stands for a value if it has one row at most.
#[test]
fn correlated_values() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (id INTEGER, a INTEGER)");
    sql.run("INSERT INTO t VALUES (1, 0), (2, 0), (3, 0)");
    sql.run("CREATE TABLE s (id INTEGER, n INTEGER, name TEXT)");
    sql.run("INSERT INTO s VALUES (1, 10, 'one'), (2, NULL, 'two')");
    let query = "SELECT id, (SELECT n FROM s WHERE s.id = t.id), (SELECT name FROM s WHERE s.id = t.id) FROM t";
    assert_eq!(sql.sorted(query), ["1|10|one", "2|NULL|two", "3|NULL|NULL"]);
    assert_eq!(
        sql.sorted("SELECT id FROM t WHERE (SELECT n + 1 FROM s WHERE s.id = t.id) = 11"),
        ["1"]
    );
    sql.run("UPDATE t SET a = (SELECT n FROM s WHERE s.id = t.id) WHERE id = 1");
    assert_eq!(sql.sorted("SELECT a FROM t"), ["0", "0", "10"]);
    sql.run("INSERT INTO s VALUES (2, 21, 'again')");
    assert_eq!(sql.state(query), "21000");
    assert_eq!(
        sql.one(
            "SELECT count(*) FROM t WHERE id > 2 AND (SELECT n FROM s WHERE s.id = t.id) IS NULL"
        ),
        "1"
    );
}

/// Keys of joins that could be lost, or be taken for those of other joins.
#[test]
fn every_key_of_joins_within_joins_counts() {
    let sql = Sql::new();
    sql.run("CREATE TABLE a (x INT, k INT); INSERT INTO a VALUES (NULL, 1), (1, 1), (2, 2)");
    sql.run("CREATE TABLE b (x INT, k INT); INSERT INTO b VALUES (NULL, 1), (1, 1), (2, 3)");
    sql.run("CREATE TABLE c (x INT, k INT); INSERT INTO c VALUES (1, 1), (NULL, NULL), (5, 2)");
    for (query, count) in [
        // NULLs are equal in one of the joins only.
        (
            "a JOIN b ON a.x IS NOT DISTINCT FROM b.x JOIN c ON c.k = b.k",
            2,
        ),
        (
            "c JOIN b ON c.k = b.k JOIN a ON a.x IS NOT DISTINCT FROM b.x",
            2,
        ),
        (
            "a JOIN b ON a.x = b.x JOIN c ON c.k IS NOT DISTINCT FROM b.k",
            1,
        ),
        (
            "a JOIN b ON a.x IS NOT DISTINCT FROM b.x, c WHERE c.k = b.k",
            2,
        ),
        (
            "a JOIN b ON a.x IS NOT DISTINCT FROM b.x JOIN c ON c.k = b.k WHERE a.k = b.k AND a.k IN (SELECT k FROM c)",
            2,
        ),
        (
            "a JOIN b ON a.x IS NOT DISTINCT FROM b.x AND a.k = b.k JOIN c ON c.k = a.k OR c.x = 5",
            4,
        ),
        // A side needs two inputs, one of which has no key with the others.
        (
            "a JOIN b ON a.x <= b.x JOIN c ON c.k = a.k AND c.x = a.x * b.k",
            1,
        ),
        (
            "a JOIN b ON a.x <= b.x JOIN c ON c.k = a.k AND a.x + b.x + 1 = c.x",
            1,
        ),
        (
            "a JOIN b ON a.x <= b.x JOIN c ON c.k = a.k AND c.x = a.x * b.k WHERE EXISTS (SELECT 1 FROM c d WHERE d.k = a.k)",
            1,
        ),
    ] {
        let query = format!("SELECT count(*) FROM {query}");
        assert_eq!(sql.one(&query), count.to_string(), "{query}");
    }
}

#[test]
fn texts_between_dollars() {
    let sql = Sql::new();
    let query = "SELECT $$it's$$, $of$a $$ b$of$, length($$\\$$)";
    assert_eq!(sql.sorted(query), ["it's|a $$ b|1"]);
    sql.run("CREATE VIEW v AS SELECT $$it's$$ AS t; CREATE TABLE t (a INT)");
    assert_eq!(sql.one("SELECT t FROM v"), "it's");
    sql.run("COMMENT ON TABLE t IS $x$what it's for$x$");
    assert_eq!(
        sql.one("SELECT obj_description('t'::regclass, 'pg_class')"),
        "what it's for"
    );
}

#[test]
fn limits_may_be_computed() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (i INT)");
    sql.run("INSERT INTO t SELECT g FROM generate_series(1, 5) AS g");
    for (query, rows) in [
        (
            "SELECT i FROM t ORDER BY i LIMIT (SELECT min(i) FROM t)",
            &["1"][..],
        ),
        (
            "SELECT i FROM t ORDER BY i DESC OFFSET (SELECT max(i) - 1 FROM t)",
            &["1"],
        ),
        (
            "SELECT i FROM t ORDER BY i LIMIT (SELECT 2) OFFSET (SELECT count(*) FROM t WHERE i < 3)",
            &["3", "4"],
        ),
        (
            "SELECT i FROM t ORDER BY i LIMIT (SELECT NULL::int) OFFSET 3",
            &["4", "5"],
        ),
        (
            "SELECT i FROM t ORDER BY i LIMIT 1 + (SELECT 1)",
            &["1", "2"],
        ),
        (
            "SELECT i, (SELECT j.i FROM t AS j ORDER BY j.i LIMIT 1 OFFSET (SELECT count(*) FROM t WHERE i < 3)) \
             FROM t WHERE i < 2",
            &["1|3"],
        ),
    ] {
        assert_eq!(sql.rows_of_one_engine(query), rows, "{query}");
    }
    assert_eq!(sql.state("SELECT i FROM t LIMIT (SELECT -1)"), "2201W");
    assert_eq!(sql.state("SELECT i FROM t OFFSET (SELECT -1)"), "2201X");
}

#[test]
fn equal_calls_of_windows_are_one() {
    let sql = Sql::new();
    assert_eq!(
        sql.sorted(
            "SELECT name, max(sum(n)) OVER (PARTITION BY name), \
                    sum(n) / max(sum(n)) OVER (PARTITION BY name) \
             FROM (VALUES ('a', 1), ('a', 2), ('b', 3)) AS t (name, n) GROUP BY name"
        ),
        ["a|3|1", "b|3|1"]
    );
    assert_eq!(
        sql.sorted(
            "SELECT i, row_number() OVER (ORDER BY i) + row_number() OVER (ORDER BY i), \
                    row_number() OVER (ORDER BY i DESC) \
             FROM generate_series(1, 3) AS g (i)"
        ),
        ["1|2|3", "2|4|2", "3|6|1"]
    );
    // Without an order the frames are one.
    assert_eq!(
        sql.sorted(
            "SELECT i, max(i) OVER (RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), \
                    max(i) OVER (RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), \
                    avg(i) OVER (), sum(i) OVER (), count(i) OVER () \
             FROM generate_series(1, 2) AS g (i)"
        ),
        [
            "1|2|2|1.5000000000000000|3|2",
            "2|2|2|1.5000000000000000|3|2"
        ]
    );
}

#[test]
fn distinct_arguments_are_ordered_as_they_are_written() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (s VARCHAR(9), c CHAR(3), n SMALLINT)");
    sql.run("INSERT INTO t VALUES ('b', 'x', 2), ('a', 'y', 1), ('b', 'x', 2), (NULL, NULL, NULL)");
    assert_eq!(
        sql.one(
            "SELECT string_agg(DISTINCT s, ',' ORDER BY s DESC), string_agg(DISTINCT c, ',' ORDER BY c), \
                    array_agg(DISTINCT n ORDER BY n DESC NULLS LAST) FROM t"
        ),
        "b,a|x,y|{2,1,NULL}"
    );
    let query = "SELECT string_agg(DISTINCT s, ',' ORDER BY lower(s)) FROM t";
    assert_eq!(sql.state(query), "42P10");
}

#[test]
fn rows_without_columns_are_counted() {
    let sql = Sql::new();
    for (set, rows) in [
        ("UNION", 1),
        ("UNION ALL", 8),
        ("INTERSECT", 1),
        ("INTERSECT ALL", 3),
        ("EXCEPT", 0),
        ("EXCEPT ALL", 2),
    ] {
        let query = format!(
            "SELECT count(*) FROM (SELECT FROM generate_series(1, 5) \
             {set} SELECT FROM generate_series(1, 3)) AS x"
        );
        assert_eq!(sql.one(&query), rows.to_string(), "{set}");
    }
}

#[test]
fn conditions_of_joins_mean_what_they_say() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (i INT)");
    sql.run("INSERT INTO t VALUES (1), (2), (3), (NULL)");
    for (query, rows) in [
        // Nothing of the outer row is read.
        (
            "SELECT 1 IN (SELECT i FROM t WHERE i IS NOT NULL) FROM t",
            &["true", "true", "true", "true"][..],
        ),
        ("SELECT 7 IN (SELECT i FROM t) FROM t", &["NULL"; 4]),
        (
            "SELECT 1 = ALL (SELECT i FROM t WHERE i < 2) FROM t",
            &["true"; 4],
        ),
        // NULL is equal to nothing beside keys that take NULLs for equal.
        (
            "SELECT a.i, b.i FROM t AS a JOIN t AS b \
             ON (SELECT 2 * sum(i) * a.i FROM t) = (SELECT sum(i) * b.i FROM t)",
            &["1|2"],
        ),
        (
            "SELECT a.i, b.i FROM t AS a JOIN t AS b \
             ON a.i IS NOT DISTINCT FROM b.i AND a.i + 1 = b.i + 1",
            &["1|1", "2|2", "3|3"],
        ),
        // A value that is compared twice is computed once.
        (
            "SELECT i FROM t WHERE (SELECT 1) BETWEEN 0 AND i",
            &["1", "2", "3"],
        ),
        (
            "SELECT i FROM t WHERE (SELECT max(x.i) FROM t AS x WHERE x.i <= t.i) BETWEEN 2 AND 3",
            &["2", "3"],
        ),
        // HAVING stays above its groups.
        (
            "SELECT i FROM t GROUP BY ROLLUP (i) HAVING random() > 2",
            &[],
        ),
        (
            "SELECT i, count(*) FROM t GROUP BY ROLLUP (i) HAVING 1 = 2",
            &[],
        ),
        (
            "SELECT count(*) FROM t WHERE random() < 2 HAVING random() > 2",
            &[],
        ),
    ] {
        assert_eq!(sql.sorted(query), rows, "{query}");
    }
}

/// A key of one side of a join does not determine the other side.
#[test]
fn keys_of_an_order_are_kept() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (b BOOLEAN, k INT); INSERT INTO t VALUES (NULL, 1), (true, 2)");
    assert_eq!(
        sql.rows(
            "SELECT DISTINCT (SELECT DISTINCT 2.25 FROM t LEFT JOIN json_each('{}') AS j ON true \
             LIMIT 1) AS c, b, k FROM t ORDER BY 1, 2"
        ),
        ["2.25|true|2", "2.25|NULL|1"]
    );
}

#[test]
fn arguments_of_aggregates_are_computed_for_rows_that_pass() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE f (x INT, v TEXT, ok BOOLEAN);
         INSERT INTO f VALUES (0, 'a', false), (2, '7', true), (NULL, 'b', NULL), (1, '7', true)",
    );
    assert_eq!(
        sql.rows(
            "SELECT sum(1 / x) FILTER (WHERE x > 0), count(v::INT) FILTER (WHERE ok),
                    count(DISTINCT v::INT) FILTER (WHERE ok),
                    string_agg(v, ',' ORDER BY v::INT, x) FILTER (WHERE ok),
                    sum(v::INT) FILTER (WHERE EXISTS (SELECT 1 FROM f g WHERE g.ok AND g.x = f.x))
             FROM f"
        ),
        ["1|2|1|7,7|14"]
    );
    assert_eq!(
        sql.rows("SELECT x, sum(10 / x) FILTER (WHERE x > 0) OVER (ORDER BY x) FROM f ORDER BY x"),
        ["0|NULL", "1|10", "2|15", "NULL|15"]
    );
    assert_eq!(
        sql.state("SELECT sum(1 / x) FILTER (WHERE x >= 0) FROM f"),
        "22012"
    );
}

#[test]
fn long_sums_of_columns_are_planned_at_once() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (x INT, n NUMERIC(5, 1)); INSERT INTO t VALUES (1, 2.5)");
    for count in [50, 150, 2_000] {
        let begin = std::time::Instant::now();
        let sum = vec!["x"; count].join(" + ");
        assert_eq!(sql.one(&format!("SELECT {sum} FROM t")), count.to_string());
        let sum = vec!["n"; count].join(" - ");
        let rows = format!("SELECT count(*) FROM t WHERE {sum} < 0 OR {sum} = 5 GROUP BY {sum}");
        assert_eq!(sql.one(&rows), "1");
        // It took minutes; the limit is far from what it takes.
        assert!(begin.elapsed().as_secs() < 20, "{count}");
    }
}

#[test]
fn volatile_values_are_computed_of_sorted_rows() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (x INT, y INT); INSERT INTO t SELECT g, 100 - g FROM generate_series(1, 99) g;
         CREATE SEQUENCE s",
    );
    let first = "SELECT x, nextval('s') FROM t ORDER BY y LIMIT 3";
    assert_eq!(sql.rows_of_one_engine(first), ["99|1", "98|2", "97|3"]);
    assert_eq!(sql.one("SELECT last_value FROM s"), "3");
    let all = "SELECT n FROM (SELECT x, nextval('s') - 3 AS n FROM t ORDER BY x) q WHERE x <> n";
    assert!(sql.rows_of_one_engine(all).is_empty());
    // A key is computed before.
    sql.run("ALTER SEQUENCE s RESTART");
    let by = "SELECT count(*) FROM (SELECT nextval('s') AS n FROM t ORDER BY n DESC LIMIT 2) q";
    assert_eq!(sql.rows_of_one_engine(by), ["2"]);
    assert_eq!(sql.one("SELECT last_value FROM s"), "99");
}

#[test]
fn aggregates_get_the_rows_of_sorted_sub_queries_in_order() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (x INT, y INT, g INT);
         INSERT INTO t SELECT g, 50 - g, g % 2 FROM generate_series(1, 6) g",
    );
    for (query, rows) in [
        (
            "SELECT array_agg(x) FROM (SELECT x FROM t ORDER BY y) s",
            ["{6,5,4,3,2,1}"].as_slice(),
        ),
        (
            "SELECT g, string_agg(x::text, '') FROM (SELECT g, x FROM t ORDER BY y) s
             WHERE x > 1 GROUP BY g ORDER BY g",
            &["0|642", "1|53"],
        ),
        (
            "SELECT json_agg(x), count(*) FROM (SELECT x FROM t ORDER BY y DESC LIMIT 2) s",
            &["[1, 2]|2"],
        ),
        (
            "WITH s AS (SELECT x, y FROM t ORDER BY g, y) SELECT array_agg(x ORDER BY y), array_agg(x) FROM s",
            &["{6,5,4,3,2,1}|{6,4,2,5,3,1}"],
        ),
        ("SELECT max(x) FROM (SELECT x FROM t ORDER BY y) s", &["6"]),
    ] {
        assert_eq!(sql.rows(query), rows, "{query}");
    }
}

#[test]
fn a_whole_row_in_brackets_is_its_columns() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b TEXT); INSERT INTO t VALUES (1, 'x')");
    for list in ["(t.*)", "(t.*) AS w", "(t).* AS w", "t.* AS w"] {
        let query = format!("SELECT {list} FROM t");
        assert_eq!(sql.names(&query), ["a", "b"], "{list}");
        assert_eq!(sql.rows(&query), ["1|x"], "{list}");
    }
    assert_eq!(sql.rows("SELECT (t.*) IS NULL, 1 FROM t"), ["false|1"]);
}

#[test]
fn paths_are_told_by_names_of_arguments() {
    let sql = Sql::new();
    for (call, rows) in [
        (
            "jsonb_path_query('[]', 'strict $[1]', silent => true)",
            &[][..],
        ),
        (
            "jsonb_path_query('[1,2]', '$[*] ? (@ > $x)', vars => '{\"x\": 1}')",
            &["2"][..],
        ),
        (
            "jsonb_path_query(path => '$[*]', target => '[1,2]')",
            &["1", "2"][..],
        ),
    ] {
        assert_eq!(sql.rows(&format!("SELECT {call}")), rows, "{call}");
        assert_eq!(sql.rows(&format!("SELECT * FROM {call}")), rows, "{call}");
    }
    for call in [
        "jsonb_path_query('[]', '$', nothing => true)",
        "jsonb_path_query('[]', silent => true)",
        "jsonb_path_query('[]', '$', path => '$')",
    ] {
        assert_eq!(sql.state(&format!("SELECT {call}")), "42883", "{call}");
    }
    let call = "jsonb_path_query('[]', 'strict $[1]', silent => false)";
    assert_eq!(sql.state(&format!("SELECT {call}")), "22033");
}

#[test]
fn whole_rows_that_an_outer_join_has_not_are_null() {
    let sql = Sql::new();
    sql.run("CREATE TABLE k (t TEXT, i INT); INSERT INTO k VALUES (NULL, NULL), ('a', 1)");
    let lateral = "SELECT q = q FROM generate_series(1, 2) g (v) LEFT JOIN LATERAL (SELECT NULL::int AS c) q ON true";
    assert_eq!(sql.rows(lateral), ["true", "true"]);
    let some = "SELECT q::text, q IS NULL FROM generate_series(1, 2) g (v)
                LEFT JOIN (SELECT NULL::int AS c, 1 AS v) q ON q.v = g.v ORDER BY g.v";
    assert_eq!(sql.rows(some), ["(,1)|false", "NULL|true"]);
    let all = "SELECT a::text, b::text FROM k a FULL JOIN k b ON a.i = b.i AND b.i > 5";
    assert_eq!(
        sql.sorted(all),
        ["(,)|NULL", "(a,1)|NULL", "NULL|(,)", "NULL|(a,1)"]
    );
    let nested =
        "SELECT c::text FROM k a LEFT JOIN (k b LEFT JOIN k c ON b.t IS NULL AND c.t IS NULL)
                  ON a.i IS NULL AND b.i IS NULL ORDER BY a.i";
    assert_eq!(sql.rows(nested), ["NULL", "(,)"]);
    let counted = "SELECT count(b), count(*) FROM k a LEFT JOIN k b ON a.i = b.i";
    assert_eq!(sql.rows(counted), ["1|2"]);
}

#[test]
fn rows_of_tables_have_the_names_of_their_type() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (a INT, b TEXT); INSERT INTO t VALUES (1, 'x');
         CREATE VIEW v AS SELECT a AS c FROM t",
    );
    for (query, expected) in [
        ("SELECT to_json(r) FROM t AS r (x, y)", r#"{"a":1,"b":"x"}"#),
        ("SELECT to_json(r) FROM v AS r (x)", r#"{"c":1}"#),
        (
            "SELECT to_json(r) FROM (SELECT a FROM t) AS r (x)",
            r#"{"x":1}"#,
        ),
        (
            "SELECT to_json(r) FROM generate_series(1, 1) WITH ORDINALITY AS r (x, o)",
            r#"{"x":1,"o":1}"#,
        ),
        ("SELECT (r).x FROM t AS r (x, y)", "1"),
    ] {
        assert_eq!(sql.one(query), expected, "{query}");
    }
    let error = sql.error("SELECT (r).a FROM t AS r (x, y)");
    assert_eq!(error.message, "column r.a does not exist");
}

#[test]
fn keys_of_groups_are_known_by_their_subqueries() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (i INT, s TEXT); INSERT INTO t VALUES (4, 'x'), (5, NULL)");
    for (query, expected) in [
        (
            "SELECT i IN (VALUES (5)) FROM t GROUP BY ROLLUP ((i IN (VALUES (5)))) ORDER BY 1",
            vec!["false", "true", "NULL"],
        ),
        (
            "SELECT (SELECT max(i) FROM t u WHERE u.s = t.s) + 1, count(*) FROM t
             GROUP BY (SELECT max(i) FROM t u WHERE u.s = t.s)
             HAVING (SELECT max(i) FROM t u WHERE u.s = t.s) IS NULL",
            vec!["NULL|1"],
        ),
        (
            "SELECT EXISTS (SELECT 1 FROM t u WHERE u.i > t.i), count(*) FROM t
             GROUP BY EXISTS (SELECT 1 FROM t u WHERE u.i > t.i) ORDER BY 1",
            vec!["false|1", "true|1"],
        ),
        // A key that becomes a constant is that constant in all groups.
        (
            "SELECT ARRAY[CASE WHEN isfinite(interval '1 day') THEN 'c' WHEN i > 4 THEN s END]
             FROM t GROUP BY GROUPING SETS
             ((CASE WHEN isfinite(interval '1 day') THEN 'c' WHEN i > 4 THEN s END), ())",
            vec!["{c}", "{c}"],
        ),
    ] {
        assert_eq!(sql.rows(query), expected, "{query}");
    }
}

#[test]
fn using_compares_the_types_that_the_columns_have() {
    let sql = Sql::new();
    let arrays = "SELECT 1 FROM (VALUES ('{5}'::int[])) a (c) JOIN (VALUES ('{5}'::bigint[])) b (c) USING (c)";
    assert_eq!(
        sql.error(arrays).message,
        "operator does not exist: integer[] = bigint[]"
    );
    let numbers = "SELECT c, pg_typeof(c) FROM (VALUES (1::float8)) a (c) JOIN (VALUES (1.0)) b (c) USING (c)";
    assert_eq!(sql.one(numbers), "1.0|double precision");
}

#[test]
fn a_call_that_fails_fails_beside_null() {
    let sql = Sql::new();
    for (expr, state) in [
        ("1 / 0 + NULL", "22012"),
        ("'null'::jsonb::float8 - NULL", "22023"),
        ("NULL + sqrt(-1)", "2201F"),
    ] {
        assert_eq!(sql.state(&format!("SELECT {expr}")), state, "{expr}");
    }
    assert_eq!(
        sql.one("SELECT 1 / (x - 4) + NULL FROM (VALUES (4)) v (x)"),
        "NULL"
    );
}

#[test]
fn functions_of_rows_that_are_not_there_are_asked_for_nulls() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (c character(4))");
    assert_eq!(
        sql.rows(
            "SELECT 1 FROM jsonb_object_keys('{\"a\": 1}'::jsonb) AS k (v) JOIN t AS a ON NULL::boolean \
             WHERE CAST(concat_ws('-', a.c) AS character(4)) \
             IN (SELECT DISTINCT ON (b.c) a.c FROM t AS b)"
        ),
        Vec::<String>::new()
    );
}

#[test]
fn conditions_with_arrays_of_no_element_and_of_a_null_are_told_apart() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a integer, b integer); INSERT INTO t VALUES (4, NULL)");
    let case = "CASE WHEN b > 3 THEN NULL::float8[] ELSE '{}'::float8[] END";
    let condition = format!("{case} BETWEEN SYMMETRIC '{{NULL}}' AND '{{}}'");
    assert_eq!(
        sql.rows(&format!("SELECT a FROM t WHERE {condition}")),
        ["4"]
    );
    let plan = sql.rows(&format!("EXPLAIN SELECT a FROM t WHERE {condition}"));
    assert!(plan.join("\n").contains("<= '{NULL}'"), "{plan:?}");
}

#[test]
fn equal_sub_queries_are_one_value_for_distinct() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2), (2)");
    let queries = [
        "SELECT DISTINCT (SELECT 1 + a) FROM t ORDER BY (SELECT 1 + a) DESC",
        "SELECT DISTINCT ON ((SELECT a)) a + 1 FROM t ORDER BY (SELECT a) DESC",
        "SELECT unnest(array_agg(DISTINCT (SELECT a + 1) ORDER BY (SELECT a + 1) DESC)) FROM t",
    ];
    for query in queries {
        assert_eq!(sql.rows(query), ["3", "2"], "{query}");
    }
    assert_eq!(
        sql.state("SELECT DISTINCT (SELECT 1 + a) FROM t ORDER BY (SELECT 2 + a)"),
        "42P10"
    );
}

#[test]
fn clauses_behind_brackets_belong_to_the_query_in_them() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, 3), (2, 2), (3, 1)");
    for (query, rows) in [
        (
            "(WITH lim (x) AS (SELECT 1) SELECT 123) LIMIT (SELECT x FROM lim)",
            &["123"][..],
        ),
        (
            "((WITH lim (x) AS (SELECT 1) SELECT 123) LIMIT (SELECT x FROM lim))",
            &["123"],
        ),
        ("(SELECT a FROM t) ORDER BY b", &["3", "2", "1"]),
        // The order comes before the limit in the brackets.
        ("(SELECT a FROM t LIMIT 2) ORDER BY b", &["3", "2"]),
        (
            "((SELECT a FROM t ORDER BY a) OFFSET 1) FETCH FIRST ROW ONLY",
            &["2"],
        ),
        (
            "WITH x AS (SELECT 1 AS c) ((SELECT c FROM x) UNION ALL SELECT 2) ORDER BY 1 DESC",
            &["2", "1"],
        ),
        (
            "(SELECT a FROM t UNION SELECT 7) ORDER BY 1 DESC LIMIT 2",
            &["7", "3"],
        ),
        // A side of a set operation keeps its own.
        (
            "(SELECT a FROM t ORDER BY a LIMIT 1) UNION ALL (SELECT a FROM t ORDER BY b LIMIT 1) ORDER BY 1",
            &["1", "3"],
        ),
        (
            "SELECT q.a FROM ((SELECT a FROM t) ORDER BY b LIMIT 1) q",
            &["3"],
        ),
        (
            "SELECT 2 IN ((SELECT a FROM t)), ARRAY((SELECT a FROM t) ORDER BY b)",
            &["true|{3,2,1}"],
        ),
    ] {
        assert_eq!(sql.rows(query), rows, "{query}");
    }
    for (query, clause) in [
        ("(SELECT a FROM t ORDER BY 1) ORDER BY b", "ORDER BY"),
        ("((SELECT a FROM t LIMIT 1) ORDER BY b) LIMIT 1", "LIMIT"),
        ("(SELECT a FROM t LIMIT 1) FETCH FIRST ROW ONLY", "LIMIT"),
        ("(SELECT a FROM t OFFSET 1) OFFSET 1", "OFFSET"),
        (
            "WITH x AS (SELECT 1) (WITH y AS (SELECT 2) SELECT * FROM y)",
            "WITH",
        ),
    ] {
        let error = sql.error(query);
        assert_eq!(error.sqlstate, "42601", "{query}");
        assert_eq!(
            error.message,
            format!("multiple {clause} clauses not allowed")
        );
    }
}

#[test]
fn collations_come_from_the_parts_of_a_value() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a TEXT, n NAME)");
    for (value, collation) in [
        ("'x'", "NULL"),
        ("'x'::text", "\"default\""),
        ("'x' COLLATE \"C\"", "\"C\""),
        ("'x' || ('y' COLLATE \"C\")", "\"C\""),
        ("('x' COLLATE \"POSIX\")::varchar", "\"POSIX\""),
        (
            "CASE WHEN true THEN 'x' ELSE 'y' COLLATE \"C\" END",
            "\"C\"",
        ),
        (
            "CASE WHEN 'x' COLLATE \"C\" = 'y' THEN 'x'::text END",
            "\"default\"",
        ),
        ("upper(trim('x' COLLATE \"C\"))", "\"C\""),
        ("ARRAY['x' COLLATE \"C\"]", "\"C\""),
        ("coalesce('x', 'y' COLLATE \"C\")", "\"C\""),
        ("(SELECT 'x' COLLATE \"POSIX\")", "\"POSIX\""),
        ("(SELECT n FROM t LIMIT 1)", "\"C\""),
        ("(SELECT a FROM t LIMIT 1)", "\"default\""),
    ] {
        assert_eq!(
            sql.one(&format!("SELECT COLLATION FOR ({value})")),
            collation,
            "{value}"
        );
    }
    let ordered = "percentile_disc(1) WITHIN GROUP (ORDER BY x COLLATE \"POSIX\")";
    let query = format!("SELECT pg_collation_for({ordered}) FROM (VALUES ('a')) v (x)");
    assert_eq!(sql.one(&query), "\"POSIX\"");
    let mixed = "SELECT COLLATION FOR ('x' COLLATE \"C\" || 'y' COLLATE \"POSIX\")";
    assert_eq!(sql.state(mixed), "42P21");
    assert_eq!(sql.state("SELECT COLLATION FOR (1)"), "42804");
}

/// Scales that no integer brings together are added by Arrow, within sums that the engine computes.
#[test]
fn sums_of_distant_scales_are_exact() {
    let sql = Sql::new();
    sql.run("CREATE TABLE d (a NUMERIC(1,0), b NUMERIC(20,19)); INSERT INTO d VALUES (1, 0.5)");
    let sum = vec!["a"; 17].join(" + ");
    let found = sql.one(&format!("SELECT b + {sum} FROM d"));
    assert_eq!(found, "17.5000000000000000000");
}

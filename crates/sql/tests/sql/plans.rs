//! What the planner makes of estimates, and that it changes no answer.

use crate::support::Sql;

fn plan(sql: &Sql, query: &str) -> String {
    sql.rows(&format!("EXPLAIN {query}")).join("\n")
}

/// Asks both engines.
#[track_caller]
fn both(sql: &Sql, query: &str) -> Vec<String> {
    sql.run("SET freestone.engine = 'bulk'");
    let expected = sql.sorted(query);
    sql.run("SET freestone.engine = 'auto'");
    assert_eq!(sql.sorted(query), expected, "{query}");
    expected
}

/// The estimate of the first operator that begins so.
fn estimate(plan: &str, operator: &str) -> f64 {
    let line = plan.lines().find(|line| line.contains(operator));
    let rows = line.and_then(|line| line.split("(about ").nth(1));
    let rows = rows.and_then(|rows| rows.split(' ').next());
    rows.and_then(|rows| rows.parse().ok())
        .unwrap_or_else(|| panic!("no {operator} in {plan}"))
}

#[test]
fn conditions_are_tried_on_a_sample() {
    let sql = Sql::new();
    sql.run("CREATE TABLE s (k INTEGER, t TEXT, a INTEGER, b INTEGER)");
    // Half of the texts have a seven in them; b says what a says.
    sql.run(
        "INSERT INTO s SELECT v, CASE WHEN v % 2 = 0 THEN 'x7x' ELSE 'none' END, v % 10, v % 10 \
         FROM generate_series(1, 40000) AS g(v)",
    );
    sql.run("CREATE TABLE o AS SELECT * FROM s WHERE k % 100 = 0");
    for (condition, rows) in [
        ("s.t LIKE '%7%'", 20_000.0),
        ("s.t NOT LIKE '%7%'", 20_000.0),
        ("s.a = 3 AND s.b = 3", 4000.0),
        ("s.a = 3 AND s.b = 4", 20.0),
        ("s.a * 2 < s.b + 5 AND s.t LIKE 'x%'", 12_000.0),
        ("s.k = 77", 1.0),
    ] {
        let query = format!("SELECT count(*) FROM s JOIN o ON s.k = o.k WHERE {condition}");
        let plan = plan(&sql, &query);
        let operator = if condition.contains('*') {
            "filter"
        } else {
            "scan s "
        };
        let found = estimate(&plan, operator);
        assert!(
            found <= rows * 1.3 && (found >= rows * 0.7 || rows < 100.0),
            "{condition}: {found}\n{plan}"
        );
        both(&sql, &query);
    }
}

#[test]
fn groups_are_made_before_joins_that_they_make_cheaper() {
    let sql = Sql::new();
    sql.run("CREATE TABLE f (k INTEGER, g INTEGER, v BIGINT, p DECIMAL(12,2))");
    sql.run(
        "INSERT INTO f SELECT v % 500, v % 3, v, CASE WHEN v % 7 = 0 THEN NULL ELSE v / 4.0 END \
         FROM generate_series(1, 150000) AS g(v)",
    );
    // Some keys have no row here, some several.
    sql.run("CREATE TABLE d (k INTEGER, name TEXT, c INTEGER)");
    sql.run(
        "INSERT INTO d SELECT v % 400, CASE WHEN v % 11 = 0 THEN NULL ELSE 'n' || (v % 13) END, v % 4 \
         FROM generate_series(1, 2000) AS g(v)",
    );
    sql.run("CREATE TABLE e AS SELECT c, 'e' || c AS label FROM (SELECT DISTINCT c FROM d) AS q");
    sql.run("CREATE TABLE none (x INTEGER)");
    for (query, early) in [
        (
            "SELECT name, count(*), sum(v), min(p), max(v), count(p), sum(p) FROM f JOIN d ON f.k = d.k GROUP BY name",
            true,
        ),
        (
            "SELECT name, g, sum(v) FROM f JOIN d ON f.k = d.k GROUP BY name, g",
            true,
        ),
        (
            "SELECT label, name, sum(p) FILTER (WHERE v % 2 = 0), count(*) FROM f JOIN d ON f.k = d.k JOIN e ON d.c = e.c GROUP BY label, name",
            true,
        ),
        (
            "SELECT name, sum(v) FROM f JOIN d ON f.k = d.k AND f.g < d.c GROUP BY name",
            true,
        ),
        // Nothing is asked of the rows of one side, and there may be none.
        (
            "SELECT label, count(*), sum(v) FROM f, e GROUP BY label",
            true,
        ),
        (
            "SELECT label, count(*) FROM none RIGHT JOIN (SELECT 1 AS one FROM generate_series(1, 0) AS a, \
             generate_series(1, 0) AS b) AS q ON true, e GROUP BY label",
            true,
        ),
        (
            "SELECT label FROM none RIGHT JOIN (SELECT 1 AS one FROM generate_series(1, 0) AS a, \
             generate_series(1, 0) AS b) AS q ON true, e GROUP BY label",
            true,
        ),
        // Both sides are read, or the rows of a group are few.
        (
            "SELECT name, sum(v + d.c) FROM f JOIN d ON f.k = d.k GROUP BY name",
            false,
        ),
        (
            "SELECT name, v, count(*) FROM f JOIN d ON f.k = d.k WHERE v < 9000 GROUP BY name, v",
            false,
        ),
        ("SELECT count(*), sum(v) FROM f JOIN d ON f.k = d.k", false),
    ] {
        let plan = plan(&sql, query);
        let count = plan.matches("aggregate ").count();
        assert_eq!(count, 1 + usize::from(early), "{query}\n{plan}");
        both(&sql, query);
    }
    // Parts that leave the type of the whole, which does not.
    sql.run("DELETE FROM f; INSERT INTO f SELECT v % 2, 0, CASE WHEN v % 2 = 0 THEN 9000000000000 ELSE -9000000000000 END * 90, 0 FROM generate_series(1, 100000) AS g(v)");
    sql.run("DELETE FROM d; INSERT INTO d VALUES (0, 'all', 1), (1, 'all', 1)");
    let query = "SELECT name, sum(v) FROM f JOIN d ON f.k = d.k GROUP BY name";
    assert_eq!(plan(&sql, query).matches("aggregate ").count(), 2);
    assert_eq!(sql.one(query), "all|0");
}

#[test]
fn groups_of_a_table_in_order_come_range_by_range() {
    let sql = Sql::new();
    sql.run("CREATE TABLE r (k BIGINT NOT NULL, v INTEGER, n BIGINT) WITH (block_bytes = 262144)");
    sql.run(
        "INSERT INTO r SELECT v / 2, v % 1000, (v * 7919) % 700001 FROM generate_series(0::bigint, 699999) AS g(v) ORDER BY v",
    );
    let groups = |key: &str| {
        format!(
            "SELECT count(*), sum(c), max(s), min(k) FROM \
             (SELECT {key} AS k, count(*) AS c, sum(v) AS s FROM r WHERE v < 990 GROUP BY {key} HAVING sum(v) > 3) AS q"
        )
    };
    let ranges = |sql: &Sql, key: &str| plan(sql, &groups(key)).contains(" ranges");
    assert!(ranges(&sql, "k"), "{}", plan(&sql, &groups("k")));
    assert!(!ranges(&sql, "n"));
    both(&sql, &groups("k"));
    sql.run("DELETE FROM r WHERE k % 1000 = 7; UPDATE r SET k = k + 350000 WHERE k % 500 = 3");
    assert!(ranges(&sql, "k"), "{}", plan(&sql, &groups("k")));
    both(&sql, &groups("k"));
    let query = "SELECT k, count(*), sum(n) FROM r GROUP BY k";
    let expected = both(&sql, query);
    sql.run("SET memory_limit = '16MB'");
    let mut rows = sql.rows_of_one_engine(query);
    rows.sort();
    assert_eq!(rows, expected);
    let analyzed = sql.rows(&format!("EXPLAIN ANALYZE {query}")).join("\n");
    assert!(
        analyzed.contains(" ranges") && !analyzed.contains("set aside"),
        "{analyzed}"
    );
}

#[test]
fn nulls_meet_no_comparison() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t AS SELECT value AS k, CASE WHEN value % 20 = 0 THEN value END AS v \
         FROM generate_series(1, 100000) AS g(value); VACUUM t",
    );
    let conditions = [
        "v < 50000",
        "v > 25000 AND v < 75000",
        "v IN (20, 40, 60)",
        "v NOT IN (20, 40, 60)",
    ];
    for (condition, found) in conditions.into_iter().zip([2499.0, 2499.0, 3.0, 4997.0]) {
        let query = format!("SELECT count(*), sum(k) FROM t WHERE {condition}");
        let plan = sql.rows(&format!("EXPLAIN {query}")).join("\n");
        let scan = plan.lines().find(|line| line.contains("scan t")).unwrap();
        let (_, about) = scan.split_once("(about ").unwrap();
        let about: f64 = about.split_once(' ').unwrap().0.parse().unwrap();
        assert!(
            about < found * 2.0 + 5.0 && about > found / 2.0 - 3.0,
            "{scan}"
        );
    }
}

#[test]
fn whole_plans_are_the_bulk_engines_and_scans_read_what_is_read_of_them() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE s (k INTEGER NOT NULL, g INTEGER, t TEXT, n NUMERIC(10, 2), f DOUBLE PRECISION); \
         CREATE TABLE o (k INTEGER, v INTEGER, u TEXT)",
    );
    sql.run(
        "INSERT INTO s SELECT v, v % 7, 'x' || v % 5, v / 4.0, CASE WHEN v % 9 > 0 THEN v / 8.0 END \
         FROM generate_series(1, 3000) AS g(v); \
         INSERT INTO o SELECT nullif(v % 50, 7), v % 11, 'x' || v % 6 FROM generate_series(1, 400) AS g(v)",
    );
    for (query, scans) in [
        (
            "SELECT g, count(DISTINCT t), sum(n), count(*), max(f) FROM s WHERE k > 20 GROUP BY g",
            ["scan s [g, t, n, f] where k > 20", ""],
        ),
        (
            "SELECT count(DISTINCT t), count(*), avg(n) FROM s",
            ["", ""],
        ),
        (
            "SELECT q.b FROM (SELECT k AS a, g AS b, t AS c FROM s) q JOIN o ON q.a = o.k",
            ["scan s [k, g]", "scan o [k]"],
        ),
        (
            "SELECT u, g FROM o LEFT JOIN s ON o.k = s.k AND s.g < 5 WHERE o.v <> 3",
            ["scan s [k, g] where g < 5", "scan o [k, u] where v <> 3"],
        ),
        (
            "SELECT t FROM s WHERE k NOT IN (SELECT v FROM o) AND g IN (SELECT k FROM o)",
            ["scan s [k, g, t]", "scan o [v]"],
        ),
        (
            "SELECT k, g IN (SELECT k FROM o) AS has, k * 2 + 1 FROM s WHERE k < 40",
            ["scan s [k, g] where k < 40", "scan o [k]"],
        ),
        (
            "SELECT g, rank() OVER (PARTITION BY g ORDER BY n), avg(n) OVER (PARTITION BY t), \
             lag(k) OVER (ORDER BY k), sum(k) FILTER (WHERE f > 3) OVER (ORDER BY k) FROM s",
            ["scan s [k, g, t, n, f]", ""],
        ),
        (
            "SELECT DISTINCT g, t FROM s UNION SELECT v, u FROM o",
            ["scan s [g, t]", "scan o [v, u]"],
        ),
        (
            "SELECT t, sum(n * (1 - f)), sum(n * (1 - f) * 2) FROM s GROUP BY t \
             HAVING count(*) > 3 ORDER BY 2 DESC NULLS LAST LIMIT 3",
            ["scan s [t, n, f]", ""],
        ),
        // Common table expressions, of whose columns some are read.
        (
            "WITH c AS (SELECT g, t, sum(n) AS n, max(f) AS f FROM s GROUP BY g, t) \
             SELECT a.g, b.t, a.n FROM c a JOIN c b ON a.g = b.g AND a.t < b.t",
            ["scan s [g, t, n]", "shared plan 1"],
        ),
        (
            "SELECT s.g, count(*) FROM s JOIN o ON o.k = s.k JOIN s r ON r.k = o.v \
             WHERE s.n > 1.2 * (SELECT avg(q.n) FROM s q WHERE q.t = s.t) GROUP BY s.g",
            ["scan s [k, g, t, n]", "scan o [k, v]"],
        ),
        (
            "WITH c AS MATERIALIZED (SELECT v FROM o WHERE k > 3), d AS (SELECT v + 1 AS w FROM c) \
             SELECT count(*), (SELECT count(*) FROM d), (SELECT max(w) FROM d) FROM c",
            ["scan o [v] where k > 3", "shared plan 1"],
        ),
        // Set operations.
        (
            "SELECT g, t FROM s EXCEPT SELECT v, u FROM o",
            ["scan s [g, t]", "scan o [v, u]"],
        ),
        (
            "SELECT g, t FROM s INTERSECT SELECT k, u FROM o",
            ["scan s [g, t]", "scan o [k, u]"],
        ),
        (
            "SELECT g FROM s INTERSECT ALL SELECT k FROM o",
            ["scan s [g]", "window 1 by 1 keys"],
        ),
        (
            "SELECT g, n FROM s EXCEPT ALL SELECT k, v FROM o",
            ["scan s [g, n]", "window 1 by 2 keys"],
        ),
        // Marks.
        (
            "SELECT count(*) FROM s WHERE EXISTS (SELECT FROM o WHERE o.k = s.k) \
             OR EXISTS (SELECT FROM o WHERE o.v = s.g AND o.u < s.t)",
            ["scan s [k, g, t]", "join ProbeMark on 1 keys"],
        ),
        (
            "SELECT k, EXISTS (SELECT FROM o WHERE o.v < s.g) AS has FROM s WHERE k < 30",
            ["join ProbeMark on 0 keys", ""],
        ),
        (
            "SELECT k, g IN (SELECT o.k FROM o WHERE o.u = s.t) AS has FROM s",
            ["join ProbeMark on 2 keys", "join ProbeMark on 1 keys"],
        ),
        (
            "SELECT k, g <> ALL (SELECT o.k FROM o WHERE o.v > s.g) AS no FROM s WHERE k < 300",
            ["join ProbeMark", "shared plan 1"],
        ),
        // The only row, as far as the rows say.
        (
            "SELECT k, (SELECT v FROM (SELECT DISTINCT v FROM o WHERE v < 1) q) FROM s WHERE k < 9",
            ["join ProbeSingle on 0 keys", ""],
        ),
        // Aggregates that the language front has, and keys that it compares.
        (
            "SELECT g, stddev(f), var_pop(n), string_agg(t, ',' ORDER BY k), bool_or(k > 5) FROM s \
             GROUP BY g",
            ["fold [stddev, var_pop, string_agg, bool_or] by 1 keys", ""],
        ),
        (
            "SELECT n / 3, count(*), sum(n / 7) FILTER (WHERE k > 5) FROM s GROUP BY n / 3",
            ["fold [count, sum] by 1 keys", "scan s [k, n]"],
        ),
        (
            "SELECT count(DISTINCT t), count(DISTINCT g), sum(DISTINCT n) FROM s",
            ["fold [count, count, sum] by 0 keys", ""],
        ),
        (
            "SELECT g, t, grouping(g, t), avg(f), count(DISTINCT k) FROM s GROUP BY ROLLUP (g, t)",
            ["fold [avg, count] by 2 keys of 3 sets", ""],
        ),
        (
            "SELECT DISTINCT n / 7, '{1}'::INTEGER[] FROM s",
            ["fold [] by 2 keys", ""],
        ),
        (
            "SELECT n / 7 FROM s UNION SELECT v / 7.0 FROM o",
            ["fold [] by 1 keys", ""],
        ),
        (
            "SELECT DISTINCT ON (g) g, k, t FROM s ORDER BY g, k DESC",
            ["window 1 by 2 keys", "scan s [k, g, t]"],
        ),
        (
            "SELECT count(*) FROM (SELECT DISTINCT ON (n / 3) n / 3 FROM s) q",
            ["window 1 by 1 keys", "scan s [n]"],
        ),
        (
            "SELECT g, max(k) FROM s GROUP BY g ORDER BY ARRAY[g, max(k)] DESC, row(g, 1)",
            ["sort by 2 keys", ""],
        ),
    ] {
        let text = plan(&sql, query);
        for scan in scans {
            assert!(text.contains(scan), "{scan}\n{text}");
        }
        both(&sql, query);
    }
}

/// Rows that functions, lists of values and recursions give are read by plans of the bulk engine.
#[test]
fn operators_of_the_front_are_part_of_whole_plans() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE s (k INTEGER, g INTEGER, t TEXT); INSERT INTO s \
         SELECT v, v % 7, 'x' || v % 5 FROM generate_series(1, 3000) AS g(v)",
    );
    let recursion = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r";
    for query in [
        "SELECT v.v % 3, count(*), stddev(s.k) FROM generate_series(1, 500) AS v(v) \
         JOIN s ON s.k = v.v GROUP BY 1"
            .to_owned(),
        "SELECT v.a, count(*) FROM (VALUES (1, 'x1'), (2, 'x2')) AS v(a, t) JOIN s USING (t) \
         GROUP BY v.a"
            .to_owned(),
        "SELECT count(*), sum(u) FROM (SELECT unnest(ARRAY[k, g]) AS u FROM s) q".to_owned(),
        "SELECT s.g, count(l.v), sum(l.v) FROM s, LATERAL generate_series(1, s.g) AS l(v) \
         GROUP BY s.g"
            .to_owned(),
        "SELECT DISTINCT count(*) OVER (PARTITION BY v.v % 4), v.v % 4 FROM generate_series(1, 90) AS v(v)"
            .to_owned(),
        format!("{recursion} WHERE n < 100) SELECT s.g, sum(a.n), sum(b.n) FROM r a \
             JOIN s ON s.k = a.n JOIN r b ON b.n = s.g GROUP BY s.g"),
        "SELECT a.k, b.v FROM generate_series(1, 5) AS a(k) FULL JOIN generate_series(3, 9) AS b(v) \
         ON a.k = b.v"
            .to_owned(),
        "SELECT count(*) FROM (SELECT) q, s".to_owned(),
    ] {
        let text = plan(&sql, &query);
        assert!(text.contains("(about "), "{query}\n{text}");
        both(&sql, &query);
    }
    // Their rows keep their order.
    for query in [
        format!("{recursion} WHERE n < 30000) SELECT n FROM r"),
        "SELECT v FROM (SELECT ARRAY[1, 2] AS a) q, LATERAL generate_series(q.a[1], 30000) AS g(v)"
            .to_owned(),
        "WITH c AS MATERIALIZED (SELECT k FROM s, generate_series(1, 10) ORDER BY k) SELECT k + 1 FROM c"
            .to_owned(),
    ] {
        let rows = sql.rows_of_one_engine(&query);
        let numbers: Vec<i64> = rows.iter().map(|row| row.parse().unwrap()).collect();
        assert!(numbers.len() > 20_000 && numbers.is_sorted(), "{query}");
    }
    let in_order = "WITH c AS MATERIALIZED (SELECT k FROM s, generate_series(1, 10) ORDER BY k DESC) \
         SELECT array_agg(k) = array_agg(k ORDER BY k DESC), count(*) FROM c";
    assert_eq!(sql.rows_of_one_engine(in_order), ["true|30000"]);
    // Rows that nothing asks for are not waited for.
    let endless = format!(
        "{recursion}) SELECT n FROM (SELECT n FROM r UNION ALL SELECT count(*) FROM s) q LIMIT 5"
    );
    assert_eq!(sql.rows_of_one_engine(&endless).len(), 5);
}

/// Groups and common table expressions for which there is no memory are set aside.
#[test]
fn groups_of_all_aggregates_and_shared_rows_find_room_on_disk() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE wide (k INTEGER, g INTEGER, t TEXT); \
         INSERT INTO wide SELECT v, v % 40000, repeat('x', 40) || v % 90000 \
         FROM generate_series(1, 200000) AS g(v)",
    );
    let queries = [
        "SELECT count(*), sum(n), max(s) FROM \
         (SELECT g, count(DISTINCT t) AS n, stddev(k) AS s FROM wide GROUP BY g) q",
        "SELECT count(*), sum(length(a)) FROM \
         (SELECT t, string_agg(g::TEXT, ',' ORDER BY k) AS a FROM wide GROUP BY t) q",
        "WITH c AS (SELECT t, k FROM wide WHERE k > 10) \
         SELECT count(*), sum(a.k), max(b.t) FROM c a JOIN c b ON a.k = b.k + 1",
        "SELECT count(*), sum(g), max(t) FROM (SELECT g, t FROM wide EXCEPT ALL \
         SELECT g, t FROM wide WHERE k > 50) q",
    ];
    let whole = queries.map(|query| sql.rows(query));
    sql.run("SET memory_limit = '24MB'");
    for (query, whole) in queries.into_iter().zip(whole) {
        assert_eq!(sql.rows_of_one_engine(query), whole, "{query}");
    }
    let explained = format!("EXPLAIN ANALYZE {}", queries[0]);
    let text = sql.rows_of_one_engine(&explained).join("\n");
    assert!(text.contains("bytes set aside"), "{text}");
    // A state that alone is greater than the memory.
    let refused = sql.error("SELECT length(string_agg(repeat(t, 20), ',')) FROM wide");
    assert_eq!(refused.sqlstate, "53200", "{refused}");
    sql.run("RESET memory_limit");
}

#[test]
fn the_first_rows_of_a_table_are_for_its_scan_to_find() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INTEGER, b INTEGER); INSERT INTO t VALUES (1, 2), (2, 1)");
    for query in [
        "SELECT a, b FROM t ORDER BY b LIMIT 1",
        "SELECT a FROM t ORDER BY b LIMIT 1",
        "SELECT a + 1 FROM t WHERE a > 0 ORDER BY b LIMIT 1",
    ] {
        let text = plan(&sql, query);
        assert!(text.contains(", first 1 by b ASC"), "{query}\n{text}");
    }
    assert!(!plan(&sql, "SELECT a FROM t ORDER BY b").contains("first"));
}

#[test]
fn rows_that_are_passed_over_are_the_first_in_order_wherever_they_are() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (z TIMETZ, s SMALLINT); INSERT INTO t VALUES ('12:34+02', 6), ('12:34+02', 9)");
    let rows = "SELECT z >= ALL (SELECT NULL::timetz FROM generate_series(1, 2)) AS a, s FROM t \
                ORDER BY 1, 2 DESC OFFSET 1";
    let query = format!("SELECT q.s FROM t, LATERAL ({rows}) AS q");
    assert_eq!(both(&sql, &query), ["6", "6"]);
    let query = "SELECT q.s FROM t, (SELECT s, z FROM t ORDER BY s OFFSET 1) AS q";
    assert_eq!(both(&sql, query), ["9", "9"]);
}

#[test]
fn rows_come_as_often_as_they_find_partners_though_nothing_reads_these() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE a (id INTEGER PRIMARY KEY); INSERT INTO a VALUES (2), (3); \
         CREATE TABLE b (s SMALLINT, v VARCHAR); INSERT INTO b VALUES (5, NULL), (4, 'x')",
    );
    let query = "SELECT 5 FROM a, LATERAL (SELECT 1 AS one, v || 'y' AS w FROM b WHERE 2 IN (a.id) \
                 GROUP BY v, s) AS q";
    assert_eq!(both(&sql, query), ["5", "5"]);
    // A value that nothing but an unread one reads.
    let query = "SELECT 7 FROM a, LATERAL (SELECT id + 1 AS x FROM b) AS p, \
                 LATERAL (SELECT p.x AS y, 2 AS z FROM b WHERE b.s > a.id GROUP BY b.s) AS q";
    assert_eq!(both(&sql, query).len(), 8);
}

/// A constant of another type than the column's is made one of the column's, so that storage
/// decides the condition: blocks are left out by their zone maps.
#[test]
fn constants_of_other_types_reach_the_scan() {
    let sql = Sql::new();
    let columns = [
        ("i2", "SMALLINT"),
        ("i4", "INTEGER"),
        ("i8", "BIGINT"),
        ("n2", "NUMERIC(10, 2)"),
        ("n0", "NUMERIC(18)"),
        ("f8", "DOUBLE PRECISION"),
    ];
    let list = columns.map(|(name, ty)| format!("{name} {ty}")).join(", ");
    sql.run(&format!("CREATE TABLE c ({list}, d DATE, s TIMESTAMP)"));
    sql.run(
        "INSERT INTO c SELECT v % 100, v, v, v, v, v, DATE '2020-01-01' + v, \
         TIMESTAMP '2020-01-01 00:00' + v * INTERVAL '1 hour' FROM generate_series(1, 3000) AS g(v)",
    );
    let numbers = [
        "7",
        "7::smallint",
        "7::bigint",
        "3000000000",
        "-7",
        "(3 + 4)",
        "7.0",
        "7.5",
    ];
    let mut conditions = Vec::new();
    for (name, _) in columns {
        for number in numbers {
            // PostgreSQL compares such as floats.
            if name == "f8" && number.contains('.') {
                continue;
            }
            for op in ["=", "<", ">="] {
                conditions.push(format!("{name} {op} {number}"));
            }
            conditions.push(format!("{number} > {name}"));
        }
        conditions.push(format!("{name} IN (1, 5, 7)"));
        if name != "n2" && name != "n0" {
            conditions.push(format!("{name} = ANY ('{{1, 5, NULL}}')"));
        }
        conditions.push(format!("{name} BETWEEN 3 AND 70"));
        conditions.push(format!("NOT {name} < 50"));
        conditions.push(format!("({name} = 3 OR {name} = 4::bigint)"));
    }
    for moment in ["DATE '2020-02-03'", "TIMESTAMP '2020-02-03 00:00'"] {
        for op in ["=", "<", ">="] {
            conditions.push(format!("d {op} {moment}"));
        }
        conditions.push(format!("s < {moment}"));
    }
    let mut left = Vec::new();
    for condition in &conditions {
        let query = format!("SELECT count(*), max(i8) FROM c WHERE {condition}");
        both(&sql, &query);
        let plan = plan(&sql, &query);
        if plan.contains("filter") || !plan.contains(" where ") {
            left.push(format!("{condition}\n{plan}"));
        }
    }
    assert!(left.is_empty(), "{}", left.join("\n"));
}

#[test]
fn grouping_sets_are_groups_of_groups() {
    let sql = Sql::new();
    sql.run("CREATE TABLE s (a INTEGER, b TEXT, c DATE, n NUMERIC(10, 2), f DOUBLE PRECISION, i BIGINT)");
    sql.run(
        "INSERT INTO s SELECT nullif(v % 7, 3), nullif('b' || v % 5, 'b2'), DATE '2020-01-01' + v % 3, \
         v / 3.0, v, v FROM generate_series(1, 3000) AS g(v)",
    );
    sql.run("CREATE TABLE none AS SELECT * FROM s LIMIT 0; CREATE TABLE u AS SELECT DISTINCT a, 'u' || a AS name FROM s");
    let calls =
        "count(*), count(n), sum(n), sum(a), sum(i), avg(n), avg(a), min(b), max(c), max(f)";
    let mut queries = Vec::new();
    for groups in [
        "ROLLUP (a, b, c)",
        "CUBE (a, b, c)",
        "GROUPING SETS ((a), (b), ())",
        "GROUPING SETS ((a, b), (a), (a), (b, c), (a, b))",
        "GROUPING SETS (())",
        "a, ROLLUP (b, c)",
        "CUBE (a), CUBE (b)",
        "ROLLUP ((a, b), c)",
    ] {
        for table in ["s", "none", "s LEFT JOIN u USING (a)"] {
            queries.push(format!("SELECT {calls} FROM {table} GROUP BY {groups}"));
        }
    }
    queries.extend([
        "SELECT a, b, grouping(a, b), grouping(b), count(*) FILTER (WHERE f > 9) FROM s GROUP BY CUBE (a, b) HAVING count(*) > 3".to_owned(),
        "SELECT a % 2 AS half, upper(b), sum(n + 1), sum((n + 1) * 2) FROM s GROUP BY ROLLUP (a % 2, upper(b))".to_owned(),
        "SELECT i, f, count(*) FROM s GROUP BY GROUPING SETS ((i), (f))".to_owned(),
        "SELECT DISTINCT a, sum(n) FROM s WHERE c > '2020-01-01' GROUP BY ROLLUP (a) ORDER BY 2 DESC LIMIT 5".to_owned(),
    ]);
    for query in &queries {
        both(&sql, query);
        let plan = plan(&sql, query);
        assert!(!plan.contains("fold "), "{query}\n{plan}");
    }
    // Results that do not add up are computed of the rows.
    both(
        &sql,
        "SELECT a, avg(f), count(DISTINCT b) FROM s GROUP BY CUBE (a, c)",
    );
}

/// Values of the outer row stand in the inner plan as constants, and are computed with before it
/// is planned: `3 = id` and `id = 3` are not two values of one column.
#[test]
fn constants_of_the_outer_row_are_computed_before_the_inner_plan_is_made() {
    let sql = Sql::new();
    sql.run("CREATE TABLE o (id INTEGER, n NUMERIC, r TSRANGE); CREATE TABLE i (t TEXT)");
    sql.run("INSERT INTO o VALUES (3, -7, '(2020-01-31 23:59:59.5,)'); INSERT INTO i VALUES ('a')");
    let inner = "SELECT DISTINCT o.r, p.id FROM o AS p, LATERAL (SELECT o.n FROM i) AS q";
    for condition in [
        "p.id = 3",
        "3 = p.id",
        "p.id = o.id",
        "p.id BETWEEN 3 AND 4",
    ] {
        for value in ["3 + m", "m + 3", "o.id + m", "3"] {
            let query = format!(
                "SELECT o.id FROM o, (SELECT max(0) AS m FROM i) AS x \
                 WHERE (o.r, {value}) IN ({inner} WHERE {condition})"
            );
            assert_eq!(both(&sql, &query), ["3"], "{query}");
        }
    }
}

/// Each level of a cross join has the texts of its inputs; few rows do not lead to the buffers of
/// all of them.
#[test]
fn cross_joins_of_texts_within_one_another_end() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a TEXT, b JSON)");
    sql.run(
        "INSERT INTO t SELECT 'a text of more than twelve bytes, ' || v, json_build_object('k', repeat('v', v)) \
         FROM generate_series(1, 5) AS g(v)",
    );
    let tables = (1..=5)
        .map(|n| format!("t AS t{n}"))
        .collect::<Vec<_>>()
        .join(", ");
    let query = format!(
        "SELECT count(DISTINCT t1.b::text), string_agg(t1.a, '') = '' FROM {tables}, json_each('{{\"x\": 1}}') AS j GROUP BY ()"
    );
    assert_eq!(sql.rows(&query), ["5|false"]);
}

/// The types whose values the bulk engine has in another form than the front, or not at all.
const FORMS: [(&str, &str); 8] = [
    ("uuid", "md5((g % 50)::text)::uuid"),
    ("real", "(g % 50) / 4.0"),
    ("bytea", "decode(md5((g % 50)::text), 'hex')"),
    ("interval", "(g % 50) * interval '1 day 1 hour'"),
    (
        "timetz",
        "'10:00:00+02'::timetz + (g % 50) * interval '1 minute'",
    ),
    ("numeric", "(g % 50) / 7.0"),
    ("int[]", "ARRAY[g % 50, g % 3]"),
    ("oid", "(g % 50)::oid"),
];

#[test]
fn columns_of_any_form_are_read_joined_and_grouped_at_once() {
    let sql = Sql::new();
    for (ty, value) in FORMS {
        sql.run(&format!("CREATE TABLE a (id INT, v {ty}, w {ty})"));
        sql.run(&format!(
            "INSERT INTO a SELECT g, CASE WHEN g % 11 > 0 THEN {value} END, {value}
             FROM generate_series(1, 3000) g"
        ));
        sql.run(&format!("CREATE TABLE b (id INT, v {ty})"));
        sql.run(&format!(
            "INSERT INTO b SELECT g, {value} FROM generate_series(10, 70) g"
        ));
        for query in [
            "SELECT v, count(*), count(DISTINCT w), min(id) FROM a GROUP BY v ORDER BY v",
            "SELECT count(DISTINCT v), count(v) FROM a WHERE w IS NOT NULL",
            "SELECT a.v, sum(a.id), max(b.id) FROM a JOIN b ON a.v = b.v WHERE a.id % 3 = 0 GROUP BY a.v ORDER BY 2",
            "SELECT count(*), count(b.id) FROM a LEFT JOIN b ON a.v = b.v AND a.id < b.id * 20",
            "SELECT count(*) FROM a WHERE v IN (SELECT v FROM b WHERE id > 40)",
            "SELECT count(*) FROM a WHERE NOT EXISTS (SELECT FROM b WHERE b.v = a.v)",
            "SELECT DISTINCT v FROM a WHERE id < 400 ORDER BY v DESC LIMIT 7",
            "SELECT a.id, a.w FROM a JOIN (SELECT v, max(id) AS m FROM b GROUP BY v) c ON a.w = c.v ORDER BY a.id DESC LIMIT 5",
            "SELECT v, w, count(*) FROM a WHERE id < 200 GROUP BY v, w HAVING v <> w OR v IS NULL ORDER BY w, v",
        ] {
            sql.rows(query);
            let plan = sql
                .rows_of_one_engine(&format!("EXPLAIN {query}"))
                .join("\n");
            // Equal values of these types may differ in form, and one of them is shown.
            let differ = ["interval", "timetz", "numeric", "int[]"].contains(&ty);
            assert!(differ || !plan.contains("fold "), "{ty}: {query}\n{plan}");
        }
        sql.run("DROP TABLE a, b");
    }
}

/// A condition that may change its value is computed once for each pair, and a common table expression
/// that is read once stands where it is read.
#[test]
fn volatile_conditions_are_computed_for_each_row_of_a_join() {
    let sql = Sql::new();
    let pairs =
        "SELECT count(*) FROM generate_series(1, 200) AS a(v), generate_series(1, 50) AS b(w)";
    for query in [
        format!("{pairs} WHERE random() < 0.5"),
        format!("{pairs} WHERE a.v > 0 AND random() < 0.5 AND b.w > 0"),
        "SELECT count(*) FROM generate_series(1, 200) AS a(v) JOIN generate_series(1, 50) AS b(w) \
         ON random() < 0.5"
            .to_owned(),
    ] {
        let count: i64 = sql.rows_of_one_engine(&query)[0].parse().unwrap();
        // Of 10,000 pairs, within four deviations.
        assert!((4800..=5200).contains(&count), "{query}: {count}");
    }
    sql.run("CREATE SEQUENCE s");
    let twice = "WITH c AS (SELECT nextval('s') AS n FROM generate_series(1, 100)) \
                 SELECT count(*), count(DISTINCT n) FROM c";
    assert_eq!(sql.rows_of_one_engine(twice), ["100|100"]);
    assert_eq!(sql.rows_of_one_engine("SELECT nextval('s')"), ["101"]);
}

#[test]
fn more_tables_are_joined_than_are_ordered_at_once() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INTEGER, b INTEGER); INSERT INTO t VALUES (1, 2), (2, 1)");
    let tables: Vec<String> = (0..70).map(|n| format!("t AS t{n}")).collect();
    let equal: Vec<String> = (1..70).map(|n| format!("t{n}.a = t{}.b", n - 1)).collect();
    let query = format!(
        "SELECT t0.a, t69.b FROM {} WHERE {} ORDER BY 1",
        tables.join(", "),
        equal.join(" AND ")
    );
    assert_eq!(sql.rows(&query), ["1|1", "2|2"]);
}

/// A sample with a seed is the same however many threads read the table.
#[test]
fn samples_with_a_seed_are_the_same_rows() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INTEGER); INSERT INTO t SELECT * FROM generate_series(1, 300000)");
    for method in ["BERNOULLI (10)", "SYSTEM (10)"] {
        let query = format!("SELECT count(*), sum(a) FROM t TABLESAMPLE {method} REPEATABLE (7)");
        let first = sql.rows_of_one_engine(&query);
        let count: i64 = first[0].split('|').next().unwrap().parse().unwrap();
        assert!((20_000..40_000).contains(&count), "{method}: {count}");
        for threads in [1, 2, 4] {
            sql.run(&format!("SET threads = {threads}"));
            assert_eq!(sql.rows_of_one_engine(&query), first, "{method}");
        }
        let other = query.replace("(7)", "(8)");
        assert_ne!(sql.rows_of_one_engine(&other), first, "{method}");
    }
}

/// Columns of files come in the order that a query asks for, in batches of their row groups.
#[test]
fn files_are_read_as_tables() {
    let sql = Sql::new();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    sql.run("CREATE TABLE t AS SELECT g AS a, g * 1.5::float8 AS b, 'x' || g AS c, date '2024-01-01' + g % 90 AS d FROM generate_series(1, 50000) AS g");
    for name in ["t.parquet", "t.csv"] {
        let file = path(name);
        let header = if name.ends_with("csv") {
            " WITH (HEADER)"
        } else {
            ""
        };
        sql.run(&format!("COPY t TO '{file}'{header}"));
        for query in [
            "SELECT c, a FROM t WHERE a % 9999 = 1 ORDER BY a",
            "SELECT count(*), sum(a), max(c), min(d) FROM t",
            "SELECT d, count(*), sum(b) FROM t GROUP BY d ORDER BY 1 LIMIT 3",
            "SELECT x.c FROM t x JOIN t y ON x.a = y.a * 2 ORDER BY x.a DESC LIMIT 3",
        ] {
            let asked = query
                .replace(
                    "FROM t x JOIN t y",
                    &format!("FROM '{file}' x JOIN '{file}' y"),
                )
                .replace("FROM t ", &format!("FROM '{file}' "));
            let asked = match asked.ends_with("FROM t") {
                true => asked.replace("FROM t", &format!("FROM '{file}'")),
                false => asked,
            };
            assert_eq!(sql.rows(&asked), sql.rows(query), "{asked}");
        }
        assert_eq!(
            sql.rows(&format!("SELECT a FROM '{file}' LIMIT 3")),
            ["1", "2", "3"]
        );
    }
    std::fs::write(path("broken.parquet"), b"PAR1 no file").unwrap();
    assert_eq!(
        sql.state(&format!("SELECT * FROM '{}'", path("broken.parquet"))),
        "22P04"
    );
    std::fs::write(path("short.csv"), "a,b\n1,2\n3\n").unwrap();
    assert_eq!(
        sql.state(&format!("SELECT * FROM '{}'", path("short.csv"))),
        "22P04"
    );
}

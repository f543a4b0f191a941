//! Functions over windows.

use crate::support::Sql;

const ROWS: &str = "
    CREATE TABLE w (id INT PRIMARY KEY, p TEXT, k INT, x NUMERIC(8, 2), f FLOAT8, t TEXT, at TIMESTAMPTZ);
    INSERT INTO w VALUES
     (1, 'a', 1, 1.50, 0.1, 'x', '2024-01-01 00:00+00'), (2, 'a', 1, 2.25, 0.2, NULL, '2024-01-01 12:00+00'),
     (3, 'a', 2, NULL, 0.3, 'z', '2024-01-02 00:00+00'), (4, 'a', NULL, 4.00, NULL, 'y', '2024-01-03 00:00+00'),
     (5, 'b', 3, 5.75, 'NaN', 'v', '2024-01-03 06:00+00'), (6, 'b', 5, -6.00, 1.5, 'v', '2024-01-09 00:00+00'),
     (7, NULL, 5, 7.00, 2.5, 'u', NULL);
";

#[test]
fn functions_and_frames_give_what_they_give_in_postgresql() {
    let sql = Sql::new();
    sql.run(ROWS);
    sql.run("SET TIME ZONE 'UTC'");
    for (query, rows) in [
        (
            "SELECT row_number() OVER w, rank() OVER v, dense_rank() OVER v, percent_rank() OVER v, \
             cume_dist() OVER v, ntile(2) OVER w FROM w WINDOW v AS (PARTITION BY p ORDER BY k), w AS \
             (PARTITION BY p ORDER BY k, id) ORDER BY id",
            "1|1|1|0.0|0.5|1;2|1|1|0.0|0.5|1;3|3|2|0.6666666666666666|0.75|2;4|4|3|1.0|1.0|2;\
             1|1|1|0.0|0.5|1;2|2|2|1.0|1.0|2;1|1|1|0.0|1.0|1",
        ),
        (
            "SELECT lag(t) OVER w, lead(t, 2, 'none') OVER w, lag(x, k, 0) OVER w, lead(id, -1) OVER \
             w FROM w WINDOW w AS (ORDER BY id) ORDER BY id",
            "NULL|z|0|NULL;x|y|1.50|1;NULL|v|1.50|2;z|v|NULL|3;y|u|2.25|4;v|none|1.50|5;\
             v|none|2.25|6",
        ),
        (
            "SELECT first_value(t) OVER w, last_value(x) OVER w, nth_value(id, 2) OVER w, \
             nth_value(id, k) OVER w FROM w WINDOW w AS (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 \
             FOLLOWING) ORDER BY id",
            "x|2.25|2|1;x|NULL|2|1;x|4.00|2|2;NULL|5.75|3|NULL;z|-6.00|4|5;y|7.00|5|NULL;\
             v|7.00|6|NULL",
        ),
        (
            "SELECT sum(x) OVER w, avg(x) OVER w, count(x) OVER w, min(t) OVER w, max(f) OVER w, \
             sum(f) OVER (PARTITION BY p ORDER BY id) FROM w WINDOW w AS (ORDER BY id ROWS BETWEEN 1 \
             FOLLOWING AND 3 FOLLOWING) ORDER BY id",
            "6.25|3.1250000000000000|2|y|0.3|0.1;9.75|4.8750000000000000|2|v|NaN|0.30000000000000004;\
             3.75|1.25000000000000000000|3|v|NaN|0.6000000000000001;\
             6.75|2.2500000000000000|3|u|NaN|0.6000000000000001;\
             1.00|0.50000000000000000000|2|u|2.5|NaN;7.00|7.0000000000000000|1|u|2.5|NaN;\
             NULL|NULL|0|NULL|NULL|2.5",
        ),
        (
            "SELECT sum(id) OVER (ORDER BY k GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE \
             CURRENT ROW), sum(id) OVER (ORDER BY k GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING \
             EXCLUDE GROUP), sum(id) OVER (ORDER BY k GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING \
             EXCLUDE TIES), max(t) OVER (ORDER BY k GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING \
             EXCLUDE TIES), min(id) OVER (ORDER BY k GROUPS BETWEEN 1 PRECEDING AND 1 \
             FOLLOWING EXCLUDE GROUP) FROM w ORDER BY id",
            "5|3|4|z|3;4|3|5|z|3;8|8|11|z|1;13|13|17|y|6;16|16|21|z|3;16|9|15|y|4;15|9|16|y|4",
        ),
        (
            "SELECT count(*) OVER (ORDER BY k RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING), count(*) \
             OVER (ORDER BY k DESC NULLS LAST RANGE BETWEEN 2 PRECEDING AND CURRENT ROW), count(*) \
             OVER (ORDER BY at RANGE BETWEEN '1 day' PRECEDING AND '12 hours' FOLLOWING), count(*) \
             OVER (ORDER BY x RANGE BETWEEN 1.5 PRECEDING AND UNBOUNDED FOLLOWING) FROM w ORDER BY id",
            "4|4|2|6;4|4|3|6;4|2|3|1;1|1|3|4;4|3|2|3;2|2|1|7;2|2|1|3",
        ),
        (
            "SELECT sum(x) FILTER (WHERE k > 1) OVER (ORDER BY id), count(*) FILTER (WHERE t = 'v') \
             OVER (PARTITION BY p), (bool_and(k < 3) OVER (ORDER BY id ROWS 1 PRECEDING))::text FROM \
             w ORDER BY id",
            "NULL|0|true;NULL|0|true;NULL|0|true;NULL|0|true;5.75|2|false;-0.25|2|false;6.75|0|false",
        ),
        (
            "SELECT (min(at) OVER (PARTITION BY p) = at)::text, rank() OVER (ORDER BY f DESC), \
             (max(at) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) - at)::text FROM w \
             ORDER BY id",
            "true|7|NULL;false|6|-12:00:00;false|5|-12:00:00;false|1|-1 days;true|2|-06:00:00;\
             false|4|-5 days -18:00:00;NULL|3|NULL",
        ),
        (
            "SELECT g, sum(g) OVER (PARTITION BY g % 2 ORDER BY g), lag(g) OVER (ORDER BY g DESC) \
             FROM generate_series(1, 5) g ORDER BY g",
            "1|1|2;2|2|3;3|4|4;4|6|5;5|9|NULL",
        ),
        // The same order in two forms.
        (
            "SELECT sum(id) OVER (ORDER BY id::NUMERIC RANGE 1 PRECEDING), \
             lag(id) OVER (ORDER BY id::NUMERIC), count(*) OVER () FROM w ORDER BY id",
            "1|NULL|7;3|1|7;5|2|7;7|3|7;9|4|7;11|5|7;13|6|7",
        ),
    ] {
        assert_eq!(sql.rows(query).join(";"), rows, "{query}");
    }
}

#[test]
fn numbers_of_rows_and_parts_are_positive() {
    let sql = Sql::new();
    sql.run(ROWS);
    for (statement, state) in [
        ("SELECT ntile(0) OVER (ORDER BY id) FROM w", "22014"),
        (
            "SELECT nth_value(id, k - 1) OVER (ORDER BY id) FROM w",
            "22016",
        ),
        (
            "SELECT nth_value(g, 0) OVER () FROM generate_series(1, 2) g",
            "22016",
        ),
        (
            "SELECT sum(id) OVER (ORDER BY id ROWS -1 PRECEDING) FROM w",
            "22013",
        ),
        (
            "SELECT sum(id) OVER (ORDER BY k RANGE NULL PRECEDING) FROM w",
            "22004",
        ),
        (
            "SELECT sum(1e308::FLOAT8) OVER (ORDER BY id) FROM w",
            "22003",
        ),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
    // Without a row there is nothing to be refused.
    for statement in [
        "SELECT ntile(0) OVER (ORDER BY id) FROM w WHERE id > 7",
        "SELECT nth_value(id, 0) OVER () FROM w WHERE id > 7",
    ] {
        assert!(sql.rows(statement).is_empty(), "{statement}");
    }
}

/// Calls whose order is the beginning of another's are computed with it, in one operator.
#[test]
fn orders_that_begin_alike_are_one() {
    let sql = Sql::new();
    sql.run(ROWS);
    let operators = |query: &str| {
        let plan = sql.rows_of_one_engine(&format!("EXPLAIN {query}"));
        let lines = plan.iter().flat_map(|line| line.lines().map(str::trim));
        let windows = lines.filter(|line| line.starts_with("window "));
        let windows = windows.map(|line| line.split("  ").next().unwrap().to_owned());
        windows.collect::<Vec<String>>().join(", ")
    };
    for (calls, expected) in [
        (
            "rank() OVER (PARTITION BY p ORDER BY k), sum(id) OVER (PARTITION BY p), \
             lag(id) OVER (PARTITION BY p ORDER BY k, id)",
            "window 3 by 3 keys",
        ),
        // An average of numbers has its sum and its count from others.
        (
            "avg(x) OVER (ORDER BY k), sum(x) OVER (ORDER BY k), count(x) OVER (ORDER BY k)",
            "window 2 by 1 keys",
        ),
        (
            "rank() OVER (ORDER BY k), rank() OVER (ORDER BY k DESC)",
            "window 1 by 1 keys, window 1 by 1 keys",
        ),
    ] {
        assert_eq!(
            operators(&format!("SELECT {calls} FROM w")),
            expected,
            "{calls}"
        );
    }
}

/// Rows that find no room are set aside, whole partitions or in order.
#[test]
fn windows_do_with_little_memory() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE big (k BIGINT, v INT, t TEXT);
         INSERT INTO big SELECT g * 7919 % 90001, g * 31 % 1000, 'text number ' || g % 20011
         FROM generate_series(1, 150000) g",
    );
    for query in [
        "SELECT sum(n), sum(s), count(l) FROM (SELECT row_number() OVER w AS n, sum(v) OVER w AS s,
         lag(t) OVER w AS l FROM big WINDOW w AS (PARTITION BY v ORDER BY k, t)) q",
        "SELECT sum(n), sum(s), count(l), max(m) FROM (SELECT row_number() OVER w AS n,
         sum(v) OVER w AS s, lag(t, 3) OVER w AS l,
         max(t) OVER (ORDER BY k ROWS BETWEEN 9 PRECEDING AND 2 PRECEDING) AS m
         FROM big WINDOW w AS (ORDER BY k, t)) q",
        // Over rows of another operator.
        "SELECT sum(r), sum(s) FROM (SELECT rank() OVER w AS r, sum(g) OVER w AS s
         FROM generate_series(1, 200000) g WINDOW w AS (ORDER BY g % 1000)) q",
    ] {
        sql.run("SET memory_limit = '80%'");
        let expected = sql.rows_of_one_engine(query);
        sql.run("SET memory_limit = '4MB'");
        assert_eq!(sql.rows_of_one_engine(query), expected, "{query}");
        let plan = sql.rows_of_one_engine(&format!("EXPLAIN ANALYZE {query}"));
        let is_aside = plan.iter().any(|line| line.contains("bytes set aside"));
        assert!(is_aside || query.contains("generate_series"), "{plan:?}");
    }
    let refused = "SELECT cume_dist() OVER (ORDER BY k) FROM big";
    assert_eq!(sql.state(refused), "53200");
}

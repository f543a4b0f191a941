//! INSERT.

use crate::support::{LAYOUTS, Sql};

#[test]
fn values_defaults_and_column_lists() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        sql.run(&format!(
            "CREATE TABLE t (a INT NOT NULL, b TEXT DEFAULT 'none', c DECIMAL(5,2) DEFAULT 1 + 0.5, d DATE) WITH (layout = '{layout}')"
        ));
        assert_eq!(
            sql.run(
                "INSERT INTO t VALUES (1, 'x', 2.345, '2024-02-29'), (2, DEFAULT, DEFAULT, NULL)"
            ),
            "INSERT 0 2"
        );
        sql.run("INSERT INTO t (d, a) VALUES ('2024-01-01', 1 + 2), ('2023-01-01', 4)");
        sql.run("INSERT INTO t SELECT 5, 'five'");
        sql.run("INSERT INTO t (a, c) SELECT 6.6, '7'");
        assert_eq!(
            sql.rows("SELECT * FROM t ORDER BY a"),
            [
                "1|x|2.35|2024-02-29",
                "2|none|1.50|NULL",
                "3|none|1.50|2024-01-01",
                "4|none|1.50|2023-01-01",
                "5|five|1.50|NULL",
                "7|none|7.00|NULL",
            ]
        );
    }
}

#[test]
fn default_values() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT DEFAULT 7, b TEXT); INSERT INTO t DEFAULT VALUES");
    assert_eq!(sql.one("SELECT a, b FROM t"), "7|NULL");
    assert_eq!(sql.state("CREATE TABLE u (a INT DEFAULT 'x')"), "22P02");
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_stays() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (a SMALLINT, b VARCHAR(3), c CHAR(3), d DECIMAL(4,1) NOT NULL, e DATE)",
    );
    let bad = [
        ("(40000, 'a', 'a', 1, NULL)", "22003"),
        ("(1.5e6, 'a', 'a', 1, NULL)", "22003"),
        ("('x', 'a', 'a', 1, NULL)", "22P02"),
        ("(1, 'abcd', 'a', 1, NULL)", "22001"),
        ("(1, 'a', 'abcd', 1, NULL)", "22001"),
        ("(1, 'a', 'a', 1000, NULL)", "22003"),
        ("(1, 'a', 'a', NULL, NULL)", "23502"),
        ("(1, 'a', 'a', 1, '2023-02-29')", "22008"),
        ("(1, 'a', 'a', 1, true)", "42804"),
        ("(1, 'a', 'a', 1)", "OK"),
        ("(1, 'a', 'a', 1, NULL, 5)", "42601"),
    ];
    for (values, expected) in bad {
        let statement = format!("INSERT INTO t VALUES (1, 'ok', 'ok', 1, NULL), {values}");
        if expected == "OK" {
            assert_eq!(sql.state(&statement), "42601");
            continue;
        }
        assert_eq!(sql.state(&statement), expected, "{statement}");
    }
    let error = sql.error("INSERT INTO t VALUES (1, 'a', 'a', NULL, NULL)");
    assert!(error.message.contains("\"d\""), "{error}");
    assert_eq!(
        sql.state("INSERT INTO t SELECT 1, 'a', 'a', 1, true"),
        "42804"
    );
    assert_eq!(
        sql.state(
            "INSERT INTO t SELECT value, 'a', 'a', 1 FROM generate_series(32000, 33000) AS g(value)"
        ),
        "22003"
    );
    assert_eq!(
        sql.state("INSERT INTO t (a, nosuch) VALUES (1, 2)"),
        "42703"
    );
    assert_eq!(sql.state("INSERT INTO nosuch VALUES (1)"), "42P01");
    assert_eq!(sql.one("SELECT count(*) FROM t"), "0");
    sql.run("INSERT INTO t VALUES (1, 'abc   ', 'ab ', 1, NULL)");
    assert_eq!(sql.one("SELECT b || '<', c || '<' FROM t"), "abc<|ab<");
}

#[test]
fn a_table_can_feed_itself_and_subqueries_work() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1), ((SELECT 2)), ((SELECT max(x) FROM (VALUES (7), (9)) v(x)))");
    sql.run("INSERT INTO t SELECT a + 10 FROM t");
    assert_eq!(
        sql.sorted("SELECT a FROM t"),
        ["1", "11", "12", "19", "2", "9"]
    );
}

#[test]
fn a_query_in_brackets_is_no_list_of_columns() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b INT)");
    for (insert, rows) in [
        ("INSERT INTO t (VALUES (1, 1)) EXCEPT (SELECT 1, 2)", "1|1"),
        (
            "INSERT INTO t AS g (VALUES (2, 2)) UNION SELECT 2, 2",
            "2|2",
        ),
        ("INSERT INTO t AS g ((SELECT 3, 3)) RETURNING g.a", "3|3"),
        ("INSERT INTO t (((VALUES (4, 4)))) LIMIT 1", "4|4"),
        (
            "INSERT INTO t (WITH w AS (SELECT 5, 5) TABLE w) INTERSECT SELECT 5, 5",
            "5|5",
        ),
        (
            "INSERT INTO t (b, a) (WITH w AS (SELECT 6, 6) TABLE w)",
            "6|6",
        ),
        (
            "PREPARE p AS INSERT INTO t (VALUES ($1::int, 7)) EXCEPT SELECT 1, 1; EXECUTE p (7)",
            "7|7",
        ),
    ] {
        sql.run(insert);
        assert_eq!(
            sql.rows_of_one_engine("SELECT * FROM t"),
            [rows],
            "{insert}"
        );
        sql.run("DELETE FROM t");
    }
}

/// Rows of literals need no plan; those of a query with the same values do.
#[test]
fn rows_of_values_are_those_of_a_query() {
    let sql = Sql::new();
    let columns = "id INT PRIMARY KEY, s SMALLINT DEFAULT 7, m DECIMAL(6,2), n NUMERIC, \
                   v VARCHAR(4) DEFAULT 'none', c CHAR(3), d DATE";
    for table in ["few", "asked"] {
        sql.run(&format!("CREATE TABLE {table} ({columns})"));
    }
    for rows in [
        "(1, 2, 3.455, 4, 'a', 'b', '2024-02-29'), (2, NULL, '-0.005', 1e3, 'abcd', 'x  ', NULL)",
        "(3, 5, 1, 2, 'e   ', 'f', NULL), (3, 5, 1, 2, 'e', 'f', NULL)",
        "(4, 5, 10000, 2, 'e', 'f', NULL)",
        "(5, 5, 1, 2, 'five5', 'f', NULL), (6, 5, 1, 2, 'e', 'f', NULL)",
        "(7, 40000, 1, 2, 'e', 'f', NULL)",
        "(8, 5, 1, 2, 'five ', 'four    ', NULL)",
        "(9, 5, ' 1.5 ', 2, 'e', 'f  ', 'infinity')",
        "(' 10', '5', 1, 'NaN', 'ä', 'öü', NULL), ('+11', '-6', .5, -1.50, '', '', NULL)",
        "(12.5, 5, 1, 2, 'e', 'f', NULL)",
        "(-13, 5, 1, 2, 'e', 'f', NULL), (1, 5, 1, 2, 'e', 'f', NULL)",
    ] {
        let outcomes = [
            format!("INSERT INTO few VALUES {rows}"),
            format!("INSERT INTO asked VALUES {rows} ORDER BY 1"),
        ];
        let [at_once, sorted] = outcomes.map(|statement| {
            sql.run("BEGIN");
            let state = sql.ended(&statement);
            sql.run("ROLLBACK");
            state
        });
        assert_eq!(at_once, sorted, "{rows}");
        if at_once.is_empty() {
            sql.run(&format!("INSERT INTO few VALUES {rows}"));
            sql.run(&format!("INSERT INTO asked VALUES {rows} ORDER BY 1"));
        }
        let all = |table: &str| sql.rows(&format!("SELECT * FROM {table} ORDER BY id"));
        assert_eq!(all("few"), all("asked"), "{rows}");
    }
    sql.run("INSERT INTO few (id, v, s) VALUES (20, DEFAULT, 1), (21, 'x', DEFAULT), (22, DEFAULT, DEFAULT)");
    assert_eq!(
        sql.rows("SELECT id, s, v FROM few WHERE id >= 20 ORDER BY id"),
        ["20|1|none", "21|7|x", "22|7|none"]
    );
    assert_eq!(
        sql.state("INSERT INTO few (id, v) VALUES (30, 'a'), (31)"),
        "42601"
    );
}

#[test]
fn the_current_time_is_that_of_the_transaction_whichever_way_rows_are_added() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (k INT, z TIMESTAMPTZ DEFAULT now(), l TIMESTAMP DEFAULT LOCALTIMESTAMP, \
         d DATE DEFAULT CURRENT_DATE, c TIMESTAMP(0)); SET timezone = 'Asia/Kolkata'",
    );
    // Rows of a query are added the general way.
    sql.run(
        "BEGIN; INSERT INTO t (k) VALUES (1); \
         INSERT INTO t VALUES (2, CURRENT_TIMESTAMP, now(), transaction_timestamp()), \
         (3, now(), CURRENT_TIMESTAMP, current_date); \
         INSERT INTO t SELECT 4, CURRENT_TIMESTAMP, LOCALTIMESTAMP, CURRENT_DATE; COMMIT",
    );
    assert_eq!(
        sql.one("SELECT count(DISTINCT (z, l, d)) || ' ' || count(*) FROM t"),
        "1 4"
    );
    assert_eq!(
        sql.one("SELECT bool_and(l = z AT TIME ZONE 'Asia/Kolkata' AND d = l::date) FROM t"),
        "true"
    );
    sql.run("INSERT INTO t VALUES (5, clock_timestamp(), now()), (6, now(), now())");
    assert_eq!(
        sql.one("SELECT count(*) FROM t WHERE k > 4 AND z > (SELECT z FROM t WHERE k = 1)"),
        "2"
    );
    // A column that rounds, types to which the time is not assigned, a search path of one's own.
    sql.run("INSERT INTO t (k, c) VALUES (7, now())");
    assert_eq!(
        sql.one("SELECT c = date_trunc('second', c) FROM t WHERE k = 7"),
        "true"
    );
    assert_eq!(sql.state("INSERT INTO t (k) VALUES (now())"), "42804");
    assert_eq!(
        sql.state("INSERT INTO t (k, z) VALUES (8, now(1))"),
        "42883"
    );
}

/// Expressions that mean nothing are told of before values that do not fit.
#[test]
fn an_expression_that_means_nothing_counts_before_a_value_that_does_not_fit() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (id INT, c CHAR(1), d DATE)");
    for (values, state) in [
        ("1, 'long', 5 + ARRAY[1]", "42883"),
        ("1, 'long', nothing(1)", "42883"),
        ("1, 'long', x", "42703"),
        ("1, 'long', true", "42804"),
        ("1, 'long', current_date", "22001"),
        ("'x', 'y', 5 + ARRAY[1]", "42883"),
        ("'x', 'y', NULL", "22P02"),
    ] {
        assert_eq!(
            sql.state(&format!("INSERT INTO t VALUES ({values})")),
            state,
            "{values}"
        );
    }
}

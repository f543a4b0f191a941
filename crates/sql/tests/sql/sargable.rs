//! Predicates in storage give what a filter of the engine gives.

use crate::support::{LAYOUTS, Sql};

/// Conditions, and equivalents that storage does not understand: `+ 0` or `|| ''`
/// hides the column.
const PAIRS: [(&str, &str); 26] = [
    ("c > 0.055", "c + 0 > 0.055"),
    ("c >= 0.055", "c + 0 >= 0.055"),
    ("c < 0.055", "c + 0 < 0.055"),
    ("c <= -0.055", "c + 0 <= -0.055"),
    ("c = 0.055", "c + 0 = 0.055"),
    ("c <> 0.055", "c + 0 <> 0.055"),
    ("NOT (c = 0.055)", "NOT (c + 0 = 0.055)"),
    ("c = 0.05", "c + 0 = 0.05"),
    ("c IN (0.05, 0.055, 1)", "c + 0 IN (0.05, 0.055, 1)"),
    ("c NOT IN (0.055, 0.05)", "c + 0 NOT IN (0.055, 0.05)"),
    ("c > 99999999999", "c + 0 > 99999999999"),
    (
        "c > -99999999999999999999.5",
        "c + 0 > -99999999999999999999.5",
    ),
    ("a = 3", "a + 0 = 3"),
    ("3 < a", "3 < a + 0"),
    ("a < 2.5", "a + 0 < 2.5"),
    ("a BETWEEN 2 AND 4", "a + 0 BETWEEN 2 AND 4"),
    ("a NOT BETWEEN 2 AND 4", "a + 0 NOT BETWEEN 2 AND 4"),
    ("a IN (1, 3, NULL)", "a + 0 IN (1, 3, NULL)"),
    ("a NOT IN (1, 3, NULL)", "a + 0 NOT IN (1, 3, NULL)"),
    ("NOT (a IN (1, NULL))", "NOT (a + 0 IN (1, NULL))"),
    ("b LIKE 't1%'", "b || '' LIKE 't1%'"),
    ("b NOT LIKE 't1%'", "b || '' NOT LIKE 't1%'"),
    ("b LIKE 't1'", "b || '' LIKE 't1'"),
    ("b LIKE '%1'", "b || '' LIKE '%1'"),
    (
        "a = 1 OR (b = 't2' AND c > 0) OR a IS NULL",
        "a + 0 = 1 OR (b || '' = 't2' AND c + 0 > 0) OR a + 0 IS NULL",
    ),
    (
        "d < TIMESTAMP '2020-01-02 12:00:00'",
        "CAST(d AS TIMESTAMP) + INTERVAL '0 days' < TIMESTAMP '2020-01-02 12:00:00'",
    ),
];

#[test]
fn scans_and_expressions_agree() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        sql.run(&format!(
            "CREATE TABLE t (id INT, a INT, b TEXT, c DECIMAL(15,2), d DATE) WITH (layout = '{layout}');
             INSERT INTO t SELECT value, NULLIF(value % 6, 5), 't' || (value % 13), (value % 21 - 10) * 0.01,
               DATE '2020-01-01' + CAST(value % 4 AS INT) FROM generate_series(1, 300) AS g(value);
             INSERT INTO t (id) VALUES (301)"
        ));
        for (pushed, plain) in PAIRS {
            let expected = sql.sorted(&format!("SELECT id FROM t WHERE {plain}"));
            assert_eq!(
                sql.sorted(&format!("SELECT id FROM t WHERE {pushed}")),
                expected,
                "{layout}: {pushed}"
            );
        }
    }
}

#[test]
fn most_conditions_reach_storage() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (id INT, a INT, b TEXT, c DECIMAL(15,2), d DATE, e TIMESTAMP, f DOUBLE PRECISION, g BOOLEAN)");
    for condition in [
        "c > 0.055",
        "c BETWEEN 0.05 AND 0.07",
        "c < 24",
        "a IN (1, 2, 3)",
        "a < 2.5",
        "b IN ('x', 'y')",
        "d >= DATE '1994-01-01' AND d < DATE '1994-01-01' + INTERVAL '1' YEAR",
        "d < '1995-01-01'",
        "e >= '2020-01-01'",
        "f > 0.5",
        "g",
        "NOT g",
        "b LIKE 'PROMO%'",
        "b NOT LIKE 'PROMO%'",
        "a IS NULL OR c = 1",
    ] {
        let plan = sql
            .rows(&format!("EXPLAIN SELECT id FROM t WHERE {condition}"))
            .join("\n");
        assert!(!plan.contains("FilterExec"), "{condition}\n{plan}");
    }
}

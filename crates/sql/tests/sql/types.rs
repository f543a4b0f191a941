//! Every column type: in, stored, filtered, out, on every layout.

use crate::support::{LAYOUTS, Sql};

/// Type, a small literal, a larger one, and how both are shown.
const TYPES: [(&str, &str, &str, &str, &str); 19] = [
    ("BOOLEAN", "false", "true", "false", "true"),
    ("SMALLINT", "-5", "32767", "-5", "32767"),
    ("INTEGER", "-2147483648", "7", "-2147483648", "7"),
    (
        "BIGINT",
        "-9223372036854775808",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775807",
    ),
    ("REAL", "-1.5", "2.25", "-1.5", "2.25"),
    ("DOUBLE PRECISION", "-1e100", "3.5", "-1e100", "3.5"),
    ("DECIMAL(9,2)", "-1.10", "1234567.89", "-1.10", "1234567.89"),
    (
        "DECIMAL(18,4)",
        "-0.0001",
        "12345678901234.5678",
        "-0.0001",
        "12345678901234.5678",
    ),
    (
        "DECIMAL(38,0)",
        "-5",
        "99999999999999999999999999999999999999",
        "-5",
        "99999999999999999999999999999999999999",
    ),
    (
        "DATE",
        "'0001-01-01'",
        "'9999-12-31'",
        "0001-01-01",
        "9999-12-31",
    ),
    (
        "TIME",
        "'00:00:00'",
        "'23:59:59.999999'",
        "00:00:00",
        "23:59:59.999999",
    ),
    (
        "TIMESTAMP",
        "'0001-01-01 00:00:00'",
        "'9999-12-31 23:59:59.5'",
        "0001-01-01 00:00:00",
        "9999-12-31 23:59:59.500",
    ),
    (
        "TIMESTAMP WITH TIME ZONE",
        "'1999-01-01 00:00:00Z'",
        "'2024-05-05 12:00:00+02:00'",
        "1999-01-01 00:00:00+00:00",
        "2024-05-05 10:00:00+00:00",
    ),
    ("VARCHAR(5)", "''", "'zzzzz'", "", "zzzzz"),
    ("CHAR(5)", "'a'", "'b    '", "a    ", "b    "),
    (
        "TEXT",
        "'a string longer than twelve bytes'",
        "'b'",
        "a string longer than twelve bytes",
        "b",
    ),
    ("BYTEA", "'\\x00'", "'\\xdeadbeef'", "00", "deadbeef"),
    (
        "UUID",
        "'00000000-0000-0000-0000-000000000001'",
        "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
        "00000000000000000000000000000001",
        "a0eebc999c0b4ef8bb6d6bb9bd380a11",
    ),
    ("JSON", "'{\"a\": 1}'", "'[1, 2]'", "{\"a\": 1}", "[1, 2]"),
];

#[test]
fn values_survive_and_compare() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        for (kind, small, large, small_shown, large_shown) in TYPES {
            sql.run(&format!(
                "CREATE OR REPLACE TABLE t (id INT, x {kind}) WITH (layout = '{layout}');
                 INSERT INTO t VALUES (1, {small}), (2, NULL), (3, {large})"
            ));
            assert_eq!(
                sql.one("SELECT x FROM t WHERE id = 1"),
                small_shown,
                "{layout} {kind}"
            );
            assert_eq!(
                sql.one("SELECT x FROM t WHERE id = 3"),
                large_shown,
                "{layout} {kind}"
            );
            assert_eq!(
                sql.one("SELECT id FROM t WHERE x IS NULL"),
                "2",
                "{layout} {kind}"
            );
            if kind == "JSON" {
                continue;
            }
            assert_eq!(
                sql.one(&format!("SELECT id FROM t WHERE x = {small}")),
                "1",
                "{layout} {kind}"
            );
            assert_eq!(
                sql.rows(&format!("SELECT id FROM t WHERE x <> {small}")),
                ["3"],
                "{layout} {kind}"
            );
            assert_eq!(
                sql.rows(&format!("SELECT id FROM t WHERE x IN ({large}, {large})")),
                ["3"],
                "{layout} {kind}"
            );
            assert_eq!(
                sql.rows("SELECT id FROM t ORDER BY x, id"),
                ["1", "3", "2"],
                "{layout} {kind}"
            );
        }
    }
}

#[test]
fn intervals() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (x INTERVAL); INSERT INTO t VALUES ('1 day 02:00:00'), (NULL)");
    assert_eq!(
        sql.one("SELECT DATE '2024-01-31' + INTERVAL '1 month', TIMESTAMP '2024-01-01 00:00:00' + x FROM t WHERE x IS NOT NULL"),
        "2024-02-29 00:00:00|2024-01-02 02:00:00"
    );
}

#[test]
fn casts_and_literals() {
    let sql = Sql::new();
    assert_eq!(
        sql.one("SELECT TIMESTAMP '3000-01-01 00:00:00', CAST('1500-06-01' AS TIMESTAMP)"),
        "3000-01-01 00:00:00|1500-06-01 00:00:00"
    );
    assert_eq!(
        sql.one("SELECT CAST('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' AS UUID)::TEXT"),
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
    );
    assert_eq!(sql.one("SELECT CAST('\\xdead' AS BYTEA)::TEXT"), "\\xdead");
    assert_eq!(sql.state("SELECT CAST('x' AS UUID)"), "22P02");
    assert_eq!(sql.state("SELECT CAST('2024-13-01' AS DATE)"), "22008");
    assert_eq!(sql.one("SELECT 0.1 + 0.2"), "0.3");
    sql.run("CREATE TABLE t (ts TIMESTAMP, r REAL, f DOUBLE PRECISION, d DATE); INSERT INTO t VALUES ('2999-12-31', 0.5, 1e100, '2020-02-02')");
    for condition in [
        "ts BETWEEN '2999-01-01' AND '2999-12-31 00:00:00'",
        "ts IN ('2999-12-31', '1999-01-01')",
        "now() < ts AND now()::timestamp < ts",
        "'2020-02-02' = d AND d > '2020-02-01 10:00:00'",
        "r = 0.5 AND f > 0.1 AND f BETWEEN 1e99 AND 1e101 AND f IN (1e100, 2)",
    ] {
        assert_eq!(
            sql.one(&format!("SELECT count(*) FROM t WHERE {condition}")),
            "1",
            "{condition}"
        );
    }
    assert_eq!(
        sql.one("SELECT CASE WHEN f > 1 THEN f ELSE 0.5 END, f * 0.5 FROM t"),
        "1e100|5e99"
    );
}

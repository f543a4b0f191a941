//! Numbers behave as in PostgreSQL.

use crate::support::Sql;

#[test]
fn integers_overflow_with_an_error() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b BIGINT, c SMALLINT); INSERT INTO t VALUES (2147483647, 9223372036854775807, 32767)");
    for expression in [
        "a + a",
        "b + 1",
        "b * 2",
        "-b - 2",
        "c + c",
        "c * c * c",
        "a * a * a",
    ] {
        let result = sql.session.parse(&format!("SELECT {expression} FROM t"));
        assert!(result.is_ok());
    }
    assert_eq!(sql.state("SELECT b + 1 FROM t"), "22003");
    assert_eq!(sql.state("SELECT b * 2 FROM t"), "22003");
    assert_eq!(sql.state("SELECT -b - 2 FROM t"), "22003");
    assert_eq!(sql.state("SELECT a + a FROM t"), "22003");
    assert_eq!(sql.state("SELECT c + c FROM t"), "22003");
    assert_eq!(sql.state("SELECT 9223372036854775807 + 1"), "22003");
    assert_eq!(
        sql.one("SELECT a - 1, b - 1, -c FROM t"),
        "2147483646|9223372036854775806|-32767"
    );
    assert_eq!(sql.one("SELECT sum(a) FROM t"), "2147483647");
    sql.run("INSERT INTO t SELECT * FROM t");
    // Sums of BIGINT are NUMERIC.
    assert_eq!(sql.one("SELECT sum(b) FROM t"), "18446744073709551614");
    assert_eq!(
        sql.one("SELECT a, sum(b) FROM t GROUP BY a"),
        "2147483647|18446744073709551614"
    );
}

#[test]
fn division_by_zero_is_an_error_for_every_type() {
    let sql = Sql::new();
    sql.run("CREATE TABLE z (i INT, d DECIMAL(5,2), f DOUBLE PRECISION); INSERT INTO z VALUES (0, 0, 0)");
    for query in [
        "SELECT 1/0",
        "SELECT 1 % 0",
        "SELECT 1.5/0",
        "SELECT 1 / i FROM z",
        "SELECT 1 % i FROM z",
        "SELECT 1 / d FROM z",
        "SELECT 1 / f FROM z",
        "SELECT CAST(1 AS DOUBLE PRECISION) / 0",
    ] {
        assert_eq!(sql.state(query), "22012", "{query}");
    }
    assert_eq!(
        sql.one("SELECT NULL / 0, 7 / 2, -7 / 2, 7 % 3, -7 % 3"),
        "NULL|3|-3|1|-1"
    );
}

#[test]
fn casts_to_integers_round() {
    let sql = Sql::new();
    assert_eq!(
        sql.one("SELECT CAST(2.5 AS INT), CAST(2.7 AS INT), CAST(-2.7 AS INT), CAST(CAST(2.5 AS DOUBLE PRECISION) AS INT)"),
        "3|3|-3|2"
    );
    assert_eq!(sql.state("SELECT CAST(3000000000 AS INT)"), "22003");
    assert_eq!(sql.state("SELECT CAST('abc' AS INT)"), "22P02");
}

#[test]
fn nulls_sort_last_and_three_values_hold() {
    let sql = Sql::new();
    sql.run("CREATE TABLE n (a INT); INSERT INTO n VALUES (2), (NULL), (1)");
    assert_eq!(sql.rows("SELECT a FROM n ORDER BY a"), ["1", "2", "NULL"]);
    assert_eq!(
        sql.rows("SELECT a FROM n ORDER BY a DESC"),
        ["NULL", "2", "1"]
    );
    assert_eq!(
        sql.rows("SELECT a FROM n WHERE a NOT IN (1, NULL)"),
        [""; 0]
    );
    assert_eq!(sql.rows("SELECT a FROM n WHERE NOT (a = 1)"), ["2"]);
    assert_eq!(
        sql.one("SELECT NULL AND false, NULL OR true, NULL = NULL"),
        "false|true|NULL"
    );
}

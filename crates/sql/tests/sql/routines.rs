//! CREATE FUNCTION and CREATE MACRO, calls of them, and what the catalog tells of them.

use crate::support::Sql;

fn filled() -> Sql {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b TEXT); INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, NULL)");
    sql
}

#[test]
fn functions_are_made_called_and_dropped() {
    let sql = filled();
    assert_eq!(
        sql.run("CREATE FUNCTION f(a int, b int DEFAULT 1) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'select $1 + b'"),
        "CREATE FUNCTION"
    );
    assert_eq!(
        sql.one("SELECT f(1), f(1, 5), f(b => 2, a => 3), f(NULL)"),
        "2|6|5|NULL"
    );
    assert_eq!(
        sql.rows("SELECT f(a) FROM t WHERE f(a) > 2 ORDER BY 1"),
        ["3", "4"]
    );
    sql.run("CREATE FUNCTION g(n int) RETURNS bigint RETURN (SELECT count(*) FROM t WHERE a <= n)");
    assert_eq!(
        sql.rows("SELECT a, g(a) FROM t ORDER BY 1"),
        ["1|1", "2|2", "3|3"]
    );
    sql.run("CREATE FUNCTION h(n int) RETURNS TABLE (x int, y text) BEGIN ATOMIC SELECT a, CASE WHEN b IS NULL THEN 'none' ELSE b END FROM t WHERE a >= n; END");
    assert_eq!(sql.rows("SELECT * FROM h(2) ORDER BY x"), ["2|y", "3|none"]);
    assert_eq!(
        sql.rows("SELECT t.a, h.y FROM t, h(t.a) ORDER BY 1, 2"),
        ["1|none", "1|x", "1|y", "2|none", "2|y", "3|none"]
    );
    sql.run(
        "CREATE FUNCTION s() RETURNS SETOF int LANGUAGE sql AS $$ SELECT a FROM t ORDER BY a $$",
    );
    assert_eq!(sql.rows("SELECT * FROM s()"), ["1", "2", "3"]);
    assert_eq!(sql.rows("SELECT s()"), ["1", "2", "3"]);
    assert_eq!(sql.run("DROP FUNCTION s()"), "DROP FUNCTION");
    assert_eq!(sql.state("SELECT s()"), "42883");
    sql.run("DROP FUNCTION IF EXISTS s; DROP FUNCTION f, g(int)");
    assert_eq!(sql.state("DROP FUNCTION f"), "42883");
}

#[test]
fn macros_take_any_values() {
    let sql = filled();
    assert_eq!(
        sql.run("CREATE MACRO add(a, b := 5) AS a + b"),
        "CREATE MACRO"
    );
    assert_eq!(
        sql.one("SELECT add(1), add(1, 2), add(1.5, b := 2)"),
        "6|3|3.5"
    );
    sql.run("CREATE OR REPLACE MACRO add(a, b) AS a || b");
    assert_eq!(sql.one("SELECT add('a', 'b')"), "ab");
    sql.run("CREATE MACRO above(n) AS TABLE SELECT * FROM t WHERE a > n");
    assert_eq!(
        sql.rows("SELECT * FROM above(1) ORDER BY a"),
        ["2|y", "3|NULL"]
    );
    sql.run("DROP MACRO add; DROP MACRO TABLE above");
    assert_eq!(sql.state("SELECT add('a', 'b')"), "42883");
}

#[test]
fn overloads_are_told_apart_by_their_parameters() {
    let sql = Sql::new();
    sql.run("CREATE FUNCTION k(int) RETURNS text RETURN 'int'; CREATE FUNCTION k(text) RETURNS text RETURN 'text'");
    assert_eq!(
        sql.one("SELECT k(1), k('a'), k(1::smallint)"),
        "int|text|int"
    );
    assert_eq!(sql.state("DROP FUNCTION k"), "42725");
    sql.run("DROP FUNCTION k(int)");
    assert_eq!(sql.state("SELECT k(1)"), "42883");
}

#[test]
fn what_is_wrong_with_functions_is_told() {
    let sql = filled();
    for (text, state) in [
        (
            "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS 'begin end'",
            "0A000",
        ),
        ("CREATE FUNCTION f() RETURNS int AS 'select 1'", "42P13"),
        (
            "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'select nosuch'",
            "42703",
        ),
        (
            "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'selec'",
            "42601",
        ),
        (
            "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'select ''a''::text'",
            "42P13",
        ),
        (
            "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'select 1, 2'",
            "42P13",
        ),
        (
            "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'delete from t'",
            "0A000",
        ),
        (
            "CREATE FUNCTION f(a int, a int) RETURNS int RETURN 1",
            "42P13",
        ),
        (
            "CREATE FUNCTION f(a int DEFAULT 1, b int) RETURNS int RETURN 1",
            "42P13",
        ),
        ("CREATE FUNCTION f(a nosuch) RETURNS int RETURN 1", "42704"),
        ("CREATE FUNCTION nosuch.f() RETURNS int RETURN 1", "3F000"),
    ] {
        assert_eq!(sql.state(text), state, "{text}");
    }
    sql.run("CREATE FUNCTION f(a int) RETURNS int RETURN 1");
    assert_eq!(
        sql.state("CREATE FUNCTION f(b int) RETURNS int RETURN 2"),
        "42723"
    );
    assert_eq!(
        sql.state("CREATE OR REPLACE FUNCTION f(b int) RETURNS text RETURN 'a'"),
        "42P13"
    );
    sql.run("CREATE OR REPLACE FUNCTION f(b int) RETURNS int RETURN f(b) + 1");
    assert_eq!(sql.state("SELECT f(1)"), "54001");
}

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
fn bodies_are_checked_at_the_call_where_a_dump_says_so() {
    let sql = Sql::new();
    sql.run("SET default_with_oids = false; SET check_function_bodies = false");
    assert_eq!(sql.state("SET default_with_oids = true"), "0A000");
    sql.run(
        "CREATE FUNCTION of_later(n int) RETURNS SETOF int LANGUAGE sql AS 'SELECT a FROM later WHERE a > n'",
    );
    let atomic = "CREATE FUNCTION now() RETURNS int BEGIN ATOMIC SELECT a FROM later; END";
    assert_eq!(sql.state(atomic), "42P01");
    assert_eq!(sql.state("SELECT of_later(1)"), "42P01");
    sql.run("CREATE TABLE later (a int); INSERT INTO later VALUES (1), (2)");
    assert_eq!(sql.rows("SELECT of_later(1)"), ["2"]);
    sql.run("RESET check_function_bodies; DROP TABLE later");
    let same = "CREATE OR REPLACE FUNCTION of_later(n int) RETURNS SETOF int LANGUAGE sql AS 'SELECT a FROM later WHERE a > n'";
    assert_eq!(sql.state(same), "42P01");
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

#[test]
fn parameters_and_results_are_of_created_types_and_of_tables() {
    let sql = Sql::new();
    sql.run(
        "CREATE TYPE c AS (a INT, b TEXT); CREATE TYPE e AS ENUM ('x', 'y');
         CREATE TABLE t (id INT, v TEXT); INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, NULL);
         CREATE FUNCTION f1(x c) RETURNS int LANGUAGE sql AS 'SELECT ($1).a + 1';
         CREATE FUNCTION f2(int) RETURNS c LANGUAGE sql AS $$ SELECT ROW($1, 'r')::c $$;
         CREATE FUNCTION f3(int) RETURNS c LANGUAGE sql AS $$ SELECT $1, 'two'::text WHERE $1 > 0 $$;
         CREATE FUNCTION f4() RETURNS SETOF c LANGUAGE sql AS $$ SELECT id, v FROM t ORDER BY id $$;
         CREATE FUNCTION f5(t) RETURNS text LANGUAGE sql AS $$ SELECT $1.v || '!' $$;
         CREATE FUNCTION f6(r t, n int DEFAULT 2) RETURNS SETOF t LANGUAGE sql AS $$ SELECT (r).* FROM generate_series(1, n) $$;
         CREATE FUNCTION f7(e, e[]) RETURNS e LANGUAGE sql AS 'SELECT greatest($1, $2[1])'",
    );
    for (query, rows) in [
        (
            "SELECT f1(ROW(4,'z')), f1('(5,q)'), f1(f2(6))",
            ["5|6|7"].as_slice(),
        ),
        (
            "SELECT f2(3)::text, (f2(3)).b, f3(0)::text, f3(1)::text",
            &["(3,r)|r|NULL|(1,two)"],
        ),
        ("SELECT a, b FROM f2(4)", &["4|r"]),
        ("SELECT a, b FROM f3(0)", &["NULL|NULL"]),
        ("SELECT a, b FROM f4()", &["1|one", "2|two", "3|NULL"]),
        ("SELECT (f4()).b", &["one", "two", "NULL"]),
        ("SELECT f5(t) FROM t ORDER BY id", &["one!", "two!", "NULL"]),
        ("SELECT f5(ROW(9,'n'))", &["n!"]),
        ("SELECT * FROM f6(ROW(1,'q')::t)", &["1|q", "1|q"]),
        (
            "SELECT q.* FROM t, LATERAL f6(t, 1) q ORDER BY 1",
            &["1|one", "2|two", "3|NULL"],
        ),
        ("SELECT f7('x', '{y}')", &["y"]),
    ] {
        assert_eq!(sql.rows(query), rows, "{query}");
    }
    sql.run("DROP FUNCTION f1(c); DROP FUNCTION f6(t, int), f7(e, e[])");
    sql.run("CREATE DOMAIN d AS INT CHECK (VALUE > 0)");
    assert_eq!(
        sql.state("CREATE FUNCTION f(d) RETURNS int RETURN 1"),
        "0A000"
    );
    assert_eq!(
        sql.state("CREATE FUNCTION f() RETURNS SETOF d[] LANGUAGE sql AS 'SELECT 1'"),
        "0A000"
    );
    assert_eq!(
        sql.state("CREATE FUNCTION f() RETURNS c LANGUAGE sql AS 'SELECT ROW(1, 2, 3)'"),
        "42P13"
    );
}

#[test]
fn parameters_stand_for_any_number_of_arguments() {
    let sql = Sql::new();
    sql.run(
        "CREATE FUNCTION f(VARIADIC a INT[]) RETURNS bigint LANGUAGE sql AS $$ SELECT sum(x) FROM unnest(a) x $$;
         CREATE FUNCTION g(a TEXT, VARIADIC b anyarray) RETURNS text LANGUAGE sql AS $$ SELECT a || array_to_string(b, ',') $$;
         CREATE FUNCTION h(n INT, VARIADIC b INT[] DEFAULT '{7}') RETURNS SETOF int LANGUAGE sql AS $$ SELECT n + x FROM unnest(b) x ORDER BY 1 $$",
    );
    assert_eq!(
        sql.rows("SELECT f(1,2,3), f(VARIADIC ARRAY[4,5]), f(10), f(VARIADIC '{}')"),
        ["6|9|10|NULL"]
    );
    assert_eq!(
        sql.rows("SELECT g('x', 1, 2), g('y', 'p'::text, 'q')"),
        ["x1,2|yp,q"]
    );
    assert_eq!(sql.rows("SELECT * FROM h(1, 2, 3)"), ["3", "4"]);
    assert_eq!(sql.rows("SELECT * FROM h(1, VARIADIC ARRAY[5])"), ["6"]);
    assert_eq!(sql.rows("SELECT * FROM h(1)"), ["8"]);
    for (text, state) in [
        ("SELECT f()", "42883"),
        ("SELECT f('{1}'::int[])", "42883"),
        ("SELECT f(VARIADIC 1)", "42883"),
        (
            "CREATE FUNCTION k(VARIADIC a INT) RETURNS int RETURN 1",
            "42P13",
        ),
        (
            "CREATE FUNCTION k(VARIADIC a INT[], b INT) RETURNS int RETURN 1",
            "42P13",
        ),
    ] {
        assert_eq!(sql.state(text), state, "{text}");
    }
}

#[test]
fn functions_are_altered() {
    let sql = Sql::new();
    sql.run(
        "CREATE SCHEMA s;
         CREATE FUNCTION f(a int, b int DEFAULT 5) RETURNS int LANGUAGE sql AS 'SELECT coalesce(a, 0) + b';
         CREATE FUNCTION f(text) RETURNS text LANGUAGE sql AS 'SELECT $1'",
    );
    assert_eq!(
        sql.run("ALTER FUNCTION f(a int, int) RENAME TO g"),
        "ALTER FUNCTION"
    );
    assert_eq!(sql.rows("SELECT g(1), g(NULL), f('x')"), ["6|5|x"]);
    sql.run("ALTER FUNCTION g IMMUTABLE STRICT");
    assert_eq!(sql.rows("SELECT g(1), g(NULL)"), ["6|NULL"]);
    sql.run("ALTER FUNCTION g CALLED ON NULL INPUT; ALTER ROUTINE g(int, int) SET SCHEMA s");
    assert_eq!(sql.one("SELECT s.g(NULL)"), "5");
    for (text, state) in [
        ("ALTER FUNCTION nosuch(int) RENAME TO x", "42883"),
        ("ALTER FUNCTION nosuch RENAME TO x", "42883"),
        ("ALTER FUNCTION f(text) SET SCHEMA nosuch", "3F000"),
        ("SELECT g(1)", "42883"),
    ] {
        assert_eq!(sql.state(text), state, "{text}");
    }
    sql.run("CREATE FUNCTION g(x int, y int) RETURNS int RETURN 1");
    assert_eq!(sql.state("ALTER FUNCTION g SET SCHEMA s"), "42723");
    sql.run("CREATE FUNCTION f(int) RETURNS int RETURN 1");
    assert_eq!(sql.state("ALTER FUNCTION f STABLE"), "42725");
}

#[test]
fn the_catalog_tells_of_functions() {
    let sql = Sql::new();
    sql.run(
        "CREATE SCHEMA s; CREATE TABLE s.t (a INT);
         CREATE FUNCTION F_1(text, d date DEFAULT NULL) RETURNS bool LANGUAGE sql STABLE STRICT LEAKPROOF COST 10 AS 'SELECT $1 = ''x''';
         CREATE FUNCTION s.f2(INOUT a int, OUT b text, VARIADIC c int[]) LANGUAGE sql AS 'SELECT a, ''x''';
         CREATE FUNCTION s.rows() RETURNS SETOF s.t LANGUAGE sql ROWS 7 AS 'SELECT * FROM s.t';
         CREATE FUNCTION s.tab(n int) RETURNS TABLE (x int, y text) BEGIN ATOMIC SELECT 1; SELECT n, 'y'; END;
         CREATE FUNCTION s.one() RETURNS int BEGIN ATOMIC ;;RETURN 1;; END",
    );
    assert_eq!(
        sql.rows(
            "SELECT p.proname, n.nspname, l.lanname, prorettype::regtype, proargtypes::regtype[], pronargs, pronargdefaults, proargnames, proargmodes, proallargtypes::regtype[], provolatile, proisstrict, proleakproof, prosecdef, proretset, procost::int, prorows::int, prokind
             FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace JOIN pg_language l ON l.oid = prolang
             WHERE p.oid IN ('F_1'::regproc, 's.f2'::regproc, 's.rows'::regproc, 's.tab'::regproc) ORDER BY 1"
        ),
        [
            "f2|s|sql|record|[0:1]={integer,integer[]}|2|0|{a,b,c}|{b,o,v}|{integer,text,integer[]}|v|false|false|false|false|100|0|f",
            "f_1|public|sql|boolean|[0:1]={text,date}|2|1|{\"\",d}|NULL|NULL|s|true|true|false|false|10|0|f",
            "rows|s|sql|s.t|{}|0|0|NULL|NULL|NULL|v|false|false|false|true|100|7|f",
            "tab|s|sql|record|[0:0]={integer}|1|0|{n,x,y}|{i,t,t}|{integer,integer,text}|v|false|false|false|true|100|1000|f",
        ]
    );
    assert_eq!(
        sql.one(
            "SELECT 'f_1'::regproc, 's.f2'::regproc, 'f_1(text, date)'::regprocedure, 's.f2(int, int[])'::regprocedure, to_regproc('nosuch')"
        ),
        "f_1|s.f2|f_1(text,date)|s.f2(integer,integer[])|NULL"
    );
    assert_eq!(
        sql.one("SELECT pg_get_function_arguments('s.f2'::regproc), pg_get_function_identity_arguments('f_1'::regproc), pg_get_function_arguments('f_1'::regproc), pg_get_function_result('s.tab'::regproc), pg_get_function_result('s.rows'::regproc)"),
        "INOUT a integer, OUT b text, VARIADIC c integer[]|text, d date|text, d date DEFAULT NULL::date|TABLE(x integer, y text)|SETOF s.t"
    );
    assert_eq!(
        sql.one("SELECT pg_get_functiondef('f_1'::regproc)"),
        "CREATE OR REPLACE FUNCTION public.f_1(text, d date DEFAULT NULL::date)\n RETURNS boolean\n LANGUAGE sql\n STABLE STRICT LEAKPROOF COST 10\nAS $function$SELECT $1 = 'x'$function$\n"
    );
    assert_eq!(
        sql.one("SELECT pg_get_functiondef('s.tab'::regproc)"),
        "CREATE OR REPLACE FUNCTION s.tab(n integer)\n RETURNS TABLE(x integer, y text)\n LANGUAGE sql\nBEGIN ATOMIC\n SELECT 1;\n SELECT n AS n,\n     'y'::text;\nEND\n"
    );
    assert_eq!(
        sql.one("SELECT pg_get_functiondef('s.one'::regproc), s.one()"),
        "CREATE OR REPLACE FUNCTION s.one()\n RETURNS integer\n LANGUAGE sql\nRETURN 1\n|1"
    );
    sql.run("CREATE FUNCTION f_1(int) RETURNS int RETURN 1");
    assert_eq!(sql.state("SELECT 'f_1'::regproc"), "42725");
    assert_eq!(sql.state("SELECT 'nosuch'::regproc"), "42883");
    assert_eq!(sql.state("SELECT 'f_1(bool)'::regprocedure"), "42883");
}

#[test]
fn bodies_that_are_statements_are_told_as_they_are_understood() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b TEXT, d DATE); CREATE TYPE mood AS ENUM ('sad', 'ok')");
    for (head, body, shown) in [
        (
            "f(a text, b date) RETURNS boolean",
            "BEGIN ATOMIC SELECT a = 'x' AND b > '2001-01-01'; END",
            "BEGIN ATOMIC\n SELECT ((a = 'x'::text) AND (b > '2001-01-01'::date));\nEND",
        ),
        (
            "f(x int) RETURNS boolean",
            "BEGIN ATOMIC SELECT CASE WHEN x % 2 = 0 THEN true ELSE false END; END",
            "BEGIN ATOMIC\n SELECT\n         CASE\n             WHEN ((x % 2) = 0) THEN true\n             ELSE false\n         END AS \"case\";\nEND",
        ),
        (
            "f(a int, z text) RETURNS SETOF t",
            "BEGIN ATOMIC SELECT 1; SELECT * FROM t WHERE t.a = f.a AND b <> z ORDER BY d LIMIT 3; END",
            "BEGIN ATOMIC\n SELECT 1;\n SELECT t.a,\n     t.b,\n     t.d\n    FROM t\n   WHERE ((t.a = f.a) AND (t.b <> f.z))\n   ORDER BY t.d\n  LIMIT 3;\nEND",
        ),
        (
            "f(int, text) RETURNS int",
            "BEGIN ATOMIC SELECT $1 + length($2) + (SELECT count(*)::int FROM t WHERE a = $1); END",
            "BEGIN ATOMIC\n SELECT (($1 + length($2)) + ( SELECT (count(*))::integer AS count\n            FROM t\n           WHERE (t.a = $1)));\nEND",
        ),
        (
            "f(a text[]) RETURNS int",
            "RETURN a[1]::int",
            "RETURN ((a)[1])::integer",
        ),
        (
            "f(x int) RETURNS int",
            "RETURN (SELECT max(a) + x FROM t WHERE b IN (SELECT b FROM t UNION ALL VALUES ('r')))",
            "RETURN (SELECT (max(t.a) + f.x) FROM t WHERE (t.b IN (SELECT t_1.b FROM t t_1 UNION ALL VALUES ('r'::text))))",
        ),
        (
            "f(x int) RETURNS bigint",
            "RETURN CASE WHEN x > 1 THEN x END",
            "RETURN CASE WHEN (x > 1) THEN x ELSE NULL::integer END",
        ),
        (
            "f(m mood) RETURNS boolean",
            "RETURN m = 'ok'",
            "RETURN (m = 'ok'::mood)",
        ),
    ] {
        sql.run(&format!("CREATE FUNCTION {head} LANGUAGE sql {body}"));
        assert_eq!(
            sql.one("SELECT pg_get_function_sqlbody('f'::regproc)"),
            shown,
            "{body}"
        );
        let definition = sql.one("SELECT pg_get_functiondef('f'::regproc)");
        assert!(
            definition.ends_with(&format!("\n{shown}\n")),
            "{definition}"
        );
        sql.run(&definition);
        assert_eq!(
            sql.one("SELECT pg_get_function_sqlbody('f'::regproc)"),
            shown,
            "{body}"
        );
        sql.run("DROP FUNCTION f");
    }
    sql.run("CREATE FUNCTION g(a text DEFAULT 'q', b int DEFAULT 1 + 1) RETURNS int RETURN b");
    assert_eq!(
        sql.one("SELECT pg_get_function_arguments(oid), pg_get_function_arg_default(oid, 2) FROM pg_proc WHERE proname = 'g'"),
        "a text DEFAULT 'q'::text, b integer DEFAULT (1 + 1)|(1 + 1)"
    );
}

#[test]
fn functions_whose_body_is_sql_stand_beside_others() {
    let sql = Sql::new();
    sql.run(
        "CREATE FUNCTION two(n int) RETURNS SETOF int LANGUAGE sql AS 'SELECT v FROM (VALUES (n), (n * 10)) t (v) ORDER BY v';
         CREATE FUNCTION pair(n int) RETURNS TABLE (a int, b text) LANGUAGE sql AS 'SELECT n, ''x'''",
    );
    assert_eq!(
        sql.rows("SELECT * FROM two(3) WITH ORDINALITY AS t (v, o)"),
        ["3|1", "30|2"]
    );
    assert_eq!(
        sql.rows("SELECT v, two.ordinality FROM (VALUES (1), (2)) t (v), two(v) WITH ORDINALITY ORDER BY 1, 2"),
        ["1|1", "1|2", "2|1", "2|2"]
    );
    assert_eq!(
        sql.rows("SELECT * FROM ROWS FROM (pair(1), two(2), generate_series(1, 3), abs(-5)) WITH ORDINALITY"),
        ["1|x|2|1|5|1", "NULL|NULL|20|2|NULL|2", "NULL|NULL|NULL|3|NULL|3"]
    );
    assert_eq!(
        sql.rows("SELECT n, z.* FROM generate_series(1, 2) n, ROWS FROM (two(n), pair(n)) AS z (p, q, r) ORDER BY n, p"),
        ["1|1|1|x", "1|10|NULL|NULL", "2|2|2|x", "2|20|NULL|NULL"]
    );
}

#[test]
fn bodies_have_several_queries() {
    let sql = filled();
    sql.run("CREATE SEQUENCE q; CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT count(*) FROM t;; SELECT 7;'");
    assert_eq!(sql.one("SELECT f()"), "7");
    for (body, state) in [
        ("SELECT nosuch; SELECT 7", "42703"),
        ("SELECT nextval(''q''); SELECT 7", "0A000"),
        ("SELECT 1 / a FROM t; SELECT 7", "0A000"),
        ("SELECT 1; INSERT INTO t VALUES (1)", "0A000"),
        ("SELECT 1 FROM t FOR UPDATE; SELECT 1", "0A000"),
    ] {
        let text = format!("CREATE FUNCTION g() RETURNS int LANGUAGE sql AS '{body}'");
        assert_eq!(sql.state(&text), state, "{text}");
    }
}

#[test]
fn hints_of_functions_are_altered() {
    let sql = Sql::new();
    sql.run(
        "CREATE SCHEMA s; SET search_path TO s, public;
         CREATE FUNCTION F_B(int) RETURNS bool LANGUAGE 'sql' IMMUTABLE AS 'SELECT $1 = 0'",
    );
    sql.run("ALTER FUNCTION F_B(int) VOLATILE COST 7 LEAKPROOF PARALLEL SAFE SECURITY INVOKER");
    let told = "SELECT provolatile, procost::int, proleakproof, proparallel FROM pg_proc WHERE oid = 'f_b'::regproc";
    assert_eq!(sql.one(told), "v|7|true|s");
    sql.run("ALTER FUNCTION f_b NOT LEAKPROOF STRICT");
    assert_eq!(sql.one(told), "v|7|false|s");
    for (text, state) in [
        ("ALTER FUNCTION f_b ROWS 5", "22023"),
        ("ALTER FUNCTION f_b COST 0", "22023"),
        ("ALTER FUNCTION f_b STRICT STRICT", "42601"),
        ("ALTER FUNCTION f_b SECURITY DEFINER", "0A000"),
        ("ALTER FUNCTION f_b OWNER TO me", "0A000"),
        (
            "CREATE FUNCTION w() RETURNS int LANGUAGE sql WINDOW AS 'SELECT 1'",
            "0A000",
        ),
    ] {
        assert_eq!(sql.state(text), state, "{text}");
    }
}

#[test]
fn results_have_the_digits_of_their_composite_type() {
    let sql = Sql::new();
    sql.run(
        "CREATE TYPE r AS (a numeric(9, 3), b numeric(9, 1));
         CREATE FUNCTION f() RETURNS r LANGUAGE sql AS 'SELECT 1.23456::numeric, 1.25::numeric';
         CREATE FUNCTION g() RETURNS SETOF r LANGUAGE sql AS 'SELECT 1, 2'",
    );
    assert_eq!(sql.one("SELECT f()::text"), "(1.235,1.3)");
    assert_eq!(sql.rows("SELECT * FROM g()"), ["1.000|2.0"]);
}

#[test]
fn functions_are_altered_by_those_who_may_make_them() {
    let sql = Sql::new();
    sql.run(
        "CREATE ROLE someone; CREATE SCHEMA s; GRANT USAGE ON SCHEMA s TO someone;
         CREATE FUNCTION s.f() RETURNS int RETURN 1; SET ROLE someone",
    );
    assert_eq!(sql.state("ALTER FUNCTION s.f() STRICT"), "42501");
    sql.run("RESET ROLE; GRANT CREATE ON SCHEMA s TO someone; SET ROLE someone");
    sql.run("ALTER FUNCTION s.f() STRICT");
    assert_eq!(sql.state("ALTER FUNCTION s.f() LEAKPROOF"), "42501");
}

#[test]
fn rows_of_any_columns_are_of_the_types_that_a_call_names() {
    let sql = Sql::new();
    sql.run("CREATE FUNCTION f(text[]) RETURNS SETOF record LANGUAGE sql AS 'SELECT i, $1[i] FROM generate_subscripts($1, 1) i'");
    assert_eq!(
        sql.rows("SELECT * FROM f(ARRAY['one', 'two']) AS t (a numeric(4, 2), b text)"),
        ["1.00|one", "2.00|two"]
    );
    for columns in ["a date, b text", "a int", "a int, b text, c int"] {
        let text = format!("SELECT * FROM f(ARRAY['one']) AS t ({columns})");
        assert_eq!(sql.state(&text), "42P13", "{text}");
    }
}

#[test]
fn a_function_that_is_used_stays() {
    let sql = Sql::new();
    sql.run(
        "CREATE FUNCTION f(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'select $1 + 1';
         CREATE FUNCTION f(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'select $1';
         CREATE TABLE t (a INT, b INT DEFAULT f(3));
         CREATE VIEW v AS SELECT f(a) AS x FROM t; CREATE VIEW w AS SELECT x FROM v;
         CREATE VIEW other AS SELECT f('x'::text) AS x; CREATE INDEX i ON t (f(a))",
    );
    let error = sql.error("DROP FUNCTION f(int)");
    assert_eq!(error.sqlstate, "2BP01");
    assert_eq!(
        error.message,
        "cannot drop function f(integer) because other objects depend on it"
    );
    assert_eq!(
        error.detail.unwrap_or_default(),
        "default value for column b of table t depends on function f(integer)\n\
         index i depends on function f(integer)\n\
         view v depends on function f(integer)\n\
         view w depends on view v"
    );
    assert_eq!(
        sql.noticed("DROP FUNCTION f(int) CASCADE"),
        ["NOTICE: drop cascades to 4 other objects"]
    );
    assert_eq!(sql.state("SELECT * FROM w"), "42P01");
    assert_eq!(sql.one("SELECT x FROM other"), "x");
    sql.run("INSERT INTO t (a) VALUES (1)");
    assert_eq!(sql.one("SELECT a, b FROM t"), "1|NULL");
    sql.run(
        "CREATE FUNCTION g(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'select $1 + 1';
         CREATE TABLE u (a INT CHECK (g(a) > 0), b INT GENERATED ALWAYS AS (g(a)) STORED)",
    );
    assert_eq!(sql.state("DROP FUNCTION g"), "2BP01");
    assert_eq!(sql.state("DROP FUNCTION g CASCADE"), "0A000");
    sql.run("DROP TABLE u; DROP FUNCTION g");
}

#[test]
fn the_digits_of_variadic_values_are_their_own() {
    let sql = Sql::new();
    for (name, parameter, returns) in [
        ("f", "anyarray", "anyelement"),
        ("g", "numeric[]", "numeric"),
    ] {
        sql.run(&format!(
            "CREATE FUNCTION {name}(VARIADIC {parameter}) RETURNS {returns} LANGUAGE sql
             AS 'select min($1[i]) from generate_subscripts($1, 1) g(i)'"
        ));
        assert_eq!(
            sql.one(&format!("SELECT {name}(1.1, 0.22, 0.555)")),
            "0.22",
            "{name}"
        );
    }
    assert_eq!(sql.one("SELECT f(3, 2), g(1, 0.333)"), "2|0.333");
}

#[test]
fn outputs_without_names_are_called_by_their_places() {
    let sql = Sql::new();
    sql.run("CREATE FUNCTION f(int, OUT a int, OUT text) LANGUAGE sql AS $$SELECT $1, 'x'$$");
    assert_eq!(sql.names("SELECT * FROM f(1)"), ["a", "column2"]);
    sql.run("CREATE FUNCTION g(OUT int, OUT text) RETURNS SETOF record LANGUAGE sql AS $$SELECT 1, 'x'$$");
    assert_eq!(sql.names("SELECT * FROM g()"), ["column1", "column2"]);
}

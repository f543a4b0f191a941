//! `search_path`: names without a schema are looked up along it.

use crate::support::Sql;

#[test]
fn names_are_looked_up_along_the_path() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (a INT); INSERT INTO t VALUES (1);
         CREATE SCHEMA s; CREATE TABLE s.t (a INT); INSERT INTO s.t VALUES (2);
         CREATE VIEW v AS SELECT a FROM t; CREATE SEQUENCE s.q START 7;
         CREATE FUNCTION s.f() RETURNS int LANGUAGE sql AS 'SELECT 5'",
    );
    assert_eq!(sql.state("SELECT f()"), "42883");
    sql.run("SET search_path = s, public");
    assert_eq!(sql.one("SHOW search_path"), "s, public");
    assert_eq!(sql.one("SELECT a FROM t"), "2");
    // Names in a view are those of when it was made.
    assert_eq!(sql.one("SELECT a FROM v"), "1");
    assert_eq!(sql.one("SELECT f()"), "5");
    assert_eq!(sql.one("SELECT nextval('q')"), "7");
    assert_eq!(sql.one("WITH t AS (SELECT 9 AS a) SELECT a FROM t"), "9");
    assert_eq!(sql.one("SELECT current_schema"), "s");
    assert_eq!(sql.one("SELECT 't'::regclass = 's.t'::regclass"), "true");
    assert_eq!(sql.run("UPDATE t SET a = a + 1 WHERE t.a = 2"), "UPDATE 1");
    assert_eq!(sql.run("INSERT INTO t SELECT a + 1 FROM t"), "INSERT 0 1");
    assert_eq!(sql.rows("DELETE FROM t WHERE a = 4 RETURNING t.a"), ["4"]);
    sql.run(
        "CREATE TABLE u (k INT PRIMARY KEY, b INT); CREATE VIEW w AS SELECT t.a, u.b FROM t, u",
    );
    sql.run("INSERT INTO u VALUES (1, 1) ON CONFLICT (k) DO UPDATE SET b = 2");
    sql.run("ALTER TABLE u ADD COLUMN c INT DEFAULT 3; CREATE INDEX i ON u (b); TRUNCATE t");
    assert_eq!(sql.one("SELECT b, c FROM s.u"), "1|3");
    sql.run("RESET search_path");
    assert_eq!(sql.one("SELECT a FROM t"), "1");
    assert_eq!(sql.state("SELECT * FROM u"), "42P01");
    assert_eq!(sql.rows("SELECT * FROM s.w"), Vec::<String>::new());
    // A path without the default schema does not see it.
    sql.run("SET search_path = s");
    assert_eq!(sql.state("SELECT * FROM v"), "42P01");
    assert_eq!(
        sql.one("SELECT count(*) FROM pg_class WHERE relname = 'u'"),
        "1"
    );
    sql.run("DROP VIEW w; DROP TABLE u");
    sql.run("SET search_path = nowhere");
    assert_eq!(sql.state("CREATE TABLE x (a INT)"), "3F000");
    assert_eq!(sql.state("SELECT * FROM t"), "42P01");
    sql.run("BEGIN; SET LOCAL search_path = s; CREATE TABLE x (a INT); COMMIT");
    assert_eq!(sql.one("SELECT count(*) FROM s.x"), "0");
    assert_eq!(sql.state("SELECT count(*) FROM x"), "42P01");
}

#[test]
fn prepared_statements_follow_the_path() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (k INT PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'main');
         CREATE SCHEMA s; CREATE TABLE s.t (k INT PRIMARY KEY, v TEXT); INSERT INTO s.t VALUES (1, 's');
         PREPARE p AS SELECT v FROM t WHERE k = $1",
    );
    assert_eq!(sql.rows_of_one_engine("EXECUTE p(1)"), ["main"]);
    sql.run("SET search_path = s");
    assert_eq!(sql.rows_of_one_engine("EXECUTE p(1)"), ["s"]);
    sql.run("RESET search_path");
    assert_eq!(sql.rows_of_one_engine("EXECUTE p(1)"), ["main"]);
}

#[test]
fn the_path_is_told_as_postgresql_tells_it() {
    let sql = Sql::new();
    let usual = "\"$user\", public";
    assert_eq!(sql.one("SHOW search_path"), usual);
    sql.run("SET search_path = pg_catalog");
    assert_eq!(
        sql.one("SELECT current_schemas(false), current_schema, current_schemas(true)"),
        "{pg_catalog}|pg_catalog|{pg_catalog}"
    );
    sql.run("CREATE SCHEMA s; SET search_path = nosuch, s, public");
    assert_eq!(
        sql.one("SELECT current_schemas(false), current_schemas(true)"),
        "{s,public}|{pg_catalog,s,public}"
    );
    for back in [
        "RESET search_path",
        "SET search_path TO DEFAULT",
        "DISCARD ALL",
    ] {
        sql.run("SET search_path = s");
        sql.run(back);
        assert_eq!(sql.one("SHOW search_path"), usual, "{back}");
    }
}

#[test]
fn set_schema_is_a_path_of_one_schema() {
    let sql = Sql::new();
    sql.run("CREATE SCHEMA s; CREATE SCHEMA \"S x\"; CREATE TABLE s.t (a int)");
    sql.run("SET SCHEMA 's'");
    assert_eq!(sql.one("SHOW search_path"), "s");
    assert_eq!(sql.one("SELECT count(*) FROM t"), "0");
    sql.run("BEGIN; SET LOCAL SCHEMA 'S x'");
    assert_eq!(sql.one("SELECT current_schema"), "S x");
    sql.run("COMMIT");
    assert_eq!(sql.one("SELECT current_schema"), "s");
    assert_eq!(sql.state("SET SCHEMA s"), "42601");
}

#[test]
fn temporary_tables_are_looked_up_where_the_path_has_them() {
    let sql = Sql::new();
    sql.run("CREATE TEMP TABLE t (a TEXT); INSERT INTO t VALUES ('temp')");
    sql.run("CREATE TABLE public.t (a TEXT); INSERT INTO public.t VALUES ('public')");
    sql.run("CREATE SEQUENCE s; CREATE TEMP SEQUENCE s START 50");
    for (path, found, number) in [
        ("public", "temp", "50"),
        ("pg_temp, public", "temp", "51"),
        ("public, pg_temp", "public", "1"),
        ("\"$user\", public, pg_temp", "public", "2"),
    ] {
        sql.run(&format!("SET search_path = {path}"));
        assert_eq!(sql.rows("SELECT * FROM t"), [found], "{path}");
        assert_eq!(
            sql.rows_of_one_engine("SELECT nextval('s')"),
            [number],
            "{path}"
        );
    }
    sql.run("INSERT INTO t VALUES ('more')");
    assert_eq!(sql.one("SELECT count(*) FROM public.t"), "2");
    sql.run("DROP TABLE t");
    assert_eq!(sql.one("SELECT * FROM t"), "temp");
    // A new relation is temporary where the path begins with their schema.
    sql.run("SET search_path = pg_temp, public");
    sql.run("CREATE TABLE u (a INT); CREATE VIEW w AS SELECT 1 AS a; CREATE SEQUENCE n");
    assert_eq!(
        sql.rows("SELECT relname, relpersistence FROM pg_class WHERE relname IN ('u', 'w', 'n') ORDER BY 1"),
        ["n|t", "u|t", "w|t"]
    );
    sql.run("DISCARD TEMP");
    assert_eq!(sql.state("TABLE u"), "42P01");
}

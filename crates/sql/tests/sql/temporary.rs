//! Temporary tables.

use freestone::Database;

use crate::support::Sql;

#[test]
fn temporary_tables_are_of_one_session() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let (a, b) = (Sql::on(&database), Sql::on(&database));
    a.run("CREATE TABLE t (k INT PRIMARY KEY, s TEXT); INSERT INTO t VALUES (1, 'of all')");
    a.run("CREATE TEMPORARY TABLE t (k INT PRIMARY KEY, s TEXT)");
    a.run("INSERT INTO t VALUES (1, 'own'), (2, 'other')");
    // Its name comes first, for the session that made it.
    assert_eq!(a.sorted("SELECT t.s FROM t WHERE k < 5"), ["other", "own"]);
    assert_eq!(a.sorted("SELECT s FROM pg_temp.t"), ["other", "own"]);
    assert_eq!(a.sorted("SELECT s FROM main.t"), ["of all"]);
    assert_eq!(b.sorted("SELECT s FROM t"), ["of all"]);
    assert_eq!(b.state("SELECT s FROM pg_temp.t"), "42P01");
    // Both.
    assert_eq!(
        a.sorted("SELECT one.s, two.s FROM t one JOIN main.t two USING (k)"),
        ["own|of all"]
    );
    // What WITH calls so.
    assert_eq!(a.one("WITH t AS (SELECT 7 AS k) SELECT k FROM t"), "7");
    // All statements.
    a.run("UPDATE t SET s = 'x' WHERE k = 1; DELETE FROM t WHERE k = 2");
    assert_eq!(a.sorted("SELECT s FROM t"), ["x"]);
    a.run("ALTER TABLE t ADD COLUMN n INT DEFAULT 3; CREATE INDEX by_n ON t (n)");
    assert_eq!(a.sorted("SELECT n FROM t WHERE n = 3"), ["3"]);
    a.run("DROP INDEX by_n; TRUNCATE t");
    assert_eq!(a.one("SELECT count(*) FROM t"), "0");
    a.run("MERGE INTO t USING main.t o ON t.k = o.k WHEN NOT MATCHED THEN INSERT VALUES (o.k, o.s, 0)");
    assert_eq!(a.sorted("SELECT s FROM t"), ["of all"]);
    a.run("CREATE TEMP TABLE made AS SELECT k + 1 AS k FROM t");
    assert_eq!(a.one("SELECT k FROM made"), "2");
    a.run("DROP TABLE t");
    assert_eq!(a.sorted("SELECT s FROM t"), ["of all"]);
    // They go with the session.
    let schemas =
        "SELECT count(*) FROM information_schema.schemata WHERE schema_name LIKE 'pg_temp%'";
    assert_eq!(b.one(schemas), "1");
    drop(a);
    assert_eq!(b.one(schemas), "0");
}

#[test]
fn temporary_tables_and_transactions() {
    let sql = Sql::new();
    sql.run("BEGIN; CREATE TEMP TABLE w (a INT); INSERT INTO w VALUES (1); ROLLBACK");
    assert_eq!(sql.state("SELECT * FROM w"), "42P01");
    sql.run("BEGIN; CREATE TEMP TABLE w (a INT) ON COMMIT PRESERVE ROWS; INSERT INTO w VALUES (1); COMMIT");
    assert_eq!(sql.one("SELECT a FROM w"), "1");
    sql.run("CREATE TEMP TABLE IF NOT EXISTS w (b INT)");
    assert_eq!(sql.state("CREATE TEMP TABLE w (b INT)"), "42P07");
    assert_eq!(sql.state("CREATE TEMP TABLE main.w (b INT)"), "42P16");
    assert_eq!(
        sql.state("CREATE TEMP TABLE x (b INT) ON COMMIT DROP"),
        "0A000"
    );
    sql.run("CREATE VIEW v AS SELECT * FROM w");
    sql.run("CREATE TABLE w (a INT); INSERT INTO main.w VALUES (9)");
    assert_eq!(sql.one("SELECT a FROM w"), "1");
    sql.run("DISCARD TEMP");
    assert_eq!(sql.one("SELECT a FROM w"), "9");
    assert_eq!(sql.state("SELECT a FROM v"), "42P01");
}

#[test]
fn prepared_statements_find_them() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (k INT PRIMARY KEY, s TEXT); INSERT INTO t VALUES (1, 'of all')");
    sql.run("PREPARE got AS SELECT s FROM t WHERE k = $1; PREPARE put AS UPDATE t SET s = 'new' WHERE k = $1");
    assert_eq!(sql.rows("EXECUTE got(1)"), ["of all"]);
    sql.run("CREATE TEMP TABLE t (k INT PRIMARY KEY, s TEXT); INSERT INTO t VALUES (1, 'own')");
    assert_eq!(sql.rows("EXECUTE got(1)"), ["own"]);
    sql.run("EXECUTE put(1)");
    assert_eq!(sql.rows("EXECUTE got(1)"), ["new"]);
    assert_eq!(sql.one("SELECT s FROM main.t"), "of all");
}

#[test]
fn what_a_crash_leaves_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    {
        let database = Database::open(folder.path()).unwrap();
        let sql = Sql::on(&database);
        sql.run("CREATE TEMP TABLE t (k INT); INSERT INTO t VALUES (1)");
        std::mem::forget(sql);
        std::mem::forget(database);
    }
    let copy = tempfile::tempdir().unwrap();
    let copied = std::process::Command::new("cp")
        .args(["-r", &format!("{}/.", folder.path().display())])
        .arg(copy.path())
        .status();
    assert!(copied.unwrap().success());
    let sql = Sql::on(&Database::open(copy.path()).unwrap());
    let schemas =
        "SELECT count(*) FROM information_schema.schemata WHERE schema_name LIKE 'pg_temp%'";
    assert_eq!(sql.one(schemas), "0");
}

#[test]
fn roles_that_may_make_nothing_else() {
    let database = Database::in_memory();
    let owner = Sql::on(&database);
    owner.run("CREATE ROLE nobody LOGIN; CREATE TEMP TABLE hidden (a INT)");
    let login = database.login("nobody").unwrap();
    let session = database.session_of(&login, &std::sync::Arc::from(vec![]));
    let nobody = Sql::on_session(session.unwrap());
    nobody.run("CREATE TEMP TABLE t (a INT); INSERT INTO t VALUES (1)");
    assert_eq!(nobody.one("SELECT a FROM t"), "1");
    nobody.run("ALTER TABLE t ADD COLUMN b INT; CREATE TEMP TABLE u AS SELECT * FROM t");
    assert_eq!(nobody.state("CREATE TABLE t (a INT)"), "42501");
    let schema = "SELECT table_schema FROM information_schema.tables WHERE table_name = 'hidden'";
    let schema = owner.one(schema);
    assert_eq!(
        nobody.state(&format!("SELECT * FROM {schema}.hidden")),
        "42501"
    );
    assert_eq!(
        nobody.state(&format!("CREATE TABLE {schema}.x (a INT)")),
        "42501"
    );
}

#[test]
fn temporary_views_go_with_their_session() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let (a, b) = (Sql::on(&database), Sql::on(&database));
    a.run(
        "CREATE TABLE t (k INT); INSERT INTO t VALUES (1), (2); CREATE VIEW v AS SELECT k FROM t",
    );
    a.run("CREATE TEMP VIEW v AS SELECT k + 10 AS k FROM t");
    assert_eq!(a.sorted("SELECT k FROM v"), ["11", "12"]);
    assert_eq!(a.sorted("SELECT k FROM main.v"), ["1", "2"]);
    assert_eq!(b.sorted("SELECT k FROM v"), ["1", "2"]);
    a.run("CREATE OR REPLACE TEMPORARY VIEW v (k, n) AS SELECT k, k + 20 FROM t");
    assert_eq!(
        a.sorted("SELECT n FROM v JOIN t ON n = t.k + 20"),
        ["21", "22"]
    );
    // A view of something temporary is temporary.
    a.run("CREATE TEMP TABLE w (a INT); INSERT INTO w VALUES (5)");
    assert_eq!(
        a.noticed("CREATE VIEW x AS SELECT a, (SELECT max(n) FROM v) AS n FROM w"),
        ["NOTICE: view \"x\" will be a temporary view"]
    );
    assert_eq!(a.one("SELECT a, n FROM x"), "5|22");
    assert_eq!(b.state("SELECT a FROM x"), "42P01");
    assert_eq!(a.state("CREATE TEMP VIEW main.y AS SELECT 1"), "42P16");
    let error = a.error("DROP VIEW v");
    assert_eq!(error.detail.as_deref(), Some("view x depends on view v"));
    a.run("DROP VIEW x, v");
    assert_eq!(a.sorted("SELECT k FROM v"), ["1", "2"]);
    drop(a);
    assert_eq!(b.state("SELECT a FROM x"), "42P01");
    assert_eq!(b.sorted("SELECT k FROM v"), ["1", "2"]);
}

#[test]
fn keys_among_temporary_tables() {
    let sql = Sql::new();
    sql.run(
        "CREATE TEMP TABLE node (id INT PRIMARY KEY, up INT REFERENCES node);
         CREATE TEMP TABLE leaf (n INT, FOREIGN KEY (n) REFERENCES node (id));
         CREATE TEMP TABLE late (n INT);
         ALTER TABLE late ADD FOREIGN KEY (n) REFERENCES node;
         CREATE TABLE kept (id INT PRIMARY KEY);
         INSERT INTO node VALUES (1, NULL), (2, 1);
         INSERT INTO leaf VALUES (2)",
    );
    for text in [
        "INSERT INTO node VALUES (3, 9)",
        "INSERT INTO leaf VALUES (9)",
        "INSERT INTO late VALUES (9)",
        "DELETE FROM node WHERE id = 2",
    ] {
        assert_eq!(sql.state(text), "23503", "{text}");
    }
    for text in [
        "CREATE TABLE far (id INT REFERENCES node)",
        "CREATE TEMP TABLE far (id INT REFERENCES kept)",
        "ALTER TABLE kept ADD FOREIGN KEY (id) REFERENCES node",
    ] {
        assert_eq!(sql.state(text), "42P16", "{text}");
    }
}

#[test]
fn numbers_of_objects_follow_the_path() {
    let sql = Sql::new();
    sql.run(
        "CREATE SCHEMA s; CREATE TABLE s.t (a INT); CREATE TABLE twin (a INT);
         CREATE TABLE s.twin (a INT); CREATE TYPE s.mood AS ENUM ('x');
         CREATE TEMP VIEW w AS SELECT 1 AS a; CREATE TEMP TABLE x (a INT)",
    );
    assert_eq!(sql.state("SELECT 't'::regclass"), "42P01");
    assert_eq!(
        sql.one("SELECT 'w'::regclass, pg_get_viewdef('w')"),
        "w| SELECT 1 AS a;"
    );
    assert_eq!(
        sql.sorted("SELECT relname, relpersistence FROM pg_class WHERE relname IN ('w', 'x', 't')"),
        ["t|p", "w|t", "x|t"]
    );
    assert_eq!(
        sql.one("SELECT 's.t'::regclass, 'twin'::regclass, 's.twin'::regclass, 's.mood'::regtype"),
        "s.t|twin|s.twin|s.mood"
    );
    sql.run("SET search_path = s, public; CREATE SEQUENCE n; CREATE VIEW v AS SELECT n.is_called FROM n");
    assert_eq!(sql.one("TABLE v"), "false");
    assert_eq!(
        sql.one("SELECT 't'::regclass, 'twin'::regclass, 'public.twin'::regclass, 'mood'::regtype"),
        "t|twin|public.twin|mood"
    );
    assert_eq!(
        sql.one("SELECT pg_table_is_visible('s.twin'::regclass), pg_table_is_visible('public.twin'::regclass)"),
        "true|false"
    );
}

#[test]
fn temporary_sequences_are_of_one_session() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let (a, b) = (Sql::on(&database), Sql::on(&database));
    a.run("CREATE SEQUENCE s START 100; CREATE TABLE t (k INT DEFAULT nextval('s'), n INT)");
    assert_eq!(
        a.run("CREATE TEMPORARY SEQUENCE s START 5"),
        "CREATE SEQUENCE"
    );
    assert_eq!(
        a.one("SELECT nextval('s'), currval('s'), lastval()"),
        "5|5|5"
    );
    assert_eq!(a.one("SELECT nextval('main.s')"), "100");
    assert_eq!(a.one("SELECT nextval('pg_temp.s')"), "6");
    assert_eq!(b.one("SELECT nextval('s')"), "101");
    assert_eq!(b.state("SELECT nextval('pg_temp.s')"), "42P01");
    // Names that are computed, and numbers.
    let computed = "SELECT nextval(v.n) FROM (VALUES ('s')) AS v(n)";
    assert_eq!(a.state(computed), "0A000");
    a.run("CREATE TEMP SEQUENCE alone START 7");
    assert_eq!(a.one("SELECT setval('s', nextval('alone'))"), "7");
    assert_eq!(a.one("SELECT nextval('s'::regclass)"), "8");
    assert_eq!(
        a.sorted("SELECT c.oid::regclass FROM pg_class c WHERE relname = 's'"),
        ["public.s", "s"]
    );
    assert_eq!(
        a.one("SELECT nextval(c.oid::regclass) FROM pg_class c WHERE relname = 's' AND relpersistence = 't'"),
        "9"
    );
    assert_eq!(
        a.one("SELECT nextval(c.oid::regclass) FROM pg_class c WHERE relname = 's' AND relpersistence = 'p'"),
        "102"
    );
    // A default keeps the sequence that it was declared with.
    a.run("INSERT INTO t (n) VALUES (1); INSERT INTO t (n) SELECT 2");
    assert_eq!(a.rows("SELECT k FROM t ORDER BY n"), ["103", "104"]);
    assert_eq!(a.one("SELECT last_value, is_called FROM s"), "9|true");
    assert_eq!(a.one("SELECT last_value FROM main.s"), "104");
    assert_eq!(a.one("SELECT setval('s', 20)"), "20");
    a.run("ALTER SEQUENCE s INCREMENT 10");
    assert_eq!(a.one("SELECT nextval('s')"), "30");
    a.run("ALTER SEQUENCE s RESTART");
    assert_eq!(a.one("SELECT nextval('s')"), "5");
    a.run("ALTER SEQUENCE s RENAME TO r");
    assert_eq!(a.one("SELECT nextval('r'), nextval('s')"), "15|105");
    a.run("ALTER TABLE r RENAME TO s");
    assert_eq!(a.one("SELECT nextval('s')"), "25");
    assert_eq!(a.state("ALTER SEQUENCE s SET SCHEMA main"), "0A000");
    assert_eq!(a.state("DROP TABLE s"), "42809");
    a.run("DROP SEQUENCE s");
    assert_eq!(a.one("SELECT nextval('s')"), "106");
    assert_eq!(a.one(computed), "107");
    assert_eq!(a.one(&computed.replace("'s'", "'alone'")), "8");
}

#[test]
fn temporary_sequences_are_made() {
    let sql = Sql::new();
    sql.run("CREATE TEMP SEQUENCE IF NOT EXISTS s");
    assert_eq!(sql.noticed("CREATE TEMP SEQUENCE IF NOT EXISTS s").len(), 1);
    assert_eq!(sql.state("CREATE TEMP SEQUENCE s"), "42P07");
    assert_eq!(sql.state("CREATE TEMP TABLE s (a INT)"), "42P07");
    assert_eq!(sql.state("CREATE TEMP SEQUENCE main.x"), "42P16");
    sql.run("CREATE SEQUENCE pg_temp.y START 3");
    assert_eq!(sql.one("SELECT nextval('y')"), "3");
    // One that stays may have the same name.
    sql.run("CREATE SEQUENCE s START 50");
    assert_eq!(sql.one("SELECT nextval('s'), nextval('main.s')"), "1|50");
    sql.run("CREATE TABLE taken (a INT)");
    assert_eq!(sql.noticed("CREATE SEQUENCE IF NOT EXISTS taken").len(), 1);
    let shown = "SELECT relname, relkind, relpersistence FROM pg_class
        WHERE relname IN ('s', 'y') ORDER BY 1, 3";
    assert_eq!(sql.rows(shown), ["s|S|p", "s|S|t", "y|S|t"]);
    let shown = "SELECT sequencename, schemaname LIKE 'pg_temp%', start_value, last_value
        FROM pg_sequences ORDER BY 1, 2";
    assert_eq!(
        sql.rows(shown),
        ["s|false|50|50", "s|true|1|1", "y|true|3|3"]
    );
}

#[test]
fn temporary_sequences_and_transactions() {
    let sql = Sql::new();
    sql.run("BEGIN; CREATE TEMP SEQUENCE s");
    assert_eq!(sql.one("SELECT nextval('s')"), "1");
    sql.run("ROLLBACK");
    assert_eq!(sql.state("SELECT nextval('s')"), "42P01");
    assert_eq!(sql.state("SELECT lastval()"), "55000");
    sql.run("CREATE TEMP SEQUENCE s; BEGIN");
    assert_eq!(sql.one("SELECT nextval('s')"), "1");
    sql.run("ROLLBACK");
    assert_eq!(sql.one("SELECT nextval('s')"), "2");
    sql.run("BEGIN; DROP SEQUENCE s");
    assert_eq!(sql.state("SELECT nextval('s')"), "42P01");
    sql.run("ROLLBACK");
    assert_eq!(sql.one("SELECT nextval('s')"), "3");
    sql.run("DISCARD TEMP");
    assert_eq!(sql.state("SELECT nextval('s')"), "42P01");
}

#[test]
fn temporary_sequences_go_with_their_session() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let (a, b) = (Sql::on(&database), Sql::on(&database));
    a.run("CREATE TABLE t (k INT, n INT); CREATE TEMP SEQUENCE s");
    a.run("ALTER TABLE t ALTER k SET DEFAULT nextval('s'); INSERT INTO t (n) VALUES (1)");
    assert_eq!(a.one("SELECT k FROM t"), "1");
    let known = "SELECT count(*) FROM pg_class WHERE relname = 's'";
    assert_eq!(b.one(known), "1");
    assert_eq!(b.one("SELECT count(*) FROM pg_sequences"), "0");
    let standard = "SELECT count(*) FROM information_schema.sequences";
    assert_eq!((a.one(standard), b.one(standard)), ("1".into(), "0".into()));
    assert_eq!(
        a.state("CREATE VIEW v AS SELECT nextval('s') AS n"),
        "0A000"
    );
    a.run("CREATE TEMP VIEW v AS SELECT nextval('s') AS n");
    assert_eq!(a.one("SELECT n + 0 * nextval('s') FROM v"), "2");
    assert_eq!(a.noticed("CREATE VIEW w AS SELECT * FROM s").len(), 1);
    drop(a);
    assert_eq!(b.one(known), "0");
    b.run("INSERT INTO t (n) VALUES (2)");
    assert_eq!(b.rows("SELECT k FROM t ORDER BY n"), ["1", "NULL"]);
}

#[test]
fn columns_of_temporary_tables_are_numbered() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a SERIAL); INSERT INTO t VALUES (DEFAULT), (DEFAULT)");
    sql.run("CREATE TEMP TABLE t (a SERIAL, b INT GENERATED ALWAYS AS IDENTITY (START 10))");
    assert_eq!(
        sql.rows("INSERT INTO t DEFAULT VALUES RETURNING *"),
        ["1|10"]
    );
    assert_eq!(sql.one("SELECT currval('t_a_seq'), lastval()"), "1|10");
    assert_eq!(
        sql.one("SELECT pg_get_serial_sequence('t', 'a')"),
        "pg_temp.t_a_seq"
    );
    assert_eq!(
        sql.one("SELECT currval(pg_get_serial_sequence('t', 'b'))"),
        "10"
    );
    assert_eq!(
        sql.one("SELECT pg_get_serial_sequence('main.t', 'a')"),
        "public.t_a_seq"
    );
    assert_eq!(sql.one("SELECT 't'::regclass"), "t");
    sql.run("TRUNCATE t RESTART IDENTITY; INSERT INTO t DEFAULT VALUES");
    assert_eq!(sql.one("SELECT a, b FROM t"), "1|10");
    // Those that go with a column are in the schema of its table.
    assert_eq!(sql.state("CREATE SEQUENCE s OWNED BY t.a"), "55000");
    sql.run("CREATE TEMP SEQUENCE s OWNED BY t.a");
    sql.run("CREATE TEMP SEQUENCE r");
    assert_eq!(sql.state("ALTER SEQUENCE r OWNED BY main.t.a"), "55000");
    sql.run("ALTER SEQUENCE r OWNED BY t.b; DROP TABLE t");
    assert_eq!(sql.state("SELECT nextval('s')"), "42P01");
    assert_eq!(sql.state("SELECT nextval('r')"), "42P01");
    assert_eq!(sql.one("SELECT nextval('t_a_seq')"), "3");
    sql.run(
        "CREATE TEMP TABLE t (a INT); COMMENT ON TABLE t IS 'own'; COMMENT ON COLUMN t.a IS 'x'",
    );
    assert_eq!(sql.one("SELECT obj_description('t'::regclass)"), "own");
    assert_eq!(
        sql.one("SELECT obj_description('main.t'::regclass)"),
        "NULL"
    );
}

#[test]
fn temporary_sequences_come_before_the_path() {
    let sql = Sql::new();
    sql.run("CREATE SCHEMA x; CREATE SEQUENCE x.s START 50; SET search_path = x");
    assert_eq!(sql.one("SELECT nextval('s')"), "50");
    assert_eq!(sql.one("SELECT last_value FROM s"), "50");
    sql.run("CREATE TEMP SEQUENCE s");
    assert_eq!(sql.one("SELECT nextval('s')"), "1");
    assert_eq!(sql.one("SELECT last_value FROM s"), "1");
    sql.run("PREPARE p AS SELECT nextval('s')");
    assert_eq!(sql.rows("EXECUTE p"), ["2"]);
    sql.run("DROP SEQUENCE s");
    assert_eq!(sql.one("SELECT nextval('s')"), "51");
}

/// Statements about a relation `r`, its index `i`, its view `v`, its sequence `s` and its
/// partitions, in an order in which each can be done.
const ABOUT: [&str; 27] = [
    "VACUUM r",
    "ANALYZE r",
    "ANALYZE r (b)",
    "REINDEX TABLE r",
    "REINDEX INDEX i",
    "CLUSTER r USING i",
    "BEGIN; LOCK TABLE r IN ACCESS SHARE MODE; COMMIT",
    "COMMENT ON TABLE r IS 'x'",
    "COMMENT ON COLUMN r.b IS 'x'",
    "COMMENT ON INDEX i IS 'x'",
    "GRANT SELECT ON r TO PUBLIC",
    "REVOKE SELECT ON TABLE r FROM PUBLIC",
    "GRANT USAGE ON SEQUENCE s TO PUBLIC",
    "ALTER TABLE r OWNER TO CURRENT_USER",
    "ALTER TABLE r ALTER a ADD GENERATED ALWAYS AS IDENTITY",
    "ALTER TABLE r ALTER a SET GENERATED BY DEFAULT",
    "ALTER TABLE p DETACH PARTITION p1",
    "ALTER TABLE p ATTACH PARTITION p1 FOR VALUES FROM (1) TO (10)",
    "ALTER SEQUENCE s RESTART",
    "ALTER SEQUENCE s OWNED BY r.a",
    "ALTER INDEX i RENAME TO j",
    "ALTER VIEW v RENAME TO w",
    "TRUNCATE ONLY r RESTART IDENTITY",
    "DROP VIEW w",
    "DROP INDEX j",
    "DROP SEQUENCE s",
    "DROP TABLE p",
];

/// Lets a session do all of them and asks for what is left.
fn told_about(sql: &Sql, kind: &str) {
    sql.run(&format!(
        "CREATE {kind} TABLE r (a INT PRIMARY KEY, b TEXT); CREATE INDEX i ON r (b);
         CREATE {kind} VIEW v AS SELECT b FROM r; CREATE {kind} SEQUENCE s;
         CREATE {kind} TABLE p (a INT) PARTITION BY RANGE (a);
         CREATE {kind} TABLE p1 PARTITION OF p FOR VALUES FROM (1) TO (10)"
    ));
    for statement in ABOUT {
        sql.run(statement);
    }
    sql.run(&format!("CREATE {kind} TABLE l (LIKE r)"));
    assert_eq!(sql.one("SELECT count(*) FROM l"), "0");
}

#[test]
fn every_statement_finds_temporary_relations() {
    let sql = Sql::new();
    told_about(&sql, "TEMPORARY");
}

#[test]
fn every_statement_finds_relations_along_the_path() {
    let sql = Sql::new();
    sql.run("CREATE SCHEMA first; CREATE SCHEMA other; SET search_path = other, first, public");
    told_about(&sql, "");
    let of = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'other'";
    assert_eq!(sql.one(of), "2");
}

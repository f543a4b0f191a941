//! CREATE, ALTER, DROP.

use crate::support::{LAYOUTS, Sql};

#[test]
fn tables_are_created_once() {
    let sql = Sql::new();
    assert_eq!(sql.run("CREATE TABLE t (a INT)"), "CREATE TABLE");
    assert_eq!(sql.state("CREATE TABLE t (a INT)"), "42P07");
    sql.run("CREATE TABLE IF NOT EXISTS t (b TEXT)");
    assert_eq!(sql.names("SELECT * FROM t"), ["a"]);
    sql.run("CREATE OR REPLACE TABLE t (b TEXT)");
    assert_eq!(sql.names("SELECT * FROM t"), ["b"]);
    assert_eq!(
        sql.run("CREATE TABLE u AS SELECT 1 AS x, 'y' AS y"),
        "SELECT 1"
    );
    assert_eq!(sql.one("SELECT x, y FROM u"), "1|y");
    assert_eq!(sql.run("DROP TABLE t, u"), "DROP TABLE");
    assert_eq!(sql.state("DROP TABLE t"), "42P01");
    sql.run("DROP TABLE IF EXISTS t");
    assert_eq!(sql.state("CREATE TABLE d (a INT, a INT)"), "42701");
    assert_eq!(sql.state("CREATE TABLE d (a NOSUCHTYPE)"), "42704");
    assert_eq!(sql.state("CREATE TABLE d (a DECIMAL(1001, 2))"), "22023");
    assert_eq!(
        sql.state("CREATE TABLE d (a INT REFERENCES t (b))"),
        "42P01"
    );
    assert_eq!(sql.state("CREATE TABLE d (a INT) ON COMMIT DROP"), "42P16");
}

#[test]
fn dropping_several_is_all_or_nothing() {
    let sql = Sql::new();
    sql.run("CREATE TABLE a (x INT); CREATE TABLE b (x INT)");
    assert_eq!(sql.state("DROP TABLE a, nosuch, b"), "42P01");
    assert_eq!(sql.one("SELECT count(*) FROM a"), "0");
    assert_eq!(sql.one("SELECT count(*) FROM b"), "0");
}

#[test]
fn schemas_hold_tables() {
    let sql = Sql::new();
    sql.run("CREATE SCHEMA s; CREATE SCHEMA IF NOT EXISTS s; CREATE TABLE s.t (a INT); INSERT INTO s.t VALUES (1)");
    assert_eq!(sql.state("CREATE SCHEMA s"), "42P06");
    assert_eq!(sql.one("SELECT a FROM s.t"), "1");
    assert_eq!(sql.one("SELECT a FROM freestone.s.t"), "1");
    assert_eq!(sql.state("SELECT a FROM t"), "42P01");
    assert_eq!(sql.state("SELECT a FROM other.s.t"), "0A000");
    assert_eq!(sql.state("CREATE TABLE nosuch.t (a INT)"), "3F000");
    assert_eq!(sql.state("DROP SCHEMA s"), "2BP01");
    sql.run("DROP SCHEMA s CASCADE; DROP SCHEMA IF EXISTS s");
    assert_eq!(sql.state("DROP SCHEMA s"), "3F000");
    assert_eq!(sql.state("DROP SCHEMA main CASCADE"), "2BP01");
}

#[test]
fn options_are_checked_and_listed() {
    let sql = Sql::new();
    let error = sql.error("CREATE TABLE t (a INT) WITH (layuot = 'row')");
    assert_eq!(error.sqlstate, "22023");
    assert!(error.hint.unwrap().contains("block_bytes"));
    let error = sql.error("CREATE TABLE t (a INT) WITH (layout = 'rows')");
    assert!(error.hint.unwrap().contains("pax"));
    assert_eq!(
        sql.state("CREATE TABLE t (a INT) WITH (sort_by = 'b')"),
        "42703"
    );
    assert_eq!(
        sql.state("CREATE TABLE t (a INT) WITH (block_bytes = '1KiB')"),
        "22023"
    );
}

#[test]
fn alter_rewrites_and_mixes_layouts() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b TEXT) WITH (block_bytes = '128KiB')");
    for layout in LAYOUTS {
        sql.run(&format!(
            "ALTER TABLE t SET (layout = '{layout}', rewrite = false);
             INSERT INTO t SELECT value, 'row ' || value FROM generate_series(1, 3000) AS g(value);
             VACUUM t"
        ));
    }
    assert_eq!(
        sql.sorted("SELECT DISTINCT layout FROM freestone_blocks('t')"),
        ["column", "pax", "row"]
    );
    let before =
        sql.one("SELECT count(*), sum(a), min(b), max(b) FROM t WHERE a BETWEEN 10 AND 2990");
    sql.run("ALTER TABLE t SET (layout = 'pax', sort_by = 'a')");
    assert_eq!(
        sql.sorted("SELECT DISTINCT layout FROM freestone_blocks('t')"),
        ["pax"]
    );
    assert_eq!(
        sql.one("SELECT count(*), sum(a), min(b), max(b) FROM t WHERE a BETWEEN 10 AND 2990"),
        before
    );
    assert_eq!(sql.one("SELECT count(*) FROM t"), "9000");
    assert_eq!(sql.state("ALTER TABLE t SET (nosuch = 1)"), "22023");
    assert_eq!(
        sql.state("ALTER TABLE nosuch SET (layout = 'row')"),
        "42P01"
    );
}

#[test]
fn sort_by_orders_the_whole_table() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (a INT, b TEXT) WITH (sort_by = 'a', block_bytes = '128KiB');
         INSERT INTO t SELECT (value * 7919) % 50000, 'some text to fill the block ' || value FROM generate_series(1, 50000) AS g(value)",
    );
    let blocks: i64 = sql
        .one("SELECT count(*) FROM freestone_blocks('t')")
        .parse()
        .unwrap();
    assert!(blocks > 3, "{blocks}");
    let overlapping = sql.one(
        "SELECT count(*) FROM
           (SELECT CAST(min AS INT) AS lo, lag(CAST(max AS INT)) OVER (ORDER BY block) AS before
            FROM freestone_columns('t') WHERE column_name = 'a') s
         WHERE lo < before",
    );
    assert_eq!(overlapping, "0");
    let plan = sql
        .rows("EXPLAIN ANALYZE SELECT count(*) FROM t WHERE a = 77")
        .join("\n");
    assert!(plan.contains("blocks_read=1"), "{plan}");
}

#[test]
fn keys_are_enforced() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT PRIMARY KEY, b TEXT UNIQUE, c INT, d INT, UNIQUE (c, d))");
    sql.run("INSERT INTO t VALUES (1, 'x', 1, 1), (2, NULL, 1, 2), (3, NULL, 1, NULL), (4, NULL, 1, NULL)");
    let error = sql.error("INSERT INTO t VALUES (1, 'y', 9, 9)");
    assert_eq!(error.sqlstate, "23505");
    assert!(error.message.contains("t_pkey"), "{error}");
    assert!(error.detail.unwrap().contains("(a)=(1)"));
    assert_eq!(sql.state("INSERT INTO t VALUES (5, 'x', 9, 9)"), "23505");
    assert_eq!(sql.state("INSERT INTO t VALUES (5, 'y', 1, 2)"), "23505");
    assert_eq!(
        sql.state("INSERT INTO t VALUES (5, 'y', 8, 8), (5, 'z', 9, 9)"),
        "23505"
    );
    assert_eq!(sql.state("INSERT INTO t VALUES (NULL, 'y', 9, 9)"), "23502");
    assert_eq!(sql.one("SELECT count(*) FROM t"), "4");
    sql.run("INSERT INTO t SELECT value + 100, NULL, value, value FROM generate_series(10, 2000) AS g(value)");
    assert_eq!(
        sql.state(
            "INSERT INTO t SELECT value + 100, NULL, -value, value FROM generate_series(1000, 4000) AS g(value)"
        ),
        "23505"
    );
    assert_eq!(
        sql.one("SELECT c FROM t WHERE a = 1100 GROUP BY a, c"),
        "1000"
    );
}

#[test]
fn what_is_left_undone_is_said() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT); CREATE VIEW v AS SELECT 1 AS a; CREATE SCHEMA s");
    sql.run("CREATE INDEX i ON t (a); CREATE SEQUENCE q");
    for (statement, said) in [
        (
            "DROP TABLE IF EXISTS t, u, w",
            &["table \"u\" does not exist", "table \"w\" does not exist"][..],
        ),
        ("CREATE TABLE IF NOT EXISTS t (a INT)", &[]),
        (
            "CREATE TABLE IF NOT EXISTS t (a INT)",
            &["relation \"t\" already exists"],
        ),
        ("CREATE INDEX IF NOT EXISTS i ON t (a)", &[]),
        (
            "CREATE INDEX IF NOT EXISTS i ON t (a)",
            &["relation \"i\" already exists"],
        ),
        (
            "CREATE VIEW IF NOT EXISTS v AS SELECT 2 AS a",
            &["relation \"v\" already exists"],
        ),
        (
            "CREATE SEQUENCE IF NOT EXISTS q",
            &["relation \"q\" already exists"],
        ),
        (
            "CREATE SCHEMA IF NOT EXISTS s",
            &["schema \"s\" already exists"],
        ),
        (
            "ALTER TABLE IF EXISTS s.t ADD COLUMN b INT",
            &["relation \"s.t\" does not exist"],
        ),
        ("DROP VIEW IF EXISTS v, v2", &["view \"v2\" does not exist"]),
        ("DROP INDEX IF EXISTS i2", &["index \"i2\" does not exist"]),
        (
            "DROP SEQUENCE IF EXISTS q2",
            &["sequence \"q2\" does not exist"],
        ),
        (
            "DROP SCHEMA IF EXISTS s2",
            &["schema \"s2\" does not exist"],
        ),
    ] {
        let said: Vec<String> = said
            .iter()
            .map(|said| format!("NOTICE: {said}, skipping"))
            .collect();
        assert_eq!(sql.noticed(statement), said, "{statement}");
    }
    sql.run("SET client_min_messages = warning");
    assert!(sql.noticed("DROP TABLE IF EXISTS nowhere").is_empty());
    assert_eq!(sql.noticed("COMMIT").len(), 1);
}

#[test]
fn views_are_renamed() {
    let sql = Sql::new();
    sql.run("CREATE VIEW v AS SELECT 1 AS a; CREATE TABLE t (a INT)");
    assert_eq!(sql.run("ALTER TABLE v RENAME TO w"), "ALTER TABLE");
    assert_eq!(sql.run("ALTER VIEW w RENAME TO x"), "ALTER VIEW");
    assert_eq!(sql.one("SELECT a FROM x"), "1");
    assert_eq!(sql.state("SELECT a FROM v"), "42P01");
    assert_eq!(sql.state("ALTER VIEW x RENAME TO t"), "42P07");
    assert_eq!(sql.state("ALTER VIEW v RENAME TO y"), "42P01");
    assert_eq!(sql.noticed("ALTER VIEW IF EXISTS v RENAME TO y").len(), 1);
}

#[test]
fn digests() {
    let sql = Sql::new();
    let digest = "900150983cd24fb0d6963f7d28e17f72";
    assert_eq!(sql.one("SELECT md5('abc')"), digest);
    assert_eq!(sql.one("SELECT md5('abc'::bytea)"), digest);
    assert_eq!(
        sql.sorted("SELECT md5(x) FROM (VALUES ('abc'), (NULL)) v(x)"),
        [digest, "NULL"]
    );
}

#[test]
fn schemas_are_made_with_what_is_in_them() {
    let sql = Sql::new();
    sql.run("CREATE TABLE items (outer_one INTEGER)");
    let made = sql.run(
        "CREATE SCHEMA shop \
         CREATE INDEX by_name ON items (name) \
         CREATE VIEW names AS SELECT name || '''s' AS name FROM items WHERE name <> 'CREATE TABLE' \
         CREATE TABLE items (id INTEGER PRIMARY KEY DEFAULT nextval('ids'), name TEXT DEFAULT 'it''s') \
         CREATE SEQUENCE ids START 7",
    );
    assert_eq!(made, "CREATE SCHEMA");
    sql.run("INSERT INTO shop.items DEFAULT VALUES");
    assert_eq!(sql.rows("SELECT * FROM shop.items"), ["7|it's"]);
    assert_eq!(sql.rows("SELECT * FROM shop.names"), ["it's's"]);
    // The path is as before.
    assert_eq!(sql.rows("SELECT * FROM items"), Vec::<String>::new());
    // All of it or nothing.
    for (elements, state) in [
        (
            "CREATE TABLE a (i INTEGER) CREATE VIEW v AS SELECT * FROM nowhere",
            "42P01",
        ),
        (
            "CREATE TABLE a (i INTEGER) CREATE TABLE shop.b (i INTEGER)",
            "42P15",
        ),
        (
            "CREATE TABLE a (i INTEGER) CREATE TABLE a (i INTEGER)",
            "42P07",
        ),
    ] {
        let create = format!("CREATE SCHEMA other {elements}");
        assert_eq!(sql.state(&create), state, "{create}");
        assert_eq!(sql.state("DROP SCHEMA other"), "3F000");
    }
    // Within a transaction, and undone with it.
    sql.run("BEGIN");
    sql.run("CREATE SCHEMA third CREATE TABLE a (i INTEGER)");
    sql.run("INSERT INTO third.a VALUES (1)");
    sql.run("ROLLBACK");
    assert_eq!(sql.state("DROP SCHEMA third"), "3F000");
    // With an empty path, too.
    sql.run("SET search_path = ''");
    sql.run("CREATE SCHEMA fourth CREATE TABLE a (i INTEGER)");
    assert!(sql.rows_of_one_engine("SELECT * FROM fourth.a").is_empty());
    assert_eq!(sql.state("SELECT * FROM a"), "42P01");
    sql.run("RESET search_path");
    let create = "CREATE SCHEMA IF NOT EXISTS shop CREATE TABLE a (i INTEGER)";
    assert_eq!(sql.state(create), "0A000");
}

#[test]
fn names_are_cut_to_63_bytes() {
    let sql = Sql::new();
    let (long, kept) = ("x".repeat(70), "x".repeat(63));
    let said = format!("NOTICE: identifier \"{long}\" will be truncated to \"{kept}\"");
    assert_eq!(
        sql.noticed(&format!(
            "CREATE TABLE {long} ({long} INT, CONSTRAINT {long} CHECK ({long} > 0))"
        )),
        [said.as_str(); 4]
    );
    assert_eq!(sql.names(&format!("SELECT * FROM {kept}")), [kept.as_str()]);
    sql.run(&format!(
        "INSERT INTO {long} VALUES (1); ALTER TABLE {kept} DROP CONSTRAINT {kept}"
    ));
    assert_eq!(sql.one(&format!("SELECT a.{long} FROM {long} AS a")), "1");
    // A character is not cut in two.
    let (long, kept) = ("ä".repeat(40), "ä".repeat(31));
    assert_eq!(
        sql.names(&format!("SELECT 1 AS \"{long}\"")),
        [kept.as_str()]
    );
    // Texts are no names.
    let text = "y".repeat(70);
    assert!(
        sql.noticed(&format!("SELECT '{text}', $${text}$$ AS \"a\" -- {text}"))
            .is_empty()
    );
    assert_eq!(sql.one(&format!("SELECT '{text}'")), text);
}

#[test]
fn what_if_exists_leaves_undone_is_told() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, CONSTRAINT c CHECK (a > 0))");
    for (statement, said) in [
        (
            "ALTER TABLE t DROP COLUMN IF EXISTS z",
            "column \"z\" of relation \"t\" does not exist, skipping",
        ),
        (
            "ALTER TABLE t ADD COLUMN IF NOT EXISTS a INT",
            "column \"a\" of relation \"t\" already exists, skipping",
        ),
        (
            "ALTER TABLE IF EXISTS t DROP CONSTRAINT IF EXISTS d",
            "constraint \"d\" of relation \"t\" does not exist, skipping",
        ),
        (
            "DROP ROLE IF EXISTS r",
            "role \"r\" does not exist, skipping",
        ),
        (
            "DROP FUNCTION IF EXISTS f(int)",
            "function f(integer) does not exist, skipping",
        ),
        (
            "DROP TABLE IF EXISTS s.t",
            "schema \"s\" does not exist, skipping",
        ),
        (
            "CREATE SCHEMA IF NOT EXISTS public",
            "schema \"public\" already exists, skipping",
        ),
    ] {
        assert_eq!(
            sql.noticed(statement),
            [format!("NOTICE: {said}")],
            "{statement}"
        );
    }
    for statement in [
        "ALTER TABLE t DROP CONSTRAINT IF EXISTS c",
        "ALTER TABLE t ADD COLUMN IF NOT EXISTS b INT",
        "ALTER TABLE t DROP COLUMN IF EXISTS b",
    ] {
        assert!(sql.noticed(statement).is_empty(), "{statement}");
    }
}

#[test]
fn a_view_that_is_replaced_keeps_its_columns() {
    let sql = Sql::new();
    sql.run("CREATE VIEW v AS SELECT 1 AS a, 2 AS b");
    for (query, message) in [
        ("SELECT 1 AS a", "cannot drop columns from view"),
        (
            "SELECT 1 AS a, 2 AS c",
            "cannot change name of view column \"b\" to \"c\"",
        ),
        (
            "SELECT 1 AS a, 'x'::text AS b",
            "cannot change data type of view column \"b\" from integer to text",
        ),
    ] {
        let error = sql.error(&format!("CREATE OR REPLACE VIEW v AS {query}"));
        assert_eq!(
            (error.sqlstate.as_str(), error.message.as_str()),
            ("42P16", message)
        );
    }
    sql.run("CREATE OR REPLACE VIEW v AS SELECT 3 AS a, 4 AS b, 5 AS c");
    assert_eq!(sql.one("SELECT * FROM v"), "3|4|5");
}

#[test]
fn a_key_has_a_column_once() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT NOT NULL)");
    for (statement, kind) in [
        ("CREATE TABLE u (a INT, PRIMARY KEY (a, a))", "primary key"),
        ("CREATE TABLE u (a INT, UNIQUE (a, a))", "unique"),
        ("ALTER TABLE t ADD PRIMARY KEY (a, a)", "primary key"),
    ] {
        let error = sql.error(statement);
        let message = format!("column \"a\" appears twice in {kind} constraint");
        assert_eq!((error.sqlstate.as_str(), error.message), ("42701", message));
    }
}

#[test]
fn bpchar_has_a_length() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (c BPCHAR(5)); INSERT INTO t VALUES ('dog')");
    assert_eq!(
        sql.one("SELECT c = 'dog  ', octet_length(c), pg_typeof(c) FROM t"),
        "true|5|character"
    );
    assert_eq!(sql.state("INSERT INTO t VALUES ('longer')"), "22001");
    assert_eq!(sql.state("CREATE TABLE u (c BPCHAR)"), "0A000");
    assert_eq!(sql.state("CREATE TABLE u (c BPCHAR(0))"), "22023");
}

#[test]
fn what_cascade_drops_is_told() {
    let sql = Sql::new();
    sql.run(
        "CREATE SCHEMA s; CREATE TABLE s.a (a INT PRIMARY KEY, n INT GENERATED ALWAYS AS IDENTITY);
         CREATE TABLE b (b INT CONSTRAINT f REFERENCES s.a)",
    );
    assert_eq!(
        sql.noticed("BEGIN; DROP TABLE s.a CASCADE; ROLLBACK"),
        ["NOTICE: drop cascades to constraint f on table b"]
    );
    assert!(
        sql.noticed("BEGIN; DROP TABLE s.a, b CASCADE; ROLLBACK")
            .is_empty()
    );
    sql.run("DROP TABLE b");
    assert_eq!(
        sql.noticed("BEGIN; DROP SCHEMA s CASCADE; ROLLBACK"),
        ["NOTICE: drop cascades to table s.a"]
    );
    sql.run(
        "CREATE VIEW s.v AS SELECT 1 AS a; CREATE SEQUENCE s.q; CREATE TYPE s.t AS ENUM ('x');
         CREATE FUNCTION s.f(int) RETURNS int LANGUAGE sql AS 'select 1'",
    );
    assert_eq!(
        sql.noticed("DROP SCHEMA s CASCADE"),
        ["NOTICE: drop cascades to 5 other objects"]
    );
    assert_eq!(sql.state("DROP ROUTINE f"), "0A000");
}

#[test]
fn tables_with_foreign_keys_to_each_other_go_at_once() {
    let sql = Sql::new();
    sql.run("CREATE TABLE a (k INT PRIMARY KEY, b INT)");
    sql.run("CREATE TABLE b (k INT PRIMARY KEY REFERENCES a, a INT)");
    sql.run("ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b");
    assert_eq!(sql.state("DROP TABLE a"), "2BP01");
    sql.run("CREATE TABLE c (b INT REFERENCES b)");
    assert_eq!(sql.state("DROP TABLE a, b"), "2BP01");
    sql.run("DROP TABLE c; DROP TABLE b, a");
    assert_eq!(sql.state("SELECT * FROM b"), "42P01");
}

#[test]
fn the_index_of_a_constraint_goes_with_it_only() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT PRIMARY KEY, b INT CONSTRAINT u UNIQUE, c INT)");
    sql.run("CREATE UNIQUE INDEX i ON t (c)");
    assert_eq!(sql.state("DROP INDEX u"), "2BP01");
    assert_eq!(sql.state("DROP INDEX i, t_pkey"), "2BP01");
    sql.run("DROP INDEX i; ALTER TABLE t DROP CONSTRAINT u");
    sql.run("INSERT INTO t VALUES (1, 1, 1), (2, 1, 1)");
}

#[test]
fn declarations_that_contradict_are_refused() {
    let sql = Sql::new();
    for column in [
        "a INT NULL NOT NULL",
        "a INT NOT NULL NULL",
        "a SERIAL NULL",
        "a INT GENERATED ALWAYS AS IDENTITY NULL",
    ] {
        assert_eq!(
            sql.state(&format!("CREATE TABLE t ({column})")),
            "42601",
            "{column}"
        );
    }
    assert_eq!(sql.state("CREATE TABLE t (ctid INT)"), "42701");
    assert_eq!(sql.state("CREATE TABLE t AS SELECT 1 AS xmin"), "42701");
    sql.run("CREATE TABLE t (a INT GENERATED BY DEFAULT AS IDENTITY, b SERIAL)");
    assert_eq!(sql.state("ALTER TABLE t RENAME COLUMN a TO cmax"), "42701");
    assert_eq!(sql.state("ALTER SEQUENCE t_a_seq OWNED BY NONE"), "0A000");
    sql.run("ALTER SEQUENCE t_b_seq OWNED BY NONE");
    assert_eq!(
        sql.state("MERGE INTO t USING t ON true WHEN MATCHED THEN DO NOTHING"),
        "42712"
    );
}

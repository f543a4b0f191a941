//! What users define besides tables: enumerations, domains, generated columns, deferred
//! constraints, tables like others.

use freestone::Database;

use crate::support::Sql;

/// A database whose table `t` has days of an enumeration, in another order than that of texts.
fn days() -> Sql {
    let sql = Sql::new();
    assert_eq!(
        sql.run("CREATE TYPE day AS ENUM ('sun', 'mon', 'tue')"),
        "CREATE TYPE"
    );
    sql.run("CREATE TABLE t (d day, n INT)");
    sql.run("INSERT INTO t VALUES ('mon', 1), ('tue', 2), ('sun', 3), (NULL, 4)");
    sql
}

#[test]
fn labels_have_the_order_of_their_type() {
    let sql = days();
    for (query, wanted) in [
        ("SELECT d FROM t ORDER BY d", "sun,mon,tue,NULL"),
        ("SELECT n FROM t WHERE d > 'sun' ORDER BY n", "1,2"),
        ("SELECT n FROM t WHERE d = 'mon'", "1"),
        (
            "SELECT n FROM t WHERE d IN ('sun', 'tue') ORDER BY n",
            "2,3",
        ),
        ("SELECT min(d) FROM t", "sun"),
        ("SELECT max(d) FROM t", "tue"),
        (
            "SELECT d FROM t GROUP BY d ORDER BY d DESC NULLS LAST",
            "tue,mon,sun,NULL",
        ),
        ("SELECT enum_range(NULL::day)", "{sun,mon,tue}"),
        ("SELECT enum_range('mon'::day, NULL)", "{mon,tue}"),
        ("SELECT enum_first(d) FROM t WHERE n = 4", "sun"),
        ("SELECT enum_last('sun'::day)", "tue"),
        ("SELECT 'sun'::day < 'mon'", "true"),
        ("SELECT 'sun'::day::text || '!'", "sun!"),
        (
            "SELECT array_agg(d ORDER BY d) FROM t WHERE d IS NOT NULL",
            "{sun,mon,tue}",
        ),
        ("SELECT count(*) FROM t a JOIN t b ON a.d < b.d", "3"),
        (
            "SELECT d FROM t UNION SELECT 'sun' ORDER BY 1",
            "sun,mon,tue,NULL",
        ),
    ] {
        assert_eq!(sql.rows(query).join(","), wanted, "{query}");
    }
    for (statement, state) in [
        ("SELECT 'fri'::day", "22P02"),
        ("SELECT * FROM t WHERE d = 'fri'", "22P02"),
        ("INSERT INTO t VALUES ('fri', 1)", "22P02"),
        ("INSERT INTO t SELECT 'mon'::text, 1", "42804"),
        ("UPDATE t SET d = 'fri'", "22P02"),
        ("SELECT d = 1 FROM t", "42883"),
        ("CREATE TYPE day AS ENUM ()", "42710"),
        ("CREATE TYPE t AS ENUM ()", "42710"),
        ("CREATE TABLE day (a INT)", "42710"),
        ("CREATE TYPE x AS ENUM ('a', 'a')", "23505"),
        ("DROP TYPE day", "2BP01"),
        ("DROP TYPE nothing", "42704"),
        ("ALTER TYPE day ADD VALUE 'mon'", "42710"),
        ("ALTER TYPE day ADD VALUE 'x' BEFORE 'fri'", "22023"),
        ("ALTER TYPE day RENAME VALUE 'fri' TO 'x'", "22023"),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
}

#[test]
fn labels_come_without_rows_being_written_again() {
    let sql = days();
    sql.run("ALTER TYPE day ADD VALUE 'sat' BEFORE 'sun'");
    sql.run("ALTER TYPE day ADD VALUE 'noon' AFTER 'mon'");
    sql.run("ALTER TYPE day ADD VALUE IF NOT EXISTS 'sat'");
    sql.run("INSERT INTO t VALUES ('noon', 5), ('sat', 6)");
    assert_eq!(
        sql.rows("SELECT d FROM t ORDER BY d").join(","),
        "sat,sun,mon,noon,tue,NULL"
    );
    assert_eq!(
        sql.rows("SELECT enumlabel, enumsortorder::text FROM pg_enum ORDER BY enumsortorder"),
        ["sat|0", "sun|1", "mon|2", "noon|2.5", "tue|3"]
    );
    sql.run("ALTER TABLE t ALTER d SET DEFAULT 'sun'");
    sql.run("ALTER TYPE day RENAME VALUE 'sun' TO 'sunday'");
    sql.run("INSERT INTO t (n) VALUES (7)");
    assert_eq!(
        sql.rows("SELECT n FROM t WHERE d = 'sunday' ORDER BY n"),
        ["3", "7"]
    );
    assert_eq!(sql.state("SELECT 'sun'::day"), "22P02");
    sql.run("ALTER TYPE day RENAME TO weekday");
    assert_eq!(sql.one("SELECT pg_typeof(d) FROM t LIMIT 1"), "weekday");
    sql.run("DROP TYPE weekday CASCADE");
    assert_eq!(sql.one("SELECT * FROM t WHERE n = 1"), "1");
}

#[test]
fn enumerations_are_keys_and_arrays() {
    let sql = days();
    sql.run("CREATE TABLE u (d day PRIMARY KEY, many day[] DEFAULT '{mon,sun}')");
    sql.run("INSERT INTO u VALUES ('tue', '{tue,sun}'), ('sun', DEFAULT)");
    assert_eq!(sql.state("INSERT INTO u VALUES ('tue')"), "23505");
    assert_eq!(sql.state("INSERT INTO u VALUES ('mon', '{fri}')"), "22P02");
    assert_eq!(
        sql.rows("SELECT many, many[1] AS first FROM u ORDER BY many"),
        ["{mon,sun}|mon", "{tue,sun}|tue"]
    );
    sql.run("INSERT INTO u VALUES ('tue') ON CONFLICT (d) DO UPDATE SET many = '{}'");
    assert_eq!(sql.one("SELECT many FROM u WHERE d = 'tue'"), "{}");
    sql.run("ALTER TYPE day RENAME VALUE 'sun' TO 'sol'");
    assert_eq!(sql.one("SELECT many FROM u WHERE d = 'sol'"), "{mon,sol}");
    sql.run("CREATE TABLE v AS SELECT d, many FROM u");
    assert_eq!(sql.state("INSERT INTO v VALUES ('fri')"), "22P02");
    sql.run("ALTER TABLE t ALTER d TYPE TEXT");
    sql.run("UPDATE t SET d = 'fri' WHERE n = 1");
    assert_eq!(
        sql.state("ALTER TABLE t ALTER d TYPE day USING d::day"),
        "22P02"
    );
}

#[test]
fn types_outlive_the_process() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    {
        let sql = Sql::on(&Database::open(&path).unwrap());
        sql.run("CREATE TYPE e AS ENUM ('b', 'a')");
        sql.run("CREATE DOMAIN positive AS INT DEFAULT 7 CHECK (VALUE > 0)");
        sql.run("CREATE TABLE t (e e, p positive, twice INT GENERATED ALWAYS AS (p * 2) STORED)");
        sql.run("INSERT INTO t VALUES ('a', 1), ('b', DEFAULT)");
    }
    let sql = Sql::on(&Database::open(&path).unwrap());
    assert_eq!(sql.rows("SELECT * FROM t ORDER BY e"), ["b|7|14", "a|1|2"]);
    assert_eq!(sql.state("INSERT INTO t VALUES ('c')"), "22P02");
    assert_eq!(sql.state("INSERT INTO t VALUES ('a', 0)"), "23514");
}

#[test]
fn domains_are_checked_by_casts_and_where_rows_are_stored() {
    let sql = Sql::new();
    sql.run("CREATE DOMAIN positive AS INT CONSTRAINT above CHECK (VALUE > 0)");
    sql.run("CREATE DOMAIN small AS positive NOT NULL CHECK (VALUE < 100)");
    sql.run("CREATE TABLE t (a positive DEFAULT 5, b small, c INT)");
    sql.run("INSERT INTO t VALUES (1, 2), (NULL, 3)");
    for (query, wanted) in [
        ("SELECT '12'::positive", "12"),
        ("SELECT CAST(NULL AS positive)", "NULL"),
        ("SELECT 7::small + 1", "8"),
        ("SELECT a + b FROM t ORDER BY 1", "3,NULL"),
        (
            "SELECT domain_name FROM information_schema.columns WHERE table_name = 't' ORDER BY 1",
            "positive,small,NULL",
        ),
    ] {
        assert_eq!(sql.rows(query).join(","), wanted, "{query}");
    }
    for (statement, state) in [
        ("SELECT (-1)::positive", "23514"),
        (
            "SELECT a - 5 FROM (SELECT 1 AS a) x WHERE (a - 5)::positive IS NULL",
            "23514",
        ),
        ("SELECT NULL::small", "23502"),
        ("SELECT 100::small", "23514"),
        ("SELECT (-1)::small", "23514"),
        ("INSERT INTO t VALUES (0, 1)", "23514"),
        ("INSERT INTO t VALUES (1)", "23502"),
        ("UPDATE t SET b = b * 50", "23514"),
        ("DROP DOMAIN positive", "2BP01"),
        ("ALTER DOMAIN positive ADD CHECK (VALUE > 1)", "23514"),
        ("ALTER DOMAIN positive SET NOT NULL", "23502"),
        ("ALTER DOMAIN positive DROP CONSTRAINT nothing", "42704"),
        ("CREATE DOMAIN positive AS TEXT", "42710"),
        ("CREATE DOMAIN wrong AS INT CHECK (VALUE)", "42804"),
        ("CREATE DOMAIN wrong AS INT NULL NOT NULL", "42601"),
        ("DROP DOMAIN nothing", "42704"),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
    sql.run("ALTER DOMAIN positive DROP CONSTRAINT above");
    sql.run("INSERT INTO t VALUES (-1, 1)");
    sql.run("ALTER DOMAIN positive ADD CONSTRAINT even CHECK (VALUE % 2 = 0) NOT VALID");
    assert_eq!(sql.state("INSERT INTO t VALUES (3, 4)"), "23514");
    assert_eq!(
        sql.state("ALTER DOMAIN positive VALIDATE CONSTRAINT even"),
        "23514"
    );
    sql.run("ALTER DOMAIN small SET DEFAULT 42");
    sql.run("INSERT INTO t (a) VALUES (4)");
    assert_eq!(sql.one("SELECT b FROM t WHERE a = 4"), "42");
    sql.run("DROP DOMAIN IF EXISTS positive CASCADE");
    assert_eq!(sql.state("SELECT 1::small"), "42704");
}

#[test]
fn generated_columns_follow_the_others() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS (a * 2) STORED, c TEXT)");
    sql.run("INSERT INTO t VALUES (1, DEFAULT, NULL), (2, DEFAULT, 'x')");
    sql.run("INSERT INTO t (c, a) SELECT 'y', n FROM generate_series(3, 4) g(n)");
    let all = "SELECT a, b FROM t ORDER BY a";
    assert_eq!(sql.rows(all), ["1|2", "2|4", "3|6", "4|8"]);
    sql.run("UPDATE t SET a = a + 10 WHERE a < 3");
    sql.run("UPDATE t SET a = 30, b = DEFAULT WHERE c = 'y' AND a = 3");
    assert_eq!(sql.rows(all), ["4|8", "11|22", "12|24", "30|60"]);
    assert_eq!(sql.one("INSERT INTO t (a) VALUES (50) RETURNING b"), "100");
    sql.run("ALTER TABLE t ADD COLUMN d TEXT GENERATED ALWAYS AS (upper(c)) STORED");
    assert_eq!(sql.one("SELECT d FROM t WHERE a = 30"), "Y");
    sql.run("UPDATE t SET c = 'z' WHERE a = 30");
    assert_eq!(sql.one("SELECT d FROM t WHERE a = 30"), "Z");
    sql.run("ALTER TABLE t RENAME a TO e");
    sql.run("UPDATE t SET e = 31 WHERE e = 30");
    assert_eq!(sql.one("SELECT b FROM t WHERE e = 31"), "62");
    for (statement, state) in [
        ("INSERT INTO t (e, b) VALUES (1, 1)", "428C9"),
        ("UPDATE t SET b = 1", "428C9"),
        ("ALTER TABLE t ALTER b SET DEFAULT 1", "42601"),
        ("ALTER TABLE t DROP COLUMN e", "2BP01"),
        ("ALTER TABLE t ALTER e TYPE BIGINT", "0A000"),
        (
            "CREATE TABLE u (a INT GENERATED ALWAYS AS (1) STORED DEFAULT 2)",
            "42601",
        ),
        (
            "CREATE TABLE u (a INT GENERATED ALWAYS AS (b) STORED)",
            "42703",
        ),
        (
            "CREATE TABLE u (a INT GENERATED ALWAYS AS (random()) STORED)",
            "42P17",
        ),
        (
            "CREATE TABLE u (a INT GENERATED ALWAYS AS ((SELECT 1)) STORED)",
            "0A000",
        ),
        (
            "CREATE TABLE u (a INT, b INT GENERATED ALWAYS AS (a) STORED,
             c INT GENERATED ALWAYS AS (b) STORED)",
            "42P17",
        ),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
    sql.run("ALTER TABLE t DROP COLUMN e CASCADE");
    assert_eq!(sql.one("SELECT * FROM t WHERE c = 'z'"), "z|Z");
}

#[test]
fn deferred_references_are_checked_when_a_transaction_ends() {
    let sql = Sql::new();
    sql.run("CREATE TABLE p (id INT PRIMARY KEY)");
    sql.run(
        "CREATE TABLE c (id INT PRIMARY KEY,
         p INT REFERENCES p DEFERRABLE INITIALLY DEFERRED)",
    );
    assert_eq!(sql.state("INSERT INTO c VALUES (1, 1)"), "23503");
    sql.run("BEGIN");
    sql.run("INSERT INTO c VALUES (1, 1)");
    sql.run("INSERT INTO p VALUES (1)");
    sql.run("COMMIT");
    assert_eq!(sql.one("SELECT count(*) FROM c"), "1");
    sql.run("BEGIN");
    sql.run("DELETE FROM p");
    sql.run("INSERT INTO p VALUES (1)");
    sql.run("COMMIT");
    sql.run("BEGIN");
    sql.run("DELETE FROM p");
    assert_eq!(sql.state("COMMIT"), "23503");
    assert_eq!(sql.one("SELECT count(*) FROM p"), "1");
    sql.run("BEGIN");
    sql.run("INSERT INTO c VALUES (2, 2)");
    assert_eq!(sql.state("SET CONSTRAINTS ALL IMMEDIATE"), "23503");
    sql.run("ROLLBACK");
    sql.run("BEGIN");
    sql.run("SET CONSTRAINTS c_p_fkey IMMEDIATE");
    assert_eq!(sql.state("INSERT INTO c VALUES (2, 2)"), "23503");
    sql.run("ROLLBACK");
    sql.run("BEGIN");
    assert_eq!(sql.state("SET CONSTRAINTS nothing DEFERRED"), "42704");
    sql.run("ROLLBACK");
    sql.run("BEGIN");
    assert_eq!(sql.state("SET CONSTRAINTS c_pkey DEFERRED"), "42809");
    sql.run("ROLLBACK");
    sql.run("BEGIN");
    sql.run("SAVEPOINT s");
    sql.run("INSERT INTO c VALUES (2, 2)");
    sql.run("ROLLBACK TO s");
    sql.run("COMMIT");
    assert_eq!(
        sql.one("SELECT condeferrable, condeferred FROM pg_constraint WHERE conname = 'c_p_fkey'"),
        "true|true"
    );
}

#[test]
fn tables_are_made_like_others() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE s (a INT PRIMARY KEY DEFAULT 5, b TEXT NOT NULL CHECK (b <> ''),
         c INT GENERATED ALWAYS AS (a + 1) STORED, d INT GENERATED BY DEFAULT AS IDENTITY)",
    );
    sql.run("CREATE TABLE plain (LIKE s, e INT)");
    sql.run("INSERT INTO plain VALUES (0, '', 3, 4, 5)");
    assert_eq!(sql.state("INSERT INTO plain (a) VALUES (1)"), "23502");
    assert_eq!(sql.one("SELECT * FROM plain"), "0||3|4|5");
    sql.run("CREATE TABLE whole (x INT, LIKE s INCLUDING ALL)");
    sql.run("INSERT INTO whole (b) VALUES ('b')");
    assert_eq!(sql.one("SELECT * FROM whole"), "NULL|5|b|6|1");
    assert_eq!(sql.state("INSERT INTO whole (b) VALUES ('b')"), "23505");
    assert_eq!(
        sql.state("INSERT INTO whole (a, b) VALUES (1, '')"),
        "23514"
    );
    sql.run("CREATE TABLE copy1 (LIKE s INCLUDING ALL EXCLUDING INDEXES EXCLUDING DEFAULTS)");
    // A column of a primary key takes no NULL in the copy either.
    assert_eq!(sql.state("INSERT INTO copy1 (b) VALUES ('b')"), "23502");
    sql.run("INSERT INTO copy1 (a, b) VALUES (1, 'b'), (1, 'b')");
    assert_eq!(sql.one("SELECT count(*) FROM copy1 WHERE a = 1"), "2");
    assert_eq!(sql.state("CREATE TABLE u (LIKE nothing)"), "42P01");
}

#[test]
fn sequences_are_declared_anew() {
    let sql = Sql::new();
    sql.run("CREATE SEQUENCE s");
    let next = || sql.one("SELECT nextval('s')");
    assert_eq!(next(), "1");
    sql.run("ALTER SEQUENCE s INCREMENT BY 10 MAXVALUE 30");
    assert_eq!(next(), "11");
    sql.run("ALTER SEQUENCE s RESTART WITH 5");
    assert_eq!((next(), next()), ("5".into(), "15".into()));
    sql.run("ALTER SEQUENCE s RESTART");
    assert_eq!(next(), "1");
    assert_eq!(sql.one("SELECT * FROM s"), "1|0|true");
    sql.run("ALTER SEQUENCE s AS SMALLINT NO MAXVALUE");
    for (statement, state) in [
        ("ALTER SEQUENCE s INCREMENT 0", "22023"),
        ("ALTER SEQUENCE s MAXVALUE 40000", "22023"),
        ("ALTER SEQUENCE s START 50 MAXVALUE 20", "22023"),
        ("ALTER SEQUENCE nothing RESTART", "42P01"),
        ("ALTER SEQUENCE s OWNED BY nothing.a", "42P01"),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
    sql.run("ALTER SEQUENCE IF EXISTS nothing RESTART");
    sql.run("CREATE TABLE t (id INT DEFAULT nextval('s'), a INT)");
    sql.run("ALTER SEQUENCE s OWNED BY t.id");
    sql.run("ALTER SEQUENCE s RENAME TO r");
    sql.run("INSERT INTO t (a) SELECT 1");
    assert_eq!(sql.one("SELECT id FROM t"), "11");
    sql.run("ALTER TABLE t RENAME id TO key");
    sql.run("ALTER TABLE t DROP COLUMN key");
    assert_eq!(sql.state("SELECT nextval('r')"), "42P01");
}

#[test]
fn constraints_are_renamed() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT PRIMARY KEY, b INT CONSTRAINT above CHECK (b > 0))");
    sql.run("ALTER TABLE t RENAME CONSTRAINT above TO positive");
    sql.run("ALTER TABLE t RENAME CONSTRAINT t_pkey TO key");
    let error = sql.error("INSERT INTO t VALUES (1, 0)");
    assert!(error.message.contains("\"positive\""), "{error}");
    sql.run("INSERT INTO t VALUES (1, 1)");
    let error = sql.error("INSERT INTO t VALUES (1, 1)");
    assert!(error.message.contains("\"key\""), "{error}");
    assert_eq!(
        sql.state("ALTER TABLE t RENAME CONSTRAINT nothing TO x"),
        "42704"
    );
    assert_eq!(
        sql.state("ALTER TABLE t RENAME CONSTRAINT key TO positive"),
        "42710"
    );
}

#[test]
fn files_are_checked_against_types() {
    let sql = days();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.csv");
    let copy = format!("COPY t FROM '{}' WITH (HEADER)", path.display());
    std::fs::write(&path, "d,n\ntue,9\n").unwrap();
    sql.run(&copy);
    assert_eq!(sql.one("SELECT d FROM t WHERE n = 9"), "tue");
    std::fs::write(&path, "d,n\nfri,9\n").unwrap();
    assert_eq!(sql.state(&copy), "22P02");
}

#[test]
fn temporary_tables_end_with_transactions() {
    let sql = Sql::new();
    sql.run("CREATE TEMP TABLE kept (a INT) ON COMMIT DELETE ROWS");
    sql.run("BEGIN");
    sql.run("CREATE TEMP TABLE gone (a INT) ON COMMIT DROP");
    sql.run("INSERT INTO kept VALUES (1), (2)");
    sql.run("INSERT INTO gone VALUES (3)");
    assert_eq!(
        sql.one("SELECT sum(a) FROM (TABLE kept UNION ALL TABLE gone)"),
        "6"
    );
    sql.run("COMMIT");
    assert_eq!(sql.one("SELECT count(*) FROM kept"), "0");
    assert_eq!(sql.state("SELECT * FROM gone"), "42P01");
    sql.run("INSERT INTO kept VALUES (1)");
    assert_eq!(sql.one("SELECT count(*) FROM kept"), "0");
    assert_eq!(sql.state("CREATE TABLE t (a INT) ON COMMIT DROP"), "42P16");
}

#[test]
fn types_of_a_schema_go_with_it_unless_others_use_them() {
    let sql = Sql::new();
    sql.run("CREATE SCHEMA s");
    sql.run("CREATE TYPE s.e AS ENUM ('x')");
    sql.run("CREATE TABLE s.own (e s.e)");
    sql.run("CREATE TABLE other (e s.e, n INT)");
    assert_eq!(sql.state("DROP SCHEMA s"), "2BP01");
    assert_eq!(sql.state("DROP SCHEMA s CASCADE"), "2BP01");
    sql.run("DROP TABLE other");
    sql.run("DROP SCHEMA s CASCADE");
    assert_eq!(sql.one("SELECT count(*) FROM pg_enum"), "0");
}

#[test]
fn what_would_be_passed_over_is_refused() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b TEXT)");
    assert_eq!(
        sql.state("CREATE TYPE x AS RANGE (subtype = int4)"),
        "0A000"
    );
    assert_eq!(
        sql.state("CREATE TABLE u (a TEXT COLLATE \"de_DE\")"),
        "42704"
    );
    assert_eq!(sql.state("CREATE TABLE u (a INT COLLATE \"C\")"), "42804");
    sql.run("CREATE TABLE u (a TEXT COLLATE \"C\", b VARCHAR(3) COLLATE \"POSIX\")");
}

#[test]
fn identities_change_and_go() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (id INT GENERATED BY DEFAULT AS IDENTITY (START 10), a TEXT)");
    sql.run("ALTER TABLE t ALTER COLUMN id SET GENERATED ALWAYS");
    assert_eq!(sql.state("INSERT INTO t VALUES (1, 'y')"), "428C9");
    sql.run("ALTER TABLE t ALTER id RESTART WITH 50");
    sql.run("ALTER TABLE t ALTER id SET INCREMENT BY 5 SET START 7 SET GENERATED BY DEFAULT");
    let insert = "INSERT INTO t (a) VALUES ('x') RETURNING id";
    assert_eq!(sql.one(insert), "50");
    assert_eq!(sql.one(insert), "55");
    sql.run("ALTER TABLE t ALTER id RESTART; INSERT INTO t VALUES (1, 'y')");
    assert_eq!(sql.one(insert), "7");
    assert_eq!(
        sql.state("ALTER TABLE t ALTER a SET GENERATED ALWAYS"),
        "55000"
    );
    assert_eq!(sql.state("ALTER TABLE t ALTER zz RESTART"), "42703");
    assert_eq!(sql.state("ALTER TABLE t ALTER id SET MAXVALUE 3"), "22023");
    sql.run("ALTER TABLE t ALTER id DROP IDENTITY; ALTER TABLE t ALTER id DROP IDENTITY IF EXISTS");
    assert_eq!(sql.state("ALTER TABLE t ALTER id DROP IDENTITY"), "55000");
    assert_eq!(sql.state(insert), "23502");
    assert_eq!(sql.one("SELECT count(*) FROM pg_sequences"), "0");
    sql.run("ALTER TABLE t ALTER id ADD GENERATED ALWAYS AS IDENTITY");
    assert_eq!(sql.one(insert), "1");
    assert_eq!(
        sql.one("SELECT count(*) FROM information_schema.sequences"),
        "0"
    );
    assert_eq!(sql.one("SELECT count(*) FROM pg_sequences"), "1");
}

#[test]
fn tables_and_views_move_between_schemas() {
    let sql = Sql::new();
    sql.run("CREATE SCHEMA s; CREATE TABLE t (id SERIAL PRIMARY KEY, n INT GENERATED ALWAYS AS IDENTITY)");
    sql.run("CREATE TABLE child (id INT REFERENCES t); INSERT INTO t DEFAULT VALUES; INSERT INTO child VALUES (1)");
    sql.run("CREATE VIEW v AS SELECT 1 AS one, 2 AS two; CREATE SEQUENCE q");
    sql.run("ALTER TABLE t SET SCHEMA s; ALTER VIEW v SET SCHEMA s; ALTER TABLE q SET SCHEMA s");
    sql.run("ALTER VIEW s.v RENAME COLUMN one TO uno; ALTER TABLE s.v RENAME two TO dos");
    assert_eq!(sql.one("SELECT uno, dos FROM s.v"), "1|2");
    assert_eq!(
        sql.state("ALTER VIEW s.v RENAME COLUMN nosuch TO x"),
        "42703"
    );
    assert_eq!(
        sql.state("ALTER VIEW s.v RENAME COLUMN dos TO uno"),
        "42701"
    );
    assert_eq!(
        sql.rows("INSERT INTO s.t DEFAULT VALUES RETURNING *"),
        ["2|2"]
    );
    assert_eq!(sql.state("INSERT INTO child VALUES (3)"), "23503");
    assert_eq!(
        sql.sorted("SELECT sequencename FROM pg_sequences WHERE schemaname = 's'"),
        ["q", "t_id_seq", "t_n_seq"]
    );
    sql.run("CREATE TABLE t (a INT); SET search_path = s");
    assert_eq!(sql.state("ALTER TABLE public.t SET SCHEMA s"), "42P07");
    assert_eq!(sql.state("ALTER TABLE t SET SCHEMA nosuch"), "3F000");
    assert_eq!(sql.state("ALTER TABLE nosuch SET SCHEMA s"), "42P01");
    sql.run("ALTER TABLE IF EXISTS nosuch SET SCHEMA s; ALTER TABLE t ALTER n RESTART WITH 9");
    assert_eq!(
        sql.rows("INSERT INTO t DEFAULT VALUES RETURNING *"),
        ["3|9"]
    );
    sql.run("RESET search_path; CREATE TABLE pg_temp.o (a INT); INSERT INTO o VALUES (1)");
    assert_eq!(sql.one("SELECT a FROM pg_temp.o"), "1");
    assert_eq!(sql.state("ALTER TABLE o SET SCHEMA s"), "0A000");
    // Options about pages, which are none here.
    sql.run("ALTER TABLE t SET (fillfactor = 70, autovacuum_enabled = false)");
    assert_eq!(sql.state("ALTER TABLE t SET (nosuch = 1)"), "22023");
    sql.run("ALTER TABLE t RESET (fillfactor, autovacuum_enabled)");
    assert_eq!(sql.state("ALTER TABLE t RESET (layout)"), "0A000");
}

#[test]
fn show_create_gives_statements_that_make_the_same() {
    let sql = Sql::new();
    sql.run(
        r#"CREATE SCHEMA s;
           CREATE TABLE parent (a INT, b INT, PRIMARY KEY (a, b));
           CREATE TABLE s."Odd name" (
               id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
               a INT NOT NULL DEFAULT 7 CHECK (a > 0), b INT,
               "Sum" INT GENERATED ALWAYS AS (a + 1) STORED,
               t VARCHAR(5) DEFAULT 'it''s', m NUMERIC(8, 2)[], z TIMESTAMP(3) WITH TIME ZONE,
               UNIQUE (a, t),
               FOREIGN KEY (a, b) REFERENCES parent ON DELETE CASCADE DEFERRABLE);
           CREATE INDEX by_text ON s."Odd name" (lower(t)) WHERE a > 3;
           CREATE VIEW seen AS SELECT id, t FROM s."Odd name" WHERE a > 1;
           CREATE TABLE parts (a INT) PARTITION BY RANGE (a)"#,
    );
    for (show, drop) in [
        ("SHOW CREATE TABLE parent", "DROP TABLE parent CASCADE"),
        (
            r#"SHOW CREATE TABLE s."Odd name""#,
            r#"DROP TABLE s."Odd name" CASCADE"#,
        ),
        ("SHOW CREATE TABLE parts", "DROP TABLE parts"),
    ] {
        let text = sql.one(show);
        let (_, statement) = text.split_once('|').unwrap();
        sql.run(drop);
        if show.contains("Odd") {
            sql.run("DROP TABLE parent; CREATE TABLE parent (a INT, b INT, PRIMARY KEY (a, b))");
        }
        sql.run(statement);
        assert_eq!(sql.one(show), text);
    }
    sql.run(r#"CREATE VIEW seen AS SELECT id, t FROM s."Odd name" WHERE a > 1"#);
    let text = sql.one("SHOW CREATE VIEW public.seen");
    sql.run(&format!(
        "DROP VIEW seen; {}",
        text.split_once('|').unwrap().1
    ));
    assert_eq!(sql.one("SHOW CREATE VIEW seen"), text);
    assert_eq!(sql.state("SHOW CREATE TABLE missing"), "42P01");
}

//! Statements that tools of migration send: indexes and constraints renamed, validated and
//! deferred, types of columns that others refer to, numbers for rows that are there.

use freestone::Database;

use crate::support::Sql;

const VALIDATED: &str = "SELECT conname, convalidated, pg_get_constraintdef(oid) LIKE '% NOT VALID' \
                         FROM pg_constraint WHERE conrelid = 't'::regclass ORDER BY 1";

#[test]
fn indexes_are_renamed_with_their_constraints() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT PRIMARY KEY, b TEXT, CONSTRAINT u UNIQUE (b))");
    sql.run("CREATE INDEX i ON t (b); COMMENT ON CONSTRAINT u ON t IS 'noted'");
    assert_eq!(sql.run("ALTER INDEX i RENAME TO j"), "ALTER INDEX");
    sql.run("ALTER INDEX u RENAME TO v");
    // Rows of the same transaction stay right.
    sql.run("BEGIN; INSERT INTO t VALUES (1, 'x'); ALTER INDEX t_pkey RENAME TO pk; COMMIT");
    assert_eq!(
        sql.rows("SELECT indexname FROM pg_indexes WHERE tablename = 't' ORDER BY 1"),
        ["j", "pk", "v"]
    );
    assert_eq!(
        sql.rows(
            "SELECT conname, obj_description(oid, 'pg_constraint') FROM pg_constraint \
             WHERE conrelid = 't'::regclass ORDER BY 1"
        ),
        ["pk|NULL", "v|noted"]
    );
    assert_eq!(sql.state("INSERT INTO t VALUES (1, 'y')"), "23505");
    for (statement, state) in [
        ("ALTER INDEX nothing RENAME TO k", "42P01"),
        ("ALTER INDEX t RENAME TO k", "42809"),
        ("ALTER INDEX j RENAME TO v", "42P07"),
        ("ALTER INDEX v RENAME TO t", "42P07"),
        ("ALTER TABLE t RENAME CONSTRAINT v TO j", "42P07"),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
    assert_eq!(
        sql.noticed("ALTER INDEX IF EXISTS nothing RENAME TO k"),
        ["NOTICE: relation \"nothing\" does not exist, skipping"]
    );
    sql.run("DROP INDEX CONCURRENTLY j; DROP INDEX CONCURRENTLY IF EXISTS j");
    assert_eq!(sql.state("DROP INDEX CONCURRENTLY j"), "42704");
}

#[test]
fn an_index_takes_the_name_of_one_that_its_transaction_dropped() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a TEXT); CREATE INDEX i ON t (a)");
    sql.run("BEGIN; DROP INDEX i; CREATE UNIQUE INDEX i ON t (lower(a)); COMMIT");
    sql.run("INSERT INTO t VALUES ('A')");
    assert_eq!(sql.state("INSERT INTO t VALUES ('a')"), "23505");
    sql.run("BEGIN; DROP INDEX i; CREATE INDEX IF NOT EXISTS i ON t (a); COMMIT");
    sql.run("INSERT INTO t VALUES ('a')");
    assert_eq!(
        sql.one("SELECT count(*) FROM pg_indexes WHERE indexname = 'i'"),
        "1"
    );
}

#[test]
fn constraints_that_are_not_valid_ask_nothing_of_rows_before_them() {
    let sql = Sql::new();
    sql.run("CREATE TABLE p (a INT PRIMARY KEY); INSERT INTO p VALUES (1)");
    sql.run("CREATE TABLE t (a INT, p INT); INSERT INTO t VALUES (-1, 9)");
    sql.run("ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0) NOT VALID");
    sql.run("ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (p) REFERENCES p NOT VALID");
    assert_eq!(sql.rows(VALIDATED), ["c|false|true", "f|false|true"]);
    for (statement, state) in [
        ("INSERT INTO t VALUES (-2, 1)", "23514"),
        ("INSERT INTO t VALUES (2, 8)", "23503"),
        ("ALTER TABLE t VALIDATE CONSTRAINT c", "23514"),
        ("ALTER TABLE t VALIDATE CONSTRAINT f", "23503"),
        ("ALTER TABLE t VALIDATE CONSTRAINT g", "42704"),
        ("ALTER TABLE p VALIDATE CONSTRAINT p_pkey", "42809"),
        (
            "ALTER TABLE t ADD CONSTRAINT u UNIQUE (a) NOT VALID",
            "0A000",
        ),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
    // Rows that are written again are not asked either.
    sql.run("ALTER TABLE t ALTER a TYPE BIGINT");
    sql.run("UPDATE t SET a = 1, p = 1");
    sql.run("ALTER TABLE t VALIDATE CONSTRAINT c; ALTER TABLE t VALIDATE CONSTRAINT f");
    assert_eq!(sql.rows(VALIDATED), ["c|true|false", "f|true|false"]);
}

/// A database keeps what was not validated, and what was turned off.
#[test]
fn databases_keep_it() {
    let directory = tempfile::tempdir().unwrap();
    let open = || Sql::on(&Database::open(directory.path()).unwrap());
    {
        let sql = open();
        sql.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (-1)");
        sql.run("ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0) NOT VALID");
        sql.run("CREATE TABLE p (a INT PRIMARY KEY); CREATE TABLE q (a INT REFERENCES p)");
        sql.run("ALTER TABLE q DISABLE TRIGGER ALL");
    }
    let sql = open();
    assert_eq!(sql.rows(VALIDATED), ["c|false|true"]);
    sql.run("INSERT INTO q VALUES (9)");
}

#[test]
fn a_table_is_altered_after_its_rows_were_changed_with_their_keys_left_alone() {
    let sql = Sql::new();
    for (when, more) in [("", ""), ("DEFERRABLE INITIALLY DEFERRED", "")] {
        sql.run("CREATE TABLE p (a INT PRIMARY KEY, n TEXT)");
        sql.run(&format!("CREATE TABLE c (b INT REFERENCES p {when})"));
        sql.run("INSERT INTO p VALUES (1, NULL); INSERT INTO c VALUES (1)");
        sql.run(&format!(
            "BEGIN; UPDATE p SET n = '{more}'; ALTER TABLE p ALTER n SET NOT NULL; \
             ALTER TABLE p ALTER n TYPE VARCHAR(9); COMMIT"
        ));
        assert_eq!(sql.state("DELETE FROM p"), "23503");
        sql.run("DROP TABLE c, p");
    }
    // A key that waits for its parent waits for it still.
    sql.run("CREATE TABLE p (a INT PRIMARY KEY)");
    sql.run("CREATE TABLE c (b INT REFERENCES p DEFERRABLE INITIALLY DEFERRED)");
    sql.run("BEGIN; INSERT INTO c VALUES (7)");
    assert_eq!(sql.state("ALTER TABLE c ADD d INT"), "55006");
    sql.run("ROLLBACK");
}

#[test]
fn going_back_to_a_savepoint_takes_set_constraints_back() {
    let sql = Sql::new();
    sql.run("CREATE TABLE p (a INT PRIMARY KEY)");
    sql.run("CREATE TABLE c (b INT REFERENCES p DEFERRABLE INITIALLY DEFERRED)");
    sql.run("BEGIN; SAVEPOINT s; SET CONSTRAINTS ALL IMMEDIATE; ROLLBACK TO s");
    sql.run("INSERT INTO c VALUES (1); INSERT INTO p VALUES (1); COMMIT");
    sql.run("BEGIN; INSERT INTO c VALUES (2); SAVEPOINT s");
    assert_eq!(sql.state("SET CONSTRAINTS ALL IMMEDIATE"), "23503");
    sql.run("ROLLBACK TO s");
    assert_eq!(sql.state("COMMIT"), "23503");
    assert_eq!(sql.rows("SELECT b FROM c"), ["1"]);
}

#[test]
fn columns_of_foreign_keys_get_wider_types() {
    let sql = Sql::new();
    sql.run("CREATE TABLE p (a INT PRIMARY KEY); CREATE TABLE c (b INT REFERENCES p)");
    sql.run("INSERT INTO p VALUES (1); INSERT INTO c VALUES (1)");
    sql.run("ALTER TABLE p ALTER a TYPE BIGINT; ALTER TABLE c ALTER b TYPE BIGINT");
    sql.run("INSERT INTO p VALUES (5000000000); INSERT INTO c VALUES (5000000000)");
    for (statement, state) in [
        ("INSERT INTO c VALUES (5000000001)", "23503"),
        ("DELETE FROM p WHERE a = 1", "23503"),
        ("ALTER TABLE p ALTER a TYPE TEXT", "0A000"),
        ("ALTER TABLE p ALTER a TYPE BIGINT USING a + 1", "0A000"),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
    sql.run("CREATE TABLE d (id INT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY)");
    sql.run("ALTER TABLE d ALTER id TYPE BIGINT");
    assert_eq!(
        sql.rows("SELECT seqtypid::regtype, seqmax FROM pg_sequence WHERE seqrelid = 'd_id_seq'::regclass"),
        ["bigint|9223372036854775807"]
    );
}

#[test]
fn columns_of_expressions_of_indexes_get_other_types() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, s VARCHAR(5)); INSERT INTO t VALUES (1, 'X'), (2, 'Y')");
    sql.run("CREATE UNIQUE INDEX i ON t ((a + 1)); CREATE INDEX j ON t (lower(s)) WHERE a > 0");
    sql.run("ALTER TABLE t ALTER a TYPE BIGINT; ALTER TABLE t ALTER s TYPE TEXT");
    sql.run("INSERT INTO t VALUES (5000000000, 'longer than five')");
    assert_eq!(sql.state("INSERT INTO t VALUES (5000000000, '')"), "23505");
    assert_eq!(
        sql.rows("SELECT s FROM t WHERE a + 1 = 5000000001"),
        ["longer than five"]
    );
    assert_eq!(
        sql.rows("SELECT a FROM t WHERE lower(s) = 'x' AND a > 0"),
        ["1"]
    );
    // There is no a + 1 of texts.
    assert_eq!(sql.state("ALTER TABLE t ALTER a TYPE TEXT"), "42883");
}

#[test]
fn rows_that_are_there_get_numbers() {
    let sql = Sql::new();
    sql.run("CREATE SEQUENCE n; CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2)");
    sql.run("ALTER TABLE t ADD COLUMN b INT GENERATED BY DEFAULT AS IDENTITY");
    sql.run("ALTER TABLE t ADD COLUMN c SERIAL; ALTER TABLE t ADD COLUMN d BIGSERIAL PRIMARY KEY");
    sql.run("ALTER TABLE t ADD COLUMN e INT DEFAULT nextval('n') * 10");
    sql.run(
        "BEGIN; INSERT INTO t (a) VALUES (3); \
         ALTER TABLE t ADD COLUMN f INT GENERATED ALWAYS AS IDENTITY (START 7), ADD g INT; \
         INSERT INTO t (a) VALUES (4); COMMIT",
    );
    for column in ["b", "c", "d"] {
        let query = format!("SELECT array_agg({column} ORDER BY {column}) FROM t");
        assert_eq!(sql.one(&query), "{1,2,3,4}", "{column}");
    }
    assert_eq!(
        sql.one("SELECT array_agg(e ORDER BY e) FROM t"),
        "{10,20,30,40}"
    );
    assert_eq!(
        sql.one("SELECT array_agg(f ORDER BY f) FROM t"),
        "{7,8,9,10}"
    );
    assert_eq!(
        sql.rows("SELECT attname FROM pg_attribute WHERE attrelid = 't'::regclass AND attnotnull AND attnum > 0 ORDER BY 1"),
        ["b", "c", "d", "f"]
    );
}

#[test]
fn a_sequence_that_was_renamed_fills_other_rows_too() {
    let sql = Sql::new();
    sql.run("CREATE TYPE ct AS ENUM ('seed'); CREATE TABLE t (id BIGSERIAL PRIMARY KEY, b BIGINT)");
    sql.run(
        "BEGIN; ALTER TABLE t_id_seq RENAME TO u; \
         ALTER TABLE t ADD COLUMN s ct DEFAULT 'seed' NOT NULL; COMMIT",
    );
    sql.run("INSERT INTO t (b) VALUES (NULL)");
    assert_eq!(sql.rows("SELECT id, s FROM t"), ["1|seed"]);
}

#[test]
fn foreign_keys_are_turned_off_and_on() {
    let sql = Sql::new();
    sql.run("CREATE TABLE p (a INT PRIMARY KEY); INSERT INTO p VALUES (1)");
    sql.run("CREATE TABLE c (b INT REFERENCES p ON DELETE CASCADE); INSERT INTO c VALUES (1)");
    sql.run("ALTER TABLE c DISABLE TRIGGER USER");
    assert_eq!(sql.state("INSERT INTO c VALUES (9)"), "23503");
    sql.run("BEGIN; ALTER TABLE c DISABLE TRIGGER ALL; ALTER TABLE p DISABLE TRIGGER ALL");
    sql.run("INSERT INTO c VALUES (9); DELETE FROM p");
    sql.run("ALTER TABLE c ENABLE TRIGGER ALL; ALTER TABLE p ENABLE TRIGGER ALL; COMMIT");
    assert_eq!(sql.rows("SELECT b FROM c ORDER BY b"), ["1", "9"]);
    assert_eq!(sql.state("INSERT INTO c VALUES (9)"), "23503");
    assert_eq!(sql.state("ALTER TABLE c DISABLE TRIGGER nothing"), "42704");
}

#[test]
fn when_a_foreign_key_is_checked_changes() {
    let sql = Sql::new();
    sql.run("CREATE TABLE p (a INT PRIMARY KEY)");
    sql.run("CREATE TABLE c (b INT CONSTRAINT f REFERENCES p)");
    sql.run("ALTER TABLE c ALTER CONSTRAINT f INITIALLY DEFERRED");
    sql.run("BEGIN; INSERT INTO c VALUES (1); INSERT INTO p VALUES (1); COMMIT");
    sql.run("ALTER TABLE c ALTER CONSTRAINT f NOT DEFERRABLE");
    assert_eq!(sql.state("BEGIN; INSERT INTO c VALUES (2)"), "23503");
    sql.run("ROLLBACK; ALTER TABLE c SET LOGGED");
    for (statement, state) in [
        ("ALTER TABLE p ALTER CONSTRAINT p_pkey DEFERRABLE", "42809"),
        ("ALTER TABLE p ALTER CONSTRAINT nothing DEFERRABLE", "42704"),
        ("ALTER TABLE p CLUSTER ON p_pkey", "0A000"),
        ("ALTER TABLE p SET UNLOGGED", "0A000"),
        ("ALTER TABLE p ALTER COLUMN a SET STATISTICS 10", "0A000"),
        ("CREATE EXTENSION citext", "0A000"),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
    assert_eq!(
        sql.noticed("CREATE EXTENSION IF NOT EXISTS \"plpgsql\"")
            .len(),
        1
    );
}

/// The tuple mover works beside: a transaction that alone changes a table does not fail for it.
#[test]
fn a_table_is_altered_while_its_rows_move() {
    let sql = Sql::new();
    for _ in 0..30 {
        sql.run("CREATE TABLE t (id SERIAL PRIMARY KEY, n VARCHAR(20), f VARCHAR(5))");
        sql.run("INSERT INTO t (n) VALUES ('x'), ('y'); CREATE INDEX ON t (lower(n), f)");
        sql.run("BEGIN; UPDATE t SET f = 'c' WHERE id = 2; COMMIT");
        sql.run(
            "BEGIN; COMMENT ON TABLE t IS 'x'; ALTER TABLE t ADD COLUMN c INT DEFAULT 7; COMMIT",
        );
        sql.run(
            "BEGIN; UPDATE t SET f = 'd' WHERE id = 1; ALTER TABLE t ALTER f TYPE TEXT; COMMIT",
        );
        sql.run("BEGIN; UPDATE t SET f = 'e' WHERE id = 1; SAVEPOINT s; ALTER TABLE t DROP c");
        sql.run("ROLLBACK TO s; COMMIT");
        assert_eq!(
            sql.rows("SELECT id, n, f, c FROM t ORDER BY id"),
            ["1|x|e|7", "2|y|c|7"]
        );
        sql.run("DROP TABLE t");
    }
}

#[test]
fn subjects_of_comments_are_found_in_the_path() {
    let sql = Sql::new();
    sql.run(
        "CREATE SCHEMA s; SET search_path = s; CREATE TABLE t (a INT CONSTRAINT c CHECK (a > 0))",
    );
    sql.run("COMMENT ON COLUMN t.a IS 'x'; COMMENT ON CONSTRAINT c ON t IS 'y'");
    assert_eq!(sql.one("SELECT col_description('s.t'::regclass, 1)"), "x");
}

#[test]
fn types_are_made_and_found_in_the_path() {
    let sql = Sql::new();
    sql.run("CREATE SCHEMA s; SET search_path = s; CREATE TYPE ty AS ENUM ('a', 'b')");
    assert_eq!(sql.one("SELECT 'ty'::regtype = 's.ty'::regtype"), "true");
    sql.run("CREATE TABLE t (a ty DEFAULT 'b'::ty, l ty[]); ALTER TABLE t ADD c ty");
    sql.run("CREATE DOMAIN d AS INT CHECK (VALUE > 0); ALTER TABLE t ADD n d");
    sql.run("CREATE VIEW v AS SELECT 'a'::ty AS a");
    sql.run("ALTER TYPE ty ADD VALUE 'c'; ALTER TABLE t ALTER c TYPE TEXT; ALTER TABLE t ALTER c TYPE ty USING c::ty");
    sql.run("RESET search_path; INSERT INTO s.t (l, c, n) VALUES ('{c}', 'a', 1)");
    assert_eq!(sql.rows("SELECT t.*, v.* FROM s.t, s.v"), ["b|{c}|a|1|a"]);
    assert_eq!(sql.state("SELECT 'a'::ty"), "42704");
    assert_eq!(sql.state("INSERT INTO s.t (n) VALUES (0)"), "23514");
    sql.run("SET search_path = s; DROP TABLE t; DROP VIEW v; DROP DOMAIN d; DROP TYPE ty");
    assert_eq!(
        sql.one("SELECT count(*) FROM pg_type WHERE typname IN ('ty', 'd')"),
        "0"
    );
}

#[test]
fn nulls_are_equal_in_keys_that_say_so() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b TEXT, CONSTRAINT k UNIQUE NULLS NOT DISTINCT (a, b))");
    sql.run("INSERT INTO t VALUES (NULL, NULL), (NULL, 'x'), (1, NULL), (1, 'x')");
    for row in ["NULL, NULL", "NULL, 'x'", "1, NULL", "1, 'x'"] {
        assert_eq!(
            sql.state(&format!("INSERT INTO t VALUES ({row})")),
            "23505",
            "{row}"
        );
        let many = format!("INSERT INTO t SELECT {row} FROM generate_series(1, 2000)");
        assert_eq!(sql.state(&many), "23505", "{row}");
        sql.run(&format!(
            "INSERT INTO t VALUES ({row}) ON CONFLICT DO NOTHING"
        ));
    }
    assert_eq!(sql.one("SELECT count(*) FROM t"), "4");
    assert_eq!(
        sql.state("UPDATE t SET a = NULL WHERE a = 1 AND b = 'x'"),
        "23505"
    );
    sql.run("INSERT INTO t VALUES (1, NULL) ON CONFLICT (a, b) DO UPDATE SET b = 'y'");
    assert_eq!(
        sql.rows("SELECT b FROM t WHERE a = 1 ORDER BY b"),
        ["x", "y"]
    );
    assert_eq!(
        sql.error("INSERT INTO t VALUES (NULL, 'x')").message,
        "duplicate key value violates unique constraint \"k\""
    );
    assert_eq!(
        sql.sorted(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'k' UNION ALL \
             SELECT indnullsnotdistinct::text FROM pg_index WHERE indexrelid = 'k'::regclass"
        ),
        ["UNIQUE NULLS NOT DISTINCT (a, b)", "true"]
    );
    // Rows that are there are asked, and a condition leaves rows out.
    sql.run("CREATE TABLE u (a INT, b INT); INSERT INTO u VALUES (NULL, 1), (NULL, -1)");
    let unique = "CREATE UNIQUE INDEX i ON u (a) NULLS NOT DISTINCT";
    assert_eq!(sql.state(unique), "23505");
    sql.run(&format!("{unique} WHERE b > 0"));
    sql.run("INSERT INTO u VALUES (NULL, -2)");
    assert_eq!(sql.state("INSERT INTO u VALUES (NULL, 2)"), "23505");
    // Many rows at once, against those in blocks.
    sql.run("CREATE TABLE w (a INT, UNIQUE NULLS NOT DISTINCT (a)); INSERT INTO w VALUES (NULL)");
    sql.run("INSERT INTO w SELECT g FROM generate_series(1, 5000) g");
    let more = "INSERT INTO w SELECT nullif(g, 9000) FROM generate_series(5001, 10000) g";
    assert_eq!(sql.state(more), "23505");
}

#[test]
fn an_index_of_zone_maps_is_kept_by_its_name() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (a INT, b TEXT); INSERT INTO t SELECT g, 'x' FROM generate_series(1, 9) g",
    );
    assert_eq!(
        sql.noticed("CREATE INDEX i ON t USING brin (a, b)"),
        [
            "NOTICE: zone maps, which every block has, do what BRIN does: the index is kept by its name"
        ]
    );
    assert_eq!(
        sql.sorted(
            "SELECT indexdef FROM pg_indexes WHERE indexname = 'i' UNION ALL SELECT amname \
             FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE relname = 'i' ORDER BY 1"
        ),
        ["CREATE INDEX i ON public.t USING brin (a, b)", "brin"]
    );
    sql.run("INSERT INTO t SELECT g, 'y' FROM generate_series(10, 20000) g");
    sql.run("UPDATE t SET a = -1 WHERE a = 5; ALTER TABLE t SET (layout = 'pax')");
    assert_eq!(
        sql.rows("SELECT a, b FROM t WHERE a < 2 ORDER BY a"),
        ["-1|x", "1|x"]
    );
    assert_eq!(sql.state("CREATE INDEX i ON t USING brin (b)"), "42P07");
    sql.run("ALTER TABLE t DROP COLUMN b");
    assert_eq!(sql.state("DROP INDEX i"), "42704");
    sql.run("CREATE INDEX i ON t USING brin (a); DROP INDEX i");
}

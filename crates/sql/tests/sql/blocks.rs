//! DO: blocks of statements.

use crate::support::Sql;

#[test]
fn errors_are_handled() {
    let sql = Sql::new();
    let make = "DO $$ BEGIN CREATE TYPE mood AS ENUM ('sad', 'ok'); \
                EXCEPTION WHEN duplicate_object THEN NULL; END $$";
    assert_eq!(sql.run(make), "DO");
    assert_eq!(sql.run(make), "DO");
    // As Sequelize writes it.
    sql.run(
        "DO 'BEGIN CREATE TYPE \"public\".\"enum_k\" AS ENUM(''a'', ''b''); \
         EXCEPTION WHEN duplicate_object THEN null; END'",
    );
    assert_eq!(sql.one("SELECT 'ok'::mood, 'b'::enum_k"), "ok|b");
    sql.run("CREATE TABLE t (k INT PRIMARY KEY)");
    // The body is taken back, the handler is not.
    sql.run(
        "DO $$ BEGIN INSERT INTO t VALUES (1); BEGIN INSERT INTO t VALUES (2); \
         INSERT INTO t VALUES (1); EXCEPTION WHEN unique_violation THEN \
         INSERT INTO t VALUES (3); END; INSERT INTO t VALUES (4); END $$",
    );
    assert_eq!(sql.sorted("SELECT k FROM t"), ["1", "3", "4"]);
    assert_eq!(
        sql.state(
            "DO $$ BEGIN INSERT INTO t VALUES (5); INSERT INTO t VALUES (1); \
                   EXCEPTION WHEN undefined_table THEN NULL; END $$"
        ),
        "23505"
    );
    assert_eq!(sql.one("SELECT count(*) FROM t"), "3");
    sql.run("DO $$ BEGIN PERFORM 1 / 0; EXCEPTION WHEN OTHERS THEN DELETE FROM t; END $$");
    assert_eq!(sql.one("SELECT count(*) FROM t"), "0");
}

#[test]
fn blocks_in_transactions() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (k INT); BEGIN; INSERT INTO t VALUES (1)");
    sql.run(
        "DO $$ BEGIN INSERT INTO t VALUES (2); SET LOCAL extra_float_digits = 0; \
         PERFORM pg_advisory_xact_lock(1); RAISE EXCEPTION 'no'; \
         EXCEPTION WHEN raise_exception THEN INSERT INTO t VALUES (3); END $$",
    );
    assert_eq!(sql.one("SHOW extra_float_digits"), "1");
    assert_eq!(sql.sorted("SELECT k FROM t"), ["1", "3"]);
    let error = sql.error("DO $$ BEGIN INSERT INTO t VALUES (4); RAISE EXCEPTION 'at % of %%, %', 1 + 1, NULL; END $$");
    assert_eq!(
        (error.sqlstate.as_ref(), error.message.as_str()),
        ("P0001", "at 2 of %, <NULL>")
    );
    assert_eq!(sql.state("DO $$ BEGIN END $$"), "25P02");
    sql.run("ROLLBACK");
    assert_eq!(sql.one("SELECT count(*) FROM t"), "0");
    assert_eq!(sql.state("DO $$ BEGIN COMMIT; END $$"), "0A000");
    assert_eq!(sql.state("DO $$ BEGIN EXECUTE 'COMMIT'; END $$"), "0A000");
}

#[test]
fn conditions_and_statements_that_are_made() {
    let sql = Sql::new();
    let text = "DO LANGUAGE plpgsql $$ BEGIN \
        IF NOT EXISTS (SELECT 1 FROM pg_class WHERE relname = 't') THEN \
            EXECUTE format('CREATE TABLE %I (%I int)', 't', 'Odd k'); \
        ELSIF (SELECT count(*) FROM t) > 1 THEN RAISE NOTICE 'many: %', (SELECT count(*) FROM t); \
        ELSE INSERT INTO t VALUES (1), (2); END IF; END $$";
    sql.run(text);
    assert_eq!(sql.one("SELECT count(\"Odd k\") FROM t"), "0");
    sql.run(text);
    assert_eq!(sql.noticed(text), ["NOTICE: many: 2"]);
    for (text, state) in [
        ("DO $$ BEGIN SELECT 1; END $$", "42601"),
        ("DO $$ BEGIN EXECUTE NULL; END $$", "22004"),
        ("DO $$ BEGIN SELEC 1; END $$", "42601"),
        ("DO $$ BEGIN IF 'x' THEN NULL; END IF; END $$", "22P02"),
        ("DO $$ DECLARE a int; BEGIN END $$", "0A000"),
        ("DO LANGUAGE sql 'SELECT 1'", "0A000"),
        ("DO 1", "42601"),
    ] {
        assert_eq!(sql.state(text), state, "{text}");
    }
}

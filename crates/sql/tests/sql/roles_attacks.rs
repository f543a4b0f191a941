//! A role with no grants tries every way to rows, files and the catalog.

use std::sync::Arc;

use freestone::{Database, Login, Parameter};

use crate::support::{Sql, runtime};

/// A database with a table, a view, a sequence and somebody who was granted nothing.
pub fn guarded() -> (Database, Sql) {
    let database = Database::in_memory();
    let owner = Sql::on(&database);
    owner.run(
        "CREATE TABLE secret (k INT PRIMARY KEY, v TEXT, n INT); \
         INSERT INTO secret VALUES (1, 'one', 10), (2, 'two', 20); VACUUM secret; \
         INSERT INTO secret VALUES (3, 'three', 30); \
         CREATE INDEX by_n ON secret (n); \
         CREATE VIEW shown AS SELECT k, v FROM secret; \
         CREATE SEQUENCE numbers; \
         CREATE TABLE counted (i INT GENERATED ALWAYS AS IDENTITY, t TEXT); \
         CREATE SCHEMA vault; CREATE TABLE vault.gold (bars INT); \
         INSERT INTO vault.gold VALUES (7); \
         CREATE VIEW vault.bars AS SELECT * FROM vault.gold; \
         CREATE SEQUENCE vault.sevens; \
         CREATE TABLE mine (a INT, b TEXT); \
         CREATE ROLE nobody LOGIN",
    );
    owner.run("ALTER TABLE mine OWNER TO nobody");
    (database, owner)
}

/// Ways to read what was not granted.
const READS: &[&str] = &[
    "SELECT * FROM secret",
    "SELECT count(*) FROM secret",
    "SELECT max(k) FROM secret",
    "SELECT v FROM secret WHERE k = 1",
    "SELECT * FROM secret WHERE k = 1",
    "SELECT s.v FROM secret AS s WHERE s.k = 2",
    "SELECT * FROM main.secret",
    "SELECT * FROM freestone.main.secret",
    "SELECT * FROM \"secret\"",
    "SELECT 1 FROM secret LIMIT 0",
    "SELECT * FROM secret WHERE false",
    "SELECT * FROM (SELECT * FROM secret) AS s",
    "WITH s AS (SELECT * FROM secret) SELECT * FROM s",
    "WITH secret AS (SELECT * FROM secret) SELECT * FROM secret",
    "WITH RECURSIVE s AS (SELECT k FROM secret UNION ALL SELECT k + 1 FROM s WHERE k < 3) \
     SELECT * FROM s",
    "SELECT (SELECT max(v) FROM secret)",
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM secret)",
    "SELECT 1 WHERE 1 IN (SELECT k FROM secret)",
    "SELECT a FROM mine WHERE a IN (SELECT k FROM secret)",
    "SELECT a FROM mine JOIN secret ON a = k",
    "SELECT 1 UNION ALL SELECT k FROM secret",
    "SELECT 1 EXCEPT SELECT k FROM secret",
    "SELECT * FROM mine, LATERAL (SELECT * FROM secret WHERE k = a) AS l",
    "VALUES ((SELECT max(k) FROM secret))",
    "SELECT count(*) OVER () FROM secret",
    "SELECT k FROM secret ORDER BY k LIMIT 1",
    "SELECT * FROM shown",
    "SELECT v FROM shown WHERE k = 1",
    "SELECT * FROM vault.gold",
    "SELECT * FROM vault.bars",
    "DESCRIBE SELECT * FROM secret",
    "DESCRIBE shown",
    "DESCRIBE secret",
    "SHOW COLUMNS FROM vault.gold",
    "EXPLAIN SELECT * FROM secret",
    "EXPLAIN ANALYZE SELECT * FROM secret",
    "EXPLAIN SELECT v FROM secret WHERE k = 1",
    "EXPLAIN ANALYZE SELECT v FROM secret WHERE k = 1",
    "SELECT * FROM freestone_blocks('secret')",
    "SELECT * FROM freestone_columns('secret')",
    "SELECT min FROM freestone_columns('main.secret')",
    "SELECT * FROM freestone_ledger()",
    "SELECT * FROM freestone_workload()",
    "SELECT * FROM freestone_advice()",
    "SELECT * FROM freestone_mover()",
    "ADVISE",
    "ADVISE TABLE secret",
    "ADVISE FOR (SELECT * FROM secret)",
    "PILOT ADVICE 1",
    "COPY secret TO '/tmp/freestone-roles-stolen.csv'",
    "COPY (SELECT * FROM secret) TO '/tmp/freestone-roles-stolen.csv'",
    "COPY (SELECT 1) TO '/tmp/freestone-roles-stolen.csv'",
    "COPY mine FROM '/etc/passwd' (FORMAT csv)",
    "SELECT * FROM '/etc/hostname.csv'",
    "SELECT * FROM 'Cargo.csv'",
    "DESCRIBE 'Cargo.csv'",
    "CREATE TABLE copied AS SELECT * FROM secret",
    "CREATE TEMP TABLE copied AS SELECT * FROM secret",
    "SELECT (SELECT v FROM secret WHERE k >= mine.a LIMIT 1) FROM mine",
    "CREATE VIEW stolen AS SELECT * FROM secret",
    "CREATE OR REPLACE VIEW shown AS SELECT 1 AS k",
    "INSERT INTO mine SELECT k, v FROM secret",
    "INSERT INTO mine VALUES ((SELECT max(k) FROM secret), 'x')",
    "INSERT INTO mine VALUES (1, 'x'), (nextval('vault.sevens'), 'y')",
    "UPDATE mine SET a = (SELECT max(k) FROM secret)",
    "UPDATE mine SET b = v FROM secret WHERE a = k",
    "UPDATE mine SET a = 1 WHERE a IN (SELECT k FROM secret)",
    "DELETE FROM mine USING secret WHERE a = k",
    "DELETE FROM mine WHERE a IN (SELECT k FROM secret)",
    "MERGE INTO mine USING secret ON a = k WHEN NOT MATCHED THEN INSERT VALUES (k, v)",
    "PREPARE p AS SELECT * FROM secret; EXECUTE p",
    "PREPARE q AS SELECT v FROM secret WHERE k = $1; EXECUTE q(1)",
    "SELECT nextval('numbers')",
    "SELECT currval('numbers')",
    "SELECT setval('numbers', 9)",
    "SELECT nextval('vault.sevens')",
    "SELECT nextval('counted_i_seq')",
    "INSERT INTO mine VALUES (nextval('numbers'), 'x')",
    "SELECT * FROM pg_authid",
    "SELECT * FROM pg_catalog.pg_authid",
];

/// Ways to change what is not theirs.
const CHANGES: &[&str] = &[
    "INSERT INTO secret VALUES (4, 'four', 40)",
    "INSERT INTO secret SELECT 4, 'four', 40",
    "INSERT INTO secret VALUES (1, 'x', 1) ON CONFLICT DO NOTHING",
    "INSERT INTO secret VALUES (1, 'x', 1) ON CONFLICT (k) DO UPDATE SET v = 'x'",
    "INSERT INTO shown VALUES (4, 'four')",
    "INSERT INTO vault.gold VALUES (8)",
    "INSERT INTO counted (t) VALUES ('x')",
    "UPDATE secret SET n = 0",
    "UPDATE secret SET n = 0 WHERE k = 1",
    "UPDATE secret SET n = n + 1 WHERE k = 1",
    "UPDATE secret SET n = 0 WHERE n > 5 RETURNING v",
    "DELETE FROM secret",
    "DELETE FROM secret WHERE k = 1",
    "DELETE FROM secret WHERE k = 1 RETURNING *",
    "MERGE INTO secret USING mine ON k = a WHEN MATCHED THEN DELETE",
    "MERGE INTO secret USING (SELECT 1 AS one) AS o ON k = one WHEN MATCHED THEN UPDATE SET v = 'x'",
    "EXPLAIN ANALYZE DELETE FROM secret",
    "TRUNCATE secret",
    "TRUNCATE TABLE mine, secret",
    "COPY secret FROM '/tmp/no-such-file.csv'",
    "DROP TABLE secret",
    "DROP TABLE mine, secret",
    "DROP TABLE secret CASCADE",
    "DROP VIEW shown",
    "ALTER VIEW shown RENAME TO seen",
    "ALTER TABLE shown RENAME TO seen",
    "COMMENT ON TABLE secret IS 'x'",
    "COMMENT ON COLUMN secret.v IS 'x'",
    "COMMENT ON CONSTRAINT secret_pkey ON secret IS 'x'",
    "COMMENT ON INDEX by_n IS 'x'",
    "DROP SEQUENCE numbers",
    "DROP INDEX by_n",
    "DROP SCHEMA vault CASCADE",
    "ALTER TABLE secret ADD COLUMN x INT",
    "ALTER TABLE secret DROP COLUMN v",
    "ALTER TABLE secret RENAME TO public_knowledge",
    "ALTER TABLE secret RENAME COLUMN v TO w",
    "ALTER TABLE secret ALTER COLUMN n TYPE BIGINT",
    "ALTER TABLE secret SET (layout = 'pax')",
    "ALTER TABLE secret ADD CHECK (n > 0)",
    "ALTER TABLE secret OWNER TO nobody",
    "ALTER VIEW shown OWNER TO nobody",
    "ALTER SEQUENCE numbers OWNER TO nobody",
    "ALTER SCHEMA vault OWNER TO nobody",
    "ALTER TABLE mine OWNER TO freestone",
    "ALTER TABLE mine ADD FOREIGN KEY (a) REFERENCES secret",
    "CREATE INDEX mine_to_be ON secret (v)",
    "CREATE TABLE t (a INT)",
    "CREATE TABLE t (a INT REFERENCES secret)",
    "CREATE TABLE vault.t (a INT)",
    "CREATE OR REPLACE TABLE secret (a INT)",
    "CREATE VIEW v AS SELECT 1",
    "CREATE SEQUENCE s",
    "CREATE SCHEMA s",
    "VACUUM",
    "VACUUM secret",
    "APPLY ADVICE 1",
    "UNDO ADVICE 1",
    "RESET WORKLOAD",
    "SET memory_limit = '2MiB'",
    "SET freestone.memory_limit = '2MiB'",
    "SET freestone.mover = 'paused'",
    "SET freestone.workload = 'off'",
    "SET freestone.io_unit = '1MiB'",
    "RESET memory_limit",
    "CREATE ROLE other",
    "CREATE USER other SUPERUSER",
    "ALTER ROLE nobody SUPERUSER",
    "ALTER ROLE nobody CONNECTION LIMIT 100",
    "ALTER ROLE nobody SET memory_limit = '1TB'",
    "ALTER ROLE freestone PASSWORD 'mine'",
    "ALTER ROLE freestone RENAME TO other",
    "DROP ROLE freestone",
    "GRANT SELECT ON secret TO nobody",
    "GRANT ALL ON ALL TABLES IN SCHEMA main TO nobody",
    "GRANT ALL ON SCHEMA vault TO nobody",
    "GRANT USAGE ON SEQUENCE numbers TO PUBLIC",
    "REVOKE ALL ON SCHEMA main FROM PUBLIC",
    "GRANT freestone TO nobody",
    "GRANT pg_read_all_data TO nobody",
    "GRANT pg_read_server_files TO nobody",
    "REASSIGN OWNED BY freestone TO nobody",
];

#[test]
fn every_way_is_closed() {
    let (database, owner) = guarded();
    // As one who has connected, whom RESET does not lead back to anybody else.
    let login = database.login("nobody").unwrap();
    let session = database.session_of(&login, &Arc::from(vec![])).unwrap();
    let nobody = Sql::on_session(session);
    for sql in READS.iter().chain(CHANGES) {
        for within in [false, true] {
            if within {
                nobody.run("BEGIN");
            }
            let error = nobody.error(sql);
            assert_eq!(error.sqlstate, "42501", "{sql}: {error}");
            if within {
                nobody.run("ROLLBACK");
            }
            nobody.run("DEALLOCATE ALL");
        }
    }
    for sql in [
        "SET ROLE freestone",
        "SET ROLE pg_read_all_data",
        "SET SESSION AUTHORIZATION freestone",
    ] {
        assert_eq!(nobody.state(sql), "42501", "{sql}");
    }
    nobody.run("RESET ROLE; RESET SESSION AUTHORIZATION; SET ROLE NONE");
    assert_eq!(nobody.state("SELECT * FROM secret"), "42501");
    assert_eq!(
        owner.sorted("SELECT v FROM secret"),
        ["one", "three", "two"]
    );
    assert!(!std::path::Path::new("/tmp/freestone-roles-stolen.csv").exists());
}

#[test]
fn what_others_have_prepared_is_closed_too() {
    let (database, owner) = guarded();
    let nobody = Sql::on(&database);
    nobody.run("SET ROLE nobody");
    let runtime = runtime();
    let statements = [
        ("SELECT v FROM secret WHERE k = $1", 1),
        ("INSERT INTO secret VALUES ($1, 'x', 0)", 50),
        ("UPDATE secret SET n = 1 WHERE k = $1", 1),
        ("DELETE FROM secret WHERE k = $1", 2),
        ("SELECT count(*) FROM secret WHERE n > $1", 0),
    ];
    for (text, key) in statements {
        let prepared = owner.session.prepare(text).unwrap();
        let key: [Parameter; 1] = [i64::from(key).into()];
        // It knows how to find its rows after this.
        for _ in 0..2 {
            let _ = runtime.block_on(prepared.rows(&owner.session, &key));
        }
        let error = runtime.block_on(prepared.rows(&nobody.session, &key));
        assert_eq!(error.unwrap_err().sqlstate, "42501", "{text}");
        let error = runtime.block_on(prepared.run(&nobody.session, &key));
        assert_eq!(error.unwrap_err().sqlstate, "42501", "{text}");
    }
}

#[test]
fn known_plans_are_not_shared_with_those_who_may_not_read() {
    let (database, owner) = guarded();
    owner.run("CREATE ROLE reader; GRANT SELECT ON secret TO reader");
    let (reader, nobody) = (Sql::on(&database), Sql::on(&database));
    reader.run("SET ROLE reader");
    nobody.run("SET ROLE nobody");
    let sql = "SELECT sum(n) FROM secret WHERE n > 5";
    for _ in 0..2 {
        assert_eq!(owner.one(sql), "60");
        assert_eq!(reader.one(sql), "60");
        assert_eq!(nobody.state(sql), "42501");
    }
    owner.run("REVOKE SELECT ON secret FROM reader");
    assert_eq!(reader.state(sql), "42501");
    assert_eq!(owner.one(sql), "60");
}

#[test]
fn what_is_allowed_to_everybody() {
    let (database, _owner) = guarded();
    let nobody = Sql::on(&database);
    nobody.run("SET ROLE nobody");
    assert_eq!(nobody.one("SELECT 1 + 1"), "2");
    nobody.run(
        "INSERT INTO mine VALUES (1, 'a'), (2, 'b'); UPDATE mine SET b = 'c' WHERE a = 1; \
         DELETE FROM mine WHERE a = 2; ALTER TABLE mine ADD COLUMN c INT; \
         CREATE INDEX ON mine (a); VACUUM mine",
    );
    assert_eq!(nobody.rows("SELECT a, b FROM mine"), ["1|c"]);
    nobody.run("SET threads = 1; SET timezone = '+01:00'; SHOW ALL");
    let shown = nobody.rows_of_one_engine("SHOW TABLES");
    assert!(shown.len() == 1 && shown[0].starts_with("main|mine|table|1|"));
    assert_eq!(nobody.one("SELECT current_user"), "nobody");
    let tables = nobody.rows_of_one_engine(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'",
    );
    assert_eq!(tables, ["mine"]);
    nobody.run("TRUNCATE mine; DROP TABLE mine");
}

#[test]
fn to_add_rows_is_not_to_set_their_numbers() {
    let (database, owner) = guarded();
    owner.run("GRANT INSERT ON counted TO nobody");
    let nobody = Sql::on(&database);
    nobody.run("SET ROLE nobody; INSERT INTO counted (t) VALUES ('x')");
    assert_eq!(nobody.one("SELECT currval('counted_i_seq')"), "1");
    assert_eq!(nobody.state("SELECT setval('counted_i_seq', 9)"), "42501");
    owner.run("GRANT UPDATE ON SEQUENCE counted_i_seq TO nobody");
    assert_eq!(nobody.one("SELECT setval('counted_i_seq', 9)"), "9");
}

#[test]
fn a_file_s_name_is_no_pattern() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("hidden"), "a\n2\n").unwrap();
    std::fs::write(path("rows.csv"), "a\n1\n").unwrap();
    std::os::unix::fs::symlink(path("hidden"), path("link.csv")).unwrap();
    let sql = Sql::new();
    for name in ["*.csv", "row?.csv", "[a-z]ows.csv", "50%41 ä#.csv"] {
        std::fs::write(path(name), "a\n7\n").unwrap();
        let file = path(name).display().to_string();
        assert_eq!(sql.rows(&format!("SELECT * FROM '{file}'")), ["7"]);
    }
}

#[test]
fn the_database_s_own_files_are_nobody_s() {
    let folder = tempfile::tempdir().unwrap();
    let (own, further) = (folder.path().join("db"), folder.path().join("further"));
    let database = Database::open_striped(&own, std::slice::from_ref(&further)).unwrap();
    Sql::on(&database).run("CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x')");
    let boss = Login::superuser("boss");
    let folders = Arc::from(vec![folder.path().to_path_buf()]);
    let boss = Sql::on_session(database.session_of(&boss, &folders).unwrap());
    std::fs::write(own.join("rows.csv"), "a\n").unwrap();
    std::fs::write(further.join("rows.csv"), "a\n").unwrap();
    for place in [&own, &further] {
        let file = place.join("rows.csv").display().to_string();
        for text in [
            format!("SELECT * FROM '{file}'"),
            format!("COPY t FROM '{file}'"),
            format!("COPY t TO '{file}'"),
            format!("COPY t TO '{file}.new' (FORMAT csv)"),
        ] {
            let error = boss.error(&text);
            assert_eq!(error.sqlstate, "42501", "{text}: {error}");
            assert!(error.message.contains("of the database itself"), "{error}");
        }
    }
    let beside = folder.path().join("rows.csv").display().to_string();
    boss.run(&format!("COPY t TO '{beside}'; COPY t FROM '{beside}'"));
}

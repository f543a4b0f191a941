//! ALTER TABLE: names, defaults, NOT NULL, constraints, types.

use crate::support::{LAYOUTS, Sql};
use freestone::Database;

fn table(sql: &Sql, layout: &str) {
    sql.run(&format!(
        "CREATE TABLE t (id INTEGER, name TEXT DEFAULT 'd', n INTEGER) WITH (layout = '{layout}')"
    ));
    sql.run("INSERT INTO t VALUES (1, 'a', 10), (2, NULL, 20); VACUUM t");
    sql.run("CREATE INDEX by_n ON t (n)");
    sql.run("INSERT INTO t VALUES (3, 'c', 30)");
}

#[test]
fn names_defaults_and_not_null() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        table(&sql, layout);
        sql.run("ALTER TABLE t RENAME COLUMN name TO label");
        assert_eq!(
            sql.sorted("SELECT label, n FROM t"),
            ["NULL|20", "a|10", "c|30"]
        );
        assert_eq!(sql.state("SELECT name FROM t"), "42703");
        assert_eq!(sql.state("ALTER TABLE t RENAME COLUMN id TO n"), "42701");
        sql.run("ALTER TABLE t ALTER COLUMN label SET DEFAULT upper('new')");
        sql.run("INSERT INTO t (id, n) VALUES (4, 40)");
        sql.run("ALTER TABLE t ALTER label DROP DEFAULT; INSERT INTO t (id, n) VALUES (5, 50)");
        assert_eq!(
            sql.rows("SELECT label FROM t WHERE id > 3 ORDER BY id"),
            ["NEW", "NULL"]
        );
        assert_eq!(sql.state("ALTER TABLE t ALTER label SET NOT NULL"), "23502");
        sql.run("UPDATE t SET label = '-' WHERE label IS NULL");
        sql.run("ALTER TABLE t ALTER label SET NOT NULL");
        assert_eq!(sql.state("INSERT INTO t (id, n) VALUES (6, 60)"), "23502");
        sql.run("ALTER TABLE t ALTER label DROP NOT NULL; INSERT INTO t (id, n) VALUES (6, 60)");
        sql.run("VACUUM t; ALTER TABLE t RENAME TO u");
        assert_eq!(sql.one("SELECT label FROM u WHERE n = 30"), "c");
        assert_eq!(sql.state("SELECT 1 FROM t"), "42P01");
        assert_eq!(sql.one("SELECT count(*) FROM u WHERE label IS NULL"), "1");
    }
}

#[test]
fn constraints_come_and_go() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        table(&sql, layout);
        assert_eq!(
            sql.state("ALTER TABLE t ADD CONSTRAINT big CHECK (n > 15)"),
            "23514"
        );
        sql.run("ALTER TABLE t ADD CONSTRAINT big CHECK (n > 5)");
        assert_eq!(sql.state("INSERT INTO t VALUES (4, 'x', 5)"), "23514");
        sql.run("ALTER TABLE t DROP CONSTRAINT big; INSERT INTO t VALUES (4, 'a', 5)");
        assert_eq!(sql.state("ALTER TABLE t ADD UNIQUE (name)"), "23505");
        assert_eq!(sql.state("ALTER TABLE t ADD PRIMARY KEY (name)"), "23502");
        sql.run("ALTER TABLE t ADD PRIMARY KEY (id)");
        assert_eq!(sql.state("INSERT INTO t VALUES (1, 'x', 1)"), "23505");
        assert_eq!(sql.state("INSERT INTO t VALUES (NULL, 'x', 1)"), "23502");
        assert_eq!(sql.state("DROP INDEX t_pkey"), "2BP01");
        sql.run("CREATE TABLE c (t INTEGER)");
        sql.run("INSERT INTO c VALUES (9)");
        let reference = "ALTER TABLE c ADD CONSTRAINT up FOREIGN KEY (t) REFERENCES t";
        assert_eq!(sql.state(reference), "23503");
        sql.run("UPDATE c SET t = 1");
        sql.run(reference);
        assert_eq!(sql.state("DELETE FROM t WHERE id = 1"), "23503");
        assert_eq!(sql.state("ALTER TABLE t DROP CONSTRAINT t_pkey"), "2BP01");
        assert_eq!(
            sql.state("ALTER TABLE c ADD CONSTRAINT up CHECK (t > 0)"),
            "42710"
        );
        sql.run("ALTER TABLE t DROP CONSTRAINT t_pkey CASCADE; DELETE FROM t WHERE id = 1");
        assert_eq!(sql.state("ALTER TABLE t DROP CONSTRAINT t_pkey"), "42704");
        sql.run("ALTER TABLE t DROP CONSTRAINT IF EXISTS t_pkey");
    }
}

#[test]
fn types_change_with_all_rows() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        table(&sql, layout);
        sql.run("ALTER TABLE t ALTER COLUMN n TYPE DECIMAL(10,1)");
        assert_eq!(sql.sorted("SELECT n FROM t"), ["10.0", "20.0", "30.0"]);
        sql.run("ALTER TABLE t ALTER COLUMN n SET DATA TYPE TEXT USING n::text || '!'");
        assert_eq!(sql.rows("SELECT id FROM t WHERE n = '20.0!'"), ["2"]);
        assert_eq!(sql.state("ALTER TABLE t ALTER name TYPE INTEGER"), "22P02");
        assert_eq!(sql.sorted("SELECT name FROM t"), ["NULL", "a", "c"]);
    }
}

#[test]
fn what_was_altered_is_there_after_opening() {
    let folder = tempfile::tempdir().unwrap();
    for layout in LAYOUTS {
        let place = folder.path().join(layout);
        {
            let sql = Sql::on(&Database::open(&place).unwrap());
            table(&sql, layout);
            sql.run("ALTER TABLE t ADD PRIMARY KEY (id); ALTER TABLE t RENAME name TO label");
            sql.run("ALTER TABLE t ADD CHECK (label <> 'bad'); INSERT INTO t VALUES (7, 'x', 1)");
            sql.run("ALTER TABLE t ALTER n TYPE BIGINT; ALTER TABLE t ALTER n SET NOT NULL");
            sql.run("CREATE TABLE c (t INTEGER REFERENCES t ON DELETE CASCADE)");
            sql.run("INSERT INTO c VALUES (7), (1)");
        }
        let sql = Sql::on(&Database::open(&place).unwrap());
        assert_eq!(
            sql.sorted("SELECT * FROM t"),
            ["1|a|10", "2|NULL|20", "3|c|30", "7|x|1"]
        );
        assert_eq!(sql.state("INSERT INTO t VALUES (8, 'bad', 1)"), "23514");
        assert_eq!(sql.state("INSERT INTO t VALUES (7, 'good', 1)"), "23505");
        assert_eq!(sql.state("INSERT INTO t VALUES (8, 'good', NULL)"), "23502");
        sql.run("DELETE FROM t WHERE id = 7");
        assert_eq!(sql.rows("SELECT * FROM c"), ["1"]);
    }
}

/// What people do to a table that is in use, in one transaction.
#[test]
fn a_migration_in_one_transaction() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        table(&sql, layout);
        let before = sql.sorted("SELECT * FROM t");
        sql.run("BEGIN");
        sql.run("INSERT INTO t VALUES (900, 'new', 0)");
        sql.run("DELETE FROM t WHERE id = 1");
        sql.run("ALTER TABLE t ADD COLUMN d INTEGER");
        sql.run("UPDATE t SET d = id + 1");
        sql.run("SAVEPOINT s");
        sql.run("ALTER TABLE t ALTER COLUMN d SET NOT NULL");
        sql.run("CREATE INDEX i ON t (d)");
        assert_eq!(sql.one("SELECT name FROM t WHERE d = 901"), "new");
        sql.run("ROLLBACK TO s");
        sql.run("INSERT INTO t VALUES (901, 'null', 0)");
        sql.run("UPDATE t SET d = 0 WHERE id = 901");
        sql.run("ALTER TABLE t ALTER COLUMN d SET NOT NULL");
        let within = sql.sorted("SELECT id, d FROM t");
        sql.run("COMMIT");
        assert_eq!(sql.sorted("SELECT id, d FROM t"), within);
        assert_eq!(within.len(), before.len() + 1);
        assert_eq!(
            sql.one("SELECT count(*) FROM t WHERE d = id + 1 OR d = 0"),
            within.len().to_string()
        );
        assert_eq!(
            sql.error("INSERT INTO t (id) VALUES (902)").sqlstate,
            "23502"
        );
    }
}

/// Columns that come with constraints, and several changes in one statement.
#[test]
fn columns_come_with_constraints() {
    let sql = Sql::new();
    sql.run("CREATE TABLE p (id INTEGER PRIMARY KEY)");
    sql.run("INSERT INTO p VALUES (1), (2)");
    sql.run("CREATE TABLE t (a INTEGER)");
    sql.run("INSERT INTO t VALUES (1), (2)");
    sql.run("ALTER TABLE t ADD COLUMN c INTEGER DEFAULT 1 CHECK (c > 0) REFERENCES p (id), ADD COLUMN u INTEGER UNIQUE");
    assert_eq!(sql.sorted("SELECT * FROM t"), ["1|1|NULL", "2|1|NULL"]);
    assert_eq!(
        sql.error("INSERT INTO t VALUES (3, 0, 0)").sqlstate,
        "23514"
    );
    assert_eq!(
        sql.error("INSERT INTO t VALUES (3, 3, 0)").sqlstate,
        "23503"
    );
    sql.run("INSERT INTO t VALUES (3, 2, 7)");
    assert_eq!(
        sql.error("INSERT INTO t VALUES (4, 2, 7)").sqlstate,
        "23505"
    );
    let before = sql.sorted("SELECT * FROM t");
    for wrong in [
        "ALTER TABLE t ADD COLUMN x INTEGER DEFAULT 5, ADD CHECK (x < 5)",
        "ALTER TABLE t ADD COLUMN x INTEGER DEFAULT 1 UNIQUE",
        "ALTER TABLE t RENAME TO s, ADD COLUMN x INTEGER DEFAULT 9 REFERENCES p",
        "ALTER TABLE t DROP COLUMN a, ALTER COLUMN u SET NOT NULL",
    ] {
        let state = sql.error(wrong).sqlstate;
        assert!(state.starts_with("23"), "{wrong}: {state}");
        assert_eq!(sql.sorted("SELECT * FROM t"), before, "{wrong}");
    }
    sql.run("ALTER TABLE t ALTER COLUMN a TYPE BIGINT, ALTER COLUMN c SET DEFAULT 2, RENAME COLUMN u TO v, RENAME TO s");
    sql.run("INSERT INTO s (a, v) VALUES (5, 50)");
    assert_eq!(sql.one("SELECT c FROM s WHERE v = 50"), "2");
    sql.run("ALTER TABLE s ADD COLUMN IF NOT EXISTS v TEXT CHECK (v > 'a')");
    assert_eq!(sql.one("SELECT v FROM s WHERE a = 5"), "50");
}

/// A cast would cut what is too long, and a column refuses it.
#[test]
fn a_shorter_length_refuses_longer_values() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a varchar(4), b text[]); INSERT INTO t VALUES ('abc ', '{ab}')");
    for wrong in [
        "ALTER TABLE t ALTER a TYPE varchar(2)",
        "ALTER TABLE t ALTER a TYPE char(2)",
        "ALTER TABLE t ALTER b TYPE varchar(1)[]",
    ] {
        assert_eq!(sql.state(wrong), "22001", "{wrong}");
    }
    sql.run(
        "ALTER TABLE t ALTER a TYPE varchar(3), ALTER b TYPE varchar(1)[] USING b::varchar(1)[]",
    );
    assert_eq!(sql.one("SELECT a, b FROM t"), "abc|{a}");
}

#[test]
fn tags_tell_the_kind_of_object_that_was_written() {
    let sql = Sql::new();
    sql.run("CREATE VIEW v AS SELECT 1 AS a; CREATE MATERIALIZED VIEW m AS SELECT 1 AS a");
    sql.run("CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT 1'");
    for (statement, tag) in [
        ("ALTER TABLE v RENAME TO w", "ALTER TABLE"),
        ("ALTER VIEW w RENAME TO v", "ALTER VIEW"),
        ("ALTER VIEW IF EXISTS none RENAME TO some", "ALTER VIEW"),
        ("ALTER ROUTINE f(int) RENAME TO g", "ALTER ROUTINE"),
        (
            "CREATE MATERIALIZED VIEW IF NOT EXISTS m AS SELECT 2 AS b",
            "CREATE MATERIALIZED VIEW",
        ),
    ] {
        assert_eq!(sql.run(statement), tag, "{statement}");
    }
}

//! Sequences and identity columns, as PostgreSQL has them.

use std::collections::HashSet;

use freestone::{Database, Outcome};

use crate::support::{LAYOUTS, Sql, runtime};

#[test]
fn a_sequence_counts_for_every_session() {
    let database = Database::in_memory();
    let (a, b) = (Sql::on(&database), Sql::on(&database));
    assert_eq!(a.run("CREATE SEQUENCE s"), "CREATE SEQUENCE");
    assert_eq!(a.state("SELECT currval('s')"), "55000");
    assert_eq!(a.state("SELECT lastval()"), "55000");
    assert_eq!(a.one("SELECT nextval('s')"), "1");
    assert_eq!(b.one("SELECT nextval('main.s')"), "2");
    assert_eq!(a.one("SELECT currval('s'), lastval()"), "1|1");
    assert_eq!(b.one("SELECT currval('S')"), "2");
    a.run("CREATE SEQUENCE u START 100");
    assert_eq!(a.one("SELECT nextval('u'::regclass)"), "100");
    assert_eq!(a.one("SELECT currval('s'), lastval()"), "1|100");
    assert_eq!(b.state("SELECT currval('u')"), "55000");
}

#[test]
fn options_come_in_any_order() {
    let sql = Sql::new();
    sql.run("CREATE SEQUENCE s START WITH 10 INCREMENT BY 5 MAXVALUE 20 MINVALUE 3 CYCLE CACHE 7");
    let query = "SELECT nextval('s')";
    let numbers: Vec<String> = (0..5).map(|_| sql.one(query)).collect();
    assert_eq!(numbers, ["10", "15", "20", "3", "8"]);
    sql.run("CREATE SEQUENCE down AS SMALLINT NO CYCLE INCREMENT -16384 NO MAXVALUE");
    let query = "SELECT nextval('down')";
    assert_eq!(
        (sql.one(query), sql.one(query)),
        ("-1".into(), "-16385".into())
    );
    let error = sql.error(query);
    assert_eq!(error.sqlstate, "2200H");
    assert!(
        error
            .message
            .contains("minimum value of sequence \"down\" (-32768)")
    );
    assert!(error.hint.is_some());
    let described = "SELECT sequence_name, data_type, numeric_precision, start_value,
        minimum_value, maximum_value, increment, cycle_option
        FROM information_schema.sequences ORDER BY 1";
    assert_eq!(
        sql.rows(described),
        [
            "down|smallint|16|-1|-32768|-1|-16384|NO",
            "s|bigint|64|10|3|20|5|YES"
        ]
    );
    for (options, state) in [
        ("INCREMENT 0", "22023"),
        ("MAXVALUE 1", "22023"),
        ("START 0", "22023"),
        ("AS TEXT", "22023"),
        ("CACHE 0", "22023"),
        ("AS INTEGER MAXVALUE 3000000000", "22023"),
        ("OWNED BY t.a", "42P01"),
    ] {
        assert_eq!(sql.state(&format!("CREATE SEQUENCE x {options}")), state);
    }
}

#[test]
fn names_are_those_of_relations() {
    let sql = Sql::new();
    sql.run("CREATE SEQUENCE s; CREATE TABLE t (a INT); CREATE SCHEMA x; CREATE SEQUENCE x.s");
    assert_eq!(sql.state("CREATE SEQUENCE s"), "42P07");
    sql.run("CREATE SEQUENCE IF NOT EXISTS s");
    assert_eq!(sql.state("CREATE TABLE s (a INT)"), "42P07");
    assert_eq!(sql.state("CREATE VIEW s AS SELECT 1"), "42P07");
    assert_eq!(sql.state("CREATE SEQUENCE t"), "42P07");
    assert_eq!(sql.state("CREATE SEQUENCE nowhere.s"), "3F000");
    assert_eq!(sql.state("SELECT nextval('t')"), "42809");
    let error = sql.error("SELECT nextval('r')");
    assert_eq!(error.sqlstate, "42P01");
    assert_eq!(error.hint.as_deref(), Some("did you mean sequence \"s\"?"));
    assert_eq!(sql.state("SELECT nextval()"), "42883");
    assert_eq!(sql.one("SELECT nextval('x.s')"), "1");
    assert_eq!(sql.state("DROP SEQUENCE none"), "42P01");
    sql.run("DROP SEQUENCE IF EXISTS none");
    assert_eq!(sql.state("DROP SEQUENCE t"), "42809");
    assert_eq!(sql.run("DROP SEQUENCE s"), "DROP SEQUENCE");
    assert_eq!(sql.state("SELECT nextval('s')"), "42P01");
    sql.run("DROP SCHEMA x CASCADE");
    assert_eq!(
        sql.one("SELECT count(*) FROM information_schema.sequences"),
        "0"
    );
}

#[test]
fn setval_moves_it_for_everybody() {
    let sql = Sql::new();
    sql.run("CREATE SEQUENCE s MAXVALUE 50");
    assert_eq!(sql.one("SELECT setval('s', 40)"), "40");
    assert_eq!(sql.one("SELECT nextval('s')"), "41");
    assert_eq!(sql.one("SELECT setval('s', 7, false)"), "7");
    assert_eq!(sql.one("SELECT currval('s')"), "41");
    assert_eq!(sql.one("SELECT nextval('s')"), "7");
    assert_eq!(sql.state("SELECT setval('s', 51)"), "22003");
    assert_eq!(sql.one("SELECT setval('s', (SELECT 50))"), "50");
    assert_eq!(sql.state("SELECT nextval('s')"), "2200H");
}

#[test]
fn every_row_of_a_query_has_its_own_number() {
    let sql = Sql::new();
    sql.run("CREATE SEQUENCE s; CREATE TABLE t (a BIGINT)");
    sql.run("INSERT INTO t SELECT value FROM generate_series(1, 50000) AS g(value)");
    let query = "SELECT count(*), count(DISTINCT n), min(n), max(n) FROM
        (SELECT nextval('s') AS n FROM t) AS numbered";
    assert_eq!(sql.one(query), "50000|50000|1|50000");
    assert_eq!(sql.one("SELECT nextval('s') - nextval('s')").len(), 2);
    sql.run("CREATE TABLE u AS SELECT a, nextval('s') AS n FROM t");
    assert_eq!(
        sql.one("SELECT count(DISTINCT n), min(n) FROM u"),
        "50000|50003"
    );
    sql.run("UPDATE t SET a = nextval('s')");
    assert_eq!(
        sql.one("SELECT count(DISTINCT a), min(a) FROM t"),
        "50000|100003"
    );
    // Of names in a column, each is another sequence.
    sql.run("CREATE SEQUENCE r START 500");
    let query = "SELECT nextval(name) FROM (VALUES ('r'), ('s'), ('r')) AS v(name) ORDER BY 1";
    assert_eq!(sql.rows(query), ["500", "501", "150003"]);
}

#[test]
fn defaults_take_numbers() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        sql.run("CREATE SEQUENCE s");
        sql.run(&format!(
            "CREATE TABLE t (id BIGINT DEFAULT nextval('s'), v TEXT,
                twice INT DEFAULT nextval('s') * 2) WITH (layout = '{layout}')"
        ));
        sql.run("INSERT INTO t (v) VALUES ('a'), ('b')");
        sql.run("INSERT INTO t VALUES (DEFAULT, 'c', 0), (70, 'd', 0), (nextval('s'), 'e', 0)");
        sql.run("INSERT INTO t (v, twice) SELECT 'f', 0");
        assert_eq!(
            sql.rows("SELECT v, id, twice FROM t ORDER BY v"),
            ["a|1|6", "b|2|8", "c|5|0", "d|70|0", "e|6|0", "f|7|0"]
        );
        sql.run("UPDATE t SET id = DEFAULT WHERE v = 'd'");
        assert_eq!(sql.one("SELECT id FROM t WHERE v = 'd'"), "8");
    }
}

#[test]
fn a_default_keeps_its_sequence() {
    let sql = Sql::new();
    assert_eq!(
        sql.state("CREATE TABLE t (a INT DEFAULT nextval('s'))"),
        "42P01"
    );
    sql.run("CREATE SEQUENCE s");
    assert_eq!(
        sql.state("CREATE TABLE t (a DATE DEFAULT nextval('s'))"),
        "42804"
    );
    sql.run("CREATE TABLE t (a INT DEFAULT nextval('s'), b INT)");
    let error = sql.error("DROP SEQUENCE s");
    assert_eq!(error.sqlstate, "2BP01");
    assert!(error.detail.unwrap().contains("column a of table t"));
    sql.run("INSERT INTO t (b) VALUES (1)");
    sql.run("DROP SEQUENCE s CASCADE");
    sql.run("INSERT INTO t (b) VALUES (2)");
    // Declaring the default took no number.
    assert_eq!(sql.rows("SELECT a, b FROM t ORDER BY b"), ["1|1", "NULL|2"]);
}

#[test]
fn always_refuses_values() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (id INT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v TEXT)");
    sql.run("INSERT INTO t (v) VALUES ('a'), ('b')");
    sql.run("INSERT INTO t VALUES (DEFAULT, 'c')");
    for statement in [
        "INSERT INTO t VALUES (9, 'x')",
        "INSERT INTO t VALUES (DEFAULT, 'x'), (9, 'x')",
        "INSERT INTO t SELECT 9, 'x'",
        "INSERT INTO t (id) SELECT 9",
        "UPDATE t SET id = 9",
        "UPDATE t SET id = id + 1 WHERE id = 1",
        "INSERT INTO t (v) VALUES ('x') ON CONFLICT (id) DO UPDATE SET id = 9",
        "MERGE INTO t USING (SELECT 9 AS n) AS s ON t.id = s.n
            WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.n, 'x')",
    ] {
        assert_eq!(sql.state(statement), "428C9", "{statement}");
    }
    let error = sql.error("INSERT INTO t VALUES (9, 'x')");
    assert!(error.hint.unwrap().contains("OVERRIDING SYSTEM VALUE"));
    assert!(error.detail.unwrap().contains("GENERATED ALWAYS"));
    // Number 4 went to the row that ON CONFLICT was refused for.
    sql.run("INSERT INTO t OVERRIDING SYSTEM VALUE VALUES (90, 'd'), (DEFAULT, 'e')");
    sql.run("INSERT INTO t (id, v) overriding system value SELECT 91, 'f'");
    sql.run("INSERT INTO t OVERRIDING USER VALUE VALUES (99, 'g'); INSERT INTO t (v) VALUES ('h')");
    sql.run("UPDATE t SET id = DEFAULT WHERE v = 'a'");
    assert_eq!(
        sql.state("INSERT INTO t (id) PARTITION (a) VALUES (1)"),
        "0A000"
    );
    assert_eq!(
        sql.rows("SELECT v, id FROM t ORDER BY v"),
        ["a|8", "b|2", "c|3", "d|90", "e|5", "f|91", "g|6", "h|7"]
    );
    let merge = "MERGE INTO t USING (SELECT 1 AS n) AS s ON t.id = s.n
        WHEN NOT MATCHED THEN INSERT (v) VALUES ('m')";
    sql.run(merge);
    assert_eq!(sql.one("SELECT id FROM t WHERE v = 'm'"), "9");
    assert_eq!(sql.state("INSERT INTO t (id) VALUES (NULL)"), "428C9");
}

#[test]
fn by_default_takes_values() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        sql.run(&format!(
            "CREATE TABLE t (id BIGINT GENERATED BY DEFAULT AS IDENTITY (START WITH 10 INCREMENT 10),
                v TEXT) WITH (layout = '{layout}')"
        ));
        sql.run("INSERT INTO t (v) VALUES ('a')");
        sql.run("INSERT INTO t VALUES (5, 'b'), (DEFAULT, 'c')");
        sql.run("INSERT INTO t SELECT 6, 'd'; INSERT INTO t (v) SELECT 'e'");
        assert_eq!(sql.one("SELECT lastval()"), "30");
        assert_eq!(sql.one("SELECT currval('t_id_seq')"), "30");
        assert_eq!(sql.state("INSERT INTO t VALUES (NULL, 'x')"), "23502");
        assert_eq!(
            sql.rows("SELECT v, id FROM t ORDER BY v"),
            ["a|10", "b|5", "c|20", "d|6", "e|30"]
        );
        let returned = sql.rows("INSERT INTO t (v) VALUES ('f') RETURNING id, v");
        assert_eq!(returned, ["40|f"]);
        sql.run("INSERT INTO t (v) SELECT 'many' FROM generate_series(1, 30000) AS g(value)");
        assert_eq!(
            sql.one("SELECT count(DISTINCT id), min(id), max(id) FROM t WHERE v = 'many'"),
            "30000|50|300040"
        );
    }
}

#[test]
fn serial_is_told_as_a_default() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a SERIAL PRIMARY KEY, b BIGSERIAL, c SMALLSERIAL, d INT)");
    sql.run("INSERT INTO t (d) VALUES (1); INSERT INTO t DEFAULT VALUES");
    assert_eq!(
        sql.rows("SELECT * FROM t ORDER BY a"),
        ["1|1|1|1", "2|2|2|NULL"]
    );
    let columns = "SELECT column_name, data_type, is_nullable, column_default, is_identity,
        identity_generation FROM information_schema.columns ORDER BY ordinal_position";
    assert_eq!(
        sql.rows(columns),
        [
            "a|integer|NO|nextval('t_a_seq'::regclass)|NO|NULL",
            "b|bigint|NO|nextval('t_b_seq'::regclass)|NO|NULL",
            "c|smallint|NO|nextval('t_c_seq'::regclass)|NO|NULL",
            "d|integer|YES|NULL|NO|NULL"
        ]
    );
    assert_eq!(
        sql.one(
            "SELECT attidentity, atthasdef, pg_get_serial_sequence('t', 'a'), deptype \
             FROM pg_attribute, pg_depend WHERE attrelid = 't'::regclass AND attnum = 1 \
             AND objid = 't_a_seq'::regclass AND refobjid = attrelid"
        ),
        "|true|public.t_a_seq|a"
    );
    assert!(sql.rows("DESCRIBE t")[0].contains("generated by default as identity"));
    sql.one("SELECT setval('t_c_seq', 32767)");
    assert_eq!(sql.state("INSERT INTO t (d) VALUES (1)"), "2200H");
}

#[test]
fn copy_fills_identity_columns_that_are_not_listed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv").display().to_string();
    let rows: String = (1..=20_000).map(|row| format!("v{row}\n")).collect();
    std::fs::write(&path, rows).unwrap();
    let sql = Sql::new();
    sql.run("CREATE TABLE t (id INT GENERATED ALWAYS AS IDENTITY, v TEXT)");
    assert_eq!(sql.run(&format!("COPY t (v) FROM '{path}'")), "COPY 20000");
    assert_eq!(
        sql.one("SELECT count(DISTINCT id), min(id), max(id) FROM t"),
        "20000|1|20000"
    );
    // Listed values are taken as they are, as in PostgreSQL.
    std::fs::write(&path, "90000,x\n").unwrap();
    sql.run(&format!("COPY t FROM '{path}'"));
    assert_eq!(sql.one("SELECT id FROM t WHERE v = 'x'"), "90000");
}

#[test]
fn the_sequence_comes_and_goes_with_its_column() {
    let sql = Sql::new();
    let sequences = "SELECT sequencename FROM pg_sequences ORDER BY 1";
    sql.run(
        "CREATE SEQUENCE t_id_seq; CREATE TABLE t (id INT GENERATED ALWAYS AS IDENTITY, v INT)",
    );
    assert_eq!(sql.rows(sequences), ["t_id_seq", "t_id_seq1"]);
    sql.run("INSERT INTO t (v) VALUES (1)");
    assert_eq!(sql.one("SELECT currval('t_id_seq1')"), "1");
    assert_eq!(sql.state("DROP SEQUENCE t_id_seq1"), "2BP01");
    assert_eq!(sql.state("DROP SEQUENCE t_id_seq1 CASCADE"), "2BP01");
    sql.run("ALTER TABLE t RENAME TO u; ALTER TABLE u RENAME id TO number");
    sql.run("INSERT INTO u (v) VALUES (2)");
    assert_eq!(
        sql.rows("SELECT number, v FROM u ORDER BY 1"),
        ["1|1", "2|2"]
    );
    sql.run("ALTER TABLE u DROP COLUMN number");
    assert_eq!(sql.rows(sequences), ["t_id_seq"]);
    sql.run("CREATE TABLE w (id SERIAL)");
    sql.run("CREATE OR REPLACE TABLE w (id SERIAL, v INT)");
    assert_eq!(sql.rows(sequences), ["t_id_seq", "w_id_seq"]);
    sql.run("DROP TABLE w");
    assert_eq!(sql.rows(sequences), ["t_id_seq"]);
}

#[test]
fn columns_become_identity_columns() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT NOT NULL, b INT, c TEXT NOT NULL)");
    let add = |column: &str| {
        format!("ALTER TABLE t ALTER {column} ADD GENERATED ALWAYS AS IDENTITY (START 5)")
    };
    assert_eq!(sql.state(&add("b")), "55000");
    assert_eq!(sql.state(&add("c")), "22023");
    sql.run(&add("a"));
    assert_eq!(sql.state(&add("a")), "55000");
    sql.run("INSERT INTO t (c) VALUES ('x')");
    assert_eq!(sql.one("SELECT a FROM t"), "5");
    for statement in [
        "ALTER TABLE t ALTER a SET DEFAULT 1",
        "ALTER TABLE t ALTER a DROP DEFAULT",
        "ALTER TABLE t ALTER a DROP NOT NULL",
    ] {
        assert_eq!(sql.state(statement), "42601", "{statement}");
    }
    assert_eq!(sql.state("ALTER TABLE t ALTER a TYPE TEXT"), "22023");
    sql.run("ALTER TABLE t ALTER a TYPE BIGINT");
    sql.run("INSERT INTO t (c) VALUES ('y')");
    assert_eq!(sql.rows("SELECT a FROM t ORDER BY 1"), ["5", "6"]);
    sql.run("ALTER TABLE t ADD COLUMN d SERIAL");
    assert_eq!(sql.rows("SELECT d FROM t ORDER BY 1"), ["1", "2"]);
    sql.run("CREATE TABLE u (a INT); ALTER TABLE u ADD COLUMN d SERIAL; INSERT INTO u VALUES (1)");
    assert_eq!(sql.one("SELECT * FROM u"), "1|1");
    assert_eq!(sql.state("CREATE TABLE x (a SERIAL DEFAULT 1)"), "42601");
    assert_eq!(
        sql.state("CREATE TABLE x (a TEXT GENERATED ALWAYS AS IDENTITY)"),
        "22023"
    );
    assert_eq!(sql.state("CREATE TABLE x (a SERIAL) AS SELECT 1"), "0A000");
}

#[test]
fn numbers_are_not_rolled_back() {
    let database = Database::in_memory();
    let (a, b) = (Sql::on(&database), Sql::on(&database));
    a.run("CREATE TABLE t (id SERIAL, v INT)");
    a.run("BEGIN; INSERT INTO t (v) VALUES (1), (2); ROLLBACK");
    a.run("INSERT INTO t (v) VALUES (3)");
    assert_eq!(a.one("SELECT id FROM t"), "3");
    // A sequence of a transaction is its own.
    a.run("BEGIN; CREATE TABLE u (id SERIAL); INSERT INTO u VALUES (DEFAULT)");
    assert_eq!(a.one("SELECT nextval('u_id_seq')"), "2");
    assert_eq!(b.state("SELECT nextval('u_id_seq')"), "42P01");
    assert_eq!(b.one("SELECT nextval('t_id_seq')"), "4");
    b.run("CREATE TABLE w (id SERIAL)");
    a.run("COMMIT");
    assert_eq!(b.one("SELECT nextval('u_id_seq')"), "3");
    a.run("BEGIN; CREATE SEQUENCE gone; ROLLBACK");
    assert_eq!(a.state("SELECT nextval('gone')"), "42P01");
    // While a transaction changes the catalog, others take many numbers.
    a.run("BEGIN; CREATE TABLE x (id SERIAL)");
    b.run("INSERT INTO t (v) SELECT 1 FROM generate_series(1, 5000) AS g(value)");
    a.run("DROP TABLE w; COMMIT");
    assert_eq!(a.one("SELECT count(DISTINCT id) FROM t"), "5001");
}

#[test]
fn truncate_restarts_identity_when_asked() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (id SERIAL, v INT); INSERT INTO t (v) VALUES (1), (2)");
    sql.run("TRUNCATE t; INSERT INTO t (v) VALUES (3)");
    assert_eq!(sql.one("SELECT id FROM t"), "3");
    sql.run("BEGIN; TRUNCATE t RESTART IDENTITY; ROLLBACK; INSERT INTO t (v) VALUES (4)");
    assert_eq!(sql.rows("SELECT id FROM t ORDER BY 1"), ["3", "4"]);
    sql.run("TRUNCATE t RESTART IDENTITY; INSERT INTO t (v) VALUES (5)");
    assert_eq!(sql.one("SELECT id FROM t"), "1");
    // A sequence that a column owns is restarted, too.
    sql.run("CREATE SEQUENCE s START 7; CREATE TABLE u (a INT DEFAULT nextval('s'))");
    sql.run("ALTER SEQUENCE s OWNED BY u.a; INSERT INTO u VALUES (DEFAULT)");
    sql.run("TRUNCATE u RESTART IDENTITY; INSERT INTO u VALUES (DEFAULT)");
    assert_eq!(sql.one("SELECT a FROM u"), "7");
}

#[test]
fn read_only_takes_no_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let sql = Sql::on(&database);
    sql.run("CREATE SEQUENCE s");
    assert_eq!(sql.one("SELECT nextval('s')"), "1");
    sql.run("BEGIN READ ONLY");
    assert_eq!(sql.state("SELECT nextval('s')"), "25006");
    sql.run("ROLLBACK; BEGIN READ ONLY");
    assert_eq!(sql.state("SELECT setval('s', 5)"), "25006");
    sql.run("ROLLBACK");
    let reader = Sql::on(&Database::open_read_only(folder.path()).unwrap());
    assert_eq!(reader.state("SELECT nextval('s')"), "25006");
    assert_eq!(sql.one("SELECT nextval('s')"), "2");
    drop(sql);
    drop(reader);
    drop(database);
    let again = Sql::on(&Database::open(folder.path()).unwrap());
    assert_eq!(again.one("SELECT nextval('s')"), "3");
}

#[test]
fn threads_insert_different_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    Sql::on(&database).run("CREATE TABLE t (id SERIAL PRIMARY KEY, v INT)");
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let database = database.clone();
            std::thread::spawn(move || {
                let sql = Sql::on(&database);
                let insert = format!("INSERT INTO t (v) VALUES ({thread}) RETURNING id");
                let ids = (0..300).map(|_| sql.one(&insert).parse::<i64>().unwrap());
                ids.collect::<Vec<i64>>()
            })
        })
        .collect();
    let ids = threads.into_iter().flat_map(|one| one.join().unwrap());
    let ids: HashSet<i64> = ids.collect();
    assert_eq!(ids.len(), 1200);
    let sql = Sql::on(&database);
    assert_eq!(sql.one("SELECT count(*), max(id) FROM t"), "1200|1200");
}

#[test]
fn prepared_statements_take_numbers_each_time() {
    let database = Database::in_memory();
    let session = database.session();
    let done = runtime().block_on(async {
        session
            .execute("CREATE TABLE t (id INT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v INT)")
            .await?;
        let insert = session.prepare("INSERT INTO t (v) VALUES ($1)")?;
        for value in 0..10 {
            insert.run(&session, &[value.into()]).await?;
        }
        let over =
            "PREPARE p AS INSERT INTO t OVERRIDING SYSTEM VALUE VALUES ($1, 1); EXECUTE p(77)";
        session.execute(over).await
    });
    assert!(matches!(
        done.unwrap().last(),
        Some(Outcome::Done { rows: 1, .. })
    ));
    let sql = Sql::on(&database);
    assert_eq!(
        sql.one("SELECT count(*), max(id) FROM t WHERE id < 77"),
        "10|10"
    );
    assert_eq!(sql.one("SELECT v FROM t WHERE id = 77"), "1");
}

#[test]
fn overriding_reaches_inserts_in_with_and_in_merge() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE a (i INTEGER GENERATED ALWAYS AS IDENTITY, t TEXT);
         CREATE TABLE d (i INTEGER GENERATED BY DEFAULT AS IDENTITY, t TEXT)",
    );
    let merge = |table: &str, overriding: &str| {
        format!(
            "MERGE INTO {table} USING (VALUES (30, 'merged')) AS s (i, t) ON {table}.i = s.i \
             WHEN MATCHED THEN DO NOTHING \
             WHEN NOT MATCHED THEN INSERT (i, t) {overriding} VALUES (s.i, s.t)"
        )
    };
    assert_eq!(sql.state(&merge("a", "")), "428C9");
    sql.run(&merge("a", "OVERRIDING SYSTEM VALUE"));
    sql.run(&merge("d", "OVERRIDING USER VALUE"));
    assert_eq!(sql.rows("SELECT i FROM a"), ["30"]);
    assert_eq!(sql.rows("SELECT i FROM d"), ["1"]);
    let with = "WITH w AS (INSERT INTO a OVERRIDING SYSTEM VALUE VALUES (7, 'x') RETURNING i) \
                INSERT INTO d OVERRIDING USER VALUE SELECT i, 'y' FROM w RETURNING i <> 7";
    assert_eq!(sql.rows_of_one_engine(with), ["true"]);
    assert_eq!(sql.sorted("SELECT i FROM a"), ["30", "7"]);
    assert_eq!(sql.state("SELECT 1 OVERRIDING USER VALUE"), "42601");
}

/// As pg_dump writes identity columns.
#[test]
fn sequences_of_identities_have_names() {
    let sql = Sql::new();
    sql.run(
        "CREATE SCHEMA s; CREATE TABLE s.t (id BIGINT NOT NULL, a INT);
         ALTER TABLE s.t ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY
             (SEQUENCE NAME s.\"My ids\" START WITH 5 INCREMENT BY 2 NO MINVALUE NO MAXVALUE CACHE 1);
         CREATE TABLE u (a INT, id INT GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME others),
             b INT GENERATED ALWAYS AS (a + 1) STORED)",
    );
    assert_eq!(
        sql.rows_of_one_engine("INSERT INTO s.t (a) VALUES (1), (2) RETURNING id"),
        ["5", "7"]
    );
    assert_eq!(
        sql.one("SELECT pg_get_serial_sequence('s.t', 'id'), pg_get_serial_sequence('u', 'id')"),
        "s.\"My ids\"|public.others"
    );
    for (text, state) in [
        (
            "CREATE TABLE v (id INT GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME s.x))",
            "55000",
        ),
        (
            "CREATE TABLE v (id INT GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME others))",
            "42P07",
        ),
        ("CREATE SEQUENCE v SEQUENCE NAME x", "42601"),
    ] {
        assert_eq!(sql.state(text), state, "{text}");
    }
}

#[test]
fn setval_of_null_sets_nothing() {
    let sql = Sql::new();
    sql.run("CREATE SEQUENCE s");
    for call in [
        "setval(NULL, 42)",
        "setval('s', NULL)",
        "setval('s', 42, NULL)",
        "setval('s'::regclass, 42, NULL)",
    ] {
        assert_eq!(sql.one(&format!("SELECT {call}")), "NULL", "{call}");
    }
    assert_eq!(sql.one("SELECT nextval('s')"), "1");
    assert_eq!(sql.one("SELECT setval('s', '7')"), "7");
    assert_eq!(sql.one("SELECT setval('s'::text, 8::smallint, 'f')"), "8");
    assert_eq!(sql.one("SELECT nextval('s'), lastval()"), "8|8");
    for call in [
        "setval('s', ARRAY[1])",
        "setval('s', 1.5)",
        "nextval(1.5)",
        "lastval(1)",
        "setval('s')",
    ] {
        let error = sql.error(&format!("SELECT {call}"));
        assert_eq!(error.sqlstate, "42883", "{call}");
        assert!(
            error.message.ends_with("does not exist"),
            "{}",
            error.message
        );
    }
}

#[test]
fn constants_that_do_not_fit_take_no_numbers() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a TEXT, b SERIAL, c SMALLSERIAL, d INT DEFAULT 1)");
    for rows in [
        "('x', 32768)",
        "('x', -32769)",
        "('x', 32767 + 1)",
        "('x', 32768::int2)",
        "('x', 1), ('y', 40000)",
        "('x', DEFAULT), ('y', 40000)",
    ] {
        assert_eq!(
            sql.state(&format!("INSERT INTO t (a, c) VALUES {rows}")),
            "22003",
            "{rows}"
        );
    }
    sql.run("INSERT INTO t (a, c) VALUES ('x', 5), ('y', 2 + 4), ('z', DEFAULT)");
    assert_eq!(
        sql.rows("SELECT * FROM t ORDER BY b"),
        ["x|1|5|1", "y|2|6|1", "z|3|1|1"]
    );
}

#[test]
fn ends_of_a_type_follow_the_type() {
    let sql = Sql::new();
    for (name, options, changed) in [
        ("s1", "AS smallint MINVALUE -32768", "AS integer"),
        (
            "s2",
            "AS smallint INCREMENT -1 MAXVALUE 32767",
            "AS integer",
        ),
        ("s3", "AS integer INCREMENT -1", "AS smallint"),
        ("s4", "AS integer", "AS bigint INCREMENT -1"),
        ("s5", "AS integer MAXVALUE 100", "AS smallint"),
    ] {
        sql.run(&format!(
            "CREATE SEQUENCE {name} {options}; ALTER SEQUENCE {name} {changed}"
        ));
    }
    let query = "SELECT sequencename, min_value, max_value FROM pg_sequences ORDER BY 1";
    assert_eq!(
        sql.rows(query),
        [
            "s1|-2147483648|2147483647",
            "s2|-2147483648|2147483647",
            "s3|-32768|-1",
            "s4|1|9223372036854775807",
            "s5|1|100"
        ]
    );
}

#[test]
fn discard_forgets_numbers_that_were_taken() {
    let sql = Sql::new();
    sql.run("CREATE SEQUENCE s; SELECT nextval('s'); DISCARD SEQUENCES");
    assert_eq!(sql.state("SELECT currval('s')"), "55000");
    assert_eq!(sql.state("SELECT lastval()"), "55000");
    assert_eq!(sql.one("SELECT nextval('s')"), "2");
}

#[test]
fn a_limit_takes_a_number_when_it_runs_and_once() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (i INT); INSERT INTO t SELECT generate_series(1, 9); \
         CREATE SEQUENCE s START 3",
    );
    for query in [
        "SELECT i FROM t ORDER BY i LIMIT nextval('s')",
        "SELECT i FROM t LIMIT nextval('s')",
        "SELECT i + 1 FROM t ORDER BY i OFFSET nextval('s')",
        "SELECT i FROM t ORDER BY i FETCH FIRST (nextval('s')) ROWS WITH TIES",
    ] {
        sql.run("ALTER SEQUENCE s RESTART");
        let prepared = sql.session.prepare(query).unwrap();
        sql.told(&prepared).unwrap();
        sql.run(&format!("EXPLAIN {query}"));
        let rows = sql.rows(query);
        let wanted = if query.contains("OFFSET") { 6 } else { 3 };
        assert_eq!(rows.len(), wanted, "{query}");
        assert_eq!(
            sql.one("SELECT last_value, is_called FROM s"),
            "3|true",
            "{query}"
        );
    }
}

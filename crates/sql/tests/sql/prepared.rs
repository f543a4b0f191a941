//! Prepared statements, and look-ups that need no plan.

use crate::support::{LAYOUTS, Sql, runtime};
use freestone::{Database, Outcome, Parameter, Value};

/// Types as PostgreSQL tells them.
#[test]
fn parameters_of_changes_have_the_types_of_their_uses() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE r (id bigint PRIMARY KEY, n smallint, name varchar(9), tags text[], \
         grid int[], at timestamptz, price numeric(9, 2), d date)",
    );
    sql.run("CREATE TYPE pair AS (a int, b date); CREATE TABLE c (id int PRIMARY KEY, p pair)");
    for (statement, types) in [
        (
            "UPDATE r SET tags[2] = $1, grid[$2] = $3, name = $4 WHERE id = $5",
            "{text,integer,integer,\"character varying\",bigint}",
        ),
        (
            "UPDATE r SET (n, name) = ($1, $2) WHERE d > $3",
            "{smallint,\"character varying\",date}",
        ),
        ("UPDATE r SET grid[1:2] = $1, n = DEFAULT", "{integer[]}"),
        (
            "INSERT INTO r AS t (id, n) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE \
             SET n = t.n + $3, price = excluded.price * $4, tags[1] = $5 WHERE t.d < $6",
            "{bigint,smallint,smallint,numeric,text,date}",
        ),
        (
            "INSERT INTO r (id, n) VALUES (1, 2) ON CONFLICT ON CONSTRAINT r_pkey DO UPDATE \
             SET n = $1, name = $2",
            "{smallint,\"character varying\"}",
        ),
        (
            "INSERT INTO r (id, grid[1], grid[2], tags[3]) VALUES ($1, $2, $3, $4)",
            "{bigint,integer,integer,text}",
        ),
        (
            "UPDATE c SET p.a = $1, p.b = $2 WHERE id = $3",
            "{integer,date,integer}",
        ),
        (
            "MERGE INTO r AS t USING c ON t.id = c.id WHEN MATCHED AND t.n > $1 THEN UPDATE \
             SET grid[1] = $2, name = $3, price = t.price + $4 \
             WHEN NOT MATCHED THEN INSERT (id, d) VALUES (c.id, $5)",
            "{smallint,integer,\"character varying\",numeric,date}",
        ),
    ] {
        sql.run(&format!("PREPARE p AS {statement}"));
        let told = "SELECT parameter_types::text FROM pg_prepared_statements";
        assert_eq!(sql.one(told), types, "{statement}");
        sql.run("DEALLOCATE p");
    }
}

#[test]
fn parameters_stand_for_values_of_any_type() {
    let sql = Sql::new();
    let runtime = runtime();
    sql.run(
        "CREATE TABLE t (i BIGINT, d DOUBLE PRECISION, s TEXT, b BOOLEAN, y BYTEA, e DATE, \
         m DECIMAL(8,2))",
    );
    let insert = sql
        .session
        .prepare("INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6, $7)")
        .unwrap();
    assert_eq!(insert.parameters(), 7);
    let given: Vec<Parameter> = vec![
        i64::MIN.into(),
        (-0.25).into(),
        "it's".into(),
        true.into(),
        vec![0u8, 255].into(),
        "2024-02-29".into(),
        "12.5".into(),
    ];
    runtime.block_on(insert.run(&sql.session, &given)).unwrap();
    let nulls = vec![Parameter::Null; 7];
    runtime.block_on(insert.run(&sql.session, &nulls)).unwrap();
    assert_eq!(
        sql.sorted("SELECT * FROM t"),
        [
            "-9223372036854775808|-0.25|it's|true|00ff|2024-02-29|12.50",
            "NULL|NULL|NULL|NULL|NULL|NULL|NULL"
        ]
    );
    let error = runtime
        .block_on(insert.run(&sql.session, &given[1..]))
        .unwrap_err();
    assert_eq!(error.sqlstate, "08P01");
    assert!(error.message.contains("6 values"), "{}", error.message);
    let twice = sql.session.prepare("SELECT ? + ?, - $1").unwrap();
    let rows = runtime.block_on(twice.rows(&sql.session, &[(-3).into(), 5.into()]));
    assert_eq!(
        rows.unwrap(),
        [vec![Some(Value::Int(2)), Some(Value::Int(3))]]
    );
    assert_eq!(
        sql.session.prepare("SELECT $0").unwrap_err().sqlstate,
        "42601"
    );
    assert_eq!(
        sql.session
            .prepare("SELECT 1; SELECT 2")
            .unwrap_err()
            .sqlstate,
        "42601"
    );
}

/// Plans by keys go on while rows move, and end with what they were made of.
#[test]
fn statements_by_key_follow_their_table() {
    let sql = Sql::new();
    let runtime = runtime();
    sql.run("CREATE TABLE t (k integer PRIMARY KEY, v integer)");
    sql.run("INSERT INTO t SELECT i, i FROM generate_series(1, 5000) s (i)");
    let read = sql
        .session
        .prepare("SELECT v, k FROM t WHERE k = $1")
        .unwrap();
    let write = sql
        .session
        .prepare("UPDATE t SET v = v + $1 WHERE k = $2")
        .unwrap();
    let add = |more: i64, key: i64| {
        let given = [more.into(), key.into()];
        match runtime.block_on(write.run(&sql.session, &given)).unwrap() {
            Outcome::Done { tag, .. } => tag,
            Outcome::Rows(_) => panic!("rows of an UPDATE"),
        }
    };
    let found = |key: i64| {
        let rows = runtime.block_on(read.rows(&sql.session, &[key.into()]));
        let rows = rows.unwrap().into_iter();
        let values = rows.map(|row| row[0].clone());
        values.collect::<Vec<_>>()
    };
    let one = |value: i128| vec![Some(Value::Int(value))];
    for way in [
        "",
        "VACUUM t",
        "INSERT INTO t SELECT i, 0 FROM generate_series(6000, 90000) s (i)",
        "DELETE FROM t WHERE k > 50000",
        "VACUUM FULL t",
    ] {
        sql.run("UPDATE t SET v = k WHERE k < 10");
        assert_eq!(
            (found(7), add(5, 7), found(7)),
            (one(7), "UPDATE 1".into(), one(12))
        );
        if !way.is_empty() {
            sql.run(way);
        }
        assert_eq!(
            (found(7), add(1, 7), found(7)),
            (one(12), "UPDATE 1".into(), one(13))
        );
    }
    sql.run("ALTER TABLE t ADD COLUMN w integer DEFAULT 3");
    assert_eq!(
        (found(7), add(1, 7), found(7)),
        (one(13), "UPDATE 1".into(), one(14))
    );
    sql.run("ALTER TABLE t ADD CHECK (v < 10000)");
    let given = [50_000.into(), 7.into()];
    let error = runtime
        .block_on(write.run(&sql.session, &given))
        .unwrap_err();
    assert_eq!(error.sqlstate, "23514");
    sql.run("ALTER TABLE t RENAME TO old; CREATE TABLE t (k integer PRIMARY KEY, v integer)");
    sql.run("INSERT INTO t VALUES (7, -1)");
    assert_eq!(
        (found(7), add(1, 7), found(7)),
        (one(-1), "UPDATE 1".into(), one(0))
    );
    assert_eq!(sql.one("SELECT v FROM old WHERE k = 7"), "14");
}

/// Look-ups in a transaction are statements of it.
#[test]
fn look_ups_within_a_transaction() {
    let sql = Sql::new();
    let other = Sql::on(sql.session.database());
    let runtime = runtime();
    sql.run(
        "CREATE TABLE t (k integer PRIMARY KEY, v integer); INSERT INTO t VALUES (1, 5), (2, 0)",
    );
    let prepared = sql
        .session
        .prepare("SELECT 10 / v FROM t WHERE k = $1")
        .unwrap();
    let run = |key: i64| {
        let rows = runtime.block_on(prepared.rows(&sql.session, &[key.into()]));
        rows.map(|rows| {
            rows.into_iter()
                .map(|row| row[0].clone())
                .collect::<Vec<_>>()
        })
    };
    let one = |value: i128| vec![Some(Value::Int(value))];
    for level in ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"] {
        other.run("UPDATE t SET v = 5 WHERE k = 1");
        sql.run(&format!("BEGIN ISOLATION LEVEL {level}"));
        assert_eq!((run(1).unwrap(), run(1).unwrap()), (one(2), one(2)));
        other.run("UPDATE t SET v = 10 WHERE k = 1");
        let now = if level == "READ COMMITTED" { 1 } else { 2 };
        assert_eq!(run(1).unwrap(), one(now), "{level}");
        sql.run("UPDATE t SET v = 3 WHERE k = 3; INSERT INTO t VALUES (3, 2)");
        assert_eq!(run(3).unwrap(), one(5), "{level}");
        assert_eq!(run(2).unwrap_err().sqlstate, "22012");
        assert_eq!(run(1).unwrap_err().sqlstate, "25P02");
        sql.run("ROLLBACK");
        assert_eq!((run(1).unwrap(), run(3).unwrap()), (one(1), vec![]));
    }
}

#[test]
fn look_ups_by_key_give_what_plans_give() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        let runtime = runtime();
        sql.run(&format!(
            "CREATE TABLE t (k INTEGER PRIMARY KEY, s TEXT, w DATE, UNIQUE (s, w)) \
             WITH (layout = '{layout}')"
        ));
        for part in 0..3 {
            sql.run(&format!(
                "INSERT INTO t SELECT v * 7919 % 3000 + {part} * 3000, 'n' || v, \
                 DATE '2024-01-01' + {part} FROM range(3000) AS r(v)"
            ));
            sql.run("VACUUM t");
        }
        sql.run("INSERT INTO t VALUES (-5, 'new', '2024-05-05'); DELETE FROM t WHERE k = 77");
        let by_key = sql
            .session
            .prepare("SELECT * FROM t AS x WHERE x.k = $1")
            .unwrap();
        for key in [-5, 0, 77, 78, 2999, 3000, 8999, 9000] {
            let found = runtime
                .block_on(by_key.rows(&sql.session, &[key.into()]))
                .unwrap();
            // An expression that no look-up understands.
            let planned = sql
                .session
                .prepare("SELECT * FROM t WHERE k + 0 = $1")
                .unwrap();
            let planned = runtime
                .block_on(planned.rows(&sql.session, &[key.into()]))
                .unwrap();
            assert_eq!(found, planned, "{layout} {key}");
            assert_eq!(found.len(), usize::from(key != 77 && key != 9000));
        }
        let pair = "SELECT k, s AS name FROM t WHERE w = '2024-01-02' AND s = 'n17'";
        assert_eq!(sql.rows(pair), [format!("{}|n17", 17 * 7919 % 3000 + 3000)]);
        assert_eq!(sql.names(pair), ["k", "name"]);
        assert!(sql.rows("SELECT k FROM t WHERE k = NULL").is_empty());
        assert_eq!(sql.rows("SELECT k FROM t WHERE k = 8.0"), ["8"]);
        assert!(sql.rows("SELECT k FROM t WHERE k = 8.5").is_empty());
        assert!(sql.rows("SELECT k FROM t WHERE k = 99999999999").is_empty());
        assert_eq!(sql.rows("SELECT count(*) FROM t WHERE k = 8"), ["1"]);
        assert_eq!(sql.state("SELECT nope FROM t WHERE k = 8"), "42703");
        // Inside a transaction, its own rows.
        sql.run("BEGIN; UPDATE t SET s = 'changed' WHERE k = 8");
        assert_eq!(sql.rows("SELECT s FROM t WHERE k = 8"), ["changed"]);
        let rows = runtime
            .block_on(by_key.rows(&sql.session, &[8.into()]))
            .unwrap();
        assert_eq!(rows[0][1], Some(Value::Bytes(b"changed".to_vec())));
        sql.run("ROLLBACK");
        assert_ne!(sql.one("SELECT s FROM t WHERE k = 8"), "changed");
        // The table changes under a statement that is prepared.
        sql.run("ALTER TABLE t ADD COLUMN more INTEGER DEFAULT 3");
        let rows = runtime
            .block_on(by_key.rows(&sql.session, &[8.into()]))
            .unwrap();
        assert_eq!(rows[0].len(), 4);
        sql.run("DROP TABLE t");
        let gone = runtime.block_on(by_key.rows(&sql.session, &[8.into()]));
        assert_eq!(gone.unwrap_err().sqlstate, "42P01");
    }
}

#[test]
fn look_ups_by_key_say_the_types_of_their_columns() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (id INT PRIMARY KEY, c CHAR(4), v VARCHAR(7), n NAME);
         INSERT INTO t VALUES (2, 'b', 'c', 'd')",
    );
    for condition in ["id = 2", "id = 2 AND 1 = 1", "id > 1"] {
        let query = format!("SELECT *, c || '.' FROM t WHERE {condition}");
        assert_eq!(sql.rows(&query), ["2|b   |c|d|b."], "{condition}");
        let plain = format!("SELECT c, v, n FROM t WHERE {condition}");
        assert_eq!(sql.rows(&plain), ["b   |c|d"], "{condition}");
        assert_eq!(
            sql.types(&plain),
            ["character(4)", "character varying(7)", "name"],
            "{condition}"
        );
    }
}

#[test]
fn prepared_changes_by_key() {
    let sql = Sql::new();
    let runtime = runtime();
    sql.run("CREATE TABLE a (id BIGINT PRIMARY KEY, n BIGINT)");
    let insert = sql.session.prepare("INSERT INTO a VALUES (?, ?)").unwrap();
    let add = sql
        .session
        .prepare("UPDATE a SET n = n + $2 WHERE id = $1")
        .unwrap();
    let remove = sql.session.prepare("DELETE FROM a WHERE id = ?").unwrap();
    let tag = |outcome: Outcome| match outcome {
        Outcome::Done { tag, .. } => tag,
        Outcome::Rows(_) => "rows".to_string(),
    };
    for id in 0..10 {
        let done = runtime.block_on(insert.run(&sql.session, &[id.into(), 100.into()]));
        assert_eq!(tag(done.unwrap()), "INSERT 0 1");
    }
    let done = runtime.block_on(add.run(&sql.session, &[3.into(), (-7).into()]));
    assert_eq!(tag(done.unwrap()), "UPDATE 1");
    let done = runtime.block_on(add.run(&sql.session, &[33.into(), 1.into()]));
    assert_eq!(tag(done.unwrap()), "UPDATE 0");
    let done = runtime.block_on(remove.run(&sql.session, &[4.into()]));
    assert_eq!(tag(done.unwrap()), "DELETE 1");
    let again = runtime.block_on(insert.run(&sql.session, &[3.into(), 1.into()]));
    assert_eq!(again.unwrap_err().sqlstate, "23505");
    assert_eq!(sql.one("SELECT sum(n) FROM a"), "893");
}

#[test]
fn clients_are_told_of_prepare_and_execute() {
    let sql = Sql::new();
    let told = |text: &str| {
        let prepared = sql.session.prepare(text).unwrap();
        let columns = sql.told(&prepared).unwrap().columns;
        let fields = columns.map(|schema| schema.fields().clone());
        let fields = fields.iter().flat_map(|fields| fields.iter());
        let names: Vec<String> = fields.map(|field| field.name().clone()).collect();
        (prepared.parameters(), names.join(" "))
    };
    let prepare = "PREPARE got (int) AS SELECT $1 AS a, 'x' AS b";
    assert_eq!(told(prepare), (0, String::new()));
    sql.run(prepare);
    assert_eq!(told("EXECUTE got(1)"), (0, "a b".to_owned()));
    sql.run("CREATE TABLE t (a INT); PREPARE put AS INSERT INTO t VALUES (1)");
    assert_eq!(told("EXECUTE put"), (0, String::new()));
}

#[test]
fn prepare_execute_deallocate() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (k INTEGER PRIMARY KEY, s TEXT)");
    assert_eq!(
        sql.run("PREPARE put (int, text) AS INSERT INTO t VALUES ($1, $2)"),
        "PREPARE"
    );
    assert_eq!(sql.run("EXECUTE put(1, 'one')"), "INSERT 0 1");
    assert_eq!(sql.run("EXECUTE put(1 + 1, 'two')"), "INSERT 0 1");
    sql.run("PREPARE got AS SELECT s FROM t WHERE k = $1");
    assert_eq!(sql.rows("EXECUTE got(2)"), ["two"]);
    assert_eq!(sql.state("PREPARE got AS SELECT 1"), "42P05");
    assert_eq!(sql.state("EXECUTE got"), "42601");
    assert_eq!(sql.state("EXPLAIN EXECUTE got(1, 2)"), "42601");
    assert_eq!(sql.state("CREATE TABLE u AS EXECUTE got"), "42601");
    assert_eq!(sql.run("DEALLOCATE got"), "DEALLOCATE");
    assert_eq!(sql.state("EXECUTE got(2)"), "26000");
    assert_eq!(sql.run("DEALLOCATE ALL"), "DEALLOCATE ALL");
    assert_eq!(sql.state("EXECUTE put(3, '')"), "26000");
}

#[test]
fn the_catalog_lists_prepared_statements() {
    let database = Database::in_memory();
    let (sql, other) = (Sql::on(&database), Sql::on(&database));
    sql.run("CREATE TABLE t (a INT, d DATE); CREATE TYPE mood AS ENUM ('sad', 'ok')");
    for prepare in [
        "PREPARE p(int, text) AS SELECT $1, $2",
        "PREPARE q AS  SELECT a + 1 FROM t WHERE a = $1 AND d > $2",
        "PREPARE \"R\" AS SELECT 1",
        "PREPARE s AS DELETE FROM t WHERE a = $1",
        "PREPARE m(mood[], numeric(5, 2)) AS SELECT $1, $2",
    ] {
        sql.run(prepare);
    }
    sql.run("EXECUTE \"R\"; EXECUTE \"R\"; EXPLAIN EXECUTE s(1)");
    let all = "SELECT name, statement, parameter_types, from_sql, generic_plans, custom_plans
        FROM pg_prepared_statements ORDER BY statement";
    assert_eq!(
        sql.rows(all),
        [
            "R|PREPARE \"R\" AS SELECT 1|{}|true|0|2",
            "m|PREPARE m(mood[], numeric(5, 2)) AS SELECT $1, $2|{mood[],numeric}|true|0|0",
            "p|PREPARE p(int, text) AS SELECT $1, $2|{integer,text}|true|0|0",
            "q|PREPARE q AS  SELECT a + 1 FROM t WHERE a = $1 AND d > $2|{integer,date}|true|0|0",
            "s|PREPARE s AS DELETE FROM t WHERE a = $1|{integer}|true|0|1",
        ]
    );
    let times = "SELECT bool_and(prepare_time <= now()) FROM pg_prepared_statements";
    assert_eq!(sql.one(times), "true");
    let names = "SELECT name FROM pg_prepared_statements";
    assert!(other.rows(names).is_empty());
    sql.run("DEALLOCATE p");
    assert_eq!(sql.sorted(names), ["R", "m", "q", "s"]);
    sql.run("DEALLOCATE ALL");
    assert!(sql.rows(names).is_empty());
}

#[test]
fn values_of_execute_are_of_the_types_that_their_use_tells() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b JSON, c NUMERIC(6,2))");
    sql.run("PREPARE i AS INSERT INTO t (a) VALUES ($1) RETURNING $1 + 1");
    assert_eq!(sql.rows("EXECUTE i(2.3)"), ["3"]);
    assert_eq!(sql.one("SELECT a FROM t"), "2");
    sql.run("PREPARE v AS SELECT $1; CREATE TABLE u AS EXECUTE v(8)");
    assert_eq!(sql.one("SELECT * FROM u"), "8");
    assert_eq!(
        sql.one("SELECT data_type FROM information_schema.columns WHERE table_name = 'u'"),
        "text"
    );
    assert_eq!(sql.rows("EXECUTE v('x')"), ["x"]);
    assert_eq!(sql.names("EXECUTE v(8)"), ["?column?"]);
    sql.run("PREPARE j AS UPDATE t SET b = $1, c = $2 RETURNING b, c");
    assert_eq!(
        sql.rows("EXECUTE j('{\"a\": 1}', 1.005)"),
        ["{\"a\": 1}|1.01"]
    );
    assert_eq!(sql.state("PREPARE z (nosuch) AS SELECT $1"), "42704");
    sql.run("CREATE TYPE mood AS ENUM ('sad'); PREPARE m (mood) AS SELECT $1");
    assert_eq!(sql.rows("EXECUTE m('sad')"), ["sad"]);
}

#[test]
fn execute_keeps_the_columns_that_prepare_told() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1)");
    sql.run("PREPARE p AS SELECT * FROM t; PREPARE q AS SELECT a FROM t");
    assert_eq!(sql.rows("EXECUTE p"), ["1"]);
    sql.run("ALTER TABLE t ADD COLUMN b INT");
    let error = sql.error("EXECUTE p");
    assert_eq!(error.sqlstate, "0A000");
    assert_eq!(error.message, "cached plan must not change result type");
    assert_eq!(sql.rows("EXECUTE q"), ["1"]);
    sql.run("ALTER TABLE t ALTER COLUMN a TYPE TEXT");
    assert_eq!(sql.state("EXECUTE q"), "0A000");
    sql.run("DEALLOCATE q; PREPARE q AS SELECT a FROM t");
    assert_eq!(sql.rows("EXECUTE q"), ["1"]);
}

#[test]
fn moments_of_prepared_statements_are_read_at_prepare() {
    let sql = Sql::new();
    sql.run("SET TIME ZONE 'UTC'");
    sql.run(
        "PREPARE p AS SELECT '2000-01-01 18:05:10.123'::timestamptz::text, timestamptz 'nonsense'",
    );
    sql.run("PREPARE q AS SELECT '2000-01-01 18:05:10.123'::timestamptz::text");
    sql.run("PREPARE r AS SELECT (timestamp with time zone '1999-06-01')::text");
    sql.run("SET TIME ZONE 'EST'");
    assert_eq!(sql.rows("EXECUTE q"), ["2000-01-01 13:05:10.123-05"]);
    assert_eq!(sql.rows("EXECUTE r"), ["1999-05-31 19:00:00-05"]);
    assert_eq!(sql.state("EXECUTE p"), "22007");
}

#[test]
fn types_of_parameters_are_those_of_what_they_are_compared_with() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (n NAME, c CHAR(3), v VARCHAR(5), d DATE)");
    for (name, statement) in [
        (
            "a",
            "AS SELECT * FROM t WHERE n = $1 AND c = $2 AND v = $3 AND d = $4",
        ),
        ("b(unknown, int, unknown)", "AS SELECT $1 + 1, $2, $3"),
        ("c", "AS INSERT INTO t VALUES ($1, $2, $3, $4)"),
        ("d(unknown)", "AS UPDATE t SET n = $1 WHERE c IN ($2, 'a')"),
        (
            "e",
            "AS SELECT coalesce($1, v), CASE WHEN $2 THEN v ELSE $3 END, greatest(n, $4) FROM t",
        ),
    ] {
        sql.run(&format!("PREPARE {name} {statement}"));
    }
    assert_eq!(
        sql.rows_of_one_engine(
            "SELECT name, parameter_types FROM pg_prepared_statements ORDER BY 1"
        ),
        [
            "a|{name,character,text,date}",
            "b|{integer,integer,text}",
            "c|{name,character,\"character varying\",date}",
            "d|{name,character}",
            "e|{\"character varying\",boolean,\"character varying\",name}",
        ]
    );
    sql.run("EXECUTE c ('n', 'c', 'v', '2020-01-01')");
    assert_eq!(
        sql.rows("EXECUTE a ('n', 'c', 'v', '2020-01-01')"),
        ["n|c  |v|2020-01-01"]
    );
    assert_eq!(sql.rows("EXECUTE b (1, 2, 'x')"), ["2|2|x"]);
}

#[test]
fn a_parameter_has_no_name() {
    let sql = Sql::new();
    sql.run("PREPARE p(int) AS SELECT $1, ($1), $1 AS x, $1 + 1, $1::int");
    assert_eq!(
        sql.names("EXECUTE p(3)"),
        ["?column?", "?column?", "x", "?column?", "int4"]
    );
    sql.run("PREPARE w(int) AS WITH q AS (SELECT $1) SELECT * FROM q");
    assert_eq!(sql.names("EXECUTE w(3)"), ["?column?"]);
}

#[test]
fn a_statement_that_returns_other_columns_by_now_changes_no_row() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT); PREPARE p AS INSERT INTO t VALUES ($1) RETURNING *");
    assert_eq!(sql.rows("EXECUTE p(1)"), ["1"]);
    sql.run("ALTER TABLE t ADD COLUMN b INT");
    assert_eq!(sql.state("EXECUTE p(2)"), "0A000");
    assert_eq!(sql.rows("SELECT * FROM t"), ["1|NULL"]);
}

/// Bounds that are computed of parameters find rows by keys, and fail as they do elsewhere.
#[test]
fn bounds_are_computed_of_parameters() {
    let sql = Sql::new();
    let runtime = runtime();
    sql.run("CREATE TABLE t (a integer, b integer, v integer, PRIMARY KEY (a, b))");
    sql.run("INSERT INTO t SELECT i / 1000, i % 1000, i % 7 FROM generate_series(0, 29999) s (i)");
    let prepared = sql.session.prepare(
        "SELECT count(*), count(DISTINCT v), min(b) FROM t WHERE a = $1 AND b < $2 AND b >= $2 - 20",
    );
    let prepared = prepared.unwrap();
    let open = sql
        .session
        .prepare("SELECT b FROM t WHERE a = $1 AND b >= $2 - 20");
    let open = open.unwrap();
    let run = |a: i64, b: Parameter| {
        let rows = runtime.block_on(prepared.rows(&sql.session, &[a.into(), b]));
        rows.map(|rows| {
            let row = rows[0].iter().map(|value| match value {
                Some(Value::Int(value)) => *value,
                _ => -1,
            });
            row.collect::<Vec<i128>>()
        })
    };
    for _ in 0..3 {
        assert_eq!(run(3, 500.into()).unwrap(), [20, 7, 480]);
        assert_eq!(run(3, 5.into()).unwrap(), [5, 5, 0]);
        assert_eq!(run(40, 5.into()).unwrap(), [0, 0, -1]);
        assert_eq!(run(3, Parameter::Null).unwrap(), [0, 0, -1]);
        let beyond = [3.into(), i64::from(i32::MIN).into()];
        let failed = runtime.block_on(open.rows(&sql.session, &beyond));
        assert_eq!(failed.unwrap_err().sqlstate, "22003");
        sql.run(
            "UPDATE t SET v = v + 7 WHERE a = 3 AND b % 2 = 0; UPDATE t SET v = v - 7 WHERE v > 6",
        );
    }
}

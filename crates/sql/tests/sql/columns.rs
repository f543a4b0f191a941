//! Columns of the types that the language front alone reads and writes: NUMERIC without
//! digits, JSONB, TIME WITH TIME ZONE and arrays.

use crate::support::{LAYOUTS, Sql};

/// 1 and a hundred zeros.
fn huge() -> String {
    format!("1{}", "0".repeat(100))
}

#[test]
fn numerics_are_kept_as_they_are() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        sql.run(&format!(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, n NUMERIC) WITH (layout = '{layout}')"
        ));
        sql.run(
            "INSERT INTO t VALUES (1, 0.000000000012345), (2, 1e100), (3, 'NaN'), (4, NULL),
             (5, -1.50), (6, 1 + 1.25)",
        );
        let all = || sql.rows("SELECT n FROM t ORDER BY id");
        let huge = huge();
        let expected = ["0.000000000012345", &huge, "NaN", "NULL", "-1.50", "2.25"];
        assert_eq!(all(), expected, "{layout}");
        // Equal numbers are equal whatever their scale; NaN is the greatest.
        assert_eq!(sql.rows("SELECT id FROM t WHERE n = -1.5"), ["5"]);
        assert_eq!(sql.rows("SELECT id FROM t WHERE n > 1000"), ["2", "3"]);
        assert_eq!(
            sql.rows("SELECT id FROM t WHERE n IS NOT NULL ORDER BY n"),
            ["5", "1", "6", "2", "3"]
        );
        assert_eq!(sql.run("UPDATE t SET n = n * 2 WHERE id = 5"), "UPDATE 1");
        assert_eq!(sql.run("UPDATE t SET n = 7 WHERE n < 0"), "UPDATE 1");
        assert_eq!(sql.rows("SELECT n FROM t WHERE id = 5"), ["7"]);
        assert_eq!(
            sql.rows("INSERT INTO t VALUES (7, 2.500) RETURNING id, n, n + 1 AS more"),
            ["7|2.500|3.500"]
        );
        assert_eq!(
            sql.rows("DELETE FROM t WHERE n = 2.5 RETURNING *"),
            ["7|2.500"]
        );
    }
}

#[test]
fn numerics_of_different_scales_are_one_group() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (n NUMERIC); INSERT INTO t VALUES (1.0), (1.00), (1), (2)");
    assert_eq!(sql.sorted("SELECT count(*) FROM t GROUP BY n"), ["1", "3"]);
    assert_eq!(sql.one("SELECT count(DISTINCT n) FROM t"), "2");
    assert_eq!(sql.one("SELECT sum(n) FROM t"), "5.00");
    assert_eq!(
        sql.one("SELECT count(*) FROM t AS a JOIN t AS b ON a.n = b.n"),
        "10"
    );
}

#[test]
fn arrays_are_kept_with_nulls_and_quotes() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        sql.run(&format!(
            "CREATE TABLE t (id INTEGER, i INTEGER[], s TEXT[], m INTEGER[][], n NUMERIC[])
             WITH (layout = '{layout}')"
        ));
        sql.run(
            r#"INSERT INTO t VALUES
               (1, '{1,NULL,3}', ARRAY['a b', NULL, 'NULL', '', 'q"\'], '{{1,2},{3,4}}', '{1.50}'),
               (2, ARRAY[]::INTEGER[], '{}', NULL, ARRAY[0.1, 1e30]),
               (3, NULL, NULL, NULL, NULL)"#,
        );
        let all = "SELECT i::text, s::text, m::text, n::text FROM t ORDER BY id";
        let expected = [
            r#"{1,NULL,3}|{"a b",NULL,"NULL","","q\"\\"}|{{1,2},{3,4}}|{1.50}"#,
            "{}|{}|NULL|{0.1,1000000000000000000000000000000}",
            "NULL|NULL|NULL|NULL",
        ];
        assert_eq!(sql.rows(all), expected, "{layout}");
        assert_eq!(sql.one("SELECT i[3] FROM t WHERE i = '{1,NULL,3}'"), "3");
        assert_eq!(sql.one("SELECT id FROM t WHERE 3 = ANY (i)"), "1");
        assert_eq!(sql.one("SELECT m[2][1] FROM t WHERE id = 1"), "3");
        sql.run("UPDATE t SET i = i || 9 WHERE id < 3");
        assert_eq!(
            sql.rows("SELECT i::text FROM t ORDER BY id"),
            ["{1,NULL,3,9}", "{9}", "NULL"]
        );
    }
    let sql = Sql::new();
    sql.run("CREATE TABLE t (i INTEGER[])");
    assert_eq!(
        sql.error("INSERT INTO t VALUES ('{1,x}')").sqlstate,
        "22P02"
    );
    assert_eq!(sql.error("INSERT INTO t VALUES ('1')").sqlstate, "22P02");
}

#[test]
fn arrays_of_any_dimensions_are_kept_and_shown() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (id INTEGER, a INTEGER[])");
    sql.run(
        "INSERT INTO t VALUES (1, '{1,2}'), (2, '[2:3]={1,2}'), (3, ARRAY[[1, 2], [3, 4]]),
         (4, '{}'), (5, NULL)",
    );
    let expected = ["{1,2}", "[2:3]={1,2}", "{{1,2},{3,4}}", "{}", "NULL"];
    assert_eq!(sql.rows("SELECT a FROM t ORDER BY id"), expected);
    sql.run("CREATE TABLE u AS SELECT * FROM t; INSERT INTO u SELECT id + 5, a FROM t");
    sql.run("UPDATE u SET a = (SELECT a FROM t WHERE id = 3) WHERE id = 6");
    assert_eq!(sql.one("SELECT a FROM u WHERE id = 6"), "{{1,2},{3,4}}");
    assert_eq!(
        sql.rows("SELECT a FROM u WHERE id < 6 ORDER BY id"),
        expected
    );
    sql.run("ALTER TABLE u ALTER COLUMN a TYPE TEXT[]");
    assert_eq!(
        sql.rows("SELECT a FROM u WHERE id < 6 ORDER BY id"),
        expected
    );
    for (query, shown) in [
        ("ARRAY[[1.50, NULL]]", "{{1.50,NULL}}"),
        ("ARRAY['a'::char(3)]", r#"{"a  "}"#),
        ("ARRAY[[true], [false]]", "{{t},{f}}"),
        ("row(ARRAY[[1, 2]], 3)", r#"("{{1,2}}",3)"#),
    ] {
        assert_eq!(sql.one(&format!("SELECT {query}")), shown);
    }
    assert_eq!(
        sql.one("SELECT array_agg(a) FROM (VALUES (ARRAY[1, 2]), (ARRAY[3, 4])) AS v (a)"),
        "{{1,2},{3,4}}"
    );
    sql.run("CREATE TABLE n (n NUMERIC[])");
    assert_eq!(
        sql.rows(
            "WITH new AS (INSERT INTO n VALUES ('{{1.50},{2}}') RETURNING n)
             SELECT n, n[2][1] + 1 FROM new"
        ),
        ["{{1.50},{2}}|3"]
    );
}

#[test]
fn files_keep_dimensions_that_columns_say() {
    let folder = tempfile::tempdir().unwrap();
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (a INTEGER[][]); INSERT INTO t VALUES ('{{1,2},{3,4}}'), (NULL), ('{}')",
    );
    let path = folder.path().join("t.parquet").display().to_string();
    assert_eq!(sql.run(&format!("COPY t TO '{path}'")), "COPY 3");
    sql.run("CREATE TABLE u (a INTEGER[])");
    assert_eq!(sql.run(&format!("COPY u FROM '{path}'")), "COPY 3");
    assert_eq!(sql.sorted("SELECT a FROM u"), sql.sorted("SELECT a FROM t"));
    // A list of Arrow has dimensions that are known before its values.
    let error = sql.error(&format!("COPY u TO '{path}'"));
    assert_eq!(error.sqlstate, "0A000", "{error}");
}

#[test]
fn jsonb_is_in_normal_form_and_json_is_not() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (j JSON, b JSONB)");
    let text = r#"{"b" : 1.0,  "a":[1, 2 ], "b": 2}"#;
    sql.run(&format!("INSERT INTO t VALUES ('{text}', '{text}')"));
    assert_eq!(sql.one("SELECT j FROM t"), text);
    assert_eq!(sql.one("SELECT b FROM t"), r#"{"a": [1, 2], "b": 2}"#);
    assert_eq!(sql.one("SELECT b -> 'a' -> 1 FROM t"), "2");
    assert_eq!(
        sql.one("SELECT count(*) FROM t WHERE b @> '{\"b\": 2.0}'"),
        "1"
    );
    sql.run("UPDATE t SET b = b || '{\"c\": null}'");
    assert_eq!(
        sql.one("SELECT b FROM t"),
        r#"{"a": [1, 2], "b": 2, "c": null}"#
    );
    for column in ["j", "b"] {
        let error = sql.error(&format!("INSERT INTO t ({column}) VALUES ('{{x')"));
        assert_eq!(error.sqlstate, "22P02", "{error}");
    }
}

#[test]
fn times_with_zones_are_kept() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a TIME WITH TIME ZONE, b TIMETZ)");
    sql.run("INSERT INTO t VALUES ('12:30:00.5+02', '01:00-05:30')");
    assert_eq!(
        sql.rows("SELECT a::text, b::text FROM t WHERE a > b AND a = '12:30:00.50+02:00'"),
        ["12:30:00.5+02|01:00:00-05:30"]
    );
}

#[test]
fn files_keep_the_types() {
    let folder = tempfile::tempdir().unwrap();
    let sql = Sql::new();
    let columns = "(n NUMERIC, i INTEGER[], s TEXT[], b JSONB, z TIMETZ)";
    sql.run(&format!("CREATE TABLE t {columns}"));
    sql.run(
        r#"INSERT INTO t VALUES
           (1e40, '{1,NULL}', ARRAY['a,b', 'c"d', NULL], '{"a": "x,y"}', '01:02:03+04'),
           (-0.10, '{}', '{}', '[]', '00:00+00'),
           (NULL, NULL, NULL, NULL, NULL)"#,
    );
    let all = "SELECT n, i::text, s::text, b, z::text FROM";
    let rows = sql.sorted(&format!("{all} t"));
    for file in ["t.csv", "t.parquet"] {
        let path = folder.path().join(file).display().to_string();
        assert_eq!(sql.run(&format!("COPY t TO '{path}'")), "COPY 3");
        sql.run(&format!("CREATE OR REPLACE TABLE u {columns}"));
        assert_eq!(sql.run(&format!("COPY u FROM '{path}'")), "COPY 3");
        assert_eq!(sql.sorted(&format!("{all} u")), rows, "{file}");
    }
    let csv = std::fs::read_to_string(folder.path().join("t.csv")).unwrap();
    assert!(csv.contains(r#""{1,NULL}""#), "{csv}");
}

#[test]
fn columns_are_added_and_change_their_types() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (id INTEGER); INSERT INTO t VALUES (1), (2)");
    sql.run("ALTER TABLE t ADD COLUMN n NUMERIC DEFAULT 1.10");
    sql.run("ALTER TABLE t ADD COLUMN l INTEGER[] DEFAULT '{1,2}'");
    sql.run("ALTER TABLE t ADD COLUMN b JSONB DEFAULT '{\"a\":1}'");
    sql.run("INSERT INTO t (id) VALUES (3)");
    let row = |id: u32| format!("{id}|1.10|{{1,2}}|{{\"a\": 1}}");
    assert_eq!(
        sql.rows("SELECT id, n, l::text, b FROM t ORDER BY id"),
        [row(1), row(2), row(3)]
    );
    sql.run("ALTER TABLE t ALTER COLUMN n TYPE DECIMAL(5,1)");
    sql.run("ALTER TABLE t ALTER COLUMN l TYPE TEXT[]");
    assert_eq!(
        sql.rows("SELECT n, array_append(l, 'x')::text FROM t WHERE id = 1"),
        ["1.1|{1,2,x}"]
    );
    sql.run("ALTER TABLE t ALTER COLUMN n TYPE NUMERIC");
    assert_eq!(sql.one("SELECT n FROM t WHERE id = 3"), "1.1");
}

#[test]
fn tables_of_queries_have_the_types_of_the_front() {
    let sql = Sql::new();
    sql.run("CREATE TABLE s (x INTEGER); INSERT INTO s VALUES (1), (2), (2)");
    sql.run("CREATE TABLE t AS SELECT array[1, 2] AS l, avg(x) AS a, '{}'::jsonb AS b FROM s");
    assert_eq!(
        sql.rows("SELECT l::text, a, b FROM t"),
        ["{1,2}|1.6666666666666667|{}"]
    );
    assert_eq!(
        sql.rows(
            "SELECT column_name, data_type, numeric_precision FROM information_schema.columns
             WHERE table_name = 't' ORDER BY ordinal_position"
        ),
        ["l|ARRAY|NULL", "a|numeric|NULL", "b|jsonb|NULL"]
    );
    assert_eq!(
        sql.rows(
            "SELECT attname, atttypid, atttypmod FROM pg_attribute
             WHERE attrelid = (SELECT oid FROM pg_class WHERE relname = 't') AND attnum > 0 ORDER BY attnum"
        ),
        ["l|1007|-1", "a|1700|-1", "b|3802|-1"]
    );
}

#[test]
fn checks_and_conflicts_know_the_types() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (id INTEGER PRIMARY KEY, n NUMERIC CHECK (n > 0), l INTEGER[])");
    assert_eq!(
        sql.error("INSERT INTO t VALUES (1, -1, NULL)").sqlstate,
        "23514"
    );
    sql.run("INSERT INTO t VALUES (1, 0.5, '{1}')");
    sql.run(
        "INSERT INTO t VALUES (1, 2, '{2}')
         ON CONFLICT (id) DO UPDATE SET n = t.n + excluded.n, l = t.l || excluded.l",
    );
    assert_eq!(sql.one("SELECT n, l::text FROM t"), "2.5|{1,2}");
}

#[test]
fn keys_of_these_types_are_refused() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (id INTEGER, n NUMERIC, l INTEGER[], b JSONB, z TIMETZ)");
    for statement in [
        "CREATE TABLE u (n NUMERIC PRIMARY KEY)",
        "CREATE TABLE u (n NUMERIC UNIQUE)",
        "CREATE TABLE u (a INTEGER, l INTEGER[], UNIQUE (a, l))",
        "CREATE TABLE u (n NUMERIC) WITH (sort_by = 'n')",
        "CREATE INDEX i ON t (n)",
        "CREATE INDEX i ON t (id, l)",
        "CREATE UNIQUE INDEX i ON t (b)",
        "ALTER TABLE t ADD UNIQUE (z)",
    ] {
        assert_eq!(sql.error(statement).sqlstate, "0A000", "{statement}");
    }
}

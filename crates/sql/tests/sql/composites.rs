//! Composite types: their fields, columns of them, their comparisons and what the catalog says.

use crate::support::{LAYOUTS, Sql};

/// A table with records and arrays of them, in a layout.
fn table(layout: &str) -> Sql {
    let sql = Sql::new();
    sql.run(&format!(
        "CREATE TYPE c AS (a INT, b TEXT);
         CREATE TABLE t (id INT, r c, rs c[]) WITH (layout = '{layout}');
         INSERT INTO t VALUES (1, ROW(1,'x'), ARRAY[ROW(1,'p')::c, ROW(2,'q q')::c]);
         INSERT INTO t VALUES (2, '(2,\"a b\\\\\"\"c,\")', '{{\"(3,\\\"x,y\\\")\"}}'), (3, NULL, NULL),
           (4, ROW(NULL, NULL), '{{}}')"
    ));
    sql
}

#[test]
fn columns_hold_records() {
    for layout in LAYOUTS {
        let sql = table(layout);
        sql.run("VACUUM t");
        for (query, rows) in [
            (
                "SELECT id, r::text, rs::text FROM t ORDER BY id",
                [
                    r#"1|(1,x)|{"(1,p)","(2,\"q q\")"}"#,
                    r#"2|(2,"a b\\""c,")|{"(3,\"x,y\")"}"#,
                    "3|NULL|NULL",
                    "4|(,)|{}",
                ]
                .as_slice(),
            ),
            (
                "SELECT (r).b, (t.r).a, (rs[1]).b FROM t ORDER BY id",
                &[
                    r"x|1|p",
                    r#"a b\"c,|2|x,y"#,
                    "NULL|NULL|NULL",
                    "NULL|NULL|NULL",
                ],
            ),
            ("SELECT (r).* FROM t WHERE (r).a = 1", &["1|x"]),
            ("SELECT id FROM t WHERE r IS NULL ORDER BY id", &["3", "4"]),
            (
                "SELECT id FROM t WHERE r IS NOT NULL ORDER BY id",
                &["1", "2"],
            ),
            ("SELECT id FROM t WHERE r = ROW(1,'x')::c", &["1"]),
            (
                "SELECT id FROM t WHERE r IN (ROW(1,'x')::c, '(,)') ORDER BY id",
                &["1", "4"],
            ),
            (
                "SELECT id FROM t WHERE r = ANY (ARRAY[ROW(2,'z')::c, ROW(1,'x')::c])",
                &["1"],
            ),
            ("SELECT id FROM t ORDER BY r DESC", &["3", "4", "2", "1"]),
            (
                "SELECT r::text AS x, count(*) FROM (SELECT r FROM t UNION ALL SELECT ROW(1,'x')) q GROUP BY r ORDER BY r",
                &["(1,x)|2", r#"(2,"a b\\""c,")|1"#, "(,)|1", "NULL|1"],
            ),
            (
                "SELECT x.id FROM t x JOIN t y USING (r) ORDER BY 1",
                &["1", "2", "4"],
            ),
            (
                "SELECT u.a, u.b, id FROM t, unnest(rs) u ORDER BY 1",
                &["1|p|1", "2|q q|1", "3|x,y|2"],
            ),
            (
                "SELECT to_jsonb(r)::text, row_to_json(rs[1])::text FROM t WHERE id = 1",
                &[r#"{"a": 1, "b": "x"}|{"a":1,"b":"p"}"#],
            ),
            (
                "SELECT (json_populate_record(r, '{\"b\":\"new\"}')).* FROM t ORDER BY id LIMIT 1",
                &["1|new"],
            ),
            (
                "SELECT array_agg(r ORDER BY id)::text FROM t WHERE id < 2",
                &[r#"{"(1,x)"}"#],
            ),
            (
                "SELECT pg_typeof(r)::text, pg_typeof(rs)::text FROM t LIMIT 1",
                &["c|c[]"],
            ),
            (
                "SELECT coalesce(r, ROW(0,'none')::c)::text FROM t WHERE id > 2 ORDER BY id",
                &["(0,none)", "(,)"],
            ),
        ] {
            assert_eq!(sql.rows(query), rows, "{layout}: {query}");
        }
        sql.run("CREATE TABLE s AS SELECT r, rs, id FROM t");
        sql.run("INSERT INTO s SELECT r, rs, id + 10 FROM t");
        sql.run("DELETE FROM s WHERE r = ROW(1,'x')::c");
        assert_eq!(sql.one("SELECT count((r).a) FROM s"), "2");
        assert_eq!(sql.one("SELECT pg_typeof(rs)::text FROM s LIMIT 1"), "c[]");
    }
}

#[test]
fn records_are_stored_in_one_form_and_as_their_fields_allow() {
    let sql = Sql::new();
    sql.run(
        "CREATE TYPE c AS (a INT, b TEXT);
         CREATE TYPE e AS ENUM ('x', 'y');
         CREATE TYPE n AS (k c, e e, ks c[], v VARCHAR(3), d DATE, num NUMERIC(5,2), ch CHAR(4),
           ts TIMESTAMP(0), f FLOAT8, bl BOOL, j JSONB, bb BYTEA, z NUMERIC);
         CREATE TABLE t (id INT, n n)",
    );
    sql.run(
        "INSERT INTO t VALUES (1, ROW(ROW(1,'i'), 'x', ARRAY[ROW(2,'j')::c], 'abc', '2024-01-02',
           1.239, 'ab', '2024-01-02 03:04:05.678', 1.5, true, '{\"b\":1, \"a\":[1, 2]}', '\\x0102', 1.50))",
    );
    sql.run("INSERT INTO t VALUES (2, '( \"(1,i)\" ,x,,abc   ,,12,ab,,nan,f,,,)')");
    // Within texts blanks count.
    assert_eq!(
        sql.state("INSERT INTO t VALUES (3, '(\"(a,i)\",x,,,,,,,,,,,)')"),
        "22P02"
    );
    assert_eq!(
        sql.rows("SELECT n::text FROM t WHERE id = 1"),
        [
            r#"("(1,i)",x,"{""(2,j)""}",abc,2024-01-02,1.24,"ab  ","2024-01-02 03:04:06",1.5,t,"{""a"": [1, 2], ""b"": 1}","\\x0102",1.50)"#
        ]
    );
    assert_eq!(
        sql.rows("SELECT ((n).k).a, ((n).ks)[1].b, (n).e, (n).num, n = n FROM t ORDER BY id"),
        ["1|j|x|1.24|true", "1|NULL|x|12.00|true"]
    );
    for (value, state) in [
        (
            "ROW(NULL,'z',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL)",
            "22P02",
        ),
        (
            "ROW(NULL,NULL,NULL,'abcd',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL)",
            "22001",
        ),
        (
            "ROW(NULL,NULL,NULL,NULL,NULL,12345,NULL,NULL,NULL,NULL,NULL,NULL,NULL)",
            "22003",
        ),
        ("ROW(1,2)", "42846"),
        ("'(1,2)'", "22P02"),
        ("'x'", "22P02"),
        ("1", "42804"),
    ] {
        assert_eq!(
            sql.state(&format!("INSERT INTO t VALUES (9, {value})")),
            state,
            "{value}"
        );
    }
    sql.run(
        "CREATE TABLE d (x INT, r c DEFAULT ROW(1,'dflt'), g INT GENERATED ALWAYS AS ((r).a * 2) STORED,
           CHECK ((r).a > 0)); INSERT INTO d (x) VALUES (1)",
    );
    assert_eq!(
        sql.state("INSERT INTO d VALUES (2, ROW(-1,'neg'))"),
        "23514"
    );
    assert_eq!(sql.one("SELECT r::text || g FROM d"), "(1,dflt)2");
    sql.run("PREPARE p(c) AS SELECT ($1).a + 1; EXECUTE p('(3,x)')");
    assert_eq!(sql.state("CREATE TABLE k (r c PRIMARY KEY)"), "0A000");
    assert_eq!(sql.state("CREATE TABLE k (r d)"), "0A000");
}

#[test]
fn fields_get_values() {
    let sql = Sql::new();
    sql.run(
        "CREATE TYPE c AS (a INT, b VARCHAR(3));
         CREATE TYPE d AS (k c, ks c[], n INT[]);
         CREATE TABLE t (id INT PRIMARY KEY, r c, rs c[], x d);
         INSERT INTO t (id, r.a, r.b) VALUES (1, 5, 'abc'), (2, 6, NULL);
         INSERT INTO t (id, rs[1].a, rs[2].b) VALUES (3, 7, 'q');
         INSERT INTO t (id, x.k.a, x.ks[2].b, x.n[3]) VALUES (4, 1, 'zz', 9);
         INSERT INTO t (id, r.a) SELECT 5, 50",
    );
    let all = "SELECT id, r::text, rs::text, x::text FROM t ORDER BY id";
    assert_eq!(
        sql.rows(all),
        [
            "1|(5,abc)|NULL|NULL",
            "2|(6,)|NULL|NULL",
            r#"3|NULL|{"(7,)","(,q)"}|NULL"#,
            r#"4|NULL|NULL|("(1,)","[2:2]={""(,zz)""}",[3:3]={9})"#,
            "5|(50,)|NULL|NULL"
        ]
    );
    sql.run(
        "UPDATE t SET r.a = (r).a + 1, r.b = 'z' WHERE id <= 2;
         UPDATE t SET rs[1].b = 'n', rs[3].a = id WHERE id = 3;
         UPDATE t SET x.k.b = 'kb', x.ks[1].a = 3, x.n[1] = 0 WHERE id >= 4;
         INSERT INTO t (id, r.a) VALUES (1, 77) ON CONFLICT (id) DO UPDATE SET r.b = 'cf';
         MERGE INTO t USING (VALUES (2, 11)) v(i, w) ON t.id = v.i WHEN MATCHED THEN UPDATE SET r.a = w;
         UPDATE t SET t.r = ROW(51, 'y') WHERE id = 5",
    );
    assert_eq!(
        sql.rows(all),
        [
            "1|(6,cf)|NULL|NULL",
            "2|(11,z)|NULL|NULL",
            r#"3|NULL|{"(7,n)","(,q)","(3,)"}|NULL"#,
            r#"4|NULL|NULL|("(1,kb)","{""(3,)"",""(,zz)""}","{0,NULL,9}")"#,
            r#"5|(51,y)|NULL|("(,kb)","{""(3,)""}",{0})"#
        ]
    );
    assert_eq!(
        sql.rows("UPDATE t SET r.a = NULL, r.b = NULL WHERE id = 1 RETURNING r::text, r IS NULL"),
        ["(,)|true"]
    );
    assert_eq!(
        sql.rows(
            "WITH q AS (UPDATE t SET r.a = 9 WHERE id = 2 RETURNING r) SELECT (r).a, (r).b FROM q"
        ),
        ["9|z"]
    );
    for (statement, state) in [
        ("INSERT INTO t (id, r.b) VALUES (6, 'abcd')", "22001"),
        ("INSERT INTO t (id, r.nosuch) VALUES (6, 1)", "42703"),
        ("INSERT INTO t (id, r.a, r) VALUES (6, 1, NULL)", "42701"),
        ("INSERT INTO t (id, r.a) VALUES (6, DEFAULT)", "0A000"),
        ("INSERT INTO t (id, r.a) VALUES (6, 'x'::text)", "42804"),
        ("UPDATE t SET r.b = 'toolong'", "22001"),
        ("UPDATE t SET r.nosuch = 1", "42703"),
        ("UPDATE t SET id.f = 1", "42804"),
        ("UPDATE t SET r.a = 'x'", "22P02"),
        ("UPDATE t SET (r.a, id) = (1, 2)", "0A000"),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
}

#[test]
fn domains_reach_into_arrays_and_over_records() {
    let sql = Sql::new();
    sql.run(
        "CREATE TYPE c AS (a INT, b TEXT);
         CREATE DOMAIN pos AS INT CHECK (VALUE > 0);
         CREATE DOMAIN cd AS c CHECK ((VALUE).a > 0) NOT NULL;
         CREATE TABLE t (id INT, p pos[], c cd, ps pos[] DEFAULT '{7}');
         INSERT INTO t VALUES (1, '{1,2}', ROW(1,'x'));
         INSERT INTO t VALUES (6, ARRAY[[1,2],[3,4]], '(3,z)', ARRAY[NULL]::INT[])",
    );
    for (statement, state) in [
        ("INSERT INTO t VALUES (2, '{1,-2}', ROW(1,'x'))", "23514"),
        ("INSERT INTO t VALUES (4, NULL, ROW(0,'x'))", "23514"),
        ("INSERT INTO t VALUES (4, NULL, NULL)", "23502"),
        (
            "INSERT INTO t VALUES (5, '{}', ROW(1,'y'), '{-1}')",
            "23514",
        ),
        ("UPDATE t SET p[1] = -5 WHERE id = 1", "23514"),
        ("UPDATE t SET c.a = -1 WHERE id = 1", "23514"),
        ("SELECT ARRAY[1,-1]::pos[]", "23514"),
        ("SELECT '{1,-1}'::pos[]", "23514"),
        ("SELECT ROW(-1,'x')::cd", "23514"),
        ("ALTER DOMAIN pos ADD CHECK (VALUE < 4)", "23514"),
        ("DROP DOMAIN pos", "2BP01"),
        ("DROP TYPE c", "2BP01"),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
    sql.run("UPDATE t SET c.a = 8, p[1] = 5 WHERE id = 1");
    assert_eq!(
        sql.rows("SELECT id, p::text, c::text, ps::text FROM t ORDER BY id"),
        ["1|{5,2}|(8,x)|{7}", "6|{{1,2},{3,4}}|(3,z)|{NULL}"]
    );
    assert_eq!(
        sql.rows(
            "SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 't'::regclass
             AND attnum > 1 ORDER BY attnum"
        ),
        ["p|pos[]", "c|cd", "ps|pos[]"]
    );
    sql.run("ALTER DOMAIN pos ADD CHECK (VALUE < 10)");
    assert_eq!(
        sql.state("INSERT INTO t VALUES (7, '{12}', ROW(1,'x'))"),
        "23514"
    );
    sql.run("DROP DOMAIN pos CASCADE");
    assert_eq!(
        sql.rows("SELECT id, c::text FROM t WHERE id = 1"),
        ["1|(8,x)"]
    );
}

#[test]
fn types_change_while_no_column_has_their_records() {
    let sql = Sql::new();
    sql.run(
        "CREATE TYPE f AS (q INT);
         ALTER TYPE f ADD ATTRIBUTE z INT, ADD ATTRIBUTE w TEXT;
         ALTER TYPE f DROP ATTRIBUTE q, ALTER ATTRIBUTE z SET DATA TYPE TEXT, DROP ATTRIBUTE w;
         ALTER TYPE f DROP ATTRIBUTE IF EXISTS q",
    );
    sql.run("ALTER TYPE f RENAME ATTRIBUTE z TO y CASCADE");
    assert_eq!(sql.one("SELECT ('(x)'::f).y"), "x");
    sql.run(
        "CREATE TYPE d AS (k f, ks f[]);
         CREATE TABLE t (r d); INSERT INTO t VALUES (ROW(ROW('in'), NULL));
         ALTER TYPE f RENAME ATTRIBUTE y TO renamed; ALTER TYPE f RENAME TO ff",
    );
    assert_eq!(
        sql.rows("SELECT ((r).k).renamed, pg_typeof((r).k)::text FROM t"),
        ["in|ff"]
    );
    for (statement, state) in [
        ("ALTER TYPE ff ADD ATTRIBUTE n INT", "0A000"),
        ("ALTER TYPE d DROP ATTRIBUTE k", "0A000"),
        ("ALTER TYPE ff RENAME ATTRIBUTE nope TO y", "42703"),
        ("ALTER TYPE ff RENAME ATTRIBUTE renamed TO renamed", "42701"),
        ("DROP TYPE ff", "2BP01"),
        ("DROP TYPE ff CASCADE", "0A000"),
        ("CREATE TYPE ff AS (a INT)", "42710"),
        ("CREATE TYPE g AS (a INT, a INT)", "42701"),
        ("CREATE TYPE g AS (a nosuch)", "42704"),
        ("CREATE TYPE g AS (a SERIAL)", "42704"),
        ("ALTER TYPE nosuch ADD ATTRIBUTE a INT", "42704"),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
    sql.run("CREATE TYPE g AS (a INT); CREATE TYPE e AS ENUM ('l'); CREATE TYPE h AS (e e)");
    for (statement, state) in [
        ("ALTER TYPE g ADD ATTRIBUTE g g[]", "42P16"),
        ("ALTER TYPE g ADD ATTRIBUTE a INT", "42701"),
        ("ALTER TYPE g DROP ATTRIBUTE b", "42703"),
        ("ALTER TYPE e ADD ATTRIBUTE a INT", "42809"),
        ("DROP TYPE e", "2BP01"),
        ("ALTER TYPE e RENAME VALUE 'l' TO 'm'", "0A000"),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
    assert_eq!(
        sql.rows(
            "SELECT relname, relkind, relnatts, reltype::regtype FROM pg_class
             WHERE relname IN ('d', 't') ORDER BY 1"
        ),
        ["d|c|2|d", "t|r|1|t"]
    );
    assert_eq!(
        sql.rows(
            "SELECT typname, typtype, typcategory, typrelid::regclass, typarray::regtype
             FROM pg_type WHERE typname IN ('d', 't') ORDER BY 1"
        ),
        ["d|c|C|d|d[]", "t|c|C|t|t[]"]
    );
    assert_eq!(
        sql.rows(
            "SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 'd'::regclass ORDER BY attnum"
        ),
        ["k|ff", "ks|ff[]"]
    );
    sql.run("DROP TABLE t; DROP TYPE d; DROP TYPE ff");
    assert_eq!(sql.state("SELECT NULL::ff"), "42704");
}

#[test]
fn records_of_types_are_compared_and_cast_by_them() {
    let sql = Sql::new();
    sql.run(
        "CREATE TYPE s1 AS (a INT, b TEXT); CREATE TYPE s2 AS (a INT, b TEXT);
         CREATE TABLE s (x s1, y s2); INSERT INTO s VALUES (ROW(1,'a'), ROW(1,'a'))",
    );
    for (query, wanted) in [
        ("SELECT x = y FROM s", "true"),
        ("SELECT x = ROW(1,'a'::text) FROM s", "true"),
        ("SELECT '(,)'::s1 IS NULL", "true"),
        (
            r#"SELECT (' ( 1 ,"a""b\c" ) '::s1)::text"#,
            r#"(1,"a""bc ")"#,
        ),
        ("SELECT (x.x).b FROM s x", "a"),
        (
            "SELECT jsonb_populate_record(x, '{\"b\":\"jb\"}')::text FROM s",
            "(1,jb)",
        ),
        ("SELECT ROW(x, y)::text FROM s", r#"("(1,a)","(1,a)")"#),
        (
            "SELECT ys::text FROM json_to_record('{\"ys\":[{\"a\":2}]}') AS q(x s1, ys s1[])",
            r#"{"(2,)"}"#,
        ),
        ("SELECT ROW(1,1.1) = ANY (ARRAY[ROW(1,1.10)])", "true"),
        (
            "SELECT string_agg(r::text, ' ' ORDER BY r) FROM (VALUES (ROW(1,1.5)), (ROW(0.25,1))) v(r)",
            "(0.25,1) (1,1.5)",
        ),
    ] {
        assert_eq!(sql.one(query), wanted, "{query}");
    }
    for (query, state) in [
        ("SELECT x::s2 FROM s", "42846"),
        ("SELECT coalesce(x, y) FROM s", "42846"),
        ("INSERT INTO s (y) SELECT x FROM s", "42804"),
        ("SELECT x = '(1,a)' FROM s", "0A000"),
        ("SELECT x = ROW(1, 2) FROM s", "42804"),
        ("SELECT '(1,2,3)'::s1", "22P02"),
        ("SELECT (s.x).nope FROM s", "42703"),
        (
            "SELECT r FROM (VALUES (ROW(1)), (ROW('x'::text))) v(r)",
            "0A000",
        ),
    ] {
        assert_eq!(sql.state(query), state, "{query}");
    }
}

#[test]
fn arrays_of_numbers_with_and_without_digits_meet() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (id INT, a NUMERIC(3,1)[], b NUMERIC[], n NUMERIC(5,2));
         INSERT INTO t VALUES (1, '{1.0,2.5}', '{1,2.50}', 1.5), (2, '{}', NULL, 2), (3, NULL, '{3}', 3.25)",
    );
    for (query, rows) in [
        (
            "SELECT x.id FROM t x JOIN t y ON x.a = y.b",
            ["1"].as_slice(),
        ),
        ("SELECT id FROM t WHERE a IN (SELECT b FROM t)", &["1"]),
        (
            "SELECT CASE a WHEN b THEN 'y' ELSE 'n' END FROM t ORDER BY id",
            &["y", "n", "n"],
        ),
        (
            "SELECT coalesce(b, a)::text FROM t ORDER BY id",
            &["{1,2.50}", "{}", "{3}"],
        ),
        (
            "SELECT (a || b)::text FROM t WHERE id = 1",
            &["{1.0,2.5,1,2.50}"],
        ),
        (
            "SELECT count(DISTINCT c) FROM (SELECT a c FROM t UNION SELECT b FROM t) q",
            &["3"],
        ),
        (
            "SELECT id FROM t WHERE ROW(a, id) IN (SELECT b, id FROM t)",
            &["1"],
        ),
    ] {
        assert_eq!(sql.rows(query), rows, "{query}");
    }
}

#[test]
fn records_are_copied_and_whole_rows_are_of_their_table() {
    let sql = table("column");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv").display().to_string();
    std::fs::write(&path, "5,\"( 5,now)\",\"{\"\"(6,x)\"\"}\"\n6,,\n").unwrap();
    sql.run(&format!("COPY t FROM '{path}'"));
    assert_eq!(
        sql.rows("SELECT r::text, rs::text FROM t WHERE id > 4 ORDER BY id"),
        ["(5,now)|{\"(6,x)\"}", "NULL|NULL"]
    );
    std::fs::write(&path, "7,\"(a,1)\",\n").unwrap();
    assert_eq!(sql.state(&format!("COPY t FROM '{path}'")), "22P02");
    sql.run(&format!(
        "COPY t TO '{path}'; CREATE TABLE u (id INT, r c, rs c[]); COPY u FROM '{path}'"
    ));
    assert_eq!(
        sql.sorted("SELECT t::text FROM t"),
        sql.sorted("SELECT u::text FROM u")
    );
    assert_eq!(
        sql.rows("SELECT t::text FROM t ORDER BY id LIMIT 1"),
        [r#"(1,"(1,x)","{""(1,p)"",""(2,\\""q q\\"")""}")"#]
    );
    assert_eq!(
        sql.rows("SELECT (NULL::t).id, (t.*::t).id FROM t WHERE id = 1"),
        ["NULL|1"]
    );
}

/// A session with domains, composite types of them and a table.
fn with_domains() -> Sql {
    let sql = Sql::new();
    sql.run(
        "CREATE DOMAIN d AS int CHECK (value > 0);
         CREATE DOMAIN dn AS text NOT NULL;
         CREATE DOMAIN da AS int[] CHECK (value[1] < 5);
         CREATE TYPE c AS (a d, b dn, x d[], y da);
         CREATE TYPE o AS (i int, c c, cs c[]);
         CREATE TYPE xy AS (x int, y int);
         CREATE DOMAIN pair AS xy CHECK ((value).x <= (value).y);
         CREATE TABLE t (id int, c c, cs c[])",
    );
    sql
}

#[test]
fn domains_of_fields_are_checked_where_records_are_made() {
    let sql = with_domains();
    for (query, row) in [
        (
            "SELECT ROW(1,'a',ARRAY[1,2],'{1}')::c",
            "(1,a,\"{1,2}\",{1})",
        ),
        ("SELECT NULL::c", "NULL"),
        (
            "SELECT json_populate_record(NULL::pair, '{\"x\": 0, \"y\": 1}')::text",
            "(0,1)",
        ),
        (
            "SELECT (ROW(1, NULL, '{\"(1,a,,)\"}')::o).cs",
            "{\"(1,a,,)\"}",
        ),
        (
            "SELECT * FROM json_populate_record(NULL::c, '{\"a\":1,\"b\":\"x\",\"x\":[1,2],\"y\":[4]}')",
            "1|x|{1,2}|{4}",
        ),
        (
            "SELECT * FROM jsonb_to_recordset('[{\"a\":1,\"b\":[1,2]}]') AS x (a d, b da)",
            "1|{1,2}",
        ),
        // A field of the base that is in no object is not made anew.
        (
            "SELECT (json_populate_record(ROW(1,'a',NULL,NULL)::c, '{\"a\":7}')).*",
            "7|a|NULL|NULL",
        ),
    ] {
        assert_eq!(sql.one(query), row, "{query}");
    }
    let (check, null) = (
        "value for domain d violates check constraint \"d_check\"",
        "domain dn does not allow null values",
    );
    let array = "value for domain da violates check constraint \"da_check\"";
    for (query, state, message) in [
        ("SELECT ROW(0,'a',NULL,NULL)::c", "23514", check),
        ("SELECT ROW(1,'a',ARRAY[1,-2],NULL)::c", "23514", check),
        ("SELECT ROW(1,'a',NULL,'{7}')::c", "23514", array),
        ("SELECT ROW(1,NULL,NULL,NULL)::c", "23502", null),
        ("SELECT '(1,,,)'::c", "23502", null),
        ("SELECT '(-1,a,,)'::text::c", "23514", check),
        ("SELECT '{\"(1,a,,)\",\"(0,b,,)\"}'::c[]", "23514", check),
        ("SELECT ROW(1,ROW(0,'a',NULL,NULL),NULL)::o", "23514", check),
        ("SELECT ROW(1,NULL,'{\"(1,,,)\"}')::o", "23502", null),
        (
            "SELECT * FROM json_populate_recordset(NULL::c, '[{\"a\":1,\"b\":5},{\"a\":2}]')",
            "23502",
            null,
        ),
        (
            "SELECT jsonb_populate_record(NULL::o, '{\"cs\":[{\"a\":-1,\"b\":\"q\"}]}')",
            "23514",
            check,
        ),
        (
            "SELECT * FROM json_to_record('{\"a\":0}') AS x (a d, b int)",
            "23514",
            check,
        ),
        (
            "SELECT json_populate_record(NULL::pair, '{\"x\": 1, \"y\": 0}')",
            "23514",
            "value for domain pair violates check constraint \"pair_check\"",
        ),
        (
            "SELECT x FROM jsonb_populate_record((NULL::pair), '{\"x\": 1, \"y\": 0}') q",
            "23514",
            "value for domain pair violates check constraint \"pair_check\"",
        ),
        (
            "SELECT json_populate_recordset(NULL::pair, '[{\"x\": 1, \"y\": 0}]')",
            "23514",
            "value for domain pair violates check constraint \"pair_check\"",
        ),
        (
            "SELECT * FROM json_populate_recordset(NULL::pair, '[{\"x\": 1, \"y\": 0}]')",
            "0A000",
            "json_populate_recordset of a domain in FROM is not supported",
        ),
        (
            "SELECT TRY_CAST('(0,a,,)' AS c)",
            "0A000",
            "TRY_CAST to a domain is not supported",
        ),
    ] {
        let error = sql.error(query);
        assert_eq!(
            (error.sqlstate.as_str(), error.message.as_str()),
            (state, message),
            "{query}"
        );
    }
}

#[test]
fn domains_of_fields_are_checked_where_records_are_stored() {
    let sql = with_domains();
    let folder = tempfile::tempdir().unwrap();
    sql.run("INSERT INTO t VALUES (1, ROW(1,'a',NULL,NULL), '{\"(2,b,,)\"}')");
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "2,\"(-4,a,,)\",\n").unwrap();
    let copy = format!("COPY t FROM '{}'", path.display());
    sql.run("PREPARE p AS INSERT INTO t VALUES (9, $1)");
    for (statement, state) in [
        ("INSERT INTO t VALUES (2, '(1,a,,{9})')", "23514"),
        ("INSERT INTO t (id, cs) VALUES (2, '{\"(1,,,)\"}')", "23502"),
        ("INSERT INTO t SELECT 2, '(0,a,,)'", "23514"),
        ("UPDATE t SET c.a = -3", "23514"),
        ("UPDATE t SET c.b = NULL", "23502"),
        ("UPDATE t SET cs[1].a = 0", "23514"),
        ("EXECUTE p('(-1,b,,)')", "23514"),
        (copy.as_str(), "23514"),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
    sql.run("UPDATE t SET c.a = 3; EXECUTE p('(4,b,,)')");
    assert_eq!(
        sql.rows("SELECT id, c::text, cs::text FROM t ORDER BY id"),
        ["1|(3,a,,)|{\"(2,b,,)\"}", "9|(4,b,,)|NULL"]
    );
    // Rows are not searched for records that break new conditions.
    for change in ["ADD CHECK (value > 1)", "SET NOT NULL"] {
        let error = sql.error(&format!("ALTER DOMAIN d {change}"));
        assert_eq!(error.sqlstate, "0A000");
        assert_eq!(
            error.message,
            "cannot alter type \"d\" because column \"t.c\" uses it"
        );
    }
    assert_eq!(sql.state("DROP DOMAIN d"), "2BP01");
    sql.run("ALTER DOMAIN dn DROP NOT NULL; INSERT INTO t VALUES (10, '(1,,,)')");
    assert_eq!(
        sql.rows(
            "SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 'c'::regclass \
             ORDER BY attnum"
        ),
        ["a|d", "b|dn", "x|d[]", "y|da"]
    );
}

#[test]
fn json_fills_records_as_their_input_functions_do() {
    let sql = Sql::new();
    sql.run(
        "CREATE TYPE s AS (x int, y text);
         CREATE TYPE k AS (a int[], t text[], v varchar(3), va varchar(3)[], b bit(3), r s, ra s[])",
    );
    let of = |column: &str, json: &str| {
        format!("SELECT {column}::text FROM json_populate_record(NULL::k, '{json}') q")
    };
    for (column, json, value) in [
        ("r", r#"{"r":"(1,b)"}"#, "(1,b)"),
        (
            "ra",
            r#"{"ra":["(1,b)",{"x":2},null]}"#,
            r#"{"(1,b)","(2,)",NULL}"#,
        ),
        ("t", r#"{"t":["a",["b"]]}"#, r#"{a,"[\"b\"]"}"#),
        ("v", r#"{"v":"abc  "}"#, "abc"),
    ] {
        assert_eq!(sql.one(&of(column, json)), value, "{json}");
    }
    for (column, json, state, hint) in [
        ("v", r#"{"v":"abcd"}"#, "22001", None),
        ("va", r#"{"va":["abc","1234"]}"#, "22001", None),
        ("b", r#"{"b":"1010"}"#, "22026", None),
        ("a", r#"{"a":[1,[2]]}"#, "22P02", None),
        ("r", r#"{"r":1}"#, "22023", None),
        (
            "t",
            r#"{"t":[[["a"],["b"]],[["c"],7]]}"#,
            "22P02",
            Some("See the array element [1][1] of key \"t\"."),
        ),
        (
            "t",
            r#"{"t":5}"#,
            "22P02",
            Some("See the value of key \"t\"."),
        ),
    ] {
        let error = sql.error(&of(column, json));
        assert_eq!(error.sqlstate, state, "{json}");
        if hint.is_some() {
            assert_eq!(error.hint.as_deref(), hint, "{json}");
        }
    }
    // Records in records are columns of their own, and keep the fields of their base.
    assert_eq!(
        sql.one(
            "SELECT r::text, r IS NULL FROM json_populate_record(
               ROW(NULL,NULL,NULL,NULL,NULL,ROW(1,'q'),NULL)::k, '{\"r\":{\"y\":2}}') q"
        ),
        "(1,2)|false"
    );
}

#[test]
fn rows_are_told_with_the_number_of_their_type() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (id INT, n TEXT); INSERT INTO t VALUES (1, 'a');
         CREATE VIEW v AS SELECT 42 AS x; CREATE TABLE one (a INT); INSERT INTO one VALUES (1);
         CREATE TYPE pair AS (a INT, b INT);
         CREATE FUNCTION first_row() RETURNS t LANGUAGE sql AS 'SELECT * FROM t';
         CREATE FUNCTION all_rows() RETURNS SETOF t LANGUAGE sql AS 'SELECT * FROM t';
         CREATE FUNCTION ones() RETURNS SETOF one LANGUAGE sql AS 'SELECT * FROM one';
         CREATE FUNCTION pairs() RETURNS SETOF pair LANGUAGE sql AS 'SELECT 1, 2'",
    );
    for (query, name) in [
        ("SELECT t FROM t", "t"),
        ("SELECT v FROM v", "v"),
        ("SELECT (SELECT v) FROM v", "v"),
        ("SELECT first_row()", "t"),
        ("SELECT all_rows()", "t"),
        ("SELECT f FROM all_rows() f", "t"),
        ("SELECT ones()", "one"),
        ("SELECT pairs()", "pair"),
        ("INSERT INTO t VALUES (2, 'b') RETURNING t", "t"),
        ("UPDATE t SET n = 'c' WHERE id = 2 RETURNING t", "t"),
        ("DELETE FROM t AS x WHERE id = 2 RETURNING x", "t"),
    ] {
        let number = sql.one(&format!("SELECT oid FROM pg_type WHERE typname = '{name}'"));
        assert_eq!(sql.type_numbers(query), [number], "{query}");
    }
}

//! What drivers and tools of PostgreSQL say: cursors, unique indexes, arrays, settings, its
//! catalog.

use freestone::Database;

use crate::support::Sql;

fn filled() -> Sql {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (k INT PRIMARY KEY, flag BOOLEAN, name TEXT);
         INSERT INTO t VALUES (1, TRUE, 'a'), (2, FALSE, 'b'), (3, NULL, 'c'), (4, TRUE, 'd');
         CREATE TABLE s (k INT, v INT);
         INSERT INTO s VALUES (1, 10), (2, 20), (2, 21), (3, 30), (5, 50)",
    );
    sql
}

#[test]
fn scalar_sub_queries_may_ask_the_outer_row_alone() {
    let sql = filled();
    let of_each = |item: &str| sql.rows(&format!("SELECT t.k, {item} FROM t ORDER BY t.k"));
    assert_eq!(
        of_each("(SELECT s.v FROM s WHERE s.k = t.k AND t.flag)"),
        ["1|10", "2|NULL", "3|NULL", "4|NULL"]
    );
    assert_eq!(
        of_each("(SELECT count(*) FROM s WHERE t.flag)"),
        ["1|5", "2|0", "3|0", "4|5"]
    );
    assert_eq!(
        of_each("(SELECT count(*) FROM s WHERE s.k = t.k AND t.flag AND t.k < 4)"),
        ["1|1", "2|0", "3|0", "4|0"]
    );
    assert_eq!(
        of_each("(SELECT max(s.v) + 1 FROM s WHERE s.k <= t.k AND t.flag)"),
        ["1|11", "2|NULL", "3|NULL", "4|31"]
    );
    assert_eq!(
        of_each("(SELECT 7 WHERE t.flag)"),
        ["1|7", "2|NULL", "3|NULL", "4|7"]
    );
    // Several rows only matter where the condition holds.
    assert_eq!(
        of_each("(SELECT s.v FROM s WHERE s.k = t.k AND t.k <> 2)"),
        ["1|10", "2|NULL", "3|30", "4|NULL"]
    );
    let several = "SELECT (SELECT s.v FROM s WHERE s.k = t.k AND t.k = 2) FROM t";
    assert_eq!(sql.state(several), "21000");
    assert_eq!(
        sql.rows("SELECT k FROM t WHERE (SELECT count(*) FROM s WHERE t.flag) > 3 ORDER BY k"),
        ["1", "4"]
    );
    assert_eq!(
        sql.rows("SELECT k, EXISTS (SELECT 1 FROM s WHERE t.flag) FROM t ORDER BY k"),
        ["1|true", "2|false", "3|false", "4|true"]
    );
}

#[test]
fn cursors_are_read_piece_by_piece() {
    let sql = filled();
    let declare = "DECLARE c CURSOR FOR SELECT k FROM t ORDER BY k";
    assert_eq!(sql.state(declare), "25P01");
    sql.run("BEGIN");
    assert_eq!(sql.run(declare), "DECLARE CURSOR");
    assert_eq!(sql.state("DECLARE C CURSOR FOR SELECT 1"), "42P03");
    sql.run("ROLLBACK");
    sql.run("BEGIN");
    sql.run(declare);
    let fetch = |text: &str| sql.rows_of_one_engine(text);
    assert_eq!(fetch("FETCH c"), ["1"]);
    // It sees what there was when it was declared.
    sql.run("INSERT INTO t VALUES (0, TRUE, 'z')");
    assert_eq!(fetch("FETCH FORWARD 2 FROM c"), ["2", "3"]);
    assert_eq!(fetch("FETCH ALL IN c"), ["4"]);
    assert!(fetch("FETCH NEXT FROM c").is_empty());
    assert_eq!(sql.run("CLOSE c"), "CLOSE CURSOR");
    sql.run("COMMIT");
    sql.run("BEGIN");
    assert_eq!(sql.state("FETCH c"), "34000");
    sql.run("ROLLBACK");
}

#[test]
fn cursors_scroll_and_outlive_their_transaction() {
    let sql = filled();
    let fetch = |text: &str| sql.rows_of_one_engine(text);
    sql.run("BEGIN; DECLARE s SCROLL CURSOR FOR SELECT k FROM t ORDER BY k");
    assert_eq!(fetch("FETCH LAST FROM s"), ["4"]);
    assert_eq!(fetch("FETCH BACKWARD 2 FROM s"), ["3", "2"]);
    assert_eq!(fetch("FETCH ABSOLUTE -4 FROM s"), ["1"]);
    assert_eq!(sql.run("MOVE 2 IN s"), "MOVE 2");
    assert_eq!(fetch("FETCH RELATIVE 1 FROM s"), ["4"]);
    sql.run("DECLARE forward CURSOR FOR SELECT 1");
    assert_eq!(sql.state("FETCH PRIOR FROM forward"), "55000");
    sql.run("ROLLBACK");
    sql.run("DECLARE h CURSOR WITH HOLD FOR SELECT k FROM t ORDER BY k");
    sql.run("BEGIN; DECLARE lost CURSOR WITH HOLD FOR SELECT 1; ROLLBACK");
    assert_eq!(sql.state("FETCH lost"), "34000");
    sql.run("BEGIN; DECLARE kept CURSOR WITH HOLD FOR SELECT 1; COMMIT");
    assert_eq!(fetch("FETCH kept"), ["1"]);
    sql.run("DELETE FROM t");
    assert_eq!(fetch("FETCH 3 FROM h"), ["1", "2", "3"]);
    sql.run("CLOSE ALL");
    assert_eq!(sql.state("FETCH h"), "34000");
}

#[test]
fn cursors_without_scroll_go_forward() {
    let sql = filled();
    let fetch = |text: &str| sql.rows_of_one_engine(text);
    for kind in ["CURSOR", "NO SCROLL CURSOR", "NO SCROLL CURSOR WITH HOLD"] {
        for back in [
            "ABSOLUTE 2",
            "RELATIVE 0",
            "FIRST",
            "LAST",
            "PRIOR",
            "BACKWARD ALL",
        ] {
            sql.run(&format!(
                "BEGIN; DECLARE c {kind} FOR SELECT k FROM t ORDER BY k"
            ));
            assert_eq!(fetch("FETCH ABSOLUTE 2 FROM c"), ["2"], "{kind}");
            assert_eq!(
                sql.state(&format!("FETCH {back} FROM c")),
                "55000",
                "{kind} {back}"
            );
            sql.run("ROLLBACK");
        }
        sql.run(&format!(
            "BEGIN; DECLARE c {kind} FOR SELECT k FROM t ORDER BY k"
        ));
        assert_eq!(sql.run("MOVE ABSOLUTE 0 IN c"), "MOVE 0");
        assert_eq!(fetch("FETCH RELATIVE 2 FROM c"), ["2"], "{kind}");
        assert_eq!(fetch("FETCH ABSOLUTE 4 FROM c"), ["4"], "{kind}");
        assert!(fetch("FETCH c").is_empty());
        assert!(fetch("FETCH RELATIVE 0 FROM c").is_empty());
        sql.run("ROLLBACK");
    }
}

#[test]
fn unique_indexes_are_keys() {
    let sql = filled();
    assert_eq!(
        sql.run("CREATE UNIQUE INDEX t_name ON t (name)"),
        "CREATE INDEX"
    );
    assert_eq!(sql.state("INSERT INTO t VALUES (9, TRUE, 'a')"), "23505");
    sql.run("INSERT INTO t VALUES (9, TRUE, NULL), (10, TRUE, NULL)");
    assert_eq!(sql.state("CREATE UNIQUE INDEX t_name ON t (k)"), "42P07");
    sql.run("CREATE UNIQUE INDEX IF NOT EXISTS t_name ON t (k)");
    assert_eq!(sql.run("DROP INDEX t_name"), "DROP INDEX");
    sql.run("INSERT INTO t VALUES (11, TRUE, 'a')");
    assert_eq!(sql.state("DROP INDEX t_pkey"), "2BP01");
    assert_eq!(sql.state("CREATE UNIQUE INDEX ON s (k)"), "23505");
    assert_eq!(
        sql.state("CREATE UNIQUE INDEX i ON s USING bloom (v)"),
        "0A000"
    );
}

#[test]
fn arrays_are_collected_and_read() {
    let sql = filled();
    assert_eq!(
        sql.rows(
            "SELECT k, ARRAY(SELECT v FROM s WHERE s.k = t.k ORDER BY v DESC) FROM t ORDER BY k"
        ),
        ["1|{10}", "2|{21,20}", "3|{30}", "4|{}"]
    );
    assert_eq!(
        sql.one("SELECT array_to_string(ARRAY(SELECT DISTINCT k FROM s WHERE k < 3), ',') IN ('1,2', '2,1')"),
        "true"
    );
    assert_eq!(
        sql.rows("SELECT k FROM t WHERE k = ANY('{1, 3,9}'::int[]) ORDER BY k"),
        ["1", "3"]
    );
    assert_eq!(sql.one("SELECT '{}'::int[]"), "{}");
    assert_eq!(
        sql.one("SELECT '{a,\"b c\",NULL}'::text[]"),
        "{a,\"b c\",NULL}"
    );
    assert_eq!(
        sql.one("SELECT 5 = ANY(ARRAY[1, NULL]) IS NULL, 5 <> ALL('{1,2}'::int[])"),
        "true|true"
    );
    assert_eq!(sql.one("SELECT 1 = ANY('{}'::int[])"), "false");
    assert_eq!(
        sql.one("SELECT 1 IS NOT DISTINCT FROM 1 AND 2 IS DISTINCT FROM 2 OR true AND 3 > 2"),
        "true"
    );
    assert_eq!(
        sql.one(
            "SELECT json_build_object('a', 1, 'b', CAST(NULL AS TEXT), 'c', 'x\"y', 'd', true)"
        ),
        r#"{"a" : 1, "b" : null, "c" : "x\"y", "d" : true}"#
    );
    assert_eq!(sql.state("SELECT '{1,{2}}'::int[]"), "22P02");
}

#[test]
fn operators_are_spelt_as_in_postgresql() {
    let sql = filled();
    for (condition, wanted) in [
        ("'a%c' LIKE 'a/%c' ESCAPE '/'", "true"),
        ("'abc' LIKE 'a/%c' ESCAPE '/'", "false"),
        ("'a/c' LIKE 'a//c' ESCAPE '/'", "true"),
        ("'a\\c' LIKE 'a\\c' ESCAPE ''", "true"),
        ("'a%c' LIKE 'a' || '/%c' ESCAPE '/'", "true"),
        ("'a/c' LIKE concat('a', '//c') ESCAPE '/'", "true"),
        ("'axc' LIKE concat('a', '/%c') ESCAPE '/'", "false"),
        ("'ABC' ILIKE 'a#%c' ESCAPE '#'", "false"),
        ("(1, 2) IN ((0 + 1, 2), (3, 4))", "true"),
        ("(1, 2) NOT IN ((0 + 1, 2), (3, 4))", "false"),
        ("~5 = -6", "true"),
        (
            "(SELECT max(k) FROM (SELECT k FROM t ORDER BY k OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY) x) = 3",
            "true",
        ),
    ] {
        assert_eq!(
            sql.one(&format!("SELECT {condition}")),
            wanted,
            "{condition}"
        );
    }
    assert_eq!(sql.state("SELECT 'a' LIKE 'a' ESCAPE 'xy'"), "22025");
}

#[test]
fn the_column_of_a_series_has_its_name() {
    let sql = Sql::new();
    assert_eq!(
        sql.rows("SELECT n, n.n + 1 FROM generate_series(1, 3) AS n WHERE n > 1 ORDER BY n DESC"),
        ["3|4", "2|3"]
    );
    assert_eq!(sql.one("SELECT sum(N) FROM generate_series(1, 3) n"), "6");
    assert_eq!(sql.one("SELECT n FROM generate_series(4, 4) AS s(n)"), "4");
}

#[test]
fn settings_are_read_and_set_by_functions() {
    let sql = Sql::new();
    assert_eq!(
        sql.one("SELECT current_setting('search_path')"),
        "\"$user\", public"
    );
    assert_eq!(
        sql.one("SELECT pg_catalog.set_config('search_path', '', false)"),
        ""
    );
    assert_eq!(sql.one("SELECT current_setting('search_path')"), "");
    assert_eq!(sql.one("SELECT current_setting('no.such', true)"), "NULL");
    assert_eq!(sql.state("SELECT current_setting('no.such')"), "42704");
    assert_eq!(sql.one("SELECT set_config('threads', '1', false)"), "1");
    assert_eq!(sql.one("SHOW threads"), "1");
    assert_eq!(
        sql.state("SELECT set_config('memory_limit', '1GB', false)"),
        "0A000"
    );
    sql.run(
        "SET search_path = public, pg_catalog; SET row_security = off; SET xmloption = content",
    );
    sql.run("RESET ALL");
    assert_eq!(
        sql.one("SELECT current_setting('search_path')"),
        "\"$user\", public"
    );
    sql.run("DISCARD ALL; UNLISTEN *; ANALYZE; CLOSE ALL");
}

#[test]
fn public_is_the_default_schema() {
    let sql = filled();
    assert_eq!(sql.one("SELECT count(*) FROM public.t"), "4");
    sql.run("CREATE TABLE public.p (a INT) WITH (fillfactor = 70, autovacuum_enabled = false)");
    assert_eq!(sql.one("SELECT count(*) FROM main.p"), "0");
    sql.run("CREATE SCHEMA IF NOT EXISTS public; DROP TABLE public.p");
    assert_eq!(sql.state("CREATE SCHEMA public"), "42P06");
    assert_eq!(sql.state("DROP SCHEMA public"), "2BP01");
}

#[test]
fn what_has_no_zone_is_as_it_is_written() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE d (d DATE, t TIMESTAMP, z TIMESTAMPTZ);
         INSERT INTO d VALUES ('1999-12-31 +00', '2024-02-29 23:30:00.5+05', '2024-02-29 23:30:00+05')",
    );
    assert_eq!(
        sql.rows("SELECT d = DATE '1999-12-31', t = TIMESTAMP '2024-02-29 23:30:00.5', z = TIMESTAMPTZ '2024-02-29 18:30:00+00' FROM d"),
        ["true|true|true"]
    );
}

#[test]
fn constraints_are_in_the_information_schema() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE p (a INT, b INT, CONSTRAINT p_key PRIMARY KEY (a, b));
         CREATE TABLE c (x INT CONSTRAINT c_x CHECK (x > 0), y INT, u INT CONSTRAINT c_u UNIQUE,
             CONSTRAINT c_p FOREIGN KEY (x, y) REFERENCES p (a, b) ON DELETE CASCADE)",
    );
    assert_eq!(
        sql.rows(
            "SELECT table_name, constraint_name, constraint_type FROM information_schema.table_constraints \
             WHERE constraint_name NOT LIKE '%not_null' ORDER BY 1, 2"
        ),
        ["c|c_p|FOREIGN KEY", "c|c_u|UNIQUE", "c|c_x|CHECK", "p|p_key|PRIMARY KEY"]
    );
    // NOT NULL is a condition, too.
    assert_eq!(
        sql.sorted(
            "SELECT table_name, check_clause FROM information_schema.table_constraints \
             JOIN information_schema.check_constraints USING (constraint_schema, constraint_name)"
        ),
        ["c|((x > 0))", "p|a IS NOT NULL", "p|b IS NOT NULL"]
    );
    assert_eq!(
        sql.rows(
            "SELECT constraint_name, column_name, ordinal_position, position_in_unique_constraint
             FROM information_schema.key_column_usage ORDER BY 1, 3"
        ),
        [
            "c_p|x|1|1",
            "c_p|y|2|2",
            "c_u|u|1|NULL",
            "p_key|a|1|NULL",
            "p_key|b|2|NULL"
        ]
    );
    assert_eq!(
        sql.rows("SELECT constraint_name, unique_constraint_name, delete_rule, update_rule FROM information_schema.referential_constraints"),
        ["c_p|p_key|CASCADE|NO ACTION"]
    );
    assert_eq!(
        sql.rows("SELECT constraint_name, table_name, column_name FROM information_schema.constraint_column_usage WHERE constraint_name = 'c_p' ORDER BY 3"),
        ["c_p|p|a", "c_p|p|b"]
    );
    assert_eq!(
        sql.rows(
            "SELECT constraint_name FROM information_schema.check_constraints \
             WHERE constraint_name NOT LIKE '%not_null'"
        ),
        ["c_x"]
    );
}

#[test]
fn indexes_tell_their_columns_as_lists() {
    let sql = Sql::new();
    sql.run("CREATE SCHEMA other; CREATE TABLE other.v (a INT); CREATE TABLE w (a INT, b INT, PRIMARY KEY (b, a))");
    assert_eq!(
        sql.rows(
            "SELECT unnest(i.indkey) AS k, generate_subscripts(i.indkey, 1) AS n FROM pg_catalog.pg_index AS i ORDER BY 2"
        ),
        ["2|0", "1|1"]
    );
    assert_eq!(
        sql.rows(
            "SELECT a.attname, (keys).n FROM (SELECT i.indrelid, information_schema._pg_expandarray(i.indkey) AS keys
             FROM pg_catalog.pg_index i) AS result JOIN pg_catalog.pg_attribute a
             ON a.attrelid = result.indrelid AND a.attnum = (result.keys).x ORDER BY 2"
        ),
        ["b|1", "a|2"]
    );
    assert_eq!(
        sql.rows("SELECT c.relname, pg_catalog.pg_table_is_visible(c.oid) FROM pg_catalog.pg_class c WHERE relkind = 'r' AND oid >= 16384 ORDER BY 1"),
        ["v|false", "w|true"]
    );
    sql.run("CREATE VIEW seen AS SELECT a FROM w");
    assert_eq!(
        sql.one("SELECT pg_get_viewdef(c.oid) FROM pg_class c WHERE relname = 'seen'"),
        " SELECT w.a\n   FROM w;"
    );
}

#[test]
fn sizes_are_told() {
    let sql = filled();
    assert_eq!(
        sql.one("SELECT pg_size_pretty(CAST(20480 AS BIGINT))"),
        "20 kB"
    );
    assert_eq!(
        sql.one("SELECT pg_table_size('t'::regclass) = pg_total_relation_size('t'::regclass)"),
        "true"
    );
    assert_eq!(sql.one("SELECT pg_database_size('freestone') >= 0"), "true");
}

#[test]
fn rights_that_nobody_gave_are_those_of_the_owner() {
    let sql = Sql::new();
    assert_eq!(
        sql.rows(
            "SELECT acldefault('n', nspowner), acldefault('f', nspowner), acldefault('c', nspowner), \
             acldefault('r', NULL) FROM pg_namespace WHERE nspname = 'public'"
        ),
        ["{freestone=UC/freestone}|{=X/freestone,freestone=X/freestone}|{}|NULL"]
    );
}

#[test]
fn kept_expressions_are_shown_with_types_and_casts() {
    let sql = Sql::new();
    sql.run(
        "CREATE TYPE mood AS ENUM ('sad', 'glad');
         CREATE DOMAIN few AS INT CHECK (VALUE > 0 AND VALUE < 9);
         CREATE TABLE t (
            a INT DEFAULT -1, b NUMERIC DEFAULT 0.5, c TEXT DEFAULT 'it''s', d DATE DEFAULT '2024-2-9',
            e JSONB DEFAULT '{}', f TEXT[] DEFAULT ARRAY['x'], g VARCHAR(9), h mood DEFAULT 'sad',
            i TIMESTAMPTZ DEFAULT now(), j DATE DEFAULT CURRENT_DATE, k SMALLINT DEFAULT 1, l few,
            m NUMERIC GENERATED ALWAYS AS (b * 2) STORED, n BOOL DEFAULT true,
            CONSTRAINT a1 CHECK (a BETWEEN 1 AND 20), CONSTRAINT a2 CHECK (a IN (1, 2)),
            CONSTRAINT a3 CHECK (a NOT IN (1, 2) OR NOT a = 3), CONSTRAINT b1 CHECK (b >= 0),
            CONSTRAINT c1 CHECK (length(c) > 1 AND c <> 'x' AND c IS NOT NULL),
            CONSTRAINT c2 CHECK (c LIKE 'a%'), CONSTRAINT g1 CHECK (g IN ('p', 'q')),
            CONSTRAINT k1 CHECK (k > 1), CONSTRAINT h1 CHECK (h <> 'glad'),
            CONSTRAINT a4 CHECK ((a + 1) * 2 - 3 > 0), CONSTRAINT c3 CHECK (coalesce(c, g) <> ''),
            CONSTRAINT a5 CHECK (CASE WHEN a > 1 THEN n ELSE false END),
            CONSTRAINT a6 CHECK (CASE a WHEN 1 THEN 'x' WHEN 2 THEN c END <> g));
         CREATE INDEX x ON t (lower(g), (a + 1)) WHERE a > 5 AND b < 10",
    );
    // These are PostgreSQL's.
    let defaults = "SELECT attname, pg_get_expr(adbin, adrelid) FROM pg_attrdef \
                    JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum ORDER BY adnum";
    assert_eq!(
        sql.rows(defaults),
        [
            "a|'-1'::integer",
            "b|0.5",
            "c|'it''s'::text",
            "d|'2024-02-09'::date",
            "e|'{}'::jsonb",
            "f|ARRAY['x'::text]",
            "h|'sad'::mood",
            "i|now()",
            "j|CURRENT_DATE",
            "k|1",
            "m|(b * (2)::numeric)",
            "n|true",
        ]
    );
    let checks = "SELECT conname, pg_get_constraintdef(oid), pg_get_constraintdef(oid, true) \
                  FROM pg_constraint WHERE contype = 'c' ORDER BY 1";
    let few = "CHECK (VALUE > 0 AND VALUE < 9)";
    assert_eq!(
        sql.rows(checks),
        [
            "a1|CHECK (((a >= 1) AND (a <= 20)))|CHECK (a >= 1 AND a <= 20)",
            "a2|CHECK ((a = ANY (ARRAY[1, 2])))|CHECK (a = ANY (ARRAY[1, 2]))",
            "a3|CHECK (((a <> ALL (ARRAY[1, 2])) OR (NOT (a = 3))))|\
             CHECK ((a <> ALL (ARRAY[1, 2])) OR NOT a = 3)",
            "a4|CHECK (((((a + 1) * 2) - 3) > 0))|CHECK (((a + 1) * 2 - 3) > 0)",
            "a5|CHECK (\nCASE\n    WHEN (a > 1) THEN n\n    ELSE false\nEND)|\
             CHECK (\nCASE\n    WHEN a > 1 THEN n\n    ELSE false\nEND)",
            "a6|CHECK ((\nCASE a\n    WHEN 1 THEN 'x'::text\n    WHEN 2 THEN c\n    ELSE NULL::text\nEND <> (g)::text))|\
             CHECK (\nCASE a\n    WHEN 1 THEN 'x'::text\n    WHEN 2 THEN c\n    ELSE NULL::text\nEND <> g::text)",
            "b1|CHECK ((b >= (0)::numeric))|CHECK (b >= 0::numeric)",
            "c1|CHECK (((length(c) > 1) AND (c <> 'x'::text) AND (c IS NOT NULL)))|\
             CHECK (length(c) > 1 AND c <> 'x'::text AND c IS NOT NULL)",
            "c2|CHECK ((c ~~ 'a%'::text))|CHECK (c ~~ 'a%'::text)",
            "c3|CHECK ((COALESCE(c, (g)::text) <> ''::text))|CHECK (COALESCE(c, g::text) <> ''::text)",
            &format!("few_check|CHECK (((VALUE > 0) AND (VALUE < 9)))|{few}"),
            "g1|CHECK (((g)::text = ANY ((ARRAY['p'::character varying, 'q'::character varying])::text[])))|\
             CHECK (g::text = ANY (ARRAY['p'::character varying, 'q'::character varying]::text[]))",
            "h1|CHECK ((h <> 'glad'::mood))|CHECK (h <> 'glad'::mood)",
            "k1|CHECK ((k > 1))|CHECK (k > 1)",
        ]
    );
    let index = "SELECT pg_get_indexdef(oid), pg_get_indexdef(oid, 0, true), \
                 pg_get_indexdef(oid, 1, false), pg_get_indexdef(oid, 2, true) \
                 FROM pg_class WHERE relname = 'x'";
    assert_eq!(
        sql.one(index),
        "CREATE INDEX x ON public.t USING btree (lower((g)::text), ((a + 1))) \
         WHERE ((a > 5) AND (b < (10)::numeric))|\
         CREATE INDEX x ON t USING btree (lower(g::text), (a + 1)) WHERE a > 5 AND b < 10::numeric|\
         lower((g)::text)|(a + 1)"
    );
    let names = "SELECT attname FROM pg_attribute WHERE attrelid = 'x'::regclass ORDER BY attnum";
    assert_eq!(sql.rows(names), ["lower", "expr"]);
}

#[test]
fn the_catalog_tells_of_classes_casts_and_operators() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (a INT, b TEXT COLLATE \"C\"); CREATE INDEX t_b ON t (b, a);
         CREATE TABLE k (a INT PRIMARY KEY, b INT CHECK (b > 0) REFERENCES k (a)); CREATE SCHEMA s;
         CREATE TYPE s.mood AS ENUM ('sad'); CREATE SEQUENCE q INCREMENT 3",
    );
    for (query, wanted) in [
        (
            "SELECT indkey[0], indkey[1], indkey[2], indkey[0:1] FROM pg_index WHERE indexrelid = 't_b'::regclass",
            "2|1|NULL|{2,1}",
        ),
        (
            "SELECT string_agg(opcname, ' ' ORDER BY n) FROM pg_index, unnest(indclass) WITH ORDINALITY AS u(c, n) \
          JOIN pg_opclass AS o ON o.oid = c WHERE indexrelid = 't_b'::regclass",
            "text_ops int4_ops",
        ),
        (
            "SELECT amhandler, pg_indexam_has_property(oid, 'can_order'), pg_indexam_has_property(oid, 'x') \
          FROM pg_am WHERE amname = 'btree'",
            "bthandler|true|NULL",
        ),
        (
            "SELECT pg_index_column_has_property('t_b'::regclass, 1, 'asc'), \
          pg_index_column_has_property('t_b'::regclass, 3, 'asc')",
            "true|NULL",
        ),
        (
            "SELECT castcontext, castmethod FROM pg_cast WHERE castsource = 'int4'::regtype AND casttarget = 'int8'::regtype",
            "i|f",
        ),
        (
            "SELECT oprresult::regtype FROM pg_operator WHERE oprname = '<' AND oprleft = 'int4'::regtype AND oprright = 'int4'::regtype",
            "boolean",
        ),
        (
            "SELECT 'array_in(cstring,oid,integer)'::regprocedure, typinput FROM pg_type WHERE oid = 's.mood'::regtype",
            "array_in(cstring,oid,integer)|enum_in",
        ),
        (
            "SELECT pg_type_is_visible('s.mood'::regtype), pg_type_is_visible('text'::regtype), pg_type_is_visible(1)",
            "false|true|NULL",
        ),
        (
            "SELECT oidvectortypes('23 25'), ARRAY['int4'::regtype]::oidvector::text, '23 25'::oidvector::int[]",
            "integer, text|23|[0:1]={23,25}",
        ),
        (
            "SELECT increment, cycle_option FROM pg_sequence_parameters('q'::regclass)",
            "3|false",
        ),
        (
            "SELECT pg_sequence_last_value('q'::regclass) IS NULL, '{s}'::regnamespace[], 100::regcollation, '\"C\"'::regcollation",
            "true|{s}|\"default\"|\"C\"",
        ),
        (
            "SELECT (pg_identify_object('pg_class'::regclass, 't'::regclass, 0)).identity, \
          pg_describe_object('pg_class'::regclass, 't'::regclass, 0)",
            "public.t|table t",
        ),
        (
            "SELECT count(*) > 0, bool_and(age(xmin) >= 0), bool_and(xmin::varchar::bigint > 2) FROM pg_class",
            "true|true|true",
        ),
        (
            "SELECT age('1'::varchar::xid), pg_relation_is_updatable('t'::regclass, true), pg_blocking_pids(1)",
            "2147483647|28|{}",
        ),
        (
            "SELECT string_agg(deptype::text, '' ORDER BY deptype) FROM pg_depend WHERE refobjid = 'k'::regclass",
            "aaann",
        ),
        (
            "SELECT setting FROM pg_show_all_settings() WHERE name = 'lc_collate'",
            "C",
        ),
        (
            "SELECT grantee::regrole, string_agg(privilege_type, ' ' ORDER BY privilege_type) \
          FROM aclexplode('{freestone=ar*/freestone}') GROUP BY 1",
            "freestone|INSERT SELECT",
        ),
        (
            "SELECT usename, backend_type FROM pg_stat_activity WHERE pid = pg_backend_pid()",
            "freestone|client backend",
        ),
    ] {
        assert_eq!(sql.one(query), wanted, "{query}");
    }
}

#[test]
fn the_catalog_tells_the_conditions_of_partitions() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE r (k INT) PARTITION BY RANGE (k); CREATE TABLE l (k TEXT) PARTITION BY LIST (k);
         CREATE TABLE r1 PARTITION OF r FOR VALUES FROM (1) TO (MAXVALUE);
         CREATE TABLE r2 PARTITION OF r FOR VALUES FROM (-5) TO (1);
         CREATE TABLE l1 PARTITION OF l FOR VALUES IN ('a'); CREATE TABLE l2 PARTITION OF l FOR VALUES IN ('b', 'c', NULL);
         CREATE TABLE l3 PARTITION OF l DEFAULT",
    );
    assert_eq!(
        sql.rows(
            "SELECT relname, pg_get_partition_constraintdef(oid) FROM pg_class WHERE relkind = 'r' AND oid >= 16384 ORDER BY 1"
        ),
        [
            "l1|((k IS NOT NULL) AND (k = 'a'::text))",
            "l2|((k IS NULL) OR (k = ANY (ARRAY['b'::text, 'c'::text])))",
            "l3|NULL",
            "r1|((k IS NOT NULL) AND (k >= 1))",
            "r2|((k IS NOT NULL) AND (k >= '-5'::integer) AND (k < 1))",
        ]
    );
    assert_eq!(
        sql.rows("SELECT relid, parentrelid, isleaf, level FROM pg_partition_tree('r') ORDER BY 1"),
        ["r|NULL|false|0", "r1|r|true|1", "r2|r|true|1"]
    );
    assert_eq!(
        sql.rows("SELECT relid FROM pg_partition_ancestors('r1')"),
        ["r1", "r"]
    );
}

#[test]
fn the_information_schema_has_functions_domains_and_rights() {
    let sql = Sql::new();
    sql.run(
        "CREATE DOMAIN few AS VARCHAR(8) NOT NULL DEFAULT 'x'; CREATE TYPE pair AS (a NUMERIC(5,2), b TEXT);
         CREATE TABLE t (a few, b TEXT[], c INT GENERATED ALWAYS AS IDENTITY (START 5)); CREATE SEQUENCE q;
         CREATE VIEW v AS SELECT b FROM t;
         CREATE FUNCTION f(a INT, b INT DEFAULT 1) RETURNS pair LANGUAGE sql STABLE AS 'SELECT a, ''x'''",
    );
    for (query, wanted) in [
        (
            "SELECT domain_name, data_type, character_maximum_length, domain_default FROM information_schema.domains",
            "few|character varying|8|'x'::character varying",
        ),
        (
            "SELECT domain_name, table_name, column_name FROM information_schema.column_domain_usage",
            "few|t|a",
        ),
        (
            "SELECT string_agg(attribute_name || ' ' || data_type, ', ' ORDER BY ordinal_position) FROM information_schema.attributes",
            "a numeric, b text",
        ),
        (
            "SELECT collection_type_identifier, data_type FROM information_schema.element_types WHERE object_type = 'TABLE'",
            "2|text",
        ),
        (
            "SELECT routine_name, data_type, type_udt_name, is_deterministic FROM information_schema.routines",
            "f|USER-DEFINED|pair|NO",
        ),
        (
            "SELECT string_agg(parameter_name || coalesce(' ' || parameter_default, ''), ', ' ORDER BY ordinal_position) FROM information_schema.parameters",
            "a, b 1",
        ),
        (
            "SELECT string_agg(grantee, ' ' ORDER BY grantee DESC) FROM information_schema.routine_privileges",
            "freestone PUBLIC",
        ),
        (
            "SELECT grantee, object_type FROM information_schema.usage_privileges WHERE object_name = 'q'",
            "freestone|SEQUENCE",
        ),
        (
            "SELECT count(*) FROM information_schema.column_privileges WHERE table_name = 'v'",
            "4",
        ),
        (
            "SELECT view_name, table_name FROM information_schema.view_table_usage",
            "v|t",
        ),
        (
            "SELECT is_nullable, (SELECT identity_start FROM information_schema.columns WHERE column_name = 'c') \
          FROM information_schema.columns WHERE column_name = 'a'",
            "NO|5",
        ),
        (
            "SELECT character_set_name FROM information_schema.character_sets",
            "UTF8",
        ),
    ] {
        assert_eq!(sql.one(query), wanted, "{query}");
    }
}

#[test]
fn the_catalog_lists_open_cursors() {
    let database = Database::in_memory();
    let (sql, other) = (Sql::on(&database), Sql::on(&database));
    sql.run("BEGIN");
    for declare in [
        "DECLARE b CURSOR FOR SELECT 1",
        "DECLARE a  SCROLL CURSOR FOR SELECT 1",
        "DECLARE c NO SCROLL CURSOR WITH HOLD FOR SELECT 1",
        "DECLARE \"D\" BINARY CURSOR WITH HOLD FOR SELECT 1",
    ] {
        sql.run(declare);
    }
    sql.run("FETCH b");
    let all = "SELECT name, statement, is_holdable, is_binary, is_scrollable FROM pg_cursors";
    assert_eq!(
        sql.sorted(all),
        [
            "D|DECLARE \"D\" BINARY CURSOR WITH HOLD FOR SELECT 1|true|true|true",
            "a|DECLARE a  SCROLL CURSOR FOR SELECT 1|false|false|true",
            "b|DECLARE b CURSOR FOR SELECT 1|false|false|false",
            "c|DECLARE c NO SCROLL CURSOR WITH HOLD FOR SELECT 1|true|false|false",
        ]
    );
    let times =
        "SELECT bool_and(creation_time BETWEEN now() AND clock_timestamp()) FROM pg_cursors";
    assert_eq!(sql.one(times), "true");
    assert!(other.rows("SELECT name FROM pg_cursors").is_empty());
    sql.run("CLOSE a; COMMIT");
    assert_eq!(sql.sorted("SELECT name FROM pg_cursors"), ["D", "c"]);
    sql.run("CLOSE ALL");
    assert!(sql.rows("SELECT name FROM pg_cursors").is_empty());
}

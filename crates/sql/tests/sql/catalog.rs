//! SHOW, DESCRIBE, information_schema, table functions, settings.

use crate::support::Sql;

fn filled() -> Sql {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(10) DEFAULT 'x', c DECIMAL(5,2) NOT NULL) WITH (layout = 'row');
         INSERT INTO t VALUES (1, 'one', 1.5), (2, NULL, 2.5);
         CREATE SCHEMA s; CREATE VIEW s.v AS SELECT a, c FROM t",
    );
    sql
}

#[test]
fn tables_and_columns_are_listed() {
    let sql = filled();
    let shown = sql.rows("SHOW TABLES");
    assert_eq!(shown.len(), 2);
    assert!(
        shown[0].starts_with("main|t|table|2|") && shown[0].ends_with("|row"),
        "{shown:?}"
    );
    assert_eq!(shown[1], "s|v|view|NULL|NULL|NULL");
    assert_eq!(
        sql.rows("DESCRIBE t"),
        [
            "a|INTEGER|NO|NULL|primary key",
            "b|VARCHAR(10)|YES|'x'|NULL",
            "c|DECIMAL(5,2)|NO|NULL|NULL",
        ]
    );
    assert_eq!(sql.rows("DESCRIBE s.v").len(), 2);
    assert_eq!(sql.rows("SHOW SCHEMAS"), ["main", "s"]);
    assert_eq!(sql.state("DESCRIBE nosuch"), "42P01");
}

#[test]
fn the_information_schema_describes_everything() {
    let sql = filled();
    assert_eq!(
        sql.rows("SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', 'pg_catalog')"),
        ["public|t|BASE TABLE", "s|v|VIEW"]
    );
    assert_eq!(
        sql.rows(
            "SELECT column_name, ordinal_position, is_nullable, data_type, character_maximum_length, numeric_precision, numeric_scale
             FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position"
        ),
        [
            "a|1|NO|integer|NULL|32|0",
            "b|2|YES|character varying|10|NULL|NULL",
            "c|3|NO|numeric|NULL|5|2",
        ]
    );
    assert_eq!(
        sql.one("SELECT view_definition FROM information_schema.views"),
        " SELECT t.a,\n    t.c\n   FROM t;"
    );
    assert_eq!(
        sql.one("SELECT definition FROM pg_views WHERE viewname = 'v'"),
        " SELECT t.a,\n    t.c\n   FROM t;"
    );
    assert_eq!(
        sql.one("SELECT count(*) FROM information_schema.columns WHERE table_name = 'v'"),
        "2"
    );
}

#[test]
fn blocks_and_columns_can_be_inspected() {
    let sql = filled();
    sql.run("VACUUM t");
    assert_eq!(
        sql.one("SELECT layout, rows FROM freestone_blocks('t')"),
        "row|2"
    );
    assert_eq!(
        sql.one("SELECT count(*) FROM freestone_blocks('main.t') WHERE bytes > 0"),
        "1"
    );
    assert_eq!(
        sql.rows(
            "SELECT column_name, nulls, min, max, distinct_values FROM freestone_columns('t')"
        ),
        ["a|0|1|2|2", "b|1|one|one|1", "c|0|1.50|2.50|2"]
    );
    assert_eq!(sql.state("SELECT * FROM freestone_blocks(1)"), "42883");
}

#[test]
fn settings_belong_to_the_session() {
    let sql = Sql::new();
    sql.run("SET threads = 1");
    assert_eq!(sql.one("SHOW threads"), "1");
    sql.run("SET freestone.threads TO 3");
    assert_eq!(sql.one("SHOW freestone.threads"), "3");
    sql.run("SET TIME ZONE '+02:00'");
    assert_eq!(sql.one("SHOW timezone"), "+02:00");
    sql.run("RESET timezone; SET client_encoding = 'utf-8'; SET freestone.batch_rows = 100");
    assert_eq!(sql.one("SHOW freestone.batch_rows"), "100");
    assert_eq!(sql.state("SET client_encoding = 'latin1'"), "22023");
    assert!(sql.rows("SHOW ALL").len() > 100);
    let other = Sql::on(sql.session.database());
    assert_ne!(other.one("SHOW freestone.batch_rows"), "100");
}

#[test]
fn definitions_of_views_can_be_run_again() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INTEGER, b INTEGER); INSERT INTO t VALUES (1, 2), (3, 4)");
    sql.run("CREATE TABLE p (a INTEGER) PARTITION BY LIST (a)");
    for query in [
        "SELECT t.*, (t).a AS x, ROW(t.*) FROM t",
        "SELECT a FROM ONLY p",
        "SELECT a, sum(b) FROM t GROUP BY DISTINCT ROLLUP (a), CUBE (a)",
        "SELECT a, sum(b) OVER (ORDER BY a ROWS UNBOUNDED PRECEDING EXCLUDE TIES) FROM t",
        "SELECT * FROM ROWS FROM (generate_series(1, 2), unnest(ARRAY['x'])) WITH ORDINALITY",
        "SELECT a FROM t WHERE a BETWEEN SYMMETRIC 3 AND 1 ORDER BY a USING > FETCH FIRST 1 ROW WITH TIES",
        "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) \
         SEARCH DEPTH FIRST BY n SET o SELECT n FROM r",
        "SELECT j.a FROM t JOIN t AS u USING (a) AS j",
        "SELECT concat(VARIADIC ARRAY[a::text, b::text]) FROM t",
        "SELECT list_transform([1, a], x -> x + 1) FROM t",
        "SELECT 'it''s; ' || E'\\n' || $$AS (x$$ FROM t",
        "FROM t",
        "SELECT 'ä',\n  'ö' AS é,\n (SELECT 1 AS x)\nFROM t",
    ] {
        for columns in ["", " (one)"] {
            sql.run(&format!("CREATE VIEW v{columns} AS {query}"));
            let text = sql.one("SELECT pg_get_viewdef('v'::regclass)");
            assert!(!text.contains('\u{1}'), "{query} is told as {text:?}");
            let rows = sql.rows("SELECT * FROM v");
            sql.run("DROP VIEW v");
            sql.run(&format!("CREATE VIEW v AS {text}"));
            assert_eq!(sql.rows("SELECT * FROM v"), rows, "{text}");
            sql.run("DROP VIEW v");
        }
    }
}

/// As pg_dump asks: a view comes after what it reads, a sequence with its column.
#[test]
fn what_depends_on_what() {
    let sql = Sql::new();
    sql.run(
        "CREATE SCHEMA s; CREATE TABLE t (id INT GENERATED ALWAYS AS IDENTITY, a INT);
         CREATE SEQUENCE n; CREATE FUNCTION f(a INT) RETURNS INT LANGUAGE sql AS 'SELECT $1';
         CREATE VIEW v AS WITH t AS (SELECT f(1) AS a) SELECT t.a, n.is_called FROM t, n;
         CREATE VIEW w AS SELECT v.a FROM v JOIN public.t ON t.a = v.a",
    );
    assert_eq!(
        sql.sorted(
            "SELECT coalesce(r.ev_class, d.objid)::regclass, deptype, refclassid::regclass, \
             CASE refclassid WHEN 1259 THEN refobjid::regclass::text ELSE refobjid::regproc::text END, \
             refobjsubid FROM pg_depend d LEFT JOIN pg_rewrite r ON r.oid = d.objid"
        ),
        [
            "t_id_seq|i|pg_class|t|1",
            "v|i|pg_class|v|0",
            "v|n|pg_class|n|0",
            "v|n|pg_proc|f|0",
            "w|i|pg_class|w|0",
            "w|n|pg_class|t|0",
            "w|n|pg_class|v|0",
        ]
    );
    assert_eq!(
        sql.one("SELECT pg_get_viewdef('w')"),
        " SELECT v.a\n   FROM (v\n     JOIN t ON ((t.a = v.a)));"
    );
    sql.run("SET search_path = ''");
    assert_eq!(
        sql.one("SELECT pg_get_viewdef('public.v')"),
        " WITH t AS (\n         SELECT public.f(1) AS a\n        )\n SELECT t.a,\n    n.is_called\n   FROM t,\n    public.n;"
    );
}

#[test]
fn relations_are_all_in_their_main_fork() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT); INSERT INTO t SELECT generate_series(1, 1000)");
    assert_eq!(
        sql.one(
            "SELECT pg_relation_size('t', 'main') = pg_relation_size('t'), pg_relation_size('t', 'fsm'),
                 pg_relation_size('t', 'vm'), pg_relation_size('t', 'init'), pg_relation_size(99999, 'x')"
        ),
        "true|0|0|0|NULL"
    );
    assert_eq!(sql.state("SELECT pg_relation_size('t', 'x')"), "22023");
}

#[test]
fn views_and_tables_of_the_catalog_without_rows() {
    let sql = Sql::new();
    for name in [
        "information_schema.attributes",
        "information_schema.domains",
        "information_schema.element_types",
        "information_schema.parameters",
        "information_schema.routines",
        "pg_replication_slots",
    ] {
        assert_eq!(
            sql.one(&format!("SELECT count(*) FROM {name}")),
            "0",
            "{name}"
        );
        assert!(
            sql.rows(&format!("SELECT * FROM {name}")).is_empty(),
            "{name}"
        );
    }
}

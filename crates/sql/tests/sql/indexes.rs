//! Indexes, codecs and columns that come and go: the answers stay the same.

use freestone::Database;

use crate::support::{LAYOUTS, Sql};

fn filled(layout: &str) -> Sql {
    let sql = Sql::new();
    sql.run(&format!(
        "CREATE TABLE t (a INT NOT NULL, b TEXT, c DECIMAL(10,2)) WITH (layout = '{layout}', block_bytes = '256KiB');
         INSERT INTO t SELECT (value * 7919) % 30011, CASE WHEN value % 9 > 0 THEN 'name ' || (value % 500) END, value / 4
         FROM generate_series(1, 30000) AS g(value)"
    ));
    sql
}

const QUERIES: [&str; 8] = [
    "SELECT * FROM t WHERE a = 7919",
    "SELECT count(*), sum(c) FROM t WHERE a BETWEEN 100 AND 130",
    "SELECT count(*) FROM t WHERE b = 'name 17'",
    "SELECT count(*) FROM t WHERE b LIKE 'name 49%' AND a > 20000",
    "SELECT count(*) FROM t WHERE b LIKE '%99' OR a IN (1, 2, 3)",
    "SELECT a FROM t ORDER BY a DESC LIMIT 5",
    "SELECT b, a FROM t ORDER BY b DESC NULLS LAST, a LIMIT 4",
    "SELECT min(a), max(a), min(b) FROM t",
];

#[test]
fn options_of_pages_mean_nothing() {
    let sql = filled("row");
    sql.run("CREATE INDEX i ON t (a) WITH (fillfactor = 70, deduplicate_items = off)");
    sql.run("CREATE INDEX h ON t USING hash (a) WITH (fillfactor = 10)");
    sql.run("CREATE INDEX z ON t USING brin (a) WITH (pages_per_range = 8, autosummarize = on)");
    let gin = "CREATE INDEX ON t USING gin (a) WITH (fastupdate = off)";
    assert_eq!(sql.state(gin), "0A000");
    for options in [
        "fillfactor = 5",
        "fillfactor = many",
        "nosuch = 1",
        "deduplicate_items = 7",
    ] {
        let create = format!("CREATE INDEX ON t (a) WITH ({options})");
        assert_eq!(sql.state(&create), "22023", "{options}");
    }
}

#[test]
fn indexes_change_no_answer() {
    for layout in LAYOUTS {
        let sql = filled(layout);
        let before: Vec<_> = QUERIES.map(|query| sql.rows(query)).into();
        assert_eq!(sql.run("CREATE INDEX ON t (a)"), "CREATE INDEX");
        sql.run(
            "CREATE INDEX names ON t USING inverted (b); CREATE INDEX both ON t USING btree (b, a)",
        );
        sql.run("CREATE INDEX filter ON t USING bloom (a)");
        sql.run("CREATE INDEX IF NOT EXISTS names ON t (c)");
        assert_eq!(sql.state("CREATE INDEX names ON t (c)"), "42P07");
        for (query, before) in QUERIES.iter().zip(&before) {
            assert_eq!(&sql.rows(query), before, "{layout}: {query}");
        }
        let text = sql
            .rows("EXPLAIN ANALYZE SELECT c FROM t WHERE a = 7919")
            .join("\n");
        let counted = |name: &str| {
            let at = text
                .find(name)
                .unwrap_or_else(|| panic!("no {name} in {text}"));
            text[at + name.len() + 1..]
                .chars()
                .take_while(char::is_ascii_digit)
                .collect::<String>()
        };
        assert_ne!(counted("blocks_by_index"), "0", "{layout}: {text}");
        sql.run("DROP INDEX t_a_idx, names, both; DROP INDEX IF EXISTS nosuch");
        sql.run("DROP INDEX filter");
        for (query, before) in QUERIES.iter().zip(&before) {
            assert_eq!(
                &sql.rows(query),
                before,
                "{layout}: {query} without indexes"
            );
        }
    }
}

#[test]
fn order_by_limit_reads_only_the_first_rows_of_each_block() {
    let sql = filled("column");
    sql.run("CREATE INDEX ON t (a)");
    let text = sql
        .rows("EXPLAIN SELECT a, b FROM t ORDER BY a LIMIT 3")
        .join("\n");
    assert!(text.contains("first 3 by a ASC"), "{text}");
    assert_eq!(
        sql.rows("SELECT a FROM t ORDER BY a LIMIT 3"),
        sql.rows("SELECT a FROM (SELECT a FROM t ORDER BY a + 0 LIMIT 3) s")
    );
}

#[test]
fn both_column_scanners_give_the_same_rows() {
    let sql = filled("column");
    let before: Vec<_> = QUERIES.map(|query| sql.sorted(query)).into();
    assert_eq!(sql.one("SHOW freestone.column_scanner"), "single");
    sql.run("SET freestone.column_scanner = 'pipelined'");
    assert_eq!(sql.one("SHOW freestone.column_scanner"), "pipelined");
    for (query, before) in QUERIES.iter().zip(&before) {
        assert_eq!(&sql.sorted(query), before, "{query}");
    }
}

#[test]
fn codecs_can_be_named_per_table_and_column() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (a INT, b TEXT, d DOUBLE PRECISION) WITH (codec = 'none, b dictionary');
         INSERT INTO t SELECT value % 100, 'name ' || (value % 10), value / 8.0 FROM generate_series(1, 5000) AS g(value);
         VACUUM",
    );
    let codecs = "SELECT column_name, codec, ratio >= 1 FROM freestone_columns('t')";
    assert_eq!(
        sql.rows(codecs),
        ["a|plain|true", "b|dictionary|true", "d|plain|true"]
    );
    sql.run("ALTER TABLE t SET (codec = 'auto, a rle')");
    assert_eq!(
        sql.rows(codecs),
        ["a|rle|true", "b|dictionary|true", "d|alp|true"]
    );
    assert_eq!(
        sql.one("SELECT count(*), sum(a), sum(d) FROM t WHERE b LIKE '%7'"),
        "500|26000|156375.0"
    );
}

#[test]
fn columns_come_and_go() {
    for layout in LAYOUTS {
        let sql = filled(layout);
        let files = sql.rows("SELECT file FROM freestone_blocks('t')");
        sql.run("ALTER TABLE t ADD COLUMN d INT DEFAULT 6 * 7 NOT NULL, ADD e TEXT, DROP COLUMN c");
        assert_eq!(
            sql.rows("SELECT file FROM freestone_blocks('t')"),
            files,
            "no block was written"
        );
        assert_eq!(
            sql.one("SELECT count(*), sum(d), count(e) FROM t WHERE d = 42"),
            "30000|1260000|0"
        );
        sql.run("INSERT INTO t (a, b, d, e) VALUES (-1, 'new', 1, 'one'); INSERT INTO t (a) VALUES (-2)");
        assert_eq!(
            sql.rows("SELECT * FROM t WHERE a < 0 ORDER BY a DESC"),
            ["-1|new|1|one", "-2|NULL|42|NULL"]
        );
        assert_eq!(sql.state("SELECT c FROM t"), "42703");
        sql.run("CREATE INDEX ON t (e, d); ALTER TABLE t ADD COLUMN IF NOT EXISTS d INT");
        assert_eq!(sql.one("SELECT a FROM t WHERE e = 'one' AND d = 1"), "-1");
        assert_eq!(
            sql.state("ALTER TABLE t ADD COLUMN f INT NOT NULL"),
            "23502"
        );
        sql.run("ALTER TABLE t DROP COLUMN e, DROP COLUMN IF EXISTS nosuch");
        assert_eq!(sql.one("SELECT count(*), sum(d) FROM t"), "30002|1260043");
        sql.run("ALTER TABLE t SET (layout = 'column')");
        assert_eq!(sql.one("SELECT count(*), sum(d) FROM t"), "30002|1260043");
    }
}

#[test]
fn a_wide_sparse_table_works() {
    let sql = Sql::new();
    let columns: Vec<String> = (0..2000).map(|number| format!("c{number} INT")).collect();
    sql.run(&format!("CREATE TABLE t (id INT, {})", columns.join(", ")));
    sql.run("INSERT INTO t (id, c7, c1999) SELECT value, value % 3, value FROM generate_series(1, 2000) AS g(value)");
    assert_eq!(
        sql.one("SELECT count(*), sum(c1999), count(c1000) FROM t WHERE c7 = 1"),
        "667|667000|0"
    );
}

#[test]
fn indexes_that_the_transaction_has_made() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b INT)");
    sql.run("BEGIN; CREATE INDEX i ON t (a); CREATE INDEX IF NOT EXISTS i ON t (a)");
    sql.run("CREATE UNIQUE INDEX u ON t (b); CREATE UNIQUE INDEX IF NOT EXISTS u ON t (b); COMMIT");
    let names = "SELECT indexname FROM pg_indexes WHERE tablename = 't'";
    assert_eq!(sql.sorted(names), ["i", "u"]);
    sql.run("BEGIN");
    assert_eq!(sql.state("CREATE INDEX i ON t (a)"), "42P07");
    sql.run("ROLLBACK");
}

#[test]
fn expressions_are_indexed_and_unique() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        sql.run(&format!(
            "CREATE TABLE t (id INT PRIMARY KEY, a TEXT, b INT, c INT) WITH (layout = '{layout}')"
        ));
        sql.run("INSERT INTO t VALUES (1,'Abc',1,5), (2,'ABC',2,NULL), (3,NULL,3,7), (4,NULL,4,8)");
        // Rows that are there count, those that a condition leaves out do not.
        let error = sql.error("CREATE UNIQUE INDEX lo ON t (lower(a))");
        assert_eq!(
            (
                error.sqlstate.as_str(),
                error.message.as_str(),
                error.detail.as_deref()
            ),
            (
                "23505",
                "could not create unique index \"lo\"",
                Some("Key (lower(a))=(abc) is duplicated.")
            )
        );
        sql.run("CREATE UNIQUE INDEX lo ON t (lower(a)) WHERE b > 1");
        sql.run("INSERT INTO t VALUES (5,'abc',0,0)");
        assert_eq!(sql.state("INSERT INTO t VALUES (6,'aBc',9,0)"), "23505");
        assert_eq!(sql.state("UPDATE t SET b = 5 WHERE id = 1"), "23505");
        sql.run("CREATE UNIQUE INDEX ON t ((c + 1), b) WHERE a IS NULL");
        assert_eq!(sql.state("INSERT INTO t VALUES (7,NULL,3,7)"), "23505");
        sql.run("INSERT INTO t VALUES (7,'x',3,7)");
        // Nobody sees the columns that they are over, and they follow the others.
        assert_eq!(sql.one("SELECT * FROM t WHERE lower(a) = 'x'"), "7|x|3|7");
        assert_eq!(
            sql.run("UPDATE t SET a = 'Y' WHERE lower(a) = 'x'"),
            "UPDATE 1"
        );
        sql.run("ALTER TABLE t RENAME COLUMN a TO aa; ALTER TABLE t ADD COLUMN d TEXT DEFAULT 'd'");
        assert_eq!(sql.state("INSERT INTO t VALUES (8,'Abc',7,1,'e')"), "23505");
        assert_eq!(
            sql.rows("INSERT INTO t (id, aa, b) VALUES (8,'new',7) RETURNING *"),
            ["8|new|7|NULL|d"]
        );
        assert_eq!(
            sql.one("SELECT id FROM t WHERE lower(aa) = 'y' AND b > 1"),
            "7"
        );
        assert_eq!(
            sql.sorted("SELECT indexdef FROM pg_indexes WHERE indexname <> 't_pkey'"),
            [
                "CREATE UNIQUE INDEX lo ON public.t USING btree (lower(aa)) WHERE (b > 1)",
                "CREATE UNIQUE INDEX t_expr_b_idx ON public.t USING btree (((c + 1)), b) \
                 WHERE (aa IS NULL)",
            ]
        );
        assert_eq!(
            sql.rows(
                "SELECT attname FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0"
            ),
            ["id", "aa", "b", "c", "d"]
        );
        assert_eq!(
            sql.sorted(
                "SELECT indkey::text, indpred IS NULL, indexprs IS NULL FROM pg_index \
                 WHERE indrelid = 't'::regclass"
            ),
            ["0 3|false|false", "0|false|false", "1|true|true"]
        );
        // They are no constraints, and go with their columns.
        assert_eq!(
            sql.rows("SELECT conname FROM pg_constraint WHERE conrelid = 't'::regclass"),
            ["t_pkey"]
        );
        sql.run("ALTER TABLE t DROP COLUMN aa");
        assert_eq!(sql.rows("SELECT indexname FROM pg_indexes"), ["t_pkey"]);
        assert_eq!(sql.one("SELECT * FROM t WHERE id = 8"), "8|7|NULL|d");
        assert_eq!(
            sql.one("SELECT count(DISTINCT column_name) FROM freestone_columns('t')"),
            "4"
        );
    }
}

#[test]
fn conditions_lead_to_indexes_over_expressions() {
    let sql = filled("column");
    let queries = [
        (
            "SELECT a FROM t WHERE lower(b || '!') = 'name 17!' AND a < 900",
            "lower(b || '!') =",
        ),
        (
            "SELECT a FROM t WHERE a = 7919 AND b IS NULL",
            "CASE WHEN b IS NULL",
        ),
        (
            "SELECT a FROM t WHERE a = 38 AND c < 10",
            "CASE WHEN c IS NOT NULL",
        ),
        (
            "SELECT t.a FROM t JOIN generate_series(1, 9) g ON g = t.a WHERE lower(t.b || '!') = 'x'",
            "lower(b || '!') =",
        ),
    ];
    let before: Vec<_> = queries.iter().map(|(query, _)| sql.sorted(query)).collect();
    sql.run("CREATE INDEX ON t (lower(b || '!')); CREATE INDEX ON t (a) WHERE b IS NULL");
    sql.run("CREATE INDEX ON t (a) WHERE c IS NOT NULL; VACUUM t");
    for ((query, wanted), before) in queries.iter().zip(before) {
        assert_eq!(sql.sorted(query), before, "{query}");
        let text = sql.rows(&format!("EXPLAIN {query}")).join("\n");
        assert!(text.contains(wanted), "{query}: {text}");
    }
    // An outer join may add rows without a value: its expression is computed for them.
    sql.run("CREATE INDEX ON t ((coalesce(b, 'none')))");
    let outer = "SELECT g FROM generate_series(-1, 0) g LEFT JOIN t ON t.a = g AND t.a < 0 \
                 WHERE coalesce(t.b, 'none') = 'none'";
    assert_eq!(sql.sorted(outer), ["-1", "0"]);
    for query in [
        "EXPLAIN SELECT a FROM t WHERE a = 7919 AND (b IS NULL OR c > 0)",
        "EXPLAIN SELECT a FROM t WHERE a = 7919",
    ] {
        let text = sql.rows(query).join("\n");
        assert!(!text.contains("CASE"), "{text}");
    }
    let text = sql
        .rows("EXPLAIN ANALYZE SELECT a FROM t WHERE lower(b || '!') = 'name 499!' AND a = 1")
        .join("\n");
    assert!(text.contains("blocks_by_index=1"), "{text}");
}

#[test]
fn hidden_columns_follow_every_change_and_the_file() {
    let directory = tempfile::tempdir().unwrap();
    {
        let database = freestone::Database::open(directory.path()).unwrap();
        let sql = Sql::on(&database);
        sql.run("CREATE TABLE u (email TEXT, gone TIMESTAMP, n INT GENERATED ALWAYS AS (length(email)) STORED)");
        sql.run(
            "CREATE UNIQUE INDEX live ON u (email) WHERE gone IS NULL; CREATE INDEX ON u ((n + 1))",
        );
        sql.run("INSERT INTO u VALUES ('x', now()), ('x', now()), ('x', NULL)");
        assert_eq!(sql.state("INSERT INTO u VALUES ('x', NULL)"), "23505");
        sql.run("INSERT INTO u SELECT 'e' || g FROM generate_series(1, 20000) g");
        assert_eq!(
            sql.state("INSERT INTO u SELECT 'e' || g FROM generate_series(20000, 40001) g"),
            "23505"
        );
        sql.run("UPDATE u SET gone = now() WHERE email LIKE 'e1%'; VACUUM u");
        sql.run("INSERT INTO u VALUES ('e11')");
        sql.run("MERGE INTO u USING (VALUES ('e2')) v (e) ON u.email = v.e WHEN MATCHED THEN UPDATE SET email = 'merged'");
        sql.run(
            "BEGIN; CREATE UNIQUE INDEX p ON u (n) WHERE n > 6; INSERT INTO u VALUES ('1234567')",
        );
        assert_eq!(sql.state("INSERT INTO u VALUES ('7654321')"), "23505");
        sql.run("ROLLBACK");
    }
    let database = freestone::Database::open(directory.path()).unwrap();
    let sql = Sql::on(&database);
    assert_eq!(
        sql.one("SELECT count(*) FROM u WHERE email = 'e11' AND gone IS NULL"),
        "1"
    );
    assert_eq!(
        sql.one("SELECT email FROM u WHERE n + 1 = 7 AND email LIKE 'm%'"),
        "merged"
    );
    assert_eq!(sql.state("INSERT INTO u VALUES ('merged')"), "23505");
    sql.run(
        "INSERT INTO u VALUES ('e2'); DROP INDEX live, u_expr_idx; INSERT INTO u VALUES ('e2')",
    );
    assert_eq!(sql.one("SELECT count(*) FROM pg_indexes"), "0");
}

#[test]
fn elements_of_indexes_are_checked() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b TEXT, d DATE)");
    for (statement, state) in [
        ("CREATE INDEX ON t (random())", "42P17"),
        ("CREATE INDEX ON t (a) WHERE d < now()", "42P17"),
        ("CREATE INDEX ON t (a) WHERE 5", "42804"),
        ("CREATE INDEX ON t ((a + (SELECT 1)))", "0A000"),
        ("CREATE INDEX ON t (zz)", "42703"),
        ("CREATE INDEX ON t ((zz + 1))", "42703"),
        ("CREATE INDEX ON t (count(*))", "42803"),
        ("CREATE INDEX ON t USING gin (b)", "0A000"),
        ("CREATE UNIQUE INDEX ON t USING brin (a)", "0A000"),
        ("CREATE INDEX ON t USING nosuch (a)", "42704"),
        ("CREATE INDEX ON t (a text_ops)", "42804"),
        ("CREATE INDEX ON t (a nosuch_ops)", "42704"),
        ("CREATE INDEX ON t (b COLLATE nosuch)", "42704"),
        ("CREATE INDEX ON t (a) INCLUDE (zz)", "42703"),
        ("CREATE TABLE l (LIKE t INCLUDING ALL)", ""),
    ] {
        let found = match state {
            "" => sql.run(statement).replace("CREATE TABLE", ""),
            _ => sql.state(statement),
        };
        assert_eq!(found, state, "{statement}");
    }
    sql.run("CREATE INDEX ON t (a int4_ops DESC NULLS LAST, b text_pattern_ops)");
    sql.run("CREATE INDEX ON t USING hash ((b COLLATE \"C\")); CREATE INDEX ON t (a) INCLUDE (b)");
    sql.run("CREATE INDEX ON t ((d + 1), (d + 1))");
    assert_eq!(
        sql.sorted("SELECT indexname FROM pg_indexes WHERE tablename = 't'"),
        ["t_a_b_idx", "t_a_b_idx1", "t_b_idx", "t_expr_expr1_idx"]
    );
    // There is no d + 1 of texts.
    assert_eq!(sql.state("ALTER TABLE t ALTER COLUMN d TYPE TEXT"), "42883");
    assert_eq!(
        sql.state("CREATE TABLE m (LIKE t INCLUDING INDEXES)"),
        "0A000"
    );
}

#[test]
fn the_catalog_tells_indexes_as_they_were_made() {
    let place = tempfile::tempdir().unwrap();
    let open = || Sql::on(&Database::open(place.path().join("d")).unwrap());
    let sql = open();
    sql.run(
        "CREATE TABLE t (a INT, b TEXT, c VARCHAR(5), n NAME, d INT);
         INSERT INTO t SELECT g, 'b' || g, 'c', 'n', g FROM generate_series(1, 100) g;
         CREATE INDEX i1 ON t (a DESC);
         CREATE INDEX i2 ON t (a DESC NULLS LAST, b NULLS FIRST) INCLUDE (d, n);
         CREATE INDEX i3 ON t (b COLLATE \"C\", c varchar_ops, b text_pattern_ops DESC);
         CREATE INDEX i4 ON t ((a + d) DESC, lower(b) NULLS FIRST) INCLUDE (c) WHERE a > 0;
         CREATE UNIQUE INDEX i5 ON t (a DESC, b) INCLUDE (c);
         CREATE INDEX i6 ON t (n COLLATE \"POSIX\", b COLLATE \"default\", c text_ops, a ASC NULLS LAST)",
    );
    drop(sql);
    let sql = open();
    let definitions = "SELECT replace(indexdef, ' ON public.t USING btree', '') FROM pg_indexes
         WHERE tablename = 't' ORDER BY indexname";
    let before = [
        "CREATE INDEX i1 (a DESC)",
        "CREATE INDEX i2 (a DESC NULLS LAST, b NULLS FIRST) INCLUDE (d, n)",
        "CREATE INDEX i3 (b COLLATE \"C\", c varchar_ops, b text_pattern_ops DESC)",
        "CREATE INDEX i4 (((a + d)) DESC, lower(b) NULLS FIRST) INCLUDE (c) WHERE (a > 0)",
        "CREATE UNIQUE INDEX i5 (a DESC, b) INCLUDE (c)",
        "CREATE INDEX i6 (n COLLATE \"POSIX\", b, c, a)",
    ];
    assert_eq!(sql.rows(definitions), before);
    assert_eq!(
        sql.rows(
            "SELECT relname, relnatts, indnatts, indnkeyatts, indkey, indcollation, indclass, indoption
             FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE relname <= 'i4' ORDER BY 1"
        ),
        [
            "i1|1|1|1|[1]|[0]|[1978]|[3]",
            "i2|4|4|2|[1, 2, 5, 4]|[0, 100]|[1978, 3126]|[1, 2]",
            "i3|3|3|3|[2, 3, 2]|[950, 100, 100]|[3126, 10044, 4217]|[0, 0, 3]",
            "i4|3|3|2|[0, 0, 3]|[0, 100]|[1978, 3126]|[3, 2]",
        ]
    );
    assert_eq!(
        sql.rows(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'i2'::regclass ORDER BY attnum"
        ),
        ["a", "b", "d", "n"]
    );
    assert_eq!(
        sql.one("SELECT pg_get_indexdef('i4'::regclass, 1, true), pg_get_indexdef('i4'::regclass, 3, false)"),
        "(a + d)|c"
    );
    assert_eq!(sql.state("INSERT INTO t (a, b) VALUES (1, 'b1')"), "23505");
    // Columns behind INCLUDE move, are renamed, and go with the index.
    sql.run("ALTER TABLE t ADD COLUMN z INT; ALTER TABLE t RENAME COLUMN c TO cc; ALTER TABLE t DROP COLUMN d");
    assert_eq!(
        sql.rows(definitions),
        [
            before[0],
            "CREATE INDEX i3 (b COLLATE \"C\", cc varchar_ops, b text_pattern_ops DESC)",
            "CREATE UNIQUE INDEX i5 (a DESC, b) INCLUDE (cc)",
            "CREATE INDEX i6 (n COLLATE \"POSIX\", b, cc, a)",
        ]
    );
    sql.run("ALTER TABLE t DROP COLUMN cc; INSERT INTO t (a, b) VALUES (1, 'b1')");
    assert_eq!(sql.rows(definitions), [before[0]]);
    for (index, state) in [
        ("USING hash (a DESC)", "0A000"),
        ("USING bloom (a NULLS FIRST)", "0A000"),
        ("USING brin (a) INCLUDE (b)", "0A000"),
    ] {
        assert_eq!(
            sql.state(&format!("CREATE INDEX ON t {index}")),
            state,
            "{index}"
        );
    }
}

#[test]
fn indexes_by_hash_are_told_as_such() {
    let place = tempfile::tempdir().unwrap();
    let open = || Sql::on(&Database::open(place.path().join("d")).unwrap());
    let sql = open();
    sql.run(
        "CREATE TABLE t (a INT, b TEXT); INSERT INTO t SELECT g, 'b' || g FROM generate_series(1, 50) g;
         CREATE INDEX i1 ON t USING hash (a);
         CREATE INDEX i2 ON t USING hash (b) WHERE a > 1",
    );
    for (statement, state) in [
        ("CREATE INDEX ON t USING hash (a, b)", "0A000"),
        ("CREATE UNIQUE INDEX ON t USING hash (a)", "0A000"),
        ("CREATE UNIQUE INDEX ON t USING brin (a)", "0A000"),
        ("CREATE INDEX ON t USING hash (a) INCLUDE (b)", "0A000"),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
    drop(sql);
    let sql = open();
    assert_eq!(
        sql.rows(
            "SELECT relname, amname, indclass, indexdef FROM pg_class c JOIN pg_am a ON a.oid = relam
             JOIN pg_index i ON indexrelid = c.oid JOIN pg_indexes x ON indexname = relname
             WHERE relname IN ('i1', 'i2') ORDER BY 1"
        ),
        [
            "i1|hash|[10020]|CREATE INDEX i1 ON public.t USING hash (a)",
            "i2|hash|[10037]|CREATE INDEX i2 ON public.t USING hash (b) WHERE (a > 1)",
        ]
    );
    assert_eq!(sql.rows("SELECT b FROM t WHERE a = 7"), ["b7"]);
}

#[test]
fn forms_of_indexes_go_to_partitions_and_copies() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE p (a INT, b INT) PARTITION BY RANGE (a);
         CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
         CREATE INDEX pi ON p (a DESC) INCLUDE (b);
         CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);
         CREATE TABLE q (b INT, a INT); CREATE INDEX qi ON q (a DESC) INCLUDE (b);
         ALTER TABLE p ATTACH PARTITION q FOR VALUES FROM (20) TO (30);
         CREATE TABLE l (z INT, LIKE p1 INCLUDING INDEXES)",
    );
    let definitions = "SELECT indexdef FROM pg_indexes ORDER BY tablename, indexname";
    assert_eq!(
        sql.rows(definitions),
        [
            "CREATE INDEX l_a_b_idx ON public.l USING btree (a DESC) INCLUDE (b)",
            "CREATE INDEX pi ON ONLY public.p USING btree (a DESC) INCLUDE (b)",
            "CREATE INDEX p1_a_b_idx ON public.p1 USING btree (a DESC) INCLUDE (b)",
            "CREATE INDEX p2_a_b_idx ON public.p2 USING btree (a DESC) INCLUDE (b)",
            "CREATE INDEX qi ON public.q USING btree (a DESC) INCLUDE (b)",
        ]
    );
}

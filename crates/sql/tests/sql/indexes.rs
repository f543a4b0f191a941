//! Indexes, codecs and columns that come and go: the answers stay the same.

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
    assert!(text.contains("top=3 by a ASC"), "{text}");
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

//! Partitioned tables: rows go to the partition that holds them, and nothing else tells a
//! partitioned table from another. Answers and errors are PostgreSQL 15's.

use freestone::Database;

use crate::support::Sql;

/// The SQLSTATE and the message of a statement that fails.
#[track_caller]
fn said(sql: &Sql, text: &str) -> String {
    let error = sql.error(text);
    format!("{} {}", error.sqlstate, error.message)
}

#[test]
fn ranges_hold_their_rows() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (a INT, b TEXT DEFAULT 'none', c INT GENERATED ALWAYS AS (a * 2) STORED) \
             PARTITION BY RANGE (a)",
    );
    assert!(sql.rows("SELECT * FROM t").is_empty());
    assert_eq!(
        said(&sql, "INSERT INTO t VALUES (1, 'x')"),
        "23514 no partition of relation \"t\" found for row"
    );
    sql.run(
        "CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (MINVALUE) TO (10);
             CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (10) TO (20)",
    );
    sql.run("INSERT INTO t (a) VALUES (-5), (9), (10), (19)");
    sql.run("INSERT INTO t2 VALUES (12, 'own')");
    assert_eq!(sql.sorted("SELECT * FROM t1"), ["-5|none|-10", "9|none|18"]);
    assert_eq!(
        sql.sorted("SELECT * FROM t2"),
        ["10|none|20", "12|own|24", "19|none|38"]
    );
    assert_eq!(sql.one("SELECT sum(a), count(*), max(c) FROM t"), "45|5|38");
    assert_eq!(
        sql.rows("SELECT tableoid::regclass, count(*) FROM t GROUP BY 1 ORDER BY 1::text"),
        ["t1|2", "t2|3"]
    );
    // A partitioned table has no rows of its own.
    for (of, count) in [("t", 0), ("(t)", 0), ("t AS x (a)", 0), ("t1", 2)] {
        let query = format!("SELECT count(*) FROM ONLY {of}");
        assert_eq!(sql.one(&query), count.to_string(), "{query}");
    }
    assert!(sql.rows("TABLE ONLY t").is_empty());
    assert_eq!(sql.one("SELECT count(*) FROM t *"), "5");
    for text in ["INSERT INTO t VALUES (20)", "INSERT INTO t VALUES (NULL)"] {
        assert_eq!(
            said(&sql, text),
            "23514 no partition of relation \"t\" found for row"
        );
    }
    assert_eq!(
        said(&sql, "INSERT INTO t1 VALUES (77, 'd')"),
        "23514 new row for relation \"t1\" violates partition constraint"
    );
    assert_eq!(
        said(&sql, "UPDATE t1 SET a = 15"),
        "23514 new row for relation \"t1\" violates partition constraint"
    );
    // In place and across, with what is returned in the order of the rows.
    assert_eq!(
        sql.run("UPDATE t SET a = a + 1 WHERE b = 'none' AND a < 19"),
        "UPDATE 3"
    );
    assert_eq!(sql.sorted("SELECT a FROM t1"), ["-4"]);
    assert_eq!(
        sql.sorted("SELECT a, c FROM t2 WHERE a < 12"),
        ["10|20", "11|22"]
    );
    assert_eq!(
        sql.sorted("UPDATE t SET a = a - 10 WHERE a >= 12 RETURNING a, b, c"),
        ["2|own|4", "9|none|18"]
    );
    assert_eq!(sql.sorted("SELECT a FROM t1"), ["-4", "2", "9"]);
    assert_eq!(sql.run("DELETE FROM t WHERE a IN (2, 10)"), "DELETE 2");
    assert_eq!(sql.sorted("DELETE FROM t RETURNING a"), ["-4", "11", "9"]);
    assert_eq!(sql.one("SELECT count(*) FROM t"), "0");
    // Many rows become blocks of each partition.
    sql.run("INSERT INTO t (a) SELECT g % 30 - 10 FROM generate_series(0, 59999) g");
    assert_eq!(sql.one("SELECT count(*) FROM t1"), "40000");
    assert_eq!(
        sql.one("SELECT count(*), sum(a), sum(c) FROM t WHERE a >= 10"),
        "20000|290000|580000"
    );
    sql.run("TRUNCATE t");
    assert_eq!(sql.one("SELECT count(*) FROM t2"), "0");
}

#[test]
fn bounds_are_checked_as_postgresql_does() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (a INT, b TEXT) PARTITION BY RANGE (a);
             CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (1) TO (10);
             CREATE TABLE l (a TEXT) PARTITION BY LIST (a);
             CREATE TABLE l1 PARTITION OF l FOR VALUES IN ('a', 'b', NULL);
             CREATE TABLE h (a INT) PARTITION BY HASH (a);
             CREATE TABLE h0 PARTITION OF h FOR VALUES WITH (MODULUS 4, REMAINDER 0);
             CREATE TABLE nopart (a INT)",
    );
    for (bound, error) in [
        (
            "t FOR VALUES FROM (5) TO (15)",
            "42P17 partition \"x\" would overlap partition \"t1\"",
        ),
        (
            "t FOR VALUES FROM (10) TO (10)",
            "42P17 empty range bound specified for partition \"x\"",
        ),
        (
            "t FOR VALUES FROM (20) TO (10)",
            "42P17 empty range bound specified for partition \"x\"",
        ),
        (
            "t FOR VALUES IN (10)",
            "42P16 invalid bound specification for a range partition",
        ),
        (
            "t FOR VALUES FROM (10, 1) TO (20, 2)",
            "42P16 FROM must specify exactly one value per partitioning column",
        ),
        (
            "t FOR VALUES FROM ('x') TO ('y')",
            "22P02 invalid input syntax for type integer: \"x\"",
        ),
        (
            "t FOR VALUES FROM (NULL) TO (1)",
            "42P17 cannot specify NULL in range bound",
        ),
        (
            "t FOR VALUES FROM (a) TO (1)",
            "0A000 cannot use column reference in partition bound expression",
        ),
        (
            "t FOR VALUES FROM ((SELECT 1)) TO (1)",
            "0A000 cannot use subquery in partition bound",
        ),
        (
            "l FOR VALUES IN ('b')",
            "42P17 partition \"x\" would overlap partition \"l1\"",
        ),
        (
            "l FOR VALUES IN (NULL)",
            "42P17 partition \"x\" would overlap partition \"l1\"",
        ),
        (
            "h FOR VALUES WITH (MODULUS 8, REMAINDER 4)",
            "42P17 partition \"x\" would overlap partition \"h0\"",
        ),
        (
            "h FOR VALUES WITH (MODULUS 3, REMAINDER 1)",
            "42P17 every hash partition modulus must be a factor of the next larger modulus",
        ),
        (
            "h FOR VALUES WITH (MODULUS 8, REMAINDER 9)",
            "42P16 remainder for hash partition must be less than modulus",
        ),
        (
            "h FOR VALUES WITH (MODULUS 0, REMAINDER 0)",
            "42P16 modulus for hash partition must be an integer value greater than zero",
        ),
        (
            "h DEFAULT",
            "42P16 a hash-partitioned table may not have a default partition",
        ),
        (
            "nopart FOR VALUES IN (1)",
            "42P17 \"nopart\" is not partitioned",
        ),
    ] {
        assert_eq!(
            said(&sql, &format!("CREATE TABLE x PARTITION OF {bound}")),
            error,
            "{bound}"
        );
    }
    for (by, error) in [
        (
            "LIST (a, b)",
            "42P17 cannot use \"list\" partition strategy with more than one column",
        ),
        (
            "FOO (a)",
            "22023 unrecognized partitioning strategy \"foo\"",
        ),
        (
            "RANGE (z)",
            "42703 column \"z\" named in partition key does not exist",
        ),
        (
            "RANGE (j)",
            "42704 data type json has no default operator class for access method \"btree\"",
        ),
        (
            "RANGE ((random()))",
            "42P17 functions in partition key expression must be marked IMMUTABLE",
        ),
        (
            "RANGE ((1))",
            "42P17 cannot use constant expression as partition key",
        ),
        (
            "RANGE (g)",
            "42P17 cannot use generated column in partition key",
        ),
    ] {
        let text = format!(
            "CREATE TABLE x (a INT, b INT, j JSON, g INT GENERATED ALWAYS AS (a + 1) STORED) \
             PARTITION BY {by}"
        );
        assert_eq!(said(&sql, &text), error, "{by}");
    }
    for (columns, error) in [
        (
            "a INT PRIMARY KEY, b INT) PARTITION BY RANGE (b)",
            "0A000 unique constraint on partitioned table must include all partitioning columns",
        ),
        (
            "a INT, b INT, UNIQUE (a)) PARTITION BY RANGE ((a + 1))",
            "0A000 unsupported UNIQUE constraint with partition key definition",
        ),
    ] {
        assert_eq!(said(&sql, &format!("CREATE TABLE x ({columns}")), error);
    }
    // The default partition has what no other holds, and gives nothing away.
    sql.run("CREATE TABLE td PARTITION OF t DEFAULT; INSERT INTO t VALUES (50, 'd'), (NULL, 'n')");
    assert_eq!(
        said(&sql, "CREATE TABLE x PARTITION OF t DEFAULT"),
        "42P17 partition \"x\" conflicts with existing default partition \"td\""
    );
    assert_eq!(
        said(
            &sql,
            "CREATE TABLE x PARTITION OF t FOR VALUES FROM (40) TO (60)"
        ),
        "23514 updated partition constraint for default partition \"td\" would be violated by some row"
    );
    sql.run("CREATE TABLE t6 PARTITION OF t FOR VALUES FROM (60) TO (MAXVALUE)");
    assert_eq!(
        said(&sql, "INSERT INTO td VALUES (60, 'd')"),
        "23514 new row for relation \"td\" violates partition constraint"
    );
    assert_eq!(sql.sorted("SELECT * FROM td"), ["50|d", "NULL|n"]);
}

#[test]
fn keys_of_several_columns_and_expressions() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (a INT, b NUMERIC) PARTITION BY RANGE (a, b);
             CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (-1, MINVALUE) TO (10, 2.50);
             CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (10, 2.5) TO (MAXVALUE, MAXVALUE)",
    );
    assert_eq!(
        said(
            &sql,
            "CREATE TABLE x PARTITION OF t FOR VALUES FROM (MINVALUE, 1) TO (1, 1)"
        ),
        "42804 every bound following MINVALUE must also be MINVALUE"
    );
    sql.run("INSERT INTO t VALUES (-1, 0), (10, 2.4), (10, 2.5), (11, -7)");
    assert_eq!(sql.sorted("SELECT * FROM t1"), ["-1|0", "10|2.4"]);
    assert_eq!(sql.sorted("SELECT * FROM t2"), ["10|2.5", "11|-7"]);
    let error = sql.error("INSERT INTO t VALUES (-5, NULL)");
    assert_eq!(
        error.detail.as_deref(),
        Some("Partition key of the failing row contains (a, b) = (-5, null).")
    );
    // A partition of a partition, by an expression and with columns of another order.
    sql.run(
        "CREATE TABLE l (a BOOL, b DATE, c TEXT) PARTITION BY LIST ((lower(c)));
             CREATE TABLE l1 PARTITION OF l FOR VALUES IN ('a''b', 'c') PARTITION BY LIST (b);
             CREATE TABLE l11 PARTITION OF l1 FOR VALUES IN ('2020-01-01', NULL);
             CREATE TABLE l2 PARTITION OF l DEFAULT;
             CREATE TABLE w (c TEXT, b DATE, a BOOL);
             INSERT INTO w VALUES ('A''B', '2022-01-01', false);
             ALTER TABLE l1 ATTACH PARTITION w FOR VALUES IN ('2022-01-01')",
    );
    sql.run(
        "INSERT INTO l VALUES (true, '2022-01-01', 'C'), (false, NULL, 'c'), (NULL, NULL, 'z')",
    );
    assert_eq!(
        sql.sorted("SELECT * FROM w"),
        ["A'B|2022-01-01|false", "C|2022-01-01|true"]
    );
    assert_eq!(
        sql.sorted("SELECT tableoid::regclass, * FROM l"),
        [
            "l11|false|NULL|c",
            "l2|NULL|NULL|z",
            "w|false|2022-01-01|A'B",
            "w|true|2022-01-01|C"
        ]
    );
    assert_eq!(
        said(&sql, "INSERT INTO l VALUES (true, '2020-02-02', 'C')"),
        "23514 no partition of relation \"l1\" found for row"
    );
    assert_eq!(
        said(&sql, "INSERT INTO w VALUES ('q', '2022-01-01', true)"),
        "23514 new row for relation \"w\" violates partition constraint"
    );
    assert_eq!(
        sql.sorted("UPDATE l SET b = '2020-01-01' WHERE a RETURNING b, c, a"),
        ["2020-01-01|C|true"]
    );
    assert_eq!(sql.sorted("SELECT c FROM l11"), ["C", "c"]);
    assert_eq!(sql.one("SELECT count(*) FROM l JOIN l1 ON l.c = l1.c"), "3");
}

/// The partitions that PostgreSQL's hash gives: from `SELECT tableoid::regclass, …`.
#[test]
fn hashes_are_postgresqls() {
    let sql = Sql::new();
    for (ty, values, of_first) in HASHED {
        sql.run(&format!("CREATE TABLE h (a {ty}) PARTITION BY HASH (a)"));
        for part in 0..4 {
            sql.run(&format!(
                "CREATE TABLE h{part} PARTITION OF h FOR VALUES WITH (MODULUS 4, REMAINDER {part})"
            ));
        }
        sql.run(&format!("INSERT INTO h VALUES {values}"));
        let found: Vec<String> = (0..4)
            .map(|part| sql.one(&format!("SELECT count(*) FROM h{part}")))
            .collect();
        assert_eq!(found.join(" "), *of_first, "{ty}");
        sql.run("DROP TABLE h");
        assert_eq!(sql.state("SELECT * FROM h0"), "42P01");
    }
}

const HASHED: &[(&str, &str, &str)] = &[
    (
        "INT",
        "(1), (2), (3), (-4), (500000), (NULL), (7), (8), (9)",
        "2 3 2 2",
    ),
    (
        "BIGINT",
        "(1), (2), (-3), (40000000000), (-40000000000), (NULL)",
        "5 0 1 0",
    ),
    ("SMALLINT", "(1), (2), (-3), (400), (5), (6)", "2 2 1 1"),
    (
        "TEXT",
        "(''), ('a'), ('abcdefgh'), ('abcdefghijkl'), ('abcdefghijklmnopq'), ('ä'), (NULL), ('x'), ('y')",
        "2 2 2 3",
    ),
    ("CHAR(5)", "('a'), ('b '), ('c'), ('dd')", "1 0 3 0"),
    (
        "DATE",
        "('2020-01-01'), ('1999-12-31'), ('1970-01-01'), ('2024-02-29')",
        "0 1 2 1",
    ),
    (
        "TIMESTAMP",
        "('2020-01-01 12:00'), ('1999-12-31'), ('1970-01-01'), ('2024-02-29 01:02:03.456')",
        "1 1 2 0",
    ),
    (
        "TIMESTAMPTZ",
        "('2020-01-01 12:00+00'), ('1999-12-31+00'), ('1970-01-01+00'), ('2024-02-29 01:02:03.456+00')",
        "1 1 2 0",
    ),
    (
        "TIME",
        "('12:00'), ('00:00'), ('23:59:59.5'), ('01:02:03')",
        "1 1 1 1",
    ),
    ("BOOL", "(true), (false), (NULL)", "3 0 0 0"),
    (
        "FLOAT8",
        "(0), ('-0'), (1.5), (-2.25), ('NaN'), (1e300)",
        "3 2 1 0",
    ),
    (
        "REAL",
        "(0), ('-0'), (1.5), (-2.25), ('NaN'), (1e30)",
        "4 2 0 0",
    ),
    (
        "NUMERIC",
        "(0), (1), (1.0), (-1), (12345.678), (0.00001), (1e20), (10000), (100000000), ('NaN'), (0.5), (99999999.99)",
        "2 3 2 5",
    ),
    (
        "NUMERIC(10,2)",
        "(0), (1), (-1), (12345.67), (0.01), (10000), (99999999.99)",
        "1 2 1 3",
    ),
    (
        "UUID",
        "('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'), ('00000000-0000-0000-0000-000000000000'), ('12345678-9c0b-4ef8-bb6d-6bb9bd380a11')",
        "1 1 0 1",
    ),
    (
        "BYTEA",
        "('\\x'), ('\\x00'), ('\\x0102030405060708090a0b0c0d0e')",
        "0 0 2 1",
    ),
];

#[test]
fn partitions_are_attached_and_detached() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT NOT NULL, b TEXT, CONSTRAINT ck CHECK (a <> 7)) PARTITION BY RANGE (a);
             CREATE TABLE td PARTITION OF t DEFAULT;
             INSERT INTO t VALUES (1, 'x'), (100, 'y')");
    sql.run("CREATE TABLE w (b TEXT, a INT)");
    let attach = "ALTER TABLE t ATTACH PARTITION w FOR VALUES FROM (50) TO (60)";
    assert_eq!(
        said(&sql, attach),
        "42804 column \"a\" in child table must be marked NOT NULL"
    );
    sql.run("ALTER TABLE w ALTER a SET NOT NULL");
    assert_eq!(
        said(&sql, attach),
        "42804 child table is missing constraint \"ck\""
    );
    sql.run("ALTER TABLE w ADD CONSTRAINT ck CHECK (a <> 7), ADD COLUMN z INT");
    assert_eq!(
        said(&sql, attach),
        "42804 table \"w\" contains column \"z\" not found in parent \"t\""
    );
    sql.run("ALTER TABLE w DROP COLUMN z; INSERT INTO w VALUES ('w', 55), ('w', 61)");
    assert_eq!(
        said(&sql, attach),
        "23514 partition constraint of relation \"w\" is violated by some row"
    );
    sql.run("DELETE FROM w WHERE a = 61");
    assert_eq!(
        said(
            &sql,
            "ALTER TABLE t ATTACH PARTITION w FOR VALUES FROM (50) TO (101)"
        ),
        "23514 updated partition constraint for default partition \"td\" would be violated by some row"
    );
    sql.run(attach);
    assert_eq!(said(&sql, attach), "42809 \"w\" is already a partition");
    assert_eq!(sql.sorted("SELECT * FROM t"), ["100|y", "1|x", "55|w"]);
    sql.run("INSERT INTO t VALUES (56, 'new')");
    assert_eq!(sql.sorted("SELECT * FROM w"), ["new|56", "w|55"]);
    for (text, error) in [
        (
            "ALTER TABLE w ADD COLUMN z INT",
            "42809 cannot add column to a partition",
        ),
        (
            "ALTER TABLE w DROP COLUMN b",
            "42P16 cannot drop inherited column \"b\"",
        ),
        (
            "ALTER TABLE w RENAME COLUMN b TO c",
            "42P16 cannot rename inherited column \"b\"",
        ),
        (
            "ALTER TABLE w ALTER b TYPE VARCHAR",
            "42P16 cannot alter inherited column \"b\"",
        ),
        (
            "ALTER TABLE w ALTER a DROP NOT NULL",
            "42P16 column \"a\" is marked NOT NULL in parent table",
        ),
        (
            "ALTER TABLE w DROP CONSTRAINT ck",
            "42P16 cannot drop inherited constraint \"ck\" of relation \"w\"",
        ),
        (
            "ALTER TABLE t DROP COLUMN a",
            "42P16 cannot drop column \"a\" because it is part of the partition key of relation \"t\"",
        ),
        (
            "ALTER TABLE t ALTER a TYPE BIGINT",
            "42P16 cannot alter column \"a\" because it is part of the partition key of relation \"t\"",
        ),
        (
            "ALTER TABLE w DETACH PARTITION td",
            "42P17 table \"w\" is not partitioned",
        ),
        (
            "ALTER TABLE w ATTACH PARTITION t DEFAULT",
            "42P17 table \"w\" is not partitioned",
        ),
        (
            "ALTER TABLE t ATTACH PARTITION t DEFAULT",
            "42P07 circular inheritance not allowed",
        ),
    ] {
        assert_eq!(said(&sql, text), error, "{text}");
    }
    sql.run("ALTER TABLE t DETACH PARTITION w");
    assert_eq!(
        said(&sql, "ALTER TABLE t DETACH PARTITION w"),
        "42P01 relation \"w\" is not a partition of relation \"t\""
    );
    assert_eq!(sql.one("SELECT count(*) FROM t"), "2");
    sql.run("INSERT INTO w VALUES ('free', 1)");
    // A partition with partitions goes as a whole.
    sql.run("CREATE TABLE s (a INT NOT NULL, b TEXT, CONSTRAINT ck CHECK (a <> 7)) PARTITION BY LIST (b);
             CREATE TABLE s1 PARTITION OF s FOR VALUES IN ('k');
             ALTER TABLE t ATTACH PARTITION s FOR VALUES FROM (200) TO (300);
             INSERT INTO t VALUES (250, 'k')");
    assert_eq!(sql.one("SELECT * FROM s1"), "250|k");
    assert_eq!(
        said(&sql, "INSERT INTO s1 VALUES (1, 'k')"),
        "23514 new row for relation \"s1\" violates partition constraint"
    );
    // Rows of the same transaction count, too.
    sql.run(
        "BEGIN; INSERT INTO t VALUES (400, 'late'); INSERT INTO w VALUES ('in', 2);
             CREATE TABLE t5 PARTITION OF t FOR VALUES FROM (500) TO (600)",
    );
    assert_eq!(
        said(
            &sql,
            "CREATE TABLE x PARTITION OF t FOR VALUES FROM (400) TO (401)"
        ),
        "23514 updated partition constraint for default partition \"td\" would be violated by some row"
    );
    sql.run(
        "ROLLBACK; BEGIN; INSERT INTO t VALUES (400, 'late');
             CREATE TABLE t5 PARTITION OF t FOR VALUES FROM (500) TO (600);
             INSERT INTO t VALUES (500, 'five'); COMMIT",
    );
    assert_eq!(sql.sorted("SELECT * FROM t5"), ["500|five"]);
    sql.run("DROP TABLE t, td");
    assert_eq!(sql.state("SELECT * FROM s1"), "42P01");
    assert_eq!(sql.one("SELECT count(*) FROM w"), "3");
    for text in ["TRUNCATE ONLY p", "ALTER TABLE ONLY p ADD COLUMN z INT"] {
        sql.run("CREATE TABLE p (a INT) PARTITION BY HASH (a)");
        let refused = sql.state(text);
        assert!(["42809", "0A000"].contains(&refused.as_str()), "{text}");
        sql.run("DROP TABLE p");
    }
}

#[test]
fn what_is_declared_is_of_all_partitions() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (k INT, b INT, PRIMARY KEY (k)) PARTITION BY RANGE (k);
             CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10);
             CREATE TABLE t2 PARTITION OF t (b DEFAULT 5, CONSTRAINT small CHECK (b < 100))
                 FOR VALUES FROM (10) TO (20) WITH (layout = 'pax');
             INSERT INTO t VALUES (1, 1), (11, 2)",
    );
    assert_eq!(
        said(&sql, "INSERT INTO t VALUES (2, 2), (1, 1)"),
        "23505 duplicate key value violates unique constraint \"t1_pkey\""
    );
    sql.run("INSERT INTO t2 (k) VALUES (12)");
    assert_eq!(sql.state("INSERT INTO t VALUES (13, 100)"), "23514");
    assert_eq!(sql.sorted("SELECT * FROM t"), ["11|2", "12|5", "1|1"]);
    sql.run("ALTER TABLE t ADD COLUMN c TEXT NOT NULL DEFAULT 'c', ADD CHECK (b > 0)");
    assert_eq!(
        said(&sql, "INSERT INTO t VALUES (3, 0)"),
        "23514 new row for relation \"t1\" violates check constraint \"t_b_check\""
    );
    assert_eq!(
        sql.state("ALTER TABLE t ADD CONSTRAINT big CHECK (b > 1)"),
        "23514"
    );
    assert_eq!(sql.state("ALTER TABLE t1 DROP CONSTRAINT t1_pkey"), "42P16");
    sql.run(
        "ALTER TABLE t RENAME COLUMN b TO bb; ALTER TABLE t ALTER c SET DEFAULT 'd';
             ALTER TABLE t ALTER bb TYPE BIGINT; ALTER TABLE t DROP CONSTRAINT t_b_check",
    );
    sql.run("INSERT INTO t (k, bb) VALUES (4, -4)");
    assert_eq!(sql.sorted("SELECT * FROM t1"), ["1|1|c", "4|-4|d"]);
    assert_eq!(
        said(&sql, "ALTER TABLE t ADD UNIQUE (bb)"),
        "0A000 unique constraint on partitioned table must include all partitioning columns"
    );
    sql.run("ALTER TABLE t DROP COLUMN c");
    sql.run("CREATE INDEX by_b ON t (bb)");
    assert_eq!(
        sql.sorted("SELECT indexname FROM pg_indexes WHERE indexname LIKE '%b%'"),
        ["by_b", "t1_bb_idx", "t2_bb_idx"]
    );
    assert_eq!(sql.one("SELECT k FROM t WHERE bb = 2"), "11");
    sql.run("CREATE TABLE t3 PARTITION OF t FOR VALUES FROM (20) TO (30)");
    assert_eq!(sql.state("DROP INDEX t1_bb_idx"), "2BP01");
    sql.run("DROP INDEX by_b");
    assert_eq!(
        sql.one("SELECT count(*) FROM pg_indexes WHERE indexname LIKE '%bb%'"),
        "0"
    );
    sql.run("ALTER TABLE t RENAME TO u");
    sql.run("INSERT INTO u VALUES (25, 0)");
    assert_eq!(sql.one("SELECT count(*) FROM t3"), "1");
    // A parent's numbers are its own.
    sql.run(
        "CREATE TABLE n (id INT GENERATED ALWAYS AS IDENTITY, a INT) PARTITION BY HASH (a);
             CREATE TABLE n0 PARTITION OF n FOR VALUES WITH (MODULUS 1, REMAINDER 0);
             INSERT INTO n (a) VALUES (5), (6)",
    );
    assert_eq!(sql.sorted("SELECT * FROM n0"), ["1|5", "2|6"]);
    // Foreign keys lead from partitions, not to a partitioned table.
    sql.run(
        "CREATE TABLE p (k INT PRIMARY KEY); INSERT INTO p VALUES (1);
             CREATE TABLE f (a INT, k INT REFERENCES p ON DELETE CASCADE) PARTITION BY LIST (a);
             CREATE TABLE f1 PARTITION OF f FOR VALUES IN (1);
             INSERT INTO f VALUES (1, 1)",
    );
    assert_eq!(sql.state("INSERT INTO f VALUES (1, 2)"), "23503");
    sql.run("DELETE FROM p");
    assert_eq!(sql.one("SELECT count(*) FROM f"), "0");
    assert_eq!(sql.state("CREATE TABLE x (k INT REFERENCES u)"), "0A000");
    assert_eq!(sql.state("SELECT * FROM u FOR UPDATE"), "0A000");
}

#[test]
fn rows_that_meet_and_merge() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (a INT PRIMARY KEY, b INT) PARTITION BY RANGE (a);
             CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10);
             CREATE TABLE t2 (b INT, a INT PRIMARY KEY);
             ALTER TABLE t ATTACH PARTITION t2 FOR VALUES FROM (10) TO (20);
             INSERT INTO t VALUES (1, 1), (11, 11)",
    );
    assert_eq!(
        sql.sorted(
            "INSERT INTO t VALUES (1, 5), (2, 6), (11, 7), (12, 8) \
             ON CONFLICT (a) DO UPDATE SET b = t.b + excluded.b RETURNING *"
        ),
        ["11|18", "12|8", "1|6", "2|6"]
    );
    assert_eq!(
        sql.sorted("INSERT INTO t VALUES (1, 0), (3, 0) ON CONFLICT ON CONSTRAINT t_pkey DO NOTHING RETURNING a"),
        ["3"]
    );
    assert_eq!(
        said(
            &sql,
            "INSERT INTO t VALUES (1, 1) ON CONFLICT (a) DO UPDATE SET a = 15"
        ),
        "0A000 invalid ON UPDATE specification"
    );
    assert_eq!(
        sql.run(
            "MERGE INTO t USING (VALUES (1, 100), (12, 200), (19, 300)) AS s (a, b) ON t.a = s.a \
             WHEN MATCHED AND t.a = 1 THEN UPDATE SET a = 18, b = s.b \
             WHEN MATCHED THEN DELETE \
             WHEN NOT MATCHED THEN INSERT VALUES (s.a, s.b)"
        ),
        "MERGE 3"
    );
    assert_eq!(sql.sorted("SELECT * FROM t1"), ["2|6", "3|0"]);
    assert_eq!(
        sql.sorted("SELECT a, b FROM t2"),
        ["11|18", "18|100", "19|300"]
    );
    // Rows are found beside those of another table, each once.
    sql.run("CREATE TABLE o (a INT, d INT); INSERT INTO o VALUES (2, 10), (18, -10), (18, -10)");
    assert_eq!(
        sql.sorted("UPDATE t SET a = t.a + d FROM o WHERE o.a = t.a RETURNING t.a, t.b, o.d"),
        ["12|6|10", "8|100|-10"]
    );
    assert_eq!(
        sql.sorted("DELETE FROM t USING o WHERE t.a = o.d + 2 RETURNING t.a, o.d"),
        ["12|10"]
    );
    assert_eq!(
        sql.rows_of_one_engine(
            "WITH w AS (DELETE FROM t WHERE a < 10 RETURNING a) SELECT sum(a) FROM w"
        ),
        ["11"]
    );
    assert_eq!(sql.sorted("SELECT a FROM t"), ["11", "19"]);
}

#[test]
fn truncate_reaches_partitioned_tables_that_refer() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE whole (a INT PRIMARY KEY);
         CREATE TABLE part (a INT REFERENCES whole) PARTITION BY RANGE (a);
         CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (100);
         CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM (100) TO (200)
             PARTITION BY RANGE (a);
         CREATE TABLE part_2_1 PARTITION OF part_2 FOR VALUES FROM (100) TO (150);
         CREATE TABLE part_2_d PARTITION OF part_2 DEFAULT",
    );
    let fill = "INSERT INTO whole VALUES (1), (100), (150); INSERT INTO part TABLE whole";
    sql.run(fill);
    assert_eq!(sql.state("TRUNCATE whole"), "0A000");
    assert_eq!(sql.state("TRUNCATE whole, part_1"), "0A000");
    for text in [
        "TRUNCATE whole, part",
        "TRUNCATE whole CASCADE",
        "TRUNCATE part_2, whole, part_1 CASCADE",
    ] {
        assert_eq!(sql.run(text), "TRUNCATE TABLE", "{text}");
        assert!(sql.rows("TABLE whole").is_empty(), "{text}");
        assert!(sql.rows("TABLE part").is_empty(), "{text}");
        sql.run(fill);
    }
    sql.run("TRUNCATE part");
    assert_eq!(sql.rows("SELECT count(*) FROM whole"), ["3"]);
}

#[test]
fn partitions_are_durable_and_rolled_back() {
    let folder = tempfile::tempdir().unwrap();
    {
        let sql = Sql::on(&Database::open(folder.path()).unwrap());
        sql.run(
            "CREATE TABLE t (a INT, b TEXT) PARTITION BY LIST (a);
                 CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1, NULL);
                 INSERT INTO t VALUES (1, 'one'), (NULL, 'none')",
        );
        sql.run(
            "BEGIN; CREATE TABLE t2 PARTITION OF t FOR VALUES IN (2);
                 INSERT INTO t VALUES (2, 'two'); UPDATE t SET a = 2 WHERE a = 1",
        );
        assert_eq!(sql.one("SELECT count(*) FROM t2"), "2");
        sql.run("ALTER TABLE t DETACH PARTITION t1");
        assert_eq!(sql.one("SELECT count(*) FROM t"), "2");
        sql.run("ROLLBACK");
        assert_eq!(sql.state("SELECT * FROM t2"), "42P01");
        sql.run("BEGIN; CREATE TABLE t3 PARTITION OF t FOR VALUES IN (3); SAVEPOINT s;
                 INSERT INTO t VALUES (3, 'three'); ROLLBACK TO s; INSERT INTO t VALUES (3, 'kept'); COMMIT");
    }
    for _ in 0..2 {
        let sql = Sql::on(&Database::open(folder.path()).unwrap());
        assert_eq!(
            sql.sorted("SELECT * FROM t"),
            ["1|one", "3|kept", "NULL|none"]
        );
        assert_eq!(sql.state("INSERT INTO t VALUES (2)"), "23514");
        sql.run("VACUUM t; VACUUM");
    }
}

#[test]
fn conditions_leave_partitions_out() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (day DATE, a INT) PARTITION BY RANGE (day);
             CREATE TABLE t24 PARTITION OF t FOR VALUES FROM (MINVALUE) TO ('2025-01-01');
             CREATE TABLE t25 PARTITION OF t FOR VALUES FROM ('2025-01-01') TO ('2026-01-01') PARTITION BY LIST (a);
             CREATE TABLE t25a PARTITION OF t25 FOR VALUES IN (1, 2);
             CREATE TABLE t25b PARTITION OF t25 FOR VALUES IN (3, NULL);
             CREATE TABLE t26 PARTITION OF t FOR VALUES FROM ('2026-01-01') TO (MAXVALUE);
             INSERT INTO t VALUES ('2020-02-02', 1), ('2025-01-01', 1), ('2025-05-05', NULL), ('2026-01-01', 3)");
    let read = |condition: &str| {
        let plan = sql.rows_of_one_engine(&format!("EXPLAIN SELECT * FROM t WHERE {condition}"));
        let plan = plan.join("\n");
        let all = ["t24", "t25a", "t25b", "t26"];
        let found = all
            .iter()
            .filter(|name| plan.contains(&format!("scan {name} ")));
        found.copied().collect::<Vec<_>>().join(" ")
    };
    for (condition, partitions, rows) in [
        ("day < '2025-01-01'", "t24", 1),
        ("day <= '2025-01-01'", "t24 t25a t25b", 2),
        ("day >= '2026-01-01'", "t26", 1),
        ("day = '2025-01-01' AND a = 1", "t25a", 1),
        ("day = '2025-05-05' AND a IS NULL", "t25b", 1),
        ("day IN ('2024-01-01', '2027-01-01')", "t24 t26", 0),
        (
            "day BETWEEN '2025-02-01' AND '2025-03-01' AND a > 2",
            "t25b",
            0,
        ),
        ("a = 5", "t24 t26", 0),
        ("day IS NULL", "", 0),
        ("day IS NOT NULL", "t24 t25a t25b t26", 4),
    ] {
        assert_eq!(read(condition), partitions, "{condition}");
        let count = sql.one(&format!("SELECT count(*) FROM t WHERE {condition}"));
        assert_eq!(count, rows.to_string(), "{condition}");
    }
}

#[test]
fn the_catalog_tells_of_partitions() {
    let sql = Sql::new();
    sql.run("CREATE TABLE l (a BOOL, b DATE, c TEXT) PARTITION BY LIST ((lower(c)));
             CREATE TABLE l1 PARTITION OF l FOR VALUES IN ('a''b', 'c') PARTITION BY RANGE (b, a);
             CREATE TABLE l11 PARTITION OF l1 FOR VALUES FROM ('2020-01-01', MINVALUE) TO ('2021-01-01', true);
             CREATE TABLE l2 PARTITION OF l DEFAULT PARTITION BY HASH (b);
             CREATE TABLE l21 PARTITION OF l2 FOR VALUES WITH (MODULUS 2, REMAINDER 1)");
    assert_eq!(
        sql.rows(
            "SELECT relname, relkind, relispartition, pg_get_expr(relpartbound, oid), pg_get_partkeydef(oid) \
             FROM pg_class WHERE relname ~ '^l[0-9]*$' ORDER BY 1"
        ),
        [
            "l|p|false|NULL|LIST (lower(c))",
            "l1|p|true|FOR VALUES IN ('a''b', 'c')|RANGE (b, a)",
            "l11|r|true|FOR VALUES FROM ('2020-01-01', MINVALUE) TO ('2021-01-01', true)|NULL",
            "l2|p|true|DEFAULT|HASH (b)",
            "l21|r|true|FOR VALUES WITH (modulus 2, remainder 1)|NULL",
        ]
    );
    assert_eq!(
        sql.rows(
            "SELECT partrelid::regclass, partstrat, partnatts, partdefid::regclass, partattrs::text \
             FROM pg_partitioned_table ORDER BY 1::text"
        ),
        ["l|l|1|l2|0", "l1|r|2|-|2 1", "l2|h|1|-|2"]
    );
    assert_eq!(
        sql.sorted("SELECT inhrelid::regclass, inhparent::regclass FROM pg_inherits"),
        ["l11|l1", "l1|l", "l21|l2", "l2|l"]
    );
    assert_eq!(
        sql.one("SELECT pg_partition_root('l11'), pg_partition_root('l')"),
        "l|l"
    );
}

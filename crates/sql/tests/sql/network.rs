//! Network addresses in tables: INET, CIDR, MACADDR and MACADDR8.

use arrow::datatypes::DataType;

use crate::support::{LAYOUTS, Sql};

#[test]
fn columns_hold_them_on_every_layout() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        sql.run(&format!(
            "CREATE TABLE t (n integer, i inet, c cidr, m macaddr, w macaddr8, a inet[]) \
             WITH (layout = '{layout}')"
        ));
        sql.run(
            "INSERT INTO t VALUES (1, '10.1.2.3/8', '10/8', '08-00-2b-01-02-03', '08002b010203', \
             '{10.0.0.1,::1/64}'), (2, '::1', '::/0', NULL, NULL, NULL)",
        );
        sql.run("INSERT INTO t (n, c, i) SELECT 3, i, c FROM t WHERE n = 1");
        sql.run("INSERT INTO t (n, i, a) SELECT 3 + g, '10.0.0.0'::inet + g, ARRAY['::'::inet] FROM generate_series(1, 2) AS s (g)");
        assert_eq!(
            sql.rows("SELECT * FROM t ORDER BY n"),
            [
                "1|10.1.2.3/8|10.0.0.0/8|08:00:2b:01:02:03|08:00:2b:ff:fe:01:02:03|{10.0.0.1,::1/64}",
                "2|::1|::/0|NULL|NULL|NULL",
                "3|10.0.0.0/8|10.0.0.0/8|NULL|NULL|NULL",
                "4|10.0.0.1|NULL|NULL|NULL|{::}",
                "5|10.0.0.2|NULL|NULL|NULL|{::}",
            ],
            "{layout}"
        );
        assert_eq!(
            sql.rows("SELECT n FROM t ORDER BY i"),
            ["3", "1", "4", "5", "2"]
        );
        for (condition, found) in [
            ("i = '10.1.2.3/8'", "1"),
            ("i > '10.0.0.1'", "2,5"),
            ("i << '10/8'", "4,5"),
            ("c >>= i AND i <> c", "1,2"),
            ("c = '10.0.0.0/8'::inet", "1,3"),
            ("m = '08:00:2b:01:02:03'", "1"),
            ("w IN ('08:00:2b:ff:fe:01:02:03')", "1"),
            ("'::'::inet = ANY (a)", "4,5"),
        ] {
            let query =
                format!("SELECT string_agg(n::text, ',' ORDER BY n) FROM t WHERE {condition}");
            assert_eq!(sql.one(&query), found, "{layout}: {condition}");
        }
        assert_eq!(
            sql.one("SELECT min(i), max(i), count(DISTINCT c), max(c) FROM t"),
            "10.0.0.0/8|::1|2|::/0"
        );
        sql.run("UPDATE t SET i = i + 1, c = set_masklen(c, 4) WHERE n = 1");
        assert_eq!(
            sql.one("SELECT i, c FROM t WHERE n = 1"),
            "10.1.2.4/8|0.0.0.0/4"
        );
        assert_eq!(sql.one("SELECT count(*) FROM t JOIN t u ON t.c = u.i"), "1");
    }
}

#[test]
fn texts_that_are_none_are_refused() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (i inet, c cidr, m macaddr)");
    for (statement, state, message) in [
        (
            "INSERT INTO t (i) VALUES ('10.0.0.300')",
            "22P02",
            "invalid input syntax for type inet: \"10.0.0.300\"",
        ),
        (
            "INSERT INTO t (c) VALUES ('10.0.0.1/8')",
            "22P02",
            "invalid cidr value: \"10.0.0.1/8\"",
        ),
        (
            "INSERT INTO t (m) VALUES ('300:0:0:0:0:0')",
            "22003",
            "invalid octet value in \"macaddr\" value: \"300:0:0:0:0:0\"",
        ),
        (
            "INSERT INTO t (i) VALUES (5)",
            "42804",
            "column \"i\" is of type inet but expression is of type integer",
        ),
        (
            "INSERT INTO t (i) VALUES ('\\x0a'::bytea)",
            "42804",
            "column \"i\" is of type inet but expression is of type bytea",
        ),
        (
            "CREATE TABLE u (a inet) PARTITION BY HASH (a)",
            "0A000",
            "hash partitions by values of type inet are not supported",
        ),
        (
            "CREATE DOMAIN d AS inet",
            "0A000",
            "a domain over inet is not supported",
        ),
    ] {
        let error = sql.error(statement);
        assert_eq!(
            (error.sqlstate.as_str(), error.message.as_str()),
            (state, message)
        );
    }
    let detail = sql.error("INSERT INTO t (c) VALUES ('10.0.0.1/8')").detail;
    assert_eq!(
        detail.as_deref(),
        Some("Value has bits set to right of mask.")
    );
}

#[test]
fn keys_and_indexes_hold_them() {
    let sql = Sql::new();
    sql.run("CREATE TABLE k (i inet PRIMARY KEY, c cidr UNIQUE, m macaddr)");
    sql.run("CREATE INDEX ON k (m macaddr_ops, c inet_ops)");
    sql.run("INSERT INTO k VALUES ('10.0.0.1', '10/8', '08:00:2b:01:02:03')");
    for (insert, detail) in [
        (
            "INSERT INTO k VALUES ('10.0.0.1/32')",
            "Key (i)=(10.0.0.1) already exists.",
        ),
        (
            "INSERT INTO k SELECT '10.0.0.2', '10.0.0.0/8'",
            "Key (c)=(10.0.0.0/8) already exists.",
        ),
    ] {
        let error = sql.error(insert);
        assert_eq!(
            (error.sqlstate.as_str(), error.detail.as_deref()),
            ("23505", Some(detail))
        );
    }
    sql.run(
        "INSERT INTO k VALUES ('10.0.0.1', '11/8') ON CONFLICT (i) DO UPDATE SET c = excluded.c",
    );
    for literal in ["'10.0.0.1'", "'10.0.0.1/32'", "inet '10.0.0.1'"] {
        assert_eq!(
            sql.one(&format!("SELECT c FROM k WHERE i = {literal}")),
            "11.0.0.0/8"
        );
    }
    sql.run("PREPARE p AS SELECT i FROM k WHERE i = $1");
    assert_eq!(sql.rows("EXECUTE p('10.0.0.1/32')"), ["10.0.0.1"]);
    sql.run("CREATE TABLE r (i inet REFERENCES k)");
    let error = sql.error("INSERT INTO r VALUES ('::1')");
    assert_eq!(error.sqlstate, "23503");
    assert!(error.detail.unwrap().contains("(::1)"));
    assert_eq!(sql.state("CREATE TABLE s (i bytea REFERENCES k)"), "42804");
    sql.run("CREATE TABLE parts (i inet) PARTITION BY RANGE (i)");
    sql.run("CREATE TABLE low PARTITION OF parts FOR VALUES FROM ('0.0.0.0') TO ('128.0.0.0')");
    sql.run("INSERT INTO parts VALUES ('10.0.0.1')");
    let error = sql.error("INSERT INTO parts VALUES ('200.0.0.1')");
    assert_eq!(
        error.detail.as_deref(),
        Some("Partition key of the failing row contains (i) = (200.0.0.1).")
    );
    let plan = sql
        .rows("EXPLAIN SELECT c FROM k WHERE i > '10.0.0.0' AND c << '10/7'::cidr")
        .join("\n");
    assert!(plan.contains("i > '10.0.0.0'"), "{plan}");
    assert!(plan.contains("<< '10.0.0.0/7'"), "{plan}");
    // A zero byte is no text.
    sql.run("CREATE TABLE b (v bytea PRIMARY KEY); INSERT INTO b VALUES ('\\x0041')");
    let error = sql.error("INSERT INTO b VALUES ('\\x0041')");
    assert_eq!(
        error.detail.as_deref(),
        Some("Key (v)=(\\x0041) already exists.")
    );
}

#[test]
fn the_catalog_tells_them() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (i inet, c cidr, m macaddr, w macaddr8, a cidr[])");
    sql.run("CREATE TABLE u AS SELECT * FROM t");
    for table in ["t", "u"] {
        assert_eq!(
            sql.rows(&format!(
                "SELECT atttypid, format_type(atttypid, atttypmod), attlen FROM pg_attribute \
                 WHERE attrelid = '{table}'::regclass AND attnum > 0 ORDER BY attnum"
            )),
            [
                "869|inet|-1",
                "650|cidr|-1",
                "829|macaddr|6",
                "774|macaddr8|8",
                "651|cidr[]|-1"
            ]
        );
    }
    assert_eq!(
        sql.rows(
            "SELECT data_type, udt_name FROM information_schema.columns \
             WHERE table_name = 't' ORDER BY ordinal_position"
        ),
        [
            "inet|inet",
            "cidr|cidr",
            "macaddr|macaddr",
            "macaddr8|macaddr8",
            "ARRAY|_cidr"
        ]
    );
    assert_eq!(
        sql.rows(
            "SELECT typname, typcategory, typispreferred, typarray, typbyval, typalign, typstorage, \
             typinput FROM pg_type WHERE oid IN (650, 774, 829, 869) ORDER BY oid"
        ),
        [
            "cidr|I|false|651|false|i|m|cidr_in",
            "macaddr8|U|false|775|false|i|p|macaddr8_in",
            "macaddr|U|false|1040|false|i|p|macaddr_in",
            "inet|I|true|1041|false|i|m|inet_in"
        ]
    );
    assert_eq!(
        sql.one("SELECT pg_typeof(network(i)), pg_typeof(max(c)) FROM t GROUP BY i UNION SELECT pg_typeof('::'::inet), NULL"),
        "inet|NULL"
    );
}

#[test]
fn columns_change_their_type_and_files_give_them() {
    let folder = tempfile::tempdir().unwrap();
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a text, b cidr, m macaddr); INSERT INTO t VALUES ('10.0.0.1', '10/8', '08:00:2b:01:02:03')");
    sql.run("ALTER TABLE t ALTER a TYPE inet USING a::inet, ALTER b TYPE inet");
    sql.run("ALTER TABLE t ADD d inet DEFAULT '1.2.3.4' CHECK (d <> '::')");
    let error = sql.error("UPDATE t SET d = '::'");
    assert_eq!(
        error.detail.as_deref(),
        Some("Failing row contains (10.0.0.1, 10.0.0.0/8, 08:00:2b:01:02:03, ::).")
    );
    for form in ["csv", "parquet"] {
        let path = folder.path().join(format!("t.{form}"));
        let path = path.display();
        sql.run(&format!("COPY t TO '{path}'; CREATE TABLE {form} (LIKE t)"));
        sql.run(&format!("COPY {form} FROM '{path}'"));
        assert_eq!(
            sql.one(&format!("SELECT * FROM {form}")),
            "10.0.0.1|10.0.0.0/8|08:00:2b:01:02:03|1.2.3.4"
        );
    }
    // Bytes of a file are no address.
    let path = folder.path().join("bytes.parquet");
    let path = path.display();
    sql.run(&format!(
        "COPY (SELECT '\\x31302e302e302e31'::bytea AS i) TO '{path}'"
    ));
    sql.run("CREATE TABLE u (i inet)");
    assert_eq!(sql.state(&format!("COPY u FROM '{path}'")), "22P03");
    sql.run("ALTER TABLE t ALTER a TYPE text");
    assert_eq!(sql.one("SELECT a FROM t"), "10.0.0.1/32");
    sql.run("CREATE VIEW v AS SELECT b, inet '::1' AS one FROM t WHERE b >>= '10.0.0.1'");
    assert_eq!(sql.one("SELECT * FROM v"), "10.0.0.0/8|::1");
}

#[test]
fn parameters_have_the_types_of_their_use() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (i inet, c cidr[], b bit(4), n integer)");
    for (text, told) in [
        (
            "SELECT n FROM t WHERE i = $1 AND b = $2",
            ["inet", "\"bit\""],
        ),
        ("INSERT INTO t (i, c) VALUES ($1, $2)", ["inet", "cidr[]"]),
        ("UPDATE t SET b = $1 WHERE i << $2", ["\"bit\"", "inet"]),
        (
            "SELECT $1::varbit(3), $2::macaddr8",
            ["bit varying", "macaddr8"],
        ),
    ] {
        let described = sql.told(&sql.session.prepare(text).unwrap()).unwrap();
        let said: Vec<&str> = described
            .said
            .iter()
            .flatten()
            .map(String::as_str)
            .collect();
        assert_eq!(said, told, "{text}");
        assert_eq!(
            described.parameters,
            [DataType::Utf8View, DataType::Utf8View]
        );
    }
    sql.run("PREPARE p AS INSERT INTO t (i, b) VALUES ($1, $2)");
    sql.run("EXECUTE p('10.0.0.1', '1010')");
    assert_eq!(
        sql.one("SELECT parameter_types FROM pg_prepared_statements"),
        "{inet,bit}"
    );
    assert_eq!(sql.one("SELECT i, b FROM t"), "10.0.0.1|1010");
}

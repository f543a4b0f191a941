//! Ranges and multiranges in tables.

use crate::support::{LAYOUTS, Sql};

#[test]
fn columns_hold_them_on_every_layout() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        sql.run(&format!(
            "CREATE TABLE t (n integer, i int4range, l int8range, m numrange, d daterange, \
             s tsrange, z tstzrange, im int4multirange, nm nummultirange, a int4range[]) \
             WITH (layout = '{layout}')"
        ));
        sql.run(
            "INSERT INTO t VALUES (1, '[1,5]', '(1,5)', '[1.10,2.0]', '[2020-01-01,2020-01-31]', \
             '[2020-01-01 10:00,)', '(,2020-01-01 00:00+02)', '{[1,3),[2,5),[7,9)}', \
             '{[1.0,2.50]}', '{\"[1,3]\",empty}'), \
             (2, 'empty', NULL, '(,)', NULL, NULL, NULL, '{}', NULL, NULL)",
        );
        sql.run("INSERT INTO t (n, i, m) SELECT 2 + g, int4range(g, g + 4), numrange(1.1, 2.00, '[]') FROM generate_series(1, 2) AS s (g)");
        assert_eq!(
            sql.rows("SELECT * FROM t ORDER BY n"),
            [
                "1|[1,6)|[2,5)|[1.10,2.0]|[2020-01-01,2020-02-01)|[\"2020-01-01 10:00:00\",)|\
                 (,\"2019-12-31 22:00:00+00\")|{[1,5),[7,9)}|{[1.0,2.50]}|{\"[1,4)\",empty}",
                "2|empty|NULL|(,)|NULL|NULL|NULL|{}|NULL|NULL",
                "3|[1,5)|NULL|[1.1,2.00]|NULL|NULL|NULL|NULL|NULL|NULL",
                "4|[2,6)|NULL|[1.1,2.00]|NULL|NULL|NULL|NULL|NULL|NULL",
            ],
            "{layout}"
        );
        assert_eq!(
            sql.rows("SELECT n FROM t ORDER BY i DESC"),
            ["4", "1", "3", "2"]
        );
        for (condition, found) in [
            ("i = '[1,5]'", "1"),
            ("i > '[1,5)'", "1,4"),
            ("i @> 5", "1,4"),
            ("i && '[5,9)'", "1,4"),
            ("isempty(i)", "2"),
            ("m = '[1.1,2]'", "1,3,4"),
            ("m IN ('[1.100,2.000]', 'empty')", "1,3,4"),
            ("m @> 1.5", "1,2,3,4"),
            ("d @> date '2020-01-31'", "1"),
            ("z @> '2019-01-01 00:00+00'::timestamptz", "1"),
            ("im @> 8", "1"),
            ("im = '{[7,9),[1,5)}'", "1"),
            ("nm = '{[1,2.5]}'", "1"),
            ("'[1,4)'::int4range = ANY (a)", "1"),
        ] {
            let query =
                format!("SELECT string_agg(n::text, ',' ORDER BY n) FROM t WHERE {condition}");
            assert_eq!(sql.one(&query), found, "{layout}: {condition}");
        }
        assert_eq!(
            sql.one("SELECT count(DISTINCT i), count(DISTINCT m), range_agg(i) FROM t"),
            "4|2|{[1,6)}"
        );
        assert_eq!(
            sql.rows("SELECT count(*) FROM t GROUP BY m ORDER BY m"),
            ["1", "3"]
        );
        sql.run("UPDATE t SET i = i * '[0,3)', m = m + '[2,3]' WHERE n = 1");
        assert_eq!(sql.one("SELECT i, m FROM t WHERE n = 1"), "[1,3)|[1.10,3]");
        assert_eq!(
            sql.one("SELECT count(*) FROM t JOIN t u ON t.m = u.m AND t.n < u.n"),
            "1"
        );
        assert_eq!(
            sql.rows("SELECT DISTINCT m FROM t WHERE n > 2"),
            ["[1.1,2.00]"]
        );
    }
}

#[test]
fn texts_that_are_none_are_refused() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (i int4range, m int4multirange)");
    for (statement, state, message) in [
        (
            "INSERT INTO t (i) VALUES ('[1')",
            "22P02",
            "malformed range literal: \"[1\"",
        ),
        (
            "INSERT INTO t (i) VALUES ('[5,1)')",
            "22000",
            "range lower bound must be less than or equal to range upper bound",
        ),
        (
            "INSERT INTO t (m) VALUES ('[1,5)')",
            "22P02",
            "malformed multirange literal: \"[1,5)\"",
        ),
        (
            "INSERT INTO t (i) VALUES (5)",
            "42804",
            "column \"i\" is of type int4range but expression is of type integer",
        ),
        (
            "INSERT INTO t (i) VALUES ('\\x00'::bytea)",
            "42804",
            "column \"i\" is of type int4range but expression is of type bytea",
        ),
        (
            "INSERT INTO t (i) VALUES (int8range(1, 2))",
            "42804",
            "column \"i\" is of type int4range but expression is of type int8range",
        ),
        (
            "SELECT i @> 1::bigint FROM t",
            "42883",
            "operator does not exist: int4range @> bigint",
        ),
        (
            "CREATE TABLE u (m numrange PRIMARY KEY)",
            "0A000",
            "column \"m\" of type NUMRANGE cannot be in a key or an index, nor rows be sorted or \
             partitioned by it",
        ),
        (
            "CREATE TABLE u (i int4range) PARTITION BY HASH (i)",
            "0A000",
            "hash partitions by values of type int4range are not supported",
        ),
        (
            "CREATE DOMAIN d AS int4range",
            "0A000",
            "a domain over int4range is not supported",
        ),
        (
            "CREATE TYPE r AS RANGE (subtype = float8)",
            "0A000",
            "only enumerations and composite types can be created",
        ),
    ] {
        let error = sql.error(statement);
        assert_eq!(
            (error.sqlstate.as_str(), error.message.as_str()),
            (state, message)
        );
    }
    let detail = sql.error("INSERT INTO t (i) VALUES ('[1,2,3]')").detail;
    assert_eq!(detail.as_deref(), Some("Too many commas."));
}

#[test]
fn keys_and_indexes_hold_them() {
    let sql = Sql::new();
    sql.run("CREATE TABLE k (i int4range PRIMARY KEY, s tstzrange UNIQUE, m datemultirange)");
    sql.run("CREATE INDEX ON k (m multirange_ops, s range_ops)");
    sql.run(
        "INSERT INTO k VALUES ('[1,5)', '[2020-01-01 00:00+00,)', '{[2020-01-01,2020-01-02)}')",
    );
    for (insert, detail) in [
        (
            "INSERT INTO k VALUES ('[1,4]')",
            "Key (i)=([1,5)) already exists.",
        ),
        (
            "INSERT INTO k SELECT '[1,6)', '[2020-01-01 02:00+02,)'",
            "Key (s)=([\"2020-01-01 00:00:00+00\",)) already exists.",
        ),
    ] {
        let error = sql.error(insert);
        assert_eq!(
            (error.sqlstate.as_str(), error.detail.as_deref()),
            ("23505", Some(detail))
        );
    }
    sql.run("INSERT INTO k VALUES ('(0,5)') ON CONFLICT (i) DO UPDATE SET m = '{}'");
    for literal in ["'[1,5)'", "'[1,4]'", "int4range(1, 5)"] {
        assert_eq!(
            sql.one(&format!("SELECT m FROM k WHERE i = {literal}")),
            "{}"
        );
    }
    sql.run("PREPARE p AS SELECT i FROM k WHERE i = $1");
    assert_eq!(sql.rows("EXECUTE p('(0,4]')"), ["[1,5)"]);
    sql.run("CREATE TABLE r (i int4range REFERENCES k)");
    let error = sql.error("INSERT INTO r VALUES ('empty')");
    assert_eq!(error.sqlstate, "23503");
    assert!(error.detail.unwrap().contains("(empty)"));
    assert_eq!(
        sql.state("CREATE TABLE s (i int8range REFERENCES k)"),
        "42804"
    );
    sql.run("CREATE TABLE parts (i int4range) PARTITION BY RANGE (i)");
    sql.run("CREATE TABLE low PARTITION OF parts FOR VALUES FROM ('empty') TO ('[10,20)')");
    sql.run("INSERT INTO parts VALUES ('[3,5)')");
    let error = sql.error("INSERT INTO parts VALUES ('[30,)')");
    assert_eq!(
        error.detail.as_deref(),
        Some("Partition key of the failing row contains (i) = ([30,)).")
    );
}

#[test]
fn the_catalog_tells_them() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (i int4range, z tstzrange, m nummultirange, a daterange[])");
    sql.run("CREATE TABLE u AS SELECT * FROM t");
    for table in ["t", "u"] {
        assert_eq!(
            sql.rows(&format!(
                "SELECT atttypid, format_type(atttypid, atttypmod), attlen FROM pg_attribute \
                 WHERE attrelid = '{table}'::regclass AND attnum > 0 ORDER BY attnum"
            )),
            [
                "3904|int4range|-1",
                "3910|tstzrange|-1",
                "4532|nummultirange|-1",
                "3913|daterange[]|-1"
            ]
        );
    }
    assert_eq!(
        sql.rows(
            "SELECT data_type, udt_name FROM information_schema.columns \
             WHERE table_name = 't' ORDER BY ordinal_position"
        ),
        [
            "int4range|int4range",
            "tstzrange|tstzrange",
            "nummultirange|nummultirange",
            "ARRAY|_daterange"
        ]
    );
    assert_eq!(
        sql.rows(
            "SELECT typname, typtype, typcategory, typarray, typalign, typinput \
             FROM pg_type WHERE oid IN (3904, 3908, 4451, 4536) ORDER BY oid"
        ),
        [
            "int4range|r|R|3905|i|range_in",
            "tsrange|r|R|3909|d|range_in",
            "int4multirange|m|R|6150|i|multirange_in",
            "int8multirange|m|R|6157|d|multirange_in"
        ]
    );
    assert_eq!(
        sql.rows(
            "SELECT rngtypid::regtype, rngsubtype::regtype, rngmultitypid::regtype, rngsubopc, \
             rngcanonical, rngsubdiff FROM pg_range ORDER BY rngtypid LIMIT 2"
        ),
        [
            "int4range|integer|int4multirange|1978|int4range_canonical|int4range_subdiff",
            "numrange|numeric|nummultirange|3125|-|numrange_subdiff"
        ]
    );
}

#[test]
fn columns_change_their_type_and_files_give_them() {
    let folder = tempfile::tempdir().unwrap();
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a text, b numrange); INSERT INTO t VALUES ('[1,5]', '[1.0,2]')");
    sql.run("ALTER TABLE t ALTER a TYPE int4range USING a::int4range");
    sql.run(
        "ALTER TABLE t ADD d daterange DEFAULT '[2020-01-01,2020-01-02]' CHECK (NOT isempty(d)), \
         ADD m int4multirange DEFAULT '{[1,2)}'",
    );
    let error = sql.error("UPDATE t SET d = 'empty', b = 'empty'");
    assert_eq!(error.sqlstate, "23514");
    for form in ["csv", "parquet"] {
        let path = folder.path().join(format!("t.{form}"));
        let path = path.display();
        sql.run(&format!("COPY t TO '{path}'; CREATE TABLE {form} (LIKE t)"));
        sql.run(&format!("COPY {form} FROM '{path}'"));
        assert_eq!(
            sql.one(&format!("SELECT * FROM {form}")),
            "[1,6)|[1.0,2]|[2020-01-01,2020-01-03)|{[1,2)}"
        );
    }
    // Bytes of a file are no range.
    let path = folder.path().join("bytes.parquet");
    let path = path.display();
    sql.run(&format!("COPY (SELECT '\\x0201'::bytea AS i) TO '{path}'"));
    sql.run("CREATE TABLE u (i int4range)");
    assert_eq!(sql.state(&format!("COPY u FROM '{path}'")), "22P03");
    sql.run("ALTER TABLE t ALTER a TYPE text");
    assert_eq!(sql.one("SELECT a FROM t"), "[1,6)");
    sql.run("CREATE VIEW v AS SELECT b, int4range '[1,2]' AS one FROM t WHERE b @> 1.5");
    assert_eq!(sql.one("SELECT * FROM v"), "[1.0,2]|[1,3)");
}

#[test]
fn settings_show_and_read_them() {
    let sql = Sql::new();
    sql.run("SET TimeZone = 'Europe/Berlin'; SET DateStyle = 'German'");
    sql.run("CREATE TABLE t (z tstzrange, d daterange, a tstzrange[])");
    sql.run("INSERT INTO t (z, d) VALUES ('[2020-07-01 12:00,)', '[01.02.2020,02.02.2020]')");
    sql.run("PREPARE p AS INSERT INTO t (z) VALUES ($1)");
    sql.run("EXECUTE p('(,2020-01-01)')");
    sql.run("UPDATE t SET a = ARRAY[z]");
    assert_eq!(
        sql.rows("SELECT z, d, a FROM t ORDER BY d"),
        [
            "[\"01.07.2020 12:00:00 CEST\",)|[01.02.2020,03.02.2020)|\
             {\"[\\\"01.07.2020 12:00:00 CEST\\\",)\"}",
            "(,\"01.01.2020 00:00:00 CET\")|NULL|{\"(,\\\"01.01.2020 00:00:00 CET\\\")\"}"
        ]
    );
    sql.run("SET TimeZone = 'UTC'; SET DateStyle = 'ISO'");
    assert_eq!(
        sql.rows("SELECT z, d FROM t ORDER BY d"),
        [
            "[\"2020-07-01 10:00:00+00\",)|[2020-02-01,2020-02-03)",
            "(,\"2019-12-31 23:00:00+00\")|NULL"
        ]
    );
}

#[test]
fn functions_take_any_range() {
    let sql = Sql::new();
    sql.run(
        "CREATE FUNCTION start_of(anyrange) RETURNS anyelement LANGUAGE sql AS 'SELECT lower($1)'",
    );
    sql.run("CREATE FUNCTION many(anyrange) RETURNS anymultirange LANGUAGE sql AS 'SELECT multirange($1)'");
    assert_eq!(
        sql.one("SELECT start_of(int4range(3, 5)), many(numrange(1.0, 2)), start_of('[2020-01-01,)'::daterange)"),
        "3|{[1.0,2)}|2020-01-01"
    );
    assert_eq!(sql.state("SELECT start_of(5)"), "42883");
    let error = sql.error(
        "CREATE FUNCTION f(anyelement) RETURNS anyrange LANGUAGE sql AS 'SELECT int4range(1, 2)'",
    );
    assert_eq!(
        (error.sqlstate.as_str(), error.detail.as_deref()),
        (
            "42P13",
            Some(
                "A result of type anyrange requires at least one input of type anyrange or \
                 anymultirange."
            )
        )
    );
    assert_eq!(
        sql.state("CREATE FUNCTION f(integer) RETURNS anyelement LANGUAGE sql AS 'SELECT 1'"),
        "42P13"
    );
}

#[test]
fn clients_are_told_parameters_by_their_types() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (i int4range, m tstzmultirange)");
    sql.run("PREPARE one AS INSERT INTO t VALUES ($1, $2)");
    sql.run("PREPARE two AS SELECT i FROM t WHERE i && $1");
    sql.run(
        "PREPARE three AS SELECT typname FROM pg_type WHERE oid = ANY ($1::oid[]) ORDER BY oid",
    );
    assert_eq!(
        sql.rows("SELECT parameter_types FROM pg_prepared_statements ORDER BY name"),
        ["{int4range,tstzmultirange}", "{oid[]}", "{int4range}"]
    );
    assert_eq!(
        sql.rows("EXECUTE three('{3904,4451}')"),
        ["int4range", "int4multirange"]
    );
}

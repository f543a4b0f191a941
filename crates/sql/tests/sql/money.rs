//! Amounts of money in tables: MONEY.

use crate::support::{LAYOUTS, Sql};

#[test]
fn columns_hold_amounts_on_every_layout() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        sql.run(&format!(
            "CREATE TABLE t (n integer, m money, a money[]) WITH (layout = '{layout}')"
        ));
        sql.run(
            "INSERT INTO t VALUES (1, 5, '{1,\"$2,000\"}'), (2, '($7.255)', NULL), (3, 12.345, '{}'), \
             (4, NULL, NULL)",
        );
        sql.run(
            "INSERT INTO t (n, m) SELECT 4 + g, (g * 1000000)::money FROM generate_series(1, 2) g",
        );
        assert_eq!(
            sql.rows("SELECT * FROM t ORDER BY n"),
            [
                "1|$5.00|{$1.00,\"$2,000.00\"}",
                "2|-$7.26|NULL",
                "3|$12.35|{}",
                "4|NULL|NULL",
                "5|$1,000,000.00|NULL",
                "6|$2,000,000.00|NULL",
            ],
            "{layout}"
        );
        assert_eq!(
            sql.rows("SELECT n FROM t ORDER BY m DESC"),
            ["4", "6", "5", "3", "1", "2"]
        );
        for (condition, found) in [
            ("m = '5'", "1"),
            ("m = 5::money", "1"),
            ("m > '$12'", "3,5,6"),
            ("m BETWEEN '-8' AND '12.35'", "1,2,3"),
            ("m IN ('5', '12.35')", "1,3"),
            ("'2000'::money = ANY (a)", "1"),
        ] {
            let query =
                format!("SELECT string_agg(n::text, ',' ORDER BY n) FROM t WHERE {condition}");
            assert_eq!(sql.one(&query), found, "{layout}: {condition}");
        }
        assert_eq!(
            sql.one("SELECT sum(m), min(m), max(m), count(DISTINCT m) FROM t"),
            "$3,000,010.09|-$7.26|$2,000,000.00|5"
        );
        assert_eq!(
            sql.rows(
                "SELECT sum(m) OVER (ORDER BY n ROWS 1 PRECEDING) FROM t WHERE n < 5 ORDER BY n"
            ),
            ["$5.00", "-$2.26", "$5.09", "$12.35"]
        );
        sql.run("UPDATE t SET m = m * 2 + '0.01' WHERE n < 3");
        assert_eq!(
            sql.rows("SELECT m, m::numeric, m / '2'::money FROM t WHERE n < 3 ORDER BY n"),
            ["$10.01|10.01|5.005", "-$14.51|-14.51|-7.255"]
        );
    }
}

#[test]
fn keys_indexes_and_partitions_hold_amounts() {
    let sql = Sql::new();
    sql.run("CREATE TABLE k (m money PRIMARY KEY, n integer); CREATE INDEX ON k (m money_ops, n)");
    sql.run("INSERT INTO k VALUES (1, 1), ('$2', 2)");
    let error = sql.error("INSERT INTO k VALUES ('1.00', 3)");
    assert_eq!(
        (error.sqlstate.as_str(), error.detail.as_deref()),
        ("23505", Some("Key (m)=($1.00) already exists."))
    );
    sql.run("INSERT INTO k VALUES (1, 5) ON CONFLICT (m) DO UPDATE SET n = excluded.n");
    assert_eq!(sql.one("SELECT n FROM k WHERE m = '1'"), "5");
    sql.run("PREPARE p AS SELECT n FROM k WHERE m = $1");
    assert_eq!(sql.rows("EXECUTE p('$2.00')"), ["2"]);
    sql.run("CREATE TABLE r (m money REFERENCES k)");
    let error = sql.error("INSERT INTO r VALUES (9)");
    assert_eq!(error.sqlstate, "23503");
    assert!(error.detail.unwrap().contains("($9.00)"));
    assert_eq!(sql.state("CREATE TABLE s (m bigint REFERENCES k)"), "42804");
    sql.run("CREATE TABLE parts (m money) PARTITION BY RANGE (m)");
    sql.run("CREATE TABLE low PARTITION OF parts FOR VALUES FROM ('0') TO ('100')");
    sql.run("INSERT INTO parts VALUES (99.99)");
    assert_eq!(
        sql.error("INSERT INTO parts VALUES (100)")
            .detail
            .as_deref(),
        Some("Partition key of the failing row contains (m) = ($100.00).")
    );
    let plan = sql
        .rows("EXPLAIN SELECT n FROM k WHERE m > '1000'")
        .join("\n");
    assert!(plan.contains("m > '$1,000.00'"), "{plan}");
}

#[test]
fn values_of_other_types_are_refused_or_converted() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (m money, n numeric, i integer, s text)");
    for (statement, state, message) in [
        (
            "INSERT INTO t (m) VALUES ('x')",
            "22P02",
            "invalid input syntax for type money: \"x\"",
        ),
        (
            "INSERT INTO t (m) VALUES ('92233720368547758.08')",
            "22003",
            "value \"92233720368547758.08\" is out of range for type money",
        ),
        (
            "INSERT INTO t (m) VALUES (1.5::double precision)",
            "42804",
            "column \"m\" is of type money but expression is of type double precision",
        ),
        (
            "INSERT INTO t (i) SELECT '1'::money",
            "42804",
            "column \"i\" is of type integer but expression is of type money",
        ),
        (
            "CREATE TABLE u (m money) PARTITION BY HASH (m)",
            "0A000",
            "hash partitions by values of type money are not supported",
        ),
        (
            "CREATE DOMAIN d AS money",
            "0A000",
            "a domain over money is not supported",
        ),
    ] {
        let error = sql.error(statement);
        assert_eq!(
            (error.sqlstate.as_str(), error.message.as_str()),
            (state, message)
        );
    }
    sql.run("INSERT INTO t (m) VALUES (5.5), (7::bigint), (8)");
    sql.run("INSERT INTO t (n, s) SELECT m, m FROM t");
    assert_eq!(
        sql.rows("SELECT n, s FROM t WHERE n IS NOT NULL ORDER BY n"),
        ["5.50|$5.50", "7.00|$7.00", "8.00|$8.00"]
    );
    sql.run("ALTER TABLE t ALTER n TYPE money");
    assert_eq!(sql.one("SELECT max(n) FROM t"), "$8.00");
}

#[test]
fn the_catalog_and_files_tell_amounts() {
    let folder = tempfile::tempdir().unwrap();
    let sql = Sql::new();
    sql.run("CREATE TABLE t (m money, a money[]); INSERT INTO t VALUES ('-1234.5', '{1}')");
    sql.run("CREATE TABLE u AS SELECT m, a, m * 2 AS b FROM t");
    assert_eq!(
        sql.rows(
            "SELECT atttypid, format_type(atttypid, atttypmod), attlen FROM pg_attribute \
             WHERE attrelid = 'u'::regclass AND attnum > 0 ORDER BY attnum"
        ),
        ["790|money|8", "791|money[]|-1", "790|money|8"]
    );
    assert_eq!(
        sql.one(
            "SELECT typname, typcategory, typispreferred, typarray, typbyval, typalign, typstorage, \
             typinput FROM pg_type WHERE oid = 790"
        ),
        "money|N|false|791|true|d|p|cash_in"
    );
    for form in ["csv", "parquet"] {
        let path = folder.path().join(format!("t.{form}"));
        let path = path.display();
        sql.run(&format!(
            "COPY (SELECT m FROM t) TO '{path}'; CREATE TABLE {form} (m money)"
        ));
        sql.run(&format!("COPY {form} FROM '{path}'"));
        assert_eq!(sql.one(&format!("SELECT m FROM {form}")), "-$1,234.50");
    }
}

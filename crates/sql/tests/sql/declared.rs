//! Types of columns that say more than how values are held: digits, fields, names.

use freestone::Database;

use crate::support::{LAYOUTS, Sql};

/// What a column of a type keeps of a text.
const KEPT: &[(&str, &str, &str)] = &[
    ("time(0)", "01:02:03.5", "01:02:04"),
    ("time(2)", "23:59:59.999", "24:00:00"),
    ("timetz(1)", "01:02:03.456+02", "01:02:03.5+02"),
    (
        "timestamp(0)",
        "2001-02-03 04:05:06.5",
        "2001-02-03 04:05:07",
    ),
    (
        "timestamp(3)",
        "2001-02-03 04:05:06.123456",
        "2001-02-03 04:05:06.123",
    ),
    (
        "timestamp(0)",
        "1999-12-31 23:59:59.5",
        "1999-12-31 23:59:59",
    ),
    ("timestamp(2)", "infinity", "infinity"),
    (
        "timestamptz(0)",
        "2001-02-03 04:05:06.5+00",
        "2001-02-03 04:05:07+00",
    ),
    ("interval(2)", "1.239 seconds", "00:00:01.24"),
    ("interval day", "1 mon 2 days 03:04:05", "1 mon 2 days"),
    ("interval year", "14 mons 5 days", "1 year"),
    ("interval hour to minute", "01:02:03", "01:02:00"),
    (
        "interval day to second(1)",
        "1 day 2.25 seconds",
        "1 day 00:00:02.3",
    ),
    (
        "numeric(50,2)",
        "12345678901234567890123456789012345678901234.565",
        "12345678901234567890123456789012345678901234.57",
    ),
    ("numeric(3,-2)", "12349", "12300"),
    ("numeric(3,5)", "0.001234567", "0.00123"),
    ("numeric(1000,500)", "1", ONE_OF_500),
    (
        "timestamp(0)[]",
        "{2001-02-03 04:05:06.5,NULL}",
        "{\"2001-02-03 04:05:07\",NULL}",
    ),
    (
        "name",
        "n123456789012345678901234567890123456789012345678901234567890123456789",
        "n12345678901234567890123456789012345678901234567890123456789012",
    ),
    ("oid", "-1040", "4294966256"),
    ("jsonpath", "$.a[*] ? (@ > 1)", "$.\"a\"[*]?(@ > 1)"),
    ("\"char\"", "\\101bc", "\\"),
    ("\"char\"", "\\377", "\\377"),
];

const ONE_OF_500: &str = concat!(
    "1.",
    "00000000000000000000000000000000000000000000000000",
    "00000000000000000000000000000000000000000000000000",
    "00000000000000000000000000000000000000000000000000",
    "00000000000000000000000000000000000000000000000000",
    "00000000000000000000000000000000000000000000000000",
    "00000000000000000000000000000000000000000000000000",
    "00000000000000000000000000000000000000000000000000",
    "00000000000000000000000000000000000000000000000000",
    "00000000000000000000000000000000000000000000000000",
    "00000000000000000000000000000000000000000000000000",
);

#[test]
fn values_are_fitted_however_they_are_stored() {
    for (number, (ty, given, kept)) in KEPT.iter().enumerate() {
        let sql = Sql::new();
        let layout = LAYOUTS[number % LAYOUTS.len()];
        sql.run(&format!(
            "CREATE TABLE t (n integer, v {ty}) WITH (layout = '{layout}')"
        ));
        let all: Vec<String> = (0..6).map(|n| format!("{n}|{kept}")).collect();
        sql.run(&format!("INSERT INTO t VALUES (0, '{given}')"));
        sql.run(&format!(
            "INSERT INTO t SELECT 1, '{given}'::text::{}",
            ty_of(ty)
        ));
        sql.run("INSERT INTO t VALUES (2, NULL), (3, NULL)");
        sql.run(&format!("UPDATE t SET v = '{given}' WHERE n IN (2, 3)"));
        sql.run(&format!(
            "PREPARE p AS INSERT INTO t VALUES (4, $1); EXECUTE p('{given}')"
        ));
        sql.run(&format!(
            "ALTER TABLE t ALTER COLUMN n SET NOT NULL; \
            ALTER TABLE t ADD COLUMN w {ty} DEFAULT '{given}'"
        ));
        sql.run("INSERT INTO t SELECT 5, w, w FROM t WHERE n = 0");
        assert_eq!(sql.rows("SELECT n, v::text FROM t ORDER BY n"), all, "{ty}");
        assert_eq!(
            sql.one("SELECT DISTINCT w::text FROM t WHERE n < 5"),
            *kept,
            "{ty}"
        );
    }
}

/// The type without what casts to it have no place for.
fn ty_of(ty: &str) -> &str {
    ty.strip_suffix("[]").map_or(ty, |_| "timestamp[]")
}

#[test]
fn texts_are_read_by_the_fields_of_an_interval() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (v interval hour to minute); INSERT INTO t VALUES ('3')");
    assert_eq!(sql.one("SELECT v::text FROM t"), "00:03:00");
    let cast = "SELECT (x::interval hour to minute)::text FROM (VALUES ('3'::text)) t (x)";
    assert_eq!(sql.one(cast), "00:03:00");
}

#[test]
fn types_are_shown() {
    let sql = Sql::new();
    for (number, (ty, shown, modifier)) in [
        ("time(3)", "time(3) without time zone", 3),
        ("timetz(0)", "time(0) with time zone", 0),
        ("timestamp(6)", "timestamp(6) without time zone", 6),
        ("timestamptz(2)[]", "timestamp(2) with time zone[]", 2),
        ("interval(2)", "interval(2)", 2_147_418_114),
        ("interval year to month", "interval year to month", 458_751),
        (
            "interval day to second(2)",
            "interval day to second(2)",
            470_286_338,
        ),
        ("numeric(210,10)", "numeric(210,10)", 13_762_574),
        ("numeric(3,-6)", "numeric(3,-6)", 198_654),
        ("numeric(10,2)", "numeric(10,2)", 655_366),
        ("name", "name", -1),
        ("oid", "oid", -1),
        ("jsonpath", "jsonpath", -1),
        ("\"char\"", "\"char\"", -1),
        ("interval", "interval", -1),
        ("timestamp", "timestamp without time zone", -1),
    ]
    .into_iter()
    .enumerate()
    {
        sql.run(&format!("CREATE TABLE t{number} (v {ty})"));
        let catalog = format!(
            "SELECT format_type(atttypid, atttypmod), atttypmod FROM pg_attribute \
             WHERE attrelid = 't{number}'::regclass AND attnum = 1"
        );
        assert_eq!(sql.one(&catalog), format!("{shown}|{modifier}"), "{ty}");
    }
    let facts = "SELECT numeric_precision, numeric_scale FROM information_schema.columns \
                 WHERE table_name = 't7'";
    assert_eq!(sql.one(facts), "210|10");
    let facts = "SELECT datetime_precision FROM information_schema.columns \
                 WHERE table_name = 't0' OR table_name = 't6' ORDER BY table_name";
    assert_eq!(sql.rows(facts), ["3", "2"]);
    sql.run("CREATE TABLE made AS SELECT t0.v AS a, t10.v AS b FROM t0, t10");
    let facts = "SELECT format_type(atttypid, atttypmod) FROM pg_attribute \
                 WHERE attrelid = 'made'::regclass AND attnum > 0 ORDER BY attnum";
    assert_eq!(sql.rows(facts), ["time(3) without time zone", "name"]);
}

#[test]
fn numbers_that_are_too_large_are_refused() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a numeric(40,2), b numeric(3,5), c numeric(3,-2))");
    for insert in [
        "INSERT INTO t(a) VALUES (1e38)",
        "INSERT INTO t(a) SELECT 1e38",
        "INSERT INTO t(a) VALUES ('Infinity')",
        "INSERT INTO t(b) VALUES (0.01)",
        "INSERT INTO t(c) VALUES (99950)",
        "SELECT 1e38::numeric(40,2)",
        "SELECT CAST(0.01 AS numeric(3,5))",
    ] {
        assert_eq!(sql.state(insert), "22003", "{insert}");
    }
    sql.run("INSERT INTO t VALUES ('NaN', 0.00999, 99949), (99999999999999999999999999999999999999, 0, 0)");
    assert_eq!(
        sql.rows("SELECT * FROM t ORDER BY c DESC"),
        [
            "NaN|0.00999|99900",
            "99999999999999999999999999999999999999.00|0.00000|0"
        ]
    );
    for create in [
        "CREATE TABLE u (a numeric(1001,2))",
        "CREATE TABLE u (a numeric(0))",
        "CREATE TABLE u (a numeric(3,1001))",
    ] {
        assert_eq!(sql.state(create), "22023", "{create}");
    }
}

#[test]
fn a_changed_type_fits_what_is_there() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a timestamp, b interval, c numeric)");
    sql.run("INSERT INTO t VALUES ('2001-02-03 04:05:06.789', '1 day 02:03:04.5', 1234.5678)");
    sql.run("ALTER TABLE t ALTER COLUMN a TYPE timestamp(1)");
    sql.run("ALTER TABLE t ALTER COLUMN b TYPE interval day to minute");
    sql.run("ALTER TABLE t ALTER COLUMN c TYPE numeric(40,1)");
    assert_eq!(
        sql.one("SELECT a::text, b::text, c FROM t"),
        "2001-02-03 04:05:06.8|1 day 02:03:00|1234.6"
    );
    assert_eq!(
        sql.state("ALTER TABLE t ALTER COLUMN c TYPE numeric(40,39)"),
        "22003"
    );
}

/// What is declared is there when the database is opened again.
#[test]
fn declarations_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    {
        let database = Database::open(folder.path()).unwrap();
        let sql = Sql::on(&database);
        sql.run("CREATE TABLE t (a timestamp(0), b numeric(40,1), c oid)");
    }
    let database = Database::open(folder.path()).unwrap();
    let sql = Sql::on(&database);
    sql.run("INSERT INTO t VALUES ('2001-02-03 04:05:06.7', 1.25, 3)");
    assert_eq!(
        sql.one("SELECT a::text, b, pg_typeof(c) FROM t"),
        "2001-02-03 04:05:07|1.3|oid"
    );
}

/// Parts of arrays and JSONB values are assigned.
#[test]
fn parts_are_assigned() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a integer[], j jsonb); INSERT INTO t VALUES ('{1,2}', '{}')");
    for (set, a, j) in [
        ("a[4] = 9", "{1,2,NULL,9}", "{}"),
        ("a[0] = 7, a[-2] = 3", "[-2:4]={3,NULL,7,1,2,NULL,9}", "{}"),
        ("a[1:2] = '{8,9,10}'", "[-2:4]={3,NULL,7,8,9,NULL,9}", "{}"),
        ("a[:] = NULL", "[-2:4]={3,NULL,7,8,9,NULL,9}", "{}"),
        (
            "a = NULL, j['b']['c'][2] = '\"x\"'",
            "NULL",
            r#"{"b": {"c": [null, null, "x"]}}"#,
        ),
        (
            "a[2:3] = '{5,6}', j['b'] = '1'",
            "[2:3]={5,6}",
            r#"{"b": 1}"#,
        ),
        ("a = NULL, j = NULL", "NULL", "NULL"),
        (
            "a[1][2] = 4, j[1] = to_jsonb(7)",
            "[1:1][2:2]={{4}}",
            "[null, 7]",
        ),
    ] {
        sql.run(&format!("UPDATE t SET {set}"));
        assert_eq!(
            sql.one("SELECT a::text, j FROM t"),
            format!("{a}|{j}"),
            "{set}"
        );
    }
    for (set, state) in [
        ("a[1][3] = 4", "2202E"),
        ("a[1][2][1] = 4", "2202E"),
        ("a[NULL] = 4", "22004"),
        ("a[2:1][1:1] = '{5}'", "2202E"),
        ("a[1][2] = '5'::text", "42804"),
        ("j[1:2] = '1'", "42804"),
        ("j[NULL] = '1'", "22004"),
        ("j[-5] = '1'", "22023"),
        ("j['a'] = 1", "42804"),
    ] {
        assert_eq!(sql.state(&format!("UPDATE t SET {set}")), state, "{set}");
    }
}

#[test]
fn a_type_that_views_or_defaults_name_stays() {
    let sql = Sql::new();
    sql.run(
        "CREATE TYPE mood AS ENUM ('sad'); CREATE DOMAIN d AS INT;
         CREATE TABLE t (a TEXT DEFAULT 'sad'::mood::text);
         CREATE VIEW v AS SELECT 'sad'::mood AS m; CREATE VIEW w AS SELECT 1::d AS m",
    );
    let error = sql.error("DROP TYPE mood");
    assert_eq!(error.sqlstate, "2BP01");
    assert_eq!(
        error.detail.unwrap_or_default(),
        "default value for column a of table t depends on type mood\n\
         view v depends on type mood"
    );
    assert_eq!(sql.state("DROP DOMAIN d"), "2BP01");
    assert_eq!(
        sql.noticed("DROP DOMAIN d CASCADE"),
        ["NOTICE: drop cascades to view w"]
    );
    sql.run("DROP VIEW v; ALTER TABLE t ALTER COLUMN a DROP DEFAULT; DROP TYPE mood");
}

#[test]
fn arrays_of_a_domain_over_an_enumeration_are_checked_by_their_elements() {
    let sql = Sql::new();
    sql.run(
        "CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN d AS mood CHECK (VALUE <> 'sad')",
    );
    sql.run("CREATE TABLE t (a INT, b d[], c mood[])");
    sql.run(
        "INSERT INTO t VALUES (1, '{ok}', '{sad}'), (2, NULL, NULL), (3, '{{ok},{NULL}}', '{}')",
    );
    sql.run("INSERT INTO t VALUES (4, ARRAY['ok'::mood], ARRAY['ok'::mood])");
    assert_eq!(
        sql.rows("SELECT b, c FROM t ORDER BY a"),
        ["{ok}|{sad}", "NULL|NULL", "{{ok},{NULL}}|{}", "{ok}|{ok}"]
    );
    assert_eq!(sql.state("INSERT INTO t (b) VALUES ('{ok,sad}')"), "23514");
    assert_eq!(sql.state("INSERT INTO t (b) VALUES ('{none}')"), "22P02");
}

#[test]
fn numbers_of_a_query_have_no_digits_declared() {
    let sql = Sql::new();
    let types = |table: &str| {
        sql.rows(&format!(
            "SELECT attname || ' ' || format_type(atttypid, atttypmod) FROM pg_attribute \
             WHERE attrelid = '{table}'::regclass AND attnum > 0 ORDER BY attnum"
        ))
    };
    sql.run(
        "CREATE TABLE constants AS SELECT 1.5 AS a, 1.25::numeric(6,2) AS b UNION ALL SELECT 2, 3",
    );
    sql.run("CREATE TABLE literals AS SELECT 1.5 AS a, 1.25::numeric(6,2) AS b");
    assert_eq!(types("literals"), ["a numeric", "b numeric(6,2)"]);
    sql.run("INSERT INTO constants VALUES (2.25, 1), (123456.789, 2)");
    sql.run("INSERT INTO literals VALUES (2.25, 2.255)");
    assert_eq!(
        sql.sorted("SELECT a FROM constants"),
        ["1.5", "123456.789", "2", "2.25"]
    );
    assert_eq!(
        sql.sorted("SELECT a, b FROM literals"),
        ["1.5|1.25", "2.25|2.26"]
    );

    sql.run("CREATE TABLE sales (shop int, price numeric(8,2), part numeric(8,2))");
    sql.run("INSERT INTO sales VALUES (1, 2.50, 1), (1, 3, 1), (2, 7.25, 1)");
    sql.run(
        "CREATE TABLE sums AS SELECT shop, sum(price) AS total, max(price) AS most, \
         min(price)::numeric(9,2) AS least, price * part AS product, price AS kept, \
         CASE WHEN shop = 1 THEN price ELSE part END AS either, \
         coalesce(price, 0) AS filled, (SELECT max(s.price) FROM sales s) AS asked, \
         (SELECT s.part FROM sales s LIMIT 1) AS one \
         FROM sales GROUP BY shop, price, part",
    );
    let expected = [
        "shop integer",
        "total numeric",
        "most numeric",
        "least numeric(9,2)",
        "product numeric",
        "kept numeric(8,2)",
        "either numeric(8,2)",
        "filled numeric",
        "asked numeric",
        "one numeric(8,2)",
    ];
    assert_eq!(types("sums"), expected);
    sql.run("INSERT INTO sums (product) VALUES (12345678901.25)");
    assert_eq!(sql.one("SELECT max(product) FROM sums"), "12345678901.2500");
    // A constant tells nothing of other values.
    sql.run(
        "CREATE TABLE rated AS SELECT shop, r.rate, 2.5 AS flat FROM sales, (SELECT 1.5 AS rate) r",
    );
    sql.run("INSERT INTO rated VALUES (3, 12.345, 1000.125)");
    assert_eq!(
        sql.one("SELECT rate, flat FROM rated WHERE shop = 3"),
        "12.345|1000.125"
    );
    // Columns that others read twice at each of many levels are looked at once.
    let mut query = "SELECT price AS a, part AS b FROM sales".to_owned();
    for _ in 0..40 {
        query = format!(
            "SELECT CASE WHEN a > 1 THEN b ELSE a END AS a, coalesce(a, b) AS b FROM ({query}) q"
        );
    }
    sql.run(&format!("CREATE TABLE deep AS {query}"));
    assert_eq!(types("deep"), ["a numeric(8,2)", "b numeric(8,2)"]);
    // Only a cast declares digits, also if the value has as many.
    sql.run(
        "CREATE TABLE casts AS SELECT (shop * 0.01)::numeric(12,2) AS computed, \
         12.34::numeric(4,2) AS literal, numeric(4,2) '12.34' AS read, \
         12.345::numeric(6,3) + 0 AS added, CASE WHEN shop = 1 THEN price END AS without, \
         CASE WHEN shop = 1 THEN price ELSE NULL END AS null_too, \
         CASE WHEN shop = 1 THEN price ELSE NULL::numeric(8,2) END AS \"with\", \
         nullif(price, 1) AS held, nullif(price * 2, 1) AS other \
         FROM sales",
    );
    let expected = [
        "computed numeric(12,2)",
        "literal numeric(4,2)",
        "read numeric(4,2)",
        "added numeric",
        "without numeric",
        "null_too numeric",
        "with numeric(8,2)",
        "held numeric(8,2)",
        "other numeric",
    ];
    assert_eq!(types("casts"), expected);
    let precision = "SELECT numeric_precision IS NULL FROM information_schema.columns \
                     WHERE table_name = 'sums' AND column_name = 'total'";
    assert_eq!(sql.one(precision), "true");
}

#[test]
fn numbers_with_more_digits_than_a_query_gave_are_refused() {
    let sql = Sql::new();
    sql.run("CREATE TABLE sales (shop int, price numeric(8,2))");
    sql.run("INSERT INTO sales VALUES (1, 2.50), (1, 3), (2, 7.25)");
    sql.run("CREATE TABLE sums AS SELECT shop, sum(price) AS total FROM sales GROUP BY shop");
    sql.run("ALTER TABLE sums ADD PRIMARY KEY (shop)");
    let values = [
        "(3, 1.5)",
        "(4, '1.50')",
        "(5, 7)",
        "(6, 1.500)",
        "(7, 0.25::float8)",
        "(8, 9.00 * 1.0000)",
        "(9, NULL)",
        "(10, '1e2')",
    ];
    for values in values {
        assert_eq!(
            sql.run(&format!("INSERT INTO sums VALUES {values}")),
            "INSERT 0 1"
        );
    }
    sql.run("INSERT INTO sums SELECT shop + 20, total / 2 FROM sums WHERE shop = 1 OR total = 7");
    let all = "SELECT shop, total FROM sums WHERE shop > 2 ORDER BY shop";
    let held = [
        "3|1.50",
        "4|1.50",
        "5|7.00",
        "6|1.50",
        "7|0.25",
        "8|9.00",
        "9|NULL",
        "10|100.00",
        "21|2.75",
        "25|3.50",
    ];
    assert_eq!(sql.rows(all), held);
    for wrong in [
        "INSERT INTO sums VALUES (30, 1.505)",
        "INSERT INTO sums VALUES (30, '1.505')",
        "INSERT INTO sums VALUES (30, 0.125::float8)",
        "INSERT INTO sums VALUES (30, 'NaN')",
        "INSERT INTO sums SELECT 30, 1.505",
        "INSERT INTO sums SELECT 30, total / 3 FROM sums WHERE shop = 1",
        "INSERT INTO sums VALUES (3, 0) ON CONFLICT (shop) DO UPDATE SET total = sums.total / 8",
        "INSERT INTO sums VALUES (3, 0) ON CONFLICT (shop) DO UPDATE SET total = (SELECT 0.001)",
        "UPDATE sums SET total = total + 0.001",
        "UPDATE sums SET total = total + 0.001 WHERE shop = 3",
        "UPDATE sums SET total = 1.001 WHERE shop = 3",
        "MERGE INTO sums USING sales ON sums.shop = sales.shop WHEN MATCHED AND price = 7.25 \
         THEN UPDATE SET total = 1.001",
        "MERGE INTO sums USING sales ON false WHEN NOT MATCHED THEN INSERT VALUES (40, 1.001)",
        "ALTER TABLE sums ALTER total SET DEFAULT 1.001",
    ] {
        let error = sql.error(wrong);
        assert_eq!(error.sqlstate, "0A000", "{wrong}: {error}");
        assert!(
            error
                .message
                .contains("does not fit into column \"total\", which holds 36 digits"),
            "{error}"
        );
    }
    assert_eq!(sql.rows(all), held);
    sql.run("UPDATE sums SET total = total + 0.01 WHERE shop = 3");
    sql.run("UPDATE sums SET total = total * 2 WHERE shop IN (4, 5)");
    let few = "SELECT total FROM sums WHERE shop BETWEEN 3 AND 5 ORDER BY shop";
    assert_eq!(sql.rows_of_one_engine(few), ["1.51", "3.00", "14.00"]);
    sql.run("ALTER TABLE sums ALTER total TYPE numeric");
    sql.run("INSERT INTO sums VALUES (30, 1.505)");
    assert_eq!(sql.one("SELECT total FROM sums WHERE shop = 30"), "1.505");
}

#[test]
fn numbers_of_a_query_stay_what_they_are_in_copies() {
    let sql = Sql::new();
    sql.run("CREATE TABLE sales (price numeric(8,2))");
    sql.run("INSERT INTO sales VALUES (2.50), (3)");
    sql.run("CREATE TABLE doubled AS SELECT price * 2 AS price FROM sales");
    sql.run("CREATE TABLE again AS SELECT price FROM doubled");
    sql.run("CREATE TABLE alike (LIKE doubled)");
    for table in ["again", "alike"] {
        let ty = format!(
            "SELECT format_type(atttypid, atttypmod) FROM pg_attribute \
             WHERE attrelid = '{table}'::regclass AND attname = 'price'"
        );
        assert_eq!(sql.one(&ty), "numeric", "{table}");
        assert_eq!(
            sql.state(&format!("INSERT INTO {table} VALUES (0.001)")),
            "0A000"
        );
    }
    assert_eq!(
        sql.rows("SELECT price FROM again ORDER BY 1"),
        ["5.00", "6.00"]
    );
    assert_eq!(
        sql.one("SELECT sum(price) FROM doubled WHERE price > 5.5"),
        "6.00"
    );
}

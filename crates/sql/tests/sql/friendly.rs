//! Forms that people bring from DuckDB, with the rows that DuckDB gives for them.

use crate::support::Sql;

/// A database with two tables.
fn tables() -> Sql {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE t (a INT, b INT, c_x TEXT);
         INSERT INTO t VALUES (1, 2, 'u'), (1, 5, 'v'), (2, NULL, 'u');
         CREATE TABLE c (country TEXT, name TEXT, year INT, pop INT);
         INSERT INTO c VALUES ('NL', 'A', 2000, 1005), ('NL', 'A', 2010, 1065),
             ('US', 'S', 2000, 564), ('US', 'S', 2010, 608), ('US', 'N', 2000, 8015)",
    );
    sql
}

#[test]
fn columns_stand_for_several_expressions() {
    let sql = tables();
    for (query, names, rows) in [
        ("SELECT min(COLUMNS(*)) FROM t", "a|b|c_x", "1|2|u"),
        ("SELECT max(COLUMNS('^[ab]$')) + 1 FROM t", "a|b", "3|6"),
        ("SELECT max(COLUMNS('(.)_x')) AS '\\1_y' FROM t", "c_y", "v"),
        ("SELECT max(COLUMNS(c -> c LIKE 'a%')) FROM t", "a", "2"),
        ("SELECT max(COLUMNS(lambda c: c < 'b')) FROM t", "a", "2"),
        ("SELECT max(COLUMNS(['b', 'a'])) FROM t", "b|a", "5|2"),
        (
            "SELECT max(COLUMNS(t.* EXCLUDE (a))) AS m FROM t",
            "m|m",
            "5|v",
        ),
        (
            "SELECT COLUMNS(* REPLACE (a * 10 AS a)) FROM t LIMIT 1",
            "a|b|c_x",
            "10|2|u",
        ),
        ("SELECT * LIKE 'c%' FROM t LIMIT 1", "c_x", "u"),
        ("SELECT t.* NOT LIKE 'c%' FROM t LIMIT 1", "a|b", "1|2"),
        ("SELECT * ILIKE 'C%' FROM t LIMIT 1", "c_x", "u"),
        ("SELECT * SIMILAR TO '(a|b)' FROM t LIMIT 1", "a|b", "1|2"),
        ("SELECT t.* EXCLUDE b FROM t LIMIT 1", "a|c_x", "1|u"),
        (
            "SELECT * RENAME (a AS z) FROM t LIMIT 1",
            "z|b|c_x",
            "1|2|u",
        ),
        (
            "SELECT * EXCLUDE (b) REPLACE (a + 1 AS a) FROM t LIMIT 1",
            "a|c_x",
            "2|u",
        ),
        (
            "SELECT max(COLUMNS('^[ab]$')) - min(COLUMNS('^[ab]$')) FROM t",
            "a|b",
            "1|3",
        ),
        (
            "SELECT coalesce(*COLUMNS('^[ab]$'), 0) FROM t LIMIT 1",
            "coalesce",
            "1",
        ),
        (
            "SELECT 5 IN (*COLUMNS(['a', 'b'])) AS x FROM t LIMIT 1",
            "x",
            "false",
        ),
        ("SELECT x: max(COLUMNS('^a')), y: 2 FROM t", "x|y", "2|2"),
        ("SELECT a FROM t WHERE COLUMNS('^[ab]$') > 1", "a", ""),
        (
            "SELECT a FROM t WHERE COLUMNS('^[ab]$') > 0 ORDER BY COLUMNS(*) DESC LIMIT 1",
            "a",
            "1",
        ),
        (
            "SELECT count(*) AS n FROM t HAVING max(COLUMNS('^[ab]$')) > 1",
            "n",
            "3",
        ),
        (
            "SELECT COLUMNS(x.*) FROM t x JOIN t y ON COLUMNS(x.*) IS NOT NULL LIMIT 1",
            "a|b|c_x",
            "1|2|u",
        ),
        (
            "SELECT (SELECT max(COLUMNS('^b')) FROM t) AS m, COLUMNS('^a') FROM t LIMIT 1",
            "m|a",
            "5|1",
        ),
    ] {
        assert_eq!(sql.names(query).join("|"), names, "{query}");
        assert_eq!(sql.rows(query).join(" "), rows, "{query}");
    }
    sql.run("CREATE VIEW w AS SELECT min(COLUMNS(* EXCLUDE (a))) FROM t");
    assert_eq!(sql.rows("SELECT * FROM w"), ["2|u"]);
    for (query, state) in [
        ("SELECT COLUMNS(['a', 'z']) FROM t", "42703"),
        ("SELECT COLUMNS('zzz') FROM t", "42703"),
        ("SELECT * EXCLUDE (z) FROM t", "42703"),
        ("SELECT * RENAME (z AS a) FROM t", "42703"),
        ("SELECT * REPLACE (1 AS z) FROM t", "42703"),
        ("SELECT COLUMNS(1) FROM t", "42804"),
        ("SELECT COLUMNS(c_x) FROM t", "42P10"),
        ("SELECT COLUMNS(c -> a > 1) FROM t", "42P10"),
        ("SELECT COLUMNS((a, b) -> true) FROM t", "42883"),
        ("SELECT COLUMNS(*)", "42601"),
        ("SELECT COLUMNS(q.*) FROM t", "42P01"),
        ("SELECT COLUMNS('a') + COLUMNS('b') FROM t", "0A000"),
        ("SELECT count(*) FROM t GROUP BY COLUMNS('a')", "0A000"),
        ("SELECT * FROM t LIMIT COLUMNS('a')", "0A000"),
        ("UPDATE t SET a = 1 WHERE COLUMNS('a') > 1", "0A000"),
        ("DELETE FROM t RETURNING * EXCLUDE (a)", "0A000"),
    ] {
        assert_eq!(sql.state(query), state, "{query}");
    }
    assert_eq!(sql.one("SELECT count(*) FROM t"), "3");
}

#[test]
fn pivots_make_columns_of_values() {
    let sql = tables();
    for (query, names, rows) in [
        (
            "PIVOT c ON year IN (2000, 2010) USING sum(pop) GROUP BY country ORDER BY country",
            "country|2000|2010",
            "NL|1005|1065 US|8579|608",
        ),
        (
            "PIVOT c ON year USING sum(pop) GROUP BY country ORDER BY country LIMIT 1",
            "country|2000|2010",
            "NL|1005|1065",
        ),
        (
            "PIVOT c ON year USING sum(pop) ORDER BY ALL",
            "country|name|2000|2010",
            "NL|A|1005|1065 US|N|8015|NULL US|S|564|608",
        ),
        (
            "PIVOT c ON year USING sum(pop) AS s, count(*) GROUP BY country ORDER BY 1 DESC LIMIT 1",
            "country|2000_s|2000_count(*)|2010_s|2010_count(*)",
            "US|8579|2|608|1",
        ),
        (
            "PIVOT c ON country, name USING max(pop) GROUP BY year ORDER BY year LIMIT 1",
            "year|NL_A|NL_N|NL_S|US_A|US_N|US_S",
            "2000|1005|NULL|NULL|NULL|8015|564",
        ),
        (
            "PIVOT c ON country || '_' || name USING sum(pop) GROUP BY year ORDER BY year LIMIT 1",
            "year|NL_A|US_N|US_S",
            "2000|1005|8015|564",
        ),
        (
            "PIVOT c ON year > 2005 USING coalesce(sum(pop), 0) + 1 GROUP BY country ORDER BY 1 LIMIT 1",
            "country|false|true",
            "NL|1006|1066",
        ),
        (
            "PIVOT c ON year GROUP BY country ORDER BY country",
            "country|2000|2010",
            "NL|1|1 US|2|1",
        ),
        (
            "PIVOT c USING sum(pop) AS s GROUP BY country ORDER BY s LIMIT 1",
            "country|s",
            "NL|2070",
        ),
        (
            "PIVOT (SELECT * FROM c WHERE year = 2000) ON year USING count(*) GROUP BY country ORDER BY 1 LIMIT 1",
            "country|2000",
            "NL|1",
        ),
        (
            "FROM c PIVOT (sum(pop) FOR year IN (2000 AS y, 2010) GROUP BY country) AS p ORDER BY p.y LIMIT 1",
            "country|y|2010",
            "NL|1005|1065",
        ),
        (
            "SELECT * FROM c PIVOT (sum(pop) AS t FOR year IN (2000) country IN ('NL', 'US') GROUP BY name) ORDER BY 1 LIMIT 1",
            "name|2000_NL_t|2000_US_t",
            "A|1005|NULL",
        ),
        (
            "SELECT p.* FROM (PIVOT c ON year USING sum(pop) GROUP BY country) p WHERE \"2010\" < 1000",
            "country|2000|2010",
            "US|8579|608",
        ),
        (
            "WITH d AS (SELECT * FROM c WHERE country = 'NL'), p AS (PIVOT d ON year USING sum(pop) GROUP BY name) SELECT * FROM p",
            "name|2000|2010",
            "A|1005|1065",
        ),
        (
            "PIVOT (SELECT * FROM c WHERE false) ON year USING sum(pop) GROUP BY country",
            "country",
            "",
        ),
        (
            "PIVOT t ON a USING sum(b) FILTER (WHERE b > 2) GROUP BY c_x ORDER BY 1",
            "c_x|1|2",
            "u|NULL|NULL v|5|NULL",
        ),
    ] {
        assert_eq!(sql.names(query).join("|"), names, "{query}");
        assert_eq!(sql.rows(query).join(" "), rows, "{query}");
    }
    // New values are new columns, of statements that were asked before, too.
    sql.run("INSERT INTO c VALUES ('NL', 'A', 2020, 7)");
    let query = "PIVOT c ON year USING sum(pop) GROUP BY country ORDER BY country LIMIT 1";
    assert_eq!(sql.rows(query), ["NL|1005|1065|7"]);
    sql.run("CREATE TABLE made AS PIVOT c ON year USING sum(pop) GROUP BY country");
    assert_eq!(
        sql.one("SELECT \"2020\" FROM made WHERE country = 'NL'"),
        "7"
    );
    sql.run("CREATE VIEW v AS PIVOT c ON year IN (2020) USING sum(pop) GROUP BY country");
    assert_eq!(sql.one("SELECT \"2020\" FROM v WHERE country = 'NL'"), "7");
    let prepared = sql
        .session
        .prepare("PIVOT c ON year USING sum(pop) GROUP BY country");
    let told = sql.told(&prepared.unwrap()).unwrap();
    assert_eq!(told.columns.unwrap().fields().len(), 4);
    for (query, state) in [
        ("CREATE VIEW u AS PIVOT c ON year USING sum(pop)", "0A000"),
        ("PIVOT c ON year IN (2000) USING pop", "42803"),
        ("PIVOT c ON year IN (pop) USING sum(pop)", "42P10"),
        ("PIVOT c ON year IN (SELECT 1) USING sum(pop)", "0A000"),
        ("PIVOT c ON year IN ('x') USING sum(pop)", "22P02"),
        ("PIVOT c ON nope USING sum(pop)", "42703"),
        ("PIVOT nope ON year USING sum(pop)", "42P01"),
        ("PIVOT c", "42601"),
        (
            "PIVOT generate_series(1, 2000) AS g ON g USING count(*)",
            "54011",
        ),
        (
            "SELECT * FROM c PIVOT (sum(pop) FOR year IN (2000) GROUP BY",
            "42601",
        ),
    ] {
        assert_eq!(sql.state(query), state, "{query}");
    }
    // The words stay names.
    sql.run("CREATE TABLE pivot (pivot INT, unpivot INT, summarize INT)");
    sql.run("ALTER TABLE pivot ADD positional INT");
    assert_eq!(
        sql.rows("SELECT pivot, (unpivot) FROM pivot pivot"),
        [""; 0]
    );
}

#[test]
fn unpivots_make_rows_of_columns() {
    let sql = tables();
    for (query, names, rows) in [
        (
            "UNPIVOT t ON a, b INTO NAME n VALUE v ORDER BY ALL",
            "c_x|n|v",
            "u|a|1 u|a|2 u|b|2 v|a|1 v|b|5",
        ),
        (
            "FROM t UNPIVOT (v FOR n IN (b, a AS 'A')) AS p WHERE p.v > 1 ORDER BY ALL",
            "c_x|n|v",
            "u|A|2 u|b|2 v|b|5",
        ),
        (
            "FROM t UNPIVOT INCLUDE NULLS (v FOR n IN (b)) ORDER BY ALL",
            "a|c_x|n|v",
            "1|u|b|2 1|v|b|5 2|u|b|NULL",
        ),
        (
            "UNPIVOT t ON COLUMNS('^[ab]$') ORDER BY ALL LIMIT 2",
            "c_x|name|value",
            "u|a|1 u|a|2",
        ),
        (
            "UNPIVOT t ON * EXCLUDE (c_x) INTO NAME n VALUE v ORDER BY ALL LIMIT 1",
            "c_x|n|v",
            "u|a|1",
        ),
        (
            "UNPIVOT t ON (a, b), (b, a) AS q INTO NAME n VALUE x, y ORDER BY ALL LIMIT 2",
            "c_x|n|x|y",
            "u|a_b|1|2 u|q|2|1",
        ),
        (
            "UNPIVOT t ON a::text, c_x INTO NAME n VALUE v ORDER BY ALL LIMIT 2",
            "b|n|v",
            "2|a|1 2|c_x|u",
        ),
        ("SELECT count(*) AS n FROM (UNPIVOT t ON a, b)", "n", "5"),
        (
            "UNPIVOT (SELECT 1 AS x, 2 AS y) ON * ORDER BY name",
            "name|value",
            "x|1 y|2",
        ),
    ] {
        assert_eq!(sql.names(query).join("|"), names, "{query}");
        assert_eq!(sql.rows(query).join(" "), rows, "{query}");
    }
    for (query, state) in [
        ("UNPIVOT t ON a, c_x", "42804"),
        ("UNPIVOT t ON nope", "42703"),
        ("UNPIVOT t ON (a, b)", "42601"),
        ("UNPIVOT t ON sum(a)", "42803"),
        ("UNPIVOT t", "42601"),
        ("UNPIVOT t ON a INTO NAME n", "42601"),
    ] {
        assert_eq!(sql.state(query), state, "{query}");
    }
}

#[test]
fn summaries_tell_of_each_column() {
    let sql = tables();
    let list = "column_name, column_type, min, max, approx_unique, round(avg::numeric, 2), q25, q50, \
         q75, count, null_percentage";
    assert_eq!(
        sql.rows(&format!("SELECT {list} FROM (SUMMARIZE t)")),
        [
            "a|integer|1|2|2|1.33|1|1|2|3|0.00",
            "b|integer|2|5|2|3.50|2|2|5|3|33.33",
            "c_x|text|u|v|2|NULL|NULL|NULL|NULL|3|0.00"
        ]
    );
    assert_eq!(
        sql.names("SUMMARIZE SELECT a FROM t").join("|"),
        "column_name|column_type|min|max|approx_unique|avg|std|q25|q50|q75|count|null_percentage"
    );
    let query = "SELECT column_name, min, count, null_percentage FROM (SUMMARIZE SELECT true AS x, \
         DATE '2020-01-01' AS d, '{1}'::int[] AS l, '{}'::jsonb AS j WHERE false)";
    assert_eq!(
        sql.rows(query),
        [
            "x|NULL|0|NULL",
            "d|NULL|0|NULL",
            "l|NULL|0|NULL",
            "j|NULL|0|NULL"
        ]
    );
    sql.run("CREATE TABLE s AS SUMMARIZE t");
    assert_eq!(sql.one("SELECT count(*) FROM s"), "3");
    assert_eq!(sql.state("SUMMARIZE nope"), "42P01");
}

#[test]
fn samples_take_some_rows() {
    let sql = Sql::new();
    sql.run("CREATE TABLE n AS SELECT i, i % 3 AS j FROM generate_series(1, 1000) i");
    for (query, rows) in [
        ("SELECT count(*) FROM n USING SAMPLE 7", "7"),
        ("SELECT count(*) FROM n USING SAMPLE 7 ROWS", "7"),
        (
            "SELECT count(*) FROM n USING SAMPLE reservoir(50 ROWS) REPEATABLE (42)",
            "50",
        ),
        ("SELECT count(*) FROM n USING SAMPLE reservoir(10%)", "100"),
        (
            "SELECT count(*) FROM n USING SAMPLE 10 PERCENT (reservoir, 7)",
            "100",
        ),
        ("SELECT count(*) FROM n WHERE i > 0 USING SAMPLE 0%", "0"),
        ("SELECT count(*) FROM n USING SAMPLE 100%", "1000"),
        (
            "SELECT count(*) FROM n TABLESAMPLE reservoir(3), n m TABLESAMPLE reservoir(4 ROWS)",
            "12",
        ),
        (
            "SELECT count(*) BETWEEN 250 AND 750 FROM n USING SAMPLE 50% (bernoulli)",
            "true",
        ),
        ("FROM n SELECT count(*) USING SAMPLE 2 ROWS", "2"),
    ] {
        assert_eq!(sql.one(query), rows, "{query}");
    }
    // The rows are sampled before WHERE, and the same ones with one seed.
    let query = "SELECT i FROM n USING SAMPLE 5 ROWS REPEATABLE (1)";
    let first = sql.sorted(query);
    assert_eq!(sql.sorted(query), first);
    assert_ne!(
        sql.sorted("SELECT i FROM n USING SAMPLE 5 ROWS REPEATABLE (2)"),
        first
    );
    for (query, state) in [
        ("SELECT 1 FROM n USING SAMPLE 101%", "2202H"),
        ("SELECT 1 FROM n USING SAMPLE bernoulli(10 ROWS)", "0A000"),
        ("SELECT 1 FROM n USING SAMPLE wild(10 ROWS)", "42704"),
        ("SELECT 1 FROM n USING SAMPLE x", "42601"),
        ("SELECT 1 USING SAMPLE 1", "42601"),
    ] {
        assert_eq!(sql.state(query), state, "{query}");
    }
}

#[test]
fn records_have_named_fields() {
    let sql = tables();
    for (value, expected) in [
        ("{'a': 1, b: 'x'}", "(1,x)"),
        ("({'a': 1}).a", "1"),
        ("({'a': 1, 'b': 2})['b']", "2"),
        ("struct_extract(struct_pack(a := 1, b := 2), 'b')", "2"),
        ("struct_extract({'a': 5, 'b': 6}, 2)", "6"),
        (
            "to_json({'a': 1, 'b': {'c': ARRAY[1, 2]}})",
            "{\"a\":1,\"b\":{\"c\":[1,2]}}",
        ),
        (
            "to_json(struct_insert({'a': 1}, b := 2))",
            "{\"a\":1,\"b\":2}",
        ),
    ] {
        assert_eq!(
            sql.one(&format!("SELECT ({value})::text")),
            expected,
            "{value}"
        );
    }
    assert_eq!(
        sql.rows(
            "SELECT s.a, s.k FROM (SELECT struct_pack(a, k := c_x) AS s FROM t) q ORDER BY 1, 2"
        ),
        ["1|u", "1|v", "2|u"]
    );
}

#[test]
fn lists_and_texts_have_short_forms() {
    let sql = tables();
    for (value, expected) in [
        ("[x * 2 FOR x IN [1, 2, 3] IF x > 1]", "{4,6}"),
        ("[x + i FOR x, i IN [10, 20]]", "{11,22}"),
        ("[[y FOR y IN [1, 2]][x] FOR x IN [2, 1]]", "{2,1}"),
        ("list_transform([1, 2], lambda x, i: x + i)", "{2,4}"),
        ("list_reduce([1, 2, 3], lambda (a, b): a + b)", "6"),
        ("('hello'::text)[1]", "h"),
        ("('hello'::text)[2:3]", "el"),
        ("('hello'::text)[-3:-2]", "ll"),
        ("('hello'::text)[9]", ""),
        ("('hello'::text)[:2] || ('hello'::text)[4:]", "helo"),
        ("array_slice('hello'::text, 1, 2)", "he"),
        ("1_000_000 + 0x1_0", "1000016"),
        ("INTERVAL 3 DAY + INTERVAL (1 + 1) MONTHS", "2 mons 3 days"),
        ("INTERVAL 1 week - INTERVAL 90 seconds", "7 days -00:01:30"),
        (
            "to_seconds(1.5) + to_milliseconds(250) + to_microseconds(7)",
            "00:00:01.750007",
        ),
        (
            "to_years(1) + to_quarters(1) + to_hours(2) + to_minutes(1)",
            "1 year 3 mons 02:01:00",
        ),
        ("epoch_ms(1700000000123)", "2023-11-14 22:13:20.123"),
        (
            "make_timestamp(1700000000123456)",
            "2023-11-14 22:13:20.123456",
        ),
        ("nvl(NULL, 2)", "2"),
        ("2 ** 3 + 1", "9"),
        ("1 + 1 == 2 AND NOT 1 == 2", "true"),
        ("('aBc').upper().lower().left(2)", "ab"),
        ("'a,b'.split(',')", "{a,b}"),
    ] {
        assert_eq!(
            sql.one(&format!("SELECT ({value})::text")),
            expected,
            "{value}"
        );
    }
    assert_eq!(sql.one("SELECT max(c_x[1]) FROM t"), "v");
    assert_eq!(sql.one("SELECT max(c_x.repeat(2)) FROM t"), "vv");
    for (query, state) in [
        ("SELECT [x FOR x, i IN [1] IF true]", "0A000"),
        ("SELECT [x FOR IN [1]]", "42601"),
        ("SELECT [x FOR x IN 1]", "42883"),
        ("SELECT z.upper() FROM t", "42883"),
        ("SELECT ('a').nope()", "42883"),
        ("SELECT 1_", "42601"),
        ("SELECT 1__0", "42601"),
        ("SELECT {'a': 1, 'a': 2}", "42701"),
        ("SELECT {}", "42601"),
        ("SELECT struct_pack(1)", "42601"),
        ("SELECT struct_extract({'a': 1}, 'b')", "42703"),
        ("SELECT to_years(2000000000)", "22008"),
        ("SELECT make_timestamp(9223372036854775807)", "22008"),
    ] {
        assert_eq!(sql.state(query), state, "{query}");
    }
}

#[test]
fn rows_come_together_by_place_and_name() {
    let sql = tables();
    assert_eq!(
        sql.sorted(
            "SELECT * FROM (VALUES (1), (2), (3)) x (i) POSITIONAL JOIN (VALUES ('p'), ('q')) y (s)"
        ),
        ["1|p", "2|q", "3|NULL"]
    );
    sql.run("CREATE TABLE k (a INT PRIMARY KEY, b INT DEFAULT 3, c TEXT)");
    assert_eq!(
        sql.run("INSERT INTO k BY NAME SELECT 'x' AS c, 1 AS a"),
        "INSERT 0 1"
    );
    sql.run("INSERT INTO k BY NAME SELECT 2 AS a UNION ALL SELECT 3");
    sql.run("INSERT INTO k BY POSITION SELECT 4, 5, 'y'");
    sql.run(
        "INSERT INTO k BY NAME SELECT 1 AS a, 7 AS b ON CONFLICT (a) DO UPDATE SET b = excluded.b",
    );
    assert_eq!(
        sql.rows("SELECT * FROM k ORDER BY a"),
        ["1|7|x", "2|3|NULL", "3|3|NULL", "4|5|y"]
    );
    let prepared = sql
        .session
        .prepare("INSERT INTO k BY NAME SELECT $1::int AS a RETURNING b");
    let told = sql.told(&prepared.unwrap()).unwrap();
    assert_eq!(told.columns.unwrap().fields().len(), 1);
    for (query, state) in [
        ("INSERT INTO k BY NAME SELECT 1 AS z", "42703"),
        ("INSERT INTO k BY NAME SELECT 1 AS a, 2 AS a", "42701"),
        ("INSERT INTO k BY WORD SELECT 1", "42601"),
    ] {
        assert_eq!(sql.state(query), state, "{query}");
    }
}

#[test]
fn catalogs_are_asked_in_duckdbs_words() {
    let sql = tables();
    sql.run("CREATE TABLE k (a INT PRIMARY KEY, b TEXT NOT NULL DEFAULT 'x')");
    assert_eq!(
        sql.rows("PRAGMA table_info('k')"),
        [
            "0|a|integer|true|NULL|true",
            "1|b|text|true|'x'::text|false"
        ]
    );
    assert_eq!(sql.rows("PRAGMA table_info(t)").len(), 3);
    assert_eq!(
        sql.names("SHOW ALL TABLES").join("|"),
        "database|schema|name|column_names|column_types|temporary"
    );
    assert_eq!(sql.rows("SHOW ALL TABLES").len(), 3);
    assert_eq!(sql.rows("PRAGMA show_tables"), sql.rows("SHOW TABLES"));
    assert_eq!(
        sql.rows("DESCRIBE SELECT 1 AS x"),
        ["x|INTEGER|YES|NULL|NULL"]
    );
    assert_eq!(sql.state("PRAGMA table_info('nope')"), "42P01");
    let refused = sql.error("ATTACH 'x.db' AS y");
    assert_eq!(
        (refused.sqlstate.as_str(), refused.hint.is_some()),
        ("0A000", true)
    );
}

#[test]
fn functions_have_duckdbs_names() {
    let sql = Sql::new();
    for (value, expected) in [
        ("list_aggregate([1, 2, 3], 'sum')", "6"),
        ("array_aggr([1, 2], 'max')", "2"),
        ("list_select(['a', 'b', 'c'], [3, 1, 9])", "{c,a,NULL}"),
        ("list_where([1, 2, 3], [true, false, true])", "{1,3}"),
        ("list_grade_up([3, NULL, 1, 2])", "{3,4,1,2}"),
        ("list_resize([1, 2], 4)", "{1,2,NULL,NULL}"),
        ("list_resize([1, 2], 4, 9)", "{1,2,9,9}"),
        ("list_resize([1, 2, 3], 1)", "{1}"),
        ("array_pop_back([1, 2, 3])", "{1,2}"),
        ("array_pop_front([1, 2, 3])", "{2,3}"),
        ("list_inner_product([1.0, 2.0], [2.0, 4.0])", "10"),
        ("list_distance([1.0, 2.0], [2.0, 4.0])", "2.23606797749979"),
        (
            "list_cosine_similarity([1.0, 2.0], [2.0, 3.0])",
            "0.9922778767136677",
        ),
        ("round(list_skewness([1, 2, 9])::numeric, 9)", "1.630059162"),
        ("round(list_entropy([1, 1, 2])::numeric, 9)", "0.918295834"),
        ("regexp_extract('hello_world', '([a-z]+)_?', 1)", "hello"),
        (
            "regexp_extract('abc', 'b') || regexp_extract('abc', 'z')",
            "b",
        ),
        ("regexp_extract_all('a1b2', '[a-z](\\d)', 1)", "{1,2}"),
        ("regexp_extract_all('a1b2', '\\d')", "{1,2}"),
        ("regexp_full_match('abc', 'b')", "false"),
        ("regexp_full_match('abc', 'x|a.c')", "true"),
        ("regexp_escape('a.b')", "a\\.b"),
        ("string_split_regex('a1b2c', '\\d')", "{a,b,c}"),
        (
            "printf('%d %s %.2f %05d', 42, 'x', 1.234, 7)",
            "42 x 1.23 00007",
        ),
        ("format_bytes(1500000)", "1.4 MiB"),
        ("formatReadableDecimalSize(1500000)", "1.5 MB"),
        (
            "url_encode('a b/ü') || url_decode('%20')",
            "a%20b%2F%C3%BC ",
        ),
        ("bin(5) || hex('abc') || hex(255)", "101616263FF"),
        ("damerau_levenshtein('abc', 'acb')", "1"),
        (
            "jaro_winkler_similarity('duck', 'duckdb')",
            "0.9333333333333333",
        ),
        (
            "parse_filename('/a/b.csv') || parse_filename('/a/b.csv', true)",
            "b.csvb",
        ),
        ("parse_dirpath('/a/b/c.csv')", "/a/b"),
        ("strlen('aé')", "3"),
        ("split('a,b', ',')", "{a,b}"),
        ("if(1 > 0, 'yes', 'no')", "yes"),
        (
            "(SELECT mean(x) FROM (VALUES (1), (2)) v (x))",
            "1.5000000000000000",
        ),
        ("datetrunc('year', DATE '2020-05-05')::date", "2020-01-01"),
        ("today() = current_date", "true"),
    ] {
        assert_eq!(
            sql.one(&format!("SELECT ({value})::text")),
            expected,
            "{value}"
        );
    }
    assert_eq!(
        sql.rows(
            "SELECT list_resize(l, n, 0)::text FROM (VALUES ('{1}'::int[], 2), (NULL, 1)) v (l, n)"
        ),
        ["{1,0}", "NULL"]
    );
    for (value, state) in [
        ("list_aggregate([1], 'nope')", "42883"),
        ("list_aggregate([1], 'string_agg', ',')", "0A000"),
        ("list_inner_product([1.0], [1.0, 2.0])", "22023"),
        ("list_resize([1], 1000000000000)", "54000"),
        ("list_where([1], [NULL::boolean])", "22004"),
        ("regexp_extract_all('a', 'a', 1)", "22023"),
        ("printf('%d', 'x')", "22023"),
        ("printf('%g', 1)", "0A000"),
        ("if(1, 2, 3)", "42804"),
        ("if(true, 2)", "42883"),
        ("url_decode('%FF')", "22021"),
    ] {
        assert_eq!(sql.state(&format!("SELECT {value}")), state, "{value}");
    }
}

//! Generated queries give the same however many threads run them, in batches of any length.

use crate::support::{LAYOUTS, Sql, comparable, rounded, runtime};
use freestone::{Database, Outcome, SessionOptions};
use futures::StreamExt;

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.roll(all.len())]
    }
}

/// Two tables with NULLs in every column but the first, deleted rows and rows in no block.
fn database(layout: &str) -> Database {
    let database = Database::in_memory();
    let sql = Sql::on(&database);
    for (table, rows, step) in [("a", 3000, 7), ("b", 700, 3)] {
        sql.run(&format!(
            "CREATE TABLE {table} (id INTEGER NOT NULL, k INTEGER, n BIGINT, p DECIMAL(12,2), \
             w DECIMAL(30,4), f DOUBLE PRECISION, t TEXT, u BOOLEAN, d DATE, \
             m TIMESTAMP WITH TIME ZONE, h TIME) \
             WITH (layout = '{layout}')"
        ));
        let maybe = |modulus: usize, value: &str| {
            format!("CASE WHEN v % {modulus} = 1 THEN NULL ELSE {value} END")
        };
        let columns = [
            "v".to_owned(),
            maybe(11, &format!("(v * {step}) % 97")),
            maybe(13, "(v * 7919) % 1000003 - 500000"),
            maybe(17, "CAST((v * 31) % 10007 AS DECIMAL(12,2)) / 4"),
            maybe(19, "CAST(v AS DECIMAL(30,4)) * 123456789012345.5"),
            maybe(23, "CAST((v * 37) % 64 AS DOUBLE PRECISION) / 8"),
            maybe(29, "'t' || CAST((v * 5) % 41 AS TEXT)"),
            maybe(7, "(v % 3 = 0)"),
            maybe(31, "DATE '1995-01-01' + CAST(v % 900 AS INTEGER)"),
            maybe(
                37,
                "TIMESTAMPTZ '1995-01-01 00:00+00' + (v % 300) * INTERVAL '5 hours'",
            ),
            maybe(41, "TIME '00:00' + (v % 90) * INTERVAL '7 minutes'"),
        ];
        let insert = |from: usize, to: usize| {
            format!(
                "INSERT INTO {table} SELECT {} FROM generate_series({from}, {to}) AS g(v)",
                columns.join(", ")
            )
        };
        sql.run(&insert(1, rows));
        sql.run(&format!(
            "VACUUM {table}; DELETE FROM {table} WHERE id % 10 = 4"
        ));
        sql.run(&insert(rows + 1, rows + 50));
        sql.run(&format!("UPDATE {table} SET n = n + 1 WHERE id % 50 = 3"));
    }
    database
}

const NUMBERS: [&str; 9] = [
    "{}.id",
    "{}.k",
    "{}.n",
    "{}.p",
    "{}.w",
    "{}.p * {}.p",
    "{}.p - 17.25",
    "1 - {}.p",
    "CASE WHEN {}.u THEN {}.p ELSE 0 END",
];
const CONDITIONS: [&str; 18] = [
    "{}.k < 40",
    "{}.p > 800.5",
    "{}.p + {}.p >= 1000",
    "{}.w > 1000000000000000000.5",
    "{}.t LIKE '%3'",
    "{}.t = 't7'",
    "{}.t < 't3'",
    "{}.u",
    "NOT {}.u",
    "{}.d BETWEEN DATE '1995-06-01' AND DATE '1996-06-01'",
    "{}.k IN (1, 5, 8, 60)",
    "{}.k NOT IN (3, 4, 5)",
    "{}.n IS NULL OR {}.k = 12",
    "{}.f * 2 > 3.5",
    "CASE WHEN {}.u THEN {}.n / nullif({}.k, 0) > 10 ELSE {}.k > 3 END",
    "extract(year FROM {}.d) = 1996",
    "{}.m < TIMESTAMPTZ '1995-02-20 07:00+00'",
    "{}.h BETWEEN TIME '02:00' AND TIME '06:30'",
];
const KEYS: [&str; 10] = [
    "{}.k",
    "{}.t",
    "{}.u",
    "{}.d",
    "{}.m",
    "{}.h",
    "{}.k % 5",
    "{}.p",
    "substring({}.t, 1, 2)",
    "{}.w",
];

fn aggregate(dice: &mut Dice, table: &str) -> String {
    let number = dice.of(&NUMBERS).replace("{}", table);
    match dice.roll(8) {
        0 => "count(*)".to_owned(),
        1 => format!("count({number})"),
        2 => format!("avg({number})"),
        3 => format!("min({number})"),
        4 => format!("max({})", dice.of(&KEYS[..6]).replace("{}", table)),
        5 => format!("count(DISTINCT {table}.k)"),
        6 => {
            let condition = dice.of(&CONDITIONS).replace("{}", table);
            format!("sum({number}) FILTER (WHERE {condition})")
        }
        _ => format!("sum({number})"),
    }
}

fn query(dice: &mut Dice) -> String {
    let mut tables = vec!["a"];
    let from = match dice.roll(10) {
        0 => "a".to_owned(),
        1 => {
            tables.push("b");
            let kind = dice.of(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]);
            format!("a {kind} b ON a.k = b.k")
        }
        2 => {
            tables.push("b");
            let kind = dice.of(&["JOIN", "LEFT JOIN"]);
            format!("a {kind} b ON a.k = b.k AND a.d = b.d")
        }
        3 => {
            tables.push("b");
            let kind = dice.of(&["JOIN", "LEFT JOIN", "RIGHT JOIN"]);
            format!("a {kind} b ON a.k = b.k AND a.n < b.n")
        }
        4 => {
            tables.push("c");
            "a, b, a AS c WHERE a.k = b.k AND b.id = c.id AND a.id < 900".to_owned()
        }
        5 => {
            let not = dice.of(&["", "NOT "]);
            let more = dice.of(&["", " AND b.n > a.n"]);
            format!("a WHERE {not}EXISTS (SELECT 1 FROM b WHERE b.k = a.k{more})")
        }
        6 => {
            tables.push("b");
            let kind = dice.of(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]);
            let keys = [
                "a.t = b.t",
                "a.f = b.f AND a.u = b.u",
                "a.w = b.w",
                "a.d = b.d AND a.t = b.t",
                "a.m = b.m",
                "a.h = b.h AND a.k = b.k",
            ];
            format!("a {kind} b ON {}", dice.of(&keys))
        }
        7 => {
            let column = dice.of(&["k", "t", "f", "p", "d", "m", "h"]);
            let condition = dice.of(&CONDITIONS).replace("{}", "b");
            let known = dice.of(&["", " IS NULL", " IS NOT NULL"]);
            let known = if known.is_empty() {
                String::new()
            } else {
                format!("b.{column}{known} AND ")
            };
            format!("a WHERE a.{column} NOT IN (SELECT b.{column} FROM b WHERE {known}{condition})")
        }
        8 => {
            let condition = dice.of(&CONDITIONS).replace("{}", "b");
            format!("(SELECT * FROM a UNION ALL SELECT * FROM b WHERE {condition}) AS a")
        }
        _ => {
            let condition = dice.of(&CONDITIONS).replace("{}", "b");
            format!("a WHERE a.k IN (SELECT b.k FROM b WHERE {condition})")
        }
    };
    let table = tables[dice.roll(tables.len())];
    let mut condition = dice.of(&CONDITIONS).replace("{}", table);
    if dice.roll(2) == 0 {
        let other = dice.of(&CONDITIONS).replace("{}", "a");
        condition = format!("({condition} {} {other})", dice.of(&["AND", "OR"]));
    }
    let link = if from.contains("WHERE") && !from.starts_with('(') {
        "AND"
    } else {
        "WHERE"
    };
    let table = tables[dice.roll(tables.len())];
    let results: Vec<String> = (0..=dice.roll(3)).map(|_| aggregate(dice, table)).collect();
    let results = results.join(", ");
    let keys: Vec<String> = (0..dice.roll(3))
        .map(|_| dice.of(&KEYS).replace("{}", table))
        .collect();
    match keys.is_empty() {
        true => format!("SELECT {results} FROM {from} {link} {condition}"),
        false => {
            let keys = keys.join(", ");
            format!("SELECT {keys}, {results} FROM {from} {link} {condition} GROUP BY {keys}")
        }
    }
}

/// The query with its rows in an order that leaves nothing open, or some of them.
fn in_order(dice: &mut Dice, query: &str) -> String {
    let (mut depth, mut count) = (0, 1);
    for (at, letter) in query.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => count += 1,
            ' ' if depth == 0 && query[at..].starts_with(" FROM ") => break,
            _ => {}
        }
    }
    let keys = (1..=count).map(|number| {
        let direction = dice.of(&["", " DESC"]);
        let nulls = dice.of(&["", " NULLS FIRST", " NULLS LAST"]);
        format!("{number}{direction}{nulls}")
    });
    let keys: Vec<String> = keys.collect();
    let limit = dice.of(&[
        "",
        " LIMIT 1",
        " LIMIT 7",
        " LIMIT 20 OFFSET 3",
        " OFFSET 5",
    ]);
    format!("{query} ORDER BY {}{limit}", keys.join(", "))
}

/// Queries that went wrong once.
const FOUND: [&str; 12] = [
    // A condition of a join that is evaluated for some of the pairs only.
    "SELECT b.u, count(DISTINCT b.k) FROM a JOIN b ON a.k = b.k AND a.n < b.n \
     WHERE (b.k NOT IN (3, 4, 5) OR a.t LIKE '%3') GROUP BY b.u",
    // The least of no values.
    "SELECT substring(b.t, 1, 2), min(b.id), max(b.p) FROM a LEFT JOIN b \
     ON a.k = b.k AND a.d = b.d WHERE a.t = 't7' GROUP BY substring(b.t, 1, 2)",
    // Groups of no rows, by keys of several words.
    "SELECT substring(a.t, 1, 2), a.p, max(a.d) FROM a \
     WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k) AND a.k > 3 \
     GROUP BY substring(a.t, 1, 2), a.p",
    // Arithmetic on floats of no rows.
    "SELECT sum(a.p) FILTER (WHERE a.f * 2 > 3.5) FROM a \
     WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k) AND a.k > 3",
    // Conditions with sub-queries of one row, some of them NULL.
    "SELECT count(*), sum(p) FROM a WHERE p > (SELECT avg(p) FROM a WHERE k < 5)",
    "SELECT k, count(*) FROM a WHERE n < (SELECT max(n) FROM b) AND n > (SELECT min(n) FROM b WHERE id < 0) GROUP BY k",
    "SELECT a.id, s.x FROM a JOIN (SELECT k, sum(n) AS x FROM b GROUP BY k) s ON a.k = s.k WHERE s.x = (SELECT max(x) FROM (SELECT k, sum(n) AS x FROM b GROUP BY k) m) ORDER BY 1, 2",
    "SELECT count(*) FROM a WHERE t = (SELECT min(t) FROM b) OR p IS NULL AND k = (SELECT count(*) FROM b WHERE k = 1) AND NOT EXISTS (SELECT 1 FROM b WHERE b.id = a.id)",
    // Groups of groups, none of them left.
    "SELECT count(*), sum(x) FROM (SELECT k, sum(p) AS x FROM a WHERE id < 0 GROUP BY k) s",
    // One moment, with and without a zone.
    "SELECT max(TIMESTAMP '1999-07-01 12:34'), max(TIMESTAMPTZ '1999-07-01 12:34+00') FROM a",
    "SELECT id, lead(TIMESTAMPTZ '1999-07-01 12:34+00', 1, TIMESTAMPTZ '1999-07-01 12:34+00') \
     OVER (ORDER BY TIMESTAMP '1999-07-01 12:34', id) FROM b WHERE id < 9",
    // Parts of a union with different constants, the least of which are kept.
    "SELECT * FROM (SELECT a.k, a.k AS x, DATE '2020-01-31' AS y FROM a JOIN b ON a.f = b.f \
     UNION ALL SELECT k, k, NULL FROM b ORDER BY 1, 2 DESC, 3 DESC LIMIT 1) AS s",
];

#[test]
fn generated_queries_give_the_same_however_they_run() {
    let mut sorts = 0;
    for (number, layout) in LAYOUTS.into_iter().enumerate() {
        let database = database(layout);
        let theirs = Sql::on(&database);
        theirs.run("SET freestone.engine = 'bulk'");
        let sessions: Vec<Sql> = [(1, 8192), (2, 8192), (2, 3)]
            .into_iter()
            .map(|(threads, rows)| {
                let sql = Sql::on_session(database.session_with(SessionOptions {
                    threads: Some(threads),
                }));
                sql.run(&format!("SET freestone.batch_rows = {rows}"));
                sql
            })
            .collect();
        let mut dice = Dice(number as u64 + 1);
        let found = FOUND.iter().map(|query| (*query).to_owned());
        let generated: Vec<String> = (0..150).map(|_| query(&mut dice)).collect();
        for query in found.chain(generated) {
            let expected = comparable(theirs.rows(&query));
            for sql in &sessions {
                assert_eq!(
                    comparable(sql.rows_of_one_engine(&query)),
                    expected,
                    "{layout}: {query}"
                );
            }
            if query.contains("ORDER BY") {
                continue;
            }
            let query = in_order(&mut dice, &query);
            let expected = rounded(theirs.rows(&query));
            for sql in &sessions {
                assert_eq!(
                    rounded(sql.rows_of_one_engine(&query)),
                    expected,
                    "{layout}: {query}"
                );
            }
            let plan = sessions[0].rows(&format!("EXPLAIN {query}")).join("\n");
            sorts += usize::from(plan.contains("sort by"));
        }
    }
    assert!(sorts > 300, "only {sorts} of 450 queries were sorted");
}

#[test]
fn a_plan_that_is_used_again_sees_what_has_changed() {
    let database = Database::in_memory();
    let (a, b) = (Sql::on(&database), Sql::on(&database));
    a.run("CREATE TABLE t (k INTEGER, n INTEGER); INSERT INTO t VALUES (1, 1), (2, 2)");
    let sum = "SELECT sum(n), count(*) FROM t WHERE k > 0";
    for _ in 0..3 {
        assert_eq!(a.one(sum), "3|2");
    }
    b.run("INSERT INTO t VALUES (3, 3)");
    assert_eq!(a.one(sum), "6|3");
    b.run("UPDATE t SET n = 30 WHERE k = 3");
    assert_eq!(a.one(sum), "33|3");
    b.run("UPDATE t SET n = 3 WHERE k = 3");
    assert_eq!(a.one(sum), "6|3");
    let count = "SELECT count(*), max(k) FROM t";
    b.run("VACUUM t");
    assert_eq!(a.one(count), "3|3");
    b.run("INSERT INTO t VALUES (4, 4)");
    assert_eq!(a.one(count), "4|4");
    b.run("DELETE FROM t WHERE k = 4");
    assert_eq!(a.one(count), "3|3");
    a.run("BEGIN; DELETE FROM t WHERE k = 1");
    assert_eq!(a.one(sum), "5|2");
    assert_eq!(b.one(sum), "6|3");
    a.run("ROLLBACK");
    assert_eq!(a.one(sum), "6|3");
    b.run("ALTER TABLE t RENAME COLUMN n TO m; ALTER TABLE t ADD COLUMN n INTEGER DEFAULT 7");
    assert_eq!(a.one(sum), "21|3");
    b.run("DROP TABLE t");
    assert_eq!(a.state(sum), "42P01");
}

#[test]
fn a_number_out_of_range_is_an_error_on_our_operators_too() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (n BIGINT, w DECIMAL(38,0), p DECIMAL(15,2))");
    sql.run(
        "INSERT INTO t SELECT 9223372036854775807, CAST('9' || repeat('0', 36) AS DECIMAL(38,0)), \
             9999999999999.99 FROM generate_series(1, 3) AS g(value)",
    );
    assert_eq!(sql.state("SELECT sum(n * n) FROM t WHERE p > 0"), "22003");
    assert_eq!(sql.state("SELECT sum(w * w) FROM t WHERE p > 0"), "22003");
    assert_eq!(
        sql.one("SELECT sum(p * p) FROM t WHERE n > 0"),
        "299999999999999400000000000.0003"
    );
}

/// Queries whose groups or build sides are many.
const LARGE: [&str; 14] = [
    // Keys in order.
    "SELECT n, sum(v), count(*), max(v) FROM lines GROUP BY n HAVING sum(v) % 7 > 1 ORDER BY n DESC LIMIT 5000",
    "SELECT k, count(*), sum(v), min(t), max(v), avg(v) FROM big GROUP BY k",
    "SELECT t, k, sum(f), count(v) FROM big GROUP BY t, k",
    "SELECT DISTINCT v, t FROM big",
    // Keys in runs, tested run by run.
    "SELECT count(*), sum(l.v), max(o.t) FROM lines l JOIN other o ON l.n = o.k WHERE o.v < 300",
    "SELECT count(*), sum(b.v), sum(o.v) FROM big b JOIN other o ON b.k = o.k",
    "SELECT count(*), sum(b.v), sum(o.v), min(o.t) FROM big b LEFT JOIN other o ON b.k = o.k",
    "SELECT count(*), sum(b.v), sum(o.v), min(o.t) FROM other o RIGHT JOIN big b ON b.k = o.k AND b.v > o.v",
    "SELECT count(*), sum(b.v), sum(o.v) FROM big b FULL JOIN other o ON b.k = o.k AND b.v = o.v",
    "SELECT count(*), sum(v) FROM big WHERE k IN (SELECT k FROM other WHERE v > 10)",
    "SELECT count(*), sum(v) FROM big b WHERE NOT EXISTS (SELECT 1 FROM other o WHERE o.k = b.k)",
    "SELECT s, count(*) FROM (SELECT k, sum(v) AS s FROM big GROUP BY k) q GROUP BY s ORDER BY 2 DESC, 1 LIMIT 5",
    "SELECT b.t, count(*) FROM big b JOIN other o ON b.k = o.k JOIN big c ON o.v = c.v AND o.k = c.k GROUP BY b.t",
    "SELECT sum(x) FROM (SELECT v AS x, row_number() OVER (ORDER BY t, k, v) AS n FROM big) q WHERE n % 3 = 0",
];

#[test]
fn queries_do_with_little_memory() {
    let database = Database::in_memory();
    let sql = Sql::on(&database);
    let values = |rows: usize, keys: usize| {
        format!(
            "SELECT CASE WHEN value % 37 = 0 THEN NULL ELSE value * 7919 % {keys} END, \
             value * 31 % 1000, CASE WHEN value % 11 = 0 THEN NULL ELSE 'text number ' || (value % 20011) END, \
             value / 4.0 FROM generate_series(1, {rows}) AS g(value)"
        )
    };
    for (table, rows, keys) in [("big", 150_000, 90_001), ("other", 60_000, 50_021)] {
        sql.run(&format!(
            "CREATE TABLE {table} (k BIGINT, v INT, t VARCHAR, f DOUBLE)"
        ));
        sql.run(&format!("INSERT INTO {table} {}", values(rows, keys)));
    }
    sql.run("CREATE TABLE lines (n BIGINT NOT NULL, v INT)");
    sql.run("INSERT INTO lines SELECT value / 5, value % 97 FROM generate_series(1, 200000) AS g(value)");
    let mut aside = 0;
    for query in LARGE {
        sql.run("SET memory_limit = '80%'");
        let expected = comparable(sql.rows_of_one_engine(query));
        for limit in ["64MB", "2MiB"] {
            sql.run(&format!("SET memory_limit = '{limit}'"));
            assert_eq!(
                comparable(sql.rows_of_one_engine(query)),
                expected,
                "{limit}: {query}"
            );
        }
        let plan = sql.rows(&format!("EXPLAIN ANALYZE {query}")).join("\n");
        aside += usize::from(plan.contains("bytes set aside"));
    }
    assert!(aside >= 10, "only {aside} queries have set rows aside");
}

#[test]
fn the_limit_of_memory_is_one_for_all_sessions() {
    let database = Database::in_memory();
    let (one, other) = (Sql::on(&database), Sql::on(&database));
    assert_eq!(one.rows("SHOW memory_limit"), ["80%"]);
    one.run("SET memory_limit = '3 GiB'");
    assert_eq!(other.rows("SHOW memory_limit"), ["3 GiB"]);
    assert_eq!(one.error("SET memory_limit = '3 pounds'").sqlstate, "22023");
    assert_eq!(one.error("SET memory_limit = '1kB'").sqlstate, "22023");
    assert_eq!(other.rows("SHOW memory_limit"), ["3 GiB"]);
    one.run("RESET memory_limit");
    assert_eq!(other.rows("SHOW memory_limit"), ["80%"]);
}

/// Results that are not read to their ends hold no thread that others need.
#[test]
fn results_that_wait_keep_nobody() {
    let database = Database::in_memory();
    let sql = Sql::on(&database);
    sql.run("CREATE TABLE t WITH (block_bytes = '1MiB') AS SELECT value AS v, value % 7 AS k FROM generate_series(1, 1000000) AS g(value)");
    let runtime = runtime();
    let mut open = Vec::new();
    for _ in 0..40 {
        let session = database.session();
        let query = session.execute("SELECT v, k + 1 FROM t WHERE v > 5");
        let outcomes = runtime.block_on(query).unwrap();
        let Some(Outcome::Rows(mut rows)) = outcomes.into_iter().next() else {
            panic!("a query gives rows");
        };
        assert!(runtime.block_on(rows.stream.next()).is_some());
        open.push((session, rows));
    }
    let joined = "SELECT count(*), sum(b.k) FROM t AS a JOIN t AS b ON a.v = b.v WHERE a.k = 3";
    assert_eq!(sql.rows(joined), ["142857|428571"]);
}

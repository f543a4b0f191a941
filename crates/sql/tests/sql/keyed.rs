//! Queries whose tables are read by keys.
//!
//! [`Sql::rows`] asks each query of both engines. The second one makes plans of operators, so
//! that every query here is also a comparison of rows by keys with rows by operators.

use crate::support::{Sql, runtime};
use freestone::{Outcome, Parameter, Prepared, Session};
use futures::TryStreamExt;

fn tables() -> Sql {
    let sql = Sql::new();
    for statement in [
        "CREATE TABLE wh (no int PRIMARY KEY, tax numeric(4,4), label varchar(10), st char(2))",
        "INSERT INTO wh VALUES (1, 0.1, 'a', 'x'), (2, 0.2, 'b', NULL), (3, NULL, NULL, 'yy')",
        "CREATE TABLE cu (w int, d int, id bigint, name text, bal numeric(12,2), day date, \
         PRIMARY KEY (w, d, id))",
        "INSERT INTO cu SELECT w, d, c, CASE WHEN c % 3 > 0 THEN 'n' || c END, c * 1.5, \
         date '2024-01-01' + c::int FROM generate_series(1, 3) w, generate_series(1, 3) d, \
         generate_series(1, 20) c",
        "CREATE INDEX by_name ON cu (name)",
        "VACUUM cu",
        "INSERT INTO cu VALUES (1, 1, 21, 'n1', 7, NULL), (2, 1, 21, NULL, 8, NULL)",
        "DELETE FROM cu WHERE id = 4 AND d = 2",
    ] {
        sql.run(statement);
    }
    sql
}

/// Conditions on `cu`, most of which give the values of a key.
const CONDITIONS: [&str; 60] = [
    "w = 1 AND d = 2 AND id = 7",
    "w = 1 AND d = 2 AND id = 99",
    "w = 1 AND d = 2 AND id = NULL",
    "w = 1 AND d IN (1, 2, NULL) AND id IN (3, 4, 21)",
    "(w, d, id) IN ((1, 1, 3), (2, 2, 4), (9, 9, 9), (1, 1, 3))",
    "(w, d, id) NOT IN ((1, 1, 3), (2, 2, 4)) AND w = 1 AND d = 1 AND id = 3",
    "w = 1 AND d = 1 AND (id = 3 OR id = 5 OR id IS NULL)",
    "w = 1 AND d = 1 AND (id = 3 OR id = 5)",
    "(w = 1 AND d = 1 AND id = 3) OR (w = 2 AND d = 1 AND id = 21)",
    "(w = 1 AND d = 1 AND id = 3) OR name = 'n1'",
    "(w = 1 AND d = 1 AND id = 3 AND bal > 99) OR (w = 2 AND d = 1 AND id = 5 AND bal < 99)",
    "(w = 1 AND d = 1 AND id = 3 AND id = 4) OR (w = 2 AND d = 1 AND id = 6)",
    "(w = 1 AND d = 1 AND id IN (3, 4)) OR (w = 2 AND d = 1 AND id = 7 AND name IS NULL)",
    "name = 'n1'",
    "name IN ('n1', 'n2', 'zz') AND w = 1",
    "name = 'n1' AND NOT d = 1",
    "NOT (name = 'n1')  AND w = 1 AND d = 1 AND id = 2",
    "w = 1 AND d = 1 AND id = 3 AND id = 5",
    "w = 1::smallint AND d = 1::bigint AND id = 3::int",
    "w = 1 AND d = w AND id = d + 2",
    "w = 1 AND d = w AND id = 3",
    "w = 1 AND d = 1 AND id = 3.0",
    "w = 1 AND d = 1 AND id = '3' AND day > '2024-01-02' AND bal / (id - 2) > 1",
    "w = 3 - 2 AND d = 1 AND id IN (2 + 1, 2 * 2, -4, 5 % 3, 7 / 2)",
    "w = 1 AND d = 1 AND id = abs(-3)",
    "w = 1 AND d = 2 - 1 AND id = 3 + NULL",
    "name = 'n' || 1 AND w = 1",
    "name IN (lower('N1'), upper('n2')) AND w = 1",
    "day = date '2024-01-01' + 3 AND w = 1 AND d = 1 AND id = 1 + 2",
    "w = 2",
    "w = 2 AND d = 1",
    "w = 2 AND d = 1 AND id > 5 AND id <= 9",
    "w = 2 AND d = 1 AND 7 > id",
    "w = 2 AND d = 1 AND id > NULL",
    "w = 2 AND d >= 2 AND id = 4",
    "(w, d) IN ((1, 1), (2, 3), (1, 1)) AND id < 4",
    "w = 2 AND d = 1 AND name = 'n4'",
    "w = 1 AND name IS NULL AND d < 3",
    "name = 'n1' AND id >= 21 AND bal < 100",
    "w BETWEEN 1 AND 2",
    "w BETWEEN 2 AND 1",
    "w BETWEEN 1 AND NULL",
    "w BETWEEN 2 AND 2 AND d BETWEEN 1 AND 2 AND id < 9",
    "w BETWEEN 1 AND 2 OR w BETWEEN 2 AND 3",
    "w = 1 OR w BETWEEN 2 AND 3 AND id > 5",
    "w < 2 AND 1 <= w AND w > 0 AND w <= 7",
    "w < 3 OR w > 3 AND w < 9",
    "w > 3 AND w < 9 OR w < 3 AND w > 1",
    "(w, d, id) > (2, 3, 17)",
    "(w, d, id) >= (2, 3, 17) AND (w, d) < (3, 1)",
    "(w, d) BETWEEN (1, 2) AND (2, 1)",
    "w = 1 AND d BETWEEN 1 AND 2 OR w = 2 AND d BETWEEN 2 AND 3",
    "w = 1 AND d < 2 OR w = 1 AND d > 2",
    "name BETWEEN 'n1' AND 'n12'",
    "name > 'n1' AND name < 'n12' OR name = 'n20'",
    "w IN (1::bigint, 5000000000) AND d = 1::bigint",
    "w BETWEEN 2::bigint AND 5000000000 AND id = 4::smallint",
    "w::bigint = 2 AND d::int = 1 AND id = 7::int",
    "w = 5000000000 AND d = 1 AND id = 2",
    "w IN (5000000000, 2::bigint) AND d = 1 AND id IN (2::smallint, 3)",
];

#[test]
fn rows_by_keys_are_those_of_operators() {
    let sql = tables();
    for condition in CONDITIONS {
        for query in [
            "SELECT w, d, id, name, bal, day FROM cu WHERE {} ORDER BY w, d, id",
            "SELECT count(*), sum(bal), min(name), max(day), avg(id) FROM cu WHERE {}",
            "SELECT d, sum(bal), string_agg(name, ',' ORDER BY id) FROM cu WHERE {} \
             GROUP BY d HAVING count(*) > 0 ORDER BY d",
            "SELECT DISTINCT name IS NULL AS n FROM cu WHERE {} ORDER BY n DESC LIMIT 1",
            "SELECT wh.label, wh.st || '|', cu.id FROM cu, wh WHERE wh.no = 1 AND wh.no = w AND ({}) \
             ORDER BY cu.w, cu.d, cu.id",
            "SELECT wh.label, cu.id FROM wh LEFT JOIN cu ON cu.w = wh.no AND ({}) \
             WHERE wh.no IN (1, 2) ORDER BY wh.no, cu.d, cu.id",
            "SELECT wh.no FROM wh WHERE no IN (1, 2, 3) \
             AND NOT EXISTS (SELECT FROM cu WHERE cu.w = wh.no AND ({})) ORDER BY 1",
            "SELECT wh.no, 3 NOT IN (SELECT cu.id FROM cu WHERE {}) FROM wh WHERE no = 2",
            "SELECT x.n FROM (SELECT w, count(*) AS n FROM cu WHERE {} GROUP BY w) x \
             WHERE x.w = 1",
            "SELECT x.id FROM (SELECT id FROM cu WHERE {} ORDER BY w, d, id LIMIT 1) x \
             WHERE x.id = 4",
        ] {
            let query = query.replace("{}", condition);
            // Both engines give the same, or the comparison fails.
            sql.rows(&query);
        }
    }
}

/// Rows by the first columns of a key, where there are too many to look at, too.
#[test]
fn keys_are_computed_of_parameters() {
    let sql = tables();
    let looked_up = || {
        sql.rows_of_one_engine(
            "SELECT round(table_looked_up) FROM freestone_workload() \
             WHERE column_name = 'bal' AND table_name LIKE '%cu'",
        )
    };
    let query = "SELECT bal FROM cu WHERE w = $1 - 1 AND d = abs($2) AND id IN ($3 / 2, $3 % 10)";
    sql.run(&format!("PREPARE q(int, int, int) AS {query}"));
    sql.run(
        "PREPARE u(int) AS UPDATE cu SET bal = bal + 1 WHERE w = $1 - 1 AND d = $1 / 2 AND id = $1",
    );
    assert_eq!(
        sql.rows_of_one_engine("EXECUTE q(2, -1, 6)"),
        ["4.50", "9.00"]
    );
    let before: f64 = looked_up()[0].parse().unwrap();
    for _ in 0..5 {
        assert_eq!(sql.sorted("EXECUTE q(2, -1, 6)").len(), 2);
        sql.run("EXECUTE u(2)");
    }
    let after: f64 = looked_up()[0].parse().unwrap();
    assert_eq!(after - before, 15.0);
    assert_eq!(
        sql.one("SELECT bal FROM cu WHERE w = 1 AND d = 1 AND id = 2"),
        "8.00"
    );
    // An error is that of the query.
    assert_eq!(sql.state("EXECUTE q(2, -1, 2147483648)"), "22003");
    sql.run("PREPARE z(int) AS SELECT bal FROM cu WHERE w = 1 AND d = 1 AND id = 10 / $1");
    assert_eq!(sql.one("EXECUTE z(5)"), "8.00");
    assert_eq!(sql.state("EXECUTE z(0)"), "22012");
    assert!(sql.rows_of_one_engine("EXECUTE z(NULL)").is_empty());
}

#[test]
fn few_and_many_rows_by_the_first_columns_of_a_key() {
    let sql = Sql::new();
    for statement in [
        "CREATE TABLE l (g int, n int, t text, f double precision, PRIMARY KEY (g, n))",
        "CREATE INDEX l_t ON l (t, f)",
        "INSERT INTO l SELECT g, n, CASE WHEN n % 9 > 0 THEN 't' || n % 40 END, n / 8.0 \
         FROM generate_series(1, 4) g, generate_series(1, 12000) n WHERE n <= 3 * 20 ^ (g - 1)",
    ] {
        sql.run(statement);
    }
    let queries = [
        "SELECT count(*), sum(n), min(t) FROM l WHERE g = {}",
        "SELECT n, t FROM l WHERE g = {} AND n > 2 ORDER BY n DESC LIMIT 3",
        "SELECT count(*), sum(n) FROM l WHERE g BETWEEN {} AND 2",
        "SELECT count(*), sum(n) FROM l WHERE g BETWEEN {} AND 3 AND n < 10 OR g = 1 AND n > 50",
        "SELECT g FROM l WHERE g BETWEEN {} AND 4 ORDER BY g LIMIT 1",
        "SELECT g, n FROM l WHERE g BETWEEN {} AND 4 AND n = 7 ORDER BY g DESC LIMIT 1",
        "SELECT g, n FROM l WHERE (g, n) > ({}, 58) AND g < 9 ORDER BY g, n LIMIT 3",
        "SELECT DISTINCT t FROM l WHERE t BETWEEN 't{}' AND 't20' ORDER BY t",
        "SELECT n, t FROM l WHERE g = {} AND n BETWEEN 5 AND 8 ORDER BY n",
        "SELECT n, t FROM l WHERE g = {} ORDER BY n LIMIT 2",
        "SELECT t, n + 1 FROM l WHERE g = {} ORDER BY n DESC LIMIT 70",
        "SELECT n FROM l WHERE g = {} AND n > 40 AND n < 999 ORDER BY n LIMIT 1",
        "SELECT n FROM l WHERE g = {} AND t IS NULL ORDER BY n DESC LIMIT 3",
        "SELECT n FROM l WHERE g = {} AND n % 11 = 5 ORDER BY n LIMIT 3",
        "SELECT n FROM l WHERE g IN ({}, 1) ORDER BY n DESC, g LIMIT 4",
        "SELECT n FROM l WHERE g = {} AND g = 2 ORDER BY n LIMIT 4 OFFSET 2",
        "SELECT n FROM (SELECT * FROM l WHERE g = {} ORDER BY n LIMIT 9) x WHERE n > 4 ORDER BY n DESC LIMIT 2",
        "SELECT f FROM l WHERE t = 't{}' ORDER BY f LIMIT 5",
        "SELECT count(*) FROM l WHERE g = {} AND t = 't7' AND f > 5",
        "SELECT count(*) FROM l WHERE t = 't{}' AND f < 9",
        "SELECT count(*) FROM l WHERE t = 't{}'",
        "SELECT count(*) FROM l WHERE t IN ('t{}', 't9') AND f IN (1, 2.125, 9)",
    ];
    for stage in [
        "",
        "VACUUM l",
        "UPDATE l SET t = 't7' WHERE n % 5 = 0",
        "DELETE FROM l WHERE n % 7 = 1",
    ] {
        if !stage.is_empty() {
            sql.run(stage);
        }
        for query in queries {
            for g in 1..=5 {
                sql.rows(&query.replace("{}", &g.to_string()));
            }
        }
    }
    let changed = [
        "UPDATE l SET f = f + 1 WHERE g = 2 AND n < 9",
        "DELETE FROM l WHERE (g, n) IN ((2, 5), (2, 6), (3, 9)) OR g = 1",
        "MERGE INTO l USING (VALUES (2, 3), (2, 99999)) v (g, n) ON l.g = v.g AND l.n = v.n \
         WHEN MATCHED THEN UPDATE SET t = 'merged' WHEN NOT MATCHED THEN INSERT VALUES (v.g, v.n)",
    ];
    let done = changed.map(|change| sql.run(change));
    assert_eq!(done, ["UPDATE 6", "DELETE 5", "MERGE 2"]);
    assert_eq!(
        sql.rows("SELECT n, t, f FROM l WHERE g = 2 AND (n < 9 OR n > 9999) ORDER BY n"),
        [
            "2|t2|1.25",
            "3|merged|1.375",
            "4|t4|1.5",
            "7|t7|1.875",
            "99999|NULL|NULL"
        ]
    );
}

#[test]
fn the_first_rows_of_a_key_are_those_that_a_transaction_sees() {
    let session = Sql::new();
    for statement in [
        "CREATE TABLE o (w int, d int, o int, c int, PRIMARY KEY (w, d, o))",
        "CREATE INDEX o_c ON o (w, d, c, o)",
        "INSERT INTO o SELECT 1, d, o, o % 7 FROM generate_series(1, 3) d, generate_series(1, 300) o",
    ] {
        session.run(statement);
    }
    let first = session
        .session
        .prepare("SELECT o FROM o WHERE w = $1 AND d = $2 ORDER BY o LIMIT $3");
    let last =
        "SELECT o, c FROM o WHERE w = $1 AND d = $2 AND c = $3 ORDER BY o DESC LIMIT 1 FOR UPDATE";
    let last = session.session.prepare(last);
    let (first, last) = (first.unwrap(), last.unwrap());
    // The rows of a table as it is shown, under its head.
    let cells = |shown: String| {
        let lines = shown.lines().filter(|line| line.starts_with('|')).skip(1);
        let rows = lines.map(|line| line.split_whitespace().filter(|part| *part != "|"));
        let rows = rows.map(|row| row.collect::<Vec<_>>().join("|"));
        rows.collect::<Vec<_>>().join(", ")
    };
    let check = |stage: &str, expected: [&str; 2]| {
        let values = |numbers: [i64; 3]| numbers.map(Parameter::Integer);
        let found = [
            prepared_rows(&session.session, &first, &values([1, 2, 3])),
            prepared_rows(&session.session, &last, &values([1, 2, 4])),
        ];
        assert_eq!(found.map(cells), expected, "{stage}");
    };
    for stage in ["in the delta", "in blocks"] {
        check(stage, ["1, 2, 3", "298|4"]);
        session.run("BEGIN");
        session.run("DELETE FROM o WHERE d = 2 AND (o < 100 OR o > 290)");
        session.run("INSERT INTO o VALUES (1, 2, 0, 9), (1, 2, 1000, 4)");
        session.run("UPDATE o SET c = 4 WHERE w = 1 AND d = 2 AND o = 1000");
        check(stage, ["0, 100, 101", "1000|4"]);
        session.run("ROLLBACK");
        check(stage, ["1, 2, 3", "298|4"]);
        session.run("VACUUM o");
    }
    session.run("DELETE FROM o WHERE d = 2 AND (o < 200 OR c = 4)");
    session.run("INSERT INTO o VALUES (1, 2, 150, 4)");
    check("after changes", ["150, 201, 202", "150|4"]);
}

#[test]
fn rows_of_the_own_transaction_are_found() {
    let sql = tables();
    let rows = |query: &str| sql.rows_of_one_engine(query);
    sql.run("BEGIN");
    sql.run("INSERT INTO wh VALUES (7, 0.7, 'own', 'o')");
    sql.run("UPDATE wh SET label = 'changed' WHERE no = 1");
    sql.run("DELETE FROM wh WHERE no = 2");
    let query = "SELECT no, label, st FROM wh WHERE no IN (1, 2, 7) ORDER BY no";
    assert_eq!(rows(query), ["1|changed|x ", "7|own|o "]);
    sql.run("ROLLBACK");
    assert_eq!(rows(query), ["1|a|x ", "2|b|NULL"]);
}

#[test]
fn rows_by_keys_are_locked() {
    let sql = tables();
    sql.run("BEGIN");
    let rows = sql.rows_of_one_engine(
        "SELECT id, name FROM cu WHERE (w, d, id) IN ((1, 1, 1), (1, 1, 2)) ORDER BY id FOR UPDATE",
    );
    assert_eq!(rows, ["1|n1", "2|n2"]);
    sql.run("UPDATE cu SET name = 'mine' WHERE w = 1 AND d = 1 AND id = 1");
    sql.run("COMMIT");
    assert_eq!(
        sql.rows("SELECT count(*) FROM cu WHERE name = 'mine'"),
        ["1"]
    );
}

/// The rows of a prepared query, or its SQLSTATE.
fn prepared_rows(session: &Session, prepared: &Prepared, values: &[Parameter]) -> String {
    let rows = runtime().block_on(async {
        match prepared.run(session, values).await? {
            Outcome::Rows(rows) => Ok(rows.stream.try_collect::<Vec<_>>().await?),
            Outcome::Done { .. } => panic!("a query has rows"),
        }
    });
    match rows {
        Ok(batches) => {
            let shown = arrow::util::pretty::pretty_format_batches(&batches);
            shown.unwrap().to_string()
        }
        Err::<_, freestone::Error>(error) => error.sqlstate.to_string(),
    }
}

/// A query whose whole numbers and texts of conditions are parameters, and their values.
fn with_parameters(query: &str) -> (String, Vec<Parameter>) {
    let (mut text, mut values) = (String::new(), Vec::new());
    let (mut rest, mut before) = (query, ' ');
    while let Some(first) = rest.chars().next() {
        let is_number = first.is_ascii_digit() && !before.is_alphanumeric() && before != '.';
        let end = match first {
            '\'' => rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
            _ if is_number => rest
                .find(|c: char| !c.is_ascii_digit() && c != '.')
                .unwrap_or(rest.len()),
            _ => 1,
        };
        let (token, more) = rest.split_at(end);
        match first {
            // Formats and separators stay texts.
            '\'' if token.len() > 3 && !token.contains('-') => {
                values.push(Parameter::from(token.trim_matches('\'')));
                text += &format!("${}", values.len());
            }
            _ if is_number && !token.contains('.') => {
                values.push(Parameter::from(token.parse::<i64>().unwrap()));
                text += &format!("${}", values.len());
            }
            _ => text += token,
        }
        before = token.chars().next_back().unwrap();
        rest = more;
    }
    (text, values)
}

#[test]
fn prepared_queries_by_keys_give_what_literals_give() {
    let sql = tables();
    let mut prepared = Vec::new();
    for condition in CONDITIONS {
        for query in [
            "SELECT w, d, id, name, bal, day FROM cu WHERE {} ORDER BY w, d, id",
            "SELECT count(*), sum(bal), min(name), max(day), avg(id) FROM cu WHERE {}",
            "SELECT wh.label, cu.id FROM wh LEFT JOIN cu ON cu.w = wh.no AND ({}) \
             WHERE wh.no IN (1, 2) ORDER BY wh.no, cu.d, cu.id",
        ] {
            let query = query.replace("{}", condition);
            let (text, values) = with_parameters(&query);
            let statement = sql.session.prepare(&text).unwrap();
            prepared.push((statement, values, query));
        }
    }
    let all_agree = |stage: &str| {
        for (statement, values, query) in &prepared {
            let literal = sql.session.prepare(query).unwrap();
            assert_eq!(
                prepared_rows(&sql.session, statement, values),
                prepared_rows(&sql.session, &literal, &[]),
                "{stage}: {query}"
            );
        }
    };
    all_agree("first");
    all_agree("again");
    sql.run("UPDATE cu SET bal = bal + 1, name = 'n1' WHERE id < 6");
    all_agree("changed");
    sql.run("BEGIN");
    sql.run("DELETE FROM cu WHERE id = 7");
    sql.run("INSERT INTO cu VALUES (1, 2, 99, 'own', 1, NULL)");
    all_agree("in a transaction");
    sql.run("ROLLBACK");
    sql.run("VACUUM cu");
    all_agree("merged");
    sql.run("ALTER TABLE cu ALTER COLUMN bal TYPE numeric(14,3)");
    sql.run("ALTER TABLE cu ADD COLUMN more int DEFAULT 3");
    all_agree("altered");
    sql.run("DROP TABLE wh");
    all_agree("dropped");
    sql.run("SET search_path = nowhere");
    all_agree("in another path");
}

#[test]
fn rows_of_values_are_those_of_batches() {
    let sql = tables();
    sql.run("CREATE TABLE ch (k text PRIMARY KEY, a char(3), b char(2), n int, c char(1))");
    sql.run("INSERT INTO ch VALUES ('ä', 'éà', '', 1, 'x'), ('b', 'xyz', NULL, NULL, 'ö')");
    sql.run("VACUUM ch");
    sql.run("INSERT INTO ch VALUES ('', 'q', 'rs', 3, NULL)");
    for (query, keys) in [
        ("SELECT * FROM ch WHERE k = $1", ["ä", "b", "", "none"]),
        (
            "SELECT b, k, a FROM ch WHERE k = $1",
            ["ä", "b", "", "none"],
        ),
        (
            "SELECT a || '|', n + 1 FROM ch WHERE k = $1",
            ["ä", "b", "", "none"],
        ),
        (
            "SELECT st, no, label FROM wh WHERE no = $1",
            ["1", "2", "3", "4"],
        ),
    ] {
        let prepared = sql.session.prepare(query).unwrap();
        for key in keys {
            let key = match query.contains("wh") {
                true => Parameter::from(key.parse::<i64>().unwrap()),
                false => Parameter::from(key),
            };
            let values = [key];
            // Bound by the first run.
            for _ in 0..2 {
                let rows = runtime().block_on(prepared.rows(&sql.session, &values));
                let (mut rows, batches) = (
                    rows.unwrap(),
                    runtime().block_on(async {
                        match prepared.run(&sql.session, &values).await.unwrap() {
                            Outcome::Rows(rows) => {
                                rows.stream.try_collect::<Vec<_>>().await.unwrap()
                            }
                            Outcome::Done { .. } => panic!("a query has rows"),
                        }
                    }),
                );
                for batch in batches {
                    for at in 0..batch.num_rows() {
                        let columns = batch.columns().iter();
                        let row: Vec<_> = columns
                            .map(|column| freestone_storage::row::cell(column, at))
                            .collect();
                        assert_eq!(rows.remove(0), row, "{query}: {values:?}");
                    }
                }
                assert!(rows.is_empty(), "{query}: {values:?}");
            }
        }
    }
}

#[test]
fn prepared_queries_by_keys_follow_settings_and_rights() {
    let sql = tables();
    sql.run("CREATE TABLE at (id int PRIMARY KEY, moment timestamptz, day date)");
    sql.run("INSERT INTO at VALUES (1, '2024-05-05 10:00+00', '2024-05-05')");
    let shown = sql
        .session
        .prepare("SELECT moment::text, day::text FROM at WHERE id = $1");
    let shown = shown.unwrap();
    let rows = || prepared_rows(&sql.session, &shown, &[1.into()]);
    sql.run("SET timezone = 'UTC'");
    assert!(rows().contains("2024-05-05 10:00:00+00"), "{}", rows());
    sql.run("SET timezone = 'Asia/Tokyo'");
    assert!(rows().contains("2024-05-05 19:00:00+09"), "{}", rows());
    sql.run("SET datestyle = 'German'");
    assert!(rows().contains("05.05.2024"), "{}", rows());
    sql.run("RESET datestyle");
    let by_day = sql
        .session
        .prepare("SELECT id FROM at WHERE id = $1 AND day < $2")
        .unwrap();
    let before = |day: &str| prepared_rows(&sql.session, &by_day, &[1.into(), day.into()]);
    for (day, found) in [("2024-05-06", true), ("2024-05-05", false), ("today", true)] {
        assert_eq!(before(day).contains("| 1 "), found, "{day}");
    }
    assert_eq!(before("noday"), "22007");
    // Beyond the range of the key's type.
    let many = prepared_rows(&sql.session, &by_day, &[i64::MAX.into(), Parameter::Null]);
    assert!(!many.contains("| 1 "), "{many}");
    sql.run("CREATE ROLE reader");
    sql.run("GRANT SELECT ON at TO reader");
    sql.run("SET ROLE reader");
    assert!(rows().contains("2024-05-05"), "{}", rows());
    sql.run("RESET ROLE");
    sql.run("REVOKE SELECT ON at FROM reader");
    sql.run("SET ROLE reader");
    assert_eq!(rows(), "42501");
    sql.run("RESET ROLE");
    // Another session has its own settings.
    let other = Sql::on(sql.session.database());
    other.run("SET timezone = 'UTC'");
    let rows = prepared_rows(&other.session, &shown, &[1.into()]);
    assert!(rows.contains("2024-05-05 10:00:00+00"), "{rows}");
}

#[test]
fn prepared_queries_by_keys_lock_their_rows() {
    let sql = tables();
    let other = Sql::on(sql.session.database());
    other.run("SET lock_timeout = '20ms'");
    let locked = sql
        .session
        .prepare("SELECT no FROM wh WHERE no = $1 FOR UPDATE")
        .unwrap();
    let rows = |session: &Session| prepared_rows(session, &locked, &[1.into()]);
    sql.run("BEGIN");
    for _ in 0..2 {
        assert!(rows(&sql.session).contains("| 1 "));
    }
    let waits = other
        .session
        .prepare("SELECT no FROM wh WHERE no = $1 FOR UPDATE")
        .unwrap();
    assert_eq!(prepared_rows(&other.session, &waits, &[1.into()]), "55P03");
    assert_eq!(other.state("UPDATE wh SET tax = 0 WHERE no = 1"), "55P03");
    let nowait = other
        .session
        .prepare("SELECT no FROM wh WHERE no = $1 FOR UPDATE NOWAIT");
    assert_eq!(
        prepared_rows(&other.session, &nowait.unwrap(), &[1.into()]),
        "55P03"
    );
    let skips = other
        .session
        .prepare("SELECT no FROM wh WHERE no IN ($1, $2) FOR UPDATE SKIP LOCKED");
    let free = prepared_rows(&other.session, &skips.unwrap(), &[1.into(), 2.into()]);
    assert!(free.contains("| 2 ") && !free.contains("| 1 "), "{free}");
    sql.run("COMMIT");
    assert!(prepared_rows(&other.session, &waits, &[1.into()]).contains("| 1 "));
    sql.run("BEGIN READ ONLY");
    assert_eq!(rows(&sql.session), "25006");
    sql.run("ROLLBACK");
}

/// The outcome of a statement as text: its tag, its rows in the order of their texts, or its SQLSTATE.
async fn told(outcome: freestone::Result<Outcome>) -> String {
    let batches = match outcome {
        Ok(Outcome::Done { tag, .. }) => return tag,
        Ok(Outcome::Rows(rows)) => rows.stream.try_collect::<Vec<_>>().await,
        Err(error) => return error.sqlstate.to_string(),
    };
    match batches {
        Ok(batches) => {
            let shown = arrow::util::pretty::pretty_format_batches(&batches);
            let shown = shown.unwrap().to_string();
            let mut lines: Vec<&str> = shown.lines().collect();
            lines.sort_unstable();
            lines.join("\n")
        }
        Err(error) => error.to_string(),
    }
}

fn prepared_outcome(sql: &Sql, text: &str, values: &[Parameter]) -> String {
    let prepared = sql.session.prepare(text).unwrap();
    runtime().block_on(async { told(prepared.run(&sql.session, values).await).await })
}

/// The outcome of a statement that is not prepared.
fn text_outcome(sql: &Sql, text: &str) -> String {
    let statements = sql.session.parse(text).unwrap();
    runtime().block_on(async { told(sql.session.run(&statements[0]).await).await })
}

/// Prepared changes by keys against the same changes with values in their texts, which plans of
/// operators find the rows of.
#[test]
fn prepared_changes_by_keys_do_what_literals_do() {
    let (keyed, planned, shaped) = (tables(), tables(), tables());
    planned.run("SET freestone.engine = 'bulk'");
    let all = "SELECT * FROM cu ORDER BY w, d, id, bal";
    let mut done = 0;
    for (number, condition) in CONDITIONS.iter().enumerate() {
        for change in [
            "UPDATE cu SET bal = bal + 17, name = upper(name) WHERE {}",
            "UPDATE cu AS c SET (bal, day) = (id * 20.5, c.day + 3) WHERE {} RETURNING id, c.bal / 2 AS half, *",
            "UPDATE cu SET bal = wh.tax + 4 FROM wh WHERE wh.no = 1 AND wh.no = w AND ({})",
            "UPDATE cu SET id = id + 100 WHERE {}",
            "UPDATE cu SET bal = 100 / (id - 3) WHERE {}",
            "DELETE FROM cu USING wh WHERE wh.no IN (1, 2) AND wh.no = w AND ({}) AND id = 5",
            "DELETE FROM cu WHERE ({}) AND id % 2 = 1 RETURNING id, name || '!'",
        ] {
            let change = change.replace("{}", condition);
            let (text, values) = with_parameters(&change);
            let first = prepared_outcome(&keyed, &text, &values);
            assert_eq!(first, text_outcome(&planned, &change), "{change}");
            // A shape is bound when it is met again.
            shaped.run("BEGIN");
            text_outcome(&shaped, &change);
            shaped.run("ROLLBACK");
            assert_eq!(first, text_outcome(&shaped, &change), "{change}");
            let rows = planned.rows_of_one_engine(all);
            assert_eq!(keyed.rows_of_one_engine(all), rows, "{change}");
            assert_eq!(shaped.rows_of_one_engine(all), rows, "{change}");
            done += usize::from(!first.ends_with(" 0"));
        }
        if number % 7 == 3 {
            for sql in [&keyed, &planned, &shaped] {
                sql.run("VACUUM cu");
            }
        }
    }
    assert!(done > 60, "{done} changes of rows");
}

#[test]
fn prepared_changes_wait_for_rows_and_fail_as_others() {
    let sql = tables();
    sql.run("ALTER TABLE cu ADD CONSTRAINT positive CHECK (bal >= 0)");
    sql.run("ALTER TABLE cu ADD FOREIGN KEY (w) REFERENCES wh");
    let other = Sql::on(sql.session.database());
    other.run("SET lock_timeout = '20ms'");
    let update = "UPDATE cu SET bal = bal + $1 WHERE (w, d, id) IN (($2, 1, 1), ($2, 1, 2))";
    let values = |add: i64, w: i64| [Parameter::from(add), Parameter::from(w)];
    sql.run("BEGIN");
    assert_eq!(prepared_outcome(&sql, update, &values(5, 1)), "UPDATE 2");
    assert_eq!(prepared_outcome(&other, update, &values(5, 2)), "UPDATE 2");
    assert_eq!(prepared_outcome(&other, update, &values(5, 1)), "55P03");
    sql.run("COMMIT");
    assert_eq!(prepared_outcome(&other, update, &values(-7, 1)), "23514");
    assert_eq!(prepared_outcome(&other, update, &values(1, 1)), "UPDATE 2");
    let moved = "UPDATE cu SET w = $1 WHERE (w, d, id) IN (($2, 1, 1), ($2, 1, 3))";
    assert_eq!(prepared_outcome(&other, moved, &values(9, 1)), "23503");
    assert_eq!(prepared_outcome(&other, moved, &values(2, 1)), "23505");
    let gone = "DELETE FROM wh WHERE no IN ($1, $2)";
    assert_eq!(prepared_outcome(&other, gone, &values(1, 7)), "23503");
    assert_eq!(
        sql.rows("SELECT id, bal FROM cu WHERE w = 1 AND d = 1 AND id < 4 ORDER BY id"),
        ["1|7.50", "2|9.00", "3|4.50"]
    );
}

/// Statements of one shape with values of other types and lengths, one after the other.
#[test]
fn values_of_one_shape_mean_what_they_say() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE s (k int PRIMARY KEY, b bigint, i smallint, t varchar(3), c char(3), n numeric(6,2),
                         f double precision, d date, u text UNIQUE, j jsonb);
         INSERT INTO s SELECT g, g, g, 't' || g, 'c', g / 4.0, g, date '2024-01-01' + g, 'u' || g, '{}'
         FROM generate_series(1, 9) g",
    );
    let update = |what: &str| {
        let outcome = text_outcome(&sql, &format!("UPDATE s SET {what}"));
        sql.run("UPDATE s SET i = 1 WHERE k = 1");
        outcome
    };
    for _ in 0..3 {
        for (what, outcome) in [
            ("t = 'abc' WHERE k = 1", "UPDATE 1"),
            ("t = 'ab   ' WHERE k = 1", "UPDATE 1"),
            ("t = 'abcd' WHERE k = 1", "22001"),
            ("t = 5 WHERE k = 1", "UPDATE 1"),
            ("t = 12345 WHERE k = 1", "22001"),
            ("c = 'x' WHERE k = 1", "UPDATE 1"),
            ("c = 'xyzw' WHERE k = 1", "22001"),
            ("i = i + 32766 WHERE k = 1", "UPDATE 1"),
            ("i = i + 32767 WHERE k = 1", "22003"),
            ("i = i * 40000 - 39999 WHERE k = 1", "UPDATE 1"),
            ("i = 1 - i * 300 * 300 / 90000 WHERE k = 1", "UPDATE 1"),
            ("b = b + 3000000000 WHERE k = 1", "UPDATE 1"),
            ("b = 9223372036854775807 WHERE k = 1", "UPDATE 1"),
            ("b = 9223372036854775808 WHERE k = 1", "22003"),
            ("b = -9223372036854775808 WHERE k = 1", "UPDATE 1"),
            ("b = '12' WHERE k = 1", "UPDATE 1"),
            ("b = 'x' WHERE k = 1", "22P02"),
            ("b = 7.5 WHERE k = 1", "UPDATE 1"),
            ("n = 1234.567 WHERE k = 1", "UPDATE 1"),
            ("n = '1234.565' WHERE k = 1", "UPDATE 1"),
            ("n = 12345 WHERE k = 1", "22003"),
            ("n = 1e2 WHERE k = 1", "UPDATE 1"),
            ("f = 0.1 WHERE k = 1", "UPDATE 1"),
            ("f = 1 / 3 WHERE k = 1", "UPDATE 1"),
            ("d = '2024-02-30' WHERE k = 1", "22008"),
            ("d = '2024-02-29' WHERE k = 1", "UPDATE 1"),
            ("d = 'today' WHERE k = 1", "UPDATE 1"),
            ("d = d + 1 WHERE k = 1", "UPDATE 1"),
            ("d = d + interval '1 day' WHERE k = 1", "UPDATE 1"),
            ("d = 5 WHERE k = 1", "42804"),
            ("j = '{\"a\": 1}' WHERE k = 1", "UPDATE 1"),
            ("j = '{' WHERE k = 1", "22P02"),
            ("b = 1 WHERE k = 1.0", "UPDATE 1"),
            ("b = 1 WHERE k = 1.5", "UPDATE 0"),
            ("b = 1 WHERE k = '1'", "UPDATE 1"),
            ("b = 1 WHERE k = 'x'", "22P02"),
            ("b = 1 WHERE k = 3000000000", "UPDATE 0"),
            ("b = 1 WHERE k = -1", "UPDATE 0"),
            ("b = 1 WHERE k = - -1", "UPDATE 1"),
            ("b = 1 WHERE k = $1", "42P02"),
            ("b = 1 WHERE u = 'u1' AND k = $1", "42P02"),
            ("b = 1 WHERE k = 1 AND u = $1", "42P02"),
            ("b = 1 WHERE u = 'u1'", "UPDATE 1"),
            ("b = 1 WHERE u = 1", "42883"),
            ("b = 1 WHERE k IN (1, 2, 3000000000)", "UPDATE 2"),
            ("b = 1 WHERE k IN (1, 2, NULL)", "UPDATE 2"),
            ("b = 1 WHERE k IN (1, 2, 'x')", "22P02"),
        ] {
            assert_eq!(update(what), outcome, "{what}");
        }
    }
    for (query, rows) in [
        ("SELECT 5, 'x', k FROM s WHERE k = 2", "5|x|2"),
        ("SELECT 6, 'y', k FROM s WHERE k = 3", "6|y|3"),
        (
            "SELECT k, 'u2' FROM s WHERE u = 'u2' ORDER BY 1 LIMIT 1",
            "2|u2",
        ),
        (
            "SELECT k, 'u3' FROM s WHERE u = 'u3' ORDER BY 1 LIMIT 1",
            "3|u3",
        ),
        (
            "SELECT count(*) FROM s WHERE k = 4 AND b / 2 = 2 GROUP BY k + 1",
            "1",
        ),
        (
            "SELECT count(*) FROM s WHERE k = 5 AND b / 2 = 2 GROUP BY k + 2",
            "1",
        ),
    ] {
        for _ in 0..3 {
            assert_eq!(sql.rows(query), [rows], "{query}");
        }
    }
}

/// Statements that differ in their literals alone are read once. Each means what it says.
#[test]
fn texts_of_one_outline_mean_what_they_say() {
    let (known, planned) = (Sql::new(), Sql::new());
    planned.run("SET freestone.engine = 'bulk'");
    for sql in [&known, &planned] {
        sql.run(
            "CREATE TABLE o (k int PRIMARY KEY, b bigint, s smallint, n numeric(6,2), m numeric,
                             f double precision, t text, v varchar(3), c char(3), d date,
                             z timestamptz, j jsonb, y boolean, a int[], i interval);
             CREATE TABLE l (g int, n int, PRIMARY KEY (g, n));
             INSERT INTO l SELECT g, n FROM generate_series(1, 3) g, generate_series(1, 40) n",
        );
    }
    let columns = [
        "b", "s", "n", "m", "f", "t", "v", "c", "d", "z", "j", "y", "a", "i",
    ];
    let literals = [
        "1",
        "-1",
        "32768",
        "-32769",
        "2147483647",
        "-2147483648",
        "2147483648",
        "-2147483648",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "1.5",
        "-0.005",
        "123456.789",
        "'1'",
        "'-1'",
        "'1.5'",
        "'it''s'",
        "''",
        "'abcd'",
        "'ab  '",
        "'2024-02-29'",
        "'2024-02-30'",
        "'{1,2}'",
        "'[1, 2]'",
        "'t'",
        "'1 day'",
        "NULL",
        "true",
        "1e3",
        "- 5",
        "current_date",
        "'a' || 'b'",
        "2 + 3",
        "DEFAULT",
        "E'a\\nb'",
        "$1",
        "date '2024-01-01'",
    ];
    let mut texts = Vec::new();
    for column in columns {
        for literal in literals {
            texts.push(format!("INSERT INTO o (k, {column}) VALUES (1, {literal})"));
            texts.push(format!(
                "INSERT INTO o (k, {column}) VALUES (1, {literal}), (2, {literal});"
            ));
            texts.push(format!("UPDATE o SET {column} = {literal} WHERE k = 2"));
            texts.push(format!(
                "SELECT k FROM o WHERE {column} = {literal} AND k IN (1, 2)"
            ));
            texts.push("DELETE FROM o WHERE k IN (1, 2)".to_owned());
        }
    }
    for (g, n) in [(1, 5), (2, 9), (1, 40), (4, 1), (3, 39), (2, 0), (-1, -1)] {
        for text in [
            "SELECT n FROM l WHERE g = {g} AND n > {n} ORDER BY n LIMIT 3",
            "SELECT n FROM l WHERE g = {g} AND n > 5 ORDER BY n LIMIT {n}",
            "SELECT n::varchar({n}), 'x{n}', {n} FROM l WHERE g = {g} AND n = 12 ",
            "SELECT n FROM l WHERE g = {g} AND n < date '2024-01-{n}' - date '2024-01-01'",
            "SELECT n, count(*) OVER () FROM l WHERE g = {g} AND n = {n}",
            "SELECT g + {n} FROM l WHERE g = {g} GROUP BY g + {n}",
            "SELECT n FROM l WHERE (g, n) IN (({g}, {n}), ({g}, 7)) ORDER BY {n}",
            "SELECT n FROM l WHERE g = {g} AND n = -{n} OR g = 2 AND n = 11",
            "SELECT n FROM l WHERE g = {g} AND n = {n} / ({n} - 9)",
            "SELECT \"n\" FROM \"l\" WHERE g = {g}\nAND n = {n};\n",
            "select N from L where g={g}and n={n}",
            "DELETE FROM l WHERE g = {g} AND n = {n}",
            "UPDATE l SET n = n + {n} WHERE g = {g} AND n = {n} RETURNING n, {n}",
            "INSERT INTO l VALUES ({g}, {n})",
        ] {
            let text = text.replace("{g}", &g.to_string());
            texts.push(text.replace("{n}", &n.to_string()));
        }
    }
    let all = [
        "SELECT * FROM o ORDER BY k",
        "SELECT * FROM l ORDER BY g, n",
    ];
    for _ in 0..2 {
        for text in &texts {
            let outcome = |sql: &Sql| {
                let shown = match sql.session.parse(text) {
                    Ok(_) => text_outcome(sql, text),
                    Err(error) => error.sqlstate.to_string(),
                };
                // A result without rows may have no batches.
                let lines = shown.lines().filter(|line| line.starts_with('|')).count();
                match shown.starts_with('+') && lines <= 1 {
                    true => "no rows".to_owned(),
                    false => shown,
                }
            };
            assert_eq!(outcome(&known), outcome(&planned), "{text}");
            if !text.starts_with("SELECT") {
                let rows = all.map(|query| planned.rows_of_one_engine(query));
                assert_eq!(
                    all.map(|query| known.rows_of_one_engine(query)),
                    rows,
                    "{text}"
                );
            }
        }
    }
}

/// Texts as values of parameters of each type are what the same texts are as literals.
#[test]
fn parameters_of_all_types_are_what_literals_are() {
    let (keyed, planned) = (Sql::new(), Sql::new());
    planned.run("SET freestone.engine = 'bulk'");
    let types = [
        ("char(3)", ["ab", "abcd", "a    ", "", "äöü"]),
        ("varchar(3)", ["ab", "abcd", "a    ", "", "äöü"]),
        ("name", ["ab", "A B", "a    ", "", "äöü"]),
        ("bytea", ["\\x00ff", "a\\000b", "\\x0", "", "ä"]),
        ("bit(3)", ["101", "10", "1011", "", "1x1"]),
        ("varbit(3)", ["101", "10", "1011", "", "1x1"]),
        ("inet", ["10.0.0.1/8", "::1", "10.0.0.0/33", "", "x"]),
        ("cidr", ["10.0.0.0/8", "::1", "10.0.0.1/8", "", "x"]),
        (
            "macaddr",
            ["08:00:2b:01:02:03", "08002b010203", "08", "", "x"],
        ),
        ("money", ["$1,000.5", "-3", "1.005", "", "x"]),
        ("interval", ["1 day 2:03", "P1Y2M", "-1.5 months", "", "x"]),
        (
            "uuid",
            ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "0", "", " ", "x"],
        ),
        (
            "json",
            ["{\"a\": 1,  \"a\": 2}", "[1, 2", "null", "", "\"ä\""],
        ),
        (
            "jsonb",
            ["{\"a\": 1,  \"a\": 2}", "[1, 2", "null", "", "1e2"],
        ),
        ("boolean", ["t", " off ", "2", "", "yes"]),
        ("real", ["0.1", "1e40", "NaN", "", "-Infinity"]),
        ("numeric(4,2)", ["1.005", "100", "NaN", "", "-0.004"]),
        (
            "date",
            ["2024-02-29", "2024-02-30", "infinity", "", "Jan 5 2024"],
        ),
        ("time(2)", ["10:00:00.126", "24:00", "25:00", "", "10 pm"]),
        (
            "timestamptz(0)",
            ["2024-01-01 10:00:00.6+02", "x", "epoch", "", "2024"],
        ),
        (
            "int[]",
            ["{1,NULL,3}", "{{1},{2}}", "[2:3]={1,2}", "", "{x}"],
        ),
        ("text[]", ["{a,\"b c\",NULL}", "{}", "{a", "", "x"]),
        (
            "date[]",
            ["{2024-02-29}", "{2024-02-30}", "{epoch}", "", "x"],
        ),
    ];
    for (number, (ty, texts)) in types.iter().enumerate() {
        for sql in [&keyed, &planned] {
            sql.run(&format!(
                "CREATE TABLE a{number} (k int PRIMARY KEY, v {ty})"
            ));
            sql.run(&format!("INSERT INTO a{number} VALUES (1), (2)"));
        }
        let change = format!("UPDATE a{number} SET v = $1 WHERE k = $2");
        let prepared = keyed.session.prepare(&change).unwrap();
        for text in texts {
            let values = [Parameter::from(*text), 1.into()];
            let first = runtime()
                .block_on(async { told(prepared.run(&keyed.session, &values).await).await });
            let literal = format!("UPDATE a{number} SET v = '{text}' WHERE k = 1");
            assert_eq!(first, text_outcome(&planned, &literal), "{ty}: {text}");
            let query = format!("SELECT v, v::text FROM a{number} ORDER BY k");
            let rows = planned.rows_of_one_engine(&query);
            assert_eq!(keyed.rows_of_one_engine(&query), rows, "{ty}: {text}");
        }
    }
}

/// A value of one row is computed from the row as it is stored, those of several rows over arrays;
/// operators of plans compute them once more.
#[test]
fn values_of_one_row_are_those_of_many() {
    let (one, many, planned) = (Sql::new(), Sql::new(), Sql::new());
    planned.run("SET freestone.engine = 'bulk'");
    let kinds = [
        ("s", "smallint", ["32767", "-7", "NULL"]),
        ("i", "int", ["2147483647", "40", "NULL"]),
        ("b", "bigint", ["9223372036854775807", "-3", "NULL"]),
        ("m", "numeric(6,2)", ["9999.99", "-0.05", "NULL"]),
        ("n", "numeric", ["1e20", "12.3450", "NULL"]),
        ("f", "double precision", ["1e308", "-2.5", "NULL"]),
        ("v", "varchar(4)", ["'abcd'", "'x '", "NULL"]),
        ("c", "char(4)", ["'ab'", "'x '", "NULL"]),
    ];
    let columns = kinds.map(|(name, kind, _)| format!("{name} {kind}"));
    for sql in [&one, &many, &planned] {
        let columns = columns.join(", ");
        sql.run(&format!(
            "CREATE TABLE t (k int, x int, {columns}, PRIMARY KEY (k, x))"
        ));
        for row in 0..3 {
            let values = kinds.map(|(.., values)| values[row]).join(", ");
            for twin in 1..=2 {
                sql.run(&format!("INSERT INTO t VALUES ({row}, {twin}, {values})"));
            }
        }
    }
    let numbers = [
        "s", "i", "b", "m", "n", "f", "1", "2.50", "70000", "$1::int",
    ];
    let targets = ["s", "i", "b", "m", "n", "f"];
    let mut changed = 0;
    for (number, left) in numbers.iter().enumerate() {
        for (other, right) in numbers.iter().enumerate() {
            let sign = ["+", "-", "*"][(number + other) % 3];
            let target = targets[(number + other / 2) % targets.len()];
            for row in 0..3 {
                let set =
                    format!("UPDATE t SET {target} = {left} {sign} {right}, x = x, v = v || 'y'");
                let value = [Parameter::from(3_i64)];
                let parameter = &value[..usize::from(set.contains('$'))];
                let of_one = format!("{set} WHERE k = {row} AND x = 1");
                let of_both = format!("{set} WHERE k = {row} AND x IN (1, 2)");
                let outcome = prepared_outcome(&one, &of_one, parameter);
                let in_pairs = prepared_outcome(&many, &of_both, parameter);
                assert_eq!(
                    outcome.replace('1', "2"),
                    in_pairs.replace('1', "2"),
                    "{of_one}"
                );
                assert_eq!(
                    prepared_outcome(&planned, &of_one, parameter),
                    outcome,
                    "{of_one}"
                );
                changed += usize::from(outcome == "UPDATE 1");
                let rows = "SELECT * FROM t WHERE x = 1 ORDER BY k";
                let expected = planned.rows_of_one_engine(rows);
                assert_eq!(one.rows_of_one_engine(rows), expected, "{of_one}");
                assert_eq!(many.rows_of_one_engine(rows), expected, "{of_one}");
            }
            for sql in [&one, &many, &planned] {
                sql.run("UPDATE t SET v = left(v, 1)");
            }
        }
    }
    assert!(changed > 150, "{changed} changes of 300");
}

/// A plan was bound anew after each ROLLBACK.
#[test]
fn a_rollback_changes_no_settings_that_were_not_set() {
    let sql = tables();
    let before = sql.session.setting_changes();
    sql.run("BEGIN");
    sql.run("UPDATE wh SET label = 'z' WHERE no = 1");
    sql.run("ROLLBACK");
    assert_eq!(sql.session.setting_changes(), before);
    sql.run("BEGIN");
    sql.run("SET LOCAL datestyle = 'German'");
    sql.run("ROLLBACK");
    assert_ne!(sql.session.setting_changes(), before);
}

/// Joins whose keys come from rows of another table, in either order of the tables.
#[test]
fn keys_come_from_rows_of_other_tables() {
    let sql = Sql::new();
    for statement in [
        "CREATE TABLE users (id int PRIMARY KEY, name text, city smallint)",
        "CREATE TABLE cities (id bigint PRIMARY KEY, name varchar(9))",
        "CREATE TABLE orders (id bigint PRIMARY KEY, who int, placed date)",
        "CREATE TABLE lines (o bigint, n int, item int, PRIMARY KEY (o, n))",
        "CREATE TABLE items (w int, id int, left_over int, PRIMARY KEY (w, id))",
        "INSERT INTO users SELECT i, 'u' || i, i % 5 FROM generate_series(1, 40) i",
        "INSERT INTO cities SELECT i, 'c' || i FROM generate_series(1, 3) i",
        "INSERT INTO orders SELECT i, CASE WHEN i % 7 > 0 THEN i % 50 END, \
         date '2024-01-01' + i FROM generate_series(1, 300) i",
        "INSERT INTO lines SELECT i, n, (i * n) % 90 FROM generate_series(1, 300) i, \
         generate_series(1, 4) n WHERE (i + n) % 6 > 0",
        "INSERT INTO items SELECT w, i, (i * 7) % 20 FROM generate_series(1, 2) w, \
         generate_series(0, 79) i",
        "VACUUM users; VACUUM cities; VACUUM orders; VACUUM lines; VACUUM items",
        "UPDATE users SET city = 2 WHERE id = 7; DELETE FROM lines WHERE o = 9 AND n = 2",
        "INSERT INTO orders VALUES (301, 7, NULL)",
    ] {
        sql.run(statement);
    }
    let planned = Sql::on(sql.session.database());
    planned.run("SET freestone.engine = 'bulk'");
    let mut rows = 0;
    for (query, by_keys) in [
        (
            "SELECT o.*, u.name FROM orders o JOIN users u ON u.id = o.who WHERE o.id = $1",
            true,
        ),
        (
            "SELECT u.name, o.placed FROM users u JOIN orders o ON u.id = o.who WHERE o.id = $1",
            true,
        ),
        (
            "SELECT o.id, u.name FROM orders o LEFT JOIN users u ON u.id = o.who WHERE o.id = $1",
            true,
        ),
        (
            "SELECT o.id, u.name, c.name FROM orders o JOIN users u ON u.id = o.who \
             LEFT JOIN cities c ON c.id = u.city WHERE o.id IN ($1, 301, 14)",
            true,
        ),
        (
            "SELECT c.name FROM cities c, users u, orders o WHERE c.id = u.city AND o.who = u.id AND o.id = $1",
            true,
        ),
        (
            "SELECT l.n, i.left_over FROM lines l, items i WHERE l.o = $1 AND i.id = l.item AND i.w = 2",
            true,
        ),
        (
            "SELECT count(DISTINCT i.id) FROM lines l, items i WHERE l.o = $1 AND l.n > 1 \
             AND i.id = l.item AND i.w = 1 AND i.left_over < 12",
            true,
        ),
        (
            "SELECT l.n FROM lines l WHERE l.o = $1 AND EXISTS (SELECT 1 FROM items i WHERE i.w = 1 AND i.id = l.item)",
            true,
        ),
        (
            "SELECT l.n FROM lines l WHERE l.o = $1 AND NOT EXISTS (SELECT 1 FROM items i WHERE i.w = 1 AND i.id = l.item)",
            true,
        ),
        (
            "SELECT a.n, b.n FROM lines a JOIN lines b ON b.o = a.o AND b.n > a.n WHERE a.o = $1",
            true,
        ),
        (
            "SELECT o.id FROM orders o RIGHT JOIN users u ON u.id = o.who WHERE o.id = $1",
            true,
        ),
        (
            "SELECT u.id, o.id FROM users u FULL JOIN orders o ON u.id = o.who AND o.id = $1 ORDER BY 1, 2",
            false,
        ),
        (
            "SELECT o.id FROM orders o JOIN users u ON u.id = o.who + 1 WHERE o.id = $1",
            false,
        ),
    ] {
        for number in [1, 7, 9, 14, 49, 299, 1000] {
            let prepared = sql.session.prepare(query).unwrap();
            let value = [Parameter::from(number as i64)];
            let found = prepared_rows(&sql.session, &prepared, &value);
            let at_once = prepared.at_once(&sql.session, &value).unwrap();
            assert_eq!(at_once.is_some(), by_keys, "{query}");
            // No rows have no names of columns in one of both texts.
            let names = found.lines().find(|line| line.starts_with('|'));
            let sorted = |text: &str| {
                let lines = text.lines().filter(|line| line.starts_with('|'));
                let lines = lines.filter(|line| Some(*line) != names);
                let mut lines: Vec<String> = lines.map(str::to_owned).collect();
                lines.sort();
                lines
            };
            let literal = query.replace("$1", &number.to_string());
            let expected = sorted(&text_outcome(&planned, &literal));
            let found = sorted(&found);
            assert_eq!(found, expected, "{literal}");
            rows += found.len();
        }
    }
    assert!(rows > 100, "{rows} rows");
}

/// Conditions that are drawn find the rows that operators find: equalities, lists and ranges of the
/// first columns of keys and indexes, some of which contradict or overlap each other. Rows lie in
/// blocks, in no block and in the transaction alone.
#[test]
fn drawn_conditions_find_the_rows_of_operators() {
    let (keyed, planned) = (Sql::new(), Sql::new());
    planned.run("SET freestone.engine = 'bulk'");
    let rows = |from: usize, to: usize| {
        format!(
            "INSERT INTO d SELECT g % 7, g % 11, g, CASE WHEN g % 5 > 0 THEN g % 13 END,
                                  chr(97 + g % 9) || g % 4, date '2024-01-01' + g % 17
             FROM generate_series({from}, {to}) g"
        )
    };
    for sql in [&keyed, &planned] {
        sql.run(
            "CREATE TABLE d (a int, b smallint, c bigint, n int, t text, e date, PRIMARY KEY (a, b, c));
             CREATE INDEX d_n ON d (n); CREATE INDEX d_t ON d (t, e)",
        );
        sql.run(&rows(1, 300));
        sql.run("VACUUM d");
        sql.run(&rows(301, 400));
        sql.run("DELETE FROM d WHERE c % 10 = 3; UPDATE d SET n = n + 1 WHERE c % 10 = 4");
        sql.run("BEGIN");
        sql.run(&rows(401, 450));
        sql.run("UPDATE d SET t = t || 'x' WHERE c % 20 = 5; DELETE FROM d WHERE c % 20 = 6");
    }
    let mut state = 7_u64;
    let mut drawn = move |most: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % most
    };
    fn value(column: &str, drawn: &mut dyn FnMut(usize) -> usize) -> String {
        match (column, drawn(12)) {
            (_, 0) => "NULL".to_owned(),
            ("a", at) => (at % 8).to_string(),
            ("b", at) => (at % 12).to_string(),
            ("c", _) => drawn(460).to_string(),
            ("n", _) => drawn(15).to_string(),
            ("t", at) => {
                let letter = char::from(b'a' + drawn(9) as u8);
                format!("'{letter}{}{}'", at % 4, if at == 11 { "x" } else { "" })
            }
            (_, at) => format!("date '2024-01-{:02}'", at + drawn(8)),
        }
    }
    fn part(drawn: &mut dyn FnMut(usize) -> usize) -> String {
        let column = ["a", "a", "b", "b", "c", "n", "n", "t", "t", "e"][drawn(10)];
        let mut one = || value(column, drawn);
        let (first, second, third) = (one(), one(), one());
        match drawn(8) {
            0..=2 => format!("{column} = {first}"),
            3 => format!("{column} IN ({first}, {second}, {third})"),
            4 => format!("{column} BETWEEN {first} AND {second}"),
            5 => format!("{column} >= {first}"),
            6 => format!("{column} < {first} AND {column} > {second}"),
            _ => format!("{second} >= {column}"),
        }
    }
    let mut found = 0;
    for number in 0..600 {
        let mut alternatives = Vec::new();
        for _ in 0..1 + drawn(3) {
            let parts: Vec<String> = (0..1 + drawn(4)).map(|_| part(&mut drawn)).collect();
            alternatives.push(parts.join(" AND "));
        }
        let mut condition = alternatives.join(" OR ");
        if drawn(4) == 0 {
            condition = format!("({condition}) AND {}", part(&mut drawn));
        }
        let list = ["*", "c, t, a", "c, n + 1, t", "count(*), sum(n), min(t)"][drawn(4)];
        let query = format!("SELECT {list} FROM d WHERE {condition}");
        let wanted = planned.sorted(&query);
        found += usize::from(!wanted.is_empty());
        assert_eq!(keyed.sorted(&query), wanted, "{query}");
        let (text, values) = with_parameters(&query);
        let lines = |sql: &Sql| {
            let prepared = sql.session.prepare(&text).unwrap();
            let shown = prepared_rows(&sql.session, &prepared, &values);
            // Without rows there may be no names either.
            let lines = shown.lines().filter(|line| line.starts_with('|')).skip(1);
            let mut lines: Vec<String> = lines.map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(lines(&keyed), lines(&planned), "{query}");
        if number % 20 == 0 {
            let change = match drawn(2) {
                0 => format!("DELETE FROM d WHERE {condition}"),
                _ => format!("UPDATE d SET n = n + 1, t = t WHERE {condition}"),
            };
            for sql in [&keyed, &planned] {
                sql.run("SAVEPOINT s");
            }
            let tag = planned.run(&change);
            assert_eq!(keyed.run(&change), tag, "{change}");
            let all = "SELECT * FROM d";
            assert_eq!(keyed.sorted(all), planned.sorted(all), "{change}");
            for sql in [&keyed, &planned] {
                sql.run("ROLLBACK TO s");
            }
        }
    }
    assert!(found > 200, "{found} queries found rows");
}

/// Rows that a LIMIT wants of a range: in the order of a block, of a tree or of a key, and in none.
#[test]
fn the_first_rows_of_a_range_are_those_of_operators() {
    let mut random = 20_261_129_u64;
    let mut below = move |most: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) % most
    };
    for (layout, sorted) in [("column", ""), ("row", "k"), ("pax", "n"), ("column", "n")] {
        let sql = Sql::new();
        let by = match sorted {
            "" => String::new(),
            sorted => format!(", sort_by = '{sorted}'"),
        };
        sql.run(&format!(
            "CREATE TABLE r (k text PRIMARY KEY, n int NOT NULL, g int NOT NULL, t text) \
             WITH (layout = '{layout}', block_bytes = '128KiB'{by})"
        ));
        sql.run("CREATE INDEX r_g ON r (g, n)");
        // Texts that differ behind the bytes that a tree holds.
        let rows = "'a long beginning of keys ' || md5(g::text) || (g % 10), \
                    g * 7 % 9001, g % 5, CASE WHEN g % 3 > 0 THEN 't' || g % 4 END";
        sql.run(&format!(
            "INSERT INTO r SELECT {rows} FROM generate_series(1, 9000) g"
        ));
        for stage in [
            "VACUUM r",
            "DELETE FROM r WHERE n % 7 = 1 OR n BETWEEN 300 AND 540",
            "UPDATE r SET n = n + 1 WHERE g = 2 AND n < 4500",
            "INSERT INTO r SELECT 'a long beginning of keys 7' || g, g, g % 5, 't1' FROM generate_series(1, 300) g",
            "VACUUM r",
        ] {
            sql.run(stage);
            let blocks = sql.rows_of_one_engine("SELECT block FROM freestone_blocks('r')");
            assert!(blocks.len() > 3, "{blocks:?}");
            for _ in 0..12 {
                let key = format!("'a long beginning of keys {:x}'", below(16));
                let (n, g) = (below(9300), below(6));
                let ranges = [
                    format!("k >= {key}"),
                    format!("k < {key}"),
                    format!("g = {g} AND n > {n}"),
                    format!("g = {g} AND n <= {n}"),
                    format!("g = {g} AND n >= {n} AND t = 't1'"),
                    format!("g = {g}"),
                ];
                let range = &ranges[below(ranges.len() as u64) as usize];
                let order = if range.starts_with('k') { "k" } else { "n, k" };
                let first = order.split(',').next().unwrap();
                let descending = if below(2) == 0 { "" } else { " DESC" };
                let (limit, offset) = (below(70), below(3) * below(40));
                // Other columns of rows with the same value may be those of others.
                sql.rows(&format!(
                    "SELECT {first} FROM r WHERE {range} ORDER BY {first}{descending} \
                     LIMIT {limit} OFFSET {offset}"
                ));
                sql.rows(&format!(
                    "SELECT k, n, g, t FROM r WHERE {range} ORDER BY {order} LIMIT {limit}"
                ));
                // Any rows do that meet the conditions.
                let all = sql.one(&format!("SELECT count(*) FROM r WHERE {range}"));
                let all: u64 = all.parse().unwrap();
                let some = format!("SELECT * FROM r WHERE {range} LIMIT {limit} OFFSET {offset}");
                let of = format!("SELECT count(DISTINCT k), count(*) FILTER (WHERE {range})");
                let expected = limit.min(all.saturating_sub(offset));
                assert_eq!(
                    sql.rows_of_one_engine(&some).len() as u64,
                    expected,
                    "{some}"
                );
                assert_eq!(
                    sql.rows_of_one_engine(&format!("{of} FROM ({some}) x")),
                    [format!("{expected}|{expected}")],
                    "{some}"
                );
            }
        }
    }
}

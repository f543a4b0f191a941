//! Changes of single rows do what the same changes of batches do.
//!
//! With RETURNING a change is made of batches, so each statement is run in both ways, on a table
//! of its own each.

use crate::support::{LAYOUTS, Sql, runtime};
use freestone::{Outcome, Parameter};

const COLUMNS: &str = "k BIGINT PRIMARY KEY, s SMALLINT, m DECIMAL(8,2) NOT NULL DEFAULT 1.5, \
                       t VARCHAR(5), d DATE DEFAULT DATE '2024-02-29', f DOUBLE PRECISION, \
                       b BOOLEAN, u TEXT UNIQUE";

/// What a statement gave: its tag, or its error's code and message.
fn outcome(sql: &Sql, statement: &str, values: &[Parameter]) -> String {
    let prepared = sql.session.prepare(statement).unwrap();
    let runtime = runtime();
    match runtime.block_on(prepared.run(&sql.session, values)) {
        Ok(Outcome::Done { tag, .. }) => tag,
        Ok(Outcome::Rows(rows)) => {
            use futures::TryStreamExt;
            let batches: Vec<_> = runtime.block_on(rows.stream.try_collect()).unwrap();
            let rows: usize = batches
                .iter()
                .map(|batch: &arrow::array::RecordBatch| batch.num_rows())
                .sum();
            match statement.split(' ').next() {
                Some("INSERT") => format!("INSERT 0 {rows}"),
                word => format!("{} {rows}", word.unwrap_or_default()),
            }
        }
        Err(error) => format!("{}: {}", error.sqlstate, error.message),
    }
}

/// Runs a statement over table `{}` in both ways; what both gave.
#[track_caller]
fn both(sql: &Sql, statement: &str, values: &[Parameter]) -> String {
    let direct = outcome(sql, &statement.replace("{}", "direct"), values);
    let planned = format!("{} RETURNING 1", statement.replace("{}", "planned"));
    let planned = outcome(sql, &planned, values);
    assert_eq!(direct, planned.replace("planned", "direct"), "{statement}");
    let rows = |table: &str| sql.sorted(&format!("SELECT * FROM {table}"));
    assert_eq!(rows("direct"), rows("planned"), "{statement}");
    direct
}

fn tables(sql: &Sql, layout: &str) {
    for table in ["direct", "planned"] {
        sql.run(&format!(
            "CREATE TABLE {table} ({COLUMNS}) WITH (layout = '{layout}')"
        ));
        sql.run(&format!(
            "INSERT INTO {table} SELECT i, i % 100, i, 'x', DATE '2020-01-01', i, i % 2 = 0, \
             CAST(i AS TEXT) FROM generate_series(1, 3000) AS g(i)"
        ));
    }
}

#[test]
fn both_ways_give_the_same() {
    let sql = Sql::new();
    for layout in LAYOUTS {
        tables(&sql, layout);
        let given = |number: i64| Parameter::from(number);
        // Twice with one shape: the second run of the prepared statement is direct.
        let cases: &[(&str, Vec<Parameter>, &str)] = &[
            (
                "INSERT INTO {} VALUES (-1, 2, 3, 'ab', '2024-01-31', 0.5, TRUE, 'u')",
                vec![],
                "INSERT 0 1",
            ),
            (
                "INSERT INTO {} (k, u) VALUES ($1, $2)",
                vec![given(-2), "v".into()],
                "INSERT 0 1",
            ),
            (
                "INSERT INTO {} VALUES ($1, DEFAULT, DEFAULT, NULL, DEFAULT)",
                vec![given(-3)],
                "INSERT 0 1",
            ),
            (
                "INSERT INTO {} VALUES ($1, $2, $3, $4, $5, $6, $7)",
                vec![
                    given(-4),
                    given(7),
                    "9.999".into(),
                    "abc".into(),
                    "2024-12-31".into(),
                    2.5.into(),
                    false.into(),
                ],
                "INSERT 0 1",
            ),
            ("INSERT INTO {} (k) VALUES (7)", vec![], "23505"),
            ("INSERT INTO {} (k, u) VALUES (-9, '7')", vec![], "23505"),
            (
                "INSERT INTO {} (k) VALUES ($1)",
                vec![Parameter::Null],
                "23502",
            ),
            (
                "INSERT INTO {} (k, m) VALUES (-5, $1)",
                vec![Parameter::Null],
                "23502",
            ),
            (
                "INSERT INTO {} (k, s) VALUES (-5, $1)",
                vec![given(70_000)],
                "22003",
            ),
            (
                "INSERT INTO {} (k, m) VALUES (-5, $1)",
                vec![given(12_345_678)],
                "22003",
            ),
            (
                "INSERT INTO {} (k, t) VALUES (-5, 'longer')",
                vec![],
                "22001",
            ),
            (
                "INSERT INTO {} (k, d) VALUES (-5, 'no date')",
                vec![],
                "22007",
            ),
            (
                "UPDATE {} SET s = $2 WHERE k = $1",
                vec![given(10), given(-5)],
                "UPDATE 1",
            ),
            (
                "UPDATE {} SET s = s + $2, t = t || 'y', m = m * 2 WHERE k = $1",
                vec![given(11), given(3)],
                "UPDATE 1",
            ),
            (
                "UPDATE {} SET f = $2 * f - 1, b = NULL WHERE $1 = k",
                vec![given(12), 0.5.into()],
                "UPDATE 1",
            ),
            (
                "UPDATE {} SET d = '2030-01-01', u = u WHERE k = 13",
                vec![],
                "UPDATE 1",
            ),
            (
                "UPDATE {} SET k = k + 10000, u = 'moved' WHERE k = 14",
                vec![],
                "UPDATE 1",
            ),
            ("UPDATE {} SET k = 15 WHERE k = 16", vec![], "23505"),
            ("UPDATE {} SET s = s * 10000 WHERE k = 17", vec![], "22003"),
            (
                "UPDATE {} SET m = $1 WHERE k = 18",
                vec![Parameter::Null],
                "23502",
            ),
            (
                "UPDATE {} SET s = 1 / (s - s) WHERE k = 19",
                vec![],
                "22012",
            ),
            ("UPDATE {} SET d = s + 1 WHERE k = 999999", vec![], "42804"),
            (
                "UPDATE {} SET s = 1 WHERE k = $1",
                vec![Parameter::Null],
                "UPDATE 0",
            ),
            (
                "UPDATE {} SET s = 1 WHERE k = $1",
                vec!["20".into()],
                "UPDATE 1",
            ),
            (
                "UPDATE {} SET s = 2 WHERE u = $1",
                vec!["21".into()],
                "UPDATE 1",
            ),
            ("UPDATE {} SET s = 2 WHERE k = 999999", vec![], "UPDATE 0"),
            (
                "UPDATE {} AS a SET s = a.s + 1 WHERE a.k = 22",
                vec![],
                "UPDATE 1",
            ),
            ("UPDATE {} SET nothing = 1 WHERE k = 22", vec![], "42703"),
            ("DELETE FROM {} WHERE k = $1", vec![given(23)], "DELETE 1"),
            ("DELETE FROM {} WHERE k = $1", vec![given(23)], "DELETE 0"),
            ("DELETE FROM {} WHERE u = 'moved'", vec![], "DELETE 1"),
            (
                "INSERT INTO {} (k, u) VALUES ($1, '24')",
                vec![given(23)],
                "23505",
            ),
            (
                "INSERT INTO {} (k, u) VALUES ($1, '23')",
                vec![given(23)],
                "INSERT 0 1",
            ),
        ];
        for (statement, values, expected) in cases {
            let found = both(&sql, statement, values);
            assert!(
                found.starts_with(expected),
                "{layout}: {statement}: {found}"
            );
        }
        sql.run("VACUUM direct; DROP TABLE direct; DROP TABLE planned");
    }
}

#[test]
fn one_prepared_statement_takes_what_comes() {
    let sql = Sql::new();
    tables(&sql, "row");
    let runtime = runtime();
    let run = |prepared: &freestone::Prepared, values: &[Parameter]| {
        let outcome = runtime.block_on(prepared.run(&sql.session, values));
        outcome.map_err(|error| error.sqlstate)
    };
    let update = sql
        .session
        .prepare("UPDATE direct SET f = f + $2 WHERE k = $1");
    let update = update.unwrap();
    run(&update, &[1.into(), 2.into()]).unwrap();
    run(&update, &[1.into(), 0.5.into()]).unwrap();
    run(&update, &[2.into(), Parameter::Null]).unwrap();
    run(&update, &[1.into(), 0.25.into()]).unwrap();
    let rows = sql.rows("SELECT f FROM direct WHERE k <= 2 ORDER BY k");
    assert_eq!(rows, ["3.75", "NULL"]);
    // Columns and keys may come and go between two runs.
    sql.run("ALTER TABLE direct ADD COLUMN more INTEGER DEFAULT 4");
    run(&update, &[1.into(), 1.into()]).unwrap();
    sql.run("ALTER TABLE direct ADD CONSTRAINT low CHECK (f < 9000)");
    assert_eq!(run(&update, &[1.into(), 9000.into()]).unwrap_err(), "23514");
    assert_eq!(sql.one("SELECT f, more FROM direct WHERE k = 1"), "4.75|4");
    sql.run("DROP TABLE direct");
    assert_eq!(run(&update, &[1.into(), 1.into()]).unwrap_err(), "42P01");
    // Referred to, a row goes by the rules.
    sql.run("CREATE TABLE child (k BIGINT REFERENCES planned ON DELETE CASCADE)");
    sql.run("INSERT INTO child VALUES (5), (6)");
    let delete = sql
        .session
        .prepare("DELETE FROM planned WHERE k = $1")
        .unwrap();
    run(&delete, &[5.into()]).unwrap();
    assert_eq!(sql.rows("SELECT k FROM child"), ["6"]);
}

#[test]
fn transactions_go_on_or_fail_as_with_any_statement() {
    let sql = Sql::new();
    tables(&sql, "row");
    sql.run("BEGIN");
    sql.run("UPDATE direct SET s = 50 WHERE k = 1");
    sql.run("SAVEPOINT a");
    sql.run("UPDATE direct SET s = s + 1 WHERE k = 1");
    sql.run("INSERT INTO direct (k) VALUES (-1)");
    sql.run("DELETE FROM direct WHERE k = 2");
    assert_eq!(sql.one("SELECT s FROM direct WHERE k = 1"), "51");
    assert_eq!(sql.state("INSERT INTO direct (k) VALUES (-1)"), "23505");
    assert_eq!(sql.state("UPDATE direct SET s = 1 WHERE k = 1"), "25P02");
    sql.run("ROLLBACK TO a");
    assert_eq!(
        sql.rows("SELECT s FROM direct WHERE k <= 2 ORDER BY k"),
        ["50", "2"]
    );
    sql.run("COMMIT");
    assert_eq!(
        sql.rows("SELECT s FROM direct WHERE k <= 2 ORDER BY k"),
        ["50", "2"]
    );
    // A statement that is wrong in itself fails the transaction, too.
    sql.run("BEGIN");
    assert_eq!(
        sql.state("UPDATE direct SET d = s + 1 WHERE k = 1"),
        "42804"
    );
    assert_eq!(sql.state("UPDATE direct SET s = 1 WHERE k = 1"), "25P02");
    sql.run("ROLLBACK");
    sql.run("BEGIN READ ONLY");
    assert_eq!(sql.state("UPDATE direct SET s = 1 WHERE k = 1"), "25006");
    sql.run("ROLLBACK");
    // The later writer of a row hears of it; alone, it tries again.
    let other = Sql::on(sql.session.database());
    sql.run("BEGIN");
    sql.one("SELECT s FROM direct WHERE k = 3");
    other.run("UPDATE direct SET s = 9 WHERE k = 3");
    assert_eq!(sql.state("UPDATE direct SET s = 8 WHERE k = 3"), "40001");
    sql.run("ROLLBACK");
    assert_eq!(sql.one("SELECT s FROM direct WHERE k = 3"), "9");
}

/// Sums that are added up in place of being computed, and those that look like them.
#[test]
fn sums_are_those_of_the_expression() {
    let sql = Sql::new();
    tables(&sql, "row");
    both(
        &sql,
        "INSERT INTO {} (k, s, m) VALUES (-1, NULL, -0.01)",
        &[],
    );
    let sums = [
        "s = s + 1",
        "s = s - 70",
        "s = 1 + s",
        "s = 5 - s",
        "s = s + -3",
        "s = s - -3",
        "s = s + 40000",
        "s = s + 0.5",
        "s = s + NULL",
        "m = m + 1",
        "m = m + 0.25",
        "m = m - 0.1",
        "m = m + 0.005",
        "m = m - 0.005",
        "m = m + 1e2",
        "m = m + 999999",
        "m = m - 999999.99",
        "m = m + .5",
        "m = m + '2'",
        "s = k + 1",
        "m = s + 1",
        "k = k + 9223372036854775807",
        "f = f + 1",
        "s = s + 1, m = m + 1",
        "s = s + 1, m = m + 9999999",
    ];
    for sum in sums {
        for key in [-1, 12, 99] {
            let update = format!("UPDATE {{}} SET {sum} WHERE k = $1");
            for _ in 0..2 {
                both(&sql, &update, &[key.into()]);
            }
        }
    }
    let given: [Parameter; 7] = [
        3.into(),
        (-3).into(),
        i64::MAX.into(),
        0.5.into(),
        "7".into(),
        Parameter::Null,
        true.into(),
    ];
    for column in ["s", "m", "k", "f"] {
        for value in &given {
            let update = format!("UPDATE {{}} SET {column} = {column} + $2 WHERE k = $1");
            both(&sql, &update, &[40.into(), value.clone()]);
            let update = format!("UPDATE {{}} SET {column} = $2 - {column} WHERE k = $1");
            both(&sql, &update, &[41.into(), value.clone()]);
        }
    }
}

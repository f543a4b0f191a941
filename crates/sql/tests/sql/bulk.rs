//! Updates of many rows leave rows where they are, and give what others give.

use crate::support::{LAYOUTS, Sql};
use freestone::Database;
use freestone_storage::DEFAULT_SCHEMA;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const ROWS: usize = 30_000;

fn create(sql: &Sql, table: &str, layout: &str) {
    sql.run(&format!(
        "CREATE TABLE {table} (k BIGINT PRIMARY KEY, n INTEGER, m DECIMAL(12,2) NOT NULL, \
         t TEXT, d DATE) WITH (layout = '{layout}', block_bytes = 262144)"
    ));
    sql.run(&format!(
        "INSERT INTO {table} SELECT i, CASE WHEN i % 7 = 0 THEN NULL ELSE i % 1000 END, i * 1.25, \
         't' || CAST(i % 50 AS TEXT), DATE '2024-01-01' + CAST(i % 300 AS INTEGER) \
         FROM generate_series(1, {ROWS}) AS g(i)"
    ));
}

const SUMMARY: &str = "SELECT count(*), count(n), sum(n), sum(m), min(m), max(m), count(DISTINCT t), \
                       min(t), max(t), sum(k * coalesce(n, 3)), max(d), \
                       count(CASE WHEN n > 500 THEN 1 END) FROM ";

/// Runs a statement on a table, and so that rows are replaced, on its twin.
#[track_caller]
fn both(sql: &Sql, statement: &str) {
    let tag = sql.run(&statement.replace("{}", "large"));
    let replaced = sql.rows(&format!("{} RETURNING k", statement.replace("{}", "twin")));
    assert_eq!(tag, format!("UPDATE {}", replaced.len()), "{statement}");
    same(sql, statement);
}

#[track_caller]
fn same(sql: &Sql, what: &str) {
    let all = |table: &str| sql.one(&format!("{SUMMARY}{table}"));
    assert_eq!(all("large"), all("twin"), "{what}");
    for condition in [
        "n = 77",
        "m < 100",
        "t = 'late'",
        "n IS NULL",
        "k BETWEEN 500 AND 520",
    ] {
        let rows = |table: &str| sql.sorted(&format!("SELECT * FROM {table} WHERE {condition}"));
        assert_eq!(rows("large"), rows("twin"), "{what}: {condition}");
    }
    for key in [1, 8192, 29_999] {
        let row = |table: &str| sql.rows(&format!("SELECT * FROM {table} WHERE k = {key}"));
        assert_eq!(row("large"), row("twin"), "{what}");
    }
}

const UPDATES: [&str; 8] = [
    "UPDATE {} SET m = m + 1",
    "UPDATE {} SET n = 77 WHERE k <= 20000",
    "UPDATE {} SET n = n + 1, t = 'late' WHERE k % 3 = 0",
    "UPDATE {} SET n = NULL WHERE k > 29000",
    "UPDATE {} SET t = upper(t), n = coalesce(n, 0) + 1 WHERE k < 15000",
    "UPDATE {} SET m = (SELECT max(n) FROM twin) WHERE k % 5 = 1",
    "UPDATE {} SET d = DATE '2030-01-01' WHERE FALSE",
    "UPDATE {} SET d = NULL WHERE t = 'late'",
];

#[test]
fn blocks_take_new_columns() {
    for layout in LAYOUTS {
        let place = tempfile::tempdir().unwrap();
        let database = Database::open(place.path()).unwrap();
        let sql = Sql::on(&database);
        create(&sql, "large", layout);
        create(&sql, "twin", layout);
        let blocks = "SELECT count(*), min(block), max(block) FROM freestone_blocks('large')";
        let before = sql.one(blocks);
        both(&sql, UPDATES[0]);
        assert_eq!(sql.one(blocks), before, "{layout}: blocks are the same");
        for statement in &UPDATES[1..] {
            both(&sql, statement);
        }
        for table in ["large", "twin"] {
            sql.run(&format!("DELETE FROM {table} WHERE k % 11 = 0"));
            sql.run(&format!(
                "INSERT INTO {table} VALUES (-1, 1, 1, 'new', NULL)"
            ));
            sql.run(&format!("UPDATE {table} SET n = 5 WHERE k = 100"));
        }
        both(&sql, "UPDATE {} SET n = n * 2, m = m / 2");
        drop((sql, database));
        let database = Database::open(place.path()).unwrap();
        let sql = Sql::on(&database);
        same(&sql, "opened again");
        sql.run("CREATE INDEX large_n ON large (n)");
        same(&sql, "with an index");
        sql.run("DROP INDEX large_n; ALTER TABLE large ADD COLUMN x INTEGER DEFAULT 1");
        sql.run("ALTER TABLE twin ADD COLUMN x INTEGER DEFAULT 1");
        both(&sql, "UPDATE {} SET x = x + k, m = 0 WHERE k > 5");
        sql.run("VACUUM large");
        same(&sql, "after VACUUM");
        assert_eq!(
            sql.one("SELECT sum(x) FROM large"),
            sql.one("SELECT sum(x) FROM twin")
        );
        only_named_files(&sql, &place, &["large", "twin"]);
    }
}

/// Waits until the files are those of the tables' blocks.
#[track_caller]
fn only_named_files(sql: &Sql, place: &TempDir, tables: &[&str]) {
    let blocks = tables
        .iter()
        .map(|table| format!("SELECT block FROM freestone_blocks('{table}')"));
    let blocks = blocks.collect::<Vec<_>>().join(" UNION ALL ");
    let named = format!("SELECT count(DISTINCT block) FROM ({blocks}) AS b");
    let begun = Instant::now();
    loop {
        let files = std::fs::read_dir(place.path().join("blocks")).unwrap();
        let (files, named) = (files.count().to_string(), sql.one(&named));
        if files == named {
            return;
        }
        let late = begun.elapsed() > Duration::from_secs(30);
        assert!(!late, "{files} files for {named} blocks");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Queries that were planned keep nothing from going that nobody reads any more.
#[test]
fn known_plans_let_files_go() {
    let place = tempfile::tempdir().unwrap();
    let database = Database::open(place.path()).unwrap();
    let sql = Sql::on(&database);
    create(&sql, "large", "column");
    sql.run("VACUUM large; DELETE FROM large WHERE k % 2 = 0");
    assert_eq!(sql.one("SELECT count(*) FROM large"), "15000");
    let store = database.store();
    let id = store.snapshot().table(DEFAULT_SCHEMA, "large").unwrap().id;
    // As the mover does it in the background.
    store.vacuum(id).unwrap();
    only_named_files(&sql, &place, &["large"]);
}

#[test]
fn what_holds_for_rows_holds_for_columns() {
    let sql = Sql::new();
    create(&sql, "large", "row");
    assert_eq!(sql.state("UPDATE large SET m = NULL WHERE k > 10"), "23502");
    assert_eq!(sql.state("UPDATE large SET m = m * 1000000000"), "22003");
    assert_eq!(sql.state("UPDATE large SET m = d"), "42804");
    assert_eq!(sql.one("SELECT sum(m) FROM large"), "562518750.00");
    assert_eq!(sql.run("UPDATE large SET k = k + 1"), "UPDATE 30000");
    sql.run("BEGIN");
    sql.run("UPDATE large SET n = 1");
    sql.run("SAVEPOINT a");
    sql.run("UPDATE large SET n = n + 1");
    sql.run("UPDATE large SET n = n + 1 WHERE k = 7");
    assert_eq!(sql.one("SELECT sum(n) FROM large"), "60001");
    sql.run("ROLLBACK TO a");
    assert_eq!(sql.one("SELECT sum(n) FROM large"), "30000");
    let other = Sql::on(sql.session.database());
    // All rows are locked, also for those who would be first.
    other.run("SET lock_timeout = '50ms'; BEGIN");
    assert_eq!(other.state("UPDATE large SET n = 9 WHERE k = 7"), "55P03");
    other.run("ROLLBACK; BEGIN");
    assert_eq!(other.one("SELECT sum(n) FROM large WHERE k = 9"), "8");
    sql.run("COMMIT");
    assert_eq!(
        other.one("SELECT sum(n) FROM large WHERE k = 9"),
        "8",
        "a snapshot stays"
    );
    assert_eq!(other.state("DELETE FROM large WHERE k = 9"), "40001");
    other.run("ROLLBACK");
    other.run("UPDATE large SET n = 9 WHERE k = 9");
    assert_eq!(sql.one("SELECT sum(n) FROM large"), "30008");
}

/// The tuple mover is nobody's rival: what it has moved is updated where it is now.
#[test]
fn moved_rows_are_no_conflict() {
    let sql = Sql::new();
    create(&sql, "large", "column");
    sql.session.database().store().pause_mover();
    sql.run("DELETE FROM large WHERE k % 5 = 0");
    sql.run("BEGIN");
    assert_eq!(sql.one("SELECT count(*) FROM large"), "24000");
    let other = Sql::on(sql.session.database());
    other.run("VACUUM large");
    assert_eq!(sql.run("UPDATE large SET n = 3"), "UPDATE 24000");
    assert_eq!(
        sql.run("UPDATE large SET n = n + 1 WHERE k <= 100"),
        "UPDATE 80"
    );
    sql.run("COMMIT");
    assert_eq!(
        other.one("SELECT count(*), sum(n) FROM large"),
        "24000|72080"
    );
}

/// Rows of the larger side, whose condition fails, are asked for only if they could have a
/// partner.
#[test]
fn a_join_with_nothing_reads_no_row_of_its_other_side() {
    let sql = Sql::new();
    sql.run("CREATE TABLE a (k INT); INSERT INTO a VALUES (1)");
    sql.run("CREATE TABLE b (k INT, x INT); INSERT INTO b SELECT i, 0 FROM generate_series(1, 5000) AS g(i)");
    let rows = |condition: &str| {
        format!("SELECT count(*) FROM a JOIN b ON a.k = b.k WHERE {condition} AND 10 / b.x > 0")
    };
    assert_eq!(sql.rows_of_one_engine(&rows("a.k % 2 = 0")), ["0"]);
    assert_eq!(sql.state(&rows("a.k % 2 = 1")), "22012");
}

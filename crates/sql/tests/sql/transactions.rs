//! BEGIN to COMMIT: what a session sees, what it may write, and the anomalies of
//! Hermitage (Kleppmann's list) under snapshot isolation.

use crate::support::Sql;
use freestone::Database;

/// Two sessions on a table of two rows, as Hermitage has it.
fn two() -> (Sql, Sql) {
    let database = Database::in_memory();
    let (first, second) = (Sql::on(&database), Sql::on(&database));
    first.run("CREATE TABLE test (id INTEGER PRIMARY KEY, value INTEGER)");
    first.run("INSERT INTO test VALUES (1, 10), (2, 20)");
    // Nobody else would end a transaction that one of them waits for.
    for one in [&first, &second] {
        one.run("SET lock_timeout = '50ms'");
    }
    (first, second)
}

fn begin(sessions: [&Sql; 2]) {
    sessions.iter().for_each(|session| {
        assert_eq!(
            session.run("BEGIN ISOLATION LEVEL REPEATABLE READ"),
            "BEGIN"
        );
    });
}

const ALL: &str = "SELECT id, value FROM test";

#[test]
fn g0_write_cycles_are_prevented() {
    let (a, b) = two();
    begin([&a, &b]);
    a.run("UPDATE test SET value = 11 WHERE id = 1");
    assert_eq!(
        b.error("UPDATE test SET value = 12 WHERE id = 1").sqlstate,
        "55P03"
    );
    a.run("UPDATE test SET value = 21 WHERE id = 2");
    a.run("COMMIT");
    assert_eq!(b.run("COMMIT"), "ROLLBACK");
    assert_eq!(b.sorted(ALL), ["1|11", "2|21"]);
}

#[test]
fn g1_dirty_and_intermediate_reads_are_prevented() {
    let (a, b) = two();
    begin([&a, &b]);
    a.run("UPDATE test SET value = 101 WHERE id = 1");
    assert_eq!(b.sorted(ALL), ["1|10", "2|20"]);
    a.run("ROLLBACK");
    assert_eq!(b.sorted(ALL), ["1|10", "2|20"]);
    b.run("COMMIT");
    begin([&a, &b]);
    a.run("UPDATE test SET value = 101 WHERE id = 1");
    assert_eq!(b.sorted(ALL), ["1|10", "2|20"]);
    a.run("UPDATE test SET value = 11 WHERE id = 1");
    a.run("COMMIT");
    assert_eq!(b.sorted(ALL), ["1|10", "2|20"], "the snapshot stays");
    b.run("COMMIT");
    assert_eq!(b.sorted(ALL), ["1|11", "2|20"]);
}

#[test]
fn g1c_circular_information_flow_is_prevented() {
    let (a, b) = two();
    begin([&a, &b]);
    a.run("UPDATE test SET value = 11 WHERE id = 1");
    b.run("UPDATE test SET value = 22 WHERE id = 2");
    assert_eq!(a.one("SELECT value FROM test WHERE id = 2"), "20");
    assert_eq!(b.one("SELECT value FROM test WHERE id = 1"), "10");
    a.run("COMMIT");
    b.run("COMMIT");
    assert_eq!(a.sorted(ALL), ["1|11", "2|22"]);
}

#[test]
fn otv_observed_transactions_do_not_vanish() {
    let (a, b) = two();
    begin([&a, &b]);
    // A transaction sees what was committed before its first statement.
    assert_eq!(b.sorted(ALL), ["1|10", "2|20"]);
    a.run("UPDATE test SET value = 11 WHERE id = 1");
    a.run("UPDATE test SET value = 19 WHERE id = 2");
    a.run("COMMIT");
    assert_eq!(
        b.error("UPDATE test SET value = 12 WHERE id = 1").sqlstate,
        "40001"
    );
    b.run("ROLLBACK");
    assert_eq!(b.sorted(ALL), ["1|11", "2|19"]);
}

#[test]
fn the_first_statement_decides_what_a_transaction_sees() {
    for level in ["REPEATABLE READ", "SERIALIZABLE"] {
        let (a, b) = two();
        b.run(&format!("BEGIN ISOLATION LEVEL {level}"));
        b.run("SAVEPOINT s");
        b.run("SET statement_timeout = 0");
        a.run("UPDATE test SET value = 11 WHERE id = 1");
        b.run("UPDATE test SET value = value + 1 WHERE id = 1");
        a.run("UPDATE test SET value = 21 WHERE id = 2");
        assert_eq!(b.sorted(ALL), ["1|12", "2|20"], "{level}");
        b.run("ROLLBACK");
    }
}

#[test]
fn who_has_failed_holds_nothing() {
    let (a, b) = two();
    a.run("BEGIN; UPDATE test SET value = 11 WHERE id = 1; INSERT INTO test VALUES (3, 30)");
    assert_eq!(a.state("SELECT 1 / 0"), "22012");
    b.run("UPDATE test SET value = 12 WHERE id = 1");
    b.run("INSERT INTO test VALUES (3, 31)");
    assert_eq!(a.state("SELECT 1"), "25P02");
    a.run("ROLLBACK");
    assert_eq!(a.sorted(ALL), ["1|12", "2|20", "3|31"]);
    // Locks from before a savepoint stay.
    a.run("BEGIN; UPDATE test SET value = 1 WHERE id = 1; SAVEPOINT s");
    a.run("UPDATE test SET value = 2 WHERE id = 2; INSERT INTO test VALUES (4, 40)");
    assert_eq!(a.state("SELECT 1 / 0"), "22012");
    b.run("UPDATE test SET value = 22 WHERE id = 2");
    b.run("INSERT INTO test VALUES (4, 41)");
    b.run("BEGIN");
    assert_eq!(b.state("UPDATE test SET value = 0 WHERE id = 1"), "55P03");
    b.run("ROLLBACK");
    a.run("ROLLBACK TO s");
    assert_eq!(a.one("SELECT value FROM test WHERE id = 1"), "1");
    a.run("COMMIT");
    assert_eq!(a.sorted(ALL), ["1|1", "2|22", "3|31", "4|41"]);
}

#[test]
fn pmp_predicates_many_preceders_are_prevented() {
    let (a, b) = two();
    begin([&a, &b]);
    assert!(a.rows("SELECT * FROM test WHERE value = 30").is_empty());
    b.run("INSERT INTO test VALUES (3, 30)");
    b.run("COMMIT");
    assert!(a.rows("SELECT * FROM test WHERE value % 3 = 0").is_empty());
    a.run("COMMIT");
    begin([&a, &b]);
    a.run("UPDATE test SET value = value + 10");
    assert_eq!(
        b.error("DELETE FROM test WHERE value = 20").sqlstate,
        "55P03"
    );
    a.run("COMMIT");
    b.run("ROLLBACK");
    assert_eq!(a.sorted(ALL), ["1|20", "2|30", "3|40"]);
}

#[test]
fn p4_lost_updates_are_prevented() {
    let (a, b) = two();
    begin([&a, &b]);
    a.one("SELECT value FROM test WHERE id = 1");
    b.one("SELECT value FROM test WHERE id = 1");
    a.run("UPDATE test SET value = 11 WHERE id = 1");
    a.run("COMMIT");
    assert_eq!(
        b.error("UPDATE test SET value = 11 WHERE id = 1").sqlstate,
        "40001"
    );
    b.run("ROLLBACK");
}

#[test]
fn g_single_read_skew_is_prevented() {
    let (a, b) = two();
    begin([&a, &b]);
    assert_eq!(a.one("SELECT value FROM test WHERE id = 1"), "10");
    b.run("UPDATE test SET value = 12 WHERE id = 1");
    b.run("UPDATE test SET value = 18 WHERE id = 2");
    b.run("COMMIT");
    assert_eq!(a.one("SELECT value FROM test WHERE id = 2"), "20");
    assert_eq!(
        a.error("DELETE FROM test WHERE value = 20").sqlstate,
        "40001"
    );
    a.run("ROLLBACK");
}

/// What snapshot isolation does not prevent.
#[test]
fn g2_item_write_skew_happens() {
    let (a, b) = two();
    begin([&a, &b]);
    assert_eq!(a.sorted(ALL), b.sorted(ALL));
    a.run("UPDATE test SET value = 11 WHERE id = 1");
    b.run("UPDATE test SET value = 21 WHERE id = 2");
    a.run("COMMIT");
    b.run("COMMIT");
    assert_eq!(a.sorted(ALL), ["1|11", "2|21"]);
}

fn begin_serializable(sessions: [&Sql; 2]) {
    sessions.iter().for_each(|session| {
        session.run("BEGIN ISOLATION LEVEL SERIALIZABLE");
    });
}

#[test]
fn g2_item_write_skew_is_refused_when_serializable() {
    let (a, b) = two();
    begin_serializable([&a, &b]);
    assert_eq!(a.sorted(ALL), b.sorted(ALL));
    a.run("UPDATE test SET value = 11 WHERE id = 1");
    b.run("UPDATE test SET value = 21 WHERE id = 2");
    a.run("COMMIT");
    assert_eq!(b.state("COMMIT"), "40001");
    assert_eq!(a.sorted(ALL), ["1|11", "2|20"]);
    assert!(!b.session.in_transaction());
}

#[test]
fn g2_anti_dependency_cycles_are_refused_when_serializable() {
    let (a, b) = two();
    a.run("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE");
    a.run("BEGIN");
    b.run("BEGIN; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE");
    let none = "SELECT * FROM test WHERE value % 3 = 0";
    assert!(a.rows(none).is_empty() && b.rows(none).is_empty());
    a.run("INSERT INTO test VALUES (3, 30)");
    b.run("INSERT INTO test VALUES (4, 42)");
    a.run("COMMIT");
    assert_eq!(b.state("COMMIT"), "40001");
    assert_eq!(b.rows(none), ["3|30"]);
}

/// One that only reads has its place in the order of all: where it began.
#[test]
fn readers_are_serializable_without_waiting() {
    let (a, b) = two();
    begin_serializable([&a, &b]);
    a.sorted(ALL);
    b.run("UPDATE test SET value = 0");
    b.run("COMMIT");
    assert_eq!(a.sorted(ALL), ["1|10", "2|20"]);
    a.run("COMMIT");
    // What was not read does not matter.
    a.run("CREATE TABLE other (n INTEGER)");
    begin_serializable([&a, &b]);
    a.run("INSERT INTO other SELECT value FROM test");
    b.run("INSERT INTO other VALUES (7)");
    b.run("COMMIT");
    a.run("COMMIT");
    assert_eq!(a.one("SELECT count(*) FROM other"), "3");
    a.run("BEGIN");
    a.sorted(ALL);
    assert_eq!(
        a.state("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"),
        "25001"
    );
    a.run("ROLLBACK");
}

#[test]
fn read_only_transactions_change_nothing() {
    let (a, _) = two();
    a.run("BEGIN READ ONLY");
    assert_eq!(a.sorted(ALL), ["1|10", "2|20"]);
    assert_eq!(a.state("DELETE FROM test"), "25006");
    a.run("ROLLBACK; BEGIN READ ONLY");
    assert_eq!(a.state("CREATE TABLE t (a INTEGER)"), "25006");
    a.run("ROLLBACK; BEGIN; SET TRANSACTION READ ONLY");
    assert_eq!(a.state("INSERT INTO test VALUES (3, 3)"), "25006");
    a.run("ROLLBACK");
    a.run("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY");
    assert_eq!(a.state("INSERT INTO test VALUES (3, 3)"), "25006");
    assert_eq!(a.state("CREATE TABLE t (a INTEGER)"), "25006");
    a.run("BEGIN READ WRITE; INSERT INTO test VALUES (3, 3); ROLLBACK");
    a.run("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE");
    assert_eq!(a.sorted(ALL), ["1|10", "2|20"]);
}

#[test]
fn savepoints_nest_and_a_failed_transaction_waits_for_its_end() {
    let (a, b) = two();
    assert!(!a.session.in_transaction());
    a.run("BEGIN");
    assert!(a.session.in_transaction());
    a.run("INSERT INTO test VALUES (3, 30)");
    a.run("SAVEPOINT one");
    a.run("DELETE FROM test WHERE id = 1");
    a.run("SAVEPOINT two");
    a.run("UPDATE test SET value = 0");
    assert_eq!(a.sorted(ALL), ["2|0", "3|0"]);
    a.run("ROLLBACK TO two");
    assert_eq!(a.sorted(ALL), ["2|20", "3|30"]);
    assert_eq!(a.error("INSERT INTO test VALUES (2, 2)").sqlstate, "23505");
    assert_eq!(a.error("SELECT 1").sqlstate, "25P02");
    assert_eq!(a.error("SAVEPOINT three").sqlstate, "25P02");
    a.run("ROLLBACK TO SAVEPOINT one");
    assert_eq!(a.sorted(ALL), ["1|10", "2|20", "3|30"]);
    a.run("INSERT INTO test VALUES (4, 40)");
    a.run("RELEASE SAVEPOINT one");
    a.run("SAVEPOINT four");
    assert_eq!(a.error("ROLLBACK TO one").sqlstate, "3B001");
    assert_eq!(a.error("SELECT 1").sqlstate, "25P02");
    a.run("ROLLBACK TO four");
    assert_eq!(b.sorted(ALL), ["1|10", "2|20"]);
    a.run("COMMIT");
    assert_eq!(b.sorted(ALL), ["1|10", "2|20", "3|30", "4|40"]);
    assert_eq!(
        a.noticed("COMMIT"),
        ["WARNING: there is no transaction in progress"]
    );
    assert_eq!(
        a.noticed("ROLLBACK"),
        ["WARNING: there is no transaction in progress"]
    );
    assert_eq!(a.error("SAVEPOINT s").sqlstate, "25P01");
    a.run("BEGIN");
    a.run("INSERT INTO test VALUES (5, 50)");
    let twice = ["WARNING: there is already a transaction in progress"];
    assert_eq!(a.noticed("BEGIN"), twice);
    // It is the same one.
    a.run("ROLLBACK");
}

#[test]
fn tables_are_made_and_dropped_in_transactions() {
    let (a, b) = two();
    a.run("BEGIN");
    a.run("CREATE TABLE more (id INTEGER PRIMARY KEY, t TEXT)");
    a.run("INSERT INTO more VALUES (1, 'x')");
    a.run("INSERT INTO more SELECT i, 'y' FROM generate_series(2, 30000) AS g(i)");
    a.run("UPDATE more SET t = 'z' WHERE id % 2 = 0");
    a.run("DROP TABLE test");
    assert_eq!(
        a.one("SELECT count(*), min(t), max(t) FROM more"),
        "30000|x|z"
    );
    assert_eq!(b.error("SELECT * FROM more").sqlstate, "42P01");
    assert_eq!(b.sorted(ALL), ["1|10", "2|20"]);
    a.run("COMMIT");
    assert_eq!(b.one("SELECT count(*) FROM more WHERE t = 'z'"), "15000");
    assert_eq!(b.error(ALL).sqlstate, "42P01");
    b.run("BEGIN");
    b.run("DROP TABLE more");
    b.run("ROLLBACK");
    assert_eq!(a.one("SELECT count(*) FROM more"), "30000");
}

/// A statement of its own that comes second is run again; nobody notices.
#[test]
fn statements_of_their_own_are_run_again() {
    let database = Database::in_memory();
    let first = Sql::on(&database);
    first.run("CREATE TABLE counter (n INTEGER)");
    first.run("INSERT INTO counter VALUES (0)");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let database = &database;
            scope.spawn(move || {
                let sql = Sql::on(database);
                for _ in 0..25 {
                    sql.run("UPDATE counter SET n = n + 1");
                }
            });
        }
    });
    assert_eq!(first.one("SELECT n FROM counter"), "100");
}

/// What could not be put together again is refused, not done wrong.
#[test]
fn tables_are_not_exchanged_under_changed_rows() {
    let (a, b) = two();
    a.run("BEGIN");
    assert_eq!(
        a.error("ALTER TABLE test SET (layout = 'pax')").sqlstate,
        "25001"
    );
    a.run("ROLLBACK");
    a.run("CREATE TABLE child (id INTEGER REFERENCES test (id))");
    a.run("BEGIN");
    a.run("DELETE FROM test WHERE id = 1");
    let refused = a.error("ALTER TABLE test ADD COLUMN c INTEGER");
    assert_eq!(refused.sqlstate, "25001");
    a.run("ROLLBACK");
    a.run("DROP TABLE child");
    // Others have changed the table, which the transaction does not see.
    a.run("BEGIN");
    a.run("SELECT * FROM test");
    b.run("UPDATE test SET value = value");
    assert_eq!(a.state("CREATE INDEX i ON test (value)"), "40001");
    a.run("ROLLBACK");
    assert_eq!(a.error("VACUUM nothing").sqlstate, "42P01");
    a.run("VACUUM");
    a.run("BEGIN");
    a.run("ALTER TABLE test ADD COLUMN c INTEGER DEFAULT 5");
    a.run("INSERT INTO test VALUES (3, 30, 6)");
    assert_eq!(
        a.sorted("SELECT * FROM test"),
        ["1|10|5", "2|20|5", "3|30|6"]
    );
    assert_eq!(b.sorted("SELECT * FROM test"), ["1|10", "2|20"]);
    a.run("COMMIT");
    assert_eq!(
        b.sorted("SELECT * FROM test"),
        ["1|10|5", "2|20|5", "3|30|6"]
    );
}

/// Keys hold between rows that one transaction adds as blocks and as tuples.
#[test]
fn keys_hold_within_a_transaction() {
    let (a, _) = two();
    a.run("BEGIN");
    a.run("INSERT INTO test SELECT i, i FROM generate_series(100, 20100) AS g(i)");
    assert_eq!(
        a.error("INSERT INTO test VALUES (777, 0)").sqlstate,
        "23505"
    );
    a.run("ROLLBACK");
    assert_eq!(a.one("SELECT count(*) FROM test"), "2");
}

#[test]
fn durability_is_a_setting_of_the_session() {
    let place = tempfile::tempdir().unwrap();
    let database = Database::open(place.path()).unwrap();
    let sql = Sql::on(&database);
    assert_eq!(sql.one("SHOW durability"), "full");
    assert_eq!(sql.state("SET durability = 'none'"), "22023");
    sql.run("CREATE TABLE t (k INTEGER PRIMARY KEY, n INTEGER)");
    sql.run("SET durability = 'relaxed'");
    assert_eq!(sql.one("SHOW durability"), "relaxed");
    assert_eq!(Sql::on(&database).one("SHOW durability"), "full");
    for key in 0..50 {
        sql.run(&format!("INSERT INTO t VALUES ({key}, 0)"));
        sql.run(&format!("UPDATE t SET n = n + 1 WHERE k = {key}"));
    }
    sql.run("BEGIN; DELETE FROM t WHERE k = 7; COMMIT; RESET durability");
    drop((sql, database));
    let sql = Sql::on(&Database::open(place.path()).unwrap());
    assert_eq!(
        sql.one("SELECT count(*), sum(n), sum(k) FROM t"),
        "49|49|1218"
    );
}

/// Rows in no block, and those of an open transaction, keep to their share of memory.
#[test]
fn changed_rows_do_with_little_memory() {
    let (a, b) = two();
    a.run("SET memory_limit = '8MiB'");
    let share = 1 << 20;
    let delta = "SELECT sum(delta_bytes) FROM freestone_mover()";
    a.run("CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT)");
    let insert = |from: usize| {
        let rows: Vec<String> = (from..from + 1000)
            .map(|id| format!("({id}, '{}')", "x".repeat(id % 200)))
            .collect();
        a.run(&format!("INSERT INTO t VALUES {}", rows.join(", ")));
    };
    for thousand in 0..20 {
        insert(thousand * 1000);
        let bytes: usize = b.one(delta).parse().unwrap();
        assert!(bytes < 2 * share, "{bytes}");
    }
    a.run("BEGIN");
    for thousand in 20..60 {
        insert(thousand * 1000);
    }
    assert_eq!(a.one("SELECT count(*) FROM t"), "60000");
    a.run("UPDATE t SET s = 'y' WHERE id % 1000 = 7");
    assert_eq!(a.state("INSERT INTO t VALUES (30000, 'twice')"), "23505");
    a.run("ROLLBACK");
    assert_eq!(b.one("SELECT count(*) FROM t"), "20000");
    // A statement whose rows have no room is refused, and nothing has changed.
    a.run("INSERT INTO t SELECT i, repeat('z', 50) FROM generate_series(20000, 220000) AS g(i)");
    a.run("SET memory_limit = '1MiB'");
    let refused = a.error("UPDATE t SET id = -id, s = s || 'a'");
    assert_eq!(refused.sqlstate, "53200", "{refused}");
    assert!(refused.to_string().contains("changed rows"), "{refused}");
    assert_eq!(b.one("SELECT min(id) FROM t"), "0");
}

#[test]
fn a_table_may_be_changed_and_dropped_in_one_transaction() {
    for (change, after) in [
        ("UPDATE test SET value = 11", "DROP TABLE test"),
        ("INSERT INTO test VALUES (3, 30)", "DROP TABLE test"),
        ("DELETE FROM test WHERE id = 1", "DROP TABLE test"),
        ("SELECT * FROM test FOR UPDATE", "DROP TABLE test"),
        (
            "CREATE TABLE new (k INT PRIMARY KEY); INSERT INTO new VALUES (1)",
            "DROP TABLE new, test",
        ),
        (
            "CREATE SCHEMA s; CREATE TABLE s.t (k INT); INSERT INTO s.t VALUES (1)",
            "DROP SCHEMA s CASCADE; DROP TABLE test",
        ),
    ] {
        let (a, b) = two();
        a.run(&format!("BEGIN; {change}; {after}"));
        assert_eq!(a.run("COMMIT"), "COMMIT", "{change}");
        assert_eq!(b.state("SELECT * FROM test"), "42P01", "{change}");
    }
    // A copy takes its place.
    let (a, b) = two();
    a.run("BEGIN; UPDATE test SET value = value + 1 WHERE id = 1");
    a.run("CREATE TABLE new AS SELECT * FROM test; DROP TABLE test");
    a.run("ALTER TABLE new RENAME TO test; UPDATE test SET value = value * 2");
    assert_eq!(a.run("COMMIT"), "COMMIT");
    assert_eq!(b.sorted(ALL), ["1|22", "2|40"]);
}

#[test]
fn read_only_ends_with_its_savepoint() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT)");
    for end in ["RELEASE y", "ROLLBACK TO y"] {
        sql.run("BEGIN; SAVEPOINT y; SET TRANSACTION READ ONLY");
        assert_eq!(sql.rows("SHOW transaction_read_only"), ["on"]);
        sql.run(end);
        assert_eq!(sql.rows("SHOW transaction_read_only"), ["off"], "{end}");
        sql.run("INSERT INTO t VALUES (1); ROLLBACK");
    }
    sql.run("BEGIN READ ONLY; SAVEPOINT y; RELEASE y");
    assert_eq!(sql.rows("SHOW transaction_read_only"), ["on"]);
    sql.run("ROLLBACK; BEGIN READ ONLY");
    assert_eq!(sql.state("SELECT * FROM t FOR UPDATE"), "25006");
    assert_eq!(sql.run("ROLLBACK; START TRANSACTION"), "START TRANSACTION");
    assert_eq!(sql.run("ROLLBACK; BEGIN TRANSACTION"), "BEGIN");
    sql.run("ROLLBACK");
}

#[test]
fn what_is_done_concurrently_is_no_part_of_a_transaction() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT)");
    for statement in [
        "CREATE INDEX CONCURRENTLY i ON t (a)",
        "REINDEX TABLE CONCURRENTLY t",
    ] {
        sql.run("BEGIN");
        assert_eq!(sql.state(statement), "25001", "{statement}");
        sql.run("ROLLBACK");
        sql.run(statement);
    }
}

#[test]
fn cursors_go_with_what_came_after_a_savepoint() {
    let sql = Sql::new();
    sql.run("BEGIN; DECLARE a CURSOR FOR SELECT 1; SAVEPOINT s; DECLARE b CURSOR FOR SELECT 2");
    sql.run("ROLLBACK TO s");
    assert_eq!(sql.rows_of_one_engine("FETCH a"), ["1"]);
    assert_eq!(sql.state("FETCH b"), "34000");
    sql.run("ROLLBACK");
}

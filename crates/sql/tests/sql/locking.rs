//! SELECT … FOR UPDATE: rows that nobody else changes until the transaction ends.

use std::time::Duration;

use crate::support::Sql;
use freestone::Database;

/// Sessions on a table of five jobs.
fn workers<const N: usize>() -> [Sql; N] {
    let database = Database::in_memory();
    let sessions = std::array::from_fn(|_| Sql::on(&database));
    let first: &Sql = &sessions[0];
    first.run("CREATE TABLE jobs (id INT PRIMARY KEY, task TEXT, done BOOL DEFAULT false)");
    first.run("INSERT INTO jobs SELECT g, 'task ' || g FROM generate_series(1, 5) AS g");
    // Nobody else would end a transaction that one of them waits for.
    for one in &sessions {
        one.run("SET lock_timeout = '50ms'");
    }
    sessions
}

const NEXT: &str = "SELECT id FROM jobs WHERE NOT done ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED";

#[test]
fn a_locked_row_is_not_changed_by_others() {
    let [a, b] = workers();
    a.run("BEGIN");
    assert_eq!(
        a.rows_of_one_engine("SELECT task, id FROM jobs WHERE id = 2 FOR UPDATE"),
        ["task 2|2"]
    );
    b.run("BEGIN");
    let error = b.error("UPDATE jobs SET done = true WHERE id = 2");
    assert_eq!(error.sqlstate, "55P03");
    b.run("ROLLBACK");
    b.run("BEGIN");
    assert_eq!(
        b.state("SELECT * FROM jobs WHERE id = 2 FOR UPDATE"),
        "55P03"
    );
    b.run("ROLLBACK");
    let nowait = "SELECT * FROM jobs FOR NO KEY UPDATE NOWAIT";
    let error = b.error(nowait);
    assert_eq!(
        (error.sqlstate.as_str(), error.message.as_str()),
        ("55P03", "could not obtain lock on row in relation \"jobs\"")
    );
    // Others may be changed, and the row itself by its holder.
    b.run("UPDATE jobs SET done = true WHERE id = 3");
    a.run("UPDATE jobs SET done = true WHERE id = 2");
    a.run("COMMIT");
    b.run("UPDATE jobs SET task = 'again' WHERE id = 2");
    assert_eq!(
        b.sorted("SELECT id FROM jobs WHERE NOT done"),
        ["1", "4", "5"]
    );
}

#[test]
fn workers_of_a_queue_never_get_the_same_job() {
    let [a, b, c] = workers();
    let all = [&a, &b, &c];
    all.iter().for_each(|one| drop(one.run("BEGIN")));
    assert_eq!(
        all.map(|one| one.rows_of_one_engine(NEXT)),
        [["1"], ["2"], ["3"]]
    );
    // OFFSET and LIMIT count what is left.
    assert_eq!(
        c.rows_of_one_engine(
            "SELECT id FROM jobs ORDER BY id OFFSET 1 LIMIT 2 FOR UPDATE SKIP LOCKED"
        ),
        ["4", "5"]
    );
    a.run("UPDATE jobs SET done = true WHERE id = 1");
    a.run("COMMIT");
    b.run("ROLLBACK");
    // Rows that others have taken since the transaction began are left out, too.
    c.run("COMMIT");
    assert_eq!(a.rows_of_one_engine(NEXT), ["2"]);
}

#[test]
fn a_job_is_taken_within_a_statement() {
    let [a, b] = workers();
    let take = "UPDATE jobs SET done = true WHERE id = (SELECT id FROM jobs WHERE NOT done \
                ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id";
    a.run("BEGIN");
    assert_eq!(a.rows_of_one_engine(take), ["1"]);
    assert_eq!(b.rows_of_one_engine(take), ["2"]);
    let with = "WITH next AS (SELECT id AS job FROM jobs WHERE NOT done ORDER BY id LIMIT 2 \
                FOR UPDATE SKIP LOCKED) \
                UPDATE jobs SET done = true FROM next WHERE id = job RETURNING id";
    assert_eq!(b.rows_of_one_engine(with), ["3", "4"]);
    a.run("ROLLBACK");
    assert_eq!(b.rows_of_one_engine(take), ["1"]);
    let delete = "DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE done FOR UPDATE)";
    assert_eq!(b.run(delete), "DELETE 4");
    assert_eq!(
        b.rows_of_one_engine("SELECT count(*) FROM (SELECT * FROM jobs FOR UPDATE) AS x"),
        ["1"]
    );
}

#[test]
fn tables_are_named_by_of() {
    let [a, b] = workers();
    a.run("CREATE TABLE notes (job INT, note TEXT)");
    a.run("INSERT INTO notes VALUES (1, 'x'), (2, 'y')");
    a.run("BEGIN");
    let of = "SELECT j.id, n.note FROM jobs AS j JOIN notes AS n ON n.job = j.id WHERE j.id = 1";
    assert_eq!(
        a.rows_of_one_engine(&format!("{of} FOR UPDATE OF n")),
        ["1|x"]
    );
    b.run("UPDATE jobs SET done = true WHERE id = 1");
    assert_eq!(
        b.rows_of_one_engine("SELECT job FROM notes FOR UPDATE SKIP LOCKED"),
        ["2"]
    );
    a.run("ROLLBACK");
    a.run("BEGIN");
    assert_eq!(
        a.rows_of_one_engine(&format!("{of} FOR UPDATE OF j, n NOWAIT")),
        ["1|x"]
    );
    b.run("BEGIN");
    assert_eq!(b.state("DELETE FROM notes WHERE job = 1"), "55P03");
    b.run("ROLLBACK");
    a.run("COMMIT");
    let left = "SELECT * FROM jobs LEFT JOIN notes ON job = id";
    assert_eq!(a.state(&format!("{left} FOR UPDATE")), "0A000");
    assert_eq!(
        a.rows_of_one_engine(&format!("{left} WHERE id = 5 FOR UPDATE OF jobs")),
        ["5|task 5|false|NULL|NULL"]
    );
}

#[test]
fn what_has_no_rows_to_lock_is_refused() {
    let [a] = workers();
    a.run("CREATE VIEW v AS SELECT * FROM jobs");
    for (sql, state) in [
        ("SELECT DISTINCT id FROM jobs FOR UPDATE", "0A000"),
        ("SELECT id FROM jobs GROUP BY id FOR UPDATE", "0A000"),
        ("SELECT count(*) FROM jobs FOR UPDATE", "0A000"),
        ("SELECT id, count(*) OVER () FROM jobs FOR UPDATE", "0A000"),
        ("SELECT 1 UNION SELECT 2 FOR UPDATE", "0A000"),
        ("SELECT id FROM jobs FOR SHARE", "0A000"),
        ("SELECT id FROM v FOR UPDATE", "0A000"),
        ("SELECT id FROM jobs FOR UPDATE OF other", "42P01"),
        ("SELECT id FROM nowhere FOR UPDATE", "42P01"),
        ("SELECT nothing FROM jobs FOR UPDATE", "42703"),
        (
            "SELECT * FROM jobs AS j WHERE id = (SELECT j.id FROM jobs AS k WHERE k.id = j.id FOR UPDATE)",
            "0A000",
        ),
        ("CREATE VIEW w AS SELECT * FROM jobs FOR UPDATE", "0A000"),
    ] {
        assert_eq!(a.state(sql), state, "{sql}");
    }
    a.run("BEGIN READ ONLY");
    assert_eq!(a.state("SELECT * FROM jobs FOR UPDATE"), "25006");
    a.run("ROLLBACK");
    assert_eq!(a.run("EXPLAIN SELECT * FROM jobs FOR UPDATE"), "");
}

#[test]
fn locking_needs_the_right_to_update() {
    let [owner, other] = workers();
    owner.run("CREATE ROLE ann");
    owner.run("GRANT SELECT ON jobs TO ann");
    other.run("SET ROLE ann");
    assert_eq!(other.state("SELECT * FROM jobs FOR UPDATE"), "42501");
    owner.run("GRANT UPDATE ON jobs TO ann");
    assert_eq!(other.rows_of_one_engine(NEXT), ["1"]);
}

#[test]
fn locks_outlive_moves_of_their_rows() {
    let [a, b] = workers();
    a.run("BEGIN");
    assert_eq!(a.rows_of_one_engine(NEXT), ["1"]);
    b.run("VACUUM jobs");
    assert_eq!(b.rows_of_one_engine(NEXT), ["2"]);
    a.run("UPDATE jobs SET done = true WHERE id = 1");
    a.run("COMMIT");
    assert_eq!(b.sorted("SELECT id FROM jobs WHERE done"), ["1"]);
}

/// Runs a statement in another thread, which waits until `then` is done; the SQLSTATE with which
/// it fails, or nothing.
fn waits(waiting: &Sql, sql: &str, then: impl FnOnce()) -> String {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| waiting.ended(sql));
        std::thread::sleep(Duration::from_millis(60));
        assert!(!thread.is_finished(), "{sql} does not wait");
        then();
        thread.join().unwrap()
    })
}

/// Two sessions on a table of counters, without a limit of waiting.
fn counters() -> [Sql; 2] {
    let database = Database::in_memory();
    let [a, b] = std::array::from_fn(|_| Sql::on(&database));
    a.run("CREATE TABLE c (id INT PRIMARY KEY, n INT)");
    a.run("INSERT INTO c SELECT g, 0 FROM generate_series(1, 40) AS g");
    [a, b]
}

const ADD: &str = "UPDATE c SET n = n + 10 WHERE id = 1";

#[test]
fn who_changes_a_locked_row_waits_and_goes_on_with_what_is_left() {
    let [a, b] = counters();
    // A statement that is planned, one that is not, and a lock.
    let planned = "UPDATE c SET n = n + 10 WHERE id <= 1 AND n >= 0";
    for (number, statement) in [ADD, planned].into_iter().enumerate() {
        a.run("BEGIN; UPDATE c SET n = n + 1 WHERE id = 1");
        assert_eq!(waits(&b, statement, || drop(a.run("COMMIT"))), "");
        let sum = (number + 1) * 11;
        assert_eq!(b.one("SELECT n FROM c WHERE id = 1"), sum.to_string());
        a.run("BEGIN; UPDATE c SET n = n + 1 WHERE id = 1");
        b.run("BEGIN ISOLATION LEVEL READ COMMITTED");
        b.one("SELECT n FROM c WHERE id = 2");
        assert_eq!(waits(&b, statement, || drop(a.run("COMMIT"))), "");
        b.run("ROLLBACK");
        a.run("UPDATE c SET n = n - 1 WHERE id = 1");
        // The other one changes nothing in the end.
        for level in ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"] {
            a.run("BEGIN; UPDATE c SET n = n + 1 WHERE id = 1");
            b.run(&format!("BEGIN ISOLATION LEVEL {level}"));
            assert_eq!(waits(&b, statement, || drop(a.run("ROLLBACK"))), "");
            assert_eq!(
                b.one("SELECT n FROM c WHERE id = 1"),
                (sum + 10).to_string()
            );
            b.run("ROLLBACK");
        }
        for level in ["REPEATABLE READ", "SERIALIZABLE"] {
            a.run("BEGIN; UPDATE c SET n = n WHERE id = 1");
            b.run(&format!("BEGIN ISOLATION LEVEL {level}"));
            assert_eq!(waits(&b, statement, || drop(a.run("COMMIT"))), "40001");
            b.run("ROLLBACK");
        }
    }
    a.run("BEGIN; UPDATE c SET n = 5 WHERE id = 3");
    b.run("BEGIN ISOLATION LEVEL READ COMMITTED");
    let lock = "SELECT n FROM c WHERE id = 3 FOR UPDATE";
    assert_eq!(waits(&b, lock, || drop(a.run("COMMIT"))), "");
    assert_eq!(b.rows_of_one_engine(lock), ["5"]);
    b.run("COMMIT");
    // A row that no longer has what is asked for, and one that is gone.
    a.run("BEGIN; UPDATE c SET n = 6 WHERE id = 3; DELETE FROM c WHERE id = 4");
    let both = "DELETE FROM c WHERE n = 5 OR id = 4";
    assert_eq!(waits(&b, both, || drop(a.run("COMMIT"))), "");
    assert_eq!(b.sorted("SELECT id, n FROM c WHERE id IN (3, 4)"), ["3|6"]);
}

#[test]
fn transactions_that_wait_for_each_other_are_told() {
    let [a, b] = counters();
    a.run("BEGIN; UPDATE c SET n = 1 WHERE id = 1");
    b.run("BEGIN; UPDATE c SET n = 2 WHERE id = 2");
    let done = waits(&b, "UPDATE c SET n = 2 WHERE id = 1", || {
        assert_eq!(a.state("UPDATE c SET n = 1 WHERE id = 2"), "40P01");
        a.run("ROLLBACK");
    });
    assert_eq!(done, "");
    b.run("COMMIT");
    assert_eq!(
        a.sorted("SELECT id, n FROM c WHERE id <= 2"),
        ["1|2", "2|2"]
    );
}

#[test]
fn rows_that_are_given_back_by_a_savepoint_are_free() {
    let [a, b] = counters();
    a.run("BEGIN; SAVEPOINT s; UPDATE c SET n = 1 WHERE id = 1");
    assert_eq!(waits(&b, ADD, || drop(a.run("ROLLBACK TO s"))), "");
    a.run("COMMIT");
    assert_eq!(b.one("SELECT n FROM c WHERE id = 1"), "10");
}

/// Each statement of READ COMMITTED sees what was committed before it, and its own changes,
/// also where the tuple mover has moved the rows meanwhile.
#[test]
fn statements_of_read_committed_see_what_is_committed() {
    let [a, b] = counters();
    a.run("BEGIN ISOLATION LEVEL READ COMMITTED");
    a.run("UPDATE c SET n = 7 WHERE id = 7");
    a.run("SAVEPOINT one; DELETE FROM c WHERE id = 8; INSERT INTO c VALUES (50, 50)");
    b.run("UPDATE c SET n = 9 WHERE id = 9; INSERT INTO c VALUES (60, 60)");
    b.run("VACUUM c");
    let some = "SELECT id, n FROM c WHERE id IN (7, 8, 9, 50, 60)";
    assert_eq!(a.sorted(some), ["50|50", "60|60", "7|7", "9|9"]);
    b.run("UPDATE c SET n = 61 WHERE id = 60");
    a.run("UPDATE c SET n = n + 1 WHERE id IN (7, 60)");
    assert_eq!(a.sorted(some), ["50|50", "60|62", "7|8", "9|9"]);
    b.run("UPDATE c SET n = 99 WHERE id = 9");
    b.run("VACUUM c");
    a.run("ROLLBACK TO one");
    assert_eq!(a.sorted(some), ["60|61", "7|7", "8|0", "9|99"]);
    a.run("COMMIT");
    assert_eq!(b.sorted(some), ["60|61", "7|7", "8|0", "9|99"]);
    // A level that sees one moment.
    a.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
    a.one("SELECT count(*) FROM c");
    b.run("DELETE FROM c WHERE id = 60");
    assert_eq!(a.one("SELECT n FROM c WHERE id = 60"), "61");
    a.run("COMMIT");
}

#[test]
fn savepoints_go_with_the_statements_and_with_altered_tables() {
    let [a, b] = counters();
    let some = "SELECT id, n FROM c WHERE id IN (5, 7, 9)";
    a.run("BEGIN ISOLATION LEVEL READ COMMITTED; UPDATE c SET n = 7 WHERE id = 7; SAVEPOINT s");
    b.run("UPDATE c SET n = 9 WHERE id = 9; VACUUM c");
    a.run("UPDATE c SET n = 5 WHERE id = 5");
    b.run("VACUUM c");
    a.run("ALTER TABLE c ADD COLUMN extra INT; UPDATE c SET extra = 1 WHERE id = 7");
    assert_eq!(a.sorted(some), ["5|5", "7|7", "9|9"]);
    a.run("ROLLBACK TO s");
    assert_eq!(a.sorted(some), ["5|0", "7|7", "9|9"]);
    a.run("UPDATE c SET n = 8 WHERE id = 7");
    a.run("COMMIT");
    assert_eq!(b.sorted(some), ["5|0", "7|8", "9|9"]);
}

/// Counters that many add to: nothing is lost, and nobody fails.
#[test]
fn nothing_is_lost_of_what_many_add() {
    const WORKERS: usize = 4;
    const ROUNDS: usize = 40;
    let [a, _] = counters();
    let database = a.session.database().clone();
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let database = &database;
            scope.spawn(move || {
                let own = Sql::on(database);
                for round in 0..ROUNDS {
                    let other = 2 + (worker + round) % 3;
                    if round % 2 == 0 {
                        own.run("BEGIN ISOLATION LEVEL READ COMMITTED");
                        own.rows_of_one_engine("SELECT sum(n) FROM c");
                    }
                    own.run("UPDATE c SET n = n + 1 WHERE id = 1");
                    own.run(&format!("UPDATE c SET n = n + 1 WHERE id = {other}"));
                    if round % 2 == 0 {
                        own.run("COMMIT");
                    }
                    if round % 10 == 0 {
                        own.run("VACUUM c");
                    }
                }
            });
        }
    });
    let sum = (WORKERS * ROUNDS).to_string();
    assert_eq!(a.one("SELECT n FROM c WHERE id = 1"), sum);
    assert_eq!(a.one("SELECT sum(n) FROM c WHERE id > 1"), sum);
}

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

/// With one moment for all statements of a transaction, a row that another has changed since is no
/// row that another has locked.
#[test]
fn a_job_that_has_changed_is_not_passed_over() {
    for level in ["REPEATABLE READ", "SERIALIZABLE"] {
        let [a, b] = workers();
        a.run(&format!("BEGIN ISOLATION LEVEL {level}"));
        a.run("SELECT count(*) FROM jobs");
        b.run("UPDATE jobs SET done = true WHERE id = 1");
        assert_eq!(a.state(NEXT), "40001", "{level}");
        a.run("ROLLBACK");
        assert_eq!(a.rows_of_one_engine(NEXT), ["2"]);
    }
    let [a, b] = workers();
    a.run("BEGIN ISOLATION LEVEL READ COMMITTED");
    a.run("SELECT count(*) FROM jobs");
    b.run("UPDATE jobs SET done = true WHERE id = 1");
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
        ("SELECT count(*) FROM jobs FOR SHARE", "0A000"),
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
fn rows_are_shared_by_who_does_not_change_them() {
    let [a, b] = counters();
    let c = Sql::on_session(a.session.database().session());
    let share = "SELECT n FROM c WHERE id = 1 FOR SHARE";
    let planned = "SELECT n FROM c WHERE id < 2 AND n >= 0 FOR KEY SHARE";
    for other in [share, planned] {
        a.run("BEGIN");
        b.run("BEGIN");
        assert_eq!(a.rows_of_one_engine(share), ["0"]);
        assert_eq!(b.rows_of_one_engine(other), ["0"]);
        for (locked, expected) in [
            ("FOR SHARE NOWAIT", ""),
            ("FOR KEY SHARE NOWAIT", ""),
            ("FOR UPDATE NOWAIT", "55P03"),
            ("FOR NO KEY UPDATE NOWAIT", "55P03"),
        ] {
            assert_eq!(
                c.ended(&format!("SELECT n FROM c WHERE id = 1 {locked}")),
                expected,
                "{locked}"
            );
        }
        assert_eq!(
            c.rows_of_one_engine("SELECT id FROM c ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"),
            ["2"]
        );
        // It goes on when the last of them ends, whichever that is.
        assert_eq!(
            waits(&c, ADD, || {
                a.run("COMMIT");
                std::thread::sleep(Duration::from_millis(30));
                assert_eq!(b.one("SELECT n FROM c WHERE id = 1"), "0");
                b.run("ROLLBACK");
            }),
            ""
        );
        a.run("UPDATE c SET n = 0 WHERE id = 1");
    }
    // Alone it may change the row; with others it waits for them.
    a.run("BEGIN");
    assert_eq!(a.rows_of_one_engine(share), ["0"]);
    a.run(ADD);
    assert_eq!(b.ended(&format!("{share} NOWAIT")), "55P03");
    a.run("COMMIT");
    a.run("BEGIN");
    b.run("BEGIN");
    assert_eq!(a.rows_of_one_engine(share), ["10"]);
    assert_eq!(b.rows_of_one_engine(share), ["10"]);
    assert_eq!(waits(&a, ADD, || drop(b.run("COMMIT"))), "");
    a.run("COMMIT");
    assert_eq!(a.one("SELECT n FROM c WHERE id = 1"), "20");
}

#[test]
fn who_shares_a_row_and_would_change_it_may_meet_another_who_would() {
    let [a, b] = counters();
    let share = "SELECT n FROM c WHERE id = 1 FOR SHARE";
    a.run("BEGIN");
    b.run("BEGIN");
    assert_eq!(a.rows_of_one_engine(share), ["0"]);
    assert_eq!(b.rows_of_one_engine(share), ["0"]);
    let first = waits(&a, ADD, || {
        assert_eq!(b.ended(ADD), "40P01");
        b.run("ROLLBACK");
    });
    assert_eq!(first, "");
    a.run("COMMIT");
    assert_eq!(a.one("SELECT n FROM c WHERE id = 1"), "10");
}

#[test]
fn shared_rows_are_given_back_and_follow_moves() {
    let [a, b] = counters();
    let share = "SELECT n FROM c WHERE id = 1 FOR SHARE";
    let update = "SELECT n FROM c WHERE id = 1 FOR UPDATE NOWAIT";
    a.run("BEGIN");
    a.run("SAVEPOINT s");
    assert_eq!(a.rows_of_one_engine(share), ["0"]);
    assert_eq!(b.ended(update), "55P03");
    a.run("ROLLBACK TO s");
    assert_eq!(b.ended(update), "");
    assert_eq!(a.rows_of_one_engine(share), ["0"]);
    b.run("VACUUM c");
    assert_eq!(b.ended(update), "55P03");
    assert_eq!(b.ended(&format!("{share} NOWAIT")), "");
    a.run("ROLLBACK");
    assert_eq!(b.ended(update), "");
    // A snapshot from before a change cannot share the row that it sees.
    a.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
    a.one("SELECT n FROM c WHERE id = 1");
    b.run(ADD);
    assert_eq!(a.ended(share), "40001");
    a.run("ROLLBACK");
}

#[test]
fn who_adds_a_key_waits_for_another_who_has() {
    let [a, b] = counters();
    let added = "INSERT INTO c VALUES (100, 1)";
    let selected = "INSERT INTO c SELECT 100, n FROM c WHERE id = 1";
    let changed = "UPDATE c SET id = 100 WHERE id = 40";
    let other = "UPDATE c SET id = 100 WHERE id = 39";
    for first in [added, selected, changed] {
        for second in [added, selected, other] {
            for begin in ["", "BEGIN"] {
                for (end, expected) in [("COMMIT", "23505"), ("ROLLBACK", "")] {
                    a.run(&format!("BEGIN; {first}"));
                    b.run(begin);
                    let found = waits(&b, second, || drop(a.run(end)));
                    assert_eq!(found, expected, "{first}; {second}; {end}");
                    if !begin.is_empty() {
                        b.run("ROLLBACK");
                    }
                    a.run("DELETE FROM c WHERE id IN (39, 40, 100)");
                    a.run("INSERT INTO c VALUES (39, 0), (40, 0)");
                }
            }
        }
    }
    // Keys of a savepoint are given back with it.
    a.run("BEGIN; SAVEPOINT s");
    a.run(added);
    a.run("ROLLBACK TO s");
    assert_eq!(b.ended(added), "");
    assert_eq!(a.ended(added), "23505");
    a.run("ROLLBACK");
    b.run("DELETE FROM c WHERE id = 100");
    // NULLs are equal to nothing.
    a.run("CREATE TABLE u (k INT UNIQUE, l INT, UNIQUE NULLS NOT DISTINCT (l))");
    a.run("BEGIN; INSERT INTO u VALUES (NULL, 1)");
    assert_eq!(b.ended("INSERT INTO u VALUES (NULL, 2)"), "");
    a.run("ROLLBACK; BEGIN; INSERT INTO u VALUES (1, NULL)");
    let twice = "INSERT INTO u VALUES (3, NULL)";
    assert_eq!(waits(&b, twice, || drop(a.run("COMMIT"))), "23505");
}

#[test]
fn on_conflict_waits_for_the_row_that_is_added() {
    let [a, b] = counters();
    let nothing = "INSERT INTO c VALUES (100, 1) ON CONFLICT DO NOTHING";
    let update = "INSERT INTO c VALUES (100, 1) ON CONFLICT (id) DO UPDATE SET n = c.n + 5";
    for (statement, committed, rolled_back) in [(nothing, "7", "1"), (update, "12", "1")] {
        for (end, expected) in [("COMMIT", committed), ("ROLLBACK", rolled_back)] {
            a.run("BEGIN; INSERT INTO c VALUES (100, 7)");
            assert_eq!(waits(&b, statement, || drop(a.run(end))), "");
            assert_eq!(
                b.one("SELECT n FROM c WHERE id = 100"),
                expected,
                "{statement}; {end}"
            );
            a.run("DELETE FROM c WHERE id = 100");
        }
    }
}

#[test]
fn who_adds_a_key_waits_for_another_who_takes_it_away() {
    let [a, b] = counters();
    let added = "INSERT INTO c VALUES (1, 5)";
    for away in [
        "DELETE FROM c WHERE id = 1",
        "UPDATE c SET id = 100 WHERE id = 1",
    ] {
        for second in [
            added,
            "INSERT INTO c SELECT 1, 5",
            "UPDATE c SET id = 1, n = 5 WHERE id = 2",
        ] {
            for begin in ["", "BEGIN"] {
                for (end, expected) in [("COMMIT", ""), ("ROLLBACK", "23505")] {
                    a.run(&format!("BEGIN; {away}"));
                    b.run(begin);
                    let found = waits(&b, second, || drop(a.run(end)));
                    assert_eq!(found, expected, "{away}; {second}; {end}");
                    if !begin.is_empty() {
                        let ended = if expected.is_empty() {
                            "COMMIT"
                        } else {
                            "ROLLBACK"
                        };
                        b.run(ended);
                    }
                    if end == "COMMIT" {
                        assert_eq!(b.one("SELECT n FROM c WHERE id = 1"), "5");
                    }
                    a.run("DELETE FROM c WHERE id IN (1, 2, 100); INSERT INTO c VALUES (1, 0), (2, 0)");
                }
            }
        }
    }
}

#[test]
fn waits_for_keys_end_like_waits_for_rows() {
    let [a, b] = counters();
    a.run("BEGIN; INSERT INTO c VALUES (100, 1)");
    b.run("SET lock_timeout = 50");
    assert_eq!(b.ended("INSERT INTO c VALUES (100, 1)"), "55P03");
    b.run("RESET lock_timeout");
    b.run("BEGIN; INSERT INTO c VALUES (101, 1)");
    let first = waits(&a, "INSERT INTO c VALUES (101, 2)", || {
        assert_eq!(b.ended("INSERT INTO c VALUES (100, 2)"), "40P01");
        b.run("ROLLBACK");
    });
    assert_eq!(first, "");
    a.run("COMMIT");
    assert_eq!(
        b.sorted("SELECT id, n FROM c WHERE id >= 100"),
        ["100|1", "101|2"]
    );
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

/// Two sessions on a table and one that refers to it, at READ COMMITTED.
fn families() -> [Sql; 2] {
    let [a, b] = counters();
    a.run("CREATE TABLE p (id INT PRIMARY KEY, n INT, code TEXT UNIQUE)");
    a.run("CREATE TABLE f (id INT PRIMARY KEY, p INT REFERENCES p, code TEXT REFERENCES p (code))");
    a.run("INSERT INTO p VALUES (1, 0, 'a'), (2, 0, 'b'), (3, 0, 'c')");
    a.run("INSERT INTO f VALUES (1, 1, NULL)");
    [a, b]
}

#[test]
fn who_deletes_a_row_waits_for_those_who_refer_to_it() {
    let [a, b] = families();
    for (refers, takes) in [
        (
            "INSERT INTO f VALUES (2, 2, NULL)",
            "DELETE FROM p WHERE id = 2",
        ),
        (
            "INSERT INTO f VALUES (2, NULL, 'b')",
            "DELETE FROM p WHERE n = 0 AND id = 2",
        ),
        (
            "INSERT INTO f SELECT 2, 2",
            "UPDATE p SET id = 20 WHERE id = 2",
        ),
        (
            "UPDATE f SET p = 2 WHERE id = 1",
            "DELETE FROM p WHERE id = 2",
        ),
        (
            "INSERT INTO f VALUES (2, NULL, 'b')",
            "UPDATE p SET code = 'x' WHERE id = 2",
        ),
        (
            "SELECT * FROM p WHERE id = 2 FOR KEY SHARE",
            "DELETE FROM p WHERE id = 2",
        ),
    ] {
        let refused = match refers.starts_with("SELECT") {
            true => "",
            false => "23503",
        };
        for (end, expected) in [("ROLLBACK", ""), ("COMMIT", refused)] {
            a.run("BEGIN");
            a.run(refers);
            let answer = waits(&b, takes, || drop(a.run(end)));
            assert_eq!(answer, expected, "{refers}; {takes}; {end}");
            b.run("DELETE FROM f WHERE id = 2");
            b.run("UPDATE f SET p = 1 WHERE id = 1");
            b.run("DELETE FROM p WHERE id IN (2, 20)");
            b.run("INSERT INTO p VALUES (2, 0, 'b')");
        }
    }
}

#[test]
fn who_refers_to_a_row_waits_for_those_who_delete_it() {
    let [a, b] = families();
    let refer = "INSERT INTO f VALUES (2, 2, 'b')";
    for takes in [
        "DELETE FROM p WHERE id = 2",
        "UPDATE p SET id = 20 WHERE id = 2",
        "UPDATE p SET code = 'x' WHERE id = 2",
        "SELECT * FROM p WHERE id = 2 FOR UPDATE",
    ] {
        let refused = match takes.starts_with("SELECT") {
            true => "",
            false => "23503",
        };
        for (end, expected) in [("ROLLBACK", ""), ("COMMIT", refused)] {
            a.run("BEGIN");
            a.run(takes);
            assert_eq!(
                waits(&b, refer, || drop(a.run(end))),
                expected,
                "{takes}; {end}"
            );
            b.run("DELETE FROM f WHERE id = 2");
            b.run("DELETE FROM p WHERE id IN (2, 20)");
            b.run("INSERT INTO p VALUES (2, 0, 'b')");
        }
    }
    // An earlier snapshot cannot refer to a row that is gone since.
    b.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
    assert_eq!(b.one("SELECT count(*) FROM p"), "3");
    a.run("DELETE FROM p WHERE id = 2");
    assert_eq!(b.ended(refer), "40001");
    b.run("ROLLBACK");
    assert_eq!(b.ended(refer), "23503");
}

#[test]
fn keys_are_referred_to_while_other_columns_change() {
    let [a, b] = families();
    for (first, second) in [
        ("UPDATE p SET n = n + 1", "INSERT INTO f VALUES (2, 2, 'b')"),
        (
            "UPDATE p SET id = id, n = n + 1, code = code",
            "INSERT INTO f VALUES (3, 2, 'b')",
        ),
        ("INSERT INTO f VALUES (4, 2, 'b')", "UPDATE p SET n = n + 1"),
        (
            "INSERT INTO f VALUES (5, 2, 'b')",
            "INSERT INTO f VALUES (6, 2, 'b')",
        ),
        (
            "SELECT * FROM p FOR NO KEY UPDATE",
            "INSERT INTO f VALUES (7, 2, 'b')",
        ),
        ("SELECT * FROM p FOR KEY SHARE", "UPDATE p SET n = n + 1"),
        (
            "UPDATE p SET n = n + 1",
            "SELECT * FROM p FOR KEY SHARE NOWAIT",
        ),
        (
            "SELECT * FROM p FOR NO KEY UPDATE",
            "SELECT * FROM p FOR KEY SHARE",
        ),
        (
            "SELECT * FROM p FOR SHARE",
            "INSERT INTO f VALUES (8, 2, 'b')",
        ),
    ] {
        b.run("SET lock_timeout = '50ms'");
        a.run("BEGIN");
        a.run(first);
        assert_eq!(b.ended(second), "", "{first}; {second}");
        a.run("COMMIT");
        b.run("RESET lock_timeout");
    }
    for (first, second, locked) in [
        (
            "SELECT * FROM p FOR UPDATE",
            "SELECT * FROM p FOR KEY SHARE SKIP LOCKED",
            3,
        ),
        (
            "SELECT * FROM p FOR KEY SHARE",
            "SELECT * FROM p FOR UPDATE SKIP LOCKED",
            3,
        ),
        (
            "SELECT * FROM p FOR KEY SHARE",
            "SELECT * FROM p FOR SHARE SKIP LOCKED",
            0,
        ),
        (
            "DELETE FROM p WHERE id = 3",
            "SELECT * FROM p FOR KEY SHARE SKIP LOCKED",
            1,
        ),
    ] {
        a.run("BEGIN");
        a.run(first);
        let found = b.rows_of_one_engine(second).len();
        assert_eq!(found, 3 - locked, "{first}; {second}");
        a.run("ROLLBACK");
    }
    assert_eq!(a.one("SELECT count(*) FROM f"), "8");
}

#[test]
fn rows_that_follow_wait_and_go_on() {
    let [a, b] = families();
    a.run("CREATE TABLE g (id INT PRIMARY KEY, p INT REFERENCES p ON DELETE CASCADE)");
    for (end, left) in [("COMMIT", "0"), ("ROLLBACK", "0")] {
        a.run("BEGIN");
        a.run("INSERT INTO g VALUES (1, 3)");
        let deleted = waits(&b, "DELETE FROM p WHERE id = 3", || drop(a.run(end)));
        assert_eq!(deleted, "");
        assert_eq!(a.one("SELECT count(*) FROM g"), left);
        a.run("INSERT INTO p VALUES (3, 0, 'c')");
    }
    // Who waits for each other is told.
    a.run("BEGIN");
    b.run("BEGIN");
    a.run("INSERT INTO g VALUES (1, 3)");
    b.run("INSERT INTO g VALUES (2, 3)");
    let first = waits(&a, "DELETE FROM p WHERE id = 3", || {
        assert_eq!(b.ended("DELETE FROM p WHERE id = 3"), "40P01");
        b.run("ROLLBACK");
    });
    assert_eq!(first, "");
    a.run("COMMIT");
    assert_eq!(a.one("SELECT count(*) FROM g"), "0");
    // Locks since a savepoint are given back.
    a.run("BEGIN");
    a.run("SAVEPOINT s");
    a.run("INSERT INTO g VALUES (1, 2)");
    a.run("ROLLBACK TO s");
    b.run("SET lock_timeout = '50ms'");
    assert_eq!(b.ended("DELETE FROM p WHERE id = 2"), "");
    a.run("COMMIT");
}

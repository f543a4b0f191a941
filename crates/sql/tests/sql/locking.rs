//! SELECT … FOR UPDATE: rows that nobody else changes until the transaction ends.

use crate::support::Sql;
use freestone::Database;

/// Sessions on a table of five jobs.
fn workers<const N: usize>() -> [Sql; N] {
    let database = Database::in_memory();
    let sessions = std::array::from_fn(|_| Sql::on(&database));
    let first: &Sql = &sessions[0];
    first.run("CREATE TABLE jobs (id INT PRIMARY KEY, task TEXT, done BOOL DEFAULT false)");
    first.run("INSERT INTO jobs SELECT g, 'task ' || g FROM generate_series(1, 5) AS g");
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
    assert_eq!(error.sqlstate, "40001");
    b.run("ROLLBACK");
    b.run("BEGIN");
    assert_eq!(
        b.state("SELECT * FROM jobs WHERE id = 2 FOR UPDATE"),
        "40001"
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
    assert_eq!(b.state("DELETE FROM notes WHERE job = 1"), "40001");
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

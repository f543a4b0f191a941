//! Views whose readers may not read what is under them: conditions that fail on a row tell of it,
//! and must not meet those that a view leaves out.

use freestone::Database;

use crate::support::Sql;

/// A table with rows that its views leave out: a salary of 100, a note that is no number.
fn staffed() -> (Database, Sql) {
    let database = Database::in_memory();
    let owner = Sql::on(&database);
    owner.run(
        "CREATE TABLE staff (k INT PRIMARY KEY, team TEXT, salary INT, note TEXT); \
         INSERT INTO staff VALUES (1, 'sales', 10, '1'), (2, 'sales', 20, '2'), \
            (3, 'board', 100, 'three'); \
         VACUUM staff; \
         INSERT INTO staff VALUES (4, 'sales', 40, '4'), (5, 'board', 100, 'five'); \
         CREATE TABLE teams (team TEXT, shown BOOLEAN); \
         INSERT INTO teams VALUES ('sales', true), ('board', false); \
         CREATE VIEW plain AS SELECT k, salary, note FROM staff WHERE team = 'sales'; \
         CREATE VIEW computed AS SELECT k, salary, note FROM staff WHERE reverse(team) = 'selas'; \
         CREATE VIEW joined AS SELECT k, salary, note FROM staff JOIN teams USING (team) \
            WHERE shown; \
         CREATE VIEW renamed (k, salary, note) AS SELECT q.k, q.salary, q.note \
            FROM (SELECT * FROM staff ORDER BY k) AS q \
            WHERE EXISTS (SELECT 1 FROM teams WHERE teams.team = q.team AND shown); \
         CREATE VIEW outer_view AS SELECT * FROM plain; \
         CREATE VIEW whole AS SELECT k, salary FROM staff; \
         CREATE ROLE reader LOGIN; \
         GRANT SELECT ON plain, computed, joined, renamed, outer_view, whole TO reader; \
         CREATE TABLE probe (k INT, s INT); INSERT INTO probe VALUES (1, 100), (4, 100); \
         ALTER TABLE probe OWNER TO reader",
    );
    (database, owner)
}

const VIEWS: [&str; 5] = ["plain", "computed", "joined", "renamed", "outer_view"];

/// Queries that fail on rows that the views leave out, and their rows on those that they show.
const PROBES: [(&str, &[&str]); 14] = [
    (
        "SELECT k FROM v WHERE 1 / (salary - 100) < 9 ORDER BY k",
        &["1", "2", "4"],
    ),
    (
        "SELECT k FROM v WHERE CAST(note AS INT) > 1 ORDER BY k",
        &["2", "4"],
    ),
    (
        "SELECT k FROM v WHERE k > 0 AND note::int > 1 ORDER BY k",
        &["2", "4"],
    ),
    (
        "SELECT count(*), sum(k) FROM v WHERE note::int > 0",
        &["3|7"],
    ),
    ("SELECT max(note::int) FROM v", &["4"]),
    (
        "SELECT count(*) FILTER (WHERE note::int > 1) FROM v",
        &["2"],
    ),
    (
        "SELECT note::int % 2, count(*) FROM v GROUP BY 1 ORDER BY 1",
        &["0|2", "1|1"],
    ),
    (
        "SELECT v.k FROM v JOIN probe ON v.k = probe.k WHERE note::int > 1",
        &["4"],
    ),
    (
        "SELECT v.k FROM v JOIN probe ON note::int = probe.k ORDER BY 1",
        &["1", "4"],
    ),
    (
        "SELECT count(*) FROM v, probe WHERE v.k = probe.k AND 1 / (salary - s) = 0",
        &["2"],
    ),
    (
        "SELECT probe.k, v.k FROM probe LEFT JOIN v ON v.k = probe.k AND note::int > 1 ORDER BY 1",
        &["1|NULL", "4|4"],
    ),
    (
        "SELECT k FROM probe WHERE k IN (SELECT note::int FROM v) ORDER BY 1",
        &["1", "4"],
    ),
    (
        "SELECT k FROM (SELECT * FROM v LIMIT 10) AS l WHERE note::int = 4",
        &["4"],
    ),
    (
        "SELECT (SELECT max(k) FROM v WHERE 1 / (salary - s) = 0) FROM probe LIMIT 1",
        &["4"],
    ),
];

#[test]
fn conditions_that_fail_meet_only_what_a_view_shows() {
    let (database, _) = staffed();
    let reader = Sql::on(&database);
    reader.run("SET ROLE reader");
    for engine in ["auto", "bulk"] {
        reader.run(&format!("SET freestone.engine = '{engine}'"));
        for view in VIEWS {
            for (sql, expected) in PROBES {
                let sql = sql.replace("FROM v", &format!("FROM {view} AS v"));
                let sql = sql.replace("JOIN v", &format!("JOIN {view} AS v"));
                // The second time, its plan is known.
                for _ in 0..2 {
                    assert_eq!(reader.rows(&sql), expected, "{engine}: {sql}");
                }
            }
        }
    }
}

#[test]
fn a_view_of_one_s_own_shows_no_more() {
    let (database, owner) = staffed();
    owner.run("GRANT CREATE ON SCHEMA main TO reader");
    let reader = Sql::on(&database);
    reader.run("SET ROLE reader; CREATE VIEW probing AS SELECT k FROM plain WHERE note::int > 1");
    // Nor to somebody else who reads it.
    for sql in [&reader, &owner] {
        assert_eq!(sql.rows("SELECT * FROM probing ORDER BY k"), ["2", "4"]);
        assert_eq!(sql.rows("SELECT count(*) FROM probing"), ["2"]);
    }
}

#[test]
fn changes_by_rows_of_a_view_meet_only_those() {
    let (database, _) = staffed();
    let reader = Sql::on(&database);
    reader.run("SET ROLE reader");
    reader.run("UPDATE probe SET s = salary FROM plain AS v WHERE v.k = probe.k AND note::int > 1");
    assert_eq!(
        reader.rows("SELECT k, s FROM probe ORDER BY k"),
        ["1|100", "4|40"]
    );
    reader.run("INSERT INTO probe SELECT k, salary FROM computed WHERE note::int = 2");
    reader.run("DELETE FROM probe USING joined AS v WHERE v.k = probe.k AND note::int = 1");
    assert_eq!(
        reader.rows("SELECT k, s FROM probe ORDER BY k"),
        ["2|20", "4|40"]
    );
}

#[test]
fn conditions_that_storage_tests_still_reach_it() {
    let (database, owner) = staffed();
    let reader = Sql::on(&database);
    reader.run("SET ROLE reader");
    for view in VIEWS {
        let plan = reader.rows(&format!(
            "EXPLAIN SELECT note FROM {view} WHERE k = 3 AND salary > 7"
        ));
        let plan = plan.join("\n");
        let scan = plan.lines().find(|line| line.contains("staff")).unwrap();
        assert!(
            scan.contains("k = 3") && scan.contains("salary > 7"),
            "{view}: {plan}"
        );
    }
    // Nothing is left out, or nothing is hidden from the reader.
    let without = |sql: &Sql, query: &str| {
        let plan = sql.rows(&format!("EXPLAIN {query}")).join("\n");
        assert!(!plan.contains("Barrier"), "{plan}");
    };
    without(&reader, "SELECT k FROM whole WHERE 1 / (salary - 1) > 0");
    without(&owner, "SELECT k FROM plain WHERE 1 / (salary - 1) > 0");
}

//! Queries whose tables are read by keys.
//!
//! [`Sql::rows`] asks each query of both engines. The second one makes plans of operators, so
//! that every query here is also a comparison of rows by keys with rows by operators.

use crate::support::Sql;

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
const CONDITIONS: [&str; 20] = [
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

//! MERGE: one join, of which each row is of one clause.

use crate::support::Sql;

fn tables() -> Sql {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (id INT PRIMARY KEY, v INT, note TEXT DEFAULT 'new')");
    sql.run("INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c')");
    sql.run("CREATE TABLE s (id INT, w INT)");
    sql.run("INSERT INTO s VALUES (2, 200), (3, NULL), (4, 400), (5, 0)");
    sql
}

#[test]
fn a_source_is_computed_once() {
    let sql = tables();
    sql.run("CREATE SEQUENCE q");
    let tag = sql.run(
        "MERGE INTO t USING (SELECT nextval('q') AS n, id FROM s) AS s ON t.id = s.id
         WHEN MATCHED AND n > 100 THEN DELETE
         WHEN MATCHED THEN UPDATE SET v = n
         WHEN NOT MATCHED THEN INSERT (id, v) VALUES (id, n)",
    );
    assert_eq!(tag, "MERGE 4");
    assert_eq!(sql.one("SELECT nextval('q')"), "5");
    assert_eq!(
        sql.one("SELECT count(DISTINCT v) FROM t WHERE id > 1 AND v BETWEEN 1 AND 4"),
        "4"
    );
}

#[test]
fn clauses_see_the_relations_that_their_rows_have() {
    let sql = tables();
    // Names without a table are those of the source where there is no row of the target.
    sql.run(
        "MERGE INTO t USING s ON t.id = s.id
         WHEN NOT MATCHED AND id > 4 THEN DO NOTHING
         WHEN NOT MATCHED THEN INSERT (id, v) VALUES (id, w)",
    );
    assert_eq!(
        sql.rows_of_one_engine("SELECT * FROM t ORDER BY id"),
        ["1|10|a", "2|20|b", "3|30|c", "4|400|new"]
    );
    for (clause, state) in [
        ("WHEN NOT MATCHED THEN INSERT VALUES (t.id, w)", "42P01"),
        (
            "WHEN NOT MATCHED AND t.v > 1 THEN INSERT VALUES (s.id, w)",
            "42P01",
        ),
        ("WHEN NOT MATCHED THEN INSERT VALUES (v, w)", "42703"),
        ("WHEN MATCHED AND id > 1 THEN DELETE", "42702"),
        (
            "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = s.w",
            "42P01",
        ),
        ("WHEN MATCHED AND max(w) > 1 THEN DELETE", "42803"),
        ("WHEN MATCHED THEN UPDATE SET v = max(w)", "42803"),
        ("WHEN MATCHED THEN UPDATE SET v = 'x'", "22P02"),
        ("WHEN MATCHED THEN UPDATE SET v = true", "42804"),
    ] {
        let merge = format!("MERGE INTO t USING s ON t.id = s.id {clause}");
        assert_eq!(sql.state(&merge), state, "{clause}");
    }
}

#[test]
fn values_are_computed_for_rows_of_their_clause() {
    let sql = tables();
    let merge = "MERGE INTO t USING s ON t.id = s.id
         WHEN MATCHED AND w IS NULL THEN UPDATE SET note = 'none'
         WHEN MATCHED THEN UPDATE SET v = 1000 / w, note = note || '!'
         WHEN NOT MATCHED AND w > 0 THEN INSERT (id, v) VALUES (s.id, 1000 / w)
         WHEN NOT MATCHED THEN INSERT VALUES (s.id, '-1', 'zero')";
    assert_eq!(sql.run(merge), "MERGE 4");
    assert_eq!(
        sql.rows_of_one_engine("SELECT * FROM t ORDER BY id"),
        ["1|10|a", "2|5|b!", "3|30|none", "4|2|new", "5|-1|zero"]
    );
}

#[test]
fn rows_without_a_row_of_the_source_are_found_beside_all_others() {
    let sql = tables();
    let merge = |on: &str| {
        format!(
            "MERGE INTO t USING s ON {on}
             WHEN MATCHED THEN UPDATE SET v = coalesce(w, 0)
             WHEN NOT MATCHED BY SOURCE AND note = 'x' THEN DO NOTHING
             WHEN NOT MATCHED BY SOURCE THEN UPDATE SET note = 'gone'
             WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, w)"
        )
    };
    let rows = ["1|10|gone", "2|200|b", "3|0|c", "4|400|new", "5|0|new"];
    for on in [
        "t.id = s.id",
        "t.id <= s.id AND t.id >= s.id",
        "t.id = (SELECT s.id + 0)",
        "t.id = s.id AND t.id IN (SELECT id FROM s)",
    ] {
        sql.run("BEGIN");
        assert_eq!(sql.run(&merge(on)), "MERGE 5", "{on}");
        let found = sql.rows_of_one_engine("SELECT * FROM t ORDER BY id");
        assert_eq!(found, rows, "{on}");
        sql.run("ROLLBACK");
    }
    let tag = sql.run(
        "MERGE INTO t USING s ON t.id = s.id
         WHEN NOT MATCHED BY SOURCE THEN DELETE
         WHEN MATCHED THEN UPDATE SET v = 0",
    );
    assert_eq!(tag, "MERGE 3");
    let rows = sql.rows_of_one_engine("SELECT * FROM t ORDER BY id");
    assert_eq!(rows, ["2|0|b", "3|0|c"]);
}

#[test]
fn a_row_is_changed_once() {
    let sql = tables();
    sql.run("INSERT INTO s VALUES (2, 201)");
    let merge = "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED";
    assert_eq!(
        sql.state(&format!("{merge} THEN UPDATE SET v = w")),
        "21000"
    );
    assert_eq!(sql.state(&format!("{merge} THEN DELETE")), "21000");
    let some = format!("{merge} AND w = 201 THEN UPDATE SET v = w");
    assert_eq!(sql.run(&some), "MERGE 1");
    // Of a very large source, too, whose rows come in several parts.
    sql.run("CREATE TABLE large AS SELECT g % 100000 AS id FROM generate_series(1, 150000) g");
    sql.run("CREATE TABLE target AS SELECT g AS id, 0 AS v FROM generate_series(0, 100000) g");
    let merge = "MERGE INTO target AS t USING large AS s ON t.id = s.id
                 WHEN MATCHED THEN UPDATE SET v = v + 1";
    assert_eq!(sql.state(merge), "21000");
    assert_eq!(sql.one("SELECT sum(v) FROM target"), "0");
}

/// Rows are changed while others are being found: more of them than `memory_limit` has room for.
#[test]
fn more_rows_are_merged_than_fit_into_memory() {
    let sql = Sql::new();
    let rows = "SELECT g AS id, g % 100 AS n, repeat(md5(g::text), 8) AS t FROM generate_series";
    sql.run("CREATE TABLE m (id INT PRIMARY KEY, n INT, t TEXT)");
    sql.run(&format!("INSERT INTO m {rows}(1, 100000) g"));
    sql.run(&format!("CREATE TABLE s AS {rows}(50001, 150000) g"));
    sql.run("SET memory_limit = '24MB'");
    let merge = "MERGE INTO m USING s ON m.id = s.id
         WHEN MATCHED AND s.n < 10 THEN DELETE
         WHEN MATCHED THEN UPDATE SET n = -1, t = m.t || s.t
         WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.n, s.t)";
    assert_eq!(sql.run(merge), "MERGE 100000");
    let sums = "SELECT count(*), count(DISTINCT id), sum(n), sum(length(t)) FROM m";
    assert_eq!(
        sql.rows_of_one_engine(sums),
        ["145000|145000|4905000|48640000"]
    );
    // A key that comes twice is found at the end.
    sql.run("RESET memory_limit; INSERT INTO s SELECT * FROM s WHERE id > 149000");
    sql.run("SET memory_limit = '24MB'; DELETE FROM m WHERE id > 100000");
    assert_eq!(
        sql.state("MERGE INTO m USING s ON m.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.n, s.t)"),
        "23505"
    );
    assert_eq!(sql.one("SELECT count(*) FROM m"), "95000");
}

#[test]
fn more_rows_meet_others_than_fit_into_memory() {
    let sql = Sql::new();
    let rows = "SELECT g AS id, g % 100 AS n, repeat(md5(g::text), 8) AS t FROM generate_series";
    sql.run("CREATE TABLE m (id INT PRIMARY KEY, n INT, t TEXT)");
    sql.run(&format!("INSERT INTO m {rows}(1, 1000) g"));
    sql.run(&format!("CREATE TABLE s AS {rows}(501, 60500) g"));
    sql.run("SET memory_limit = '12MB'");
    let insert = "INSERT INTO m SELECT * FROM s ON CONFLICT (id)";
    let update =
        format!("{insert} DO UPDATE SET n = -1, t = m.t || excluded.t WHERE excluded.n >= 10");
    assert_eq!(sql.run(&update), "INSERT 0 59950");
    let sums = "SELECT count(*), count(DISTINCT id), sum(n), sum(length(t)) FROM m";
    assert_eq!(
        sql.rows_of_one_engine(sums),
        ["60500|60500|2969775|15603200"]
    );
    sql.run("DELETE FROM m WHERE id % 2 = 0");
    assert_eq!(sql.run(&format!("{insert} DO NOTHING")), "INSERT 0 30000");
    // Rows of one statement that have one key, far from each other.
    sql.run("RESET memory_limit; INSERT INTO s SELECT * FROM s WHERE id < 600");
    sql.run("DELETE FROM m WHERE id > 500");
    assert_eq!(sql.state(&format!("{insert} DO UPDATE SET n = 1")), "21000");
    assert_eq!(sql.run(&format!("{insert} DO NOTHING")), "INSERT 0 60000");
}

#[test]
fn conditions_on_row_ids_are_tested_of_rows() {
    let sql = tables();
    // All rows of a pair have an id, which is asked for where rows may lack one.
    for merge in [
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE",
        "MERGE INTO t USING s ON true WHEN MATCHED AND t.id = 1 AND s.id = 2 THEN DELETE",
        "MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE",
    ] {
        sql.run("BEGIN");
        assert!(sql.run(merge).starts_with("MERGE"), "{merge}");
        sql.run("ROLLBACK");
    }
    assert_eq!(
        sql.rows_of_one_engine("SELECT id FROM t WHERE ctid IS NOT NULL AND id > 1 ORDER BY id"),
        ["2", "3"]
    );
}

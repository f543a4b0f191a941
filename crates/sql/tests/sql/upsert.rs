//! ON CONFLICT, MERGE and RETURNING.

use crate::support::{LAYOUTS, Sql};

fn counters(sql: &Sql, options: &str) {
    sql.run(&format!(
        "CREATE TABLE c (k TEXT PRIMARY KEY, n INTEGER DEFAULT 1, tag TEXT UNIQUE){options}"
    ));
    sql.run("INSERT INTO c VALUES ('a', 1, 'x'), ('b', 2, 'y')");
}

#[test]
fn do_nothing_leaves_out_what_is_there() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        counters(&sql, &format!(" WITH (layout = '{layout}')"));
        sql.run("VACUUM c");
        assert_eq!(
            sql.run("INSERT INTO c VALUES ('a', 9, 'z'), ('d', 4, 'd') ON CONFLICT DO NOTHING"),
            "INSERT 0 1"
        );
        // Another key than the one that is named still collides.
        let insert = "INSERT INTO c VALUES ('e', 5, 'x') ON CONFLICT";
        assert_eq!(sql.state(&format!("{insert} (k) DO NOTHING")), "23505");
        assert_eq!(sql.run(&format!("{insert} (tag) DO NOTHING")), "INSERT 0 0");
        assert_eq!(
            sql.run(&format!("{insert} ON CONSTRAINT c_tag_key DO NOTHING")),
            "INSERT 0 0"
        );
        // Twice in one statement: the first stays. NULLs never collide.
        assert_eq!(
            sql.run(
                "INSERT INTO c (k, tag) VALUES ('f', NULL), ('f', NULL), ('g', NULL) \
                 ON CONFLICT DO NOTHING"
            ),
            "INSERT 0 2"
        );
        assert_eq!(
            sql.sorted("SELECT k, n FROM c"),
            ["a|1", "b|2", "d|4", "f|1", "g|1"]
        );
    }
}

#[test]
fn do_update_sees_both_rows() {
    let sql = Sql::new();
    counters(&sql, "");
    let upsert = "INSERT INTO c VALUES ('a', 10, 'p'), ('n', 7, 'q') ON CONFLICT (k) \
                  DO UPDATE SET n = c.n + excluded.n, tag = excluded.tag";
    assert_eq!(sql.run(upsert), "INSERT 0 2");
    assert_eq!(sql.sorted("SELECT * FROM c"), ["a|11|p", "b|2|y", "n|7|q"]);
    // The condition decides for each row; bare names are those of the row there.
    assert_eq!(
        sql.run(
            "INSERT INTO c AS t (k, n) SELECT k, n FROM c ON CONFLICT (k) \
             DO UPDATE SET n = t.n * 2 WHERE n < 10"
        ),
        "INSERT 0 2"
    );
    assert_eq!(sql.sorted("SELECT k, n FROM c"), ["a|11", "b|4", "n|14"]);
    assert_eq!(
        sql.rows(
            "INSERT INTO c (k) VALUES ('a'), ('z') ON CONFLICT (k) \
             DO UPDATE SET n = DEFAULT RETURNING k, n + 1 AS more"
        ),
        ["a|2", "z|2"]
    );
    for (clause, state) in [
        ("(n) DO NOTHING", "42P10"),
        ("(nope) DO NOTHING", "42703"),
        ("ON CONSTRAINT nope DO NOTHING", "42704"),
        ("DO UPDATE SET n = 1", "42601"),
        ("(k) DO UPDATE SET nope = 1", "42703"),
        ("(k) DO UPDATE SET n = nope.n", "42P01"),
        ("(k) DO UPDATE SET tag = 'y'", "23505"),
    ] {
        let statement = format!("INSERT INTO c VALUES ('a', 1, 'other') ON CONFLICT {clause}");
        assert_eq!(sql.state(&statement), state, "{clause}");
    }
    assert_eq!(
        sql.rows(
            "INSERT INTO c (k) VALUES ('z') ON CONFLICT (k)
             DO UPDATE SET n = (SELECT max(o.n) + c.n FROM c AS o WHERE o.k <> c.k) RETURNING n"
        ),
        ["15"]
    );
    assert_eq!(
        sql.state("INSERT INTO c VALUES ('a'), ('a') ON CONFLICT (k) DO UPDATE SET n = 5"),
        "21000"
    );
    assert_eq!(sql.one("SELECT n FROM c WHERE k = 'a'"), "1");
}

#[test]
fn upserts_in_a_transaction_see_its_rows() {
    let sql = Sql::new();
    counters(&sql, "");
    sql.run("BEGIN; INSERT INTO c VALUES ('t', 1, 't1'); UPDATE c SET n = 50 WHERE k = 'a'");
    let upsert = "INSERT INTO c (k, n) VALUES ('a', 1), ('t', 1) ON CONFLICT (k) \
                  DO UPDATE SET n = c.n + 1";
    assert_eq!(sql.run(upsert), "INSERT 0 2");
    assert_eq!(sql.sorted("SELECT k, n FROM c"), ["a|51", "b|2", "t|2"]);
    sql.run("COMMIT");
    assert_eq!(sql.sorted("SELECT k, n FROM c"), ["a|51", "b|2", "t|2"]);
}

#[test]
fn returning_gives_rows_as_they_are() {
    let sql = Sql::new();
    counters(&sql, "");
    assert_eq!(
        sql.rows("INSERT INTO c VALUES ('m', DEFAULT, 'M') RETURNING *"),
        ["m|1|M"]
    );
    assert_eq!(
        sql.names("INSERT INTO c (k) VALUES ('o') RETURNING k, n AS \"N\", upper(k), c.tag"),
        ["k", "N", "upper", "tag"]
    );
    let mut rows = sql.rows("UPDATE c AS u SET n = n * 10 WHERE n > 1 RETURNING u.k, u.n");
    rows.sort();
    assert_eq!(rows, ["b|20"]);
    assert_eq!(
        sql.rows("UPDATE c SET n = n + 1 WHERE k = 'a' RETURNING c.*"),
        ["a|2|x"]
    );
    assert_eq!(
        sql.rows("DELETE FROM c WHERE k = 'b' RETURNING n, tag"),
        ["20|y"]
    );
    let mut rows = sql.rows("DELETE FROM c WHERE n < 100 RETURNING k");
    rows.sort();
    assert_eq!(rows, ["a", "m", "o"]);
    assert!(sql.rows("DELETE FROM c RETURNING k").is_empty());
    assert_eq!(
        sql.state("INSERT INTO c (k) VALUES ('q') RETURNING nope"),
        "42703"
    );
    // What fails in the list takes back the statement.
    assert_eq!(
        sql.state("INSERT INTO c (k) VALUES ('q') RETURNING 1 / (n - 1)"),
        "22012"
    );
    assert_eq!(sql.one("SELECT count(*) FROM c"), "0");
}

#[test]
fn merge_does_each_row_once() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        sql.run(&format!(
            "CREATE TABLE stock (item TEXT PRIMARY KEY, n INTEGER) WITH (layout = '{layout}')"
        ));
        sql.run("INSERT INTO stock VALUES ('a', 10), ('b', 20), ('c', 30), ('d', 0); VACUUM");
        sql.run("CREATE TABLE moves (item TEXT, by INTEGER)");
        sql.run("INSERT INTO moves VALUES ('a', 5), ('b', -20), ('x', 7), ('y', -1)");
        assert_eq!(
            sql.run(
                "MERGE INTO stock s USING moves m ON s.item = m.item \
                 WHEN MATCHED AND s.n + m.by <= 0 THEN DELETE \
                 WHEN MATCHED THEN UPDATE SET n = s.n + m.by \
                 WHEN NOT MATCHED AND m.by > 0 THEN INSERT (item, n) VALUES (m.item, m.by) \
                 WHEN NOT MATCHED BY SOURCE AND s.n = 0 THEN DELETE"
            ),
            "MERGE 4"
        );
        assert_eq!(sql.sorted("SELECT * FROM stock"), ["a|15", "c|30", "x|7"]);
        sql.run("INSERT INTO moves VALUES ('a', 1)");
        assert_eq!(
            sql.state(
                "MERGE INTO stock USING moves ON stock.item = moves.item \
                 WHEN MATCHED THEN UPDATE SET n = 0"
            ),
            "21000"
        );
        assert_eq!(
            sql.run(
                "MERGE INTO stock USING (SELECT 'q' AS item) AS s ON stock.item = s.item \
                 WHEN NOT MATCHED THEN INSERT VALUES (s.item, DEFAULT)"
            ),
            "MERGE 1"
        );
        assert_eq!(sql.one("SELECT n FROM stock WHERE item = 'q'"), "NULL");
    }
}

#[test]
fn conflicts_are_inferred_from_expressions_and_conditions() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (id INT PRIMARY KEY, a TEXT, b INT, c INT); INSERT INTO t VALUES (1,'ABC',2,0)");
    sql.run(
        "CREATE UNIQUE INDEX lo ON t (lower(a)) WHERE b > 1; CREATE UNIQUE INDEX ON t (c, abs(b))",
    );
    let insert = "INSERT INTO t VALUES (8,'aBc',5,1) ON CONFLICT";
    for target in [
        "(lower(a)) WHERE b > 1",
        "(LOWER(t.a) text_ops) WHERE (b > 1)",
        "(lower(a) COLLATE \"C\") WHERE t.b > 1",
        "",
    ] {
        let statement = format!("{insert} {target} DO NOTHING");
        assert_eq!(sql.run(&statement), "INSERT 0 0", "{target}");
    }
    for (target, state) in [
        ("(lower(a))", "42P10"),
        ("(lower(a)) WHERE b > 2", "42P10"),
        ("(upper(a)) WHERE b > 1", "42P10"),
        ("(c)", "42P10"),
        ("(nosuch(a))", "42883"),
        ("(zz)", "42703"),
        ("ON CONSTRAINT lo", "42704"),
        // Another key than that is met.
        ("(id)", "23505"),
        ("(id) WHERE b > 7", "23505"),
        ("(abs(b), c)", "23505"),
    ] {
        assert_eq!(
            sql.state(&format!("{insert} {target} DO NOTHING")),
            state,
            "{target}"
        );
    }
    assert_eq!(
        sql.rows(&format!(
            "{insert} (lower(a)) WHERE b > 1 DO UPDATE SET c = excluded.c + 100, b = 1 \
             WHERE t.b > 0 RETURNING *"
        )),
        ["1|ABC|1|101"]
    );
    // The row is in the index no more.
    assert_eq!(sql.run(&format!("{insert} DO NOTHING")), "INSERT 0 1");
}

#[test]
fn queries_of_with_are_seen_by_do_update() {
    let sql = Sql::new();
    counters(&sql, "");
    let upsert = "WITH w AS (SELECT 'a' AS k, 40 AS n) INSERT INTO c VALUES ('a', 9) \
                  ON CONFLICT (k) DO UPDATE SET (n, tag) = (SELECT w.n + 2, 't' FROM w WHERE w.k = c.k) \
                  WHERE EXISTS (SELECT FROM w) RETURNING *";
    assert_eq!(sql.rows(upsert), ["a|42|t"]);
}

#[test]
fn a_select_of_constants_may_conflict() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (i INT PRIMARY KEY)");
    assert_eq!(
        sql.run("INSERT INTO t (i) SELECT 1 ON CONFLICT DO NOTHING"),
        "INSERT 0 1"
    );
    assert_eq!(
        sql.run("INSERT INTO t (i) SELECT 1 ON CONFLICT DO NOTHING"),
        "INSERT 0 0"
    );
    let update = "INSERT INTO t SELECT 1 ON CONFLICT (i) DO UPDATE SET i = excluded.i + 1";
    assert_eq!(sql.run(update), "INSERT 0 1");
    assert_eq!(sql.one("SELECT i FROM t"), "2");
}

#[test]
fn clauses_that_mean_nothing_count_before_values_and_rows() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (id INT PRIMARY KEY, v TEXT NOT NULL)");
    for (rest, state) in [
        ("(1, NULL) RETURNING string_agg(v, ',')", "42803"),
        ("(1, NULL) RETURNING nothing", "42703"),
        (
            "(1, NULL) ON CONFLICT (id) DO UPDATE SET v = excluded.nothing",
            "42703",
        ),
        (
            "(1, 'a') ON CONFLICT (id) DO UPDATE SET v = 'b' WHERE t.id + 1",
            "42804",
        ),
        (
            "(1, 'a') ON CONFLICT (id) DO UPDATE SET v = (SELECT nothing FROM t)",
            "42703",
        ),
        (
            "(1, 'a') ON CONFLICT (id) DO UPDATE SET v = (SELECT 'b' FROM (SELECT count(*) FROM t AS u \
             WHERE bit_xor(t.id) = t.id) AS z)",
            "42803",
        ),
        ("(1, NULL) ON CONFLICT (id) DO NOTHING RETURNING v", "23502"),
    ] {
        let statement = format!("INSERT INTO t VALUES {rest}");
        assert_eq!(sql.state(&statement), state, "{statement}");
    }
    assert_eq!(sql.one("SELECT count(*) FROM t"), "0");
}

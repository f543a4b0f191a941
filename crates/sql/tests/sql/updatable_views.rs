//! Changes of rows by views: what PostgreSQL answers.

use freestone::{Database, Error, Parameter};

use crate::support::{LAYOUTS, Sql, runtime};

const TABLES: &str = "
    CREATE TABLE t (id INT PRIMARY KEY, k INT, s VARCHAR(5), d NUMERIC(6,2) DEFAULT 1.5);
    INSERT INTO t (id, k, s) SELECT i, i % 3, 'r' || i FROM generate_series(1, 6) i;
    CREATE VIEW v AS SELECT id AS key, s AS name, k * 10 AS tens, d AS price, k FROM t
        WHERE k <> 2;
    CREATE VIEW vv AS SELECT upper(name) AS up, key, price + 1 AS pp, price, tens, name FROM v
        WHERE key < 100";

/// Runs a test with each engine.
fn with_both(test: impl Fn(&Sql)) {
    for engine in ["auto", "bulk"] {
        let sql = Sql::new();
        sql.run(&format!("SET freestone.engine = '{engine}'"));
        sql.run(TABLES);
        test(&sql);
    }
}

/// The rows that a statement returns, in the order of their text.
#[track_caller]
fn returned(sql: &Sql, statement: &str) -> Vec<String> {
    let mut rows = sql.rows_of_one_engine(statement);
    rows.sort();
    rows
}

/// An error as one line.
fn told(error: Error) -> String {
    let Error {
        sqlstate,
        message,
        detail,
        ..
    } = error;
    format!("{sqlstate} {message} | {}", detail.unwrap_or_default())
}

#[test]
fn columns_of_views_mean_those_of_the_table() {
    with_both(|sql| {
        let update = "UPDATE v SET name = name || tens WHERE tens > 0 RETURNING *";
        let rows = ["1|r110|10|1.50|1", "4|r410|10|1.50|1"];
        assert_eq!(returned(sql, update), rows);
        let update = "UPDATE vv SET name = 'q' || up WHERE key = 3 RETURNING key, up, pp, vv.*";
        let rows = ["3|QR3|2.50|QR3|3|2.50|1.50|0|qR3"];
        assert_eq!(returned(sql, update), rows);
        let update = "UPDATE vv AS x SET price = x.pp * 2 FROM (VALUES (1, 10), (3, 20)) w(a, b) \
                      WHERE x.key = w.a RETURNING x.key, x.price, w.b, x.pp";
        assert_eq!(returned(sql, update), ["1|5.00|10|6.00", "3|5.00|20|6.00"]);
        // A row that is out of sight is changed by nobody.
        assert_eq!(
            sql.run("UPDATE vv SET name = 'no' WHERE key = 2"),
            "UPDATE 0"
        );
        let delete = "DELETE FROM vv USING t WHERE t.id = vv.key AND t.k = 1 AND vv.pp > 3 \
                      RETURNING vv.key, t.id, vv.up";
        assert_eq!(returned(sql, delete), ["1|1|R110"]);
        let delete = "DELETE FROM vv WHERE up LIKE 'QR%' RETURNING key, pp";
        assert_eq!(returned(sql, delete), ["3|6.00"]);
        let rows = ["2|2|r2|1.50", "4|1|r410|1.50", "5|2|r5|1.50", "6|0|r6|1.50"];
        assert_eq!(sql.sorted("SELECT * FROM t"), rows);
        let update = "UPDATE v SET (name, price) = (SELECT 'sub', tens FROM v o WHERE o.key = v.key), \
                      k = (SELECT max(k) + 1 FROM v) WHERE key = 4 RETURNING *, (SELECT count(*) FROM t)";
        assert_eq!(returned(sql, update), ["4|sub|20|10.00|2|4"]);
    });
}

#[test]
fn rows_are_inserted_by_views() {
    with_both(|sql| {
        let insert = "INSERT INTO vv (key, name, price) VALUES (50, 'abc', 9.999) RETURNING *";
        assert_eq!(returned(sql, insert), ["ABC|50|11.00|10.00|NULL|abc"]);
        let insert = "INSERT INTO v (name, key) SELECT name || 'x', key + 20 FROM vv \
                      WHERE key < 4 RETURNING key, name, tens, price";
        assert_eq!(
            returned(sql, insert),
            ["21|r1x|NULL|1.50", "23|r3x|NULL|1.50"]
        );
        assert_eq!(
            sql.state("INSERT INTO v (key, name) VALUES (60, 'too long')"),
            "22001"
        );
        assert_eq!(
            sql.state("INSERT INTO v (key, name) VALUES (1, 'there')"),
            "23505"
        );
        assert_eq!(
            sql.state("INSERT INTO v (key, nothing) VALUES (1, 2)"),
            "42703"
        );
        sql.run("CREATE VIEW two AS SELECT s, id FROM t");
        assert_eq!(
            returned(sql, "INSERT INTO two VALUES ('p', 70) RETURNING *"),
            ["p|70"]
        );
        assert_eq!(
            returned(sql, "INSERT INTO two TABLE two LIMIT 0 RETURNING *").len(),
            0
        );
        assert_eq!(sql.state("INSERT INTO two SELECT 'p', 71, 3"), "42601");
        assert_eq!(sql.state("INSERT INTO two VALUES ('p')"), "23502");
        let rows = sql.one("SELECT k || '' IS NULL FROM t WHERE id = 70");
        assert_eq!(rows, "true");
    });
}

#[test]
fn conflicts_are_those_of_the_table() {
    with_both(|sql| {
        let upsert = "INSERT INTO v (key, name, k) VALUES (1, 'new', 4) ON CONFLICT (key) \
                      DO UPDATE SET name = left(excluded.name || v.name, 5), \
                      price = excluded.tens WHERE v.key = 1 RETURNING *";
        assert_eq!(returned(sql, upsert), ["1|newr1|10|40.00|1"]);
        let nothing = "INSERT INTO v (key, name) VALUES (1, 'a'), (8, 'b') ON CONFLICT DO NOTHING \
                       RETURNING key";
        assert_eq!(returned(sql, nothing), ["8"]);
        let upsert = "INSERT INTO v AS z (key, k) VALUES (1, 4) ON CONFLICT (key) \
                      DO UPDATE SET k = (SELECT max(id) FROM t) + z.k RETURNING z.*";
        assert_eq!(returned(sql, upsert), ["1|newr1|90|40.00|9"]);
        for (clause, state) in [
            ("(key) DO UPDATE SET tens = 3", "0A000"),
            ("(key) DO UPDATE SET nothing = 3", "42703"),
            ("(key) DO UPDATE SET name = excluded.nothing", "42703"),
            ("(tens) DO NOTHING", "42P10"),
            ("(nothing) DO NOTHING", "42703"),
            ("ON CONSTRAINT t_pkey DO NOTHING", "42704"),
        ] {
            let insert = format!("INSERT INTO v (key, k) VALUES (500, 4) ON CONFLICT {clause}");
            assert_eq!(sql.state(&insert), state, "{clause}");
        }
    });
}

#[test]
fn views_that_are_no_rows_of_one_table_are_refused() {
    let sql = Sql::new();
    sql.run(TABLES);
    sql.run("CREATE MATERIALIZED VIEW m AS SELECT * FROM t");
    for (query, why) in [
        ("SELECT DISTINCT k FROM t", "containing DISTINCT"),
        ("SELECT k FROM t GROUP BY k", "containing GROUP BY"),
        ("SELECT 1 AS a FROM t HAVING true", "containing HAVING"),
        (
            "SELECT k FROM t UNION SELECT 1",
            "containing UNION, INTERSECT, or EXCEPT",
        ),
        ("WITH q AS (SELECT 1) SELECT k FROM t", "containing WITH"),
        ("SELECT k FROM t LIMIT 1", "containing LIMIT or OFFSET"),
        ("SELECT k FROM t OFFSET 1", "containing LIMIT or OFFSET"),
        ("SELECT max(k) FROM t", "that return aggregate functions"),
        (
            "SELECT k, rank() OVER () FROM t",
            "that return window functions",
        ),
        (
            "SELECT k, generate_series(1, 2) AS g FROM t",
            "that return set-returning functions",
        ),
        (
            "SELECT t.k FROM t, t AS x",
            "that do not select from a single table or view",
        ),
        (
            "SELECT t.k FROM t JOIN t AS x USING (id)",
            "that do not select from a single table or view",
        ),
        (
            "SELECT k FROM (SELECT k FROM t) AS x",
            "that do not select from a single table or view",
        ),
        (
            "SELECT k FROM m",
            "that do not select from a single table or view",
        ),
        (
            "VALUES (1)",
            "that do not select from a single table or view",
        ),
        (
            "SELECT 1 AS a",
            "that do not select from a single table or view",
        ),
        (
            "SELECT k FROM t TABLESAMPLE SYSTEM (10)",
            "containing TABLESAMPLE",
        ),
    ] {
        sql.run(&format!("CREATE OR REPLACE VIEW w AS {query}"));
        let detail = format!("Views {why} are not automatically updatable.");
        let column = &sql.names("SELECT * FROM w")[0];
        for (statement, does) in [
            ("DELETE FROM w".to_owned(), "delete from"),
            (format!("UPDATE w SET \"{column}\" = 1"), "update"),
            ("INSERT INTO w VALUES (1)".to_owned(), "insert into"),
        ] {
            let error = format!("55000 cannot {does} view \"w\" | {detail}");
            assert_eq!(told(sql.error(&statement)), error, "{query}");
        }
        // The view that is at fault is named.
        sql.run(&format!(
            "CREATE VIEW over AS SELECT \"{column}\" AS c FROM w"
        ));
        let error = format!("55000 cannot delete from view \"w\" | {detail}");
        assert_eq!(told(sql.error("DELETE FROM over")), error, "{query}");
        let check = format!("CREATE VIEW x AS {query} WITH CHECK OPTION");
        assert_eq!(sql.state(&check), "0A000");
        sql.run("DROP VIEW over, w");
    }
    let hint = sql.error("UPDATE w2 SET a = 1").sqlstate;
    assert_eq!(hint, "42P01");
    sql.run("CREATE VIEW g AS SELECT k, count(*) FROM t GROUP BY k");
    assert_eq!(
        sql.error("UPDATE g SET k = 1").hint.unwrap(),
        "To enable updating the view, provide an INSTEAD OF UPDATE trigger or an unconditional ON \
         UPDATE DO INSTEAD rule."
    );
    sql.run("CREATE FUNCTION many() RETURNS SETOF INT LANGUAGE sql AS 'SELECT 1'");
    sql.run("CREATE VIEW f AS SELECT many() AS a, k FROM t");
    assert_eq!(sql.state("DELETE FROM f"), "55000");
    // Aggregates inside of sub-queries give one value for each row.
    sql.run("CREATE VIEW q AS SELECT id, (SELECT max(k) FROM t) AS most FROM t ORDER BY id DESC");
    assert_eq!(
        sql.run("DELETE FROM q WHERE most = 2 AND id < 3"),
        "DELETE 2"
    );
}

#[test]
fn columns_that_are_computed_stay_as_they_are() {
    let sql = Sql::new();
    sql.run(TABLES);
    let computed = "View columns that are not columns of their base relation are not updatable.";
    for (statement, message) in [
        (
            "UPDATE v SET tens = 3",
            "0A000 cannot update column \"tens\" of view \"v\"",
        ),
        (
            "UPDATE vv SET up = 'a'",
            "0A000 cannot update column \"up\" of view \"vv\"",
        ),
        (
            "UPDATE vv SET tens = 3",
            "0A000 cannot update column \"tens\" of view \"v\"",
        ),
        (
            "INSERT INTO v (key, tens) VALUES (7, 3)",
            "0A000 cannot insert into column \"tens\" of view \"v\"",
        ),
        (
            "INSERT INTO v VALUES (7, 'a', DEFAULT)",
            "0A000 cannot insert into column \"tens\" of view \"v\"",
        ),
    ] {
        assert_eq!(
            told(sql.error(statement)),
            format!("{message} | {computed}")
        );
    }
    sql.run(
        "CREATE VIEW row AS SELECT t, id FROM t; CREATE VIEW twice AS SELECT id, id AS i FROM t",
    );
    assert_eq!(
        told(sql.error("UPDATE row SET t = NULL")),
        "0A000 cannot update column \"t\" of view \"row\" | View columns that return whole-row \
         references are not updatable."
    );
    for twice in [
        "UPDATE twice SET id = 8, i = 9",
        "INSERT INTO twice VALUES (8, 9)",
    ] {
        let message = "42601 multiple assignments to same column \"id\" | ";
        assert_eq!(told(sql.error(twice)), message);
    }
    sql.run("CREATE VIEW none AS SELECT k + 1 AS a FROM t");
    assert_eq!(
        told(sql.error("INSERT INTO none DEFAULT VALUES")),
        "55000 cannot insert into view \"none\" | Views that have no updatable columns are not \
         automatically updatable."
    );
    assert_eq!(sql.run("DELETE FROM none WHERE a = 1"), "DELETE 2");
    for (item, state) in [
        ("max(key)", "42803"),
        ("rank() OVER ()", "42P20"),
        ("generate_series(1, 2)", "0A000"),
    ] {
        let delete = format!("DELETE FROM v RETURNING {item}");
        assert_eq!(sql.state(&delete), state, "{item}");
        let delete = format!("DELETE FROM t RETURNING {item}, (SELECT 1)");
        assert_eq!(sql.state(&delete), state, "{item}");
        let update = format!("UPDATE v SET k = {item}");
        assert_eq!(sql.state(&update), state, "{item}");
    }
}

#[test]
fn other_statements_do_not_take_views() {
    let sql = Sql::new();
    sql.run(TABLES);
    let merge = "MERGE INTO v USING (VALUES (1)) s(x) ON v.key = s.x WHEN MATCHED THEN DELETE";
    assert_eq!(
        told(sql.error(merge)),
        "0A000 cannot execute MERGE on relation \"v\" | This operation is not supported for views."
    );
    let prepared = sql.session.prepare(merge).unwrap();
    assert_eq!(sql.told(&prepared).unwrap_err().sqlstate, "0A000");
    assert_eq!(
        told(sql.error("TRUNCATE v")),
        "42809 \"v\" is not a table | "
    );
    let copy = sql.error("COPY v FROM '/nowhere.csv'");
    assert_eq!(
        copy.hint.clone().unwrap(),
        "To enable copying to a view, provide an INSTEAD OF INSERT trigger."
    );
    assert_eq!(told(copy), "42809 cannot copy to view \"v\" | ");
}

#[test]
fn new_rows_meet_the_check_options() {
    with_both(|sql| {
        sql.run(
            "CREATE VIEW l AS SELECT * FROM t WHERE id > 10 WITH LOCAL CHECK OPTION;
             CREATE VIEW l2 AS SELECT * FROM l WHERE id < 1000 WITH LOCAL CHECK OPTION;
             CREATE VIEW l3 AS SELECT * FROM l2 WHERE k > 0 WITH CASCADED CHECK OPTION;
             CREATE VIEW n1 AS SELECT * FROM t WHERE id > 10;
             CREATE VIEW n2 WITH (check_option = local) AS SELECT * FROM n1 WHERE id < 1000;
             CREATE VIEW n3 AS SELECT * FROM n1 WITH CHECK OPTION;
             CREATE VIEW n4 AS SELECT * FROM n3 WHERE id < 1000",
        );
        for (statement, view, row) in [
            ("INSERT INTO l2 (id) VALUES (9)", "l", "9, null, null, 1.50"),
            (
                "INSERT INTO l2 (id) VALUES (5000)",
                "l2",
                "5000, null, null, 1.50",
            ),
            (
                "INSERT INTO l3 (id) VALUES (501)",
                "l3",
                "501, null, null, 1.50",
            ),
            (
                "INSERT INTO l3 (id, k) SELECT i, 501 - i FROM generate_series(500, 502) i",
                "l3",
                "501, 0, null, 1.50",
            ),
            (
                "INSERT INTO n2 (id) VALUES (5000)",
                "n2",
                "5000, null, null, 1.50",
            ),
            (
                "INSERT INTO n3 (id) VALUES (9)",
                "n1",
                "9, null, null, 1.50",
            ),
            (
                "INSERT INTO n4 (id) VALUES (9)",
                "n1",
                "9, null, null, 1.50",
            ),
        ] {
            let error = format!(
                "44000 new row violates check option for view \"{view}\" | Failing row contains \
                 ({row})."
            );
            assert_eq!(told(sql.error(statement)), error, "{statement}");
        }
        assert_eq!(sql.run("INSERT INTO n2 (id) VALUES (9)"), "INSERT 0 1");
        assert_eq!(sql.run("INSERT INTO n4 (id) VALUES (5000)"), "INSERT 0 1");
        assert_eq!(
            sql.run("INSERT INTO l3 (id, k) VALUES (501, 3)"),
            "INSERT 0 1"
        );
        for change in [
            "UPDATE l3 SET k = -1",
            "UPDATE l3 SET id = 10 WHERE id = 501",
            "INSERT INTO l3 (id, k) VALUES (501, 1) ON CONFLICT (id) DO UPDATE SET k = -5",
        ] {
            assert_eq!(sql.state(change), "44000", "{change}");
        }
        // Keys of the table come before what views ask for.
        sql.run("CREATE TABLE f (id INT PRIMARY KEY REFERENCES t, x INT)");
        sql.run("CREATE VIEW fv AS SELECT * FROM f WHERE x < 10 WITH CHECK OPTION");
        assert_eq!(sql.run("INSERT INTO fv VALUES (1, 1)"), "INSERT 0 1");
        assert_eq!(sql.state("INSERT INTO fv VALUES (1, 50)"), "23505");
        assert_eq!(sql.state("INSERT INTO fv VALUES (3, 50)"), "44000");
        assert_eq!(sql.state("INSERT INTO fv VALUES (700, 5)"), "23503");
        // Nothing of a statement that failed is there.
        assert_eq!(sql.one("SELECT count(*) FROM t"), "9");
        assert_eq!(sql.run("UPDATE l3 SET k = 8 WHERE id = 501"), "UPDATE 1");
        sql.run("ALTER VIEW l3 RESET (check_option)");
        assert_eq!(sql.run("UPDATE l3 SET k = -1"), "UPDATE 1");
        sql.run("ALTER VIEW l3 SET (check_option = local)");
        assert_eq!(sql.state("INSERT INTO l3 (id, k) VALUES (502, 0)"), "44000");
        sql.run("CREATE OR REPLACE VIEW l3 AS SELECT * FROM l2 WHERE k > 0");
        assert_eq!(
            sql.run("INSERT INTO l3 (id, k) VALUES (502, 0)"),
            "INSERT 0 1"
        );
    });
}

#[test]
fn many_rows_are_changed_at_once() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        sql.run(&format!(
            "CREATE TABLE big (a INT, b INT, c TEXT) WITH (layout = '{layout}');
             INSERT INTO big SELECT i, i % 10, 'x' FROM generate_series(1, 20000) i;
             CREATE VIEW bv AS SELECT c AS label, a * 2 AS double, b FROM big WHERE b < 5;
             CREATE VIEW bc AS SELECT * FROM big WHERE b < 5 WITH CHECK OPTION"
        ));
        assert_eq!(
            sql.run("UPDATE bv SET b = b + 1, label = label || b"),
            "UPDATE 10000"
        );
        assert_eq!(
            sql.rows(
                "SELECT b, c, count(*), sum(a) > 0 FROM big WHERE b < 6 GROUP BY b, c ORDER BY 1, 2"
            ),
            [
                "1|x0|2000|true",
                "2|x1|2000|true",
                "3|x2|2000|true",
                "4|x3|2000|true",
                "5|x|2000|true",
                "5|x4|2000|true"
            ]
        );
        assert_eq!(sql.state("UPDATE bc SET b = b + 1"), "44000");
        assert_eq!(
            sql.state("INSERT INTO bc SELECT i, 5, 'y' FROM generate_series(1, 20000) i"),
            "44000"
        );
        assert_eq!(sql.one("SELECT count(*) FROM big WHERE c = 'y'"), "0");
        assert_eq!(
            sql.run("DELETE FROM bv WHERE double > 20000"),
            "DELETE 4000"
        );
        assert_eq!(sql.one("SELECT count(*) FROM big"), "16000");
    }
}

#[test]
fn numbers_and_computed_columns_of_the_table_stay_its_own() {
    with_both(|sql| {
        sql.run(
            "CREATE TABLE b (a INT, b INT GENERATED ALWAYS AS (a + 1) STORED, \
             c INT GENERATED ALWAYS AS IDENTITY, e INT GENERATED BY DEFAULT AS IDENTITY);
             CREATE VIEW bv AS SELECT e, c, b, a, a AS a2 FROM b",
        );
        let insert = "INSERT INTO bv (a) VALUES (1) RETURNING *";
        assert_eq!(returned(sql, insert), ["1|1|2|1|1"]);
        assert_eq!(sql.state("INSERT INTO bv (a, c) VALUES (1, 2)"), "428C9");
        assert_eq!(sql.state("INSERT INTO bv (a, b) VALUES (1, 2)"), "428C9");
        assert_eq!(sql.state("UPDATE bv SET b = 3"), "428C9");
        assert_eq!(sql.state("UPDATE bv SET c = 3"), "428C9");
        // DEFAULT is that of the view's column: there is none.
        assert_eq!(sql.state("UPDATE bv SET b = DEFAULT"), "428C9");
        assert_eq!(
            returned(
                sql,
                "UPDATE v SET price = DEFAULT WHERE key = 1 RETURNING price"
            ),
            ["NULL"]
        );
        let insert = "INSERT INTO bv (a, c) OVERRIDING SYSTEM VALUE VALUES (1, 20) RETURNING *";
        assert_eq!(returned(sql, insert), ["2|20|2|1|1"]);
        let insert = "INSERT INTO bv (e, c, b, a) VALUES (DEFAULT, DEFAULT, DEFAULT, 5), \
                      (9, DEFAULT, DEFAULT, 6) RETURNING *";
        assert_eq!(returned(sql, insert), ["3|2|6|5|5", "9|3|7|6|6"]);
    });
}

#[test]
fn views_have_defaults_of_their_own() {
    with_both(|sql| {
        sql.run("ALTER VIEW v ALTER COLUMN name SET DEFAULT 'view'; ALTER VIEW v ALTER price SET DEFAULT 7");
        let insert = "INSERT INTO v (key) VALUES (20), (21) RETURNING key, name, price";
        assert_eq!(returned(sql, insert), ["20|view|7.00", "21|view|7.00"]);
        let insert = "INSERT INTO v (key, name, price) VALUES (22, 'x', DEFAULT), (23, DEFAULT, 1) \
                      RETURNING key, name, price";
        assert_eq!(returned(sql, insert), ["22|x|7.00", "23|view|1.00"]);
        let insert = "INSERT INTO vv (key) SELECT 24 RETURNING key, name, price";
        assert_eq!(returned(sql, insert), ["24|view|7.00"]);
        let update =
            "UPDATE v SET name = DEFAULT, price = DEFAULT WHERE key = 1 RETURNING name, price";
        assert_eq!(returned(sql, update), ["view|7.00"]);
        assert_eq!(sql.run("INSERT INTO t (id) VALUES (30)"), "INSERT 0 1");
        assert_eq!(sql.one("SELECT s IS NULL FROM t WHERE id = 30"), "true");
        let default = "SELECT column_default FROM information_schema.columns \
                       WHERE table_name = 'v' AND column_name = 'price'";
        assert_eq!(sql.one(default), "7");
        sql.run(
            "ALTER VIEW v ALTER COLUMN price DROP DEFAULT; ALTER VIEW v RENAME COLUMN name TO n",
        );
        let insert = "INSERT INTO v (key) VALUES (25) RETURNING n, price";
        assert_eq!(returned(sql, insert), ["view|1.50"]);
        assert_eq!(
            sql.state("ALTER VIEW v ALTER COLUMN price SET DEFAULT true"),
            "42804"
        );
        assert_eq!(
            sql.state("ALTER VIEW v ALTER COLUMN nothing SET DEFAULT 1"),
            "42703"
        );
        // A default of a column that is computed has no place to go to.
        sql.run("ALTER VIEW v ALTER COLUMN tens SET DEFAULT 5");
        assert_eq!(sql.state("INSERT INTO v (key) VALUES (26)"), "0A000");
    });
}

#[test]
fn views_follow_their_tables() {
    with_both(|sql| {
        sql.run("ALTER TABLE t ADD COLUMN extra TEXT DEFAULT 'more'");
        assert_eq!(
            returned(sql, "UPDATE v SET price = 0 WHERE key = 1 RETURNING *"),
            ["1|r1|10|0.00|1"]
        );
        assert_eq!(sql.one("SELECT extra FROM t WHERE id = 1"), "more");
        sql.run("ALTER TABLE t RENAME COLUMN s TO label; ALTER TABLE t RENAME TO t2");
        let update = "UPDATE vv SET name = 'ren' WHERE key = 1 RETURNING up, name";
        assert_eq!(returned(sql, update), ["REN|ren"]);
        sql.run("CREATE VIEW al (x, y) AS SELECT i, j FROM t2 AS q (i, j)");
        let insert = "INSERT INTO al VALUES (40, 7) RETURNING *";
        assert_eq!(returned(sql, insert), ["40|7"]);
        sql.run("ALTER VIEW al RENAME COLUMN y TO z; ALTER VIEW al RENAME TO al2");
        let update = "UPDATE al2 SET z = z + 1 WHERE x = 40 RETURNING *";
        assert_eq!(returned(sql, update), ["40|8"]);
        assert_eq!(
            returned(sql, "DELETE FROM al2 WHERE x = 40 RETURNING al2"),
            ["{x: 40, z: 8}"]
        );
    });
}

#[test]
fn partitions_take_rows_by_views() {
    with_both(|sql| {
        sql.run(
            "CREATE TABLE pt (a INT, b TEXT, c INT DEFAULT 3) PARTITION BY RANGE (a);
             CREATE TABLE pt1 PARTITION OF pt FOR VALUES FROM (0) TO (10);
             CREATE TABLE pt2 PARTITION OF pt FOR VALUES FROM (10) TO (20);
             CREATE VIEW pv AS SELECT b, a, a * c AS ac FROM pt WHERE a <> 5;
             CREATE VIEW pc AS SELECT * FROM pv WHERE a < 15 WITH CHECK OPTION",
        );
        let insert = "INSERT INTO pv (a, b) VALUES (1, 'x'), (11, 'y'), (5, 'hidden') RETURNING *";
        assert_eq!(returned(sql, insert), ["hidden|5|15", "x|1|3", "y|11|33"]);
        assert_eq!(
            returned(sql, "UPDATE pv SET a = a + 11 WHERE a = 1 RETURNING *"),
            ["x|12|36"]
        );
        assert_eq!(sql.state("UPDATE pv SET a = 100 WHERE a = 11"), "23514");
        assert_eq!(
            returned(sql, "DELETE FROM pv WHERE ac = 33 RETURNING *"),
            ["y|11|33"]
        );
        assert_eq!(sql.state("UPDATE pc SET a = a + 3"), "44000");
        assert_eq!(sql.run("UPDATE pc SET a = a + 2"), "UPDATE 1");
        assert_eq!(
            sql.sorted("SELECT tableoid::regclass, * FROM pt"),
            ["pt1|5|hidden|3", "pt2|14|x|3"]
        );
    });
}

#[test]
fn statements_in_with_change_views() {
    with_both(|sql| {
        let changes = "WITH c AS (UPDATE v SET name = 'cte' WHERE key = 1 RETURNING key, name), \
                       e AS (INSERT INTO v (key, name) VALUES (77, 'w') RETURNING *) \
                       SELECT c.*, e.key FROM c, e";
        assert_eq!(returned(sql, changes), ["1|cte|77"]);
        let delete =
            "WITH c AS (SELECT 1 AS x) DELETE FROM v USING c WHERE v.key = c.x RETURNING v.*";
        assert_eq!(returned(sql, delete), ["1|cte|10|1.50|1"]);
        let query = "EXPLAIN UPDATE v SET name = 'x' WHERE tens = 10";
        assert_eq!(sql.rows_of_one_engine(query)[0], "Update on t");
    });
}

#[test]
fn prepared_statements_change_views() {
    let sql = Sql::new();
    let runtime = runtime();
    sql.run(TABLES);
    let update = "UPDATE vv SET price = $1, name = $2 WHERE key = $3 RETURNING up, price";
    let update = sql.session.prepare(update).unwrap();
    let described = sql.told(&update).unwrap();
    let types: Vec<String> = described
        .parameters
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(types, ["Decimal128(6, 2)", "Utf8View", "Int32"]);
    let columns = described.columns.unwrap();
    assert_eq!(columns.field(0).name(), "up");
    let given: Vec<Parameter> = vec!["2.5".into(), "pre".into(), 3.into()];
    runtime.block_on(update.run(&sql.session, &given)).unwrap();
    assert_eq!(sql.one("SELECT s || d FROM t WHERE id = 3"), "pre2.50");
    let insert = sql
        .session
        .prepare("INSERT INTO v (key, k) VALUES ($1, $2)")
        .unwrap();
    assert_eq!(sql.told(&insert).unwrap().parameters.len(), 2);
    let given: Vec<Parameter> = vec![90.into(), 4.into()];
    runtime.block_on(insert.run(&sql.session, &given)).unwrap();
    sql.run("PREPARE d AS DELETE FROM v WHERE tens = $1 RETURNING key");
    assert_eq!(returned(&sql, "EXECUTE d (40)"), ["90"]);
}

#[test]
fn owners_of_views_change_the_tables() {
    let database = Database::in_memory();
    let owner = Sql::on(&database);
    owner.run(
        "CREATE ROLE ann; CREATE ROLE own;
         CREATE TABLE b (a INT PRIMARY KEY, b TEXT); INSERT INTO b VALUES (1, 'x'), (2, 'y');
         CREATE VIEW v AS SELECT a, b FROM b WHERE a > 0;
         CREATE VIEW w WITH (security_invoker) AS SELECT a, b FROM b;
         CREATE VIEW vw AS SELECT * FROM v;
         ALTER VIEW v OWNER TO own;
         GRANT SELECT, INSERT, UPDATE, DELETE ON v, w, vw TO ann",
    );
    let ann = Sql::on(&database);
    ann.run("SET ROLE ann");
    let denied = |statement: &str, what: &str| {
        let error = ann.error(statement);
        let message = format!("permission denied for {what}");
        assert_eq!(
            (error.sqlstate.as_str(), error.message),
            ("42501", message),
            "{statement}"
        );
    };
    for statement in [
        "UPDATE v SET b = 'u'",
        "INSERT INTO v VALUES (3, 'z')",
        "DELETE FROM v",
    ] {
        denied(statement, "table b");
    }
    owner.run("GRANT SELECT, UPDATE ON b TO own");
    assert_eq!(
        returned(&ann, "UPDATE v SET b = 'u' WHERE a = 1 RETURNING *"),
        ["1|u"]
    );
    assert_eq!(
        returned(&ann, "UPDATE vw SET b = 'uu' WHERE a = 2 RETURNING *"),
        ["2|uu"]
    );
    denied("DELETE FROM v", "table b");
    denied("INSERT INTO w VALUES (3, 'z')", "table b");
    denied("SELECT * FROM w", "table b");
    // The rights of the view's owner end at the view.
    denied("UPDATE v SET b = (SELECT max(b) FROM b)", "table b");
    denied("UPDATE v SET b = 'q' FROM b WHERE b.a = v.a", "table b");
    denied("DELETE FROM v USING b WHERE b.a = v.a", "table b");
    owner.run("REVOKE SELECT ON b FROM own");
    assert_eq!(ann.run("UPDATE v SET b = 'all'"), "UPDATE 2");
    denied("UPDATE v SET b = 'u' WHERE a = 1", "table b");
    owner.run("GRANT SELECT, INSERT, UPDATE ON b TO ann");
    assert_eq!(
        returned(&ann, "INSERT INTO w VALUES (9, 'inv') RETURNING *"),
        ["9|inv"]
    );
    denied("DELETE FROM w", "table b");
    owner.run("REVOKE UPDATE ON v FROM ann");
    denied("UPDATE v SET b = 'u'", "view v");
}

#[test]
fn columns_that_a_view_leaves_out_have_no_name() {
    let database = Database::in_memory();
    let owner = Sql::on(&database);
    owner.run(
        "CREATE ROLE ann; CREATE TABLE paid (k INT PRIMARY KEY, v TEXT);
         INSERT INTO paid VALUES (1, 'hidden');
         CREATE VIEW p AS SELECT k FROM paid; GRANT ALL ON p TO ann",
    );
    let ann = Sql::on(&database);
    ann.run("SET ROLE ann");
    let plan = ann.rows_of_one_engine("EXPLAIN VERBOSE UPDATE p SET k = 2 WHERE k < 5");
    for name in [
        "\u{1}of table v",
        "\u{1}of table 0 v",
        "\u{1}through 0 1",
        "\u{1}through 0 0 1",
        "v",
    ] {
        for statement in [
            format!("UPDATE p SET k = 3 RETURNING \"{name}\""),
            format!("UPDATE p SET k = length(\"{name}\")"),
            format!("UPDATE p SET k = (SELECT count(*) FROM \"{name}\")"),
            format!("WITH q AS (SELECT * FROM \"{name}\") DELETE FROM p USING q"),
        ] {
            let state = ann.state(&statement);
            assert!(
                ["42703", "42P01"].contains(&state.as_str()),
                "{statement} {state}"
            );
        }
    }
    // A later statement cannot use the marked names that EXPLAIN shows.
    for line in plan.iter().filter(|line| line.contains('\u{1}')) {
        let name = line.split('\u{1}').nth(1).unwrap_or_default();
        let name = name.split([':', '@', ',', '"']).next().unwrap_or_default();
        let statement = format!("UPDATE p SET k = 3 RETURNING \"\u{1}{name}\"");
        assert_eq!(ann.state(&statement), "42703", "{statement}");
    }
    assert_eq!(owner.rows("SELECT * FROM paid"), ["1|hidden"]);
}

#[test]
fn rows_of_the_table_are_told_to_its_readers() {
    let database = Database::in_memory();
    let owner = Sql::on(&database);
    owner.run(
        "CREATE ROLE ann; CREATE TABLE paid (k INT PRIMARY KEY, v TEXT, n INT CHECK (n > 0));
         INSERT INTO paid VALUES (1, 'hidden', 1);
         CREATE VIEW p AS SELECT k, n FROM paid WHERE n < 10 WITH CHECK OPTION;
         CREATE VIEW pp AS SELECT n AS m FROM p; GRANT ALL ON p, pp TO ann",
    );
    let ann = Sql::on(&database);
    ann.run("SET ROLE ann");
    let ways = [
        ("UPDATE p SET n = 20", "44000"),
        ("UPDATE pp SET m = 20", "44000"),
        ("UPDATE pp SET m = -1", "23514"),
        ("UPDATE p SET k = 1, n = 30", "44000"),
    ];
    for (statement, state) in ways {
        let error = ann.error(statement);
        assert_eq!(
            (error.sqlstate.as_str(), error.detail),
            (state, None),
            "{statement}"
        );
        assert!(owner.error(statement).detail.unwrap().contains("hidden"));
    }
    owner.run("GRANT SELECT ON paid TO ann");
    for (statement, _) in ways {
        assert!(ann.error(statement).detail.unwrap().contains("hidden"));
    }
}

#[test]
fn the_catalog_tells_how_views_can_be_changed() {
    let sql = Sql::new();
    sql.run(TABLES);
    sql.run(
        "CREATE VIEW none AS SELECT k + 1 AS a FROM t; CREATE VIEW g AS SELECT k FROM t GROUP BY k;
         CREATE VIEW vg AS SELECT k FROM g;
         CREATE VIEW ck WITH (security_barrier = on) AS SELECT id FROM t WHERE id > 0
             WITH LOCAL CHECK OPTION",
    );
    assert_eq!(
        sql.rows(
            "SELECT table_name, is_updatable, is_insertable_into, check_option \
             FROM information_schema.views WHERE table_schema = 'public' ORDER BY 1"
        ),
        [
            "ck|YES|YES|LOCAL",
            "g|NO|NO|NONE",
            "none|NO|NO|NONE",
            "v|YES|YES|NONE",
            "vg|NO|NO|NONE",
            "vv|YES|YES|NONE"
        ]
    );
    assert_eq!(
        sql.rows(
            "SELECT column_name, is_updatable FROM information_schema.columns \
             WHERE table_name = 'vv' ORDER BY ordinal_position"
        ),
        [
            "up|NO",
            "key|YES",
            "pp|NO",
            "price|YES",
            "tens|NO",
            "name|YES"
        ]
    );
    assert_eq!(
        sql.rows(
            "SELECT relname, pg_relation_is_updatable(oid, false), \
             pg_column_is_updatable(oid::regclass, 1::int2, false), reloptions \
             FROM pg_class WHERE relname IN ('t', 'v', 'vv', 'none', 'g', 'vg', 'ck') ORDER BY 1"
        ),
        [
            "ck|28|true|{security_barrier=on,check_option=local}",
            "g|0|false|NULL",
            "none|16|false|NULL",
            "t|28|true|NULL",
            "v|28|true|NULL",
            "vg|0|false|NULL",
            "vv|28|false|NULL"
        ]
    );
    assert_eq!(
        sql.rows(
            "SELECT table_name, is_insertable_into FROM information_schema.tables \
             WHERE table_schema = 'public' AND table_name IN ('t', 'v', 'g') ORDER BY 1"
        ),
        ["g|NO", "t|YES", "v|YES"]
    );
    let text = sql.one("SELECT pg_get_viewdef('ck', true)");
    assert_eq!(text, " SELECT t.id\n   FROM t\n  WHERE t.id > 0;");
}

#[test]
fn options_are_checked_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    {
        let sql = Sql::on(&Database::open(&path).unwrap());
        sql.run(TABLES);
        for (options, state) in [
            ("check_option = foo", "22023"),
            ("security_barrier = maybe", "22023"),
            ("nothing = 1", "22023"),
            ("check_option = local, check_option = local", "22023"),
        ] {
            let create = format!("CREATE VIEW x WITH ({options}) AS SELECT id FROM t");
            assert_eq!(sql.state(&create), state, "{options}");
        }
        let both =
            "CREATE VIEW x WITH (check_option = local) AS SELECT id FROM t WITH CHECK OPTION";
        assert_eq!(sql.state(both), "22023");
        sql.run(
            "CREATE VIEW x WITH (security_invoker) AS SELECT id, s FROM t WHERE id < 10 \
             WITH CHECK OPTION; ALTER VIEW x ALTER COLUMN s SET DEFAULT 'dflt'; CHECKPOINT",
        );
    }
    let sql = Sql::on(&Database::open(&path).unwrap());
    let options = "SELECT reloptions FROM pg_class WHERE relname = 'x'";
    assert_eq!(
        sql.one(options),
        "{security_invoker=true,check_option=cascaded}"
    );
    assert_eq!(
        returned(&sql, "INSERT INTO x (id) VALUES (9) RETURNING *"),
        ["9|dflt"]
    );
    assert_eq!(sql.state("INSERT INTO x (id) VALUES (10)"), "44000");
    assert_eq!(sql.state("ALTER VIEW x SET (nothing = 1)"), "22023");
    sql.run("CREATE VIEW g AS SELECT k FROM t GROUP BY k");
    assert_eq!(
        sql.state("ALTER VIEW g SET (check_option = local)"),
        "0A000"
    );
}

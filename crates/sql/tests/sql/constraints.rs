//! CHECK and FOREIGN KEY.

use crate::support::{LAYOUTS, Sql};

#[test]
fn checks_hold_for_every_row() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE p (id INTEGER PRIMARY KEY, price DECIMAL(8,2) CHECK (price > 0), \
         low INTEGER, high INTEGER, CONSTRAINT ordered CHECK (low <= p.high))",
    );
    sql.run("INSERT INTO p VALUES (1, 9.99, 1, 2), (2, NULL, NULL, 5)");
    let error = sql.error("INSERT INTO p VALUES (3, 1, 1, 1), (4, 0, 1, 1)");
    assert_eq!(error.sqlstate, "23514");
    assert!(
        error.message.contains("\"p_price_check\""),
        "{}",
        error.message
    );
    assert!(error.detail.unwrap().contains("(4, 0.00, 1, 1)"));
    assert_eq!(
        sql.state("UPDATE p SET low = high + 1 WHERE id = 1"),
        "23514"
    );
    assert_eq!(sql.state("UPDATE p SET low = 9"), "23514");
    assert_eq!(
        sql.state("INSERT INTO p VALUES (1, 1, 1, 1) ON CONFLICT (id) DO UPDATE SET price = -1"),
        "23514"
    );
    // Many rows become blocks at once and are checked as well.
    let many = "INSERT INTO p SELECT v, 20000 - v, 1, 2 FROM range(10, 20001) AS r(v)";
    assert_eq!(sql.state(many), "23514");
    assert_eq!(sql.one("SELECT count(*) FROM p"), "2");
    for (check, state) in [
        ("price", "42804"),
        ("nope > 1", "42703"),
        ("id IN (SELECT 1)", "0A000"),
    ] {
        let create = format!("CREATE TABLE q (id INTEGER, price INTEGER, CHECK ({check}))");
        assert_eq!(sql.state(&create), state, "{check}");
    }
    // A check goes with its column, and follows its name and the table's.
    sql.run("ALTER TABLE p RENAME TO q");
    assert_eq!(
        sql.state("INSERT INTO q (id, low, high) VALUES (7, 2, 1)"),
        "23514"
    );
    sql.run("ALTER TABLE q RENAME TO p");
    sql.run("ALTER TABLE p RENAME COLUMN high TO top");
    assert_eq!(
        sql.state("INSERT INTO p (id, low, top) VALUES (7, 2, 1)"),
        "23514"
    );
    sql.run("ALTER TABLE p DROP COLUMN low");
    sql.run("INSERT INTO p (id, price, top) VALUES (7, 2, -1)");
}

fn family(sql: &Sql, layout: &str, actions: &str) {
    sql.run(&format!(
        "CREATE TABLE parent (a INTEGER, b TEXT, n INTEGER, PRIMARY KEY (a, b)) \
         WITH (layout = '{layout}')"
    ));
    sql.run("INSERT INTO parent VALUES (1, 'x', 0), (2, 'y', 0), (3, 'z', 0); VACUUM");
    sql.run(&format!(
        "CREATE TABLE child (id INTEGER PRIMARY KEY, pb TEXT DEFAULT 'z', pa BIGINT DEFAULT 3, \
         FOREIGN KEY (pb, pa) REFERENCES parent (b, a) {actions}) WITH (layout = '{layout}')"
    ));
    sql.run("INSERT INTO child VALUES (10, 'x', 1), (11, 'x', 1), (20, 'y', 2), (99, NULL, 5)");
}

#[test]
fn children_have_parents() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        family(&sql, layout, "");
        let error = sql.error("INSERT INTO child VALUES (30, 'x', 2)");
        assert_eq!(error.sqlstate, "23503");
        assert!(
            error.message.contains("\"child_pa_pb_fkey\""),
            "{}",
            error.message
        );
        assert_eq!(sql.state("UPDATE child SET pa = 7 WHERE id = 20"), "23503");
        assert_eq!(sql.state("DELETE FROM parent WHERE a = 1"), "23503");
        assert_eq!(sql.state("UPDATE parent SET b = 'w' WHERE a = 2"), "23503");
        assert_eq!(sql.state("TRUNCATE parent"), "0A000");
        // What is right at the end of the statement is right.
        sql.run("UPDATE parent SET n = n + 1");
        sql.run("DELETE FROM child WHERE pa = 1; DELETE FROM parent WHERE a = 1");
        let many =
            "INSERT INTO child SELECT v, 'y', 2 + (v / 20000)::int FROM range(100, 20101) AS r(v)";
        assert_eq!(sql.state(many), "23503");
        assert_eq!(
            sql.run("INSERT INTO child SELECT v, 'y', 2 FROM range(100, 20100) AS r(v)"),
            "INSERT 0 20000"
        );
        assert_eq!(sql.state("DELETE FROM parent"), "23503");
        assert_eq!(sql.state("DROP TABLE parent"), "2BP01");
        assert_eq!(sql.state("ALTER TABLE parent DROP COLUMN a"), "2BP01");
        sql.run("ALTER TABLE parent DROP COLUMN n; DROP TABLE parent CASCADE");
        sql.run("INSERT INTO child VALUES (1, 'free', 1)");
    }
}

#[test]
fn children_follow() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        family(&sql, layout, "ON DELETE CASCADE ON UPDATE CASCADE");
        sql.run("UPDATE parent SET b = b || b, a = a * 10 WHERE a < 3");
        assert_eq!(
            sql.sorted("SELECT * FROM child"),
            ["10|xx|10", "11|xx|10", "20|yy|20", "99|NULL|5"]
        );
        sql.run("DELETE FROM parent WHERE b = 'xx'");
        assert_eq!(sql.sorted("SELECT id FROM child"), ["20", "99"]);

        let sql = Sql::new();
        family(&sql, layout, "ON DELETE SET NULL ON UPDATE SET DEFAULT");
        sql.run("DELETE FROM parent WHERE a = 1; UPDATE parent SET a = 4 WHERE a = 2");
        assert_eq!(
            sql.sorted("SELECT * FROM child"),
            ["10|NULL|NULL", "11|NULL|NULL", "20|z|3", "99|NULL|5"]
        );
    }
}

#[test]
fn a_tree_in_one_table_goes_with_its_root() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE tree (id INTEGER PRIMARY KEY, up INTEGER REFERENCES tree ON DELETE CASCADE)",
    );
    sql.run("INSERT INTO tree VALUES (1, NULL), (2, 1), (3, 2), (4, 3), (5, NULL)");
    assert_eq!(sql.state("INSERT INTO tree VALUES (6, 7)"), "23503");
    sql.run("INSERT INTO tree VALUES (6, 7), (7, 6)");
    sql.run("DELETE FROM tree WHERE id = 1");
    assert_eq!(sql.sorted("SELECT id FROM tree"), ["5", "6", "7"]);
}

#[test]
fn of_two_transactions_the_later_is_refused() {
    let sql = Sql::new();
    // Who is checked at the end locks nothing.
    family(&sql, "column", "DEFERRABLE INITIALLY DEFERRED");
    let other = Sql::on(sql.session.database());
    sql.run("BEGIN; INSERT INTO child VALUES (50, 'z', 3)");
    other.run("BEGIN; DELETE FROM parent WHERE a = 3");
    sql.run("COMMIT");
    assert_eq!(other.state("COMMIT"), "23503");
    sql.run("BEGIN; DELETE FROM child WHERE id = 50; DELETE FROM parent WHERE a = 3");
    other.run("BEGIN; INSERT INTO child VALUES (51, 'z', 3)");
    sql.run("COMMIT");
    assert_eq!(other.state("COMMIT"), "23503");
    assert_eq!(sql.sorted("SELECT id FROM child"), ["10", "11", "20", "99"]);
    // Both within one transaction.
    sql.run(
        "BEGIN; INSERT INTO parent VALUES (8, 'h', 0); INSERT INTO child VALUES (80, 'h', 8); \
         COMMIT",
    );
    sql.run("BEGIN; INSERT INTO parent VALUES (9, 'i', 0); INSERT INTO child VALUES (90, 'i', 9)");
    sql.run("SET CONSTRAINTS ALL IMMEDIATE");
    assert_eq!(sql.state("DELETE FROM parent WHERE a = 9"), "23503");
    sql.run("ROLLBACK");
}

#[test]
fn references_must_make_sense() {
    let sql = Sql::new();
    family(&sql, "row", "");
    for (definition, state) in [
        ("a INTEGER REFERENCES parent (a)", "42830"),
        ("a INTEGER REFERENCES parent (n)", "42830"),
        ("a INTEGER REFERENCES parent", "42830"),
        ("a INTEGER REFERENCES parent (nope)", "42703"),
        ("a INTEGER REFERENCES nope", "42P01"),
        (
            "a TEXT, b TEXT, FOREIGN KEY (a, b) REFERENCES parent",
            "42804",
        ),
        ("a INTEGER, FOREIGN KEY (b) REFERENCES child", "42703"),
    ] {
        assert_eq!(
            sql.state(&format!("CREATE TABLE q ({definition})")),
            state,
            "{definition}"
        );
    }
}

#[test]
fn what_was_checked_before_others_committed_is_checked_again() {
    let sql = Sql::new();
    sql.run("CREATE TABLE p (id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1), (2)");
    sql.run("CREATE TABLE c (p INTEGER REFERENCES p DEFERRABLE INITIALLY DEFERRED)");
    sql.run("CREATE TABLE log (n INTEGER)");
    let other = Sql::on(sql.session.database());
    sql.run("BEGIN; DELETE FROM p WHERE id = 1");
    other.run("INSERT INTO c VALUES (1)");
    sql.run("INSERT INTO log VALUES (1)");
    assert_eq!(sql.state("COMMIT"), "23503");
    // Whole blocks of children, too.
    sql.run("BEGIN; INSERT INTO c SELECT 2 FROM range(20000)");
    other.run("DELETE FROM p WHERE id = 2");
    assert_eq!(sql.state("COMMIT"), "40001");
    assert_eq!(sql.one("SELECT count(*) FROM c"), "1");
    // And constraints that come while rows do.
    sql.run("BEGIN; ALTER TABLE log ADD CHECK (n > 0)");
    other.run("INSERT INTO log VALUES (-1)");
    assert_eq!(sql.state("COMMIT"), "40001");
    other.run("BEGIN; SELECT 1");
    sql.run("DELETE FROM log; ALTER TABLE log ADD CHECK (n > 0)");
    assert_eq!(other.state("INSERT INTO log VALUES (-1); COMMIT"), "40001");
}

#[test]
fn parents_and_children_come_in_one_transaction_as_blocks_or_not() {
    let sql = Sql::new();
    sql.run("CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p INTEGER REFERENCES p)");
    sql.run("BEGIN; INSERT INTO p VALUES (-1); INSERT INTO c SELECT -1 FROM range(20000); COMMIT");
    sql.run("BEGIN; INSERT INTO p SELECT v FROM range(20000) AS r(v); INSERT INTO c VALUES (7)");
    sql.run("COMMIT");
    assert_eq!(sql.one("SELECT count(*) FROM c"), "20001");
    sql.run("CREATE TABLE e (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES e)");
    sql.run("INSERT INTO e SELECT v, v / 2 FROM range(20000) AS r(v)");
    // Made again, it refers to itself again.
    sql.run("CREATE OR REPLACE TABLE e (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES e)");
    sql.run("INSERT INTO e VALUES (1, NULL), (2, 1)");
    assert_eq!(sql.state("ALTER TABLE e DROP CONSTRAINT e_pkey"), "2BP01");
    sql.run("ALTER TABLE e DROP CONSTRAINT e_pkey CASCADE; INSERT INTO e VALUES (3, 99)");
    assert_eq!(sql.state("TRUNCATE p"), "0A000");
    sql.run("TRUNCATE p, c");
    assert_eq!(sql.state("DROP TABLE p"), "2BP01");
    assert_eq!(sql.run("DROP TABLE p, c"), "DROP TABLE");
}

#[test]
fn rows_change_in_a_table_that_the_transaction_has_altered() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INTEGER, id INTEGER PRIMARY KEY, b INTEGER)");
    sql.run("INSERT INTO t VALUES (1, 5, 7); VACUUM t");
    sql.run("BEGIN; CREATE INDEX i ON t (b); UPDATE t SET b = 8 WHERE id = 5; COMMIT");
    sql.run("VACUUM t");
    sql.run("BEGIN; ALTER TABLE t DROP COLUMN a; INSERT INTO t VALUES (6, 5)");
    assert_eq!(sql.state("INSERT INTO t VALUES (5, 1)"), "23505");
    sql.run("ROLLBACK");
    assert_eq!(sql.rows("SELECT * FROM t"), ["1|5|8"]);
}

#[test]
fn cascades_are_checked_when_all_is_done() {
    let sql = Sql::new();
    sql.run("CREATE TABLE g (id INTEGER PRIMARY KEY)");
    sql.run("CREATE TABLE p (id INTEGER PRIMARY KEY, g INTEGER REFERENCES g ON DELETE CASCADE)");
    sql.run("CREATE TABLE ch (p INTEGER REFERENCES p, g INTEGER REFERENCES g ON DELETE CASCADE)");
    sql.run("INSERT INTO g VALUES (1); INSERT INTO p VALUES (1, 1); INSERT INTO ch VALUES (1, 1)");
    sql.run("DELETE FROM g");
    assert_eq!(
        sql.one("SELECT (SELECT count(*) FROM p) + (SELECT count(*) FROM ch)"),
        "0"
    );
    // A chain that is too long is refused, not run into the end of the stack.
    sql.run("CREATE TABLE l (id INTEGER PRIMARY KEY, prev INTEGER REFERENCES l ON DELETE CASCADE)");
    sql.run("INSERT INTO l SELECT v, nullif(v - 1, -1) FROM range(600) AS r(v)");
    assert_eq!(sql.state("DELETE FROM l WHERE id = 0"), "54001");
    assert_eq!(sql.run("DELETE FROM l WHERE id = 300"), "DELETE 1");
    assert_eq!(sql.one("SELECT count(*) FROM l"), "300");
}

#[test]
fn unique_indexes_become_constraints() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b INT, c INT); INSERT INTO t VALUES (1, 2, NULL)");
    sql.run(
        "CREATE UNIQUE INDEX ia ON t (a); CREATE UNIQUE INDEX ib ON t (b); CREATE INDEX n ON t (a)",
    );
    sql.run("CREATE UNIQUE INDEX ic ON t (c); CREATE UNIQUE INDEX p ON t (b) WHERE a > 0");
    sql.run("CREATE UNIQUE INDEX e ON t ((a + 1))");
    assert_eq!(
        sql.one("SELECT count(*) FROM pg_constraint WHERE conrelid = 't'::regclass"),
        "0"
    );
    assert_eq!(
        sql.state("INSERT INTO t VALUES (1, 9, 9) ON CONFLICT ON CONSTRAINT ia DO NOTHING"),
        "42704"
    );
    for (index, state) in [
        ("nosuch", "42704"),
        ("n", "42809"),
        ("p", "42809"),
        ("e", "42809"),
        ("ic", "23502"),
    ] {
        let alter = format!("ALTER TABLE t ADD PRIMARY KEY USING INDEX {index}");
        assert_eq!(sql.state(&alter), state, "{index}");
    }
    sql.run("ALTER TABLE t ADD PRIMARY KEY USING INDEX ia");
    sql.run("ALTER TABLE t ADD CONSTRAINT u UNIQUE USING INDEX ib DEFERRABLE");
    assert_eq!(sql.state("ALTER TABLE t ADD UNIQUE USING INDEX u"), "55000");
    assert_eq!(sql.state("DROP INDEX ia"), "2BP01");
    assert_eq!(
        sql.sorted("SELECT conname, contype, condeferrable FROM pg_constraint WHERE conrelid = 't'::regclass"),
        ["ia|p|false", "u|u|true"]
    );
    assert_eq!(sql.state("INSERT INTO t VALUES (1, 9, 9)"), "23505");
    assert_eq!(sql.state("INSERT INTO t VALUES (NULL, 9, 9)"), "23502");
    // Conditions that no table inherits, and columns that only PostgreSQL has.
    sql.run(
        "CREATE TABLE k (a INT CHECK (a > 0) NO INHERIT, CONSTRAINT kk CHECK (a < 9) NO INHERIT)",
    );
    assert_eq!(sql.state("INSERT INTO k VALUES (0)"), "23514");
    assert_eq!(sql.state("INSERT INTO k VALUES (9)"), "23514");
    assert_eq!(
        sql.state("CREATE TABLE l (a INT CHECK (ctid IS NOT NULL))"),
        "42P10"
    );
    assert_eq!(
        sql.state("CREATE TABLE l (a INT, CHECK (l.xmin IS NOT NULL))"),
        "42P10"
    );
}

#[test]
fn keys_are_checked_when_a_transaction_ends() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        sql.run(&format!(
            "CREATE TABLE d (a INT PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, b INT, c INT, \
             CONSTRAINT u UNIQUE (b) DEFERRABLE) WITH (layout = '{layout}')"
        ));
        sql.run("INSERT INTO d VALUES (1,1,1), (2,2,2), (3,3,3); UPDATE d SET a = a + 1; VACUUM d");
        // One is checked at the end, the other after each statement unless that is asked for.
        sql.run("BEGIN; INSERT INTO d VALUES (4,50,0), (4,51,0)");
        assert_eq!(sql.one("SELECT count(*) FROM d WHERE a = 4"), "3");
        assert_eq!(sql.state("INSERT INTO d VALUES (9,1,0)"), "23505");
        sql.run("ROLLBACK; BEGIN; SET CONSTRAINTS ALL DEFERRED; INSERT INTO d VALUES (9,1,0)");
        assert_eq!(sql.state("SET CONSTRAINTS u IMMEDIATE"), "23505");
        sql.run("ROLLBACK; BEGIN; SET CONSTRAINTS u DEFERRED; INSERT INTO d VALUES (9,1,0)");
        sql.run("UPDATE d SET b = 77 WHERE a = 9; COMMIT; BEGIN; INSERT INTO d VALUES (9,100,0)");
        assert_eq!(sql.state("COMMIT"), "23505");
        sql.run("BEGIN; UPDATE d SET a = 3 WHERE c = 1; UPDATE d SET a = 2 WHERE c = 2");
        sql.run("SET CONSTRAINTS ALL IMMEDIATE; COMMIT; BEGIN; SAVEPOINT s");
        sql.run("INSERT INTO d VALUES (2,60,0); ROLLBACK TO s; COMMIT");
        assert_eq!(
            sql.rows("SELECT a, b, c FROM d ORDER BY a"),
            ["2|2|2", "3|1|1", "4|3|3", "9|77|0"]
        );
        // A statement alone is a transaction.
        assert_eq!(sql.state("INSERT INTO d VALUES (9,101,0)"), "23505");
        assert_eq!(sql.state("UPDATE d SET a = 9 WHERE a = 2"), "23505");
        for (statement, state) in [
            (
                "INSERT INTO d VALUES (1,9,9) ON CONFLICT DO NOTHING",
                "55000",
            ),
            (
                "INSERT INTO d VALUES (1,9,9) ON CONFLICT (b) DO NOTHING",
                "55000",
            ),
            (
                "INSERT INTO d VALUES (1,9,9) ON CONFLICT ON CONSTRAINT u DO NOTHING",
                "55000",
            ),
            ("CREATE TABLE r (a INT REFERENCES d (a))", "55000"),
            ("SELECT a, c FROM d GROUP BY a", "42803"),
        ] {
            assert_eq!(sql.state(statement), state, "{statement}");
        }
        assert_eq!(
            sql.sorted(
                "SELECT pg_get_constraintdef(oid), condeferrable, condeferred FROM pg_constraint \
                 WHERE conrelid = 'd'::regclass"
            ),
            [
                "PRIMARY KEY (a) DEFERRABLE INITIALLY DEFERRED|true|true",
                "UNIQUE (b) DEFERRABLE|true|false"
            ]
        );
        assert_eq!(
            sql.sorted(
                "SELECT constraint_name, is_deferrable, initially_deferred \
                 FROM information_schema.table_constraints WHERE table_name = 'd' \
                 AND constraint_type <> 'CHECK'"
            ),
            ["d_pkey|YES|YES", "u|YES|NO"]
        );
        assert_eq!(
            sql.rows("SELECT DISTINCT indimmediate FROM pg_index WHERE indrelid = 'd'::regclass"),
            ["false"]
        );
    }
}

#[test]
fn truncate_cascades_to_tables_that_refer() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE a (id INTEGER PRIMARY KEY);
         CREATE TABLE b (id INTEGER PRIMARY KEY REFERENCES a, n INTEGER GENERATED ALWAYS AS IDENTITY);
         CREATE SCHEMA far;
         CREATE TABLE far.c (b INTEGER REFERENCES b);
         INSERT INTO a VALUES (1), (2);
         INSERT INTO b (id) VALUES (1), (2);
         INSERT INTO far.c VALUES (2)",
    );
    let error = sql.error("TRUNCATE a");
    assert_eq!(error.sqlstate, "0A000");
    assert!(error.hint.unwrap().contains("CASCADE"));
    assert_eq!(sql.state("TRUNCATE a RESTRICT"), "0A000");
    assert_eq!(
        sql.run("TRUNCATE a RESTART IDENTITY CASCADE"),
        "TRUNCATE TABLE"
    );
    for table in ["a", "b", "far.c"] {
        assert!(sql.rows(&format!("SELECT * FROM {table}")).is_empty());
    }
    sql.run("INSERT INTO a VALUES (5)");
    assert_eq!(sql.rows("INSERT INTO b (id) VALUES (5) RETURNING n"), ["1"]);
}

#[test]
fn restrict_refuses_at_once_and_is_told() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE a (id INTEGER PRIMARY KEY);
         CREATE TABLE r (a INTEGER CONSTRAINT r REFERENCES a ON DELETE RESTRICT ON UPDATE RESTRICT
             DEFERRABLE INITIALLY DEFERRED);
         CREATE TABLE n (a INTEGER CONSTRAINT n REFERENCES a ON DELETE NO ACTION
             DEFERRABLE INITIALLY DEFERRED);
         INSERT INTO a VALUES (1), (2); INSERT INTO r VALUES (1); INSERT INTO n VALUES (2)",
    );
    sql.run("BEGIN; DELETE FROM a WHERE id = 2; INSERT INTO a VALUES (2); COMMIT");
    sql.run("BEGIN; DELETE FROM a WHERE id = 2; DELETE FROM n; COMMIT");
    for change in ["DELETE FROM a", "UPDATE a SET id = 5"] {
        sql.run("BEGIN");
        assert_eq!(
            sql.state(&format!("{change} WHERE id = 1")),
            "23503",
            "{change}"
        );
        sql.run("ROLLBACK");
    }
    assert_eq!(
        sql.rows(
            "SELECT conname, confdeltype, confupdtype, pg_get_constraintdef(oid) FROM pg_constraint
             WHERE contype = 'f' ORDER BY 1"
        ),
        [
            "n|a|a|FOREIGN KEY (a) REFERENCES a(id) DEFERRABLE INITIALLY DEFERRED",
            "r|r|r|FOREIGN KEY (a) REFERENCES a(id) ON UPDATE RESTRICT ON DELETE RESTRICT \
             DEFERRABLE INITIALLY DEFERRED"
        ]
    );
    assert_eq!(
        sql.rows(
            "SELECT constraint_name, delete_rule FROM information_schema.referential_constraints
             ORDER BY 1"
        ),
        ["n|NO ACTION", "r|RESTRICT"]
    );
}

#[test]
fn names_that_are_made_have_63_bytes() {
    let sql = Sql::new();
    let (table, column) = ("t".repeat(40), "c".repeat(50));
    sql.run(&format!(
        "CREATE TABLE {table} ({column} INT CHECK ({column} > 0), b SERIAL PRIMARY KEY,
             UNIQUE ({column}), FOREIGN KEY (b) REFERENCES {table} ({column}));
         CREATE INDEX ON {table} ({column}, b)"
    ));
    let names = "SELECT conname FROM pg_constraint UNION SELECT indexname FROM pg_indexes
        UNION SELECT relname FROM pg_class WHERE relkind = 'S' ORDER BY 1";
    let (t, c) = (|n| "t".repeat(n), |n| "c".repeat(n));
    let mut made = [
        format!("{}_{}_key", t(29), c(29)),
        format!("{}_{}_check", t(28), c(28)),
        format!("{}_pkey", t(40)),
        format!("{}_b_fkey", t(40)),
        format!("{}_b_seq", t(40)),
        format!("{}_{}_idx", t(29), c(29)),
    ];
    made.sort();
    assert_eq!(sql.rows(names), made);
}

#[test]
fn both_zeros_are_one_key() {
    for ty in ["float8", "float4"] {
        let sql = Sql::new();
        sql.run(&format!(
            "CREATE TABLE z (a {ty} PRIMARY KEY, b int);
             CREATE TABLE y (a {ty}, b int, UNIQUE NULLS NOT DISTINCT (a, b));
             INSERT INTO z VALUES (0, 1); INSERT INTO y VALUES (0, NULL)"
        ));
        for vacuum in [false, true] {
            if vacuum {
                sql.run("VACUUM z; VACUUM y");
            }
            assert_eq!(sql.state("INSERT INTO z VALUES ('-0', 2)"), "23505");
            assert_eq!(sql.state("INSERT INTO y VALUES ('-0', NULL)"), "23505");
            sql.run("INSERT INTO z VALUES ('-0', 3) ON CONFLICT (a) DO UPDATE SET b = z.b + 1");
            assert_eq!(sql.one("SELECT count(*) FROM z WHERE a = '-0'"), "1");
        }
        assert_eq!(sql.rows("SELECT b FROM z"), ["3"]);
        assert_eq!(
            sql.state("INSERT INTO z VALUES (5, 1), (-5, 1), (0 * -5, 1)"),
            "23505"
        );
        let own = "INSERT INTO y VALUES (0, 7), ('-0', 7)";
        assert_eq!(sql.state(own), "23505");
    }
}

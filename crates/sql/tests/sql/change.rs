//! UPDATE, DELETE, TRUNCATE, and what is left when they fail.

use crate::support::{LAYOUTS, Sql};
use freestone::Database;

fn table(sql: &Sql, options: &str) {
    sql.run(&format!(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT DEFAULT 'none', n BIGINT NOT NULL){options}"
    ));
    sql.run("INSERT INTO t VALUES (1, 'a', 10), (2, 'b', 20), (3, NULL, 30), (4, 'd', 40)");
}

#[test]
fn update_sets_what_it_says() {
    let sql = Sql::new();
    table(&sql, "");
    assert_eq!(
        sql.run("UPDATE t SET n = n + id, name = upper(name) WHERE id <> 2"),
        "UPDATE 3"
    );
    assert_eq!(
        sql.sorted("SELECT * FROM t"),
        ["1|A|11", "2|b|20", "3|NULL|33", "4|D|44"]
    );
    // Other values than those before, all of them read before any is set.
    assert_eq!(
        sql.run("UPDATE t SET (n, id) = (id, id + 100) WHERE id < 3"),
        "UPDATE 2"
    );
    assert_eq!(
        sql.sorted("SELECT id, n FROM t"),
        ["101|1", "102|2", "3|33", "4|44"]
    );
    assert_eq!(
        sql.run("UPDATE t SET name = DEFAULT WHERE id = 3"),
        "UPDATE 1"
    );
    assert_eq!(sql.one("SELECT name FROM t WHERE id = 3"), "none");
    assert_eq!(sql.run("UPDATE t SET n = 0 WHERE false"), "UPDATE 0");
    assert_eq!(
        sql.run("UPDATE t AS x SET n = x.n * 2 WHERE x.id = 4"),
        "UPDATE 1"
    );
    assert_eq!(sql.one("SELECT n FROM t WHERE id = 4"), "88");
}

#[test]
fn update_from_other_tables() {
    let sql = Sql::new();
    table(&sql, "");
    sql.run("CREATE TABLE u (id INTEGER, bonus BIGINT)");
    sql.run("INSERT INTO u VALUES (1, 5), (1, 5), (4, 7), (9, 9)");
    // A row that matches twice is changed once.
    assert_eq!(
        sql.run("UPDATE t SET n = n + bonus FROM u WHERE u.id = t.id"),
        "UPDATE 2"
    );
    assert_eq!(
        sql.sorted("SELECT id, n FROM t"),
        ["1|15", "2|20", "3|30", "4|47"]
    );
    let most = "UPDATE t SET n = (SELECT max(bonus) FROM u) WHERE id IN (SELECT id FROM u)";
    assert_eq!(sql.run(most), "UPDATE 2");
    assert_eq!(
        sql.sorted("SELECT id, n FROM t"),
        ["1|9", "2|20", "3|30", "4|9"]
    );
}

#[test]
fn delete_takes_exactly_the_rows() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        table(&sql, &format!(" WITH (layout = '{layout}')"));
        sql.run("INSERT INTO t SELECT i + 10, 'x', i FROM generate_series(1, 20000) AS g(i)");
        assert_eq!(sql.run("DELETE FROM t WHERE false"), "DELETE 0");
        assert_eq!(
            sql.run("DELETE FROM t WHERE id IN (SELECT id FROM t WHERE n % 2 = 0)"),
            "DELETE 10004"
        );
        assert_eq!(
            sql.one("SELECT count(*), min(n), max(n), sum(n) FROM t"),
            "10000|1|19999|100000000"
        );
        assert_eq!(
            sql.run("DELETE FROM t USING (VALUES (11), (13)) AS v(id) WHERE t.id = v.id"),
            "DELETE 2"
        );
        assert_eq!(sql.one("SELECT min(id) FROM t"), "15");
        assert_eq!(sql.run("DELETE FROM t WHERE id = 15"), "DELETE 1");
        assert_eq!(sql.run("DELETE FROM t WHERE id = 15"), "DELETE 0");
        // What is deleted does not come back with other columns, layout or indexes.
        sql.run("ALTER TABLE t ADD COLUMN more INTEGER DEFAULT 7");
        sql.run("CREATE INDEX t_n ON t (n)");
        assert_eq!(sql.one("SELECT count(*) FROM t WHERE n = 5"), "0");
        assert_eq!(sql.one("SELECT count(*), sum(more) FROM t"), "9997|69979");
        sql.run("INSERT INTO t VALUES (15, 'again', 5, 8)");
        assert_eq!(sql.one("SELECT name, more FROM t WHERE n = 5"), "again|8");
        sql.run("ALTER TABLE t SET (layout = 'pax', sort_by = 'n')");
        assert_eq!(sql.one("SELECT count(*), sum(more) FROM t"), "9998|69987");
        sql.run("TRUNCATE TABLE t");
        assert_eq!(sql.one("SELECT count(*), min(n) FROM t"), "0|NULL");
    }
}

#[test]
fn keys_hold_at_the_end_of_a_statement() {
    let sql = Sql::new();
    table(&sql, "");
    // Each step alone would meet its neighbour.
    assert_eq!(sql.run("UPDATE t SET id = id + 1"), "UPDATE 4");
    assert_eq!(sql.sorted("SELECT id FROM t"), ["2", "3", "4", "5"]);
    let error = sql.error("UPDATE t SET id = 7");
    assert_eq!(error.sqlstate, "23505");
    let error = sql.error("UPDATE t SET id = 3 WHERE id = 2");
    assert_eq!(error.sqlstate, "23505");
    assert!(error.to_string().contains("(id)=(3)"), "{error}");
    let error = sql.error("UPDATE t SET n = NULL WHERE id = 2");
    assert_eq!(error.sqlstate, "23502");
    let error = sql.error("UPDATE t SET nn = 1");
    assert_eq!(error.sqlstate, "42703");
    let error = sql.error("UPDATE t SET n = 'x' WHERE id = 2");
    assert_eq!(error.sqlstate, "22P02");
    assert_eq!(
        sql.sorted("SELECT id, n FROM t"),
        ["2|10", "3|20", "4|30", "5|40"]
    );
    // A key in a block, in the delta, and one that was deleted.
    sql.run("INSERT INTO t SELECT i, 'x', i FROM generate_series(100, 20100) AS g(i)");
    assert_eq!(
        sql.error("INSERT INTO t VALUES (20000, 'x', 1)").sqlstate,
        "23505"
    );
    assert_eq!(
        sql.error("INSERT INTO t VALUES (2, 'x', 1)").sqlstate,
        "23505"
    );
    sql.run("DELETE FROM t WHERE id IN (2, 20000)");
    sql.run("INSERT INTO t VALUES (20000, 'x', 1), (2, 'y', 1)");
    assert_eq!(sql.one("SELECT count(*) FROM t"), "20005");
}

#[test]
fn what_is_not_done_is_refused() {
    let sql = Sql::new();
    table(&sql, "");
    assert_eq!(sql.error("DELETE FROM t, t AS u").sqlstate, "0A000");
    assert_eq!(sql.error("UPDATE nothing SET n = 1").sqlstate, "42P01");
    assert_eq!(sql.error("DELETE FROM t WHERE nope = 1").sqlstate, "42703");
    assert_eq!(sql.one("SELECT count(*) FROM t"), "4");
}

#[test]
fn changes_outlive_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let sql = Sql::on(&database);
    table(&sql, "");
    sql.run("INSERT INTO t SELECT i, 'x', i FROM generate_series(100, 20099) AS g(i)");
    sql.run("UPDATE t SET n = -n WHERE id % 100 = 0");
    sql.run("DELETE FROM t WHERE id % 100 = 1");
    let ask = "SELECT count(*), sum(n), min(n), count(name) FROM t";
    let before = sql.one(ask);
    assert_eq!(before, "19803|195959890|-20000|19802");
    drop((sql, database));
    let database = Database::open(folder.path()).unwrap();
    assert_eq!(Sql::on(&database).one(ask), before);
}

#[test]
fn the_mover_says_what_it_has_done() {
    let database = Database::in_memory();
    let sql = Sql::on(&database);
    table(&sql, "");
    sql.run("INSERT INTO t SELECT i, 'x', i FROM generate_series(100, 20099) AS g(i)");
    sql.run("UPDATE t SET n = n + 1 WHERE id >= 15000");
    let moves = "SELECT delta_rows, rows_moved > 0, last_error FROM freestone_mover() \
                 WHERE table_name = 't'";
    sql.run("VACUUM t");
    assert_eq!(sql.one(moves), "0|true|NULL");
    assert_eq!(
        sql.one("SELECT sum(rows) FROM freestone_blocks('t')"),
        "20004"
    );
    assert_eq!(sql.one("SELECT count(*) FROM t WHERE n = id + 1"), "5100");
    assert_eq!(sql.one("SHOW freestone.mover"), "running");
    sql.run("SET freestone.mover = 'paused'");
    assert_eq!(
        sql.one("SELECT DISTINCT state FROM freestone_mover()"),
        "paused"
    );
    let other = Sql::on(&database);
    assert_eq!(other.one("SHOW freestone.mover"), "paused");
    other.run("RESET freestone.mover");
    assert_eq!(sql.one("SHOW freestone.mover"), "running");
    assert_eq!(sql.state("SET freestone.mover = 'off'"), "22023");
    assert_eq!(sql.state("SELECT * FROM freestone_mover('t')"), "42883");
}

#[test]
fn reading_is_set_for_the_whole_database() {
    let folder = tempfile::tempdir().unwrap();
    let other_disk = folder.path().join("other");
    let database =
        Database::open_striped(folder.path().join("own"), std::slice::from_ref(&other_disk));
    let database = database.unwrap();
    let (sql, other) = (Sql::on(&database), Sql::on(&database));
    let settings = [
        ("io_unit", "128KiB", "1 MiB", "1024KiB", "5000B"),
        ("prefetch_depth", "48", "7", "7", "1025"),
        ("direct_reads", "off", "on", "on", "perhaps"),
        (
            "read_method",
            "auto",
            "threads",
            "threads",
            "carrier pigeons",
        ),
    ];
    sql.run("CREATE TABLE t (a INT, b TEXT) WITH (block_bytes = '128KiB')");
    sql.run("INSERT INTO t SELECT i, 'x' || i FROM generate_series(1, 60000) AS g(i)");
    sql.run("VACUUM t");
    for (name, default, given, shown, wrong) in settings {
        assert_eq!(other.one(&format!("SHOW freestone.{name}")), default);
        sql.run(&format!("SET freestone.{name} = '{given}'"));
        assert_eq!(other.one(&format!("SHOW freestone.{name}")), shown);
        let refused = sql.state(&format!("SET freestone.{name} = '{wrong}'"));
        assert_eq!(refused, "22023", "{name}");
    }
    assert_eq!(sql.one("SELECT sum(a), max(b) FROM t"), "1800030000|x9999");
    for (name, default, ..) in settings {
        sql.run(&format!("RESET freestone.{name}"));
        assert_eq!(sql.one(&format!("SHOW freestone.{name}")), default);
    }
    // Blocks lie in both directories, and are found again.
    assert!(other_disk.join("blocks").read_dir().unwrap().count() > 1);
    drop((sql, other, database));
    let again = Database::open(folder.path().join("own")).unwrap();
    assert_eq!(Sql::on(&again).one("SELECT count(*) FROM t"), "60000");
}

/// Strings are printed and parsed again on their way; they stay what they are.
#[test]
fn text_is_text_whatever_is_in_it() {
    let sql = Sql::new();
    table(&sql, "");
    let runtime = crate::support::runtime();
    let delete = sql.session.prepare("DELETE FROM t WHERE name = $1");
    let update = sql.session.prepare("UPDATE t SET name = $2 WHERE n = $1");
    let merge = sql.session.prepare(
        "MERGE INTO t USING (SELECT 1 AS id) AS s ON t.id = s.id AND $1 = name \
         WHEN MATCHED THEN UPDATE SET name = $1 || '.'",
    );
    let (delete, update, merge) = (delete.unwrap(), update.unwrap(), merge.unwrap());
    for text in ["\\' OR TRUE --", "a''b", "x\\'y", "''", "'", "\\", "\"q\""] {
        let run = |prepared: &freestone::Prepared, values: &[freestone::Parameter]| {
            runtime
                .block_on(prepared.run(&sql.session, values))
                .unwrap();
        };
        run(&delete, &[text.into()]);
        assert_eq!(sql.one("SELECT count(*) FROM t"), "4", "{text}");
        run(&update, &[10.into(), text.into()]);
        assert_eq!(sql.one("SELECT name FROM t WHERE id = 1"), text);
        run(&merge, &[text.into()]);
        assert_eq!(
            sql.one("SELECT name FROM t WHERE id = 1"),
            format!("{text}.")
        );
    }
    sql.run("UPDATE t SET name = 'a''''b' WHERE id = 1");
    assert_eq!(sql.one("SELECT name FROM t WHERE id = 1"), "a''b");
    sql.run("CREATE TABLE d (a TEXT DEFAULT '\\''', b INTEGER, CHECK (a <> 'x''''y'))");
    sql.run("INSERT INTO d (b) VALUES (1)");
    assert_eq!(sql.one("SELECT a FROM d"), "\\'");
    assert_eq!(sql.state("UPDATE d SET a = 'x''''y'"), "23514");
}

/// Several columns from one query.
#[test]
fn columns_are_set_from_a_query() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (id INTEGER, a INTEGER, b TEXT)");
    sql.run("INSERT INTO t VALUES (1, 0, 'x'), (2, 0, 'y'), (3, 0, 'z')");
    sql.run("CREATE TABLE s (id INTEGER, n INTEGER, name TEXT)");
    sql.run("INSERT INTO s VALUES (1, 10, 'one'), (2, 20, 'two')");
    sql.run(
        "UPDATE t SET (b, a) = (SELECT s.name, n + 1 AS more FROM s WHERE s.id = t.id) WHERE id < 3",
    );
    assert_eq!(
        sql.sorted("SELECT * FROM t"),
        ["1|11|one", "2|21|two", "3|0|z"]
    );
    let wrong = sql.error("UPDATE t SET (b, a) = (SELECT s.name FROM s WHERE s.id = t.id)");
    assert_eq!(wrong.sqlstate, "42601");
}

/// An aggregate in a sub-query that reads columns of the changed row alone would be one over the
/// changed rows.
#[test]
fn changed_rows_are_not_aggregated() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a int); CREATE TABLE u (b int); INSERT INTO u VALUES (1), (2)");
    for (list, state) in [
        ("(SELECT count(t.a) FROM u)", "42803"),
        ("1, (SELECT 1 FROM u HAVING max(t.a) > 0)", "42803"),
        (
            "(SELECT rank(0) WITHIN GROUP (ORDER BY t.a) FROM u)",
            "42803",
        ),
        ("count(*)", "42803"),
    ] {
        let insert = format!("INSERT INTO t VALUES (1) RETURNING {list}");
        assert_eq!(sql.state(&insert), state, "{insert}");
    }
    let error = sql.error("UPDATE t SET a = (SELECT max(t.a) FROM u)");
    assert_eq!(
        error.message,
        "aggregate functions are not allowed in UPDATE"
    );
    let merge =
        "MERGE INTO t USING u ON a = b WHEN MATCHED THEN UPDATE SET a = (SELECT max(t.a) FROM u)";
    assert_eq!(sql.state(merge), "42803");
    assert_eq!(sql.one("SELECT count(*) FROM t"), "0");
    let counted = "INSERT INTO t VALUES (7) RETURNING (SELECT count(u.b) + max(u.b) FROM u), \
                   (WITH w AS (SELECT count(*) AS n FROM u) SELECT n + t.a FROM w)";
    assert_eq!(sql.rows_of_one_engine(counted), ["4|9"]);
    let update = "WITH w AS (SELECT max(b) AS m FROM u) UPDATE t SET a = m FROM w, \
                  (SELECT count(*) AS n FROM u) q WHERE n = 2 RETURNING a";
    assert_eq!(sql.rows_of_one_engine(update), ["2"]);
}

#[test]
fn returning_tells_of_other_tables_and_asks_queries() {
    let sql = Sql::new();
    sql.run("CREATE TABLE stock (item TEXT, n INT); INSERT INTO stock VALUES ('a', 1), ('b', 2)");
    sql.run("CREATE TABLE moves (item TEXT, by INT); INSERT INTO moves VALUES ('a', 5), ('c', 6)");
    assert_eq!(
        sql.rows_of_one_engine("UPDATE stock s SET n = n + m.by FROM moves m WHERE m.item = s.item RETURNING *, m.by * 2"),
        ["a|6|a|5|10"]
    );
    assert_eq!(
        sql.rows_of_one_engine("UPDATE stock SET n = 0 FROM moves m, (VALUES (7)) AS v(x) WHERE m.item = stock.item RETURNING v.x, stock.n, m.*"),
        ["7|0|a|5"]
    );
    assert_eq!(
        sql.rows_of_one_engine(
            "DELETE FROM stock USING moves m WHERE m.item = stock.item RETURNING m.by, stock.item"
        ),
        ["5|a"]
    );
    assert_eq!(
        sql.rows_of_one_engine("DELETE FROM stock USING moves m WHERE m.by = 0 RETURNING m.by"),
        Vec::<String>::new()
    );
    // Sub-queries see what was there before.
    assert_eq!(
        sql.rows_of_one_engine(
            "INSERT INTO stock VALUES ('d', 4) RETURNING item, (SELECT count(*) FROM stock)"
        ),
        ["d|1"]
    );
    assert_eq!(
        sql.rows_of_one_engine(
            "UPDATE stock SET n = 9 RETURNING n IN (SELECT by + 3 FROM moves) AS found"
        ),
        ["true", "true"]
    );
}

#[test]
fn statements_in_with_change_rows() {
    let sql = Sql::new();
    sql.run("CREATE TABLE inbox (id INT, n NUMERIC, tags TEXT[]); INSERT INTO inbox VALUES (1, 1.50, '{a}'), (2, 2, NULL)");
    sql.run("CREATE TABLE done (id INT, n NUMERIC, tags TEXT[])");
    assert_eq!(
        sql.rows_of_one_engine("WITH moved AS (DELETE FROM inbox WHERE id = 1 RETURNING *) SELECT m.n, m.tags[1], (SELECT count(*) FROM inbox) FROM moved m"),
        ["1.50|a|2"]
    );
    assert_eq!(
        sql.run("WITH one AS (SELECT 2 AS id), moved (a, b, c) AS (DELETE FROM inbox USING one WHERE inbox.id = one.id RETURNING inbox.*) INSERT INTO done SELECT a, b + 1, c FROM moved, one WHERE a = id"),
        "INSERT 0 1"
    );
    assert_eq!(sql.rows_of_one_engine("SELECT * FROM done"), ["2|3|NULL"]);
    assert_eq!(sql.one("SELECT count(*) FROM inbox"), "0");
    assert_eq!(
        sql.run("WITH q AS (SELECT 7 AS id) UPDATE done SET id = q.id FROM q"),
        "UPDATE 1"
    );
    assert_eq!(
        sql.run("WITH q AS (SELECT 7 AS id) DELETE FROM done USING q WHERE done.id = q.id"),
        "DELETE 1"
    );
    // A statement that fails has changed nothing.
    assert_eq!(
        sql.state("WITH i AS (INSERT INTO done VALUES (1, 1, NULL) RETURNING id) SELECT 1 / (id - 1) FROM i"),
        "22012"
    );
    assert_eq!(sql.one("SELECT count(*) FROM done"), "0");
    assert_eq!(
        sql.state("WITH i AS (INSERT INTO done VALUES (1, 1, NULL)) SELECT * FROM i"),
        "0A000"
    );
}

#[test]
fn columns_of_the_changed_table_may_name_its_schema() {
    let sql = Sql::new();
    sql.run("CREATE SCHEMA s");
    sql.run("CREATE TABLE s.t (k INT PRIMARY KEY CHECK (s.t.k > 0), v INT)");
    let upsert = "INSERT INTO s.t VALUES (1, 2) ON CONFLICT (k) DO UPDATE \
                  SET v = s.t.v + excluded.v WHERE s.t.v > 0 RETURNING s.t.v";
    assert_eq!(sql.one(upsert), "2");
    assert_eq!(sql.one(upsert), "4");
    assert_eq!(
        sql.one("UPDATE s.t SET v = s.t.v + 1 WHERE s.t.k = 1 RETURNING s.t.*, (SELECT s.t.v)"),
        "1|5|5"
    );
    // The condition holds what the table is called later.
    sql.run("ALTER TABLE s.t RENAME TO u");
    assert_eq!(sql.state("INSERT INTO s.u VALUES (0, 0)"), "23514");
    for wrong in [
        "DELETE FROM s.u WHERE s.t.k = 1",
        "DELETE FROM s.u WHERE public.u.k = 1",
        "DELETE FROM s.u AS a WHERE s.u.k = 1",
        "DELETE FROM s.u RETURNING public.u.k",
    ] {
        assert_eq!(sql.state(wrong), "42P01", "{wrong}");
    }
    assert_eq!(
        sql.rows_of_one_engine("WITH d AS (DELETE FROM s.u RETURNING s.u.k) SELECT * FROM d"),
        ["1"]
    );
    sql.run("CREATE TABLE w (k INT)");
    sql.run("INSERT INTO w VALUES (1)");
    assert_eq!(sql.one("DELETE FROM w RETURNING public.w.k"), "1");
}

#[test]
fn a_row_is_changed_once_by_the_statements_of_one_with() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE d (i INT, j INT); INSERT INTO d VALUES (1, 10), (2, 20);
         CREATE TABLE k (i INT PRIMARY KEY, j INT); INSERT INTO k VALUES (1, 10), (2, 20);
         CREATE TABLE p (i INT, j INT) PARTITION BY LIST (i);
         CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
         CREATE TABLE p2 PARTITION OF p DEFAULT;
         INSERT INTO p VALUES (1, 10), (2, 20)",
    );
    for table in ["d", "k", "p"] {
        let rows = || sql.rows(&format!("SELECT i, j FROM {table} ORDER BY i, j"));
        // The main statement comes first where nobody reads the other's rows.
        sql.run(&format!(
            "WITH u AS (UPDATE {table} SET j = j + 1) UPDATE {table} SET j = j * 2"
        ));
        assert_eq!(rows(), ["1|20", "2|40"], "{table}");
        let both = format!(
            "WITH u AS (UPDATE {table} SET j = j + 1 WHERE i = 1 RETURNING i, j),
                  m AS (DELETE FROM {table} WHERE i < 3 AND EXISTS (SELECT FROM u) RETURNING i)
             SELECT (SELECT array_agg(u) FROM u), (SELECT array_agg(m) FROM m)"
        );
        assert_eq!(
            sql.rows_of_one_engine(&both),
            ["{\"(1,21)\"}|{(2)}"],
            "{table}"
        );
        assert_eq!(rows(), ["1|21"], "{table}");
        sql.run(&format!(
            "WITH u AS (UPDATE {table} SET j = j + 1 WHERE i = 1) DELETE FROM {table} WHERE i = 1"
        ));
        assert!(rows().is_empty(), "{table}");
    }
    sql.run("INSERT INTO k VALUES (1, 1)");
    assert_eq!(
        sql.state(
            "WITH u AS (UPDATE k SET j = 2 RETURNING i), n AS (INSERT INTO k SELECT i, 5 FROM u
             ON CONFLICT (i) DO UPDATE SET j = 7) SELECT"
        ),
        "21000"
    );
    // References hold when all statements are done.
    sql.run(
        "CREATE TABLE c (i INT REFERENCES k);
         WITH parent AS (INSERT INTO k VALUES (9, 9)) INSERT INTO c VALUES (9)",
    );
    assert_eq!(sql.one("SELECT count(*) FROM c"), "1");
    assert_eq!(
        sql.state("WITH gone AS (DELETE FROM k WHERE i = 9) UPDATE c SET i = i"),
        "23503"
    );
}

#[test]
fn set_has_no_functions_that_give_rows() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1)");
    for value in ["generate_series(1, 2)", "1 + unnest(ARRAY[1, 2])"] {
        let error = sql.error(&format!("UPDATE t SET a = {value}"));
        assert_eq!(
            (error.sqlstate.as_str(), error.message.as_str()),
            ("0A000", "set-returning functions are not allowed in UPDATE")
        );
    }
    sql.run("UPDATE t SET a = (SELECT max(x) FROM generate_series(1, 5) AS g(x))");
    assert_eq!(sql.one("SELECT a FROM t"), "5");
}

#[test]
fn a_clause_of_merge_that_no_row_reaches_counts_before_all_else() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (id INT PRIMARY KEY)");
    let merge = "MERGE INTO t AS g USING nothing AS u ON g.id = u.nothing";
    for clauses in [
        "WHEN MATCHED THEN DELETE WHEN MATCHED THEN DO NOTHING",
        "WHEN NOT MATCHED THEN DO NOTHING WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND max(1) THEN DO NOTHING",
    ] {
        let statement = format!("{merge} {clauses}");
        assert_eq!(sql.state(&statement), "42601", "{statement}");
    }
    let reached = format!("{merge} WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN DO NOTHING");
    assert_eq!(sql.state(&reached), "42P01");
}

#[test]
fn functions_that_give_rows_stand_beside_values_of_any_kind() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, l INT[])");
    sql.run("INSERT INTO t SELECT i, CASE WHEN i % 3 > 0 THEN ARRAY[i, NULL] END FROM generate_series(1, 5000) AS g(i)");
    assert_eq!(
        sql.rows(
            "SELECT count(*), sum(a), sum(l[1]), sum(u), count(l), max(g) FROM
             (SELECT a, l, unnest(l) AS u, generate_series(1, a % 4) AS g FROM t) q"
        ),
        ["10002|25010002|18757501|8336667|7501|3"]
    );
}

/// Rows are changed while others are being found: more of them than `memory_limit` has room for.
#[test]
fn more_rows_change_than_fit_into_memory() {
    let sql = Sql::new();
    sql.run("CREATE TABLE m (id INT PRIMARY KEY, g INT, t TEXT)");
    sql.run("INSERT INTO m SELECT g, g % 100, repeat(md5(g::text), 8) FROM generate_series(1, 200000) g");
    sql.run("CREATE INDEX m_g ON m (g)");
    sql.run("CREATE TABLE other (g INT, n INT); INSERT INTO other SELECT g % 50, g FROM generate_series(1, 100) g");
    sql.run("SET memory_limit = '24MB'");
    for (change, tag) in [
        ("UPDATE m SET t = t || 'x'", "UPDATE 200000"),
        ("UPDATE m SET g = g + 1, t = t || 'y'", "UPDATE 200000"),
        (
            "UPDATE m SET g = m.g + 1 FROM other WHERE m.g = other.g",
            "UPDATE 98000",
        ),
        (
            "DELETE FROM m WHERE g % 2 = 0 AND t LIKE '%xy'",
            "DELETE 102000",
        ),
    ] {
        assert_eq!(sql.run(change), tag, "{change}");
    }
    let sums = "SELECT count(*), sum(g), count(DISTINCT id), sum(length(t)) FROM m";
    let first = sql.rows_of_one_engine(sums);
    // The statement does not see what it has changed, and is taken back as a whole. Rows of the
    // transaction itself are changed as they are found, too.
    sql.run("VACUUM m; BEGIN; UPDATE m SET g = g + 1000 WHERE g < 1000; SAVEPOINT s");
    assert_eq!(sql.one("SELECT count(*) FROM m WHERE g < 1000"), "0");
    assert_eq!(sql.run("UPDATE m SET g = g + 1000"), "UPDATE 98000");
    assert_eq!(sql.run("DELETE FROM m WHERE g > 2000"), "DELETE 98000");
    sql.run("ROLLBACK TO s");
    assert_eq!(sql.one("SELECT count(*) FROM m WHERE g < 2000"), "98000");
    assert_eq!(sql.state("UPDATE m SET g = 1 / (id - 199998)"), "22012");
    sql.run("ROLLBACK");
    assert_eq!(sql.rows_of_one_engine(sums), first);
    // Keys that move over each other are checked at the end.
    sql.run("RESET memory_limit");
    assert_eq!(sql.run("UPDATE m SET id = id + 1"), "UPDATE 98000");
    assert_eq!(sql.state("UPDATE m SET id = id / 200"), "23505");
}

/// More rows than fit into memory are changed where rows of other tables refer to them. Rows that
/// refer to their own table, and keys that move, are followed as in PostgreSQL.
#[test]
fn rows_that_others_follow_change_as_they_are_found() {
    let sql = Sql::new();
    sql.run(
        "CREATE TABLE p (id INT PRIMARY KEY, up INT REFERENCES p ON DELETE CASCADE, t TEXT);
         CREATE TABLE q (id INT PRIMARY KEY, t TEXT);
         CREATE TABLE c (id INT PRIMARY KEY, q INT REFERENCES q ON DELETE CASCADE ON UPDATE CASCADE);
         CREATE TABLE d (c INT REFERENCES c ON DELETE SET NULL);
         CREATE INDEX ON p (up); CREATE INDEX ON c (q); CREATE INDEX ON d (c);
         INSERT INTO q SELECT g, repeat(md5(g::text), 8) FROM generate_series(1, 120000) g;
         INSERT INTO c SELECT g, g FROM generate_series(1, 70000) g;
         INSERT INTO d SELECT g FROM generate_series(1, 60000) g;
         INSERT INTO p SELECT g, CASE WHEN g > 1 THEN g / 2 END, 't' FROM generate_series(1, 90000) g;
         SET memory_limit = '24MB'",
    );
    assert_eq!(sql.run("UPDATE q SET t = t || 'x'"), "UPDATE 120000");
    assert_eq!(sql.run("DELETE FROM q WHERE id > 50000"), "DELETE 70000");
    assert_eq!(sql.one("SELECT count(*) FROM c"), "50000");
    assert_eq!(sql.one("SELECT count(*) - count(c) FROM d"), "10000");
    // All of them are deleted by the statement, whichever follow others.
    assert_eq!(sql.run("DELETE FROM p WHERE id > 1"), "DELETE 89999");
    // Keys that move over each other are followed from where they were.
    sql.run("RESET memory_limit; DELETE FROM q WHERE id > 10");
    assert_eq!(sql.run("UPDATE q SET id = id + 1"), "UPDATE 10");
    assert_eq!(sql.one("SELECT count(*) FROM c WHERE q = id + 1"), "10");
}

/// Statements that are drawn leave the same rows one by one and in a transaction that has rows of
/// its own in memory, where what they change does not fit into memory at once.
#[test]
fn a_transaction_changes_the_rows_that_single_statements_change() {
    let sql = Sql::new();
    for table in ["one", "other"] {
        sql.run(&format!(
            "CREATE TABLE {table} (id INT PRIMARY KEY, g INT, t TEXT);
             CREATE INDEX {table}_g ON {table} (g)"
        ));
    }
    changes_in_a_transaction(&sql, 7, 20_261_130);
}

/// Drawn statements, in a transaction and one by one, over a partitioned table; UPDATE moves rows
/// between its partitions.
#[test]
fn a_transaction_changes_the_rows_of_partitions_that_single_statements_change() {
    let sql = Sql::new();
    for table in ["one", "other"] {
        sql.run(&format!(
            "CREATE TABLE {table} (id INT, g INT, t TEXT) PARTITION BY RANGE (g);
             CREATE TABLE {table}_1 PARTITION OF {table} FOR VALUES FROM (MINVALUE) TO (30);
             CREATE TABLE {table}_2 PARTITION OF {table} FOR VALUES FROM (30) TO (31);
             CREATE TABLE {table}_3 PARTITION OF {table} DEFAULT;
             CREATE INDEX {table}_id ON {table} (id)"
        ));
    }
    changes_in_a_transaction(&sql, 6, 31);
}

/// Runs statements of so many kinds on a table "one" in a transaction with little memory, and on a
/// table "other" one by one without a limit.
fn changes_in_a_transaction(sql: &Sql, kinds: u64, mut state: u64) {
    for table in ["one", "other"] {
        sql.run(&format!(
            "INSERT INTO {table} SELECT g, g % 100, repeat(md5(g::text), 8)
             FROM generate_series(1, 60000) g; VACUUM {table}"
        ));
    }
    let mut drawn = |most: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % most
    };
    let mut next_id = 100_000;
    let mut statements = Vec::new();
    for _ in 0..16 {
        let (part, value) = (drawn(100), drawn(10));
        statements.push(match drawn(kinds) {
            0 => {
                // Rows of ON CONFLICT come behind others.
                next_id += 5000;
                format!(
                    "INSERT INTO $ SELECT g, g % 100, repeat(md5(g::text), 4)
                     FROM generate_series({next_id}, {}) g",
                    next_id + 3000
                )
            }
            1 => format!("UPDATE $ SET t = t || '{value}' WHERE g <> {part}"),
            2 => format!("UPDATE $ SET g = (g + {value}) % 100 WHERE id % 100 <> {part}"),
            3 => format!("DELETE FROM $ WHERE g = {part} AND id % 3 = 0"),
            4 => format!(
                "MERGE INTO $ m USING (SELECT id, g FROM $ WHERE g < {part}) s ON m.id = s.id
                 WHEN MATCHED AND s.g = {value} THEN DELETE
                 WHEN MATCHED THEN UPDATE SET t = left(m.t, 200) || s.g"
            ),
            5 => format!(
                "UPDATE $ SET g = o.g, t = $.t || o.id FROM $ o
                 WHERE $.id = o.id + 1 AND o.g > {part}"
            ),
            _ => format!(
                "INSERT INTO $ SELECT id + 1, {value}, 'new' FROM $ WHERE g > {part}
                 ON CONFLICT (id) DO UPDATE SET g = excluded.g, t = $.t || excluded.t"
            ),
        });
    }
    let all = "SELECT count(*), sum(id), sum(g), sum(length(t)), min(md5(t)), max(t) FROM $";
    let of = |table: &str, statement: &str| statement.replace('$', table);
    sql.run("BEGIN");
    sql.run("SET memory_limit = '24MB'");
    let mut tags = Vec::new();
    for (number, statement) in statements.iter().enumerate() {
        if number % 5 == 4 {
            // Taken back, and done once more.
            sql.run("SAVEPOINT s");
            sql.run(&of("one", statement));
            sql.run("ROLLBACK TO s");
        }
        tags.push(sql.run(&of("one", statement)));
    }
    let within = sql.rows_of_one_engine(&of("one", all));
    sql.run("COMMIT");
    sql.run("RESET memory_limit");
    for (statement, tag) in statements.iter().zip(tags) {
        assert_eq!(sql.run(&of("other", statement)), tag, "{statement}");
    }
    assert_eq!(sql.rows_of_one_engine(&of("other", all)), within);
    assert_eq!(sql.rows_of_one_engine(&of("one", all)), within);
}

/// A transaction that has changed very many rows holds the whole table, where no other holds a row.
#[test]
fn very_many_rows_are_locked_as_a_table() {
    let sql = Sql::new();
    let other = Sql::on(sql.session.database());
    sql.run("CREATE TABLE w (id INT PRIMARY KEY, n INT)");
    sql.run("INSERT INTO w SELECT g, 0 FROM generate_series(1, 300000) g");
    sql.run("CREATE INDEX w_n ON w (n)");
    other.run("SET lock_timeout = '30ms'");
    sql.run("BEGIN; UPDATE w SET n = 1 WHERE id <= 299000");
    assert_eq!(other.ended("UPDATE w SET n = 2 WHERE id = 5"), "55P03");
    assert_eq!(other.ended("UPDATE w SET n = 2 WHERE id = 299500"), "55P03");
    assert_eq!(other.ended("INSERT INTO w VALUES (0, 0)"), "");
    sql.run("ROLLBACK");
    assert_eq!(other.ended("UPDATE w SET n = 2 WHERE id = 299500"), "");
    // Rows that others hold are waited for as ever.
    other.run("BEGIN; SELECT * FROM w WHERE id = 299900 FOR SHARE");
    sql.run("SET lock_timeout = '30ms'; BEGIN; UPDATE w SET n = 3 WHERE id <= 299000");
    assert_eq!(other.ended("UPDATE w SET n = 4 WHERE id = 299950"), "");
    assert_eq!(sql.ended("UPDATE w SET n = 4 WHERE id = 299950"), "55P03");
    sql.run("ROLLBACK");
    other.run("COMMIT");
    assert_eq!(sql.one("SELECT sum(n) FROM w"), "6");
}

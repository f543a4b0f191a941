//! Statements do with the small stacks that runtimes give their threads.

use crate::support::Sql;

/// Bytes of small stacks: two and four times less than tokio gives its threads.
const STACKS: [usize; 2] = [1 << 20, 512 << 10];

const STATEMENTS: [&str; 16] = [
    "SELECT 1",
    "CREATE TABLE t (k INT PRIMARY KEY, g INT, v DECIMAL(10,2), s TEXT DEFAULT 'x')",
    "INSERT INTO t SELECT i, i % 7, i, 's' || i FROM generate_series(1, 5000) AS g(i)",
    "INSERT INTO t VALUES (1, 2, 3, 'y') ON CONFLICT (k) DO UPDATE SET g = t.g + 1",
    "UPDATE t SET v = v + 1 WHERE g IN (SELECT g FROM t WHERE k < 10)",
    "DELETE FROM t USING (SELECT 3 AS g) AS o WHERE t.g = o.g AND t.k > 4000",
    "MERGE INTO t USING (SELECT 9 AS k) AS o ON t.k = o.k WHEN MATCHED THEN UPDATE SET v = 0",
    "CREATE INDEX by_g ON t USING csb (g)",
    "ALTER TABLE t ADD COLUMN more INT, ALTER COLUMN s SET NOT NULL",
    "CREATE VIEW w AS SELECT g, sum(v) AS v FROM t GROUP BY g",
    "EXPLAIN ANALYZE SELECT a.g, sum(b.v) FROM t AS a JOIN w AS b ON a.g = b.g GROUP BY a.g",
    "SELECT EXISTS (SELECT 1 FROM t WHERE k IN (SELECT g FROM w)), (SELECT max(k) FROM t)",
    "PREPARE p AS SELECT * FROM t WHERE k = $1; EXECUTE p(7)",
    "ADVISE FOR (SELECT s FROM t WHERE v BETWEEN 1 AND 20)",
    "SELECT c.relname, pg_get_indexdef(i.indexrelid) FROM pg_class AS c, pg_index AS i \
     WHERE c.oid = i.indrelid UNION SELECT polname, NULL FROM pg_policy",
    "TRUNCATE t; VACUUM t; DROP VIEW w; DROP TABLE t",
];

/// The thread that asks and those that work have small stacks.
#[test]
fn statements_need_little_of_a_stack() {
    for stack in STACKS {
        let run = move || {
            let sql = Sql::with_stacks(stack);
            for statement in STATEMENTS {
                sql.run(statement);
            }
        };
        let thread = std::thread::Builder::new().stack_size(stack).spawn(run);
        thread.unwrap().join().unwrap();
    }
}

/// Chains of this many terms, which no other way of grouping makes flatter, and forms that are
/// nested as often as the grammar takes.
const LONG: [usize; 3] = [120, 450, 2_000];
const NESTED: [usize; 2] = [120, 350];

/// Queries with as many levels.
fn deep() -> Vec<String> {
    let from = "FROM (VALUES (1, true, 'a')) AS v (x, y, z)";
    let mut queries = Vec::new();
    for count in LONG {
        for (term, operator) in [("x", " - "), ("z", " || "), ("y", " = ")] {
            let chain = vec![term; count].join(operator);
            queries.push(format!("SELECT {chain} {from}"));
            queries.push(format!(
                "SELECT count(*) {from} WHERE ({chain}) IS NOT NULL GROUP BY {chain}"
            ));
        }
        queries.push(vec!["SELECT 1"; count.min(100)].join(" EXCEPT "));
    }
    for count in NESTED {
        for (open, close) in [
            ("(", ")"),
            ("CASE WHEN x > 0 THEN ", " END"),
            ("abs(", ")"),
            ("- -", ""),
            ("(SELECT ", ")"),
        ] {
            let (open, close) = (open.repeat(count), close.repeat(count));
            queries.push(format!("SELECT {open}x{close} {from}"));
        }
    }
    queries
}

/// Whatever is done with a deep statement, it is done or refused: the process lives on.
#[test]
fn deep_statements_are_done_or_refused() {
    let run = || {
        let sql = Sql::new();
        sql.run("CREATE TABLE t (x INT, y BOOLEAN, z TEXT)");
        let mut done = 0;
        for query in deep() {
            for statement in [
                query.clone(),
                format!("EXPLAIN {query}"),
                format!("PREPARE p AS {query}"),
                "EXECUTE p".to_owned(),
                "EXPLAIN EXECUTE p".to_owned(),
                "DEALLOCATE ALL".to_owned(),
                format!("CREATE VIEW w AS SELECT count(*) AS n FROM ({query}) AS q"),
                "SELECT n, pg_get_viewdef('w'::regclass) IS NULL FROM w".to_owned(),
                "DROP VIEW IF EXISTS w".to_owned(),
                format!("CREATE TABLE made AS SELECT count(*) AS n FROM ({query}) AS q"),
                "DROP TABLE IF EXISTS made".to_owned(),
                format!("INSERT INTO t (x) SELECT count(*) FROM ({query}) AS q"),
                format!("UPDATE t SET x = (SELECT count(*) FROM ({query}) AS q)"),
                format!("DELETE FROM t WHERE x = (SELECT count(*) FROM ({query}) AS q)"),
                format!("BEGIN; DECLARE c CURSOR FOR {query}; FETCH ALL FROM c; COMMIT"),
                "ROLLBACK".to_owned(),
            ] {
                let state = sql.ended(&statement);
                let known = ["", "54001", "26000", "42P01", "42601", "42883", "25P02"];
                assert!(known.contains(&state.as_str()), "{state}: {statement:.99}");
                done += usize::from(state.is_empty());
            }
            if let Ok(prepared) = sql.session.prepare(&query) {
                let _ = sql.told(&prepared);
                let _ = crate::support::runtime().block_on(prepared.rows(&sql.session, &[]));
            }
            assert_eq!(sql.one("SELECT 1"), "1");
        }
        assert!(done > 200, "{done}");
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run);
    thread.unwrap().join().unwrap();
}

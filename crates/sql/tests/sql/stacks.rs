//! Statements do with the small stacks that runtimes give their threads.

use crate::support::Sql;

/// A quarter of what tokio gives its threads.
const STACK: usize = 512 << 10;

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

#[test]
fn statements_need_little_of_a_stack() {
    let run = || {
        let sql = Sql::new();
        for statement in STATEMENTS {
            sql.run(statement);
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run);
    thread.unwrap().join().unwrap();
}

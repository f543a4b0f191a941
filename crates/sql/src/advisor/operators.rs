//! What operators above scans cost on this machine.

use std::collections::BTreeMap;

use futures::TryStreamExt;

use crate::database::Database;
use crate::error::Result;
use crate::outcome::Outcome;
use crate::session::Session;
use crate::statement::parse;

/// Rows of the table that they work on: more than caches hold.
const ROWS: usize = 2_000_000;
/// How often each statement is run.
const TURNS: usize = 3;

/// Statements of which an operator takes much of the time: groups of few and of many keys,
/// joins with a small side and a large one.
const STATEMENTS: [&str; 10] = [
    "SELECT count(*) FROM (SELECT a, count(*) AS n FROM t GROUP BY a) AS s WHERE n + a > 500",
    "SELECT sum(a * 3 + b), sum(a - c) FROM t",
    "SELECT g, sum(a), avg(c) FROM t GROUP BY g",
    "SELECT a, count(*), max(b) FROM t GROUP BY a",
    "SELECT count(*) FROM t JOIN small ON t.g = small.k WHERE small.v + t.b > 500",
    "SELECT count(*) FROM t JOIN t AS u ON t.k = u.a WHERE t.b + u.c > 500",
    "SELECT a, b FROM t ORDER BY a, b",
    "SELECT a, b FROM t ORDER BY b, a LIMIT 100",
    "SELECT sum(n) FROM (SELECT row_number() OVER (PARTITION BY g ORDER BY a) AS n FROM t) AS s",
    "SELECT count(*) FROM (SELECT a FROM t UNION ALL SELECT b FROM t) AS s WHERE a + 1 > 500",
];

/// Measures what each operator costs: nanoseconds of one thread for each row that comes in,
/// by its name. It takes some seconds, and some 100 MB of memory.
///
/// # Errors
/// None but those of running out of memory.
pub async fn operator_costs() -> Result<BTreeMap<String, f64>> {
    let database = Database::in_memory();
    let session = database.session();
    let loaded = format!(
        "CREATE TABLE t AS SELECT value AS k, value % 1000 AS g, value * 7919 % {ROWS} AS a, \
         value * 104729 % 1000003 AS b, value * 31 % 4096 AS c FROM generate_series(1::bigint, {ROWS}) AS g(value); \
         CREATE TABLE small AS SELECT value AS k, value AS v FROM generate_series(0, 999) AS g(value)"
    );
    session.execute(&loaded).await?;
    for _ in 0..TURNS {
        for statement in STATEMENTS {
            read(&session, statement).await?;
        }
    }
    Ok(database.record().learnt(|learnt| learnt.operators()))
}

/// Runs a statement and lets its rows go.
async fn read(session: &Session, sql: &str) -> Result<()> {
    for statement in parse(sql)? {
        if let Outcome::Rows(rows) = session.run(&statement).await? {
            let mut stream = rows.stream;
            while stream.try_next().await?.is_some() {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_operator_costs_something() {
        let costs = operator_costs().await.unwrap();
        for (name, nanoseconds) in &costs {
            assert!(
                (0.0..100_000.0).contains(nanoseconds),
                "{name}: {nanoseconds}"
            );
        }
        for name in ["aggregate", "join", "sort", "filter"] {
            assert!(costs[name] > 0.0, "{name}: {costs:?}");
        }
        assert!(costs["sort"] > costs["union"], "{costs:?}");
    }
}

//! Statements that would run for hours end at their time, and delay nobody else meanwhile.

use std::time::{Duration, Instant};

use crate::support::{Served, state};

/// Far longer than a statement takes to end, and far shorter than those take.
const SOON: Duration = Duration::from_secs(20);

/// Each keeps a thread in its own way: pairs of which none passes, rows of one group, results
/// that nobody reads, functions that take long for one row, work between two batches.
const ENDLESS: [&str; 20] = [
    "SELECT count(*) FROM generate_series(1, 300000) AS a, generate_series(1, 300000) AS b",
    "SELECT count(*) FROM generate_series(1, 300000) AS a JOIN generate_series(1, 300000) AS b ON a + b < 0",
    "SELECT count(*) FROM wide AS a JOIN wide AS b ON a.i + b.i < 0",
    "SELECT count(*) FROM wide AS a LEFT JOIN wide AS b ON a.i + b.i < 0",
    "SELECT count(*) FROM wide AS a JOIN wide AS b ON a.k = b.k",
    "SELECT count(*) FROM wide AS a JOIN wide AS b ON a.k = b.k AND a.i + b.i < 0",
    "SELECT count(*) FROM wide AS a WHERE EXISTS (SELECT 1 FROM wide AS b WHERE a.k = b.k AND a.i + b.i < 0)",
    "SELECT count(*) FROM wide AS a WHERE NOT EXISTS (SELECT 1 FROM wide AS b WHERE a.i + b.i < 0)",
    "SELECT sum(a.i * b.k) FROM wide AS a, wide AS b",
    "WITH RECURSIVE r(n) AS (SELECT 1::bigint UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
    "SELECT sum(g * 2) FROM generate_series(1, 1000000000000) AS g",
    "SELECT count(*) FROM (SELECT generate_series(1, 1000000000000)) AS g",
    "SELECT g FROM generate_series(1, 1000000000) AS g ORDER BY -g LIMIT 10",
    "SELECT count(DISTINCT g) FROM generate_series(1, 1000000000) AS g",
    "SELECT sum(n) FROM (SELECT row_number() OVER (PARTITION BY a.k ORDER BY a.i) AS n FROM wide AS a, wide AS b) AS q",
    "SELECT sum(exp(g::numeric / 1000)) FROM generate_series(1, 10000000) AS g",
    "SELECT count(*) FROM wide WHERE repeat(i::text, 100000) ~ '(1+)+b(x|y)*$'",
    "SELECT pg_sleep(1000)",
    "SELECT count(pg_sleep(0.001)) FROM wide",
    "INSERT INTO wide SELECT a.i, a.k FROM wide AS a, wide AS b",
];

#[tokio::test(flavor = "multi_thread")]
async fn endless_statements_end_and_delay_nobody() {
    let served = Served::new().await;
    let (busy, other) = (served.client().await, served.client().await);
    busy.batch_execute(
        "CREATE TABLE wide (i INTEGER, k INTEGER);
         INSERT INTO wide SELECT g, g % 10 FROM generate_series(1, 300000) AS g;
         CREATE TABLE few (i INTEGER PRIMARY KEY);
         INSERT INTO few SELECT g FROM generate_series(1, 1000) AS g;
         SET statement_timeout = '100ms'",
    )
    .await
    .unwrap();
    for sql in ENDLESS {
        let running = async {
            let begun = Instant::now();
            assert_eq!(state(busy.query(sql, &[]).await), "57014", "{sql}");
            assert_eq!(state(busy.simple_query(sql).await), "57014", "{sql}");
            assert!(begun.elapsed() < SOON, "{sql} took {:?}", begun.elapsed());
            // The time of one statement is not that of the next.
            assert_eq!(busy.query("SELECT 1", &[]).await.unwrap().len(), 1, "{sql}");
        };
        let meanwhile = async {
            loop {
                let begun = Instant::now();
                let found = other.query("SELECT i FROM few WHERE i = 7", &[]).await;
                assert_eq!(found.unwrap().len(), 1);
                assert!(begun.elapsed() < SOON / 2, "{sql} delays others");
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::select! {
            () = running => {}
            () = meanwhile => {}
        }
    }
}

/// Clients share plans, and their functions: each statement ends at its own time.
#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_one_client_is_not_that_of_another() {
    let served = Served::new().await;
    let (first, second) = (served.client().await, served.client().await);
    first
        .batch_execute(
            "CREATE TABLE texts AS SELECT 'x' || g AS t FROM generate_series(1, 1000) AS g;
             CREATE TABLE into_blocks (n INTEGER) WITH (sort_by = 'n');
             SET statement_timeout = '500ms'",
        )
        .await
        .unwrap();
    let queries = [
        "SELECT count(*) FROM texts WHERE reverse(t) > '5'",
        "SELECT string_agg(reverse(t), ',') FROM texts",
        "SELECT t, u FROM texts, LATERAL (SELECT reverse(t) AS u LIMIT 1) AS q",
        "SELECT sum(length(t)) OVER (ORDER BY reverse(t)) FROM texts",
        "INSERT INTO into_blocks SELECT length(repeat(t, 2)) FROM texts",
    ];
    for sql in queries {
        first.simple_query(sql).await.unwrap();
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    for sql in queries {
        let done = second.simple_query(sql).await;
        assert!(done.is_ok(), "{sql}: {:?}", done.err());
    }
    // A time-out of the second client ends none of the first.
    second
        .batch_execute("SET statement_timeout = '300ms'")
        .await
        .unwrap();
    let slow = "SELECT count(pg_sleep(0.01)), sum(length(reverse(t))) FROM texts";
    assert_eq!(state(second.query(slow, &[]).await), "57014");
    for sql in queries {
        first.simple_query(sql).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn long_texts_end_at_their_time() {
    let served = Served::new().await;
    let client = served.client().await;
    let many = |part: &dyn Fn(usize) -> String, with: &str, count: usize| {
        let parts: Vec<String> = (0..count).map(part).collect();
        parts.join(with)
    };
    let texts = [
        format!(
            "SELECT 1 WHERE {}",
            many(&|n| format!("{n} = 1 + {n}"), " OR ", 10_000)
        ),
        many(&|n| format!("SELECT {n}"), " UNION ALL ", 5_000),
        format!(
            "VALUES {}",
            many(&|n| format!("({n}, '{n}')"), ", ", 200_000)
        ),
        format!(
            "SELECT 7 IN ({})",
            many(&|n| format!("{n} + 8"), ", ", 100_000)
        ),
    ];
    client
        .batch_execute("SET statement_timeout = '5ms'")
        .await
        .unwrap();
    for sql in texts {
        let begun = Instant::now();
        assert_eq!(
            state(client.simple_query(&sql).await),
            "57014",
            "{}",
            &sql[..40]
        );
        assert!(begun.elapsed() < SOON, "{}", &sql[..40]);
    }
}

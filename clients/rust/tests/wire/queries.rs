//! Statements, their results and tags, by both protocols.

use tokio_postgres::SimpleQueryMessage as Simple;

use crate::support::{Served, state};

async fn filled() -> (Served, tokio_postgres::Client) {
    let served = Served::new().await;
    let client = served.client().await;
    client
        .batch_execute(
            "CREATE TABLE t (k INT PRIMARY KEY, name TEXT, price DECIMAL(10,2));
             INSERT INTO t VALUES (1, 'one', 1.5), (2, 'two', 2.25), (3, NULL, NULL)",
        )
        .await
        .unwrap();
    (served, client)
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_of_statements_give_rows_and_tags() {
    let (_served, client) = filled().await;
    let answers = client
        .simple_query("SELECT k, name FROM t ORDER BY k; UPDATE t SET name = 'x' WHERE k > 1;")
        .await
        .unwrap();
    let rows: Vec<(&str, Option<&str>)> = answers
        .iter()
        .filter_map(|answer| match answer {
            Simple::Row(row) => Some((row.get(0).unwrap(), row.get(1))),
            _ => None,
        })
        .collect();
    assert_eq!(rows, [("1", Some("one")), ("2", Some("two")), ("3", None)]);
    let counts: Vec<u64> = answers
        .iter()
        .filter_map(|answer| match answer {
            Simple::CommandComplete(count) => Some(*count),
            _ => None,
        })
        .collect();
    assert_eq!(counts, [3, 2]);
    let empty = client.simple_query(" ; ").await.unwrap();
    assert!(empty.iter().all(|answer| !matches!(answer, Simple::Row(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn prepared_statements_take_parameters() {
    let (_served, client) = filled().await;
    let by_key = client
        .prepare("SELECT name, price FROM t WHERE k = $1")
        .await
        .unwrap();
    assert_eq!(by_key.params()[0].name(), "int4");
    assert_eq!(by_key.columns()[1].type_().name(), "numeric");
    for (key, name) in [(1, "one"), (2, "two")] {
        let row = client.query_one(&by_key, &[&key]).await.unwrap();
        assert_eq!(row.get::<_, &str>(0), name);
    }
    assert!(client.query_opt(&by_key, &[&9]).await.unwrap().is_none());
    let insert = "INSERT INTO t (k, name) VALUES ($1, $2)";
    assert_eq!(client.execute(insert, &[&7, &"seven"]).await.unwrap(), 1);
    assert_eq!(
        state(client.execute(insert, &[&7, &"again"]).await),
        "23505"
    );
    let update = "UPDATE t SET name = $1 WHERE k IN ($2, $3)";
    assert_eq!(client.execute(update, &[&"new", &1, &7]).await.unwrap(), 2);
    let returning = "DELETE FROM t WHERE name = $1 RETURNING k, name";
    let gone = client.query(returning, &[&"new"]).await.unwrap();
    assert_eq!(gone.len(), 2);
    assert_eq!(gone[0].columns()[0].type_().name(), "int4");
    let upsert = "INSERT INTO t VALUES ($1, $2, 0) ON CONFLICT (k) DO UPDATE SET name = $2";
    assert_eq!(
        client.execute(upsert, &[&2, &"two again"]).await.unwrap(),
        1
    );
    let row = client.query_one(&by_key, &[&2]).await.unwrap();
    assert_eq!(row.get::<_, &str>(0), "two again");
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_say_what_and_where() {
    let (_served, client) = filled().await;
    let error = client
        .simple_query("SELECT k,\n nothing FROM t")
        .await
        .unwrap_err();
    let error = error.as_db_error().unwrap();
    assert_eq!(error.code().code(), "42703");
    let place = error.position().unwrap();
    assert_eq!(*place, tokio_postgres::error::ErrorPosition::Original(12));
    assert_eq!(state(client.prepare("SELECT 1; SELECT 2").await), "42601");
    assert_eq!(
        state(client.query("SELECT 1 / (k - k) FROM t", &[]).await),
        "22012"
    );
    // The connection goes on, by both protocols.
    assert_eq!(client.query("SELECT 1", &[]).await.unwrap().len(), 1);
    assert_eq!(state(client.simple_query("SELEC 1").await), "42601");
    assert_eq!(client.query("SELECT 1", &[]).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn portals_give_some_rows_at_a_time() {
    let (_served, mut client) = filled().await;
    let transaction = client.transaction().await.unwrap();
    let portal = transaction
        .bind(
            "SELECT value FROM generate_series(1, 20000) AS g(value) ORDER BY value",
            &[],
        )
        .await
        .unwrap();
    let mut next = 1_i32;
    loop {
        let rows = transaction.query_portal(&portal, 3000).await.unwrap();
        for row in &rows {
            assert_eq!(row.get::<_, i32>(0), next);
            next += 1;
        }
        if rows.len() < 3000 {
            break;
        }
    }
    assert_eq!(next, 20_001);
    transaction.commit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn transactions_are_of_their_connection() {
    let (served, mut client) = filled().await;
    let other = served.client().await;
    let count = "SELECT count(*) FROM t";
    let counted = async |client: &tokio_postgres::Client| -> i64 {
        client.query_one(count, &[]).await.unwrap().get(0)
    };
    let transaction = client.transaction().await.unwrap();
    transaction.execute("DELETE FROM t", &[]).await.unwrap();
    assert_eq!(counted(&other).await, 3);
    transaction.rollback().await.unwrap();
    assert_eq!(counted(&client).await, 3);
    client
        .batch_execute("BEGIN; DELETE FROM t WHERE k = 1")
        .await
        .unwrap();
    assert_eq!(state(client.simple_query("SELECT nothing").await), "42703");
    assert_eq!(state(client.simple_query(count).await), "25P02");
    client.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(counted(&client).await, 3);
}

/// DEALLOCATE and DISCARD ALL forget statements that messages have prepared, too.
#[tokio::test(flavor = "multi_thread")]
async fn prepared_statements_are_forgotten() {
    let served = Served::new().await;
    let client = served.client().await;
    for forget in ["DEALLOCATE ALL", "DISCARD ALL"] {
        let statement = client.prepare("SELECT 1::int").await.unwrap();
        assert_eq!(client.query(&statement, &[]).await.unwrap().len(), 1);
        client.batch_execute(forget).await.unwrap();
        assert_eq!(state(client.query(&statement, &[]).await), "26000");
    }
    assert_eq!(
        state(client.batch_execute("DEALLOCATE nothing").await),
        "26000"
    );
}

/// Threads of queries stand below those that answer short statements.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn queries_give_way_to_short_statements() {
    let served = Served::new().await;
    let client = served.client().await;
    client
        .batch_execute(
            "CREATE TABLE t AS SELECT v % 100000 AS g FROM generate_series(1, 300000) AS s(v); \
             SELECT g, count(*) FROM t GROUP BY g",
        )
        .await
        .unwrap();
    let query = "SELECT g, count(*) FROM t GROUP BY g";
    // The nineteenth field of all is `nice`, the forty-first the policy.
    let (queries, others) = threads(&served, 16);
    assert!(
        !queries.is_empty() && queries.iter().all(|nice| *nice == 6),
        "{queries:?}"
    );
    assert!(others.iter().all(|nice| *nice == 0), "{others:?}");
    // Beside many short statements it has the time that is left.
    let end = std::time::Instant::now() + std::time::Duration::from_millis(400);
    while std::time::Instant::now() < end {
        client.batch_execute("SELECT 1").await.unwrap();
    }
    client.batch_execute(query).await.unwrap();
    const BACKGROUND: i32 = 5;
    let (queries, others) = threads(&served, 38);
    assert!(queries.contains(&BACKGROUND), "{queries:?}");
    assert!(!others.contains(&BACKGROUND), "{others:?}");
}

/// A field of the state of each thread of queries, and of the other threads.
#[cfg(target_os = "linux")]
fn threads(served: &Served, field: usize) -> (Vec<i32>, Vec<i32>) {
    let (mut queries, mut others) = (Vec::new(), Vec::new());
    for thread in std::fs::read_dir(format!("/proc/{}/task", served.child.id().unwrap())).unwrap() {
        let stat = std::fs::read_to_string(thread.unwrap().path().join("stat")).unwrap();
        let (name, fields) = stat.rsplit_once(") ").unwrap();
        let value: i32 = fields.split(' ').nth(field).unwrap().parse().unwrap();
        let is_query = name.contains("(statement") || name.contains("(pipeline");
        if is_query { &mut queries } else { &mut others }.push(value);
    }
    (queries, others)
}

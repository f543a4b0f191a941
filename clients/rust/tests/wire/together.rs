//! What a client sends as one is done as one, and what goes wrong ends it.

use tokio::io::AsyncWriteExt;
use tokio_postgres::Client;

use crate::support::{Served, answer, framed, ready, state};

async fn filled() -> (Served, Client) {
    let served = Served::new().await;
    let client = served.client().await;
    client
        .batch_execute("CREATE TABLE t (k INT PRIMARY KEY, name TEXT)")
        .await
        .unwrap();
    (served, client)
}

async fn keys(client: &Client) -> Vec<i32> {
    let rows = client.query("SELECT k FROM t ORDER BY k", &[]).await;
    rows.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_of_several_statements_is_one_transaction() {
    let (_served, client) = filled().await;
    let fails = "INSERT INTO t VALUES (1); INSERT INTO t VALUES (2); INSERT INTO t VALUES (2)";
    assert_eq!(state(client.batch_execute(fails).await), "23505");
    assert_eq!(keys(&client).await, []);
    // COMMIT within it ends it; what follows is another one.
    let committed = "INSERT INTO t VALUES (1); COMMIT; INSERT INTO t VALUES (2); SELECT 1 / 0";
    assert_eq!(state(client.batch_execute(committed).await), "22012");
    assert_eq!(keys(&client).await, [1]);
    // BEGIN makes it last beyond its text.
    let begun = "INSERT INTO t VALUES (3); BEGIN; INSERT INTO t VALUES (4)";
    client.batch_execute(begun).await.unwrap();
    client.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(keys(&client).await, [1]);
    let alone = "INSERT INTO t VALUES (5); SAVEPOINT here";
    assert_eq!(state(client.batch_execute(alone).await), "25P01");
    assert_eq!(keys(&client).await, [1]);
}

/// Parse, Bind and Execute of a statement without parameters.
fn executed(sql: &str) -> Vec<u8> {
    let parse = [b"\0", sql.as_bytes(), b"\0\0\0"].concat();
    [
        framed(Some(b'P'), &parse),
        framed(Some(b'B'), b"\0\0\0\0\0\0\0\0"),
        framed(Some(b'E'), b"\0\0\0\0\0"),
    ]
    .concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_before_a_sync_is_one_transaction() {
    let (served, client) = filled().await;
    let mut socket = ready(&served).await;
    let mut sent = Vec::new();
    for key in [1, 2, 2, 3] {
        sent.extend(executed(&format!("INSERT INTO t VALUES ({key})")));
    }
    sent.extend(framed(Some(b'S'), b""));
    socket.write_all(&sent).await.unwrap();
    let told = answer(&mut socket).await;
    let text = String::from_utf8_lossy(&told);
    assert!(text.contains("23505"), "{text}");
    assert!(told.ends_with(b"Z\0\0\0\x05I"), "{text}");
    assert_eq!(keys(&client).await, []);

    let mut sent = executed("INSERT INTO t VALUES (7)");
    sent.extend(executed("INSERT INTO t VALUES (8)"));
    socket.write_all(&sent).await.unwrap();
    answer(&mut socket).await;
    assert_eq!(keys(&client).await, []);
    socket.write_all(&framed(Some(b'S'), b"")).await.unwrap();
    assert!(answer(&mut socket).await.ends_with(b"Z\0\0\0\x05I"));
    assert_eq!(keys(&client).await, [7, 8]);
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_goes_wrong_fails_the_transaction() {
    let (_served, client) = filled().await;
    for wrong in [
        "SELEC 1",
        "SELECT nothing FROM t",
        "COPY t FROM STDIN (nothing)",
    ] {
        client
            .batch_execute("BEGIN; INSERT INTO t VALUES (1)")
            .await
            .unwrap();
        client.simple_query(wrong).await.unwrap_err();
        let after = client.simple_query("INSERT INTO t VALUES (2)").await;
        assert_eq!(state(after), "25P02", "{wrong}");
        client.batch_execute("ROLLBACK").await.unwrap();
        client
            .batch_execute("BEGIN; INSERT INTO t VALUES (1)")
            .await
            .unwrap();
        client.prepare(wrong).await.unwrap_err();
        let after = client.simple_query("INSERT INTO t VALUES (2)").await;
        assert_eq!(state(after), "25P02", "{wrong}");
        client.batch_execute("ROLLBACK").await.unwrap();
    }
    assert_eq!(keys(&client).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_stay_what_a_client_was_told() {
    let (_served, client) = filled().await;
    client
        .batch_execute("INSERT INTO t VALUES (1, 'one')")
        .await
        .unwrap();
    let all = client.prepare("SELECT * FROM t").await.unwrap();
    let keys = client.prepare("SELECT k FROM t").await.unwrap();
    assert_eq!(client.query(&all, &[]).await.unwrap().len(), 1);
    client
        .batch_execute("ALTER TABLE t ADD COLUMN more INT")
        .await
        .unwrap();
    assert_eq!(state(client.query(&all, &[]).await), "0A000");
    assert_eq!(client.query(&keys, &[]).await.unwrap().len(), 1);
    // A parameter's type is what it is cast to, and NULL is of any type.
    let cast = client
        .prepare("SELECT CAST($1 AS BIGINT) + 1, $2::date")
        .await
        .unwrap();
    assert_eq!(cast.params()[0].name(), "int8");
    assert_eq!(cast.params()[1].name(), "date");
    let plus = client.prepare("SELECT $1 + k FROM t").await.unwrap();
    let row = client.query_one(&plus, &[&None::<i32>]).await.unwrap();
    assert_eq!(row.get::<_, Option<i32>>(0), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn describing_does_nothing() {
    let (_served, client) = filled().await;
    let analyze = client
        .prepare("EXPLAIN ANALYZE SELECT 1 / (k - k) FROM t")
        .await
        .unwrap();
    assert_eq!(analyze.columns()[0].name(), "QUERY PLAN");
    let pilot = client.prepare("PILOT ADVICE 1").await.unwrap();
    assert_eq!(pilot.columns()[0].name(), "query");
    assert_eq!(state(client.query(&pilot, &[]).await), "42704");
    let advise = client.prepare("ADVISE").await.unwrap();
    let told: Vec<String> = advise
        .columns()
        .iter()
        .map(|one| one.name().to_owned())
        .collect();
    let answered = client.query(&advise, &[]).await.unwrap();
    assert_eq!(answered.len(), 1, "nothing is known yet");
    assert_eq!(told[0], "advice");
}

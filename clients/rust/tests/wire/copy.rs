//! COPY from and to the client.

use bytes::Bytes;
use futures::{SinkExt, TryStreamExt};

use crate::support::{Served, state};

async fn put(
    client: &tokio_postgres::Client,
    sql: &str,
    parts: &[&str],
) -> Result<u64, tokio_postgres::Error> {
    let sink = client.copy_in::<_, Bytes>(sql).await?;
    let mut sink = std::pin::pin!(sink);
    for part in parts {
        sink.send(Bytes::copy_from_slice(part.as_bytes())).await?;
    }
    sink.finish().await
}

async fn got(client: &tokio_postgres::Client, sql: &str) -> String {
    let stream = client.copy_out(sql).await.unwrap();
    let parts: Vec<Bytes> = stream.try_collect().await.unwrap();
    String::from_utf8(parts.concat()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_come_and_go_in_both_formats() {
    let served = Served::new().await;
    let client = served.client().await;
    client
        .batch_execute("CREATE TABLE t (a INT, b TEXT, c BOOLEAN)")
        .await
        .unwrap();
    let rows = [
        "1\tone\tt\n2\ttab\\there \\\\ and \\\"q\\\"\tf\n3\t\\",
        "N\t\\N\n4\t\tt\n\\.\n",
    ];
    assert_eq!(put(&client, "COPY t FROM STDIN", &rows).await.unwrap(), 4);
    let text = got(&client, "COPY (SELECT * FROM t ORDER BY a) TO STDOUT").await;
    assert_eq!(
        text,
        "1\tone\tt\n2\ttab\\there \\\\ and \"q\"\tf\n3\t\\N\t\\N\n4\t\tt\n"
    );
    let csv = got(
        &client,
        "COPY (SELECT a, b FROM t ORDER BY a LIMIT 2) TO STDOUT (FORMAT csv, HEADER)",
    )
    .await;
    assert_eq!(csv, "a,b\n1,one\n2,\"tab\there \\ and \"\"q\"\"\"\n");
    client.batch_execute("DELETE FROM t").await.unwrap();
    let rows = ["a;b\n7;\"x;y\"\n8;\n"];
    let sql = "COPY t (a, b) FROM STDIN WITH (FORMAT csv, DELIMITER ';', HEADER)";
    assert_eq!(put(&client, sql, &rows).await.unwrap(), 2);
    assert_eq!(
        got(&client, "COPY t (b, a) TO STDOUT").await,
        "x;y\t7\n\\N\t8\n"
    );
    let none = got(
        &client,
        "COPY (SELECT a FROM t WHERE a > 100) TO STDOUT (FORMAT csv, HEADER)",
    )
    .await;
    assert_eq!(none, "a\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_that_fail_change_nothing() {
    let served = Served::new().await;
    let client = served.client().await;
    client
        .batch_execute("CREATE TABLE t (a INT)")
        .await
        .unwrap();
    let error = put(&client, "COPY t FROM STDIN", &["1\n", "x\n"])
        .await
        .unwrap_err();
    let error = error.as_db_error().unwrap();
    assert_eq!(error.code().code(), "22P02");
    let told = format!("{} {}", error.message(), error.detail().unwrap_or_default());
    assert!(!told.contains("/tmp") && told.contains("line 2"), "{told}");
    assert_eq!(
        state(put(&client, "COPY t FROM STDIN", &["1\t2\n"]).await),
        "22P04"
    );
    // A connection for each: this client loses count of answers after these.
    let other = served.client().await;
    let missing = put(&other, "COPY nowhere FROM STDIN", &[]).await;
    assert_eq!(state(missing), "42P01");
    let other = served.client().await;
    assert_eq!(
        state(put(&other, "COPY t FROM STDIN (FORMAT parquet)", &[]).await),
        "0A000"
    );
    // A client that gives up.
    {
        let sink = client
            .copy_in::<_, Bytes>("COPY t FROM STDIN")
            .await
            .unwrap();
        let mut sink = Box::pin(sink);
        sink.send(Bytes::from_static(b"5\n")).await.unwrap();
    }
    let count = client
        .query_one("SELECT count(*) FROM t", &[])
        .await
        .unwrap();
    assert_eq!(count.get::<_, i64>(0), 0);
}

/// What goes in binary comes back in binary, wherever it is cut.
#[tokio::test(flavor = "multi_thread")]
async fn rows_come_and_go_in_binary() {
    let served = Served::new().await;
    let client = served.client().await;
    client
        .batch_execute(
            "CREATE TABLE b (a INT, t TEXT, n DECIMAL(9,2), y BYTEA, d DATE, f DOUBLE PRECISION);
             INSERT INTO b VALUES (1, 'x\ty\\z', 1.25, '\\x00ff', '1999-12-31', 0.1), (2, NULL, NULL, NULL, NULL, NULL);
             CREATE TABLE c (a INT, t TEXT, n DECIMAL(9,2), y BYTEA, d DATE, f DOUBLE PRECISION)",
        )
        .await
        .unwrap();
    let stream = client
        .copy_out("COPY (SELECT * FROM b ORDER BY a) TO STDOUT (FORMAT binary)")
        .await
        .unwrap();
    let parts: Vec<Bytes> = stream.try_collect().await.unwrap();
    let bytes = parts.concat();
    let sink = client.copy_in::<_, Bytes>("COPY c FROM STDIN BINARY").await;
    let mut sink = std::pin::pin!(sink.unwrap());
    for part in bytes.chunks(7) {
        sink.send(Bytes::copy_from_slice(part)).await.unwrap();
    }
    assert_eq!(sink.finish().await.unwrap(), 2);
    let same = "SELECT count(*) FROM b JOIN c ON b.a = c.a AND b.t IS NOT DISTINCT FROM c.t
        AND b.n IS NOT DISTINCT FROM c.n AND b.y IS NOT DISTINCT FROM c.y
        AND b.d IS NOT DISTINCT FROM c.d AND b.f IS NOT DISTINCT FROM c.f";
    let row = client.query_one(same, &[]).await.unwrap();
    assert_eq!(row.get::<_, i64>(0), 2);
    let sink = client.copy_in::<_, Bytes>("COPY c FROM STDIN BINARY").await;
    let mut sink = std::pin::pin!(sink.unwrap());
    sink.send(Bytes::from_static(b"1\tno binary\n"))
        .await
        .unwrap();
    assert_eq!(state(sink.finish().await), "22P04");
}

//! Limits, cancelling, and the end of a server.

use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio_postgres::NoTls;

use crate::support::{Served, program, state};

/// Takes far longer than any test.
const LONG: &str = "SELECT count(*) FROM generate_series(1, 1000000000000) WHERE value % 7 = 8";

#[tokio::test(flavor = "multi_thread")]
async fn statements_can_be_cancelled() {
    let served = Served::new().await;
    let client = served.client().await;
    let token = client.cancel_token();
    let asked = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(200)).await;
        token.cancel_query(NoTls).await.unwrap();
    });
    let begun = Instant::now();
    assert_eq!(state(client.query(LONG, &[]).await), "57014");
    assert!(begun.elapsed() < Duration::from_secs(20));
    asked.await.unwrap();
    assert_eq!(client.query("SELECT 1", &[]).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_take_no_longer_than_they_may() {
    let served = Served::new().await;
    let client = served.client().await;
    client
        .batch_execute("SET statement_timeout = '150ms'")
        .await
        .unwrap();
    assert_eq!(state(client.query(LONG, &[]).await), "57014");
    assert_eq!(state(client.simple_query(LONG).await), "57014");
    client
        .batch_execute("SET statement_timeout = '18446744073709551615'")
        .await
        .unwrap();
    assert_eq!(client.query("SELECT 1", &[]).await.unwrap().len(), 1);
    client
        .batch_execute("SET statement_timeout = 0")
        .await
        .unwrap();
    assert_eq!(client.query("SELECT 1", &[]).await.unwrap().len(), 1);
    assert_eq!(
        state(client.simple_query("SET statement_timeout = 'never'").await),
        "22023"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_clients_are_let_go() {
    let served = Served::new().await;
    let client = served.client().await;
    client
        .batch_execute("SET idle_session_timeout = 100")
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert!(client.simple_query("SELECT 1").await.is_err());
    assert!(client.is_closed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_lets_statements_end() {
    let mut served = Served::new().await;
    let idle = served.client().await;
    let busy = served.client().await;
    let running = tokio::spawn(async move { busy.query(LONG, &[]).await });
    tokio::time::sleep(Duration::from_millis(200)).await;
    let begun = Instant::now();
    served.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(state(running.await.unwrap()), "57P01");
    assert!(idle.simple_query("SELECT 1").await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn only_so_many_clients_are_served() {
    let served = Served::with(&["--connections", "2"]).await;
    let _first = served.client().await;
    let second = served.client().await;
    assert_eq!(
        state(served.settings().connect(NoTls).await.map(|_| ())),
        "53300"
    );
    drop(second);
    for _ in 0..50 {
        if served.settings().connect(NoTls).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the place of a client that left is not given again");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_is_counted_and_told() {
    let options = [
        "--metrics",
        "127.0.0.1:0",
        "--log",
        "json",
        "--log-slow",
        "0",
    ];
    let mut child = program()
        .args(options)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (first, second) = (lines.next_line().await, lines.next_line().await);
    let first = first.unwrap().unwrap();
    let address = first
        .strip_prefix("listening on ")
        .and_then(|rest| rest.split_once(": "))
        .unwrap()
        .0;
    let second = second.unwrap().unwrap();
    let place = second.strip_prefix("metrics at http://").unwrap();
    let place = place.strip_suffix("/metrics").unwrap();
    let served = Served {
        address: address.parse().unwrap(),
        child,
    };
    let client = served.client().await;
    assert_eq!(client.query("SELECT 1", &[]).await.unwrap().len(), 1);
    assert_eq!(state(client.simple_query("SELECT nothing").await), "42703");
    let page = async |path: &str| {
        let mut socket = tokio::net::TcpStream::connect(place).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: here\r\n\r\n");
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut page = String::new();
        socket.read_to_string(&mut page).await.unwrap();
        page
    };
    let metrics = page("/metrics").await;
    for line in [
        "HTTP/1.1 200 OK",
        "freestone_connections 1",
        "freestone_rows_sent_total 1",
        "freestone_statement_errors_total{sqlstate=\"42703\"} 1",
        "freestone_statement_seconds_count 2",
    ] {
        assert!(
            metrics.lines().any(|known| known == line),
            "{line}\n{metrics}"
        );
    }
    assert!(page("/").await.starts_with("HTTP/1.1 404"));
    let mut served = served;
    let mut told = BufReader::new(served.child.stderr.take().unwrap()).lines();
    let mut events = Vec::new();
    while events.len() < 4 {
        let line = told.next_line().await.unwrap().unwrap();
        events.push(line);
    }
    for (line, event) in events.iter().zip(["connected", "slow", "slow", "failed"]) {
        assert!(
            line.contains(&format!("\"event\":\"{event}\"")),
            "{events:?}"
        );
    }
    assert!(events[3].contains("42703"), "{events:?}");
}

/// A cursor is described as a portal of its name, and read piece by piece.
#[tokio::test(flavor = "multi_thread")]
async fn cursors_of_sql() {
    let served = Served::new().await;
    let client = served.client().await;
    client
        .batch_execute(
            "BEGIN; DECLARE c CURSOR FOR SELECT value FROM generate_series(1, 5) ORDER BY value",
        )
        .await
        .unwrap();
    let rows = client.query("FETCH FORWARD 3 FROM c", &[]).await.unwrap();
    let found: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(found, [1, 2, 3]);
    assert_eq!(
        client.query("FETCH ALL FROM c", &[]).await.unwrap().len(),
        2
    );
    client.batch_execute("COMMIT").await.unwrap();
    client.batch_execute("BEGIN").await.unwrap();
    assert!(client.batch_execute("FETCH c").await.is_err());
}

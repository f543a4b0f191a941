//! Limits, cancelling, and the end of a server.

use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio_postgres::NoTls;

use crate::support::{Served, program, state};

/// Takes far longer than any test.
const LONG: &str =
    "SELECT count(*) FROM generate_series(1, 1000000000000) AS g(value) WHERE value % 7 = 8";

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
        .batch_execute("SET statement_timeout = '2147483647'")
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
    served.place().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_limits_what_sessions_may_take() {
    let options = ["--statement-timeout", "0.2", "--idle-timeout", "30"];
    let served = Served::with(&options).await;
    let mut settings = served.settings();
    settings.options("-c statement_timeout=0");
    let (client, connection) = settings.connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    let shown = async |name: &str| {
        let row = client.query_one(&format!("SHOW {name}"), &[]).await;
        row.unwrap().get::<_, String>(0)
    };
    assert_eq!(shown("statement_timeout").await, "200ms");
    assert_eq!(shown("idle_session_timeout").await, "30s");
    assert_eq!(state(client.query(LONG, &[]).await), "57014");
    for (set, has) in [
        ("= '50ms'", "50ms"),
        ("= '1h'", "200ms"),
        ("TO DEFAULT", "200ms"),
    ] {
        let sql = format!("SET statement_timeout {set}");
        client.batch_execute(&sql).await.unwrap();
        assert_eq!(shown("statement_timeout").await, has);
    }
    assert_eq!(state(client.simple_query(LONG).await), "57014");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_lets_idle_clients_go() {
    let options = [
        "--idle-timeout",
        "30",
        "--idle-in-transaction-timeout",
        "0.1",
    ];
    let served = Served::with(&[&options[..], &["--connections", "1"]].concat()).await;
    let client = served.client().await;
    client.batch_execute("BEGIN").await.unwrap();
    served.place().await;
    assert!(client.is_closed());
    let options = ["--idle-timeout", "0.1", "--connections", "1"];
    let served = Served::with(&options).await;
    let client = served.client().await;
    served.place().await;
    assert!(client.is_closed());
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_keep_nobody_out() {
    let served = Served::with(&["--connections", "1", "--startup-seconds", "1000"]).await;
    let mut silent = Vec::new();
    for _ in 0..150 {
        silent.push(served.socket().await);
    }
    let client = served.client().await;
    // The first of them had to make room.
    let ended = silent[0].read(&mut [0]).await;
    assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?}");
    let token = client.cancel_token();
    let long = tokio::spawn(async move { client.query(LONG, &[]).await });
    // Asked again until it has begun: nobody is kept waiting by a full server.
    while !long.is_finished() {
        token.cancel_query(NoTls).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(state(long.await.unwrap()), "57014");
}

#[tokio::test(flavor = "multi_thread")]
async fn some_places_are_for_superusers() {
    let served = Served::with(&["--connections", "5"]).await;
    let boss = served.client().await;
    boss.batch_execute("CREATE USER ann").await.unwrap();
    let connect = async |user: &str| {
        let mut settings = served.settings();
        let (client, connection) = settings.user(user).connect(NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    };
    let _ann = connect("ann").await.unwrap();
    assert_eq!(state(connect("ann").await.map(|_| ())), "53300");
    connect("freestone").await.unwrap();
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
    // Others that say nothing keep nobody waiting.
    let mut silent = Vec::new();
    for _ in 0..7 {
        silent.push(tokio::net::TcpStream::connect(place).await.unwrap());
    }
    let metrics = tokio::time::timeout(Duration::from_secs(4), page("/metrics"));
    let metrics = metrics.await.expect("it waits for others");
    drop(silent);
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
            "BEGIN; DECLARE c CURSOR FOR SELECT value FROM generate_series(1, 5) AS g(value) ORDER BY value",
        )
        .await
        .unwrap();
    let rows = client.query("FETCH FORWARD 3 FROM c", &[]).await.unwrap();
    let found: Vec<i32> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(found, [1, 2, 3]);
    assert_eq!(
        client.query("FETCH ALL FROM c", &[]).await.unwrap().len(),
        2
    );
    client.batch_execute("COMMIT").await.unwrap();
    client.batch_execute("BEGIN").await.unwrap();
    assert!(client.batch_execute("FETCH c").await.is_err());
}

//! Limits, cancelling, and the end of a server.

use std::time::{Duration, Instant};

use tokio_postgres::NoTls;

use crate::support::{Served, state};

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

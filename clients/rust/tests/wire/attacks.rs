//! Bytes that no client sends: refused, and others go on.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::startup::with_users;
use crate::support::{Served, answer, framed, hello, ready, says, state};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_ends_the_connection() {
    let served = Served::new().await;
    let mut lengths = vec![
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        vec![0; 64],
        vec![0xff; 64],
        framed(None, &[0, 2, 0, 0]),
        // Half a parameter.
        framed(None, &[&196_608_u32.to_be_bytes()[..], b"user"].concat()),
        framed(None, &196_608_u32.to_be_bytes()),
    ];
    lengths.push(
        [
            &0x7fff_ffff_u32.to_be_bytes()[..],
            &196_608_u32.to_be_bytes(),
        ]
        .concat(),
    );
    for bytes in lengths {
        let mut socket = served.socket().await;
        socket.write_all(&bytes).await.unwrap();
        socket.shutdown().await.unwrap();
        answer(&mut socket).await;
    }
    let mut wrong = vec![
        framed(Some(b'?'), b""),
        framed(Some(b'p'), b"password\0"),
        [&b"Q"[..], &0xffff_ffff_u32.to_be_bytes()].concat(),
        [&b"Q"[..], &3_u32.to_be_bytes()].concat(),
        framed(Some(b'D'), b"X\0"),
        framed(Some(b'C'), b"X\0"),
        // More formats than there are bytes.
        framed(Some(b'B'), b"\0\0\x7f\xff"),
        framed(Some(b'B'), b"\0\0\0\0\xff\xff"),
        framed(Some(b'P'), b"name without an end"),
        framed(Some(b'E'), b"\0"),
    ];
    wrong.push(vec![b'Q'; 4096]);
    for bytes in wrong {
        let mut socket = ready(&served).await;
        socket.write_all(&bytes).await.unwrap();
        let _ = socket.shutdown().await;
        answer(&mut socket).await;
    }
    assert_eq!(
        served
            .client()
            .await
            .query("SELECT 1", &[])
            .await
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_out_of_their_order_are_refused() {
    let served = Served::new().await;
    let mut socket = ready(&served).await;
    let sync = framed(Some(b'S'), b"");
    // A portal and a statement that there are not; then all is well again.
    for (message, state) in [
        (framed(Some(b'E'), b"nothing\0\0\0\0\0"), "34000"),
        (framed(Some(b'B'), b"\0nothing\0\0\0\0\0\0\0"), "26000"),
        (framed(Some(b'D'), b"Snothing\0"), "26000"),
        (framed(Some(b'P'), b"\0SELEC\0\0\0"), "42601"),
    ] {
        socket.write_all(&message).await.unwrap();
        // Left out, up to the Sync.
        socket
            .write_all(&framed(Some(b'P'), b"\0SELECT 1\0\0\0"))
            .await
            .unwrap();
        socket.write_all(&sync).await.unwrap();
        let said = answer(&mut socket).await;
        assert!(says(&said, state), "{state}");
        assert!(said.ends_with(b"Z\0\0\0\x05I"), "{state}");
    }
    socket
        .write_all(&framed(Some(b'd'), b"rows of no COPY"))
        .await
        .unwrap();
    socket
        .write_all(&framed(Some(b'Q'), b"SELECT 1\0"))
        .await
        .unwrap();
    assert!(answer(&mut socket).await.ends_with(b"Z\0\0\0\x05I"));
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_have_little_time_and_little_room() {
    let (_file, served) = with_users("ann:sesame\n", &["--startup-seconds", "1"]).await;
    // One that says nothing.
    let mut silent = served.socket().await;
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(10), silent.read_to_end(&mut rest));
    assert!(ended.await.is_ok(), "it waits for ever");
    // One that asks for another way to show who it is.
    let mut socket = served.socket().await;
    socket.write_all(&hello()).await.unwrap();
    let body = b"PLAIN\0\0\0\0\x04\0a\0b";
    socket.write_all(&framed(Some(b'p'), body)).await.unwrap();
    assert!(!answer(&mut socket).await.ends_with(b"Z\0\0\0\x05I"));
    // One that says more than a password.
    let mut socket = served.socket().await;
    socket.write_all(&hello()).await.unwrap();
    let long = [&b"p"[..], &50_000_000_u32.to_be_bytes()].concat();
    socket.write_all(&long).await.unwrap();
    assert!(says(&answer(&mut socket).await, "08P01"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_secret_cancels_nothing() {
    let served = Served::new().await;
    let client = served.client().await;
    let long = tokio::spawn(async move {
        let sql =
            "SELECT count(*) FROM generate_series(1, 30000000) a(value) WHERE a.value % 7 = 3";
        client.query(sql, &[]).await
    });
    for number in 0..20_u32 {
        let body = [80_877_102_u32, number, 12_345];
        let body: Vec<u8> = body.iter().flat_map(|part| part.to_be_bytes()).collect();
        let mut socket = served.socket().await;
        socket.write_all(&framed(None, &body)).await.unwrap();
        answer(&mut socket).await;
    }
    assert!(long.await.unwrap().is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_stops_reading_is_given_up() {
    let served = Served::new().await;
    let mut socket = ready(&served).await;
    let sql = b"SET statement_timeout = 300\0";
    socket.write_all(&framed(Some(b'Q'), sql)).await.unwrap();
    answer(&mut socket).await;
    let sql = b"SELECT value, repeat('x', 1000) FROM generate_series(1, 100000000) AS g(value)\0";
    socket.write_all(&framed(Some(b'Q'), sql)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1500)).await;
    // What was on its way, the error, and no more.
    let mut all = Vec::new();
    let mut part = vec![0; 1 << 20];
    while let Ok(Ok(count @ 1..)) =
        tokio::time::timeout(Duration::from_secs(2), socket.read(&mut part)).await
    {
        all.extend_from_slice(&part[..count]);
    }
    assert!(all.len() < 64 << 20, "{}", all.len());
    assert!(says(&all, "57014"));
}

/// More than any client reads at once.
const ENDLESS: &[u8] =
    b"SELECT value, repeat('x', 1000) FROM generate_series(1, 100000000) AS g(value)\0";

#[tokio::test(flavor = "multi_thread")]
async fn who_never_reads_gives_up_its_place() {
    let served = Served::with(&["--connections", "1", "--send-timeout", "0.3"]).await;
    let mut socket = ready(&served).await;
    let query = framed(Some(b'Q'), ENDLESS);
    socket.write_all(&query).await.unwrap();
    served.place().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_read_its_end_gives_up_its_place() {
    let served = Served::with(&["--connections", "1"]).await;
    let mut socket = ready(&served).await;
    let limits = b"SET statement_timeout = 100; SET idle_session_timeout = 100\0";
    socket.write_all(&framed(Some(b'Q'), limits)).await.unwrap();
    let query = framed(Some(b'Q'), ENDLESS);
    socket.write_all(&query).await.unwrap();
    served.place().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_connection_keeps_is_bounded() {
    let served = Served::new().await;
    let client = served.client().await;
    let long = format!("SELECT 1 /*{}*/", "x".repeat(60 << 20));
    let kept = [
        client.prepare(&long).await.unwrap(),
        client.prepare(&long).await.unwrap(),
    ];
    assert_eq!(state(client.prepare(&long).await), "53200");
    drop(kept);
    client.prepare(&long).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn many_idle_clients_do_not_matter() {
    let served = Served::with(&["--connections", "1100"]).await;
    let mut idle = Vec::new();
    for _ in 0..1000 {
        let mut socket = served.socket().await;
        socket.write_all(&hello()).await.unwrap();
        idle.push(socket);
    }
    assert_eq!(
        served
            .client()
            .await
            .query("SELECT 1", &[])
            .await
            .unwrap()
            .len(),
        1
    );
}

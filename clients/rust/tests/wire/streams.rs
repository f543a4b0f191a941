//! Results that are larger than the memory that they may take.
#![cfg(target_os = "linux")]

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Served, framed, ready};

const ROWS: u64 = 10_000_000;
/// Bytes by which a server may grow while it sends them.
const GROWTH: u64 = 100 << 20;

fn rows(count: u64) -> String {
    format!("SELECT value, 'row ' || value FROM generate_series(1, {count}) AS g(value)")
}

/// A server that has sent some rows already, and the most bytes that it may have.
async fn warm() -> (Served, u64) {
    let served = Served::new().await;
    let client = served.client().await;
    client.query(&rows(100_000), &[]).await.unwrap();
    let most = resident(&served) + GROWTH;
    (served, most)
}

/// Bytes of memory that a server has.
fn resident(served: &Served) -> u64 {
    let path = format!("/proc/{}/status", served.child.id().unwrap());
    let status = std::fs::read_to_string(path).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kilobytes.unwrap().parse::<u64>().unwrap() << 10
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_million_rows_of_a_simple_query() {
    let (served, most) = warm().await;
    let mut socket = ready(&served).await;
    let query = format!("{}\0", rows(ROWS));
    let query = framed(Some(b'Q'), query.as_bytes());
    socket.write_all(&query).await.unwrap();
    let mut part = vec![0; 1 << 20];
    let (mut bytes, mut checked, mut end) = (0, 0, Vec::new());
    while !end.ends_with(b"Z\0\0\0\x05I") {
        let count = socket.read(&mut part).await.unwrap();
        assert!(count > 0, "it ends after {bytes} bytes");
        bytes += count as u64;
        end.extend_from_slice(&part[count.saturating_sub(64)..count]);
        end.drain(..end.len().saturating_sub(64));
        if bytes - checked > 16 << 20 {
            checked = bytes;
            let has = resident(&served);
            assert!(has < most, "{has} bytes of memory after {bytes} sent");
        }
    }
    let tag = format!("SELECT {ROWS}\0");
    let told = end.windows(tag.len()).any(|part| part == tag.as_bytes());
    assert!(told, "{}", String::from_utf8_lossy(&end));
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_million_rows_of_a_portal() {
    let (served, most) = warm().await;
    let mut client = served.client().await;
    let transaction = client.transaction().await.unwrap();
    let statement = transaction.prepare(&rows(ROWS)).await.unwrap();
    let portal = transaction.bind(&statement, &[]).await.unwrap();
    let mut count = 0;
    loop {
        let rows = transaction.query_portal(&portal, 50_000).await.unwrap();
        count += rows.len() as u64;
        let has = resident(&served);
        assert!(has < most, "{has} bytes of memory after {count} rows");
        // The last of them may be as many as were asked for.
        if rows.len() < 50_000 {
            break;
        }
    }
    assert_eq!(count, ROWS);
}

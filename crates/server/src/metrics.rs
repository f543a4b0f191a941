//! What a server has done and has, for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use freestone::Database;
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// Upper bounds of the buckets of statements' seconds.
const BOUNDS: [f64; 8] = [0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0];
/// SQLSTATEs that are told apart: there are some hundreds, and users can raise none.
const MOST_STATES: usize = 500;
/// Bytes of a request that are looked at, and how long it may take to come and to be
/// answered.
const REQUEST: usize = 4096;
const PATIENCE: Duration = Duration::from_secs(5);
/// Requests that are answered at a time.
const AT_ONCE: usize = 8;

/// Counts of one server.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// Clients that are connected.
    open: AtomicI64,
    /// Clients that have come in.
    admitted: AtomicU64,
    /// Clients that were not let in.
    pub(crate) refused: AtomicU64,
    /// Rows that were sent.
    pub(crate) rows: AtomicU64,
    pub(crate) received: AtomicU64,
    pub(crate) sent: AtomicU64,
    statements: [AtomicU64; BOUNDS.len() + 1],
    /// Microseconds that statements took, all together.
    micros: AtomicU64,
    errors: Mutex<BTreeMap<String, u64>>,
}

/// A client that is connected, as long as this lives.
#[derive(Debug)]
pub(crate) struct Counted(Arc<Metrics>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Adds to a count.
pub(crate) fn add(count: &AtomicU64, more: u64) {
    count.fetch_add(more, Ordering::Relaxed);
}

impl Metrics {
    /// Counts a client that has come in.
    pub(crate) fn enter(self: &Arc<Self>) -> Counted {
        self.open.fetch_add(1, Ordering::Relaxed);
        add(&self.admitted, 1);
        Counted(Arc::clone(self))
    }

    /// Counts a statement that took so long.
    pub(crate) fn statement(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = BOUNDS.iter().position(|bound| seconds <= *bound);
        add(&self.statements[bucket.unwrap_or(BOUNDS.len())], 1);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        add(&self.micros, micros);
    }

    /// Counts an error.
    pub(crate) fn error(&self, sqlstate: &str) {
        let mut errors = self.errors.lock();
        if errors.len() < MOST_STATES || errors.contains_key(sqlstate) {
            *errors.entry(sqlstate.to_owned()).or_default() += 1;
        }
    }

    /// All of it, in Prometheus' text format.
    pub(crate) fn text(&self, database: &Database) -> String {
        let mut page = String::new();
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let open = self.open.load(Ordering::Relaxed).max(0).unsigned_abs();
        let store = database.store();
        let plain = [
            ("connections", "gauge", "Clients that are connected", open),
            (
                "connections_admitted_total",
                "counter",
                "Clients that have come in",
                of(&self.admitted),
            ),
            (
                "connections_refused_total",
                "counter",
                "Clients that were not let in",
                of(&self.refused),
            ),
            (
                "rows_sent_total",
                "counter",
                "Rows sent to clients",
                of(&self.rows),
            ),
            (
                "received_bytes_total",
                "counter",
                "Bytes received from clients",
                of(&self.received),
            ),
            (
                "sent_bytes_total",
                "counter",
                "Bytes sent to clients",
                of(&self.sent),
            ),
            (
                "cache_bytes",
                "gauge",
                "Memory of blocks that are open",
                store.cache_bytes(),
            ),
            (
                "delta_bytes",
                "gauge",
                "Memory of rows in no block",
                store.delta_bytes(),
            ),
        ];
        for (name, kind, help, value) in plain {
            head(&mut page, (name, kind, help));
            let _ = writeln!(page, "freestone_{name} {value}");
        }
        let name = "statement_errors_total";
        head(&mut page, (name, "counter", "Errors told to clients"));
        for (state, count) in self.errors.lock().iter() {
            let _ = writeln!(page, "freestone_{name}{{sqlstate=\"{state}\"}} {count}");
        }
        let name = "statement_seconds";
        head(
            &mut page,
            (name, "histogram", "Statements by the seconds they took"),
        );
        let mut all = 0;
        for (count, bound) in self.statements.iter().zip(BOUNDS) {
            all += of(count);
            let _ = writeln!(page, "freestone_{name}_bucket{{le=\"{bound}\"}} {all}");
        }
        all += of(&self.statements[BOUNDS.len()]);
        let seconds = of(&self.micros) as f64 / 1e6;
        let _ = writeln!(page, "freestone_{name}_bucket{{le=\"+Inf\"}} {all}");
        let _ = writeln!(
            page,
            "freestone_{name}_sum {seconds}\nfreestone_{name}_count {all}"
        );
        page
    }
}

/// What a number is called and is.
fn head(page: &mut String, (name, kind, help): (&str, &str, &str)) {
    let _ = writeln!(
        page,
        "# HELP freestone_{name} {help}.\n# TYPE freestone_{name} {kind}"
    );
}

/// Answers requests for `/metrics` until it is dropped.
pub(crate) async fn answer(listener: TcpListener, metrics: Arc<Metrics>, database: Database) {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    // It is never closed.
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let (metrics, database) = (Arc::clone(&metrics), database.clone());
                drop(tokio::spawn(async move {
                    let _ = timeout(PATIENCE, one(stream, &metrics, &database)).await;
                    drop(place);
                }));
            }
            // The system has no sockets to give.
            Err(_) => sleep(PATIENCE).await,
        }
    }
}

async fn one(mut stream: TcpStream, metrics: &Metrics, database: &Database) -> std::io::Result<()> {
    let mut request = Vec::with_capacity(REQUEST);
    while !request.windows(4).any(|bytes| bytes == b"\r\n\r\n") && request.len() < REQUEST {
        if stream.read_buf(&mut request).await? == 0 {
            break;
        }
    }
    let (status, body) = match request.starts_with(b"GET /metrics ") {
        true => ("200 OK", metrics.text(database)),
        false => ("404 Not Found", "there is /metrics\n".to_owned()),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_written() {
        let metrics = Arc::new(Metrics::default());
        let database = Database::in_memory();
        let client = metrics.enter();
        metrics.statement(Duration::from_millis(2));
        metrics.statement(Duration::from_secs(5_000));
        metrics.error("42601");
        metrics.error("42601");
        let text = metrics.text(&database);
        for line in [
            "freestone_connections 1",
            "freestone_statement_errors_total{sqlstate=\"42601\"} 2",
            "freestone_statement_seconds_bucket{le=\"0.001\"} 0",
            "freestone_statement_seconds_bucket{le=\"0.01\"} 1",
            "freestone_statement_seconds_bucket{le=\"+Inf\"} 2",
            "freestone_statement_seconds_sum 5000.002",
            "# TYPE freestone_statement_seconds histogram",
        ] {
            assert!(text.lines().any(|known| known == line), "{line}\n{text}");
        }
        drop(client);
        assert!(
            metrics
                .text(&database)
                .contains("freestone_connections 0\n")
        );
    }
}

//! Durable commits by many clients at once: one write to the log serves many.

use super::write::{keys, orders};
use crate::Result;
use crate::bench::Bench;
use crate::ours;
use crate::report::{Bar, Row, Section};
use freestone::Database;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// Clients that commit at once.
const CLIENTS: usize = 64;
/// Seconds of commits by one client, and by all.
const SECONDS: u64 = 3;
/// Threads that tasks share: one of them waits for the disk.
const THREADS: usize = 3;

/// Clients, each with a session and keys of its own.
#[derive(Clone)]
struct Clients {
    database: Database,
    keys: Arc<Vec<i64>>,
    stop: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
}

/// Measures the section.
///
/// # Errors
/// Those of loading and of the statements.
pub fn measure(bench: &mut Bench) -> Result<Section> {
    eprintln!("clients: loading");
    let (place, database) = orders(bench, "freestone-clients")?;
    let session = database.session();
    let (_, batches) = ours::run(&bench.runtime, &session, "SELECT o_orderkey FROM orders")?;
    let clients = Clients {
        database,
        keys: Arc::new(keys(&batches)),
        stop: Arc::default(),
        done: Arc::default(),
    };
    drop((session, batches));
    let (mut alone, mut tasks, mut threads) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..bench.rounds.min(3) {
        alone.push(clients.rate(&bench.runtime, |clients| clients.threads(1))?);
        tasks.push(clients.rate(&bench.runtime, |clients| clients.tasks(CLIENTS))?);
        threads.push(clients.rate(&bench.runtime, |clients| clients.threads(CLIENTS))?);
    }
    let middle = |rates: &[f64]| crate::pair::median(rates).unwrap_or_default();
    let (alone, tasks, threads) = (middle(&alone), middle(&tasks), middle(&threads));
    eprintln!(
        "clients: {alone:.0} commits a second by one, {tasks:.0} by tasks, {threads:.0} by threads"
    );
    drop(clients);
    std::fs::remove_dir_all(place)?;
    let row = |what: String, all: f64| Row::new(what, "x", all / alone);
    let rows = vec![
        row(
            format!("commits a second, {CLIENTS} tasks over one client"),
            tasks,
        )
        .bar(Bar::AtLeast(5.0)),
        row(
            format!("commits a second, {CLIENTS} threads over one"),
            threads,
        )
        .bar(Bar::AtLeast(5.0)),
    ];
    let note =
        "orders, layout row; each commit updates a row by key and waits until that is durable";
    Ok(Section::new("clients", note, rows))
}

impl Clients {
    /// Commits a second of those that `run` lets run until they are to stop. What others
    /// left to the tuple mover is done before.
    fn rate(&self, runtime: &Runtime, run: impl FnOnce(&Clients) -> Result<()>) -> Result<f64> {
        ours::run(runtime, &self.database.session(), "VACUUM orders")?;
        self.stop.store(false, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        let start = Instant::now();
        run(self)?;
        Ok(self.done.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64())
    }

    /// Updates one row after the other.
    async fn commit(self, client: usize, clients: usize) -> freestone::Result<()> {
        let session = self.database.session();
        let sql = "UPDATE orders SET o_shippriority = o_shippriority + 1 WHERE o_orderkey = $1";
        let update = session.prepare(sql)?;
        let share = self.keys.len() / clients;
        for key in self.keys[client * share..].iter().take(share) {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            update.run(&session, &[(*key).into()]).await?;
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    fn wait(&self) {
        std::thread::sleep(Duration::from_secs(SECONDS));
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Each client has a thread.
    fn threads(&self, clients: usize) -> Result<()> {
        let failure = Mutex::new(None);
        std::thread::scope(|scope| {
            for client in 0..clients {
                let (own, failure) = (self.clone(), &failure);
                scope.spawn(move || {
                    // Parks; a runtime would wait for files and timers, too.
                    let ran = futures::executor::block_on(own.commit(client, clients));
                    if let (Err(error), Ok(mut failure)) = (ran, failure.lock()) {
                        *failure = Some(error.to_string());
                    }
                });
            }
            self.wait();
        });
        match failure.into_inner()? {
            Some(failure) => Err(failure.into()),
            None => Ok(()),
        }
    }

    /// The clients are tasks of one runtime, as in a server.
    fn tasks(&self, clients: usize) -> Result<()> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .enable_all()
            .build()?;
        let tasks: Vec<_> = (0..clients)
            .map(|client| runtime.spawn(self.clone().commit(client, clients)))
            .collect();
        self.wait();
        for task in tasks {
            runtime.block_on(task)??;
        }
        Ok(())
    }
}

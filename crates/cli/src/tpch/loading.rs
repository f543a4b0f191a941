//! How long loading alone takes: from batches in memory, and from Parquet.
//!
//! Both fill a new database next to the one that is queried, table after table,
//! until each is durable, and remove it. Generating the batches and reading the
//! clock around it is kept out of the first; the second is `COPY … FROM`. Tables
//! that mix layouts are measured in the layout `column`.

use super::interrupt::Interrupt;
use super::load::{Plan, create, empty, layout_option, with_suffix};
use super::parquet;
use super::schema::Table;
use crate::failure::{Failure, Result};
use arrow::array::RecordBatch;
use freestone::{Database, Progress};
use freestone_storage::DEFAULT_SCHEMA;
use std::path::Path;
use std::time::{Duration, Instant};

/// Seconds of each way to load.
pub struct Loading {
    /// From batches in memory.
    pub memory: f64,
    /// From Parquet files.
    pub parquet: f64,
}

/// Measures both ways. `beside` is the database that is queried.
///
/// # Errors
/// Whatever loading meets, or an interrupt.
pub async fn measure(
    beside: &Path,
    folder: &Path,
    plan: Plan,
    interrupt: &Interrupt,
) -> Result<Loading> {
    let path = with_suffix(beside, ".measured");
    let outcome = both(&path, folder, plan, interrupt).await;
    // Only measurements are lost if this fails, and the next one retries.
    let _ = std::fs::remove_dir_all(&path);
    outcome
}

async fn both(path: &Path, folder: &Path, plan: Plan, interrupt: &Interrupt) -> Result<Loading> {
    let database = empty(path)?;
    let memory = from_memory(&database, plan, interrupt).await?;
    drop(database);
    let database = empty(path)?;
    let parquet = from_parquet(&database, folder, plan, interrupt).await?;
    Ok(Loading { memory, parquet })
}

async fn from_memory(database: &Database, plan: Plan, interrupt: &Interrupt) -> Result<f64> {
    let session = database.session();
    let mut time = Duration::ZERO;
    for table in Table::ALL {
        interrupt.check()?;
        let options = layout_option(plan.layout.of_one_piece());
        create(&session, table, &options).await?;
        let database = database.clone();
        let work = move || -> Result<Duration> {
            let sources = generated(table, plan)?.into_iter().map(|batches| {
                let batches = batches.into_iter().map(Ok);
                Box::new(batches) as Box<dyn Iterator<Item = freestone::Result<_>> + Send>
            });
            let sources = sources.collect();
            let start = Instant::now();
            database.load(DEFAULT_SCHEMA, table.name(), sources, &Progress::default())?;
            Ok(start.elapsed())
        };
        let loaded = tokio::task::spawn_blocking(work).await;
        time += loaded.map_err(|_| Failure::Message("a loading thread panicked".into()))??;
    }
    Ok(time.as_secs_f64())
}

/// All batches of a table, in as many shares as there are threads.
fn generated(table: Table, plan: Plan) -> Result<Vec<Vec<RecordBatch>>> {
    std::thread::scope(|scope| {
        let parts = (0..plan.threads).map(|part| {
            let generate = move || table.generate(plan.scale, part, plan.threads).collect();
            scope.spawn(generate)
        });
        let parts: Vec<_> = parts.collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<Vec<_>, _>>| {
            let batches = thread.join();
            let batches = batches.map_err(|_| Failure::Message("a generator panicked".into()))?;
            batches.map_err(|error| freestone::Error::from(error).into())
        };
        parts.into_iter().map(join).collect()
    })
}

async fn from_parquet(
    database: &Database,
    folder: &Path,
    plan: Plan,
    interrupt: &Interrupt,
) -> Result<f64> {
    let session = database.session();
    let mut time = Duration::ZERO;
    for table in Table::ALL {
        let options = layout_option(plan.layout.of_one_piece());
        create(&session, table, &options).await?;
        let file = parquet::file(folder, table)
            .to_string_lossy()
            .replace('\'', "''");
        let sql = format!("COPY {} FROM '{file}'", table.name());
        let start = Instant::now();
        interrupt.or(session.execute(&sql)).await??;
        time += start.elapsed();
    }
    Ok(time.as_secs_f64())
}

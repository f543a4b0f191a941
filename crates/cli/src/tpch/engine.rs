//! The two engines that run the queries: Freestone, and DataFusion over Parquet.

use super::interrupt::Interrupt;
use super::parquet;
use super::schema::Table;
use crate::failure::Result;
use arrow::array::RecordBatch;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use freestone::{ScanCounts, Session};
use std::path::Path;
use std::time::{Duration, Instant};

/// One run of one query.
pub struct Run {
    /// From text to the last batch.
    pub time: Duration,
    /// The result.
    pub batches: Vec<RecordBatch>,
    /// What the scans read; zeros for DataFusion.
    pub scans: ScanCounts,
}

/// What can run a query.
pub enum Engine {
    /// SQL over our blocks.
    Freestone(Box<Session>),
    /// DataFusion with its defaults over Parquet files.
    Parquet(SessionContext),
}

impl Engine {
    /// DataFusion over the files of a folder.
    ///
    /// # Errors
    /// Files that are missing or damaged.
    pub async fn parquet(folder: &Path, threads: usize) -> Result<Engine> {
        let config = SessionConfig::new().with_target_partitions(threads);
        let context = SessionContext::new_with_config(config);
        for table in Table::ALL {
            let file = parquet::file(folder, table);
            let path = file.to_string_lossy();
            let options = ParquetReadOptions::default();
            let registered = context
                .register_parquet(table.name(), path.as_ref(), options)
                .await;
            registered.map_err(freestone::Error::from)?;
        }
        Ok(Engine::Parquet(context))
    }

    /// Runs a query once.
    ///
    /// # Errors
    /// Those of the engine, or an interrupt.
    pub async fn run(&self, sql: &str, interrupt: &Interrupt) -> Result<Run> {
        let start = Instant::now();
        let batches = interrupt.or(self.collect(sql)).await??;
        let time = start.elapsed();
        let scans = match self {
            Engine::Freestone(session) => session.progress().scans(),
            Engine::Parquet(_) => ScanCounts::default(),
        };
        Ok(Run {
            time,
            batches,
            scans,
        })
    }

    /// Runs a query once without counting, then `runs` times; the fastest.
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub async fn best(&self, sql: &str, runs: usize, interrupt: &Interrupt) -> Result<Run> {
        self.run(sql, interrupt).await?;
        let mut best = self.run(sql, interrupt).await?;
        for _ in 1..runs {
            let run = self.run(sql, interrupt).await?;
            if run.time < best.time {
                best = run;
            }
        }
        Ok(best)
    }

    async fn collect(&self, sql: &str) -> freestone::Result<Vec<RecordBatch>> {
        match self {
            Engine::Freestone(session) => session.query(sql).await,
            Engine::Parquet(context) => Ok(context.sql(sql).await?.collect().await?),
        }
    }
}

//! Runs of a query, and how long they take.

use super::interrupt::Interrupt;
use crate::failure::Result;
use arrow::array::RecordBatch;
use freestone::{ScanCounts, Session};
use std::time::{Duration, Instant};

/// One run of one query.
pub struct Run {
    /// From text to the last batch.
    pub time: Duration,
    /// The result.
    pub batches: Vec<RecordBatch>,
    /// Blocks that its scans have read, and those that they have passed over.
    pub scans: ScanCounts,
}

impl Run {
    /// Runs a query once.
    ///
    /// # Errors
    /// Errors of the query, or an interrupt.
    pub async fn once(session: &Session, sql: &str, interrupt: &Interrupt) -> Result<Run> {
        let start = Instant::now();
        let batches = interrupt.or(session.query(sql)).await??;
        Ok(Run {
            time: start.elapsed(),
            batches,
            scans: session.progress().scans(),
        })
    }

    /// Runs a query once without counting, then `runs` times; the fastest.
    ///
    /// # Errors
    /// As [`Run::once`].
    pub async fn best(
        session: &Session,
        sql: &str,
        runs: usize,
        interrupt: &Interrupt,
    ) -> Result<Run> {
        Run::once(session, sql, interrupt).await?;
        let mut best = Run::once(session, sql, interrupt).await?;
        for _ in 1..runs {
            let run = Run::once(session, sql, interrupt).await?;
            if run.time < best.time {
                best = run;
            }
        }
        Ok(best)
    }
}

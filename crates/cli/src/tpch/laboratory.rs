//! TPC-H for the lab: databases that its experiments ask by SQL.

use super::load::create;
use super::queries;
use super::schema::Table;
use crate::failure::{Failure, Result};
use freestone::{Database, Progress, Session, SessionOptions};
use freestone_lab::{Error as LabError, Result as LabResult, Sql, SqlDatabase};
use freestone_storage::DEFAULT_SCHEMA;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// Freestone itself.
#[derive(Debug)]
pub struct Laboratory {
    runtime: Arc<Runtime>,
}

/// A database of it, and a session.
struct Opened {
    runtime: Arc<Runtime>,
    session: Session,
}

impl Laboratory {
    /// With a runtime of its own.
    ///
    /// # Errors
    /// If there are no threads to be had.
    pub fn new() -> Result<Laboratory> {
        let runtime = Arc::new(crate::runtime(None)?);
        Ok(Laboratory { runtime })
    }

    fn fill(&self, directory: &Path, scale: f64, options: &str) -> Result<()> {
        let database = Database::open(directory)?;
        let session = database.session();
        let threads = self.runtime.metrics().num_workers();
        for table in Table::ALL {
            self.runtime.block_on(create(&session, table, options))?;
            let sources = (0..threads).map(|part| {
                let batches = table.generate(scale, part, threads);
                let batches = batches.map(|batch| Ok(batch?));
                Box::new(batches) as Box<dyn Iterator<Item = freestone::Result<_>> + Send>
            });
            let sources = sources.collect();
            let inside = self.runtime.enter();
            database.load(DEFAULT_SCHEMA, table.name(), sources, &Progress::default())?;
            drop(inside);
        }
        Ok(())
    }
}

impl Sql for Laboratory {
    fn load(&self, directory: &Path, scale: f64, options: &str) -> LabResult<()> {
        self.fill(directory, scale, options).map_err(told)
    }

    fn open(&self, directory: &Path, threads: usize) -> LabResult<Box<dyn SqlDatabase>> {
        let inside = self.runtime.enter();
        let database = Database::open_existing(directory).map_err(|error| told(error.into()))?;
        let threads = Some(threads);
        let session = database.session_with(SessionOptions { threads });
        drop(inside);
        Ok(Box::new(Opened {
            runtime: Arc::clone(&self.runtime),
            session,
        }))
    }

    fn query(&self, number: usize, scale: f64) -> LabResult<String> {
        let text = queries::text(number, scale);
        text.ok_or_else(|| LabError::new(format!("TPC-H has no query {number}"), ""))
    }

    fn tables(&self) -> Vec<(&'static str, &'static str)> {
        let tables = Table::ALL.iter();
        tables
            .map(|table| (table.name(), table.columns()))
            .collect()
    }
}

impl SqlDatabase for Opened {
    fn run(&self, sql: &str) -> LabResult<(f64, u64)> {
        let begin = std::time::Instant::now();
        let batches = self.runtime.block_on(self.session.query(sql));
        let batches = batches.map_err(|error| told(error.into()))?;
        let rows = batches.iter().map(|batch| batch.num_rows() as u64).sum();
        Ok((begin.elapsed().as_secs_f64(), rows))
    }
}

fn told(failure: Failure) -> LabError {
    LabError::new(failure.to_string(), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_loaded_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        let laboratory = Laboratory::new().unwrap();
        let place = folder.path().join("db");
        laboratory.load(&place, 0.001, "layout = 'pax'").unwrap();
        let database = laboratory.open(&place, 1).unwrap();
        let layouts =
            "SELECT DISTINCT layout FROM freestone_blocks('lineitem') WHERE layout = 'pax'";
        assert_eq!(database.run(layouts).unwrap().1, 1);
        for (table, _) in laboratory.tables() {
            let (_, rows) = database.run(&format!("SELECT * FROM {table}")).unwrap();
            assert!(rows >= 5, "{table}");
        }
        let text = laboratory.query(6, 0.001).unwrap();
        let (seconds, rows) = database.run(&text).unwrap();
        assert!(seconds > 0.0 && rows == 1);
        assert!(laboratory.query(23, 1.0).is_err());
        let error = database.run("SELECT nothing").unwrap_err();
        assert!(error.message.contains("42703"), "{error}");
    }
}

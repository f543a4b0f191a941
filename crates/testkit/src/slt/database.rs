//! Freestone as the `sqllogictest` crate sees a database.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use freestone::{Database, Outcome, Session, SessionOptions};
use futures::{FutureExt, TryStreamExt};
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType};

use super::cell::Cell;
use super::script::ENGINE;

/// A record that takes longer than this has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// The column types that the next query's record declares; the crate does not
/// hand them to the database, but values are rendered by them.
#[derive(Debug, Clone, Default)]
pub struct Expected(Arc<Mutex<Vec<DefaultColumnType>>>);

impl Expected {
    /// Sets the types for the next record.
    pub fn set(&self, types: Vec<DefaultColumnType>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = types;
    }

    fn get(&self) -> Vec<DefaultColumnType> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// One session on a fresh in-memory database.
pub struct Freestone {
    session: Session,
    expected: Expected,
}

impl Freestone {
    /// A new database. Files already keep every core busy, so a query has one.
    pub fn new(expected: Expected) -> Self {
        let options = SessionOptions { threads: Some(1) };
        Freestone {
            session: Database::in_memory().session_with(options),
            expected,
        }
    }

    async fn answer(&self, sql: &str) -> Result<DBOutput<DefaultColumnType>, Failure> {
        let outcomes = self.session.execute(sql).await.map_err(Failure::from)?;
        match outcomes.into_iter().next_back() {
            None => Err(Failure::plain("no statement")),
            Some(Outcome::Done { rows, .. }) => Ok(DBOutput::StatementComplete(rows)),
            Some(Outcome::Rows(rows)) => {
                let columns = rows.schema.fields().len();
                let batches: Vec<RecordBatch> =
                    rows.stream.try_collect().await.map_err(Failure::plain)?;
                self.render(&batches, columns)
            }
        }
    }

    fn render(
        &self,
        batches: &[RecordBatch],
        columns: usize,
    ) -> Result<DBOutput<DefaultColumnType>, Failure> {
        let mut types = self.expected.get();
        if !types.is_empty() && types.len() != columns {
            return Err(Failure::plain(format!(
                "{columns} columns, {} expected",
                types.len()
            )));
        }
        types.resize(columns, DefaultColumnType::Text);
        let mut rows = Vec::new();
        for batch in batches {
            for row in 0..batch.num_rows() {
                let cells = batch.columns().iter().zip(&types);
                let shown =
                    cells.map(|(array, kind)| Cell::read(array, row).map(|cell| cell.show(kind)));
                rows.push(
                    shown
                        .collect::<Result<Vec<_>, _>>()
                        .map_err(Failure::plain)?,
                );
            }
        }
        Ok(DBOutput::Rows { types, rows })
    }
}

#[async_trait]
impl AsyncDB for Freestone {
    type Error = Failure;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, Failure> {
        // A panic is a failure of this record only: the rest of the file still says something.
        let answer = AssertUnwindSafe(self.answer(sql)).catch_unwind();
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(Failure::plain("panic")),
            Err(_) => Err(Failure::plain(format!(
                "no answer within {} s",
                PATIENCE.as_secs()
            ))),
        }
    }

    async fn shutdown(&mut self) {}

    fn engine_name(&self) -> &str {
        ENGINE
    }

    fn error_sql_state(error: &Failure) -> Option<String> {
        error.sqlstate.clone()
    }
}

/// Why a record has no answer.
#[derive(Debug)]
pub struct Failure {
    sqlstate: Option<String>,
    message: String,
}

impl Failure {
    fn plain(message: impl fmt::Display) -> Self {
        Failure {
            sqlstate: None,
            message: message.to_string(),
        }
    }
}

impl From<freestone::Error> for Failure {
    fn from(error: freestone::Error) -> Self {
        Failure {
            message: error.to_string(),
            sqlstate: Some(error.sqlstate),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

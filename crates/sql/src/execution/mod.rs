//! Execution: the way from a statement to its outcome, for clients.
//!
//! A [`Session`] is what statements read and change; it stands below them. This module describes,
//! prepares and runs statements for it, and stands above everything else. Statements that run
//! others, such as EXECUTE and DO, come back here by methods of a session and of what it has
//! prepared.

mod describe;
mod pivots;
mod prepared;
mod shapes;
mod told;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use arrow::array::RecordBatch;
use futures::future::BoxFuture;
use futures::{FutureExt, TryStreamExt};

use self::told::told;
use crate::error::{Error, Result, panicked};
use crate::outcome::Outcome;
use crate::run;
use crate::session::{KnownKeys, Open, Session};
use crate::statement::Statement;

pub use describe::Description;

impl Session {
    /// Runs one statement. Dropping the future, or the rows, cancels it.
    ///
    /// # Errors
    /// Whatever is wrong with the statement or happens while it runs. A statement
    /// that fails has changed nothing.
    pub fn run<'a>(&'a self, statement: &'a Statement) -> BoxFuture<'a, Result<Outcome>> {
        Box::pin(self.ran(statement, None))
    }

    /// Runs a statement whose rows are found by keys.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub(crate) fn run_keyed<'a>(
        &'a self,
        statement: &'a Statement,
        keys: &'a KnownKeys<'a>,
    ) -> BoxFuture<'a, Result<Outcome>> {
        Box::pin(self.ran(statement, Some(keys)))
    }

    async fn ran(&self, statement: &Statement, keys: Option<&KnownKeys<'_>>) -> Result<Outcome> {
        self.progress().reset();
        if self.locks().is_used() && !self.in_transaction() {
            self.locks().end_transaction();
        }
        if keys.is_none() {
            self.requests().set_apart(false);
            let known = AssertUnwindSafe(self.by_shape(statement)).catch_unwind();
            let known = self.requests().waited(false, Box::pin(known)).await;
            let known = known.unwrap_or_else(|panic| Err(panicked(panic.as_ref())));
            if let Some(outcome) = known? {
                return Ok(outcome);
            }
        }
        self.requests().set_apart(statement.works_for_long());
        // Apart: what a statement may have to keep while it waits would be a part of every
        // future around it, and be moved over the stack of its thread.
        let work = async {
            if let Some(keys) = keys {
                return run::keyed(self, statement, keys).await;
            }
            run::statement(self, statement).await
        };
        let work = AssertUnwindSafe(work).catch_unwind();
        let deep = statement.is_deep();
        let outcome = self.requests().waited(deep, Box::pin(work)).await;
        let outcome = outcome.unwrap_or_else(|panic| Err(panicked(panic.as_ref())));
        let outcome = outcome.map(|outcome| self.watched_to_end(outcome));
        let outcome = match self.locks().is_used() && !self.in_transaction() {
            true => outcome.map(|outcome| self.unlocking(outcome)),
            false => outcome,
        };
        outcome.map_err(|error| self.told(statement, error))
    }

    /// The error of a statement as the session may see it.
    pub(super) fn told(&self, statement: &Statement, error: Error) -> Error {
        let seen = statement.walked(|ast| told(self, Some(ast), error.clone()));
        seen.unwrap_or(error)
    }

    /// Parses and runs all statements of a text and collects their rows.
    ///
    /// # Errors
    /// The first error; statements before it have taken effect.
    pub async fn execute(&self, sql: &str) -> Result<Vec<Outcome>> {
        let mut outcomes = Vec::new();
        for statement in self.parse(sql)? {
            let outcome = self.run(&statement).await?;
            outcomes.push(match outcome {
                Outcome::Rows(rows) => {
                    let schema = Arc::clone(&rows.schema);
                    let batches: Vec<RecordBatch> = rows.stream.try_collect().await?;
                    Outcome::batches(schema, batches)
                }
                done => done,
            });
        }
        Ok(outcomes)
    }

    /// Runs a single statement and collects its rows.
    ///
    /// # Errors
    /// As [`Session::execute`]; `42601` when there is not exactly one statement.
    pub async fn query(&self, sql: &str) -> Result<Vec<RecordBatch>> {
        let statements = self.parse(sql)?;
        let [statement] = statements.as_slice() else {
            return Err(Error::new(
                "42601",
                format!("expected one statement, found {}", statements.len()),
            ));
        };
        match self.run(statement).await? {
            Outcome::Rows(rows) => Ok(rows.stream.try_collect().await?),
            Outcome::Done { .. } => Ok(Vec::new()),
        }
    }

    /// Commits what [`Session::begin_implicit`] has opened, or takes it back if a statement
    /// has failed in it.
    ///
    /// # Errors
    /// Those of a commit; nothing has changed then.
    pub async fn end_implicit(&self) -> Result<()> {
        let (was_open, ended) = {
            let mut open = self.transaction();
            let declared = open.is_declared();
            let was_open = !declared && !matches!(*open, Open::Nothing);
            (was_open, open.end_implicit())
        };
        let (done, committed) = match ended {
            Some(transaction) => {
                let done = Box::pin(self.commit(transaction)).await;
                let done = done.map_err(|error| told(self, None, error));
                let committed = done.is_ok();
                (done, committed)
            }
            None => (Ok(()), false),
        };
        if !self.in_transaction() {
            self.cursors().end_transaction(committed);
            self.locks().end_transaction();
            if was_open {
                self.end_settings(committed);
            }
        }
        done
    }
}

//! Tasks that end when nobody waits for them any more.

use std::future::Future;

use tokio::task::JoinHandle;

use crate::error::{Error, Result, panicked};

/// A task of the runtime, which is stopped when this is dropped.
pub(super) struct Task<T>(JoinHandle<Result<T>>);

impl<T: Send + 'static> Task<T> {
    /// Begins some work.
    pub(super) fn spawn(work: impl Future<Output = Result<T>> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }

    /// Its outcome.
    ///
    /// # Errors
    /// Errors of the work; `XX000` if it panicked.
    pub(super) async fn join(mut self) -> Result<T> {
        match (&mut self.0).await {
            Ok(outcome) => outcome,
            Err(failed) => Err(match failed.try_into_panic() {
                Ok(panic) => panicked(panic.as_ref()),
                Err(_) => Error::internal("a task was stopped"),
            }),
        }
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

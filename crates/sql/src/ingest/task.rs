//! Tasks that end when nobody waits for them any more, or when their statement is to end.

use std::future::Future;
use std::sync::Arc;

use tokio::task::JoinHandle;

use crate::error::{Error, Result, panicked};
use crate::interrupt::Requests;

/// A task of the runtime, which is stopped when this is dropped.
pub(super) struct Task<T>(JoinHandle<Result<T>>);

impl<T: Send + 'static> Task<T> {
    /// Begins some work of a statement.
    pub(super) fn spawn(
        requests: &Arc<Requests>,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Self {
        let requests = Arc::clone(requests);
        let work = async move { requests.waited(false, Box::pin(work)).await };
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

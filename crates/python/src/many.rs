//! One statement with many lists of values.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use freestone::{Outcome, Parameter, Result, Session};
use futures::FutureExt;

use crate::session::Known;

/// Takes back a transaction whose statements failed or were interrupted.
struct Undo<'a>(&'a Session);

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        self.0.fail();
        // Nothing is written then, so it does not wait.
        let _ = self.0.end_implicit().now_or_never();
    }
}

/// Runs a statement with each list of values in one transaction, the open one or its own.
pub async fn run_all(
    session: &Session,
    each: &[(Arc<Known>, Vec<Parameter>)],
    done: &AtomicUsize,
) -> Result<Option<u64>> {
    if session.in_transaction() {
        return run_each(session, each, done).await;
    }
    session.begin_implicit()?;
    let undo = Undo(session);
    let sum = run_each(session, each, done).await?;
    std::mem::forget(undo);
    session.end_implicit().await?;
    Ok(sum)
}

/// Runs a statement with each list of values; `None` if it does not count rows.
async fn run_each(
    session: &Session,
    each: &[(Arc<Known>, Vec<Parameter>)],
    done: &AtomicUsize,
) -> Result<Option<u64>> {
    let mut sum = Some(0);
    for (known, values) in each {
        match known.prepared.run(session, values).await? {
            Outcome::Rows(_) => sum = None,
            Outcome::Done { tag, .. } => {
                let count = tag
                    .rsplit(' ')
                    .next()
                    .and_then(|last| last.parse::<u64>().ok());
                sum = sum.zip(count).map(|(sum, count)| sum + count);
            }
        }
        done.fetch_add(1, Ordering::Relaxed);
        // So that it can be interrupted: such statements may never wait.
        tokio::task::yield_now().await;
    }
    Ok(sum)
}

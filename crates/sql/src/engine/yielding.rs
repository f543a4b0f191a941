//! Rows of a statement let other statements run, and end when they are to.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use arrow::array::RecordBatch;
use freestone_frontend::interrupt::{self, SLICE};
use futures::Stream;

use crate::error::Result;
use crate::interrupt::Requests;
use crate::outcome::RowStream;
use crate::values::buffers::thinned;

/// The rows of an operator, a slice at a time; they end when a session's requests say so.
pub(crate) fn watching(rows: RowStream, requests: Arc<Requests>) -> RowStream {
    Box::pin(Yielding {
        rows,
        requests,
        since: Instant::now(),
    })
}

struct Yielding {
    rows: RowStream,
    requests: Arc<Requests>,
    /// When the thread was last given back.
    since: Instant,
}

impl Stream for Yielding {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let asked = Instant::now();
        if asked.duration_since(this.since) > SLICE {
            this.since = asked;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let rows = &mut this.rows;
        let polled: Result<_> = this.requests.watched(|| {
            interrupt::now()?;
            Ok(rows.as_mut().poll_next(cx))
        });
        match polled {
            Ok(Poll::Pending) => {
                this.since = Instant::now();
                Poll::Pending
            }
            // A join that gives few rows at a time has the buffers of all its inputs in each.
            Ok(Poll::Ready(Some(Ok(batch)))) => Poll::Ready(Some(thinned(batch))),
            Ok(ready) => ready,
            Err(error) => Poll::Ready(Some(Err(error))),
        }
    }
}

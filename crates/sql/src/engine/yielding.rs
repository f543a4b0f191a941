//! Rows of a statement let other statements run, and end when they are to.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::error::Result as DfResult;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream};
use freestone_frontend::interrupt::{self, SLICE};
use futures::Stream;

use crate::error::Error;
use crate::interrupt::Requests;
use crate::values::buffers::thinned;

/// The rows of an operator, a slice at a time; they end when a session's requests say so.
pub(crate) fn watching(
    rows: SendableRecordBatchStream,
    requests: Arc<Requests>,
) -> SendableRecordBatchStream {
    Box::pin(Yielding {
        rows,
        requests,
        since: Instant::now(),
    })
}

struct Yielding {
    rows: SendableRecordBatchStream,
    requests: Arc<Requests>,
    /// When the thread was last given back.
    since: Instant,
}

impl Stream for Yielding {
    type Item = DfResult<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let asked = Instant::now();
        if asked.duration_since(this.since) > SLICE {
            this.since = asked;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let rows = &mut this.rows;
        let polled = this.requests.watched(|| {
            interrupt::now().map_err(Error::from)?;
            Ok::<_, Error>(rows.as_mut().poll_next(cx))
        });
        match polled {
            Ok(Poll::Pending) => {
                this.since = Instant::now();
                Poll::Pending
            }
            // A join that gives few rows at a time has the buffers of all its inputs in each.
            Ok(Poll::Ready(Some(Ok(batch)))) => {
                Poll::Ready(Some(thinned(batch).map_err(Into::into)))
            }
            Ok(ready) => ready,
            Err(error) => Poll::Ready(Some(Err(error.into()))),
        }
    }
}

impl RecordBatchStream for Yielding {
    fn schema(&self) -> SchemaRef {
        self.rows.schema()
    }
}

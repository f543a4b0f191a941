//! Where rows come from: streams of the same columns, each read on its own.

use std::sync::Arc;

use arrow::array::RecordBatch;
use futures::{FutureExt, StreamExt};

use crate::engine::{Pipelines, RunContext};
use crate::error::{Error, Result, panicked};
use crate::interrupt::Requests;
use crate::outcome::RowStream;

/// A stream that has not begun.
pub(crate) struct Unopened(Box<dyn FnOnce(&RunContext) -> RowStream + Send>);

/// Streams that are read side by side.
pub(crate) type Streams = Vec<Unopened>;

type Change = dyn Fn(RecordBatch) -> Result<RecordBatch> + Send + Sync;

/// Batches between a reading thread and its writer.
const AHEAD: usize = 2;

impl Unopened {
    /// Its rows.
    pub(crate) fn open(self, context: &RunContext) -> RowStream {
        (self.0)(context)
    }

    /// The same, with something done to its rows.
    pub(crate) fn map(self, change: impl FnOnce(RowStream) -> RowStream + Send + 'static) -> Self {
        Self(Box::new(move |context| change(self.open(context))))
    }
}

/// The rows of a plan, which some streams share: each takes the next batch when it is ready for
/// it, and changes it by `change`.
pub(crate) fn plan_streams(
    plan: &Pipelines,
    streams: usize,
    change: impl Fn(RecordBatch) -> Result<RecordBatch> + Send + Sync + 'static,
) -> Streams {
    let change: Arc<Change> = Arc::new(change);
    let shared = Arc::new(tokio::sync::Mutex::new(Rows::Waiting(plan.clone())));
    let part = || {
        let (shared, change) = (Arc::clone(&shared), Arc::clone(&change));
        Unopened(Box::new(move |context: &RunContext| {
            let state = (shared, context.clone());
            let rows = futures::stream::unfold(state, |(shared, context)| async {
                let next = shared.lock().await.next(&context).await?;
                Some((next, (shared, context)))
            });
            rows.map(move |batch| change(batch?)).boxed()
        }))
    };
    (0..streams.max(1)).map(|_| part()).collect()
}

/// The rows of a plan, which begins to run when the first is asked for.
enum Rows {
    Waiting(Pipelines),
    Open(RowStream),
    Ended,
}

impl Rows {
    async fn next(&mut self, context: &RunContext) -> Option<Result<RecordBatch>> {
        if let Rows::Waiting(plan) = self {
            *self = match plan.stream(context) {
                Ok(stream) => Rows::Open(stream),
                Err(error) => {
                    *self = Rows::Ended;
                    return Some(Err(error));
                }
            };
        }
        let next = match self {
            Rows::Open(stream) => stream.next().await,
            Rows::Waiting(_) | Rows::Ended => None,
        };
        if next.is_none() {
            *self = Rows::Ended;
        }
        next
    }
}

/// Iterators, each read on a thread of its own and changed by `change` there.
pub(crate) fn iterators(
    sources: Vec<Box<dyn Iterator<Item = Result<RecordBatch>> + Send>>,
    change: impl Fn(RecordBatch) -> Result<RecordBatch> + Send + Sync + 'static,
) -> Streams {
    let change: Arc<Change> = Arc::new(change);
    let sources = sources.into_iter().map(|source| {
        let change = Arc::clone(&change);
        Unopened(Box::new(move |context: &RunContext| {
            reading(source, change, Arc::clone(&context.requests))
        }))
    });
    sources.collect()
}

/// Batches of an iterator that is read on a thread of its own.
fn reading(
    source: Box<dyn Iterator<Item = Result<RecordBatch>> + Send>,
    change: Arc<Change>,
    requests: Arc<Requests>,
) -> RowStream {
    let (sender, receiver) = tokio::sync::mpsc::channel(AHEAD);
    let thread = tokio::task::spawn_blocking(move || {
        for batch in source {
            let batch = batch.and_then(|batch| requests.watched(|| change(batch)));
            let stops = batch.is_err();
            // A closed channel means that nobody wants the rest.
            if sender.blocking_send(batch).is_err() || stops {
                break;
            }
        }
    });
    let rows = futures::stream::unfold(receiver, |mut receiver| async {
        let next = receiver.recv().await?;
        Some((next, receiver))
    });
    // A thread that panics must not look like one that has ended.
    let end = thread.into_stream().filter_map(async |ended| match ended {
        Ok(()) => None,
        Err(failed) => Some(Err(match failed.try_into_panic() {
            Ok(panic) => panicked(panic.as_ref()),
            Err(_) => Error::internal("a reading thread was stopped"),
        })),
    });
    rows.chain(end).boxed()
}

/// Batches that are already there.
pub(crate) fn batches(batches: Vec<RecordBatch>) -> Streams {
    resumed(batches, futures::stream::empty().boxed())
}

/// Batches that were read of a stream, and the rest of it.
pub(crate) fn resumed(read: Vec<RecordBatch>, rest: RowStream) -> Streams {
    let all = futures::stream::iter(read.into_iter().map(Ok)).chain(rest);
    vec![Unopened(Box::new(move |_: &RunContext| all.boxed()))]
}

//! Rows of one source into blocks of several tables.
//!
//! ```text
//! stream ─ split ─┬─ rows of a ─▶ writer of a ─▶ blocks
//! stream ─ split ─┴─ rows of b ─▶ writer of b ─▶ blocks
//! ```
//!
//! A writer waits for rows, and a reader for writers that have enough of them: memory holds a few
//! batches for each table.

use std::sync::Arc;

use arrow::array::RecordBatch;
use futures::StreamExt;
use tokio::sync::mpsc;

use super::source::{Streams, resumed};
use super::task::Task;
use super::{Target, Written, write};
use crate::engine::RunContext;
use crate::error::{Error, Result};
use crate::state::SessionState;

/// Batches that wait for a writer.
const WAITING: usize = 2;

/// Writes the rows of streams, each to the target that `split` says, as blocks.
///
/// # Errors
/// Errors of reading the streams, of `split` and of writing.
pub(crate) async fn write_apart(
    state: &SessionState,
    targets: &[Target],
    streams: Streams,
    split: impl Fn(&RecordBatch) -> Result<Vec<(usize, RecordBatch)>> + Send + Sync + 'static,
) -> Result<Vec<Written>> {
    let split = Arc::new(split);
    let context = RunContext::of(state);
    let (mut senders, mut writers) = (Vec::new(), Vec::new());
    for target in targets {
        let (sender, receiver) = mpsc::channel::<Result<RecordBatch>>(WAITING);
        senders.push(sender);
        let rows = futures::stream::unfold(receiver, |mut receiver| async move {
            receiver.recv().await.map(|batch| (batch, receiver))
        });
        let streams = resumed(Vec::new(), rows.boxed());
        let (state, target) = (state.clone(), target.clone());
        writers.push(Task::spawn(&context.requests, async move {
            write(&state, &target, streams).await
        }));
    }
    let mut readers = Vec::with_capacity(streams.len());
    for stream in streams {
        let mut stream = stream.open(&context);
        let (senders, split) = (senders.clone(), Arc::clone(&split));
        readers.push(Task::spawn(&context.requests, async move {
            while let Some(batch) = stream.next().await {
                for (of, part) in split(&batch?)? {
                    // A writer that is gone has failed, and says why.
                    let Some(sender) = senders.get(of) else {
                        continue;
                    };
                    if sender.send(Ok(part)).await.is_err() {
                        return Ok(());
                    }
                }
            }
            Ok::<(), Error>(())
        }));
    }
    let mut failure: Option<Error> = None;
    for reader in readers {
        if let Err(error) = reader.join().await {
            failure.get_or_insert(error);
        }
    }
    if let Some(error) = &failure {
        // An error must not look like the end of the rows.
        for sender in &senders {
            let _ = sender.send(Err(error.clone())).await;
        }
    }
    drop(senders);
    let mut written = Vec::with_capacity(writers.len());
    for writer in writers {
        match writer.join().await {
            Ok(done) => written.push(done),
            Err(error) => {
                failure.get_or_insert(error);
            }
        }
    }
    match failure {
        Some(error) => Err(error),
        None => Ok(written),
    }
}

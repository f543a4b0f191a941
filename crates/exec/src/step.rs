//! What rows pass on their way through a pipeline.

use crate::expression::{Expression, positions};
use crate::join::Probe;
use crate::limit::Limiter;
use crate::plan::Metrics;
use crate::vector::Batch;
use crate::{Error, Result};
use std::time::Instant;

/// One thing done to every batch.
pub(crate) enum Step<'a> {
    Filter(&'a Expression),
    Project(&'a [Expression]),
    Probe(Probe<'a>),
    Limit(Limiter),
}

impl Step<'_> {
    /// Whether nothing passes any more.
    pub fn is_full(&self) -> bool {
        matches!(self, Step::Limit(limiter) if limiter.is_full())
    }
}

/// Sends a batch through the steps of a pipeline; `Cancelled` at a limit that is full.
pub(crate) fn flow(
    steps: &[(Step<'_>, &Metrics)],
    batch: Batch,
    sink: &mut dyn FnMut(Batch) -> Result<()>,
) -> Result<()> {
    let Some(((step, metrics), rest)) = steps.split_first() else {
        return sink(batch);
    };
    let start = Instant::now();
    match step {
        Step::Filter(condition) => {
            let bits = condition.passing(&batch)?;
            let passing = bits.count_set_bits();
            let batch = match passing {
                0 => return Ok(()),
                all if all == batch.rows => batch,
                _ => batch.take(&positions(&bits))?,
            };
            metrics.add(passing, start);
            flow(rest, batch, sink)
        }
        Step::Project(expressions) => {
            let columns = expressions
                .iter()
                .map(|expression| expression.evaluate(&batch));
            let batch = Batch {
                columns: columns.collect::<Result<_>>()?,
                rows: batch.rows,
            };
            metrics.add(batch.rows, start);
            flow(rest, batch, sink)
        }
        Step::Probe(probe) => {
            let mut since = start;
            probe.push(&batch, &mut |batch| {
                metrics.add(batch.rows, since);
                flow(rest, batch, sink)?;
                since = Instant::now();
                Ok(())
            })?;
            metrics.add(0, since);
            Ok(())
        }
        Step::Limit(limiter) => match limiter.pass(batch) {
            Some(batch) => {
                metrics.add(batch.rows, start);
                flow(rest, batch, sink)
            }
            None if limiter.is_full() => Err(Error::Cancelled),
            None => Ok(()),
        },
    }
}

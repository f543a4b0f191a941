//! What rows pass on their way through a pipeline.

use crate::expression::Expression;
use crate::join::Probe;
use crate::limit::Limiter;
use crate::outside::Within;
use crate::plan::{Metrics, Working};
use crate::vector::{Batch, Selected, positions};
use crate::{Error, Result};
use std::time::Instant;

/// One thing done to every batch.
pub(crate) enum Step<'a> {
    Filter(&'a Expression),
    Project(&'a [Expression]),
    Probe(Probe<'a>),
    Limit(Limiter),
    Outside(Stage<'a>),
}

/// An operator that others define, at work.
pub(crate) struct Stage<'a> {
    pub working: Box<dyn Working + 'a>,
    pub inside: Within<'a>,
    /// Whether several threads may give it rows.
    pub is_parallel: bool,
}

impl Step<'_> {
    /// Whether nothing passes any more.
    pub fn is_full(&self) -> bool {
        match self {
            Step::Limit(limiter) => limiter.is_full(),
            Step::Outside(stage) => stage.working.is_full(),
            _ => false,
        }
    }

    /// Whether batches pass it one after the other.
    pub fn is_sequential(&self) -> bool {
        matches!(self, Step::Outside(stage) if !stage.is_parallel)
    }
}

/// Sends rows through the steps of a pipeline; `Cancelled` at a limit that is full.
pub(crate) fn flow(
    steps: &[(Step<'_>, &Metrics)],
    rows: Selected,
    sink: &mut dyn FnMut(Selected) -> Result<()>,
) -> Result<()> {
    let Some(((step, metrics), rest)) = steps.split_first() else {
        return sink(rows);
    };
    let start = Instant::now();
    match step {
        Step::Filter(condition) => {
            let batch = rows.whole()?;
            let bits = condition.passing(&batch)?;
            let passing = bits.count_set_bits();
            let batch = match passing {
                0 => return Ok(()),
                all if all == batch.rows => batch,
                _ => batch.take(&positions(&bits))?,
            };
            metrics.add(passing, start);
            flow(rest, batch.into(), sink)
        }
        Step::Project(expressions) => {
            let projected = projected(expressions, rows)?;
            metrics.add(projected.rows(), start);
            flow(rest, projected, sink)
        }
        Step::Probe(probe) => {
            let mut since = start;
            probe.push(&rows.whole()?, &mut |batch| {
                metrics.add(batch.rows, since);
                flow(rest, batch.into(), sink)?;
                since = Instant::now();
                Ok(())
            })?;
            metrics.add(0, since);
            Ok(())
        }
        Step::Limit(limiter) => match limiter.pass(rows.whole()?) {
            Some(batch) => {
                metrics.add(batch.rows, start);
                flow(rest, batch.into(), sink)
            }
            None if limiter.is_full() => Err(Error::Cancelled),
            None => Ok(()),
        },
        Step::Outside(stage) => {
            let batch = rows.whole()?;
            stage.working.push(batch, &stage.inside, &mut |batch| {
                metrics.add(batch.rows, start);
                flow(rest, batch.into(), sink)
            })
        }
    }
}

fn projected(expressions: &[Expression], rows: Selected) -> Result<Selected> {
    let of = |batch: &Batch| -> Result<Batch> {
        let columns = expressions.iter().map(|one| one.evaluate(batch));
        Ok(Batch {
            columns: columns.collect::<Result<_>>()?,
            rows: batch.rows,
        })
    };
    match of(&rows.batch) {
        Ok(batch) => Ok(Selected { batch, ..rows }),
        // Maybe of a row that does not count.
        Err(_) if rows.which.is_some() => Ok(of(&rows.whole()?)?.into()),
        Err(error) => Err(error),
    }
}

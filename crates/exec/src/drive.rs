//! Driving pipelines: threads take rows from the source of one and send them through its
//! steps to sinks of their own.

use crate::pipeline::Run;
use crate::plan::Metrics;
use crate::source::Source;
use crate::step::{Step, flow};
use crate::threads::Workers;
use crate::vector::Batch;
use crate::{Error, Result};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Where rows come from, and what they pass.
pub(crate) struct Pipeline<'a> {
    pub source: Source<'a>,
    pub steps: Vec<(Step<'a>, &'a Metrics)>,
}

impl Pipeline<'_> {
    /// Whether nothing that enters the step `from` comes out of the last any more.
    fn is_full(&self, from: usize) -> bool {
        self.steps[from..].iter().any(|(step, _)| step.is_full())
    }
}

/// Where the rows of a pipeline go.
struct Target<'t, S> {
    push: &'t (dyn Fn(&mut S, Batch) -> Result<()> + Sync),
    /// Whether no row is wanted any more.
    is_full: &'t (dyn Fn() -> bool + Sync),
}

impl Run<'_> {
    /// Sends all rows of a pipeline to as many sinks as there are threads: first those
    /// of the source, then what joins have left, one after the other.
    pub(crate) fn drive<S: Send>(
        &self,
        pipeline: &Pipeline<'_>,
        workers: Workers,
        make: impl Fn() -> Result<S>,
        push: impl Fn(&mut S, Batch) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        let waits = |step: &Step<'_>| matches!(step, Step::Probe(probe) if probe.waiting.is_some());
        let threads = match pipeline.steps.iter().any(|(step, _)| waits(step)) {
            true => self.threads,
            false => pipeline.source.threads(self.threads),
        };
        let sinks = (0..threads.max(1)).map(|_| make());
        let sinks = sinks.collect::<Result<_>>()?;
        let target = Target {
            push: &push,
            is_full: &|| false,
        };
        self.fill(pipeline, workers, sinks, &target)
    }

    /// Does that with sinks that are there.
    fn fill<S: Send>(
        &self,
        pipeline: &Pipeline<'_>,
        workers: Workers,
        sinks: Vec<S>,
        target: &Target<'_, S>,
    ) -> Result<Vec<S>> {
        let steps = &pipeline.steps;
        let is_full = |from: usize| (target.is_full)() || pipeline.is_full(from);
        // Rows that a limit stops have ended like others.
        let ended = |from: usize, outcome: Result<()>| match outcome {
            Err(Error::Cancelled) if is_full(from) && !self.stop.load(Ordering::Relaxed) => Ok(()),
            outcome => outcome,
        };
        let mut sinks = match &pipeline.source {
            Source::Plans { .. } => self.fill_of_each(pipeline, workers, sinks, target)?,
            source => self.phase(sinks, workers, |sink, goes_on| {
                let mut worker = source.worker();
                while !is_full(0)
                    && let Some(batch) = worker.next(self)?
                {
                    goes_on()?;
                    let outcome = worker
                        .in_turn(|| flow(steps, batch, &mut |batch| (target.push)(sink, batch)));
                    ended(0, outcome)?;
                }
                Ok(())
            })?,
        };
        for (at, (step, metrics)) in steps.iter().enumerate() {
            let Step::Probe(probe) = step else {
                continue;
            };
            if is_full(at + 1) {
                break;
            }
            let left = probe.left(metrics)?;
            if left.is_empty() {
                continue;
            }
            let (rest, queue) = (&steps[at + 1..], Mutex::new(left));
            sinks = self.phase(sinks, workers, |sink, goes_on| {
                while !is_full(at + 1) {
                    let Some(left) = queue.lock().pop() else {
                        return Ok(());
                    };
                    let outcome = probe.finish(left, &queue, &mut |batch| {
                        goes_on()?;
                        metrics.rows.fetch_add(batch.rows as u64, Ordering::Relaxed);
                        flow(rest, batch, &mut |batch| (target.push)(sink, batch))
                    });
                    ended(at + 1, outcome)?;
                }
                Ok(())
            })?;
        }
        Ok(sinks)
    }

    /// Does that with the rows of each plan that the pipeline reads, one after the other.
    fn fill_of_each<S: Send>(
        &self,
        pipeline: &Pipeline<'_>,
        workers: Workers,
        mut sinks: Vec<S>,
        target: &Target<'_, S>,
    ) -> Result<Vec<S>> {
        let Source::Plans {
            plans,
            filters,
            metrics,
        } = &pipeline.source
        else {
            return Ok(sinks);
        };
        let target = Target {
            push: &|sink: &mut S, batch: Batch| {
                metrics.add(batch.rows, Instant::now());
                flow(&pipeline.steps, batch, &mut |batch| {
                    (target.push)(sink, batch)
                })
            },
            is_full: &|| (target.is_full)() || pipeline.is_full(0),
        };
        for plan in *plans {
            if (target.is_full)() {
                break;
            }
            let input = self.open(plan, filters)?;
            sinks = self.fill(&input, workers, sinks, &target)?;
        }
        Ok(sinks)
    }

    /// Does some work with each sink, on a thread of its own; the work asks now and then
    /// whether it is still wanted.
    fn phase<S: Send>(
        &self,
        sinks: Vec<S>,
        workers: Workers,
        work: impl Fn(&mut S, &dyn Fn() -> Result<()>) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        let failed = AtomicBool::new(false);
        let goes_on = || match self.stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed) {
            true => Err(Error::Cancelled),
            false => Ok(()),
        };
        let sinks: Vec<Mutex<S>> = sinks.into_iter().map(Mutex::new).collect();
        let outcomes = workers.each(sinks.len(), |number| {
            let outcome = work(&mut *sinks[number].lock(), &goes_on);
            if outcome.is_err() {
                failed.store(true, Ordering::Relaxed);
            }
            outcome
        });
        // An error counts before what it caused elsewhere.
        let errors = outcomes.into_iter().filter_map(Result::err);
        match errors.min_by_key(|error| matches!(error, Error::Cancelled)) {
            Some(error) => Err(error),
            None => Ok(sinks.into_iter().map(Mutex::into_inner).collect()),
        }
    }
}

//! Driving pipelines: threads take rows from the source of one and send them through its
//! steps to sinks of their own.

use crate::context::Context;
use crate::expression::Expression;
use crate::plan::Metrics;
use crate::source::Source;
use crate::step::{Step, flow};
use crate::threads::Workers;
use crate::vector::Selected;
use crate::{Error, Result};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where rows come from, and what they pass.
pub(crate) struct Pipeline<'a> {
    pub source: Source<'a>,
    pub steps: Vec<(Step<'a>, &'a Metrics)>,
    /// Whether rows that do not count may come among others, see [`Selected`].
    pub selects: bool,
}

impl<'a> Pipeline<'a> {
    /// The rows of a source.
    pub fn of(source: Source<'a>) -> Pipeline<'a> {
        Pipeline {
            source,
            steps: Vec::new(),
            selects: false,
        }
    }

    /// Lets rows come that do not count, if nothing on the way would mind.
    pub fn select(&mut self) {
        let calm = |step: &Step<'_>| match step {
            Step::Project(expressions) => !expressions.iter().any(Expression::is_risky),
            _ => false,
        };
        self.selects = self.steps.iter().all(|(step, _)| calm(step));
    }

    /// Whether its batches are to come one after the other, in the order of its source.
    pub fn is_sequential(&self, workers: Workers) -> bool {
        // The reader of a result sees the order of its rows.
        let is_shown = workers == Workers::Waiting && matches!(self.source, Source::Rows(..));
        is_shown || self.steps.iter().any(|(step, _)| step.is_sequential())
    }

    /// Whether nothing that enters the step `from` comes out of the last any more.
    pub fn is_full(&self, from: usize) -> bool {
        self.steps[from..].iter().any(|(step, _)| step.is_full())
    }
}

/// Where the rows of a pipeline go.
pub(crate) struct Target<'t, S> {
    pub push: &'t (dyn Fn(&mut S, Selected) -> Result<()> + Sync),
    /// Whether no row is wanted any more.
    pub is_full: &'t (dyn Fn() -> bool + Sync),
}

impl Context<'_> {
    /// Sends the rows of a source, which are not those of plans, through the steps of a
    /// pipeline to some sinks, each on a thread of its own.
    pub(crate) fn fill_of_source<S: Send>(
        &self,
        pipeline: &Pipeline<'_>,
        workers: Workers,
        sinks: Vec<S>,
        target: &Target<'_, S>,
    ) -> Result<Vec<S>> {
        let steps = &pipeline.steps;
        let is_full = || (target.is_full)() || pipeline.is_full(0);
        let workers = match pipeline.source {
            Source::Rows(_, true, _) => Workers::Waiting,
            _ => workers,
        };
        self.phase(sinks, workers, |sink, goes_on| {
            let mut worker = pipeline.source.worker(pipeline.selects);
            while !is_full()
                && let Some(rows) = worker.next(self)?
            {
                goes_on()?;
                let outcome =
                    worker.in_turn(|| flow(steps, rows, &mut |rows| (target.push)(sink, rows)));
                self.ended(outcome, &is_full)?;
            }
            Ok(())
        })
    }

    /// Sends what steps have left, one after the other, through the steps behind them.
    pub(crate) fn fill_of_steps<S: Send>(
        &self,
        pipeline: &Pipeline<'_>,
        workers: Workers,
        mut sinks: Vec<S>,
        target: &Target<'_, S>,
    ) -> Result<Vec<S>> {
        let steps = &pipeline.steps;
        let is_full = |from: usize| (target.is_full)() || pipeline.is_full(from);
        let ended = |from: usize, outcome| self.ended(outcome, &|| is_full(from));
        for (at, (step, metrics)) in steps.iter().enumerate() {
            // A limit may have ended this step; those above the limit have not ended.
            if is_full(at + 1) {
                continue;
            }
            let rest = &steps[at + 1..];
            let probe = match step {
                Step::Probe(probe) => probe,
                Step::Outside(stage) => {
                    let idle = sinks.split_off(sinks.len().min(1));
                    sinks = self.phase(sinks, workers, |sink, goes_on| {
                        let outcome = stage.working.finish(&stage.inside, &mut |batch| {
                            goes_on()?;
                            metrics.rows.fetch_add(batch.rows as u64, Ordering::Relaxed);
                            flow(rest, batch.into(), &mut |rows| (target.push)(sink, rows))
                        });
                        ended(at + 1, outcome)
                    })?;
                    sinks.extend(idle);
                    continue;
                }
                _ => continue,
            };
            let left = probe.left(metrics)?;
            if left.is_empty() {
                continue;
            }
            let queue = Mutex::new(left);
            sinks = self.phase(sinks, workers, |sink, goes_on| {
                while !is_full(at + 1) {
                    let Some(left) = queue.lock().pop() else {
                        return Ok(());
                    };
                    let outcome = probe.finish(left, &queue, &mut |batch| {
                        goes_on()?;
                        metrics.rows.fetch_add(batch.rows as u64, Ordering::Relaxed);
                        flow(rest, batch.into(), &mut |rows| (target.push)(sink, rows))
                    });
                    ended(at + 1, outcome)?;
                }
                Ok(())
            })?;
        }
        Ok(sinks)
    }

    /// The outcome of work that may have been given up because no more rows are wanted: rows
    /// that a limit stops have ended like others.
    pub(crate) fn ended(&self, outcome: Result<()>, is_full: &dyn Fn() -> bool) -> Result<()> {
        match outcome {
            Err(Error::Cancelled) if is_full() && !self.stop.load(Ordering::Relaxed) => Ok(()),
            outcome => outcome,
        }
    }

    /// Does some work with each sink, on a thread of its own; the work asks now and then
    /// whether it is still wanted.
    pub(crate) fn phase<S: Send>(
        &self,
        sinks: Vec<S>,
        workers: Workers,
        work: impl Fn(&mut S, &(dyn Fn() -> Result<()> + Sync)) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        let failed = AtomicBool::new(false);
        let goes_on = || {
            let given_up = self.stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed);
            match given_up || (self.is_unwanted)() {
                true => Err(Error::Cancelled),
                false => Ok(()),
            }
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

//! Sending the rows of pipelines to sinks, also those of the plans that they read.

use crate::Result;
use crate::context::{Context, Most};
use crate::drive::{Pipeline, Target};
use crate::plan::{Metrics, Plan};
use crate::ranges::PlanRanges;
use crate::scan::Filter;
use crate::shared::SharedPlans;
use crate::source::Source;
use crate::step::{Step, flow};
use crate::threads::Workers;
use crate::vector::Selected;
use std::time::Instant;

/// Takes the rows of a range.
type Taker<'t> = &'t mut (dyn FnMut(Selected) -> Result<()> + Send);

impl Context<'_> {
    /// Sends all rows of a pipeline to as many sinks as there are threads.
    pub(super) fn drive<S: Send>(
        &self,
        pipeline: &Pipeline<'_>,
        workers: Workers,
        make: impl Fn() -> Result<S>,
        push: impl Fn(&mut S, Selected) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        let waits = |step: &Step<'_>| matches!(step, Step::Probe(probe) if probe.waiting.is_some());
        let threads = match () {
            () if pipeline.is_sequential(workers) => 1,
            () if pipeline.steps.iter().any(|(step, _)| waits(step)) => self.threads,
            () => pipeline.source.threads(self.threads),
        };
        let sinks = (0..threads.max(1)).map(|_| make());
        let sinks = sinks.collect::<Result<_>>()?;
        let target = Target {
            push: &push,
            is_full: &|| false,
        };
        self.fill(pipeline, workers, sinks, &target)
    }

    /// Sends all rows of a pipeline to some sinks: first those of the source, then what
    /// steps have left.
    fn fill<S: Send>(
        &self,
        pipeline: &Pipeline<'_>,
        workers: Workers,
        mut sinks: Vec<S>,
        target: &Target<'_, S>,
    ) -> Result<Vec<S>> {
        let idle = match pipeline.is_sequential(workers) {
            true => sinks.split_off(sinks.len().min(1)),
            false => Vec::new(),
        };
        let sinks = match &pipeline.source {
            Source::Plans {
                plans,
                filters,
                metrics,
            } => {
                let plans = (*plans, filters.as_slice(), *metrics);
                self.fill_of_plans(plans, pipeline, workers, sinks, target)?
            }
            Source::Ranges(ranges) => {
                self.fill_of_ranges(ranges, pipeline, workers, sinks, target)?
            }
            _ => self.fill_of_source(pipeline, workers, sinks, target)?,
        };
        let mut sinks = self.fill_of_steps(pipeline, workers, sinks, target)?;
        sinks.extend(idle);
        Ok(sinks)
    }

    /// Sends the rows of each of the plans that a pipeline reads, one plan after the other.
    fn fill_of_plans<S: Send>(
        &self,
        (plans, filters, metrics): (&[Plan], &[Filter], &Metrics),
        pipeline: &Pipeline<'_>,
        workers: Workers,
        mut sinks: Vec<S>,
        target: &Target<'_, S>,
    ) -> Result<Vec<S>> {
        let target = Target {
            push: &|sink: &mut S, rows: Selected| {
                metrics.add(rows.rows(), Instant::now());
                flow(&pipeline.steps, rows, &mut |rows| (target.push)(sink, rows))
            },
            is_full: &|| (target.is_full)() || pipeline.is_full(0),
        };
        for plan in plans {
            if (target.is_full)() {
                break;
            }
            let input = self.open(plan, filters)?;
            sinks = self.fill(&input, workers, sinks, &target)?;
        }
        Ok(sinks)
    }

    /// Sends the rows of each range through the steps of a pipeline.
    fn fill_of_ranges<S: Send>(
        &self,
        ranges: &PlanRanges<'_>,
        pipeline: &Pipeline<'_>,
        workers: Workers,
        sinks: Vec<S>,
        target: &Target<'_, S>,
    ) -> Result<Vec<S>> {
        let is_full = || (target.is_full)() || pipeline.is_full(0);
        self.phase(sinks, workers, |sink, goes_on| {
            let most = Most::default();
            let most = self.bounds.map_or(&most, |around| around.most);
            let is_unwanted = || goes_on().is_err() || is_full();
            let mut push = |rows: Selected| {
                ranges.metrics.add(rows.rows(), Instant::now());
                flow(&pipeline.steps, rows, &mut |rows| (target.push)(sink, rows))
            };
            while !is_full()
                && let Some(bounds) = ranges.next(self.bounds, most)
            {
                goes_on()?;
                let shared = SharedPlans::default();
                let context = Context {
                    shared: &shared,
                    threads: 1,
                    is_unwanted: &is_unwanted,
                    bounds: Some(&bounds),
                    ..*self
                };
                let outcome = context.range(ranges, &mut push, &is_full);
                self.ended(outcome, &is_full)?;
            }
            Ok(())
        })
    }

    /// Computes one range on this thread: with one sink, none of the pool is asked for.
    fn range(
        &self,
        ranges: &PlanRanges<'_>,
        push: Taker<'_>,
        is_full: &(dyn Fn() -> bool + Sync),
    ) -> Result<()> {
        let pipeline = self.open(ranges.plan, &ranges.filters)?;
        let target = Target {
            push: &|push: &mut Taker<'_>, rows| push(rows),
            is_full,
        };
        self.fill(&pipeline, Workers::Pooled, vec![push], &target)?;
        Ok(())
    }
}

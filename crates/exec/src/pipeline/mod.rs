//! Running a plan: pipelines over work that threads take from one queue.

mod fill;
mod fold;
mod join;
mod shared;

use crate::context::{Context, Counters, Run};
use crate::drive::Pipeline;
use crate::limit::Limiter;
use crate::merge::{Gatherer, Merged};
use crate::outside::Within;
use crate::plan::{Metrics, Node, Plan, Windowing};
use crate::ranges::PlanRanges;
use crate::scan::{Filter, Test, by_keys, through};
use crate::shared::SharedPlans;
use crate::sort::Sorter;
use crate::source::Source;
use crate::step::{Stage, Step};
use crate::threads::Workers;
use crate::vector::Batch;
use crate::window::Collector;
use crate::{Error, Result};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Instant;

/// Runs a plan and gives its rows to `out`, from several threads; those of a plan that
/// [is ordered](Plan::is_ordered) one batch after the other, in order.
///
/// # Errors
/// The first error of an operator; `Cancelled` if the run was stopped.
pub fn run(plan: &Plan, run: &Run<'_>, out: &(dyn Fn(Batch) -> Result<()> + Sync)) -> Result<()> {
    let counters = Counters::new(run.watch);
    let shared = SharedPlans::default();
    let context = Context::of(run, &counters, &shared);
    let pipeline = context.open(plan, &[])?;
    let workers = Workers::Waiting;
    context.drive(&pipeline, workers, || Ok(()), |_, rows| out(rows.whole()?))?;
    Ok(())
}

impl Context<'_> {
    /// Does everything that must be done before the rows of a plan can flow.
    pub(crate) fn open<'a>(&'a self, plan: &'a Plan, filters: &[Filter]) -> Result<Pipeline<'a>> {
        match &plan.node {
            Node::Table(table) => {
                let scan = self.scan(table, &plan.metrics, filters)?;
                Ok(Pipeline::of(Source::Scan(scan, &plan.metrics)))
            }
            Node::Filter(input, condition) => {
                let mut pipeline = self.open(input, filters)?;
                pipeline
                    .steps
                    .push((Step::Filter(condition), &plan.metrics));
                Ok(pipeline)
            }
            Node::Project(input, expressions) => {
                let below = through(filters, expressions.iter());
                let mut pipeline = self.open(input, &below)?;
                pipeline
                    .steps
                    .push((Step::Project(expressions), &plan.metrics));
                Ok(pipeline)
            }
            Node::Aggregate(input, grouping) => {
                let keys = grouping.keys.iter().map(|(key, _)| key);
                // What is first among groups is not known before there are any.
                let below = through(&by_keys(filters), keys);
                let mut pipeline = self.open(input, &below)?;
                if grouping.takes_selected() {
                    pipeline.select();
                }
                let tables = self.drive(
                    &pipeline,
                    Workers::Pooled,
                    || Gatherer::new(grouping, self.space),
                    |gatherer, rows| {
                        let start = Instant::now();
                        gatherer.add(rows, self.space)?;
                        plan.metrics.add(0, start);
                        Ok(())
                    },
                )?;
                drop(pipeline);
                let source = match self.merge(tables, grouping, &plan.metrics)? {
                    Merged::Here(batches, held) => Source::of(batches, held),
                    Merged::Aside(parts) => {
                        Source::Groups(Mutex::new(parts), grouping, &plan.metrics)
                    }
                };
                Ok(Pipeline::of(source))
            }
            Node::Fold(input, folding) => self.fold(input, folding, &plan.metrics),
            Node::Join(join) => self.join(join, &plan.metrics, filters),
            Node::Sort(input, sorting) => {
                let sorter = Sorter::new(sorting, input.types.len());
                let first = sorter.test().map(|(column, test)| Filter {
                    column,
                    test: Test::First(test),
                });
                // Without a row that is dropped, another would be among the first.
                let below = match sorting.keeps_all() {
                    true => filters,
                    false => first.as_slice(),
                };
                let pipeline = self.open(input, below)?;
                let rows = self.drive(
                    &pipeline,
                    Workers::Pooled,
                    || Ok(sorter.collected(self.space)),
                    |sorted, rows| {
                        let start = Instant::now();
                        sorter.push(sorted, rows.whole()?, self.space)?;
                        plan.metrics.add(0, start);
                        Ok(())
                    },
                )?;
                drop(pipeline);
                let sorted = self.sorted(sorter, rows, &plan.metrics)?;
                Ok(Pipeline::of(Source::Sorted(sorted)))
            }
            Node::Window(input, windowing) => self.window(input, windowing, &plan.metrics, filters),
            Node::Limit(input, limit) => {
                let mut pipeline = self.open(input, &[])?;
                let step = Step::Limit(Limiter::new(*limit));
                pipeline.steps.push((step, &plan.metrics));
                Ok(pipeline)
            }
            Node::Union(inputs) => Ok(Pipeline::of(Source::Plans {
                plans: inputs,
                filters: filters.to_vec(),
                metrics: &plan.metrics,
            })),
            Node::Ranges(input, ranges) => {
                let ranges = PlanRanges::new(input, ranges, &plan.metrics, filters)?;
                // Within a range, whoever began the outermost has announced all.
                if self.bounds.is_none() {
                    self.counters.announce(input, ranges.count() as u64);
                }
                Ok(Pipeline::of(Source::Ranges(ranges)))
            }
            Node::Shared(input) => self.shared(input, &plan.metrics),
            Node::Rows(rows) => {
                let parts = Mutex::new(rows.open(&Within(*self))?.into_iter());
                Ok(Pipeline::of(Source::Rows(
                    parts,
                    rows.waits(),
                    &plan.metrics,
                )))
            }
            Node::Outside(outside) => {
                let beside = outside.beside.iter();
                let beside = beside.map(|plan| self.gathered(plan));
                let beside = beside.collect::<Result<Vec<_>>>()?;
                let inside = Within(*self);
                let stage = Stage {
                    working: outside.operator.begin(beside, &inside)?,
                    inside,
                    is_parallel: outside.operator.is_parallel(),
                };
                // Of an operator that wants no rows, none is computed.
                let mut pipeline = match stage.working.is_full() {
                    true => Pipeline::of(Source::of(Vec::new(), self.space.reservation())),
                    false => self.open(&outside.input, &[])?,
                };
                pipeline.steps.push((Step::Outside(stage), &plan.metrics));
                Ok(pipeline)
            }
            Node::Round(number) => {
                let rows = self.round(*number);
                let rows = rows.ok_or_else(|| Error::internal("a round that is not run"))?;
                Ok(Pipeline::of(Source::Kept(
                    Arc::clone(rows),
                    AtomicUsize::new(0),
                    &plan.metrics,
                )))
            }
        }
    }

    fn window<'a>(
        &'a self,
        input: &'a Plan,
        windowing: &'a Windowing,
        metrics: &'a Metrics,
        filters: &[Filter],
    ) -> Result<Pipeline<'a>> {
        let partition = windowing.partition_columns();
        // Whole partitions may be left out.
        let below = by_keys(filters).into_iter().filter_map(|filter| {
            let column = windowing.columns.get(filter.column).copied()?;
            let test = filter.test;
            let known = partition.contains(&column);
            known.then_some(Filter { column, test })
        });
        let pipeline = self.open(input, &below.collect::<Vec<_>>())?;
        let collector = Collector::new(windowing, input.types.len());
        let rows = self.drive(
            &pipeline,
            Workers::Pooled,
            || Ok(collector.collected(self.space)),
            |rows, batch| {
                let start = Instant::now();
                collector.push(rows, batch.whole()?, self.space)?;
                metrics.add(0, start);
                Ok(())
            },
        )?;
        drop(pipeline);
        Ok(Pipeline::of(Source::Windows(
            self.windows(collector, rows, metrics)?,
        )))
    }
}

#[cfg(test)]
mod tests;

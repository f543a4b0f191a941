//! Running a plan: pipelines over work that threads take from one queue.

use crate::Result;
use crate::context::{Context, Counters};
use crate::drive::Pipeline;
use crate::expression::Expression;
use crate::join::{BuildRows, Builder, Built, JoinTable, KeyTest, Probe, Waiting};
use crate::limit::Limiter;
use crate::memory::Space;
use crate::merge::Gatherer;
use crate::plan::{Join, JoinKind, Metrics, Node, Plan, Windowing};
use crate::scan::{Filter, Test, by_keys, through};
use crate::shared::SharedPlans;
use crate::sort::Sorter;
use crate::source::Source;
use crate::step::Step;
use crate::threads::Workers;
use crate::vector::{Batch, Values};
use crate::window::Collector;
use freestone_storage::{Scan, Snapshot};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// How a plan is run.
pub struct Run<'a> {
    /// Threads that take part.
    pub threads: usize,
    /// Most rows of a batch that a scan gives; 0 for what is best.
    pub batch_rows: usize,
    /// Set by whoever does not want the result any more.
    pub stop: &'a AtomicBool,
    /// Told of every scan before it begins; where a table is scanned range by range, only of
    /// the first, with which all others count together.
    pub watch: &'a (dyn Fn(&Arc<Scan>) + Sync),
    /// The memory it may use.
    pub space: Space,
    /// What readers see, where that is not the moment that the plan was made for.
    pub moment: Option<Snapshot>,
}

/// Runs a plan and gives its rows to `out`, from several threads; those of a plan that
/// [is ordered](Plan::is_ordered) one batch after the other, in order.
///
/// # Errors
/// What any operator had to complain of first; `Cancelled` if it was stopped.
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
            Node::Table(table) => self.scan(table, &plan.metrics, filters),
            Node::Feed(feed) => Ok(Pipeline::of(Source::Feed(feed.as_ref(), &plan.metrics))),
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
                Ok(Pipeline::of(self.merge(tables, grouping, &plan.metrics)?))
            }
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
            Node::Ranges(input, ranges) => self.ranges(input, ranges, &plan.metrics, filters),
            Node::Shared(input) => self.shared(input, &plan.metrics, filters),
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
        let workers = match pipeline.source {
            Source::Feed(..) => Workers::Waiting,
            _ => Workers::Pooled,
        };
        let rows = self.drive(
            &pipeline,
            workers,
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

    fn join<'a>(
        &'a self,
        join: &'a Join,
        metrics: &'a Metrics,
        filters: &[Filter],
    ) -> Result<Pipeline<'a>> {
        join.check()?;
        let width = join.probe.types.len();
        let pairs = join.kind.gives_pairs();
        // A partner is missed where rows come without one, and NULL may be among the first.
        let filters = match join.kind {
            JoinKind::Inner => filters.to_vec(),
            _ => by_keys(filters),
        };
        let (to_probe, to_build): (Vec<Filter>, Vec<Filter>) = match pairs {
            true => filters
                .into_iter()
                .partition(|filter| filter.column < width),
            false if join.kind.gives_build_rows() => (Vec::new(), filters),
            false => (filters, Vec::new()),
        };
        let to_build: Vec<Filter> = to_build
            .into_iter()
            .filter(|_| join.kind.may_skip_build() || !pairs)
            .map(|filter| Filter {
                column: filter.column - if pairs { width } else { 0 },
                test: filter.test,
            })
            .collect();
        let built = self.build(join, &to_build)?;
        let start = Instant::now();
        // No row has a partner: those of the other side are not asked for.
        let is_empty = built.aside.is_none() && built.batches.iter().all(|batch| batch.rows == 0);
        if is_empty && join.kind.may_skip_probe() {
            return Ok(Pipeline::of(Source::of(Vec::new(), built.held)));
        }
        let (table, keys) = JoinTable::new(join, &built.batches, built.held, self.threads)?;
        drop(built.batches);
        self.held(metrics, table.held());
        let mut to_probe = to_probe;
        // What was set aside is not among the keys.
        let all_here = built.aside.is_none();
        if all_here && join.kind.may_skip_probe() && !join.null_equal {
            for ((_, of_probe, _), key) in join.keys.iter().zip(&keys) {
                if let (Expression::Column(column), Values::Int(values)) = (of_probe, &key.values) {
                    to_probe.push(Filter {
                        column: *column,
                        test: Test::Keys(Arc::new(KeyTest::new(values, self.threads))),
                    });
                }
            }
        }
        drop(keys);
        metrics.add(0, start);
        let mut pipeline = self.open(&join.probe, &to_probe)?;
        let probe = Probe {
            join,
            table: Arc::new(table),
            waiting: built.aside.map(Waiting::new),
            contents: built.contents,
            space: self.space,
            stop: self.stop,
        };
        pipeline.steps.push((Step::Probe(probe), metrics));
        Ok(pipeline)
    }

    /// All rows of the build side of a join.
    fn build(&self, join: &Join, filters: &[Filter]) -> Result<Built> {
        let pipeline = self.open(&join.build, filters)?;
        let builder = Builder::new(join);
        let rows = self.drive(
            &pipeline,
            Workers::Pooled,
            || Ok(builder.rows(self.space)),
            |built: &mut BuildRows, rows| builder.push(built, rows.whole()?, self.space),
        )?;
        drop(pipeline);
        builder.finish(rows, self.space)
    }
}

#[cfg(test)]
mod tests;

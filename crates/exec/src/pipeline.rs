//! Running a plan: pipelines over work that threads take from one queue.

use crate::expression::Expression;
use crate::join::{BuildRows, Builder, Built, Join, JoinTable, KeyTest, Probe, Waiting};
use crate::memory::Space;
use crate::merge::Gatherer;
use crate::plan::{Metrics, Node, Plan, Table};
use crate::source::Source;
use crate::step::{Step, flow};
use crate::threads::Workers;
use crate::vector::{Batch, Values};
use crate::{Error, Result};
use freestone_storage::{ArrayForm, CompareOp, Predicate, Scan, ScanRequest, Value};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Rows of a batch.
const BATCH_ROWS: usize = 8192;

/// How a plan is run.
pub struct Run<'a> {
    /// Threads that take part.
    pub threads: usize,
    /// Most rows of a batch that a scan gives; 0 for what is best.
    pub batch_rows: usize,
    /// Set by whoever does not want the result any more.
    pub stop: &'a AtomicBool,
    /// Told of every scan before it begins.
    pub watch: &'a (dyn Fn(&Arc<Scan>) + Sync),
    /// The memory it may use.
    pub space: Space,
}

/// Runs a plan and gives its rows to `out`, from several threads.
///
/// # Errors
/// What any operator had to complain of first; `Cancelled` if it was stopped.
pub fn run(plan: &Plan, run: &Run<'_>, out: &(dyn Fn(Batch) -> Result<()> + Sync)) -> Result<()> {
    let pipeline = run.open(plan, &[])?;
    let workers = Workers::Waiting;
    run.drive(&pipeline, workers, || Ok(()), |_, batch| out(batch))?;
    Ok(())
}

/// Keys of a join, for a column of the plan below.
#[derive(Clone)]
struct Filter {
    column: usize,
    test: Arc<KeyTest>,
}

/// Where rows come from, and what they pass.
struct Pipeline<'a> {
    source: Source<'a>,
    steps: Vec<(Step<'a>, &'a Metrics)>,
}

impl Run<'_> {
    /// Does everything that must be done before the rows of a plan can flow.
    fn open<'a>(&'a self, plan: &'a Plan, filters: &[Filter]) -> Result<Pipeline<'a>> {
        match &plan.node {
            Node::Table(table) => self.scan(table, &plan.metrics, filters),
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
                let below = through(filters, grouping.keys.iter().map(|(key, _)| key));
                let pipeline = self.open(input, &below)?;
                let tables = self.drive(
                    &pipeline,
                    Workers::Pooled,
                    || Gatherer::new(grouping, &self.space),
                    |gatherer, batch| {
                        let start = Instant::now();
                        gatherer.add(&batch, &self.space)?;
                        plan.metrics.add(0, start);
                        Ok(())
                    },
                )?;
                drop(pipeline);
                Ok(Pipeline {
                    source: self.merge(tables, grouping, &plan.metrics)?,
                    steps: Vec::new(),
                })
            }
            Node::Join(join) => self.join(join, &plan.metrics, filters),
        }
    }

    fn scan<'a>(
        &self,
        table: &'a Table,
        metrics: &'a Metrics,
        filters: &[Filter],
    ) -> Result<Pipeline<'a>> {
        let scan = table.table.scan(&ScanRequest {
            projection: table.projection.clone(),
            predicate: table.predicate.clone(),
            batch_rows: if self.batch_rows == 0 {
                BATCH_ROWS
            } else {
                self.batch_rows
            },
            view: table.view.clone(),
            form: ArrayForm::Compact,
            ..ScanRequest::default()
        })?;
        let mut within = Vec::new();
        for filter in filters {
            let Some(column) = table.projection.get(filter.column).copied() else {
                continue;
            };
            let mut bound = |op, value: i64| {
                let value = Value::Int(value.into());
                within.push(Predicate::Compare { column, op, value });
            };
            bound(CompareOp::GtEq, filter.test.least);
            bound(CompareOp::LtEq, filter.test.greatest);
            scan.filter_values(column, filter.test.clone());
        }
        if !within.is_empty() {
            scan.tighten(&Predicate::And(within))?;
        }
        (self.watch)(&scan);
        *metrics.scan.lock() = Some(scan.metrics().clone());
        Ok(Pipeline {
            source: Source::Scan(scan, metrics),
            steps: Vec::new(),
        })
    }

    fn join<'a>(
        &'a self,
        join: &'a Join,
        metrics: &'a Metrics,
        filters: &[Filter],
    ) -> Result<Pipeline<'a>> {
        let width = join.probe.types.len();
        let pairs = join.kind.gives_pairs();
        let (to_probe, to_build): (Vec<Filter>, Vec<Filter>) = match pairs {
            true => filters
                .iter()
                .cloned()
                .partition(|filter| filter.column < width),
            false if join.kind.gives_build_rows() => (Vec::new(), filters.to_vec()),
            false => (filters.to_vec(), Vec::new()),
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
        let (table, keys) = JoinTable::new(join, &built.batches, built.held)?;
        drop(built.batches);
        let mut to_probe = to_probe;
        // What was set aside is not among the keys.
        let all_here = built.aside.is_none();
        if all_here && join.kind.may_skip_probe() && !join.null_equal {
            for ((_, of_probe, _), key) in join.keys.iter().zip(&keys) {
                if let (Expression::Column(column), Values::Int(values)) = (of_probe, &key.values) {
                    to_probe.push(Filter {
                        column: *column,
                        test: Arc::new(KeyTest::new(values)),
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
            space: &self.space,
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
            || Ok(builder.rows(&self.space)),
            |rows: &mut BuildRows, batch| builder.push(rows, batch, &self.space),
        )?;
        drop(pipeline);
        builder.finish(rows, &self.space)
    }

    /// Sends all rows of a pipeline to as many sinks as there are threads: first those
    /// of the source, then what joins have left, one after the other.
    fn drive<S: Send>(
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
        let mut sinks = self.phase(sinks, workers, |sink, goes_on| {
            let mut worker = pipeline.source.worker();
            while let Some(batch) = worker.next(self)? {
                goes_on()?;
                flow(&pipeline.steps, batch, &mut |batch| push(sink, batch))?;
            }
            Ok(())
        })?;
        for (at, (step, metrics)) in pipeline.steps.iter().enumerate() {
            let Step::Probe(probe) = step else {
                continue;
            };
            let left = probe.left(metrics)?;
            if left.is_empty() {
                continue;
            }
            let (rest, queue) = (&pipeline.steps[at + 1..], Mutex::new(left));
            sinks = self.phase(sinks, workers, |sink, goes_on| {
                loop {
                    let Some(left) = queue.lock().pop() else {
                        return Ok(());
                    };
                    probe.finish(left, &queue, &mut |batch| {
                        goes_on()?;
                        metrics.rows.fetch_add(batch.rows as u64, Ordering::Relaxed);
                        flow(rest, batch, &mut |batch| push(sink, batch))
                    })?;
                }
            })?;
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

/// A batch in pieces of usual size, none of them empty.
pub(crate) fn pieces(batch: Batch) -> Vec<Batch> {
    match batch.rows {
        0 => return Vec::new(),
        1..=BATCH_ROWS => return vec![batch],
        _ => {}
    }
    let starts = (0..batch.rows).step_by(BATCH_ROWS);
    starts
        .map(|start| batch.slice(start, BATCH_ROWS.min(batch.rows - start)))
        .collect()
}

/// Filters for the columns that some expressions are.
fn through<'e>(
    filters: &[Filter],
    expressions: impl Iterator<Item = &'e Expression> + Clone,
) -> Vec<Filter> {
    let below = |filter: &Filter| match expressions.clone().nth(filter.column)? {
        Expression::Column(column) => Some(Filter {
            column: *column,
            test: filter.test.clone(),
        }),
        _ => None,
    };
    filters.iter().filter_map(below).collect()
}

//! Running a plan: pipelines over work that threads take from one queue.

use crate::aggregate::GroupTable;
use crate::expression::Expression;
use crate::join::{Join, JoinTable, KeyTest, Probe};
use crate::plan::{Metrics, Node, Plan, Table};
use crate::step::{Step, flow};
use crate::vector::{Batch, Values, Vector};
use crate::{Error, Result};
use freestone_storage::{ArrayForm, CompareOp, Predicate, Scan, ScanRequest, ScanWorker, Value};
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
}

/// Runs a plan and gives its rows to `out`, from several threads.
///
/// # Errors
/// What any operator had to complain of first; `Cancelled` if it was stopped.
pub fn run(plan: &Plan, run: &Run<'_>, out: &(dyn Fn(Batch) -> Result<()> + Sync)) -> Result<()> {
    let pipeline = run.open(plan, &[])?;
    run.drive(&pipeline, || Ok(()), |_, batch| out(batch))?;
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

enum Source<'a> {
    Scan(Arc<Scan>, &'a Metrics),
    Batches(Mutex<std::vec::IntoIter<Batch>>),
}

/// What one thread takes rows from.
enum Worker<'s, 'a> {
    Scan(Box<ScanWorker>, &'a Metrics),
    Batches(&'s Mutex<std::vec::IntoIter<Batch>>),
}

impl Worker<'_, '_> {
    fn next(&mut self) -> Option<Result<Batch>> {
        match self {
            Worker::Batches(batches) => batches.lock().next().map(Ok),
            Worker::Scan(worker, metrics) => {
                let start = Instant::now();
                let next = worker.next_columns()?;
                Some(next.map_err(Error::from).and_then(|(columns, rows)| {
                    let columns = columns.iter().map(Vector::from_arrow);
                    let columns = columns.collect::<Result<_>>()?;
                    metrics.add(rows, start);
                    Ok(Batch { columns, rows })
                }))
            }
        }
    }
}

impl Run<'_> {
    /// Does everything that must be done before the rows of a plan can flow.
    fn open<'a>(&self, plan: &'a Plan, filters: &[Filter]) -> Result<Pipeline<'a>> {
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
                    || GroupTable::new(grouping),
                    |table, batch| {
                        let start = Instant::now();
                        table.add(&batch)?;
                        plan.metrics.add(0, start);
                        Ok(())
                    },
                )?;
                drop(pipeline);
                let start = Instant::now();
                let batches = self.merge(tables, grouping)?;
                let rows = batches.iter().map(|batch| batch.rows).sum();
                plan.metrics.add(rows, start);
                Ok(batches_of(batches))
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
        &self,
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
        let built = self.collect(&join.build, &to_build)?;
        let start = Instant::now();
        let (table, keys) = JoinTable::new(join, &built)?;
        let table = Arc::new(table);
        drop(built);
        let mut to_probe = to_probe;
        if join.kind.may_skip_probe() && !join.null_equal {
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
        let probe = Probe { join, table };
        if !join.kind.gives_build_rows() {
            pipeline.steps.push((Step::Probe(probe), metrics));
            return Ok(pipeline);
        }
        // Rows of the build side are known when all of the probe side have asked.
        let steps = [(Step::Probe(probe), metrics)];
        let parts = self.drive(
            &pipeline,
            || Ok(Vec::new()),
            |batches, batch| {
                flow(&steps, batch, &mut |batch| {
                    batches.push(batch);
                    Ok(())
                })
            },
        )?;
        let mut batches: Vec<Batch> = parts.into_iter().flatten().collect();
        let [(Step::Probe(probe), _)] = &steps else {
            return Err(Error::internal("a join without probe"));
        };
        let last = probe.build_rows()?;
        metrics.rows.fetch_add(last.rows as u64, Ordering::Relaxed);
        batches.extend(pieces(last));
        Ok(batches_of(batches))
    }

    /// All rows of a plan.
    fn collect(&self, plan: &Plan, filters: &[Filter]) -> Result<Vec<Batch>> {
        let pipeline = self.open(plan, filters)?;
        let parts = self.drive(
            &pipeline,
            || Ok(Vec::new()),
            |batches, batch| {
                batches.push(batch);
                Ok(())
            },
        )?;
        Ok(parts.into_iter().flatten().collect())
    }

    /// Sends all rows of a pipeline to as many sinks as there are threads.
    fn drive<S: Send>(
        &self,
        pipeline: &Pipeline<'_>,
        make: impl Fn() -> Result<S> + Sync,
        push: impl Fn(&mut S, Batch) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        let failed = AtomicBool::new(false);
        let work = || -> Result<S> {
            let mut sink = make()?;
            let mut worker = match &pipeline.source {
                Source::Scan(scan, metrics) => Worker::Scan(Box::new(scan.worker()), metrics),
                Source::Batches(batches) => Worker::Batches(batches),
            };
            while let Some(batch) = worker.next() {
                if self.stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed) {
                    return Err(Error::Cancelled);
                }
                flow(&pipeline.steps, batch?, &mut |batch| push(&mut sink, batch))?;
            }
            Ok(sink)
        };
        let work = || {
            let outcome = work();
            if outcome.is_err() {
                failed.store(true, Ordering::Relaxed);
            }
            outcome
        };
        let threads = match &pipeline.source {
            Source::Scan(scan, _) => scan.pieces().min(self.threads),
            Source::Batches(batches) => batches.lock().len().min(self.threads),
        };
        let outcomes: Vec<Result<S>> = on_threads(threads, |_| work());
        // An error counts before what it caused elsewhere.
        let (mut sinks, mut first) = (Vec::new(), None);
        for outcome in outcomes {
            match (outcome, &first) {
                (Ok(sink), _) => sinks.push(sink),
                (Err(error), None | Some(Error::Cancelled)) => first = Some(error),
                _ => {}
            }
        }
        match first {
            Some(error) => Err(error),
            None => Ok(sinks),
        }
    }
}

/// What each of some threads, this one among them, makes of its number.
pub(crate) fn on_threads<T: Send>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let work = &work;
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .map(|number| scope.spawn(move || work(number)))
            .collect();
        let own = work(0);
        let others = others.into_iter().map(|thread| match thread.join() {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        std::iter::once(own).chain(others).collect()
    })
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

fn batches_of<'a>(batches: Vec<Batch>) -> Pipeline<'a> {
    Pipeline {
        source: Source::Batches(Mutex::new(batches.into_iter())),
        steps: Vec::new(),
    }
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

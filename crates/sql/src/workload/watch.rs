//! Queries as they run: what was predicted, what they took, what they used.

use std::fmt::Display;
use std::sync::{Arc, OnceLock};
use std::task::{Poll, ready};
use std::time::Instant;

use freestone_model::{Run, price};
use futures::StreamExt;
use parking_lot::Mutex;

use super::predict::{Predicted, Seen, Step, predict, seen, spent, steps};
use super::record::{Entry, Known, Record};
use super::uses::{Use, uses};
use crate::engine::Pipelines;
use crate::error::Result;
use crate::outcome::RowStream;

/// What is known of a plan before it runs, for all of its runs.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    known: Arc<Known>,
    /// What the ledger shows of it.
    statement: String,
    uses: Vec<Use>,
    predicted: Predicted,
    /// Whether blocks that are not in memory are on disk.
    on_disk: bool,
}

/// What is known of a plan from the first of its runs on that is recorded; nothing of one
/// that reads no table.
pub(crate) type Foreseen = Arc<OnceLock<Option<Arc<Watched>>>>;

impl Watched {
    /// Predicts a plan by what is known of a machine; `keep_layouts` is called if a table that
    /// it reads has an automatic layout.
    ///
    /// # Errors
    /// Those of reading the machine file, or what tables consist of.
    pub(crate) fn of(
        (record, known): (&Record, Arc<Known>),
        (threads, on_disk): (usize, bool),
        (plan, statement): (&Pipelines, &dyn Display),
        keep_layouts: impl FnOnce(),
    ) -> Result<Self> {
        let uses = uses(plan);
        if uses.iter().any(|used| used.table.options.auto_layout) {
            keep_layouts();
        }
        let predicted = predict(record, &known, plan, &uses, threads)?;
        Ok(Self {
            known,
            statement: match uses.is_empty() {
                true => String::new(),
                false => statement.to_string(),
            },
            uses,
            predicted,
            on_disk,
        })
    }

    /// What the plan uses.
    pub(crate) fn uses(&self) -> &[Use] {
        &self.uses
    }

    /// What EXPLAIN says of it, with the blocks in memory that are there now; nothing of a
    /// plan that reads no table.
    ///
    /// # Errors
    /// `Corrupt` or `Io` if a block cannot be opened.
    pub(crate) fn prediction(&self) -> Result<Option<String>> {
        if self.uses.is_empty() {
            return Ok(None);
        }
        let cold = match self.on_disk {
            true => self.uses.iter().map(Use::cold_share).collect(),
            false => Ok(Vec::new()),
        };
        let (seconds, bound) = self.predicted.with_cold(&cold?);
        let of_disk = match seconds > self.predicted.seconds {
            true => format!("in memory {:.3} ms", self.predicted.seconds * 1e3),
            false => format!("from disk {:.3} ms more", self.predicted.disk_time() * 1e3),
        };
        let milliseconds = seconds * 1e3;
        let known = self.known.described();
        Ok(Some(format!(
            "Predicted time: {milliseconds:.3} ms (bound by {bound}; {of_disk}{known})"
        )))
    }

    /// Notes a run that has ended.
    fn note(&self, record: &Record, before: &[Step], after: &[Step], seconds: f64) {
        let (mut runs, mut cold) = (Vec::new(), Vec::new());
        for (used, seen) in self.uses.iter().zip(seen(before, after)) {
            let read = seen.as_ref().filter(|_| self.on_disk);
            cold.push(read.map_or(0.0, Seen::cold));
            let Some(seen) = seen else { continue };
            let run = used.run(&seen, seconds);
            // What the disk took is no matter of the layout's scans.
            if cold.last() == Some(&0.0) {
                self.learn(record, used, &run, seen.seconds);
            }
            runs.push((used.table.id, used.usage.clone(), run));
        }
        for (step, rows, seconds) in spent(before, after) {
            record.learnt(|learnt| step.teach(learnt, rows, seconds));
        }
        let (predicted, bound) = self.predicted.with_cold(&cold);
        record.query(runs, Entry::new(&self.statement, predicted, seconds, bound));
    }

    /// Corrects the model by what a scan took of all threads together.
    fn learn(&self, record: &Record, used: &Use, run: &Run, spent: f64) {
        let Ok(stored) = record.stored(&used.table) else {
            return;
        };
        let expected = price(&self.known.calibration, &stored, &used.usage, run);
        let Some(expected) = expected.filter(|_| spent > 0.0) else {
            return;
        };
        let rows = stored.rows * run.scanned;
        let layout = &stored.design.layout;
        record.learnt(|learnt| learnt.scan(layout, rows, expected.seconds, spent));
    }
}

impl Use {
    /// A run of the query, and what its scan of the table has counted.
    fn run(&self, seen: &Seen, seconds: f64) -> Run {
        let rows = (self.table.rows() as f64).max(1.0);
        let (scanned, selected) = seen.rows();
        let mut run = Run {
            seconds,
            selected: (selected / rows).min(1.0),
            scanned: (scanned / rows).min(1.0),
            shares: self.expected.shares.clone(),
        };
        // A single condition lets through what was counted.
        if let ([share], [_]) = (run.shares.as_mut_slice(), self.usage.tested.as_slice()) {
            *share = seen.passed(rows).unwrap_or(*share);
        }
        run
    }
}

/// A run of a plan that is to be noted in the record when its end is reached.
pub(crate) struct Watching {
    record: Arc<Record>,
    watched: Arc<Watched>,
    plan: Pipelines,
    before: Vec<Step>,
    begin: Instant,
    /// Streams that have not ended, and the most seconds that one has taken.
    left: Mutex<(usize, f64)>,
}

impl Watching {
    /// A run that begins now.
    pub(crate) fn begin(record: &Arc<Record>, plan: &Pipelines, watched: Arc<Watched>) -> Self {
        Self {
            record: Arc::clone(record),
            watched,
            plan: plan.clone(),
            before: steps(plan),
            begin: Instant::now(),
            left: Mutex::new((1, 0.0)),
        }
    }

    /// The rows of a run that gives one stream.
    pub(crate) fn over(watching: Option<Self>, stream: RowStream) -> RowStream {
        match watching {
            None => stream,
            Some(watching) => timed(Arc::new(watching), stream),
        }
    }

    /// The rows of a run that gives several.
    pub(crate) fn over_all<S>(
        watching: Option<Self>,
        streams: Vec<S>,
        with: impl Fn(S, Box<dyn FnOnce(RowStream) -> RowStream + Send>) -> S,
    ) -> Vec<S> {
        let Some(watching) = watching else {
            return streams;
        };
        watching.left.lock().0 = streams.len();
        let watching = Arc::new(watching);
        let part = |stream| {
            let watching = Arc::clone(&watching);
            with(stream, Box::new(move |rows| timed(watching, rows)))
        };
        streams.into_iter().map(part).collect()
    }

    fn end_of_stream(&self, seconds: f64) {
        let (left, most) = {
            let mut left = self.left.lock();
            *left = (left.0.saturating_sub(1), left.1.max(seconds));
            *left
        };
        if left == 0 {
            let after = steps(&self.plan);
            self.watched.note(&self.record, &self.before, &after, most);
        }
    }
}

/// The stream with its time taken: from when rows are asked for to when they are there.
/// What is done with them is not the query's time. Of one that fails nothing is noted.
fn timed(watching: Arc<Watching>, mut stream: RowStream) -> RowStream {
    let (mut taken, mut asked) = (watching.begin.elapsed(), None);
    let mut watching = Some(watching);
    let timed = futures::stream::poll_fn(move |context| {
        let since: Instant = *asked.get_or_insert_with(Instant::now);
        let item = ready!(stream.poll_next_unpin(context));
        taken += since.elapsed();
        asked = None;
        if !matches!(item, Some(Ok(_)))
            && let Some(watching) = watching.take()
            && item.is_none()
        {
            watching.end_of_stream(taken.as_secs_f64());
        }
        Poll::Ready(item)
    });
    timed.boxed()
}

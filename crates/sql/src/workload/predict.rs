//! How long a plan is going to take, and what it waits for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use freestone_exec::{Node, Plan};
use freestone_model::{Bound, Learnt, price};
use freestone_storage::ScanMetrics;

use super::uses::Use;
use super::{Known, Record};
use crate::engine::Pipelines;
use crate::error::Result;

/// Seconds that every query takes, to be begun and to hand over its rows.
const BEGIN: f64 = 100e-6;

/// What scans are called among the operators.
const SCAN: &str = "scan";

/// What is expected of a query.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Predicted {
    /// Seconds, the blocks being in memory, and what it waits for then.
    pub(crate) seconds: f64,
    bound: Bound,
    /// Seconds more for each use of a table if all blocks come from disk.
    disk_seconds: Vec<f64>,
}

impl Predicted {
    /// Seconds more if all blocks come from disk.
    pub(crate) fn disk_time(&self) -> f64 {
        self.disk_seconds.iter().sum()
    }

    /// The same where of each use of a table a share of the blocks is not in memory:
    /// seconds, and what the query waits for.
    ///
    /// By equation 1 a scan takes as long as the slower of disk and processor. The disk's
    /// seconds were measured as what it adds to those of the processor, so that they are
    /// added, and the disk is what is waited for where they are more.
    pub(crate) fn with_cold(&self, shares: &[f64]) -> (f64, Bound) {
        let parts = self.disk_seconds.iter().zip(shares);
        let waiting: f64 = parts.map(|(seconds, share)| seconds * share).sum();
        let bound = match waiting > self.seconds {
            true => Bound::Disk,
            false => self.bound,
        };
        (self.seconds + waiting, bound)
    }
}

/// Predicts a plan from its tables and operators; `threads` share the work.
///
/// # Errors
/// Those of reading what tables consist of.
pub(crate) fn predict(
    record: &Record,
    known: &Known,
    plan: &Pipelines,
    uses: &[Use],
    threads: usize,
) -> Result<Predicted> {
    let (mut seconds, mut disk_seconds, mut waiting) = (0.0, Vec::new(), 0.0);
    for used in uses {
        let stored = record.stored(&used.table)?;
        let price = price(&known.calibration, &stored, &used.usage, &used.expected);
        disk_seconds.push(price.map_or(0.0, |price| price.disk_seconds));
        let Some(price) = price else { continue };
        let factor = known.learnt(record, |learnt| learnt.factor(&stored.design.layout));
        let share = share(threads, used.table.blocks().len());
        seconds += price.seconds * factor / share;
        if price.bound == Bound::Memory {
            waiting += price.seconds * factor / share;
        }
    }
    let operators: f64 = steps(plan)
        .iter()
        .map(|step| {
            let usual = known.calibration.operator(step.name);
            known.learnt(record, |learnt| {
                learnt.seconds(step.name, usual, step.expected)
            })
        })
        .sum();
    seconds += operators / threads.max(1) as f64;
    Ok(Predicted {
        seconds: seconds + BEGIN,
        disk_seconds,
        bound: if waiting > seconds / 2.0 {
            Bound::Memory
        } else {
            Bound::Processor
        },
    })
}

/// Threads that a scan of so many blocks keeps busy.
fn share(threads: usize, blocks: usize) -> f64 {
    threads.min(blocks).max(1) as f64
}

/// One operator of a plan.
#[derive(Debug)]
pub(crate) struct Step {
    name: &'static str,
    /// Rows that the planner expects to come in.
    expected: f64,
    /// What the operator has counted so far, in all runs of its plan: rows that came in,
    /// and seconds of all threads.
    rows: f64,
    seconds: f64,
    /// Of a scan, what its last run counts; none if it never ran.
    scan: Option<Arc<ScanMetrics>>,
}

/// The operators of a plan; its scans in the order of [`uses`](super::uses::uses).
pub(crate) fn steps(plan: &Pipelines) -> Vec<Step> {
    let mut found = Vec::new();
    walk(plan.plan(), &mut found);
    found
}

fn walk(plan: &Plan, found: &mut Vec<Step>) {
    let inputs = plan.inputs();
    let rows = |plan: &Plan| plan.metrics.rows.load(Ordering::Relaxed) as f64;
    let of_inputs = |count: &dyn Fn(&Plan) -> f64| inputs.iter().map(|input| count(input)).sum();
    found.push(Step {
        name: name_of(&plan.node),
        expected: of_inputs(&|input| input.estimate),
        rows: of_inputs(&rows),
        seconds: plan.metrics.nanoseconds.load(Ordering::Relaxed) as f64 / 1e9,
        scan: plan.metrics.scan.lock().clone(),
    });
    inputs.into_iter().for_each(|input| walk(input, found));
}

fn name_of(node: &Node) -> &'static str {
    match node {
        Node::Table(_) => SCAN,
        Node::Filter(..) => "filter",
        Node::Project(..) => "project",
        Node::Aggregate(..) => "aggregate",
        Node::Join(_) => "join",
        Node::Sort(_, sorting) if sorting.fetch.is_some() => "top",
        Node::Sort(..) => "sort",
        Node::Fold(..) => "fold",
        Node::Window(..) => "window",
        Node::Limit(..) => "limit",
        Node::Union(_) => "union",
        Node::Ranges(..) => "ranges",
        Node::Shared(_) => "shared",
        Node::Rows(_) => "rows",
        Node::Outside(_) => "outside",
        Node::Round(_) => "round",
    }
}

/// Operators of a run: rows that came in, and seconds of all threads, by what they had
/// counted before it and after.
pub(crate) fn spent<'a>(
    before: &'a [Step],
    after: &'a [Step],
) -> impl Iterator<Item = (&'a Step, f64, f64)> {
    let both = before.iter().zip(after);
    both.map(|(before, after)| {
        (
            after,
            after.rows - before.rows,
            after.seconds - before.seconds,
        )
    })
}

/// What a scan of a run has counted, and seconds of all threads.
pub(crate) struct Seen {
    pub(crate) counts: Arc<ScanMetrics>,
    pub(crate) seconds: f64,
}

/// The scans of a run, by what they had counted before it and after; `None` for one whose
/// rows nobody has asked for.
pub(crate) fn seen<'a>(
    before: &'a [Step],
    after: &'a [Step],
) -> impl Iterator<Item = Option<Seen>> {
    let scans = before
        .iter()
        .zip(after)
        .filter(|(_, after)| after.is_scan());
    scans.map(|(before, after)| {
        let counts = after.scan.as_ref()?;
        // Each run counts for itself.
        let is_new = |known: &Arc<ScanMetrics>| !Arc::ptr_eq(known, counts);
        before.scan.as_ref().is_none_or(is_new).then(|| Seen {
            counts: Arc::clone(counts),
            seconds: after.seconds - before.seconds,
        })
    })
}

impl Seen {
    /// Rows of the table that were looked at, and that the query got.
    pub(crate) fn rows(&self) -> (f64, f64) {
        (
            number(&self.counts.rows_scanned),
            number(&self.counts.rows_returned),
        )
    }

    /// The share of a table's rows that meets the scan's condition, whatever joins make of
    /// them; `None` if it was asked of none.
    pub(crate) fn passed(&self, table_rows: f64) -> Option<f64> {
        // What is read in ranges is asked for each of them.
        let decided = number(&self.counts.rows_decided).min(table_rows);
        let passed = number(&self.counts.rows_passed);
        (decided > 0.0).then(|| (passed / decided).min(1.0))
    }

    /// The share of the blocks that it read of which not all was in memory.
    pub(crate) fn cold(&self) -> f64 {
        number(&self.counts.blocks_cold) / number(&self.counts.blocks_read).max(1.0)
    }
}

fn number(counter: &AtomicU64) -> f64 {
    counter.load(Ordering::Relaxed) as f64
}

impl Step {
    fn is_scan(&self) -> bool {
        self.name == SCAN
    }

    /// Notes what an operator other than a scan cost, if it had enough to do.
    pub(crate) fn teach(&self, learnt: &mut Learnt, rows: f64, seconds: f64) {
        if !self.is_scan() && rows >= 1000.0 && seconds > 0.0 {
            learnt.operator(self.name, rows, seconds);
        }
    }
}

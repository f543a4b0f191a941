//! How long a plan is going to take, and what it waits for.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use datafusion::physical_plan::ExecutionPlan;
use freestone_exec::{Node, Plan};
use freestone_model::{Bound, Learnt, price};

use super::record::{Known, Record};
use super::uses::Use;
use crate::engine::pipelines;
use crate::error::Result;
use crate::progress::ScanCounts;
use crate::scan::FreestoneScan;

/// Seconds that every query takes, to be begun and to hand over its rows.
const BEGIN: f64 = 100e-6;

/// What scans are called among the operators.
const SCAN: &str = "scan";

/// What is expected of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Predicted {
    /// Seconds, the blocks being in memory.
    pub(crate) seconds: f64,
    /// Seconds more if they come from disk.
    pub(crate) disk_seconds: f64,
    pub(crate) bound: Bound,
}

/// Predicts a plan from its tables and operators; `threads` share the work.
///
/// # Errors
/// Those of reading what tables consist of.
pub(crate) fn predict(
    record: &Record,
    known: &Known,
    plan: &Arc<dyn ExecutionPlan>,
    uses: &[Use],
    threads: usize,
) -> Result<Predicted> {
    let (mut seconds, mut disk_seconds, mut waiting) = (0.0, 0.0, 0.0);
    for used in uses {
        let stored = record.stored(&used.table)?;
        let Some(price) = price(&known.calibration, &stored, &used.usage, &used.expected) else {
            continue;
        };
        let factor = known.learnt(record, |learnt| learnt.factor(&stored.design.layout));
        let share = share(threads, used.table.blocks().len());
        seconds += price.seconds * factor / share;
        disk_seconds += price.disk_seconds;
        if price.bound == Bound::Memory {
            waiting += price.seconds * factor / share;
        }
    }
    let operators: f64 = steps(plan)
        .iter()
        .map(|step| known.learnt(record, |learnt| learnt.seconds(step.name, step.expected)))
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
#[derive(Clone, Debug)]
pub(crate) struct Step {
    name: &'static str,
    /// Rows that the planner expects to come in.
    expected: f64,
    /// What the operator has counted so far, in all runs of its plan: rows that came in,
    /// and seconds of all threads.
    rows: f64,
    seconds: f64,
    /// Of a scan, rows that its last run has looked at and given; none if it never ran.
    pub(crate) scan: Option<(f64, f64)>,
}

/// The operators of a plan, those of DataFusion left out; its scans in the order of
/// [`uses`](super::uses::uses).
pub(crate) fn steps(plan: &Arc<dyn ExecutionPlan>) -> Vec<Step> {
    let mut found = Vec::new();
    add(plan, &mut found);
    found
}

fn add(plan: &Arc<dyn ExecutionPlan>, found: &mut Vec<Step>) {
    if let Some(ours) = pipelines(plan) {
        walk(ours, found);
    } else if let Some(scan) = plan.downcast_ref::<FreestoneScan>() {
        found.push(Step {
            name: SCAN,
            expected: 0.0,
            rows: 0.0,
            seconds: 0.0,
            scan: scan.counted().map(|counts| looked_at(&counts)),
        });
    }
    plan.children()
        .into_iter()
        .for_each(|child| add(child, found));
}

fn walk(plan: &Plan, found: &mut Vec<Step>) {
    let inputs = plan.inputs();
    let rows = |plan: &Plan| plan.metrics.rows.load(Ordering::Relaxed) as f64;
    let of_inputs = |count: &dyn Fn(&Plan) -> f64| inputs.iter().map(|input| count(input)).sum();
    let is_scan = matches!(plan.node, Node::Table(_));
    let counted = plan.metrics.scan.lock().as_deref().map(ScanCounts::of);
    found.push(Step {
        name: name_of(&plan.node),
        expected: of_inputs(&|input| input.estimate),
        rows: of_inputs(&rows),
        seconds: plan.metrics.nanoseconds.load(Ordering::Relaxed) as f64 / 1e9,
        scan: is_scan.then(|| counted.as_ref().map_or((0.0, 0.0), looked_at)),
    });
    inputs.into_iter().for_each(|input| walk(input, found));
}

fn looked_at(counts: &ScanCounts) -> (f64, f64) {
    (counts.rows_scanned as f64, counts.rows_returned as f64)
}

fn name_of(node: &Node) -> &'static str {
    match node {
        Node::Table(_) => SCAN,
        Node::Filter(..) => "filter",
        Node::Project(..) => "project",
        Node::Aggregate(..) => "aggregate",
        Node::Join(_) => "join",
        Node::Sort(..) => "sort",
        Node::Limit(..) => "limit",
        Node::Union(_) => "union",
        Node::Ranges(..) => "ranges",
        Node::Shared(_) => "shared",
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

impl Step {
    pub(crate) fn is_scan(&self) -> bool {
        self.name == SCAN
    }

    /// Notes what an operator other than a scan cost, if it had enough to do.
    pub(crate) fn teach(&self, learnt: &mut Learnt, rows: f64, seconds: f64) {
        if !self.is_scan() && rows >= 1000.0 && seconds > 0.0 {
            learnt.operator(self.name, rows, seconds);
        }
    }
}

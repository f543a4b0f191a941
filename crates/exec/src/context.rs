//! What operators know of the run that they are part of.

use crate::memory::Space;
use crate::pipeline::Run;
use crate::plan::{Metrics, Node, Plan, Table};
use crate::ranges::Bounds;
use crate::shared::SharedPlans;
use freestone_storage::{Scan, ScanMetrics, Snapshot};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A run, or the part of one that computes a range.
#[derive(Clone, Copy)]
pub(crate) struct Context<'r> {
    pub threads: usize,
    pub batch_rows: usize,
    pub stop: &'r AtomicBool,
    /// Whether whoever waits for this part of the run has no use for it any more.
    pub is_unwanted: &'r (dyn Fn() -> bool + Sync),
    pub space: &'r Space,
    /// See [`Run::moment`].
    pub moment: Option<&'r Snapshot>,
    pub counters: &'r Counters<'r>,
    /// The rows of shared plans, of this range if there is one.
    pub shared: &'r SharedPlans,
    /// The range that is computed, if not all.
    pub bounds: Option<&'r Bounds<'r>>,
}

impl<'r> Context<'r> {
    /// That of a whole run.
    pub fn of(
        run: &'r Run<'_>,
        counters: &'r Counters<'r>,
        shared: &'r SharedPlans,
    ) -> Context<'r> {
        Context {
            threads: run.threads,
            batch_rows: run.batch_rows,
            stop: run.stop,
            is_unwanted: &|| false,
            space: &run.space,
            moment: run.moment.as_ref(),
            counters,
            shared,
            bounds: None,
        }
    }

    /// Notes how much memory an operator has held.
    pub fn held(&self, metrics: &Metrics, bytes: usize) {
        let more = match self.bounds {
            None => bytes,
            Some(bounds) => bounds.most.raise(metrics, bytes),
        };
        metrics.held(more);
    }
}

/// The most memory that each operator has held for one of the ranges of a thread.
#[derive(Debug, Default)]
pub(crate) struct Most(Mutex<HashMap<usize, usize>>);

impl Most {
    /// Takes note of a range; how much more it is than the ranges before.
    fn raise(&self, metrics: &Metrics, bytes: usize) -> usize {
        let mut most = self.0.lock();
        let most = most.entry(std::ptr::from_ref(metrics).addr()).or_default();
        let more = bytes.saturating_sub(*most);
        *most += more;
        more
    }
}

/// What the scans of a run count, for each table of its plan together.
pub(crate) struct Counters<'r> {
    watch: &'r (dyn Fn(&Arc<Scan>) + Sync),
    /// By the address of the table, which stays as it is during the run.
    tables: Mutex<HashMap<usize, Counter>>,
}

#[derive(Default)]
struct Counter {
    metrics: Arc<ScanMetrics>,
    /// Scans to come whose blocks are counted already.
    announced: u64,
    is_watched: bool,
}

impl<'r> Counters<'r> {
    pub fn new(watch: &'r (dyn Fn(&Arc<Scan>) + Sync)) -> Counters<'r> {
        Counters {
            watch,
            tables: Mutex::default(),
        }
    }

    /// Counts the blocks of all scans that a plan will make if it is run so many times, so
    /// that it can be told how far they are.
    pub fn announce(&self, plan: &Plan, times: u64) {
        self.announce_each(plan, times, &mut Vec::new());
    }

    fn announce_each(&self, plan: &Plan, times: u64, shared: &mut Vec<*const Plan>) {
        match &plan.node {
            Node::Table(table) => self.with(table, |counter| {
                counter.add_blocks(table, times);
                counter.announced += times;
            }),
            Node::Ranges(input, ranges) => {
                self.announce_each(input, times * ranges.count() as u64, shared);
            }
            Node::Shared(input) if shared.contains(&Arc::as_ptr(input)) => {}
            node => {
                if let Node::Shared(input) = node {
                    shared.push(Arc::as_ptr(input));
                }
                let inputs = plan.inputs().into_iter();
                inputs.for_each(|input| self.announce_each(input, times, shared));
            }
        }
    }

    /// Where a scan that begins is to count.
    pub fn begin(&self, table: &Table) -> Arc<ScanMetrics> {
        self.with(table, |counter| {
            match counter.announced.checked_sub(1) {
                Some(announced) => counter.announced = announced,
                None => counter.add_blocks(table, 1),
            }
            counter.metrics.clone()
        })
    }

    /// Tells of the first scan of a table.
    pub fn watch(&self, table: &Table, scan: &Arc<Scan>) {
        let was_watched = |counter: &mut Counter| std::mem::replace(&mut counter.is_watched, true);
        if !self.with(table, was_watched) {
            (self.watch)(scan);
        }
    }

    fn with<T>(&self, table: &Table, work: impl FnOnce(&mut Counter) -> T) -> T {
        let mut tables = self.tables.lock();
        work(tables.entry(std::ptr::from_ref(table).addr()).or_default())
    }
}

impl Counter {
    fn add_blocks(&self, table: &Table, times: u64) {
        let blocks = table.table.blocks().len() as u64 * times;
        let total = &self.metrics.blocks_total;
        total.fetch_add(blocks, Ordering::Relaxed);
    }
}

//! Counting of scans.

use crate::plan::{Node, Plan, Table};
use freestone_storage::{Scan, ScanMetrics};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The counts of the scans of a run, for each table of its plan together.
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

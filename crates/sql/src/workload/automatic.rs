//! `layout = 'auto'`: each block's layout follows what is done to it, both ways.
//!
//! A thread looks now and then what was asked of such tables, prices every layout as
//! ADVISE does, and tells the tuple mover which blocks should have another. It rests
//! longer the less there was to change.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use freestone_model::{Workload, block_designs, missing};
use freestone_storage::{BlockId, Layout, Store, Table, TableId};
use parking_lot::{Condvar, Mutex};

use super::Record;
use super::trial::blocks_of;
use crate::error::Result;

/// How long the thread rests; twice as long each time that nothing was to be changed,
const REST: Duration = Duration::from_secs(10);
/// up to this.
const REST_MAX: Duration = Duration::from_secs(640);

/// Keeps automatic layouts. The thread ends before the last handle of its database does.
#[derive(Debug)]
pub(crate) struct Keeper {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Of a database that is only read others keep them.
    may_write: bool,
}

#[derive(Debug, Default)]
struct Shared {
    ended: Mutex<bool>,
    bell: Condvar,
}

impl Keeper {
    /// One that does nothing yet, and never will if it may not write.
    pub(crate) fn new(may_write: bool) -> Self {
        Self {
            shared: Arc::default(),
            thread: Mutex::default(),
            may_write,
        }
    }

    /// Begins to keep the layouts of a database, if that has not begun and there are
    /// any to keep.
    pub(crate) fn begin(&self, store: &Arc<Store>, record: &Arc<Record>) {
        let mut thread = self.thread.lock();
        if thread.is_some() || !self.may_write {
            return;
        }
        let snapshot = store.snapshot();
        let mut tables = snapshot.catalog().all_tables();
        if tables.any(|(_, table)| table.options.auto_layout) {
            let (store, record) = (Arc::downgrade(store), Arc::downgrade(record));
            let shared = Arc::clone(&self.shared);
            let named = std::thread::Builder::new().name("automatic-layout".into());
            // Without it VACUUM does the same.
            *thread = named.spawn(move || keep(&shared, &store, &record)).ok();
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        *self.shared.ended.lock() = true;
        self.shared.bell.notify_all();
        if let Some(thread) = self.thread.get_mut().take() {
            // Its panic, if it had one, was reported when it happened.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Whether to go on after a rest.
    fn rest(&self, time: Duration) -> bool {
        let mut ended = self.ended.lock();
        if !*ended {
            self.bell.wait_for(&mut ended, time);
        }
        !*ended
    }
}

fn keep(shared: &Shared, store: &Weak<Store>, record: &Weak<Record>) {
    let mut known: HashMap<TableId, Workload> = HashMap::new();
    let mut rest = REST;
    while shared.rest(rest) {
        let (Some(store), Some(record)) = (store.upgrade(), record.upgrade()) else {
            return;
        };
        let snapshot = store.snapshot();
        record.settle(snapshot.catalog());
        let mut changed = false;
        for (_, table) in snapshot.all_tables() {
            let workload = record.workload(table.id);
            if !table.options.auto_layout || known.get(&table.id) == Some(&workload) {
                continue;
            }
            let goes_on = || !*shared.ended.lock();
            // A table that cannot be tried is tried again when its record has changed.
            changed |= follow(&store, &record, table, &goes_on).unwrap_or(false);
            known.insert(table.id, workload);
        }
        rest = match changed {
            true => REST,
            false => REST_MAX.min(rest * 2),
        };
    }
}

/// Wishes for the layouts that suit what was done to a table whose layout is automatic;
/// whether any differ from what is there. Given up when it shall not go on.
///
/// # Errors
/// `Corrupt` or `Io`; those of reading the machine file.
pub(crate) fn follow(
    store: &Arc<Store>,
    record: &Record,
    table: &Arc<Table>,
    goes_on: &dyn Fn() -> bool,
) -> Result<bool> {
    let workload = record.workload(table.id);
    if table.blocks().is_empty() || missing(&workload) > 0 {
        return Ok(false);
    }
    let known = record.known(store.path())?;
    let trials = record.trials();
    let Some(designs) = trials.in_layouts(table, &workload, goes_on)? else {
        return Ok(false);
    };
    let blocks = blocks_of(table);
    let found = block_designs(&known.calibration, &workload, &designs, &blocks);
    let Some((chosen, new)) = found else {
        return Ok(false);
    };
    let mut wishes: HashMap<BlockId, Layout> = HashMap::new();
    for (block, design) in table.blocks().iter().zip(chosen) {
        block.cool();
        if block.layout() != Layout::ALL[design] {
            wishes.insert(block.id(), Layout::ALL[design]);
        }
    }
    let changed = !wishes.is_empty();
    store.wish_layouts(table.id, wishes);
    if table.options.layout != Layout::ALL[new] {
        store.commit(|edit| edit.set_automatic_layout(table.id, Layout::ALL[new]))?;
    }
    Ok(changed)
}

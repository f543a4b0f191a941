//! The thread that moves rows after commits, and what keeps it from doing so.

use super::partition::Known;
use super::policy::Effort;
use super::status::Tally;
use super::step::{Done, Progress};
use crate::error::{Error, Result};
use crate::ids::{BlockId, TableId};
use crate::io::drop_priority;
use crate::schema::Layout;
use crate::store::Engine;
use crate::table::Table;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Steps of `nice` by which the thread stands below those that answer statements: beside two of
/// them on one processor it has an eighth of it. A committer whose delta is far behind helps.
const BELOW: i32 = 6;
/// How long a table rests after a failure; twice as long after the next,
const REST: Duration = Duration::from_secs(1);
/// up to this.
const REST_MAX: Duration = Duration::from_secs(60);
/// How often files are looked at that a snapshot still needed.
const LOOK: Duration = Duration::from_millis(250);

/// The tuple mover of a database.
#[derive(Debug, Default)]
pub(in crate::store) struct Mover {
    pub(super) state: Mutex<State>,
    bell: Condvar,
    stopped: AtomicBool,
    /// Held by the one who does a step.
    pub(super) moving: Mutex<()>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    /// Tables to look at.
    waiting: BTreeSet<TableId>,
    /// The one that was looked at last; those after it come next.
    last: Option<TableId>,
    /// How many hold a table.
    held: HashMap<TableId, usize>,
    /// What was done, by table.
    pub tallies: HashMap<TableId, Tally>,
    /// Blocks that merging makes no fewer.
    settled: HashSet<BlockId>,
    /// What was found out about ranges of partitioned tables.
    pub known: Known,
    /// Layouts that blocks should have, by table; those of an earlier wish are forgotten.
    wishes: HashMap<TableId, HashMap<BlockId, Layout>>,
    pub paused: bool,
    /// Whether the thread is at work.
    pub running: bool,
    pub last_error: Option<String>,
    /// After a failure: when to go on, and how long the rest is.
    rests: HashMap<TableId, (Instant, Duration)>,
    /// Whether files wait for snapshots to end.
    retired: bool,
    thread: Option<JoinHandle<()>>,
}

impl State {
    fn is_resting(&self, table: TableId) -> bool {
        let rest = self.rests.get(&table);
        rest.is_some_and(|(until, _)| Instant::now() < *until)
    }

    /// A table to look at now.
    fn take(&mut self) -> Option<TableId> {
        if self.paused {
            return None;
        }
        let free = |table: &&TableId| !self.held.contains_key(table) && !self.is_resting(**table);
        let after = self
            .waiting
            .iter()
            .filter(|table| Some(**table) > self.last);
        let table = *after.chain(&self.waiting).find(free)?;
        self.waiting.remove(&table);
        self.last = Some(table);
        Some(table)
    }

    /// When to wake up without being called.
    fn alarm(&self) -> Option<Duration> {
        let free = |table: &&TableId| !self.paused && !self.held.contains_key(table);
        let free = self.waiting.iter().filter(free);
        let rests = free.filter_map(|table| self.rests.get(table));
        let rest = rests.map(|(until, _)| until.saturating_duration_since(Instant::now()));
        let look = self.retired.then_some(LOOK);
        rest.chain(look).min()
    }
}

/// What the thread does next.
enum Work {
    Table(TableId),
    /// Look whether files can go.
    ClearUp,
    End,
}

impl Mover {
    /// Lets a table be looked at, by a thread that begins when it is first needed.
    pub fn wake(&self, engine: &Arc<Engine>, table: TableId) {
        let mut state = self.state.lock();
        state.waiting.insert(table);
        if state.thread.is_none() && !state.paused && !self.stopped.load(Ordering::Relaxed) {
            self.begin(&mut state, engine);
        }
        self.bell.notify_all();
    }

    fn begin(&self, state: &mut MutexGuard<'_, State>, engine: &Arc<Engine>) {
        let engine = engine.clone();
        let thread = std::thread::Builder::new().name("tuple-mover".into());
        match thread.spawn(move || run(&engine)) {
            Ok(thread) => state.thread = Some(thread),
            Err(error) => {
                let error = Error::io("cannot start the tuple mover", error);
                state.last_error = Some(error.to_string());
            }
        }
    }

    /// Ends the thread; a step that has begun is given up.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        let thread = {
            let mut state = self.state.lock();
            self.bell.notify_all();
            state.thread.take()
        };
        if let Some(thread) = thread {
            // Its panic, if it had one, was reported when it happened.
            let _ = thread.join();
        }
    }

    /// Stops steps in the background; whoever is in one ends first.
    pub(super) fn pause(&self) {
        self.state.lock().paused = true;
        drop(self.moving.lock());
    }

    pub(super) fn resume(&self, engine: &Arc<Engine>) {
        let mut state = self.state.lock();
        state.paused = false;
        state.rests.clear();
        if state.thread.is_none() && !state.waiting.is_empty() {
            self.begin(&mut state, engine);
        }
        self.bell.notify_all();
    }

    /// Whether a committer may do a step for a table now; also while the mover in
    /// the background is paused, so that the delta stays within bounds.
    pub(super) fn may_go(&self, table: TableId) -> bool {
        !self.state.lock().is_resting(table)
    }

    pub(super) fn is_held(&self, table: TableId) -> bool {
        self.state.lock().held.contains_key(&table)
    }

    /// Fails when the database is being closed.
    pub(super) fn check_going(&self) -> Result<()> {
        match self.stopped.load(Ordering::Relaxed) {
            false => Ok(()),
            true => Err(Error::Conflict {
                message: "the database is being closed".into(),
            }),
        }
    }

    pub(super) fn settled_blocks(&self) -> HashSet<BlockId> {
        self.state.lock().settled.clone()
    }

    /// The layouts that are wished for a table's blocks.
    pub(super) fn wishes(&self, table: &Table) -> HashMap<BlockId, Layout> {
        let state = self.state.lock();
        state.wishes.get(&table.id).cloned().unwrap_or_default()
    }

    /// Remembers them, in the place of those before.
    pub(super) fn wish(&self, table: TableId, layouts: HashMap<BlockId, Layout>) {
        self.state.lock().wishes.insert(table, layouts);
    }

    /// Forgets blocks whose files are gone; `left` if others wait for snapshots.
    pub fn cleared(&self, gone: &[BlockId], left: bool) {
        let mut state = self.state.lock();
        gone.iter().for_each(|block| {
            state.settled.remove(block);
            state.known.forget_block(*block);
        });
        if left && !state.retired {
            self.bell.notify_all();
        }
        state.retired = left;
    }

    /// Forgets tables that were dropped.
    pub fn forget_tables(&self, gone: &[TableId]) {
        let mut state = self.state.lock();
        for table in gone {
            state.waiting.remove(table);
            state.rests.remove(table);
            state.tallies.remove(table);
            state.wishes.remove(table);
            state.known.forget_table(*table);
        }
    }

    pub(super) fn note(&self, table: TableId, done: &Done) {
        let mut state = self.state.lock();
        state.settled.extend(&done.settled);
        state.rests.remove(&table);
        state.tallies.entry(table).or_default().add(done);
    }

    pub(super) fn note_error(&self, table: TableId, error: &Error) {
        let mut state = self.state.lock();
        let before = state.rests.get(&table);
        let rest = before.map_or(REST, |(_, rest)| REST_MAX.min(*rest * 2));
        state.rests.insert(table, (Instant::now() + rest, rest));
        let tally = state.tallies.entry(table).or_default();
        tally.last_error = Some(error.to_string());
        state.last_error = Some(error.to_string());
    }

    fn next(&self) -> Work {
        let mut state = self.state.lock();
        state.running = false;
        loop {
            if self.stopped.load(Ordering::Relaxed) {
                return Work::End;
            }
            if let Some(table) = state.take() {
                state.running = true;
                return Work::Table(table);
            }
            let look = state.retired;
            let late = match state.alarm() {
                Some(time) => self.bell.wait_for(&mut state, time).timed_out(),
                None => {
                    self.bell.wait(&mut state);
                    false
                }
            };
            if late && look {
                return Work::ClearUp;
            }
        }
    }
}

/// The thread. It ends before the store does, which waits for it.
fn run(engine: &Arc<Engine>) {
    drop_priority(BELOW);
    let mover = &engine.mover;
    loop {
        let table = match mover.next() {
            Work::End => return,
            Work::Table(table) => Some(table),
            Work::ClearUp => None,
        };
        let again = table.filter(|table| {
            let outcome = engine.noted_step(*table, Effort::Background);
            !matches!(outcome, Ok(Progress::Nothing))
        });
        engine.clear_up();
        mover.state.lock().waiting.extend(again);
    }
}

/// Keeps the mover from steps on one table.
#[derive(Debug)]
pub struct MoverHold {
    engine: Arc<Engine>,
    table: TableId,
}

impl MoverHold {
    pub(super) fn new(engine: Arc<Engine>, table: TableId) -> MoverHold {
        *engine.mover.state.lock().held.entry(table).or_default() += 1;
        MoverHold { engine, table }
    }

    /// The table.
    pub fn table(&self) -> TableId {
        self.table
    }
}

impl Drop for MoverHold {
    fn drop(&mut self) {
        let mover = &self.engine.mover;
        let mut state = mover.state.lock();
        if let Some(count) = state.held.get_mut(&self.table) {
            *count -= 1;
            if *count == 0 {
                state.held.remove(&self.table);
            }
        }
        mover.bell.notify_all();
    }
}

//! The tuple mover: keeps tables in whole blocks of rows that are there (P4).
//!
//! [`policy`] says what to do next, `step` does it, and `background` is the
//! thread that does so after commits. VACUUM does all that can be done.

mod background;
mod carried;
mod partition;
pub mod policy;
mod status;
mod step;

pub(super) use background::Mover;
pub use background::MoverHold;
pub use status::{MoverStatus, TableMoves, Tally};

use self::policy::{DeltaBytes, Effort, Step, is_dirty};
use self::step::Progress;
use super::{Engine, Store};
use crate::error::{Error, Result};
use crate::ids::{BlockId, TableId};
use crate::schema::Layout;
use crate::table::Table;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Steps that are begun again when a table changed too much meanwhile.
const ATTEMPTS: usize = 10;

/// Added rows after which a table is looked at, in commits of few.
const SOME_ROWS: u64 = 64;

impl Store {
    /// Keeps the mover from steps on a table while somebody is about to exchange
    /// its blocks; a step that has begun is given up. [`Engine::move_delta`] and
    /// [`Engine::vacuum`] are refused meanwhile, so they come before.
    pub fn hold_mover(&self, table: TableId) -> MoverHold {
        let hold = MoverHold::new(self.engine.clone(), table);
        // Whoever is past the question whether it is held, ends first.
        drop(self.latest.lock());
        hold
    }

    /// Has the tuple mover write blocks of a table in other layouts, when nothing else is
    /// to be done to it. Wishes for blocks that are gone by then are forgotten; what was
    /// wished for the table before is not wished any more.
    pub fn wish_layouts(&self, table: TableId, layouts: HashMap<BlockId, Layout>) {
        self.mover.wish(table, layouts);
        self.mover.wake(&self.engine, table);
    }

    /// Wakes the mover if tables that a commit has changed need it. Beyond measure
    /// the caller, who has just committed, does a step.
    pub(super) fn consider(&self, changed: &[Changed], limit: DeltaBytes) {
        for Changed { table, .. } in changed.iter().filter(|changed| changed.may_need(limit)) {
            let (rows, bytes) = (table.delta().rows(), table.delta().bytes() as u64);
            if limit.is_behind(rows, bytes) && self.mover.may_go(table.id) {
                // The commit stands whatever becomes of this; the status tells.
                let _ = self.engine.noted_step(table.id, Effort::Background);
            }
            self.mover.wake(&self.engine, table.id);
        }
    }
}

/// A table that a commit has changed.
#[derive(Debug)]
pub(super) struct Changed {
    pub table: Arc<Table>,
    /// Blocks of which it deleted rows; `None` if it changed which blocks there are.
    pub blocks: Option<Vec<BlockId>>,
    /// The rows that it added, and their bytes.
    pub rows: Range<u64>,
    pub bytes: u64,
}

impl Changed {
    /// Whether it is time to look how large the delta and the log are: after some
    /// rows, or many bytes. What adds no row is looked at as well.
    pub(super) fn is_due(&self, limit: DeltaBytes) -> bool {
        self.rows.is_empty()
            || self.rows.start / SOME_ROWS != self.rows.end / SOME_ROWS
            || self.bytes * SOME_ROWS >= limit.bytes()
    }

    /// Whether the policy could find something to do, as far as that is quickly told.
    fn may_need(&self, limit: DeltaBytes) -> bool {
        let (table, delta) = (&self.table, self.table.delta());
        let deleted = |id: &BlockId| {
            let block = table.block(*id);
            block.is_some_and(|block| is_dirty(block.deletes().count() as u64, block.rows()))
        };
        self.is_due(limit) && limit.is_due(delta.rows(), delta.bytes() as u64)
            || match &self.blocks {
                Some(blocks) => blocks.iter().any(deleted),
                None => table.blocks().len() > 2 || table.options.partition_by.is_some(),
            }
    }
}

impl Engine {
    /// From how many bytes on the delta of a table is moved.
    pub(super) fn delta_limit(&self) -> DeltaBytes {
        let memory = self.delta_memory.load(Ordering::Relaxed);
        let catalog = self.shown.read().catalog.clone();
        let tables = catalog.schemas.values().map(|entry| entry.tables.len());
        DeltaBytes::of(memory, tables.sum())
    }

    /// Turns the rows of a table that are in no block into blocks; returns how many.
    ///
    /// # Errors
    /// 25006 if read-only; 40001 if others keep changing the table's definition or
    /// hold it; `Full` or `Io`.
    pub fn move_delta(&self, id: TableId) -> Result<u64> {
        for _ in 0..ATTEMPTS {
            let step = self.step(id, |facts| {
                (facts.delta_rows > 0).then_some(Step::MoveDelta)
            });
            match step? {
                Progress::Nothing => return Ok(0),
                Progress::Done(done) => {
                    self.mover.note(id, &done);
                    return Ok(done.rows);
                }
                Progress::GivenUp => {}
            }
        }
        Err(given_up())
    }

    /// Does all that can be done to a table: its delta becomes blocks, blocks with
    /// deleted rows are written again, small ones merged. A checkpoint follows, so
    /// that log and files that nobody needs are gone.
    ///
    /// # Errors
    /// As [`Engine::move_delta`].
    pub fn vacuum(&self, id: TableId) -> Result<()> {
        let blocks = self
            .snapshot()
            .table_by_id(id)
            .map_or(0, |table| table.blocks().len());
        self.mover.state.lock().known.forget_table(id);
        let (mut given_up_so_far, mut left) = (0, 4 * blocks + 64);
        // Others may make work as fast as it is done.
        while left > 0 {
            left -= 1;
            match self.noted_step(id, Effort::Vacuum)? {
                Progress::Nothing => break,
                Progress::Done(_) => {}
                Progress::GivenUp if given_up_so_far < ATTEMPTS => given_up_so_far += 1,
                Progress::GivenUp => return Err(given_up()),
            }
        }
        self.checkpoint()?;
        self.forget_spare()?;
        self.clear_up();
        Ok(())
    }

    /// A step by the policy, with a note of what came of it.
    fn noted_step(&self, id: TableId, effort: Effort) -> Result<Progress> {
        let outcome = self.step(id, |facts| policy::next_step(facts, effort));
        match &outcome {
            Ok(Progress::Done(done)) => {
                self.mover.note(id, done);
                self.shorten_log();
            }
            Ok(_) => {}
            Err(error) => self.mover.note_error(id, error),
        }
        outcome
    }

    /// Removes what no snapshot needs any more.
    fn clear_up(&self) {
        self.locks.forget(self.oldest());
        if self.discard_retired()
            && let Some(release) = self.release.get()
        {
            (release.0)(&self.snapshot());
            self.discard_retired();
        }
    }
}

fn given_up() -> Error {
    Error::Conflict {
        message: "another transaction is changing the table".into(),
    }
}

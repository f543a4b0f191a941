//! What the tuple mover has done and will do, for people to look at.

use super::policy::{Effort, Step};
use super::step::Done;
use crate::ids::TableId;
use crate::store::Store;

/// The tuple mover at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoverStatus {
    /// Whether a step is being done in the background.
    pub running: bool,
    /// Whether it was told to pause.
    pub paused: bool,
    /// What went wrong last; whatever it was, nothing is lost.
    pub last_error: Option<String>,
    /// Every table, by its number.
    pub tables: Vec<TableMoves>,
}

/// What the tuple mover has done and will do to one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableMoves {
    /// The table.
    pub table: TableId,
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// What is to be done next, if anything.
    pub waiting: Option<Step>,
    /// Rows in no block, deleted ones included.
    pub delta_rows: u64,
    /// Bytes of their tuples.
    pub delta_bytes: u64,
    /// Blocks.
    pub blocks: u64,
    /// Deleted rows in blocks.
    pub deleted_rows: u64,
    /// What was done since the database was opened.
    pub done: Tally,
}

/// What was done to one table since the database was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Steps done.
    pub steps: u64,
    /// Rows that got another place.
    pub rows_moved: u64,
    /// Blocks that were merged with others.
    pub blocks_merged: u64,
    /// Blocks that were written again without their deleted rows, in another layout, or
    /// in ranges.
    pub blocks_rewritten: u64,
    /// Blocks without rows that were dropped.
    pub blocks_dropped: u64,
    /// Bytes by which block files have become fewer.
    pub bytes_freed: u64,
    /// What went wrong last.
    pub last_error: Option<String>,
}

impl Tally {
    pub(super) fn add(&mut self, done: &Done) {
        self.steps += 1;
        self.rows_moved += done.rows;
        self.last_error = None;
        match &done.step {
            Step::MoveDelta => return,
            Step::Drop(blocks) => self.blocks_dropped += blocks.len() as u64,
            Step::Rewrite(blocks) if blocks.len() == 1 => self.blocks_rewritten += 1,
            Step::LayOut(..) => self.blocks_rewritten += 1,
            Step::Partition(blocks) => self.blocks_rewritten += blocks.len() as u64,
            Step::Rewrite(blocks) => self.blocks_merged += blocks.len() as u64,
        }
        self.bytes_freed += done.freed.saturating_sub(done.written);
    }
}

impl Store {
    /// Stops the tuple mover's steps in the background; one that has begun ends
    /// first. [`Engine::vacuum`](super::super::Engine::vacuum) does its own.
    pub fn pause_mover(&self) {
        self.mover.pause();
    }

    /// Lets the tuple mover go on, also after a failure.
    pub fn resume_mover(&self) {
        self.mover.resume(&self.engine);
    }

    /// Whether the tuple mover was told to pause.
    pub fn is_mover_paused(&self) -> bool {
        self.mover.state.lock().paused
    }

    /// What the tuple mover has done and will do.
    pub fn mover_status(&self) -> MoverStatus {
        let catalog = self.snapshot();
        let table = |(schema, table): (&str, &std::sync::Arc<crate::table::Table>)| {
            let deleted = table.blocks().iter().map(|block| block.deletes().count());
            TableMoves {
                table: table.id,
                schema: schema.to_string(),
                name: table.name.clone(),
                waiting: self.next_step(table, Effort::Background),
                delta_rows: table.delta().rows(),
                delta_bytes: table.delta().bytes() as u64,
                blocks: table.blocks().len() as u64,
                deleted_rows: deleted.sum::<usize>() as u64,
                done: Tally::default(),
            }
        };
        let mut tables: Vec<TableMoves> = catalog.all_tables().map(table).collect();
        tables.sort_by_key(|table| table.table);
        let state = self.mover.state.lock();
        for table in &mut tables {
            if let Some(tally) = state.tallies.get(&table.table) {
                table.done = tally.clone();
            }
        }
        MoverStatus {
            running: state.running,
            paused: state.paused,
            last_error: state.last_error.clone(),
            tables,
        }
    }
}

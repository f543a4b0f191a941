//! The tuple mover: rows of the delta become blocks (P4).
//!
//! The rows are written as blocks while others go on; then, between two commits,
//! a table with these blocks and the rest of the delta takes the place of the
//! one before. If one of the rows was deleted meanwhile, the move is made again,
//! at last without letting others commit.

use super::commit::{Change, Latest};
use super::{NewBlock, Store};
use crate::delta::{Fragment, ReadView, RowHome};
use crate::error::{Error, Result};
use crate::ids::TableId;
use crate::table::Table;
use arrow_array::{ArrayRef, RecordBatch};
use std::sync::Arc;

/// A table's delta is moved when it has so many rows,
const ROWS: u64 = 1 << 16;
/// or so many bytes.
const BYTES: usize = 64 << 20;

/// Moves begun before others have to wait.
const ATTEMPTS: usize = 3;

/// Whether the delta of a table should become blocks.
pub(super) fn is_due(table: &Table) -> bool {
    table.delta().rows() >= ROWS || table.delta().bytes() >= BYTES
}

/// What a move begins with.
struct Moving {
    table: Arc<Table>,
    fragments: Vec<Arc<Fragment>>,
    timestamp: u64,
    /// Number of the first row that stays.
    rest: u64,
}

impl Moving {
    fn of(latest: &Latest, id: TableId) -> Option<Moving> {
        let table = latest.catalog.table_by_id(id)?.clone();
        let fragments = table.delta().seal();
        Some(Moving {
            rest: table.delta().next(),
            timestamp: latest.timestamp,
            fragments,
            table,
        })
    }

    /// Whether nothing happened to the rows since.
    fn holds(&self, latest: &Latest) -> bool {
        let now = latest.catalog.table_by_id(self.table.id);
        let same = now.is_some_and(|now| {
            Arc::ptr_eq(now.delta(), self.table.delta()) && now.schema == self.table.schema
        });
        let deleted = |fragment: &Arc<Fragment>| !fragment.deletes.after(self.timestamp).is_empty();
        same && !self.fragments.iter().any(deleted)
    }
}

impl Store {
    /// Turns the rows of a table that are in no block into blocks; returns how many.
    ///
    /// # Errors
    /// 25006 if read-only; `Full` or `Io`.
    pub fn move_delta(&self, id: TableId) -> Result<u64> {
        self.must_be_writable()?;
        let _one = self.moving.lock();
        for attempt in 0.. {
            // What is deleted while an older snapshot lives stays told apart.
            let _snapshot = self.snapshot();
            let mut latest = self.latest.lock();
            let Some(moving) = Moving::of(&latest, id) else {
                return Ok(0);
            };
            if moving.fragments.iter().all(|fragment| fragment.is_empty()) {
                return Ok(0);
            }
            let blocks = if attempt < ATTEMPTS {
                drop(latest);
                let blocks = self.write_rows(&moving)?;
                latest = self.latest.lock();
                blocks
            } else {
                self.write_rows(&moving)?
            };
            if !moving.holds(&latest) {
                if latest.catalog.table_by_id(id).is_none() || attempt >= ATTEMPTS {
                    break;
                }
                continue;
            }
            let rows = blocks.iter().map(NewBlock::rows).sum();
            let change = Change::of(&latest, blocks, |now, blocks| {
                if now.id != id {
                    return None;
                }
                let all = now.blocks().iter().cloned().chain(blocks).collect();
                let delta = now.delta().from(now.schema.clone(), moving.rest);
                let table = now.with(&now.name, now.options.clone(), all);
                Some(table.with_delta(Arc::new(delta)))
            });
            let timestamp = self.install(&mut latest, change)?;
            self.finish(latest, timestamp)?;
            return Ok(rows);
        }
        Err(Error::Conflict {
            message: "the table was changed while its rows were moved".into(),
        })
    }

    fn write_rows(&self, moving: &Moving) -> Result<Vec<NewBlock>> {
        let schema = &moving.table.schema;
        let mut writer = self.writer(schema, &moving.table.options)?;
        let view = ReadView::at(moving.timestamp);
        for fragment in &moving.fragments {
            let rows = view.visible(RowHome::Fragment(fragment.first()), fragment);
            if rows.is_empty() {
                continue;
            }
            let tuples = fragment.read();
            let columns = (0..schema.columns.len()).map(|column| tuples.column(column, &rows));
            let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
            drop(tuples);
            writer.push(&RecordBatch::try_new(schema.arrow(), columns)?)?;
        }
        writer.finish()
    }
}

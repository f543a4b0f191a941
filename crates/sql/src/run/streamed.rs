//! Rows that are changed while others are still being found.
//!
//! The query of a statement reads the moment at which the statement began, so it never sees the
//! statement's own changes. Its rows are changed in parts, in the statement's transaction, and keys
//! are checked at the end. So a statement changes more rows than fit into memory.
//!
//! ```text
//! query ── 32,768 rows ──> changes ──> transaction ──> blocks, where they are many
//! ```
//!
//! New rows whose keys are not checked stay in memory. Where memory is short, the keys of rows that
//! are wholly new are checked before the end. Changed keys wait for the end, since rows
//! that are still to be found may give up the keys that others take. Rows that the transaction had
//! added before stay where they are until the end, since the query goes by their names.
//!
//! Rows of partitions are changed where they are, or go to another partition. Rows of other tables
//! follow each part of a DELETE.
//!
//! All rows that were found are needed at once for keys that move while others follow them, for rows
//! that follow others of their own table, for statements of a WITH, and for ON CONFLICT of a
//! partitioned table.

use std::sync::Arc;

use crate::memory::Held;
use arrow::array::RecordBatch;
use freestone_storage::Table;
use futures::StreamExt;

use super::Run;
use super::change::Understood;
use super::changes::{Changes, Touched};
use super::conflict::Upsert;
use super::merge::Merging;
use super::partitioned::with_whole_ids;
use crate::engine::Pipelines;
use crate::error::Result;
use crate::values::buffers::Counted;
use crate::workload::Watching;

/// Rows that are changed together while others are being found, and the bytes that those may take
/// which wait for it.
const AT_ONCE: usize = 32_768;
const BYTES_AT_ONCE: usize = 16 << 20;
/// New rows that are not checked take one part of so many of `memory_limit`, if they may be checked
/// before the end.
const SHARE: usize = 4;

/// A statement that changes the rows of a query.
pub(super) enum Streamed<'a> {
    /// UPDATE or DELETE.
    Change(&'a Understood<'a>),
    Merge(&'a Merging),
    /// INSERT with ON CONFLICT.
    Upsert(Box<Upsert<'a>>),
}

/// The rows of a table that a statement changes, as far as others follow them.
pub(super) enum Manner {
    /// They go.
    Delete,
    /// They get values in these columns.
    Update(Vec<usize>),
    /// They go, or get values in any column.
    Any,
}

impl Streamed<'_> {
    fn table(&self) -> &Arc<Table> {
        match self {
            Streamed::Change(understood) => &understood.table,
            Streamed::Merge(merging) => &merging.table,
            Streamed::Upsert(upsert) => upsert.table,
        }
    }

    /// The changes of some of its rows.
    async fn changes(&mut self, run: &Run<'_>, found: Vec<RecordBatch>) -> Result<Changes> {
        match self {
            Streamed::Change(understood) => {
                let found = match understood.table.schema.partitioned {
                    Some(_) => found.iter().map(with_whole_ids).collect::<Result<_>>()?,
                    None => found,
                };
                run.changes_of(understood, found)
            }
            Streamed::Merge(merging) => {
                let changes = run.merge_changes(merging, found)?;
                run.must_be_undeleted(&merging.table, &changes)?;
                Ok(changes)
            }
            Streamed::Upsert(upsert) => run.upserted(upsert, &found).await,
        }
    }
}

impl Run<'_> {
    /// Whether rows of a table may be changed while others are still being found.
    ///
    /// # Errors
    /// An error of reading the bounds of a partition.
    pub(super) fn may_change_while_finding(&self, table: &Table, manner: &Manner) -> Result<bool> {
        if self.is_of_parts() {
            return Ok(false);
        }
        let may = |table: &Table| match manner {
            Manner::Delete => !self.follows_itself(table),
            Manner::Update(columns) => self.following(table).iter().all(|(_, key)| {
                let mut keys = key.parent_columns.iter();
                keys.all(|column| !columns.contains(column))
            }),
            Manner::Any => self.following(table).is_empty(),
        };
        if !may(table) {
            return Ok(false);
        }
        if table.schema.partitioned.is_none() {
            return Ok(true);
        }
        // Keys may refer to a partition, which its rows may leave.
        let leaves = self.router(table)?.leaves;
        Ok(leaves
            .iter()
            .all(|leaf| self.following(&leaf.table).is_empty()))
    }

    /// Changes rows as they are found, some thousands at a time; returns their number.
    ///
    /// # Errors
    /// Errors of the query and of constraints; `53200` for rows with changed keys that do not fit
    /// into memory.
    pub(super) async fn changed_while_finding(
        &self,
        mut of: Streamed<'_>,
        plan: Pipelines,
        watching: Option<Watching>,
    ) -> Result<u64> {
        let memory = self.session.database().memory();
        memory.look_at_delta();
        let most = freestone_exec::Memory::limit(&**memory) / SHARE;
        let table = Arc::clone(of.table());
        let router = match table.schema.partitioned {
            Some(_) => Some(self.router(&table)?),
            None => None,
        };
        let context = self.session.run_context();
        let mut held = Held::new(&context.memory, "changed rows");
        let first = self.change(|transaction| Ok(transaction.next_row()))?;
        let mut stream = Watching::over(watching, plan.stream(&context)?);
        let (mut touched, mut changed) = (Touched::default(), 0);
        let (mut found, mut rows, mut bytes) = (Vec::new(), 0, 0);
        let mut counted = Counted::default();
        loop {
            let batch = stream.next().await.transpose()?;
            let is_last = batch.is_none();
            let mut is_full = false;
            if let Some(batch) = batch {
                let size = counted.bytes(&batch);
                let waits = touched.has_changed_keys();
                match held.grow(size) {
                    Err(error) if waits => return Err(error),
                    Err(_) => is_full = true,
                    Ok(()) => is_full = !waits && held.bytes() >= most,
                }
                (rows, bytes) = (rows + batch.num_rows(), bytes + size);
                found.push(batch);
            }
            if is_last || is_full || rows >= AT_ONCE || bytes >= BYTES_AT_ONCE {
                let part = std::mem::take(&mut found);
                let changes = of.changes(self, part).await?;
                changed += match &router {
                    Some(router) => {
                        let touched = &mut touched;
                        self.carry_out_in_leaves(&table, router, &changes, touched)?
                            .rows
                    }
                    None => self.carry_out(&table, &changes, &mut touched)?.rows,
                };
                (rows, bytes) = (0, 0);
                counted = Counted::default();
                if is_full && !touched.has_changed_keys() {
                    self.check(std::mem::take(&mut touched))?;
                }
                if !touched.has_new_rows() {
                    // They may become blocks.
                    self.change(|transaction| Ok(transaction.settle_since(first)?))?;
                    held.free();
                }
            }
            if is_last {
                break;
            }
        }
        self.settle(touched)?;
        Ok(changed)
    }
}

//! Group tables of several threads become one result.

use crate::aggregate::GroupTable;
use crate::pipeline::{Run, on_threads, pieces};
use crate::vector::Batch;
use crate::{Error, Result};

/// Groups that one thread merges alone.
const ALONE: usize = 1 << 13;

impl Run<'_> {
    /// The groups of all threads as batches.
    pub(crate) fn merge(
        &self,
        mut tables: Vec<GroupTable<'_>>,
        grouping: &crate::Grouping,
    ) -> Result<Vec<Batch>> {
        if tables.len() == 1 {
            let table = tables
                .pop()
                .ok_or_else(|| Error::internal("no group table"))?;
            return Ok(pieces(table.finish()?));
        }
        let groups: usize = tables.iter().map(GroupTable::len).sum();
        let parts = if groups <= ALONE { 1 } else { self.threads };
        let tables = &tables;
        let part = |part: usize| GroupTable::merged(tables, grouping, part, parts)?.finish();
        let outcomes = on_threads(parts, part);
        let mut batches = Vec::new();
        for outcome in outcomes {
            batches.extend(pieces(outcome?));
        }
        Ok(batches)
    }
}

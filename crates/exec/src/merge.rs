//! Group tables of several threads become one result.

use crate::aggregate::GroupTable;
use crate::pipeline::{Run, pieces};
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
        let outcomes: Vec<Result<Batch>> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..parts)
                .map(|number| scope.spawn(move || part(number)))
                .collect();
            let own = part(0);
            let others = others.into_iter().map(|thread| match thread.join() {
                Ok(outcome) => outcome,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            std::iter::once(own).chain(others).collect()
        });
        let mut batches = Vec::new();
        for outcome in outcomes {
            batches.extend(pieces(outcome?));
        }
        Ok(batches)
    }
}

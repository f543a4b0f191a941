//! New rows of a table: few go to the delta, many become blocks at once.

use std::sync::Arc;

use freestone_storage::Table;

use super::Run;
use crate::error::Result;
use crate::ingest::{self, Gathered, Streams, Target, Written};
use crate::plan::names::Name;

impl Run<'_> {
    /// Adds rows: few to the delta, many as blocks.
    pub(super) async fn add(
        &self,
        name: &Name,
        table: &Arc<Table>,
        target: &Target,
        streams: Streams,
    ) -> Result<u64> {
        let batches = match ingest::few(&self.state, target, streams).await? {
            Gathered::Few(batches) => batches,
            Gathered::Many(streams) => {
                let written = ingest::write(&self.state, target, streams).await?;
                return self.append(name, table, written);
            }
        };
        self.change(|transaction| {
            let (mut rows, mut first) = (0, None);
            for batch in &batches {
                let number = transaction.insert(table.id, batch)?;
                first.get_or_insert(number);
                rows += batch.num_rows() as u64;
            }
            if let Some(first) = first {
                transaction.check_keys(table.id, first)?;
            }
            Ok(rows)
        })
    }

    /// Appends written blocks to a table; returns the rows.
    ///
    /// # Errors
    /// `23505` when a key exists already, `40001` when the table is gone.
    pub(crate) fn append(&self, name: &Name, seen: &Table, written: Written) -> Result<u64> {
        written.check_keys(seen, &self.snapshot.read_view(seen.id))?;
        // A statement of its own publishes at once, with keys checked in between.
        drop(self.own.lock().take());
        let own = self.snapshot.read_view(seen.id);
        self.edit(|edit| ingest::append(edit, name, seen, &own, written))
    }
}

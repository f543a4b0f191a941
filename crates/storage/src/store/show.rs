//! Showing commits, in the order of their timestamps, when they may be seen.

use super::Engine;
use super::commit::Latest;
use crate::error::Result;
use parking_lot::MutexGuard;
use std::sync::Arc;

impl Engine {
    /// Waits until a commit is durable and shows it.
    pub(super) fn finish(&self, latest: MutexGuard<'_, Latest>, timestamp: u64) -> Result<()> {
        drop(latest);
        if let Some(wal) = &self.wal {
            wal.flush(timestamp)?;
        }
        self.show_up_to(timestamp);
        Ok(())
    }

    /// Shows a commit that is written, when all before it that have to be are durable.
    pub(super) fn finish_relaxed(
        &self,
        latest: MutexGuard<'_, Latest>,
        timestamp: u64,
    ) -> Result<()> {
        let full = latest.full;
        drop(latest);
        if let Some(wal) = &self.wal {
            wal.flush(full)?;
            wal.write()?;
        }
        self.show_up_to(timestamp);
        Ok(())
    }

    fn show_up_to(&self, timestamp: u64) {
        let mut shown = self.shown.write();
        let mut replaced = None;
        while shown
            .pending
            .front()
            .is_some_and(|(when, _)| *when <= timestamp)
        {
            if let Some((when, catalog)) = shown.pending.pop_front() {
                shown.timestamp = when;
                if !Arc::ptr_eq(&shown.catalog, &catalog) {
                    replaced = Some(std::mem::replace(&mut shown.catalog, catalog));
                }
            }
        }
        drop(shown);
        if replaced.is_some() {
            drop(replaced);
            self.discard_retired();
        }
    }
}

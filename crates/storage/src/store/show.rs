//! Showing commits, in the order of their timestamps, when they may be seen.

use super::mover::Changed;
use super::transaction::Transaction;
use super::{Engine, Store};
use crate::error::Result;
use std::sync::Arc;

/// A commit that is in the log and that nobody sees yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unseen {
    pub timestamp: u64,
    /// The commit that has to be durable before: this one, or, if it is relaxed, an
    /// older one.
    pub after: u64,
}

/// A transaction whose changes are in the log: it cannot be taken back any more.
/// Dropped, it waits for the disk like [`Transaction::commit`].
#[derive(Debug)]
pub(super) struct Committed {
    pub store: Arc<Store>,
    pub transaction: Option<Transaction>,
    pub unseen: Option<Unseen>,
    pub changed: Vec<Changed>,
}

impl Committed {
    /// Waits until it is durable, and shows it.
    pub fn finish(mut self) -> Result<()> {
        if let Some(unseen) = self.unseen.take() {
            self.store.finish(unseen)?;
        }
        self.end();
        Ok(())
    }

    /// As [`Committed::finish`], without blocking a thread for longer than a sync.
    pub async fn finish_async(mut self) -> Result<()> {
        // Taken when it is done: given up before, it is finished by `drop`.
        if let Some(unseen) = self.unseen {
            let flushed = match &self.store.wal {
                Some(wal) => wal.flushed(unseen.after).await,
                None => Ok(()),
            };
            self.unseen = None;
            flushed?;
            self.store.reveal(unseen)?;
        }
        self.end();
        Ok(())
    }

    fn end(&mut self) {
        // Its rows are free for others while the mover is thought of.
        drop(self.transaction.take());
        self.store.after_commit(&self.changed);
    }
}

impl Drop for Committed {
    fn drop(&mut self) {
        if let Some(unseen) = self.unseen.take() {
            // Nobody is there to hear of a failure; the log remembers it.
            let _ = self.store.finish(unseen);
        }
    }
}

impl Engine {
    /// Waits until a commit is durable and shows it; the caller holds no lock.
    pub(super) fn finish(&self, unseen: Unseen) -> Result<()> {
        if let Some(wal) = &self.wal {
            wal.flush(unseen.after)?;
        }
        self.reveal(unseen)
    }

    /// Shows a commit, when all before it that has to be is durable.
    fn reveal(&self, unseen: Unseen) -> Result<()> {
        if unseen.after < unseen.timestamp
            && let Some(wal) = &self.wal
        {
            wal.write()?;
        }
        self.show_up_to(unseen.timestamp);
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

impl Unseen {
    /// A commit that is shown when it is durable.
    pub fn durable(timestamp: u64) -> Unseen {
        Unseen {
            timestamp,
            after: timestamp,
        }
    }
}

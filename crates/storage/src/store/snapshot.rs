//! Snapshots: the database at one moment, for as long as somebody looks at it.

use super::Catalog;
use crate::delta::{OwnChanges, ReadView};
use crate::ids::{IdMap, TableId};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashSet};
use std::ops::Deref;
use std::sync::Arc;

/// The database at one moment: its catalog, and which commits it sees. Cheap to
/// clone; later changes do not show in it.
#[derive(Clone, Debug)]
pub struct Snapshot {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    catalog: Arc<Catalog>,
    timestamp: u64,
    /// A transaction's changes, and the number that its next own row will have.
    own: (IdMap<TableId, Arc<OwnChanges>>, u64),
    /// Where a serialisable transaction notes the tables that it reads.
    reads: Option<Arc<Reads>>,
    active: Arc<Active>,
}

/// Tables that a transaction has read.
pub(super) type Reads = Mutex<HashSet<TableId>>;

impl Snapshot {
    /// What readers of a table see, as long as somebody holds the snapshot: after that, when
    /// rows were deleted may be forgotten, and they are gone for readers of any moment.
    pub fn read_view(&self, table: TableId) -> ReadView {
        if let Some(reads) = &self.inner.reads {
            reads.lock().insert(table);
        }
        ReadView {
            timestamp: self.inner.timestamp,
            own: self.inner.own.0.get(&table).cloned(),
            own_before: self.inner.own.1,
        }
    }

    /// Whether a transaction sees changes of its own in a table.
    pub fn has_own_changes(&self, table: TableId) -> bool {
        self.inner.own.0.contains_key(&table)
    }

    /// Whether the tables that are read are noted, as a serialisable transaction has it.
    pub fn notes_reads(&self) -> bool {
        self.inner.reads.is_some()
    }

    /// The last commit that it sees.
    pub fn timestamp(&self) -> u64 {
        self.inner.timestamp
    }

    /// Its catalog.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.inner.catalog
    }

    /// The same moment, with a transaction's own catalog and changes.
    pub(super) fn with_own(
        &self,
        catalog: Arc<Catalog>,
        own: (IdMap<TableId, Arc<OwnChanges>>, u64),
        reads: Option<Arc<Reads>>,
    ) -> Snapshot {
        let active = self.inner.active.clone();
        active.enter(self.inner.timestamp);
        Snapshot {
            inner: Arc::new(Inner {
                catalog,
                timestamp: self.inner.timestamp,
                own,
                reads,
                active,
            }),
        }
    }
}

impl Deref for Snapshot {
    type Target = Catalog;

    fn deref(&self) -> &Catalog {
        &self.inner.catalog
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.active.leave(self.timestamp);
    }
}

/// The timestamps of snapshots in use.
#[derive(Debug, Default)]
pub(super) struct Active {
    timestamps: Mutex<BTreeMap<u64, usize>>,
}

impl Active {
    /// A snapshot of what `now` gives; it is registered before `now` can become old.
    pub fn snapshot(self: &Arc<Self>, now: impl FnOnce() -> (Arc<Catalog>, u64)) -> Snapshot {
        let mut timestamps = self.timestamps.lock();
        let (catalog, timestamp) = now();
        *timestamps.entry(timestamp).or_default() += 1;
        drop(timestamps);
        Snapshot {
            inner: Arc::new(Inner {
                catalog,
                timestamp,
                own: (IdMap::default(), 0),
                reads: None,
                active: self.clone(),
            }),
        }
    }

    fn enter(&self, timestamp: u64) {
        *self.timestamps.lock().entry(timestamp).or_default() += 1;
    }

    fn leave(&self, timestamp: u64) {
        let mut timestamps = self.timestamps.lock();
        if let Some(count) = timestamps.get_mut(&timestamp) {
            *count -= 1;
            if *count == 0 {
                timestamps.remove(&timestamp);
            }
        }
    }

    /// The oldest timestamp in use; `now` if none is older.
    pub fn oldest(&self, now: u64) -> u64 {
        let timestamps = self.timestamps.lock();
        timestamps
            .keys()
            .next()
            .map_or(now, |oldest| now.min(*oldest))
    }
}

//! What blocks keep in memory: opened parts, up to a limit.
//!
//! A part is one column of a block that stores columns apart, or the whole tuple
//! store of another, read, checked against its checksum and validated once. When the
//! limit is passed, the parts that were used longest ago go first; whoever
//! still reads one keeps it alive until done. Bytes that are read ahead count as well.

use super::index_part::BlockIndex;
use crate::ids::{BlockId, IdMap};
use crate::io::Prefetcher;
use crate::layout::{Stripe, TupleStore};
use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that are read ahead take at most the limit divided by this.
const AHEAD_SHARE: u64 = 4;

/// An opened part of a block.
#[derive(Clone, Debug)]
pub enum Part {
    /// One column of a column block.
    Stripe(Arc<Stripe>),
    /// All columns of a block that keeps tuples together, or one column of a
    /// DSM or inverted block.
    Tuples(Arc<dyn TupleStore>),
    /// An index sub-block.
    Index(Arc<BlockIndex>),
}

/// A part's place: the block, and which part of it.
pub type PartKey = (BlockId, PartName);

/// Which part of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PartName {
    /// A column that is stored apart.
    Column(u16),
    /// All columns together.
    Tuples,
    /// The index of this number.
    Index(u32),
}

/// Parts in memory, and what reads them ahead.
#[derive(Debug)]
pub struct Cache {
    state: Arc<RwLock<State>>,
    prefetcher: Arc<Prefetcher>,
}

/// Room for bytes that are read ahead. It keeps no cache: whoever reads has it.
#[derive(Debug)]
pub(crate) struct Reserved {
    state: Arc<RwLock<State>>,
    bytes: u64,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.state.write().ahead -= self.bytes;
    }
}

#[derive(Debug)]
struct State {
    parts: IdMap<PartKey, Entry>,
    bytes: u64,
    /// Bytes that were asked for and belong to no part yet.
    ahead: u64,
    limit: u64,
    /// Counts uses.
    clock: AtomicU64,
}

#[derive(Debug)]
struct Entry {
    part: Part,
    bytes: u64,
    /// The clock at its last use.
    used: AtomicU64,
}

impl Cache {
    /// A cache of at most `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Cache {
            state: Arc::new(RwLock::new(State {
                parts: IdMap::default(),
                bytes: 0,
                ahead: 0,
                limit,
                clock: AtomicU64::new(0),
            })),
            prefetcher: Arc::default(),
        }
    }

    /// Changes the limit, in bytes.
    pub fn set_limit(&self, limit: u64) {
        let mut state = self.state.write();
        state.limit = limit;
        state.shrink();
    }

    /// Bytes held now, those that are read ahead included.
    pub fn bytes(&self) -> u64 {
        let state = self.state.read();
        state.bytes + state.ahead
    }

    /// What reads parts ahead.
    pub fn prefetcher(&self) -> &Arc<Prefetcher> {
        &self.prefetcher
    }

    /// Whether all these parts are there.
    pub fn has(&self, mut keys: impl Iterator<Item = PartKey>) -> bool {
        let state = self.state.read();
        keys.all(|key| state.parts.contains_key(&key))
    }

    /// Makes room for bytes to be read ahead, if they and others of that kind take no
    /// more than a share of the limit.
    pub(crate) fn reserve(&self, bytes: u64) -> Option<Reserved> {
        let mut state = self.state.write();
        let ahead = state.ahead.saturating_add(bytes);
        if ahead > state.limit / AHEAD_SHARE {
            return None;
        }
        state.ahead = ahead;
        state.shrink();
        Some(Reserved {
            state: self.state.clone(),
            bytes,
        })
    }

    /// The part, if it is there. Those who ask do not wait for each other.
    pub fn get(&self, key: PartKey) -> Option<Part> {
        let state = self.state.read();
        let entry = state.parts.get(&key)?;
        entry.used.store(state.tick(), Ordering::Relaxed);
        Some(entry.part.clone())
    }

    /// Keeps a part that takes `bytes`, if the limit allows.
    pub fn put(&self, key: PartKey, part: Part, bytes: u64) {
        let mut state = self.state.write();
        let used = AtomicU64::new(state.tick());
        if let Some(old) = state.parts.insert(key, Entry { part, bytes, used }) {
            state.bytes -= old.bytes;
        }
        state.bytes += bytes;
        state.shrink();
    }

    /// Forgets the parts of a block that is no more.
    pub fn forget(&self, block: BlockId) {
        let mut state = self.state.write();
        let mut freed = 0;
        state.parts.retain(|key, entry| {
            let keep = key.0 != block;
            freed += if keep { 0 } else { entry.bytes };
            keep
        });
        state.bytes -= freed;
    }
}

impl State {
    /// The time of a use, later than those before.
    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Drops the parts used longest ago until a tenth of the limit is free.
    fn shrink(&mut self) {
        if self.bytes + self.ahead <= self.limit {
            return;
        }
        let mut order: Vec<(u64, PartKey)> = self
            .parts
            .iter()
            .map(|(key, entry)| (entry.used.load(Ordering::Relaxed), *key))
            .collect();
        order.sort_unstable_by_key(|(used, _)| *used);
        for (_, key) in order {
            if self.bytes + self.ahead <= self.limit - self.limit / 10 {
                break;
            }
            if let Some(entry) = self.parts.remove(&key) {
                self.bytes -= entry.bytes;
            }
        }
    }
}

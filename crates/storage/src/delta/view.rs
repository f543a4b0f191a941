//! What a reader sees: a timestamp, and what its own transaction has done.

use super::Delta;
use super::deletes::{Deletes, RowBits};
use super::fragment::Fragment;
use super::keys::KeyMap;
use crate::ids::{BlockId, IdMap, RowId};
use std::sync::Arc;

/// A timestamp that sees everything committed.
pub const LATEST: u64 = u64::MAX - 1;

/// Where a row lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowHome {
    /// A block.
    Block(BlockId),
    /// The fragment of the table's delta that begins with this row.
    Fragment(u64),
    /// The fragment of the transaction's own rows that begins with this one.
    Own(u64),
}

impl RowHome {
    /// The name of a row of this home.
    pub fn row(self, row: u32) -> RowId {
        match self {
            RowHome::Block(block) => RowId::in_block(block, row),
            RowHome::Fragment(first) => RowId::in_delta(first + u64::from(row)),
            RowHome::Own(first) => RowId::own(first + u64::from(row)),
        }
    }
}

/// What one transaction has done to one table and not committed.
#[derive(Clone, Debug, Default)]
pub struct OwnChanges {
    /// Its new rows.
    pub fragments: Vec<Arc<Fragment>>,
    /// Rows that it deleted, by where they live.
    pub deleted: IdMap<RowHome, RowBits>,
    /// From keys to its new rows.
    pub maps: Arc<Vec<KeyMap>>,
    /// Whether keys or references may be others than before.
    pub keys_changed: bool,
}

impl OwnChanges {
    /// Its fragments that begin with row `first` or a later one.
    pub fn since(&self, first: u64) -> &[Arc<Fragment>] {
        let from = |fragment: &Arc<Fragment>| fragment.first() < first;
        &self.fragments[self.fragments.partition_point(from)..]
    }

    /// Bytes of memory that the rows of [`OwnChanges::since`] take, with their part of the keys.
    pub fn bytes_since(&self, first: u64) -> usize {
        let rows = |fragments: &[Arc<Fragment>]| -> usize {
            fragments.iter().map(|fragment| fragment.len()).sum()
        };
        let since = self.since(first);
        let keys = super::bytes_of_keys(&self.maps) as u128 * rows(since) as u128;
        // In range: a share of what was a `usize`.
        let keys = keys / rows(&self.fragments).max(1) as u128;
        super::bytes_of_rows(since) + keys as usize
    }

    /// Its new row of this number, if it was not taken back.
    pub fn find(&self, number: u64) -> Option<(Arc<Fragment>, u32)> {
        let fragment = self
            .fragments
            .iter()
            .rfind(|fragment| fragment.first() <= number)?;
        let row = number - fragment.first();
        // In range: less than the fragment's length.
        (row < fragment.len() as u64).then(|| (fragment.clone(), row as u32))
    }
}

/// What a reader sees.
#[derive(Clone, Debug)]
pub struct ReadView {
    /// Commits up to this one.
    pub timestamp: u64,
    /// And its own transaction's changes,
    pub own: Option<Arc<OwnChanges>>,
    /// of its own rows only those below this number: a statement does not see
    /// the rows that it adds.
    pub own_before: u64,
}

impl Default for ReadView {
    fn default() -> ReadView {
        ReadView {
            timestamp: LATEST,
            own: None,
            own_before: 0,
        }
    }
}

impl ReadView {
    /// The view of a snapshot without changes of its own.
    pub fn at(timestamp: u64) -> ReadView {
        ReadView {
            timestamp,
            own: None,
            own_before: 0,
        }
    }

    /// The fragments that hold rows for this reader: the delta's and its own.
    pub fn fragments(&self, delta: &Delta) -> Vec<(RowHome, Arc<Fragment>)> {
        let own = self.own.iter().flat_map(|own| &own.fragments);
        let own = own.map(|fragment| (RowHome::Own(fragment.first()), fragment.clone()));
        let delta = delta.fragments().into_iter();
        let delta = delta.map(|fragment| (RowHome::Fragment(fragment.first()), fragment));
        delta.chain(own).collect()
    }

    /// What its own transaction deleted in one place.
    pub fn own_deletes(&self, home: RowHome) -> Option<&RowBits> {
        self.own.as_ref()?.deleted.get(&home)
    }

    /// Rows of one place that are deleted for this reader; `None` for none.
    pub fn deleted(&self, home: RowHome, deletes: &Deletes) -> Option<Arc<RowBits>> {
        let committed = deletes.at(self.timestamp);
        match (committed, self.own_deletes(home)) {
            (committed, None) => committed,
            (None, Some(own)) => Some(Arc::new(own.clone())),
            (Some(mut committed), Some(own)) => {
                Arc::make_mut(&mut committed).add_all(own);
                Some(committed)
            }
        }
    }

    /// Whether one row of a place is deleted for this reader.
    pub fn is_deleted(&self, home: RowHome, deletes: &Deletes, row: u32) -> bool {
        deletes.contains_at(row, self.timestamp)
            || self.own_deletes(home).is_some_and(|own| own.contains(row))
    }

    /// The rows of a fragment that this reader sees.
    pub fn visible(&self, home: RowHome, fragment: &Fragment) -> Vec<u32> {
        fragment.visible(self.newest(home), self.own_deletes(home))
    }

    /// The newest mark of creation that it sees in a place: own rows have their
    /// number in the place of a timestamp.
    fn newest(&self, home: RowHome) -> u64 {
        match home {
            RowHome::Own(_) => self.own_before.saturating_sub(1),
            _ => self.timestamp,
        }
    }

    /// Whether it sees a row of a fragment.
    pub fn sees(&self, home: RowHome, fragment: &Fragment, row: u32) -> bool {
        let own = self.own_deletes(home);
        fragment.sees(row, self.newest(home)) && !own.is_some_and(|own| own.contains(row))
    }
}

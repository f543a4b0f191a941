//! The delta of a table: its newest rows, in row form, before they are in blocks.
//!
//! Commits append tuples to fragments; nothing in a fragment moves or changes, rows
//! only come (with the timestamp of their commit) and are marked as deleted
//! ([`Deletes`], which blocks have as well). A snapshot therefore is a number.
//! The tuple mover turns whole fragments into blocks and publishes a table whose
//! delta begins after them; snapshots of the table before keep the fragments.
//!
//! Rows have numbers that ascend over the life of a table. For each key and index of the
//! table a map leads from keys to the rows that have them. A row that was deleted stays in the
//! maps until a reader meets it there that nobody can see it any more; of a queue whose
//! first rows are deleted all the time, each is passed once.

mod batch;
mod deletes;
mod fragment;
mod kept;
mod key_bytes;
mod keys;
mod repeated;
#[cfg(test)]
mod tests;
mod tuple;
mod view;

pub use batch::{TupleBatch, arrays};
pub use deletes::{Deletes, RowBits};
pub use fragment::{FRAGMENT_ROWS, Fragment, Tuples};
pub use keys::{KeyMap, Stored, stored_key};
pub use tuple::TupleShape;
pub use view::{LATEST, OwnChanges, ReadView, RowHome};

use crate::error::{Error, Result};
use crate::predicate::Conditions;
use crate::schema::TableSchema;
use parking_lot::RwLock;
use std::sync::Arc;

/// Numbers of rows are below: they are part of a row id.
const NUMBERS: u64 = 1 << 61;

/// The rows of one table that are in no block.
#[derive(Debug)]
pub struct Delta {
    schema: Arc<TableSchema>,
    state: RwLock<State>,
    maps: Vec<KeyMap>,
}

#[derive(Debug)]
struct State {
    fragments: Vec<Arc<Fragment>>,
    /// Number of the next row.
    next: u64,
}

/// Bytes of memory that rows take.
fn bytes_of_rows(fragments: &[Arc<Fragment>]) -> usize {
    fragments.iter().map(|fragment| fragment.bytes()).sum()
}

/// Bytes of memory that the keys of rows take.
fn bytes_of_keys(maps: &[KeyMap]) -> usize {
    maps.iter().map(KeyMap::bytes).sum()
}

impl Delta {
    /// An empty delta whose first row will be number `next`.
    pub fn new(schema: Arc<TableSchema>, next: u64) -> Delta {
        Delta {
            maps: KeyMap::all_of(&schema),
            schema,
            state: RwLock::new(State {
                fragments: Vec::new(),
                next,
            }),
        }
    }

    /// The delta of a table with the same columns, whose keys and indexes may be
    /// others, without the rows below `first`.
    pub fn from(&self, schema: Arc<TableSchema>, first: u64) -> Delta {
        let state = self.state.read();
        let kept = state.fragments.iter().filter_map(|fragment| {
            if fragment.first() < first {
                return fragment.rest(first).map(Arc::new);
            }
            // An empty one may have been made for other columns.
            (!fragment.is_empty()).then(|| fragment.clone())
        });
        let fragments: Vec<Arc<Fragment>> = kept.collect();
        Delta {
            maps: KeyMap::over(&schema, &fragments),
            schema,
            state: RwLock::new(State {
                fragments,
                next: state.next,
            }),
        }
    }

    /// The columns of new rows.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }

    /// Number of the next row.
    pub fn next(&self) -> u64 {
        self.state.read().next
    }

    /// Number of the first row that is here; that of the next, if there is none.
    pub fn first(&self) -> u64 {
        let state = self.state.read();
        state
            .fragments
            .first()
            .map_or(state.next, |fragment| fragment.first())
    }

    /// The fragments, oldest first.
    pub fn fragments(&self) -> Vec<Arc<Fragment>> {
        self.state.read().fragments.clone()
    }

    /// Rows, deleted ones included.
    pub fn rows(&self) -> u64 {
        let state = self.state.read();
        state
            .fragments
            .iter()
            .map(|fragment| fragment.len() as u64)
            .sum()
    }

    /// Whether it has no rows, not even deleted ones.
    pub fn is_empty(&self) -> bool {
        let state = self.state.read();
        state.fragments.iter().all(|fragment| fragment.is_empty())
    }

    /// Bytes of memory that the rows take, with their keys.
    pub fn bytes(&self) -> usize {
        let state = self.state.read();
        bytes_of_rows(&state.fragments) + bytes_of_keys(&self.maps)
    }

    /// Lets the next row have number `first`.
    ///
    /// # Errors
    /// `Corrupt` if that number was given already.
    pub fn skip_to(&self, first: u64) -> Result<()> {
        let mut state = self.state.write();
        if first < state.next || first >= NUMBERS {
            return Err(Error::corrupt(format!(
                "row {first} of a delta that is at row {}",
                state.next
            )));
        }
        if first > state.next {
            let fragment = Fragment::new(first, self.schema.clone());
            state.fragments.push(Arc::new(fragment));
            state.next = first;
        }
        Ok(())
    }

    /// Appends tuples committed at `created`; returns the number of the first.
    /// One caller at a time.
    pub fn append<'a>(&self, tuples: impl Iterator<Item = &'a [u8]>, created: u64) -> u64 {
        let mut state = self.state.write();
        let first = state.next;
        for tuple in tuples {
            if state
                .fragments
                .last()
                .is_none_or(|fragment| fragment.is_full())
            {
                let fragment = Fragment::new(state.next, self.schema.clone());
                state.fragments.push(Arc::new(fragment));
            }
            let number = state.next;
            if let Some(fragment) = state.fragments.last() {
                fragment.push(tuple, created);
                for map in &self.maps {
                    map.insert(fragment.shape(), tuple, number);
                }
            }
            state.next += 1;
        }
        first
    }

    /// Begins a new fragment with the next row, so that those there are can be moved.
    pub fn seal(&self) -> Vec<Arc<Fragment>> {
        let mut state = self.state.write();
        let fragments = state.fragments.clone();
        if state
            .fragments
            .last()
            .is_some_and(|fragment| !fragment.is_empty())
        {
            let fragment = Fragment::new(state.next, self.schema.clone());
            state.fragments.push(Arc::new(fragment));
        }
        fragments
    }

    /// Takes back the rows from number `first` on, which nobody has seen.
    pub fn truncate(&self, first: u64) {
        let mut state = self.state.write();
        while let Some(fragment) = state.fragments.last().cloned() {
            let keep = first.saturating_sub(fragment.first()) as usize;
            let tuples = fragment.read();
            for row in keep.min(tuples.len() as usize) as u32..tuples.len() {
                let number = fragment.first() + u64::from(row);
                let tuple = tuples.tuple(row);
                self.maps
                    .iter()
                    .for_each(|map| map.remove(fragment.shape(), tuple, number));
            }
            drop(tuples);
            fragment.truncate(keep);
            if keep > 0 {
                break;
            }
            state.fragments.pop();
        }
        state.next = state.next.min(first);
    }

    /// Takes rows out of the maps that no reader sees any more, so that those who look for
    /// others by key need not pass them again; see [`Deletes::is_gone`].
    pub fn forget(&self, gone: &[(Arc<Fragment>, u32)]) {
        for (fragment, row) in gone {
            let (number, tuples) = (fragment.first() + u64::from(*row), fragment.read());
            for map in &self.maps {
                map.remove(fragment.shape(), tuples.tuple(*row), number);
            }
        }
    }

    /// The fragment that holds row `number`, and its row there.
    pub fn find(&self, number: u64) -> Option<(Arc<Fragment>, u32)> {
        let state = self.state.read();
        let place = state
            .fragments
            .partition_point(|fragment| fragment.first() <= number);
        let fragment = &state.fragments[place.checked_sub(1)?];
        let row = number - fragment.first();
        // In range: less than the fragment's length.
        (row < fragment.len() as u64).then(|| (fragment.clone(), row as u32))
    }

    /// The map that conditions bound by most columns, if they bound one.
    pub fn map_for(&self, conditions: &Conditions<'_>) -> Option<&KeyMap> {
        let bounded = self.maps.iter().map(|map| (map.bounded(conditions), map));
        let best = bounded.max_by_key(|(bounded, _)| *bounded);
        best.filter(|(bounded, _)| *bounded > 0).map(|(_, map)| map)
    }

    /// The map over these columns, if they are a key or have an index.
    pub fn map(&self, columns: &[usize]) -> Option<&KeyMap> {
        self.maps.iter().find(|map| map.columns() == columns)
    }
}

//! The delta of a table: its newest rows, in row form, before they are in blocks.
//!
//! Commits append tuples to chunks; nothing in a chunk moves or changes, rows
//! only come (with the timestamp of their commit) and are marked as deleted
//! ([`Deletes`], which blocks have as well). A snapshot therefore is a number.
//! The tuple mover turns whole chunks into blocks and publishes a table whose
//! delta begins after them; snapshots of the table before keep the chunks.
//!
//! Rows have numbers that ascend over the life of a table. For each key and
//! index of the table a map leads from a key's hash to the rows that may have it.

mod batch;
mod chunk;
mod deletes;
mod keys;
#[cfg(test)]
mod tests;
mod tuple;
mod view;

pub use batch::TupleBatch;
pub use chunk::{CHUNK_ROWS, Chunk, Tuples};
pub use deletes::{Deletes, RowBits};
pub use keys::{KeyMap, key_hash, stored_key};
pub use tuple::TupleShape;
pub use view::{LATEST, OwnChanges, ReadView, RowHome};

use crate::error::{Error, Result};
use crate::schema::TableSchema;
use parking_lot::RwLock;
use std::sync::Arc;

/// The rows of one table that are in no block.
#[derive(Debug)]
pub struct Delta {
    schema: Arc<TableSchema>,
    state: RwLock<State>,
    maps: Vec<KeyMap>,
}

#[derive(Debug)]
struct State {
    chunks: Vec<Arc<Chunk>>,
    /// Number of the next row.
    next: u64,
}

impl Delta {
    /// An empty delta whose first row will be number `next`.
    pub fn new(schema: Arc<TableSchema>, next: u64) -> Delta {
        Delta {
            maps: KeyMap::all_of(&schema),
            schema,
            state: RwLock::new(State {
                chunks: Vec::new(),
                next,
            }),
        }
    }

    /// The delta of a table with the same columns, whose keys and indexes may be
    /// others, without the rows below `first`.
    pub fn from(&self, schema: Arc<TableSchema>, first: u64) -> Delta {
        let state = self.state.read();
        let kept = state.chunks.iter().filter_map(|chunk| {
            if chunk.first() >= first {
                Some(chunk.clone())
            } else {
                chunk.rest(first).map(Arc::new)
            }
        });
        let chunks: Vec<Arc<Chunk>> = kept.collect();
        let maps = KeyMap::all_of(&schema);
        for chunk in &chunks {
            let tuples = chunk.read();
            for row in 0..tuples.len() {
                for map in &maps {
                    map.insert(
                        chunk.shape(),
                        tuples.tuple(row),
                        chunk.first() + u64::from(row),
                    );
                }
            }
        }
        Delta {
            schema,
            maps,
            state: RwLock::new(State {
                chunks,
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
            .chunks
            .first()
            .map_or(state.next, |chunk| chunk.first())
    }

    /// The chunks, oldest first.
    pub fn chunks(&self) -> Vec<Arc<Chunk>> {
        self.state.read().chunks.clone()
    }

    /// Rows, deleted ones included.
    pub fn rows(&self) -> u64 {
        let state = self.state.read();
        state.chunks.iter().map(|chunk| chunk.len() as u64).sum()
    }

    /// Bytes of all tuples.
    pub fn bytes(&self) -> usize {
        let state = self.state.read();
        state.chunks.iter().map(|chunk| chunk.bytes()).sum()
    }

    /// Lets the next row have number `first`.
    ///
    /// # Errors
    /// `Corrupt` if that number was given already.
    pub fn skip_to(&self, first: u64) -> Result<()> {
        let mut state = self.state.write();
        if first < state.next {
            return Err(Error::corrupt(format!(
                "row {first} of a delta that is at row {}",
                state.next
            )));
        }
        if first > state.next {
            let chunk = Chunk::new(first, self.schema.clone());
            state.chunks.push(Arc::new(chunk));
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
            if state.chunks.last().is_none_or(|chunk| chunk.is_full()) {
                let chunk = Chunk::new(state.next, self.schema.clone());
                state.chunks.push(Arc::new(chunk));
            }
            let number = state.next;
            if let Some(chunk) = state.chunks.last() {
                chunk.push(tuple, created);
                for map in &self.maps {
                    map.insert(chunk.shape(), tuple, number);
                }
            }
            state.next += 1;
        }
        first
    }

    /// Begins a new chunk with the next row, so that those there are can be moved.
    pub fn seal(&self) -> Vec<Arc<Chunk>> {
        let mut state = self.state.write();
        let chunks = state.chunks.clone();
        if state.chunks.last().is_some_and(|chunk| !chunk.is_empty()) {
            let chunk = Chunk::new(state.next, self.schema.clone());
            state.chunks.push(Arc::new(chunk));
        }
        chunks
    }

    /// Takes back the rows from number `first` on, which nobody has seen.
    pub fn truncate(&self, first: u64) {
        let mut state = self.state.write();
        while let Some(chunk) = state.chunks.last().cloned() {
            let keep = first.saturating_sub(chunk.first()) as usize;
            let tuples = chunk.read();
            for row in keep.min(tuples.len() as usize) as u32..tuples.len() {
                let number = chunk.first() + u64::from(row);
                let tuple = tuples.tuple(row);
                self.maps
                    .iter()
                    .for_each(|map| map.remove(chunk.shape(), tuple, number));
            }
            drop(tuples);
            chunk.truncate(keep);
            if keep > 0 {
                break;
            }
            state.chunks.pop();
        }
        state.next = state.next.min(first);
    }

    /// The chunk that holds row `number`, and its row there.
    pub fn find(&self, number: u64) -> Option<(Arc<Chunk>, u32)> {
        let state = self.state.read();
        let place = state
            .chunks
            .partition_point(|chunk| chunk.first() <= number);
        let chunk = &state.chunks[place.checked_sub(1)?];
        let row = number - chunk.first();
        // In range: less than the chunk's length.
        (row < chunk.len() as u64).then(|| (chunk.clone(), row as u32))
    }

    /// The map over these columns, if they are a key or have an index.
    pub fn map(&self, columns: &[usize]) -> Option<&KeyMap> {
        self.maps.iter().find(|map| map.columns() == columns)
    }
}

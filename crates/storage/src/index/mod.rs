//! Indexes of one block: from keys to the positions of rows.
//!
//! A block never changes, so neither does its index: it is built in one go from
//! all keys and written beside the data. What is here knows no files, columns
//! or SQL; bytes go in and come out.
//!
//! * [`key`]: a value, or several, as one unsigned integer, its *key*, that
//!   sorts as the values do. *Exact* keys are equal only if the values are.
//! * [`nodes`]: sorted keys under a tree of cache-line nodes.
//! * [`csb`]: those keys with one position each, for keys that seldom repeat.
//! * [`inverted`]: each different key once, with the set of its positions.
//! * [`bloom`]: no positions; tells that a value is certainly not in the block.
//!
//! Rows with a NULL in the key have no entry. An *entry* is one pair of key and
//! position; entries are numbered in ascending order of key, then of position.
//!
//! Opening an index checks all of it, so that a search need not: what is kept
//! afterwards can be searched without an error and without leaving its bounds.
//! Multi-byte fields are little-endian. Nodes are multiples of [`NODE_BYTES`]
//! from the start, to lie on cache lines when the buffer does.

mod any;
pub mod bloom;
pub mod csb;
pub mod inverted;
pub mod key;
pub mod nodes;
mod width;

pub use any::AnyKeys;
pub use bloom::Bloom;
pub use csb::{AnyCsb, CsbTree};
pub use inverted::InvertedIndex;
pub use key::{KeyInterval, KeyKind, KeyPart, KeyShape, RawColumn};
pub use nodes::KeyTree;
pub use width::{KeyWidth, TreeKey};

use crate::error::{Error, Result};
use arrow_buffer::{Buffer, MutableBuffer};

/// Bytes of a node: a cache line.
pub const NODE_BYTES: usize = 64;

/// The buffer, or a copy of it, with nodes on cache lines.
fn on_cache_lines(bytes: Buffer) -> Buffer {
    if bytes.as_ptr().align_offset(NODE_BYTES) == 0 {
        return bytes;
    }
    let mut aligned = MutableBuffer::new(bytes.len());
    aligned.extend_from_slice(bytes.as_slice());
    aligned.into()
}

/// An error unless `true`.
fn must(holds: bool, index: &str, rule: &str) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(Error::corrupt(format!("{index}: {rule}")))
}

/// The key as `K`; a bug if it does not fit.
fn fitting<K: TreeKey>(key: u128) -> K {
    let narrow = K::narrow(key);
    debug_assert!(narrow.is_some(), "a key wider than its index");
    narrow.unwrap_or(K::LARGEST)
}

/// Splits entries into keys and positions, sorted by key, then by position.
fn sorted<K: TreeKey>(entries: impl Iterator<Item = (u128, u32)>) -> (Vec<K>, Vec<u32>) {
    let mut entries: Vec<(K, u32)> = entries
        .map(|(key, position)| (fitting(key), position))
        .collect();
    // Blocks are often sorted by their key already.
    if !entries.is_sorted() {
        entries.sort_unstable();
    }
    entries.into_iter().unzip()
}

#[cfg(test)]
mod tests;

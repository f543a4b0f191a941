//! Keys in a tree, each with the position of its row.
//!
//! The tree is that of [`nodes`](super::nodes); entry *e* of its leaves belongs
//! to the row at `positions[e]`. Entries with equal keys are in the order of
//! their positions. Walking the entries from either end walks the rows in the
//! order of their keys, which is what MIN, MAX and ORDER BY … LIMIT want.
//!
//! | Offset | Bytes | Field |
//! |---|---|---|
//! | 0 | 4 | tag `CSB1` |
//! | 4 | 4 | entries |
//! | 8 | 1 | bytes of a key: 4, 8 or 16 |
//! | 9 | 55 | zero |
//! | 64 | 64 × nodes | the tree, root first |
//! | … | 4 × entries | positions |
//!
//! Example: rows 0, 1, 2 with keys 9, 7, 9 are one leaf 7, 9, 9 with positions
//! 1, 0, 2; the range 8 to 9 is entries 1..3, rows 0 and 2.
//!
//! Positions keep their four bytes: packed into 20 bits they would save 12 % of
//! an index with 8-byte keys, and ranges could no longer be lent as a slice.

use super::{AnyKeys, KeyTree, KeyWidth, NODE_BYTES, TreeKey, must, on_cache_lines, sorted};
use crate::error::Result;
use crate::format::{BLOCK_ROWS_MAX, Reader};
use arrow_buffer::{Buffer, ScalarBuffer};
use std::ops::Range;

const TAG: &[u8; 4] = b"CSB1";
const NAME: &str = "tree index";

/// A tree with keys of type `K`.
#[derive(Clone, Debug)]
pub struct CsbTree<K: TreeKey> {
    pub(super) keys: KeyTree<K>,
    positions: ScalarBuffer<u32>,
}

/// Number of entries and width of the keys; the head's zeros are checked.
fn read_head(bytes: &[u8]) -> Result<(usize, KeyWidth)> {
    let mut head = Reader::new(bytes);
    must(head.take(4)? == TAG, NAME, "no tag")?;
    let entries = head.u32()? as usize;
    let width = KeyWidth::stored(head.u8()?)?;
    let zero = head.take(NODE_BYTES - 9)?.iter().all(|byte| *byte == 0);
    must(zero, NAME, "reserved bytes in use")?;
    Ok((entries, width))
}

impl<K: TreeKey> CsbTree<K> {
    /// The stored form of entries sorted by key, then by position.
    ///
    /// # Panics
    /// If keys and positions are not equally many; in debug builds also if they
    /// are not sorted.
    pub fn build(keys: &[K], positions: &[u32]) -> Vec<u8> {
        assert_eq!(keys.len(), positions.len(), "each key has one position");
        debug_assert!(keys.iter().zip(positions).is_sorted());
        let mut bytes = Vec::with_capacity(
            NODE_BYTES + KeyTree::<K>::stored_bytes(keys.len()) + 4 * positions.len(),
        );
        bytes.extend_from_slice(TAG);
        bytes.extend_from_slice(&(keys.len() as u32).to_le_bytes());
        bytes.push(K::WIDTH.bytes() as u8);
        bytes.resize(NODE_BYTES, 0);
        KeyTree::build(keys, &mut bytes);
        positions
            .iter()
            .for_each(|position| bytes.extend_from_slice(&position.to_le_bytes()));
        bytes
    }

    /// Opens the index of a block of `rows` rows and checks all of it.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn open(bytes: Buffer, rows: u32) -> Result<CsbTree<K>> {
        let (entries, width) = read_head(&bytes)?;
        must(width == K::WIDTH, NAME, "keys of another width")?;
        let few = entries <= rows as usize && rows as usize <= BLOCK_ROWS_MAX;
        must(few, NAME, "more entries than the block may have rows")?;
        let tree_end = NODE_BYTES + KeyTree::<K>::stored_bytes(entries);
        let right = bytes.len() == tree_end + 4 * entries;
        must(right, NAME, "its length does not fit the number of entries")?;
        let bytes = on_cache_lines(bytes);
        let keys = KeyTree::open(
            bytes.slice_with_length(NODE_BYTES, tree_end - NODE_BYTES),
            entries,
        )?;
        let positions: ScalarBuffer<u32> = bytes.slice(tree_end).into();
        check_positions(keys.keys(), &positions, rows)?;
        Ok(CsbTree { keys, positions })
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The key of an entry.
    pub fn key(&self, entry: usize) -> K {
        self.keys.keys()[entry]
    }

    /// All keys in order.
    pub fn keys(&self) -> &[K] {
        self.keys.keys()
    }

    /// The entries whose keys are `low` to `high`, both included.
    pub fn range(&self, low: K, high: K) -> Range<usize> {
        self.keys.range(low, high)
    }

    /// The positions of some entries, in the entries' order.
    pub fn positions(&self, entries: Range<usize>) -> &[u32] {
        &self.positions[entries]
    }
}

/// Each row at most once, and equal keys in the order of their positions.
fn check_positions<K: TreeKey>(keys: &[K], positions: &[u32], rows: u32) -> Result<()> {
    let mut seen = vec![0u64; (rows as usize).div_ceil(64)];
    for position in positions {
        must(*position < rows, NAME, "position beyond the block")?;
        let (word, bit) = (&mut seen[*position as usize / 64], 1 << (position % 64));
        must(*word & bit == 0, NAME, "a row twice")?;
        *word |= bit;
    }
    let mut pairs = keys.windows(2).zip(positions.windows(2));
    let ordered = pairs.all(|(keys, rows)| keys[0] != keys[1] || rows[0] < rows[1]);
    must(ordered, NAME, "equal keys out of order")
}

/// A tree whose key width is known only when it is opened. Keys are `u128` here
/// and narrowed once a call.
#[derive(Clone, Debug)]
pub struct AnyCsb {
    keys: AnyKeys,
    positions: ScalarBuffer<u32>,
}

impl AnyCsb {
    /// The stored form of entries in any order, each a key and a position.
    ///
    /// # Panics
    /// In debug builds if a key is wider than `width`.
    pub fn build(width: KeyWidth, entries: impl Iterator<Item = (u128, u32)>) -> Vec<u8> {
        fn build<K: TreeKey>(entries: impl Iterator<Item = (u128, u32)>) -> Vec<u8> {
            let (keys, positions) = sorted::<K>(entries);
            CsbTree::build(&keys, &positions)
        }
        match width {
            KeyWidth::Four => build::<u32>(entries),
            KeyWidth::Eight => build::<u64>(entries),
            KeyWidth::Sixteen => build::<u128>(entries),
        }
    }

    /// Opens the index of a block of `rows` rows and checks all of it.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn open(bytes: Buffer, rows: u32) -> Result<AnyCsb> {
        fn open<K: TreeKey>(
            bytes: Buffer,
            rows: u32,
            wrap: fn(KeyTree<K>) -> AnyKeys,
        ) -> Result<AnyCsb> {
            let CsbTree { keys, positions } = CsbTree::open(bytes, rows)?;
            let keys = wrap(keys);
            Ok(AnyCsb { keys, positions })
        }
        match read_head(&bytes)?.1 {
            KeyWidth::Four => open(bytes, rows, AnyKeys::Four),
            KeyWidth::Eight => open(bytes, rows, AnyKeys::Eight),
            KeyWidth::Sixteen => open(bytes, rows, AnyKeys::Sixteen),
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The key of an entry.
    pub fn key(&self, entry: usize) -> u128 {
        self.keys.key(entry)
    }

    /// The entries whose keys are `low` to `high`, both included.
    pub fn range(&self, low: u128, high: u128) -> Range<usize> {
        self.keys.range(low, high)
    }

    /// The positions of some entries, in the entries' order.
    pub fn positions(&self, entries: Range<usize>) -> &[u32] {
        &self.positions[entries]
    }
}

//! Each different key once, with the set of the rows that have it.
//!
//! For keys that repeat this is smaller than one entry per row, and the rows of
//! a key come out as a bitmap without sorting. The different keys form a tree of
//! [`nodes`](super::nodes); the rows of each are a set of
//! [`postings`](crate::postings), in the form that suits it.
//!
//! | Offset | Bytes | Field |
//! |---|---|---|
//! | 0 | 4 | tag `INV1` |
//! | 4 | 4 | different keys |
//! | 8 | 4 | bytes of all sets |
//! | 12 | 1 | bytes of a key: 4, 8 or 16 |
//! | 13 | 51 | zero |
//! | 64 | 64 × nodes | tree of the keys, root first |
//! | … | 4 × keys | end of each key's set, from the start of the first |
//! | … | … | the sets |
//!
//! Example: rows 0 to 3 with keys 7, 9, 9, 7 have the keys 7 and 9, the ends 4
//! and 8, and the sets {0, 3} and {1, 2}.

use super::{AnyKeys, KeyTree, KeyWidth, NODE_BYTES, TreeKey, must, on_cache_lines, sorted};
use crate::error::Result;
use crate::format::{BLOCK_ROWS_MAX, Reader};
use crate::postings::{Postings, encode};
use arrow_buffer::{Buffer, ScalarBuffer};
use std::ops::Range;

const TAG: &[u8; 4] = b"INV1";
const NAME: &str = "inverted index";

/// An inverted index.
#[derive(Clone, Debug)]
pub struct InvertedIndex {
    keys: AnyKeys,
    ends: ScalarBuffer<u32>,
    sets: Buffer,
    rows: u32,
}

impl InvertedIndex {
    /// The stored form of entries in any order, each a key and a position.
    ///
    /// # Panics
    /// In debug builds if a key is wider than `width`.
    pub fn build(width: KeyWidth, entries: impl Iterator<Item = (u128, u32)>) -> Vec<u8> {
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
    pub fn open(bytes: Buffer, rows: u32) -> Result<InvertedIndex> {
        let mut head = Reader::new(&bytes);
        must(head.take(4)? == TAG, NAME, "no tag")?;
        let (len, sets_bytes) = (head.u32()? as usize, head.u32()? as usize);
        let width = KeyWidth::stored(head.u8()?)?;
        let zero = head.take(NODE_BYTES - 13)?.iter().all(|byte| *byte == 0);
        must(zero, NAME, "reserved bytes in use")?;
        let few = len <= rows as usize && rows as usize <= BLOCK_ROWS_MAX;
        must(few, NAME, "more keys than the block may have rows")?;
        let tree_bytes = AnyKeys::stored_bytes(width, len);
        let ends_start = NODE_BYTES + tree_bytes;
        let right = bytes.len() == ends_start + 4 * len + sets_bytes;
        must(right, NAME, "its length does not fit its head")?;
        let bytes = on_cache_lines(bytes);
        let index = InvertedIndex {
            keys: AnyKeys::open(width, bytes.slice_with_length(NODE_BYTES, tree_bytes), len)?,
            ends: bytes.slice_with_length(ends_start, 4 * len).into(),
            sets: bytes.slice(ends_start + 4 * len),
            rows,
        };
        index.check()?;
        Ok(index)
    }

    /// Each key once, each with rows, no row with two keys.
    fn check(&self) -> Result<()> {
        must(self.keys.distinct(), NAME, "a key twice")?;
        let last = self.ends.last().map_or(0, |end| *end as usize);
        let ends = self.ends.is_sorted() && last == self.sets.len();
        must(ends, NAME, "ends of the sets are not in order")?;
        let mut seen = vec![0u64; (self.rows as usize).div_ceil(64)];
        let mut total = 0;
        for key in 0..self.len() {
            let set = self.set(key)?;
            must(!set.is_empty(), NAME, "a key without rows")?;
            total += set.len();
            // Before decoding: sets that all claim every row would take hours.
            let few = total <= self.rows as usize;
            must(few, NAME, "a row with two keys")?;
            set.or_into(&mut seen)?;
        }
        let different: usize = seen.iter().map(|word| word.count_ones() as usize).sum();
        must(different == total, NAME, "a row with two keys")
    }

    fn set(&self, key: usize) -> Result<Postings<'_>> {
        let start = key.checked_sub(1).map_or(0, |before| self.ends[before]);
        let bytes = &self.sets[start as usize..self.ends[key] as usize];
        Postings::open(bytes, self.rows)
    }

    /// Number of different keys.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The key with this number, counted in ascending order.
    pub fn key(&self, number: usize) -> u128 {
        self.keys.key(number)
    }

    /// The numbers of the keys from `low` to `high`, both included.
    pub fn range(&self, low: u128, high: u128) -> Range<usize> {
        self.keys.range(low, high)
    }

    /// How many rows have one of these keys; no set is decoded.
    ///
    /// # Errors
    /// None after [`InvertedIndex::open`] has checked everything.
    pub fn count(&self, keys: Range<usize>) -> Result<usize> {
        keys.map(|key| Ok(self.set(key)?.len())).sum()
    }

    /// Appends the positions of one key's rows, ascending.
    ///
    /// # Errors
    /// None after [`InvertedIndex::open`] has checked everything.
    pub fn positions_into(&self, key: usize, positions: &mut Vec<u32>) -> Result<()> {
        self.set(key)?.decode_into(positions)
    }

    /// Sets the bit of every row that has one of these keys; bit `n` is bit
    /// `n % 64` of word `n / 64`.
    ///
    /// # Errors
    /// None after [`InvertedIndex::open`] has checked everything.
    ///
    /// # Panics
    /// If the words have fewer bits than the block has rows.
    pub fn or_into(&self, mut keys: Range<usize>, words: &mut [u64]) -> Result<()> {
        keys.try_for_each(|key| self.set(key)?.or_into(words))
    }
}

fn build<K: TreeKey>(entries: impl Iterator<Item = (u128, u32)>) -> Vec<u8> {
    let (keys, positions) = sorted::<K>(entries);
    let (mut different, mut ends, mut sets) = (Vec::new(), Vec::new(), Vec::new());
    let mut start = 0;
    for same in keys.chunk_by(|left, right| left == right) {
        encode(&positions[start..start + same.len()], &mut sets);
        start += same.len();
        different.push(same[0]);
        ends.push(sets.len() as u32);
    }
    let mut bytes = Vec::new();
    bytes.extend_from_slice(TAG);
    bytes.extend_from_slice(&(different.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&(sets.len() as u32).to_le_bytes());
    bytes.push(K::WIDTH.bytes() as u8);
    bytes.resize(NODE_BYTES, 0);
    KeyTree::build(&different, &mut bytes);
    ends.iter()
        .for_each(|end| bytes.extend_from_slice(&end.to_le_bytes()));
    bytes.extend_from_slice(&sets);
    bytes
}

//! Sorted keys under a tree of cache-line nodes.
//!
//! This is the CSB+-tree of Rao and Ross ("Making B+-Trees Cache Conscious in
//! Main Memory", 2000) for data that never changes. There, all children of a
//! node lie side by side as one *node group*, so that a node keeps one pointer
//! and fills the rest of its 64 bytes with keys. Here the tree is loaded in one
//! go with every node full, group after group: then even that pointer follows
//! from the node's number, and all 64 bytes are keys. With *b* keys to a node
//! (16, 8 or 4 of 4, 8 or 16 bytes), node *n* of a level has the children
//! *n* (*b* + 1) … *n* (*b* + 1) + *b* of the level below.
//!
//! *Leaves* hold all keys in order. *Separator* *i* of an inner node is the
//! largest key under its child *i*; the last child needs none. Unused places
//! hold the largest key there is. The first key that is not below *k* is under
//! child number "how many separators are below *k*", which takes no branch that
//! could be mispredicted. Unused places are never below.
//!
//! Example: the 4-byte keys 10, 20, … 400 fill leaves 10 … 160, 170 … 320 and
//! 330 … 400; the root holds 160 and 320. Key 170: one separator is below, so
//! leaf 1, in which no key is below: entry 16.
//!
//! | Offset | Bytes | Field |
//! |---|---|---|
//! | 0 | 64 | root |
//! | … | 64 × nodes | further levels downwards, each from left to right |
//! | … | 64 × leaves | leaves |
//!
//! All counts follow from the number of keys, which is kept outside.

use super::{NODE_BYTES, TreeKey, must};
use crate::error::Result;
use arrow_buffer::{Buffer, ScalarBuffer};
use std::ops::Range;

/// Sorted keys and the nodes above them.
#[derive(Clone, Debug)]
pub struct KeyTree<K: TreeKey> {
    /// The keys of all nodes, root first.
    nodes: ScalarBuffer<K>,
    /// First node of each level, root first; the leaves come after these.
    inner: Vec<usize>,
    /// Place of the first leaf's first key in `nodes`.
    leaves: usize,
    len: usize,
}

/// Nodes of each level, root first, leaves last.
fn levels<K: TreeKey>(len: usize) -> Vec<usize> {
    let mut nodes = len.div_ceil(K::PER_NODE);
    let mut counts = vec![nodes];
    while nodes > 1 {
        nodes = nodes.div_ceil(K::FANOUT);
        counts.push(nodes);
    }
    counts.reverse();
    counts
}

/// Every key of every inner node, root first, as they follow from the leaves.
fn separators<K: TreeKey>(keys: &[K]) -> impl Iterator<Item = K> {
    let counts = levels::<K>(keys.len());
    let inner = counts.len() - 1;
    (0..inner).flat_map(move |level| {
        // Keys under one child of this level when it is full.
        let span = K::PER_NODE * K::FANOUT.pow((inner - 1 - level) as u32);
        let places = (0..counts[level]).flat_map(|node| (0..K::PER_NODE).map(move |n| (node, n)));
        places.map(move |(node, n)| {
            let end = (node * K::FANOUT + n + 1) * span;
            match end < keys.len() {
                true => keys[end - 1],
                false => K::LARGEST,
            }
        })
    })
}

impl<K: TreeKey> KeyTree<K> {
    /// Appends the tree of these keys.
    ///
    /// # Panics
    /// In debug builds if the keys are not sorted.
    pub fn build(keys: &[K], bytes: &mut Vec<u8>) {
        debug_assert!(keys.is_sorted());
        bytes.reserve(Self::stored_bytes(keys.len()));
        separators(keys).for_each(|key| key.put(bytes));
        keys.iter().for_each(|key| key.put(bytes));
        let unused = keys.len().next_multiple_of(K::PER_NODE) - keys.len();
        (0..unused).for_each(|_| K::LARGEST.put(bytes));
    }

    /// Bytes of the tree of `len` keys.
    pub fn stored_bytes(len: usize) -> usize {
        NODE_BYTES * levels::<K>(len).iter().sum::<usize>()
    }

    /// Opens the tree of `len` keys that is all of `bytes`, aligned for `K`.
    ///
    /// # Errors
    /// `Corrupt` unless every key in every node is as [`KeyTree::build`] leaves it.
    pub(super) fn open(bytes: Buffer, len: usize) -> Result<KeyTree<K>> {
        let right = bytes.len() == Self::stored_bytes(len);
        must(right, "tree", "its length does not fit the number of keys")?;
        let nodes: ScalarBuffer<K> = bytes.into();
        let counts = levels::<K>(len);
        let mut start = 0;
        let mut inner: Vec<usize> = counts
            .iter()
            .map(|nodes| {
                start += nodes;
                start - nodes
            })
            .collect();
        let leaves = inner.pop().unwrap_or(0) * K::PER_NODE;
        let (above, below) = nodes.split_at(leaves);
        let (keys, unused) = below.split_at(len);
        must(keys.is_sorted(), "tree", "keys are not in order")?;
        let rest = unused.iter().all(|key| *key == K::LARGEST);
        must(rest, "tree", "a key after the last")?;
        let implied = separators(keys).eq(above.iter().copied());
        must(implied, "tree", "separators do not fit the leaves")?;
        Ok(KeyTree {
            nodes,
            inner,
            leaves,
            len,
        })
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All keys in order.
    pub fn keys(&self) -> &[K] {
        &self.nodes[self.leaves..self.leaves + self.len]
    }

    /// How many keys of the node that starts at `place` are below `key`.
    #[inline]
    fn below(&self, place: usize, key: K) -> usize {
        K::count_below(&self.nodes[place..place + K::PER_NODE], key)
    }

    /// Number of keys below `key`: the first entry with a key not below it.
    #[inline]
    pub fn lower_bound(&self, key: K) -> usize {
        if self.len == 0 {
            return 0;
        }
        let mut node = 0;
        for start in &self.inner {
            node = node * K::FANOUT + self.below((start + node) * K::PER_NODE, key);
        }
        node *= K::PER_NODE;
        node + self.below(self.leaves + node, key)
    }

    /// The entries whose keys are `low` to `high`, both included.
    pub fn range(&self, low: K, high: K) -> Range<usize> {
        let start = self.lower_bound(low);
        if start == self.len || low > high {
            return start..start;
        }
        let Some(past) = high.next() else {
            return start..self.len;
        };
        // Most ranges end in the leaf they start in, or the next.
        let leaf = start - start % K::PER_NODE;
        for leaf in [leaf, leaf + K::PER_NODE] {
            if leaf >= self.len {
                return start..self.len;
            }
            let below = self.below(self.leaves + leaf, past);
            if below < K::PER_NODE {
                return start..leaf + below;
            }
        }
        start..self.lower_bound(past)
    }

    /// [`KeyTree::range`] for keys in their widest form, which may be beyond `K`.
    pub fn range_wide(&self, low: u128, high: u128) -> Range<usize> {
        match K::narrow(low) {
            None => self.len..self.len,
            Some(low) => self.range(low, K::narrow(high).unwrap_or(K::LARGEST)),
        }
    }
}

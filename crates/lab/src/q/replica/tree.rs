//! CSB+-trees with nodes of 64 bytes, bulk-loaded (Q, section 3.3.3).
//!
//! Their form is that of the trees of Freestone's blocks (`freestone_storage::index`),
//! which hold no more than 2^20 keys: every node is full, so that the place of a node's
//! children follows from its own. Here keys are as wide as the column's values or codes.

use super::block::{Block, unknown};
use super::field::{Field, Key};
use crate::error::Result;

/// A tree on one column of a block.
#[derive(Debug)]
pub enum Tree {
    /// Of codes of one byte,
    Byte(Nodes<u8>),
    /// of two bytes,
    Half(Nodes<u16>),
    /// of integers,
    Word(Nodes<u32>),
    /// of strings.
    Text(Nodes<u128>),
}

/// Keys in order, the tuple of each, and the nodes above them.
#[derive(Debug)]
pub struct Nodes<K: Key> {
    /// Inner levels, root first: the largest key below each child but a node's last.
    levels: Vec<Vec<K>>,
    keys: Vec<K>,
    tuples: Vec<u32>,
}

impl Tree {
    /// Sorts the tuples of a block by a column and builds a tree over them.
    ///
    /// # Errors
    /// A column that the block does not have.
    pub fn build(block: &Block, column: usize) -> Result<Tree> {
        let field = block.field(column)?;
        match field.bytes {
            1 => Ok(Tree::Byte(Nodes::build(block, field))),
            2 => Ok(Tree::Half(Nodes::build(block, field))),
            4 => Ok(Tree::Word(Nodes::build(block, field))),
            16.. => Ok(Tree::Text(Nodes::build(block, field))),
            _ => Err(unknown(column)),
        }
    }

    /// The tuples whose keys are at least this, in the order of keys.
    pub fn from(&self, least: u128) -> &[u32] {
        match self {
            Tree::Byte(nodes) => nodes.from(least),
            Tree::Half(nodes) => nodes.from(least),
            Tree::Word(nodes) => nodes.from(least),
            Tree::Text(nodes) => nodes.from(least),
        }
    }

    /// Bytes of its nodes.
    pub fn bytes(&self) -> usize {
        match self {
            Tree::Byte(nodes) => nodes.bytes(),
            Tree::Half(nodes) => nodes.bytes(),
            Tree::Word(nodes) => nodes.bytes(),
            Tree::Text(nodes) => nodes.bytes(),
        }
    }
}

/// The tuples in the order of a column: numbers are sorted, which refer to values.
pub fn sorted<K: Key>(memory: &[u8], field: Field, tuples: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..tuples as u32).collect();
    order.sort_unstable_by_key(|tuple| K::read(memory, field.at(*tuple as usize)));
    order
}

impl<K: Key> Nodes<K> {
    fn build(block: &Block, field: Field) -> Nodes<K> {
        let tuples = sorted::<K>(block.memory(), field, block.tuples());
        let key = |tuple: &u32| K::read(block.memory(), field.at(*tuple as usize));
        let keys: Vec<K> = tuples.iter().map(key).collect();
        let mut levels = Vec::new();
        // Keys under a node of the level below.
        let mut span = K::PER_NODE;
        while span < keys.len() {
            levels.push(separators(&keys, span));
            span *= K::PER_NODE + 1;
        }
        levels.reverse();
        Nodes {
            levels,
            keys,
            tuples,
        }
    }

    fn from(&self, least: u128) -> &[u32] {
        let Some(least) = K::least(least) else {
            return &[];
        };
        let mut node = 0;
        for level in &self.levels {
            node = node * (K::PER_NODE + 1) + below(level, node, least);
        }
        let place = node * K::PER_NODE + below(&self.keys, node, least);
        &self.tuples[place.min(self.tuples.len())..]
    }

    fn bytes(&self) -> usize {
        let inner: usize = self.levels.iter().map(Vec::len).sum();
        (inner + self.keys.len()) * size_of::<K>() + size_of_val(&self.tuples[..])
    }
}

/// A level whose children have `span` keys each.
fn separators<K: Key>(keys: &[K], span: usize) -> Vec<K> {
    let children = keys.len().div_ceil(span);
    let nodes = children.div_ceil(K::PER_NODE + 1);
    let places = (0..nodes).flat_map(|node| (0..K::PER_NODE).map(move |place| (node, place)));
    let separator = |(node, place)| {
        let end = (node * (K::PER_NODE + 1) + place + 1) * span;
        match end < keys.len() {
            true => keys[end - 1],
            false => K::LARGEST,
        }
    };
    places.map(separator).collect()
}

/// How many keys of a node are below one.
#[inline]
fn below<K: Key>(level: &[K], node: usize, key: K) -> usize {
    let start = (node * K::PER_NODE).min(level.len());
    let end = (start + K::PER_NODE).min(level.len());
    level[start..end]
        .iter()
        .filter(|other| **other < key)
        .count()
}

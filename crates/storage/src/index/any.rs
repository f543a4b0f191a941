//! Trees whose key width is known only when they are opened.

use super::{KeyTree, KeyWidth, TreeKey};
use crate::error::Result;
use arrow_buffer::Buffer;
use std::ops::Range;

/// A [`KeyTree`] of any width. Keys are `u128` here and narrowed once a call.
#[derive(Clone, Debug)]
pub enum AnyKeys {
    /// Keys of 4 bytes.
    Four(KeyTree<u32>),
    /// Keys of 8 bytes.
    Eight(KeyTree<u64>),
    /// Keys of 16 bytes.
    Sixteen(KeyTree<u128>),
}

/// The same expression for each width.
macro_rules! each_width {
    ($any:expr, $tree:ident => $what:expr) => {
        match $any {
            AnyKeys::Four($tree) => $what,
            AnyKeys::Eight($tree) => $what,
            AnyKeys::Sixteen($tree) => $what,
        }
    };
}

impl AnyKeys {
    /// Bytes of the tree of `len` keys.
    pub fn stored_bytes(width: KeyWidth, len: usize) -> usize {
        match width {
            KeyWidth::Four => KeyTree::<u32>::stored_bytes(len),
            KeyWidth::Eight => KeyTree::<u64>::stored_bytes(len),
            KeyWidth::Sixteen => KeyTree::<u128>::stored_bytes(len),
        }
    }

    /// Opens the tree of `len` keys that is all of `bytes`, on cache lines.
    ///
    /// # Errors
    /// `Corrupt`.
    pub(super) fn open(width: KeyWidth, bytes: Buffer, len: usize) -> Result<AnyKeys> {
        Ok(match width {
            KeyWidth::Four => AnyKeys::Four(KeyTree::open(bytes, len)?),
            KeyWidth::Eight => AnyKeys::Eight(KeyTree::open(bytes, len)?),
            KeyWidth::Sixteen => AnyKeys::Sixteen(KeyTree::open(bytes, len)?),
        })
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        each_width!(self, tree => tree.len())
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The key of an entry.
    pub fn key(&self, entry: usize) -> u128 {
        each_width!(self, tree => tree.keys()[entry].widen())
    }

    /// The entries whose keys are `low` to `high`, both included.
    pub fn range(&self, low: u128, high: u128) -> Range<usize> {
        each_width!(self, tree => tree.range_wide(low, high))
    }

    /// Whether no key is there twice.
    pub(super) fn distinct(&self) -> bool {
        each_width!(self, tree => tree.keys().windows(2).all(|pair| pair[0] != pair[1]))
    }
}

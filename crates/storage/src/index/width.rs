//! The three widths of keys, and the search within one node of each.

use super::NODE_BYTES;
use crate::error::{Error, Result};
use arrow_buffer::ArrowNativeType;

/// Bytes of each key of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyWidth {
    /// Keys are `u32`.
    Four = 4,
    /// Keys are `u64`.
    Eight = 8,
    /// Keys are `u128`.
    Sixteen = 16,
}

impl KeyWidth {
    /// The narrowest keys that hold `bytes` bytes; 16 at most.
    pub fn holding(bytes: usize) -> KeyWidth {
        match bytes {
            0..=4 => KeyWidth::Four,
            5..=8 => KeyWidth::Eight,
            _ => KeyWidth::Sixteen,
        }
    }

    /// Bytes of a key.
    pub fn bytes(self) -> usize {
        self as usize
    }

    /// The width of a stored index.
    pub(super) fn stored(bytes: u8) -> Result<KeyWidth> {
        match bytes {
            4 => Ok(KeyWidth::Four),
            8 => Ok(KeyWidth::Eight),
            16 => Ok(KeyWidth::Sixteen),
            _ => Err(Error::corrupt(format!("index: keys of {bytes} bytes"))),
        }
    }
}

/// An unsigned integer that keys can be: `u32`, `u64` or `u128`.
pub trait TreeKey: ArrowNativeType + Ord {
    /// Keys in a node.
    const PER_NODE: usize = NODE_BYTES / size_of::<Self>();
    /// Children of an inner node.
    const FANOUT: usize = Self::PER_NODE + 1;
    /// Bytes of a key.
    const WIDTH: KeyWidth;
    /// The largest key.
    const LARGEST: Self;
    /// How many keys of a node are below `key`, without a branch.
    fn count_below(node: &[Self], key: Self) -> usize;
    /// The key after this one, if there is one.
    fn next(self) -> Option<Self>;
    /// The key from its widest form, if it fits.
    fn narrow(key: u128) -> Option<Self>;
    /// The key in its widest form.
    fn widen(self) -> u128;
    /// Appends the bytes of the key.
    fn put(self, bytes: &mut Vec<u8>);
}

macro_rules! tree_key {
    ($($type:ty: $width:ident, $below:ident);*) => {$(
        impl TreeKey for $type {
            const WIDTH: KeyWidth = KeyWidth::$width;
            const LARGEST: Self = <$type>::MAX;
            #[inline]
            fn count_below(node: &[Self], key: Self) -> usize {
                $below(node, key)
            }
            fn next(self) -> Option<Self> {
                self.checked_add(1)
            }
            fn narrow(key: u128) -> Option<Self> {
                <$type>::try_from(key).ok()
            }
            fn widen(self) -> u128 {
                u128::from(self)
            }
            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

tree_key!(u32: Four, count; u64: Eight, halve; u128: Sixteen, halve);

/// Compares all: four SSE2 instructions for a node of `u32`.
#[inline]
fn count<K: TreeKey>(node: &[K], key: K) -> usize {
    let below: u32 = node.iter().map(|other| u32::from(*other < key)).sum();
    below as usize
}

/// Halves by conditional moves. SSE2 has no comparison of wider lanes, and all
/// eight comparisons in scalar registers took twice as long as these four.
#[inline]
fn halve<K: TreeKey>(node: &[K], key: K) -> usize {
    let (mut below, mut half) = (0, node.len() / 2);
    while half > 0 {
        below += half * usize::from(node[below + half - 1] < key);
        half /= 2;
    }
    below + usize::from(node[below] < key)
}

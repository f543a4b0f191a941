//! The bytes of a key, in their place in the tree.
//!
//! A search compares a key with one entry after the other. Bytes behind a pointer would have to be
//! fetched from memory for each of them; most keys are short enough to lie in the tree itself.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::ops::Deref;

/// Most bytes that lie in the tree itself: three or four numbers and the number of the row.
const SHORT: usize = 30;

/// Some bytes, in their order.
#[derive(Clone)]
pub(super) enum KeyBytes {
    Short(u8, [u8; SHORT]),
    Long(Box<[u8]>),
}

impl KeyBytes {
    /// Memory that the bytes take apart from their place in the tree.
    pub(super) fn apart(&self) -> usize {
        match self {
            KeyBytes::Short(..) => 0,
            KeyBytes::Long(bytes) => bytes.len(),
        }
    }
}

impl From<&[u8]> for KeyBytes {
    fn from(bytes: &[u8]) -> Self {
        match u8::try_from(bytes.len()) {
            Ok(len) if bytes.len() <= SHORT => {
                let mut short = [0; SHORT];
                short[..bytes.len()].copy_from_slice(bytes);
                KeyBytes::Short(len, short)
            }
            _ => KeyBytes::Long(bytes.into()),
        }
    }
}

impl Deref for KeyBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            KeyBytes::Short(len, bytes) => &bytes[..usize::from(*len)],
            KeyBytes::Long(bytes) => bytes,
        }
    }
}

impl Borrow<[u8]> for KeyBytes {
    fn borrow(&self) -> &[u8] {
        self
    }
}

impl PartialEq for KeyBytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for KeyBytes {}

impl PartialOrd for KeyBytes {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for KeyBytes {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(other)
    }
}

impl std::fmt::Debug for KeyBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::{KeyBytes, SHORT};
    use std::collections::BTreeSet;

    #[test]
    fn short_and_long_keys_lie_in_one_order() {
        let mut all: Vec<Vec<u8>> = vec![Vec::new(), vec![0], vec![255]];
        for len in [1, SHORT - 1, SHORT, SHORT + 1, 300] {
            for last in [0, 1, 255] {
                let mut bytes = vec![7; len];
                bytes[len - 1] = last;
                all.push(bytes);
            }
        }
        let set: BTreeSet<KeyBytes> = all.iter().map(|bytes| bytes.as_slice().into()).collect();
        for bytes in &all {
            assert!(set.contains(bytes.as_slice()));
        }
        all.sort();
        all.dedup();
        let found: Vec<Vec<u8>> = set.iter().map(|bytes| bytes.to_vec()).collect();
        assert_eq!(found, all);
        assert!(
            set.iter()
                .all(|bytes| (bytes.apart() > 0) == (bytes.len() > SHORT))
        );
    }
}

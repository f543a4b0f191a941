//! What is free in a storage file (C, section II).

use std::collections::BTreeMap;

/// Free chunks: bytes by offset. Neighbours are one chunk.
#[derive(Debug, Default)]
pub struct StorageMap {
    chunks: BTreeMap<u64, u64>,
}

impl StorageMap {
    /// Gives a chunk back.
    pub fn free(&mut self, mut offset: u64, mut bytes: u64) {
        if let Some((before, length)) = self.chunks.range(..offset).next_back()
            && before + length == offset
        {
            (offset, bytes) = (*before, length + bytes);
        }
        if let Some(behind) = self.chunks.remove(&(offset + bytes)) {
            bytes += behind;
        }
        self.chunks.insert(offset, bytes);
    }

    /// Takes the beginning of the first chunk that is large enough.
    pub fn take(&mut self, bytes: u64) -> Option<u64> {
        let fitting = self.chunks.iter().find(|(_, length)| **length >= bytes);
        let offset = *fitting?.0;
        self.take_at(offset, bytes).then_some(offset)
    }

    /// Takes the beginning of the chunk at that offset, if it is there and large enough.
    pub fn take_at(&mut self, offset: u64, bytes: u64) -> bool {
        let Some(length) = self.chunks.get(&offset).copied() else {
            return false;
        };
        if length < bytes {
            return false;
        }
        self.chunks.remove(&offset);
        if length > bytes {
            self.chunks.insert(offset + bytes, length - bytes);
        }
        true
    }

    /// Bytes of the chunk that begins there; none if something is stored there.
    #[cfg(test)]
    pub fn free_at(&self, offset: u64) -> Option<u64> {
        self.chunks.get(&offset).copied()
    }

    /// About how many bytes of memory it takes.
    pub fn memory(&self) -> usize {
        self.chunks.len() * 2 * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_chunk() {
        let mut map = StorageMap::default();
        map.free(10, 10);
        map.free(30, 10);
        assert_eq!(map.take(15), None);
        map.free(20, 10);
        assert_eq!(map.free_at(10), Some(30));
        assert_eq!(map.take(25), Some(10));
        assert_eq!(map.free_at(35), Some(5));
        assert!(!map.take_at(35, 6) && map.take_at(35, 5));
        assert_eq!(map.memory(), 0);
    }
}

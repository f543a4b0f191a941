//! A column: a file of different values, and one of keys by value hash (C, sections II, IV).
//!
//! An entry of the value file is hash, length, value. An entry of the key file is the hash
//! of a value, a counter of 8 bytes, and the keys of 16 bytes of all records that have the
//! value. An entry that gets another key is extended where it is if there is space behind
//! it, else moved to where there is enough. Where entries lie is kept in memory; a request
//! loads the entry that it asks for, with all of its keys.

use super::file::StorageFile;
use crate::error::{Error, Result};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;

const HEAD_BYTES: u64 = 16;
const KEY_BYTES: u64 = 16;

/// The files of a column.
#[derive(Debug)]
pub struct Column {
    values: StorageFile,
    keys: StorageFile,
    /// By value hash, or the next number that is free if two values have the same.
    entries: HashMap<u64, Entry>,
    /// The value hash of each record.
    hashes: HashMap<u128, u64>,
    /// An entry that was loaded.
    loaded: Vec<u8>,
}

/// Where a value is, and the keys that have it.
#[derive(Clone, Copy, Debug)]
struct Entry {
    value: u64,
    length: u64,
    keys: u64,
    count: u64,
}

impl Entry {
    /// Bytes of its keys, counter included.
    fn bytes(self) -> u64 {
        HEAD_BYTES + KEY_BYTES * self.count
    }
}

impl Column {
    /// An empty column of that number, in a directory.
    pub fn new(directory: &Path, number: usize) -> Result<Column> {
        let file = |kind: &str| StorageFile::new(&directory.join(format!("{number}.{kind}")));
        Ok(Column {
            values: file("values")?,
            keys: file("keys")?,
            entries: HashMap::new(),
            hashes: HashMap::new(),
            loaded: Vec::new(),
        })
    }

    /// Adds the value of a record.
    pub fn add(&mut self, key: u128, value: &[u8]) -> Result<()> {
        let mut hash = hash(value);
        while let Some(entry) = self.entries.get(&hash).copied() {
            if self.value(entry)? == value {
                self.hashes.insert(key, hash);
                return self.add_key(hash, entry, key);
            }
            hash = hash.wrapping_add(1);
        }
        let length = value.len() as u64;
        let entry = Entry {
            value: self.values.allocate(HEAD_BYTES + length),
            length,
            keys: self.keys.allocate(HEAD_BYTES + KEY_BYTES),
            count: 1,
        };
        self.entries.insert(hash, entry);
        self.hashes.insert(key, hash);
        let of_value = [head(hash, length).as_slice(), value].concat();
        self.values.write(entry.value, &of_value)?;
        let of_key = [head(hash, 1).as_slice(), &key.to_le_bytes()].concat();
        self.keys.write(entry.keys, &of_key)
    }

    /// The value of a record; none if it has none.
    pub fn find(&mut self, key: u128) -> Result<Option<Vec<u8>>> {
        let hash = self.hashes.get(&key);
        let Some(entry) = hash.and_then(|hash| self.entries.get(hash)).copied() else {
            return Ok(None);
        };
        self.load(entry)?;
        let keys = &self.loaded[HEAD_BYTES as usize..];
        match keys.as_chunks().0.contains(&key.to_le_bytes()) {
            true => self.value(entry).map(Some),
            false => Err(Error::new("an entry without its key", "")),
        }
    }

    /// About how many bytes of memory its maps and buffers take.
    pub fn memory(&self) -> usize {
        let files = self.values.map().memory() + self.keys.map().memory();
        let entries = self.entries.capacity() * size_of::<(u64, Entry)>();
        let hashes = self.hashes.capacity() * size_of::<(u128, u64)>();
        files + entries + hashes + self.loaded.capacity()
    }

    fn value(&self, entry: Entry) -> Result<Vec<u8>> {
        let mut value = vec![0; entry.length as usize];
        self.values.read(entry.value + HEAD_BYTES, &mut value)?;
        Ok(value)
    }

    /// Loads an entry of the key file.
    fn load(&mut self, entry: Entry) -> Result<()> {
        self.loaded.resize(entry.bytes() as usize, 0);
        self.keys.read(entry.keys, &mut self.loaded)
    }

    /// Adds a key to an entry: behind it if there is space, else where there is for all.
    fn add_key(&mut self, hash: u64, entry: Entry, key: u128) -> Result<()> {
        let key = key.to_le_bytes();
        let mut longer = Entry {
            count: entry.count + 1,
            ..entry
        };
        let end = entry.keys + entry.bytes();
        if self.keys.extend(end, KEY_BYTES) {
            self.entries.insert(hash, longer);
            self.keys.write(end, &key)?;
            let counter = longer.count.to_le_bytes();
            return self.keys.write(entry.keys + 8, &counter);
        }
        self.load(entry)?;
        self.loaded.extend_from_slice(&key);
        self.loaded[..HEAD_BYTES as usize].copy_from_slice(&head(hash, longer.count));
        self.keys.free(entry.keys, entry.bytes());
        longer.keys = self.keys.allocate(longer.bytes());
        self.entries.insert(hash, longer);
        self.keys.write(longer.keys, &self.loaded)
    }
}

fn hash(value: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(value);
    hasher.finish()
}

/// The head of an entry: a hash, and a counter or a length.
fn head(hash: u64, count: u64) -> [u8; HEAD_BYTES as usize] {
    let both = u128::from(hash) | u128::from(count) << 64;
    both.to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use freestone_calibrate::Random;

    /// The entries of the key file as they lie there, behind what is free: hash and count.
    fn walked(column: &Column) -> Vec<(u64, u64)> {
        let (mut offset, mut found) = (0, Vec::new());
        while offset < column.keys.end() {
            if let Some(free) = column.keys.map().free_at(offset) {
                offset += free;
                continue;
            }
            let mut head = [0; HEAD_BYTES as usize];
            column.keys.read(offset, &mut head).unwrap();
            let both = u128::from_le_bytes(head);
            found.push((both as u64, (both >> 64) as u64));
            offset += HEAD_BYTES + KEY_BYTES * (both >> 64) as u64;
        }
        found
    }

    /// Few values and many: whatever is moved where, every record has its value, and files
    /// have nothing but entries and free chunks.
    #[test]
    fn records_have_their_values() {
        for different in [1, 10, 700] {
            let place = tempfile::tempdir().unwrap();
            let mut column = Column::new(place.path(), 0).unwrap();
            let mut random = Random::new(different);
            let mut expected: HashMap<u128, Vec<u8>> = HashMap::new();
            for key in 0..1_500 {
                let value = format!("value {:0>9}", random.below(different)).into_bytes();
                column.add(key, &value).unwrap();
                expected.insert(key, value);
            }
            for (key, value) in &expected {
                assert_eq!(column.find(*key).unwrap().as_ref(), Some(value));
            }
            assert_eq!(column.find(1_500).unwrap(), None);
            let entries = walked(&column);
            assert_eq!(entries.iter().map(|(_, keys)| keys).sum::<u64>(), 1_500);
            let known = |(hash, count): &(u64, u64)| column.entries[hash].count == *count;
            assert!(entries.len() == column.entries.len() && entries.iter().all(known));
            let few = different * 4 / 5..=different;
            assert!(few.contains(&(entries.len() as u64)) && column.memory() > 0);
        }
    }

    /// Values of the same hash are entries of their own.
    #[test]
    fn equal_hashes_are_told_apart() {
        let place = tempfile::tempdir().unwrap();
        let mut column = Column::new(place.path(), 0).unwrap();
        column.add(1, b"one").unwrap();
        let first = column.entries.drain().next().unwrap().1;
        column.entries.insert(hash(b"two"), first);
        column.add(2, b"two").unwrap();
        assert_eq!(column.entries.len(), 2);
        assert_eq!(column.find(2).unwrap().unwrap(), b"two");
    }
}

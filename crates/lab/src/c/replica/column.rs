//! A column: a file of different values, and one of keys by value hash (C, sections II, IV).
//!
//! An entry of the value file is hash, length, value. An entry of the key file is the hash
//! of a value, a counter of 8 bytes, and the keys of 16 bytes of all records that have the
//! value. An entry that gets another key is extended where it is if there is space behind
//! it, else moved to where there is enough.

use super::file::{StorageFile, WINDOW_BYTES, Window};
use crate::error::{Error, Result};
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;

const HEAD_BYTES: u64 = 16;
const KEY_BYTES: u64 = 16;

/// The files of a column.
#[derive(Debug)]
pub struct Column {
    values: StorageFile,
    keys: StorageFile,
    window: Window,
    /// An entry that is moved.
    moved: Vec<u8>,
}

/// An entry of the key file.
#[derive(Clone, Copy, Debug)]
struct Entry {
    offset: u64,
    hash: u64,
    count: u64,
}

impl Entry {
    fn end(self) -> u64 {
        self.offset + HEAD_BYTES + KEY_BYTES * self.count
    }
}

impl Column {
    /// An empty column of that number, in a directory.
    pub fn new(directory: &Path, number: usize) -> Result<Column> {
        let file = |kind: &str| StorageFile::new(&directory.join(format!("{number}.{kind}")));
        Ok(Column {
            values: file("values")?,
            keys: file("keys")?,
            window: Window::default(),
            moved: Vec::new(),
        })
    }

    /// Adds the value of a record.
    pub fn add(&mut self, key: u128, value: &[u8]) -> Result<()> {
        let hash = hash(value);
        match self.find_value(hash, Some(value))? {
            None => {
                self.append_value(hash, value)?;
                let offset = self.keys.allocate(HEAD_BYTES + KEY_BYTES);
                let entry = [head(hash, 1).as_slice(), &key.to_le_bytes()].concat();
                self.keys.write(offset, &entry)
            }
            Some(_) => match self.entry_of_value(hash)? {
                Some(entry) => self.add_key(entry, key),
                None => Err(Error::new("a value without its keys", "")),
            },
        }
    }

    /// The value of a record; none if it has none.
    pub fn find(&mut self, key: u128) -> Result<Option<Vec<u8>>> {
        let Some(entry) = self.entry_of_key(key)? else {
            return Ok(None);
        };
        let Some((offset, length)) = self.find_value(entry.hash, None)? else {
            return Err(Error::new("keys without their value", ""));
        };
        let mut value = vec![0; length as usize];
        self.values.read(offset, &mut value)?;
        Ok(Some(value))
    }

    /// Bytes of memory that its maps and buffers take.
    pub fn memory(&self) -> usize {
        let maps = self.values.map().memory() + self.keys.map().memory();
        maps + self.window.memory() + self.moved.capacity()
    }

    /// Searches the value file for a hash, and for the value if it is known: where it is,
    /// and its length.
    fn find_value(&mut self, hash: u64, value: Option<&[u8]>) -> Result<Option<(u64, u64)>> {
        self.window.clear();
        let mut offset = 0;
        while offset < self.values.end() {
            let head = self.window.get(&self.values, offset, HEAD_BYTES as usize)?;
            let (known, length) = (number(head), number(&head[8..]));
            offset += HEAD_BYTES;
            if known == hash {
                let found = self.window.get(&self.values, offset, length as usize)?;
                if value.is_none_or(|value| value == found) {
                    return Ok(Some((offset, length)));
                }
            }
            offset += length;
        }
        Ok(None)
    }

    fn append_value(&mut self, hash: u64, value: &[u8]) -> Result<()> {
        let offset = self.values.allocate(HEAD_BYTES + value.len() as u64);
        let entry = [head(hash, value.len() as u64).as_slice(), value].concat();
        self.values.write(offset, &entry)
    }

    /// The first entry of the key file from `offset` on, behind what is free there.
    fn next_entry(&mut self, mut offset: u64) -> Result<Option<Entry>> {
        while let Some(free) = self.keys.map().free_at(offset) {
            offset += free;
        }
        if offset >= self.keys.end() {
            return Ok(None);
        }
        let head = self.window.get(&self.keys, offset, HEAD_BYTES as usize)?;
        Ok(Some(Entry {
            offset,
            hash: number(head),
            count: number(&head[8..]),
        }))
    }

    /// Searches the key file for the entry of a value.
    fn entry_of_value(&mut self, hash: u64) -> Result<Option<Entry>> {
        self.window.clear();
        let mut offset = 0;
        while let Some(entry) = self.next_entry(offset)? {
            if entry.hash == hash {
                return Ok(Some(entry));
            }
            offset = entry.end();
        }
        Ok(None)
    }

    /// Searches the key file for the entry that has a key.
    fn entry_of_key(&mut self, key: u128) -> Result<Option<Entry>> {
        let key = key.to_le_bytes();
        self.window.clear();
        let mut offset = 0;
        while let Some(entry) = self.next_entry(offset)? {
            let mut at = entry.offset + HEAD_BYTES;
            while at < entry.end() {
                let count = (entry.end() - at).min(WINDOW_BYTES);
                let keys = self.window.get(&self.keys, at, count as usize)?;
                if keys.as_chunks().0.contains(&key) {
                    return Ok(Some(entry));
                }
                at += count;
            }
            offset = entry.end();
        }
        Ok(None)
    }

    /// Adds a key to an entry: behind it if there is space, else where there is for all.
    fn add_key(&mut self, entry: Entry, key: u128) -> Result<()> {
        let key = key.to_le_bytes();
        if self.keys.extend(entry.end(), KEY_BYTES) {
            self.keys.write(entry.end(), &key)?;
            let counter = (entry.count + 1).to_le_bytes();
            return self.keys.write(entry.offset + 8, &counter);
        }
        let bytes = entry.end() - entry.offset;
        self.moved.resize(bytes as usize, 0);
        self.keys.read(entry.offset, &mut self.moved)?;
        self.moved.extend_from_slice(&key);
        self.moved[..HEAD_BYTES as usize].copy_from_slice(&head(entry.hash, entry.count + 1));
        self.keys.free(entry.offset, bytes);
        let offset = self.keys.allocate(bytes + KEY_BYTES);
        self.keys.write(offset, &self.moved)
    }
}

fn hash(value: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(value);
    hasher.finish()
}

fn number(bytes: &[u8]) -> u64 {
    bytes
        .first_chunk()
        .map_or(0, |eight| u64::from_le_bytes(*eight))
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
    use std::collections::HashMap;

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
            let (mut offset, mut keys, mut entries) = (0, 0, 0);
            column.window.clear();
            while let Some(entry) = column.next_entry(offset).unwrap() {
                (offset, keys, entries) = (entry.end(), keys + entry.count, entries + 1);
            }
            assert_eq!(keys, 1_500);
            assert!(entries <= different && entries >= different * 4 / 5);
            assert!(column.memory() > 0);
        }
    }
}

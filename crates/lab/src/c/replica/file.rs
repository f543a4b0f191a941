//! A storage file and its map.

use super::storage_map::StorageMap;
use crate::error::Result;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes that a search reads at once.
pub const WINDOW_BYTES: u64 = 64 << 10;

/// A file in which space is taken and given back.
#[derive(Debug)]
pub struct StorageFile {
    file: File,
    end: u64,
    map: StorageMap,
}

/// The part of a file that a search looks at.
#[derive(Debug, Default)]
pub struct Window {
    bytes: Vec<u8>,
    start: u64,
}

impl StorageFile {
    /// A new file.
    pub fn new(path: &Path) -> Result<StorageFile> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).open(path)?;
        Ok(StorageFile {
            file,
            end: 0,
            map: StorageMap::default(),
        })
    }

    /// Bytes of the file.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// What is free in it.
    pub fn map(&self) -> &StorageMap {
        &self.map
    }

    /// Space for so many bytes: the storage map is asked first, then the file grows.
    pub fn allocate(&mut self, bytes: u64) -> u64 {
        self.map.take(bytes).unwrap_or_else(|| {
            self.end += bytes;
            self.end - bytes
        })
    }

    /// Whether space up to `end` could be extended by so many bytes.
    pub fn extend(&mut self, end: u64, more: u64) -> bool {
        if end == self.end {
            self.end += more;
            return true;
        }
        self.map.take_at(end, more)
    }

    /// Gives space back.
    pub fn free(&mut self, offset: u64, bytes: u64) {
        self.map.free(offset, bytes);
    }

    /// Reads.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        Ok(self.file.read_exact_at(bytes, offset)?)
    }

    /// Writes.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        Ok(self.file.write_all_at(bytes, offset)?)
    }
}

impl Window {
    /// Forgets what was read; a search begins.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// So many bytes of a file, which the file has.
    pub fn get(&mut self, file: &StorageFile, offset: u64, count: usize) -> Result<&[u8]> {
        let end = self.start + self.bytes.len() as u64;
        if self.bytes.is_empty() || offset < self.start || offset + count as u64 > end {
            let length = WINDOW_BYTES.min(file.end - offset).max(count as u64);
            self.bytes.resize(length as usize, 0);
            self.start = offset;
            file.read(offset, &mut self.bytes)?;
        }
        let from = (offset - self.start) as usize;
        Ok(&self.bytes[from..from + count])
    }

    /// Bytes of memory it takes.
    pub fn memory(&self) -> usize {
        self.bytes.capacity()
    }
}

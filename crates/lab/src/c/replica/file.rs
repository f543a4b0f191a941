//! A storage file and its map.

use super::storage_map::StorageMap;
use crate::error::Result;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A file in which space is taken and given back.
#[derive(Debug)]
pub struct StorageFile {
    file: File,
    end: u64,
    map: StorageMap,
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
    #[cfg(test)]
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

//! Files in memory, for databases without a directory.

use super::{Files, ReadFile};
use crate::error::{Error, Result};
use arrow_buffer::{Buffer, MutableBuffer};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A map from name to bytes; nothing outlives it.
#[derive(Debug, Default)]
pub struct Memory {
    files: Mutex<BTreeMap<String, Buffer>>,
}

/// A file whose bytes are in memory; reads share them.
#[derive(Debug)]
pub(super) struct MemoryFile {
    pub(super) bytes: Buffer,
    pub(super) name: String,
}

pub(super) fn concatenate(parts: &[&[u8]]) -> Buffer {
    let mut buffer = MutableBuffer::new(parts.iter().map(|part| part.len()).sum());
    parts.iter().for_each(|part| buffer.extend_from_slice(part));
    buffer.into()
}

/// The names directly below `directory`, without it.
pub(super) fn names_in<'a>(
    directory: &str,
    names: impl Iterator<Item = &'a String>,
) -> Vec<String> {
    names
        .filter_map(|name| name.strip_prefix(directory)?.strip_prefix('/'))
        .filter(|rest| !rest.contains('/'))
        .map(str::to_string)
        .collect()
}

impl Files for Memory {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadFile>> {
        let bytes = self.files.lock().get(name).cloned();
        let bytes =
            bytes.ok_or_else(|| Error::corrupt("the file is missing").at(name, None, None))?;
        Ok(Arc::new(MemoryFile {
            bytes,
            name: name.to_string(),
        }))
    }

    fn write(&self, name: &str, parts: &[&[u8]]) -> Result<()> {
        self.files
            .lock()
            .insert(name.to_string(), concatenate(parts));
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let mut files = self.files.lock();
        if let Some(bytes) = files.remove(from) {
            files.insert(to.to_string(), bytes);
        }
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.files.lock().remove(name);
        Ok(())
    }

    fn list(&self, directory: &str) -> Result<Vec<String>> {
        Ok(names_in(directory, self.files.lock().keys()))
    }

    fn sync_directory(&self, _directory: &str) -> Result<()> {
        Ok(())
    }

    fn show(&self, name: &str) -> String {
        format!("memory:{name}")
    }
}

impl ReadFile for MemoryFile {
    fn read(&self, offset: u64, len: usize) -> Result<Buffer> {
        let start = usize::try_from(offset).ok();
        match start.and_then(|start| Some((start, start.checked_add(len)?))) {
            Some((start, end)) if end <= self.bytes.len() => {
                Ok(self.bytes.slice_with_length(start, len))
            }
            _ => Err(Error::corrupt(format!(
                "the file has {} bytes, {len} bytes at {offset} were expected",
                self.bytes.len()
            ))
            .at(&self.name, None, None)),
        }
    }

    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
}

//! Files in memory, for databases without a directory.

use super::{Files, LogFile, ReadFile, no_such_place, past_the_end, span};
use crate::error::{Error, Result};
use arrow_buffer::{Buffer, MutableBuffer};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A map from name to bytes; nothing outlives it.
#[derive(Debug, Default)]
pub struct Memory {
    files: Mutex<BTreeMap<String, Content>>,
}

#[derive(Debug, Clone)]
enum Content {
    Whole(Buffer),
    Log(Arc<MemoryLog>),
}

/// A file whose bytes are in memory; reads share them.
#[derive(Debug)]
pub(super) struct MemoryFile {
    pub(super) bytes: Buffer,
    pub(super) name: String,
}

/// A log whose bytes are in memory; reads copy them.
#[derive(Debug)]
struct MemoryLog {
    bytes: RwLock<Vec<u8>>,
    name: String,
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

/// Zeros for a new log.
pub(super) fn zeros(name: &str, bytes: u64) -> Result<Vec<u8>> {
    let full = || Error::Full {
        message: format!("no memory for {bytes} bytes of {name}"),
    };
    let len = usize::try_from(bytes).map_err(|_| full())?;
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(len).map_err(|_| full())?;
    zeros.resize(len, 0);
    Ok(zeros)
}

impl Files for Memory {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadFile>> {
        let content = self.files.lock().get(name).cloned();
        match content {
            Some(Content::Whole(bytes)) => Ok(Arc::new(MemoryFile {
                bytes,
                name: name.to_string(),
            })),
            Some(Content::Log(log)) => Ok(log),
            None => Err(Error::corrupt("the file is missing").at(name, None, None)),
        }
    }

    fn write(&self, name: &str, parts: &[&[u8]]) -> Result<()> {
        self.files
            .lock()
            .insert(name.to_string(), Content::Whole(concatenate(parts)));
        Ok(())
    }

    fn log(&self, name: &str, bytes: u64) -> Result<Arc<dyn LogFile>> {
        let mut files = self.files.lock();
        let bytes = match files.get(name) {
            Some(Content::Log(log)) => return Ok(log.clone()),
            Some(Content::Whole(bytes)) => bytes.to_vec(),
            None => zeros(name, bytes)?,
        };
        let log = Arc::new(MemoryLog {
            bytes: RwLock::new(bytes),
            name: name.to_string(),
        });
        files.insert(name.to_string(), Content::Log(log.clone()));
        Ok(log)
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
        match span(offset, len, self.bytes.len()) {
            Some(span) => Ok(self.bytes.slice_with_length(span.start, len)),
            None => Err(past_the_end(&self.name, offset, len, ReadFile::len(self))),
        }
    }

    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
}

impl ReadFile for MemoryLog {
    fn read(&self, offset: u64, len: usize) -> Result<Buffer> {
        let bytes = self.bytes.read();
        match span(offset, len, bytes.len()) {
            Some(span) => Ok(concatenate(&[&bytes[span]])),
            None => Err(past_the_end(&self.name, offset, len, bytes.len() as u64)),
        }
    }

    fn len(&self) -> u64 {
        self.bytes.read().len() as u64
    }
}

impl LogFile for MemoryLog {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let mut all = self.bytes.write();
        let size = all.len();
        match span(offset, bytes.len(), size) {
            Some(span) => all[span].copy_from_slice(bytes),
            None => return Err(no_such_place(&self.name, offset, bytes.len(), size as u64)),
        }
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn len(&self) -> u64 {
        ReadFile::len(self)
    }
}

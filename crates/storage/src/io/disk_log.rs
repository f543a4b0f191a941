//! A log file on disk: all its blocks are there before the first write.

use super::{LogFile, no_such_place};
use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// Zeros written at once when a file is created, bytes.
const ZEROS: u64 = 1 << 20;

#[derive(Debug)]
struct DiskLog {
    file: File,
    name: String,
    len: u64,
}

/// Opens `path`, or creates it with so many zeros.
pub(super) fn open(path: &Path, bytes: u64) -> Result<Arc<dyn LogFile>> {
    let name = path.display().to_string();
    let opened = match OpenOptions::new().write(true).open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => create(path, bytes),
        other => other,
    };
    let context = |e| Error::io(format!("cannot open log {name}"), e);
    let file = opened.map_err(context)?;
    let len = file.metadata().map_err(context)?.len();
    Ok(Arc::new(DiskLog { file, name, len }))
}

fn create(path: &Path, bytes: u64) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create_new(true).open(path)?;
    fill(&file, bytes).inspect_err(|_| {
        // Half a file is worth nothing; the first error is the one to report.
        let _ = fs::remove_file(path);
    })?;
    Ok(file)
}

/// Writes zeros: blocks that are only reserved would change metadata at each
/// first write, and some file systems reserve none.
fn fill(mut file: &File, bytes: u64) -> io::Result<()> {
    let zeros = vec![0; ZEROS.min(bytes) as usize];
    let mut left = bytes;
    while left > 0 {
        let now = left.min(ZEROS);
        file.write_all(&zeros[..now as usize])?;
        left -= now;
    }
    file.sync_all()
}

impl LogFile for DiskLog {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let end = offset.checked_add(bytes.len() as u64);
        if end.is_none_or(|end| end > self.len) {
            return Err(no_such_place(&self.name, offset, bytes.len(), self.len));
        }
        self.file
            .write_all_at(bytes, offset)
            .map_err(|e| Error::io(format!("cannot write {}", self.name), e))
    }

    fn sync(&self) -> Result<()> {
        self.file
            .sync_data()
            .map_err(|e| Error::io(format!("cannot sync {}", self.name), e))
    }

    fn len(&self) -> u64 {
        self.len
    }
}

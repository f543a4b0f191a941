//! A log file on disk: all its blocks are there before the first write.
//!
//! What is to be durable at once is written around the page cache where the
//! system allows it (`O_DIRECT | O_DSYNC` on Linux): one call in the place of a write
//! and a sync, a sixth faster on the disks it was measured on.

use super::{LogFile, no_such_place};
use crate::error::{Error, Result};
use parking_lot::Mutex;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Zeros written at once when a file is created, bytes.
const ZEROS: u64 = 1 << 20;
/// Direct writes begin and end at multiples of this, in file and memory, bytes.
const UNIT: u64 = 4096;
/// A buffer for writes is kept up to this size, bytes.
const KEPT: usize = 1 << 16;

#[derive(Debug)]
struct DiskLog {
    file: File,
    direct: Option<Direct>,
    /// Whether something was written that waits for a sync.
    unsynced: AtomicBool,
    name: String,
    len: u64,
}

/// A way around the page cache.
#[derive(Debug)]
struct Direct {
    file: File,
    last: Mutex<LastUnit>,
}

/// The unit that was written last, which the next write begins in.
#[derive(Debug, Default)]
struct LastUnit {
    start: Option<u64>,
    bytes: Vec<u8>,
    /// What the next write is put together in.
    buffer: Vec<u8>,
}

/// Opens `path`, or creates it with so many zeros.
pub(super) fn open(path: &Path, bytes: u64) -> Result<Arc<dyn LogFile>> {
    let name = path.display().to_string();
    let opened = match OpenOptions::new().read(true).write(true).open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => create(path, bytes),
        other => other,
    };
    let context = |e| Error::io(format!("cannot open log {name}"), e);
    let file = opened.map_err(context)?;
    let len = file.metadata().map_err(context)?.len();
    Ok(Arc::new(DiskLog {
        direct: Direct::open(path),
        unsynced: AtomicBool::new(false),
        file,
        name,
        len,
    }))
}

fn create(path: &Path, bytes: u64) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)?;
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

impl Direct {
    #[cfg(target_os = "linux")]
    fn open(path: &Path) -> Option<Direct> {
        use std::os::unix::fs::OpenOptionsExt;
        /// Linux has one number for all machines; `O_SYNC` would write times, too.
        const O_DSYNC: i32 = 0o10000;
        let flags = rustix::fs::OFlags::DIRECT.bits() as i32 | O_DSYNC;
        // File systems without it, such as tmpfs, refuse.
        let file = OpenOptions::new()
            .write(true)
            .custom_flags(flags)
            .open(path);
        Some(Direct {
            file: file.ok()?,
            last: Mutex::default(),
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn open(_: &Path) -> Option<Direct> {
        None
    }

    /// Writes whole units around `bytes`, zeros behind them; `plain` is the same file.
    fn write(&self, plain: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let LastUnit {
            start,
            bytes: last,
            buffer,
        } = &mut *self.last.lock();
        let first = offset / UNIT * UNIT;
        let before = (offset - first) as usize;
        let len = (before + bytes.len()).next_multiple_of(UNIT as usize);
        if buffer.len() < len + UNIT as usize {
            buffer.resize(len + UNIT as usize, 0);
        }
        let aligned = buffer.as_ptr().align_offset(UNIT as usize);
        let units = &mut buffer[aligned..aligned + len];
        match start.take() {
            Some(known) if known == first => units[..before].copy_from_slice(&last[..before]),
            _ => plain.read_exact_at(&mut units[..before], first)?,
        }
        units[before..before + bytes.len()].copy_from_slice(bytes);
        units[before + bytes.len()..].fill(0);
        self.file.write_all_at(units, first)?;
        let unit = len - UNIT as usize;
        last.clear();
        last.extend_from_slice(&units[unit..]);
        *start = Some(first + unit as u64);
        if buffer.len() > KEPT {
            *buffer = Vec::new();
        }
        Ok(())
    }
}

impl DiskLog {
    fn check(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let end = offset.checked_add(bytes.len() as u64);
        if end.is_none_or(|end| end > self.len) {
            return Err(no_such_place(&self.name, offset, bytes.len(), self.len));
        }
        Ok(())
    }
}

impl LogFile for DiskLog {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.check(offset, bytes)?;
        self.unsynced.store(true, Ordering::SeqCst);
        if let Some(direct) = &self.direct {
            direct.last.lock().start = None;
        }
        self.file
            .write_all_at(bytes, offset)
            .map_err(|e| Error::io(format!("cannot write {}", self.name), e))
    }

    fn sync(&self) -> Result<()> {
        // What is written from here on waits for the next sync.
        self.unsynced.store(false, Ordering::SeqCst);
        self.file
            .sync_data()
            .map_err(|e| Error::io(format!("cannot sync {}", self.name), e))
    }

    fn write_durably(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.check(offset, bytes)?;
        let whole_units = self.len.is_multiple_of(UNIT);
        if let Some(direct) = &self.direct
            && whole_units
            && !bytes.is_empty()
            && !self.unsynced.load(Ordering::SeqCst)
            && direct.write(&self.file, offset, bytes).is_ok()
        {
            return Ok(());
        }
        // A device may want larger units; whatever it was, this says so or works.
        self.write_at(offset, bytes)?;
        self.sync()
    }

    fn len(&self) -> u64 {
        self.len
    }
}

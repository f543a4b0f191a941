//! Files, behind one small trait with three implementations.
//!
//! [`Disk`] is a directory, [`Memory`] a map for databases without one, and
//! [`Faulty`] a map that loses whatever was not synced and fails on demand, for
//! crash tests. Names are relative to the root and use `/`.
//!
//! Block files are immutable, so the trait knows no appends: a file is written
//! whole and synced ([`Files::write`]), made visible by [`Files::rename`], and
//! read by position. Reads come back as 64-byte-aligned [`Buffer`]s, so that
//! sections can be used as Arrow arrays without copying.
//!
//! Files of the write-ahead log ([`Files::log`]) are the exception: their length
//! is fixed when they are created, and they are written by position within it.
//!
//! [`Prefetcher`] reads files in the background, past the page cache if wanted.
//!
//! [`Sim`] holds no bytes: it says how long disks in numbers would take to read files.

mod aligned;
mod directories;
mod disk;
mod disk_file;
mod disk_log;
mod faulty;
mod faulty_log;
mod memory;
mod prefetch;
mod scheduling;
mod sim;
mod unsynced;

pub use disk::{Disk, Lock};
pub use faulty::{Faulty, Moment};
pub use memory::Memory;
pub use prefetch::{PrefetchFile, Prefetcher, ReadMethod, ReadOptions};
pub use scheduling::{drop_priority, take_idle_time};
pub use sim::{Sim, SimAsking, SimDiskReport, SimFile, SimReport, SimScan, SimScanReport};
pub use unsynced::{SECTOR_BYTES, Survival, Unsynced};

use crate::error::{Error, Result};
use arrow_buffer::Buffer;
use std::fmt::Debug;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;

/// Alignment of sections within a file and of buffers in memory, bytes.
pub const ALIGNMENT: usize = 64;

/// An open file, read by position from any thread.
pub trait ReadFile: Send + Sync + Debug {
    /// Reads exactly `len` bytes at `offset`.
    ///
    /// # Errors
    /// `Corrupt` if the file ends before, `Io` if the system refuses.
    fn read(&self, offset: u64, len: usize) -> Result<Buffer>;

    /// As [`ReadFile::read`], past the system's page cache where that is possible.
    ///
    /// # Errors
    /// As [`ReadFile::read`].
    fn read_directly(&self, offset: u64, len: usize) -> Result<Buffer> {
        self.read(offset, len)
    }

    /// The system's name of the file, if it has one; with `direct` one for reads past the
    /// page cache, where that is possible. Reads of whole units of 4 KiB do for both.
    fn descriptor(&self, _direct: bool) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Whether some bytes can be had without a disk, as far as the system says.
    fn is_cached(&self, _bytes: &Range<u64>) -> bool {
        false
    }

    /// Bytes in the file.
    fn len(&self) -> u64;

    /// Whether the file holds no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A file of fixed length that is written by position.
pub trait LogFile: Send + Sync + Debug {
    /// Writes `bytes` at `offset`. Readers see them at once; they are durable
    /// after [`LogFile::sync`].
    ///
    /// # Errors
    /// `Io` or `Full`; some of the bytes may then have been written. XX000 past
    /// the end of the file.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()>;

    /// Makes everything written so far durable.
    ///
    /// # Errors
    /// `Io`; what was written since the last success may then be lost, and a
    /// later success says nothing about it.
    fn sync(&self) -> Result<()>;

    /// Writes `bytes` at `offset` and makes them and everything before durable;
    /// quicker than one after the other, where the system can do both at once.
    ///
    /// # Errors
    /// Those of [`LogFile::write_at`] and [`LogFile::sync`].
    fn write_durably(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.write_at(offset, bytes)?;
        self.sync()
    }

    /// Bytes in the file; they never change in number.
    fn len(&self) -> u64;

    /// Whether the file holds no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The files of one database.
pub trait Files: Send + Sync + Debug {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// `Corrupt` if there is no such file.
    fn open(&self, name: &str) -> Result<Arc<dyn ReadFile>>;

    /// Creates `name` from `parts` one after the other and syncs its bytes.
    /// The name itself is durable after [`Files::sync_directory`].
    ///
    /// # Errors
    /// `Full` or `Io`; then no file of that name is left.
    fn write(&self, name: &str, parts: &[&[u8]]) -> Result<()>;

    /// Opens a file for writing by position, or creates it with `bytes` zeros
    /// that are really written and synced: later writes then need no room, and
    /// syncing them changes no metadata. The name of a new file is durable after
    /// [`Files::sync_directory`]. Files from [`Files::open`] see what is written.
    ///
    /// # Errors
    /// `Full` or `Io`; then no new file of that name is left.
    fn log(&self, name: &str, bytes: u64) -> Result<Arc<dyn LogFile>>;

    /// Moves a file over another, atomically.
    ///
    /// # Errors
    /// `Io`.
    fn rename(&self, from: &str, to: &str) -> Result<()>;

    /// Removes a file; one that is not there is no error.
    ///
    /// # Errors
    /// `Io`.
    fn remove(&self, name: &str) -> Result<()>;

    /// Names of the files in a directory, sorted; a missing directory is empty.
    ///
    /// # Errors
    /// `Io`.
    fn list(&self, directory: &str) -> Result<Vec<String>>;

    /// Makes creations, renames and removals in a directory durable.
    ///
    /// # Errors
    /// `Io`.
    fn sync_directory(&self, directory: &str) -> Result<()>;

    /// The name to show to people.
    fn show(&self, name: &str) -> String;

    /// Directories of the file system that these files lie in, if they do.
    fn roots(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Where `len` bytes at `offset` lie in `size` bytes, if they do.
fn span(offset: u64, len: usize, size: usize) -> Option<Range<usize>> {
    let start = usize::try_from(offset).ok()?;
    let end = start.checked_add(len)?;
    (end <= size).then_some(start..end)
}

/// The error of a read past the end.
fn past_the_end(name: &str, offset: u64, len: usize, size: u64) -> Error {
    Error::corrupt(format!(
        "the file has {size} bytes, {len} bytes at {offset} were expected"
    ))
    .at(name, None, None)
}

/// The error of a write past the end, which only a mistake of ours can ask for.
fn no_such_place(name: &str, offset: u64, len: usize, size: u64) -> Error {
    Error::invalid(
        "XX000",
        format!("internal: {len} bytes at {offset} do not fit in {name}, which has {size} bytes"),
    )
}

#[cfg(test)]
mod tests;

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

mod disk;
mod faulty;
mod memory;

pub use disk::{Disk, Lock};
pub use faulty::Faulty;
pub use memory::Memory;

use crate::error::Result;
use arrow_buffer::Buffer;
use std::fmt::Debug;
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

    /// Bytes in the file.
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
}

#[cfg(test)]
mod tests;

//! Where the storage manager keeps pages and log for good (P, section 4).

use super::pool::{Page, RecordId};
use crate::error::Result;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Bytes of a buffer, which is written and begins anew when it is full.
const BUFFER_BYTES: usize = 1 << 20;
/// Bytes before the images of a log record: its number, the one before, transaction, kind,
/// page, slot and lengths.
const LOG_HEADER: usize = 40;

/// Where pages and log are kept: files without names.
#[derive(Debug)]
pub struct Disk {
    pages: File,
    log: File,
}

impl Disk {
    /// Empty files in a directory, which is made.
    ///
    /// # Errors
    /// If they cannot be.
    pub fn in_directory(directory: &Path) -> Result<Disk> {
        std::fs::create_dir_all(directory)?;
        Ok(Disk {
            pages: tempfile::tempfile_in(directory)?,
            log: tempfile::tempfile_in(directory)?,
        })
    }

    /// Writes pages, and waits until they are there.
    ///
    /// # Errors
    /// Those of the file.
    pub fn write<'a>(&self, pages: impl Iterator<Item = &'a Page>) -> Result<()> {
        let mut file = BufWriter::with_capacity(BUFFER_BYTES, &self.pages);
        for page in pages {
            file.write_all(page)?;
        }
        file.flush()?;
        drop(file);
        Ok(self.pages.sync_data()?)
    }
}

/// The log: images before and after of what was written.
#[derive(Debug)]
pub struct Log<'a> {
    buffer: Vec<u8>,
    number: u64,
    /// Where full buffers go; those of a log in memory are forgotten.
    disk: Option<&'a Disk>,
}

impl<'a> Log<'a> {
    /// An empty log, on a disk or in memory.
    pub fn new(disk: Option<&'a Disk>) -> Log<'a> {
        Log {
            buffer: Vec::with_capacity(BUFFER_BYTES),
            number: 0,
            disk,
        }
    }

    /// Writes what was done to a record, whose image afterwards is in parts.
    ///
    /// # Errors
    /// Those of the file.
    pub fn write(&mut self, id: RecordId, before: &[u8], after: &[&[u8]]) -> Result<()> {
        let after_bytes: usize = after.iter().map(|part| part.len()).sum();
        let bytes = LOG_HEADER + before.len() + after_bytes;
        if self.buffer.len() + bytes > BUFFER_BYTES {
            self.empty()?;
        }
        let mut header = [0; LOG_HEADER];
        header[..8].copy_from_slice(&self.number.to_le_bytes());
        header[24..28].copy_from_slice(&id.page.to_le_bytes());
        header[28..30].copy_from_slice(&id.slot.to_le_bytes());
        header[32..36].copy_from_slice(&(bytes as u32).to_le_bytes());
        self.buffer.extend_from_slice(&header);
        self.buffer.extend_from_slice(before);
        for part in after {
            self.buffer.extend_from_slice(part);
        }
        self.number += 1;
        Ok(())
    }

    /// Writes what is in the buffer, and waits for the disk: the transaction is there.
    ///
    /// # Errors
    /// Those of the file.
    pub fn commit(mut self) -> Result<()> {
        self.empty()?;
        if let Some(disk) = self.disk {
            disk.log.sync_data()?;
        }
        Ok(())
    }

    fn empty(&mut self) -> Result<()> {
        if let Some(disk) = self.disk {
            (&disk.log).write_all(&self.buffer)?;
        }
        self.buffer.clear();
        Ok(())
    }
}

//! Rows that are set aside while memory is short: a list of pages in PAX form in one
//! temporary file (P6).

mod page;

use crate::vector::Batch;
use crate::{Error, Result};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file of pages.
#[derive(Debug)]
pub(crate) struct SpillFile {
    file: File,
    end: AtomicU64,
}

/// Where some rows lie.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    file: Arc<SpillFile>,
    start: u64,
    len: usize,
    rows: usize,
}

impl SpillFile {
    pub fn new(file: File) -> SpillFile {
        SpillFile {
            file,
            end: AtomicU64::new(0),
        }
    }

    /// Appends a page.
    pub fn write(self: &Arc<Self>, batch: &Batch) -> Result<Page> {
        let bytes = page::encode(batch)?;
        let start = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.write_all_at(&bytes, start)?;
        Ok(Page {
            file: self.clone(),
            start,
            len: bytes.len(),
            rows: batch.rows,
        })
    }
}

impl Page {
    /// The rows.
    pub fn read(&self) -> Result<Batch> {
        let mut bytes = vec![0; self.len];
        self.file.file.read_exact_at(&mut bytes, self.start)?;
        page::decode(&bytes).ok_or_else(|| Error::internal("a page that does not hold its rows"))?
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes in the file, about as many as in memory.
    pub fn bytes(&self) -> usize {
        self.len
    }
}

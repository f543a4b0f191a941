//! What both layouts share of the storage manager: buffer pool and locks (P, section 4).

use super::disk::Disk;
use super::hash::HashTable;
use crate::error::Result;
use std::cell::Cell;

/// Bytes of a page.
pub const PAGE_BYTES: usize = 8 << 10;

/// A page.
pub type Page = [u8; PAGE_BYTES];

/// A page in memory.
#[derive(Debug)]
struct Frame {
    bytes: Box<Page>,
    pins: Cell<u32>,
    /// Whether the clock's hand has to pass once more.
    referenced: Cell<bool>,
}

/// Pages in memory, found by their numbers.
#[derive(Debug)]
pub struct BufferPool {
    frames: Vec<Frame>,
    table: HashTable,
}

/// A page that stays in memory as long as this does.
#[derive(Debug)]
pub struct Pinned<'a>(&'a Frame);

impl BufferPool {
    /// One without pages.
    pub fn new() -> BufferPool {
        BufferPool {
            frames: Vec::new(),
            table: HashTable::new(),
        }
    }

    /// A new page, of zeros; its number.
    pub fn allocate(&mut self) -> u32 {
        let number = self.frames.len() as u32;
        self.frames.push(Frame {
            bytes: Box::new([0; PAGE_BYTES]),
            pins: Cell::new(0),
            referenced: Cell::new(true),
        });
        self.table.entry(number.into(), number);
        number
    }

    fn frame(&self, page: u32) -> &Frame {
        // All pages are in memory.
        &self.frames[self.table.get(page.into()).unwrap_or(0) as usize]
    }

    /// Pins a page that was allocated.
    pub fn pin(&self, page: u32) -> Pinned<'_> {
        let frame = self.frame(page);
        frame.pins.set(frame.pins.get() + 1);
        Pinned(frame)
    }

    /// Writes all pages, and waits for the disk.
    ///
    /// # Errors
    /// Those of the file.
    pub fn write_to(&self, disk: &Disk) -> Result<()> {
        disk.write(self.frames.iter().map(|frame| &*frame.bytes))
    }

    /// A page to be written.
    pub fn page_mut(&mut self, page: u32) -> &mut Page {
        let frame = self.table.get(page.into()).unwrap_or(0);
        let frame = &mut self.frames[frame as usize];
        frame.referenced.set(true);
        &mut frame.bytes
    }
}

impl<'a> Pinned<'a> {
    /// The page.
    pub fn page(&self) -> &'a Page {
        &self.0.bytes
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        self.0.pins.set(self.0.pins.get() - 1);
        self.0.referenced.set(true);
    }
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Records of it are read.
    IntentShared = 1,
    /// Records of it are written.
    IntentExclusive = 2,
    /// It is read.
    Shared = 4,
    /// It is written.
    Exclusive = 8,
}

/// A record: its page and its place there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordId {
    /// The page.
    pub page: u32,
    /// The number on the page.
    pub slot: u16,
}

/// The locks of a transaction: of files, pages and records.
#[derive(Debug)]
pub struct Locks {
    table: HashTable,
}

impl Locks {
    /// No locks.
    pub fn new() -> Locks {
        Locks {
            table: HashTable::new(),
        }
    }

    fn lock(&mut self, name: u64, mode: Mode) {
        *self.table.entry(name, 0) |= mode as u32;
    }

    /// Locks a file.
    pub fn file(&mut self, file: u32, mode: Mode) {
        self.lock(1 << 60 | u64::from(file), mode);
    }

    /// Locks a page.
    pub fn page(&mut self, page: u32, mode: Mode) {
        self.lock(2 << 60 | u64::from(page), mode);
    }

    /// Locks a record, by which the file and the page must be locked.
    pub fn record(&mut self, id: RecordId, mode: Mode) {
        self.lock(
            3 << 60 | u64::from(id.page) << 16 | u64::from(id.slot),
            mode,
        );
    }

    /// The transaction ends.
    pub fn release(&mut self) {
        self.table.clear();
    }
}

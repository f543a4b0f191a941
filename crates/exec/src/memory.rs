//! Memory as operators ask for it: granted or refused, never taken unasked.

use crate::Result;
use crate::spill::{Page, SpillFile};
use crate::vector::Batch;
use std::fs::File;
use std::sync::{Arc, OnceLock};

/// What a reservation grows by at least, bytes: so often the broker is asked.
const STEP: usize = 1 << 16;

/// Rows that are worked on however little memory there is.
pub(crate) const LEAST: usize = 1024;

/// Who grants memory, and has a place for what does not fit.
pub trait Memory: std::fmt::Debug + Send + Sync {
    /// Grants so many bytes more, or refuses.
    fn grow(&self, bytes: usize) -> bool;
    /// Takes bytes back.
    fn shrink(&self, bytes: usize);
    /// How many bytes there are for all.
    fn limit(&self) -> usize;
    /// A new file that is gone when it is closed.
    ///
    /// # Errors
    /// Those of creating it.
    fn file(&self) -> std::io::Result<File>;
}

/// The memory that one run may use, and its file of rows that were set aside.
#[derive(Debug)]
pub struct Space {
    memory: Arc<dyn Memory>,
    file: OnceLock<Arc<SpillFile>>,
}

impl Space {
    /// Memory of a broker; nothing is set aside so far.
    pub fn new(memory: Arc<dyn Memory>) -> Space {
        Space {
            memory,
            file: OnceLock::new(),
        }
    }

    /// A reservation of nothing yet.
    pub(crate) fn reservation(&self) -> Reservation {
        Reservation {
            memory: self.memory.clone(),
            bytes: 0,
            most: 0,
        }
    }

    /// Writes some rows to the file.
    ///
    /// # Errors
    /// Those of the file system.
    pub(crate) fn set_aside(&self, batch: &Batch) -> Result<Page> {
        let file = match self.file.get() {
            Some(file) => file,
            None => {
                let file = Arc::new(SpillFile::new(self.memory.file()?));
                self.file.get_or_init(|| file)
            }
        };
        file.write(batch)
    }

    /// The error of an operator that cannot do with less than so many bytes.
    pub(crate) fn refused(&self, operator: &'static str, bytes: usize) -> crate::Error {
        crate::Error::OutOfMemory {
            operator,
            bytes,
            limit: self.memory.limit(),
        }
    }
}

/// Bytes that were granted; given back when it is dropped.
#[derive(Debug)]
pub struct Reservation {
    memory: Arc<dyn Memory>,
    bytes: usize,
    /// Most bytes that were needed and granted.
    most: usize,
}

impl Reservation {
    /// Grows or shrinks to what `bytes` need; without success it stays as it was.
    pub fn hold(&mut self, bytes: usize) -> bool {
        if bytes > self.bytes {
            let more = (bytes - self.bytes).next_multiple_of(STEP);
            if !self.memory.grow(more) {
                return false;
            }
            self.bytes += more;
        } else if self.bytes - bytes >= 2 * STEP {
            let less = (self.bytes - bytes) / STEP * STEP;
            self.memory.shrink(less);
            self.bytes -= less;
        }
        self.most = self.most.max(bytes);
        true
    }

    /// One of nothing yet, of the same memory.
    pub fn another(&self) -> Reservation {
        Reservation {
            memory: self.memory.clone(),
            bytes: 0,
            most: 0,
        }
    }

    /// Most bytes that it held, as they were asked for.
    pub fn most(&self) -> usize {
        self.most
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.memory.shrink(self.bytes);
    }
}

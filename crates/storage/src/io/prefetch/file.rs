//! A file of which some bytes are on their way.

use super::{Held, Pending, Prefetcher};
use crate::error::Result;
use crate::io::ReadFile;
use arrow_buffer::Buffer;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;

/// A file and what was started to be read of it.
#[derive(Debug)]
pub struct PrefetchFile {
    file: Arc<dyn ReadFile>,
    prefetcher: Arc<Prefetcher>,
    coming: Mutex<Coming>,
}

#[derive(Debug, Default)]
struct Coming {
    spans: Vec<Span>,
    /// Number of the next span.
    next: u64,
}

#[derive(Debug)]
struct Span {
    number: u64,
    bytes: Range<u64>,
    /// Reads of it that are still expected.
    reads: usize,
    pending: Arc<Pending>,
}

impl PrefetchFile {
    /// A file of which nothing was started yet.
    pub fn new(file: Arc<dyn ReadFile>, prefetcher: Arc<Prefetcher>) -> PrefetchFile {
        PrefetchFile {
            file,
            prefetcher,
            coming: Mutex::default(),
        }
    }

    /// Bytes in the file.
    pub fn len(&self) -> u64 {
        self.file.len()
    }

    /// Whether the file holds no bytes.
    pub fn is_empty(&self) -> bool {
        self.file.is_empty()
    }

    /// Whether some of these bytes are on their way.
    pub fn is_coming(&self, bytes: &Range<u64>) -> bool {
        let coming = self.coming.lock();
        let mut spans = coming.spans.iter();
        spans.any(|span| span.bytes.start < bytes.end && bytes.start < span.bytes.end)
    }

    /// Begins to read `bytes`, which `reads` reads will ask for, if reading ahead is
    /// wanted; its number. `held` is dropped when the bytes are here no more.
    pub fn prefetch(&self, bytes: Range<u64>, reads: usize, held: Held) -> Option<u64> {
        if bytes.end > self.file.len() {
            return None;
        }
        let pending = self.prefetcher.start(&self.file, bytes.clone(), held)?;
        let mut coming = self.coming.lock();
        let number = coming.next;
        coming.next += 1;
        coming.spans.push(Span {
            number,
            bytes,
            reads,
            pending: Arc::new(pending),
        });
        Some(number)
    }

    /// Gives up what was started under this number; whether any of it was still to
    /// be read.
    pub fn forget(&self, number: u64) -> bool {
        let mut coming = self.coming.lock();
        let before = coming.spans.len();
        coming.spans.retain(|span| span.number != number);
        coming.spans.len() < before
    }

    /// Reads exactly `len` bytes at `offset`; waits for them if they are on their way.
    ///
    /// # Errors
    /// Those of [`ReadFile::read`].
    pub fn read(&self, offset: u64, len: usize) -> Result<Buffer> {
        if let Some((start, pending)) = self.take(offset, len)
            && let Some(bytes) = pending.wait()
        {
            // The span has them: `take` has looked.
            return Ok(bytes.slice_with_length((offset - start) as usize, len));
        }
        match self.prefetcher.options().direct {
            true => self.file.read_directly(offset, len),
            false => self.file.read(offset, len),
        }
    }

    /// The span that has these bytes, which is forgotten after the last expected read.
    fn take(&self, offset: u64, len: usize) -> Option<(u64, Arc<Pending>)> {
        let end = offset.checked_add(len as u64)?;
        let mut coming = self.coming.lock();
        let has = |span: &Span| span.bytes.start <= offset && end <= span.bytes.end;
        let place = coming.spans.iter().position(has)?;
        let span = &mut coming.spans[place];
        span.reads = span.reads.saturating_sub(1);
        let found = (span.bytes.start, span.pending.clone());
        if span.reads == 0 {
            coming.spans.swap_remove(place);
        }
        Some(found)
    }
}

//! Memory for reads past the page cache.

use arrow_buffer::{Buffer, MutableBuffer};
use std::ops::Range;

/// Direct reads begin and end at multiples of this, in file and memory, bytes.
pub(super) const DIRECT_BYTES: usize = 4096;

/// Bytes in memory that begin at a multiple of [`DIRECT_BYTES`].
#[derive(Debug)]
pub(super) struct AlignedBuffer {
    memory: MutableBuffer,
    start: usize,
    len: usize,
}

impl AlignedBuffer {
    /// So many zeros.
    pub fn new(len: usize) -> AlignedBuffer {
        let memory = MutableBuffer::from_len_zeroed(len + DIRECT_BYTES);
        // Within the bytes that are there for it.
        let start = memory.as_ptr().align_offset(DIRECT_BYTES);
        AlignedBuffer { memory, start, len }
    }

    /// The bytes.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut self.memory.as_slice_mut()[self.start..self.start + self.len]
    }

    /// Where the bytes begin; they stay there when this is moved.
    #[cfg(target_os = "linux")]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.memory.as_mut_ptr().wrapping_add(self.start)
    }

    /// `len` of the bytes from `from` on, without copying.
    pub fn part(self, from: usize, len: usize) -> Buffer {
        Buffer::from(self.memory).slice_with_length(self.start + from, len)
    }
}

/// The least range of whole units around `len` bytes at `offset`.
pub(super) fn whole_units(offset: u64, len: usize) -> Range<u64> {
    let unit = DIRECT_BYTES as u64;
    let start = offset / unit * unit;
    start..(offset + len as u64).next_multiple_of(unit)
}

//! Bit-packing of chunks: 1,024 codes of one width, in row order (H3).
//!
//! A chunk is seen as *lines* of 128 bytes. The codes take the narrowest lane
//! of 8, 16, 32 or 64 bits that holds their width, so a line is 128, 64, 32 or
//! 16 lanes, and code `i` belongs to lane `i % lanes` and there to place
//! `i / lanes`. Each lane packs its codes one after the other, lowest bits
//! first; lane words of one step lie next to each other.
//!
//! ```text
//! width 3 in 8-bit lanes:   line 0: lane 0 │ lane 1 │ … │ lane 127
//!   code 0 in bits 0..3 of lane 0, code 128 in bits 3..6, code 256 in bits
//!   6..8 and, in line 1, bit 0 of the same lane
//! ```
//!
//! One shift and mask therefore yields 128 bytes of *consecutive* codes: the
//! order of rows, of codes in memory and of bits in a selection is the same,
//! and any width takes `width` lines for 1,024 codes. A chunk of fewer codes
//! stores only the lines that hold some.
//!
//! Kernels are compiled for AVX-512, AVX2 and plain code (NEON is plain on
//! arm64) and chosen at run time; `tests` hold them equal.

mod bytes;
mod compact;
mod gather;
mod level;
mod pack;
mod prefetch;
mod range;
mod strided;
mod unpack;

pub use bytes::{bytes_in_range, widen};
pub use compact::compact;
pub use gather::{Entry, TOGETHER, gather};
pub use level::Level;
pub use pack::{Place, bytes_for, pack, take, width_for};
pub use prefetch::prefetch;
pub use range::{Mask, in_range};
pub use strided::Strided;
pub use unpack::{Target, unpack};

/// Codes in a chunk.
pub const CHUNK: usize = crate::format::UNIT_ROWS as usize;
/// Bytes of a line.
pub const LINE: usize = 128;
/// Bytes of a whole chunk of the widest codes.
pub const CHUNK_BYTES_MAX: usize = 64 * LINE;

/// Bits of the lane that codes of `width` bits are packed in.
pub const fn lane_bits(width: u8) -> usize {
    match width {
        0..=8 => 8,
        9..=16 => 16,
        17..=32 => 32,
        _ => 64,
    }
}

/// A chunk's bytes where kernels can read all of its lines, aligned.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Aligned(pub [u8; CHUNK_BYTES_MAX]);

/// Calls `kernel` with the lines of a chunk of `width` bits; they are copied when
/// the chunk is short of lines or lies where its lanes are not aligned.
#[inline(always)]
pub(super) fn with_lines<R>(packed: &[u8], width: u8, kernel: impl FnOnce(&[u8]) -> R) -> R {
    let whole = usize::from(width) * LINE;
    match packed.get(..whole) {
        Some(lines) if lines.as_ptr().align_offset(8) == 0 => kernel(lines),
        _ => kernel(&Aligned::copy(packed, whole).0[..whole]),
    }
}

impl Aligned {
    /// The first `whole` bytes, zeros where there are none.
    #[cold]
    #[inline(never)]
    fn copy(packed: &[u8], whole: usize) -> Aligned {
        let mut copy = Aligned([0; CHUNK_BYTES_MAX]);
        let have = packed.len().min(whole);
        copy.0[..have].copy_from_slice(&packed[..have]);
        copy
    }
}

#[cfg(test)]
mod tests;

//! Codes of rows that lie apart: what an index finds in packed columns.
//!
//! A code alone takes some 28 cycles to be located and cut out of its words. With AVX-512
//! the codes of sixteen rows are located and gathered together, also of rows in chunks of
//! different widths: 1.5 ns for a code instead of 7 where a chunk has a hundred of the rows,
//! 4 instead of 13 where it has one (see `tests::speed_of_gathers`).

use super::{CHUNK, LINE, Level, Place};

/// Codes that are gathered together.
pub const TOGETHER: usize = 16;

/// What is known of a chunk: the order of the fields is what the kernel reads.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Entry {
    /// What its codes are counted from.
    pub base: i64,
    /// Where its packed bytes begin.
    pub offset: u32,
    /// Bits of a code, at most 64.
    pub width: u32,
}

impl Entry {
    /// Where the code of a row of the chunk lies.
    #[inline]
    pub fn place(&self, row: usize) -> Place {
        // In range: an entry has at most 64 bits.
        Place::of(self.width as u8, row % CHUNK, self.offset as usize)
    }
}

/// Finds the codes of up to sixteen `rows`, of which the first and the last are in one chunk
/// if all are, in the packed bytes of some chunks. False, and nothing found, if this
/// machine cannot, or one has more than 32 bits or too few bytes behind it: then
/// they are to be read one by one.
pub fn gather(
    level: Level,
    (entries, packed): (&[Entry], &[u8]),
    rows: &[u32],
    codes: &mut [u32; TOGETHER],
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if level == Level::Avx512 {
        // SAFETY: the level says that the CPU has these instructions.
        return unsafe { avx512::gather(entries, packed, rows, codes) };
    }
    let _ = (level, entries, packed, rows, codes);
    false
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{CHUNK, Entry, LINE, TOGETHER};
    use std::arch::x86_64::*;
    use std::mem::offset_of;

    /// Chunk and place of a row are its high and low bits.
    const PLACE_BITS: u32 = CHUNK.trailing_zeros();
    /// Bytes from one entry to the next are so many bits to the left.
    const ENTRY_BITS: u32 = size_of::<Entry>().trailing_zeros();
    /// Bytes that a code's words may reach beyond the first byte of the first of them.
    const REACH: i32 = LINE as i32 + 4;

    /// Where the packed bytes of each row's chunk begin, and their widths.
    struct Chunks {
        offset: __m512i,
        width: __m512i,
    }

    /// See [`super::gather`].
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
    pub(super) fn gather(
        entries: &[Entry],
        packed: &[u8],
        rows: &[u32],
        codes: &mut [u32; TOGETHER],
    ) -> bool {
        let [first, ..] = rows else {
            return true;
        };
        let count = rows.len().min(TOGETHER);
        let there = (u32::MAX >> (32 - count)) as __mmask16;
        // SAFETY: only lanes of rows that are there are read.
        let places = unsafe { _mm512_maskz_loadu_epi32(there, rows.as_ptr().cast()) };
        let number = _mm512_srli_epi32::<PLACE_BITS>(places);
        let one = |value: usize| _mm512_set1_epi32(value as i32);
        let outside = _mm512_cmpge_epu32_mask(number, one(entries.len()));
        if outside & there != 0 {
            return false;
        }
        let chunk = *first as usize / CHUNK;
        let chunks = match rows[count - 1] as usize / CHUNK == chunk {
            true => Chunks {
                offset: one(entries[chunk].offset as usize),
                width: one(entries[chunk].width as usize),
            },
            // SAFETY: these lanes are numbers of entries.
            false => unsafe { chunks_of(entries, number, there) },
        };
        let wide = _mm512_cmpgt_epu32_mask(chunks.width, one(32));
        if wide != 0 {
            return false;
        }
        let Some(found) = cut_out(&chunks, packed, places, there) else {
            return false;
        };
        // SAFETY: there is room for sixteen.
        unsafe { _mm512_storeu_si512(codes.as_mut_ptr().cast(), found) };
        true
    }

    /// The entries with these numbers.
    ///
    /// # Safety
    /// Those of the lanes that are `there` are below the count of entries.
    #[target_feature(enable = "avx512f")]
    unsafe fn chunks_of(entries: &[Entry], number: __m512i, there: __mmask16) -> Chunks {
        let at = _mm512_slli_epi32::<ENTRY_BITS>(number);
        let begin = entries.as_ptr().cast::<u8>();
        let zero = _mm512_setzero_si512();
        // SAFETY: as above; both fields have four bytes.
        unsafe {
            let offset = begin.add(offset_of!(Entry, offset)).cast();
            let width = begin.add(offset_of!(Entry, width)).cast();
            Chunks {
                offset: _mm512_mask_i32gather_epi32::<1>(zero, there, at, offset),
                width: _mm512_mask_i32gather_epi32::<1>(zero, there, at, width),
            }
        }
    }

    /// The codes of at most 32 bits, as [`Place`](super::Place) finds one; none if that
    /// would read beyond the bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn cut_out(
        chunks: &Chunks,
        packed: &[u8],
        places: __m512i,
        there: __mmask16,
    ) -> Option<__m512i> {
        let all = |value: i32| _mm512_set1_epi32(value);
        let (zero, ones, width) = (_mm512_setzero_si512(), all(-1), chunks.width);
        // The lane has 2^exponent bits.
        let mut exponent = all(3);
        for bits in [8, 16] {
            let wider = _mm512_cmpgt_epu32_mask(width, all(bits));
            exponent = _mm512_mask_add_epi32(exponent, wider, exponent, all(1));
        }
        let lane = _mm512_sllv_epi32(all(1), exponent);
        let lanes = _mm512_sub_epi32(all((8 * LINE).trailing_zeros() as i32), exponent);
        let place = _mm512_and_si512(places, all(CHUNK as i32 - 1));
        let group = _mm512_srlv_epi32(place, lanes);
        let in_line = _mm512_sub_epi32(place, _mm512_sllv_epi32(group, lanes));
        // Both are at most 32: what multiplies sixteen bits does.
        let bits = _mm512_madd_epi16(group, width);
        let shift = _mm512_and_si512(bits, _mm512_sub_epi32(lane, all(1)));
        let line =
            _mm512_slli_epi32::<{ LINE.trailing_zeros() }>(_mm512_srlv_epi32(bits, exponent));
        let byte = _mm512_srli_epi32::<3>(_mm512_sllv_epi32(in_line, exponent));
        let low = _mm512_add_epi32(chunks.offset, _mm512_add_epi32(line, byte));
        let last = i32::try_from(packed.len()).unwrap_or(i32::MAX) - REACH;
        let beyond = _mm512_cmpgt_epu32_mask(low, all(last)) & there;
        if last < 0 || beyond != 0 {
            return None;
        }
        let keep = _mm512_srlv_epi32(ones, _mm512_sub_epi32(all(32), lane));
        let spans = _mm512_cmpgt_epi32_mask(_mm512_add_epi32(shift, width), lane) & there;
        let begin = packed.as_ptr();
        // SAFETY: four bytes at `low` and, a line on, at the word with the high bits are there.
        let (words, high) = unsafe {
            let words = _mm512_mask_i32gather_epi32::<1>(zero, there, low, begin.cast());
            let next = begin.add(LINE).cast();
            let high = match spans {
                0 => zero,
                _ => _mm512_mask_i32gather_epi32::<1>(zero, spans, low, next),
            };
            (words, high)
        };
        let code = _mm512_srlv_epi32(_mm512_and_si512(words, keep), shift);
        let high = _mm512_sllv_epi32(high, _mm512_sub_epi32(lane, shift));
        let mask = _mm512_srlv_epi32(ones, _mm512_sub_epi32(all(32), width));
        Some(_mm512_and_si512(_mm512_or_si512(code, high), mask))
    }
}

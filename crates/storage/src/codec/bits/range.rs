//! Comparing packed codes with a range, without unpacking them to memory.
//!
//! Every comparison of codes with constants is a question of range, and a range
//! is one subtraction and one unsigned comparison: `code - low <= high - low`.
//! The AVX-512 kernels are written with intrinsics, because their comparisons
//! give bits at once; the others gather bytes of 0 and 1 into bits.

use super::level::dispatch;
use super::unpack::{Lane, codes, words};
use super::{CHUNK, LINE, Level, lane_bits, with_lines};
use crate::codec::bits;

/// One bit for each code of a chunk.
pub type Mask = [u64; CHUNK / 64];

/// Which of a chunk's codes lie in `low..=high`; codes beyond its bytes are zero.
pub fn in_range(level: Level, packed: &[u8], width: u8, low: u64, high: u64, mask: &mut Mask) {
    let width = width.min(64);
    let largest = if width == 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    };
    if low > high || low > largest {
        return mask.fill(0);
    }
    let high = high.min(largest);
    if low == 0 && high == largest {
        return mask.fill(u64::MAX);
    }
    let span = high - low;
    with_lines(packed, width, |lines| {
        #[cfg(target_arch = "x86_64")]
        if level == Level::Avx512 {
            // SAFETY: the level says that the CPU has these instructions; `lines` are
            // the `width` whole lines that the kernels read.
            return unsafe { avx512::in_range(lines, width, low, span, mask) };
        }
        match lane_bits(width) {
            8 => run::<u8>(level, lines, width, low, span, mask),
            16 => run::<u16>(level, lines, width, low, span, mask),
            32 => run::<u32>(level, lines, width, low, span, mask),
            _ => run::<u64>(level, lines, width, low, span, mask),
        }
    });
}

fn run<T: Lane>(level: Level, lines: &[u8], width: u8, low: u64, span: u64, mask: &mut Mask) {
    let words = words::<T>(lines);
    dispatch!(level, body::<T: bits::unpack::Lane>(words: &[T], width: u8, low: u64, span: u64, mask: &mut Mask))
}

#[inline(always)]
fn body<T: Lane>(words: &[T], width: u8, low: u64, span: u64, mask: &mut Mask) {
    let lanes = 8 * LINE / T::BITS;
    let (low, span) = (T::cut(low), T::cut(span));
    let mut flags = [0u8; CHUNK];
    for (place, flags) in flags.chunks_exact_mut(lanes).enumerate() {
        let mut line = T::line();
        codes(words, width.into(), place, line.as_mut());
        for (flag, code) in flags.iter_mut().zip(line.as_ref()) {
            *flag = u8::from(code.minus(low).at_most(span));
        }
    }
    gather(&flags, mask);
}

/// Bytes of 0 and 1 as bits: a multiplication moves the lowest bits of eight
/// bytes next to each other at the top.
#[inline(always)]
pub(crate) fn gather(flags: &[u8; CHUNK], mask: &mut Mask) {
    let (words, _) = flags.as_chunks::<64>();
    for (bits, flags) in mask.iter_mut().zip(words) {
        let (eights, _) = flags.as_chunks::<8>();
        *bits = eights.iter().rev().fold(0, |bits, eight| {
            let byte = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            bits << 8 | byte
        });
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{LINE, Mask, lane_bits};
    use std::arch::x86_64::*;

    /// As [`super::in_range`], with `lines` whole and `span` = high - low.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
    pub(super) fn in_range(lines: &[u8], width: u8, low: u64, span: u64, mask: &mut Mask) {
        assert!(lines.len() >= usize::from(width) * LINE);
        match lane_bits(width) {
            8 => bytes(lines, width.into(), low, span, mask),
            16 => words(lines, width.into(), low, span, mask),
            32 => doubles(lines, width.into(), low, span, mask),
            _ => quads(lines, width.into(), low, span, mask),
        }
    }

    macro_rules! kernel {
        ($name:ident, $bits:literal, $type:ty, $mask:ty, $set:ident, $right:ident, $left:ident, $subtract:ident, $compare:ident) => {
            #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
            fn $name(lines: &[u8], width: usize, low: u64, span: u64, mask: &mut Mask) {
                const MASK_BYTES: usize = 512 / $bits / 8;
                let all = <$type>::MAX >> ($bits - width);
                let (low, span) = ($set(low as $type as _), $set(span as $type as _));
                let out = mask.as_mut_ptr().cast::<u8>();
                for place in 0..$bits {
                    let (word, shift) = (place * width / $bits, place * width % $bits);
                    let crosses = shift + width > $bits;
                    // Bytes are shifted as words, so what comes from the neighbour is cut off.
                    let low_bits = $set((all & (<$type>::MAX >> shift)) as _);
                    let high_bits = $set(if crosses {
                        all & !(<$type>::MAX >> shift)
                    } else {
                        0
                    } as _);
                    let right = _mm_cvtsi64_si128(shift as i64);
                    let left = _mm_cvtsi64_si128(($bits - shift) as i64);
                    for half in 0..2 {
                        let at = word * LINE + 64 * half;
                        // SAFETY: words 0..width of every lane lie in the `width` lines.
                        let from = unsafe { _mm512_loadu_si512(lines.as_ptr().add(at).cast()) };
                        let mut code = _mm512_and_si512($right(from, right), low_bits);
                        if crosses {
                            let next = lines[at + LINE..].as_ptr().cast();
                            // SAFETY: the code goes on in the next word, which is there.
                            let next = unsafe { _mm512_loadu_si512(next) };
                            let next = _mm512_and_si512($left(next, left), high_bits);
                            code = _mm512_or_si512(code, next);
                        }
                        let found: $mask = $compare($subtract(code, low), span);
                        // SAFETY: places × 2 masks are the mask's 128 bytes.
                        unsafe {
                            out.add((2 * place + half) * MASK_BYTES)
                                .cast::<$mask>()
                                .write_unaligned(found);
                        }
                    }
                }
            }
        };
    }
    kernel!(
        bytes,
        8,
        u8,
        __mmask64,
        _mm512_set1_epi8,
        _mm512_srl_epi16,
        _mm512_sll_epi16,
        _mm512_sub_epi8,
        _mm512_cmple_epu8_mask
    );
    kernel!(
        words,
        16,
        u16,
        __mmask32,
        _mm512_set1_epi16,
        _mm512_srl_epi16,
        _mm512_sll_epi16,
        _mm512_sub_epi16,
        _mm512_cmple_epu16_mask
    );
    kernel!(
        doubles,
        32,
        u32,
        __mmask16,
        _mm512_set1_epi32,
        _mm512_srl_epi32,
        _mm512_sll_epi32,
        _mm512_sub_epi32,
        _mm512_cmple_epu32_mask
    );
    kernel!(
        quads,
        64,
        u64,
        __mmask8,
        _mm512_set1_epi64,
        _mm512_srl_epi64,
        _mm512_sll_epi64,
        _mm512_sub_epi64,
        _mm512_cmple_epu64_mask
    );
}

//! Codes in whole bytes, one after the other, as minipages have them: 1, 2, 4 or 8
//! bytes each, not aligned.

use super::level::dispatch;
use super::range::gather;
use super::unpack::{Lane, Target};
use super::{CHUNK, Level, Mask};
use crate::codec::bits;

/// A lane that is read from its bytes.
pub(super) trait Bytes: Lane {
    fn of(bytes: &[u8]) -> Self;
}

macro_rules! bytes {
    ($($type:ty),*) => {$(
        impl Bytes for $type {
            #[inline(always)]
            fn of(bytes: &[u8]) -> Self {
                <$type>::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default())
            }
        }
    )*};
}
bytes!(u8, u16, u32, u64);

/// Appends `base + code` of all codes of `width` bytes in `bytes`.
pub fn widen<D: Target>(level: Level, bytes: &[u8], width: usize, base: i64, out: &mut Vec<D>) {
    fn run<T: Bytes, D: Target>(level: Level, bytes: &[u8], base: i64, out: &mut [D]) {
        dispatch!(level, widened::<T: bits::bytes::Bytes, D: bits::Target>(bytes: &[u8], base: i64, out: &mut [D]));
    }
    let start = out.len();
    out.resize(start + bytes.len() / width.max(1), D::default());
    let out = &mut out[start..];
    match width {
        1 => run::<u8, D>(level, bytes, base, out),
        2 => run::<u16, D>(level, bytes, base, out),
        4 => run::<u32, D>(level, bytes, base, out),
        _ => run::<u64, D>(level, bytes, base, out),
    }
}

#[inline(always)]
fn widened<T: Bytes, D: Target>(bytes: &[u8], base: i64, out: &mut [D]) {
    for (out, code) in out.iter_mut().zip(bytes.chunks_exact(T::BITS / 8)) {
        *out = D::from_code(base, T::of(code).wide());
    }
}

/// Which codes of up to a chunk lie in `low..=high`, which is not empty; set beside
/// what the mask has already. `pieces` are codes of `width` bytes, one after the other.
pub fn bytes_in_range<'a>(
    level: Level,
    pieces: impl Iterator<Item = &'a [u8]>,
    width: usize,
    (low, high): (u64, u64),
    mask: &mut Mask,
) {
    fn run<T: Bytes>(level: Level, codes: &[u8], low: u64, span: u64, flags: &mut [u8]) {
        dispatch!(level, flagged::<T: bits::bytes::Bytes>(codes: &[u8], low: u64, span: u64, flags: &mut [u8]));
    }
    let largest = match width {
        8.. => u64::MAX,
        _ => (1 << (8 * width)) - 1,
    };
    if low > high.min(largest) {
        return;
    }
    let span = high.min(largest) - low;
    #[cfg(target_arch = "x86_64")]
    if level == Level::Avx512 {
        let mut at = 0;
        for codes in pieces {
            let count = (CHUNK - at).min(codes.len() / width.max(1));
            let mut found = [0; CHUNK / 64];
            // SAFETY: the level says that the CPU has these instructions.
            unsafe { avx512::in_range(&codes[..count * width], width, low, span, &mut found) };
            put(&found[..count.div_ceil(64)], at, mask);
            at += count;
        }
        return;
    }
    let mut flags = [0u8; CHUNK];
    let mut rest = flags.as_mut_slice();
    for codes in pieces {
        let count = rest.len().min(codes.len() / width.max(1));
        let (here, later) = rest.split_at_mut(count);
        match width {
            1 => run::<u8>(level, codes, low, span, here),
            2 => run::<u16>(level, codes, low, span, here),
            4 => run::<u32>(level, codes, low, span, here),
            _ => run::<u64>(level, codes, low, span, here),
        }
        rest = later;
    }
    let mut found = [0; CHUNK / 64];
    gather(&flags, &mut found);
    mask.iter_mut()
        .zip(found)
        .for_each(|(mask, found)| *mask |= found);
}

/// Sets beside what a mask has the bits of `found` from bit `at` on.
#[cfg(target_arch = "x86_64")]
fn put(found: &[u64], at: usize, mask: &mut Mask) {
    let (first, shift) = (at / 64, at % 64);
    for (number, word) in found.iter().enumerate() {
        mask[first + number] |= word << shift;
        if let (Some(next), true) = (mask.get_mut(first + number + 1), shift > 0) {
            *next |= word >> (64 - shift);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::Mask;
    use std::arch::x86_64::*;

    /// Which of at most a chunk's codes of `width` bytes lie in `low..=low + span`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
    pub(super) fn in_range(codes: &[u8], width: usize, low: u64, span: u64, found: &mut Mask) {
        match width {
            1 => bytes(codes, low, span, found),
            2 => words(codes, low, span, found),
            4 => doubles(codes, low, span, found),
            _ => quads(codes, low, span, found),
        }
    }

    macro_rules! kernel {
        ($name:ident, $type:ty, $mask:ty, $set:ident, $load:ident, $subtract:ident, $compare:ident) => {
            #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
            fn $name(codes: &[u8], low: u64, span: u64, found: &mut Mask) {
                const BYTES: usize = size_of::<$type>();
                const LANES: usize = 64 / BYTES;
                let (low, span) = ($set(low as $type as _), $set(span as $type as _));
                for (place, lanes) in codes.chunks(64).enumerate() {
                    let count = lanes.len() / BYTES;
                    let there = <$mask>::MAX >> (LANES - count);
                    // SAFETY: no lane beyond those that are there is read.
                    let code = unsafe { $load(there, lanes.as_ptr().cast()) };
                    let bits = u64::from($compare(there, $subtract(code, low), span));
                    found[place * LANES / 64] |= bits << (place * LANES % 64);
                }
            }
        };
    }
    kernel!(
        bytes,
        u8,
        __mmask64,
        _mm512_set1_epi8,
        _mm512_maskz_loadu_epi8,
        _mm512_sub_epi8,
        _mm512_mask_cmple_epu8_mask
    );
    kernel!(
        words,
        u16,
        __mmask32,
        _mm512_set1_epi16,
        _mm512_maskz_loadu_epi16,
        _mm512_sub_epi16,
        _mm512_mask_cmple_epu16_mask
    );
    kernel!(
        doubles,
        u32,
        __mmask16,
        _mm512_set1_epi32,
        _mm512_maskz_loadu_epi32,
        _mm512_sub_epi32,
        _mm512_mask_cmple_epu32_mask
    );
    kernel!(
        quads,
        u64,
        __mmask8,
        _mm512_set1_epi64,
        _mm512_maskz_loadu_epi64,
        _mm512_sub_epi64,
        _mm512_mask_cmple_epu64_mask
    );
}

#[inline(always)]
fn flagged<T: Bytes>(codes: &[u8], low: u64, span: u64, flags: &mut [u8]) {
    let (low, span) = (T::cut(low), T::cut(span));
    for (flag, code) in flags.iter_mut().zip(codes.chunks_exact(T::BITS / 8)) {
        *flag = u8::from(T::of(code).minus(low).at_most(span));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_bytes_at_every_level() {
        for width in [1usize, 2, 4, 8] {
            let codes: Vec<u64> = (0..CHUNK as u64)
                .map(|code| code.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - 8 * width))
                .collect();
            let mut bytes = vec![0];
            for code in &codes {
                bytes.extend_from_slice(&code.to_le_bytes()[..width]);
            }
            let (first, second) = bytes[1..].split_at(width * 300);
            let bounds = [(0, 0), (1, codes[7]), (codes[9], u64::MAX), (0, u64::MAX)];
            for level in Level::available() {
                let mut values: Vec<i64> = vec![-1];
                widen(level, &bytes[1..], width, 5, &mut values);
                let expected = codes.iter().map(|code| (*code as i64).wrapping_add(5));
                assert!(values[1..].iter().copied().eq(expected), "{width}");
                for (low, high) in bounds {
                    let mut mask = [0; CHUNK / 64];
                    let pieces = [first, second].into_iter();
                    bytes_in_range(level, pieces, width, (low, high), &mut mask);
                    for (row, code) in codes.iter().enumerate() {
                        let found = mask[row / 64] >> (row % 64) & 1 == 1;
                        assert_eq!(found, (low..=high).contains(code), "{width} {row}");
                    }
                }
            }
        }
    }
}

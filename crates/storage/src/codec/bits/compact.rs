//! The values of rows that are left, one after the other.

use super::Level;

/// Each of `values` whose bit is set in `words`, lowest first; bits beyond the values
/// count for nothing.
pub fn compact<T: Copy>(level: Level, values: &[T], words: &[u64]) -> Vec<T> {
    let count: usize = words.iter().map(|word| word.count_ones() as usize).sum();
    #[cfg(target_arch = "x86_64")]
    if level == Level::Avx512
        && matches!(size_of::<T>(), 4 | 8)
        && align_of::<T>() == size_of::<T>()
    {
        let mut out: Vec<T> = Vec::with_capacity(count + avx512::SLACK);
        // SAFETY: the level says that the CPU has these instructions; types of these
        // sizes, aligned to them, are moved as bits; there is room for as many values as bits are set,
        // and the slack; so many were written.
        unsafe {
            let written = match size_of::<T>() {
                4 => avx512::quarters(of_bits(values), words, out.as_mut_ptr().cast()),
                _ => avx512::eighths(of_bits(values), words, out.as_mut_ptr().cast()),
            };
            out.set_len(written);
        }
        return out;
    }
    // What is plain is as good as AVX2 here.
    let _ = level;
    let mut out = Vec::with_capacity(count);
    for (values, word) in values.chunks(64).zip(words) {
        let (mut word, mut at) = (*word, 0);
        while word != 0 {
            at += word.trailing_zeros() as usize;
            word >>= word.trailing_zeros();
            let end = at + word.trailing_ones() as usize;
            out.extend_from_slice(&values[at.min(values.len())..end.min(values.len())]);
            word = word.checked_shr(word.trailing_ones()).unwrap_or(0);
            at = end;
        }
    }
    out
}

/// The same bytes as values of a type of the same size.
///
/// # Safety
/// The types are of one size, any bits are an `U`, and its alignment is no greater.
#[cfg(target_arch = "x86_64")]
unsafe fn of_bits<T, U>(values: &[T]) -> &[U] {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    /// Values that may be written behind the last that is kept.
    pub(super) const SLACK: usize = 16;

    macro_rules! kernel {
        ($name:ident, $type:ty, $mask:ty, $load:ident, $compress:ident, $store:ident) => {
            /// Writes the values whose bits are set, and others after them; returns how
            /// many they are.
            ///
            /// # Safety
            /// At `to` there is room for as many values as bits are set, and the slack.
            #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,popcnt")]
            pub(super) unsafe fn $name(values: &[$type], words: &[u64], to: *mut $type) -> usize {
                const LANES: usize = 64 / size_of::<$type>();
                let mut end = to;
                for (values, word) in values.chunks(64).zip(words) {
                    let there = u64::MAX >> (64 - values.len());
                    let word = word & there;
                    for part in 0..64 / LANES {
                        let bits = (word >> (part * LANES)) as $mask;
                        // Maybe beyond the end, where no bit is set.
                        let from = values.as_ptr().wrapping_add(part * LANES);
                        // SAFETY: only lanes whose bits are set are read; at most as many
                        // values as there were bits have been written, and a lane more.
                        unsafe {
                            let lanes = $load(bits, from.cast());
                            $store(end.cast(), $compress(bits, lanes));
                            end = end.add(bits.count_ones() as usize);
                        }
                    }
                }
                // SAFETY: both are in the same memory, the end not before the beginning.
                unsafe { end.offset_from_unsigned(to) }
            }
        };
    }
    kernel!(
        quarters,
        u32,
        __mmask16,
        _mm512_maskz_loadu_epi32,
        _mm512_maskz_compress_epi32,
        _mm512_storeu_epi32
    );
    kernel!(
        eighths,
        u64,
        __mmask8,
        _mm512_maskz_loadu_epi64,
        _mm512_maskz_compress_epi64,
        _mm512_storeu_epi64
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Copy + PartialEq + std::fmt::Debug>(of: impl Fn(u64) -> T) {
        let mut state = 7u64;
        for rows in [0usize, 1, 63, 64, 65, 130, 1000] {
            for dead in [1, 2, 9, 70, 2000] {
                let values: Vec<T> = (0..rows as u64).map(&of).collect();
                let mut words = vec![0u64; rows.div_ceil(64) + 1];
                let mut expected = Vec::new();
                for row in 0..rows {
                    state = state.wrapping_mul(6_364_136_223_846_793_005) + 1;
                    if (state >> 33) % dead != dead - 1 {
                        words[row / 64] |= 1 << (row % 64);
                        expected.push(values[row]);
                    }
                }
                // Beyond the values, which must count for nothing.
                words.extend([u64::MAX]);
                if rows % 64 > 0 {
                    words[rows / 64] |= u64::MAX << (rows % 64);
                }
                for level in Level::available() {
                    let found = compact(level, &values, &words);
                    assert_eq!(found, expected, "{level:?} {rows} {dead}");
                }
            }
        }
    }

    #[test]
    fn set_bits_are_kept_at_every_level() {
        check(|number| number as u8);
        check(|number| number as u32 * 7);
        check(|number| number << 40 | number);
        check(u128::from);
    }
}

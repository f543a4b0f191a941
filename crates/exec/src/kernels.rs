//! Loops over values, compiled for the widest instructions of the machine that runs them.

use arrow_buffer::{BooleanBuffer, Buffer};

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// a = b
    Equal,
    /// a ≠ b
    NotEqual,
    /// a < b
    Less,
    /// a ≤ b
    LessOrEqual,
    /// a > b
    Greater,
    /// a ≥ b
    GreaterOrEqual,
}

impl Comparison {
    /// The comparison with its sides exchanged.
    pub fn mirrored(self) -> Comparison {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            same => same,
        }
    }
}

/// Whether the machine has what the kernels for AVX-512 need.
fn has_avx512() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// A function whose body is compiled three times; which one runs is decided when it is called.
macro_rules! kernel {
    ($(#[$meta:meta])* $visibility:vis fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty $body:block) => {
        $(#[$meta])*
        $visibility fn $name($($argument: $kind),*) -> $result {
            #[inline(always)]
            fn plain($($argument: $kind),*) -> $result $body
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
            fn avx2($($argument: $kind),*) -> $result { plain($($argument),*) }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt,avx512f,avx512bw,avx512vl,avx512dq")]
            fn avx512($($argument: $kind),*) -> $result { plain($($argument),*) }
            #[cfg(target_arch = "x86_64")]
            {
                if has_avx512() {
                    // SAFETY: the machine has what the function was compiled for.
                    return unsafe { avx512($($argument),*) };
                }
                if has_avx2() {
                    // SAFETY: as above.
                    return unsafe { avx2($($argument),*) };
                }
            }
            plain($($argument),*)
        }
    };
}

kernel! {
    /// The least and the greatest of some values; 0 and 0 for none.
    pub(crate) fn bounds(values: &[i64]) -> (i64, i64) {
        let first = values.first().copied().unwrap_or(0);
        values.iter().fold((first, first), |(low, high), value| {
            (low.min(*value), high.max(*value))
        })
    }
}

kernel! {
    /// Whether no value is less than the one before it.
    pub(crate) fn is_ascending(values: &[i64]) -> bool {
        // Without a branch for each, up to a number of them.
        const AT_ONCE: usize = 64;
        let after = values.get(1..).unwrap_or_default();
        let mut pieces = values.chunks(AT_ONCE).zip(after.chunks(AT_ONCE));
        pieces.all(|(values, after)| {
            let pairs = values.iter().zip(after);
            pairs.fold(true, |so_far, (value, next)| so_far & (value <= next))
        })
    }
}

kernel! {
    /// a + b, which nothing leaves.
    pub(crate) fn add(a: &[i64], b: &[i64]) -> Vec<i64> {
        a.iter().zip(b).map(|(a, b)| a.wrapping_add(*b)).collect()
    }
}

kernel! {
    /// a − b.
    pub(crate) fn subtract(a: &[i64], b: &[i64]) -> Vec<i64> {
        a.iter().zip(b).map(|(a, b)| a.wrapping_sub(*b)).collect()
    }
}

kernel! {
    /// a × b.
    pub(crate) fn multiply(a: &[i64], b: &[i64]) -> Vec<i64> {
        a.iter().zip(b).map(|(a, b)| a.wrapping_mul(*b)).collect()
    }
}

kernel! {
    /// a plus one number.
    pub(crate) fn add_one(a: &[i64], b: i64) -> Vec<i64> {
        a.iter().map(|a| a.wrapping_add(b)).collect()
    }
}

kernel! {
    /// One number minus b.
    pub(crate) fn subtract_from(a: i64, b: &[i64]) -> Vec<i64> {
        b.iter().map(|b| a.wrapping_sub(*b)).collect()
    }
}

kernel! {
    /// a times one number.
    pub(crate) fn multiply_one(a: &[i64], b: i64) -> Vec<i64> {
        a.iter().map(|a| a.wrapping_mul(b)).collect()
    }
}

/// Entries of a table that [`looked_up`] looks into.
pub(crate) const TABLE: usize = 1 << 12;

kernel! {
    /// What a table has at each place, and the greatest of that; places beyond its end
    /// begin again at its beginning.
    pub(crate) fn looked_up(table: &[u32; TABLE], places: &[u32]) -> (Vec<u32>, u32) {
        let mut greatest = 0;
        let found = places.iter().map(|place| {
            let found = table[*place as usize % TABLE];
            greatest = greatest.max(found);
            found
        });
        (found.collect(), greatest)
    }
}

/// Bits of a test of each of some values, 64 at a time.
#[inline(always)]
fn bits(rows: usize, test: impl Fn(usize) -> bool) -> BooleanBuffer {
    let mut words: Vec<u64> = Vec::with_capacity(rows.div_ceil(64));
    for start in (0..rows).step_by(64) {
        let mut word = 0u64;
        for bit in 0..64.min(rows - start) {
            word |= u64::from(test(start + bit)) << bit;
        }
        words.push(word);
    }
    BooleanBuffer::new(Buffer::from_vec(words), 0, rows)
}

kernel! {
    /// Each value compared with one.
    pub(crate) fn compare_one(comparison: Comparison, a: &[i64], b: i64) -> BooleanBuffer {
        match comparison {
            Comparison::Equal => bits(a.len(), |row| a[row] == b),
            Comparison::NotEqual => bits(a.len(), |row| a[row] != b),
            Comparison::Less => bits(a.len(), |row| a[row] < b),
            Comparison::LessOrEqual => bits(a.len(), |row| a[row] <= b),
            Comparison::Greater => bits(a.len(), |row| a[row] > b),
            Comparison::GreaterOrEqual => bits(a.len(), |row| a[row] >= b),
        }
    }
}

kernel! {
    /// Values compared in pairs; `b` has as many.
    pub(crate) fn compare(comparison: Comparison, a: &[i64], b: &[i64]) -> BooleanBuffer {
        let b = &b[..a.len()];
        match comparison {
            Comparison::Equal => bits(a.len(), |row| a[row] == b[row]),
            Comparison::NotEqual => bits(a.len(), |row| a[row] != b[row]),
            Comparison::Less => bits(a.len(), |row| a[row] < b[row]),
            Comparison::LessOrEqual => bits(a.len(), |row| a[row] <= b[row]),
            Comparison::Greater => bits(a.len(), |row| a[row] > b[row]),
            Comparison::GreaterOrEqual => bits(a.len(), |row| a[row] >= b[row]),
        }
    }
}

kernel! {
    /// The sum of the values of one group, which fits.
    pub(crate) fn sum_of_group(values: &[i64], groups: &[u32], group: u32) -> i64 {
        let pairs = values.iter().zip(groups);
        pairs.fold(0i64, |sum, (value, of)| {
            sum.wrapping_add(if *of == group { *value } else { 0 })
        })
    }
}

kernel! {
    /// How many rows are of one group.
    pub(crate) fn rows_of_group(groups: &[u32], group: u32) -> i64 {
        groups.iter().fold(0u32, |count, of| count + u32::from(*of == group)).into()
    }
}

/// Well-mixed bits of a value.
#[inline(always)]
pub(crate) fn hash(value: i64) -> u64 {
    let x = (value as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^ (x >> 32)
}

/// Well-mixed bits of a key of some words.
#[inline]
pub(crate) fn hash_key(key: &[i64]) -> u64 {
    key.iter().fold(0, |state: u64, word| {
        hash((state.rotate_left(9) ^ *word as u64) as i64)
    })
}

/// Values of a column in the width they come in.
#[derive(Clone, Copy)]
pub(crate) enum Integers<'a> {
    Short(&'a [i32]),
    Long(&'a [i64]),
}

/// Moves to the front the positions whose values lie in a range from `least` on and have
/// their bit set, one of `bits` for each of the range; returns how many. `None`, and
/// nothing is done, where the machine has no instructions for it or bits are missing.
pub(crate) fn keep_where_set(
    values: Integers<'_>,
    (least, range): (i64, u64),
    bits: &[u64],
    positions: &mut [u32],
) -> Option<usize> {
    let count = match values {
        Integers::Short(values) => values.len(),
        Integers::Long(values) => values.len(),
    };
    if !has_avx512() || range / 64 >= bits.len() as u64 || count != positions.len() {
        return None;
    }
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: the machine has the instructions; there is a position for each value and
        // a bit for each of the range.
        Some(unsafe { set::keep(values, (least, range), bits, positions) })
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

#[cfg(target_arch = "x86_64")]
mod set {
    use crate::kernels::Integers;
    use std::arch::x86_64::*;

    /// Values looked at at once.
    const LANES: usize = 8;

    /// See [`super::keep_where_set`].
    ///
    /// # Safety
    /// There is a position for each value, and a bit for each of the range.
    // SAFETY: its caller has looked at both.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,popcnt")]
    pub(super) unsafe fn keep(
        values: Integers<'_>,
        (least, range): (i64, u64),
        bits: &[u64],
        positions: &mut [u32],
    ) -> usize {
        let (first, last) = (_mm512_set1_epi64(least), _mm512_set1_epi64(range as i64));
        let (one, low) = (_mm512_set1_epi64(1), _mm512_set1_epi64(63));
        let whole = positions.len() / LANES * LANES;
        let mut kept = 0;
        for place in (0..whole).step_by(LANES) {
            let value = match values {
                Integers::Short(values) => {
                    // SAFETY: there are as many values as positions.
                    let short = unsafe { _mm256_loadu_si256(values.as_ptr().add(place).cast()) };
                    _mm512_cvtepi32_epi64(short)
                }
                Integers::Long(values) => {
                    // SAFETY: as above.
                    unsafe { _mm512_loadu_si512(values.as_ptr().add(place).cast()) }
                }
            };
            let key = _mm512_sub_epi64(value, first);
            let inside = _mm512_cmple_epu64_mask(key, last);
            let word = _mm512_srli_epi64::<6>(key);
            // SAFETY: words of keys within the range are there; others are not read.
            let word = unsafe {
                _mm512_mask_i64gather_epi64::<8>(
                    _mm512_setzero_si512(),
                    inside,
                    word,
                    bits.as_ptr().cast(),
                )
            };
            let bit = _mm512_srlv_epi64(word, _mm512_and_si512(key, low));
            let passes = _mm512_mask_test_epi64_mask(inside, bit, one);
            // SAFETY: eight positions from `place` on are there, and from `kept` on, which
            // is not beyond it: what is overwritten was read before.
            unsafe {
                let from = _mm256_loadu_si256(positions.as_ptr().add(place).cast());
                let to = positions.as_mut_ptr().add(kept).cast();
                _mm256_storeu_si256(to, _mm256_maskz_compress_epi32(passes, from));
            }
            kept += passes.count_ones() as usize;
        }
        for place in whole..positions.len() {
            let value = match values {
                Integers::Short(values) => values[place].into(),
                Integers::Long(values) => values[place],
            };
            let key = value.wrapping_sub(least) as u64;
            positions[kept] = positions[place];
            kept += usize::from(key <= range && bits[(key / 64) as usize] >> (key % 64) & 1 == 1);
        }
        kept
    }
}

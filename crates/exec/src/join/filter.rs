//! What the keys of a join say about the rows of the other side, before they are read.

use super::fill::{ALONE, PARTS, PIECES, transposed};
use crate::kernels::{Integers, bounds, hash, keep_where_set};
use crate::threads::on_items;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use freestone_storage::ValueTest;
use std::sync::atomic::{AtomicU64, Ordering};

/// A range of so many values is described by a bit for each,
const EXACT: u64 = 1 << 26;
/// unless it has more than so many for each key.
const SPARSE: u64 = 64;
/// So many keys can be looked up in an index.
const FEW: usize = 1 << 12;
/// Values after which a test that drops few of them is given up.
const TRIAL: u64 = 1 << 16;

/// The integers that the build side of a join has as keys.
#[derive(Debug)]
pub(crate) struct KeyTest {
    /// The least key.
    pub least: i64,
    /// The greatest.
    pub greatest: i64,
    /// One bit for each value of the range, or, if `hashed`, some for each hash.
    bits: Vec<u64>,
    /// All keys, each once, if they are few.
    few: Vec<i64>,
    hashed: bool,
    seen: AtomicU64,
    passed: AtomicU64,
}

impl KeyTest {
    /// A test for `keys`, made by up to so many threads.
    pub fn new(keys: &[i64], threads: usize) -> KeyTest {
        let (least, greatest) = bounds(keys);
        let range = (i128::from(greatest) - i128::from(least) + 1).max(0);
        let range = u64::try_from(range).unwrap_or(u64::MAX);
        let hashed = range > EXACT || range > (SPARSE * keys.len() as u64).max(1 << 16);
        let words = match hashed {
            true => (keys.len() / 4).next_power_of_two().max(64),
            false => (range.div_ceil(64) as usize).max(1),
        };
        let mut test = KeyTest {
            least,
            greatest: if keys.is_empty() { least - 1 } else { greatest },
            bits: Vec::new(),
            few: few(keys),
            hashed,
            seen: AtomicU64::new(0),
            passed: AtomicU64::new(0),
        };
        let mut bits = vec![0; words];
        match hashed && keys.len() > ALONE {
            true => set_together(&mut bits, keys, threads),
            false => keys.iter().for_each(|key| {
                let (word, mask) = test.place(*key, words);
                bits[word] |= mask;
            }),
        }
        test.bits = bits;
        test
    }

    /// The word of a key among so many, and its bits in it.
    #[inline(always)]
    fn place(&self, key: i64, words: usize) -> (usize, u64) {
        if self.hashed {
            let hash = hash(key);
            return ((hash >> 12) as usize & (words - 1), mask_of(hash));
        }
        let place = key.wrapping_sub(self.least) as u64;
        (place as usize / 64, 1 << (place % 64))
    }

    #[inline(always)]
    fn passes(&self, key: i64) -> bool {
        let inside = key >= self.least && key <= self.greatest;
        let (word, mask) = self.place(key, self.bits.len());
        inside && self.bits.get(word).is_some_and(|bits| bits & mask == mask)
    }

    fn retain_of(&self, value: impl Fn(usize) -> i64, positions: &mut Vec<u32>) {
        let kept = match self.hashed {
            true => kept(positions, |place| self.passes(value(place))),
            false => {
                // One compare for both bounds, and no branch.
                let range = self.greatest.wrapping_sub(self.least) as u64;
                let last = self.bits.len() - 1;
                kept(positions, |place| {
                    let key = value(place).wrapping_sub(self.least) as u64;
                    let word = self.bits[(key as usize / 64).min(last)];
                    key <= range && word >> (key % 64) & 1 == 1
                })
            }
        };
        self.note(positions, kept);
    }

    /// As [`KeyTest::retain_of`], several values at once; false if that cannot be done.
    fn retain_at_once(&self, values: Integers<'_>, positions: &mut Vec<u32>) -> bool {
        let range = self.greatest.wrapping_sub(self.least) as u64;
        let of = (self.least, range);
        if self.hashed {
            return false;
        }
        let kept = keep_where_set(values, of, &self.bits, positions);
        kept.is_some_and(|kept| {
            self.note(positions, kept);
            true
        })
    }

    /// Leaves the first `kept` positions.
    fn note(&self, positions: &mut Vec<u32>, kept: usize) {
        let seen = self
            .seen
            .fetch_add(positions.len() as u64, Ordering::Relaxed);
        if seen < 2 * TRIAL {
            self.passed.fetch_add(kept as u64, Ordering::Relaxed);
        }
        positions.truncate(kept);
    }
}

/// The bits of a hash in its word.
#[inline(always)]
fn mask_of(hash: u64) -> u64 {
    1 << (hash & 63) | 1 << (hash >> 6 & 63)
}

/// Sets the bits of hashes of keys, of which there are more than a cache holds: hashes
/// are listed by the part of the words they are in, then each part is done at once. The
/// number of words is a power of two.
fn set_together(bits: &mut [u64], keys: &[i64], threads: usize) {
    let width = (bits.len() / PARTS).max(1);
    let (words, parts) = (bits.len(), bits.len() / width);
    let pieces = keys.chunks(keys.len().div_ceil(threads.max(1) * PIECES));
    let lists = on_items(threads, pieces.collect(), |keys: &[i64]| {
        let mut lists = vec![Vec::with_capacity(keys.len() / parts * 9 / 8); parts];
        for hash in keys.iter().map(|key| hash(*key)) {
            lists[((hash >> 12) as usize & (words - 1)) / width].push(hash);
        }
        lists
    });
    let parts = bits.chunks_mut(width).zip(transposed(lists)).collect();
    on_items(
        threads,
        parts,
        |(bits, lists): (&mut [u64], Vec<Vec<u64>>)| {
            for hash in lists.into_iter().flatten() {
                bits[(hash >> 12) as usize & (width - 1)] |= mask_of(hash);
            }
        },
    );
}

/// Moves the positions that pass to the front; returns how many.
#[inline(always)]
fn kept(positions: &mut [u32], passes: impl Fn(usize) -> bool) -> usize {
    let mut kept = 0;
    for place in 0..positions.len() {
        positions[kept] = positions[place];
        kept += usize::from(passes(place));
    }
    kept
}

/// Each key once, unless there are too many to look each up.
fn few(keys: &[i64]) -> Vec<i64> {
    if keys.len() > FEW {
        return Vec::new();
    }
    let mut few = keys.to_vec();
    few.sort_unstable();
    few.dedup();
    few
}

impl ValueTest for KeyTest {
    fn wanted(&self) -> &[i64] {
        &self.few
    }

    fn is_worthwhile(&self) -> bool {
        let seen = self.seen.load(Ordering::Relaxed);
        seen < TRIAL || self.passed.load(Ordering::Relaxed) * 10 < seen.min(2 * TRIAL) * 8
    }

    fn retain(&self, values: &ArrayRef, positions: &mut Vec<u32>) {
        if values.len() != positions.len() {
            return;
        }
        match values.data_type() {
            DataType::Int16 => {
                let values = values.as_primitive::<Int16Type>().values();
                self.retain_of(|place| values[place].into(), positions);
            }
            DataType::Int32 => {
                let values = values.as_primitive::<Int32Type>().values();
                if !self.retain_at_once(Integers::Short(values), positions) {
                    self.retain_of(|place| values[place].into(), positions);
                }
            }
            DataType::Date32 => {
                let values = values.as_primitive::<Date32Type>().values();
                self.retain_of(|place| values[place].into(), positions);
            }
            DataType::Int64 => {
                let values = values.as_primitive::<Int64Type>().values();
                if !self.retain_at_once(Integers::Long(values), positions) {
                    self.retain_of(|place| values[place], positions);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fill::ALONE;
    use super::KeyTest;
    use arrow_array::{ArrayRef, Int32Array, Int64Array};
    use freestone_storage::ValueTest;
    use proptest::prelude::*;
    use std::sync::Arc;

    proptest! {
        /// No key is dropped, wherever keys lie; where they are close, nothing else is kept.
        #[test]
        fn keys_pass(
            keys in proptest::collection::vec((any::<i32>(), 0u32..40), 1..200),
            others in proptest::collection::vec(any::<i16>(), 0..200),
            narrow in any::<bool>(),
        ) {
            let key = |(value, shift): &(i32, u32)| match narrow {
                true => i64::from(*value % 500),
                false => i64::from(*value) << shift,
            };
            let keys: Vec<i64> = keys.iter().map(key).collect();
            let test = KeyTest::new(&keys, 1);
            let values: Vec<i64> =
                keys.iter().copied().chain(others.into_iter().map(i64::from)).collect();
            let mut positions: Vec<u32> = (0..values.len() as u32).collect();
            let array: ArrayRef = Arc::new(Int64Array::from(values.clone()));
            let mut one_by_one = positions.clone();
            test.retain_of(|place| values[place], &mut one_by_one);
            let short = values.iter().map(|value| i32::try_from(*value).ok());
            if let Some(short) = short.collect::<Option<Vec<i32>>>() {
                let mut positions = positions.clone();
                test.retain(&(Arc::new(Int32Array::from(short)) as ArrayRef), &mut positions);
                prop_assert_eq!(&positions, &one_by_one);
            }
            test.retain(&array, &mut positions);
            prop_assert_eq!(&positions, &one_by_one);
            for (place, value) in values.iter().enumerate() {
                let kept = positions.contains(&(place as u32));
                prop_assert!(kept || !keys.contains(value), "{value} was dropped");
                prop_assert!(!narrow || !kept || keys.contains(value), "{value} was kept");
            }
        }
    }

    #[test]
    fn several_threads_make_the_same() {
        for (hashed, factor) in [(false, 32), (true, 1 << 30)] {
            let numbers = 0..2 * ALONE as i64;
            let keys: Vec<i64> = numbers.map(|n| n * n % 1_000_003 * factor).collect();
            let test = KeyTest::new(&keys, 1);
            assert_eq!(test.hashed, hashed);
            let mut bits = vec![0; test.bits.len()];
            for key in &keys {
                let (word, mask) = test.place(*key, bits.len());
                bits[word] |= mask;
            }
            for threads in 1..5 {
                assert!(KeyTest::new(&keys, threads).bits == bits);
            }
        }
    }
}

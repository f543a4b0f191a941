//! A filter that tells which values are certainly not in a block.
//!
//! A Bloom filter sets a few bits for every key; a key with a bit unset was
//! never there. The bits of one key here share one *group* of 256 bits (Putze,
//! Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007),
//! so that a question costs at most one cache miss. A group has eight words of
//! 32 bits, and a key sets one bit in each.
//!
//! Of a key's hash *h*, the upper bits choose the group, as (*h* × groups) / 2⁶⁴;
//! bits 5*i* … 5*i* + 4 number the bit of word *i*. Hashes must be well mixed
//! (XXH3 is). Example: with one group, *h* = 33 sets bit 1 of words 0 and 1 (33 is
//! 1 + 1 × 32) and bit 0 of the six others.
//!
//! | Offset | Bytes | Field |
//! |---|---|---|
//! | 0 | 4 | tag `BLM1` |
//! | 4 | 4 | groups; 0 when there are no keys |
//! | 8 | 24 | zero |
//! | 32 | 32 × groups | the words of each group |
//!
//! Keys fall on groups unevenly (by Poisson's law), and crowded groups answer
//! wrongly more often: the size is chosen with that counted in. At 1 % it is
//! about 10.75 bits a key, where the filter of the textbook takes 9.6. No check
//! can tell a flipped bit from a true one; the section's checksum must.

use super::{must, on_cache_lines};
use crate::error::Result;
use crate::format::Reader;
use arrow_buffer::{Buffer, ScalarBuffer};

const TAG: &[u8; 4] = b"BLM1";
const NAME: &str = "Bloom filter";
const HEAD_BYTES: usize = 32;
/// Words of a group, each with one bit per key.
const WORDS: usize = 8;
const GROUP_BITS: f64 = 256.0;

/// How often a filter may answer "perhaps" for a key that is not there.
pub const DEFAULT_RATE: f64 = 0.01;

/// A Bloom filter.
#[derive(Clone, Debug)]
pub struct Bloom {
    words: ScalarBuffer<u32>,
    groups: u64,
}

/// The rate of wrong answers with this many bits a key.
fn expected_rate(bits_per_key: f64) -> f64 {
    let mean = GROUP_BITS / bits_per_key;
    // Poisson's weight of groups with 0, 1, 2 … keys.
    let (mut weight, mut unset, mut rate) = ((-mean).exp(), 1.0, 0.0);
    for keys in 1..=(4.0 * mean) as u32 + 40 {
        weight *= mean / f64::from(keys);
        unset *= 31.0 / 32.0;
        rate += weight * (1.0f64 - unset).powi(WORDS as i32);
    }
    rate
}

/// The fewest bits a key that keep the rate, in quarters, 4 to 64.
fn bits_per_key(rate: f64) -> f64 {
    (16..256)
        .map(|quarters| f64::from(quarters) / 4.0)
        .find(|bits| expected_rate(*bits) <= rate)
        .unwrap_or(64.0)
}

/// Number of the first word of the hash's group.
#[inline]
fn group_of(hash: u64, groups: u64) -> usize {
    let group = (u128::from(hash) * u128::from(groups)) >> 64;
    group as usize * WORDS
}

/// The bit of each word.
#[inline]
fn masks(hash: u64) -> [u32; WORDS] {
    std::array::from_fn(|word| 1 << ((hash >> (5 * word)) & 31))
}

impl Bloom {
    /// The stored form of a filter for these hashes, which may repeat.
    ///
    /// The size follows from the number of different hashes and the rate of wrong
    /// answers wanted; rates out of reach give 64 bits a key.
    pub fn build(hashes: &[u64], rate: f64) -> Vec<u8> {
        // In order, the groups are filled one after the other.
        let mut hashes = hashes.to_vec();
        hashes.sort_unstable();
        hashes.dedup();
        let bits = hashes.len() as f64 * bits_per_key(rate);
        let groups = (bits / GROUP_BITS).ceil() as u64;
        let mut words = vec![0u32; groups as usize * WORDS];
        for hash in hashes {
            let start = group_of(hash, groups);
            let group = &mut words[start..start + WORDS];
            group
                .iter_mut()
                .zip(masks(hash))
                .for_each(|(word, mask)| *word |= mask);
        }
        let mut bytes = Vec::with_capacity(HEAD_BYTES + 4 * words.len());
        bytes.extend_from_slice(TAG);
        bytes.extend_from_slice(&(groups as u32).to_le_bytes());
        bytes.resize(HEAD_BYTES, 0);
        words
            .iter()
            .for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        bytes
    }

    /// Opens a filter.
    ///
    /// # Errors
    /// `Corrupt` if head and length do not fit.
    pub fn open(bytes: Buffer) -> Result<Bloom> {
        let mut head = Reader::new(&bytes);
        must(head.take(4)? == TAG, NAME, "no tag")?;
        let groups = u64::from(head.u32()?);
        let zero = head.take(HEAD_BYTES - 8)?.iter().all(|byte| *byte == 0);
        must(zero, NAME, "reserved bytes in use")?;
        let right = head.remaining() as u64 == groups * 4 * WORDS as u64;
        must(right, NAME, "its length does not fit the number of groups")?;
        let words = on_cache_lines(bytes).slice(HEAD_BYTES).into();
        Ok(Bloom { words, groups })
    }

    /// Whether the key with this hash may be there; `false` is certain.
    #[inline]
    pub fn may_contain(&self, hash: u64) -> bool {
        if self.groups == 0 {
            return false;
        }
        let start = group_of(hash, self.groups);
        let group = &self.words[start..start + WORDS];
        let missing = group
            .iter()
            .zip(masks(hash))
            .fold(0, |missing, (word, mask)| missing | (!word & mask));
        missing == 0
    }

    /// Whether any of the keys with these hashes may be there.
    pub fn may_contain_any(&self, hashes: &[u64]) -> bool {
        hashes.iter().any(|hash| self.may_contain(*hash))
    }
}

//! Which symbol is the longest that a text begins with?
//!
//! Asking for every length from 16 downwards would take a dozen look-ups that
//! mostly fail, each a mispredicted branch. So a *filter* is asked first, for all
//! lengths at once: a symbol leaves a bit for its length in a table of 16-bit
//! sets, at the hash of its first 2, 4, 6 .. 14 bytes. Seven independent loads,
//! each masked to the two or three lengths that it speaks for, give the set of
//! possible lengths; the longest is then looked up exactly and nearly always
//! there. The next position follows from that length alone, so the processor
//! goes on before the look-up is done.
//!
//! Symbols can be added at any time, which is what training does.

use super::buckets::Buckets;
use super::{BYTE_SYMBOLS, MAX_SYMBOL};

const ODD_A: u64 = 0x9E37_79B9_7F4A_7C15;
const ODD_B: u64 = 0xC2B2_AE3D_27D4_EB4F;

/// A growing set of symbols that finds the longest at the start of a text.
#[derive(Clone, Debug)]
pub(super) struct Matcher {
    /// Lengths of symbols at the hash of their first bytes, as bits.
    filter: Box<[u16]>,
    filter_shift: u32,
    /// Codes of symbols of two and more bytes.
    buckets: Buckets,
    /// Bytes of symbols by code, lowest first, and their lengths.
    keys: Vec<u128>,
    lengths: Vec<u8>,
}

/// What keeps the first bytes of a window, by their number. Loading it is
/// cheaper than shifting by a variable.
const MASKS: [u128; MAX_SYMBOL + 1] = {
    let mut masks = [u128::MAX; MAX_SYMBOL + 1];
    let mut length = 0;
    while length < MAX_SYMBOL {
        masks[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    masks
};

/// Symbol lengths as a set of bits with the longest lowest, where it is
/// found by counting zeros.
#[inline(always)]
const fn bit(length: usize) -> u32 {
    1 << (MAX_SYMBOL - length)
}

/// The two lengths from `length`, as bits.
const fn two(length: usize) -> u32 {
    bit(length) | bit(length + 1)
}

/// The lengths that fit into so many bytes, as bits.
#[inline(always)]
fn up_to(length: usize) -> u32 {
    !0 << (MAX_SYMBOL - length)
}

#[inline(always)]
fn hash(key: u128, length: usize) -> u64 {
    let low = (key as u64).wrapping_mul(ODD_B);
    let high = ((key >> 64) as u64).wrapping_add(length as u64);
    (low ^ high.wrapping_mul(ODD_A)).wrapping_mul(ODD_A)
}

/// Hash of the first `bytes` of a window given as two halves.
#[inline(always)]
fn prefix_hash(low: u64, high: u64, bytes: usize) -> u64 {
    if bytes <= 8 {
        (low << (64 - 8 * bytes)).wrapping_mul(ODD_A)
    } else {
        low.wrapping_mul(ODD_A) ^ (high << (128 - 8 * bytes)).wrapping_mul(ODD_B)
    }
}

impl Matcher {
    /// The single bytes, with room for `capacity` symbols in all.
    pub(super) fn new(capacity: usize) -> Matcher {
        let capacity = capacity.next_power_of_two();
        let filters = 4 * capacity;
        let mut matcher = Matcher {
            filter: vec![0; filters].into_boxed_slice(),
            filter_shift: 64 - filters.trailing_zeros(),
            buckets: Buckets::new(capacity),
            keys: Vec::with_capacity(capacity),
            lengths: Vec::with_capacity(capacity),
        };
        for byte in 0..BYTE_SYMBOLS {
            matcher.keys.push(byte as u128);
            matcher.lengths.push(1);
        }
        matcher
    }

    /// Number of symbols.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The symbol with `code`, lowest byte first, and its length.
    pub(super) fn symbol(&self, code: usize) -> (u128, usize) {
        (self.keys[code], usize::from(self.lengths[code]))
    }

    /// Adds the first `length` bytes of `window` (2 to 16) as the symbol with
    /// the next code. Of equal symbols the first is found.
    pub(super) fn push(&mut self, window: u128, length: usize) -> u16 {
        debug_assert!((2..=MAX_SYMBOL).contains(&length));
        assert!(4 * self.len() < self.filter.len(), "too many symbols");
        let code = self.len() as u16;
        let known = self.exact(window, length).is_some();
        let key = window & MASKS[length];
        self.keys.push(key);
        self.lengths.push(length as u8);
        if !known {
            let (low, high) = (window as u64, (window >> 64) as u64);
            let prefix = prefix_hash(low, high, (length & !1).min(14));
            self.filter[(prefix >> self.filter_shift) as usize] |= bit(length) as u16;
            self.buckets.insert(hash(key, length), code);
        }
        code
    }

    /// The code of the symbol that is exactly the first `length` bytes of `window`.
    #[inline(always)]
    pub(super) fn exact(&self, window: u128, length: usize) -> Option<u16> {
        if length == 1 {
            return Some(u16::from(window as u8));
        }
        let key = window & MASKS[length];
        self.buckets.find(hash(key, length), |code| {
            let code = usize::from(code);
            self.keys[code] == key && usize::from(self.lengths[code]) == length
        })
    }

    /// Lengths that a symbol at the start of `window` may have, as bits.
    #[inline(always)]
    fn lengths_possible(&self, window: u128) -> u32 {
        let (low, high) = (window as u64, (window >> 64) as u64);
        let set = |bytes: usize| {
            let hash = prefix_hash(low, high, bytes);
            // SAFETY: the shift leaves as many bits as index the filter, whose
            // length is the power of two that the shift was made from.
            u32::from(unsafe {
                *self
                    .filter
                    .get_unchecked((hash >> self.filter_shift) as usize)
            })
        };
        (set(2) & two(2))
            | (set(4) & two(4))
            | (set(6) & two(6))
            | (set(8) & two(8))
            | (set(10) & two(10))
            | (set(12) & two(12))
            | (set(14) & (two(14) | bit(16)))
    }

    /// Code and length of the longest symbol that `window` begins with, of the
    /// lengths whose bits are in `allowed`.
    #[inline(always)]
    pub(super) fn longest(&self, window: u128, allowed: u32) -> (u16, usize) {
        let mut lengths = self.lengths_possible(window) & allowed;
        while lengths != 0 {
            let length = MAX_SYMBOL - lengths.trailing_zeros() as usize;
            if let Some(code) = self.exact(window, length) {
                return (code, length);
            }
            lengths &= lengths - 1;
        }
        (u16::from(window as u8), 1)
    }
}

/// Walks over `value`: `step` is given the next 16 bytes, lowest first, with
/// zeros past the end, and the symbol lengths that still fit as bits; it says how
/// many bytes to go on by.
#[inline(always)]
pub(super) fn walk(value: &[u8], mut step: impl FnMut(u128, u32) -> usize) {
    // A value shorter than a window is put into one of its own.
    let short = match value.last_chunk::<MAX_SYMBOL>() {
        Some(_) => 0,
        None => {
            let mut bytes = [0; MAX_SYMBOL];
            bytes[..value.len()].copy_from_slice(value);
            u128::from_le_bytes(bytes)
        }
    };
    let mut at = 0;
    while at < value.len() {
        let left = value.len() - at;
        let (window, allowed) = match (value[at..].first_chunk(), value.last_chunk()) {
            (Some(&bytes), _) => (u128::from_le_bytes(bytes), up_to(MAX_SYMBOL)),
            // The last 16 bytes moved down, which reads nothing past the end.
            (None, Some(&bytes)) => {
                let gone = 8 * (MAX_SYMBOL - left);
                (u128::from_le_bytes(bytes) >> gone, up_to(left))
            }
            (None, None) => (short >> (8 * at), up_to(left)),
        };
        at += step(window, allowed);
    }
}

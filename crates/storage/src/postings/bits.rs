//! Where decoded positions go, and the integers sets are made of.

use crate::error::{Error, Result};
use std::ops::Range;

/// Takes positions as a set is read. The methods are given checked positions only.
pub(super) trait Sink {
    /// One position.
    fn one(&mut self, position: u32);
    /// Positions that touch.
    fn run(&mut self, run: Range<u32>);
    /// The set bits, counted from `first`.
    fn bitmap(&mut self, first: u32, bits: &[u8]) {
        for (chunk, base) in bits.chunks(8).zip((first..).step_by(64)) {
            let mut word = word_of(chunk);
            while word != 0 {
                self.one(base + word.trailing_zeros());
                word &= word - 1;
            }
        }
    }
}

/// Keeps nothing: for a check.
impl Sink for () {
    fn one(&mut self, _: u32) {}
    fn run(&mut self, _: Range<u32>) {}
    fn bitmap(&mut self, _: u32, _: &[u8]) {}
}

impl Sink for Vec<u32> {
    #[inline]
    fn one(&mut self, position: u32) {
        self.push(position);
    }
    fn run(&mut self, run: Range<u32>) {
        self.extend(run);
    }
}

/// A bitmap with a bit for every row.
pub(super) struct Words<'a>(pub &'a mut [u64]);

impl Sink for Words<'_> {
    #[inline]
    fn one(&mut self, position: u32) {
        self.0[position as usize / 64] |= 1 << (position % 64);
    }

    fn run(&mut self, run: Range<u32>) {
        let (start, last) = (run.start as usize, run.end as usize - 1);
        let (head, tail) = (u64::MAX << (start % 64), u64::MAX >> (63 - last % 64));
        if start / 64 == last / 64 {
            self.0[start / 64] |= head & tail;
            return;
        }
        self.0[start / 64] |= head;
        self.0[start / 64 + 1..last / 64].fill(u64::MAX);
        self.0[last / 64] |= tail;
    }

    fn bitmap(&mut self, first: u32, bits: &[u8]) {
        let (base, shift) = (first as usize / 64, first % 64);
        for (place, chunk) in bits.chunks(8).enumerate() {
            let word = word_of(chunk);
            self.0[base + place] |= word << shift;
            // What the shift pushed out; none is left at the end of the block.
            let carry = word.unbounded_shr(64 - shift);
            if carry != 0 {
                self.0[base + place + 1] |= carry;
            }
        }
    }
}

/// Up to eight bytes as one word.
#[inline]
fn word_of(bytes: &[u8]) -> u64 {
    match bytes.first_chunk::<8>() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        }
    }
}

/// The `width` <= 32 bits from bit number `bit` on.
#[inline]
pub(super) fn packed(bytes: &[u8], bit: usize, width: usize) -> u32 {
    let word = word_of(&bytes[bit / 8..]) >> (bit % 8);
    (word & ((1 << width) - 1)) as u32
}

/// Takes a variable-length integer off the front.
#[inline]
pub(super) fn variable(bytes: &mut &[u8]) -> Result<u32> {
    let mut value = 0u64;
    for shift in (0..35).step_by(7) {
        let Some((byte, rest)) = bytes.split_first() else {
            return Err(Error::corrupt("set of positions: ends early"));
        };
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return u32::try_from(value)
                .map_err(|_| Error::corrupt("set of positions: integer over 32 bits"));
        }
    }
    Err(Error::corrupt("set of positions: integer without an end"))
}

/// Appends a variable-length integer.
pub(super) fn put_variable(mut value: u32, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Bytes of a variable-length integer.
#[inline]
pub(super) fn variable_len(value: u32) -> usize {
    ((31 - (value | 1).leading_zeros()) / 7 + 1) as usize
}

//! Decoding: copy sixteen bytes for every code, go on by the symbol's length.
//!
//! Nothing is asked per code. Symbols lie in entries of 16 bytes and the table
//! has one for every code there can be, so no code lies outside it; copies are
//! always of 16 bytes, and the next overwrites what was too much. A code without
//! a symbol has length 0, which is gathered in a flag and looked at in the end.

use super::table::SymbolTable;
use super::{MAX_SYMBOL, batch};
use crate::error::{Error, Result};

/// What went wrong in some code, gathered without branches.
#[derive(Default)]
pub(super) struct Faults {
    /// Top bit: a code had no symbol.
    pub(super) missing: usize,
    /// Not 0: a value's bytes are no whole number of codes.
    pub(super) ragged: usize,
}

impl Faults {
    pub(super) fn check(&self) -> Result<()> {
        if self.ragged != 0 {
            return Err(Error::corrupt("a value ends within a symbol code"));
        }
        if self.missing >> (usize::BITS - 1) != 0 {
            return Err(Error::corrupt("a code without a symbol"));
        }
        Ok(())
    }
}

/// Number of codes of `BITS` in so many bytes.
#[inline(always)]
fn code_count<const BITS: usize>(bytes: usize) -> usize {
    if BITS == 16 {
        bytes / 2
    } else {
        (bytes / 3) * 2 + (bytes % 3) / 2
    }
}

impl SymbolTable {
    /// Appends one decoded value.
    ///
    /// # Errors
    /// `Corrupt` if `coded` is not a list of codes of this table; `out` is as before.
    pub fn decode(&self, coded: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let mut faults = Faults::default();
        match self.code_bits {
            12 => self.append::<12>(coded, 0, coded.len(), out, &mut faults),
            _ => self.append::<16>(coded, 0, coded.len(), out, &mut faults),
        }
        faults.check().inspect_err(|_| out.truncate(start))
    }

    /// Appends many decoded values that lie in `coded` one after the other, and
    /// where each ends in `out`. `ends` tells where each ends in `coded`; the
    /// first begins at 0. Meant for a few thousand values at a time.
    ///
    /// # Errors
    /// `Corrupt` if `ends` do not lie in order within `coded`, or values are not
    /// lists of codes of this table, or `out` would pass 4 GiB; `out` and
    /// `out_ends` are as before.
    pub fn decode_all(
        &self,
        coded: &[u8],
        ends: impl Iterator<Item = usize>,
        out: &mut Vec<u8>,
        out_ends: &mut Vec<u32>,
    ) -> Result<()> {
        let before = (out.len(), out_ends.len());
        match self.code_bits {
            12 => batch::append_all::<12>(self, coded, ends, out, out_ends),
            _ => batch::append_all::<16>(self, coded, ends, out, out_ends),
        }
        .inspect_err(|_| {
            out.truncate(before.0);
            out_ends.truncate(before.1);
        })
    }

    /// Appends the value at `start..end` of `coded`, which must lie within it.
    #[inline(always)]
    pub(super) fn append<const BITS: usize>(
        &self,
        coded: &[u8],
        start: usize,
        end: usize,
        out: &mut Vec<u8>,
        faults: &mut Faults,
    ) {
        let mut codes = code_count::<BITS>(end - start);
        faults.ragged |= (codes * BITS).div_ceil(8) ^ (end - start);
        // Four symbols more than there are codes: the last group is always filled up.
        let room = (codes + 4) * MAX_SYMBOL;
        if out.capacity() - out.len() < room {
            out.reserve(room);
        }
        let mut target = out.as_mut_ptr().wrapping_add(out.len());
        let mut at = start;
        while codes >= 4 && at + 8 <= coded.len() {
            // SAFETY: eight bytes at `at` lie in `coded`, as was just asked.
            let word = unsafe { coded.as_ptr().add(at).cast::<[u8; 8]>().read() };
            let word = u64::from_le_bytes(word);
            for place in 0..4 {
                let code = word >> (BITS * place) & ((1 << BITS) - 1);
                // SAFETY: there is room for 16 bytes for each code and more.
                unsafe { target = self.put(code as usize, target, usize::MAX, faults) };
            }
            at += BITS / 2;
            codes -= 4;
        }
        while codes > 0 {
            let word = word_at(coded, at);
            for place in 0..4 {
                // Places past the end are decoded as code 0 and not passed.
                let valid = 0_usize.wrapping_sub(usize::from(place < codes));
                let code = (word >> (BITS * place)) as usize & ((1 << BITS) - 1);
                // SAFETY: there is room for 16 bytes for each code and four more.
                unsafe { target = self.put(code & valid, target, valid, faults) };
            }
            at += BITS / 2;
            codes = codes.saturating_sub(4);
        }
        let len = target as usize - out.as_ptr() as usize;
        // SAFETY: every byte before `target` was written, and `target` is within the room.
        unsafe { out.set_len(len) };
    }

    /// Writes a symbol with whatever follows it to sixteen bytes at `target`, and
    /// says where it ends; stays where it is if `valid` is 0.
    ///
    /// # Safety
    /// Sixteen bytes at `target` must be writable and `code` one of the table's width.
    #[inline(always)]
    pub(super) unsafe fn put(
        &self,
        code: usize,
        target: *mut u8,
        valid: usize,
        faults: &mut Faults,
    ) -> *mut u8 {
        debug_assert!(code < self.symbols.len() && code < self.lengths.len());
        // SAFETY: symbols and lengths have an entry for every code of the width,
        // no length is above 16, and the caller vouches for `target`.
        unsafe {
            target
                .cast::<[u8; MAX_SYMBOL]>()
                .write(*self.symbols.get_unchecked(code));
            let length = usize::from(*self.lengths.get_unchecked(code));
            faults.missing |= length.wrapping_sub(1);
            target.add(length & valid)
        }
    }

    /// Bytes of the value that `coded` decodes to.
    ///
    /// # Errors
    /// `Corrupt` if `coded` is not a list of codes of this table.
    pub fn decoded_len(&self, coded: &[u8]) -> Result<usize> {
        match self.code_bits {
            12 => self.sum_lengths::<12>(coded),
            _ => self.sum_lengths::<16>(coded),
        }
    }

    fn sum_lengths<const BITS: usize>(&self, coded: &[u8]) -> Result<usize> {
        let codes = code_count::<BITS>(coded.len());
        let mut faults = Faults {
            missing: 0,
            ragged: (codes * BITS).div_ceil(8) ^ coded.len(),
        };
        let mut sum = 0;
        for group in 0..codes.div_ceil(4) {
            let word = word_at(coded, group * BITS / 2);
            for place in 0..(codes - 4 * group).min(4) {
                let code = (word >> (BITS * place)) as usize & ((1 << BITS) - 1);
                let length = usize::from(self.lengths[code]);
                faults.missing |= length.wrapping_sub(1);
                sum += length;
            }
        }
        faults.check().map(|()| sum)
    }
}

/// Eight bytes from `at`, with zeros past the end.
#[inline(always)]
pub(super) fn word_at(coded: &[u8], at: usize) -> u64 {
    let rest = coded.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(&bytes) => u64::from_le_bytes(bytes),
        None => {
            let mut bytes = [0; 8];
            bytes[..rest.len()].copy_from_slice(rest);
            u64::from_le_bytes(bytes)
        }
    }
}

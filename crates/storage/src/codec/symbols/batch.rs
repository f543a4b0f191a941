//! Decoding many short values in a row.
//!
//! A value of four codes is too short for a loop of its own: that it ends
//! where the processor did not expect costs more than the copying. So the codes
//! of many values are first laid out one after the other as 16-bit integers, eight
//! for every value whether it has them or not, the next value over what was too much.
//! Then one loop copies the symbols of them all and notes where each ended, and the
//! end of a value is the end of its last symbol.

use super::MAX_SYMBOL;
use super::decode::{Faults, word_at};
use super::table::SymbolTable;
use crate::error::{Error, Result};

/// Codes laid out at a time; with the ends they stay in the nearest cache.
const CODES: usize = 1024;
/// Values laid out at a time.
const VALUES: usize = 512;
/// Values of more bytes are decoded by themselves.
const LONG: usize = 256;

/// Codes of some values, not decoded yet.
struct Laid {
    /// With room for a value that begins just below the limit and fills up groups.
    codes: [u16; CODES + LONG + 8],
    count: usize,
    /// For each value, how many codes there are up to its end.
    ends: [u16; VALUES],
    values: usize,
}

/// Appends the values that end at `ends`; see [`SymbolTable::decode_all`].
pub(super) fn append_all<const BITS: usize>(
    table: &SymbolTable,
    coded: &[u8],
    ends: impl Iterator<Item = usize>,
    out: &mut Vec<u8>,
    out_ends: &mut Vec<u32>,
) -> Result<()> {
    let mut faults = Faults::default();
    let mut laid = Laid {
        codes: [0; CODES + LONG + 8],
        count: 0,
        ends: [0; VALUES],
        values: 0,
    };
    // A guess that saves growing; what is needed for certain is reserved later.
    out.reserve(coded.len().saturating_mul(8).min(4 << 20));
    let mut start = 0;
    for end in ends {
        if end < start || end > coded.len() {
            return Err(Error::corrupt(format!(
                "a coded value from {start} to {end} of {} bytes",
                coded.len()
            )));
        }
        if end - start > LONG {
            laid.expand(table, out, out_ends, &mut faults)?;
            table.append::<BITS>(coded, start, end, out, &mut faults);
            out_ends.push(offset(out.len())?);
        } else {
            laid.lay_out::<BITS>(coded, start, end, &mut faults);
            if laid.count >= CODES || laid.values == VALUES {
                laid.expand(table, out, out_ends, &mut faults)?;
            }
        }
        start = end;
    }
    laid.expand(table, out, out_ends, &mut faults)?;
    faults.check()
}

fn offset(len: usize) -> Result<u32> {
    u32::try_from(len).map_err(|_| Error::corrupt("decoded values of more than 4 GiB"))
}

/// Four codes from the low bits of `word`, 16 bits each.
#[inline(always)]
fn spread<const BITS: usize>(word: u64) -> [u16; 4] {
    let word = if BITS == 16 {
        word
    } else {
        let halves = (word & 0xFF_FFFF) | (word & 0xFFFF_FF00_0000) << 8;
        (halves & 0x0000_0FFF_0000_0FFF) | (halves & 0x00FF_F000_00FF_F000) << 4
    };
    let bytes = word.to_le_bytes();
    let (codes, _) = bytes.as_chunks::<2>();
    [codes[0], codes[1], codes[2], codes[3]].map(u16::from_le_bytes)
}

impl Laid {
    /// Adds the value at `start..end` of `coded`, which is at most [`LONG`] bytes.
    #[inline(always)]
    fn lay_out<const BITS: usize>(
        &mut self,
        coded: &[u8],
        start: usize,
        end: usize,
        faults: &mut Faults,
    ) {
        let bytes = (end - start) as u32;
        let codes = if BITS == 16 {
            faults.ragged |= (bytes & 1) as usize;
            bytes / 2
        } else {
            // Two thirds, which is exact for so few. Of a byte too many, twice
            // the bytes are two more than thrice the codes.
            let codes = (bytes * 43_691) >> 16;
            faults.ragged |= ((2 * bytes - 3 * codes) & 2) as usize;
            codes
        } as usize;
        let (groups, _) = self.codes[self.count..][..LONG + 8].as_chunks_mut::<4>();
        let (first, second) = match coded[start..].first_chunk::<16>() {
            Some(words) => (word_at(words, 0), word_at(words, BITS / 2)),
            None => (word_at(coded, start), word_at(coded, start + BITS / 2)),
        };
        groups[0] = spread::<BITS>(first);
        groups[1] = spread::<BITS>(second);
        let more = groups.iter_mut().enumerate().take(codes.div_ceil(4));
        for (group, place) in more.skip(2) {
            *place = spread::<BITS>(word_at(coded, start + group * BITS / 2));
        }
        self.count += codes;
        self.ends[self.values] = self.count as u16;
        self.values += 1;
    }

    /// Decodes all values that were laid out and forgets them.
    fn expand(
        &mut self,
        table: &SymbolTable,
        out: &mut Vec<u8>,
        out_ends: &mut Vec<u32>,
        faults: &mut Faults,
    ) -> Result<()> {
        let before = out.len();
        out.reserve((self.count + 1) * MAX_SYMBOL);
        let base = out.as_mut_ptr().wrapping_add(before);
        let mut target = base;
        // Where each code ended, after a 0 for none.
        let mut symbol_ends = [0_u16; CODES + LONG + 1];
        for (code, end) in self.codes[..self.count].iter().zip(&mut symbol_ends[1..]) {
            // SAFETY: 16 bytes for each code were reserved, and codes that were laid
            // out are of the table's width.
            target = unsafe { table.put(usize::from(*code), target, usize::MAX, faults) };
            *end = (target as usize - base as usize) as u16;
        }
        let len = before + (target as usize - base as usize);
        // SAFETY: every byte before `target` was written, and `target` is within the room.
        unsafe { out.set_len(len) };
        offset(len)?;
        let ends = self.ends[..self.values].iter();
        out_ends.extend(ends.map(|end| before as u32 + u32::from(symbol_ends[usize::from(*end)])));
        (self.count, self.values) = (0, 0);
        Ok(())
    }
}

// Ends within one go fit 16 bits.
const _: () = assert!((CODES + LONG) * MAX_SYMBOL <= u16::MAX as usize);

//! Coding values with the symbols of a table.

use super::BYTE_SYMBOLS;
use super::matcher::{Matcher, walk};
use super::table::SymbolTable;

/// A [`SymbolTable`] prepared for finding the longest symbol.
#[derive(Clone, Debug)]
pub struct Encoder {
    matcher: Matcher,
    code_bits: u32,
}

impl Encoder {
    pub(super) fn new(table: &SymbolTable) -> Encoder {
        let mut matcher = Matcher::new(table.len());
        for code in BYTE_SYMBOLS..table.len() {
            let bytes = u128::from_le_bytes(table.symbols[code]);
            matcher.push(bytes, usize::from(table.lengths[code]));
        }
        Encoder {
            matcher,
            code_bits: u32::from(table.code_bits),
        }
    }

    /// Appends the codes of one value. Equal values give equal bytes, and so does
    /// an encoder of the same table after it was written and read.
    ///
    /// Room for two bytes for each of `value` is reserved while it is coded.
    pub fn encode(&self, value: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        // At worst a code of two bytes for each byte; eight more as whole words are stored.
        out.reserve(2 * value.len() + 8);
        let mut target = out.as_mut_ptr().wrapping_add(start);
        // Codes that are not stored in full yet: fewer than 8 bits.
        let (mut bits, mut pending) = (0_u64, 0_u32);
        walk(value, |window, allowed| {
            let (code, length) = self.matcher.longest(window, allowed);
            bits |= u64::from(code) << pending;
            pending += self.code_bits;
            // SAFETY: every symbol takes at least one byte of the value, so
            // before this code at most two bytes for each byte before it were
            // passed, and the eight stored here lie within what was reserved.
            unsafe {
                target.cast::<[u8; 8]>().write(bits.to_le_bytes());
                target = target.add((pending / 8) as usize);
            }
            bits >>= pending & !7;
            pending &= 7;
            length
        });
        let whole_bytes = target as usize - out.as_ptr() as usize;
        // SAFETY: all bytes up to `target` were stored, and with bits pending
        // the one at `target` was too, by the store before it was reached.
        unsafe { out.set_len(whole_bytes + usize::from(pending > 0)) };
    }

    /// Bytes that the codes of `sample` take, without the table or anything else.
    pub fn compressed_estimate(&self, sample: &[&[u8]]) -> usize {
        sample
            .iter()
            .map(|value| {
                let mut codes = 0;
                walk(value, |window, allowed| {
                    codes += 1;
                    self.matcher.longest(window, allowed).1
                });
                (codes * self.code_bits as usize).div_ceil(8)
            })
            .sum()
    }
}

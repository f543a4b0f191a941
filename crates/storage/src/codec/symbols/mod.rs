//! Text as fixed-width codes of learnt symbols.
//!
//! Comments, names and paths say the same few things over and over, but each
//! value is short and is wanted alone. A table of *symbols*, byte strings of 1
//! to 16 bytes, is learnt once from a sample of a block; a value is then the
//! list of the codes of its symbols, and nothing outside that list and the
//! table is needed to read it back. The 256 single bytes are always symbols,
//! with their own values as codes, so that every value can be coded and there
//! are no escapes.
//!
//! Say the table has, besides the bytes, `256 = "th"`, `257 = "the "` and
//! `258 = "cat"`. The value `the catch` is taken from the left, always the
//! longest symbol that fits: `the `, `cat`, `c`, `h`, which are the codes 257,
//! 258, 99, 104. As 12 bits each, lowest bits first, they take six bytes:
//!
//! ```text
//! codes   0x101    0x102    0x063    0x068
//! bytes   01 21 10          63 80 06
//! ```
//!
//! Codes are 12 bits (up to 4,096 symbols) or 16 bits (up to 65,536) wide. A
//! value is rounded up to whole bytes, so `n` codes are the `floor(bytes * 8 /
//! width)` of its length, and a width of 12 bits leaves at most four spare bits.
//!
//! Longest match depends on the set of symbols only, so one table codes equal
//! values as equal bytes, also after it was written and read again: equality can
//! be tested without decoding.
//!
//! # Table bytes
//!
//! Most symbols were made by joining two others and are written as those two
//! codes. The rest, whose halves were dropped from the table, are written whole.
//! Codes are given out in this order: single bytes, whole, joined.
//!
//! | bytes | content |
//! |---|---|
//! | 1 | width of a code in bits: 12 or 16 |
//! | 2 | `w`: number of symbols written whole |
//! | 2 | `j`: number of joined symbols |
//! | `ceil(w / 2)` | their lengths less one, a nibble each, low nibble first; a spare nibble is 0 |
//! | sum of lengths | the whole symbols one after the other |
//! | `3 * j` or `4 * j` | left and right code of each joined symbol, 12 or 16 bits each |
//!
//! Integers are little-endian; a pair of 12-bit codes is one integer of 24 bits
//! with the left code in the low bits. Both codes of a joined symbol are lower
//! than its own.

mod batch;
mod buckets;
mod decode;
mod encode;
mod matcher;
mod table;
mod train;

#[cfg(test)]
mod measure;
#[cfg(test)]
mod tests;

pub use encode::Encoder;
pub use table::SymbolTable;

/// Bytes of the longest symbol; every entry of the decoding table is this wide.
const MAX_SYMBOL: usize = 16;
/// Symbols that are there without being learnt: the single bytes.
const BYTE_SYMBOLS: usize = 256;

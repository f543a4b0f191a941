//! The table of symbols, and its bytes.

use super::encode::Encoder;
use super::matcher::Matcher;
use super::{BYTE_SYMBOLS, MAX_SYMBOL};
use crate::error::{Error, Result};
use crate::format::{Reader, Writer};

/// The symbols of one block: what its codes stand for.
#[derive(Clone, Debug)]
pub struct SymbolTable {
    pub(super) code_bits: u8,
    /// Bytes of each symbol by code, with zeros after them. As long as there
    /// are codes, so that no code lies outside.
    pub(super) symbols: Vec<[u8; MAX_SYMBOL]>,
    /// Their lengths; 0 where a code has no symbol.
    pub(super) lengths: Vec<u8>,
    /// Number of symbols that are not joined from two others.
    whole: usize,
    /// Left and right code of each symbol that is.
    parts: Vec<[u16; 2]>,
}

/// Equal tables mean the same by the same codes; how they are written may differ.
impl PartialEq for SymbolTable {
    fn eq(&self, other: &Self) -> bool {
        self.code_bits == other.code_bits
            && self.lengths == other.lengths
            && self.symbols == other.symbols
    }
}

impl Eq for SymbolTable {}

impl SymbolTable {
    /// Learns symbols from values of a block, for codes of 12 or 16 bits. About
    /// a mebibyte of the sample is looked at, whole values in a random but
    /// repeatable order. The same sample gives the same table.
    ///
    /// # Panics
    /// For other widths.
    pub fn train(sample: &[&[u8]], code_bits: u8) -> SymbolTable {
        super::train::train(sample, code_bits)
    }

    /// Builds what coding values needs; worth it for many values only.
    pub fn encoder(&self) -> Encoder {
        Encoder::new(self)
    }

    /// Width of a code in bits: 12 or 16.
    pub fn code_bits(&self) -> u8 {
        self.code_bits
    }

    /// Number of symbols, with the 256 single bytes.
    pub fn len(&self) -> usize {
        self.whole + self.parts.len()
    }

    /// Never: the single bytes are always there.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// A table with the single bytes only.
    fn with_bytes(code_bits: u8) -> SymbolTable {
        let codes = 1 << code_bits;
        let mut table = SymbolTable {
            code_bits,
            symbols: vec![[0; MAX_SYMBOL]; codes],
            lengths: vec![0; codes],
            whole: BYTE_SYMBOLS,
            parts: Vec::new(),
        };
        for byte in 0..=u8::MAX {
            table.symbols[usize::from(byte)][0] = byte;
            table.lengths[usize::from(byte)] = 1;
        }
        table
    }

    fn set(&mut self, code: usize, bytes: u128, length: usize) {
        self.symbols[code] = bytes.to_le_bytes();
        self.lengths[code] = length as u8;
    }

    /// Gives out codes: symbols that have to be written whole come first, then
    /// joined ones, shorter before longer as halves come before what they make.
    pub(super) fn from_symbols(matcher: &Matcher, code_bits: u8) -> SymbolTable {
        let mut joined = Vec::new();
        let mut whole = Vec::new();
        for code in BYTE_SYMBOLS..matcher.len() {
            let (bytes, length) = matcher.symbol(code);
            match halves(matcher, bytes, length) {
                Some(halves) => joined.push((length, bytes, code, halves)),
                None => whole.push((length, bytes, code)),
            }
        }
        joined.sort_unstable();
        whole.sort_unstable();

        let mut table = SymbolTable::with_bytes(code_bits);
        let mut new_codes: Vec<u16> = (0..matcher.len()).map(|code| code as u16).collect();
        for (length, bytes, code) in whole {
            table.set(table.whole, bytes, length);
            new_codes[code] = table.whole as u16;
            table.whole += 1;
        }
        for (length, bytes, code, halves) in joined {
            let new_code = table.len();
            table.set(new_code, bytes, length);
            new_codes[code] = new_code as u16;
            table
                .parts
                .push(halves.map(|half| new_codes[usize::from(half)]));
        }
        table
    }

    /// Appends the table as bytes; see the module for what they are.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut writer = Writer::default();
        writer.u8(self.code_bits);
        writer.u16((self.whole - BYTE_SYMBOLS) as u16);
        writer.u16(self.parts.len() as u16);
        for lengths in self.lengths[BYTE_SYMBOLS..self.whole].chunks(2) {
            let high = lengths.get(1).map_or(0, |length| length - 1);
            writer.u8((lengths[0] - 1) | high << 4);
        }
        for code in BYTE_SYMBOLS..self.whole {
            writer.put(&self.symbols[code][..usize::from(self.lengths[code])]);
        }
        for &[left, right] in &self.parts {
            let pair = u32::from(left) | u32::from(right) << self.code_bits;
            writer.put(&pair.to_le_bytes()[..usize::from(self.code_bits) / 4]);
        }
        out.extend_from_slice(&writer.finish());
    }

    /// Reads a table that takes up all of `bytes`.
    ///
    /// # Errors
    /// `Corrupt` if they are not what [`SymbolTable::write`] makes.
    pub fn read(bytes: &[u8]) -> Result<SymbolTable> {
        let mut reader = Reader::new(bytes);
        let code_bits = reader.u8()?;
        if !matches!(code_bits, 12 | 16) {
            return Err(Error::corrupt(format!("symbol codes of {code_bits} bits")));
        }
        let (whole, joined) = (usize::from(reader.u16()?), usize::from(reader.u16()?));
        if BYTE_SYMBOLS + whole + joined > 1 << code_bits {
            return Err(Error::corrupt(format!(
                "{whole} whole and {joined} joined symbols for codes of {code_bits} bits"
            )));
        }
        let mut table = SymbolTable::with_bytes(code_bits);
        table.read_whole(&mut reader, whole)?;
        table.read_joined(&mut reader, joined)?;
        match reader.remaining() {
            0 => Ok(table),
            more => Err(Error::corrupt(format!("{more} bytes after the symbols"))),
        }
    }

    fn read_whole(&mut self, reader: &mut Reader<'_>, count: usize) -> Result<()> {
        let nibbles = reader.take(count.div_ceil(2))?;
        if count % 2 == 1 && nibbles.last().is_some_and(|last| last >> 4 != 0) {
            return Err(Error::corrupt("a spare symbol length that is not 0"));
        }
        for at in 0..count {
            let length = usize::from(nibbles[at / 2] >> (4 * (at % 2)) & 15) + 1;
            if length == 1 {
                return Err(Error::corrupt("a symbol of one byte that was learnt"));
            }
            let mut symbol = [0; MAX_SYMBOL];
            symbol[..length].copy_from_slice(reader.take(length)?);
            self.set(self.whole, u128::from_le_bytes(symbol), length);
            self.whole += 1;
        }
        Ok(())
    }

    fn read_joined(&mut self, reader: &mut Reader<'_>, count: usize) -> Result<()> {
        let width = usize::from(self.code_bits) / 4;
        let mask = (1 << self.code_bits) - 1;
        self.parts.reserve(count);
        for bytes in reader.take(count * width)?.chunks_exact(width) {
            let mut pair = [0; 4];
            pair[..width].copy_from_slice(bytes);
            let pair = u32::from_le_bytes(pair);
            let (left, right) = ((pair & mask) as usize, (pair >> self.code_bits) as usize);
            let code = self.len();
            if left >= code || right >= code {
                return Err(Error::corrupt(format!(
                    "symbol {code} joined from symbols {left} and {right}"
                )));
            }
            let left_length = usize::from(self.lengths[left]);
            let length = left_length + usize::from(self.lengths[right]);
            if length > MAX_SYMBOL {
                return Err(Error::corrupt(format!("symbol {code} of {length} bytes")));
            }
            let right_bytes = u128::from_le_bytes(self.symbols[right]) << (8 * left_length);
            self.set(
                code,
                u128::from_le_bytes(self.symbols[left]) | right_bytes,
                length,
            );
            self.parts.push([left as u16, right as u16]);
        }
        Ok(())
    }
}

/// Two symbols that make up this one.
fn halves(matcher: &Matcher, bytes: u128, length: usize) -> Option<[u16; 2]> {
    (1..length).find_map(|at| {
        let left = matcher.exact(bytes, at)?;
        let right = matcher.exact(bytes >> (8 * at), length - at)?;
        Some([left, right])
    })
}

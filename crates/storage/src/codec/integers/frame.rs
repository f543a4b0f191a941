//! Frame of reference: per chunk a base and `value - base` in packed bits (H3).
//!
//! Bit-packing is a frame whose bases are zero, truncation (Q6) one whose bases
//! are zero and whose widths are 8, 16 or 32 bits throughout.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 16 × chunks | chunk entries: base (8), offset of its packed bytes (4), width in bits (1), zero (3) |
//! | multiple of 64 | | packed bytes of the chunks, one after the other |

use super::pad;
use crate::codec::bits::{self, CHUNK, Entry, Level, Mask, Target, bytes_for, width_for};
use crate::error::{Error, Result};
use crate::format::{Reader, Writer};
use arrow_buffer::Buffer;
use std::ops::RangeInclusive;

/// Bytes of a chunk entry.
pub(super) const ENTRY: usize = 16;

/// How the bases are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bases {
    /// Zero; values are not negative.
    Zero,
    /// Zero, and widths of whole lanes; values are not negative.
    Truncated,
    /// The least value of the chunk.
    Least,
}

/// Encodes `values`.
pub(super) fn build(values: &[i64], bases: Bases) -> Vec<u8> {
    let whole = width_for(values.iter().map(|value| *value as u64).max().unwrap_or(0));
    let (mut table, mut packed) = (Writer::default(), Vec::new());
    let mut codes = Vec::with_capacity(CHUNK);
    for chunk in values.chunks(CHUNK) {
        let base = match bases {
            Bases::Least => chunk.iter().copied().min().unwrap_or(0),
            _ => 0,
        };
        codes.clear();
        codes.extend(chunk.iter().map(|value| value.wrapping_sub(base) as u64));
        let width = match bases {
            Bases::Truncated => truncated(whole),
            _ => width_for(codes.iter().copied().fold(0, |all, code| all | code)),
        };
        table.u64(base as u64);
        // In range: a block has at most 1,024 chunks of at most 8 KiB.
        table.u32(packed.len() as u32);
        table.u32(width.into());
        bits::pack(&codes, width, &mut packed);
    }
    let mut bytes = table.finish();
    pad(&mut bytes);
    bytes.extend_from_slice(&packed);
    bytes
}

/// The width of whole lanes that holds `width` bits.
pub fn truncated(width: u8) -> u8 {
    bits::lane_bits(width) as u8
}

/// Where a value is, and what is added to its code.
#[derive(Clone, Copy, Debug, Default)]
pub struct Located {
    place: bits::Place,
    base: i64,
}

/// Room for the codes of a chunk.
#[derive(Debug)]
pub struct Scratch {
    narrow: [u32; CHUNK],
    wide: [u64; CHUNK],
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch {
            narrow: [0; CHUNK],
            wide: [0; CHUNK],
        }
    }
}

/// Integers in frames, opened.
#[derive(Debug)]
pub struct Frame {
    rows: usize,
    entries: Vec<Entry>,
    packed: Buffer,
}

impl Frame {
    /// Checks entries and lengths.
    ///
    /// # Errors
    /// `Corrupt` for a width above 64 bits or a chunk outside the bytes.
    pub fn open(bytes: Buffer, rows: usize) -> Result<Frame> {
        let (table, packed) = split(&bytes, rows, ENTRY)?;
        let mut reader = Reader::new(table.as_slice());
        let entries = (0..rows.div_ceil(CHUNK)).map(|number| {
            let (base, offset, width) = (reader.u64()? as i64, reader.u32()?, reader.u32()?);
            let codes = CHUNK.min(rows - number * CHUNK);
            let width = check_chunk(number, offset, width, codes, packed.len())?;
            Ok(Entry {
                base,
                offset,
                width: width.into(),
            })
        });
        Ok(Frame {
            rows,
            entries: entries.collect::<Result<_>>()?,
            packed,
        })
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// A chunk's base, its codes' width, and their packed bytes.
    fn packed(&self, chunk: usize) -> (i64, u8, &[u8]) {
        let entry = self.entries[chunk];
        let codes = CHUNK.min(self.rows - chunk * CHUNK);
        let start = entry.offset as usize;
        // In range: it was checked when opened.
        let width = entry.width as u8;
        let end = start + bytes_for(width, codes);
        (entry.base, width, &self.packed[start..end])
    }

    /// The values of a chunk; those beyond the last row are undefined.
    pub fn chunk<D: Target>(&self, chunk: usize, out: &mut [D; CHUNK]) {
        let (base, width, packed) = self.packed(chunk);
        bits::unpack(Level::best(), packed, width, base, out);
    }

    /// Appends the values at `places`, rows of `chunk`, one by one.
    pub fn take_few<D: Target>(&self, chunk: usize, places: &[u32], out: &mut Vec<D>) {
        let (base, width, packed) = self.packed(chunk);
        bits::take(packed, width, base, places, out);
    }

    /// As [`Frame::take_few`], of many. Codes are unpacked no
    /// wider than they need be: only those wanted become `D`.
    pub fn take_many<D: Target>(
        &self,
        chunk: usize,
        places: &[u32],
        codes: &mut Scratch,
        out: &mut Vec<D>,
    ) {
        let (base, width, packed) = self.packed(chunk);
        let place = |row: &u32| *row as usize % CHUNK;
        if width <= 32 {
            bits::unpack(Level::best(), packed, width, 0, &mut codes.narrow);
            let codes = places.iter().map(|row| codes.narrow[place(row)]);
            out.extend(codes.map(|code| D::from_code(base, code.into())));
        } else {
            bits::unpack(Level::best(), packed, width, 0, &mut codes.wide);
            let codes = places.iter().map(|row| codes.wide[place(row)]);
            out.extend(codes.map(|code| D::from_code(base, code)));
        }
    }

    /// Finds the codes of up to [`bits::TOGETHER`] rows, which ascend; see [`bits::gather`].
    pub fn gather(&self, rows: &[u32], codes: &mut [u32; bits::TOGETHER]) -> bool {
        let packed = (self.entries.as_slice(), self.packed.as_slice());
        bits::gather(Level::best(), packed, rows, codes)
    }

    /// What the code of a row is counted from.
    pub fn base(&self, row: usize) -> i64 {
        self.entries[row / CHUNK].base
    }

    /// Finds a row's value, and begins to fetch it.
    #[inline]
    pub fn locate(&self, row: usize) -> Located {
        let entry = &self.entries[row / CHUNK];
        let place = entry.place(row);
        place.prefetch(&self.packed);
        Located {
            place,
            base: entry.base,
        }
    }

    /// The value that was found.
    #[inline]
    pub fn value(&self, Located { place, base }: Located) -> i64 {
        base.wrapping_add(place.code(&self.packed) as i64)
    }

    /// The value of a row.
    pub fn get(&self, row: usize) -> i64 {
        let entry = &self.entries[row / CHUNK];
        let code = entry.place(row).code(&self.packed);
        entry.base.wrapping_add(code as i64)
    }

    /// As [`super::Integers::test`].
    pub fn test(&self, chunk: usize, ranges: &[RangeInclusive<i64>], mask: &mut Mask) {
        let (base, width, packed) = self.packed(chunk);
        mask.fill(0);
        let mut one = [0; CHUNK / 64];
        let base = i128::from(base);
        for range in ranges {
            let (low, high) = (
                i128::from(*range.start()) - base,
                i128::from(*range.end()) - base,
            );
            let (Ok(low), Ok(high)) = (u64::try_from(low.max(0)), u64::try_from(high)) else {
                continue;
            };
            bits::in_range(Level::best(), packed, width, low, high, &mut one);
            mask.iter_mut().zip(&one).for_each(|(all, one)| *all |= one);
        }
    }

    /// No value is outside these, judging by bases and widths; `None` when that says nothing.
    pub fn bounds(&self) -> Option<(i64, i64)> {
        let high = |chunk: &Entry| {
            let largest = 1i64.checked_shl(chunk.width).filter(|_| chunk.width < 63)? - 1;
            chunk.base.checked_add(largest)
        };
        self.entries
            .iter()
            .try_fold((i64::MAX, i64::MIN), |(low, most), chunk| {
                Some((low.min(chunk.base), most.max(high(chunk)?)))
            })
    }
}

/// The entries of `rows` values and the packed bytes behind them.
pub(super) fn split(bytes: &Buffer, rows: usize, entry: usize) -> Result<(Buffer, Buffer)> {
    let table = rows.div_ceil(CHUNK) * entry;
    let start = table.next_multiple_of(64);
    if start > bytes.len() {
        return Err(Error::corrupt(format!(
            "{} bytes for the chunk entries of {rows} values",
            bytes.len()
        )));
    }
    Ok((bytes.slice_with_length(0, table), bytes.slice(start)))
}

/// A chunk's width, if it and the chunk's place are possible.
pub(super) fn check_chunk(
    number: usize,
    offset: u32,
    width: u32,
    codes: usize,
    len: usize,
) -> Result<u8> {
    let width = u8::try_from(width)
        .ok()
        .filter(|width| *width <= 64)
        .ok_or_else(|| {
            Error::corrupt(format!(
                "chunk {number} has codes of {width} bits; 64 is the most"
            ))
        })?;
    let end = offset as usize + bytes_for(width, codes);
    if end > len {
        return Err(Error::corrupt(format!(
            "chunk {number} ends at {end}, there are {len} packed bytes"
        )));
    }
    Ok(width)
}

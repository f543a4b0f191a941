//! Columns of integers in chunks: what most codecs come down to.
//!
//! Dictionary codes, the integers of ALP and integers themselves are stored by
//! one of three schemes, named by the column's codec tag:
//!
//! | scheme | codecs | a chunk of 1,024 |
//! |---|---|---|
//! | [`frame`] | bit-pack, FOR, truncation, dictionary, ALP | base, and packed `value - base` |
//! | [`delta`] | FOR-delta | first value, least step, and packed `step - least` |
//! | [`runs`] | RLE | not in chunks: run values and run lengths, each a frame |
//!
//! Everything is checked when opened: after that no read can leave the bytes.
//! Sums wrap, so that corrupt bases give wrong values and never a panic.

mod delta;
mod frame;
mod runs;
mod take;
#[cfg(test)]
mod tests;

pub use delta::Delta;
pub use frame::{Bases, Frame, truncated};
pub use runs::Runs;

use super::bits::{CHUNK, Mask, Target};
use crate::error::{Error, Result};
use crate::format::Codec;
use arrow_buffer::Buffer;
use std::ops::{Range, RangeInclusive};

/// One integer for each row.
#[derive(Debug)]
pub enum Integers {
    /// Bit-pack, FOR, truncation, and the codes of dictionary and ALP.
    Frame(Frame),
    /// FOR-delta.
    Delta(Delta),
    /// RLE.
    Runs(Runs),
}

/// Encodes `values` by the scheme of `codec`.
pub fn build(codec: Codec, values: &[i64]) -> Vec<u8> {
    let least = values.iter().copied().min().unwrap_or(0);
    match codec {
        Codec::ForDelta => delta::build(values),
        Codec::RunLength => runs::build(values),
        // Codes are not negative; integers that are need a base.
        Codec::BitPack if least >= 0 => frame::build(values, Bases::Zero),
        Codec::Truncation if least >= 0 => frame::build(values, Bases::Truncated),
        _ => frame::build(values, Bases::Least),
    }
}

impl Integers {
    /// Checks the bytes of `rows` integers.
    ///
    /// # Errors
    /// `Corrupt` for impossible widths, offsets or lengths.
    pub fn open(codec: Codec, bytes: Buffer, rows: usize) -> Result<Integers> {
        Ok(match codec {
            Codec::ForDelta => Integers::Delta(Delta::open(bytes, rows)?),
            Codec::RunLength => Integers::Runs(Runs::open(bytes, rows)?),
            _ => Integers::Frame(Frame::open(bytes, rows)?),
        })
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        match self {
            Integers::Frame(frame) => frame.rows(),
            Integers::Delta(delta) => delta.rows(),
            Integers::Runs(runs) => runs.rows(),
        }
    }

    /// Bytes of memory beyond the section.
    pub fn memory(&self) -> usize {
        match self {
            Integers::Frame(_) | Integers::Delta(_) => self.rows().div_ceil(CHUNK) * 24,
            Integers::Runs(runs) => runs.memory(),
        }
    }

    /// Begins to fetch what the value of one row takes.
    pub fn prefetch(&self, row: usize) {
        if let Integers::Frame(frame) = self {
            frame.locate(row);
        }
    }

    /// The value of one row.
    pub fn get(&self, row: usize) -> i64 {
        match self {
            Integers::Frame(frame) => frame.get(row),
            Integers::Runs(runs) => runs.get(row),
            Integers::Delta(delta) => delta.get(row),
        }
    }

    /// The values of a chunk; those beyond the last row are undefined.
    pub fn chunk<D: Target>(&self, chunk: usize, out: &mut [D; CHUNK]) {
        match self {
            Integers::Frame(frame) => frame.chunk(chunk, out),
            Integers::Delta(delta) => delta.chunk(chunk, out),
            Integers::Runs(runs) => {
                let mut values = Vec::with_capacity(CHUNK);
                runs.read(
                    chunk * CHUNK..self.rows().min((chunk + 1) * CHUNK),
                    &mut values,
                );
                out[..values.len()].copy_from_slice(&values);
            }
        }
    }

    /// Appends the values of `rows`.
    pub fn read<D: Target>(&self, rows: Range<usize>, out: &mut Vec<D>) {
        match self {
            Integers::Runs(runs) => runs.read(rows, out),
            Integers::Frame(frame) => chunked(rows, out, |chunk, out| frame.chunk(chunk, out)),
            Integers::Delta(delta) => chunked(rows, out, |chunk, out| delta.chunk(chunk, out)),
        }
    }

    /// Appends the values at ascending `positions`.
    pub fn take<D: Target>(&self, positions: &[u32], out: &mut Vec<D>) {
        match self {
            Integers::Runs(runs) => runs.take(positions, out),
            Integers::Frame(frame) => take::take(frame, positions, out),
            Integers::Delta(delta) => {
                let mut values = [0i64; CHUNK];
                take::by_chunk(positions, |chunk, places| {
                    if let [row] = places {
                        return out.push(D::from_code(delta.get(*row as usize), 0));
                    }
                    delta.chunk(chunk, &mut values);
                    let values = places.iter().map(|row| values[*row as usize % CHUNK]);
                    out.extend(values.map(|value| D::from_code(value, 0)));
                });
            }
        }
    }

    /// Sets in `mask` the rows of chunk `chunk` whose values lie in one of
    /// `ranges`; bits beyond the last row are undefined.
    pub fn test(&self, chunk: usize, ranges: &[RangeInclusive<i64>], mask: &mut Mask) {
        match self {
            Integers::Frame(frame) => frame.test(chunk, ranges, mask),
            Integers::Delta(delta) => {
                let mut values = [0i64; CHUNK];
                delta.chunk(chunk, &mut values);
                test_values(&values, ranges, mask);
            }
            Integers::Runs(runs) => runs.test(chunk, ranges, mask),
        }
    }

    /// Checks that every value lies in `0..count`, as codes into something must.
    ///
    /// # Errors
    /// `Corrupt` naming the first row that does not.
    pub fn check_below(&self, count: usize) -> Result<()> {
        let proven = match self {
            Integers::Frame(frame) => frame.bounds(),
            _ => None,
        };
        let fits = |low: i64, high: i64| {
            low >= 0 && u64::try_from(high).is_ok_and(|high| high < count as u64)
        };
        if proven.is_some_and(|(low, high)| fits(low, high)) {
            return Ok(());
        }
        let mut values: Vec<i64> = Vec::with_capacity(CHUNK);
        for start in (0..self.rows()).step_by(CHUNK) {
            values.clear();
            self.read(start..self.rows().min(start + CHUNK), &mut values);
            if let Some(place) = values.iter().position(|value| !fits(*value, *value)) {
                return Err(Error::corrupt(format!(
                    "code {} in row {}, there are {count}",
                    values[place],
                    start + place
                )));
            }
        }
        Ok(())
    }
}

/// Reads `rows` chunk by chunk: whole ones in place, others by way of a copy.
fn chunked<D: Target>(
    rows: Range<usize>,
    out: &mut Vec<D>,
    chunk: impl Fn(usize, &mut [D; CHUNK]),
) {
    let mut row = rows.start;
    while row < rows.end {
        let number = row / CHUNK;
        let end = rows.end.min((number + 1) * CHUNK);
        let start = out.len();
        if end - row == CHUNK {
            out.resize(start + CHUNK, D::default());
            if let Some(place) = out[start..].first_chunk_mut::<CHUNK>() {
                chunk(number, place);
            }
        } else {
            let mut values = [D::default(); CHUNK];
            chunk(number, &mut values);
            let first = row - number * CHUNK;
            out.extend_from_slice(&values[first..first + (end - row)]);
        }
        row = end;
    }
}

/// Sets the bits of values that lie in one of `ranges`.
pub fn test_values(values: &[i64; CHUNK], ranges: &[RangeInclusive<i64>], mask: &mut Mask) {
    mask.fill(0);
    for range in ranges {
        let (low, high) = (*range.start(), *range.end());
        for (bits, values) in mask.iter_mut().zip(values.as_chunks::<64>().0) {
            for (place, value) in values.iter().enumerate() {
                *bits |= u64::from(low <= *value && *value <= high) << place;
            }
        }
    }
}

/// `bytes` padded with zeros to a multiple of 64, where packed data may begin.
fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(64), 0);
}

//! FOR-delta: per chunk the first value and the packed steps to the next (H3).
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 24 × chunks | chunk entries: first value (8), least step (8), offset of its packed bytes (4), width in bits (1), zero (3) |
//! | multiple of 64 | | packed `step - least` of the chunks; the first value's is 0 |

use super::frame::{check_chunk, split};
use super::pad;
use crate::codec::bits::{self, CHUNK, Level, Target, bytes_for, width_for};
use crate::error::Result;
use crate::format::{Reader, Writer};
use arrow_buffer::Buffer;

/// Bytes of a chunk entry.
pub(super) const ENTRY: usize = 24;

/// The steps of a chunk less the least of them, and that one.
fn steps(chunk: &[i64], codes: &mut Vec<u64>) -> i64 {
    let step = |pair: &[i64]| pair[1].wrapping_sub(pair[0]);
    let least = chunk.windows(2).map(step).min().unwrap_or(0);
    codes.clear();
    codes.push(0);
    codes.extend(
        chunk
            .windows(2)
            .map(|pair| step(pair).wrapping_sub(least) as u64),
    );
    least
}

/// Encodes `values`.
pub(super) fn build(values: &[i64]) -> Vec<u8> {
    let (mut table, mut packed) = (Writer::default(), Vec::new());
    let mut codes = Vec::with_capacity(CHUNK);
    for chunk in values.chunks(CHUNK) {
        let least = steps(chunk, &mut codes);
        let width = width_for(codes.iter().copied().fold(0, |all, code| all | code));
        table.u64(chunk[0] as u64);
        table.u64(least as u64);
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

#[derive(Clone, Copy, Debug)]
struct Chunk {
    first: i64,
    least: i64,
    offset: u32,
    width: u8,
}

impl Chunk {
    /// The value at a place of a chunk whose steps are all the same, as those of keys that count.
    fn even(&self, place: usize) -> i64 {
        let steps = self.least.wrapping_mul(place as i64);
        self.first.wrapping_add(steps)
    }
}

/// Integers as steps, opened.
#[derive(Debug)]
pub struct Delta {
    rows: usize,
    chunks: Vec<Chunk>,
    packed: Buffer,
}

impl Delta {
    /// Checks entries and lengths.
    ///
    /// # Errors
    /// `Corrupt` for a width above 64 bits or a chunk outside the bytes.
    pub fn open(bytes: Buffer, rows: usize) -> Result<Delta> {
        let (table, packed) = split(&bytes, rows, ENTRY)?;
        let mut reader = Reader::new(table.as_slice());
        let chunks = (0..rows.div_ceil(CHUNK)).map(|number| {
            let (first, least) = (reader.u64()? as i64, reader.u64()? as i64);
            let (offset, width) = (reader.u32()?, reader.u32()?);
            let codes = CHUNK.min(rows - number * CHUNK);
            let width = check_chunk(number, offset, width, codes, packed.len())?;
            Ok(Chunk {
                first,
                least,
                offset,
                width,
            })
        });
        let chunks = chunks.collect::<Result<Vec<Chunk>>>()?;
        Ok(Delta {
            rows,
            chunks,
            packed,
        })
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The value of a row, which is the sum of all steps to it, unless those are all the same.
    pub fn get(&self, row: usize) -> i64 {
        let (entry, place) = (self.chunks[row / CHUNK], row % CHUNK);
        if entry.width == 0 {
            return entry.even(place);
        }
        let mut steps = [0i64; CHUNK];
        self.steps(row / CHUNK, &mut steps);
        let all = steps[..=place].iter();
        all.fold(0, |sum, step| sum.wrapping_add(*step))
    }

    /// The first value of a chunk, and the steps to all others.
    fn steps(&self, chunk: usize, steps: &mut [i64; CHUNK]) {
        let entry = self.chunks[chunk];
        let codes = CHUNK.min(self.rows - chunk * CHUNK);
        let start = entry.offset as usize;
        let packed = &self.packed[start..start + bytes_for(entry.width, codes)];
        bits::unpack(Level::best(), packed, entry.width, entry.least, steps);
        steps[0] = entry.first;
    }

    /// The values of a chunk; those beyond the last row are undefined.
    pub fn chunk<D: Target>(&self, chunk: usize, out: &mut [D; CHUNK]) {
        let entry = self.chunks[chunk];
        if entry.width == 0 {
            let all = out.iter_mut().enumerate();
            return all.for_each(|(place, out)| *out = D::from_code(entry.even(place), 0));
        }
        let mut steps = [0i64; CHUNK];
        self.steps(chunk, &mut steps);
        let mut value = 0i64;
        for (out, step) in out.iter_mut().zip(&steps) {
            value = value.wrapping_add(*step);
            *out = D::from_code(value, 0);
        }
    }
}

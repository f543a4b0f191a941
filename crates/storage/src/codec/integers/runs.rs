//! RLE: each run's value once, with its length.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 4 | runs |
//! | 4 | 4 | bytes of the frame of values |
//! | 8 | 56 | zero |
//! | 64 | | frame of the values of the runs, padded to a multiple of 64 |
//! | | | frame of the lengths of the runs |
//!
//! A run's end is kept in memory, so that a row's run is a binary search.

use super::frame::{self, Bases, Frame};
use super::pad;
use super::take::by_chunk;
use crate::codec::bits::{CHUNK, Mask, Target};
use crate::error::{Error, Result};
use crate::format::Reader;
use arrow_buffer::Buffer;
use std::ops::{Range, RangeInclusive};

/// Rows of a run that are written at once.
const PIECE: usize = 8;

/// Encodes `values`.
pub(super) fn build(values: &[i64]) -> Vec<u8> {
    let (mut kept, mut lengths) = (Vec::new(), Vec::new());
    for run in values.chunk_by(|a, b| a == b) {
        kept.push(run[0]);
        lengths.push(run.len() as i64);
    }
    let mut values = frame::build(&kept, Bases::Least);
    pad(&mut values);
    let mut bytes = Vec::with_capacity(64 + values.len());
    // In range: a block has at most 2^20 rows.
    bytes.extend_from_slice(&(kept.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&(values.len() as u32).to_le_bytes());
    pad(&mut bytes);
    bytes.extend_from_slice(&values);
    bytes.extend_from_slice(&frame::build(&lengths, Bases::Least));
    bytes
}

/// Integers in runs, opened.
#[derive(Debug)]
pub struct Runs {
    rows: usize,
    values: Vec<i64>,
    /// Row after the last of each run.
    ends: Vec<u32>,
}

impl Runs {
    /// Checks that the runs cover the rows exactly.
    ///
    /// # Errors
    /// `Corrupt` for empty runs, a wrong sum of lengths, or broken frames.
    pub fn open(bytes: Buffer, rows: usize) -> Result<Runs> {
        let mut reader = Reader::new(bytes.as_slice());
        let (count, len) = (reader.u32()? as usize, reader.u32()? as usize);
        if count > rows || bytes.len() < 64 || len > bytes.len() - 64 {
            return Err(Error::corrupt(format!(
                "{count} runs with {len} bytes of values for {rows} rows"
            )));
        }
        let values = Frame::open(bytes.slice_with_length(64, len), count)?;
        let lengths = Frame::open(bytes.slice(64 + len), count)?;
        let mut ends = Vec::with_capacity(count);
        let mut end = 0usize;
        for run in 0..count {
            let length = usize::try_from(lengths.get(run))
                .ok()
                .filter(|length| (1..=rows - end).contains(length));
            end += length.ok_or_else(|| {
                Error::corrupt(format!("run {run} of {count} has an impossible length"))
            })?;
            // In range: `end` is at most `rows`.
            ends.push(end as u32);
        }
        if end != rows {
            return Err(Error::corrupt(format!(
                "the runs have {end} rows, the block {rows}"
            )));
        }
        Ok(Runs {
            rows,
            values: (0..count).map(|run| values.get(run)).collect(),
            ends,
        })
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes of memory beyond the section.
    pub fn memory(&self) -> usize {
        12 * self.ends.len()
    }

    /// The run that holds `row`.
    fn run_of(&self, row: usize) -> usize {
        self.ends.partition_point(|end| *end as usize <= row)
    }

    /// The runs that hold some rows: the value of each, and the row after its last.
    pub fn in_rows(&self, rows: Range<usize>) -> (&[i64], &[u32]) {
        let runs = self.run_of(rows.start)..self.run_of(rows.end.saturating_sub(1)) + 1;
        (&self.values[runs.clone()], &self.ends[runs])
    }

    /// Runs.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// As [`super::Integers::read`].
    pub fn read<D: Target>(&self, rows: Range<usize>, out: &mut Vec<D>) {
        let start = out.len();
        // Short runs are written in one piece, of which the next one takes its own back.
        out.resize(start + rows.len() + PIECE, D::from_code(0, 0));
        let mut run = self.run_of(rows.start);
        let (mut row, mut left) = (rows.start, &mut out[start..]);
        while row < rows.end {
            let end = rows.end.min(self.ends[run] as usize);
            let value = D::from_code(self.values[run], 0);
            match left.first_chunk_mut::<PIECE>() {
                Some(piece) if end - row <= PIECE => piece.fill(value),
                _ => left[..end - row].fill(value),
            }
            left = &mut left[end - row..];
            (row, run) = (end, run + 1);
        }
        out.truncate(start + rows.len());
    }

    /// As [`super::Integers::get`].
    pub fn get(&self, row: usize) -> i64 {
        self.values[self.run_of(row)]
    }

    /// As [`super::Integers::take`].
    pub fn take<D: Target>(&self, positions: &[u32], out: &mut Vec<D>) {
        by_chunk(positions, |_, places| {
            let mut run = self.run_of(places[0] as usize);
            for row in places {
                while self.ends[run] <= *row {
                    run += 1;
                }
                out.push(D::from_code(self.values[run], 0));
            }
        });
    }

    /// As [`super::Integers::test`]: each run is compared once.
    pub fn test(&self, chunk: usize, ranges: &[RangeInclusive<i64>], mask: &mut Mask) {
        mask.fill(0);
        let rows = chunk * CHUNK..self.rows.min((chunk + 1) * CHUNK);
        let mut run = self.run_of(rows.start);
        let mut row = rows.start;
        while row < rows.end {
            let end = rows.end.min(self.ends[run] as usize);
            if ranges.iter().any(|range| range.contains(&self.values[run])) {
                set(mask, row - rows.start..end - rows.start);
            }
            (row, run) = (end, run + 1);
        }
    }
}

/// Sets the bits of a range of places.
fn set(mask: &mut Mask, places: Range<usize>) {
    for (word, bits) in mask.iter_mut().enumerate() {
        let (low, high) = (places.start.max(64 * word), places.end.min(64 * (word + 1)));
        if low < high {
            *bits |= u64::MAX >> (64 - (high - low)) << (low % 64);
        }
    }
}

//! Text in coded bytes, with the length of each value in packed bits.
//!
//! The start of each chunk is kept in memory, and of each 32 rows in it; a value's own start is that
//! and the lengths of the values between.

use crate::codec::bits::CHUNK;
use crate::codec::fields::Rows;
use crate::codec::integers::Integers;
use crate::codec::symbols::SymbolTable;
use crate::codec::{Views, prefetch};
use crate::error::{Error, Result};
use arrow_array::ArrayRef;
use arrow_buffer::{Buffer, NullBuffer};
use std::cell::RefCell;
use std::ops::Range;

/// Rows that have a start of their own; a chunk is a number of them.
const PART: usize = 32;

/// A text column in symbols, opened.
#[derive(Debug)]
pub struct CodedText {
    table: Box<SymbolTable>,
    lengths: Integers,
    /// Where each chunk begins in `bytes`, and their end.
    starts: Vec<usize>,
    /// Where each [`PART`] begins in its chunk, if lengths can be read one by one.
    parts: Vec<u32>,
    bytes: Buffer,
    text: bool,
}

impl CodedText {
    /// Checks that the lengths cover the bytes exactly.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn open(
        table: Box<SymbolTable>,
        lengths: Integers,
        bytes: Buffer,
        text: bool,
    ) -> Result<CodedText> {
        let rows = lengths.rows();
        let is_in_parts = matches!(lengths, Integers::Frame(_));
        let mut parts = Vec::with_capacity(if is_in_parts { rows.div_ceil(PART) } else { 0 });
        let mut starts = vec![0];
        let (mut end, mut values) = (0usize, Vec::with_capacity(CHUNK));
        for start in (0..rows).step_by(CHUNK) {
            values.clear();
            lengths.read::<i64>(start..rows.min(start + CHUNK), &mut values);
            let begin = end;
            for (row, length) in values.iter().enumerate() {
                if is_in_parts && row % PART == 0 {
                    // In range: a section has less than 2 GiB.
                    parts.push((end - begin) as u32);
                }
                let length = usize::try_from(*length)
                    .ok()
                    .filter(|length| *length <= bytes.len() - end);
                end += length.ok_or_else(|| {
                    Error::corrupt(format!(
                        "a value after row {start} leaves the {} coded bytes",
                        bytes.len()
                    ))
                })?;
            }
            starts.push(end);
        }
        if end != bytes.len() {
            return Err(Error::corrupt(format!(
                "the values have {end} coded bytes, the section {}",
                bytes.len()
            )));
        }
        Ok(CodedText {
            table,
            lengths,
            starts,
            parts,
            bytes,
            text,
        })
    }

    /// The end of each value of a chunk's rows, relative to the chunk's start.
    fn ends(&self, rows: Range<usize>, out: &mut Vec<i64>) {
        out.clear();
        self.lengths.read(rows, out);
        let mut end = 0;
        for length in out.iter_mut() {
            end += *length;
            *length = end;
        }
    }

    /// The values of some rows.
    ///
    /// # Errors
    /// `Corrupt` for unknown codes or text that is not UTF-8.
    pub fn read(&self, rows: &Rows<'_>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let count = rows.count();
        let (mut decoded, mut ends) = (Vec::new(), Vec::with_capacity(count));
        match rows {
            Rows::Range(rows) => self.decode_range(rows.clone(), &mut decoded, &mut ends)?,
            Rows::Positions(positions) => {
                self.decode_positions(positions, &mut decoded, &mut ends)?
            }
        }
        let starts = std::iter::once(0).chain(ends.iter().map(|end| *end as usize));
        let places: Vec<Range<usize>> = starts
            .zip(&ends)
            .map(|(start, end)| start..*end as usize)
            .collect();
        let views = Views::new(Buffer::from_vec(decoded), places.into_iter(), self.text)?;
        Ok(views.slice(0..count, nulls))
    }

    /// Begins to fetch what [`CodedText::value`] will read; of the coded bytes
    /// only the middle of the chunk's share is known before the lengths are.
    pub fn prefetch(&self, row: usize) {
        let chunk = row / CHUNK;
        self.lengths.prefetch(chunk * CHUNK);
        let (start, end) = (self.starts[chunk], self.starts[chunk + 1]);
        prefetch(&self.bytes, start + (end - start) * (row % CHUNK) / CHUNK);
    }

    /// The bytes of one value.
    ///
    /// # Errors
    /// As [`CodedText::read`].
    pub fn value(&self, row: usize) -> Result<Vec<u8>> {
        let place = self.place(row);
        decoded(&self.table, &self.bytes[place], self.text)
    }

    /// Where the coded bytes of a value lie.
    fn place(&self, row: usize) -> Range<usize> {
        let (chunk, place) = (row / CHUNK, row % CHUNK);
        if let (Integers::Frame(lengths), Some(part)) = (&self.lengths, self.parts.get(row / PART))
        {
            let before = row - row % PART..row;
            let before: i64 = before.map(|row| lengths.get(row)).sum();
            let start = self.starts[chunk] + *part as usize + before as usize;
            return start..start + lengths.get(row) as usize;
        }
        let mut lengths = [0i64; CHUNK];
        self.lengths.chunk(chunk, &mut lengths);
        let start = self.starts[chunk] + lengths[..place].iter().sum::<i64>() as usize;
        start..start + lengths[place] as usize
    }

    fn decode_range(
        &self,
        rows: Range<usize>,
        out: &mut Vec<u8>,
        out_ends: &mut Vec<u32>,
    ) -> Result<()> {
        let (mut row, mut ends) = (rows.start, Vec::with_capacity(CHUNK));
        while row < rows.end {
            let chunk = row / CHUNK;
            let last = rows.end.min((chunk + 1) * CHUNK);
            self.ends(chunk * CHUNK..last, &mut ends);
            let skipped = row - chunk * CHUNK;
            let base = skipped.checked_sub(1).map_or(0, |before| ends[before]);
            let start = self.starts[chunk] + base as usize;
            let end = self.starts[chunk] + ends.last().map_or(0, |end| *end as usize);
            let coded = &self.bytes[start..end];
            let ends = ends[skipped..].iter().map(|end| (*end - base) as usize);
            self.table.decode_all(coded, ends, out, out_ends)?;
            row = last;
        }
        Ok(())
    }

    fn decode_positions(
        &self,
        positions: &[u32],
        out: &mut Vec<u8>,
        out_ends: &mut Vec<u32>,
    ) -> Result<()> {
        let (mut known, mut ends) = (usize::MAX, Vec::with_capacity(CHUNK));
        for row in positions.iter().map(|row| *row as usize) {
            let (chunk, place) = (row / CHUNK, row % CHUNK);
            if chunk != known {
                self.ends(
                    chunk * CHUNK..self.lengths.rows().min((chunk + 1) * CHUNK),
                    &mut ends,
                );
                known = chunk;
            }
            let start = place.checked_sub(1).map_or(0, |before| ends[before]) as usize;
            let (start, end) = (
                self.starts[chunk] + start,
                self.starts[chunk] + ends[place] as usize,
            );
            self.table.decode(&self.bytes[start..end], out)?;
            // In range: symbols expand at most tenfold, checked by `Views`.
            out_ends.push(
                u32::try_from(out.len())
                    .map_err(|_| Error::corrupt("over 4 GiB of text in one batch"))?,
            );
        }
        Ok(())
    }

    /// Bytes of memory beyond the sections.
    pub fn memory(&self) -> usize {
        8 * self.starts.len() + 4 * self.parts.len() + (80 << 10)
    }
}

/// Most bytes of room for decoding that a thread keeps.
const ROOM_KEPT: usize = 64 << 10;

/// One value of coded bytes, decoded.
///
/// # Errors
/// `Corrupt` for unknown codes or text that is not UTF-8.
pub fn decoded(table: &SymbolTable, coded: &[u8], text: bool) -> Result<Vec<u8>> {
    thread_local! {
        // Decoding takes several times the room of the value.
        static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    ROOM.with_borrow_mut(|bytes| {
        bytes.clear();
        table.decode(coded, bytes)?;
        if text && std::str::from_utf8(bytes).is_err() {
            return Err(Error::corrupt("text is not UTF-8"));
        }
        let value = bytes.as_slice().to_vec();
        bytes.shrink_to(ROOM_KEPT);
        Ok(value)
    })
}

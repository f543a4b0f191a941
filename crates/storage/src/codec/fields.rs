//! Integers as fixed-width codes inside tuples and minipages (H1, H3, P3).
//!
//! A tuple has a field of the same width for every row, so what a chunk has in
//! a column layout (base, first value) belongs to the block or to a table beside
//! the tuples. Rows of FOR-delta and RLE depend on those before them in their
//! chunk of 1,024, as in the paper's pages.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | scheme: 1 base, 2 steps, 3 runs |
//! | 1 | 1 | bits of a field |
//! | 2 | 2 | zero |
//! | 4 | 4 | runs (scheme 3) |
//! | 8 | 8 | base, or least step |
//! | 16 | 8 × chunks | scheme 2: first value of each chunk; scheme 3: number of its first run |
//! | | 8 × runs | scheme 3: value of each run |

use super::bits::{CHUNK, Mask, Target, width_for};
use super::code_source::CodeSource;
use super::integers;
use super::translate::CodeTest;
use crate::error::{Error, Result};
use crate::format::{Codec, Reader, Writer};
use std::ops::Range;

/// The codes of a column for fields, with the bytes that explain them.
#[derive(Debug)]
pub struct FieldCodes {
    /// Bits of a code.
    pub width: u8,
    /// One for each row, below 2^`width`.
    pub codes: Vec<u64>,
    /// To be given to [`Fields::open`].
    pub header: Vec<u8>,
}

/// Turns integers into codes for fields.
pub fn build(codec: Codec, values: &[i64]) -> FieldCodes {
    match codec {
        Codec::ForDelta => build_steps(values),
        Codec::RunLength => build_runs(values),
        _ => build_base(codec, values),
    }
}

fn header(scheme: u8, width: u8, runs: usize, base: i64) -> Writer {
    let mut writer = Writer::default();
    writer.u8(scheme);
    writer.u8(width);
    writer.u16(0);
    writer.u32(runs as u32);
    writer.u64(base as u64);
    writer
}

fn build_base(codec: Codec, values: &[i64]) -> FieldCodes {
    let least = values.iter().copied().min().unwrap_or(0);
    let base = match codec {
        Codec::BitPack | Codec::Truncation if least >= 0 => 0,
        _ => least,
    };
    let codes: Vec<u64> = values
        .iter()
        .map(|value| value.wrapping_sub(base) as u64)
        .collect();
    let width = width_for(codes.iter().copied().fold(0, |all, code| all | code));
    let width = if codec == Codec::Truncation {
        integers::truncated(width)
    } else {
        width
    };
    FieldCodes {
        width,
        codes,
        header: header(1, width, 0, base).finish(),
    }
}

fn build_steps(values: &[i64]) -> FieldCodes {
    let step = |chunk: &[i64], row: usize| {
        if row == 0 {
            0
        } else {
            chunk[row].wrapping_sub(chunk[row - 1])
        }
    };
    let steps: Vec<i64> = values
        .chunks(CHUNK)
        .flat_map(|chunk| (0..chunk.len()).map(move |row| step(chunk, row)))
        .collect();
    let least = steps.iter().copied().min().unwrap_or(0);
    let codes: Vec<u64> = steps
        .iter()
        .map(|step| step.wrapping_sub(least) as u64)
        .collect();
    let width = width_for(codes.iter().copied().fold(0, |all, code| all | code));
    let mut writer = header(2, width, 0, least);
    values
        .chunks(CHUNK)
        .for_each(|chunk| writer.u64(chunk[0] as u64));
    FieldCodes {
        width,
        codes,
        header: writer.finish(),
    }
}

fn build_runs(values: &[i64]) -> FieldCodes {
    let starts = |row: usize| row > 0 && values[row] != values[row - 1];
    let codes: Vec<u64> = (0..values.len())
        .map(|row| u64::from(starts(row)))
        .collect();
    let mut runs: Vec<i64> = Vec::new();
    let mut firsts = Vec::new();
    for (row, value) in values.iter().enumerate() {
        if row == 0 || starts(row) {
            runs.push(*value);
        }
        if row % CHUNK == 0 {
            firsts.push(runs.len() - 1);
        }
    }
    let mut writer = header(3, 1, runs.len(), 0);
    firsts.iter().for_each(|first| writer.u64(*first as u64));
    runs.iter().for_each(|value| writer.u64(*value as u64));
    FieldCodes {
        width: 1,
        codes,
        header: writer.finish(),
    }
}

/// The meaning of a column's fields, opened.
#[derive(Debug)]
pub struct Fields {
    width: u8,
    scheme: Scheme,
}

#[derive(Debug)]
enum Scheme {
    Base(i64),
    Steps {
        least: i64,
        firsts: Vec<i64>,
    },
    Runs {
        firsts: Vec<usize>,
        values: Vec<i64>,
    },
}

impl Fields {
    /// Checks the header of a column of `rows` rows.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn open(bytes: &[u8], rows: usize) -> Result<Fields> {
        let mut reader = Reader::new(bytes);
        let (scheme, width, _) = (reader.u8()?, reader.u8()?, reader.u16()?);
        let (runs, base) = (reader.u32()? as usize, reader.u64()? as i64);
        let chunks = rows.div_ceil(CHUNK);
        if width > 64 || runs > rows {
            return Err(Error::corrupt(format!(
                "fields of {width} bits with {runs} runs in {rows} rows"
            )));
        }
        let mut many = |count: usize| {
            if reader.remaining() < 8 * count {
                return Err(Error::corrupt(format!(
                    "{} bytes left for {count} integers",
                    reader.remaining()
                )));
            }
            (0..count)
                .map(|_| reader.u64().map(|value| value as i64))
                .collect::<Result<Vec<i64>>>()
        };
        let scheme = match scheme {
            1 => Scheme::Base(base),
            2 => Scheme::Steps {
                least: base,
                firsts: many(chunks)?,
            },
            3 => {
                let firsts: Vec<usize> = many(chunks)?
                    .into_iter()
                    .map(|first| first as usize)
                    .collect();
                Scheme::Runs {
                    firsts,
                    values: many(runs)?,
                }
            }
            other => return Err(Error::corrupt(format!("unknown scheme {other} of fields"))),
        };
        Ok(Fields { width, scheme })
    }

    /// Bits of a code.
    pub fn width(&self) -> u8 {
        self.width
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        match &self.scheme {
            Scheme::Base(_) => 0,
            Scheme::Steps { firsts, .. } => 8 * firsts.len(),
            Scheme::Runs { firsts, values } => 8 * (firsts.len() + values.len()),
        }
    }

    /// Appends the integers of ascending `rows`, whose codes `source` has.
    pub fn integers<D: Target>(&self, rows: &Rows<'_>, source: &impl CodeSource, out: &mut Vec<D>) {
        if let Scheme::Base(base) = &self.scheme {
            return source.read(rows, *base, out);
        }
        // Rows that depend on others: their chunks from the first row to the last wanted.
        let (mut codes, mut chunk): (Vec<u64>, Vec<i64>) = (Vec::new(), Vec::new());
        let mut known = usize::MAX;
        for row in rows.iter().map(|row| row as usize) {
            let number = row / CHUNK;
            if number != known || row % CHUNK >= chunk.len() {
                let last = rows.last_in(number).unwrap_or(row);
                codes.clear();
                source.read(&Rows::Range(number * CHUNK..last + 1), 0, &mut codes);
                self.rebuild(number, &codes, &mut chunk);
                known = number;
            }
            out.push(D::from_code(chunk[row % CHUNK], 0));
        }
    }

    /// Sets in `mask` which of `rows`, a chunk or the beginning of one, pass a test.
    pub fn test(
        &self,
        rows: Range<usize>,
        test: &CodeTest,
        source: &impl CodeSource,
        mask: &mut Mask,
    ) {
        if let (Scheme::Base(base), CodeTest::Ranges(ranges)) = (&self.scheme, test) {
            mask.fill(0);
            for range in ranges.iter().filter(|range| range.end() >= base) {
                // In range: the differences of two i64 are below 2^64.
                let code = |value: i64| value.max(*base).wrapping_sub(*base) as u64;
                let codes = (code(*range.start()), code(*range.end()));
                source.in_range(rows.clone(), codes, mask);
            }
            return;
        }
        let mut integers = Vec::with_capacity(CHUNK);
        self.integers(&Rows::Range(rows), source, &mut integers);
        let mut values = [0i64; CHUNK];
        values[..integers.len()].copy_from_slice(&integers);
        test.test(&values, mask);
    }

    /// The runs of `rows`, if integers lie in runs that save anything: the value of
    /// each, and the row after its last.
    pub fn runs(
        &self,
        rows: Range<usize>,
        source: &impl CodeSource,
    ) -> Option<(Vec<i64>, Vec<u32>)> {
        let Scheme::Runs { firsts, values } = &self.scheme else {
            return None;
        };
        if rows.is_empty() || values.len() * 2 > firsts.len() * CHUNK {
            return None;
        }
        let (mut kept, mut ends) = (Vec::new(), Vec::new());
        let mut row = rows.start;
        while row < rows.end {
            let number = row / CHUNK;
            let chunk = number * CHUNK..rows.end.min((number + 1) * CHUNK);
            let mut begins: Vec<u8> = Vec::with_capacity(CHUNK);
            source.read(&Rows::Range(chunk.clone()), 0, &mut begins);
            let mut run = firsts.get(number).copied().unwrap_or(0);
            for (row, begins) in chunk.clone().zip(begins) {
                let begins = row > chunk.start && begins == 1;
                run = run.saturating_add(usize::from(begins));
                if row < rows.start {
                    continue;
                }
                if begins || row == rows.start || row == chunk.start {
                    kept.push(values.get(run).copied().unwrap_or(0));
                    // In range: a block has at most 2^20 rows.
                    ends.push(row as u32);
                }
            }
            row = chunk.end;
        }
        // Each run ends where the next one begins.
        ends.remove(0);
        ends.push(rows.end as u32);
        Some((kept, ends))
    }

    /// What each code is counted from, if rows do not depend on others.
    pub fn base(&self) -> Option<i64> {
        match &self.scheme {
            Scheme::Base(base) => Some(*base),
            _ => None,
        }
    }

    fn rebuild(&self, number: usize, codes: &[u64], out: &mut Vec<i64>) {
        out.clear();
        match &self.scheme {
            Scheme::Base(base) => {
                out.extend(codes.iter().map(|code| base.wrapping_add(*code as i64)))
            }
            Scheme::Steps { least, firsts } => {
                let mut value = firsts.get(number).copied().unwrap_or(0);
                out.extend(codes.iter().enumerate().map(|(place, code)| {
                    if place > 0 {
                        value = value.wrapping_add(least.wrapping_add(*code as i64));
                    }
                    value
                }));
            }
            Scheme::Runs { firsts, values } => {
                let mut run = firsts.get(number).copied().unwrap_or(0);
                out.extend(codes.iter().enumerate().map(|(place, code)| {
                    run = run.saturating_add(if place > 0 { *code as usize } else { 0 });
                    values.get(run).copied().unwrap_or(0)
                }));
            }
        }
    }
}

/// Some rows of a block, ascending.
#[derive(Clone, Debug)]
pub enum Rows<'a> {
    /// Consecutive ones.
    Range(std::ops::Range<usize>),
    /// Those at these positions.
    Positions(&'a [u32]),
}

impl Rows<'_> {
    /// How many.
    pub fn count(&self) -> usize {
        match self {
            Rows::Range(rows) => rows.len(),
            Rows::Positions(positions) => positions.len(),
        }
    }

    /// Each of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u32> + Clone + '_ {
        let count = self.count();
        (0..count).map(move |number| match self {
            // In range: a block has at most 2^20 rows.
            Rows::Range(rows) => (rows.start + number) as u32,
            Rows::Positions(positions) => positions[number],
        })
    }

    /// The last of them in a chunk.
    fn last_in(&self, chunk: usize) -> Option<usize> {
        let end = (chunk + 1) * CHUNK;
        match self {
            Rows::Range(rows) => rows.end.min(end).checked_sub(1),
            Rows::Positions(positions) => {
                let count = positions.partition_point(|row| (*row as usize) < end);
                positions[..count].last().map(|row| *row as usize)
            }
        }
    }
}

//! Codes of a column, wherever its layout has them.

use super::bits::{CHUNK, Mask, Target};
use super::codebook::Fetch;
use super::fields::{Fields, Rows};
use std::ops::Range;

/// Where a layout has the codes of a column.
pub trait CodeSource {
    /// Appends `base + code` of ascending rows.
    fn read<D: Target>(&self, rows: &Rows<'_>, base: i64, out: &mut Vec<D>);

    /// Adds to `mask` which of `rows`, up to a chunk, have codes in a range, which is
    /// not empty.
    fn in_range(&self, rows: Range<usize>, codes: (u64, u64), mask: &mut Mask);

    /// As [`CodeSource::in_range`], for codes that can only be read one by one.
    fn read_and_compare(&self, rows: Range<usize>, (low, high): (u64, u64), mask: &mut Mask) {
        let mut codes: Vec<u64> = Vec::with_capacity(CHUNK);
        self.read(&Rows::Range(rows), 0, &mut codes);
        for (bits, codes) in mask.iter_mut().zip(codes.chunks(64)) {
            for (place, code) in codes.iter().enumerate() {
                *bits |= u64::from(low <= *code && *code <= high) << place;
            }
        }
    }
}

/// Integers of some rows, to be fetched from their codes.
#[derive(Debug)]
pub struct Fetched<'a, S> {
    /// What the codes mean.
    pub fields: &'a Fields,
    /// Where they are.
    pub source: &'a S,
    /// The rows.
    pub rows: &'a Rows<'a>,
}

impl<S: CodeSource> Fetch for Fetched<'_, S> {
    fn count(&self) -> usize {
        self.rows.count()
    }

    fn fetch<D: Target>(&self, out: &mut Vec<D>) {
        self.fields.integers(self.rows, self.source, out);
    }

    fn rows(&self) -> impl Iterator<Item = u32> + Clone {
        self.rows.iter()
    }
}

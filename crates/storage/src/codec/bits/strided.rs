//! Codes of one field of tuples, which lie at a stride.

use super::level::dispatch;
use super::range::gather;
use super::{CHUNK, Level, Mask, Target};
use crate::codec::bits;
use std::ops::Range;

/// A field of up to 64 bits in tuples that follow each other. One that is wider than
/// 56 bits begins at a whole byte.
#[derive(Clone, Copy, Debug)]
pub struct Strided<'a> {
    tuples: &'a [u8],
    /// Bytes from one tuple to the next.
    stride: usize,
    /// Whole bytes before the field, and bits of the next one.
    byte: usize,
    shift: usize,
    /// As many ones as the field has bits.
    mask: u64,
}

impl<'a> Strided<'a> {
    /// A field of `width` bits after `offset` bits of tuples of `stride` bytes.
    pub fn new(tuples: &'a [u8], stride: usize, offset: usize, width: u8) -> Strided<'a> {
        let mask = u64::MAX.checked_shr(64 - u32::from(width)).unwrap_or(0);
        Strided {
            tuples,
            stride: stride.max(1),
            byte: offset / 8,
            shift: offset % 8,
            mask,
        }
    }

    /// Appends `base + code` of consecutive rows.
    pub fn read<D: Target>(&self, level: Level, rows: Range<usize>, base: i64, out: &mut Vec<D>) {
        let field = self;
        dispatch!(level, read::<D: bits::Target>(field: &Strided<'_>, rows: Range<usize>, base: i64, out: &mut Vec<D>));
    }

    /// Appends `base + code` of the rows at `positions`.
    pub fn take<D: Target>(&self, positions: &[u32], base: i64, out: &mut Vec<D>) {
        let codes = positions.iter().map(|row| self.code(*row as usize));
        out.extend(codes.map(|code| D::from_code(base, code)));
    }

    /// Adds to `mask` which of `rows`, a chunk at most, have codes in `low..=high`.
    pub fn in_range(&self, level: Level, rows: Range<usize>, low: u64, high: u64, mask: &mut Mask) {
        let (field, Some(span)) = (self, high.checked_sub(low)) else {
            return;
        };
        dispatch!(level, in_range::<>(field: &Strided<'_>, rows: Range<usize>, low: u64, span: u64, mask: &mut Mask));
    }

    /// The code of one row; zeros where there are no tuples.
    #[inline(always)]
    pub fn code(&self, row: usize) -> u64 {
        let at = row * self.stride + self.byte;
        match self.tuples.get(at..).and_then(<[u8]>::first_chunk::<8>) {
            Some(word) => u64::from_le_bytes(*word) >> self.shift & self.mask,
            None => self.last(at),
        }
    }

    /// A code of which fewer than eight bytes are left.
    #[cold]
    fn last(&self, at: usize) -> u64 {
        let left = self.tuples[at.min(self.tuples.len())..].iter().rev();
        let word = left.fold(0, |word, byte| word << 8 | u64::from(*byte));
        word >> self.shift & self.mask
    }

    /// How many rows have eight bytes from their field on.
    fn whole(&self) -> usize {
        let last = self.tuples.len().checked_sub(self.byte + 8);
        last.map_or(0, |last| last / self.stride + 1)
    }

    /// The codes of consecutive rows before [`Strided::whole`].
    #[inline(always)]
    fn codes(&self, rows: Range<usize>) -> impl ExactSizeIterator<Item = u64> {
        assert!(rows.end <= self.whole());
        let (field, from) = (*self, self.tuples.as_ptr());
        rows.map(move |row| {
            // SAFETY: the row is before `whole`, so that eight bytes from here are there.
            let word = unsafe {
                let at = from.add(row * field.stride + field.byte);
                at.cast::<u64>().read_unaligned()
            };
            u64::from_le(word) >> field.shift & field.mask
        })
    }
}

#[inline(always)]
fn read<D: Target>(field: &Strided<'_>, rows: Range<usize>, base: i64, out: &mut Vec<D>) {
    let whole = rows.start..rows.end.min(field.whole()).max(rows.start);
    let rest = whole.end..rows.end;
    if !whole.is_empty() {
        out.extend(field.codes(whole).map(|code| D::from_code(base, code)));
    }
    out.extend(rest.map(|row| D::from_code(base, field.code(row))));
}

#[inline(always)]
fn in_range(field: &Strided<'_>, rows: Range<usize>, low: u64, span: u64, mask: &mut Mask) {
    let mut codes = [0u64; CHUNK];
    let whole = rows.start..rows.end.min(field.whole()).max(rows.start);
    let count = whole.len();
    if count > 0 {
        let places = codes.iter_mut().zip(field.codes(whole.clone()));
        places.for_each(|(place, code)| *place = code);
    }
    let places = codes[count..].iter_mut().zip(whole.end..rows.end);
    places.for_each(|(place, row)| *place = field.code(row));
    let mut flags = [0u8; CHUNK];
    for (flag, code) in flags[..rows.len()].iter_mut().zip(&codes) {
        *flag = u8::from(code.wrapping_sub(low) <= span);
    }
    let mut found = [0; CHUNK / 64];
    gather(&flags, &mut found);
    mask.iter_mut()
        .zip(found)
        .for_each(|(mask, found)| *mask |= found);
}

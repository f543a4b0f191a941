//! From columns to a shape, and with the shape to keys.
//!
//! Two passes over the values, neither of which allocates per value: the first
//! finds the front bytes all values share (of integers, those the least and the
//! greatest share) and how long strings get; the second computes the parts column by column.

use super::normal::*;
use super::{Exactness, KEY_BYTES_MAX, KeyKind, KeyPart, KeyShape};
use crate::index::KeyWidth;

/// The values of one column as they lie in memory, one per row.
///
/// Values at NULLs must be there but are not looked at.
#[derive(Clone, Copy, Debug)]
pub enum RawColumn<'a> {
    /// Booleans, one byte each; anything but 0 is true.
    Bool(&'a [u8]),
    /// SMALLINT.
    I16(&'a [i16]),
    /// INTEGER, DATE, short decimals.
    I32(&'a [i32]),
    /// BIGINT, timestamps, decimals.
    I64(&'a [i64]),
    /// Long decimals.
    I128(&'a [i128]),
    /// REAL.
    F32(&'a [f32]),
    /// DOUBLE PRECISION.
    F64(&'a [f64]),
    /// UUID.
    Bytes16(&'a [[u8; 16]]),
    /// Text and BYTEA, each on its own.
    Slices(&'a [&'a [u8]]),
    /// Text and BYTEA, one after the other.
    Joined {
        /// End of each value; it starts where the one before ends.
        ends: &'a [u32],
        /// The values.
        bytes: &'a [u8],
    },
}

/// What is done with the values of a column, whichever kind they are.
trait Visitor {
    type Answer;
    /// Values of one width, normalised to the low bytes of an integer.
    fn integers(self, kind: KeyKind, value: impl Fn(usize) -> u128) -> Self::Answer;
    /// Values of any width.
    fn strings<'a>(self, value: impl Fn(usize) -> &'a [u8]) -> Self::Answer;
}

impl<'a> RawColumn<'a> {
    fn visit<V: Visitor>(self, visitor: V) -> V::Answer {
        use KeyKind as Kind;
        match self {
            RawColumn::Bool(of) => visitor.integers(Kind::Bool, |n| from_bool(of[n] != 0).into()),
            RawColumn::I16(of) => visitor.integers(Kind::I16, |n| from_i16(of[n]).into()),
            RawColumn::I32(of) => visitor.integers(Kind::I32, |n| from_i32(of[n]).into()),
            RawColumn::I64(of) => visitor.integers(Kind::I64, |n| from_i64(of[n]).into()),
            RawColumn::I128(of) => visitor.integers(Kind::I128, |n| from_i128(of[n])),
            RawColumn::F32(of) => visitor.integers(Kind::F32, |n| from_f32(of[n]).into()),
            RawColumn::F64(of) => visitor.integers(Kind::F64, |n| from_f64(of[n]).into()),
            RawColumn::Bytes16(of) => visitor.integers(Kind::Bytes16, |n| from_bytes16(of[n])),
            RawColumn::Slices(of) => visitor.strings(|n| of[n]),
            RawColumn::Joined { ends, bytes } => visitor.strings(|n| {
                let start = n.checked_sub(1).map_or(0, |before| ends[before]);
                &bytes[start as usize..ends[n] as usize]
            }),
        }
    }
}

/// First pass: finds the part of a column, `room` bytes wide at most.
struct Measure<R> {
    rows: R,
    room: usize,
}

impl<R: Iterator<Item = u32>> Visitor for Measure<R> {
    type Answer = KeyPart;

    fn integers(self, kind: KeyKind, value: impl Fn(usize) -> u128) -> KeyPart {
        let width = kind.bytes().unwrap_or(KEY_BYTES_MAX);
        let ends = self.rows.fold(None, |ends, row| {
            let word = value(row as usize);
            let (least, greatest) = ends.unwrap_or((word, word));
            Some((word.min(least), word.max(greatest)))
        });
        // Bytes from the first in which the least and the greatest value differ.
        let (word, needed) = ends.map_or((0, width), |(least, greatest)| {
            let bits = 128 - (least ^ greatest).leading_zeros();
            (least, bits.div_ceil(8) as usize)
        });
        let taken = needed.min(self.room);
        KeyPart {
            kind,
            exactness: match taken == needed {
                true => Exactness::Exact,
                false => Exactness::Inexact,
            },
            taken: taken as u8,
            prefix: word.to_be_bytes()[16 - width..16 - needed].to_vec(),
        }
    }

    fn strings<'a>(mut self, value: impl Fn(usize) -> &'a [u8]) -> KeyPart {
        let first: &[u8] = self.rows.next().map_or(&[], |row| value(row as usize));
        let (mut shared, mut shortest, mut longest) = (first.len(), first.len(), first.len());
        let mut ends_in_zero = first.last() == Some(&0);
        for row in self.rows {
            let string = value(row as usize);
            shared = common_prefix(&first[..shared], string);
            shortest = shortest.min(string.len());
            longest = longest.max(string.len());
            ends_in_zero |= string.last() == Some(&0);
        }
        let shared = shared.min(usize::from(u16::MAX));
        let needed = longest - shared;
        let taken = needed.min(self.room);
        KeyPart {
            kind: KeyKind::Bytes,
            exactness: match (taken == needed, shortest == longest) {
                (true, true) => Exactness::Exact,
                (true, false) if !ends_in_zero => Exactness::Filled,
                _ => Exactness::Inexact,
            },
            taken: taken as u8,
            prefix: first[..shared].to_vec(),
        }
    }
}

/// Second pass: appends a column's part to each key.
struct Append<'k, R> {
    keys: &'k mut [u128],
    rows: R,
    part: &'k KeyPart,
}

impl<R: Iterator<Item = u32>> Append<'_, R> {
    fn each(self, part_of: impl Fn(usize) -> u128) {
        let bits = self.part.bits();
        for (key, row) in self.keys.iter_mut().zip(self.rows) {
            *key = key.unbounded_shl(bits) | part_of(row as usize);
        }
    }
}

impl<R: Iterator<Item = u32>> Visitor for Append<'_, R> {
    type Answer = ();

    fn integers(self, kind: KeyKind, value: impl Fn(usize) -> u128) {
        let width = kind.bytes().unwrap_or(KEY_BYTES_MAX);
        let behind_prefix = 8 * (width - self.part.prefix.len()) as u32;
        let cut = behind_prefix - self.part.bits();
        let mask = u128::MAX.unbounded_shr(128 - behind_prefix);
        self.each(|row| (value(row) & mask).unbounded_shr(cut));
    }

    fn strings<'a>(self, value: impl Fn(usize) -> &'a [u8]) {
        let (prefix, taken) = (self.part.prefix.len(), usize::from(self.part.taken));
        self.each(|row| from_bytes(&value(row)[prefix..], taken));
    }
}

impl KeyShape {
    /// The shape of keys of at most `limit` for these rows of the columns: the
    /// rows without a NULL in any of them.
    ///
    /// # Panics
    /// If a column has fewer rows or there are over 255 columns.
    pub fn of(
        columns: &[RawColumn<'_>],
        rows: impl Iterator<Item = u32> + Clone,
        limit: KeyWidth,
    ) -> KeyShape {
        assert!(columns.len() <= 255, "a shape has at most 255 parts");
        let mut room = limit.bytes();
        let mut parts = Vec::new();
        for column in columns {
            let rows = rows.clone();
            let part = column.visit(Measure { rows, room });
            if part.taken == 0 && !part.exact() {
                break;
            }
            room -= usize::from(part.taken);
            parts.push(part);
        }
        KeyShape {
            columns_left_out: parts.len() < columns.len(),
            parts,
        }
    }

    /// The key and the position of each of the rows that [`KeyShape::of`] was
    /// given, from the same columns.
    ///
    /// # Panics
    /// If a column has fewer rows or shorter strings than then.
    pub fn entries<R: Iterator<Item = u32> + Clone>(
        &self,
        columns: &[RawColumn<'_>],
        rows: R,
    ) -> impl Iterator<Item = (u128, u32)> + use<R> {
        let mut keys = vec![0; rows.clone().count()];
        for (column, part) in columns.iter().zip(&self.parts) {
            let (keys, rows) = (keys.as_mut_slice(), rows.clone());
            column.visit(Append { keys, rows, part });
        }
        keys.into_iter().zip(rows)
    }
}

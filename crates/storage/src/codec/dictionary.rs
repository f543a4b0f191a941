//! Sorted dictionary: each distinct value once, rows hold their rank (H3, Q6).
//!
//! Ranks order like the values, so that a comparison with a constant is a range
//! of ranks, and any other condition on the column is evaluated once per
//! distinct value instead of once per row.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 4 | distinct values |
//! | 4 | 4 | bytes of one value, 0 when they vary |
//! | 8 | | values; or end offset of each (4), then their bytes |

use super::ArrayForm;
use super::distinct::{Distinct, distinct};
use super::{Dense, DenseData, Views, fixed_to_arrow, stored_value};
use crate::error::{Error, Result};
use crate::format::{BLOCK_ROWS_MAX, Reader, Writer};
use crate::schema::{ColumnType, Physical, Value};
use arrow_array::ArrayRef;
use arrow_buffer::{Buffer, MutableBuffer, NullBuffer};
use std::cmp::Ordering;
use std::ops::Range;

/// Most distinct values that codes are made for: they then take at most 18 bits.
/// A dictionary itself may have a value per row ([`BLOCK_ROWS_MAX`]).
pub const ENTRIES_MAX: usize = 1 << 18;

/// The dictionary's bytes and each row's code; `None` with more than `most` values.
pub fn build(column: &Dense, physical: Physical, most: usize) -> Option<(Vec<u8>, Vec<i64>)> {
    match &column.data {
        DenseData::Variable { ends, bytes } => {
            let start = |row: usize| row.checked_sub(1).map_or(0, |before| ends[before] as usize);
            let value = |row: usize| &bytes[start(row)..ends[row] as usize];
            let found = distinct(column, most, value)?;
            let (order, codes) = ranked(found, |a, b| a.cmp(b));
            let mut writer = Writer::default();
            // In range: at most `BLOCK_ROWS_MAX` values, in a column below 2 GiB.
            writer.u32(order.len() as u32);
            writer.u32(0);
            let mut end = 0;
            for value in &order {
                end += value.len() as u32;
                writer.u32(end);
            }
            order.iter().for_each(|value| writer.put(value));
            Some((writer.finish(), codes))
        }
        DenseData::Fixed { width, bytes } => {
            let value = |row: usize| {
                let mut word = [0u8; 16];
                word[..*width].copy_from_slice(&bytes[row * width..(row + 1) * width]);
                u128::from_le_bytes(word)
            };
            let found = distinct(column, most, value)?;
            let (order, codes) = ranked(found, |a, b| compare(*a, *b, physical));
            let mut writer = Writer::default();
            writer.u32(order.len() as u32);
            writer.u32(*width as u32);
            order
                .iter()
                .for_each(|value| writer.put(&value.to_le_bytes()[..*width]));
            Some((writer.finish(), codes))
        }
    }
}

/// As `build` without a limit: a column has no more values than rows.
pub fn build_whole(column: &Dense, physical: Physical) -> (Vec<u8>, Vec<i64>) {
    build(column, physical, column.rows).unwrap_or_default()
}

/// Sorts the values and turns numbers in order of appearance into ranks.
fn ranked<K: Copy>(found: Distinct<K>, compare: impl Fn(&K, &K) -> Ordering) -> (Vec<K>, Vec<i64>) {
    let mut order: Vec<u32> = (0..found.values.len() as u32).collect();
    order.sort_unstable_by(|a, b| compare(&found.values[*a as usize], &found.values[*b as usize]));
    let mut ranks = vec![0i64; order.len()];
    for (rank, number) in order.iter().enumerate() {
        ranks[*number as usize] = rank as i64;
    }
    let codes = found
        .numbers
        .iter()
        .map(|number| ranks.get(*number as usize).copied().unwrap_or(0));
    (
        order
            .iter()
            .map(|number| found.values[*number as usize])
            .collect(),
        codes.collect(),
    )
}

/// Orders two stored values, zero-extended to 16 bytes, as the column's type does.
fn compare(a: u128, b: u128, physical: Physical) -> Ordering {
    match physical {
        Physical::I16 => (a as i16).cmp(&(b as i16)),
        Physical::I32 => (a as i32).cmp(&(b as i32)),
        Physical::I64 => (a as i64).cmp(&(b as i64)),
        Physical::I128 => (a as i128).cmp(&(b as i128)),
        Physical::F32 => f32::from_bits(a as u32).total_cmp(&f32::from_bits(b as u32)),
        Physical::F64 => f64::from_bits(a as u64).total_cmp(&f64::from_bits(b as u64)),
        _ => a.to_le_bytes().cmp(&b.to_le_bytes()),
    }
}

/// A dictionary, opened.
#[derive(Debug)]
pub struct Dictionary {
    kind: ColumnType,
    entries: usize,
    values: Values,
}

#[derive(Debug)]
enum Values {
    Fixed { width: usize, bytes: Buffer },
    Variable(Views),
}

impl Dictionary {
    /// Checks lengths, offsets and text.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn open(kind: ColumnType, bytes: &Buffer) -> Result<Dictionary> {
        let mut reader = Reader::new(bytes.as_slice());
        let (entries, width) = (reader.u32()? as usize, reader.u32()? as usize);
        let expected = kind.physical().width().unwrap_or(0);
        if entries > BLOCK_ROWS_MAX || width != expected {
            return Err(Error::corrupt(format!(
                "a dictionary of {entries} values of {width} bytes; at most {BLOCK_ROWS_MAX} of {expected}"
            )));
        }
        let values = if let Physical::Bytes { text } = kind.physical() {
            let mut places: Vec<Range<usize>> = Vec::with_capacity(entries);
            let mut start = 0;
            for _ in 0..entries {
                let end = reader.u32()? as usize;
                places.push(start..end);
                start = end;
            }
            Values::Variable(Views::new(
                bytes.slice(8 + 4 * entries),
                places.into_iter(),
                text,
            )?)
        } else {
            reader.take(entries * width)?;
            let mut copy = MutableBuffer::new(entries * width);
            copy.extend_from_slice(&bytes[8..8 + entries * width]);
            Values::Fixed {
                width,
                bytes: copy.into(),
            }
        };
        Ok(Dictionary {
            kind,
            entries,
            values,
        })
    }

    /// Distinct values.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// Whether values vary in length.
    pub fn is_variable(&self) -> bool {
        matches!(self.values, Values::Variable(_))
    }

    /// Bytes of memory beyond the section.
    pub fn memory(&self) -> usize {
        match &self.values {
            Values::Fixed { bytes, .. } => bytes.len(),
            Values::Variable(views) => views.memory(),
        }
    }

    /// The value of one code.
    ///
    /// # Errors
    /// `Corrupt` if there is none.
    pub fn value(&self, code: i64) -> Result<Value> {
        let place = usize::try_from(code).ok();
        let Some(place) = place.filter(|place| *place < self.entries) else {
            let entries = self.entries;
            return Err(Error::corrupt(format!(
                "code {code} in a dictionary of {entries}"
            )));
        };
        Ok(match &self.values {
            Values::Variable(views) => Value::Bytes(views.value(place).to_vec()),
            Values::Fixed { width, bytes } => stored_value(
                &bytes[place * width..(place + 1) * width],
                self.kind.physical(),
            ),
        })
    }

    /// All values, in order, as an array.
    ///
    /// # Errors
    /// `Corrupt` if they cannot be of this type.
    pub fn array(&self) -> Result<ArrayRef> {
        match &self.values {
            Values::Fixed { bytes, .. } => {
                fixed_to_arrow(&self.kind, self.entries, bytes.clone(), None)
            }
            Values::Variable(views) => Ok(views.slice(0..self.entries, None)),
        }
    }

    /// The values of `codes`, each below [`Dictionary::entries`].
    ///
    /// # Errors
    /// As [`Dictionary::array`].
    pub fn decode(&self, codes: &[u32], nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        self.decode_as(codes, nulls, ArrayForm::Sql)
    }

    pub(super) fn decode_as(
        &self,
        codes: &[u32],
        nulls: Option<NullBuffer>,
        form: ArrayForm,
    ) -> Result<ArrayRef> {
        let kind = form.kind(&self.kind);
        match &self.values {
            Values::Variable(views) if self.entries == 0 => Ok(views.empty(codes.len(), nulls)),
            Values::Variable(views) => Ok(views.take(codes, nulls)),
            Values::Fixed { width, .. } if self.entries == 0 => fixed_to_arrow(
                &kind,
                codes.len(),
                MutableBuffer::from_len_zeroed(width * codes.len()).into(),
                nulls,
            ),
            Values::Fixed { width, bytes } => fixed_to_arrow(
                &kind,
                codes.len(),
                super::gather_fixed(bytes, *width, codes),
                nulls,
            ),
        }
    }
}

//! Keys as bytes that compare like the keys.
//!
//! A value is a byte that says whether it is NULL, and, if not, its bytes from the most
//! significant on, the sign turned; all of them are inverted where the greatest comes
//! first. No key is the beginning of another: text ends with two zeros, and a zero within
//! it is followed by 255.

use super::{mismatch, ordinal};
use crate::Result;
use crate::plan::SortKey;
use crate::vector::{Kind, Values, Vector};
use arrow_array::cast::AsArray;
use std::ops::Range;

/// Before a value that is not NULL; NULL is less or more.
const VALUE: u8 = 1;

/// The keys of some rows, one after the other.
#[derive(Debug, Default)]
pub(super) struct ByteKeys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl ByteKeys {
    /// The keys of `rows`, which have a column for each key.
    pub fn new(columns: &[Vector], keys: &[SortKey], rows: Range<usize>) -> Result<ByteKeys> {
        let mut all = ByteKeys {
            bytes: Vec::with_capacity(rows.len() * keys.len() * 9),
            ends: Vec::with_capacity(rows.len()),
        };
        let columns: Vec<(&Vector, &SortKey, Kind)> = columns
            .iter()
            .zip(keys)
            .map(|(column, key)| (column, key, Kind::of(&key.kind)))
            .collect();
        for row in rows {
            for (column, key, kind) in &columns {
                if column.is_null(row) {
                    all.bytes.push(if key.nulls_first { 0 } else { 2 });
                    continue;
                }
                all.bytes.push(VALUE);
                let start = all.bytes.len();
                put(&mut all.bytes, &column.values, *kind, row)?;
                if key.descending {
                    all.bytes[start..]
                        .iter_mut()
                        .for_each(|byte| *byte = !*byte);
                }
            }
            all.ends.push(all.bytes.len());
        }
        Ok(all)
    }

    /// The key of the row at a place.
    #[inline]
    pub fn key(&self, place: usize) -> &[u8] {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[place]]
    }

    /// The last key.
    pub fn last(&self) -> Option<&[u8]> {
        Some(self.key(self.ends.len().checked_sub(1)?))
    }

    /// How many keys.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many bytes all of them begin with that `other` begins with as well.
    pub fn common(&self, other: &[u8]) -> usize {
        let mut common = other.len();
        for place in 0..self.len() {
            let pairs = self.key(place).iter().zip(&other[..common]);
            common = pairs.take_while(|(a, b)| a == b).count();
        }
        common
    }
}

/// The bytes of one value.
fn put(out: &mut Vec<u8>, values: &Values, kind: Kind, row: usize) -> Result<()> {
    match (kind, values) {
        (Kind::Int, Values::Int(values)) => {
            out.extend_from_slice(&(values[row] ^ i64::MIN).to_be_bytes());
        }
        (Kind::Wide, Values::Int(values)) => {
            out.extend_from_slice(&(i128::from(values[row]) ^ i128::MIN).to_be_bytes());
        }
        (Kind::Wide, Values::Wide(values)) => {
            out.extend_from_slice(&(values[row] ^ i128::MIN).to_be_bytes());
        }
        (Kind::Float, Values::Float(values)) => {
            out.extend_from_slice(&ordinal(values[row]).to_be_bytes());
        }
        (Kind::Bool, Values::Bool(bits)) => out.push(bits.value(row).into()),
        (Kind::Text, Values::Text(array)) => {
            put_text(out, array.as_string_view().value(row).as_bytes());
        }
        (Kind::Text, Values::Coded { codes, entries }) => {
            let text = entries.as_string_view().value(codes[row] as usize);
            put_text(out, text.as_bytes());
        }
        _ => return Err(mismatch()),
    }
    Ok(())
}

fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    while let Some(zero) = rest.iter().position(|byte| *byte == 0) {
        out.extend_from_slice(&rest[..=zero]);
        out.push(255);
        rest = &rest[zero + 1..];
    }
    out.extend_from_slice(rest);
    out.extend_from_slice(&[0, 0]);
}

//! Keys as numbers of few bits, packed into one word.
//!
//! What a key is over the least of its column takes as many bits as the greatest needs;
//! NULL is one number more. Texts of a dictionary are numbered in their order.

use super::{mismatch, ordinal};
use crate::Result;
use crate::kernels::bounds;
use crate::plan::SortKey;
use crate::vector::{Kind, Values, Vector};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use std::ops::Range;

/// A dictionary of so many entries is put in order however few rows there are,
const SMALL: usize = 64;
/// else if there are so many rows for each entry.
const ROWS: usize = 2;

/// A word that keys are packed into.
pub(super) trait Word: Copy + Ord + Send + Sync {
    /// Of no key yet.
    const ZERO: Self;
    /// The word and a number of some bits below it.
    fn and(self, bits: u32, number: u64) -> Self;
    /// The number of the lowest bits, at most 32.
    fn low(self, bits: u32) -> u32;
    /// Whether two words differ in the lowest bits at most.
    fn same_above(self, other: Self, bits: u32) -> bool;
}

impl Word for u64 {
    const ZERO: u64 = 0;
    #[inline(always)]
    fn and(self, bits: u32, number: u64) -> u64 {
        self << bits | number
    }
    #[inline(always)]
    fn low(self, bits: u32) -> u32 {
        (self & ((1 << bits) - 1)) as u32
    }
    #[inline(always)]
    fn same_above(self, other: Self, bits: u32) -> bool {
        self >> bits == other >> bits
    }
}

impl Word for u128 {
    const ZERO: u128 = 0;
    #[inline(always)]
    fn and(self, bits: u32, number: u64) -> u128 {
        self << bits | u128::from(number)
    }
    #[inline(always)]
    fn low(self, bits: u32) -> u32 {
        (self & ((1 << bits) - 1)) as u32
    }
    #[inline(always)]
    fn same_above(self, other: Self, bits: u32) -> bool {
        self >> bits == other >> bits
    }
}

/// Bits of numbers up to `greatest`.
pub(super) fn bits_of(greatest: u64) -> u32 {
    64 - greatest.leading_zeros()
}

/// Keys that can be packed.
pub(super) struct Words<'a> {
    fields: Vec<Field<'a>>,
    /// Bits of a key.
    pub bits: u32,
}

struct Field<'a> {
    numbers: Numbers<'a>,
    nulls: Option<&'a NullBuffer>,
    /// Bits of a number.
    bits: u32,
    /// Greatest over least value, where that comes first.
    inverted: Option<u64>,
    /// The number of the first value, and that of NULL.
    first: u64,
    null: u64,
}

/// What each value is over the least.
enum Numbers<'a> {
    Int(&'a [i64], i64),
    Wide(&'a [i128], i128),
    Float(&'a [f64], u64),
    Bool(&'a BooleanBuffer),
    Text(&'a [u32], Vec<u32>),
}

impl<'a> Words<'a> {
    /// Keys with a column for each; `None` if they cannot be packed.
    pub fn new(columns: &'a [Vector], keys: &[SortKey]) -> Result<Option<Words<'a>>> {
        let mut fields = Vec::with_capacity(keys.len());
        for (column, key) in columns.iter().zip(keys) {
            match Field::new(column, key)? {
                Some(field) => fields.push(field),
                None => return Ok(None),
            }
        }
        let bits = fields.iter().map(|field| field.bits).sum();
        Ok(Some(Words { fields, bits }))
    }

    /// The keys of `rows`, each with the number of its row below, of some bits.
    pub fn entries<W: Word>(&self, rows: Range<usize>, row_bits: u32) -> Vec<W> {
        let mut entries = vec![W::ZERO; rows.len()];
        for field in self.fields.iter().filter(|field| field.bits > 0) {
            field.put(rows.clone(), &mut entries);
        }
        for (entry, row) in entries.iter_mut().zip(rows) {
            *entry = entry.and(row_bits, row as u64);
        }
        entries
    }
}

impl<'a> Field<'a> {
    fn new(column: &'a Vector, key: &SortKey) -> Result<Option<Field<'a>>> {
        let numbers = Numbers::of(&column.values, Kind::of(&key.kind))?;
        let nulls = column.nulls.as_ref();
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        let Some((numbers, span)) = numbers else {
            return Ok(None);
        };
        let Some(greatest) = span.checked_add(nulls.is_some().into()) else {
            return Ok(None);
        };
        Ok(Some(Field {
            numbers,
            bits: bits_of(greatest),
            inverted: key.descending.then_some(span),
            first: (nulls.is_some() && key.nulls_first).into(),
            null: if key.nulls_first { 0 } else { greatest },
            nulls,
        }))
    }

    fn put<W: Word>(&self, rows: Range<usize>, entries: &mut [W]) {
        match &self.numbers {
            Numbers::Int(values, least) => {
                self.put_each(rows, entries, |row| values[row].wrapping_sub(*least) as u64);
            }
            Numbers::Wide(values, least) => {
                self.put_each(rows, entries, |row| values[row].wrapping_sub(*least) as u64);
            }
            Numbers::Float(values, least) => {
                self.put_each(rows, entries, |row| ordinal(values[row]) - least);
            }
            Numbers::Bool(bits) => self.put_each(rows, entries, |row| bits.value(row).into()),
            Numbers::Text(codes, ranks) => {
                self.put_each(rows, entries, |row| ranks[codes[row] as usize].into());
            }
        }
    }

    #[inline(always)]
    fn put_each<W: Word>(
        &self,
        rows: Range<usize>,
        entries: &mut [W],
        number: impl Fn(usize) -> u64,
    ) {
        let place = |row: usize| match self.inverted {
            None => number(row) + self.first,
            Some(span) => span - number(row) + self.first,
        };
        let each = entries.iter_mut().zip(rows);
        match self.nulls {
            None => each.for_each(|(entry, row)| *entry = entry.and(self.bits, place(row))),
            Some(nulls) => each.for_each(|(entry, row)| {
                let number = if nulls.is_null(row) {
                    self.null
                } else {
                    place(row)
                };
                *entry = entry.and(self.bits, number);
            }),
        }
    }
}

impl<'a> Numbers<'a> {
    /// With what the greatest is over the least; values of NULLs count as well.
    fn of(values: &'a Values, kind: Kind) -> Result<Option<(Numbers<'a>, u64)>> {
        Ok(match (kind, values) {
            (Kind::Int | Kind::Wide, Values::Int(values)) => {
                let (least, greatest) = bounds(values);
                let span = greatest.wrapping_sub(least) as u64;
                Some((Numbers::Int(values, least), span))
            }
            (Kind::Wide, Values::Wide(values)) => {
                let least = values.iter().copied().min().unwrap_or(0);
                let greatest = values.iter().copied().max().unwrap_or(0);
                let span = greatest.wrapping_sub(least) as u128;
                let span = u64::try_from(span).ok();
                span.map(|span| (Numbers::Wide(values, least), span))
            }
            (Kind::Float, Values::Float(values)) => {
                let least = values.iter().copied().map(ordinal).min().unwrap_or(0);
                let greatest = values.iter().copied().map(ordinal).max().unwrap_or(0);
                Some((Numbers::Float(values, least), greatest - least))
            }
            (Kind::Bool, Values::Bool(bits)) => Some((Numbers::Bool(bits), 1)),
            (Kind::Text, Values::Coded { codes, entries })
                if entries.len() <= (codes.len() / ROWS).max(SMALL) =>
            {
                let (ranks, greatest) = ranks(entries);
                Some((Numbers::Text(codes, ranks), greatest))
            }
            (Kind::Text, Values::Text(_) | Values::Coded { .. }) => None,
            _ => return Err(mismatch()),
        })
    }
}

/// Where each entry of a dictionary comes in their order, equal ones at the same place,
/// and the last place.
fn ranks(entries: &ArrayRef) -> (Vec<u32>, u64) {
    let text = entries.as_string_view();
    // In range: entries are numbered in 32 bits.
    let mut order: Vec<u32> = (0..text.len() as u32).collect();
    order.sort_unstable_by_key(|entry| text.value(*entry as usize));
    let (mut ranks, mut rank) = (vec![0; text.len()], 0);
    for (place, entry) in order.iter().enumerate() {
        let before = place.checked_sub(1).map(|before| order[before] as usize);
        rank += u32::from(before.is_some_and(|b| text.value(b) != text.value(*entry as usize)));
        ranks[*entry as usize] = rank;
    }
    (ranks, rank.into())
}

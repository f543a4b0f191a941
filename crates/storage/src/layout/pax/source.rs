//! The columns that pages are filled from, with what filling asks about them.

use super::page::{NULL_NARROW, NULL_WIDE, Shape, set_present};
use crate::codec::{Dense, DenseData};
use arrow_buffer::NullBuffer;
use std::ops::Range;

/// One column of the rows to be laid out.
#[derive(Debug)]
pub(super) struct Source<'a> {
    /// Its form in a minipage.
    pub shape: Shape,
    nulls: Option<&'a NullBuffer>,
    ends: &'a [u32],
    bytes: &'a [u8],
}

impl<'a> Source<'a> {
    /// Wraps a column; one that has NULLs counts as nullable whatever was declared.
    pub fn new(column: &'a Dense, nullable: bool) -> Source<'a> {
        let nulls = column.nulls.as_ref().filter(|nulls| nulls.null_count() > 0);
        let nullable = nullable || nulls.is_some();
        match &column.data {
            DenseData::Fixed { width, bytes } => Source {
                shape: Shape {
                    width: Some(*width),
                    nullable,
                },
                nulls,
                ends: &[],
                bytes,
            },
            DenseData::Variable { ends, bytes } => Source {
                shape: Shape {
                    width: None,
                    nullable,
                },
                nulls,
                ends,
                bytes,
            },
        }
    }

    fn start(&self, row: usize) -> usize {
        row.checked_sub(1)
            .map_or(0, |before| self.ends[before] as usize)
    }

    fn present(&self, rows: Range<usize>) -> usize {
        let set = |nulls: &NullBuffer| nulls.inner().slice(rows.start, rows.len()).count_set_bits();
        self.nulls.map_or(rows.len(), set)
    }

    /// Bytes of the values of some rows.
    pub fn values(&self, rows: Range<usize>) -> usize {
        match self.shape.width {
            Some(width) => width * self.present(rows),
            None => self.start(rows.end) - self.start(rows.start),
        }
    }

    /// How many of `rows` fit a minipage of `capacity` bytes that holds `held`
    /// rows with `values` bytes of values.
    pub fn fitting(
        &self,
        rows: Range<usize>,
        capacity: usize,
        held: usize,
        values: usize,
        end_bytes: usize,
    ) -> usize {
        let Some(left) = capacity.checked_sub(values) else {
            return 0;
        };
        match self.shape.width {
            Some(width) if !self.shape.nullable => (left / width).min(rows.len()),
            Some(width) if self.nulls.is_none() => {
                let fits = |count: usize| count * width + (held + count).div_ceil(8) <= left;
                last_true(rows.len().min(left / width), fits)
            }
            Some(_) => {
                let fits = |count: usize| {
                    self.values(rows.start..rows.start + count) + (held + count).div_ceil(8) <= left
                };
                last_true(rows.len().min(8 * left), fits)
            }
            None => {
                let base = self.start(rows.start);
                let fits = |count: usize| {
                    self.start(rows.start + count) - base + (held + count) * end_bytes <= left
                };
                last_true(rows.len().min(left / end_bytes), fits)
            }
        }
    }

    /// Copies the values of `rows` into a minipage that holds `held` rows with
    /// `values` bytes of values; they fit.
    pub fn copy(
        &self,
        rows: Range<usize>,
        minipage: &mut [u8],
        held: usize,
        values: usize,
        end_bytes: usize,
    ) {
        match self.shape.width {
            Some(width) => {
                match self
                    .nulls
                    .filter(|nulls| nulls.slice(rows.start, rows.len()).null_count() > 0)
                {
                    None => {
                        let from = &self.bytes[rows.start * width..rows.end * width];
                        minipage[values..values + from.len()].copy_from_slice(from);
                    }
                    Some(nulls) => {
                        self.copy_present(rows.clone(), nulls, width, &mut minipage[values..])
                    }
                }
                if self.shape.nullable {
                    for (row, from) in (held..).zip(rows) {
                        if self.nulls.is_none_or(|nulls| nulls.is_valid(from)) {
                            set_present(minipage, row);
                        }
                    }
                }
            }
            None => {
                let base = self.start(rows.start);
                let from = &self.bytes[base..self.start(rows.end)];
                minipage[values..values + from.len()].copy_from_slice(from);
                let slots = minipage.len() - (held + rows.len()) * end_bytes
                    ..minipage.len() - held * end_bytes;
                match end_bytes {
                    2 => self.put_ends(rows, &mut minipage[slots], |end, null| {
                        // In range: no value on such a page ends past 2^15.
                        ((end - base + values) as u16 | if null { NULL_NARROW } else { 0 })
                            .to_le_bytes()
                    }),
                    _ => self.put_ends(rows, &mut minipage[slots], |end, null| {
                        // In range: no page has 2^31 bytes.
                        ((end - base + values) as u32 | if null { NULL_WIDE } else { 0 })
                            .to_le_bytes()
                    }),
                }
            }
        }
    }

    fn put_ends<const N: usize>(
        &self,
        rows: Range<usize>,
        slots: &mut [u8],
        slot: impl Fn(usize, bool) -> [u8; N],
    ) {
        let (_, slots) = slots.as_rchunks_mut::<N>();
        let slots = slots.iter_mut().rev().zip(&self.ends[rows.clone()]);
        match self.nulls {
            None => slots.for_each(|(place, end)| *place = slot(*end as usize, false)),
            Some(nulls) => {
                slots.zip(rows).for_each(|((place, end), row)| {
                    *place = slot(*end as usize, nulls.is_null(row))
                });
            }
        }
    }

    /// Copies those of `rows` that are present, one after the other.
    fn copy_present(&self, rows: Range<usize>, nulls: &NullBuffer, width: usize, to: &mut [u8]) {
        let mut places = to.chunks_exact_mut(width);
        let from = self.bytes[rows.start * width..rows.end * width].chunks_exact(width);
        for (row, value) in rows.zip(from) {
            if nulls.is_valid(row)
                && let Some(place) = places.next()
            {
                place.copy_from_slice(value);
            }
        }
    }
}

/// The largest of `0..=most` for which `holds`; 0 holds, and nothing above one that does not.
fn last_true(most: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut known, mut above) = (0, most + 1);
    while above - known > 1 {
        let middle = known + (above - known) / 2;
        if holds(middle) {
            known = middle
        } else {
            above = middle
        }
    }
    known
}

//! Reading values from opened pages.
//!
//! Per page one copy of a piece of a minipage; where values are NULL, the
//! present ones are spread out to one slot per row. Values of varying length
//! are not copied at all.

use super::store::{Column, Contents, PaxStore};
use crate::error::Result;
use crate::layout::TupleStore;
use crate::layout::dense::fixed_to_arrow;
use arrow_array::ArrayRef;
use arrow_buffer::{MutableBuffer, NullBuffer};
use std::ops::Range;

impl TupleStore for PaxStore {
    fn read(&self, column: usize, rows: Range<usize>) -> Result<ArrayRef> {
        let Contents { nulls, views } = self.contents(column)?;
        let column = &self.columns[column];
        let present = nulls
            .as_ref()
            .map(|nulls| nulls.slice(rows.start, rows.len()));
        if let Some(views) = views {
            return Ok(views.slice(rows, present));
        }
        let count = rows.len();
        let bytes = match column.kind.physical().width() {
            Some(1) => self.copy::<1>(column, nulls.as_ref(), rows),
            Some(2) => self.copy::<2>(column, nulls.as_ref(), rows),
            Some(4) => self.copy::<4>(column, nulls.as_ref(), rows),
            Some(8) => self.copy::<8>(column, nulls.as_ref(), rows),
            _ => self.copy::<16>(column, nulls.as_ref(), rows),
        };
        fixed_to_arrow(&column.kind, count, bytes.into(), present)
    }

    fn take(&self, column: usize, positions: &[u32]) -> Result<ArrayRef> {
        let Contents { nulls, views } = self.contents(column)?;
        let column = &self.columns[column];
        let present = nulls.as_ref().map(|nulls| {
            positions
                .iter()
                .map(|row| nulls.is_valid(*row as usize))
                .collect()
        });
        if let Some(views) = views {
            return Ok(views.take(positions, present));
        }
        let bytes = match column.kind.physical().width() {
            Some(1) => self.gather::<1>(column, nulls.as_ref(), positions),
            Some(2) => self.gather::<2>(column, nulls.as_ref(), positions),
            Some(4) => self.gather::<4>(column, nulls.as_ref(), positions),
            Some(8) => self.gather::<8>(column, nulls.as_ref(), positions),
            _ => self.gather::<16>(column, nulls.as_ref(), positions),
        };
        fixed_to_arrow(&column.kind, positions.len(), bytes.into(), present)
    }
}

impl PaxStore {
    /// The page that holds `row`.
    fn page_of(&self, row: usize) -> usize {
        self.firsts
            .partition_point(|first| *first as usize <= row)
            .saturating_sub(1)
    }

    /// The fixed-width values of `rows`, zeros for NULLs.
    fn copy<const N: usize>(
        &self,
        column: &Column,
        nulls: Option<&NullBuffer>,
        rows: Range<usize>,
    ) -> MutableBuffer {
        let mut copied = MutableBuffer::from_len_zeroed(N * rows.len());
        let mut rest = copied.as_slice_mut();
        let mut page = self.page_of(rows.start);
        let mut row = rows.start;
        while row < rows.end {
            let on_page = self.rows(page);
            let end = on_page.end.min(rows.end);
            let (here, later) = rest.split_at_mut(N * (end - row));
            let values = &self.minipage(column, page)[N * present(nulls, on_page.start..row)..];
            match nulls.filter(|nulls| present(Some(nulls), row..end) < end - row) {
                None => here.copy_from_slice(&values[..here.len()]),
                Some(nulls) => {
                    let mut values = values.as_chunks::<N>().0.iter();
                    for (place, row) in here.as_chunks_mut::<N>().0.iter_mut().zip(row..) {
                        if nulls.is_valid(row)
                            && let Some(value) = values.next()
                        {
                            *place = *value;
                        }
                    }
                }
            }
            (rest, row, page) = (later, end, page + 1);
        }
        copied
    }

    /// The fixed-width values at ascending `positions`, zeros for NULLs.
    fn gather<const N: usize>(
        &self,
        column: &Column,
        nulls: Option<&NullBuffer>,
        positions: &[u32],
    ) -> MutableBuffer {
        let mut gathered = MutableBuffer::from_len_zeroed(N * positions.len());
        let mut places = gathered.as_slice_mut().as_chunks_mut::<N>().0.iter_mut();
        let mut rest = positions;
        let mut page = 0;
        while let Some(first) = rest.first().map(|first| *first as usize) {
            if !self.rows(page).contains(&first) {
                page = self.page_of(first);
            }
            let on_page = self.rows(page);
            let (here, later) =
                rest.split_at(rest.partition_point(|row| (*row as usize) < on_page.end));
            let values = self.minipage(column, page).as_chunks::<N>().0;
            let (mut counted, mut before) = (on_page.start, 0);
            for (row, place) in here.iter().map(|row| *row as usize).zip(&mut places) {
                let Some(nulls) = nulls else {
                    *place = values[row - on_page.start];
                    continue;
                };
                before += present(Some(nulls), counted..row);
                counted = row;
                if nulls.is_valid(row) {
                    *place = values[before];
                }
            }
            rest = later;
        }
        gathered
    }
}

/// How many of `rows` are present.
fn present(nulls: Option<&NullBuffer>, rows: Range<usize>) -> usize {
    let set = |nulls: &NullBuffer| nulls.inner().slice(rows.start, rows.len()).count_set_bits();
    if rows.is_empty() {
        0
    } else {
        nulls.map_or(rows.len(), set)
    }
}

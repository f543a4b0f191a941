//! Reading values from opened pages.
//!
//! Per page one copy of a piece of a minipage; where values are NULL, the
//! present ones are spread out to one slot per row. Values of varying length
//! are not copied at all.

use super::store::{Column, Contents, PaxStore};
use crate::codec::bits::{Level, Mask, Target, bytes_in_range, widen};
use crate::codec::code_source::CodeSource;
use crate::codec::fields::Rows;
use crate::codec::{
    ArrayForm, CodeTest, Codebook, fixed_to_arrow, prefetch, stored_value, symbols_to_arrow,
};
use crate::error::Result;
use crate::layout::TupleStore;
use crate::layout::coded_text::decoded;
use crate::layout::validity::at_rows;
use crate::predicate::Leaf;
use crate::schema::Value;
use arrow_array::ArrayRef;
use arrow_buffer::{BooleanBuffer, MutableBuffer, NullBuffer};
use std::ops::Range;

/// So many pages ahead minipages are fetched: each begins elsewhere, where the
/// processor does not look by itself.
const AHEAD: usize = 4;
/// Where one row in so many is read, most lines of a minipage are.
const DENSE: usize = 16;

impl TupleStore for PaxStore {
    fn read_as(&self, column: usize, rows: &Rows<'_>, form: ArrayForm) -> Result<ArrayRef> {
        let Contents { nulls, views } = self.contents(column)?;
        let present = nulls.as_ref().map(|nulls| at_rows(nulls, rows));
        let column = &self.columns[column];
        let book = &column.book;
        match (views, &book.codebook) {
            (Some(views), Codebook::Symbols(table)) => {
                let values = rows.iter().map(|row| views.value(row as usize));
                symbols_to_arrow(table, values, book.is_text(), present)
            }
            (Some(views), _) => Ok(match rows {
                Rows::Range(rows) => views.slice(rows.clone(), present),
                Rows::Positions(positions) => views.take(positions, present),
            }),
            (None, Codebook::Plain) => {
                let bytes = self.bytes(column, nulls.as_ref(), rows);
                fixed_to_arrow(&form.kind(&book.kind), rows.count(), bytes.into(), present)
            }
            (None, _) => {
                let nulls = nulls.as_ref();
                let store = self;
                book.decode(
                    rows,
                    present,
                    &MinipageCodes {
                        store,
                        column,
                        nulls,
                    },
                    form,
                )
            }
        }
    }

    fn prefetch(&self, columns: &[usize], row: u32) {
        let row = row as usize;
        let page = self.page_of(row);
        let before = row - self.rows(page).start;
        for column in columns
            .iter()
            .filter_map(|column| self.columns.get(*column))
        {
            let views = column.contents().and_then(|known| known.views.as_ref());
            match (views, column.width) {
                (Some(views), _) => views.prefetch(row),
                // Where NULLs take no place, the value lies a little before.
                (None, Some(width)) => prefetch(self.minipage(column, page), width * before),
                (None, None) => {}
            }
        }
    }

    fn value(&self, column: usize, row: u32) -> Result<Option<Value>> {
        let Contents { nulls, views } = self.contents(column)?;
        let place = row as usize;
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(place)) {
            return Ok(None);
        }
        let (nulls, column) = (nulls.as_ref(), &self.columns[column]);
        let book = &column.book;
        let value = match (views, &book.codebook) {
            (Some(views), Codebook::Symbols(table)) => {
                Value::Bytes(decoded(table, views.value(place), book.is_text())?)
            }
            (Some(views), _) => Value::Bytes(views.value(place).to_vec()),
            (None, Codebook::Plain) => {
                stored_value(self.one(column, nulls, place), book.kind.physical())
            }
            (None, _) => {
                let store = self;
                let codes = MinipageCodes {
                    store,
                    column,
                    nulls,
                };
                book.value(row, || code_of(self.one(column, nulls, place)), &codes)?
            }
        };
        Ok(Some(value))
    }

    fn translate(&self, column: usize, leaf: &Leaf) -> Result<Option<CodeTest>> {
        self.columns[column].book.translate(leaf)
    }

    fn ranks(&self, column: usize) -> Result<Option<Vec<i64>>> {
        let rows = self.firsts.last().map_or(0, |rows| *rows as usize);
        let codes = self.codes(column)?;
        Ok(codes.column.book.ranks(rows, &codes))
    }

    fn test(&self, column: usize, test: &CodeTest, rows: Range<usize>) -> Result<BooleanBuffer> {
        let codes = self.codes(column)?;
        let passing = codes.column.book.test(test, rows.clone(), &codes);
        Ok(match codes.nulls {
            Some(nulls) => &passing & nulls.slice(rows.start, rows.len()).inner(),
            None => passing,
        })
    }

    fn runs(&self, column: usize, rows: Range<usize>) -> Result<Option<(Vec<i64>, Vec<u32>)>> {
        let codes = self.codes(column)?;
        Ok(match codes.nulls {
            None => codes.column.book.runs(rows, &codes),
            Some(_) => None,
        })
    }
}

impl PaxStore {
    fn codes(&self, column: usize) -> Result<MinipageCodes<'_>> {
        Ok(MinipageCodes {
            nulls: self.contents(column)?.nulls.as_ref(),
            column: &self.columns[column],
            store: self,
        })
    }

    /// Values or codes of some rows, zeros for NULLs.
    fn bytes(&self, column: &Column, nulls: Option<&NullBuffer>, rows: &Rows<'_>) -> MutableBuffer {
        fn read<const N: usize>(
            store: &PaxStore,
            column: &Column,
            nulls: Option<&NullBuffer>,
            rows: &Rows<'_>,
        ) -> MutableBuffer {
            match rows {
                Rows::Range(rows) => store.copy::<N>(column, nulls, rows.clone()),
                Rows::Positions(positions) => store.gather::<N>(column, nulls, positions),
            }
        }
        match column.width {
            Some(1) => read::<1>(self, column, nulls, rows),
            Some(2) => read::<2>(self, column, nulls, rows),
            Some(4) => read::<4>(self, column, nulls, rows),
            Some(8) => read::<8>(self, column, nulls, rows),
            _ => read::<16>(self, column, nulls, rows),
        }
    }

    /// The value or code of a row that is present.
    fn one(&self, column: &Column, nulls: Option<&NullBuffer>, row: usize) -> &[u8] {
        let page = self.page_of(row);
        let before = present(nulls, self.rows(page).start..row);
        let width = column.width.unwrap_or(1);
        &self.minipage(column, page)[width * before..width * (before + 1)]
    }

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
            self.fetch(column, page + AHEAD);
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
            if here.len() * DENSE >= on_page.len() {
                self.fetch(column, page + AHEAD);
            }
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

/// The codes of a column on all pages.
struct MinipageCodes<'a> {
    store: &'a PaxStore,
    column: &'a Column,
    nulls: Option<&'a NullBuffer>,
}

impl MinipageCodes<'_> {
    fn width(&self) -> usize {
        self.column.width.unwrap_or(1)
    }

    /// The codes of `rows`, none of which is NULL, page by page.
    fn pieces(&self, rows: Range<usize>) -> impl Iterator<Item = &[u8]> {
        let mut row = rows.start;
        let mut page = self.store.page_of(row);
        let width = self.width();
        std::iter::from_fn(move || {
            if row >= rows.end {
                return None;
            }
            let on_page = self.store.rows(page);
            let end = on_page.end.min(rows.end);
            let piece = width * (row - on_page.start)..width * (end - on_page.start);
            self.store.fetch(self.column, page + AHEAD);
            let piece = &self.store.minipage(self.column, page)[piece];
            (row, page) = (end, page + 1);
            Some(piece)
        })
    }
}

impl CodeSource for MinipageCodes<'_> {
    fn read<D: Target>(&self, rows: &Rows<'_>, base: i64, out: &mut Vec<D>) {
        let (level, width) = (Level::best(), self.width());
        match (rows, self.nulls) {
            (Rows::Range(rows), None) => {
                for piece in self.pieces(rows.clone()) {
                    widen(level, piece, width, base, out);
                }
            }
            _ => {
                let bytes = self.store.bytes(self.column, self.nulls, rows);
                widen(level, &bytes, width, base, out);
            }
        }
    }

    fn in_range(&self, rows: Range<usize>, codes: (u64, u64), mask: &mut Mask) {
        let (level, width) = (Level::best(), self.width());
        match self.nulls {
            None => bytes_in_range(level, self.pieces(rows), width, codes, mask),
            Some(_) => {
                let bytes = self
                    .store
                    .bytes(self.column, self.nulls, &Rows::Range(rows));
                bytes_in_range(level, std::iter::once(&*bytes), width, codes, mask);
            }
        }
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

/// A code of up to eight bytes.
fn code_of(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

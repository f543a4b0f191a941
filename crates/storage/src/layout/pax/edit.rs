//! Changing the records of a PAX page (P5; section 4.2 of the PAX paper).
//!
//! * A value of fixed width is written over the old one. A value of varying
//!   length that fits its minipage moves those after it, in that minipage only;
//!   so does one of fixed width that becomes NULL, or is no longer.
//! * If the minipage is full, it borrows from the others, the near ones first:
//!   from each what is missing, or half of what is free there if that is more,
//!   lest the next value borrow again. Boundaries move.
//! * If all minipages together have not enough, the record has to move.
//!
//! An inserted record is the last of its page. If it fits the page but not its
//! minipages, boundaries are planned anew, as when pages are filled.
//!
//! The paper has the bitmap of deleted records at the beginning of the page. The
//! format of blocks has no place for it there: it is kept beside the bytes.

use super::check::{check_contents, read_minipages};
use super::deleted::Numbers;
use super::minipage::Minipage;
use super::page::{
    MINIPAGE_BYTES, PAGE_BYTES, PageHeader, Shape, encode_minipage, end_bytes, header_bytes,
};
use super::plan::{Room, Sample, bounds};
use super::shift::{Held, shift};
use crate::error::{Error, Result};
use crate::format::Writer;
use crate::layout::edit::{
    Compaction, PageColumn, PageEditor, PageUpdate, check_columns, check_page_bytes, check_record,
    check_value, no_column, no_record, put_word, too_large, word,
};
use std::ops::Range;
use std::sync::Arc;

/// Offsets of the header fields that change.
const ROWS: usize = 0;
const FREE: usize = 12;

/// Most rows of an edited page, far above those of a block: plans multiply them
/// with the bytes of a page.
const MOST_ROWS: usize = 1 << 24;

/// One PAX page and its bitmap of deleted records.
#[derive(Clone, Debug)]
pub struct PaxPageEditor {
    bytes: Vec<u8>,
    columns: Arc<[PageColumn]>,
    numbers: Numbers,
    compaction: Compaction,
}

impl PageEditor for PaxPageEditor {
    type Form = Arc<[PageColumn]>;

    fn form(columns: &[PageColumn], _: usize) -> Result<Self::Form> {
        check_columns(columns)?;
        Ok(columns.into())
    }

    fn empty(form: &Self::Form, page_bytes: usize, compaction: Compaction) -> Result<Self> {
        let begin = header_bytes(form.len());
        check_page_bytes(page_bytes, begin)?;
        let mut writer = Writer::default();
        // In range: both were checked.
        let header = PageHeader {
            rows: 0,
            columns: form.len() as u16,
            end_bytes: end_bytes(page_bytes) as u16,
            bytes: page_bytes as u32,
            free: (page_bytes - begin) as u32,
        };
        header.encode(&mut writer);
        form.iter()
            .for_each(|column| encode_minipage(&mut writer, begin as u32, Shape::from(*column)));
        let mut bytes = writer.finish();
        bytes.resize(page_bytes, 0);
        Ok(PaxPageEditor {
            bytes,
            columns: form.clone(),
            numbers: Numbers::default(),
            compaction,
        })
    }

    fn open(form: &Self::Form, page: Vec<u8>, compaction: Compaction) -> Result<Self> {
        check_page_bytes(page.len(), header_bytes(form.len()))
            .map_err(|error| Error::corrupt(error.to_string()))?;
        let (header, places) =
            read_minipages(&page, None, form.len(), |column| form[column].width)?;
        let mut editor = PaxPageEditor {
            bytes: page,
            columns: form.clone(),
            numbers: Numbers::new(header.rows as usize),
            compaction,
        };
        let nullable = form.iter().map(|column| column.nullable);
        let same = places.iter().map(|(_, shape)| shape.nullable).eq(nullable);
        let begins = places.first().map(|(place, _)| place.start);
        if begins != Some(header_bytes(form.len())) {
            return Err(Error::corrupt(format!("minipages begin at {begins:?}")));
        }
        if !same || usize::from(header.end_bytes) != end_bytes(editor.bytes.len()) {
            return Err(Error::corrupt(
                "minipages of other columns, or other end offsets",
            ));
        }
        for (column, (place, shape)) in places.into_iter().enumerate() {
            let minipage = editor.minipage(column);
            check_contents(
                &editor.bytes[place.clone()],
                shape,
                minipage.rows,
                minipage.end_bytes,
            )?;
            minipage.clear_free(&mut editor.bytes[place]);
        }
        editor.set_free();
        if word(&editor.bytes, FREE) != header.free as usize {
            return Err(Error::corrupt(format!("{} bytes free", header.free)));
        }
        Ok(editor)
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn packed(&self) -> Vec<u8> {
        let mut packed = self.clone();
        packed.compact();
        packed.bytes
    }

    fn numbers(&self) -> usize {
        self.numbers.count()
    }

    fn has(&self, record: usize) -> bool {
        self.numbers.row(record).is_some()
    }

    fn value(&self, record: usize, column: usize) -> Result<Option<&[u8]>> {
        let row = self.numbers.row(record).ok_or_else(|| no_record(record))?;
        if column >= self.columns.len() {
            return Err(no_column(column));
        }
        let bytes = &self.bytes[self.place(column)];
        Ok(self.minipage(column).value(bytes, row))
    }

    fn update(&mut self, record: usize, column: usize, value: Option<&[u8]>) -> Result<PageUpdate> {
        let row = self.numbers.row(record).ok_or_else(|| no_record(record))?;
        check_value(&self.columns, column, value)?;
        let (minipage, place) = (self.minipage(column), self.place(column));
        let bytes = &self.bytes[place.clone()];
        let old = minipage.span(bytes, row..row + 1).len();
        let new = value.map_or(0, <[u8]>::len);
        let missing = if new > old {
            (minipage.held(bytes).bytes() + new - old).saturating_sub(place.len())
        } else {
            0
        };
        let free = word(&self.bytes, FREE);
        if new > old + free {
            return self.no_room(record, row, column, value);
        }
        if missing > 0 {
            self.borrow(column, missing);
        }
        let place = self.place(column);
        minipage.put(&mut self.bytes[place], row, value);
        put_word(&mut self.bytes, FREE, free + old - new);
        Ok(if missing > 0 {
            PageUpdate::Reorganised
        } else {
            PageUpdate::InPlace
        })
    }

    fn insert(&mut self, values: &[Option<&[u8]>]) -> Result<Option<usize>> {
        check_record(&self.columns, values)?;
        let (rows, mut held) = (self.rows() + 1, self.held());
        let wide = end_bytes(self.bytes.len());
        for (column, (held, value)) in held.iter_mut().zip(values).enumerate() {
            held.values += value.map_or(0, <[u8]>::len);
            held.back = self.shape(column).back(rows, wide);
        }
        let begin = header_bytes(self.columns.len());
        let taken: usize = held.iter().map(|held| held.bytes()).sum();
        if begin + taken > self.bytes.len() || rows > MOST_ROWS {
            if self.numbers.are_marked() {
                self.compact();
                return self.insert(values);
            }
            self.check_alone(values)?;
            return Ok(None);
        }
        let short = |(column, held): (usize, &Held)| held.bytes() > self.place(column).len();
        if held.iter().enumerate().any(short) {
            let wanted = Sample {
                rows,
                values: held.iter().map(|held| held.values).collect(),
            };
            let room = Room {
                begin,
                end: self.bytes.len(),
                end_bytes: wide,
            };
            let shapes: Vec<Shape> = self.columns.iter().map(|form| Shape::from(*form)).collect();
            self.move_bounds(&bounds(&shapes, &wanted, room));
        }
        for (column, value) in values.iter().enumerate() {
            let (minipage, place) = (self.minipage(column), self.place(column));
            minipage.push(&mut self.bytes[place], *value);
        }
        put_word(&mut self.bytes, ROWS, rows);
        self.set_free();
        Ok(Some(self.numbers.give()))
    }

    fn delete(&mut self, record: usize) -> Result<()> {
        if !self.has(record) {
            return Err(no_record(record));
        }
        self.numbers.mark(record);
        if self.compaction == Compaction::Now {
            self.compact();
        }
        Ok(())
    }

    fn compact(&mut self) {
        if !self.numbers.are_marked() {
            return;
        }
        let runs = self.numbers.sweep();
        for column in 0..self.columns.len() {
            let (minipage, place) = (self.minipage(column), self.place(column));
            minipage.keep(&mut self.bytes[place], &runs);
        }
        put_word(
            &mut self.bytes,
            ROWS,
            runs.iter().map(|run| run.len()).sum(),
        );
        self.set_free();
    }
}

impl PaxPageEditor {
    /// Rows, those of marked records included.
    fn rows(&self) -> usize {
        word(&self.bytes, ROWS)
    }

    fn shape(&self, column: usize) -> Shape {
        Shape::from(self.columns[column])
    }

    fn minipage(&self, column: usize) -> Minipage {
        Minipage {
            shape: self.shape(column),
            rows: self.rows(),
            end_bytes: end_bytes(self.bytes.len()),
        }
    }

    /// Where a minipage begins; after the last, the page's end.
    fn bound(&self, column: usize) -> usize {
        if column == self.columns.len() {
            return self.bytes.len();
        }
        word(&self.bytes, PAGE_BYTES + MINIPAGE_BYTES * column)
    }

    fn place(&self, column: usize) -> Range<usize> {
        self.bound(column)..self.bound(column + 1)
    }

    /// What each minipage holds.
    fn held(&self) -> Vec<Held> {
        let columns = 0..self.columns.len();
        columns
            .map(|column| self.minipage(column).held(&self.bytes[self.place(column)]))
            .collect()
    }

    fn set_free(&mut self) {
        let taken: usize = self.held().iter().map(|held| held.bytes()).sum();
        let free = self.bytes.len() - header_bytes(self.columns.len()) - taken;
        put_word(&mut self.bytes, FREE, free);
    }

    /// Moves what the minipages hold to new boundaries.
    fn move_bounds(&mut self, new: &[usize]) {
        let old: Vec<usize> = (0..=self.columns.len())
            .map(|column| self.bound(column))
            .collect();
        let held = self.held();
        shift(&mut self.bytes, &held, &old, new);
        for (column, bound) in new.iter().take(self.columns.len()).enumerate() {
            put_word(
                &mut self.bytes,
                PAGE_BYTES + MINIPAGE_BYTES * column,
                *bound,
            );
        }
    }

    /// Gives a minipage `missing` more bytes, which others have free.
    fn borrow(&mut self, column: usize, mut missing: usize) {
        let count = self.columns.len();
        let mut sizes: Vec<usize> = (0..count).map(|column| self.place(column).len()).collect();
        let held = self.held();
        let near = (1..count).flat_map(|away| [column.checked_sub(away), Some(column + away)]);
        for lender in near.flatten().filter(|lender| *lender < count) {
            if missing == 0 {
                break;
            }
            let free = sizes[lender] - held[lender].bytes();
            let lent = free.min(missing.max(free / 2));
            sizes[lender] -= lent;
            sizes[column] += lent;
            missing = missing.saturating_sub(lent);
        }
        let mut bound = self.bound(0);
        let mut bounds = vec![bound];
        for size in sizes {
            bound += size;
            bounds.push(bound);
        }
        self.move_bounds(&bounds);
    }

    /// What becomes of an update that needs more than the page has free.
    fn no_room(
        &mut self,
        record: usize,
        row: usize,
        column: usize,
        value: Option<&[u8]>,
    ) -> Result<PageUpdate> {
        if self.numbers.are_marked() {
            self.compact();
            return match self.update(record, column, value)? {
                PageUpdate::NoRoom => Ok(PageUpdate::NoRoom),
                _ => Ok(PageUpdate::Reorganised),
            };
        }
        let mut values = Vec::with_capacity(self.columns.len());
        for other in 0..self.columns.len() {
            let bytes = &self.bytes[self.place(other)];
            values.push(self.minipage(other).value(bytes, row));
        }
        values[column] = value;
        self.check_alone(&values)?;
        Ok(PageUpdate::NoRoom)
    }

    /// Whether a record fits an empty page.
    fn check_alone(&self, values: &[Option<&[u8]>]) -> Result<()> {
        let back = |column| self.shape(column).back(1, end_bytes(self.bytes.len()));
        let backs: usize = (0..self.columns.len()).map(back).sum();
        let values: usize = values.iter().flatten().map(|value| value.len()).sum();
        let needed = header_bytes(self.columns.len()) + backs + values;
        if needed > self.bytes.len() {
            return Err(too_large(needed, self.bytes.len()));
        }
        Ok(())
    }
}

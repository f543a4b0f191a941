//! Changing the records of a slotted page (section 4.2 of the PAX paper, for NSM).
//!
//! * A value of fixed width, or one that is not longer than the old one, is
//!   written into the record, which shrinks in its place.
//! * A longer one makes the record longer: it is written anew in the free space
//!   between records and slots. If that is too short, the gaps between records
//!   are closed first. The slot keeps its number and gets the new place.
//! * If that does not help either, the record has to move.
//! * A deleted record leaves a free slot, all zero, for the next insert.

use super::page::{NARROW_MAX, PAGE_BYTES, PageHeader, put_slot, slot};
use super::record::RecordForm;
use super::slotted;
use crate::error::{Error, Result};
use crate::layout::edit::{
    Compaction, PageColumn, PageEditor, PageUpdate, check_columns, check_page_bytes, check_record,
    check_value, no_column, no_record, put_word, too_large, word,
};
use crate::layout::pages::Entry;
use std::ops::Range;
use std::sync::Arc;

/// Offsets of the header fields that change.
const RECORDS: usize = 0;
const FREE: usize = 12;

/// One slotted page.
#[derive(Clone, Debug)]
pub struct SlottedPageEditor {
    bytes: Vec<u8>,
    form: Arc<RecordForm>,
    compaction: Compaction,
}

impl PageEditor for SlottedPageEditor {
    type Form = Arc<RecordForm>;

    fn form(columns: &[PageColumn], largest_page: usize) -> Result<Self::Form> {
        check_columns(columns)?;
        let end_bytes = if largest_page <= NARROW_MAX { 2 } else { 4 };
        Ok(Arc::new(RecordForm::new(columns, end_bytes)))
    }

    fn empty(form: &Self::Form, page_bytes: usize, compaction: Compaction) -> Result<Self> {
        check_page_bytes(page_bytes, PAGE_BYTES)?;
        if page_bytes > NARROW_MAX && form.shape.end_bytes == 2 {
            return Err(too_large(page_bytes, NARROW_MAX));
        }
        // In range: under 2 GiB.
        let header = PageHeader {
            records: 0,
            offset_bytes: form.shape.end_bytes as u16,
            bytes: page_bytes as u32,
            free: PAGE_BYTES as u32,
        };
        let mut bytes = header.encode();
        bytes.resize(page_bytes, 0);
        Ok(SlottedPageEditor {
            bytes,
            form: form.clone(),
            compaction,
        })
    }

    fn open(form: &Self::Form, page: Vec<u8>, compaction: Compaction) -> Result<Self> {
        check_page_bytes(page.len(), PAGE_BYTES)
            .map_err(|error| Error::corrupt(error.to_string()))?;
        if page.len() > NARROW_MAX && form.shape.end_bytes == 2 {
            return Err(Error::corrupt("a page larger than the largest"));
        }
        let entry = Entry {
            bytes: 0..page.len(),
            first: 0,
            // In range: it was read from four bytes.
            rows: word(&page, RECORDS) as u32,
        };
        let mut records = slotted::records(&page, &[entry], &form.shape)?;
        let mut bounds = records
            .iter()
            .map(|record| record.start as usize..record.end as usize);
        bounds.try_for_each(|record| form.check(&page[record]))?;
        records.sort_by_key(|record| record.start);
        if let Some(pair) = records.windows(2).find(|pair| pair[0].end > pair[1].start) {
            return Err(Error::corrupt(format!("records overlap: {pair:?}")));
        }
        Ok(SlottedPageEditor {
            bytes: page,
            form: form.clone(),
            compaction,
        })
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn packed(&self) -> Vec<u8> {
        let mut packed = self.clone();
        packed.close_gaps();
        let records = (0..self.numbers()).map(|number| packed.slot(number));
        let records: Vec<_> = records.filter(|record| !record.is_empty()).collect();
        let (len, slot_bytes) = (packed.bytes.len(), packed.slot_bytes());
        packed.bytes[len - self.numbers() * slot_bytes..].fill(0);
        put_word(&mut packed.bytes, RECORDS, records.len());
        for (number, record) in records.into_iter().enumerate() {
            put_slot(&mut packed.bytes, number, self.form.shape.end_bytes, record);
        }
        packed.bytes
    }

    fn numbers(&self) -> usize {
        word(&self.bytes, RECORDS)
    }

    fn has(&self, record: usize) -> bool {
        record < self.numbers() && !self.slot(record).is_empty()
    }

    fn value(&self, record: usize, column: usize) -> Result<Option<&[u8]>> {
        let record = &self.bytes[self.record(record)?];
        if column >= self.form.columns.len() {
            return Err(no_column(column));
        }
        let present = record[column / 8] >> (column % 8) & 1 == 1;
        Ok(present.then(|| &record[self.form.span(record, column)]))
    }

    fn update(&mut self, record: usize, column: usize, value: Option<&[u8]>) -> Result<PageUpdate> {
        let place = self.record(record)?;
        check_value(&self.form.columns, column, value)?;
        let bytes = &mut self.bytes[place.clone()];
        let old = self.form.span(bytes, column).len();
        let new = value.map_or(0, <[u8]>::len);
        if self.form.columns[column].width.is_none() && new > old {
            let mut longer = vec![0; place.len() + new - old];
            longer[..place.len()].copy_from_slice(bytes);
            self.form.put(&mut longer, place.len(), column, value);
            return self.rewrite(record, place, &longer);
        }
        let len = self.form.put(bytes, place.len(), column, value);
        if len < place.len() {
            let end = place.start + len;
            put_slot(
                &mut self.bytes,
                record,
                self.form.shape.end_bytes,
                place.start..end,
            );
            if place.end == self.free() {
                put_word(&mut self.bytes, FREE, end);
            }
        }
        Ok(PageUpdate::InPlace)
    }

    fn insert(&mut self, values: &[Option<&[u8]>]) -> Result<Option<usize>> {
        check_record(&self.form.columns, values)?;
        let varying: usize = self
            .form
            .varying(values)
            .map(|(_, value)| value.len())
            .sum();
        let size = self.form.shape.width + varying;
        let slots = self.numbers();
        let reused = (0..slots).find(|number| self.slot(*number).is_empty());
        let new_slot = if reused.is_some() {
            0
        } else {
            self.slot_bytes()
        };
        let most = self.slots_begin().saturating_sub(new_slot);
        if self.free() + size > most {
            if PAGE_BYTES + self.live_bytes() + size > most {
                self.check_alone(size)?;
                return Ok(None);
            }
            self.close_gaps();
        }
        let number = reused.unwrap_or(slots);
        put_word(&mut self.bytes, RECORDS, slots.max(number + 1));
        let record = self.form.record(values, size);
        self.write(number, self.free(), &record);
        Ok(Some(number))
    }

    fn delete(&mut self, record: usize) -> Result<()> {
        self.record(record)?;
        self.free_slot(record);
        if self.compaction == Compaction::Now {
            self.compact();
        }
        Ok(())
    }

    fn compact(&mut self) {
        self.close_gaps();
        let live = |number: &usize| !self.slot(*number).is_empty();
        let slots = (0..self.numbers()).rfind(live).map_or(0, |last| last + 1);
        put_word(&mut self.bytes, RECORDS, slots);
    }
}

impl SlottedPageEditor {
    /// Where the records end.
    fn free(&self) -> usize {
        word(&self.bytes, FREE)
    }

    fn slot_bytes(&self) -> usize {
        2 * self.form.shape.end_bytes
    }

    fn slots_begin(&self) -> usize {
        self.bytes.len() - self.numbers() * self.slot_bytes()
    }

    /// The place of a record; empty if its slot is free.
    fn slot(&self, number: usize) -> Range<usize> {
        slot(&self.bytes, number, self.form.shape.end_bytes)
    }

    fn free_slot(&mut self, number: usize) {
        put_slot(&mut self.bytes, number, self.form.shape.end_bytes, 0..0);
    }

    /// The place of a record that is not deleted.
    fn record(&self, number: usize) -> Result<Range<usize>> {
        if !self.has(number) {
            return Err(no_record(number));
        }
        Ok(self.slot(number))
    }

    /// Bytes of all records.
    fn live_bytes(&self) -> usize {
        (0..self.numbers())
            .map(|number| self.slot(number).len())
            .sum()
    }

    /// Writes a record at `start`, where the free space shall begin behind it.
    fn write(&mut self, number: usize, start: usize, record: &[u8]) {
        let end = start + record.len();
        self.bytes[start..end].copy_from_slice(record);
        put_slot(
            &mut self.bytes,
            number,
            self.form.shape.end_bytes,
            start..end,
        );
        put_word(&mut self.bytes, FREE, end);
    }

    /// Gives a record that has become longer another place on the page.
    fn rewrite(&mut self, number: usize, place: Range<usize>, record: &[u8]) -> Result<PageUpdate> {
        let free = if place.end == self.free() {
            place.start
        } else {
            self.free()
        };
        if free + record.len() <= self.slots_begin() {
            self.write(number, free, record);
            return Ok(PageUpdate::Rewritten);
        }
        let others = PAGE_BYTES + self.live_bytes() - place.len();
        if others + record.len() <= self.slots_begin() {
            self.free_slot(number);
            self.close_gaps();
            self.write(number, self.free(), record);
            return Ok(PageUpdate::Reorganised);
        }
        self.check_alone(record.len())?;
        Ok(PageUpdate::NoRoom)
    }

    /// Moves the records together, in the order of their slots.
    fn close_gaps(&mut self) {
        let free = self.free();
        let old = self.bytes[..free].to_vec();
        let mut to = PAGE_BYTES;
        for number in 0..self.numbers() {
            let place = self.slot(number);
            if !place.is_empty() {
                self.write(number, to, &old[place.clone()]);
                to += place.len();
            }
        }
        put_word(&mut self.bytes, FREE, to);
        self.bytes[to..free].fill(0);
    }

    /// Whether a record of `size` fits an empty page.
    fn check_alone(&self, size: usize) -> Result<()> {
        let needed = PAGE_BYTES + size + self.slot_bytes();
        if needed > self.bytes.len() {
            return Err(too_large(needed, self.bytes.len()));
        }
        Ok(())
    }
}

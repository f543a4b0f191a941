//! Slotted pages: records of varying length behind a slot directory (P1).
//!
//! The N-ary storage model as the PAX paper draws it: a page has a header,
//! records from its front, and from its end a slot for each, so that a record
//! can move on its page without changing its number. A record is
//!
//! * its header: presence bits, one a column, 1 = present;
//! * the fixed part: fixed columns in order, codes bit by bit as in dense tuples;
//! * the end offset of each variable value, from the record's beginning;
//! * the variable part: those values.
//!
//! ```text
//! (7, 'Jane', NULL) with SMALLINT, TEXT, TEXT, no codecs
//! 011 | 07 00 | 0b 00 0b 00 | Jane       (header 1, fixed 2, offsets 4, variable 4)
//! ```
//!
//! The tables of bytes are in [`page`](super::page). A page is filled up to
//! `fill_percent` of its bytes; a record that no page can hold has one of
//! several times the size for itself. All codecs work as in dense tuples.
//! Blocks are immutable, so their slots never change: the form is for
//! experiments, as is [`edit`](super::edit), which does change records in place.

use super::page::{NARROW_MAX, PAGE_BYTES, PageHeader, put_slot};
use super::shape::{Shape, Source};
use crate::error::{Error, Result};
use crate::format::Writer;
use crate::layout::pages::{Entry, on_page};
use crate::schema::TableOptions;
use std::ops::Range;

/// Pages and page directory of one block.
#[derive(Debug, Default)]
pub(super) struct Filled {
    /// Pages, one after the other.
    pub pages: Vec<u8>,
    /// Page directory.
    pub directory: Writer,
}

/// Fills pages with all rows of `source`.
///
/// # Errors
/// 54000 when the pages take over 2 GiB.
pub(super) fn fill(source: &Source<'_>, options: &TableOptions) -> Result<Filled> {
    let page_bytes = options.page_bytes as usize;
    let variable: Vec<usize> = (0..source.rows())
        .map(|row| source.variable(row).map(|(_, value)| value.len()).sum())
        .collect();
    let largest = variable.iter().copied().max().unwrap_or(0);
    let pages = |shape: &Shape| {
        let one = PAGE_BYTES + shape.width + largest + 2 * shape.end_bytes;
        one.next_multiple_of(page_bytes)
    };
    // All offsets of a block have one width: that of its largest page.
    let narrow = Shape::slotted(&source.forms, 2);
    let shape = if pages(&narrow) <= NARROW_MAX {
        narrow
    } else {
        Shape::slotted(&source.forms, 4)
    };
    let slot = 2 * shape.end_bytes;
    let limit = page_bytes * usize::from(options.fill_percent) / 100;
    let (mut filled, mut first, mut taken) = (Filled::default(), 0, PAGE_BYTES);
    for (row, variable) in variable.iter().enumerate() {
        let record = shape.width + variable + slot;
        if row > first && taken + record > limit {
            filled.put_page(source, &shape, first..row, page_bytes)?;
            (first, taken) = (row, PAGE_BYTES);
        }
        taken += record;
    }
    if first < variable.len() {
        filled.put_page(source, &shape, first..variable.len(), page_bytes)?;
    }
    Ok(filled)
}

impl Filled {
    /// Writes a page of `rows`, in as many times `page_bytes` as they need.
    fn put_page(
        &mut self,
        source: &Source<'_>,
        shape: &Shape,
        rows: Range<usize>,
        page_bytes: usize,
    ) -> Result<()> {
        let mut page = vec![0; PAGE_BYTES];
        let mut records = Vec::with_capacity(rows.len());
        for row in rows.clone() {
            let start = page.len();
            page.resize(start + shape.width, 0);
            source.put_fixed(row, shape, &mut page[start..]);
            for (column, value) in source.variable(row) {
                page.extend_from_slice(value);
                let end = page.len() - start;
                shape.put_end(&mut page[start..], column, end);
            }
            records.push(start..page.len());
        }
        let free = page.len();
        let slots = rows.len() * 2 * shape.end_bytes;
        page.resize((free + slots).next_multiple_of(page_bytes), 0);
        for (number, record) in records.into_iter().enumerate() {
            put_slot(&mut page, number, shape.end_bytes, record);
        }
        let end = self.pages.len() + page.len();
        if i32::try_from(end).is_err() {
            return Err(
                Error::invalid("54000", "more than 2 GiB of pages in one block")
                    .with_hint("Choose a smaller block_bytes."),
            );
        }
        // In range: the pages end below 2 GiB.
        let header = PageHeader {
            records: rows.len() as u32,
            offset_bytes: shape.end_bytes as u16,
            bytes: page.len() as u32,
            free: free as u32,
        };
        page[..PAGE_BYTES].copy_from_slice(&header.encode());
        self.directory.u32(self.pages.len() as u32);
        self.directory.u32(rows.start as u32);
        self.pages.extend_from_slice(&page);
        Ok(())
    }
}

/// Bytes of an offset, as the first page says; 2 without pages.
pub(super) fn offset_bytes(pages: &[u8], entries: &[Entry]) -> Result<usize> {
    let Some(first) = entries.first() else {
        return Ok(2);
    };
    let header = PageHeader::decode(&pages[first.bytes.clone()], first.rows)
        .map_err(|error| on_page(error, 0))?;
    Ok(header.offset_bytes.into())
}

/// Where each record lies in `pages`: within its page's records, and as wide as
/// the shape at least.
///
/// # Errors
/// `Corrupt`, naming the page.
pub(super) fn records(pages: &[u8], entries: &[Entry], shape: &Shape) -> Result<Vec<Range<u32>>> {
    let mut places = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let page = &pages[entry.bytes.clone()];
        let check = |places: &mut Vec<Range<u32>>| {
            let header = PageHeader::decode(page, entry.rows)?;
            if usize::from(header.offset_bytes) != shape.end_bytes {
                return Err(Error::corrupt("offsets of another width than on page 0"));
            }
            for (slot, record) in header.slots(page).enumerate() {
                let inside = record.start >= PAGE_BYTES && record.end <= header.free as usize;
                if !inside || record.len() < shape.width {
                    let least = shape.width;
                    return Err(Error::corrupt(format!(
                        "slot {slot} has a record at {record:?}, which needs {least} bytes before {}",
                        header.free
                    )));
                }
                // In range: the pages end within a u32, as the directory says.
                let base = entry.bytes.start;
                places.push((base + record.start) as u32..(base + record.end) as u32);
            }
            Ok(())
        };
        check(&mut places).map_err(|error| on_page(error, number))?;
    }
    Ok(places)
}

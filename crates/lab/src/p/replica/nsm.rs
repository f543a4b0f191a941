//! Slotted pages of records (P, sections 2.1 and 4.1).
//!
//! A record is a tag of 12 bytes, the values of fixed length, the ends of the others, and
//! those values. Slots of 4 bytes, offset and length, grow from the page's end.

use super::pool::{PAGE_BYTES, Page};
use super::shape::{Shape, get, put};

/// Page number, count of records, end of the records.
const HEADER: usize = 16;
const COUNT: usize = 4;
const END: usize = 6;
const TAG: usize = 12;
const SLOT: usize = 4;

/// An empty page.
pub fn format(page: &mut Page, number: u32) {
    page[..4].copy_from_slice(&number.to_le_bytes());
    put(page, COUNT, 0);
    put(page, END, HEADER);
}

/// How many records it has.
pub fn count(page: &Page) -> usize {
    get(page, COUNT)
}

/// Puts the values of a record in the form in which it is stored.
pub fn record(shape: &Shape, values: &[&[u8]], record: &mut Vec<u8>) {
    record.clear();
    record.resize(TAG, 0);
    let all = values.iter().enumerate();
    for (_, value) in all.clone().filter(|(number, _)| shape.fixed(*number)) {
        record.extend_from_slice(value);
    }
    let mut end = 0;
    for (_, value) in all.clone().filter(|(number, _)| !shape.fixed(*number)) {
        end += value.len();
        record.extend_from_slice(&(end as u16).to_le_bytes());
    }
    for (_, value) in all.filter(|(number, _)| !shape.fixed(*number)) {
        record.extend_from_slice(value);
    }
    let length = record.len() as u32;
    record[8..TAG].copy_from_slice(&length.to_le_bytes());
}

/// Copies a record to the page; its number there, or none if there is no room.
pub fn append(page: &mut Page, record: &[u8]) -> Option<u16> {
    let (count, end) = (get(page, COUNT), get(page, END));
    let slot = PAGE_BYTES - SLOT * (count + 1);
    if end + record.len() > slot {
        return None;
    }
    page[end..end + record.len()].copy_from_slice(record);
    put(page, slot, end);
    put(page, slot + 2, record.len());
    put(page, COUNT, count + 1);
    put(page, END, end + record.len());
    Some(count as u16)
}

/// Where a value is.
pub fn place(page: &Page, shape: &Shape, slot: usize, attribute: usize) -> (usize, usize) {
    let start = get(page, PAGE_BYTES - SLOT * (slot + 1)) + TAG;
    let bytes = shape.bytes(attribute);
    if bytes > 0 {
        return (start + shape.offset(attribute), bytes);
    }
    let ends = start + shape.fixed_bytes();
    let (number, all) = (shape.offset(attribute), shape.varying());
    let from = if number == 0 {
        0
    } else {
        get(page, ends + 2 * (number - 1))
    };
    let values = ends + 2 * all;
    (values + from, get(page, ends + 2 * number) - from)
}

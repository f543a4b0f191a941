//! The bytes of a slotted page: header, records, free space, slots (P1).
//!
//! Builder and reader both use this module; its tables stand in `docs/format.md`.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 4 | records on the page, 1 or more |
//! | 4 | 2 | bytes of an offset: 2 or 4 |
//! | 6 | 2 | zero |
//! | 8 | 4 | bytes of the page |
//! | 12 | 4 | offset of the free space, where the records end |
//!
//! A slot is an offset and a length, each of 2 bytes on pages of up to 64 KiB;
//! here the fields of the narrow one.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | offset of the record in the page |
//! | 2 | 2 | bytes of the record |
//!
//! Example: two records of 10 and 12 bytes on a page of 1,024. The header says
//! 2, 2, 1024, 38; bytes 1020..1024 are slot 0, `(16, 10)`, and 1016..1020 slot
//! 1, `(26, 12)`.

use crate::error::{Error, Result};
use crate::format::{Reader, Writer};
use std::ops::Range;

/// Bytes of a page header.
pub(super) const PAGE_BYTES: usize = 16;
/// Largest page whose offsets take two bytes.
pub(super) const NARROW_MAX: usize = 1 << 16;

/// `(offset, bytes, field)` of the page header.
#[cfg_attr(not(test), allow(dead_code))]
pub(super) const PAGE_FIELDS: &[(usize, usize, &str)] = &[
    (0, 4, "records on the page, 1 or more"),
    (4, 2, "bytes of an offset: 2 or 4"),
    (6, 2, "zero"),
    (8, 4, "bytes of the page"),
    (12, 4, "offset of the free space, where the records end"),
];

/// `(offset, bytes, field)` of a slot on pages of up to 64 KiB.
#[cfg_attr(not(test), allow(dead_code))]
pub(super) const SLOT_FIELDS: &[(usize, usize, &str)] = &[
    (0, 2, "offset of the record in the page"),
    (2, 2, "bytes of the record"),
];

/// A page header's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageHeader {
    /// Records.
    pub records: u32,
    /// Bytes of an offset.
    pub offset_bytes: u16,
    /// Bytes of the page.
    pub bytes: u32,
    /// Where the records end.
    pub free: u32,
}

impl PageHeader {
    /// The header's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.u32(self.records);
        writer.u16(self.offset_bytes);
        writer.u16(0);
        writer.u32(self.bytes);
        writer.u32(self.free);
        writer.finish()
    }

    /// Reads the header of `page`, which the directory says has `records`.
    ///
    /// # Errors
    /// `Corrupt` if it contradicts the directory, or records and slots overlap.
    pub fn decode(page: &[u8], records: u32) -> Result<PageHeader> {
        let mut reader = Reader::new(page);
        let (found, offset_bytes, _) = (reader.u32()?, reader.u16()?, reader.u16()?);
        let (bytes, free) = (reader.u32()?, reader.u32()?);
        if found != records || bytes as usize != page.len() {
            return Err(Error::corrupt(format!(
                "its header says {found} records and {bytes} bytes, the directory {records} and {}",
                page.len()
            )));
        }
        if offset_bytes != 2 && offset_bytes != 4 {
            return Err(Error::corrupt(format!(
                "offsets of {offset_bytes} bytes; 2 or 4 are known"
            )));
        }
        let header = PageHeader {
            records,
            offset_bytes,
            bytes,
            free,
        };
        let slots = (records as usize).checked_mul(header.slot_bytes());
        let room = slots.and_then(|slots| page.len().checked_sub(slots));
        if (free as usize) < PAGE_BYTES || room.is_none_or(|room| free as usize > room) {
            return Err(Error::corrupt(format!(
                "records end at {free}, with {records} slots in {bytes} bytes"
            )));
        }
        Ok(header)
    }

    /// Bytes of a slot.
    pub fn slot_bytes(&self) -> usize {
        2 * usize::from(self.offset_bytes)
    }

    /// The place of each record in `page`, whose header this is.
    pub fn slots<'a>(&self, page: &'a [u8]) -> impl Iterator<Item = Range<usize>> + 'a {
        let (records, width) = (self.records as usize, usize::from(self.offset_bytes));
        let slots = page[page.len() - records * 2 * width..].rchunks_exact(2 * width);
        slots.map(record_in)
    }
}

/// The place of the record that a slot names.
fn record_in(slot: &[u8]) -> Range<usize> {
    let number = |bytes: &[u8]| {
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        u32::from_le_bytes(word) as usize
    };
    let (start, len) = slot.split_at(slot.len() / 2);
    number(start)..number(start) + number(len)
}

/// The place of record `number` in `page`, which has so many slots.
pub(super) fn slot(page: &[u8], number: usize, offset_bytes: usize) -> Range<usize> {
    let at = page.len() - (number + 1) * 2 * offset_bytes;
    record_in(&page[at..at + 2 * offset_bytes])
}

/// Writes slot `number` of `page`.
pub(super) fn put_slot(page: &mut [u8], number: usize, offset_bytes: usize, record: Range<usize>) {
    let at = page.len() - (number + 1) * 2 * offset_bytes;
    let slot = &mut page[at..at + 2 * offset_bytes];
    slot[..offset_bytes].copy_from_slice(&record.start.to_le_bytes()[..offset_bytes]);
    slot[offset_bytes..].copy_from_slice(&record.len().to_le_bytes()[..offset_bytes]);
}

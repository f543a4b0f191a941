//! The bytes of a PAX page: header and minipages.
//!
//! Builder and reader both use this module; `tests::byte_tables` holds the
//! constants against `docs/format.md`.

use crate::error::{Error, Result};
use crate::format::{Reader, Writer};
use crate::layout::edit::PageColumn;

/// Bytes of a page header before the minipage entries.
pub(super) const PAGE_BYTES: usize = 16;
/// Bytes of one minipage entry.
pub(super) const MINIPAGE_BYTES: usize = 6;

/// Largest page whose end offsets take two bytes: one bit of them marks NULL.
pub(super) const NARROW_MAX: usize = 1 << 15;

/// `(offset, bytes, field)` of the page header's first part.
#[cfg_attr(not(test), allow(dead_code))]
pub(super) const PAGE_FIELDS: &[(usize, usize, &str)] = &[
    (0, 4, "rows on the page, 1 or more"),
    (4, 2, "columns, equal to the schema's"),
    (6, 2, "bytes of an end offset: 2 or 4"),
    (8, 4, "bytes of the page"),
    (12, 4, "free bytes, those of all minipages together"),
];

/// `(offset, bytes, field)` of one minipage entry; the header ends with one per column.
#[cfg_attr(not(test), allow(dead_code))]
pub(super) const MINIPAGE_FIELDS: &[(usize, usize, &str)] = &[
    (0, 4, "offset of the minipage in the page"),
    (4, 1, "bytes of a value, 0 when they vary"),
    (5, 1, "1 if values may be NULL, else 0"),
];

/// Bytes of the whole header of a page with `columns` columns.
pub(super) fn header_bytes(columns: usize) -> usize {
    PAGE_BYTES + MINIPAGE_BYTES * columns
}

/// Bytes of an end offset on a page of `page_bytes`.
pub(super) fn end_bytes(page_bytes: usize) -> usize {
    if page_bytes <= NARROW_MAX { 2 } else { 4 }
}

/// How the values of one column lie in a minipage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Bytes of a value, `None` when they vary (V-minipage).
    pub width: Option<usize>,
    /// Whether values may be NULL.
    pub nullable: bool,
}

impl From<PageColumn> for Shape {
    fn from(column: PageColumn) -> Shape {
        Shape {
            width: column.width,
            nullable: column.nullable,
        }
    }
}

impl Shape {
    /// Bytes that `rows` rows take at the end of a minipage: presence bits or end offsets.
    pub fn back(self, rows: usize, end_bytes: usize) -> usize {
        match (self.width, self.nullable) {
            (None, _) => rows * end_bytes,
            (Some(_), true) => rows.div_ceil(8),
            (Some(_), false) => 0,
        }
    }

    /// Bits that one row takes at the end of a minipage.
    pub fn back_bits(self, end_bytes: usize) -> usize {
        match (self.width, self.nullable) {
            (None, _) => 8 * end_bytes,
            (Some(_), nullable) => usize::from(nullable),
        }
    }
}

/// A page header's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageHeader {
    /// Rows on the page.
    pub rows: u32,
    /// Columns.
    pub columns: u16,
    /// Bytes of an end offset.
    pub end_bytes: u16,
    /// Bytes of the page.
    pub bytes: u32,
    /// Free bytes in all minipages.
    pub free: u32,
}

impl PageHeader {
    /// Appends the fields.
    pub fn encode(&self, writer: &mut Writer) {
        writer.u32(self.rows);
        writer.u16(self.columns);
        writer.u16(self.end_bytes);
        writer.u32(self.bytes);
        writer.u32(self.free);
    }

    /// Reads the fields; the caller holds them against directory and schema.
    ///
    /// # Errors
    /// `Corrupt` at the end of the bytes or for end offsets of another size.
    pub fn decode(reader: &mut Reader<'_>) -> Result<PageHeader> {
        let (rows, columns, end_bytes) = (reader.u32()?, reader.u16()?, reader.u16()?);
        let (bytes, free) = (reader.u32()?, reader.u32()?);
        if end_bytes != 2 && end_bytes != 4 {
            return Err(Error::corrupt(format!(
                "end offsets of {end_bytes} bytes; 2 or 4 are known"
            )));
        }
        Ok(PageHeader {
            rows,
            columns,
            end_bytes,
            bytes,
            free,
        })
    }
}

/// Appends a minipage entry.
pub(super) fn encode_minipage(writer: &mut Writer, offset: u32, shape: Shape) {
    writer.u32(offset);
    // Fixed widths are 1 to 16, and at most 255 in experiments.
    writer.u8(shape.width.map_or(0, |width| width as u8));
    writer.u8(u8::from(shape.nullable));
}

/// Reads a minipage entry: offset in the page, and shape.
///
/// # Errors
/// `Corrupt` at the end of the bytes or for an unknown flag.
pub(super) fn decode_minipage(reader: &mut Reader<'_>) -> Result<(u32, Shape)> {
    let (offset, width, nullable) = (reader.u32()?, reader.u8()?, reader.u8()?);
    if nullable > 1 {
        return Err(Error::corrupt(format!("unknown minipage flag {nullable}")));
    }
    let width = (width > 0).then_some(usize::from(width));
    Ok((
        offset,
        Shape {
            width,
            nullable: nullable == 1,
        },
    ))
}

/// Whether `row` is present, by the bits at the end of its F-minipage: the last
/// byte holds the first eight rows.
pub(super) fn is_present(minipage: &[u8], row: usize) -> bool {
    minipage[minipage.len() - 1 - row / 8] >> (row % 8) & 1 == 1
}

/// Marks `row` as present.
pub(super) fn set_present(minipage: &mut [u8], row: usize) {
    let last = minipage.len() - 1;
    minipage[last - row / 8] |= 1 << (row % 8);
}

/// Marks `row` as NULL.
pub(super) fn clear_present(minipage: &mut [u8], row: usize) {
    let last = minipage.len() - 1;
    minipage[last - row / 8] &= !(1 << (row % 8));
}

/// How many of the rows before `row` are present.
pub(super) fn present_before(minipage: &[u8], row: usize) -> usize {
    let (rest, whole) = minipage.split_at(minipage.len() - row / 8);
    let part = rest.last().unwrap_or(&0) & ((1 << (row % 8)) - 1);
    let ones = whole.iter().map(|byte| byte.count_ones()).sum::<u32>() + part.count_ones();
    ones as usize
}

/// The end offsets of the first `rows` values of a V-minipage and whether they are NULL.
pub(super) fn ends(
    minipage: &[u8],
    rows: usize,
    end_bytes: usize,
) -> impl ExactSizeIterator<Item = (usize, bool)> {
    let slots = minipage[minipage.len() - rows * end_bytes..].rchunks_exact(end_bytes);
    slots.map(end_in)
}

/// An end offset and whether it marks NULL.
fn end_in(slot: &[u8]) -> (usize, bool) {
    match slot {
        [low, high] => {
            let slot = u16::from_le_bytes([*low, *high]);
            (usize::from(slot & !NULL_NARROW), slot & NULL_NARROW != 0)
        }
        _ => {
            let mut bytes = [0; 4];
            bytes[..slot.len()].copy_from_slice(slot);
            let slot = u32::from_le_bytes(bytes);
            ((slot & !NULL_WIDE) as usize, slot & NULL_WIDE != 0)
        }
    }
}

fn end_place(minipage: &[u8], row: usize, end_bytes: usize) -> std::ops::Range<usize> {
    let at = minipage.len() - (row + 1) * end_bytes;
    at..at + end_bytes
}

/// The end offset of one value of a V-minipage and whether it is NULL.
pub(super) fn end(minipage: &[u8], row: usize, end_bytes: usize) -> (usize, bool) {
    end_in(&minipage[end_place(minipage, row, end_bytes)])
}

/// Writes the end offset of one value; it lies on the page.
pub(super) fn put_end(minipage: &mut [u8], row: usize, end_bytes: usize, end: usize, null: bool) {
    let mark = match (null, end_bytes) {
        (false, _) => 0,
        (true, 2) => usize::from(NULL_NARROW),
        (true, _) => NULL_WIDE as usize,
    };
    let place = end_place(minipage, row, end_bytes);
    minipage[place].copy_from_slice(&(end | mark).to_le_bytes()[..end_bytes]);
}

/// Marks NULL in an end offset of two bytes.
pub(super) const NULL_NARROW: u16 = 1 << 15;
/// Marks NULL in an end offset of four bytes.
pub(super) const NULL_WIDE: u32 = 1 << 31;

//! The page directory of layouts with pages: which rows are where.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 4 | offset of the page in the section |
//! | 4 | 4 | first row of the page |
//!
//! One entry a page, in order; a page ends where the next begins, the last with
//! the section. Pages have `page_bytes`, or a multiple for one large tuple. Rows
//! 0..100 on a page of 8 KiB and 100..130 on the next: `(0, 0), (8192, 100)`.

use crate::error::{Error, Result};
use crate::format::Reader;
use std::ops::Range;

/// Bytes of one page directory entry.
pub(super) const DIRECTORY_BYTES: usize = 8;

/// `(offset, bytes, field)` of one page directory entry.
#[cfg_attr(not(test), allow(dead_code))]
pub(super) const DIRECTORY_FIELDS: &[(usize, usize, &str)] = &[
    (0, 4, "offset of the page in the section"),
    (4, 4, "first row of the page"),
];

/// Adds the page to a corruption.
pub(super) fn on_page(error: Error, page: usize) -> Error {
    match error {
        Error::Corrupt {
            file,
            block,
            section,
            reason,
        } => Error::Corrupt {
            file,
            block,
            section,
            reason: format!("page {page}: {reason}"),
        },
        other => other,
    }
}

/// One directory entry, with where the next one begins.
pub(super) struct Entry {
    /// Where it lies in the section.
    pub bytes: Range<usize>,
    /// Its first row.
    pub first: u32,
    /// Its rows.
    pub rows: u32,
}

/// Reads and checks the page directory.
///
/// # Errors
/// `Corrupt` unless pages and rows follow each other without gaps to the end.
pub(super) fn read_directory(
    directory: &[u8],
    rows: usize,
    page_bytes: u32,
    pages_bytes: usize,
) -> Result<Vec<Entry>> {
    let count = directory.len() / DIRECTORY_BYTES;
    let (Ok(rows), Ok(size)) = (u32::try_from(rows), u32::try_from(pages_bytes)) else {
        return Err(Error::corrupt(format!(
            "{rows} rows on {pages_bytes} bytes of pages"
        )));
    };
    let mut reader = Reader::new(directory);
    let mut places = Vec::with_capacity(count + 1);
    for _ in 0..count {
        places.push((reader.u32()?, reader.u32()?));
    }
    if reader.remaining() > 0 || places.first().is_some_and(|first| *first != (0, 0)) {
        return Err(Error::corrupt(format!(
            "a page directory of {} bytes that begins with {:?}",
            directory.len(),
            places.first()
        )));
    }
    places.push((size, rows));
    if count == 0 && places != [(0, 0)] {
        return Err(Error::corrupt(format!(
            "no pages for {rows} rows and {size} bytes"
        )));
    }
    let entry = |(number, pair): (usize, &[(u32, u32)])| {
        let ((start, first), (end, next)) = (pair[0], pair[1]);
        let whole = end > start && page_bytes > 0 && (end - start).is_multiple_of(page_bytes);
        if !whole || next <= first {
            let reason = format!(
                "page {number} of {page_bytes} bytes at {start}..{end} with rows {first}..{next}"
            );
            return Err(Error::corrupt(reason));
        }
        Ok(Entry {
            bytes: start as usize..end as usize,
            first,
            rows: next - first,
        })
    };
    places.windows(2).enumerate().map(entry).collect()
}

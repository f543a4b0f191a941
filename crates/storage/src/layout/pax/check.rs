//! The checks on page directory and page headers that reading relies on.

use super::page::{DIRECTORY_BYTES, PageHeader, Shape, decode_minipage, header_bytes};
use super::store::{Column, Place};
use crate::error::{Error, Result};
use crate::format::Reader;
use std::ops::Range;

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
    pub bytes: Range<usize>,
    pub first: u32,
    rows: u32,
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

/// Checks one page header and adds the places of its minipages to `columns`.
pub(super) fn read_header(bytes: &[u8], page: &Entry, columns: &mut [Column]) -> Result<()> {
    let mut reader = Reader::new(bytes);
    let header = PageHeader::decode(&mut reader)?;
    if header.rows != page.rows || header.bytes as usize != bytes.len() {
        return Err(Error::corrupt(format!(
            "its header says {} rows and {} bytes, the directory {} and {}",
            header.rows,
            header.bytes,
            page.rows,
            bytes.len()
        )));
    }
    if usize::from(header.columns) != columns.len() || header.free as usize > bytes.len() {
        return Err(Error::corrupt(format!(
            "{} columns, {} bytes free",
            header.columns, header.free
        )));
    }
    let mut minipages = Vec::with_capacity(columns.len());
    for _ in 0..columns.len() {
        minipages.push(decode_minipage(&mut reader)?);
    }
    let begins = minipages.iter().map(|(offset, _)| *offset as usize);
    let ends = begins.clone().skip(1).chain(std::iter::once(bytes.len()));
    for (number, (((_, shape), begin), end)) in minipages.iter().zip(begins).zip(ends).enumerate() {
        let column = &mut columns[number];
        check_minipage(column.width, *shape, begin..end, &header, bytes.len()).ok_or_else(
            || Error::corrupt(format!("minipage {number} at {begin}..{end} of {shape:?}")),
        )?;
        column.places.push(Place {
            // In range: the pages end within a u32.
            begin: (page.bytes.start + begin) as u32,
            end: (page.bytes.start + end) as u32,
            nullable: shape.nullable,
            wide_ends: header.end_bytes == 4,
        });
    }
    Ok(())
}

/// Whether a minipage lies on its page, is of the column's type and has room for its rows.
fn check_minipage(
    width: Option<usize>,
    shape: Shape,
    place: Range<usize>,
    header: &PageHeader,
    page_bytes: usize,
) -> Option<()> {
    let rows = header.rows as usize;
    let begins = header_bytes(usize::from(header.columns));
    let inside = begins <= place.start && place.start <= place.end && place.end <= page_bytes;
    let least = match shape {
        Shape {
            width: Some(width),
            nullable: false,
        } => rows.checked_mul(width)?,
        shape => shape.back(rows, usize::from(header.end_bytes)),
    };
    (inside && shape.width == width && least <= place.len()).then_some(())
}

//! The checks on page headers and minipages that reading relies on.

use super::page::{PageHeader, Shape, decode_minipage, ends, header_bytes, present_before};
use super::store::{Column, Place};
use crate::error::{Error, Result};
use crate::format::Reader;
use crate::layout::pages::Entry;
use std::ops::Range;

/// Where on a page each minipage lies, with its form.
pub(super) type Minipages = Vec<(Range<usize>, Shape)>;

/// Checks one page header and adds the places of its minipages to `places`.
pub(super) fn read_header(
    bytes: &[u8],
    page: &Entry,
    columns: &[Column],
    places: &mut Vec<Place>,
) -> Result<()> {
    let width = |column: usize| columns[column].width;
    let (header, minipages) = read_minipages(bytes, Some(page.rows), columns.len(), width)?;
    for (place, shape) in minipages {
        places.push(Place {
            // In range: the pages end within a u32.
            begin: (page.bytes.start + place.start) as u32,
            end: (page.bytes.start + place.end) as u32,
            nullable: shape.nullable,
            wide_ends: header.end_bytes == 4,
        });
    }
    Ok(())
}

/// Checks one page header, against `rows` if they are known, and returns where
/// on the page each minipage lies.
pub(super) fn read_minipages(
    bytes: &[u8],
    rows: Option<u32>,
    columns: usize,
    width: impl Fn(usize) -> Option<usize>,
) -> Result<(PageHeader, Minipages)> {
    let mut reader = Reader::new(bytes);
    let header = PageHeader::decode(&mut reader)?;
    let rows = rows.unwrap_or(header.rows);
    if header.rows != rows || header.bytes as usize != bytes.len() {
        return Err(Error::corrupt(format!(
            "its header says {} rows and {} bytes, the directory {rows} and {}",
            header.rows,
            header.bytes,
            bytes.len()
        )));
    }
    if usize::from(header.columns) != columns || header.free as usize > bytes.len() {
        return Err(Error::corrupt(format!(
            "{} columns, {} bytes free",
            header.columns, header.free
        )));
    }
    let mut minipages: Minipages = Vec::with_capacity(columns);
    for _ in 0..columns {
        let (begin, shape) = decode_minipage(&mut reader)?;
        let begin = begin as usize;
        if let Some((before, _)) = minipages.last_mut() {
            before.end = begin;
        }
        minipages.push((begin..bytes.len(), shape));
    }
    for (number, (place, shape)) in minipages.iter().enumerate() {
        check_minipage(width(number), *shape, place.clone(), &header, bytes.len()).ok_or_else(
            || Error::corrupt(format!("minipage {number} at {place:?} of {shape:?}")),
        )?;
    }
    Ok((header, minipages))
}

/// Checks that the present values of an F-minipage and its presence bits fit.
pub(super) fn check_present(
    minipage: &[u8],
    values: usize,
    width: usize,
    rows: usize,
) -> Result<()> {
    if values * width + rows.div_ceil(8) > minipage.len() {
        return Err(Error::corrupt(format!(
            "{values} values of {width} bytes in a minipage of {}",
            minipage.len()
        )));
    }
    Ok(())
}

/// Checks the end offset of a value that begins at `start`, before the `most`
/// bytes of values that the minipage has room for.
#[inline]
pub(super) fn check_end(
    start: usize,
    (end, null): (usize, bool),
    most: usize,
    nullable: bool,
) -> Result<()> {
    if end < start || end > most || (null && (end != start || !nullable)) {
        return Err(Error::corrupt(format!(
            "end offset {end} after {start}, null {null}, with {most} bytes of values"
        )));
    }
    Ok(())
}

/// Checks the presence bits or end offsets of a minipage that has passed with its header.
pub(super) fn check_contents(
    minipage: &[u8],
    shape: Shape,
    rows: usize,
    end_bytes: usize,
) -> Result<()> {
    match shape.width {
        Some(width) if shape.nullable => {
            check_present(minipage, present_before(minipage, rows), width, rows)
        }
        Some(_) => Ok(()),
        None => {
            let most = minipage.len() - rows * end_bytes;
            let mut start = 0;
            ends(minipage, rows, end_bytes).try_for_each(|end| {
                check_end(start, end, most, shape.nullable)?;
                start = end.0;
                Ok(())
            })
        }
    }
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

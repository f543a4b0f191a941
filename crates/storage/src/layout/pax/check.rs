//! The checks on page headers that reading relies on.

use super::page::{PageHeader, Shape, decode_minipage, header_bytes};
use super::store::{Column, Place};
use crate::error::{Error, Result};
use crate::format::Reader;
use crate::layout::pages::Entry;
use std::ops::Range;

/// Checks one page header and adds the places of its minipages to `places`.
pub(super) fn read_header(
    bytes: &[u8],
    page: &Entry,
    columns: &[Column],
    places: &mut Vec<Place>,
) -> Result<()> {
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
        let column = &columns[number];
        check_minipage(column.width, *shape, begin..end, &header, bytes.len()).ok_or_else(
            || Error::corrupt(format!("minipage {number} at {begin}..{end} of {shape:?}")),
        )?;
        places.push(Place {
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

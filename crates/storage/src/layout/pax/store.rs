//! Opening pages: what must hold before values are read from them.
//!
//! [`PaxStore::open`] checks directory and page headers; what lies inside the
//! minipages of a column (presence bits, end offsets, UTF-8) is checked when the
//! column is first read, so that a scan of two columns touches two minipages of
//! every page. After those checks nothing here can index out of bounds.

use super::page::{
    DIRECTORY_BYTES, PageHeader, Shape, decode_minipage, ends, header_bytes, is_present,
};
use crate::error::{Error, Result};
use crate::format::Reader;
use crate::layout::views::Views;
use crate::schema::{ColumnType, Physical, TableSchema};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer};
use std::ops::Range;
use std::sync::OnceLock;

/// The pages of one block, opened.
#[derive(Debug)]
pub struct PaxStore {
    pub(super) pages: Buffer,
    /// Row that each page begins with, and the number of rows.
    pub(super) firsts: Vec<u32>,
    pub(super) columns: Vec<Column>,
}

/// One column on all pages.
#[derive(Debug)]
pub(super) struct Column {
    pub kind: ColumnType,
    /// Where its minipage lies in `pages`, per page.
    pub places: Vec<Place>,
    contents: OnceLock<Contents>,
}

/// Where a minipage lies and how it is to be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub begin: u32,
    pub end: u32,
    nullable: bool,
    wide_ends: bool,
}

/// What the first read of a column finds out.
#[derive(Debug)]
pub(super) struct Contents {
    /// Which rows are present; `None` when all are.
    pub nulls: Option<NullBuffer>,
    /// Values of varying length.
    pub views: Option<Views>,
}

impl PaxStore {
    /// Checks the directory and every page header.
    ///
    /// # Errors
    /// `Corrupt` if the directory is no partition of pages and rows, or a header
    /// contradicts it, the schema, or the size of its page.
    pub fn open(
        schema: &TableSchema,
        rows: usize,
        page_bytes: u32,
        pages: Buffer,
        directory: Buffer,
    ) -> Result<PaxStore> {
        let entries = read_directory(&directory, rows, page_bytes, pages.len())?;
        let mut columns: Vec<Column> = schema
            .columns
            .iter()
            .map(|column| Column {
                kind: column.kind,
                places: Vec::with_capacity(entries.len()),
                contents: OnceLock::new(),
            })
            .collect();
        for (number, page) in entries.iter().enumerate() {
            let bytes = &pages[page.bytes.clone()];
            read_header(bytes, page, &mut columns).map_err(|error| on_page(error, number))?;
        }
        let mut firsts: Vec<u32> = entries.iter().map(|page| page.first).collect();
        // In range: the directory is for `rows` rows, each beginning in a u32.
        firsts.push(rows as u32);
        Ok(PaxStore { pages, firsts, columns })
    }

    /// Bytes of memory beyond the sections, once all columns have been read.
    pub fn memory(&self) -> usize {
        let rows = self.firsts.last().map_or(0, |rows| *rows as usize);
        let column = |column: &Column| {
            let varying = column.kind.physical().width().is_none();
            size_of::<Place>() * column.places.len() + rows / 8 + if varying { 16 * rows } else { 0 }
        };
        4 * self.firsts.len() + self.columns.iter().map(column).sum::<usize>()
    }

    /// The rows of a page.
    pub(super) fn rows(&self, page: usize) -> Range<usize> {
        self.firsts[page] as usize..self.firsts[page + 1] as usize
    }

    /// The minipage of a column on a page.
    pub(super) fn minipage(&self, column: &Column, page: usize) -> &[u8] {
        let place = column.places[page];
        &self.pages[place.begin as usize..place.end as usize]
    }

    /// What is known of a column; its minipages are checked the first time.
    pub(super) fn contents(&self, column: usize) -> Result<&Contents> {
        let column = &self.columns[column];
        if let Some(contents) = column.contents.get() {
            return Ok(contents);
        }
        let contents = match column.kind.physical() {
            Physical::Bytes { text } => self.variable(column, text)?,
            _ => self.fixed(column)?,
        };
        Ok(column.contents.get_or_init(|| contents))
    }

    /// Reads presence bits and checks that the present values fit.
    fn fixed(&self, column: &Column) -> Result<Contents> {
        let Some(width) = column.kind.physical().width().filter(|_| column.places.iter().any(|p| p.nullable))
        else {
            return Ok(Contents { nulls: None, views: None });
        };
        let mut present = BooleanBufferBuilder::new(self.firsts.last().map_or(0, |rows| *rows as usize));
        for (page, place) in column.places.iter().enumerate() {
            let rows = self.rows(page).len();
            if !place.nullable {
                present.append_n(rows, true);
                continue;
            }
            let minipage = self.minipage(column, page);
            let mut values = 0;
            for row in 0..rows {
                let is_present = is_present(minipage, row);
                values += usize::from(is_present);
                present.append(is_present);
            }
            if values * width + rows.div_ceil(8) > minipage.len() {
                let reason = format!("{values} values of {width} bytes in a minipage of {}", minipage.len());
                return Err(on_page(Error::corrupt(reason), page));
            }
        }
        Ok(Contents { nulls: some_nulls(present), views: None })
    }

    /// Reads end offsets and checks them and the values.
    fn variable(&self, column: &Column, text: bool) -> Result<Contents> {
        let rows = self.firsts.last().map_or(0, |rows| *rows as usize);
        let mut present = BooleanBufferBuilder::new(rows);
        let mut places = Vec::with_capacity(rows);
        for (page, place) in column.places.iter().enumerate() {
            let (rows, end_bytes) = (self.rows(page).len(), if place.wide_ends { 4 } else { 2 });
            let minipage = self.minipage(column, page);
            let (begin, most) = (place.begin as usize, minipage.len() - rows * end_bytes);
            let mut start = 0;
            for (end, null) in ends(minipage, rows, end_bytes) {
                if end < start || end > most || (null && end != start) {
                    let reason = format!("end offset {end} after {start}, null {null}, with {most} bytes of values");
                    return Err(on_page(Error::corrupt(reason), page));
                }
                places.push(begin + start..begin + end);
                present.append(!null);
                start = end;
            }
        }
        let views = Views::new(self.pages.clone(), places.into_iter(), text)?;
        Ok(Contents { nulls: some_nulls(present), views: Some(views) })
    }
}

fn some_nulls(mut present: BooleanBufferBuilder) -> Option<NullBuffer> {
    Some(NullBuffer::new(present.finish())).filter(|nulls| nulls.null_count() > 0)
}

/// Adds the page to a corruption.
fn on_page(error: Error, page: usize) -> Error {
    match error {
        Error::Corrupt { file, block, section, reason } => {
            Error::Corrupt { file, block, section, reason: format!("page {page}: {reason}") }
        }
        other => other,
    }
}

/// One directory entry, with where the next one begins.
struct Entry {
    bytes: Range<usize>,
    first: u32,
    rows: u32,
}

fn read_directory(directory: &[u8], rows: usize, page_bytes: u32, pages_bytes: usize) -> Result<Vec<Entry>> {
    let count = directory.len() / DIRECTORY_BYTES;
    let (Ok(rows), Ok(size)) = (u32::try_from(rows), u32::try_from(pages_bytes)) else {
        return Err(Error::corrupt(format!("{rows} rows on {pages_bytes} bytes of pages")));
    };
    let mut reader = Reader::new(directory);
    let mut places = Vec::with_capacity(count + 1);
    for _ in 0..count {
        places.push((reader.u32()?, reader.u32()?));
    }
    if reader.remaining() > 0 || places.first().is_some_and(|first| *first != (0, 0)) {
        return Err(Error::corrupt(format!("a page directory of {} bytes that begins with {:?}", directory.len(), places.first())));
    }
    places.push((size, rows));
    if count == 0 && places != [(0, 0)] {
        return Err(Error::corrupt(format!("no pages for {rows} rows and {size} bytes")));
    }
    let entry = |(number, pair): (usize, &[(u32, u32)])| {
        let ((start, first), (end, next)) = (pair[0], pair[1]);
        let whole = end > start && page_bytes > 0 && (end - start).is_multiple_of(page_bytes);
        if !whole || next <= first {
            let reason = format!("page {number} of {page_bytes} bytes at {start}..{end} with rows {first}..{next}");
            return Err(Error::corrupt(reason));
        }
        Ok(Entry { bytes: start as usize..end as usize, first, rows: next - first })
    };
    places.windows(2).enumerate().map(entry).collect()
}

/// Checks one page header and adds the places of its minipages to `columns`.
fn read_header(bytes: &[u8], page: &Entry, columns: &mut [Column]) -> Result<()> {
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
        return Err(Error::corrupt(format!("{} columns, {} bytes free", header.columns, header.free)));
    }
    let mut minipages = Vec::with_capacity(columns.len());
    for _ in 0..columns.len() {
        minipages.push(decode_minipage(&mut reader)?);
    }
    let begins = minipages.iter().map(|(offset, _)| *offset as usize);
    let ends = begins.clone().skip(1).chain(std::iter::once(bytes.len()));
    for (number, (((_, shape), begin), end)) in minipages.iter().zip(begins).zip(ends).enumerate() {
        let column = &mut columns[number];
        check_minipage(column.kind, *shape, begin..end, &header, bytes.len())
            .ok_or_else(|| Error::corrupt(format!("minipage {number} at {begin}..{end} of {shape:?}")))?;
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
    kind: ColumnType,
    shape: Shape,
    place: Range<usize>,
    header: &PageHeader,
    page_bytes: usize,
) -> Option<()> {
    let rows = header.rows as usize;
    let begins = header_bytes(usize::from(header.columns));
    let inside = begins <= place.start && place.start <= place.end && place.end <= page_bytes;
    let least = match shape {
        Shape { width: Some(width), nullable: false } => rows.checked_mul(width)?,
        shape => shape.back(rows, usize::from(header.end_bytes)),
    };
    (inside && shape.width == kind.physical().width() && least <= place.len()).then_some(())
}

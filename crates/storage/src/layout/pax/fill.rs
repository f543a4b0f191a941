//! Filling pages with tuples, in place (P3, 4.2; P4).
//!
//! A tuple goes to the page being filled if every value fits its minipage. If
//! the page has room for it but a minipage has not, the boundaries are planned
//! anew from the averages of the page and this tuple, and the minipages moved: a
//! reorganisation. A page with less free space than the threshold is not worth
//! one and is closed, as is a page without room.
//!
//! Tuples that fit without moving anything are inserted as one run, column by
//! column; `tests::runs_equal_single_tuples` shows that the pages are the same
//! as when they are inserted one by one.

use super::PaxBuildReport;
use super::page::{PageHeader, encode_minipage, end_bytes, header_bytes};
use super::plan::{Room, Sample, bounds};
use super::shift::{Held, shift};
use super::source::Source;
use crate::error::{Error, Result};
use crate::format::Writer;
use crate::schema::TableOptions;
use std::ops::Range;

/// Tuples that the first page's minipages are planned from.
const FIRST_SAMPLE: usize = 16;

/// The sections of one block, and what it took to fill them.
#[derive(Debug, Default)]
pub(super) struct Filled {
    /// Pages, one after the other.
    pub pages: Vec<u8>,
    /// Page directory.
    pub directory: Writer,
    /// Pages and reorganisations.
    pub report: PaxBuildReport,
}

/// Fills pages with rows `0..rows`.
///
/// # Errors
/// 54000 when the pages take over 2 GiB.
pub(super) fn fill(
    sources: &[Source<'_>],
    rows: usize,
    options: &TableOptions,
    run: usize,
) -> Result<Filled> {
    let mut filler = Filler {
        sources,
        options,
        rows,
        run,
        filled: Filled::default(),
    };
    let raw: usize = sources.iter().map(|source| source.values(0..rows)).sum();
    filler.filled.pages.reserve(raw + raw / 8);
    let first = 0..rows.min(FIRST_SAMPLE);
    let mut sample = Sample {
        rows: first.len(),
        values: values(sources, first),
    };
    let mut row = 0;
    while row < rows {
        let page = filler.page(row, &sample)?;
        row += page.rows.max(1);
        if page.rows > 0 {
            sample = page;
        }
    }
    Ok(filler.filled)
}

fn values(sources: &[Source<'_>], rows: Range<usize>) -> Vec<usize> {
    sources
        .iter()
        .map(|source| source.values(rows.clone()))
        .collect()
}

struct Filler<'a> {
    sources: &'a [Source<'a>],
    options: &'a TableOptions,
    /// Rows in all.
    rows: usize,
    /// Most tuples inserted at once.
    run: usize,
    filled: Filled,
}

/// The page being filled.
struct Page {
    /// Its offset among the pages.
    start: usize,
    /// Its first row.
    first: usize,
    /// Its rows so far, with the bytes of their values.
    held: Sample,
    /// Minipage offsets, and the page's end.
    bounds: Vec<usize>,
    room: Room,
}

impl Filler<'_> {
    /// Fills the page that begins with row `first`; a sample of no rows says
    /// that this row took a page of its own.
    fn page(&mut self, first: usize, sample: &Sample) -> Result<Sample> {
        let page_bytes = self.options.page_bytes as usize;
        let room = Room {
            begin: header_bytes(self.sources.len()),
            end: page_bytes,
            end_bytes: end_bytes(page_bytes),
        };
        let held = Sample {
            rows: 0,
            values: vec![0; self.sources.len()],
        };
        if room.begin + self.taken(&values(self.sources, first..first + 1), 1, room.end_bytes)
            > page_bytes
        {
            self.alone(first)?;
            return Ok(held);
        }
        let start = self.extend(page_bytes)?;
        let bounds = bounds(&self.shapes(), sample, room);
        let mut page = Page {
            start,
            first,
            held,
            bounds,
            room,
        };
        loop {
            self.insert(&mut page, self.rows);
            let next = first + page.held.rows;
            if next == self.rows || !self.reorganise(&mut page, next) {
                break;
            }
        }
        self.close(&page);
        Ok(page.held)
    }

    fn shapes(&self) -> Vec<super::page::Shape> {
        self.sources.iter().map(|source| source.shape).collect()
    }

    /// Bytes of `rows` rows with these values in all minipages together.
    fn taken(&self, values: &[usize], rows: usize, end_bytes: usize) -> usize {
        let sizes = self.sources.iter().zip(values);
        sizes
            .map(|(source, values)| values + source.shape.back(rows, end_bytes))
            .sum()
    }

    fn free(&self, page: &Page) -> usize {
        page.room.end
            - page.room.begin
            - self.taken(&page.held.values, page.held.rows, page.room.end_bytes)
    }

    /// Adds zeroed bytes for a page and returns where it begins.
    fn extend(&mut self, bytes: usize) -> Result<usize> {
        let start = self.filled.pages.len();
        if i32::try_from(start + bytes).is_err() {
            return Err(
                Error::invalid("54000", "more than 2 GiB of pages in one block")
                    .with_hint("Choose a smaller block_bytes or page_bytes."),
            );
        }
        self.filled.pages.resize(start + bytes, 0);
        Ok(start)
    }

    /// Inserts the next tuples, up to row `last`, that fit their minipages.
    fn insert(&mut self, page: &mut Page, last: usize) {
        let end_bytes = page.room.end_bytes;
        loop {
            let first = page.first + page.held.rows;
            let mut rows = first..last.min(first.saturating_add(self.run));
            for (column, source) in self.sources.iter().enumerate() {
                let capacity = page.bounds[column + 1] - page.bounds[column];
                let values = page.held.values[column];
                rows.end = first
                    + source.fitting(rows.clone(), capacity, page.held.rows, values, end_bytes);
            }
            if rows.is_empty() {
                return;
            }
            let bytes = &mut self.filled.pages[page.start..];
            for (column, source) in self.sources.iter().enumerate() {
                let minipage = &mut bytes[page.bounds[column]..page.bounds[column + 1]];
                let values = &mut page.held.values[column];
                source.copy(rows.clone(), minipage, page.held.rows, *values, end_bytes);
                *values += source.values(rows.clone());
            }
            page.held.rows += rows.len();
            if rows.len() < self.run {
                return;
            }
        }
    }

    /// Makes room for the tuple of row `next` by moving minipage boundaries;
    /// false if the page should be closed instead.
    fn reorganise(&mut self, page: &mut Page, next: usize) -> bool {
        let mut wanted = Sample {
            rows: page.held.rows + 1,
            values: values(self.sources, next..next + 1),
        };
        wanted
            .values
            .iter_mut()
            .zip(&page.held.values)
            .for_each(|(wanted, held)| *wanted += held);
        let fits = page.room.begin + self.taken(&wanted.values, wanted.rows, page.room.end_bytes)
            <= page.room.end;
        let percent = usize::from(self.options.reorganise_percent);
        let worthy = page.held.rows == 0 || 100 * self.free(page) > percent * page.room.end;
        if !fits || !worthy {
            return false;
        }
        let bounds = bounds(&self.shapes(), &wanted, page.room);
        if page.held.rows > 0 {
            self.filled.report.reorganisations += 1;
            let held = self.sources.iter().zip(&page.held.values);
            let held: Vec<Held> = held
                .map(|(source, values)| Held {
                    values: *values,
                    back: source.shape.back(page.held.rows, page.room.end_bytes),
                })
                .collect();
            let bytes = &mut self.filled.pages[page.start..];
            shift(bytes, &held, &page.bounds, &bounds);
        }
        page.bounds = bounds;
        true
    }

    /// Writes the header and the directory entry.
    fn close(&mut self, page: &Page) {
        let free = self.free(page);
        let mut writer = Writer::default();
        // In range: pages are under 2 GiB, rows at most 2^20, columns at most 4096.
        let header = PageHeader {
            rows: page.held.rows as u32,
            columns: self.sources.len() as u16,
            end_bytes: page.room.end_bytes as u16,
            bytes: page.room.end as u32,
            free: free as u32,
        };
        header.encode(&mut writer);
        for (source, offset) in self.sources.iter().zip(&page.bounds) {
            encode_minipage(&mut writer, *offset as u32, source.shape);
        }
        self.filled.pages[page.start..page.start + page.room.begin]
            .copy_from_slice(&writer.finish());
        self.filled.directory.u32(page.start as u32);
        self.filled.directory.u32(page.first as u32);
        self.filled.report.pages += 1;
    }

    /// Gives a tuple that no page of the usual size can hold a page of its own.
    fn alone(&mut self, row: usize) -> Result<()> {
        let begin = header_bytes(self.sources.len());
        let values = values(self.sources, row..row + 1);
        let size = |end_bytes| {
            (begin + self.taken(&values, 1, end_bytes))
                .next_multiple_of(self.options.page_bytes as usize)
        };
        let end = if end_bytes(size(2)) == 2 {
            size(2)
        } else {
            size(4)
        };
        let room = Room {
            begin,
            end,
            end_bytes: end_bytes(end),
        };
        let mut bounds = Vec::with_capacity(self.sources.len() + 1);
        let mut at = begin;
        for (source, values) in self.sources.iter().zip(&values) {
            bounds.push(at);
            at += values + source.shape.back(1, room.end_bytes);
        }
        bounds.push(end);
        let held = Sample {
            rows: 0,
            values: vec![0; self.sources.len()],
        };
        let mut page = Page {
            start: self.extend(end)?,
            first: row,
            held,
            bounds,
            room,
        };
        self.insert(&mut page, row + 1);
        self.close(&page);
        Ok(())
    }
}

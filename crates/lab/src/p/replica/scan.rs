//! Scan operators with sargable predicates, a record at a time (P, section 4.3).

use super::load::File;
use super::pool::{BufferPool, Locks, Mode, Page, Pinned, RecordId};
use super::{nsm, pax};
use std::cell::RefCell;

/// `low < attribute < high`, of a number of 8 bytes.
pub type Range = (usize, i64, i64);

/// An operator that is asked for one record after the other.
pub trait Operator {
    /// Goes on to the next record that qualifies; false if there is none.
    fn next_record(&mut self) -> bool;

    /// A number of the current record.
    fn number(&self, attribute: usize) -> i64;
}

/// What a scan reads, and as whom.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// Its pages are in memory.
    pub pool: &'a BufferPool,
    /// The file.
    pub file: &'a File,
    /// The locks of the transaction.
    pub locks: &'a RefCell<Locks>,
}

/// A number of 8 bytes at a place of a page.
pub fn number(page: &Page, at: usize) -> i64 {
    let eight = page[at..].first_chunk();
    eight.map_or(0, |eight| i64::from_le_bytes(*eight))
}

/// Where a scan is.
struct Place<'a> {
    source: Source<'a>,
    /// Pages so far, and the pinned one.
    pages: usize,
    pinned: Option<Pinned<'a>>,
    number: u32,
    /// The next record of the page, and how many it has.
    next: usize,
    count: usize,
}

impl<'a> Place<'a> {
    fn new(source: Source<'a>) -> Place<'a> {
        source.locks.borrow_mut().file(0, Mode::IntentShared);
        Place {
            source,
            pages: 0,
            pinned: None,
            number: 0,
            next: 0,
            count: 0,
        }
    }

    /// Unpins the page, and pins the next one of the file.
    fn turn(&mut self, count: fn(&Page) -> usize) -> bool {
        self.pinned = None;
        let Some(number) = self.source.file.pages.get(self.pages) else {
            return false;
        };
        let pinned = self.source.pool.pin(*number);
        self.source
            .locks
            .borrow_mut()
            .page(*number, Mode::IntentShared);
        (self.pages, self.number) = (self.pages + 1, *number);
        (self.next, self.count) = (0, count(pinned.page()));
        self.pinned = Some(pinned);
        true
    }

    /// Locks the next record of the page, and goes behind it; its number.
    fn step(&mut self) -> usize {
        let record = self.next;
        self.next += 1;
        let id = RecordId {
            page: self.number,
            slot: record as u16,
        };
        self.source.locks.borrow_mut().record(id, Mode::Shared);
        record
    }
}

fn within((_, low, high): Range, number: i64) -> bool {
    low < number && number < high
}

/// Reads each record and extracts the attributes of the predicate from it.
pub struct NsmScan<'a> {
    place: Place<'a>,
    ranges: Vec<Range>,
    record: usize,
}

impl<'a> NsmScan<'a> {
    /// A scan of a file of records.
    pub fn new(source: Source<'a>, ranges: Vec<Range>) -> NsmScan<'a> {
        NsmScan {
            place: Place::new(source),
            ranges,
            record: 0,
        }
    }

    fn extract(&self, page: &Page, attribute: usize) -> i64 {
        let shape = &self.place.source.file.shape;
        number(page, nsm::place(page, shape, self.record, attribute).0)
    }
}

impl Operator for NsmScan<'_> {
    fn next_record(&mut self) -> bool {
        loop {
            while self.place.next < self.place.count {
                self.record = self.place.step();
                let Some(page) = self.place.pinned.as_ref().map(Pinned::page) else {
                    return false;
                };
                let mut ranges = self.ranges.iter();
                if ranges.all(|range| within(*range, self.extract(page, range.0))) {
                    return true;
                }
            }
            if !self.place.turn(nsm::count) {
                return false;
            }
        }
    }

    fn number(&self, attribute: usize) -> i64 {
        let page = self.place.pinned.as_ref().map(Pinned::page);
        page.map_or(0, |page| self.extract(page, attribute))
    }
}

/// Has a scan of its minipage for each attribute of the predicate, and computes where the
/// others' values are.
pub struct PaxScan<'a> {
    place: Place<'a>,
    /// Ranges, with where the attribute's minipage begins on the page.
    scans: Vec<(Range, usize)>,
    record: usize,
}

impl<'a> PaxScan<'a> {
    /// A scan of a file of minipages.
    pub fn new(source: Source<'a>, ranges: Vec<Range>) -> PaxScan<'a> {
        PaxScan {
            place: Place::new(source),
            scans: ranges.into_iter().map(|range| (range, 0)).collect(),
            record: 0,
        }
    }
}

impl Operator for PaxScan<'_> {
    fn next_record(&mut self) -> bool {
        loop {
            while self.place.next < self.place.count {
                self.record = self.place.step();
                let Some(page) = self.place.pinned.as_ref().map(Pinned::page) else {
                    return false;
                };
                let mut scans = self.scans.iter();
                let at = |start: usize| number(page, start + 8 * self.record);
                if scans.all(|(range, start)| within(*range, at(*start))) {
                    return true;
                }
            }
            if !self.place.turn(pax::count) {
                return false;
            }
            if let Some(pinned) = &self.place.pinned {
                for (range, start) in &mut self.scans {
                    *start = pax::start(pinned.page(), range.0);
                }
            }
        }
    }

    fn number(&self, attribute: usize) -> i64 {
        let page = self.place.pinned.as_ref().map(Pinned::page);
        page.map_or(0, |page| {
            number(page, pax::place(page, self.record, attribute).0)
        })
    }
}

//! Filling files, a record at a time (P, sections 4.2 and 7.2).

use super::disk::Log;
use super::pool::{BufferPool, PAGE_BYTES, RecordId};
use super::shape::Shape;
use super::{nsm, pax};
use crate::error::{Error, Result};

/// A relation's pages.
#[derive(Debug)]
pub struct File {
    /// What its records have.
    pub shape: Shape,
    /// Its pages, in order.
    pub pages: Vec<u32>,
}

/// What takes records.
pub trait Loader {
    /// Adds a record: a value for each attribute.
    ///
    /// # Errors
    /// If it is larger than a page; those of the log.
    fn insert(
        &mut self,
        pool: &mut BufferPool,
        log: &mut Log<'_>,
        values: &[&[u8]],
    ) -> Result<RecordId>;
}

fn too_large() -> Error {
    Error::new("a record is larger than a page", "")
}

impl File {
    /// One without pages.
    pub fn new(shape: Shape) -> File {
        File {
            shape,
            pages: Vec::new(),
        }
    }
}

/// Appends records to slotted pages: one copy for each.
#[derive(Debug)]
pub struct NsmLoader {
    /// The file so far.
    pub file: File,
    record: Vec<u8>,
}

impl NsmLoader {
    /// Begins a file.
    pub fn new(shape: Shape) -> NsmLoader {
        NsmLoader {
            file: File::new(shape),
            record: Vec::new(),
        }
    }
}

impl Loader for NsmLoader {
    fn insert(
        &mut self,
        pool: &mut BufferPool,
        log: &mut Log<'_>,
        values: &[&[u8]],
    ) -> Result<RecordId> {
        nsm::record(&self.file.shape, values, &mut self.record);
        let last = self.file.pages.last().copied();
        let slot = last.and_then(|page| nsm::append(pool.page_mut(page), &self.record));
        let id = match (last, slot) {
            (Some(page), Some(slot)) => RecordId { page, slot },
            _ => {
                let page = pool.allocate();
                self.file.pages.push(page);
                let bytes = pool.page_mut(page);
                nsm::format(bytes, page);
                let slot = nsm::append(bytes, &self.record).ok_or_else(too_large)?;
                RecordId { page, slot }
            }
        };
        log.write(id, &[], &[&self.record])?;
        Ok(id)
    }
}

/// Copies values to minipages, whose boundaries it moves where a record would fit in the page
/// but not in them.
#[derive(Debug)]
pub struct PaxLoader {
    /// The file so far.
    pub file: File,
    /// Share of a page that has to be free for boundaries to be moved.
    threshold: f64,
    sizes: pax::Sizes,
    /// How often boundaries were moved.
    pub reorganisations: usize,
    /// Where values of a record go.
    places: Vec<usize>,
}

impl PaxLoader {
    /// Begins a file; `hints` are average bytes of each attribute's values, ends included.
    pub fn new(shape: Shape, hints: &[f64], threshold: f64) -> PaxLoader {
        let least = vec![0; shape.degree()];
        PaxLoader {
            sizes: pax::sizes(&shape, hints, &least),
            file: File::new(shape),
            threshold,
            reorganisations: 0,
            places: Vec::new(),
        }
    }

    fn append(&mut self, pool: &mut BufferPool, page: u32, values: &[&[u8]]) -> bool {
        let page = pool.page_mut(page);
        pax::append(page, &self.file.shape, values, &mut self.places)
    }

    /// Moves boundaries if the record fits then and enough of the page is free; whether it
    /// did.
    fn reorganise(&mut self, pool: &mut BufferPool, number: u32, values: &[&[u8]]) -> bool {
        let shape = &self.file.shape;
        let page = pool.page_mut(number);
        let needed = pax::needed(page, shape, values);
        let with_it: usize = needed.iter().sum();
        let record: usize = (0..)
            .zip(values)
            .map(|(attribute, value)| pax::stored(shape, attribute, value))
            .sum();
        let free = pax::usable(shape) as f64 - (with_it - record) as f64;
        if with_it > pax::usable(shape) || free <= self.threshold * PAGE_BYTES as f64 {
            return false;
        }
        let records = pax::count(page) as f64 + 1.0;
        let averages: Vec<f64> = needed.iter().map(|bytes| *bytes as f64 / records).collect();
        self.sizes = pax::sizes(shape, &averages, &needed);
        pax::reorganise(page, shape, &self.sizes);
        self.reorganisations += 1;
        true
    }
}

impl Loader for PaxLoader {
    fn insert(
        &mut self,
        pool: &mut BufferPool,
        log: &mut Log<'_>,
        values: &[&[u8]],
    ) -> Result<RecordId> {
        let last = self.file.pages.last().copied();
        let page = last.filter(|number| {
            self.append(pool, *number, values)
                || self.reorganise(pool, *number, values) && self.append(pool, *number, values)
        });
        let page = match page {
            Some(page) => page,
            None => {
                let number = pool.allocate();
                self.file.pages.push(number);
                let page = pool.page_mut(number);
                pax::format(page, number, &self.file.shape, &self.sizes);
                if !self.append(pool, number, values) {
                    return Err(too_large());
                }
                number
            }
        };
        let slot = pax::count(pool.page_mut(page)) as u16 - 1;
        let id = RecordId { page, slot };
        log.write(id, &[], values)?;
        Ok(id)
    }
}

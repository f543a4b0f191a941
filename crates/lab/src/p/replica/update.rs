//! Updates in place (P, sections 4.2 and 7.4).

use super::disk::Log;
use super::load::File;
use super::pool::{BufferPool, Locks, Mode, RecordId};
use super::scan::number;
use super::{lineitem, nsm, pax};
use crate::error::Result;
use crate::p::table::Model;

/// LINEITEM in NSM and PAX, each with its pool.
#[derive(Debug)]
pub struct Updatable {
    nsm: (BufferPool, File),
    pax: (BufferPool, File),
    locks: Locks,
    log: Log<'static>,
}

impl Updatable {
    /// Loads a text.
    ///
    /// # Errors
    /// If it is not one of LINEITEM.
    pub fn new(text: &str) -> Result<Updatable> {
        let (pool, loader) = lineitem::pax(text, 0.0, None)?;
        Ok(Updatable {
            nsm: lineitem::nsm(text, None)?,
            pax: (pool, loader.file),
            locks: Locks::new(),
            log: Log::new(None),
        })
    }

    /// Adds 1 to numbers of 8 bytes, where a number of 4 bytes is below a limit; how many
    /// records it changed. A transaction of its own.
    ///
    /// # Errors
    /// None of a log in memory.
    pub fn update(
        &mut self,
        model: Model,
        columns: &[usize],
        (tested, limit): (usize, i32),
    ) -> Result<u64> {
        let (pool, file) = match model {
            Model::Pax => &mut self.pax,
            Model::Nsm | Model::Dsm => &mut self.nsm,
        };
        let place = |page: &_, record, attribute| match model {
            Model::Pax => pax::place(page, record, attribute).0,
            Model::Nsm | Model::Dsm => nsm::place(page, &file.shape, record, attribute).0,
        };
        let mut changed = 0;
        self.locks.file(0, Mode::IntentExclusive);
        for number_of_page in &file.pages {
            self.locks.page(*number_of_page, Mode::IntentExclusive);
            let page = pool.page_mut(*number_of_page);
            let count = match model {
                Model::Pax => pax::count(page),
                Model::Nsm | Model::Dsm => nsm::count(page),
            };
            for record in 0..count {
                let id = RecordId {
                    page: *number_of_page,
                    slot: record as u16,
                };
                self.locks.record(id, Mode::Shared);
                // The lower half of what stands there; pages are larger than their values.
                if number(page, place(page, record, tested)) as i32 >= limit {
                    continue;
                }
                self.locks.record(id, Mode::Exclusive);
                changed += 1;
                for attribute in columns {
                    let at = place(page, record, *attribute);
                    let before = number(page, at);
                    let after = before.wrapping_add(1).to_le_bytes();
                    self.log.write(id, &before.to_le_bytes(), &[&after])?;
                    page[at..at + after.len()].copy_from_slice(&after);
                }
            }
        }
        self.locks.release();
        Ok(changed)
    }

    /// All numbers of a column of 8 bytes, in order of their records.
    #[cfg(test)]
    pub fn numbers(&self, model: Model, attribute: usize) -> Vec<i64> {
        let (pool, file) = match model {
            Model::Pax => &self.pax,
            Model::Nsm | Model::Dsm => &self.nsm,
        };
        let of_page = |page: &u32| {
            let pinned = pool.pin(*page);
            let page = pinned.page();
            let count = match model {
                Model::Pax => pax::count(page),
                Model::Nsm | Model::Dsm => nsm::count(page),
            };
            let at = |record| match model {
                Model::Pax => pax::place(page, record, attribute).0,
                Model::Nsm | Model::Dsm => nsm::place(page, &file.shape, record, attribute).0,
            };
            (0..count)
                .map(|record| number(page, at(record)))
                .collect::<Vec<i64>>()
        };
        file.pages.iter().flat_map(of_page).collect()
    }
}

//! The document's own program: records on slotted pages, minipages, and a relation for each
//! attribute, in a storage manager with a buffer pool, locks and a log (P, section 4).
//!
//! Everything is in memory; of loads that are timed, log and pages are on disk in the end.
//! Operators are asked for one record after the other. Where the document is silent: pages
//! and locks are found by hash tables; a scan pins one page at a time and locks each record,
//! with its page and file; what is loaded is locked as a whole; the log is a buffer that is
//! written and begins anew when it is full; nothing is NULL or deleted.

mod btree;
mod disk;
mod dsm;
mod hash;
pub mod lineitem;
mod load;
mod look_up;
mod nsm;
mod pax;
mod pool;
mod scan;
mod shape;
mod update;

pub use disk::Disk;
pub use look_up::Keyed;
pub use update::Updatable;

use self::disk::Log;
use self::dsm::{SubRelation, in_both};
use self::load::{File, Loader, NsmLoader, PaxLoader};
use self::pool::{BufferPool, Locks, RecordId};
use self::scan::{NsmScan, Operator, PaxScan, Source};
use self::shape::Shape;
use super::relation::Relation;
use super::selection::{Answer, Selection};
use super::table::Model;
use crate::error::Result;
use std::cell::RefCell;

/// R in each layout.
#[derive(Debug)]
pub struct Replica {
    pool: BufferPool,
    nsm: File,
    pax: File,
    dsm: Vec<SubRelation>,
    locks: RefCell<Locks>,
}

impl Replica {
    /// Loads R in these layouts.
    ///
    /// # Errors
    /// If a record is larger than a page.
    pub fn new(relation: &Relation, models: &[Model]) -> Result<Replica> {
        let (mut pool, mut log) = (BufferPool::new(), Log::new(None));
        let shape = Shape::new(vec![8; relation.degree()]);
        let mut nsm = NsmLoader::new(shape.clone());
        let mut pax = PaxLoader::new(shape, &vec![8.0; relation.degree()], 0.0);
        fill(&mut nsm, &mut pool, &mut log, relation)?;
        fill(&mut pax, &mut pool, &mut log, relation)?;
        let attributes = match models.contains(&Model::Dsm) {
            true => relation.attributes.as_slice(),
            false => &[],
        };
        let dsm = attributes
            .iter()
            .map(|values| SubRelation::new(&mut pool, &mut log, values));
        Ok(Replica {
            dsm: dsm.collect::<Result<_>>()?,
            nsm: nsm.file,
            pax: pax.file,
            pool,
            locks: RefCell::new(Locks::new()),
        })
    }

    /// Asks one of the layouts, as [`Selection::ask`] does Freestone.
    pub fn ask(&self, model: Model, selection: &Selection) -> Answer {
        let source = |file| Source {
            pool: &self.pool,
            file,
            locks: &self.locks,
        };
        let ranges = selection.ranges.clone();
        let answer = match model {
            Model::Nsm => aggregate(&mut NsmScan::new(source(&self.nsm), ranges), selection),
            Model::Pax => aggregate(&mut PaxScan::new(source(&self.pax), ranges), selection),
            Model::Dsm => self.join(selection),
        };
        self.locks.borrow_mut().release();
        answer
    }

    /// Lists the surrogates that qualify, and gets the projected values of each by the tree.
    fn join(&self, selection: &Selection) -> Answer {
        let mut qualifying: Option<Vec<u64>> = None;
        for range in &selection.ranges {
            let found = self.dsm[range.0].qualifying(&self.pool, &self.locks, *range);
            qualifying = Some(match qualifying {
                None => found,
                Some(before) => in_both(&before, &found),
            });
        }
        let qualifying = qualifying.unwrap_or_default();
        let sum = |attribute: &usize| {
            let values = qualifying.iter();
            let relation = &self.dsm[*attribute];
            values
                .map(|surrogate| relation.value(&self.pool, &self.locks, *surrogate))
                .sum()
        };
        Answer {
            rows: qualifying.len() as u64,
            sums: selection.projected.iter().map(sum).collect(),
        }
    }
}

/// Inserts all records of R; where they are.
fn fill(
    loader: &mut impl Loader,
    pool: &mut BufferPool,
    log: &mut Log<'_>,
    relation: &Relation,
) -> Result<Vec<RecordId>> {
    let mut record = vec![[0; 8]; relation.degree()];
    let insert = |row: usize| {
        for (value, attribute) in record.iter_mut().zip(&relation.attributes) {
            *value = attribute[row].to_le_bytes();
        }
        let values: Vec<&[u8]> = record.iter().map(<[u8; 8]>::as_slice).collect();
        loader.insert(pool, log, &values)
    };
    (0..relation.rows()).map(insert).collect()
}

/// The operator above a scan: sums of the projected attributes.
fn aggregate(scan: &mut dyn Operator, selection: &Selection) -> Answer {
    let mut answer = Answer {
        rows: 0,
        sums: vec![0; selection.projected.len()],
    };
    while scan.next_record() {
        answer.rows += 1;
        for (sum, attribute) in answer.sums.iter_mut().zip(&selection.projected) {
            *sum += scan.number(*attribute);
        }
    }
    answer
}

#[cfg(test)]
mod tests;

//! A relation for each attribute, joined by surrogates (P, sections 2.2 and 4.3).

use super::btree::BTree;
use super::disk::Log;
use super::load::{File, Loader, NsmLoader};
use super::nsm;
use super::pool::{BufferPool, Locks, Mode};
use super::scan::{NsmScan, Operator, Range, Source, number};
use super::shape::Shape;
use crate::error::Result;
use std::cell::RefCell;

/// A sub-relation has two attributes: the surrogate, and the value.
const VALUE: usize = 1;

/// An attribute's relation, and its tree by surrogate.
#[derive(Debug)]
pub struct SubRelation {
    file: File,
    tree: BTree,
}

impl SubRelation {
    /// Stores the values of an attribute.
    ///
    /// # Errors
    /// None that numbers have.
    pub fn new(pool: &mut BufferPool, log: &mut Log<'_>, values: &[i64]) -> Result<SubRelation> {
        let mut loader = NsmLoader::new(Shape::new(vec![8, 8]));
        let mut entries = Vec::with_capacity(values.len());
        for (surrogate, value) in (0u64..).zip(values) {
            let record = [&surrogate.to_le_bytes()[..], &value.to_le_bytes()];
            entries.push((surrogate, loader.insert(pool, log, &record)?));
        }
        Ok(SubRelation {
            file: loader.file,
            tree: BTree::new(pool, entries),
        })
    }

    /// The surrogates, ascending, of values in a range.
    pub fn qualifying(
        &self,
        pool: &BufferPool,
        locks: &RefCell<Locks>,
        (_, low, high): Range,
    ) -> Vec<u64> {
        let source = Source {
            pool,
            file: &self.file,
            locks,
        };
        let mut scan = NsmScan::new(source, vec![(VALUE, low, high)]);
        let mut surrogates = Vec::new();
        while scan.next_record() {
            surrogates.push(scan.number(0) as u64);
        }
        surrogates
    }

    /// The value of a surrogate, by the tree.
    pub fn value(&self, pool: &BufferPool, locks: &RefCell<Locks>, surrogate: u64) -> i64 {
        let Some(id) = self.tree.find(pool, surrogate) else {
            return 0;
        };
        let mut locks = locks.borrow_mut();
        locks.page(id.page, Mode::IntentShared);
        locks.record(id, Mode::Shared);
        let pinned = pool.pin(id.page);
        let (at, _) = nsm::place(pinned.page(), &self.file.shape, id.slot.into(), VALUE);
        number(pinned.page(), at)
    }
}

/// What two ascending lists have in common.
pub fn in_both(one: &[u64], other: &[u64]) -> Vec<u64> {
    let mut other = other.iter().copied().peekable();
    let mut both = Vec::with_capacity(one.len());
    for value in one {
        while other.next_if(|next| next < value).is_some() {}
        if other.peek() == Some(value) {
            both.push(*value);
        }
    }
    both
}

//! Single records by an index on their key (P, section 7.5).

use super::btree::BTree;
use super::disk::Log;
use super::load::{File, NsmLoader, PaxLoader};
use super::pool::{BufferPool, Locks, Mode};
use super::scan::number;
use super::shape::Shape;
use super::{fill, nsm, pax};
use crate::error::Result;
use crate::p::relation::Relation;
use crate::p::table::Model;

/// A relation whose first attribute is its key, in NSM and PAX, each with an index.
#[derive(Debug)]
pub struct Keyed {
    pool: BufferPool,
    nsm: (File, BTree),
    pax: (File, BTree),
    locks: Locks,
}

impl Keyed {
    /// Loads a relation whose first attribute ascends from 0.
    ///
    /// # Errors
    /// If a record is larger than a page.
    pub fn new(relation: &Relation) -> Result<Keyed> {
        let (mut pool, mut log) = (BufferPool::new(), Log::new(None));
        let shape = Shape::new(vec![8; relation.degree()]);
        let mut nsm = NsmLoader::new(shape.clone());
        let mut pax = PaxLoader::new(shape, &vec![8.0; relation.degree()], 0.0);
        let in_nsm = fill(&mut nsm, &mut pool, &mut log, relation)?;
        let in_pax = fill(&mut pax, &mut pool, &mut log, relation)?;
        Ok(Keyed {
            nsm: (nsm.file, BTree::new(&mut pool, (0..).zip(in_nsm).collect())),
            pax: (pax.file, BTree::new(&mut pool, (0..).zip(in_pax).collect())),
            pool,
            locks: Locks::new(),
        })
    }

    /// Copies the attributes behind the key of a record, so many of them; a transaction of
    /// its own. Nothing if there is no such record.
    pub fn look_up(&mut self, model: Model, key: u64, projected: usize, row: &mut Vec<i64>) {
        row.clear();
        let (file, tree) = match model {
            Model::Pax => &self.pax,
            Model::Nsm | Model::Dsm => &self.nsm,
        };
        self.locks.file(0, Mode::IntentShared);
        if let Some(id) = tree.find(&self.pool, key) {
            self.locks.page(id.page, Mode::IntentShared);
            let pinned = self.pool.pin(id.page);
            let (page, slot) = (pinned.page(), usize::from(id.slot));
            self.locks.record(id, Mode::Shared);
            row.extend((1..=projected).map(|attribute| {
                let (at, _) = match model {
                    Model::Pax => pax::place(page, slot, attribute),
                    Model::Nsm | Model::Dsm => nsm::place(page, &file.shape, slot, attribute),
                };
                number(page, at)
            }));
        }
        self.locks.release();
    }
}

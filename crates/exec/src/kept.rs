//! Rows that are kept, in memory and then in a file.

use crate::Result;
use crate::memory::{LEAST, Reservation, Space};
use crate::partition::PartWriter;
use crate::spill::Page;
use crate::vector::Batch;
use std::sync::Arc;

/// The rows of a plan, for every place it stands in.
pub(crate) struct Kept {
    batches: Vec<Batch>,
    pages: Vec<Page>,
    _held: Vec<Reservation>,
}

/// The rows of one thread.
pub(crate) struct Collected {
    batches: Vec<Batch>,
    spilled: PartWriter,
    /// Whether rows were spilled. Later rows are then spilled too, which keeps the order.
    has_spilled: bool,
    rows: usize,
    bytes: usize,
    held: Reservation,
}

impl Collected {
    /// No rows so far.
    pub fn new(space: &Space) -> Collected {
        Collected {
            batches: Vec::new(),
            spilled: PartWriter::default(),
            has_spilled: false,
            rows: 0,
            bytes: 0,
            held: space.reservation(),
        }
    }

    /// Takes some rows. Rows for which there is no memory are spilled.
    pub fn push(&mut self, batch: Batch, space: &Space) -> Result<()> {
        let bytes = self.bytes + batch.bytes();
        let fits = !self.has_spilled && self.held.hold(bytes);
        self.rows += batch.rows;
        if !fits && self.rows > LEAST {
            self.has_spilled = true;
            return self.spilled.push(batch, space);
        }
        self.bytes = bytes;
        self.batches.push(batch);
        Ok(())
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Most bytes of memory that it held.
    pub fn most(&self) -> usize {
        self.held.most()
    }
}

impl Kept {
    /// The rows of all threads.
    ///
    /// # Errors
    /// Errors of spilling the last of them.
    pub fn of(all: Vec<Collected>, space: &Space) -> Result<Kept> {
        let mut kept = Kept {
            batches: Vec::new(),
            pages: Vec::new(),
            _held: Vec::with_capacity(all.len()),
        };
        for rows in all {
            kept.batches.extend(rows.batches);
            kept.pages.extend(rows.spilled.finish(space)?);
            kept._held.push(rows.held);
        }
        Ok(kept)
    }

    /// The rows that were spilled.
    pub fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// How many batches there are.
    pub fn count(&self) -> usize {
        self.batches.len() + self.pages.len()
    }

    /// The batch of a number below [`Kept::count`].
    ///
    /// # Errors
    /// Errors of reading spilled rows.
    pub fn batch(&self, number: usize) -> Result<Option<Batch>> {
        match self.batches.get(number) {
            Some(batch) => Ok(Some(batch.clone())),
            None => {
                let page = self.pages.get(number - self.batches.len());
                page.map(Page::read).transpose()
            }
        }
    }
}

/// Rows that are being gathered, in the order in which they come.
pub struct Gathering {
    rows: Collected,
}

/// Rows that were gathered, in memory and then in a file.
#[derive(Clone)]
pub struct Gathered {
    pub(crate) kept: Arc<Kept>,
    pub(crate) count: usize,
}

impl Gathering {
    /// No rows so far.
    pub fn new(space: &Space) -> Gathering {
        Gathering {
            rows: Collected::new(space),
        }
    }

    /// Takes some rows.
    ///
    /// # Errors
    /// Errors of spilling them.
    pub fn push(&mut self, batch: Batch, space: &Space) -> Result<()> {
        self.rows.push(batch, space)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows.rows()
    }

    /// All rows.
    ///
    /// # Errors
    /// Errors of spilling the last of them.
    pub fn finish(self, space: &Space) -> Result<Gathered> {
        Ok(Gathered {
            count: self.rows.rows(),
            kept: Arc::new(Kept::of(vec![self.rows], space)?),
        })
    }
}

impl Gathered {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.count
    }

    /// The rows, batch by batch.
    pub fn batches(&self) -> impl Iterator<Item = Result<Batch>> + Send + use<> {
        let kept = Arc::clone(&self.kept);
        (0..kept.count()).filter_map(move |number| kept.batch(number).transpose())
    }
}

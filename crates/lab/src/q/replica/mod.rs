//! The paper's own storage manager, as small as its experiments allow (Q, sections 2, 3.3).
//!
//! A table is blocks, or files, which are blocks too: as large ones as there are threads
//! to share the table. A [`block`] holds all its tuples in one stretch of memory, row by
//! row or column by column, and answers one operation, [`select`](block::Block::select):
//! it finds the tuples that match, as a list of their numbers, and copies what is
//! projected into a destination, tuple by tuple. Predicates are expressions, each part of
//! them an object that is asked for its value of a tuple; a [`tree`] finds tuples in the
//! order of its keys, and that is the order in which they are read. Nothing is
//! vectorised, nor stored apart for planning.
//!
//! Where the paper is silent, the replica does as its published source does: matches are
//! a list of numbers, sorts are of references to values, a comparison with a compressed
//! column is a loop over its codes. That source makes an object of each value that it
//! copies; the replica does not. Dictionaries are left out: none of the paper's columns
//! takes less space with one than truncated. Blocks have as many tuples whether they are
//! compressed or not.

mod block;
mod build;
mod destination;
mod field;
mod header;
mod predicate;
mod select;
mod tree;

#[cfg(test)]
mod tests;

use super::clock::{Clock, timed};
use super::organisation::{Cut, Organisation, in_parallel};
use super::output::Answer;
use super::query::{Access, Query};
use super::tables::Generator;
use crate::error::{Error, Result};
use block::Block;
pub use destination::Destination;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tree::Tree;

/// A table as the paper keeps it.
#[derive(Debug)]
pub struct Replica {
    /// Seconds of all threads in filling blocks, sorting and indexing them, divided by
    /// their number; making the tuples is not among them.
    pub load_seconds: f64,
    blocks: Vec<Block>,
}

impl Replica {
    /// Makes a table and stores it.
    ///
    /// # Errors
    /// A table cut into partitions; a block of too many tuples.
    pub fn load(
        generator: Generator,
        rows: u64,
        organisation: &Organisation,
        threads: usize,
    ) -> Result<Replica> {
        let step = match organisation.cut {
            Cut::Blocks(step) => step as u64,
            Cut::Files => rows.div_ceil(threads.max(1) as u64),
            Cut::Partitions(_) => return Err(Error::new("the replica has no partitions", "")),
        };
        let starts = (0..rows).step_by(step.max(1) as usize);
        let pieces: Vec<Range<u64>> = starts.map(|start| start..rows.min(start + step)).collect();
        let write = |rows: &Range<u64>| {
            let tuples = build::tuples(generator, rows.clone());
            let clock = Clock::start();
            let mut block = Block::build(generator.kind, organisation, &tuples)?;
            for column in &organisation.indexed {
                block.index(*column)?;
            }
            Ok((block, clock.elapsed().as_secs_f64()))
        };
        let (blocks, load_seconds) = in_parallel(&pieces, threads, &write)?;
        Ok(Replica {
            load_seconds,
            blocks,
        })
    }

    /// Runs a query once with `threads` threads; each puts its tuples into its own
    /// destination. Threads take blocks from one queue, and have a file each. The time is
    /// that of [`timed`].
    ///
    /// # Errors
    /// Those of a query that does not fit the table.
    pub fn run(
        &self,
        query: &Query,
        access: Access,
        threads: usize,
        destinations: &mut [Destination],
    ) -> Result<(Duration, Answer)> {
        let next = AtomicUsize::new(0);
        let destinations = &mut destinations[..threads];
        let elapsed = timed(destinations.iter_mut().collect(), |destination| {
            destination.clear();
            while let Some(block) = self.blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
                block.select(&query.projection, &query.conditions, access, destination)?;
            }
            Ok(())
        })?;
        let answers = destinations.iter().map(|destination| destination.answer());
        Ok((elapsed, answers.fold(Answer::default(), Answer::and)))
    }

    /// Builds a tree on a column of each block and drops it; the seconds that
    /// [`timed`] gives.
    ///
    /// # Errors
    /// A column that the table does not have.
    pub fn build_index(&self, column: usize, threads: usize) -> Result<f64> {
        let next = AtomicUsize::new(0);
        let elapsed = timed(vec![(); threads], |()| {
            while let Some(block) = self.blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
                drop(Tree::build(block, column)?);
            }
            Ok(())
        })?;
        Ok(elapsed.as_secs_f64())
    }

    /// Bytes of all blocks.
    pub fn bytes(&self) -> u64 {
        self.blocks.iter().map(|block| block.bytes() as u64).sum()
    }

    /// How many blocks or files there are.
    pub fn blocks(&self) -> u64 {
        self.blocks.len() as u64
    }
}
